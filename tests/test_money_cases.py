"""Faults that made other products show wrong costs, tried here from the wire to the run's total."""

from __future__ import annotations

import itertools
import json
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lib import errors
from lib.client.connect import connect_server
from lib.client.layers import LayeredClient, layered
from lib.client.ledger import ledger
from lib.client.timeline import SimulatedTime
from lib.prompt_map import map_prompts
from lib.runs.store import CallRow, Run, Store
from lib.settings import load
from lib.usage import tokens
from lib.usage.prices import cost, with_own
from tests.local_server import HTML, Reply, message, refusal, serve

MODEL = "local-model"
PRICES = with_own({}, {MODEL: {"input": 3, "output": 15}})      # written 3.75 and 6, read 0.30


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = Store(tmp_path / "runs.sqlite")
    opened.add_run(Run("r", "g", "pipeline", "running", "server", "Local", {}, "d", 1.0))
    return opened


def booked(store: Store, client: Any) -> LayeredClient:
    return layered(client, ledger(store, "r", SimulatedTime(0.0), partial(cost, PRICES)))


def ask(client: Any, words: str = "Which cause?") -> Any:
    return client.messages.create(model=MODEL, max_tokens=50, messages=[{"role": "user", "content": words}])


def rows_of(store: Store, *replies: Reply) -> list[CallRow]:
    """The ledger after a call for each of the replies that a server on this machine gives."""
    with serve(*replies) as server:
        client = booked(store, connect_server(load({}), server.url).client)
        for number in range(len(replies)):
            ask(client, f"question {number}")
    return store.calls("r")


# --- 50, 51: what the cache did is in no figure twice and in none too few ---------------------------------------------

SPLIT = {"ephemeral_5m_input_tokens": 2_000, "ephemeral_1h_input_tokens": 6_000}
BILLS = {       # usage as the API words it → dollars, and in a batch
    "nothing cached": ({"input_tokens": 2_000, "output_tokens": 100}, 0.0075, 0.00375),
    "nearly all of it read": ({"input_tokens": 10, "output_tokens": 100, "cache_read_input_tokens": 20_000,
                               "cache_creation_input_tokens": 0}, 0.00753, 0.003765),
    "written, without saying for how long": ({"input_tokens": 10, "output_tokens": 0,
                                              "cache_creation_input_tokens": 8_000}, 0.03003, 0.015015),
    "written for both lifetimes": ({"input_tokens": 10, "output_tokens": 0, "cache_creation_input_tokens": 8_000,
                                    "cache_creation": SPLIT}, 0.04353, 0.021765),
    "nulls": ({"input_tokens": 100, "output_tokens": 10, "cache_read_input_tokens": None,
               "cache_creation_input_tokens": None, "cache_creation": None}, 0.00045, 0.000225),
}


def test_a_runs_total_is_the_sum_of_what_the_api_bills(store: Store):
    rows = rows_of(store, *(message(usage=usage) for usage, _, _ in BILLS.values()))
    assert [row.usd for row in rows] == [pytest.approx(usd) for _, usd, _ in BILLS.values()]
    assert store.totals("r").usd == pytest.approx(sum(usd for _, usd, _ in BILLS.values()))
    assert store.totals("r").input == sum(row.input for row in rows) == 2_000 + 20_010 + 8_010 + 8_010 + 100


@pytest.mark.parametrize("case", BILLS)
def test_a_batch_halves_the_cached_parts_too(store: Store, case: str):
    usage, usd, batch_usd = BILLS[case]
    row = rows_of(store, message(usage=usage))[0]
    price = partial(cost, PRICES, MODEL, row.fresh, row.write_5m, row.write_1h, row.cache_read, row.output)
    assert (price(), price(batch=True)) == (pytest.approx(usd), pytest.approx(batch_usd))


# --- 53: the bad answer is paid for, the busy server is not -----------------------------------------------------------


def test_a_rate_limit_is_free_and_an_answer_that_was_sent_back_is_not(store: Store):
    script = (refusal(429, "rate_limit_error", "slow down", retry_after_ms="1"),
              message("no JSON at all", usage={"input_tokens": 400, "output_tokens": 50}),
              message('{"cause": "double charge"}', usage={"input_tokens": 520, "output_tokens": 60}))
    with serve(*script) as server:
        client = booked(store, connect_server(load({}), server.url).client)
        found = map_prompts(client, MODEL, "Name the cause.", ["T-1"], str, json.loads, retries=1)
        assert len(server.received) == 3
    rows, totals = store.calls("r"), store.totals("r")
    assert found == [{"cause": "double charge"}]
    assert [(row.fresh, row.output, row.billed) for row in rows] == [(400, 50, True), (520, 60, True)]
    assert sum(row.attempts for row in rows) == 3
    assert (totals.input, totals.output) == (920, 110)
    assert totals.usd == pytest.approx((920 * 3 + 110 * 15) / 1e6)


