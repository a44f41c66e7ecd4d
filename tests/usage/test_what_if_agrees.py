"""The what-if against the simulated API: what it predicts from a record is what a run under that policy takes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from lib.catalog import open_catalog
from lib.client import compact
from lib.client.compact import compact_above
from lib.client.connect import connect_simulated
from lib.client.context import clear_old_results, cut_rows
from lib.client.layers import layered
from lib.client.ledger import ledger
from lib.client.timeline import SimulatedTime
from lib.design import CACHING
from lib.messages import blocks
from lib.runs.for_what_if import exchanges
from lib.runs.store import Run, Store
from lib.settings import load
from lib.simulated import protocol
from lib.task import SHAPES
from lib.task.default_design import default_design
from lib.tickets import guess_columns, read_table, to_tickets
from lib.usage.prices import cost, prices_for
from lib.usage.tokens import estimate_request
from lib.usage.what_if import Policy, predict
from lib.usage.what_if.requests import SUMMARY_WORDS

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
PRICES = prices_for(["claude-haiku-5-5"])
RULES = "\n".join(f"Rule {n}: keep names plain and short, as people say them." for n in range(60))
# Long enough to be cached, and some of its answers come in prose, so that they are sent back and cost a second call.
LONG = default_design().steps["label"].system.replace("Answer with JSON only, nothing before or after it.", RULES)
DESIGN = default_design().with_step("label", system=LONG)
HELD = replace(DESIGN.with_step("agent", effort="low").with_step("label", effort="high"), output="structured")
PAIRS = [pair for pair in product(CACHING, CACHING) if pair[0] != pair[1]]


@pytest.fixture(scope="module")
def data():
    table = read_table("tickets.csv", (SAMPLE / "tickets.csv").read_bytes())
    return (to_tickets(table, guess_columns(table)),
            open_catalog([("product.db", (SAMPLE / "product.db").read_bytes())]))


@pytest.fixture(scope="module")
def really(tmp_path_factory, data):
    """Runs a shape, once for each design and set of layers, and gives its store's record and rows."""
    store = Store(tmp_path_factory.mktemp("runs") / "runs.sqlite")
    known = {}

    def run(shape, caching="off", name="", *layers, design=DESIGN):
        key = f"{shape} {caching} {name} {design.version}"
        if key not in known:
            store.add_run(Run(key, "g", shape, "running", "simulated", "", {}, "d", 0.0))
            connection = connect_simulated(load({}), speed=0)
            timeline = SimulatedTime(connection.clock.now())
            client = layered(connection.client, *layers, ledger(store, key, timeline, partial(cost, PRICES)))
            SHAPES[shape](client, replace(design, caching=caching), *data)
            known[key] = exchanges(store, key), sorted(store.calls(key), key=lambda row: row.started)
        return known[key]

    yield run
    store.close()


def split(call):
    read = call.cache_read if hasattr(call, "cache_read") else call.read
    return call.fresh, call.write_5m, call.write_1h, read, call.output


@pytest.mark.parametrize(("recorded", "other"), PAIRS)
def test_the_agent_under_another_caching_takes_what_was_predicted_call_by_call(really, recorded, other):
    found = predict(really("agent", recorded)[0], Policy(caching=other), PRICES)
    rows = really("agent", other)[1]
    assert [split(call) for call in found.calls] == [split(row) for row in rows] and len(rows) == 45
    assert found.usd == pytest.approx(sum(row.usd for row in rows))
    assert found.seconds == pytest.approx(rows[-1].started + rows[-1].seconds - rows[0].started, rel=1e-3)
    assert any(call.read for call in found.calls) == (other != "off")


@pytest.mark.parametrize(("recorded", "other"), PAIRS)
def test_the_pipeline_under_another_caching_takes_what_was_predicted_call_by_call(really, recorded, other):
    before, rows = really("pipeline", recorded)[0], really("pipeline", other)[1]
    predicted, real = by_name(before, predict(before, Policy(caching=other), PRICES).calls), by_name(rows, rows)
    assert predicted.keys() == real.keys() and len(real) > 46, "some labels were asked for twice"
    first = {name for name in real if predicted[name] != real[name]}
    assert first <= leaders(real) | leaders(predicted), "of calls that begin at once, chance says which goes first"
    assert sorted(took[1:4] for took in predicted.values()) == sorted(took[1:4] for took in real.values())
    assert {name: sum(took[:4]) for name, took in predicted.items()} == {n: sum(took[:4]) for n, took in real.items()}
    assert any(took[3] for took in predicted.values()) == (other != "off")


