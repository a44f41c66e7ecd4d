"""Two designs side by side: what differs, word by word, and what each field and all of them change."""

from __future__ import annotations

from dataclasses import replace

import pytest
from reading import literal, markup, sound
from seeds import TRAP, add_run

from lib.runs.for_what_if import exchanges
from lib.task.default_design import default_design
from lib.task.effect import added, effects, recorded

DEFAULT = default_design()
EDITED = DEFAULT.with_step("agent", system=DEFAULT.steps["agent"].system + " Be quick and friendly.").with_tool(
    "tally", description="Counts.")
OWN = EDITED.with_own_tools(["own_1"], []).with_tool(
    "own_1", name="plan_of", description=f"The plan {TRAP}.",
    query="select plan from customers where customer_id = :id",
    input_schema={"type": "object", "properties": {"id": {"type": "string", "description": "C-1"}},
                  "required": ["id"], "additionalProperties": False})


@pytest.fixture
def compared(visit, store):
    """The Design page of a desk where these designs are open and edited, with the comparison opened."""
    def page(opened=DEFAULT, drafts=None, desk="d"):
        store.save_desk(desk, {"opened": opened.to_dict(), "drafts": drafts or {}})
        app = visit("design", desk=desk)
        app.session_state["design_compare"] = True
        return app.run()
    return page


def choose(app, side: str, words: str):
    box = app.selectbox(key=f"design.compare.{side}")
    return box.select(next(option for option in box.options if words in option)).run()


def in_all(app) -> str:
    return next(m.value for m in app.markdown if m.value.startswith("**In all")).replace("\\$", "$")


def told(app) -> list[str]:
    """What stands beside the fields, in their order."""
    return [text.value.removeprefix("≈ ") for text in app.text if text.value.startswith("≈ ")]


EDITS = {"steps.agent.system": EDITED.steps["agent"].system, "tools.tally.description": "Counts."}


def test_what_is_edited_is_held_against_what_was_opened_unless_others_are_chosen(compared):
    app = compared(drafts=EDITS)
    sound(app)
    assert told(app)[0].startswith("agent +7 tokens × 45 turns = +315 · +$0.0000")
    assert told(app)[1].startswith("agent −108 tokens × 45 turns = −4,860 · −$0.000")
    assert in_all(app).startswith("**In all, with the same replies:** :blue[pipeline] ±0 input tokens · ±$0, "
                                  ":orange[agent] −4,545 input tokens · −$0.000")
    codes = "\n".join(code.value for code in app.get("code"))
    assert "+ Be quick and friendly." in codes and "+Counts." in codes


def test_what_was_opened_stays_in_front_also_where_it_is_saved_or_ran_before_others(compared, store, sample):
    store.save_design("d", "mine", OWN.version, replace(OWN, name="mine").to_dict())
    add_run(store, sample.tickets, "other data", "agent", desk="d", design=DEFAULT.to_dict())
    app = compared(drafts=EDITS)
    left, right = (app.selectbox(key=f"design.compare.{side}") for side in ("left", "right"))
    assert left.value.startswith(DEFAULT.version) and right.value == "now"
    assert [line.rpartition(" · ")[2].split()[0] for line in left.options] == ["as", "open", "saved"]


def test_it_is_worked_out_only_when_somebody_looks(compared, visit, store):
    store.save_desk("d", {"drafts": EDITS})
    app = visit("design", desk="d")
    assert "In all" not in markup(app) and not [s for s in app.selectbox if "compare" in s.key]


def test_the_other_way_round_everything_has_the_other_sign(compared):
    app = choose(choose(compared(drafts=EDITS), "left", "as it stands here"), "right", "open")
    assert told(app)[0].startswith("agent −7 tokens × 45 turns = −315 · −$0.0000")
    assert ":orange[agent] +4,545 input tokens · +$0.000" in in_all(app)


def test_a_design_without_edits_is_held_against_the_next_one_at_hand(compared):
    app = compared(opened=replace(EDITED, name="mine"))
    assert app.selectbox(key="design.compare.left").value.startswith(DEFAULT.version)
    assert ":orange[agent] −4,545 input tokens" in in_all(app)


