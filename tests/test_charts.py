"""Chart rows and specs: the law goes through the points, lanes come from overlaps, nothing unknown becomes 0."""

from __future__ import annotations

import time

import pytest

from lib import charts
from lib.runs.store import CallRow


def call(step="agent", started=0.0, seconds=2.0, tokens=100, usd=0.001, **more) -> CallRow:
    given = {"write_5m": 0, "write_1h": 0, "cache_read": 0, "output": 10, "thinking": 0, "subject": "", "error": "",
             **more}
    return CallRow(id=0, run_id="r", step=step, model="m", started=started, seconds=seconds,
                   stop_reason="end_turn", fresh=tokens, usd=usd, attempts=1, **given)


def loop(turns: int, a: int = 1_000, d: int = 200) -> list[CallRow]:
    return [call(started=2.0 * t, tokens=a + d * t) for t in range(turns)]


def rows_of(rows, kind, shape="agent"):
    return [r for r in rows if r["kind"] == kind and r["shape"] == shape]


def test_cumulative_points_add_up_to_the_sum_of_the_calls():
    rows = charts.growth_rows({"agent": loop(10)})
    assert [r["total"] for r in rows_of(rows, "call")][:3] == [1_000, 2_200, 3_600]
    assert rows_of(rows, "call")[-1]["total"] == sum(1_000 + 200 * t for t in range(10))


def test_the_agents_law_ends_where_its_points_end():
    rows = charts.growth_rows({"agent": loop(40)})
    assert rows_of(rows, "law")[-1]["total"] == pytest.approx(rows_of(rows, "call")[-1]["total"])


def test_the_pipelines_law_is_a_straight_line_over_its_labelling_calls():
    calls = [call("label", tokens=500, subject="1"), call("label", tokens=700, subject="2"),
             call("merge", tokens=9_000)]
    law = rows_of(charts.growth_rows({"pipeline": calls}), "law", "pipeline")
    assert [(p["n"], p["total"]) for p in law] == [(0, 0), (2, 1_200)]


def test_the_crossover_is_marked_where_history_has_cost_as_much_as_the_fixed_part():
    mark = rows_of(charts.growth_rows({"agent": loop(40, a=1_000, d=200)}), "crossover")
    assert [m["n"] for m in mark] == [pytest.approx(11)]     # 200·T(T−1)/2 = 1000·T at T = 11


def test_a_run_too_short_for_the_crossover_shows_none():
    assert not rows_of(charts.growth_rows({"agent": loop(5)}), "crossover")


def test_two_turns_have_no_law():
    assert not rows_of(charts.growth_rows({"agent": loop(2)}), "law")


def test_a_call_that_reported_nothing_is_left_out_and_not_drawn_as_zero():
    calls = [call(tokens=100), call(tokens=None), call(tokens=300)]
    assert [r["total"] for r in rows_of(charts.growth_rows({"agent": calls}), "call")] == [100, 400]


def test_a_call_that_was_refused_and_billed_as_nothing_is_no_point():
    refused = call(tokens=0, usd=0.0, error="529 overloaded")
    assert [r["n"] for r in rows_of(charts.growth_rows({"agent": [call(), refused, call()]}), "call")] == [1, 2]


def test_the_axes_have_room_for_what_is_expected():
    rows = charts.growth_rows({"agent": loop(2)}, expected=(46, 650_000))
    assert [(r["n"], r["total"]) for r in rows_of(rows, "room")] == [(46, 650_000)]


def test_steps_of_the_pipeline_look_alike_and_kinds_of_tokens_like_nothing_else():
    assert charts.STEP_COLOURS["agent"] == charts.SHAPE_COLOURS["agent"]
    assert charts.STEP_COLOURS["label"] == charts.SHAPE_COLOURS["pipeline"]
    assert not set(charts.TOKEN_COLOURS.values()) & set(charts.STEP_COLOURS.values())


def test_an_unpriced_run_has_no_dollar_points():
    assert charts.growth_rows({"agent": [call(usd=None)] * 5}, "usd") == []


def test_overlapping_calls_get_lanes_of_their_own_and_a_free_lane_is_used_again():
    assert charts.assign_lanes([(0, 2), (0.5, 3), (2, 4), (2.5, 5)]) == [0, 1, 0, 2]


def test_eight_workers_are_eight_lanes_and_a_loop_is_one():
    pipeline = [call("label", started=2.0 * (i // 8)) for i in range(40)]
    rows = charts.timeline_rows({"pipeline": pipeline, "agent": loop(20)})
    lanes = {shape: {r["lane"] for r in rows if r["shape"] == shape} for shape in ("pipeline", "agent")}
    assert len(lanes["pipeline"]) == 8
    assert lanes["agent"] == {"agent"}


def test_the_timeline_starts_at_zero_for_each_run():
    rows = charts.timeline_rows({"agent": [call(started=1_000.0), call(started=1_002.5)]})
    assert [(r["start"], r["end"]) for r in rows] == [(0, 2.0), (2.5, 4.5)]


def test_token_rows_sum_by_step_and_kind_and_leave_out_kinds_nobody_reported():
    rows = charts.token_rows({"pipeline": [call("label", tokens=5, output=1), call("label", tokens=7, output=None)]})
    assert {(r["step"], r["kind"]): r["tokens"] for r in rows} == {("label", "fresh input"): 12, ("label", "output"): 1}


@pytest.mark.parametrize("draw", [charts.growth_rows, charts.timeline_rows])
def test_a_huge_run_stays_drawable(draw):
    calls = [call("label", started=float(i)) for i in range(9_000)]
    assert len(draw({"pipeline": calls})) <= charts.MAX_MARKS


def test_thinning_keeps_both_ends():
    assert charts.thinned(range(101), 5) == [0, 25, 50, 75, 100]


@pytest.mark.parametrize("make", [charts.growth_spec, charts.timeline_spec, charts.token_spec])
def test_a_spec_holds_no_data_so_that_it_can_be_cached(make):
    spec = make()
    assert "data" not in spec and "datasets" not in spec
    assert spec["$schema"].startswith("https://vega.github.io/schema/vega-lite/")


def test_dollars_and_tokens_share_one_shape_of_chart():
    tokens, dollars = (charts.growth_spec(m)["layer"][0]["encoding"]["y"]["title"] for m in ("input", "usd"))
    assert (tokens, dollars) == ("cumulative input tokens", "cumulative dollars")


def test_a_timeline_of_ten_times_the_calls_takes_about_ten_times_as_long():
    def seconds(count: int) -> float:
        calls = {"pipeline": [call(started=float(i // 8)) for i in range(count)]}
        took = []
        for _ in range(3):
            began = time.perf_counter()
            charts.timeline_rows(calls)
            took.append(time.perf_counter() - began)
        return min(took)
    assert seconds(10_000) < 40 * seconds(1_000)      # a step that looks at all calls for each call: 100 ×
