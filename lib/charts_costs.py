"""Rows and specs of the four pictures of the Costs page. As in `charts`: specs hold no data, unknown is never 0."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from lib import charts
from lib.charts import Calls, Row
from lib.usage import growth
from lib.usage.prices import cost

if TYPE_CHECKING:
    from lib.runs.store import CallRow
    from lib.usage.what_if import WhatIf

KEPT, COMPACTED = "published: all kept", "published: compacted"
PUBLISHED = {"keep_all": KEPT, "compact_at_5000": COMPACTED}       # as the file calls them -> as the chart does
PUBLISHED_COLOURS = {KEPT: "#8a5cd1", COMPACTED: "#3f9d9e"}
PARTS = {       # field of a call -> what a bar of it is called, from the bottom up
    "fresh": "fresh input", "write_5m": "written for 5 min", "write_1h": "written for 1 h", "cache_read": "cache read",
    "output": "output"}
PART_COLOURS = {"fresh input": charts.TOKEN_COLOURS["fresh input"],
                "written for 5 min": charts.TOKEN_COLOURS["cache write"], "written for 1 h": "#806205",
                "cache read": charts.TOKEN_COLOURS["cache read"], "output": charts.TOKEN_COLOURS["output"]}
TIME_COLOURS = {"answering": "#7090b5", "waiting for a busy server": "#b5283d"}
BATCH = "pipeline, labels in batch"
SCALE_COLOURS = {"pipeline": charts.SHAPE_COLOURS["pipeline"], BATCH: "#7090b5", "agent": charts.SHAPE_COLOURS["agent"]}
MAX_BARS = 300          # per shape; more calls share a bar, which then shows their mean
CUT = 2.2               # times the recorded amount; a bar that is longer is cut, or the others could not be told apart
EXACT = {"input": ",.0f", "usd": "$.6f", "seconds": ",.1f"}
AXIS = {"input": "replace(format(datum.value, '~s'), 'G', 'B')",
        "usd": "'$' + replace(format(datum.value, datum.value < 10 ? '~g' : '~s'), 'G', 'B')",
        "seconds": "format(datum.value, ',')"}
# the first digit of a log axis' tick, all others of which crowd it
DIGIT = "round(datum.value / pow(10, floor(log(datum.value) / LN10 + 1e-9)))"
ROUND = {"few": f"indexof([1, 2, 5], {DIGIT}) >= 0", "decades": f"{DIGIT} == 1"}


# --- 1: cumulative, call after call ----------------------------------------------------------------------------------


def cumulative_rows(calls: Calls, measure: str) -> list[Row]:
    """Points, law and crossover of each shape, as `charts.growth_rows`. Seconds are those since the run's first call
    began, by which so many calls had ended: calls made at once share them, and no law is drawn."""
    if measure != "seconds":
        rows = charts.growth_rows(calls, measure)
        return rows + [_first(row) for row in rows if row["kind"] == "law" and row["shape"] == "pipeline" and row["n"]]
    return [row for shape, made in calls.items() for row in charts.thinned(_ended(shape, made), charts.MAX_MARKS // 4)]


def _first(law: Row) -> Row:
    """A straight line's point at 1, since a log axis has none at 0."""
    return {**law, "n": 1, "total": law["total"] / law["n"]}


def _ended(shape: str, calls: Sequence[CallRow]) -> list[Row]:
    began = min((call.started for call in calls), default=0.0)
    ordered = sorted(calls, key=lambda call: call.started + call.seconds)
    return [{"kind": "call", "shape": shape, "step": call.step, "n": n, "amount": call.seconds,
             "total": call.started + call.seconds - began} for n, call in enumerate(ordered, start=1)]


