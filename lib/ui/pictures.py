"""The pictures of a group of runs beside the growth chart: the timeline, and where the tokens went."""

from __future__ import annotations

import streamlit as st

from lib import charts
from lib.phrases import plural
from lib.runs.store import Run
from lib.ui import connection, live
from lib.ui import format as fmt

LANE = 26       # pixels per lane


def timeline(runs: list[Run]) -> None:
    """One bar per call: the pipeline's lanes at once, the agent's turns one after another."""
    calls = live.calls_of(runs)
    rows = charts.timeline_rows(calls)
    if not rows:
        st.caption("The timeline will be here: the pipeline's calls side by side, the agent's one after another.")
        return
    connection.origin(runs)
    lanes = {shape: len({r["lane"] for r in rows if r["shape"] == shape}) for shape in calls}
    st.text(" · ".join(_waiting(shape, lanes[shape], rows) for shape in calls if lanes[shape]))
    st.vega_lite_chart(live.rows_frame(rows), live.timeline_spec(), height=sum(lanes.values()) * LANE + 120,
                       key="run.timeline", alt="One bar per call, from its start to its end, in lanes")
    if tokens := charts.token_rows(calls):
        st.markdown("**Where the tokens went** :gray[input = fresh + written to the cache + read from it]")
        steps = len({r["step"] for r in tokens})
        st.vega_lite_chart(live.rows_frame(tokens), live.token_spec(), height=steps * 30 + 130, key="run.tokens",
                           alt="Tokens by step and kind")


def _waiting(shape: str, lanes: int, rows: list[dict]) -> str:
    mine = [r for r in rows if r["shape"] == shape]
    busy, wall = sum(r["seconds"] for r in mine), max(r["end"] for r in mine)
    return f"{shape}: {fmt.seconds(busy)} of calls in {fmt.seconds(wall)}, up to {plural(lanes, 'call')} at once"
