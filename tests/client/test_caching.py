"""What is marked for the prompt cache, and that a first call goes alone so that the others find what it wrote."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from lib.client.caching import first_alone, marked
from lib.client.layers import Call, LayeredClient, layered
from lib.errors import BudgetReached, ServerTrouble, Stopped

REQUEST = {"model": "m", "system": "Label it.", "messages": [{"role": "user", "content": "T-1"}]}
PATIENCE = 5        # seconds until a test gives up waiting


def sent(caching: str, request: dict = REQUEST) -> dict:
    return layered(LayeredClient(lambda call: call.request), marked(caching)).messages.create(**request)


def test_off_marks_nothing():
    assert sent("off") == REQUEST


@pytest.mark.parametrize(("caching", "mark"), [
    ("auto-5m", {"type": "ephemeral"}), ("auto-1h", {"type": "ephemeral", "ttl": "1h"})])
def test_auto_marks_the_whole_request_and_leaves_its_parts(caching, mark):
    assert sent(caching) == {**REQUEST, "cache_control": mark}


def test_system_marks_the_end_of_the_system_prompt_only():
    assert sent("system") == {**REQUEST, "system": [
        {"type": "text", "text": "Label it.", "cache_control": {"type": "ephemeral"}}]}


def test_a_system_prompt_of_blocks_is_marked_at_its_last_and_the_callers_own_is_left_alone():
    given = {**REQUEST, "system": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}
    assert [block.get("cache_control") for block in sent("system", given)["system"]] == [None, {"type": "ephemeral"}]
    assert "cache_control" not in given["system"][1]


def test_a_request_without_a_system_prompt_has_nothing_to_mark():
    bare = {"model": "m", "messages": REQUEST["messages"]}
    assert sent("system", bare) == bare


class Wire:
    """Notes which calls came; the one called "first" is answered when the test says so."""

    def __init__(self, outcome="reply", began: float | None = None, seconds: float | None = None):
        self.came, self.outcome, self.began, self.seconds = [], outcome, began, seconds
        self.before_the_first_reply: list[str] = []
        self.first_came, self.answer_first = threading.Event(), threading.Event()

    def __call__(self, call: Call):
        self.came.append(call)
        if call.request["who"] == "first":
            self.first_came.set()
            assert self.answer_first.wait(PATIENCE)
            self.before_the_first_reply = [call.request["who"] for call in self.came]
            call.sent.began, call.sent.seconds = self.began, self.seconds
            if isinstance(self.outcome, BaseException):
                raise self.outcome
        return call.request["who"]


def with_others(wire: Wire, others: int = 3, stop: threading.Event | None = None):
    """What became of the first call and of `others` that came while it was under way."""
    arrived = threading.Semaphore(0)

    def arrive(call, call_next):
        arrived.release()
        return call_next(replace(call, stop=stop))

    client = layered(LayeredClient(wire), arrive, first_alone())
    with ThreadPoolExecutor(others + 1) as pool:
        first = pool.submit(client.messages.create, who="first")
        assert wire.first_came.wait(PATIENCE)
        waiting = [pool.submit(client.messages.create, who=f"other {n}") for n in range(others)]
        assert all(arrived.acquire(timeout=PATIENCE) for _ in range(others + 1))
        if stop:
            stop.set()
            assert all(isinstance(call.exception(PATIENCE), Stopped) for call in waiting)
        wire.answer_first.set()
    return [call.exception() or call.result() for call in (first, *waiting)]


def test_the_others_wait_for_the_first_reply():
    wire = Wire()
    assert with_others(wire) == ["first", "other 0", "other 1", "other 2"]
    assert wire.before_the_first_reply == ["first"] and len(wire.came) == 4


@pytest.mark.parametrize("failure", [ServerTrouble("broken"), BudgetReached("full"), Stopped("stopped"),
                                     KeyboardInterrupt()])
def test_a_first_call_that_fails_or_is_held_back_lets_the_others_go(failure):
    assert with_others(Wire(failure)) == [failure, "other 0", "other 1", "other 2"]


def test_who_waited_begins_after_the_first_call_on_the_runs_own_time():
    wire = Wire(began=100.0, seconds=2.5)
    with_others(wire)
    assert [call.after for call in wire.came] == [None, 102.5, 102.5, 102.5]


def test_a_later_time_that_a_call_must_wait_for_anyway_is_kept():
    wire, gate = Wire(began=100.0, seconds=2.5), first_alone()
    wire.answer_first.set()
    gate(Call({"who": "first"}), wire)
    gate(Call({"who": "late"}, after=200.0), wire)
    gate(Call({"who": "early"}, after=1.0), wire)
    assert [call.after for call in wire.came] == [None, 200.0, 102.5]


def test_without_a_kept_time_nobody_is_told_one():
    wire = Wire()
    with_others(wire)
    assert {call.after for call in wire.came} == {None}


def test_stop_ends_the_waiting_while_the_first_call_goes_on():
    wire = Wire()
    first, *waiting = with_others(wire, stop=threading.Event())
    assert first == "first" and len(wire.came) == 1
    assert all(isinstance(outcome, Stopped) for outcome in waiting)


def test_a_first_call_that_is_asked_again_is_not_waited_for_twice():
    wire, gate = Wire(), first_alone()
    wire.answer_first.set()
    for who in ("first", "first", "other"):
        gate(Call({"who": who}), wire)
    assert [call.request["who"] for call in wire.came] == ["first", "first", "other"]


def test_reused_replies_wrote_nothing_so_the_first_that_is_sent_goes_alone():
    sending, answer, on_the_wire = threading.Event(), threading.Event(), []

    def send(call: Call):
        if call.request["n"] < 3:
            call.sent.reused = True
            return "from the store"
        on_the_wire.append(call.request["n"])
        sending.set()
        assert answer.wait(PATIENCE)
        return "sent"

    client = layered(LayeredClient(send), first_alone())
    assert [client.messages.create(n=n) for n in range(3)] == ["from the store"] * 3
    with ThreadPoolExecutor(3) as pool:
        calls = [pool.submit(client.messages.create, n=n) for n in (3, 4, 5)]
        assert sending.wait(PATIENCE)
        alone = list(on_the_wire)
        answer.set()
    assert len(alone) == 1 and [call.result() for call in calls] == ["sent"] * 3