def published_rows(turns: Mapping[str, Sequence[tuple[int, int]]], measure: str,
                   price: Callable[[int, int], float | None]) -> list[Row]:
    """The published run as points, with the law of what kept all. What was compacted follows no one law: the turns
    before which it forgot are marked instead. `price` of (input, output) tokens. It has no seconds."""
    if measure == "seconds":
        return []
    rows: list[Row] = []
    for name, shape in PUBLISHED.items():
        amounts = [sent if measure == "input" else price(sent, output) for sent, output in turns.get(name, ())]
        if not amounts or None in amounts:
            continue
        rows += _published(shape, amounts, growth.resets([sent for sent, _ in turns[name]]))
    return rows


def _published(shape: str, amounts: Sequence[float], forgot: Sequence[int]) -> list[Row]:
    rows, total = [], 0.0
    for turn, amount in enumerate(amounts, start=1):
        total += amount
        rows.append({"kind": "reset" if turn in forgot else "call", "shape": shape, "step": "turn", "n": turn,
                     "amount": amount, "total": total})
    if forgot or (law := growth.fit(amounts)) is None:
        return rows
    counts = charts.thinned(range(len(amounts) + 1), charts.LAW_POINTS)
    return rows + [{"kind": "law", "shape": shape, "step": "", "n": n, "amount": None,
                    "total": growth.cumulative(law.a, law.d, n)} for n in counts]


def cumulative_spec(measure: str, log: bool, published: bool) -> Row:
    """Points and law; a dashed mark where history overtakes the fixed part, a diamond where a run forgot."""
    import altair as alt

    title = {"input": "cumulative input tokens", "usd": "cumulative dollars",
             "seconds": "seconds since the first call began"}[measure]
    scale = alt.Scale(type="log", nice=False) if log else alt.Scale()
    colours = {**charts.SHAPE_COLOURS, **(PUBLISHED_COLOURS if published else {})}
    counts = _rounded("format(datum.value, ',')", "few") if log else {}
    base = alt.Chart().transform_filter("datum.n > 0 && datum.total > 0" if log else "datum.n >= 0").encode(
        x=alt.X("n:Q", title="number of turns or calls", scale=scale,
                axis=charts.axis(tickMinStep=1, grid=False, **counts)),
        y=alt.Y("total:Q", title=title, scale=scale, axis=_amounts(measure, log)),
        color=charts.colour("shape", colours))
    this = "this call took (s)" if measure == "seconds" else "this call"
    hover = [alt.Tooltip("shape:N"), alt.Tooltip("step:N"), alt.Tooltip("n:Q", title="call"),
             alt.Tooltip("amount:Q", title=this, format=EXACT[measure]),
             alt.Tooltip("total:Q", title="so far", format=EXACT[measure])]
    law = base.transform_filter("datum.kind == 'law'").mark_line(strokeWidth=2, opacity=0.55)
    points = base.transform_filter("datum.kind == 'call'").mark_circle(size=34, opacity=0.9).encode(tooltip=hover)
    forgot = base.transform_filter("datum.kind == 'reset'").mark_point(
        shape="diamond", size=130, filled=True, opacity=1).encode(
        tooltip=[hover[0], alt.Tooltip("n:Q", title="the conversation was summarised before turn"), *hover[3:]])
    return charts.finished(alt.layer(law, points, forgot, *charts.crossover(base)))


# --- 2: what each call is made of ------------------------------------------------------------------------------------


