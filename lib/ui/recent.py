"""Recent runs, each one click from its answers."""

from __future__ import annotations

import time

import streamlit as st

from lib.runs.store import Run
from lib.tickets.visible import visible
from lib.ui import connection, live, state
from lib.ui import format as fmt


def groups(page: str) -> None:
    found = state.recent_groups()
    st.subheader("Recent runs", anchor=False)
    if not found:
        st.caption("Your runs will be listed here. They are kept across restarts.")
    for group in found:
        _group(page, group)


def _group(page: str, group: list[Run]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"{page}_recent_{group[0].group}"):
        if st.button("Open", key=f"{page}.open.{group[0].group}", type="tertiary",
                     icon=":material/arrow_forward:"):
            state.open_group(group[0].group)
            st.switch_page("pages/run.py")
        st.text(f"{_ago(group[0].created)} · {visible(fmt.cut(group[0].title))}", width="stretch")
        for run in group:
            _figures(run)
        connection.badge(group[0].source)


def _figures(run: Run) -> None:
    totals = state.store().totals(run.id)
    status = "" if run.status == "done" else f"{run.status} · "
    tokens = "tokens not reported" if totals.input is None else f"{fmt.short(totals.input)} tokens"
    figures = f"{status}{tokens} · {fmt.dollars(totals.usd)}" if totals.calls else run.status
    st.markdown(f":{live.COLOUR[run.shape]}[**{run.shape}**] {fmt.escaped(figures)}", width="content")


def _ago(then: float) -> str:
    past = max(0.0, time.time() - then)
    for size, word in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if past >= size:
            return f"{fmt.plural(int(past // size), word)} ago"
    return "just now"
