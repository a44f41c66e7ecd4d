"""What a tool's description lacks is told by rules: the defaults lack nothing, and each point can be lost alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lib.task.advice import advice
from lib.task.default_design import default_design

DEFAULTS = {tool.key: tool for tool in default_design().tools}


def lacks(tool) -> list[str]:
    return [point.states for point in advice(tool) if not point.met]


@pytest.mark.parametrize("key", DEFAULTS)
def test_the_default_tools_state_all_of_it(key):
    assert lacks(DEFAULTS[key]) == []


@pytest.mark.parametrize(("description", "absent"), [
    ("does stuff", ["what it returns", "format and units", "how much", "when not to use it"]),
    ("", ["what it returns", "format and units", "how much", "when not to use it"]),
    ("Returns the ticket.", ["format and units", "how much", "when not to use it"]),
    ("Returns one ticket: ticket_id and text.", ["when not to use it"]),
    ("Returns one ticket as text. Do not use it to count; use tally instead.", []),
])
def test_each_point_is_told_where_it_is_missing(description, absent):
    assert lacks(replace(DEFAULTS["read_ticket"], description=description)) == absent


@pytest.mark.parametrize(("schema", "met"), [
    ({"type": "string", "description": "One ticket id, exactly as list_tickets returns it."}, True),
    ({"type": "string", "description": "The plan, such as pro."}, True),
    ({"type": "string", "description": "The plan.", "enum": ["free", "pro"]}, True),
    ({"type": "string", "description": "The plan."}, False), ({"type": "string", "description": " "}, False),
    ({"type": "string"}, False), (True, False),
])
def test_a_parameter_is_clear_with_a_meaning_and_a_format(schema, met):
    tool = replace(DEFAULTS["read_ticket"], input_schema={"type": "object", "properties": {"x": schema}})
    [point] = [point for point in advice(tool) if "parameter" in point.states]
    assert point.met is met and (met or "'x'" in point.missing)


@pytest.mark.parametrize("schema", [{}, {"properties": []}, {"properties": {}}, "no schema", None])
def test_a_tool_without_parameters_is_not_blamed_for_them(schema):
    assert all("parameter" not in point.states for point in advice(replace(DEFAULTS["tally"], input_schema=schema)))
