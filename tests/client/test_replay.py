"""A replay gives the recorded answers to the recorded questions, in order and in their time, and to no others."""

from __future__ import annotations

import json
import socket
import threading
from dataclasses import replace

import pytest

from lib import errors
from lib.client.clock import Clock
from lib.client.connect import connect_replay, connect_simulated
from lib.client.layers import Call, Sent, layered
from lib.client.ledger import ledger
from lib.client.replay import Replay
from lib.client.timeline import SimulatedTime
from lib.design import Limits
from lib.messages import text_of
from lib.runs.job import Runs
from lib.runs.recording import open_recording, save
from lib.runs.store import CallRow, Run, Store
from lib.settings import load
from lib.simulated.conditions import Conditions
from lib.task.default_design import default_design
from tests.runs.recorded import after_end, ended, replayed, sample, told
from tests.sets import both_sets

SETTINGS = load({})
ROW = CallRow(0, "r", "label", "T-1", "m", 100.0, 2.5, "end_turn", 5, 0, 0, 0, 7, None, 0.1)
REQUEST = {"model": "m", "max_tokens": 9, "system": "Answer with JSON only, please.",
           "messages": [{"role": "user", "content": "<ticket>It is broken since Monday.</ticket>"}]}


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "runs.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def offline(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a replay reached for the network")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def said(text: str) -> dict:
    return {"id": "msg", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
            "stop_sequence": None, "content": [{"type": "text", "text": text}],
            "usage": {"input_tokens": 5, "output_tokens": 7}}


def recorded(store: Store, *answers, request: dict = REQUEST, run_id: str = "r", status: str = "done",
             **fields) -> None:
    """A run whose calls made this request and got these answers: texts, or rows of calls that failed."""
    if store.run(run_id) is None:
        store.add_run(Run(run_id, "g", "pipeline", status, "live", "Anthropic API", {}, "", 100.0))
    for answer in answers:
        if isinstance(answer, str):
            store.add_call(replace(ROW, run_id=run_id, **fields), request, said(answer))
        else:
            store.add_call(answer, request, None)


def ask(store: Store, request: dict = REQUEST, step: str = "label", subject: str = "T-1", connection=None) -> str:
    connection = connection or connect_replay(store, ["r"], 0, SETTINGS)
    return text_of(connection.client.send(Call(request, step, subject)))


def refusal(store: Store, step: str = "label", subject: str = "T-1", **changes) -> str:
    with pytest.raises(errors.NotRecorded) as caught:
        ask(store, {**REQUEST, **changes}, step, subject)
    assert str(caught.value).isprintable()
    return str(caught.value)


# --- whole runs ------------------------------------------------------------------------------------------------------


@both_sets
def test_a_replay_elsewhere_gives_the_same_report_calls_and_tokens_offline(name, store, tmp_path, offline):
    before = ended(store, sample(name))
    elsewhere = Store(tmp_path / "elsewhere.sqlite")
    opened = elsewhere.group(open_recording(save(store, [run.id for run in before]), elsewhere, ""))
    again = replayed(elsewhere, opened)
    for was, now in zip(before, again, strict=True):
        assert (now.status, now.error, now.source) == ("done", "", "replay")
        assert now.report == was.report
        assert [c["name"] for c in now.report["causes"]] == [c["name"] for c in was.report["causes"]]
        assert exchanges(elsewhere, now.id) == exchanges(store, was.id)
        assert replace(elsewhere.totals(now.id), usd=0, first_started=0, last_ended=0) == replace(
            store.totals(was.id), usd=0, first_started=0, last_ended=0)
    elsewhere.close()


def exchanges(store: Store, run_id: str) -> list:
    """What was asked, said and counted, without when."""
    rows = [({**told(row), "started": 0}, *store.exchange(row.id)) for row in store.calls(run_id)]
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


