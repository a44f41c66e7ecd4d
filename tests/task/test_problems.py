"""What is found in a design before anything is sent."""

import json
import re
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.design import CACHING, Design, Step, ToolText
from lib.errors import DesignError
from lib.task.default_design import default_design
from lib.task.patterns import endless_patterns
from lib.task.problems import RANGES, problems, schema_problems

DESIGN = default_design()
OBJECT = {"type": "object", "properties": {}}


def fields(design):
    return [p.field for p in problems(design)]


def test_the_default_design_has_none_and_survives_json():
    assert problems(DESIGN) == []
    again = Design.from_dict(json.loads(json.dumps(DESIGN.to_dict())))
    assert again == DESIGN and again.version == DESIGN.version


@pytest.mark.parametrize("name", ["Get product", "shop.get_product", "suche_größe", "a" * 65, "", "tool\n"])
def test_a_tool_name_the_api_refuses_is_found(name):
    found, = problems(DESIGN.with_tool("tally", name=name))
    assert found.field == "tools.tally.name" and "use 1 to 64 of" in found.text


def test_a_text_that_is_no_text_is_found():
    assert fields(DESIGN.with_tool("tally", name=None, description=7)) == [
        "tools.tally.name", "tools.tally.description"]


@pytest.mark.parametrize("junk", [None, [], "x", {}, {"steps": []}, {**DESIGN.to_dict(), "temperature": 1},
                                  {**DESIGN.to_dict(), "limits": 3}, {**DESIGN.to_dict(), "tools": [["a"]]}])
def test_what_is_no_design_is_refused_with_one_clear_line(junk):
    with pytest.raises(DesignError, match="^this is no design of this version: .*$"):
        Design.from_dict(junk)


def test_a_tool_name_given_twice_is_found_at_both():
    assert fields(DESIGN.with_tool("tally", name="read_ticket")) == ["tools.read_ticket.name", "tools.tally.name"]


def test_an_empty_description_is_found():
    assert fields(DESIGN.with_tool("tally", description=" \n")) == ["tools.tally.description"]


@pytest.mark.parametrize(("schema", "text"), [
    ({}, 'needs "type": "object"'),
    ({"type": "array", "items": {}}, 'needs "type": "object"'),
    ([], "must be a JSON object"),
    (None, "must be a JSON object"),
    ({**OBJECT, "properties": {"sku": {"type": "str"}}}, "not valid JSON Schema 2020-12 at properties.sku.type: 'str'"),
    ({**OBJECT, "properties": []}, "not valid JSON Schema 2020-12 at properties"),
    ({**OBJECT, "required": "sku"}, "not valid JSON Schema 2020-12 at required"),
    ({**OBJECT, "required": ["sku"]}, "'sku' is required but not among the properties"),
    ({**OBJECT, "properties": {"größe": {}}}, "the property name 'größe' is not allowed"),
    ({**OBJECT, "anyOf": [{}]}, "anyOf is not allowed at the top"),
    ({**OBJECT, "properties": {"sku": {"pattern": "("}}}, "at properties.sku.pattern: '('"),
    ({**OBJECT, "properties": {"sku": {"$ref": "#/$defs/sku"}}}, "'#/$defs/sku' points to nothing inside"),
    ({**OBJECT, "properties": {"sku": {"items": [{"$ref": "https://example.com/s"}]}}}, "not valid JSON Schema"),
    ({**OBJECT, "properties": {"sku": {"$ref": "https://example.com/s"}}}, "points to nothing inside the schema"),
])
def test_a_schema_the_api_refuses_is_found(schema, text):
    found = problems(DESIGN.with_tool("tally", input_schema=schema))
    assert any(text in p.text for p in found) and {p.field for p in found} == {"tools.tally.input_schema"}


def test_a_schema_may_have_no_properties_and_may_refer_to_itself():
    assert schema_problems({"type": "object"}) == []
    sku = {"$ref": "#/$defs/sku"}
    assert schema_problems({**OBJECT, "properties": {"sku": sku}, "$defs": {"sku": {"type": "string"}}}) == []


def test_a_schema_nested_too_deeply_is_a_problem_not_an_error():
    schema = OBJECT
    for _ in range(300):
        schema = {**OBJECT, "properties": {"a": schema}}
    assert schema_problems(schema) == ["the schema is nested too deeply"]


def renamed(old, new, key="read_ticket"):
    schema = next(tool for tool in DESIGN.tools if tool.key == key).input_schema
    properties = {new if name == old else name: part for name, part in schema["properties"].items()}
    return DESIGN.with_tool(key, input_schema={**schema, "properties": properties, "required": [new]})


def test_a_renamed_parameter_that_the_function_does_not_know_is_found():
    found, = problems(renamed("ticket_id", "id"))
    assert found.field == "tools.read_ticket.input_schema"
    assert found.text == "the function behind it takes ticket_id, ticket_ids; it does not know 'id'"


def test_a_parameter_under_a_name_that_the_function_knows_is_none():
    assert problems(renamed("ticket_id", "ticket_ids")) == []
    assert problems(DESIGN.with_tool("list_incidents", input_schema=OBJECT)) == []


def test_a_choice_or_a_switch_that_does_not_exist_is_found():
    found, = problems(replace(DESIGN, caching="always"))
    assert (found.field, found.text) == (
        "caching", "'always' is not possible; it takes one of off, auto-5m, auto-1h, system")
    assert fields(replace(DESIGN, tags="no", parallel_tools=1)) == ["parallel_tools", "tags"]
    assert all(problems(replace(DESIGN, caching=caching)) == [] for caching in CACHING)


