"""Call rows in; chart rows and a Vega-Lite spec out. Specs hold no data and no theme, so a caller may cache them.

The colours were chosen to differ for the colour-blind and to keep a contrast of about 3:1 on both backgrounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lib.usage import growth

if TYPE_CHECKING:
    from lib.runs.store import CallRow

SHAPE_COLOURS = {"pipeline": "#2a7fc9", "agent": "#d9620f"}
STEP_COLOURS = {"label": "#2a7fc9", "merge": "#1f66ab", "summary": "#7090b5", "agent": "#d9620f"}   # blues: pipeline
TOKEN_COLOURS = {"fresh input": "#6b4fd6", "cache write": "#b49013", "cache read": "#3aa38f", "output": "#b5283d"}

MAX_MARKS = 2_000       # more makes the browser slow; a chart that leaves calls out says so
TEXT = 12               # pixels; the theme's own is smaller
EARLY = 0.2             # share of the width: a mark left of it has its words on its right
LAW_POINTS = 60         # a parabola drawn through this many points looks smooth

Calls = Mapping[str, Sequence["CallRow"]]    # shape -> its calls
Row = dict[str, Any]


# --- growth: cumulative tokens or dollars, call after call -----------------------------------------------------------


def growth_rows(calls: Calls, measure: str = "input", expected: tuple[float, float] | None = None) -> list[Row]:
    """One row per call that reported `measure` ("input" or "usd"), then the law's points and the crossover, per shape.

    `n` is the call's number, `total` the sum up to it. Calls without the figure are left out, never counted as 0.
    `expected` (calls, total) is what the axes have room for from the first call on, so that nothing rescales.
    """
    rows: list[Row] = []
    for shape, shape_calls in calls.items():
        points = _points(shape, shape_calls, measure)
        rows += thinned(points, MAX_MARKS // 4) + law_rows(shape, shape_calls, measure)
    if rows and expected:
        rows.append({"kind": "room", "shape": rows[0]["shape"], "step": "", "n": expected[0], "amount": None,
                     "total": expected[1]})
    widest = max((row["n"] for row in rows), default=0)
    return [{**row, "early": row["n"] < EARLY * widest} if row["kind"] == "crossover" else row for row in rows]


def _points(shape: str, calls: Sequence[CallRow], measure: str) -> list[Row]:
    rows, total = [], 0.0
    for call in calls:
        amount = growth.amount_of(call, measure)
        if amount is None or (call.error and not amount):       # refused, and billed as nothing
            continue
        total += amount
        rows.append({"kind": "call", "shape": shape, "step": call.step, "n": len(rows) + 1, "amount": amount,
                     "total": total})
    return rows


def law_rows(shape: str, calls: Sequence[CallRow], measure: str = "input") -> list[Row]:
    """Points of the law that the calls follow: c·N for labelled tickets, a·T + d·T(T−1)/2 for the turns of a loop."""
    law = growth.law_of(shape, calls, measure)
    if law is None:
        return []
    counts = thinned(range(law.n + 1), LAW_POINTS) if law.d else (0, law.n)
    rows = [_law_row(shape, n * law.calls / law.n, law.total(n)) for n in counts]
    if law.overtaken_from:
        rows.append({**_law_row(shape, law.even_at, law.total(law.even_at)), "kind": "crossover"})
    return rows


def _law_row(shape: str, n: float, total: float) -> Row:
    return {"kind": "law", "shape": shape, "step": "", "n": n, "amount": None, "total": total}


def growth_spec(measure: str = "input") -> dict[str, Any]:
    """Points and law on one pair of axes, a dashed mark where history overtakes the fixed part."""
    import altair as alt

    title, label = "cumulative input tokens", "format(datum.value, '~s')"
    if measure == "usd":
        title, label = "cumulative dollars", "'$' + format(datum.value, '~g')"
    base = alt.Chart().encode(
        x=alt.X("n:Q", title="number of calls", axis=axis(tickMinStep=1, grid=False)),
        y=alt.Y("total:Q", title=title, axis=axis(labelExpr=label, tickCount=5)),
        color=colour("shape", SHAPE_COLOURS),
    )
    exact = ",.0f" if measure == "input" else "$.6f"
    points = base.transform_filter("datum.kind == 'call'").mark_circle(size=34, opacity=0.9).encode(tooltip=[
        alt.Tooltip("shape:N"), alt.Tooltip("step:N"), alt.Tooltip("n:Q", title="call"),
        alt.Tooltip("amount:Q", title="this call", format=exact), alt.Tooltip("total:Q", title="so far", format=exact)])
    law = base.transform_filter("datum.kind == 'law'").mark_line(strokeWidth=2, opacity=0.55)
    room = base.transform_filter("datum.kind == 'room'").mark_point(opacity=0)
    return finished(alt.layer(law, points, room, *crossover(base)))


def crossover(base: Any) -> list[Any]:
    """Layers for rows of the kind "crossover": a dashed line and its words."""
    import altair as alt

    crossing = base.transform_filter("datum.kind == 'crossover'").encode(tooltip=[
        alt.Tooltip("n:Q", title="history has cost as much as the fixed part at turn", format=".1f")])
    cross_line = crossing.mark_rule(strokeDash=[4, 4], opacity=0.7).encode(y=alt.value(0), y2=alt.value("height"))
    return [cross_line, *(_crossing_words(crossing, early) for early in (False, True))]


def _crossing_words(crossing: Any, early: bool) -> Any:
    """Left of its line, where a rising curve has not been yet; on its right where the axis leaves no room."""
    import altair as alt

    side = {"align": "left", "dx": 6} if early else {"align": "right", "dx": -6}
    return crossing.transform_filter(f"datum.early == {str(early).lower()}").mark_text(
        baseline="top", fontSize=TEXT, **side).encode(
        y=alt.value(4), text=alt.value(["from here, history costs", "more than the fixed part"]))


# --- timeline: one bar per call --------------------------------------------------------------------------------------


def timeline_rows(calls: Calls) -> list[Row]:
    """One row per call, with start and end in seconds since that run's first call.

    `lane` is "pipeline 3", or just "agent" where one lane is enough.
    """
    rows = []
    for shape, shape_calls in calls.items():
        timed = sorted((c for c in shape_calls if c.seconds is not None), key=lambda c: c.started)
        lanes = assign_lanes([(c.started, c.started + c.seconds) for c in timed])
        alone = not any(lanes)
        names = [shape if alone else f"{shape} {lane + 1}" for lane in lanes]
        bars = [_bar(shape, lane, name, call, timed[0].started)
                for call, lane, name in zip(timed, lanes, names, strict=True)]
        rows += sorted(thinned(bars, MAX_MARKS // max(1, len(calls))), key=lambda r: r["number"])
    return rows


def assign_lanes(spans: Sequence[tuple[float, float]]) -> list[int]:
    """For spans in order of start: the first lane, from 0, that is free by then. Overlap decides, not thread names."""
    free_at: list[float] = []
    lanes = []
    for start, end in spans:
        lane = next((i for i, free in enumerate(free_at) if free <= start + 1e-6), len(free_at))
        free_at[lane:lane + 1] = [end]
        lanes.append(lane)
    return lanes


def _bar(shape: str, number: int, lane: str, call: CallRow, origin: float) -> Row:
    return {"shape": shape, "lane": lane, "number": number, "step": call.step,
            "start": call.started - origin, "end": call.started - origin + call.seconds, "seconds": call.seconds,
            "tokens": call.input, "attempts": call.attempts}


def timeline_spec() -> dict[str, Any]:
    import altair as alt

    chart = alt.Chart().mark_bar(cornerRadius=2, stroke=None).encode(
        x=alt.X("start:Q", title="seconds since the run's first call", axis=axis(grid=True)),
        x2="end:Q",
        y=alt.Y("lane:N", title=None, sort=None, scale=alt.Scale(paddingInner=0.25),
                axis=axis(labelOverlap=False)),
        color=colour("step", STEP_COLOURS),
        tooltip=[alt.Tooltip("lane:N"), alt.Tooltip("step:N"),
                 alt.Tooltip("start:Q", title="started at (s)", format=".2f"),
                 alt.Tooltip("seconds:Q", title="took (s)", format=".2f"),
                 alt.Tooltip("tokens:Q", title="input tokens", format=",.0f"),
                 alt.Tooltip("attempts:Q", title="times sent")])
    return finished(chart)


# --- where the tokens went -------------------------------------------------------------------------------------------


def token_rows(calls: Calls) -> list[Row]:
    """Reported tokens summed per shape, step and kind. A kind that no call reported has no row."""
    sums: dict[tuple[str, str, str], int] = {}
    for shape, shape_calls in calls.items():
        for call in shape_calls:
            for kind, tokens in _kinds(call).items():
                if tokens:
                    sums[shape, call.step, kind] = sums.get((shape, call.step, kind), 0) + tokens
    return [{"shape": shape, "step": step, "kind": kind, "tokens": tokens, "order": list(TOKEN_COLOURS).index(kind)}
            for (shape, step, kind), tokens in sums.items()]


def _kinds(call: CallRow) -> dict[str, int]:
    writes = (call.write_5m or 0) + (call.write_1h or 0)
    return {"fresh input": call.fresh or 0, "cache write": writes, "cache read": call.cache_read or 0,
            "output": call.output or 0}


def token_spec() -> dict[str, Any]:
    import altair as alt

    chart = alt.Chart().mark_bar(cornerRadius=2).encode(
        x=alt.X("tokens:Q", title="tokens", axis=axis(labelExpr="format(datum.value, '~s')")),
        y=alt.Y("step:N", title=None, sort=list(STEP_COLOURS), axis=axis(labelOverlap=False)),
        color=colour("kind", TOKEN_COLOURS),
        order=alt.Order("order:Q"),
        tooltip=[alt.Tooltip("step:N"), alt.Tooltip("kind:N"), alt.Tooltip("tokens:Q", format=",.0f")])
    return finished(chart)


# --- shared ----------------------------------------------------------------------------------------------------------


def thinned(rows: Sequence[Any], most: int) -> list[Any]:
    """At most `most` of `rows`, evenly spread, the first and the last among them."""
    if len(rows) <= most:
        return list(rows)
    step = (len(rows) - 1) / (most - 1)
    return [rows[round(i * step)] for i in range(most)]


def axis(**options: Any) -> Any:
    import altair as alt

    return alt.Axis(labelFontSize=TEXT, titleFontSize=TEXT, **options)


def colour(field: str, colours: Mapping[str, str]) -> Any:
    import altair as alt

    legend = alt.Legend(orient="top", title=None, symbolType="circle", symbolOpacity=1, symbolStrokeWidth=0,
                        labelFontSize=TEXT)
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Color(f"{field}:N", scale=scale, legend=legend)


def finished(chart: Any) -> dict[str, Any]:
    """The spec alone: altair names an empty data set where none was given, which would hide the caller's."""
    spec = chart.to_dict()
    for part in (spec, *spec.get("layer", ())):
        part.pop("data", None)
    for name in ("datasets", "config"):
        spec.pop(name, None)
    return spec
