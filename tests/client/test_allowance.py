"""What visitors spend of the owner's key: never more than their dollars of a day, in however many runs at once."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lib.client.allowance import DAY, Allowance
from lib.client.layers import Call, LayeredClient, layered
from lib.client.stop import stoppable
from lib.errors import BudgetReached, Busy, RequestRefused, ServerTrouble, Stopped, StoreError
from lib.runs.store import Store

REQUEST = {"model": "m", "max_tokens": 90, "messages": [{"role": "user", "content": "hi"}]}
# worst case: 110 tokens in at $0.001 and 90 out at $0.005 are $0.56; used: 80 x 0.001 + 20 x 0.005 = $0.18
USED = {"content": [{"type": "text", "text": "ok"}], "usage": {"input_tokens": 80, "output_tokens": 20}}


class FakeClock:
    time = 1_000_000.0

    def __call__(self) -> float:
        return self.time


def price(model: str, fresh: int, write_5m: int, write_1h: int, read: int, output: int) -> float | None:
    return None if model == "unlisted" else (fresh + 2 * write_5m + 4 * write_1h + 0.1 * read + 5 * output) / 1_000


@pytest.fixture
def store(tmp_path: Path):
    opened = Store(tmp_path / "runs.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def client_of(desk: str, allowance: Allowance, send: Callable[[Call], Any] = lambda call: USED) -> LayeredClient:
    return layered(LayeredClient(send), allowance.layer(desk, price, lambda request: 100))


def calls_until_refused(client: LayeredClient, at_most: int = 50) -> tuple[int, str]:
    for sent in range(at_most):
        try:
            client.messages.create(**REQUEST)
        except BudgetReached as reason:
            return sent, str(reason)
    return at_most, ""


def test_a_visitor_is_told_what_is_spent_and_what_the_next_call_could_cost(store: Store, clock: FakeClock):
    sent, told = calls_until_refused(client_of("ann", Allowance(store, 1.0, 100.0, clock)))
    assert sent == 3        # 0.36 + 0.56 fits, 0.54 + 0.56 does not
    assert told == ("Your share of this playground's key, $1.00 a day, is used: $0.5400 is spent and the next call "
                    "could cost $0.5600. Use your own key, or go on tomorrow.")


def test_all_runs_of_a_visitor_spend_the_same_dollars_and_another_visitor_has_their_own(store: Store, clock: FakeClock):
    allowance = Allowance(store, 1.0, 100.0, clock)
    one, other = client_of("ann", allowance), client_of("ann", allowance)
    assert calls_until_refused(one)[0] == 3 and calls_until_refused(other)[0] == 0
    assert calls_until_refused(client_of("bob", allowance))[0] == 3


def test_all_visitors_together_have_their_own_limit(store: Store, clock: FakeClock):
    allowance = Allowance(store, 1.0, 1.5, clock)
    assert calls_until_refused(client_of("ann", allowance))[0] == 3         # 0.54
    sent, told = calls_until_refused(client_of("bob", allowance))
    assert sent == 3 and "$1.50 a day for all visitors together" not in told        # 1.08, and 0.54 of his own
    sent, told = calls_until_refused(client_of("cyd", allowance))
    assert sent == 0 and told.startswith("This playground's key, $1.50 a day for all visitors together, is used: "
                                         "$1.0800 is spent and the next call could cost $0.5600.")


def test_after_a_day_it_is_there_again(store: Store, clock: FakeClock):
    allowance = Allowance(store, 1.0, 100.0, clock)
    client = client_of("ann", allowance)
    calls_until_refused(client)
    clock.time += DAY - 1
    assert calls_until_refused(client)[0] == 0
    clock.time += 2
    assert calls_until_refused(client)[0] == 3


def test_what_was_spent_outlives_the_server_and_the_runs(store: Store, clock: FakeClock):
    calls_until_refused(client_of("ann", Allowance(store, 1.0, 100.0, clock)))
    store.delete_everything()
    again = Allowance(Store(store.path), 1.0, 100.0, clock)
    assert calls_until_refused(client_of("ann", again))[0] == 0 and again.left("ann") == pytest.approx(0.46)


def test_a_call_that_the_server_died_over_counts_with_its_worst_case(store: Store, clock: FakeClock):
    left: list[float] = []

    def dies(call: Call) -> Any:
        left.append(Allowance(Store(store.path), 1.0, 100.0, clock).left("ann"))     # as the next server finds it
        return USED

    client_of("ann", Allowance(store, 1.0, 100.0, clock), dies).messages.create(**REQUEST)
    assert left == [pytest.approx(0.44)]


def test_a_desk_that_was_handed_over_has_spent_what_it_has_spent(store: Store, clock: FakeClock):
    allowance = Allowance(store, 1.0, 100.0, clock)
    calls_until_refused(client_of("old", allowance))
    store.hand_over_desk("old", "new")
    assert allowance.left("new") == pytest.approx(0.46) and allowance.left("old") == 1.0


def test_a_model_without_a_list_price_is_not_paid_for(store: Store, clock: FakeClock):
    sent: list[Call] = []
    client = client_of("ann", Allowance(store, 1.0, 100.0, clock), sent.append)
    with pytest.raises(BudgetReached, match='There is no list price for "unlisted", so this playground\'s key is not'):
        client.messages.create(**{**REQUEST, "model": "unlisted"})
    assert sent == []


def test_without_an_offer_nothing_is_sent(store: Store, clock: FakeClock):
    assert calls_until_refused(client_of("ann", Allowance(store, 0.0, 0.0, clock)))[0] == 0


@pytest.mark.parametrize("error, spent", [
    (Busy("slow down"), 0.0), (RequestRefused("no"), 0.0), (ServerTrouble("timed out"), 0.11),
    (StoreError("the disk is full"), 0.56)], ids=["busy", "refused", "may have been billed", "came and was not kept"])
def test_a_call_that_failed_costs_what_it_may_have_cost(store: Store, clock: FakeClock, error: Exception, spent: float):
    def fails(call: Call) -> Any:
        raise error

    allowance = Allowance(store, 1.0, 100.0, clock)
    with pytest.raises(type(error)):
        client_of("ann", allowance, fails).messages.create(**REQUEST)
    assert allowance.left("ann") == pytest.approx(1.0 - spent)


@pytest.mark.parametrize("each, together, other", [(0.8, 100.0, "ann"), (5.0, 0.8, "bob")])
def test_a_call_waits_for_those_in_flight_that_hold_the_rest(store: Store, clock: FakeClock, each: float,
                                                             together: float, other: str):
    sending, finish = threading.Event(), threading.Event()

    def slow(call: Call) -> Any:
        sending.set()
        assert finish.wait(10)
        return USED

    allowance = Allowance(store, each, together, clock)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(client_of("ann", allowance, slow).messages.create, **REQUEST)
        assert sending.wait(10)
        second = pool.submit(client_of(other, allowance).messages.create, **REQUEST)
        threading.Timer(0.3, finish.set).start()
        assert first.result() is USED and second.result() is USED       # 0.18 + 0.56 fits once the first is back


def test_who_waits_for_another_run_can_be_stopped(store: Store, clock: FakeClock):
    sending, finish, stop = threading.Event(), threading.Event(), threading.Event()

    def slow(call: Call) -> Any:
        sending.set()
        assert finish.wait(10)
        return USED

    allowance = Allowance(store, 0.8, 100.0, clock)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(client_of("ann", allowance, slow).messages.create, **REQUEST)
        assert sending.wait(10)
        waiting = pool.submit(layered(client_of("ann", allowance), stoppable(stop)).messages.create, **REQUEST)
        stop.set()
        assert isinstance(waiting.exception(10), Stopped) and not first.done()
        finish.set()


@pytest.mark.parametrize("seed", range(3))
def test_many_runs_of_many_visitors_never_go_over(store: Store, clock: FakeClock, seed: int):
    """Four visitors with three runs of four workers each; some calls fail and may have been billed."""
    billed: dict[str, float] = dict.fromkeys("abcd", 0.0)
    lock, chance = threading.Lock(), random.Random(seed)
    allowance = Allowance(store, 5.0, 14.0, clock)

    def server(desk: str) -> Callable[[Call], Any]:
        def send(call: Call) -> Any:
            with lock:
                fate, size, output = chance.random(), chance.randint(50, 110), chance.randint(0, 90)
                if fate < 0.1:
                    raise Busy("slow down")
                if fate < 0.2:
                    billed[desk] += price("m", size, 0, 0, 0, 0)
                    raise ServerTrouble("timed out")
                billed[desk] += price("m", size, 0, 0, 0, output)
            return {"content": [], "usage": {"input_tokens": size, "output_tokens": output}}
        return send

    def work(desk: str) -> str:
        client = client_of(desk, allowance, server(desk))
        for _ in range(500):
            try:
                client.messages.create(**REQUEST)
            except BudgetReached as ending:
                return str(ending)
            except (Busy, ServerTrouble):
                continue
        raise AssertionError("nothing ended it")

    with ThreadPoolExecutor(48) as pool:
        endings = list(pool.map(work, list("abcd") * 12))
    assert max(billed.values()) <= 5.0 and 11.0 < sum(billed.values()) <= 14.0
    assert any("for all visitors together" in ending for ending in endings)
    spent = 14.0 - sum(billed.values())
    assert store.spent(0.0) <= 14.0 and store.spent(0.0) >= 14.0 - spent - 1e-6
