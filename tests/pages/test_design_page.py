"""Editing a design: drafts outlive page switches and visits, wrong ones are named, defaults come back."""

from __future__ import annotations

import pytest
from reading import everything, literal, sound

PROMPT = "design.steps.label.system"
SCHEMA = "design.tools.get_customer.input_schema"


def test_an_edited_prompt_is_still_there_after_a_visit_to_another_page(visit):
    app = visit("design")
    app.text_area(key=PROMPT).set_value("Label it, please.").run()
    app.switch_page("pages/run.py").run()
    app.switch_page("pages/design.py").run()
    assert app.text_area(key=PROMPT).value == "Label it, please."
    assert "edited" in literal(app)


def test_an_edited_prompt_is_still_there_in_a_new_session(visit):
    visit("design").text_area(key=PROMPT).set_value("Label it, please.").run()
    assert visit("design").text_area(key=PROMPT).value == "Label it, please."


def test_in_a_shared_playground_a_new_visitor_gets_the_defaults(visit, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_SHARED", "1")
    visit("design").text_area(key=PROMPT).set_value("Label it, please.").run()
    assert visit("design").text_area(key=PROMPT).value.startswith("You label support tickets")


def test_the_link_to_a_desk_brings_back_what_was_typed_there(visit, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_SHARED", "1")
    first = visit("design")
    first.text_area(key=PROMPT).set_value("Label it, please.").run()
    desk = first.session_state["desk_id"]
    assert visit("design", desk=desk).text_area(key=PROMPT).value == "Label it, please."


def test_the_run_page_edits_the_same_drafts(visit):
    app = visit("run")
    app.session_state["run.tabs"] = "Prompts & tools"
    app.run()
    app.text_area(key="run.steps.agent.system").set_value("Look closely.").run()
    app.switch_page("pages/design.py").run()
    assert app.text_area(key="design.steps.agent.system").value == "Look closely."


def test_two_tabs_of_one_desk_do_not_undo_each_others_edits(visit):
    one, other = visit("design", desk="d"), visit("design", desk="d")
    one.text_area(key=PROMPT).set_value("from one").run()
    other.text_area(key="design.steps.merge.system").set_value("from the other").run()
    later = visit("design", desk="d")
    assert later.text_area(key=PROMPT).value == "from one"
    assert later.text_area(key="design.steps.merge.system").value == "from the other"


def test_reset_brings_one_step_back_and_leaves_the_others(visit):
    app = visit("design")
    app.text_area(key=PROMPT).set_value("one").run()
    app.text_area(key="design.steps.merge.system").set_value("two").run()
    app.button(key="design.reset.steps.label.model").click().run()
    assert app.text_area(key=PROMPT + ".1").value.startswith("You label support tickets")
    assert app.text_area(key="design.steps.merge.system").value == "two"


def test_revert_brings_everything_back(visit):
    app = visit("design")
    app.text_area(key=PROMPT).set_value("one").run()
    app.number_input(key="design.k").set_value(3).run()
    app.button(key="design.revert").click().run()
    assert app.number_input(key="design.k.1").value == 5
    assert "edited" not in literal(app)


def test_a_schema_that_is_no_json_is_named_kept_as_typed_and_blocks_the_run(visit):
    app = visit("design")
    app.text_area(key=SCHEMA).set_value('{"type": "object",').run()
    assert "not JSON yet" in literal(app)
    app.switch_page("pages/run.py").run()
    assert app.button(key="run.start").disabled
    assert "tool get_customer: schema of the arguments (JSON)" in literal(app)
    app.switch_page("pages/design.py").run()
    assert app.text_area(key=SCHEMA).value == '{"type": "object",'


def test_a_tool_name_the_api_would_refuse_is_named_while_editing(visit):
    app = visit("design")
    app.text_input(key="design.tools.get_customer.name").set_value("get customer").run()
    sound(app)
    assert "get customer" in literal(app) and "This design cannot run yet" in everything(app)


def test_a_model_that_is_in_no_list_stays_chosen(visit, store):
    store.save_desk("d", {"drafts": {"steps.label.model": "qwen3:8b"}})     # AppTest picks listed options only
    app = visit("design", desk="d")
    assert app.selectbox(key="design.steps.label.model").value == "qwen3:8b"
    app.switch_page("pages/run.py").run()
    assert "qwen3:8b (label)" in literal(app)


@pytest.mark.parametrize("field,value", [
    ("k", 51), ("k", 0), ("workers", 0), ("retries", 6), ("limits.max_turns", 0), ("limits.max_usd", -1.0),
    ("steps.label.max_tokens", 99_999_999)])
def test_a_number_out_of_range_is_kept_named_and_blocks_the_run(visit, field, value):
    app = visit("design")
    app.number_input(key=f"design.{field}").set_value(value).run()
    sound(app)
    assert [t.value for t in app.text if t.value.startswith("✕")]
    app.switch_page("pages/run.py").run()
    sound(app)
    assert app.button(key="run.start").disabled


@pytest.mark.parametrize("text,reason", [
    ("[" * 100_000, "nested deeper than"), ('{"a": ' * 60 + "1" + "}" * 60, "nested deeper than"),
    ('{"type": "object", "minimum": NaN}', "NaN is no JSON number"),
    (r'{"type": "object", "title": "\ud800"}', "half a character")])
def test_a_schema_that_would_break_what_reads_it_is_named(visit, text, reason):
    app = visit("design")
    app.text_area(key=SCHEMA).set_value(text).run()
    sound(app)
    assert reason in literal(app)
    sound(visit("run"))


def test_drafts_of_another_version_that_no_field_can_show_are_left_out(visit, store):
    store.save_desk("d", {"drafts": {"k": "many", "steps.label.model": None, "steps": 3, "limits.max_usd": 2,
                                     "tools.get_customer.enabled": "yes", "gone.field": 1}, "shapes": ["tomorrow"]})
    for page in ("start", "data", "design", "run"):
        app = visit(page, desk="d")
        sound(app)
    assert app.session_state["desk"]["drafts"] == {"limits.max_usd": 2.0}


def test_a_reset_can_be_undone(visit):
    app = visit("design")
    app.text_area(key=PROMPT).set_value("one").run()
    app.number_input(key="design.k").set_value(3).run()
    app.button(key="design.revert").click().run()
    app.button(key="design.revert.undo").click().run()
    assert app.text_area(key=PROMPT + ".2").value == "one" and app.number_input(key="design.k.2").value == 3
    assert not app.button(key="design.revert").disabled


def test_an_edit_after_a_reset_is_not_undone(visit):
    app = visit("design")
    app.text_area(key=PROMPT).set_value("one").run()
    app.button(key="design.reset.steps.label.model").click().run()
    app.text_area(key=PROMPT + ".1").set_value("two").run()
    app.text_area(key=PROMPT + ".1").set_value("three").run()
    assert app.text_area(key=PROMPT + ".1").value == "three"
    assert not [b for b in app.button if b.key.endswith(".undo")]


def test_limits_are_labelled_with_their_value_and_problems_use_the_labels(visit):
    app = visit("design")
    assert app.number_input(key="design.limits.max_tokens").label == "Stop at 5,000,000 tokens"
    app.number_input(key="design.k").set_value(51).run()
    assert "How many causes: 51 is not possible; it takes a whole number from 1 to 50" in literal(app)
    app.number_input(key="design.limits.max_usd").set_value(-1.0).run()
    assert "Stop at … dollars: -1.0 is not possible" in literal(app)


@pytest.mark.parametrize(("key", "field", "value"), [
    ("selectbox", "caching", "auto-5m"), ("toggle", "tags", False), ("number_input", "keep_results", 3),
    ("number_input", "result_chars", 500)])
def test_what_is_sent_can_be_set_on_both_pages(visit, key, field, value):
    app = visit("design")
    getattr(app, key)(key=f"design.{field}").set_value(value).run()
    sound(app)
    assert app.session_state["desk"]["drafts"] == {field: value}
    run = visit("run")
    run.session_state["run.tabs"] = "Prompts & tools"
    assert getattr(run.run(), key)(key=f"run.{field}").value == value


def test_caching_says_what_is_the_least_that_a_model_keeps(visit):
    assert "Haiku 5.5: 512 tokens" in visit("design").selectbox(key="design.caching").help
