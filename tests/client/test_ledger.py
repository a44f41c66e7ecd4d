"""The ledger: every call that was sent is a row, before anybody sees its reply."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from lib.client.clock import Clock
from lib.client.compact import STEP, compact_above
from lib.client.correct import corrected
from lib.client.layers import Call, LayeredClient, layered, step
from lib.client.ledger import ledger
from lib.client.timeline import ClockTime, SimulatedTime
from lib.errors import (
    BudgetReached,
    Busy,
    NotMessagesApi,
    RequestRefused,
    ServerTrouble,
    Stopped,
    StoreError,
    Unreachable,
    WindowExceeded,
)
from lib.runs.store import Run, Store
from lib.usage.prices import cost

PRICES = {"models": {"m": {"input": 3, "output": 15, "write_5m": 3.75, "write_1h": 6, "read": 0.3, "tiers": []}}}


class SteppingClock:
    """Each look at it is 2 seconds after the last."""

    def __init__(self):
        self.time = 98.0

    def now(self) -> float:
        self.time += 2
        return self.time


def reply(text: str = "ok", stop: str | None = "end_turn", usage: dict | None = None):
    from anthropic.types import Message

    return Message.construct(id="msg", type="message", role="assistant", model="m-20260101", stop_reason=stop,
                             content=[{"type": "text", "text": text}], usage=usage)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = Store(tmp_path / "runs.sqlite")
    opened.add_run(Run("r1", "g", "agent", "running", "simulated", "Simulated", {}, "d", 1.0))
    return opened


def client_for(store: Store, *outcomes, before=(), **sent) -> LayeredClient:
    """Answers with the outcomes in turn; exceptions are raised. `sent` is what the connection notes about each call."""
    left = iter(outcomes)

    def send(call):
        vars(call.sent).update(sent)
        outcome = next(left)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    book = ledger(store, "r1", ClockTime(SteppingClock()), partial(cost, PRICES))
    return layered(LayeredClient(send), *before, book)


def ask(client, text: str = "hi", **fields):
    return client.messages.create(**{"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": text}],
                                     **fields})


def test_a_call_is_one_row_with_tokens_and_price(store: Store):
    usage = {"input_tokens": 7, "output_tokens": 10, "cache_creation_input_tokens": 5000, "cache_read_input_tokens": 0,
             "cache_creation": {"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 4000},
             "output_tokens_details": {"thinking_tokens": 6}}
    client = client_for(store, reply(usage=usage), before=[step("label", lambda request: "T-1")])
    ask(client)
    row = store.calls("r1")[0]
    assert (row.step, row.subject, row.model, row.stop_reason, row.error) == ("label", "T-1", "m", "end_turn", "")
    assert (row.fresh, row.write_5m, row.write_1h, row.cache_read, row.output, row.thinking) == (
        7, 1000, 4000, 0, 10, 6)
    assert row.usd == pytest.approx(0.027921)
    assert (row.started, row.seconds, row.attempts) == (100.0, 2.0, 1)


def test_the_row_is_there_before_the_caller_has_the_reply(store: Store):
    seen = []

    def look(call, call_next):
        answer = call_next(call)
        seen.append(len(store.calls("r1")))
        return answer

    ask(client_for(store, reply(), before=[look]))
    assert seen == [1]


def test_the_reply_passes_through_untouched(store: Store):
    answer = reply()
    assert ask(client_for(store, answer)) is answer


def test_request_and_reply_can_be_read_again(store: Store):
    ask(client_for(store, reply("fine", usage={"input_tokens": 1, "output_tokens": 2})), "hello", system="s")
    request, answer = store.exchange(store.last_call("r1"))
    assert request == {"model": "m", "max_tokens": 5, "system": "s", "messages": [{"role": "user", "content": "hello"}]}
    assert answer["content"] == [{"type": "text", "text": "fine"}]


def test_what_the_connection_notes_of_attempts_and_seconds_counts(store: Store):
    client = client_for(store, reply(), ServerTrouble("overloaded"), attempts=3, seconds=1.25)
    ask(client)
    with pytest.raises(ServerTrouble):
        ask(client)
    assert [(row.attempts, row.seconds) for row in store.calls("r1")] == [(3, 1.25), (3, 1.25)]


def test_the_wait_for_a_busy_server_is_part_of_the_seconds_and_of_no_tokens(store: Store):
    usage = {"input_tokens": 5, "output_tokens": 1}
    ask(client_for(store, reply(usage=usage), attempts=3, seconds=40.0, waited=37.0))
    [row], totals = store.calls("r1"), store.totals("r1")
    assert (row.seconds, row.waited, row.worked, row.attempts) == (40.0, 37.0, 3.0, 3)
    assert (totals.waited, totals.attempts, totals.calls, totals.input) == (37.0, 3, 1, 5)


def test_the_layers_below_know_when_the_call_began_and_that_it_waited_for_another(store: Store):
    seen = []

    def send(call):
        seen.append(call.sent.began)
        call.sent.seconds = 2.0
        return reply()

    client = layered(LayeredClient(send), ledger(store, "r1", SimulatedTime(50.0)))
    for after in (None, 60.0):
        client.send(Call({"model": "m", "messages": []}, after=after))
    assert seen == [row.started for row in store.calls("r1")] == [50.0, 60.0]


@pytest.mark.parametrize("usage", [None, {"input_tokens": None, "output_tokens": 64, "cache_read_input_tokens": None}])
def test_tokens_that_were_not_reported_are_unknown_and_unpriced(store: Store, usage):
    ask(client_for(store, reply(usage=usage)))
    row = store.calls("r1")[0]
    assert (row.fresh, row.input, row.usd) == (None, None, None)
    assert store.totals("r1").unreported == 1 and store.totals("r1").input is None


def test_a_model_without_a_price_keeps_its_tokens(store: Store):
    ask(client_for(store, reply(usage={"input_tokens": 5, "output_tokens": 1})), model="qwen3:8b")
    row = store.calls("r1")[0]
    assert (row.model, row.input, row.output, row.usd) == ("qwen3:8b", 5, 1, None)


def test_a_bad_answer_is_charged_and_a_429_before_it_is_not(store: Store):
    # one 429 that was waited out, then a bad answer and the retry that carries it: 3 HTTP requests, 2 billed
    ask(client_for(store, reply("not json", usage={"input_tokens": 400, "output_tokens": 50}), attempts=2))
    ask(client_for(store, reply("{}", usage={"input_tokens": 520, "output_tokens": 60})), "that was not JSON")
    totals = store.totals("r1")
    assert (totals.calls, totals.input, totals.output) == (2, 920, 110)
    assert sum(row.attempts for row in store.calls("r1")) == 3


def spent(number: int) -> dict:
    """A usage that no other number gives, with each kind of input in it."""
    return {"input_tokens": 100 + number, "output_tokens": 10 + number, "cache_read_input_tokens": 1_000 * number,
            "cache_creation_input_tokens": 30, "cache_creation": {"ephemeral_5m_input_tokens": 10,
                                                                  "ephemeral_1h_input_tokens": 20}}


def test_every_kind_of_billed_attempt_is_a_row_and_the_rows_are_the_total(store: Store):
    def valid(text: str) -> None:
        if text != "{}":
            raise ValueError("no JSON")

    asked = [corrected(valid, 1), step("label")]
    ask(client_for(store, reply("not JSON", usage=spent(1)), reply("{}", usage=spent(2)), before=asked))
    ask(client_for(store, reply(usage=spent(3)), before=[step("merge")]))
    shortened = [step("agent"), compact_above(10, lambda request: 11)]
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}]
    ask(client_for(store, reply("so far", usage=spent(4)), reply(usage=spent(5)), before=shortened), messages=talk)
    ask(client_for(store, reply("", "refusal", spent(6)), before=[step("summary")]))
    ask(client_for(store, reply("half", "max_tokens", spent(7)), before=[step("summary")]))
    ask(client_for(store, reply(usage=spent(8)), before=[step("summary")], attempts=3, waited=1.0))     # after two 429s
    with pytest.raises(Busy):
        ask(client_for(store, Busy("Overloaded"), before=[step("summary")], attempts=6))
    rows, totals = store.calls("r1"), store.totals("r1")
    assert [(row.step, row.stop_reason) for row in rows] == [
        ("label", "end_turn"), ("label", "end_turn"), ("merge", "end_turn"), (STEP, "end_turn"), ("agent", "end_turn"),
        ("summary", "refusal"), ("summary", "max_tokens"), ("summary", "end_turn"), ("summary", None)]
    assert [row.billed for row in rows] == [True] * 8 + [False]
    assert totals.input == sum(row.input or 0 for row in rows) == 8 * 130 + 1_001 * 36
    assert totals.output == sum(row.output or 0 for row in rows) == 8 * 10 + 36
    assert totals.usd == pytest.approx(sum(row.usd for row in rows))
    # fresh 836 at $3, 5m 80 at $3.75, 1h 160 at $6, read 36,000 at $0.30, output 116 at $15 per million
    assert totals.usd == pytest.approx((836 * 3 + 80 * 3.75 + 160 * 6 + 36_000 * 0.3 + 116 * 15) / 1e6)
    assert (totals.calls, totals.attempts, totals.errors, totals.unreported, totals.unpriced) == (9, 16, 1, 0, 0)


@pytest.mark.parametrize("error, billed", [
    (RequestRefused("max_tokens: too large"), False), (Busy("Overloaded"), False),
    (WindowExceeded("prompt is too long"), False), (Unreachable("nothing answers"), False),
    (ServerTrouble("timed out"), None), (KeyboardInterrupt(), None),
])
def test_a_failed_call_is_a_row_that_says_whether_it_costs(store: Store, error: BaseException, billed):
    with pytest.raises(type(error)):
        ask(client_for(store, error))
    row = store.calls("r1")[0]
    assert row.error.startswith(type(error).__name__) and str(error) in row.error
    assert (row.fresh, row.output, row.stop_reason, row.billed) == (None, None, None, billed)
    request, answer = store.exchange(row.id)
    assert request["messages"] and answer is None


@pytest.mark.parametrize("error", [Stopped("stopped"), BudgetReached("over")])
def test_a_call_that_was_held_back_is_no_row(store: Store, error: Exception):
    with pytest.raises(type(error)):
        ask(client_for(store, error))
    assert store.calls("r1") == []


def test_a_call_that_was_stopped_after_it_had_been_turned_away_is_a_row_that_costs_nothing(store: Store):
    with pytest.raises(Stopped):
        ask(client_for(store, Stopped("stopped while the server was busy"), attempts=2))
    [row] = store.calls("r1")
    assert (row.attempts, row.usd, row.billed) == (2, 0.0, False) and "stopped while" in row.error


@pytest.mark.parametrize("refused, usd", [(True, 0.0), (False, None)])
def test_an_answer_that_is_no_messages_api_costs_nothing_if_it_was_an_error_status(store: Store, refused, usd):
    with pytest.raises(NotMessagesApi):
        ask(client_for(store, NotMessagesApi("no Messages API here", refused)))
    assert store.calls("r1")[0].usd == usd


def test_a_call_that_was_refused_after_an_unanswered_attempt_may_have_been_billed(store: Store):
    with pytest.raises(Unreachable):
        ask(client_for(store, Unreachable("nothing answers"), unanswered=True))
    assert store.calls("r1")[0].usd is None and store.calls("r1")[0].billed is None


def test_a_run_whose_rows_can_no_longer_be_kept_ends(store: Store):
    client = client_for(store, reply())
    store.delete_run("r1")
    with pytest.raises(StoreError, match="deleted"):
        ask(client)


def test_five_hundred_calls_of_sixteen_workers_add_up(store: Store):
    client = layered(SimpleNamespace(messages=SimpleNamespace(
        create=lambda **request: {"stop_reason": "end_turn", "usage": {"input_tokens": 10, "output_tokens": 1}})),
        ledger(store, "r1", ClockTime(Clock()), partial(cost, PRICES)))
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda i: ask(client, f"ticket {i}"), range(500)))
    totals, rows = store.totals("r1"), store.calls("r1")
    assert (totals.calls, totals.input, totals.output) == (500, 5000, 500)
    assert (sum(r.input for r in rows), sum(r.output for r in rows)) == (5000, 500)
    assert totals.usd == pytest.approx(sum(r.usd for r in rows)) == pytest.approx(500 * 45 / 1e6)
