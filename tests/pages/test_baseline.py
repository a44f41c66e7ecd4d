"""A run after an edit is held against the run before it, or against the one that was pinned."""

from __future__ import annotations

from dataclasses import replace

import pytest
from reading import literal, markup, sound
from seeds import TRAP, add_run, report

from lib.runs.store import CallRow
from lib.task.default_design import default_design
from lib.ui import sent_back, state

LABELS = default_design().with_step("label", system="Label it.")
COUNTS = replace(LABELS.with_tool("tally", description="Counts."), name=f"mine {TRAP}")


@pytest.fixture
def three(store, sample):
    """Three groups of one desk: the default, an edit, one more edit under a name of its own."""
    for number, design in enumerate((default_design(), LABELS, COUNTS), start=1):
        for shape in state.SHAPES:
            add_run(store, sample.tickets, sample.id, shape, group=f"g{number}", created=1_000.0 * number, desk="d",
                    design=design.to_dict())


def changes(app) -> str:
    """All that is said of what changed."""
    return literal(app) + markup(app).replace("\\$", "$")


def table(app) -> dict[str, list[str]]:
    found = next(m.value for m in app.markdown if m.value.startswith("|  | "))
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in found.replace("\\$", "$").splitlines()]
    return {what: told for what, *told in rows[2:]}


def test_all_that_changed_is_told_for_both_shapes(visit, store, sample, three):
    better = replace(report("agent", sample.tickets), total=40)
    store.update_run("g3-agent", report=better.to_dict())
    app = visit("run", "g3", desk="d")
    sound(app)
    assert "**What changed since the run before**" in markup(app)
    assert "Edited: tool tally: description" in literal(app) and "+Counts." in literal(app)
    assert list(table(app)) == ["input tokens", "output tokens", "cost", "time", "calls", "checks passed", "answer"]
    assert table(app)["calls"] == ["unchanged (46)", "unchanged (40)"]
    assert table(app)["checks passed"] == ["unchanged (1 of 2)", "1 of 2 → 2 of 2"]
    assert table(app)["answer"] == ["same causes and counts"] * 2
    assert table(app)["time"][1] == "unchanged (1 min 24 s)"


def test_a_tool_that_came_is_one_edit_and_numbers_are_those_of_the_editors(visit, store, sample, three):
    own = COUNTS.with_own_tools(["own_1"], []).with_tool("own_1", name="plan_of", description="Returns a plan.")
    richer = replace(own, limits=replace(own.limits, max_usd=7, max_seconds=7_200))
    add_run(store, sample.tickets, sample.id, "agent", group="g4", created=4_000.0, desk="d", design=richer.to_dict())
    told = literal(visit("run", "g4", desk="d"))
    assert "Edited: tool plan_of: added, Stop at … dollars, Stop at … seconds" in told and "own_1" not in told
    assert "Stop at … dollars: 5 → 7" in told and "Stop at … seconds: 1,800 → 7,200" in told


def test_both_designs_are_named_with_their_versions(visit, three):
    app = visit("run", "g3", desk="d")
    line = next(t.value for t in app.text if " → " in t.value)
    assert line.startswith(f"default v1 · label prompt edited · {LABELS.version}, ")
    assert f" → mine {TRAP[:40]}" in line and " · unlike the default: " in line and line.endswith(COUNTS.version)
    assert TRAP not in markup(app)


def test_a_pinned_run_takes_the_place_of_the_run_before(visit, three):
    app = visit("run", "g1", desk="d")
    app.button(key="run.pin").click().run()
    assert app.button(key="run.unpin") and state.store().load_desk("d")["pinned"] == "g1"
    app = visit("run", "g3", desk="d")
    assert "**What changed since the pinned run**" in markup(app)
    assert "Edited: label: system prompt, tool tally: description" in literal(app)
    app.button(key="run.unpin_baseline").click().run()
    assert "**What changed since the run before**" in markup(app)
    assert "Edited: tool tally: description" in literal(app) and state.store().load_desk("d")["pinned"] == ""


def test_against_a_pinned_run_of_the_same_design_there_are_figures_all_the_same(visit, store, sample, three):
    add_run(store, sample.tickets, sample.id, "agent", group="g4", created=4_000.0, desk="d", design=COUNTS.to_dict())
    store.save_desk("d", {"pinned": "g3"})
    app = visit("run", "g4", desk="d")
    assert "The design is the same." in literal(app)
    assert table(app)["input tokens"] == ["unchanged (412k)"]


def test_the_pinned_run_itself_is_held_against_the_run_before_it(visit, store, three):
    store.save_desk("d", {"pinned": "g2"})
    app = visit("run", "g2", desk="d")
    assert "**What changed since the run before**" in markup(app) and app.button(key="run.unpin")


