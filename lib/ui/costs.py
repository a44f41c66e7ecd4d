"""The Costs page: four pictures one above the other, each with one sentence and its numbers as a file.

Tokens, dollars and seconds of the calls are read from the store; what is predicted from them is marked as estimated.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from lib import charts_costs as charts
from lib.design import Design
from lib.errors import DesignError, StoreError
from lib.models import model
from lib.phrases import plural
from lib.runs.for_what_if import exchanges
from lib.runs.store import CallRow, Run
from lib.tickets.visible import visible
from lib.ui import connection, cost_words, downloads, live, own_prices, state
from lib.ui import format as fmt
from lib.usage import published as publication
from lib.usage.prices import cost, prices_for

MEASURES = {"input": "Tokens", "usd": "Dollars", "seconds": "Seconds"}
AXES = {"linear": "Linear", "log": "Log"}
ENDED = {"stopped": "was stopped", "failed": "failed", "interrupted": "was interrupted"}
POLL = 1.0          # seconds between two looks while a run is at work or something is worked out
HEIGHTS = {"cumulative": 360, "composition": 300, "scale": 360}     # pixels
SIZES = (40, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
RUNG = 28           # pixels of one rung
TITLES = {
    "cumulative": ("As it grew", "what all calls so far took, after each of them, and the law they follow"),
    "composition": ("What each call is made of", "fresh, written to the cache, read from it, and the reply"),
    "ladder": ("What if", "the same calls under other policies, other models, or in batch, with nothing sent"),
    "scale": ("At another scale", "from 40 tickets to 100,000: where the agent's window ends and what a batch saves"),
}
EMPTY = {"input": "No call reported its tokens.", "seconds": "Nothing here has seconds.",
         "usd": "no price: set one at the end of this page to see dollars here."}
FIXED = "Behaviour is held fixed: every reply and every tool call is the recorded one."

Calls = dict[str, list[CallRow]]        # shape -> its calls


@dataclass(frozen=True)
class View:
    """What is looked at, and how."""

    runs: list[Run]
    measure: str
    log: bool
    published: bool
    waiting: bool = False       # polled, because something is at work


def header(runs: list[Run]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.title("Costs", anchor=False, width="content")
        if runs:
            st.space("stretch")
            st.page_link("pages/run.py", label="Answers and calls →", width="content")


def pictures(runs: list[Run]) -> None:
    if not runs:
        _nothing_yet()
        return
    connection.origin(runs)
    view = _controls(runs)
    waiting = any(state.is_active(run) for run in runs) or not all(job.done() for job in _jobs(runs).values())
    with st.container(key="costs_pictures"):        # subtle: a polling fragment needs a container of its own
        st.fragment(_pictures, run_every=POLL if waiting else None)(view, waiting)
    own_prices.editor(runs, [call for run in runs for call in state.calls(run.id)])


def _nothing_yet() -> None:
    st.text("After a run, four pictures will be here:")
    for title, what in TITLES.values():
        st.markdown(f"**{title}** :gray[{what}]")
    if st.button("Go to the Run page", type="primary", icon=":material/play_arrow:", key="costs.to_run"):
        st.switch_page("pages/run.py")


def _controls(runs: list[Run]) -> View:
    with st.container(horizontal=True, vertical_alignment="center", key="costs_controls"):
        measure = st.segmented_control("Measure", list(MEASURES), format_func=MEASURES.get, required=True,
                                       default="input", key="costs.measure", label_visibility="collapsed")
        axis = st.segmented_control("Axis", list(AXES), format_func=AXES.get, required=True, default="linear",
                                    key="costs.axis", label_visibility="collapsed")
        shown = st.toggle("Show a published run", key="costs.published",
                          help="An agent run that others published, once with its whole conversation kept and once "
                               "compacted, beside yours in the first picture.")
        st.caption("each picture: CSV below it, PNG at its top right", width="content")
    return View(runs, measure or "input", axis == "log", shown)


def _pictures(view: View, was_waiting: bool) -> None:
    try:
        _draw(view, was_waiting)
    except StoreError as error:     # a polling fragment has no page around it that could say so
        st.text(f"✕ {error}")


def _draw(view: View, was_waiting: bool) -> None:
    runs = state.group()
    view, jobs = replace(view, runs=runs, waiting=was_waiting), _jobs(runs)
    if was_waiting and not any(state.is_active(run) for run in runs) and all(job.done() for job in jobs.values()):
        st.rerun()      # once: polling stops
    recorded = live.calls_of(runs)
    calls = {run.shape: own_prices.priced(recorded[run.shape], own_prices.snapshot(run)) for run in runs}
    _to_know(runs, recorded, calls)
    _cumulative(view, calls)
    _composition(view, calls)
    _ladders(view, jobs)
    _scale(view)


def _to_know(runs: list[Run], recorded: Calls, calls: Calls) -> None:
    """How a run ended that has no whole answer, and what no sum below counts in."""
    for run in runs:
        if run.status not in ("queued", "running", "done"):
            why = f": {visible(run.error).rstrip('.')}" if run.error else ""
            st.text(f"⚠ The {run.shape} {ENDED[run.status]}{why}. Here is what it took up to then.")
    before, after = (_every(of, _has_no_price) for of in (recorded, calls))
    count = sum(map(len, calls.values()))
    if before > after:
        st.text(f"{plural(before - after, 'call')} of {count:,} at the price set by you, since no list price is known.")
    if after:
        st.text(f"⚠ {plural(after, 'call')} of {count:,} with no price: left out of every dollar here. A price can be "
                "set at the end of this page.")
    if lost := _every(calls, _is_lost):
        billed = " Some may have been billed, at an unknown price." if _every(calls, _may_be_billed) else ""
        st.text(f"⚠ {plural(lost, 'call')} of {count:,} failed: not in the what-if.{billed}")
    if silent := _every(calls, _is_silent):
        st.text(f"⚠ {plural(silent, 'call')} of {count:,} did not report tokens: left out of what is recorded, "
                "estimated in the what-if.")


def _every(calls: Calls, is_so: Callable[[CallRow], bool]) -> int:
    return sum(is_so(call) for made in calls.values() for call in made)


def _has_no_price(call: CallRow) -> bool:
    return call.usd is None and not call.error


def _is_lost(call: CallRow) -> bool:
    return bool(call.error)


def _may_be_billed(call: CallRow) -> bool:
    return call.billed is None


def _is_silent(call: CallRow) -> bool:
    return call.input is None and not call.error


# --- 1 and 2: what was recorded --------------------------------------------------------------------------------------


def _cumulative(view: View, calls: Calls) -> None:
    _title("cumulative", cost_words.cumulative(calls, view.measure))
    rows = charts.cumulative_rows(calls, view.measure)
    turns = publication.published() if view.published else {}
    if view.published:
        rows = rows + charts.published_rows(turns, view.measure, _published_price)
    drawn = any(row["kind"] == "call" for row in rows)
    with _picture("cumulative"):
        _chart("cumulative", rows, _cumulative_spec(view.measure, view.log, view.published), view, drawn,
               empty=_why_empty(view.measure, *calls.values()))
        law = drawn and view.measure != "seconds"
        _under(view, rows, "cumulative", "dots: calls · line: the law" if law else "", live.FORMULA if law else None)
        if view.published:
            st.text(cost_words.published(view.measure, turns, publication.SOURCE, model(publication.MODEL).name))


def _published_price(sent: int, output: int) -> float | None:
    return cost(_published_prices(), publication.MODEL, sent, 0, 0, 0, output)


@st.cache_resource(show_spinner=False)
def _published_prices() -> dict[str, Any]:
    return prices_for([publication.MODEL])


def _composition(view: View, calls: Calls) -> None:
    _title("composition", cost_words.composition(calls, view.measure))
    rows = {run.shape: charts.composition_rows(calls[run.shape], view.measure, own_prices.recorded(run))
            for run in view.runs}
    with _picture("composition"):
        for column, shape in zip(st.columns(len(rows)), rows, strict=True):
            with column, st.container(gap=None):
                st.markdown(f"**:{live.COLOUR[shape]}[{shape.capitalize()}]**")
                _chart("composition", rows[shape], _composition_spec(shape, view.measure), view, bool(rows[shape]),
                       shape, empty=_why_empty(view.measure, calls[shape]))
        _under(view, [{"shape": shape, **row} for shape, made in rows.items() for row in made], "composition")


# --- 3: what if ------------------------------------------------------------------------------------------------------


def _ladders(view: View, jobs: dict[str, Future]) -> None:
    ended = {shape: job.result() for shape, job in jobs.items() if job.done()}
    waiting = jobs.keys() - ended.keys()        # looked at once: a job may end while this is drawn
    found = {shape: rungs for shape, rungs in ended.items() if rungs and rungs[0][1].calls}
    _title("ladder", cost_words.ladder(found, view.measure), estimated=True)
    with _picture("ladder"):
        for column, run in zip(st.columns(len(view.runs)), view.runs, strict=True):
            with column, st.container(gap=None):
                st.markdown(f"**:{live.COLOUR[run.shape]}[{run.shape.capitalize()}]**")
                _ladder(view, run, run.shape in waiting, found.get(run.shape))
        rows = [{"shape": shape, **row} for shape, rungs in found.items() for row in _rungs(view, rungs)]
        cut = any(row["label"].endswith("→") for row in rows)
        beyond = " · →: goes on beyond the picture" if cut else ""
        _under(view, [_told(row) for row in rows], "ladder", f"{FIXED}{beyond}")
        if found:
            with st.expander("Every rung: tokens, dollars, seconds, and what to know of it", key="costs_rungs"):
                _table(rows)


def _ladder(view: View, run: Run, waiting: bool, rungs: Sequence | None) -> None:
    if rungs:
        rows = _rungs(view, rungs)
        _chart("ladder", rows, _ladder_spec(run.shape, view.measure, view.log), view, True, run.shape,
               RUNG * len(rows) + 60)
    elif state.is_active(run):
        st.caption("The what-if will be here when the run has ended.")
    elif waiting:
        st.caption("working it out …")
    else:
        st.caption("No call of this run was answered, so there is nothing to hold another policy against.")


def _rungs(view: View, rungs: Sequence) -> list[dict[str, Any]]:
    show = {"input": fmt.short, "usd": fmt.dollars, "seconds": fmt.seconds}[view.measure]
    return charts.ladder_rows(rungs, view.measure, show, view.log)


def _told(row: dict[str, Any]) -> dict[str, Any]:
    """A rung as it stands in a file."""
    return {name: row[name] for name in ("shape", "name", "input", "output", "usd", "seconds", "note")}


def _table(rows: list[dict[str, Any]]) -> None:
    """The figures, and below them what to know of which rung: most notes hold for several."""
    column = st.column_config
    shown = [{"shape": row["shape"], "policy": row["name"], "input": row["input"], "output": row["output"],
              "dollars": fmt.dollars(row["usd"]), "seconds": row["seconds"]} for row in rows]
    st.dataframe(shown, hide_index=True, placeholder="not promised", height="content", column_config={
        "policy": column.TextColumn("policy", width="medium"),
        "input": column.NumberColumn("input tokens", format="localized"),
        "output": column.NumberColumn("output tokens", format="localized"),
        "dollars": column.TextColumn("dollars", alignment="right"),
        "seconds": column.NumberColumn("seconds", format="%.0f")}, alt="Every rung with its figures")
    for note, names in cost_words.noted(rows).items():
        if note != FIXED:
            st.text(f"{', '.join(names)}: {visible(note)}")


def _jobs(runs: list[Run]) -> dict[str, Future]:
    """Shape -> the ladder of its run, being worked out or done; not of a run at work."""
    path = str(state.settings().store)
    return {run.shape: _job(path, run.id, run.ended, json.dumps(own_prices.snapshot(run), sort_keys=True))
            for run in runs if not state.is_active(run)}


@st.cache_resource(show_spinner=False, max_entries=32)
def _job(path: str, run_id: str, ended: float | None, prices: str) -> Future:
    return _worker().submit(_work_out, state.store(), run_id, json.loads(prices))


@st.cache_resource(show_spinner=False)
def _worker() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="what-if")


def _work_out(store: Any, run_id: str, prices: dict[str, Any]) -> list:
    from lib.usage.what_if import ladder

    found = exchanges(store, run_id)
    return ladder(found, prices) if found else []


# --- 4: at another scale ---------------------------------------------------------------------------------------------


def _scale(view: View) -> None:
    found = _scaled(view.runs)
    _title("scale", cost_words.scale(found, view.measure), estimated=True)
    if not found:
        st.caption("The data or the design of this run are gone, so there is nothing to scale up.")
        return
    with _picture("scale"):
        rows = charts.scale_rows(found, view.measure)
        _chart("scale", rows, _scale_spec(view.measure), view, bool(rows), empty=EMPTY[view.measure])
        _under(view, [asdict(row) for row in found], "scale", "both axes are always logarithmic · ✕: beyond the window")
        for line in cost_words.scale_notes(found):
            st.text(line)


def _scaled(runs: list[Run]) -> list[Any]:
    """Corrected by the calls of runs that came to their end; another run says too little of a whole one."""
    first = runs[0]
    data = state.stored_data(first.data_id)
    try:
        design = Design.from_dict(first.design)
    except DesignError:
        return []
    done = tuple(run.id for run in runs if run.status == "done" and run.data_id == first.data_id)
    return _scale_rows(design.version, first.data_id, done, json.dumps(own_prices.snapshot(first), sort_keys=True),
                       design, data) if data else []


@st.cache_resource(show_spinner=False, max_entries=32)
def _scale_rows(version: str, data_id: str, done: tuple[str, ...], prices: str, _design: Design,
                _data: state.Data) -> list[Any]:
    from lib.task.scale import scale

    at = json.loads(prices)
    runs = [run for run_id in done if (run := state.store().run(run_id))]
    calls = {shape: own_prices.at(made, at) for shape, made in live.calls_of(runs).items()}
    return scale(_design, _data.tickets, calls, at, SIZES)


# --- shared ----------------------------------------------------------------------------------------------------------


def _picture(name: str) -> Any:
    return st.container(key=f"costs_picture_{name}", gap="xsmall")


def _title(name: str, sentence: str, estimated: bool = False) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"costs_head_{name}"):
        st.subheader(TITLES[name][0], anchor=False, width="content")
        if estimated:
            st.badge("estimated", color="gray")
            if own_prices.typed():
                st.badge("with prices set by you", color="yellow")
    with st.container(key=f"costs_sentence_{name}"):
        st.text(sentence or " ")


def _chart(name: str, rows: list[dict[str, Any]], spec: dict[str, Any], view: View, drawn: bool, shape: str = "",
           height: int = 0, empty: str = "") -> None:
    height = height or HEIGHTS[name]
    if not drawn:
        with st.container(height=height, border=False):
            st.space(height // 3)
            st.caption(empty, text_alignment="center")
        return
    key = ".".join(("costs", name, shape, view.measure, str(view.log), str(view.published)))
    of = f" ({shape})" if shape else ""
    st.vega_lite_chart(live.rows_frame(rows), spec, height=height, key=key,
                       alt=f"{TITLES[name][0]}{of}: {TITLES[name][1]}, in {MEASURES[view.measure].lower()}")


def _why_empty(measure: str, *made: list[CallRow]) -> str:
    return EMPTY[measure] if any(not call.error for calls in made for call in calls) else "No call was answered."


def _under(view: View, rows: list[dict[str, Any]], name: str, words: str = "", help: str | None = None) -> None:
    """The line under a picture: its numbers as a file, and what its marks mean."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"costs_under_{name}"):
        if rows:
            downloads.csv_button(partial(list, rows), f"costs-{name}.csv", f"costs.csv.{name}", wait=view.waiting)
        if words:
            st.caption(words, width="content", help=help)


@st.cache_resource(show_spinner=False)
def _cumulative_spec(measure: str, log: bool, published: bool) -> dict[str, Any]:
    return charts.cumulative_spec(measure, log, published)


@st.cache_resource(show_spinner=False)
def _composition_spec(shape: str, measure: str) -> dict[str, Any]:
    return charts.composition_spec(shape, measure)


@st.cache_resource(show_spinner=False)
def _ladder_spec(shape: str, measure: str, log: bool) -> dict[str, Any]:
    return charts.ladder_spec(shape, measure, log)


@st.cache_resource(show_spinner=False)
def _scale_spec(measure: str) -> dict[str, Any]:
    return charts.scale_spec(measure)
