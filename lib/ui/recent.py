"""Runs in one line each: the one that a page shows, and the recent ones, to be opened again."""

from __future__ import annotations

import streamlit as st

from lib.design import Design
from lib.errors import DesignError
from lib.phrases import plural
from lib.runs.store import Run, Totals
from lib.tickets.visible import visible
from lib.ui import connection, drafts, live, simulation, state
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
    made_of = f"{what} · {fmt.cut(str(run.design.get('name', '')))}{_edits(run)}"
    with st.container(horizontal=True, vertical_alignment="center", key="run_shown"):
        st.text(visible(f"Shown: {made_of} · {fmt.ago(run.created)} · {_source(run)}"), width="content")
        if differs := _differs(run):
            them = "it" if differs == "design" else "those"
            st.badge(f"Not the {differs} above: run again to answer with {them}.", icon=":material/info:",
                     color="yellow")


def _source(run: Run) -> str:
    """"simulated", or "simulated with 10 % rate limited"."""
    return run.source + (f" with {run.conditions}" if run.conditions else "")


def _differs(run: Run) -> str:
    """"data", "design", "data and design" or "": what the desk holds by now that the run did not have."""
    design = _design(run)
    parts = ["data"] * (run.data_id != state.data().id)
    parts += ["design"] * (design is None or design.version != state.design()[0].version)
    return " and ".join(parts)


def groups(page: str) -> None:
    found = state.recent_groups()
    st.subheader("Recent runs", anchor=False)
    if not found:
        st.caption("Your runs will be listed here. They are kept across restarts.")
    if not state.group() and any(run.source == "simulated" for group in found for run in group):
        st.caption(f"simulated: {simulation.RULES}")     # else the runs above say so
    for group in found:
        _group(page, group)


def _group(page: str, group: list[Run]) -> None:
    totals = {run.id: state.store().totals(run.id) for run in group}
    with st.container(horizontal=True, vertical_alignment="center", key=f"{page}_recent_{group[0].group}"):
        if st.button("Open", key=f"{page}.open.{group[0].group}", type="tertiary",
                     icon=":material/arrow_forward:"):
            state.open_group(group[0].group)
            st.switch_page("pages/run.py")
        st.text(f"{fmt.ago(group[0].created)} · {visible(fmt.cut(group[0].title))}{_edits(group[0])}{_with(group[0])}",
                width="stretch")
        with st.container(horizontal=True, vertical_alignment="center", width="content", gap="small"):
            for run in group:
                _figures(run, totals[run.id], [t.usd for t in totals.values()])
            connection.badge(group[0].source)


def _with(run: Run) -> str:
    return f" · with {run.conditions}" if run.conditions else ""


def _figures(run: Run, totals: Totals, costs: list[float | None]) -> None:
    tokens = "tokens not reported"
    if totals.input is not None:
        tokens = fmt.at_least(f"{fmt.short(totals.input)} tokens", totals.unreported)
    cost = fmt.at_least(fmt.dollars(totals.usd, beside=costs), totals.unpriced)
    figures = f"{tokens} · {cost}" if totals.calls > totals.errors else ""
    told = " · ".join(part for part in ("" if run.status == "done" else run.status, figures) if part)
    st.markdown(f":{live.COLOUR[run.shape]}[**{run.shape}**] {fmt.escaped(told)}", width="content")


def _edits(run: Run) -> str:
    """" · label prompt edited": how the run's design differs from the default; "" when it does not."""
    design = _design(run)
    fields = [] if design is None else drafts.changed(state.default(), design)
    if len(fields) > EDITS:
        return f" · {len(fields)} edits"
    return f" · {', '.join(_short(field) for field in fields)} edited" if fields else ""


def _short(field: str) -> str:
    return drafts.label(field).replace(": system prompt", " prompt").replace(": ", " ")


def _design(run: Run) -> Design | None:
    """The run's design; None when another version of the playground wrote it."""
    try:
        return Design.from_dict(run.design)
    except DesignError:
        return None