def test_a_pinned_run_that_was_deleted_falls_back_to_the_run_before_and_says_so(visit, store, three):
    store.save_desk("d", {"pinned": "g1"})
    store.delete_runs(["g1-pipeline", "g1-agent"])
    app = visit("run", "g3", desk="d")
    sound(app)
    assert "The run that was pinned as the baseline was deleted" in literal(app)
    assert "Edited: tool tally: description" in literal(app)
    app.button(key="run.unpin_baseline").click().run()
    assert "was deleted" not in literal(app)


def test_with_nothing_before_it_a_run_whose_baseline_was_deleted_says_only_that(visit, store, sample):
    add_run(store, sample.tickets, sample.id, "agent", desk="d")
    store.save_desk("d", {"pinned": "gone"})
    app = visit("run", "g1", desk="d")
    sound(app)
    assert "was deleted" in literal(app) and "Edited:" not in literal(app)


def test_a_pin_of_another_kind_is_none(visit, store, three):
    store.save_desk("d", {"pinned": ["g1"]})
    assert "**What changed since the run before**" in markup(visit("run", "g3", desk="d"))


def test_a_pinned_run_of_another_version_of_the_playground_says_so(visit, store, sample, three):
    add_run(store, sample.tickets, sample.id, "agent", group="g0", desk="d", design={"name": "of tomorrow"})
    store.save_desk("d", {"pinned": "g0"})
    app = visit("run", "g3", desk="d")
    sound(app)
    assert "The design of one is of another version of the playground." in literal(app)


def test_whoever_has_only_the_link_to_a_run_sees_no_run_before_it(visit, three, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_SHARED", "1")
    app = visit("run", "g3")
    assert "What changed" not in markup(app) and "Edited:" not in literal(app)


def test_a_run_that_was_stopped_has_no_figures_but_its_edits(visit, store, three):
    store.update_run("g3-agent", status="stopped", report=None)
    app = visit("run", "g3", desk="d")
    assert "agent: this run has no whole answer to compare" in literal(app)
    assert all(len(cells) == 1 for cells in table(app).values())


def test_before_there_is_a_run_there_is_nothing_to_pin(visit):
    assert not [b for b in visit("run").button if b.key in ("run.pin", "run.unpin")]


# --- output modes ----------------------------------------------------------------------------------------------------


def test_replies_that_failed_validation_stand_beside_the_tokens(visit, store, sample, three):
    asked_twice(store, "g2-pipeline", "label", sample.tickets.tickets[0].key)
    structured = replace(COUNTS, output="structured").to_dict()
    store.update_run("g3-pipeline", design=structured, report=replace(
        report("pipeline", sample.tickets), failed={"T-1": "no JSON"}).to_dict())
    store.update_run("g3-agent", design=structured)
    app = visit("run", "g3", desk="d")
    assert "output" in literal(app) and "Ask for JSON and validate → The API's structured output" in literal(app)
    assert table(app)["replies sent back"] == ["1 → 0", "–"]
    assert table(app)["tickets without a label"] == ["0 → 1", "–"]
    assert list(table(app))[4:8] == ["calls", "replies sent back", "tickets without a label", "checks passed"]


def asked_twice(store, run_id: str, step: str, subject: str) -> None:
    """One more call about a subject, after all others."""
    row = CallRow(id=0, run_id=run_id, step=step, subject=subject, model="claude-haiku-5-5", started=9_999.0,
                  seconds=1.0, stop_reason="end_turn", fresh=1, write_5m=0, write_1h=0, cache_read=0, output=1,
                  thinking=0, usd=0.0)
    question = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"},
                {"role": "user", "content": "no"}]
    store.add_call(row, {"messages": question}, {"role": "assistant", "content": []})


def test_two_runs_compared_in_the_history_tell_them_too(visit, store, sample, three):
    asked_twice(store, "g2-agent", "agent", "")
    asked_twice(store, "g2-agent", "agent", "")
    app = visit("history", desk="d")
    app.session_state["_history_compared"] = ["g2-agent", "g3-agent"]
    app.run()
    sound(app)
    assert "| replies sent back | 1 | 0 |" in markup(app) and "replies sent back 1 → 0" in literal(app)


def test_an_agents_answer_is_sent_back_when_it_is_not_its_last(store, sample, three):
    """Its other turns ask for tools, so they are none."""
    run = store.run("g1-agent")
    assert sent_back.ids(run, store.calls(run.id)) == set()
    for _ in range(3):
        asked_twice(store, run.id, "agent", "")
    ordered = store.calls(run.id)
    assert sent_back.ids(run, ordered) == {call.id for call in ordered[-3:-1]}