# --- 54: sixteen workers at once --------------------------------------------------------------------------------------


class Metered:
    """Every reply took 10 tokens in and 1 out; sixteen calls have to be open before the first is answered."""

    def __init__(self):
        self.messages = self
        self._calls = itertools.count()
        self._together = threading.Barrier(16)

    def create(self, **request: Any) -> dict[str, Any]:
        if next(self._calls) < 16:
            self._together.wait(timeout=20)
        return {"role": "assistant", "content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn",
                "usage": {"input_tokens": 10, "output_tokens": 1}}


def test_sixteen_workers_lose_no_token(store: Store):
    answers = map_prompts(booked(store, Metered()), MODEL, "", range(500), str, str, workers=16)
    rows, totals = store.calls("r"), store.totals("r")
    assert len(answers) == len(rows) == totals.calls == 500
    assert (totals.input, totals.output) == (sum(r.input for r in rows), sum(r.output for r in rows)) == (5_000, 500)
    assert totals.usd == pytest.approx(sum(row.usd for row in rows)) == pytest.approx(500 * (10 * 3 + 15) / 1e6)


# --- 58: an estimate is named as one, and what was reported replaces it -----------------------------------------------


def test_the_row_holds_what_was_reported_whatever_was_estimated(store: Store):
    request = {"model": MODEL, "messages": [{"role": "user", "content": "question 0"}]}
    estimated = tokens.estimate_request(request)
    row = rows_of(store, message(usage={"input_tokens": estimated + 37, "output_tokens": 3}))[0]
    assert row.input == estimated + 37


def test_an_estimate_says_how_it_was_counted(monkeypatch: pytest.MonkeyPatch):
    assert tokens.method(MODEL).startswith("tiktoken × ")
    monkeypatch.setattr(tokens, "is_exact", lambda: False)
    assert tokens.method(MODEL) == "characters / 4"


# --- 59: servers that report nothing, or answer 200 with something else -----------------------------------------------


@pytest.mark.parametrize("usage", [..., None, {}, {"input_tokens": None, "output_tokens": 64}],
                         ids=["left out", "null", "empty", "input null"])
def test_what_is_not_reported_is_unknown_and_has_no_price(store: Store, usage: Any):
    row, totals = rows_of(store, message(usage=usage))[0], store.totals("r")
    assert (row.input, row.usd) == (None, None)
    assert (totals.input, totals.usd, totals.unreported, totals.unpriced) == (None, None, 1, 1)


def test_a_reported_zero_is_a_zero_and_costs_nothing(store: Store):
    row, totals = rows_of(store, message(usage={"input_tokens": 0, "output_tokens": 0}))[0], store.totals("r")
    assert (row.input, row.output, row.usd) == (0, 0, 0.0)
    assert (totals.input, totals.usd, totals.unreported, totals.unpriced) == (0, 0.0, 0, 0)


def test_an_unknown_call_beside_a_known_one_is_counted_as_missing(store: Store):
    rows_of(store, message(usage={"input_tokens": 1_000, "output_tokens": 0}), message(usage=...))
    totals = store.totals("r")
    assert (totals.input, totals.unreported, totals.unpriced) == (1_000, 1, 1)
    assert totals.usd == pytest.approx(0.003)


@pytest.mark.parametrize("content, text", [(None, []), ("in one string", ["in one string"])])
def test_odd_content_is_an_answer_whose_tokens_count(store: Store, content: Any, text: list[str]):
    with serve(message(content=content, usage={"input_tokens": 9, "output_tokens": 4})) as server:
        reply = ask(booked(store, connect_server(load({}), server.url).client))
    assert [block.text for block in reply.content] == text
    assert (store.totals("r").input, store.totals("r").output) == (9, 4)


@pytest.mark.parametrize("reply, expected", [
    (Reply(200, {"error": "No such path: POST /messages"}), errors.NotMessagesApi),
    (Reply(200, HTML), errors.NotMessagesApi),
    (Reply(200, {"choices": [{"message": {"content": "hi"}}]}), errors.NotMessagesApi),
    (Reply(200, {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}), errors.RequestRefused),
], ids=["error in a 200", "web page", "another API", "typed error in a 200"])
def test_a_200_that_is_no_reply_is_an_error_of_the_endpoint(store: Store, reply: Reply, expected: type[Exception]):
    with serve(reply) as server, pytest.raises(expected):
        ask(booked(store, connect_server(load({}), server.url).client))
    row = store.calls("r")[0]
    assert row.error.startswith(expected.__name__) and (row.input, row.output) == (None, None)