def test_a_failed_call_fails_again_with_its_words_and_the_rest_goes_on(store):
    before, = ended(store, few(8), shapes=["pipeline"], conditions=Conditions(server_error=0.6, seed=3))
    failed = [row.error for row in store.calls(before.id) if row.error]
    assert before.status == "done" and failed and before.report["failed"]
    now, = replayed(store, [before])
    assert (now.status, now.report) == ("done", before.report)
    assert sorted(row.error for row in store.calls(now.id) if row.error) == sorted(failed)
    assert exchanges(store, now.id) == exchanges(store, before.id)


def test_a_stopped_run_replays_as_far_as_it_came_and_says_that_it_ended_early(store):
    before, = ended(store, few(6), replace(default_design(), limits=Limits(max_tokens=9_000)), ["pipeline"])
    assert before.status == "stopped"
    now, = replayed(store, [before], replace(default_design(), limits=Limits()))
    assert now.status == "failed" and "did not come to its end (stopped)" in now.error
    assert len([row for row in store.calls(now.id) if not row.error]) == len(store.calls(before.id))
    assert {row.usd for row in store.calls(now.id) if row.error} == {0.0}       # nothing was asked, nothing is billed


def test_a_run_that_failed_and_was_resumed_replays_its_failure_and_goes_on_when_it_is_resumed(store):
    runs = Runs(store)
    failed, = ended(store, few(6), shapes=["agent"], conditions=Conditions(server_error=0.5, seed=1))
    assert failed.status == "failed"
    runs.resume(failed.id, lambda: connect_simulated(SETTINGS, 0))
    done, = after_end(runs, store, failed.group)
    now, = replayed(store, [done])
    assert (now.status, now.error) == ("failed", failed.error)
    runs.resume(now.id, lambda: connect_replay(store, [done.id], 0, SETTINGS, going_on=[now.id]))
    again, = after_end(runs, store, now.group)
    assert (again.status, again.report) == ("done", done.report)
    assert exchanges(store, again.id) == exchanges(store, done.id)


def test_an_edited_prompt_of_a_whole_run_is_named(store):
    before = ended(store, few(4))
    design = default_design().with_step("label", system=default_design().steps["label"].system.replace("JSON", "XML"))
    pipeline, agent = replayed(store, before, design)
    assert pipeline.status == "failed" and agent.status == "done"
    assert "request of the step label: the system prompt differs" in pipeline.error
    assert "Answer with JSON only, nothing" in pipeline.error and "Answer with XML only, nothing" in pipeline.error


def test_an_edited_tool_of_a_whole_run_is_named(store):
    before = ended(store, few(4), shapes=["agent"])
    now, = replayed(store, before, default_design().with_tool("read_ticket", description="does stuff"))
    assert "the tool read_ticket's description differs" in now.error and 'is "does stuff"' in now.error


def test_a_ticket_that_was_changed_is_named(store):
    before = ended(store, few(4))
    tickets, catalog = few(4)
    key = tickets.tickets[2].key
    changed = replace(tickets.tickets[2], body="My parrot is ill. " + tickets.tickets[2].body)
    other = replace(tickets, tickets=(*tickets.tickets[:2], changed, tickets.tickets[3]))
    pipeline, agent = replayed(store, before, data=(other, catalog))
    assert f"the text of ticket {key} differs" in pipeline.error and "My parrot is ill." in pipeline.error
    assert "the result of the tool read_ticket differs" in agent.error and "My parrot is ill." in agent.error


def test_a_ticket_that_is_new_is_named(store):
    before = ended(store, few(4), shapes=["pipeline"])
    now, = replayed(store, before, data=few(5))
    assert f'no call of the step label about "{few(5)[0].tickets[4].key}"' in now.error


def few(count: int):
    tickets, catalog = sample("fernhill")
    return replace(tickets, tickets=tickets.tickets[:count]), catalog


# --- one call --------------------------------------------------------------------------------------------------------


def test_the_same_request_gets_its_answers_in_order_and_then_none(store):
    recorded(store, "first", "second")
    connection = connect_replay(store, ["r"], 0, SETTINGS)
    assert [ask(store, connection=connection) for _ in range(2)] == ["first", "second"]
    with pytest.raises(errors.NotRecorded, match="has this request of the step label 2 times"):
        ask(store, connection=connection)
    assert ask(store) == "first"        # another replay begins anew


