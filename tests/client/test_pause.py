"""While a busy server asked to wait, nobody of this connection sends."""

from __future__ import annotations

import threading

import pytest

from lib import errors
from lib.client.layers import Call, LayeredClient, layered
from lib.client.pause import TRIES, shared_pause


class FakeClock:
    """Notes what it is asked to sleep; time stands still unless `passes`."""

    def __init__(self, passes: bool = True):
        self.time, self.slept, self.passes = 1_000.0, [], passes

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float, stop: threading.Event | None = None) -> bool:
        self.slept.append(seconds)
        self.time += seconds if self.passes else 0
        return bool(stop and stop.is_set())


def busy(retry_after: float | None = None) -> errors.Busy:
    return errors.Busy("The server is busy: slow down.", retry_after)


def good() -> str:
    return "a reply"


def client_of(clock: FakeClock, *outcomes):
    left = list(outcomes)

    def send(call: Call):
        call.sent.attempts += 1
        outcome = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return layered(LayeredClient(send), shared_pause(clock))


def test_a_call_waits_as_long_as_the_server_asks():
    clock = FakeClock()
    assert client_of(clock, busy(30), busy(7), good()).messages.create() == good()
    assert clock.slept == [30, 7]


def test_what_a_call_waited_is_counted_also_when_another_was_refused():
    clock, refused, other = FakeClock(), Call({}), Call({})
    client = client_of(clock, busy(30), busy(7), good())
    client.send(refused)
    client.send(other)
    assert (refused.sent.waited, other.sent.waited) == (37, 0)
    clock = FakeClock(passes=False)         # the pause is not over when the second call comes
    client = client_of(clock, busy(30), good())
    client.send(Call({}))
    clock.passes, late = True, Call({})
    client.send(late)
    assert (late.sent.waited, late.sent.attempts) == (30, 1)


def test_without_a_time_the_pauses_grow():
    clock = FakeClock()
    client_of(clock, busy(), busy(), busy(), busy(), busy(), good()).messages.create()
    assert clock.slept == [2, 4, 8, 16, 30]


def test_other_workers_wait_for_the_pause_that_one_of_them_was_given():
    clock = FakeClock(passes=False)
    client = client_of(clock, busy(30), good())
    client.messages.create()
    client.messages.create()
    assert clock.slept == [30, 30]


def test_after_the_pause_nobody_waits():
    clock = FakeClock()
    client = client_of(clock, busy(30), good())
    client.messages.create()
    client.messages.create()
    assert clock.slept == [30]


def test_a_server_that_serves_nobody_ends_the_run():
    call = Call({})
    with pytest.raises(errors.StaysBusy, match="6 attempts.*slow down"):
        client_of(FakeClock(), busy(1)).send(call)
    assert call.sent.attempts == TRIES


def test_when_others_get_through_only_this_call_is_given_up():
    client = None

    def send(call: Call):
        if call.request["who"] == "other":
            return good()
        client.messages.create(who="other")
        raise busy(1)

    client = layered(LayeredClient(send), shared_pause(FakeClock()))
    with pytest.raises(errors.Busy) as caught:
        client.messages.create(who="unlucky")
    assert not isinstance(caught.value, errors.RunEnded)


def test_a_pause_of_an_hour_is_not_waited_for():
    clock = FakeClock()
    with pytest.raises(errors.StaysBusy, match="asked to wait 3,600 seconds"):
        client_of(clock, busy(3_600)).messages.create()
    assert clock.slept == []


def test_another_error_is_raised_at_once():
    trouble, call = errors.ServerTrouble("broken"), Call({})
    with pytest.raises(errors.ServerTrouble) as caught:
        client_of(FakeClock(), busy(1), trouble).send(call)
    assert caught.value is trouble and call.sent.attempts == 2


def test_stop_ends_the_wait():
    event = threading.Event()
    client = client_of(FakeClock(), busy(30), good())
    event.set()
    call = Call({}, stop=event)
    with pytest.raises(errors.Stopped):
        client.send(call)
    assert call.sent.attempts == 1


# --- on the simulated wire -------------------------------------------------------------------------------------------


def simulated_client(clock: FakeClock, *outcomes):
    left = list(outcomes)

    def send(call: Call):
        call.sent.seconds = (call.sent.seconds or 0.0) + 0.5       # what each attempt takes there
        outcome = left.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return layered(LayeredClient(send), shared_pause(clock, simulated=True))


def call_beginning_at(began: float) -> Call:
    call = Call({})
    call.sent.began = began
    return call


@pytest.mark.parametrize("passes", [True, False], ids=["waits", "speed 0"])
def test_a_simulated_pause_counts_in_what_the_call_took_whether_time_passes_or_not(passes):
    clock, call = FakeClock(passes), call_beginning_at(100.0)
    assert simulated_client(clock, busy(30), busy(7), good()).send(call) == good()
    assert clock.slept == [30, 7] and call.sent.seconds == 0.5 + 30 + 0.5 + 7 + 0.5
    assert call.sent.waited == 37


def test_simulated_workers_are_held_by_a_pause_that_they_are_in_and_by_no_other():
    """The first call is refused at 100.5 and asked to wait until 110.5."""
    clock = FakeClock(passes=False)
    client = simulated_client(clock, busy(10), *[good()] * 6)
    client.send(call_beginning_at(100.0))
    seconds = {}
    for began in (90.0, 100.4, 100.5, 105.0, 110.5):
        call = call_beginning_at(began)
        client.send(call)
        seconds[began] = call.sent.seconds
    assert seconds == {90.0: 0.5, 100.4: 0.5, 100.5: 10.5, 105.0: 6.0, 110.5: 0.5}


def test_without_a_run_a_simulated_pause_is_over_too():
    call = Call({})
    assert simulated_client(FakeClock(passes=False), busy(30), good()).send(call) == good()
    assert call.sent.seconds == 31.0