def composition_rows(calls: Sequence[CallRow], measure: str, prices: Mapping[str, Any]) -> list[Row]:
    """A bar per call (or per so many neighbours, their mean), one row per part, lying upon each other from `low` to
    `high`. Calls that did not report the figure, or have no price, have no bar."""
    told = [(n, call, parts) for n, call in enumerate(sorted(calls, key=lambda c: c.started), start=1)
            if (parts := _parts(call, measure, prices)) is not None]
    size = -(-len(told) // MAX_BARS) or 1
    return [row for at in range(0, len(told), size) for row in _bar(told[at:at + size])]


def _parts(call: CallRow, measure: str, prices: Mapping[str, Any]) -> dict[str, float] | None:
    if measure == "seconds":
        return dict(zip(TIME_COLOURS, (call.seconds - call.waited, call.waited), strict=True))
    tokens = {name: getattr(call, field) for field, name in PARTS.items()}
    if None in tokens.values():
        return None
    return tokens if measure == "input" else _dollars(call, tokens, prices)


def _dollars(call: CallRow, tokens: Mapping[str, int], prices: Mapping[str, Any]) -> dict[str, float] | None:
    """Each part at the rate that holds for a prompt of the call's length."""
    nothing = dict.fromkeys(("fresh", "write_5m", "write_1h", "read", "output"), 0)
    length = call.input or 1
    prompt = cost(prices, call.model, **{**nothing, "fresh": length})
    with_reply = cost(prices, call.model, **{**nothing, "fresh": length, "output": call.output})
    if call.usd is None or prompt is None or with_reply is None:
        return None
    found = {PARTS["output"]: with_reply - prompt}
    for field, name in list(PARTS.items())[:-1]:
        whole = cost(prices, call.model, **{**nothing, field.removeprefix("cache_"): length}) if tokens[name] else 0.0
        if whole is None:
            return None
        found[name] = whole * tokens[name] / length
    return {name: found[name] for name in PARTS.values()}


def _bar(group: Sequence[tuple[int, CallRow, Mapping[str, float]]]) -> list[Row]:
    first, last, share = group[0][0], group[-1][0], 1 / len(group)
    steps = ", ".join(dict.fromkeys(call.step for _, call, _ in group))
    thoughts = [call.thinking for _, call, _ in group if call.thinking is not None]
    told = {"call": f"{first:,}" if first == last else f"{first:,} to {last:,}, mean", "step": steps,
            "from": first - 0.45, "to": last + 0.45, "thinking": sum(thoughts) / len(thoughts) if thoughts else None}
    means = {name: sum(parts[name] for *_, parts in group) * share for name in group[0][2]}
    rows, low, whole = [], 0.0, sum(means.values())
    for name, amount in means.items():
        if amount:
            rows.append({**told, "part": name, "amount": amount, "low": low, "high": low + amount, "whole": whole})
            low += amount
    return rows


def composition_spec(shape: str, measure: str) -> Row:
    import altair as alt

    title = {"input": "tokens of one call", "usd": "dollars of one call", "seconds": "seconds of one call"}[measure]
    colours = TIME_COLOURS if measure == "seconds" else PART_COLOURS
    hover = [alt.Tooltip("call:N"), alt.Tooltip("step:N"), alt.Tooltip("part:N"),
             alt.Tooltip("amount:Q", title="of this part", format=EXACT[measure]),
             alt.Tooltip("whole:Q", title="of the call", format=EXACT[measure]),
             alt.Tooltip("thinking:Q", title="thinking, part of output", format=",.0f")]
    chart = alt.Chart().mark_bar(stroke=None).encode(
        x=alt.X("from:Q", title="turn" if shape == "agent" else "call, as they began", scale=alt.Scale(nice=False),
                axis=charts.axis(tickMinStep=1, grid=False, format=",.0f")),
        x2="to:Q",
        y=alt.Y("low:Q", title=title, axis=_amounts(measure)), y2="high:Q",
        color=charts.colour("part", colours), tooltip=hover)
    return charts.finished(chart)


# --- 3: the what-if ladder -------------------------------------------------------------------------------------------


def ladder_rows(rungs: Sequence[tuple[str, WhatIf]], measure: str, show: Callable[[float | None], str],
                log: bool = False) -> list[Row]:
    """One row per rung, as recorded first. `amount` is what it takes, `bar` what is drawn of it (see CUT), `at` where
    its words stand and `room` how far they may reach. A rung that promises no figure, or has no price for some call,
    has no bar and says so."""
    amounts = [amount_of(found, measure) for _, found in rungs]
    recorded = amounts[0] if amounts else None
    most = CUT * recorded if recorded and not log else inf
    rows = []
    for place, ((name, found), amount) in enumerate(zip(rungs, amounts, strict=True)):
        bar = None if amount is None else min(amount, most)
        at = bar or (recorded if log else 0.0)
        rows.append({"place": place, "name": name, "amount": amount, "bar": bar, "at": at,
                     "room": at and at * (2.5 if log else 1.5), "recorded": place == 0,
                     "label": _label(amount, recorded if place else None, most, show, measure),
                     "input": found.input, "output": found.output, "usd": None if found.unpriced else found.usd,
                     "seconds": found.seconds, "notes": found.notes, "note": " ".join(found.notes)})
    return rows


def amount_of(found: WhatIf, measure: str) -> float | None:
    """Input tokens, dollars or seconds; None where they are not known for every call."""
    if measure == "usd":
        return None if found.unpriced else found.usd
    return found.input if measure == "input" else found.seconds


def _label(amount: float | None, recorded: float | None, most: float, show: Callable[[float | None], str],
           measure: str) -> str:
    if amount is None:
        return "no time is promised" if measure == "seconds" else show(None)
    arrow = " →" if amount > most else ""
    if not recorded:
        return f"{show(amount)}{arrow}"
    change = amount / recorded - 1
    if abs(change) < 0.005:
        return f"{show(amount)} · the same"
    told = f"{amount / recorded:.2g} ×" if change >= 1 else f"{change:+.0%}".replace("-", "−").replace("%", " %")
    return f"{show(amount)} · {told}{arrow}"


def ladder_spec(shape: str, measure: str, log: bool) -> Row:
    """Bars; dots on a log axis, which has no zero for a bar to begin at."""
    import altair as alt

    title = {"input": "input tokens", "usd": "dollars", "seconds": "seconds, first call to last"}[measure]
    scale = alt.Scale(type="log", padding=30, nice=False) if log else alt.Scale(zero=True, nice=False)
    base = alt.Chart().encode(
        x=alt.X("bar:Q", title=title, scale=scale, axis=_amounts(measure, log)),
        y=alt.Y("name:N", title=None, sort=alt.EncodingSortField("place", op="min"),
                scale=alt.Scale(paddingInner=0.3),
                axis=charts.axis(labelLimit=230, labelOverlap=False, ticks=False, domain=False)),
        tooltip=[alt.Tooltip("name:N", title="policy"), alt.Tooltip("input:Q", title="input tokens", format=",.0f"),
                 alt.Tooltip("output:Q", title="output tokens", format=",.0f"),
                 alt.Tooltip("usd:Q", title="dollars", format="$.6f"),
                 alt.Tooltip("seconds:Q", title="seconds", format=",.1f"), alt.Tooltip("note:N", title="note")])
    colour = charts.SHAPE_COLOURS[shape]
    bars = base.mark_circle(size=130, color=colour) if log else base.mark_bar(cornerRadiusEnd=2, color=colour)
    words = base.mark_text(align="left", baseline="middle", dx=12 if log else 6, fontSize=charts.TEXT).encode(
        x="at:Q", text="label:N")
    room = base.mark_point(opacity=0).encode(x="room:Q", tooltip=alt.value(None))
    return charts.finished(alt.layer(
        bars.encode(opacity=alt.condition("datum.recorded", alt.value(1.0), alt.value(0.5))), words, room))


# --- 4: at another scale ---------------------------------------------------------------------------------------------


def scale_rows(found: Iterable[Any], measure: str) -> list[Row]:
    """Points of the forecast; the pipeline once more with its labels in a batch, in dollars. `fits` is false from where
    the agent's conversation is longer than its model's window; no line leads there. `mark` says what begins where."""
    rows: list[Row] = []
    for each in found:
        amounts = {each.shape: {"input": each.input, "usd": each.usd, "seconds": each.seconds}[measure]}
        if measure == "usd" and each.shape == "pipeline":
            amounts[BATCH] = each.usd_batch
        told = {name: getattr(each, name) for name in ("tickets", "calls", "input", "output", "usd", "usd_batch",
                                                       "seconds", "fits", "stepped", "note")}
        rows += [{"series": series, "amount": amount, **told, "mark": ""}
                 for series, amount in amounts.items() if amount]
    _mark(rows, "the window ends", lambda row: not row["fits"])
    if measure == "usd":
        _mark(rows, "a token costs more from here", lambda row: row["stepped"] and row["fits"])
    return rows


def _mark(rows: list[Row], words: str, begins: Callable[[Row], bool]) -> None:
    """Puts the words on the first point of each series that they hold for; the pipeline's batch stands beside it."""
    for series in dict.fromkeys(row["series"] for row in rows if row["series"] != BATCH):
        found = [row for row in rows if row["series"] == series and begins(row)]
        if found:
            min(found, key=lambda row: row["tickets"])["mark"] = words


def scale_spec(measure: str) -> Row:
    """Log on both axes: what grows with the tickets is a straight line, what grows with their square a steeper one."""
    import altair as alt

    title = {"input": "input tokens", "usd": "dollars", "seconds": "seconds"}[measure]
    series = {name: colour for name, colour in SCALE_COLOURS.items() if measure == "usd" or name != BATCH}
    base = alt.Chart().encode(
        x=alt.X("tickets:Q", title="number of tickets", scale=alt.Scale(type="log", padding=20, nice=False),
                axis=charts.axis(grid=False, **_rounded("format(datum.value, ',')", "few"))),
        y=alt.Y("amount:Q", title=title, scale=alt.Scale(type="log", padding=20, nice=False),
                axis=_amounts(measure, True, "decades")),
        color=charts.colour("series", series),
        tooltip=[alt.Tooltip("series:N", title="shape"), alt.Tooltip("tickets:Q", format=","),
                 alt.Tooltip("calls:Q", format=","), alt.Tooltip("input:Q", title="input tokens", format=",.0f"),
                 alt.Tooltip("output:Q", title="output tokens", format=",.0f"),
                 alt.Tooltip("usd:Q", title="dollars", format="$,.4f"),
                 alt.Tooltip("usd_batch:Q", title="dollars, labels in batch", format="$,.4f"),
                 alt.Tooltip("seconds:Q", title="seconds", format=",.0f"), alt.Tooltip("note:N", title="note")])
    fitting = base.transform_filter("datum.fits")
    lines = [fitting.transform_filter(f"datum.series {'==' if dash else '!='} '{BATCH}'").mark_line(
        strokeWidth=2, opacity=0.7, strokeDash=dash) for dash in ([], [5, 4])]
    points = fitting.mark_circle(size=70, opacity=1)
    beyond = base.transform_filter("!datum.fits").mark_point(
        shape="cross", angle=45, size=70, filled=True, opacity=0.55)
    words = base.transform_filter("datum.mark").mark_text(align="right", dx=-10, dy=-6, fontSize=charts.TEXT).encode(
        text="mark:N")
    return charts.finished(alt.layer(*lines, points, beyond, words))


# --- shared ----------------------------------------------------------------------------------------------------------


def _amounts(measure: str, log: bool = False, which: str = "few") -> Any:
    return charts.axis(**(_rounded(AXIS[measure], which) if log else {"labelExpr": AXIS[measure], "tickCount": 5}))


def _rounded(words: str, which: str) -> Row:
    """Labels and lines of a log axis, at round numbers only."""
    seen = {"condition": {"test": ROUND[which], "value": 1}, "value": 0}
    return {"labelExpr": f"{ROUND[which]} ? {words} : ''", "gridOpacity": seen, "tickOpacity": seen}
