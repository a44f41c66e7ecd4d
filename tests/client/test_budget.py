"""A call is sent only if its worst case fits what is left."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.client.budget import Cost, budget, paid_before
from lib.client.layers import Call, LayeredClient, layered
from lib.client.stop import stoppable
from lib.design import Limits
from lib.errors import BudgetReached, Busy, ServerTrouble, Stopped
from lib.runs.store import CallRow, Run, Store

INPUT = 100         # estimated tokens of every request; a tenth is added as headroom
REQUEST = {"model": "m", "max_tokens": 90, "messages": [{"role": "user", "content": "hi"}]}     # worst case 200 tokens


class FakeClock:
    time = 1_000.0

    def now(self) -> float:
        return self.time


def price(model: str, fresh: int, write_5m: int, write_1h: int, read: int, output: int) -> float:
    """A dollar per thousand input tokens, two for a thousand written ones (four for an hour), five for output."""
    return (fresh + 2 * write_5m + 4 * write_1h + 0.1 * read + 5 * output) / 1_000


def no_price(model: str, *tokens: int) -> None:
    return None


def estimate(request) -> int:
    return INPUT


def reply(**usage) -> dict:
    return {"content": [{"type": "text", "text": "ok"}], "usage": usage}


USED = reply(input_tokens=80, output_tokens=20)     # 100 tokens, $0.18


def spending(limits: Limits, send=lambda call: USED, price=price, clock=None, **options):
    return layered(LayeredClient(send), budget(limits, clock or FakeClock(), price, estimate, **options))


def calls_until_refused(client, request=REQUEST, at_most=50) -> tuple[int, str]:
    for sent in range(at_most):
        try:
            client.messages.create(**request)
        except BudgetReached as reason:
            return sent, str(reason)
    return at_most, ""


def test_the_worst_case_is_held_and_the_reported_usage_takes_its_place():
    # 100 tokens are spent per call: the 9th could end at 800 + 200 = 1,000, the 10th at 1,100
    sent, reason = calls_until_refused(spending(Limits(max_tokens=1_000)))
    assert sent == 9
    assert "limit of 1,000 tokens: 900 are spent" in reason and "could take 200" in reason


def test_money_is_held_the_same_way():
    # worst case: 110 x $0.001 + 90 x $0.005 = $0.56; spent per call: $0.18
    sent, reason = calls_until_refused(spending(Limits(max_usd=1.0)))
    assert sent == 3
    assert "limit of $1.00: $0.5400 is spent" in reason and "could cost $0.5600" in reason


def test_a_single_call_that_cannot_fit_is_never_sent():
    assert calls_until_refused(spending(Limits(max_tokens=199)))[0] == 0


def test_a_run_over_its_time_sends_no_more():
    clock = FakeClock()
    client = spending(Limits(max_seconds=60), clock=clock)
    client.messages.create(**REQUEST)
    clock.time += 61
    assert calls_until_refused(client) == (0, "The run's limit of 60 seconds is reached after 61. Raise it to go on.")


def test_what_was_spent_before_a_resume_counts():
    assert calls_until_refused(spending(Limits(max_tokens=1_000), spent=Cost(tokens=700)))[0] == 2


def test_tokens_from_and_to_the_cache_count():
    cached = reply(input_tokens=10, cache_read_input_tokens=500, cache_creation_input_tokens=300, output_tokens=20,
                   cache_creation={"ephemeral_5m_input_tokens": 200, "ephemeral_1h_input_tokens": 100})
    client = spending(Limits(max_tokens=1_000, max_usd=10), send=lambda call: cached)
    assert "830 are spent" in calls_until_refused(client)[1]
    client = spending(Limits(max_usd=1.5), send=lambda call: cached)
    # 10 fresh + 2 x 200 + 4 x 100 + 0.1 x 500 + 5 x 20 = 960 thousandths
    assert "$0.9600 is spent" in calls_until_refused(client)[1]


def test_a_request_that_writes_to_the_cache_holds_the_price_of_writing():
    marked = {**REQUEST, "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}]}
    assert "could cost $0.6700" in calls_until_refused(spending(Limits(max_usd=0.1)), marked)[1]


def test_unreported_usage_is_estimated_for_the_budget_only():
    silent = {"content": [{"type": "text", "text": "ok"}]}
    sent, reason = calls_until_refused(spending(Limits(max_tokens=500), send=lambda call: silent))
    assert sent == 2 and "400 are spent" in reason     # 100 in and 100 out by the estimate
    assert "usage" not in silent


def test_one_missing_part_of_usage_is_estimated_alone():
    half = reply(input_tokens=None, output_tokens=20)
    assert "120 are spent" in calls_until_refused(spending(Limits(max_tokens=300), send=lambda call: half))[1]


def test_without_prices_only_tokens_and_time_hold_a_run():
    assert calls_until_refused(spending(Limits(max_usd=0.0), price=no_price), at_most=5)[0] == 5


def raising(error):
    def send(call):
        raise error
    return send


def test_a_refused_call_costs_nothing_and_holds_nothing():
    client = spending(Limits(max_tokens=200), send=raising(Busy("slow down")))
    for _ in range(3):
        with pytest.raises(Busy):
            client.messages.create(**REQUEST)


def test_a_call_that_failed_and_may_have_been_billed_costs_its_held_input():
    client = spending(Limits(max_tokens=500, max_usd=1.0), send=raising(ServerTrouble("timed out")))
    for _ in range(3):      # 110 tokens and $0.11 each
        with pytest.raises(ServerTrouble):
            client.messages.create(**REQUEST)
    with pytest.raises(BudgetReached, match="330 are spent and the next call could take 200"):
        client.messages.create(**REQUEST)
    client = spending(Limits(max_usd=0.8), send=raising(ServerTrouble("timed out")))
    assert calls_until_failed(client) == (3, "The run's limit of $0.80: $0.3300 is spent and the next call could cost "
                                             "$0.5600, so it was not sent. Raise the limit to go on.")


def calls_until_failed(client) -> tuple[int, str]:
    for sent in range(50):
        try:
            client.messages.create(**REQUEST)
        except ServerTrouble:
            continue
        except BudgetReached as reason:
            return sent, str(reason)
    raise AssertionError("the budget held nothing back")


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "runs.sqlite")
    opened.add_run(Run("r1", "g", "agent", "stopped", "live", "API", {}, "d", 1.0))
    yield opened
    opened.close()


def add_call(store: Store, started: float, seconds: float, fresh=None, output=None, error: str = "", usd=None,
             reply=None) -> None:
    store.add_call(CallRow(0, "r1", "agent", "", "m", started, seconds, None, fresh, 0, 0, 0, output, 0, usd,
                           error=error), REQUEST, reply)


def test_a_resumed_run_begins_with_what_its_calls_cost_reported_or_not(store: Store):
    silent = {"content": [{"type": "text", "text": "ok"}]}
    add_call(store, 10, 1, fresh=80, output=20, usd=0.18, reply=USED)       # 100 tokens
    add_call(store, 11, 1, reply=silent)                                    # 100 in and 100 out by the estimate
    add_call(store, 12, 1, error="ServerTrouble: timed out")                # 110 in, as it was held
    add_call(store, 13, 1, error="Busy: slow down", usd=0.0)
    cost, _ = paid_before(store, "r1", price, estimate)
    assert cost.tokens == 410 and cost.usd == pytest.approx(0.18 + 0.6 + 0.11)


def test_answers_that_were_free_do_not_count(store: Store):
    store.add_call(CallRow(0, "r1", "agent", "", "m", 10, 0, "end_turn", 80, 0, 0, 0, 20, 0, 0.0, cached=1), REQUEST,
                   USED)
    assert paid_before(store, "r1", price, estimate)[0] == Cost()


def test_the_time_in_which_earlier_calls_were_open_counts_once(store: Store):
    for started, seconds in ((100, 10), (102, 3), (105, 10), (500, 5)):     # 100 to 115, and 500 to 505
        add_call(store, started, seconds, 1, 1)
    _, elapsed = paid_before(store, "r1", price, estimate)
    assert elapsed == 20
    client = spending(Limits(max_seconds=20), elapsed=elapsed)
    assert calls_until_refused(client) == (0, "The run's limit of 20 seconds is reached after 20. Raise it to go on.")


def test_parallel_workers_never_pass_the_limit_and_use_it_all():
    lock, now, most = threading.Lock(), [0], [0]

    def send(call):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        threading.Event().wait(0.001)
        with lock:
            now[0] -= 1
        return USED

    client = spending(Limits(max_tokens=5_000, max_usd=100.0), send=send)
    with ThreadPoolExecutor(16) as pool:
        outcomes = [pool.submit(client.messages.create, **REQUEST) for _ in range(100)]
    sent = sum(o.exception() is None for o in outcomes)
    assert sent == 49       # 48 x 100 + 200 = 5,000: the 49th fits, the 50th does not
    assert all(isinstance(o.exception(), BudgetReached) for o in outcomes if o.exception())
    assert 2 <= most[0] <= 16


def test_a_call_that_waits_for_others_is_stopped_with_them():
    event, sending, finish, asking = (threading.Event() for _ in range(4))

    class Watched(FakeClock):
        def now(self) -> float:
            if sending.is_set():
                asking.set()        # the second call asks the budget
            return self.time

    def send(call: Call) -> dict:
        sending.set()
        finish.wait(5)
        return USED

    client = layered(spending(Limits(max_tokens=300), send=send, clock=Watched()), stoppable(event))
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(client.messages.create, **REQUEST)
        sending.wait(5)
        waiting = pool.submit(client.messages.create, **REQUEST)
        asking.wait(5)
        event.set()
        finish.set()
    assert first.result() is USED
    assert isinstance(waiting.exception(), Stopped)
