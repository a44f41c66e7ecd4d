"""Before a run: what it will roughly send and cost, in one line, step by step, and counted by who will answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import streamlit as st

from lib.design import Design
from lib.errors import PlaygroundError
from lib.phrases import plural
from lib.tickets.visible import visible
from lib.ui import connection, live, own_prices, state
from lib.ui import format as fmt

LABELS = {"label": "the prompt of the first ticket", "agent": "the first request of the agent"}
STEP_OF = {"pipeline": "label", "agent": "agent"}      # whose first request can be counted before a run


def line(shapes: list[str]) -> str:
    """"will send ≈ pipeline 36k (34k–41k) tokens · $0.007 · 29 s" and the agent's below it, as markdown."""
    if not shapes:
        return "Choose a shape to run."
    told = {shape: f for shape, f in _told(shapes).items() if f.input_tokens is not None}
    costs = [f.usd for f in told.values()]
    replayed = connection.choice().source == "replay"
    verb = "would send" if replayed else "will send"
    lines = [f":gray[{verb} ≈] :{live.COLOUR[shape]}[**{shape}**] {_figures(f, costs)}" for shape, f in told.items()]
    mine = own_prices.set_by_person(*_prices()) if told else []
    ends = [f"prices {own_prices.MINE}"] * bool(mine) + ["a replay: nothing is sent or paid"] * bool(replayed and told)
    return "  \n".join(lines) + "".join(f" :gray[· {end}]" for end in ends)


def _figures(forecast: Any, costs: list[float | None]) -> str:
    return fmt.escaped(f"{fmt.short(forecast.input_tokens)}{_range(forecast)} tokens · "
                       f"{fmt.dollars(forecast.usd, beside=costs)} · {fmt.seconds(forecast.seconds)}")


def _range(forecast: Any) -> str:
    if forecast.low is None:
        return ""
    return f" ({between(forecast.low.input, forecast.high.input)})"


def between(low: float, high: float) -> str:
    """(33_612, 40_950) -> "33k–41k": two digits of each, rounded away from each other."""
    return f"{fmt.short(_two_digits(low, math.floor))}–{fmt.short(_two_digits(high, math.ceil))}"


def _two_digits(number: float, to_whole: Any) -> float:
    unit = 10 ** max(0, math.floor(math.log10(number)) - 1) if number >= 1 else 1
    return to_whole(number / unit) * unit


def notes(page: str, shapes: list[str]) -> None:
    """What would end a run early; a model's name in it is the person's own text. And what was counted."""
    found = [f"⚠ {shape}: {visible(f.note)}" for shape, f in _told(shapes).items() if f.note]
    lines = found + _counted()
    if lines:
        with st.container(key=f"{page}_notes", gap="xsmall"):
            for each in lines:
                st.text(each)


# --- step by step ----------------------------------------------------------------------------------------------------


def details(page: str, shapes: list[str]) -> None:
    """Per shape a table of its steps, its range and why it is one; beside it the exact count, where one can be had."""
    told = {shape: f for shape, f in _told(shapes).items() if f.steps}
    if not told:
        return
    with st.popover("Per step", key=f"{page}.per_step", help="the estimate step by step, its range, and why"):
        for shape, forecast in told.items():
            _steps(shape, forecast)
        st.text(_prices_line())
    if _countable():
        st.button("Count exactly (free)", key=f"{page}.count", icon=":material/123:", on_click=_count, args=(shapes,),
                  help="Asks who will answer how many tokens the first requests are. That costs nothing, and says how "
                       "far the estimate is off.")


def _steps(shape: str, forecast: Any) -> None:
    low, high = forecast.low, forecast.high
    st.markdown(f"**:{live.COLOUR[shape]}[{shape.capitalize()}]** :gray[estimated, "
                f"{fmt.seconds(low.seconds)} to {fmt.seconds(high.seconds)}]")
    st.markdown(_table(forecast))
    st.markdown("  \n".join(f":small[:gray[· {reason}]]" for reason in forecast.reasons))


