"""A group of runs as it goes: one panel per shape and the growth chart, polled while anything is at work.

Everything shown is read from the store, so a refresh, another page or another tab sees the same.
"""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from lib import charts
from lib.design import Design
from lib.errors import DesignError, StoreError
from lib.phrases import plural
from lib.runs import calls_behind
from lib.runs.store import CallRow, Run, Totals
from lib.task.report import Report
from lib.tickets import TicketSet
from lib.tickets.visible import visible
from lib.ui import also_running, compare, connection, drawings, go_to, own_prices, resume, sent_back, state
from lib.ui import format as fmt
from lib.usage.growth import turns_of

POLL = 0.7              # seconds between two looks at the store
CHART_HEIGHT = {"start": 250, "run": 300}   # pixels, also before there is anything to draw
LINES_HEIGHT = 66       # pixels: three lines, so that a reason does not move the page
MEASURES = {"input": "Tokens", "usd": "Dollars"}
COLOUR = drawings.COLOUR
FIGURES = ("input tokens", "cost", "time")
FORMULA = (
    "An agent resends everything said before, so T turns cost a·T + d·T(T−1)/2 input tokens: a is what every turn "
    "resends (instructions, tools, question), d what a turn adds. A pipeline's calls know nothing of each other: N "
    "tickets cost c·N.")
STORIES = {"pipeline": "label, merge, count, summarise", "agent": "one loop with tools"}


def live(page: str) -> None:
    """Panels and chart of the desk's runs. They have their place and size before the first run too."""
    drawn = _drawn()
    with st.container(key=f"{page}_live"):      # subtle: a polling fragment needs a container of its own
        st.fragment(_live, run_every=POLL if any(drawn[1:]) else None)(page, drawn)


def _live(page: str, drawn: tuple[str, bool, bool]) -> None:
    try:
        _draw(page, drawn)
    except StoreError as error:     # a polling fragment has no page around it that could say so
        st.text(f"✕ {error}")


def _draw(page: str, drawn: tuple[str, bool, bool]) -> None:
    if drawn != _drawn() or state.in_trouble():
        st.rerun()      # once: polling begins with a resumed run; it stops, and the answer is drawn, with the last one
    found = state.group()
    also_running.line(page)
    by_shape = {r.shape: r for r in found}
    for column, shape in zip(st.columns(2), state.SHAPES, strict=True):
        with column:
            _panel(page, shape, by_shape.get(shape), [state.store().totals(r.id).usd for r in found])
    resume.question(page, found)
    growth(page, found)


def _drawn() -> tuple[str, bool, bool]:
    """Which runs are shown, whether any of them is at work, and any other: the page around the panels is drawn for it.
    """
    return state.shown_group(), any(state.is_active(r) for r in state.group()), bool(state.others_at_work())


# --- one panel -------------------------------------------------------------------------------------------------------


def _panel(page: str, shape: str, run: Run | None, costs: list[float | None]) -> None:
    """`costs` of all panels: they are read side by side."""
    totals = state.store().totals(run.id) if run else None
    share, text = _progress(run, totals)
    with st.container(border=True, key=f"{page}_panel_{shape}", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute",
                          key=f"{page}_head_{shape}"):
            with st.container(horizontal=True, vertical_alignment="center", gap="small", width="stretch"):
                if page == "start":
                    drawings.small(shape)
                st.markdown(f"**:{COLOUR[shape]}[{shape.capitalize()}]** {_headline(run)} :gray[{text}]",
                            width="content")
                if run:
                    connection.badge(run.source)
            if run:
                _button(page, run)
        st.progress(share)
        _figures(run, totals, costs)
        with st.container(height=LINES_HEIGHT, border=False, key=f"{page}_line_{shape}"):
            _line(page, shape, run, totals)


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
    elif run.status in resume.ENDED:
        resume.button(page, run)
    elif (found := report(run)) and found.failed:
        resume.button(page, run, len(found.failed))


def _progress(run: Run | None, totals: Totals | None) -> tuple[float, str]:
    if run is None:
        return 0.0, "not run yet"
    if run.shape == "agent":
        most = run.design["limits"]["max_turns"]
        text = plural(totals.calls, "turn") if run.status == "done" else f"turn {totals.calls} (limit {most})"
        return _share(totals.calls, most, run), text
    again = _sent_again(state.calls(run.id)) if totals.calls else 0
    answers = totals.calls - totals.errors - again
    expected = answers if run.status == "done" else max(answers, _expected_calls(run))
    text = f"{answers:,} of {expected:,} " + (f"answers · {again:,} sent again" if again else "calls")
    return _share(answers, expected, run), text + (f" · {totals.errors:,} failed" if totals.errors else "")


def _sent_again(calls: list[CallRow]) -> int:
    """Answered calls of the pipeline beside the one that a ticket or a summary needs."""
    once = [(c.step, c.subject) for c in calls if c.step != "merge" and not c.error]
    return len(once) - len(set(once))


def _share(done: int, of: int, run: Run) -> float:
    return 1.0 if run.status == "done" else min(0.99, done / max(1, of))


def _expected_calls(run: Run) -> int:
    data = state.stored_data(run.data_id)
    return (len(data.tickets) if data else 0) + 1 + run.design["k"]


def _figures(run: Run | None, totals: Totals | None, costs: list[float | None]) -> None:
    answered = totals and totals.calls > totals.errors
    figures = _values(run, totals, costs) if answered else [(label, "–", None) for label in _labels(run)]
    for column, (label, value, exact) in zip(st.columns(3), figures, strict=True):
        column.metric(label, value, help=exact)