@pytest.mark.parametrize("caching", ["auto-5m", "system"])
def test_structured_output_and_effort_are_predicted_call_by_call(really, caching):
    before, rows = really("agent", design=HELD)[0], really("agent", caching, design=HELD)[1]
    assert before[0].request["output_config"].keys() == {"effort", "format"}
    assert [split(call) for call in predict(before, Policy(caching=caching), PRICES).calls] == list(map(split, rows))
    before, rows = really("pipeline", design=HELD)[0], really("pipeline", caching, design=HELD)[1]
    predicted, real = by_name(before, predict(before, Policy(caching=caching), PRICES).calls), by_name(rows, rows)
    first = {name for name in real if predicted[name] != real[name]}
    assert first <= leaders(real) | leaders(predicted) and len(real) == 46, "no reply is sent back"
    assert any(took[3] for took in predicted.values()) == (caching == "system"), "what auto marks differs in every call"


def by_name(named, calls):
    """Each call's split under its step, its subject, and which call for that subject it is."""
    found = {}
    for one, call in zip(named, calls, strict=True):
        again = sum(key[:2] == (one.step, one.subject) for key in found)
        found[one.step, one.subject, again] = split(call)
    return found


def leaders(calls):
    """The one call of each step that writes what the others read."""
    return {name for name, took in calls.items() if name[0] == "label" and took[1] and not took[3]
            and sum(other[1] > 0 for key, other in calls.items() if key[0] == "label") == 1}


# --- what of a conversation is sent again ----------------------------------------------------------------------------


@pytest.fixture
def replayed(really, monkeypatch):
    """Runs the agent again under layers; the simulated API counts and bills, and says what it said in the record."""
    def run(caching, name, *layers, summary=""):
        replies = iter([(e.reply, e.usage) for e in really("agent")[0]])

        def say(request, *_):
            if blocks(request["messages"][-1])[-1].get("text") == compact.REQUEST:
                return protocol._Said([{"type": "text", "text": summary}], "end_turn", 800)
            content, usage = next(replies)
            asks = any(block["type"] == "tool_use" for block in content)
            return protocol._Said(content, "tool_use" if asks else "end_turn", usage.output, usage.thinking)

        monkeypatch.setattr(protocol, "_say", say)
        return really("agent", caching, name, *layers)[1]

    return run


@pytest.mark.parametrize("caching", ["off", "auto-5m"])
@pytest.mark.parametrize(("policy", "layer"), [
    (Policy(keep_results=3), clear_old_results(3)), (Policy(keep_results=1), clear_old_results(1)),
    (Policy(result_rows=5), cut_rows(5)), (Policy(result_rows=1), cut_rows(1))],
    ids=["newest 3", "newest 1", "5 rows", "1 row"])
def test_the_agent_with_results_cleared_or_cut_takes_what_was_predicted(really, replayed, policy, layer, caching):
    record = really("agent")[0]
    found = predict(record, replace(policy, caching=caching), PRICES)
    rows = replayed(caching, str(policy), layer)
    assert [split(call) for call in found.calls] == [split(row) for row in rows]
    assert found.input < 0.95 * sum(row.input for row in really("agent")[1])


@pytest.mark.parametrize("caching", ["off", "auto-5m", "system"])
@pytest.mark.parametrize(("above", "words"), [(10_000, 450), (15_000, 600)])
def test_the_compacted_agent_takes_what_was_predicted_within_a_percent(really, replayed, above, words, caching):
    """The real summaries are a tenth shorter or a fifth longer than the prediction takes them to be."""
    found = predict(really("agent")[0], Policy(compact_above=above, caching=caching), PRICES)
    rows = compacted(replayed, caching, above, words)
    assert [row.step == compact.STEP for row in rows] == [call.added for call in found.calls]
    assert sum(call.added for call in found.calls) > 1
    for mine, real in zip(totals(found.calls), totals(rows), strict=True):
        assert abs(mine - real) < found.input / 100
    assert found.input == pytest.approx(sum(row.input for row in rows), rel=0.01)


def test_with_summaries_of_the_assumed_length_the_compacted_agent_takes_just_what_was_predicted(really, replayed):
    found = predict(really("agent")[0], Policy(compact_above=10_000, caching="auto-5m"), PRICES)
    rows = compacted(replayed, "auto-5m", 10_000, SUMMARY_WORDS)
    assert [split(call)[:4] for call in found.calls] == [split(row)[:4] for row in rows]


def compacted(replayed, caching, above, words):
    return replayed(caching, f"{above} {words}", compact_above(above, estimate_request),
                    summary="ticket cause " * (words // 2))


def totals(calls):
    return [sum(part) for part in zip(*(split(call)[:4] for call in calls), strict=True)]
