"""Both shapes at other sizes: what grows how, and where a window or a price step is met."""

from __future__ import annotations

from dataclasses import replace

import pytest
from task_fakes import ticket

from lib.models import DEFAULT_MODEL
from lib.runs.store import CallRow
from lib.task.default_design import default_design
from lib.task.forecast import forecast
from lib.task.scale import SIZES, scale
from lib.tickets.ticket import TicketSet
from lib.usage.growth import cumulative
from lib.usage.prices import prices_for

DESIGN = default_design()
PRICES = prices_for([DEFAULT_MODEL])
BODY = "Since Monday the invoices that go out to our clients show last month's total. " * 5
FORTY = TicketSet("forty", tuple(ticket(f"T-{i}", f"{i} {BODY}", "C-1", "P-1") for i in range(40)))


def rows(design=DESIGN, calls=None, prices=PRICES, sizes=SIZES):
    found = scale(design, FORTY, calls or {}, prices, sizes)
    return {shape: [row for row in found if row.shape == shape] for shape in ("pipeline", "agent")}


def call(step: str, fresh: int, output: int = 50, usd: float | None = 0.001) -> CallRow:
    return CallRow(0, "r", step, "", DEFAULT_MODEL, 0.0, 2.0, "end_turn", fresh, 0, 0, 0, output, 0, usd)


def labelled(tokens: int) -> list[CallRow]:
    return [call("label", tokens) for _ in range(40)]


def turns(a: int, d: int, number: int) -> list[CallRow]:
    return [call("agent", a + d * turn) for turn in range(number)]


@pytest.mark.parametrize("design", [DESIGN, replace(DESIGN, caching="auto-5m"), replace(DESIGN, caching="auto-1h"),
                                    replace(DESIGN, caching="system"), replace(DESIGN, keep_results=4)],
                         ids=["usual", "auto-5m", "auto-1h", "system", "keeps four"])
def test_at_its_own_size_it_is_the_forecast(design):
    told, found = forecast(design, FORTY), rows(design, sizes=[40])
    for shape, [row] in found.items():
        assert (row.calls, row.input, row.output) == (told[shape].calls, told[shape].input_tokens,
                                                      pytest.approx(told[shape].output_tokens, abs=1))
        assert row.usd == pytest.approx(told[shape].usd, rel=0.001)
        assert row.seconds == pytest.approx(told[shape].seconds)


def test_ten_times_the_tickets_are_ten_times_the_pipeline_and_a_hundred_times_the_agent():
    found = rows(sizes=[10_000, 100_000])
    assert 9.7 < found["pipeline"][1].input / found["pipeline"][0].input < 10
    assert 99 < found["agent"][1].input / found["agent"][0].input < 101


def test_a_batch_halves_the_label_calls():
    small, large = rows(sizes=[40, 100_000])["pipeline"]
    labels = next(step.usd for step in forecast(DESIGN, FORTY)["pipeline"].steps if step.step == "label")
    assert small.usd_batch == pytest.approx(small.usd - labels / 2)
    assert large.usd_batch == pytest.approx(large.usd / 2, rel=0.01)
    assert all(row.usd_batch is None for row in rows()["agent"])


def test_more_workers_take_less_time_for_the_pipeline_alone():
    one, eight = (rows(replace(DESIGN, workers=n), sizes=[10_000]) for n in (1, 8))
    assert 7 < one["pipeline"][0].seconds / eight["pipeline"][0].seconds < 8      # merges are made one by one
    assert one["agent"][0].seconds == eight["agent"][0].seconds


def test_the_window_and_the_price_step_are_told_where_they_are_met():
    agent = dict(zip(SIZES, rows(calls={"agent": turns(2_000, 500, 45)})["agent"], strict=True))
    assert [row.fits for row in agent.values()] == [True, True, True, False, False]
    step = "from turn 198, about ticket 190, on each request is above 100,000 tokens and a token costs 5 times as much"
    # 2,000 + 500 · 196 is 100,000, so turn 198 is the first above it; 2,000 + 500 · 1,996 is 1,000,000
    assert agent[40].note == "" and agent[1_000].note == f"{step}; the limit of 60 turns would end it first"
    assert agent[10_000].note == (
        f"{step}; turn 1,998, about ticket 1,900, would outgrow the 1,000,000 tokens of {DEFAULT_MODEL}")


def test_a_price_step_changes_the_price_of_whole_turns():
    """45 turns that begin just above the step cost five times what they do just below it."""
    below, above = (rows(calls={"agent": [replace(c, usd=None) for c in turns(a, 0, 45)]}, sizes=[40])["agent"][0]
                    for a in (100_000, 100_001))
    assert above.usd / below.usd == pytest.approx(5, rel=0.001)


def test_a_runs_own_calls_take_the_place_of_the_forecast():
    calls = {"pipeline": [*labelled(1_000), call("merge", 700), *[call("summary", 2_000)] * 5],
             "agent": turns(3_000, 600, 40)}
    found = rows(calls=calls, sizes=[40, 1_000])
    assert found["pipeline"][0].input == 40 * 1_000 + 700 + 5 * 2_000
    assert found["pipeline"][0].usd == pytest.approx(0.046) and found["pipeline"][0].calls == 46
    assert found["pipeline"][1].input - found["pipeline"][0].input > 960 * 1_000
    own = found["agent"][0]
    assert (own.calls, own.input, own.output) == (40, cumulative(3_000, 600, 40), 40 * 50)
    assert own.usd == pytest.approx(0.04) and own.seconds == pytest.approx(80)
    assert found["agent"][1].input == pytest.approx(cumulative(3_000, 600, found["agent"][1].calls), abs=1)


@pytest.mark.parametrize("caching", ["off", "auto-5m"])
@pytest.mark.parametrize("number", [1, 9, 40])
def test_what_one_call_took_holds_however_many_were_made_at_once(number, caching):
    """100,000 label calls of two seconds, eight at once: 25,000 seconds, and some 1,200 for the merges."""
    few, design = TicketSet("few", FORTY.tickets[:number]), replace(DESIGN, caching=caching)
    found = scale(design, few, {"pipeline": labelled(600)[:number]}, PRICES, [100_000])
    assert found[0].seconds == pytest.approx(25_000, rel=0.06)


def test_failed_calls_and_waits_for_a_busy_server_do_not_count():
    waited = [replace(c, seconds=32.0, waited=30.0) for c in labelled(1_000)]
    refused = replace(call("label", 0), fresh=None, output=None, usd=0.0, error="Busy: 529")
    assert rows(calls={"pipeline": [*waited, refused]}) == rows(calls={"pipeline": labelled(1_000)})


def test_without_a_price_there_is_none():
    found = rows(prices={"models": {}})
    assert {(row.usd, row.usd_batch) for row in (*found["pipeline"], *found["agent"])} == {(None, None)}


def test_a_small_window_is_outgrown_by_few_tickets():
    small = rows(DESIGN.with_step("agent", model="local-model"), sizes=[40, 1_000])["agent"]
    assert [row.fits for row in small] == [True, False] and "32,000 tokens of local-model" in small[1].note


def test_nothing_is_told_without_tickets_or_of_a_design_that_cannot_run():
    assert scale(DESIGN, TicketSet("none", ()), {}, PRICES) == []
    assert rows(replace(DESIGN, workers=0)) == {"pipeline": [], "agent": []}
