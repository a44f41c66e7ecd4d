"""Runs in one line each: the one that a page shows, and the recent ones, to be opened again."""

from __future__ import annotations

import json

import streamlit as st

from lib.phrases import plural
from lib.runs.store import Run, Totals
from lib.tickets.visible import visible
from lib.ui import connection, drafts, go_to, live, simulation, state
from lib.ui import format as fmt

EDITS = 2       # named in one line; more are counted


def shown(runs: list[Run]) -> None:
    """What the page's results are of, and whether that is still what the desk holds."""
    if not runs:
        return
    run, data = runs[0], state.stored_data(runs[0].data_id)
    what = "data that are gone"
    if data:
        what = f"{plural(len(data.tickets), 'ticket')} of {fmt.cut(data.tickets.name)}"
    made_of = f"{what} · {made_with(run)}"
    with st.container(horizontal=True, vertical_alignment="center", key="run_shown"):
        st.text(visible(f"Shown: {made_of} · {fmt.ago(run.created)} · {_source(run)}"), width="content")
        if differs := state.other_on_desk(run):
            them = "it" if differs == "design" else "those"
            st.badge(f"Not the {differs} above: run again to answer with {them}.", icon=":material/info:",
                     color="yellow")


def made_with(run: Run) -> str:
    """"default v1 · label prompt edited · 3fa2c81b9d": the run's design by its name and, as on Design, its version."""
    name, version = fmt.cut(str(run.design.get("name", ""))), state.version_of(run)
    return f"{name}{edits(run)}" + (f" · {version}" if version else "")


def _source(run: Run) -> str:
    """"simulated", or "simulated with 10 % rate limited, from a recording"."""
    recorded = ", from a recording" * (bool(run.origin) and run.source != "replay")
    return run.source + (f" with {run.conditions}" if run.conditions else "") + recorded


def groups(page: str) -> None:
    found = state.recent_groups()
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.subheader("Recent runs", anchor=False, width="content")
        if found:
            st.page_link("pages/history.py", label="All runs →", width="content")
    if not found:
        st.caption("Your runs will be listed here. They are kept across restarts.")
    if not state.group() and any(run.source == "simulated" for group in found for run in group):
        st.caption(f"simulated: {simulation.RULES}")     # else the runs above say so
    for group in found:
        _group(page, group)


def _group(page: str, group: list[Run]) -> None:
    totals = {run.id: state.store().totals(run.id) for run in group}
    with st.container(horizontal=True, wrap=False, vertical_alignment="center",
                      key=f"{page}_recent_{group[0].group}"):
        if st.button("Open", key=f"{page}.open.{group[0].group}", type="tertiary",
                     icon=":material/arrow_forward:"):
            go_to.run_page(group[0].group)
        st.text(visible(f"{fmt.ago(group[0].created)} · {fmt.cut(group[0].title)}{edits(group[0])}{_with(group[0])}"
                        f"{_besides(group)}"), width="stretch")
        with st.container(horizontal=True, vertical_alignment="center", width="content", gap="small"):
            working = any(state.is_active(run) for run in group)
            if working:     # this list is drawn once; figures of now are in the panels
                st.caption("at work", width="content")
            for run in group if not working else ():
                _figures(run, totals[run.id], [t.usd for t in totals.values()])
            connection.badge(group[0].source)


def _with(run: Run) -> str:
    return f" · with {run.conditions}" if run.conditions else ""


def _besides(group: list[Run]) -> str:
    """Whose replies they are where those are not the run's own, and what a person noted."""
    recorded = group[0].origin.rpartition(" · ")[2]      # "live · Anthropic API · recorded 2026-11-12"
    notes = dict.fromkeys(f"“{fmt.cut(run.note, 40)}”" for run in group if run.note)
    return "".join(f" · {part}" for part in (*[fmt.cut(recorded, 40)] * bool(recorded), *notes))


def _figures(run: Run, totals: Totals, costs: list[float | None]) -> None:
    tokens = "tokens not reported"
    if totals.input is not None:
        tokens = fmt.at_least(f"{fmt.short(totals.input)} tokens", totals.unreported)
    cost = fmt.at_least(fmt.dollars(totals.usd, beside=costs), totals.unpriced)
    listed = "would list " if run.source == "replay" else ""
    figures = f"{tokens} · {listed}{cost}" if totals.calls > totals.errors else ""
    told = " · ".join(part for part in ("" if run.status == "done" else run.status, figures) if part)
    st.markdown(f":{live.COLOUR[run.shape]}[**{run.shape}**] {fmt.escaped(told)}", width="content")


def edits(run: Run) -> str:
    """" · label prompt edited", of a design with a name of its own " · unlike the default: label prompt": how the run's
    design differs from the default; "" when it does not."""
    return _edits(json.dumps(run.design), run)


@st.cache_resource(show_spinner=False, max_entries=1_000)
def _edits(design: str, _run: Run) -> str:
    made = state.design_of(_run)
    fields = [] if made is None else drafts.changed(state.default(), made)
    if not fields:
        return ""
    few = ", ".join(map(drafts.short_label, fields)) if len(fields) <= EDITS else ""
    if made.name == state.default().name:
        return f" · {few} edited" if few else f" · {len(fields)} edits"
    return f" · unlike the default: {few or f'{len(fields)} fields'}"
