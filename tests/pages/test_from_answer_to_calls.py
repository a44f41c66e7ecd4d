"""From an answer, a failed check or a failed run to the call behind it."""

from __future__ import annotations

from dataclasses import replace

import pytest
import seeds
from reading import literal, markup, sound

from lib.task.report import Check


@pytest.fixture
def opened(visit, store, sample):
    """opened("both_1") -> the Answer tab with the calls behind that cause unfolded."""
    def answers(card: str, *shapes: str):
        for shape in shapes:
            seeds.add_run(store, sample.tickets, sample.id, shape)
        app = visit("run", "g1")
        app.session_state[f"behind_{card}"] = True
        return app.run()
    return answers




def table(app, about):
    return next(frame.value for frame in app.dataframe if about in frame.value.columns)


def test_nothing_is_looked_up_before_somebody_looks(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "pipeline")
    app = visit("run", "g1")
    assert not [f for f in app.dataframe if "said" in f.value.columns]
    assert "Calls behind this" in markup(app)


def test_behind_a_cause_of_both_shapes_are_the_calls_of_both(opened):
    app = opened("both_1", "pipeline", "agent")
    sound(app)
    found = table(app, "said")
    steps = list(found["step"])
    assert steps[:9] == ["label"] * 9 and steps[9:11] == ["merge", "summary"]
    agent = found[found["shape"] == "agent"]
    assert len(agent) == 10 and list(agent["said"]) == ["read"] * 9 + ["the answer"]


def test_the_calls_behind_a_cause_have_the_numbers_of_the_calls_tab(opened):
    found = table(opened("pipeline_1", "pipeline"), "said")
    assert list(found["#"]) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 41, 42] and "shape" not in found.columns


def test_a_failed_check_leads_to_its_call(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent")
    app = visit("run", "g1")
    app.session_state["run.tabs"] = "Checks"
    app.run().button(key="check_agent_0").click().run()
    sound(app)
    assert app.session_state["run.tabs"] == "Calls" and "[Agent]** · call 40" in markup(app)


def test_a_check_that_no_single_call_decides_leads_nowhere(visit, store, sample):
    run = seeds.add_run(store, sample.tickets, sample.id, "pipeline")
    told = Check("ranking", False, "more frequent, but left out")
    store.update_run(run.id, report=replace(seeds.report("pipeline", sample.tickets), checks=(told,)).to_dict())
    app = visit("run", "g1")
    app.session_state["run.tabs"] = "Checks"
    app.run()
    assert "✕ ranking" in literal(app) and not [b for b in app.button if (b.key or "").startswith("check_")]


@pytest.mark.parametrize("page", ["run", "start"])
def test_a_failed_run_opens_the_call_that_failed(visit, store, sample, page):
    key = sample.tickets.tickets[6].key
    run = seeds.add_run(store, sample.tickets, sample.id, "pipeline", status="failed",
                        error=f"label of ticket {key}: 529 overloaded {seeds.TRAP}")
    for subject in (key, "later"):
        store.add_call(seeds._row(run, "label", subject, 2_000.0, 0, error="529 overloaded"), {"messages": []}, None)
    app = visit(page, "g1")
    assert f"label of ticket {key}: 529 overloaded" in literal(app) and "evil.example" not in markup(app)
    app.button(key=f"{page}.failed.pipeline").click().run()
    sound(app)
    if page == "run":
        assert f"label · {key}" in literal(app) and "✕ 529 overloaded" in literal(app)


def test_filters_that_would_hide_the_call_are_taken_off(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "pipeline", error="broke", status="failed")
    run = seeds.add_run(store, sample.tickets, sample.id, "agent", error="broke", status="failed")
    store.add_call(seeds._row(run, "agent", "turn 41", 2_000.0, 0, error="broke"), {"messages": []}, None)
    app = visit("run", "g1")
    app.session_state["run.tabs"] = "Calls"
    app.run().pills(key="run.filter.shape").set_value("pipeline").run()
    app.button(key="run.failed.agent").click().run()
    sound(app)
    assert "agent · turn 41" in literal(app)


def test_why_a_run_has_no_answer_stands_in_full_in_its_place(visit, store, sample):
    why = "the reply stayed invalid " + "and so on " * 40 + "to the end."
    seeds.add_run(store, sample.tickets, sample.id, "pipeline", status="failed", error=why)
    seeds.add_run(store, sample.tickets, sample.id, "agent")
    assert f"The pipeline failed: {why}" in literal(visit("run", "g1"))


@pytest.mark.parametrize("status", ["stopped", "failed", "interrupted"])
def test_an_early_end_says_how_many_calls_are_kept(visit, store, sample, status):
    seeds.add_run(store, sample.tickets, sample.id, "agent", status=status, error="Ended.")
    assert "Ended. 40 finished calls kept." in literal(visit("run", "g1"))


def test_what_came_from_earlier_replies_is_told_and_marked(visit, store, sample):
    run = seeds.add_run(store, sample.tickets, sample.id, "agent", source="live")
    for number in (41, 42):
        store.add_call(seeds._row(run, "agent", f"turn {number}", 999.0, 5, "tool_use", cached=1, usd=0.0, attempts=0),
                       {"messages": []}, None)
    app = visit("run", "g1")
    assert "2 of 42 calls from earlier replies: free." in literal(app)
    app.session_state["run.tabs"] = "Calls"
    notes = list(table(app.run(), "note")["note"])
    assert notes[:3] == ["earlier reply", "earlier reply", ""] and "2 from earlier replies, free" in markup(app)


def test_a_call_far_down_a_long_table_is_opened_too(visit, store, sample, monkeypatch):
    monkeypatch.setattr("lib.ui.calls.SHOWN", 10)
    seeds.add_run(store, sample.tickets, sample.id, "agent", status="failed", error="broke")
    app = visit("run", "g1")
    app.button(key="run.failed.agent").click().run()
    sound(app)
    assert "[Agent]** · call 40" in markup(app) and "calls 31 to 40 of 40" in markup(app)
    assert "[Agent]** · call 40" in markup(app.run())
