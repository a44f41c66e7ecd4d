"""A group of runs as it goes: one panel per shape and the growth chart, polled while anything is at work.

Everything shown is read from the store, so a refresh, another page or another tab sees the same.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from lib import charts
from lib.errors import StoreError
from lib.runs.store import CallRow, Run, Totals
from lib.tickets.visible import visible
from lib.ui import compare, connection, state
from lib.ui import format as fmt

POLL = 0.7              # seconds between two looks at the store
CHART_HEIGHT = 300      # pixels, also before there is anything to draw
LINES_HEIGHT = 56       # pixels: two lines, so that a reason does not move the page
MEASURES = {"input": "Tokens", "usd": "Dollars"}
COLOUR = {"pipeline": "blue", "agent": "orange"}
STORIES = {"pipeline": "label, merge, count, summarise", "agent": "one loop with tools"}


def live(page: str) -> None:
    """Panels and chart of the desk's runs. They have their place and size before the first run too."""
    active = any(state.is_active(r) for r in state.group())
    with st.container(key=f"{page}_live"):      # subtle: a polling fragment needs a container of its own
        st.fragment(_live, run_every=POLL if active else None)(page, active)


def _live(page: str, was_active: bool) -> None:
    try:
        _draw(page, was_active)
    except StoreError as error:     # a polling fragment has no page around it that could say so
        st.text(f"✕ {error}")


def _draw(page: str, was_active: bool) -> None:
    found = state.group()
    if was_active and not any(state.is_active(r) for r in found):
        st.rerun()      # once, to be drawn without polling and with the answer below
    by_shape = {r.shape: r for r in found}
    for column, shape in zip(st.columns(2), state.SHAPES, strict=True):
        with column:
            panel(page, shape, by_shape.get(shape))
    growth(page, found)


# --- one panel -------------------------------------------------------------------------------------------------------


def panel(page: str, shape: str, run: Run | None) -> None:
    totals = state.store().totals(run.id) if run else None
    with st.container(border=True, key=f"{page}_panel_{shape}", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", height=40,
                          border=False):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(f"**:{COLOUR[shape]}[{shape.capitalize()}]** :gray[{_headline(run)}]", width="content")
                if run:
                    connection.badge(run.source)
            if run:
                _button(page, run)
        share, text = _progress(run, totals)
        st.progress(share, text=text)
        _figures(run, totals)
        with st.container(height=LINES_HEIGHT, border=False):
            st.text(_line(shape, run))


def _headline(run: Run | None) -> str:
    if run is None:
        return ""
    if state.is_stopping(run):
        return "stopping …"
    return "connecting …" if run.status == "queued" else run.status


def _button(page: str, run: Run) -> None:
    if not state.is_mine(run):
        return
    if state.is_active(run):
        st.button("Stop", key=f"{page}.stop.{run.shape}", icon=":material/stop_circle:", on_click=state.stop_run,
                  args=(run.id,), disabled=state.is_stopping(run),
                  help="No further call is sent. Calls in flight end and are counted.")
    elif run.status in ("stopped", "failed", "interrupted"):
        obstacle = connection.why_not_resumed(run)
        st.button("Resume", key=f"{page}.resume.{run.shape}", icon=":material/resume:", on_click=_resume, args=(run,),
                  disabled=bool(obstacle),
                  help=obstacle or "Goes on where it ended; calls that are finished are not paid again.")


def _resume(run: Run) -> None:
    if not connection.why_not_resumed(run):
        state.resume_run(run.id, connection.choice())


def _progress(run: Run | None, totals: Totals | None) -> tuple[float, str]:
    if run is None:
        return 0.0, "not run yet"
    if run.shape == "agent":
        most = run.design["limits"]["max_turns"]
        text = fmt.plural(totals.calls, "turn") if run.status == "done" else f"turn {totals.calls} of ≤ {most}"
        return _share(totals.calls, most, run), text
    expected = _expected_calls(run)
    if totals.calls > expected:     # bad replies were sent back
        return _share(totals.calls, expected, run), f"{totals.calls:,} calls, {expected:,} without retries"
    return _share(totals.calls, expected, run), f"{totals.calls:,} of {expected:,} calls"


