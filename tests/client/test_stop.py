"""After Stop no call is sent; those in flight end."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.client.layers import Call, LayeredClient, layered
from lib.client.stop import stoppable
from lib.errors import RunEnded, StaysBusy, Stopped


def test_a_call_passes_and_takes_the_event_along():
    event, seen = threading.Event(), []
    client = layered(LayeredClient(lambda call: seen.append(call) or "reply"), stoppable(event))
    assert client.messages.create(model="m") == "reply"
    assert seen == [Call({"model": "m"}, stop=event)]


def test_after_stop_nothing_is_sent():
    event, seen = threading.Event(), []
    client = layered(LayeredClient(seen.append), stoppable(event))
    event.set()
    with pytest.raises(Stopped) as caught:
        client.messages.create(model="m")
    assert seen == [] and isinstance(caught.value, RunEnded)


def test_calls_in_flight_end_and_no_new_one_starts():
    event, sent = threading.Event(), []
    both_sent = threading.Barrier(2, action=event.set)

    def send(call):
        sent.append(call)
        both_sent.wait(timeout=5)
        return "finished"

    client = layered(LayeredClient(send), stoppable(event))
    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(client.messages.create, n=n) for n in range(10)]
    assert [c.result() for c in calls if not c.exception()] == ["finished", "finished"]
    assert len(sent) == 2 and all(isinstance(c.exception(), Stopped) for c in calls[2:])


def test_when_one_call_ends_the_run_no_other_waits_on_and_all_end_for_that_reason():
    waiting = threading.Event()
    ending = StaysBusy("busy for hours")

    def send(call: Call):
        if call.request["who"] == "patient":
            waiting.set()
            assert call.stop.wait(10)
            raise Stopped("stopped while the server was busy")
        assert waiting.wait(10)
        raise ending

    client = layered(LayeredClient(send), stoppable(threading.Event()))
    with ThreadPoolExecutor(2) as pool:
        outcomes = [pool.submit(client.messages.create, who=who) for who in ("patient", "unlucky")]
    assert [outcome.exception() for outcome in outcomes] == [ending, ending]
    with pytest.raises(StaysBusy):
        client.messages.create(who="too late")