def _values(run: Run, totals: Totals, costs: list[float | None]) -> list[tuple[str, str, str | None]]:
    tokens = (f"{fmt.exact(totals.input)} input (fresh + written to the cache + read from it) and "
              f"{fmt.exact(totals.output)} output tokens, as reported")
    if totals.unreported:
        tokens += f"; {plural(totals.unreported, 'call')} did not report theirs, so it is more"
    cost = fmt.escaped(fmt.exact_dollars(totals.usd))
    if totals.unpriced:
        cost += f"; {plural(totals.unpriced, 'call')} without a price, so it is more"
    if own_prices.set_by_person(run.prices, run.prices.get("models", {})):
        cost += f"; at a price {own_prices.MINE}"
    shown = (fmt.at_least(fmt.short(totals.input), totals.unreported),
             fmt.at_least(fmt.dollars(totals.usd, beside=costs), totals.unpriced), fmt.seconds(elapsed(totals)))
    told = (tokens, cost, "from the first call to the end of the last, on the run's own clock")
    return list(zip(_labels(run), shown, told, strict=True))


def _labels(run: Run | None) -> list[str]:
    """A replay costs nothing: its dollars are what it would list."""
    replayed = run is not None and run.source == "replay"
    return ["would list" if replayed and name == "cost" else name for name in FIGURES]


def elapsed(totals: Totals) -> float | None:
    if totals.first_started is None or totals.last_ended is None:
        return None
    return totals.last_ended - totals.first_started


def _line(page: str, shape: str, run: Run | None, totals: Totals | None) -> None:
    """Under the figures: what the shape does, or how the run ended, what of it was free, and the call that failed."""
    if run is None:
        st.text(STORIES[shape])
        return
    failed = calls_behind.failed_call(run.error, state.calls(run.id)) if run.status == "failed" else None
    free = f"{totals.cached:,} of {plural(totals.calls, 'call')} from earlier replies: free." if totals.cached else ""
    told = " ".join(filter(None, (visible(run.error), free, resume.line(run, totals))))
    with st.container(horizontal=True, wrap=False, vertical_alignment="top", gap="small"):
        st.text(told or STORIES[shape], width="stretch")
        if failed:
            go_to.button(page, "The call that failed" if failed.error else "The last call", failed.id,
                         f"{page}.failed.{shape}")


# --- the chart -------------------------------------------------------------------------------------------------------


def growth(page: str, found: list[Run]) -> None:
    """Cumulative tokens or dollars of all runs of the group, with the law drawn through the points."""
    height, calls = CHART_HEIGHT[page], calls_of(found)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        measure = st.segmented_control("What grows", list(MEASURES), format_func=MEASURES.get, required=True,
                                       default="input", key=f"{page}.measure", label_visibility="collapsed")
        st.caption("dots: calls · line: the formula", width="content", help=FORMULA)
    measure = measure or "input"
    with st.container(height=height, border=False, key=f"{page}_chart"):
        if any(not call.error for made in calls.values() for call in made):
            room = _room(found, measure) if any(state.is_active(r) for r in found) else None
            st.vega_lite_chart(rows_frame(charts.growth_rows(calls, measure, room)),
                               growth_spec(measure), height=height, key=f"{page}.growth.{measure}",
                               alt=f"Cumulative {MEASURES[measure].lower()} after each call, for each shape")
        else:
            st.space(height // 3)
            st.caption("The chart grows here, call by call.", text_alignment="center")
    with st.container(gap="xsmall"):
        for line in (*compare.law_lines(calls, measure), compare.turn_line(calls.get("agent", []), _turns(found))):
            st.text(line or " ")


def _room(found: list[Run], measure: str) -> tuple[float, float] | None:
    """Calls and tokens or dollars that the forecast expects of the greater of the runs; None when it knows neither."""
    told = [forecast_of(run) for run in found]
    calls = [f.calls for f in told if f and f.calls]
    sums = [total for f in told if f and (total := f.input_tokens if measure == "input" else f.usd)]
    return (max(calls), max(sums)) if calls and sums else None


def _turns(found: list[Run]) -> int | None:
    """How many turns the running agent will take in all, by its forecast; by its limit where it has taken those."""
    run = next((r for r in found if r.shape == "agent" and state.is_active(r)), None)
    if run is None:
        return None
    told = forecast_of(run)
    if told and told.calls and told.calls > len(turns_of(state.calls(run.id))):
        return told.calls
    return run.design["limits"]["max_turns"]


def forecast_of(run: Run) -> Any:
    """What was to be expected of a run at its own prices; None when its design or data are of another version or gone.
    """
    data = state.stored_data(run.data_id)
    try:
        return forecast(Design.from_dict(run.design), data, run.prices or None).get(run.shape) if data else None
    except DesignError:
        return None


def forecast(design: Design, data: state.Data, prices: dict[str, Any] | None) -> dict[str, Any]:
    """Shape -> Forecast, at the list prices of today where no others are given."""
    return _forecast(design.version, data.id, json.dumps(prices, sort_keys=True), design, data.tickets)


@st.cache_resource(show_spinner=False, max_entries=64)
def _forecast(version: str, data_id: str, prices: str, _design: Design, _tickets: TicketSet) -> dict[str, Any]:
    from lib.task.forecast import forecast

    return forecast(_design, _tickets, json.loads(prices))


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


def report(run: Run) -> Report | None:
    """The answer of a run that is not at work. A resumed one still has the answer it had before."""
    return None if state.is_active(run) else state.report(run)


def outcome(run: Run) -> compare.Outcome:
    totals = state.store().totals(run.id)
    return compare.Outcome(run.shape, report(run), totals.calls, totals.input, totals.output, totals.usd,
                           totals.unreported, totals.unpriced, run.source == "replay", elapsed(totals),
                           sent_back.count(run), totals.errors)


def calls_of(runs: list[Run]) -> dict[str, list[CallRow]]:
    return {r.shape: state.calls(r.id) for r in runs}
