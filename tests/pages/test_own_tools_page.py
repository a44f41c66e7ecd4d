"""Tools of one's own on the Design page: added with an example that works, tried by hand, removed and brought back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from reading import everything, literal, markup, sound
from seeds import TRAP

from lib.design import Design
from lib.task.default_design import default_design
from lib.ui import state

CASES = Path(__file__).parent / "tool_definitions.json"
OWN = "design.tools.own_1"
DEFAULT = default_design()


def press(app, key):
    return app.button(key=key).click().run()


def add(app):
    return press(app, "design.add_tool")


def field(app, kind, key):
    """A field may have been made anew: then a number follows its key."""
    return next(w for w in app.get(kind) if w.key and (w.key == key or w.key.startswith(f"{key}.")))


def put(app, kind, key, value):
    field(app, kind, key).set_value(value)
    return app.run()


def try_it(app, *entered):
    """With these arguments, each as (kind of field, its key, value)."""
    for kind, name, value in entered:
        field(app, kind, f"design.try.own_1.{name}").set_value(value)
    next(b for b in app.button if b.key and b.key.endswith("design.try.own_1.go")).click()
    return app.run()


def own(app):
    return next(tool for tool in state_design(app).tools if tool.key == "own_1")


def state_design(app) -> Design:
    from lib.ui import drafts
    desk = app.session_state["desk"]
    opened = Design.from_dict(desk["opened"]) if desk["opened"] else DEFAULT
    return drafts.apply(opened, desk["drafts"])[0]


def test_an_added_tool_is_an_example_that_runs_and_lacks_nothing(visit):
    app = add(visit("design"))
    sound(app)
    assert "This design cannot run yet" not in everything(app)
    assert own(app).name == "find_customers" and ":customer_id" in own(app).query
    assert not [t.value for t in app.text if t.value.startswith("Lacks")]
    assert "tool own_1 added" in literal(app)
    app.switch_page("pages/run.py").run()
    assert not app.button(key="run.start").disabled


def test_what_the_example_finds_is_shown_as_a_table(visit, sample):
    first = sample.catalog.rows("customers", 1)[0]
    app = try_it(add(visit("design")), ("text_input", "customer_id.string", first["customer_id"]))
    assert "✓ 1 row" in literal(app)
    shown = next(d.value for d in app.dataframe if list(d.value.columns) == list(first))
    assert shown.to_dict("records") == [{name: str(value) for name, value in first.items()}]


def test_a_trial_that_fails_says_why_and_an_edit_takes_its_outcome_away(visit):
    app = try_it(add(visit("design")))
    assert "✕ the arguments" in literal(app) and "customer_id" in literal(app)
    app = put(app, "text_area", f"{OWN}.query", "SELECT * FROM nowhere WHERE x = :customer_id")
    assert "✕ the arguments" not in literal(app) and "✕ the query failed: no such table: nowhere" in literal(app)
    app = try_it(app, ("text_input", "customer_id.string", "C-1"))
    sound(app)
    assert literal(app).count("no such table: nowhere") >= 2


def test_what_is_not_one_reading_select_is_refused_beside_it_and_by_hand(visit):
    app = put(add(visit("design")), "text_area", f"{OWN}.input_schema", '{"type": "object", "properties": {}}')
    for query in ("DELETE FROM customers", "", "SELECT load_extension('x')",
                  "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"):
        app = put(app, "text_area", f"{OWN}.query", query)
        sound(app)
        assert "This design cannot run yet" in everything(app), query
        app = try_it(app)
        sound(app)
        assert "✓" not in literal(app), query


def test_each_kind_of_argument_has_its_field_and_an_empty_one_is_not_given(visit):
    schema = {"type": "object", "properties": {
        "text": {"type": "string", "description": TRAP}, "whole": {"type": "integer"}, "part": {"type": "number"},
        "yes": {"type": "boolean"}, "one_of": {"enum": ["a", 2, None]}, "many": {"type": "array"}, "any": {}}}
    query = ("SELECT :text AS text, :whole AS whole, :part AS part, :yes AS yes, :one_of AS one_of, :many AS many, "
             ":any AS z")
    app = put(add(visit("design")), "text_area", f"{OWN}.input_schema", json.dumps(schema))
    app = put(app, "text_area", f"{OWN}.query", query)
    empty = {**dict.fromkeys(["text", "whole", "part", "yes", "one_of", "many", "z"], "")}
    assert rows(try_it(app), "one_of") == [empty]
    app = try_it(app, ("text_input", "text.string", "x"), ("number_input", "whole.integer", 3),
                 ("number_input", "part.number", 0.5), ("text_input", "many.json", '["a", 1]'),
                 ("selectbox", "yes.choice", 0), ("selectbox", "one_of.choice", 1))
    sound(app)
    assert "evil.example" not in markup(app)
    assert rows(app, "one_of") == [{**empty, "text": "x", "whole": "3", "part": "0.5", "yes": "1", "one_of": "2",
                                    "many": '["a", 1]'}]


def rows(app, column):
    return next(d.value for d in app.dataframe if column in d.value.columns).to_dict("records")


def test_hostile_names_of_columns_and_values_are_text(visit, store, sample):
    app = put(add(visit("design")), "text_area", f"{OWN}.input_schema", '{"type": "object", "properties": {}}')
    app = try_it(put(app, "text_area", f"{OWN}.query", f"SELECT '{TRAP}' AS \"{TRAP}\", X'00ff' AS b"))
    sound(app)
    assert rows(app, "b") == [{TRAP: TRAP, "b": "<blob, 2 bytes>"}] and "evil.example" not in markup(app)


def test_without_a_database_the_tool_is_empty_and_says_so(visit):
    app = visit("data")
    press(app, "data.no_database")
    app = add(app.switch_page("pages/design.py").run())
    sound(app)
    assert own(app).query == "" and "there is no product database" in markup(app)
    assert "This design cannot run yet" in markup(app)


def test_a_removed_tool_comes_back_with_all_that_was_typed(visit):
    app = put(add(visit("design")), "text_area", f"{OWN}.description", "Returns what I typed.")
    before = app.session_state["desk"]["drafts"]
    press(app, "design.remove.own_1")
    assert app.session_state["desk"]["drafts"] == {} and not [t for t in app.text_area if t.key.startswith(OWN)]
    press(app, "design.undo_remove")
    assert app.session_state["desk"]["drafts"] == before
    assert field(app, "text_area", f"{OWN}.description").value == "Returns what I typed."
    assert not [b for b in app.button if b.key == "design.undo_remove"]


def test_a_removed_tool_comes_back_where_it_stood(visit):
    app = add(add(visit("design")))
    before = state_design(app)
    press(press(app, "design.remove.own_1"), "design.undo_remove")
    assert state_design(app).version == before.version


def test_a_tool_of_the_opened_design_is_removed_and_reverting_brings_it_back(visit, store):
    mine = DEFAULT.with_own_tools(["own_1"], []).with_tool("own_1", name="mine", query="SELECT 1 AS one",
                                                           description="Returns 1.")
    store.save_desk("d", {"opened": mine.to_dict()})
    app = visit("design", desk="d")
    press(app, "design.remove.own_1")
    assert app.session_state["desk"]["drafts"] == {"removed": ["own_1"]} and "tool own_1 removed" in literal(app)
    assert state_design(add(app)).tools[-1].key == "own_2", "the key of a removed tool is not given to another"
    press(app, "design.revert")
    assert state_design(app) == mine
    press(app, "design.revert.undo")
    assert [t.key for t in state_design(app).tools if t.is_own] == ["own_2"]


def test_two_tools_are_added_under_names_and_keys_of_their_own(visit):
    app = add(add(visit("design")))
    assert [(t.key, t.name) for t in state_design(app).tools if t.is_own] == [
        ("own_1", "find_customers"), ("own_2", "find_customers_2")]
    assert "This design cannot run yet" not in everything(app)


@pytest.mark.parametrize("case", json.loads(CASES.read_text()), ids=lambda case: case["description"] or "schema")
def test_a_definition_that_the_api_would_refuse_is_named_by_its_field_and_nothing_can_be_sent(visit, case):
    app = add(visit("design"))
    for kind, part, value in (("text_input", "name", case["name"]), ("text_area", "description", case["description"]),
                              ("text_area", "input_schema", json.dumps(case.get("input_schema")))):
        app = put(app, kind, f"{OWN}.{part}", value)
    sound(app)
    named = [t.value for t in app.text if t.value.startswith("✕ tool own_1: ")]
    assert case["says"] in "\n".join(named)
    app.switch_page("pages/run.py").run()
    assert app.button(key="run.start").disabled


def test_what_a_description_lacks_is_told_beside_it(visit):
    app = visit("design")
    assert not [t.value for t in app.text if t.value.startswith("Lacks")], "the usual tools lack nothing"
    app.text_area(key="design.tools.tally.description").set_value("Use it.").run()
    assert [t.value for t in app.text if t.value.startswith("Lacks: say what comes back")]


def test_a_warning_stands_under_its_field_and_blocks_nothing(visit):
    app = visit("design")
    app.text_area(key="design.steps.label.system").set_value("Label it, {nickname}.").run()
    sound(app)
    warned = [t.value for t in app.text if t.value.startswith("⚠")]
    assert any("no longer asks for JSON" in w for w in warned) and any("{nickname}" in w for w in warned)
    assert "This design cannot run yet" not in everything(app)
    app.switch_page("pages/run.py").run()
    assert not app.button(key="run.start").disabled


def test_efforts_are_those_of_the_model_and_one_it_lacks_is_named(visit):
    app = visit("design")
    box = app.selectbox(key="design.steps.label.effort")
    assert box.options == ["model's own (medium)", "low", "medium", "high", "xhigh", "max"]
    box.set_value("xhigh").run()
    assert app.session_state["desk"]["drafts"] == {"steps.label.effort": "xhigh"}
    app.selectbox(key="design.steps.label.model").set_value("claude-opus-4-5").run()
    sound(app)
    assert app.selectbox(key="design.steps.label.effort").options[-1] == "xhigh"
    assert "This design cannot run yet" in everything(app) and "label: effort" in literal(app)
    app.selectbox(key="design.steps.merge.model").set_value("claude-haiku-4-5").run()
    assert app.selectbox(key="design.steps.merge.effort").disabled


def test_structured_output_is_chosen_and_refused_where_the_server_has_none(visit):
    app = visit("design")
    app.selectbox(key="design.output").set_value("structured").run()
    sound(app)
    assert "This design cannot run yet" not in everything(app)
    app.radio(key="design.connection.kind").set_value("server").run()
    app.text_input(key="design.connection.base_url").set_value("http://localhost:11434").run()
    assert "Output: a local server holds no reply to a schema" in literal(app)


def test_the_desk_survives_a_page_with_a_tool_that_is_half_typed(visit):
    app = put(add(visit("design")), "text_area", f"{OWN}.input_schema", '{"type": "obj')
    for page in ("run", "data", "costs", "history", "design"):
        sound(app.switch_page(f"pages/{page}.py").run())
    assert field(app, "text_area", f"{OWN}.input_schema").value == '{"type": "obj'
    assert state.default() == DEFAULT


@pytest.mark.parametrize("part", [
    {"properties": {"customer_id": {"description": "d", "$ref": "#/properties/customer_id"}}},
    {"properties": {"customer_id": {"type": "string", "pattern": "("}}},
    {"properties": {"customer_id": {"type": "string", "pattern": "^(a+)+$"}}},
    {"properties": {"customer_id": {"minLength": "x"}}}, {"properties": {"customer_id": {"type": "foo"}}},
    {"properties": {"customer_id": {"$ref": "#/nowhere"}}}, {"properties": [1]},
    {"properties": {"customer_id": {"description": "d"}}, "required": [["customer_id"]]},
])
def test_a_schema_that_is_none_leaves_every_page_and_every_trial_in_words(visit, part):
    app = put(add(visit("design")), "text_area", f"{OWN}.input_schema", json.dumps({"type": "object", **part}))
    sound(app)
    sound(try_it(app))
    for page in ("run", "costs"):
        sound(app.switch_page(f"pages/{page}.py").run())
