"""Beside each prompt and tool: what it takes a run, and what an edit of it changes."""

from __future__ import annotations

import gc

import pytest
from reading import sound
from seeds import add_run

from lib.task import effect
from lib.task.effect import Change, Taken
from lib.task.forecast import first_requests
from lib.ui import sizes, state
from lib.usage.tokens import estimate_request

MORE = " Be quick, and take the cause of the trouble, not its consequence."


def lines(app, part: str = "a run, ") -> list[str]:
    return [c.value.replace("\\$", "$") for c in app.caption if part in c.value]


def edit(app, field: str, value: str):
    return app.text_area(key=f"design.{field}").set_value(value).run()


def test_each_prompt_and_tool_says_what_it_takes_a_run(visit):
    told = lines(visit("design"))
    assert len(told) == 4 + len(state.default().tools)
    assert told[0].startswith("≈ 217 tokens × 40 tickets = 8,680 · $0.000868 a run, by the forecast")
    assert "202 tokens, once · $" in told[1] and "144 tokens × 5 causes = 720 · $" in told[2]
    assert all(" tokens × 45 turns = " in line for line in told[3:])


def test_an_edit_says_what_it_changes_against_the_opened_design(visit):
    prompt = state.default().steps["agent"].system
    app = edit(visit("design"), "steps.agent.system", prompt + MORE)
    design = state.default().with_step("agent", system=prompt + MORE)
    more = (estimate_request(first_requests(design, state.sample().tickets)["agent"])
            - estimate_request(first_requests(state.default(), state.sample().tickets)["agent"]))
    [line] = lines(app, "edited")
    assert more > 10 and f"**edited: +{more} tokens × 45 turns = +{45 * more:,} · +$0.000" in line
    [line] = lines(edit(app, "steps.agent.system", prompt[:200]), "edited")
    assert "**edited: −" in line and " = −" in line and " · −$0.0" in line
    assert lines(edit(app, "steps.agent.system", prompt), "edited") == []


def test_an_edited_tool_is_told_with_its_own_line_only(visit):
    app = edit(visit("design"), "tools.tally.description", "Counts.")
    sound(app)
    [line] = lines(app, "edited")
    assert line == lines(app)[-1] and "edited: −" in line


def test_what_another_field_changes_is_no_edit_of_the_prompt(visit):
    app = visit("design")
    app.number_input(key="design.k").set_value(3).run()
    assert "× 3 causes" in lines(app)[2] and lines(app, "edited") == []


def test_once_there_is_a_run_of_these_data_its_calls_count(visit, store, sample):
    for shape in state.SHAPES:
        add_run(store, sample.tickets, sample.id, shape, desk="d")
    told = lines(visit("design", desk="d"))
    assert all("as in the newest run of these data" in line for line in told)
    assert "× 40 tickets" in told[0] and all("× 40 turns" in line for line in told[3:])
    other = lines(visit("design", desk="somebody else"))
    assert all("by the forecast" in line for line in other) and len(other) == len(told)


@pytest.mark.parametrize("fields", [{"status": "stopped"}, {"desk": "b"}, {"design": {"k": 1}}])
def test_a_run_that_says_nothing_of_these_data_is_not_asked_again(visit, store, sample, fields):
    add_run(store, sample.tickets, sample.id, "agent", **{"desk": "d", **fields})
    assert all("by the forecast" in line for line in lines(visit("design", desk="d")))


def test_a_run_of_one_shape_leaves_the_other_to_the_forecast(visit, store, sample):
    add_run(store, sample.tickets, sample.id, "pipeline", desk="d")
    told = lines(visit("design", desk="d"))
    assert ["newest run" in line for line in told] == [True] * 3 + [False] * 8


def test_a_tool_that_is_not_offered_is_not_sent(visit):
    app = visit("design")
    app.toggle(key="design.tools.tally.enabled").set_value(False).run()
    assert [c.value for c in app.caption].count("not sent") == 1 and len(lines(app)) == 10


def test_a_design_that_cannot_run_says_so_in_place_of_figures(visit, store):
    store.save_desk("d", {"drafts": {"workers": 0}})
    app = visit("design", desk="d")
    sound(app)
    assert lines(app) == [] and len(lines(app, "once a run is possible")) == 11


def test_a_model_without_a_price_has_tokens_and_no_dollars(visit, store):
    store.save_desk("d", {"drafts": {"steps.label.model": "qwen3:8b"}})
    first, second, *_ = lines(visit("design", desk="d"))
    assert " × 40 tickets = " in first and "· no price a run" in first and "$" not in first and "$" in second


# --- in words --------------------------------------------------------------------------------------------------------


def change(before: tuple, after: tuple, step: str = "agent") -> Change:
    return Change(step, Taken(*before), Taken(*after))


def test_the_words_of_the_issue():
    assert sizes.growth(change((41, 1_000, 0.0), (41, 2_763, 0.0035))) == "+43 tokens × 41 turns = +1,763 · +$0.0035"


@pytest.mark.parametrize(("before", "after", "told"), [
    ((41, 2_763, 0.0035), (41, 1_000, 0.0), "−43 tokens × 41 turns = −1,763 · −$0.0035"),
    ((3, 0, 0.0), (3, 10, 1.0), "+3.3 tokens × 3 turns = +10 · +$1"),
    ((1, 0, 0.0), (1, 7, 1.0), "+7 tokens, once · +$1"),
    ((1, 10, None), (1, 7, 1.0), "−3 tokens, once · no price"),
    ((40, 900, 2.0), (30, 600, 1.5), "−300 tokens over 40 → 30 turns · −$0.5"),
    ((4, 8, 1.0), (4, 8, 1.0), "as many input tokens as before"),
    ((4, 8, 1.0), (4, 8, 0.5), "as many input tokens as before · −$0.5")])
def test_growth_has_a_sign_and_its_product_is_right(before, after, told):
    assert sizes.growth(change(before, after)) == told


def test_zero_is_neither_more_nor_less():
    assert (sizes.signed_tokens(0), sizes.signed_dollars(0.0), sizes.signed_dollars(None)) == ("±0", "±$0", "no price")
    assert (sizes.signed_tokens(-1_234), sizes.signed_tokens(43.25)) == ("−1,234", "+43.2")


def test_what_is_held_of_a_run_for_its_sizes_goes_when_runs_are_deleted(visit, store, sample, monkeypatch):
    def held():
        gc.collect()
        return [one for one in gc.get_objects() if type(one) is effect._Recorded]

    run = add_run(store, sample.tickets, sample.id, "agent", desk="d", priced=True)
    visit("design", desk="d")
    assert held()
    monkeypatch.setattr(state, "shown_group", str)
    state.delete_runs([run.id])
    assert store.runs() == [] and held() == []
