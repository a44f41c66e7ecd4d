"""The same request is answered from an earlier run for nothing; a bad answer never is, and neither is a retry."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lib.client.caching import first_alone
from lib.client.clock import Clock
from lib.client.correct import corrected
from lib.client.layers import Call, LayeredClient, accepting, layered, with_defaults
from lib.client.ledger import ledger
from lib.client.response_cache import response_cache
from lib.client.reuse import reuse
from lib.client.timeline import ClockTime
from lib.errors import CutOff, MapError, ServerTrouble
from lib.messages import as_dict, text_of
from lib.prompt_map import map_prompts
from lib.runs.store import SIMULATED_ANSWERS, CallRow, Run, Store

PRICE = 0.25    # dollars of every call that is sent


@pytest.fixture
def store(tmp_path: Path):
    opened = Store(tmp_path / "runs.sqlite")
    yield opened
    opened.close()


def message(text: str, stop: str | None = "end_turn", **fields: Any) -> Any:
    from anthropic.types import Message

    return Message.construct(**{
        "id": "msg", "type": "message", "role": "assistant", "model": "m", "stop_reason": stop,
        "content": [{"type": "text", "text": text}],
        "usage": {"input_tokens": 10, "output_tokens": 2, "cache_read_input_tokens": 7}, **fields})


class Session:
    """One run, as the job puts it together; `asked` are the requests that reached its server."""

    def __init__(self, store: Store, run_id: str, answer: Callable[[str], Any] = message, desk: str | None = None,
                 **fields: Any):
        self.store, self.run_id, self.asked = store, run_id, []
        self._answer, self._lock = answer, threading.Lock()
        self.run = Run(**{"id": run_id, "group": run_id, "shape": "pipeline", "status": "running", "source": "live",
                          "connection": "Anthropic API", "design": {}, "data_id": "d", "created": 1.0, **fields})
        store.add_run(self.run)
        self.client = self._layered(desk)

    def resumed(self) -> Session:
        self.client = self._layered(None)
        return self

    def _layered(self, desk: str | None) -> LayeredClient:
        timeline = ClockTime(Clock())
        return layered(LayeredClient(self._send), reuse(self.store, self.run_id),
                       response_cache(self.store, self.run, timeline, desk),
                       ledger(self.store, self.run_id, timeline, lambda model, **tokens: PRICE))

    def _send(self, call: Call) -> Any:
        with self._lock:
            self.asked.append(call.request)
        call.sent.attempts += 1
        outcome = self._answer(call.request["messages"][-1]["content"])
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def ask(self, text: str = "hi", accepts: Callable[[str], Any] | None = None, **fields: Any) -> str:
        client = layered(self.client, accepting(accepts)) if accepts else self.client
        request = {"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": text}], **fields}
        return text_of(client.messages.create(**request))


def a_new_answer(text: str) -> Any:
    return message(f"new: {text}")


# --- what it costs


def test_the_same_request_is_answered_by_the_earlier_run_and_nothing_is_sent(store: Store):
    Session(store, "before", lambda text: message("the answer")).ask()
    now = Session(store, "now", a_new_answer)
    assert now.ask() == "the answer" and now.asked == []


def test_its_row_says_that_it_was_free_and_what_tokens_the_reply_had(store: Store):
    before, now = Session(store, "before"), Session(store, "now")
    before.ask()
    now.ask()
    [paid], [free] = store.calls("before"), store.calls("now")
    assert (paid.cached, paid.usd, paid.attempts) == (0, PRICE, 1)
    assert (free.cached, free.usd, free.attempts, free.seconds, free.waited, free.error) == (1, 0.0, 0, 0.0, 0.0, "")
    assert (free.fresh, free.cache_read, free.output, free.stop_reason) == (10, 7, 2, "end_turn")
    assert store.exchange(free.id) == store.exchange(paid.id)
    assert store.totals("now").usd == 0 and store.totals("now").cached == 1


def test_a_third_run_is_answered_too_when_the_first_is_gone(store: Store):
    Session(store, "first", lambda text: message("kept")).ask()
    Session(store, "second", a_new_answer).ask()
    store.delete_run("first")
    third = Session(store, "third", a_new_answer)
    assert third.ask() == "kept" and third.asked == []


def test_a_resumed_run_takes_the_free_answer_from_its_own_rows(store: Store):
    Session(store, "before").ask()
    now = Session(store, "now", a_new_answer)
    now.ask()
    assert now.resumed().ask() == "hi" and now.asked == []
    assert store.totals("now").calls == 1


def test_the_reply_is_like_the_live_one(store: Store):
    wire = as_dict(message("", "tool_use", novel={"x": 1}, content=[
        {"type": "thinking", "thinking": "", "signature": "c2ln"},
        {"type": "tool_use", "id": "t1", "name": "read_ticket", "input": {"ticket_id": "0071"}}]))
    Session(store, "before", lambda text: message(**{k: v for k, v in wire.items() if k != "stop_reason"}, text="",
                                                  stop="tool_use")).ask(tools=[{"name": "read_ticket"}])
    now = Session(store, "now", a_new_answer)
    reply = now.client.messages.create(model="m", max_tokens=100, tools=[{"name": "read_ticket"}],
                                       messages=[{"role": "user", "content": "hi"}])
    assert as_dict(reply) == wire and type(reply.content[1]).__name__ == "ToolUseBlock" and now.asked == []


# --- 81: what makes a request another one


BASE = {"model": "m", "system": "s", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 100,
        "temperature": 0}
TOOL = {"name": "a", "description": "d1", "input_schema": {"type": "object"}}


def create(session: Session, **request: Any) -> Any:
    return session.client.messages.create(**request)


@pytest.mark.parametrize("change", [
    {"max_tokens": 4000}, {"temperature": 1}, {"temperature": None}, {"system": "s2"}, {"tools": [TOOL]},
    {"tools": [{**TOOL, "description": "d2"}]}, {"tool_choice": {"type": "none"}}, {"stop_sequences": ["x"]},
    {"model": "m2"}, {"top_p": 0.5}, {"thinking": {"type": "adaptive"}},
    {"cache_control": {"type": "ephemeral"}}, {"messages": [{"role": "user", "content": "ho"}]},
    {"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]}], ids=str)
def test_a_change_of_the_request_misses(store: Store, change: dict):
    create(Session(store, "before"), **BASE)
    now = Session(store, "now")
    create(now, **{**BASE, **change})
    assert len(now.asked) == 1


def test_a_tools_other_description_and_a_field_that_is_left_out_miss(store: Store):
    before, now = Session(store, "before"), Session(store, "now")
    create(before, **BASE, tools=[TOOL])
    create(now, **BASE, tools=[{**TOOL, "description": "d2"}])
    create(now, **BASE)
    create(now, **{name: value for name, value in BASE.items() if name != "temperature"}, tools=[TOOL])
    assert len(now.asked) == 3


@pytest.mark.parametrize("elsewhere", [
    {"source": "server", "connection": "http://one"}, {"source": "server", "connection": "Anthropic API"},
    {"source": "simulated"}, {"connection": "another"}], ids=str)
def test_another_source_or_base_url_misses(store: Store, elsewhere: dict):
    create(Session(store, "before", **elsewhere), **BASE)
    now = Session(store, "now")
    create(now, **BASE)
    assert len(now.asked) == 1


def test_two_base_urls_are_two_addresses(store: Store):
    for name in ("one", "two"):
        create(Session(store, name, lambda text, name=name: message(name), source="server",
                       connection=f"http://{name}"), **BASE)
    again = Session(store, "again", a_new_answer, source="server", connection="http://two")
    assert text_of(create(again, **BASE)) == "two" and again.asked == []


@pytest.mark.parametrize("same", [
    dict(reversed(BASE.items())), {**BASE, "messages": [{"content": "hi", "role": "user"}]},
    {**BASE, "extra_headers": {"x-api-key": "of somebody else", "x-request-id": "17"}, "timeout": 5}], ids=str)
def test_the_order_of_keys_the_api_key_and_how_it_is_sent_do_not_matter(store: Store, same: dict):
    create(Session(store, "before"), **BASE)
    now = Session(store, "now")
    create(now, **same)
    assert now.asked == []


def test_the_order_of_keys_inside_a_tool_does_not_matter(store: Store):
    create(Session(store, "before"), **BASE, tools=[TOOL])
    now = Session(store, "now")
    create(now, **BASE, tools=[json.loads(json.dumps(TOOL, sort_keys=True))])
    assert now.asked == []


# --- 83: what is no answer


def no_json(text: str) -> Any:
    return json.loads(text)


@pytest.mark.parametrize("bad", [
    message('{"category": "fault", "priority": "high", "summary": "Grinder tri', "max_tokens"),
    message('{"whole": "but cut"}\n\nNote for', "max_tokens"), message("", "refusal"), message("no", "refusal"),
    message("x", "model_context_window_exceeded"), message("x", None), message("x", "brand_new"), message(""),
    message(" \n"), message("", content=None), message("", content=[{"type": "thinking", "thinking": "hm"}]),
    message("x", "tool_use"), ServerTrouble("lost")],
    ids=["cut", "cut but parses", "refused", "refused with words", "window", "no reason", "unknown reason", "empty",
         "blank", "no content", "thinking alone", "a tool call that is none", "failed"])
def test_a_refused_cut_off_or_empty_answer_is_never_given(store: Store, bad: Any):
    before = Session(store, "before", lambda text: bad)
    try:
        before.ask()
    except ServerTrouble:
        pass
    now = Session(store, "now", a_new_answer)
    assert now.ask() == "new: hi" and len(now.asked) == 1


def test_an_answer_that_the_step_does_not_accept_now_is_never_given(store: Store):
    Session(store, "before", lambda text: message("five causes")).ask()
    now = Session(store, "now", lambda text: message("{}"))
    assert now.ask(accepts=no_json) == "{}" and len(now.asked) == 1
    third = Session(store, "third", a_new_answer)
    assert third.ask(accepts=no_json) == "{}" and third.asked == []     # the good one among both


def test_a_tool_call_where_there_is_no_tool_is_never_given(store: Store):
    Session(store, "before", lambda text: message("", "tool_use", content=[
        {"type": "text", "text": "{}"}, {"type": "tool_use", "id": "t", "name": "n", "input": {}}])).ask()
    now = Session(store, "now", lambda text: message("{}"))
    now.ask(accepts=no_json)
    assert len(now.asked) == 1


def test_after_a_cut_off_answer_a_higher_limit_is_asked_and_then_kept(store: Store):
    cut = message('{"cause": "late ma', "max_tokens")
    before = Session(store, "before", lambda text: cut)
    with pytest.raises(MapError) as failed:
        mapped(before, max_tokens=8)
    assert isinstance(failed.value.values[0], CutOff)
    raised = Session(store, "raised", lambda text: message("{}"))
    assert mapped(raised) == [{}] and len(raised.asked) == 1
    again = Session(store, "again", a_new_answer)
    assert mapped(again) == [{}] and again.asked == []


def mapped(session: Session, max_tokens: int = 2048, retries: int = 1) -> list[Any]:
    client = layered(session.client, accepting(no_json), with_defaults(max_tokens=max_tokens))
    return map_prompts(client, "m", "s", ["ticket"], str, no_json, workers=1, retries=retries)


def bad_then_good(text: str) -> Any:
    return message("not json" if text == "ticket" else '{"right": 1}')


def test_a_retry_never_reads_the_cache(store: Store):
    before = Session(store, "before", bad_then_good)
    assert mapped(before) == [{"right": 1}] and len(before.asked) == 2
    again = Session(store, "again", bad_then_good)
    assert mapped(again) == [{"right": 1}]
    assert len(again.asked) == 2 and again.asked[1]["messages"][-1]["content"].startswith("That answer cannot be used")
    assert store.totals("again").cached == 0


def test_neither_does_the_retry_of_an_agents_answer(store: Store):
    def agent(session: Session) -> str:
        client = layered(session.client, corrected(no_json, 1), accepting(no_json))
        asked = [{"role": "user", "content": "ticket"}]
        return text_of(client.messages.create(model="m", max_tokens=9, messages=asked))

    for name in ("before", "again"):
        session = Session(store, name, bad_then_good)
        assert agent(session) == '{"right": 1}' and len(session.asked) == 2


def test_a_turn_after_a_tool_call_is_no_retry(store: Store):
    turn = [{"role": "user", "content": "go"},
            {"role": "assistant", "content": [{"type": "text", "text": "look"},
                                              {"type": "tool_use", "id": "t", "name": "n", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "42"}]}]
    create(Session(store, "before", lambda content: message("done")), model="m", max_tokens=9, messages=turn)
    now = Session(store, "now", a_new_answer)
    create(now, model="m", max_tokens=9, messages=turn)
    assert now.asked == []


# --- the same request twice in one run


def test_who_asks_twice_gets_another_answer(store: Store):
    Session(store, "before", lambda text: message("first")).ask()
    now = Session(store, "now", lambda text: message("second"))
    assert [now.ask(), now.ask(), now.ask()] == ["first", "second", "second"] and len(now.asked) == 2


def test_neither_does_a_later_run_give_one_answer_twice(store: Store):
    before = Session(store, "before", lambda text: message(str(len(before.asked))))
    assert [before.ask(), before.ask()] == ["1", "2"]
    Session(store, "copy").ask()
    now = Session(store, "now", a_new_answer)
    assert now.ask() in ("1", "2") and now.ask() == "new: hi"


def test_of_workers_that_ask_the_same_at_once_one_is_answered_for_nothing(store: Store):
    Session(store, "before", lambda text: message("kept")).ask()
    now = Session(store, "now", a_new_answer)
    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda _: now.ask(), range(8)))
    assert sorted(texts) == ["kept"] + ["new: hi"] * 7 and len(now.asked) == 7


def test_a_free_answer_that_is_not_yet_in_the_rows_is_not_given_to_another_worker(store: Store, monkeypatch):
    Session(store, "before", lambda text: message("kept")).ask()
    other_is_sent, write = threading.Event(), store.add_call

    def slow(row: CallRow, *exchange: Any) -> int:
        assert not row.cached or other_is_sent.wait(10)
        return write(row, *exchange)

    monkeypatch.setattr(store, "add_call", slow)
    now = Session(store, "now", lambda text: other_is_sent.set() or a_new_answer(text))
    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(lambda _: now.ask(), range(2))) == ["kept", "new: hi"]


def test_a_run_that_has_its_own_answer_is_asked_anew_also_after_a_resume(store: Store):
    Session(store, "before", lambda text: message("theirs")).ask()
    now = Session(store, "now", a_new_answer)
    now.ask()
    now.resumed()
    assert [now.ask(), now.ask()] == ["theirs", "new: hi"]


def test_the_first_of_a_map_that_was_answered_for_nothing_is_no_first_that_wrote_to_the_cache(store: Store):
    Session(store, "before").ask("a")
    now = Session(store, "now")
    alone = layered(now.client, first_alone())
    sent = []
    for text in "ab":
        call = Call({"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": text}]})
        alone.send(call)
        sent.append((call.sent.reused, call.sent.attempts))
    assert sent == [(True, 0), (False, 1)]


# --- whose answers


def test_with_a_desk_only_its_own_runs_answer(store: Store):
    Session(store, "ann", lambda text: message("of Ann"), desk="ann").ask()
    store.update_run("ann", desk="ann")
    bob = Session(store, "bob", a_new_answer, desk="bob")
    assert bob.ask() == "new: hi"
    again = Session(store, "again", a_new_answer, desk="ann")
    assert again.ask() == "of Ann" and again.asked == []


def test_a_run_that_was_opened_from_a_recording_answers_nobody(store: Store):
    Session(store, "theirs", lambda text: message("what a stranger wrote"),
            origin="live · Anthropic API · recorded 2026-11-12").ask()
    assert Session(store, "now", a_new_answer).ask() == "new: hi"


def test_an_answer_of_a_server_that_simulates_says_so_again(store: Store):
    where = {"source": "server", "connection": "http://one"}
    Session(store, "before", conditions=SIMULATED_ANSWERS, **where).ask()
    now = Session(store, "now", **where)
    call = Call({"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}]})
    now.client.send(call)
    assert call.sent.simulated and call.sent.reused


# --- speed


def test_among_a_hundred_thousand_calls_an_answer_is_found_at_once(store: Store):
    before = Session(store, "before")
    before.ask("needle")
    with closing(store._db.cursor()) as db:
        db.execute("""with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000)
            insert into call (run_id, step, subject, model, started, seconds, stop_reason, fresh, output, usd, attempts,
                error) select 'before', 'label', i, 'm', i, 1, 'end_turn', 1, 1, 0.1, 1, '' from n""")
        db.execute("""insert into exchange select id, (select fields from exchange), randomblob(16), '{}' from call
            where id not in (select call_id from exchange)""")
    now = Session(store, "now")
    began = time.perf_counter()
    for number in range(50):
        now.ask(f"miss {number}")
    assert now.ask("needle") == "needle" and len(now.asked) == 50
    assert time.perf_counter() - began < 2.0     # about 0.1 on an idle machine; one look through them all takes longer
    plan = store._read("explain query plan select 1 from exchange where last is ? and fields = ?", b"", b"")
    assert "exchange_by_request" in plan[0]["detail"]