def test_a_design_stored_before_these_fields_existed_has_their_defaults():
    stored = DESIGN.to_dict()
    for field in ("caching", "tags", "keep_results", "result_chars"):
        del stored[field]
    assert Design.from_dict(json.loads(json.dumps(stored))) == DESIGN
    assert (DESIGN.caching, DESIGN.tags, DESIGN.keep_results, DESIGN.result_chars) == ("off", True, 0, 0)


def test_a_tool_that_is_switched_off_is_not_sent_and_not_checked():
    assert problems(DESIGN.with_tool("tally", name="", description="", input_schema={}, enabled=False)) == []


def test_a_tool_without_a_function_or_twice_is_found():
    extra = ToolText("refund", "refund", "Pays back.", OBJECT)
    assert fields(replace(DESIGN, tools=(*DESIGN.tools, extra))) == ["tools.refund"]
    assert "tools.tally" in fields(replace(DESIGN, tools=(*DESIGN.tools, replace(DESIGN.tools[-1], name="tally2"))))


@pytest.mark.parametrize("step", ["label", "merge", "summary", "agent"])
@pytest.mark.parametrize(("field", "value"), [
    ("system", " \n"), ("system", None), ("model", ""), ("model", None), ("model", " claude-haiku-5-5"),
    ("max_tokens", 0), ("max_tokens", 128_001), ("max_tokens", 1.5),
    ("max_tokens", True)])
def test_a_step_that_cannot_be_sent_is_found(step, field, value):
    assert fields(DESIGN.with_step(step, **{field: value})) == [f"steps.{step}.{field}"]


def test_nothing_is_claimed_of_the_limits_of_a_model_that_nobody_knows():
    long = "word " * 40_000
    theirs = DESIGN.with_step("label", model="qwen3:32b", max_tokens=32_000, system=DESIGN.steps["label"].system + long)
    assert problems(theirs) == []
    [found] = problems(theirs.with_step("label", max_tokens=10**9))
    assert found.field == "steps.label.max_tokens" and "qwen" not in found.text


def test_max_tokens_is_held_against_the_chosen_model():
    small = DESIGN.with_step("merge", model="claude-haiku-4-5", max_tokens=64_001)
    found, = problems(small)
    assert found.text == "64001 is not possible; Haiku 4.5 takes a whole number from 1 to 64,000"
    assert problems(small.with_step("merge", max_tokens=64_000)) == []


def test_missing_and_unknown_steps_are_found():
    steps = {name: step for name, step in DESIGN.steps.items() if name != "merge"}
    design = replace(DESIGN, steps={**steps, "vote": Step("claude-haiku-5-5", "x", 1)})
    assert fields(design) == ["steps.vote", "steps.merge"]


def changed(field, value):
    owner, _, name = field.rpartition(".")
    change = {name: value}
    return replace(DESIGN, limits=replace(DESIGN.limits, **change)) if owner else replace(DESIGN, **change)


@pytest.mark.parametrize("field", RANGES)
def test_a_number_outside_its_range_is_found(field):
    lowest, highest = RANGES[field]
    for value in (lowest - 1, highest + 1, float("nan"), True, "3", None):
        assert fields(changed(field, value)) == [field]
    for value in (lowest, highest):
        assert problems(changed(field, value)) == []


def test_whole_numbers_are_whole():
    assert fields(changed("k", 2.5)) == ["k"]
    assert problems(changed("limits.max_usd", 0.5)) == []


@pytest.mark.parametrize("required", [[["a"]], [{}], [None], "a", {}])
def test_names_that_are_no_texts_are_told_and_break_nothing(required):
    schema = {"type": "object", "properties": {"a": {"description": "d"}}, "required": required}
    assert any("not valid JSON Schema" in text for text in schema_problems(schema))


@pytest.mark.parametrize(("pattern", "slow"), [
    ("^(a+)+$", True), ("(a*)*", True), ("(?:x|a+){2,}", True), ("((ab?)+c?)*", True), ("(?=(a+)+)b", True),
    ("(-a+a*)*", True), ("(-?a+)*", True), ("(-[a-z-]+)*", True), ("(?i)(A[a-z]+)*", True), ("(?i:(A[a-z]+)*)", True),
    ("(.+,)*", True), ("(-(a+)+)*", True), ("([a-z]+[a-z-])*", True), ("(é[^a]+)*", True), ("()*", False),
    ("^[a-z0-9]+(?:-[a-z0-9]+)*$", False), ("^\\d+(\\.\\d+)*$", False), ("^([a-z]+-)*[a-z]+$", False),
    ("^(\\w+, )*\\w+$", False), ("^(/[^/]+)+$", False), ("^(-a{2,3})*$", False), ("^([A-Z][a-z]+)+$", False),
    ("^[a-z]+-\\d+$", False), ("(\\d{3}-)+", False), ("a+b+c*", False), ("(ab)*", False), ("(", False),
])
def test_a_pattern_that_could_take_for_ever_is_refused(pattern, slow):
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}
    assert any("take for ever" in text for text in schema_problems(schema)) is slow


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["a", "b", "-", "[a-b]", r"\w", ".", "[^-]"]),
                          st.sampled_from(["", "+", "*", "{1,3}", "?"])), min_size=1, max_size=4))
def test_a_pattern_that_is_let_through_is_quick_on_texts_that_nearly_fit(parts):
    pattern = f"^({''.join(map(''.join, parts))})*$"
    if not endless_patterns({"pattern": pattern}):
        began = time.perf_counter()
        for text in ("a" * 26 + "!", "-a" * 13 + "!", "a-" * 12 + "!", "ab" * 12 + "!", "aab-" * 8 + "!"):
            re.match(pattern, text)
        assert time.perf_counter() - began < 1