def _share(done: int, of: int, run: Run) -> float:
    return 1.0 if run.status == "done" else min(0.99, done / max(1, of))


def _expected_calls(run: Run) -> int:
    data = state.stored_data(run.data_id)
    return (len(data.tickets) if data else 0) + 1 + run.design["k"]


def _figures(run: Run | None, totals: Totals | None) -> None:
    figures = _values(totals) if totals and totals.calls else [("input tokens", "–", None), ("cost", "–", None),
                                                                ("time", "–", None)]
    for column, (label, value, exact) in zip(st.columns([3, 3, 3]), figures, strict=True):
        column.metric(label, value, help=exact)


def _values(totals: Totals) -> list[tuple[str, str, str | None]]:
    tokens = f"{fmt.exact(totals.input)} input and {fmt.exact(totals.output)} output tokens, as reported"
    if totals.unreported:
        tokens += f"; {fmt.plural(totals.unreported, 'call')} did not report theirs"
    cost = fmt.escaped(fmt.exact_dollars(totals.usd))
    if totals.unpriced:
        cost += f"; {fmt.plural(totals.unpriced, 'call')} without a price"
    duration = elapsed(totals)
    return [("input tokens", fmt.short(totals.input), tokens), ("cost", fmt.dollars(totals.usd), cost),
            ("time", fmt.seconds(duration), "from the first call to the end of the last, on the run's own clock")]


def elapsed(totals: Totals) -> float | None:
    if totals.first_started is None or totals.last_ended is None:
        return None
    return totals.last_ended - totals.first_started


def _line(shape: str, run: Run | None) -> str:
    """One line under the figures: the reason of an end, or what the shape does."""
    return visible(run.error) if run and run.error else STORIES[shape]


# --- the chart -------------------------------------------------------------------------------------------------------


def growth(page: str, found: list[Run]) -> None:
    """Cumulative tokens or dollars of all runs of the group, with the law drawn through the points."""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        measure = st.segmented_control("What grows", list(MEASURES), format_func=MEASURES.get, required=True,
                                       default="input", key=f"{page}.measure", label_visibility="collapsed")
        st.caption("points: calls · lines: the law", width="content",
                   help="An agent resends everything said before, so T turns cost a·T + d·T(T−1)/2 input tokens: a is "
                        "what every turn resends, d what a turn adds. A pipeline's N calls cost c·N.")
    measure = measure or "input"
    calls = calls_of(found)
    with st.container(height=CHART_HEIGHT, border=False, key=f"{page}_chart"):
        if any(calls.values()):
            st.vega_lite_chart(rows_frame(charts.growth_rows(calls, measure)), growth_spec(measure),
                               height=CHART_HEIGHT, key=f"{page}.growth.{measure}",
                               alt=f"Cumulative {MEASURES[measure].lower()} after each call, for each shape")
        else:
            st.space(CHART_HEIGHT // 3)
            st.caption("The chart grows here, call by call.", text_alignment="center")
    for line in compare.law_lines(calls, measure):
        st.text(line or " ")


def rows_frame(rows: list[dict[str, Any]]) -> Any:
    import pandas

    return pandas.DataFrame(rows)


@st.cache_resource(show_spinner=False)
def growth_spec(measure: str) -> dict[str, Any]:
    return charts.growth_spec(measure)


@st.cache_resource(show_spinner=False)
def timeline_spec() -> dict[str, Any]:
    return charts.timeline_spec()


@st.cache_resource(show_spinner=False)
def token_spec() -> dict[str, Any]:
    return charts.token_spec()


# --- shared with the other parts of a run's page ---------------------------------------------------------------------


def outcome(run: Run) -> compare.Outcome:
    totals = state.store().totals(run.id)
    return compare.Outcome(run.shape, state.report(run), totals.calls, totals.input, totals.output, totals.usd)


def calls_of(runs: list[Run]) -> dict[str, list[CallRow]]:
    return {r.shape: state.calls(r.id) for r in runs}
