"""Which calls stand behind a cause, a failed check, or the end of a run."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lib.runs import calls_behind
from lib.runs.store import CallRow, Run
from lib.task.default_design import default_design
from lib.task.report import Cause, Check, Evidence, Report
from lib.tickets import TicketSet
from lib.tickets.ticket import Ticket

TICKETS = TicketSet("t.csv", tuple(Ticket(key, key, body=f"body of {key}") for key in ("T-1", "T-2", "T-3")))
CAUSE = Cause("double charge", ("T-1", "T-3"), ())


def run(shape: str, status: str = "done") -> Run:
    return Run(id="r", group="g", shape=shape, status=status, source="simulated", connection="simulated",
               design=default_design().to_dict(), data_id="d", created=0.0)


def call(number: int, step: str, subject: str = "", error: str = "") -> CallRow:
    return CallRow(id=number, run_id="r", step=step, subject=subject, model="m", started=float(number), seconds=1.0,
                   stop_reason="end_turn", fresh=1, write_5m=0, write_1h=0, cache_read=0, output=1, thinking=0, usd=0.0,
                   error=error)


def text(words: str) -> dict:
    return {"role": "assistant", "content": [{"type": "text", "text": words}]}


def label(cause: str) -> dict:
    return text(json.dumps({"cause": cause, "evidence": ""}))


def read(*ids: str) -> dict:
    uses = [{"type": "tool_use", "id": f"u{id}", "name": "read_ticket", "input": {"ticket_id": id}} for id in ids]
    return {"role": "assistant", "content": uses}


def replies(said: dict[int, dict]):
    return lambda ids: {id: said[id] for id in ids if id in said}


PIPELINE = [call(1, "label", "T-1"), call(2, "label", "T-2"), call(3, "label", "T-3"), call(4, "merge", "2 labels"),
            call(5, "summary", "double charge"), call(6, "summary", "lost parcel")]
SAID = {1: label("billed twice"), 2: label("lost parcel"), 3: label("double charge")}


def test_behind_a_cause_of_the_pipeline_are_its_labels_the_merge_and_its_summary():
    found = calls_behind.a_cause(CAUSE, run("pipeline"), PIPELINE, replies(SAID), TICKETS)
    assert [(b.call.id, b.about, b.said) for b in found] == [
        (1, "T-1", "billed twice"), (3, "T-3", "double charge"), (4, "all labels", "double charge"),
        (5, "double charge", "")]


def test_of_a_label_that_was_asked_for_again_the_last_answer_counts():
    calls = [*PIPELINE, call(7, "label", "T-1"), call(8, "label", "T-3", error="lost")]
    found = calls_behind.a_cause(CAUSE, run("pipeline"), calls, replies(SAID | {7: label("double charge")}), TICKETS)
    assert [(b.call.id, b.said) for b in found[:2]] == [(7, "double charge"), (3, "double charge")]


def test_of_several_merges_only_those_that_name_the_cause_or_its_labels():
    calls = [*PIPELINE, call(9, "merge", "150 labels"), call(10, "merge", "150 labels")]
    said = SAID | {4: text('{"groups": [{"cause": "x", "labels": ["billed twice"]}]}'), 9: text('{"cause": "y"}'),
                   10: text('{"cause": "double charge"}')}
    found = calls_behind.a_cause(CAUSE, run("pipeline"), calls, replies(said), TICKETS)
    assert [b.call.id for b in found if b.call.step == "merge"] == [4, 10]


def test_keys_are_found_as_a_prompt_shows_them():
    odd = replace(CAUSE, tickets=("T  1\n",))
    found = calls_behind.a_cause(odd, run("pipeline"), [call(1, "label", "T 1")], replies(SAID), None)
    assert [b.call.id for b in found] == [1]


AGENT = [call(1, "agent", "turn 1"), call(2, "agent", "turn 2"), call(3, "agent", "turn 3"), call(4, "agent", "turn 4")]
TURNS = {1: read("T-2"), 2: read("T-1, T-2"), 3: read("T-3"), 4: text("{}")}


@pytest.mark.parametrize("tickets", [TICKETS, None])
def test_behind_a_cause_of_the_agent_are_the_turns_that_read_its_tickets_and_the_last(tickets):
    found = calls_behind.a_cause(CAUSE, run("agent"), AGENT, replies(TURNS), tickets)
    assert [(b.call.id, b.tickets) for b in found] == [(2, ("T-1",)), (3, ("T-3",)), (4, ())]


def test_a_stopped_agent_has_no_final_turn():
    found = calls_behind.a_cause(CAUSE, run("agent", "stopped"), AGENT[:3], replies(TURNS), TICKETS)
    assert [b.call.id for b in found] == [2, 3]


def test_a_reading_tool_with_another_name_is_still_the_reading_tool():
    design = default_design().with_tool("read_ticket", name="fetch").to_dict()
    use = {"type": "tool_use", "id": "u", "name": "fetch", "input": {"ticket_id": "T-1"}}
    found = calls_behind.a_cause(CAUSE, replace(run("agent", "stopped"), design=design), AGENT[:1],
                           replies({1: {"role": "assistant", "content": [use]}}), TICKETS)
    assert [b.tickets for b in found] == [("T-1",)]


def report(**fields) -> Report:
    return Report("pipeline", 1, (replace(CAUSE, evidence=(Evidence("T-3", "no such words", False),)),), (), 3, {},
                  fields.get("failed", {}))


@pytest.mark.parametrize(("check", "number"), [
    (Check("summary ids", False, "x", "double charge"), 5), (Check("labels merged", False, "x"), 4),
    (Check("quotes", False, "not found: T-3"), 3), (Check("every ticket placed", False, "x"), 2),
    (Check("ranking", False, "x"), None)])
def test_a_failed_check_leads_to_its_call(check, number):
    found = calls_behind.a_check(check, report(failed={"T-2": "no JSON"}), run("pipeline"), PIPELINE)
    assert (found and found.id) == number


def test_a_failed_check_of_an_agent_leads_to_its_answer():
    found = calls_behind.a_check(Check("counts", False, "x", "double charge"), report(), run("agent"), AGENT)
    assert found.id == 4


def test_the_call_that_failed_is_the_one_that_the_error_names():
    calls = [call(1, "label", "T-1", error="lost"), call(2, "label", "T-10", error="lost"), call(3, "label", "T-2")]
    assert calls_behind.failed_call("label of ticket T-1: lost", calls).id == 1
    assert calls_behind.failed_call("label of ticket T-10: lost", calls).id == 2


def test_a_call_that_was_answered_later_did_not_end_the_run():
    calls = [call(1, "label", "T-1", error="lost"), call(2, "label", "T-1"), call(3, "merge", "2 labels", error="500")]
    assert calls_behind.failed_call("500", calls).id == 3


def test_without_a_failed_call_it_was_the_last_reply():
    assert calls_behind.failed_call("the answer stayed invalid", AGENT).id == 4
    assert calls_behind.failed_call("nothing answers there", []) is None
