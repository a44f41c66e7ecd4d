"""A simulated run with tools of the person's own: which of them the agent calls, and what that changes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lib.design import Design, ToolText
from lib.task.default_design import default_design
from lib.task.forecast import forecast
from lib.task.problems import problems
from tests.sets import catalog, run, tickets, usual

SAMPLE = "fernhill"
CUSTOMERS = {t.customer for t in tickets(SAMPLE).tickets}


def own(name: str, description: str, query: str, **properties: str) -> ToolText:
    told = {key: {"type": "string", "description": text} for key, text in properties.items()}
    schema = {"type": "object", "properties": told, "required": list(told), "additionalProperties": False}
    return ToolText("own_1", name, description, schema, query=query)


PLAN = own("plan_of_customer", "Returns plan and region of one customer.",
           "SELECT plan, region FROM customers WHERE customer_id = :customer_id",
           customer_id="One customer id, exactly as a ticket gives it.")
SIBLINGS = own("products_in_same_area", "Lists the other products in the area of one product.",
               "SELECT name FROM products WHERE area = (SELECT area FROM products WHERE name = :product)",
               product="One product, exactly as a ticket gives it.")
PLANS = own("customers_per_plan", "Returns how many customers each plan has.",
            "SELECT plan, count(*) AS customers FROM customers GROUP BY plan")
BY_REGION = own("customers_by_region", "Returns the customers of one region.",
                "SELECT * FROM customers WHERE region = :region", region="One region, such as EU.")
OVERVIEW = own("plan_overview", "Sums things up.", "SELECT plan FROM customers")
BROKEN = replace(PLAN, query="SELECT nothing FROM customers WHERE customer_id = :customer_id")


def with_own(tool: ToolText, prompt: str = "") -> Design:
    design = default_design()
    system = f"{design.steps['agent'].system}{prompt}"
    return replace(design, tools=(*design.tools, tool)).with_step("agent", system=system)


@pytest.mark.parametrize("tool", [PLAN, SIBLINGS, PLANS], ids=lambda tool: tool.name)
def test_a_tool_that_takes_what_is_known_is_called_once_and_changes_no_figure(tool):
    design = with_own(tool)
    assert problems(design, catalog(SAMPLE)) == []
    ran, before = run("agent", SAMPLE, design), usual("agent", SAMPLE)
    [(_, arguments, failed)] = [call for call in ran.calls() if call[0] == tool.name]
    assert not failed and arguments.keys() == tool.input_schema["properties"].keys()
    assert arguments.get("customer_id") in {None, *CUSTOMERS}
    assert ran.report == before.report and ran.turns == before.turns + 1


@pytest.mark.parametrize("design", [
    with_own(BY_REGION), with_own(OVERVIEW), with_own(PLAN, "\nNever use plan_of_customer."),
    with_own(replace(PLAN, enabled=False)),
], ids=["it needs what no ticket tells", "its description is vague", "the prompt forbids it", "it is off"])
def test_a_tool_that_does_not_fit_is_left_alone(design):
    ran = run("agent", SAMPLE, design)
    assert [call[0] for call in ran.calls()] == [call[0] for call in usual("agent", SAMPLE).calls()]


def test_one_that_fails_is_called_once_and_the_answer_stands():
    ran = run("agent", SAMPLE, with_own(BROKEN))
    assert [failed for name, _, failed in ran.calls() if name == BROKEN.name] == [True]
    assert ran.report.causes == usual("agent", SAMPLE).report.causes


def test_a_tool_that_changes_something_is_never_called():
    tool = own("delete_customer", "Deletes one customer.", PLAN.query, customer_id="One customer id, such as C-1.")
    assert tool.name not in [call[0] for call in run("agent", SAMPLE, with_own(tool)).calls()]


def test_the_pipeline_knows_no_tools():
    assert run("pipeline", SAMPLE, with_own(PLAN)).input == usual("pipeline", SAMPLE).input


def test_the_forecast_counts_its_text_and_its_turn():
    told = forecast(with_own(PLAN), tickets(SAMPLE))["agent"].steps[0]
    ran = run("agent", SAMPLE, with_own(PLAN))
    assert told.calls == ran.turns
    assert abs(told.input / ran.input - 1) < 0.08
