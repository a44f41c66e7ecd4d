"""A recorded run read back for the what-if."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lib.runs.for_what_if import exchanges
from lib.runs.store import CallRow, Run, Store
from lib.usage.reported import Usage

ROW = CallRow(0, "r", "agent", "turn 1", "claude-haiku-5-5", 10.0, 2.0, "tool_use", 5, 1, 2, 3, 7, 4, 0.1)
REQUEST = {"model": "claude-haiku-5-5", "max_tokens": 9, "messages": [{"role": "user", "content": "Why?"}]}


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "runs.sqlite")
    opened.add_run(Run("r", "g", "agent", "done", "simulated", "", {}, "d", 0.0))
    yield opened
    opened.close()


def said(text):
    return {"content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}


def test_a_call_comes_back_with_what_was_asked_said_and_counted(store):
    store.add_call(ROW, REQUEST, said("Because."))
    found, = exchanges(store, "r")
    assert (found.step, found.subject, found.model, found.started, found.seconds) == (
        "agent", "turn 1", "claude-haiku-5-5", 10.0, 2.0)
    assert found.request == REQUEST and found.reply == [{"type": "text", "text": "Because."}]
    assert found.usage == Usage(fresh=5, write_5m=1, write_1h=2, cache_read=3, output=7, thinking=4)


def test_calls_come_in_the_order_in_which_they_began(store):
    for subject, started in (("b", 3.0), ("c", 3.0), ("a", 1.0)):
        store.add_call(replace(ROW, subject=subject, started=started), REQUEST, said(subject))
    assert [found.subject for found in exchanges(store, "r")] == ["a", "b", "c"]


def test_a_failed_call_said_nothing(store):
    store.add_call(replace(ROW, error="Busy: overloaded", fresh=None, output=None), REQUEST, None)
    assert exchanges(store, "r") == []


def test_tokens_that_were_not_reported_stay_unknown(store):
    store.add_call(replace(ROW, fresh=None, output=None), REQUEST, {"content": "a bare text"})
    found, = exchanges(store, "r")
    assert found.usage.fresh is None and found.reply == [{"type": "text", "text": "a bare text"}]
