"""What an edit costs: told from a record, it is what two simulated runs with the same replies report, call by call."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import partial

import pytest

from lib.client.connect import connect_simulated
from lib.client.layers import layered
from lib.client.ledger import ledger
from lib.client.timeline import SimulatedTime
from lib.design import ToolText
from lib.runs.for_what_if import exchanges
from lib.runs.store import Run, Store
from lib.settings import load
from lib.simulated import protocol
from lib.task import SHAPES, effect
from lib.task.default_design import default_design
from lib.task.effect import BEHAVIOUR, Change, Effect, Taken, added, asked_with, effects, expected, path, recorded
from lib.task.forecast import first_requests, forecast
from lib.usage.prices import cost, prices_for
from lib.usage.tokens import estimate_request
from lib.usage.what_if import predict
from tests.sets import catalog, tickets

NAME = "fernhill"
PLAIN = default_design()
PRICES = prices_for(["claude-haiku-5-5", "claude-haiku-4-5", "claude-sonnet-5-5"])
STEPS = {"pipeline": ("label", "merge", "summary"), "agent": ("agent",)}
MORE = " Take the cause of the trouble, not its consequence; where two fit, the earlier one."
ID = {"type": "object", "properties": {"customer_id": {"type": "string", "description": "C- and four digits"}},
      "required": ["customer_id"], "additionalProperties": False}


def longer(design, *steps):
    for step in steps:
        design = design.with_step(step, system=design.steps[step].system + MORE)
    return design


EDITS = {
    "every prompt longer": longer(PLAIN, *PLAIN.steps),
    "a prompt shorter": PLAIN.with_step("label", system=PLAIN.steps["label"].system[:-200]).with_step(
        "agent", system=PLAIN.steps["agent"].system[:-300]),
    "no system prompt": PLAIN.with_step("summary", system="").with_step("agent", system=""),
    "a tool described": PLAIN.with_tool("get_customer", description="One customer.", input_schema=ID),
    "a tool renamed": PLAIN.with_tool("read_ticket", name="open_the_ticket").with_tool("tally", name="count"),
    "a tool not offered": PLAIN.with_tool("search_tickets", enabled=False).with_tool("get_product", enabled=False),
    "another model": longer(PLAIN, "label").with_step("label", model="claude-haiku-4-5").with_step(
        "agent", model="claude-haiku-4-5"),
    "several tools at once": longer(replace(PLAIN, parallel_tools=True), "agent"),
    "structured output": longer(replace(PLAIN, output="structured"), "merge"),
    "a tool of one's own": PLAIN.with_own_tools(["own_1"], []).with_tool(
        "own_1", name="plan_of", description="The plan of one customer.", input_schema=ID,
        query="select plan from customers where customer_id = :customer_id"),
    "nothing that is sent": replace(PLAIN, name="other", workers=3, retries=2),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    opened = Store(tmp_path_factory.mktemp("runs") / "runs.sqlite")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def record(store):
    """The recorded run of a shape and a caching, made once."""
    known = {}

    def made(shape, caching="off"):
        if (shape, caching) not in known:
            known[shape, caching] = really(store, shape, replace(PLAIN, caching=caching))
        return known[shape, caching]
    return made


def really(store, shape, design):
    """The exchanges of a run over the simulated API."""
    run_id = f"run {len(store.ids())}"
    store.add_run(Run(run_id, "g", shape, "running", "simulated", "", {}, "d", 0.0))
    connection = connect_simulated(load({}), speed=0)
    timeline = SimulatedTime(connection.clock.now())
    client = layered(connection.client, ledger(store, run_id, timeline, partial(cost, PRICES)))
    SHAPES[shape](client, design, tickets(NAME), catalog(NAME))
    return exchanges(store, run_id)


@pytest.fixture
def pinned(monkeypatch, store, record):
    """Runs a shape under another design; the simulated API counts and bills, and says what it said in the record."""
    def run(shape, design, caching="off"):
        names = {old.name: new.name for old, new in zip(PLAIN.tools, design.tools, strict=False)}
        replies = {asked(e.request["messages"], names): (renamed(e.reply, names), e) for e in record(shape, caching)}

        def say(request, *_):
            content, told = replies[asked(request["messages"], {})]
            asks = any(block["type"] == "tool_use" for block in content)
            return protocol._Said(content, "tool_use" if asks else "end_turn", told.usage.output, told.usage.thinking)

        monkeypatch.setattr(protocol, "_say", say)
        return really(store, shape, design)
    return run


def asked(messages, names):
    return json.dumps([{**m, "content": renamed(m["content"], names)} for m in messages], sort_keys=True)


def renamed(content, names):
    return content if isinstance(content, str) else [
        {**block, "name": names.get(block["name"], block["name"])} if block["type"] == "tool_use" else block
        for block in content]


def sent(exchange):
    return exchange.usage.fresh + exchange.usage.write_5m + exchange.usage.write_1h + exchange.usage.cache_read


def usd(exchange):
    usage = exchange.usage
    return cost(PRICES, exchange.request["model"], usage.fresh, usage.write_5m, usage.write_1h, usage.cache_read,
                usage.output)


def by_call(made, amount):
    """(step, subject, which call about it) -> its amount."""
    seen, found = Counter(), {}
    for exchange in made:
        about = (exchange.step, exchange.subject)
        found[*about, seen[about]] = amount(exchange)
        seen[about] += 1
    return found


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("edit", EDITS)
def test_the_effect_is_the_measured_difference_of_two_runs_with_the_same_replies(record, pinned, shape, edit):
    before, after = record(shape), pinned(shape, EDITS[edit])
    measured, was = by_call(after, sent), by_call(before, sent)
    assert measured.keys() == was.keys()
    told = by_call(before, lambda exchange: sum(
        each.tokens for each in effects(recorded(PLAIN, [exchange], PRICES), PLAIN, EDITS[edit])))
    assert told == {call: measured[call] - was[call] for call in was}
    whole = effects(recorded(PLAIN, before, PRICES), PLAIN, EDITS[edit])
    assert sum(each.tokens for each in whole) == sum(measured.values()) - sum(was.values())


def test_the_edits_do_change_what_is_sent(record):
    found = {edit: [sum(each.tokens for each in effects(recorded(PLAIN, record(shape), PRICES), PLAIN, design))
                    for shape in SHAPES] for edit, design in EDITS.items()}
    assert found.pop("nothing that is sent") == [0, 0]
    assert all(any(tokens) for tokens in found.values())
    assert min(found["every prompt longer"]) > 0 > max(found["a prompt shorter"])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("caching", ["off", "system", "auto-5m"])
def test_dollars_are_those_of_the_two_runs_with_and_without_the_prompt_cache(record, pinned, shape, caching):
    design = replace(longer(PLAIN, "agent", "label", "summary"), caching=caching)
    before, after = record(shape, caching), pinned(shape, design, caching)
    found = effects(recorded(replace(PLAIN, caching=caching), before, PRICES), replace(PLAIN, caching=caching), design)
    assert added(each.usd for each in found) == pytest.approx(sum(map(usd, after)) - sum(map(usd, before)))
    assert sum(each.tokens for each in found) == sum(map(sent, after)) - sum(map(sent, before))
    if caching == "auto-5m" and shape == "agent":
        assert added(each.usd for each in found) < sum(each.tokens for each in found) / 1e6 * 0.1 / 2


@pytest.mark.parametrize("shape", SHAPES)
def test_a_design_takes_what_its_own_run_reported(record, shape):
    taken = recorded(PLAIN, record(shape), PRICES)(PLAIN)
    assert {step: (each.calls, each.input) for step, each in taken.items()} == {
        step: (sum(e.step == step for e in record(shape)), sum(sent(e) for e in record(shape) if e.step == step))
        for step in STEPS[shape]}
    assert added(each.usd for each in taken.values()) == pytest.approx(sum(map(usd, record(shape))))


def test_a_record_of_another_design_tells_the_same_effect_between_two_others(record, pinned):
    one, other = EDITS["a prompt shorter"], EDITS["a tool described"]
    taken = recorded(PLAIN, record("agent"), PRICES)
    measured = [sum(map(sent, pinned("agent", design))) for design in (one, other)]
    assert sum(each.tokens for each in effects(taken, one, other)) == measured[1] - measured[0]


@pytest.mark.parametrize("step", ["label", "merge"])
def test_an_edit_works_out_only_the_step_it_touches(record, monkeypatch, step):
    taken, seen = recorded(PLAIN, record("pipeline"), PRICES), []
    whole = taken(PLAIN)
    monkeypatch.setattr(effect, "predict", lambda asked, *more: seen.extend(asked) or predict(asked, *more))
    again = taken(longer(PLAIN, step))
    assert {each.step for each in seen} == {step}
    assert {each for each in whole if again[each] != whole[each]} == {step}


# --- field by field --------------------------------------------------------------------------------------------------


def test_from_one_design_to_the_other_the_tools_come_into_its_order_too():
    own = ToolText("own_1", "plan_of", "The plan of one customer.", ID)
    other = replace(PLAIN, tools=(own, *PLAIN.tools[2:], PLAIN.tools[0]))
    for before, after in ((PLAIN, other), (other, PLAIN)):
        assert path(before, after)[-1] == ("order", after)


@pytest.mark.parametrize("step", PLAIN.steps)
def test_what_stands_around_the_messages_is_what_a_run_sends(record, step):
    shape = next(shape for shape, steps in STEPS.items() if step in steps)
    for exchange in record(shape):
        if exchange.step == step:
            assert exchange.request == {**asked_with(PLAIN, step), "messages": exchange.request["messages"]}


def test_each_field_has_its_own_effect_and_they_add_up(record):
    design = longer(PLAIN, "agent", "label").with_tool("tally", description="Counts.")
    found = effects(recorded(PLAIN, record("agent"), PRICES), PLAIN, design)
    assert [each.field for each in found] == ["steps.label.system", "steps.agent.system", "tools.tally.description"]
    label, agent, tool = found
    assert label.changes == () and (label.tokens, label.usd) == (0, 0)
    assert agent.tokens > 0 > tool.tokens
    together = recorded(PLAIN, record("agent"), PRICES)(design)["agent"].input
    assert sum(each.tokens for each in found) == together - sum(map(sent, record("agent")))


def test_the_path_ends_at_the_other_design_and_its_behaviour_comes_last():
    after = replace(longer(PLAIN, "label"), name="mine", k=3, tags=False, workers=2).with_own_tools(["own_1"], [])
    after = replace(after, limits=replace(after.limits, max_turns=9, max_usd=1.0))
    found = path(PLAIN, after)
    assert [name for name, _ in found] == ["workers", "limits.max_usd", "steps.label.system", "tools.own_1", "k",
                                           "tags", "limits.max_turns"]
    assert found[-1][1] == replace(after, name=PLAIN.name)
    assert path(after, PLAIN)[-1][1] == replace(PLAIN, name="mine")
    assert path(PLAIN, replace(PLAIN, name="other")) == []
    assert [name for name, _ in found if BEHAVIOUR.fullmatch(name)] == ["k", "tags", "limits.max_turns"]


def test_a_price_that_is_not_known_is_told_as_such_and_tokens_are_told_all_the_same(record):
    design = longer(PLAIN, "agent").with_step("agent", model="own-model")
    found = effects(recorded(PLAIN, record("agent"), PRICES), PLAIN, design)
    assert added(each.usd for each in found) is None and sum(each.tokens for each in found) != 0


def test_sums_know_no_price_where_one_part_has_none():
    priced, free = Change("label", Taken(1, 5, 1.0), Taken(1, 8, 3.0)), Change("merge", Taken(1, 5, 1.0),
                                                                              Taken(1, 4, None))
    assert Effect("k", (priced,)).usd == 2.0 and Effect("k", (priced, free)).usd is None
    assert Effect("k", (priced, free)).tokens == 2


# --- before there is a run -------------------------------------------------------------------------------------------


def test_before_a_run_an_edit_counts_once_for_each_call_of_the_forecast():
    taken = expected(tickets(NAME), PRICES)
    [found] = effects(taken, PLAIN, longer(PLAIN, "agent"))
    [change] = found.changes
    one = (estimate_request(first_requests(longer(PLAIN, "agent"), tickets(NAME))["agent"])
           - estimate_request(first_requests(PLAIN, tickets(NAME))["agent"]))
    assert (change.step, change.after.calls, change.tokens) == ("agent", 45, 45 * one) and one > 10
    assert change.usd == pytest.approx(45 * one * 0.1 / 1e6, rel=0.01)     # a forecast rounds each turn


@pytest.mark.parametrize("caching", ["off", "auto-1h"])
def test_before_a_run_a_design_takes_what_the_forecast_says(caching):
    design = replace(PLAIN, caching=caching)
    told = [step for each in forecast(design, tickets(NAME), PRICES).values() for step in each.steps]
    assert expected(tickets(NAME), PRICES)(design) == {each.step: Taken(each.calls, each.input, each.usd)
                                                       for each in told}


def test_before_a_run_what_changes_the_number_of_calls_is_told_too():
    [found] = effects(expected(tickets(NAME), PRICES), PLAIN, replace(PLAIN, parallel_tools=True))
    [change] = found.changes
    assert change.after.calls < change.before.calls and change.tokens < 0


def test_a_design_that_cannot_run_takes_nothing_and_has_no_effect():
    assert expected(tickets(NAME), PRICES)(replace(PLAIN, workers=0)) == {}
    for pair in ((PLAIN, replace(PLAIN, workers=0)), (replace(PLAIN, workers=0), PLAIN)):
        assert [each.changes for each in effects(expected(tickets(NAME), PRICES), *pair)] == [()]


@pytest.mark.parametrize("design", [
    replace(PLAIN, workers=0, k=0, retries=-1, keep_results=-1, result_chars=-5),
    replace(PLAIN, limits=replace(PLAIN.limits, max_turns=0)),
    replace(PLAIN, tools=()), PLAIN.with_step("agent", model="", system=" ", max_tokens=0),
    PLAIN.with_tool("tally", name="", description="", input_schema={"type": 7})])
def test_a_design_with_mistakes_can_still_be_told_apart(record, design):
    taken = recorded(PLAIN, record("agent"), PRICES)
    assert all(isinstance(each.tokens, int) for each in effects(taken, PLAIN, design))