def test_a_design_and_itself_are_the_same(compared):
    app = compared()
    sound(app)
    assert "These two are the same, word for word." in markup(app)


def test_the_design_of_a_run_can_be_chosen(compared, store, sample):
    add_run(store, sample.tickets, "other data", "agent", desk="d", design=replace(EDITED, name=TRAP).to_dict())
    app = choose(choose(compared(), "left", "open"), "right", "of a run")
    sound(app)
    assert ":orange[agent] " in in_all(app) and TRAP not in markup(app)


def test_a_tool_that_came_is_one_field_with_all_that_it_says(compared):
    app = choose(compared(opened=OWN), "left", "the default")
    sound(app)
    assert "tool plan_of: added" in literal(app) and "tool own_1: " not in literal(app)
    code = next(code.value for code in app.get("code") if "The plan" in code.value)
    assert code.startswith(f"+ The plan {TRAP}") and "\n+ select plan from customers" in code
    assert told(app)[0].startswith("by the forecast: agent +") and " tokens over 45 → 46 turns" in told(app)[0]
    assert "In all, by the forecast:" in in_all(app), "one turn more is not the same replies"
    back = choose(choose(app, "left", "open"), "right", "the default")
    assert "tool plan_of: removed" in literal(back) and told(back)[0].startswith("by the forecast: agent −")


def test_what_changes_the_replies_is_told_by_the_forecast_and_apart(compared):
    app = compared(drafts={"k": 3, "workers": 4, **EDITS})
    assert told(app)[0].startswith("by the forecast: summary −") and " over 5 → 3 calls · −$" in told(app)[0]
    assert told(app)[1] == "no other tokens are sent"
    assert "**And by the forecast,** since replies would be others: :blue[pipeline] −" in in_all(app)
    assert ":orange[agent] −4,545 input tokens" in in_all(app).split("And by")[0]


def test_the_sum_is_the_measured_one_of_the_newest_run(compared, store, sample):
    run = add_run(store, sample.tickets, sample.id, "agent", desk="d", priced=True)
    found = effects(recorded(DEFAULT, exchanges(store, run.id), {"models": {}}), DEFAULT, EDITED)
    tokens = sum(each.tokens for each in found)
    assert tokens and added(each.usd for each in found) is None
    app = compared(drafts=EDITS)
    assert f":orange[agent] −{-tokens:,} input tokens · −$" in in_all(app) and "× 40 turns" in told(app)[0]


def test_a_design_that_cannot_run_is_still_compared_word_by_word(compared):
    app = compared(drafts={"workers": 0, **EDITS})
    sound(app)
    assert in_all(app) == "**In all** not told: one of the two designs cannot run."
    assert "Calls at once: 8 → 0" in literal(app) and "not told" in told(app)[0]


def test_another_model_without_a_price_is_told_in_tokens(compared):
    app = compared(drafts={"steps.agent.model": "qwen3:8b"})
    assert "input tokens · no price" in in_all(app)


# --- on the Run page -------------------------------------------------------------------------------------------------


def test_beside_the_results_it_says_what_was_edited_since_and_what_that_changes(visit, store, sample):
    add_run(store, sample.tickets, sample.id, "agent", desk="d")
    store.save_desk("d", {"drafts": {"tools.tally.description": "Counts."}})
    app = visit("run", "g1", desk="d")
    app.session_state["run.tabs"] = "Prompts & tools"
    app.run()
    sound(app)
    assert "Edited since the run that is shown: tool tally: description" in literal(app)
    assert ":orange[agent] −" in in_all(app)


@pytest.mark.parametrize("design", [DEFAULT.to_dict(), {**DEFAULT.to_dict(), "tomorrow": 1}])
def test_without_an_edit_or_a_design_we_know_it_says_nothing(visit, store, sample, design):
    add_run(store, sample.tickets, sample.id, "agent", desk="d", design=design)
    app = visit("run", "g1", desk="d")
    app.session_state["run.tabs"] = "Prompts & tools"
    app.run()
    sound(app)
    assert "Edited since" not in literal(app) and "In all" not in markup(app)
