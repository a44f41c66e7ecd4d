"""Rows of the Costs page's pictures: parts add up to what was paid, a run that forgot has no law, unknown is no bar."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lib import charts_costs as charts
from lib.runs.store import CallRow
from lib.ui import format as fmt
from lib.usage.prices import cost
from lib.usage.published import published
from lib.usage.what_if import Predicted, WhatIf

RATES = {"input": 1.0, "output": 5.0, "write_5m": 1.25, "write_1h": 2.0, "read": 0.1, "source": "made up"}
STEP = {**{part: 2 * RATES[part] for part in ("input", "output", "write_5m", "write_1h", "read")}, "above": 10_000}
PRICES = {"per": 1_000_000, "models": {"m": {**RATES, "tiers": [STEP]}}}


def call(number: int = 0, **more) -> CallRow:
    given = {"id": number, "run_id": "r", "step": "agent", "subject": "", "model": "m", "started": 2.0 * number,
             "seconds": 2.0, "stop_reason": "end_turn", "fresh": 100, "write_5m": 200, "write_1h": 0,
             "cache_read": 3_000, "output": 50, "thinking": 20, "usd": 0.0, **more}
    return CallRow(**{**given, "usd": given["usd"] if given["usd"] is None else paid(given)})


def paid(given: dict) -> float | None:
    return cost(PRICES, "m", given["fresh"], given["write_5m"], given["write_1h"], given["cache_read"], given["output"])


def bars(calls, measure="input"):
    return charts.composition_rows(calls, measure, PRICES)


def what_if(*amounts: float | None, seconds: float | None = 10.0) -> WhatIf:
    return WhatIf(tuple(Predicted(1_000, 0, 0, 0, 10, 1.0, usd) for usd in amounts), ("a note",), seconds)


def rungs(*found: WhatIf):
    return [(f"rung {place}" if place else "as recorded", each) for place, each in enumerate(found)]


# --- what each call is made of ---------------------------------------------------------------------------------------


def test_the_parts_of_a_call_lie_on_each_other_and_add_up_to_it():
    rows = bars([call()])
    assert [(row["part"], row["low"], row["high"]) for row in rows] == [
        ("fresh input", 0, 100), ("written for 5 min", 100, 300), ("cache read", 300, 3_300), ("output", 3_300, 3_350)]
    assert {row["thinking"] for row in rows} == {20}


@pytest.mark.parametrize("read", [3_000, 30_000])
def test_dollars_of_the_parts_add_up_to_what_the_call_cost_on_both_sides_of_a_price_step(read):
    one = call(cache_read=read)
    assert sum(row["amount"] for row in bars([one], "usd")) == pytest.approx(one.usd, rel=1e-12)


def test_a_call_without_tokens_or_price_has_no_bar():
    silent = call(fresh=None, write_5m=None, write_1h=None, cache_read=None, output=None, usd=None)
    assert bars([silent]) == [] and bars([call(usd=None)], "usd") == []


def test_what_a_call_waited_is_told_apart_from_what_it_took():
    rows = bars([call(seconds=9.0, waited=4.0)], "seconds")
    assert {row["part"]: row["amount"] for row in rows} == {"answering": 5.0, "waiting for a busy server": 4.0}


def test_many_calls_share_bars_that_show_their_mean():
    rows = bars([call(n, write_5m=0, cache_read=0, fresh=100 + n % 2, output=0) for n in range(3_000)])
    assert len(rows) <= charts.MAX_BARS
    assert rows[0]["call"] == "1 to 10, mean" and rows[0]["amount"] == pytest.approx(100.5)


# --- growth and the published run ------------------------------------------------------------------------------------


def test_seconds_are_those_since_the_first_call_began():
    calls = [call(0, seconds=5.0), call(1, started=0.0, seconds=3.0)]
    assert [(row["n"], row["total"]) for row in charts.cumulative_rows({"pipeline": calls}, "seconds")] == [
        (1, 3.0), (2, 5.0)]


def test_the_straight_line_can_be_drawn_on_a_log_axis():
    calls = [call(n, step="label", subject=str(n)) for n in range(4)]
    law = [row for row in charts.cumulative_rows({"pipeline": calls}, "input") if row["kind"] == "law"]
    assert {(row["n"], row["total"]) for row in law} >= {(1, 3_300), (4, 13_200)}


def test_the_published_run_that_kept_all_has_a_law_and_the_compacted_one_shows_where_it_forgot():
    rows = charts.published_rows(published(), "input", lambda sent, output: None)
    kinds = {(row["shape"], row["kind"]) for row in rows}
    assert (charts.KEPT, "law") in kinds and (charts.COMPACTED, "law") not in kinds
    assert [row["n"] for row in rows if row["kind"] == "reset"] == [17, 25]
    last = [row for row in rows if (row["shape"], row["kind"]) == (charts.KEPT, "call")][-1]
    assert (last["n"], last["total"]) == (37, 204_416)


def test_the_published_run_has_dollars_only_with_a_price_and_no_seconds():
    assert charts.published_rows(published(), "usd", lambda sent, output: None) == []
    assert charts.published_rows(published(), "usd", lambda sent, output: sent * 3e-6)
    assert charts.published_rows(published(), "seconds", lambda sent, output: 1.0) == []


# --- the ladder ------------------------------------------------------------------------------------------------------


def test_the_ladder_begins_as_recorded_and_says_what_the_others_change():
    rows = charts.ladder_rows(rungs(what_if(0.4), what_if(0.1), what_if(0.401)), "usd", fmt.dollars)
    assert [row["label"] for row in rows] == ["$0.4", "$0.1 · −75 %", "$0.401 · the same"]
    assert [row["recorded"] for row in rows] == [True, False, False]


def test_a_bar_that_dwarfs_the_others_is_cut_and_says_so():
    long = charts.ladder_rows(rungs(what_if(0.4), what_if(16.0)), "usd", fmt.dollars)[1]
    assert long["bar"] == pytest.approx(0.88) and long["label"] == "$16 · 40 × →" and long["amount"] == 16.0


def test_a_log_axis_has_room_for_every_rung():
    long = charts.ladder_rows(rungs(what_if(0.4), what_if(16.0)), "usd", fmt.dollars, log=True)[1]
    assert long["bar"] == 16.0 and "→" not in long["label"]


def test_a_rung_with_a_call_without_price_has_no_bar():
    rows = charts.ladder_rows(rungs(what_if(None), what_if(0.1, None)), "usd", fmt.dollars)
    assert [(row["bar"], row["label"]) for row in rows] == [(None, "no price"), (None, "no price")]


def test_no_seconds_are_promised_for_a_batch():
    rows = charts.ladder_rows(rungs(what_if(0.4), what_if(0.2, seconds=None)), "seconds", fmt.seconds)
    assert (rows[1]["bar"], rows[1]["label"]) == (None, "no time is promised")


# --- at another scale ------------------------------------------------------------------------------------------------


def size(shape: str, tickets: int, **more) -> SimpleNamespace:
    given = {"calls": tickets, "input": 500 * tickets, "output": 50 * tickets, "usd": 0.001 * tickets,
             "usd_batch": None, "seconds": 2.0 * tickets, "fits": True, "stepped": False, "note": "", **more}
    return SimpleNamespace(shape=shape, tickets=tickets, **given)


def test_the_batch_is_a_series_of_its_own_in_dollars_only():
    found = [size("pipeline", 40, usd_batch=0.02)]
    assert [(row["series"], row["amount"]) for row in charts.scale_rows(found, "usd")] == [
        ("pipeline", 0.04), (charts.BATCH, 0.02)]
    assert [row["series"] for row in charts.scale_rows(found, "input")] == ["pipeline"]


def test_the_first_size_beyond_the_window_and_the_first_at_a_higher_price_are_marked():
    found = [size("agent", 40), size("agent", 100, stepped=True), size("agent", 1_000, stepped=True),
             size("agent", 10_000, stepped=True, fits=False), size("agent", 100_000, stepped=True, fits=False)]
    marks = {row["tickets"]: row["mark"] for row in charts.scale_rows(found, "usd") if row["mark"]}
    assert marks == {100: "a token costs more from here", 10_000: "the window ends"}


def test_a_shape_without_a_price_has_no_dollars():
    assert charts.scale_rows([size("agent", 40, usd=None)], "usd") == []


# --- specs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["input", "usd", "seconds"])
@pytest.mark.parametrize("log", [False, True])
def test_specs_hold_no_data_so_that_they_can_be_cached(measure, log):
    for spec in (charts.cumulative_spec(measure, log, True), charts.composition_spec("agent", measure),
                 charts.ladder_spec("agent", measure, log), charts.scale_spec(measure)):
        assert "data" not in spec and "datasets" not in spec
        assert spec["$schema"].startswith("https://vega.github.io/schema/vega-lite/")


def test_what_is_published_looks_like_no_shape_and_the_parts_like_the_tokens_elsewhere():
    assert not set(charts.PUBLISHED_COLOURS.values()) & set(charts.SCALE_COLOURS.values())
    assert charts.PART_COLOURS["cache read"] == charts.charts.TOKEN_COLOURS["cache read"]
