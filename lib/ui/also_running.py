"""The runs that are at work but not shown: one line, from which each can be opened or stopped."""

from __future__ import annotations

import streamlit as st

from lib.phrases import plural
from lib.runs.store import Run
from lib.ui import connection, drawings, state

MOST = 3        # groups in the line; more are counted


def line(page: str) -> None:
    """A group that ended stays in the line, as done, until it is opened or another page is: nothing jumps."""
    groups = _remembered(page)
    if not groups:
        return
    working = any(state.is_active(run) for group in groups for run in group)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"{page}_beside"):
        st.caption("Also running:" if working else "Ended meanwhile:", width="content")
        for group in groups[:MOST]:
            _group(page, group)
        if len(groups) > MOST:
            st.caption(f"and {plural(len(groups) - MOST, 'more group')}", width="content")


def _group(page: str, group: list[Run]) -> None:
    st.markdown(" · ".join(_told(run) for run in group), width="content")
    connection.badge(group[0].source)
    st.button("Open", key=f"{page}.beside.open.{group[0].group}", type="tertiary", icon=":material/arrow_forward:",
              on_click=state.show_group, args=(group[0].group,))
    if working := [run.id for run in group if state.is_active(run) and state.is_mine(run)]:
        st.button("Stop", key=f"{page}.beside.stop.{group[0].group}", type="tertiary", icon=":material/stop_circle:",
                  on_click=_stop, args=(working,),
                  disabled=all(state.is_stopping(run) for run in group if run.id in working))


def _told(run: Run) -> str:
    """"agent, 12 turns", "pipeline 30 of 46", "agent done", as markdown: all words are ours."""
    return f":{drawings.COLOUR[run.shape]}[**{run.shape}**]{_progress(run)}"


def _progress(run: Run) -> str:
    if not state.is_active(run):
        return f" {run.status}"
    totals = state.store().totals(run.id)
    answered = totals.calls - totals.errors
    if run.shape == "agent":
        return f", {plural(answered, 'turn')}"
    tickets = state.tickets_in(run.data_id)
    return f" {answered:,}" + (f" of {max(answered, tickets + 1 + run.design['k']):,}" if tickets else "")


def _remembered(page: str) -> list[list[Run]]:
    """Those at work, and those that this view of the page has seen at work."""
    at_work = state.others_at_work()
    seen_on, seen = st.session_state.get("_beside", ("", []))
    ids = list(dict.fromkeys([*(seen if seen_on == page else []), *(group[0].group for group in at_work)]))
    ids = [group for group in ids if group != state.shown_group()]
    st.session_state["_beside"] = (page, ids)
    now = {group[0].group: group for group in at_work}
    found = [now.get(group) or state.runs_of(group) for group in ids]
    return sorted(filter(None, found), key=lambda group: not any(state.is_active(run) for run in group))


def _stop(run_ids: list[str]) -> None:
    for run_id in run_ids:
        state.stop_run(run_id)