def test_every_answer_is_given_once_under_many_threads(store):
    recorded(store, *map(str, range(40)))
    connection, given, lock = connect_replay(store, ["r"], 0, SETTINGS), [], threading.Lock()

    def work():
        for _ in range(5):
            answer = ask(store, connection=connection)
            with lock:
                given.append(answer)

    threads = [threading.Thread(target=work) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert sorted(given, key=int) == [str(n) for n in range(40)]


def test_a_replay_that_goes_on_is_not_given_again_what_it_had(store):
    recorded(store, "first", "second")
    recorded(store, "first", run_id="now")
    connection = connect_replay(store, ["r"], 0, SETTINGS, going_on=["now"])
    assert ask(store, connection=connection) == "second"


def test_the_order_of_names_and_how_it_is_sent_do_not_matter(store):
    recorded(store, "yes", request={**REQUEST, "extra_headers": {"x-api-key": "another"}})
    assert ask(store, dict(reversed(REQUEST.items()))) == "yes"


def test_two_runs_share_one_replay(store):
    recorded(store, "of the pipeline")
    recorded(store, "of the agent", request={**REQUEST, "system": "You are an agent."}, run_id="s")
    connection = connect_replay(store, ["r", "s"], 0, SETTINGS)
    assert ask(store, connection=connection) == "of the pipeline"
    assert ask(store, {**REQUEST, "system": "You are an agent."}, connection=connection) == "of the agent"
    assert (connection.source, connection.name) == ("replay", "Recording of Anthropic API")


def test_a_reply_that_was_taken_from_a_cache_is_an_answer_too(store):
    recorded(store, "cached", cached=1, usd=0.0, seconds=0.0)
    assert ask(store) == "cached"


def test_a_server_that_reported_no_usage_is_replayed_as_it_was(store):
    recorded(store)
    store.add_call(ROW, REQUEST, {"type": "message", "role": "assistant", "content": "a bare text", "usage": None,
                                  "stop_reason": None, "x_extra": [1]})
    reply = connect_replay(store, ["r"], 0, SETTINGS).client.messages.create(**REQUEST)
    assert text_of(reply) == "a bare text" and reply.usage is None and reply.stop_reason is None


@pytest.mark.parametrize(("error", "usd", "kind", "words"), [
    ("Busy: It is full.", 0.0, errors.Busy, "It is full."),
    ("StaysBusy: Still full: really.", 0.0, errors.StaysBusy, "Still full: really."),
    ("ServerTrouble: It broke.", None, errors.ServerTrouble, "It broke."),
    ("WrongKey: 401", 0.0, errors.WrongKey, "401"),
    ("NotMessagesApi: HTML", 0.0, errors.NotMessagesApi, "HTML"),
    ("NotMessagesApi: HTML", None, errors.NotMessagesApi, "HTML"),
    ("Stopped: Stopped while busy.", 0.0, errors.Stopped, "Stopped while busy."),
    ("RuntimeError: a bug", None, errors.CallError, "RuntimeError: a bug"),
    ("TurnLimit: a loop's, not a call's", None, errors.CallError, "TurnLimit: a loop's, not a call's"),
    ("__builtins__: x", None, errors.CallError, "__builtins__: x"),
    ("KeyboardInterrupt", None, errors.CallError, "KeyboardInterrupt"),
])
def test_a_recorded_failure_is_raised_once_and_billed_as_it_was(store, error, usd, kind, words):
    failed = replace(ROW, error=error, usd=usd, stop_reason=None, fresh=None, output=None, attempts=3, waited=1.5)
    recorded(store, failed, "after all")
    store.add_run(Run("now", "g2", "pipeline", "running", "replay", "Recording", {}, "", 200.0))
    connection = connect_replay(store, ["r"], 0, SETTINGS)
    client = layered(connection.client, ledger(store, "now", SimulatedTime(200.0)))
    with pytest.raises(kind) as caught:
        client.send(Call(REQUEST, "label", "T-1"))
    assert type(caught.value) is kind and str(caught.value) == words
    assert text_of(client.send(Call(REQUEST, "label", "T-1"))) == "after all"
    row, _ = store.calls("now")
    assert (row.usd, row.attempts, row.waited, row.seconds) == (usd, 3, 1.5, 2.5)


# --- its time --------------------------------------------------------------------------------------------------------


class SlowClock:
    """Real seconds for `Clock` that pass only while it is asked to wait."""

    def __init__(self):
        self.waits: list[float] = []

    def of(self, scale: float) -> Clock:
        clock = Clock(scale, monotonic=lambda: 0.0, wall=lambda: 1000.0)
        sleep = clock.sleep

        def noted(seconds, stop=None):
            self.waits.append(seconds / scale if scale else 0.0)
            return sleep(0.0, stop)

        clock.sleep = noted
        return clock


@pytest.mark.parametrize(("speed", "real"), [(1, 2.5), (10, 0.25), (0, 0.0)])
def test_a_call_takes_its_recorded_time_at_the_chosen_speed(store, speed, real):
    recorded(store, "yes")
    slow, sent = SlowClock(), Sent()
    replay = Replay(store, ["r"], slow.of(speed))
    call = Call(REQUEST, "label", "T-1", sent=sent)
    replay.layer(call, lambda call: replay._answer(http_request(call.request)))
    assert slow.waits == [real] and sent.seconds == 2.5


def http_request(request: dict):
    import httpx2

    return httpx2.Request("POST", "http://recording.invalid/v1/messages", json=request)


def test_stop_ends_the_wait_of_a_recorded_call(store):
    recorded(store, "yes", seconds=3600.0)
    stop = threading.Event()
    stop.set()
    call = Call(REQUEST, "label", "T-1", stop=stop)
    assert text_of(connect_replay(store, ["r"], 1, SETTINGS).client.send(call)) == "yes"


def test_calls_begin_when_they_did_and_a_night_between_two_parts_of_a_run_is_left_out(store):
    for number, started in enumerate((100.0, 101.0, 110.0, 50_000.0)):
        recorded(store, "yes", request={**REQUEST, "system": str(number)}, started=started, seconds=2.0)
    connection, began = connect_replay(store, ["r"], 0, SETTINGS), []
    for number in range(4):
        call = Call({**REQUEST, "system": str(number)}, sent=Sent(began=7000.0))
        connection.client.send(call)
        began.append(call.sent.began - 7000.0)
    assert began == [0.0, 1.0, 10.0, 12.0]


def test_which_thread_asks_first_does_not_move_the_replay_in_time(store):
    for number, started in enumerate((100.0, 102.5)):
        recorded(store, "yes", request={**REQUEST, "system": str(number)}, started=started)
    connection, began = connect_replay(store, ["r"], 0, SETTINGS), []
    for number in (1, 0):       # both ask when the replay begins
        call = Call({**REQUEST, "system": str(number)}, sent=Sent(began=7000.0))
        connection.client.send(call)
        began.append(call.sent.began)
    assert began == [7002.5, 7000.0]


# --- what is not recorded --------------------------------------------------------------------------------------------

TOOL = {"name": "read_ticket", "description": "Reads one ticket.", "input_schema": {"type": "object"}}


@pytest.mark.parametrize(("changes", "words"), [
    ({"model": "n"}, "the model differs, it was m and is n."),
    ({"max_tokens": 10}, "the longest reply (max_tokens) differs, it was 9 and is 10."),
    ({"stop_sequences": ["."]}, 'stop_sequences differs, it was not set and is ["."].'),
    ({"system": "Answer with XML only, please."},
     'the system prompt differs, it was "Answer with JSON only, please." and is "Answer with XML only, please.".'),
    ({"system": [{"type": "text", "text": REQUEST["system"], "cache_control": {"type": "ephemeral"}}]},
     "the system prompt is marked for the prompt cache otherwise"),
    ({"cache_control": {"type": "ephemeral"}}, "what is marked for the prompt cache differs"),
    ({"tools": [TOOL]}, "the tool read_ticket is new."),
    ({"model": "n", "max_tokens": 10, "system": "Be quick."},
     "the model differs, it was m and is n. The longest reply (max_tokens) and the system prompt differ, too."),
    ({"messages": [{"role": "user", "content": "<ticket>It is broken since Tuesday.</ticket>"}]},
     'the text of ticket T-1 differs, it was "…icket>It is broken since Monday.</ticket>" and is "…icket>It is broken '
     'since Tuesday.</ticket>".'),
    ({"messages": [*REQUEST["messages"], {"role": "assistant", "content": "Hm."}]},
     "its conversation has 2 messages, the recorded one 1."),
])
def test_what_differs_is_named(store, changes, words):
    recorded(store, "yes")
    assert words in refusal(store, **changes)


def test_a_long_prompt_is_shown_around_its_first_difference(store):
    recorded(store, "yes", request={**REQUEST, "system": "a " * 500 + "red\nfox" + " b" * 500})
    words = refusal(store, system="a " * 500 + "green\nfox" + " b" * 500)
    assert 'it was "…' in words and "a a red fox b b" in words and "a a green fox b b" in words and len(words) < 500


@pytest.mark.parametrize(("tools", "words"), [
    ([], "the tool read_ticket is missing"),
    ([{**TOOL, "description": "does stuff"}],
     'the tool read_ticket\'s description differs, it was "Reads one ticket." and is "does stuff".'),
    ([{**TOOL, "input_schema": {"type": "array"}}], "the tool read_ticket's input_schema differs"),
    ([{**TOOL, "name": "open_ticket"}], "the tool"),
])
def test_what_differs_in_a_tool_is_named(store, tools, words):
    recorded(store, "yes", request={**REQUEST, "tools": [TOOL]})
    assert words in refusal(store, tools=tools)


def test_a_tool_result_is_named_by_its_tool(store):
    def conversation(result):
        return [{"role": "user", "content": "Why?"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "tally", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": result}]}]

    recorded(store, "yes", request={**REQUEST, "messages": conversation("3 of 4")}, step="agent", subject="turn 2")
    words = refusal(store, "agent", "turn 2", messages=conversation("4 of 4"))
    assert 'the result of the tool tally differs, it was "3 of 4" and is "4 of 4".' in words


def test_the_nearest_request_is_compared(store):
    recorded(store, "yes", subject="T-0", request={**REQUEST, "model": "another", "system": "Of another step."})
    recorded(store, "yes")
    assert "the longest reply" in refusal(store, max_tokens=10)


def test_another_subject_or_step_is_not_recorded(store):
    recorded(store, "yes", status="stopped")
    assert 'holds no call of the step label about "T-2". The recorded pipeline did not come to its end' in refusal(
        store, subject="T-2", messages=[{"role": "user", "content": "<ticket>Other</ticket>"}])
    assert "holds no call of the step merge." in refusal(store, "merge", "3 labels", system="Merge.")


def test_nothing_is_taken_in_its_place_after_a_refusal(store):
    recorded(store, "yes")
    connection = connect_replay(store, ["r"], 0, SETTINGS)
    with pytest.raises(errors.NotRecorded):
        ask(store, {**REQUEST, "model": "n"}, connection=connection)
    assert ask(store, connection=connection) == "yes"


def test_a_run_deleted_meanwhile_leaves_nothing_to_answer_with(store):
    recorded(store, "yes")
    connection = connect_replay(store, ["r"], 0, SETTINGS)
    store.delete_run("r")
    with pytest.raises(errors.NotRecorded):
        ask(store, connection=connection)


def test_only_messages_are_answered(store):
    recorded(store, "yes")
    assert connect_replay(store, ["r"], 0, SETTINGS).count(REQUEST) is None