def _table(forecast: Any) -> str:
    """As markdown; all of its words are ours."""
    low, high = forecast.low, forecast.high
    costs = [low.usd, high.usd, *(step.usd for step in forecast.steps)]
    rows = [(step.step, f"{step.calls:,}", f"{step.input:,}", f"{step.output:,}", fmt.dollars(step.usd, beside=costs))
            for step in forecast.steps]
    if len(rows) > 1:
        rows.append(("all", f"{forecast.calls:,}", f"{forecast.input_tokens:,}", f"{forecast.output_tokens:,}",
                     fmt.dollars(forecast.usd, beside=costs)))
    ends = fmt.NO_PRICE if high.usd is None else "–".join(fmt.dollars(end.usd, beside=costs) for end in (low, high))
    rows.append(("range", _ends(low.calls, high.calls), _ends(low.input, high.input), _ends(low.output, high.output),
                 ends))
    head = ["| step | calls | input | output | dollars |", "|---|---:|---:|---:|---:|"]
    return fmt.escaped("\n".join([*head, *(f"| {' | '.join(row)} |" for row in rows)]))


def _ends(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def _prices_line() -> str:
    """"Prices of 2026-11-30: genai-prices 0.2.3.", and which models have another source, or none."""
    prices, models = _prices()
    found = own_prices.sources(prices, models)
    told = [source if len(found) == 1 else f"{', '.join(names)}: {source}" for source, names in found.items()]
    missing = " A price can be set on the Design page." if fmt.NO_PRICE in found else ""
    return f"Prices of {prices['date']}: {visible('; '.join(told))}.{missing}"


def _prices() -> tuple[dict[str, Any], list[str]]:
    """What the next run would keep, and the models of its design."""
    design, _ = state.design()
    return own_prices.upcoming(design), sorted({step.model for step in design.steps.values()})


def _told(shapes: list[str]) -> dict[str, Any]:
    data, (design, _) = state.data(), state.design()
    if not len(data.tickets):
        return {}
    found = live.forecast(design, data, own_prices.upcoming(design))
    return {shape: found[shape] for shape in state.SHAPES if shape in shapes}


# --- counted ---------------------------------------------------------------------------------------------------------


def _countable() -> bool:
    """Simulated counts are estimates themselves; and a server that cannot count is not asked again."""
    chosen = connection.choice()
    return chosen.source in ("live", "server") and not chosen.problem and chosen.name not in _unable()


def _unable() -> set[str]:
    return st.session_state.setdefault("_cannot_count", set())


def _counted() -> list[str]:
    """What was counted for just this design, data and connection."""
    about, lines = st.session_state.get("_counted", (None, []))
    return lines if about == _about() else []


def _about() -> tuple[str, str, str]:
    return state.design()[0].version, state.data().id, connection.choice().name


@state.told
def _count(shapes: Sequence[str]) -> None:
    try:
        lines = _count_first(shapes, state.design()[0], state.data())
    except PlaygroundError as error:
        lines = [f"✕ Not counted: {visible(str(error))}"]
    st.session_state["_counted"] = (_about(), lines)


def _count_first(shapes: Sequence[str], design: Design, data: state.Data) -> list[str]:
    from lib.client.count import count_tokens
    from lib.task.forecast import first_requests
    from lib.usage.tokens import estimate_request

    chosen, requests = connection.choice(), first_requests(design, data.tickets)
    wire = chosen.connect()
    try:
        asked = {step: requests[step] for shape in shapes for step in [STEP_OF[shape]]}
        counts = {step: count_tokens(wire, request) for step, request in asked.items()}
    finally:
        wire.close()
    if None in counts.values():
        _unable().add(chosen.name)
        return [f"{visible(chosen.name)} does not count tokens; what it reports during a run replaces the estimate."]
    return [f"Counted by {visible(chosen.name)}: " + " · ".join(
        f"{LABELS[step]} {plural(count, 'token')}, estimated {estimate_request(asked[step]):,} "
        f"({off(estimate_request(asked[step]), count)})" for step, count in counts.items())]


def off(told: float, actual: float) -> str:
    """(103, 100) -> "3 % too high"; (100, 100.01) -> "exactly right"."""
    share = told / actual - 1 if actual else 0.0
    if told == actual or not actual:
        return "exactly right"
    size = abs(100 * share)
    return f"{size:.0f} % too {'high' if share > 0 else 'low'}" if size >= 9.5 else (
        f"{size:.1f} % too {'high' if share > 0 else 'low'}")
