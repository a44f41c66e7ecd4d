"""Faults that others had with edited prompts, tools and settings, by the number under which they were collected."""

from __future__ import annotations

import json
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from lib.client.connect import connect_server
from lib.design import ToolText
from lib.errors import RequestRefused
from lib.models import MODELS
from lib.settings import load
from lib.task import SHAPES
from lib.task.default_design import STEPS, default_design
from lib.task.problems import problems, warnings
from lib.tickets import guess_columns, read_table, to_tickets
from lib.usage.tokens import estimate
from tests.local_server import refusal, serve, simulated
from tests.task.task_fakes import catalog, first_text, pipeline_model, six_tickets

INPUTS = Path(__file__).parent / "inputs"
TEMPLATES = Path(__file__).parents[1] / "tickets" / "inputs" / "72_templates.csv"
DESIGN = default_design()
TOOLS = json.loads((INPUTS / "48_tools.json").read_text(encoding="utf-8"))


def with_tool(definition):
    """The design with one of its tools as in this definition."""
    return DESIGN.with_tool("tally", name=definition["name"], description=definition["description"],
                            input_schema=definition.get("input_schema"))


@pytest.mark.parametrize(("definition", "field"), list(zip(TOOLS, (
    "name", "name", "name", "name", "input_schema", "name", "input_schema", "input_schema", "name"), strict=True)))
def test_48_every_bad_tool_is_refused_with_its_field_named(definition, field):
    found = [p for p in problems(with_tool(definition)) if p.field.startswith("tools.tally.")]
    assert f"tools.tally.{field}" in [p.field for p in found]
    assert all(p.severity == "error" and p.text for p in found)


def test_48_the_same_holds_for_a_tool_of_ones_own():
    for number, definition in enumerate(TOOLS):
        own = ToolText(f"own_{number}", definition["name"], definition["description"], definition.get("input_schema"),
                       query="SELECT 1")
        assert any(p.field.startswith(f"tools.own_{number}.") for p in problems(
            replace(DESIGN, tools=(*DESIGN.tools, own))))


@pytest.mark.parametrize("query", [None, 7, ["SELECT 1"]])
def test_48_a_query_that_is_no_text_is_refused(query):
    own = ToolText("own_1", "mine", "Returns one.", {"type": "object", "properties": {}}, query=query)
    assert [p.field for p in problems(replace(DESIGN, tools=(*DESIGN.tools, own)))] == ["tools.own_1.query"]


def test_72_a_prompt_with_json_and_braces_is_sent_as_it_stands():
    prompt = (INPUTS / "72_prompt.txt").read_text(encoding="utf-8")
    model = pipeline_model()
    SHAPES["pipeline"](model, DESIGN.with_step("label", system=prompt), six_tickets(), catalog())
    assert sum(request["system"] == prompt for request in model.requests) == 6


def test_72_an_unknown_placeholder_is_a_warning():
    design = DESIGN.with_step("label", system=(INPUTS / "72_prompt.txt").read_text(encoding="utf-8"))
    told = [w.text for w in warnings(design) if w.field == "steps.label.system"]
    assert problems(design) == []
    [line] = [text for text in told if "{nickname}" in text]
    assert "{subject}" in line and "{body}" in line and "category" not in line


def test_72_templates_in_a_ticket_stay_as_they_are():
    table = read_table(TEMPLATES.name, TEMPLATES.read_bytes())
    tickets = to_tickets(table, guess_columns(table))
    model = pipeline_model(labels={t.key: "template in a form" for t in tickets.tickets}, summaries={
        "template in a form": ["V1"]}, groups=[("template in a form", ["template in a form"])])
    SHAPES["pipeline"](model, replace(DESIGN, k=1), tickets, catalog())
    sent = unescape("\n".join(map(first_text, model.requests)))
    assert all(ticket.body in sent and ticket.subject in sent for ticket in tickets.tickets)


@pytest.mark.parametrize("shape", SHAPES)
def test_90_a_large_max_tokens_works_in_every_step(shape):
    design = DESIGN
    for name in STEPS:
        design = design.with_step(name, max_tokens=64_000)
    assert problems(design) == []
    with serve(script=simulated) as server:
        report = SHAPES[shape](connect_server(load({}), server.url).client, design, six_tickets(), catalog())
    assert not report.failed
    assert {request.body["max_tokens"] for request in server.received} == {64_000}


@pytest.mark.parametrize("model", MODELS)
def test_90_one_above_the_models_limit_is_one_line_before_anything_is_sent(model):
    most = MODELS[model].max_output
    assert most < MODELS[model].window
    assert problems(DESIGN.with_step("label", model=model, max_tokens=most)) == []
    [found] = problems(DESIGN.with_step("label", model=model, max_tokens=most + 1))
    assert found.field == "steps.label.max_tokens" and f"to {most:,}" in found.text


def test_90_a_prompt_longer_than_the_window_is_told_too():
    long = "word " * 210_000
    [found] = problems(DESIGN.with_step("label", model="claude-haiku-4-5", system=long))
    assert found.field == "steps.label.system"
    assert f"about {estimate(long, 'claude-haiku-4-5'):,} tokens, Haiku 4.5 holds 200,000" in found.text
    assert problems(DESIGN.with_step("label", model="claude-haiku-4-5", system="word " * 90_000)) == []


REFUSALS = ("`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
            "temperature: this model does not take a temperature",
            "This model does not support assistant message prefill. The conversation must end with a user message.")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("words", REFUSALS)
def test_91_a_refused_request_ends_the_run_with_the_apis_words_once(shape, words):
    design = replace(DESIGN, workers=1)
    with serve(refusal(400, "invalid_request_error", words)) as server, pytest.raises(RequestRefused) as ended:
        SHAPES[shape](connect_server(load({}), server.url).client, design, six_tickets(), catalog())
    assert str(ended.value).count(words.rstrip(".")) == 1
    assert len(server.received) == 1


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("design", [DESIGN, replace(DESIGN, output="structured")], ids=["ask", "structured"])
def test_91_what_is_not_set_is_not_sent(shape, design):
    with serve(script=simulated) as server:
        SHAPES[shape](connect_server(load({}), server.url).client, design, six_tickets(), catalog())
    fields = {name for request in server.received for name in request.body}
    asked = {"model", "system", "messages", "max_tokens"} | ({"tools", "tool_choice"} if shape == "agent" else set())
    assert fields == asked | ({"output_config"} if design.output == "structured" else set())
    assert all(request.body["messages"][-1]["role"] == "user" for request in server.received)
