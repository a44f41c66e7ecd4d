"""From an answer to the calls behind it: a table under each cause, and a way from a failed check to its call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from lib.phrases import plural
from lib.runs import calls_behind
from lib.runs.calls_behind import Behind
from lib.runs.store import CallRow, Run
from lib.task.report import Cause, Check, Report
from lib.tickets.visible import visible
from lib.ui import go_to, state

MOST = 500      # rows of one cause
READ_ON = "Select a row to open its call: the exact request and reply."
SAID = ("Of a label call the cause that its reply gives the ticket. The merge call may put several such names together "
        "under one.")


def behind_cause(told: Mapping[str, Cause], runs: Mapping[str, Run], key: str) -> None:
    """`told`: the cause as each shape tells it. Worked out only when somebody looks."""
    place = st.expander("Calls behind this", key=f"behind_{key}", type="compact", on_change="rerun")
    if not place.open:
        return
    with place:
        found = [(runs[shape], one) for shape, cause in told.items() for one in _behind(cause, runs[shape])]
        if not found:
            st.caption("No call of this run is left that says so.")
            return
        numbers = {run.id: _numbers(run) for run in runs.values()}
        shown = found[:MOST]
        table = f"behind_calls_{key}"
        st.dataframe([_cells(run, one, numbers[run.id], len(told) > 1) for run, one in shown], hide_index=True,
                     key=table, on_select=lambda: _open(table, [one.call.id for _, one in shown]),
                     selection_mode="single-row", height="content" if len(shown) < 9 else 320, column_config={
                         "#": st.column_config.NumberColumn("#", width="small", help="number of the call in its run"),
                         "said": st.column_config.TextColumn("said", help=SAID)}, alt="The calls behind this cause")
        more = f" The first {MOST:,} of {plural(len(found), 'call')}." if len(found) > MOST else ""
        st.caption(READ_ON + more)
        _unread(told, runs, found)


def check_button(check: Check, report: Report, run: Run, number: int) -> None:
    """Beside a failed check, where a single call is behind it."""
    if call := calls_behind.a_check(check, report, run, state.calls(run.id)):
        go_to.button("run", "its call", call.id, f"check_{run.shape}_{number}")


def failed_tickets(report: Report, run: Run) -> None:
    """Why tickets have no label; a selected row opens the last try."""
    st.text(f"{plural(len(report.failed), 'ticket')} without a label:")
    found = [calls_behind.a_failed_ticket(key, state.calls(run.id)) for key in report.failed]
    table = f"failed_{run.shape}"
    st.dataframe([{"ticket": key, "why": visible(why)} for key, why in report.failed.items()], hide_index=True,
                 key=table, on_select=lambda: _open(table, [call and call.id for call in found]),
                 selection_mode="single-row", column_config={"why": st.column_config.TextColumn(width="large")})
    if any(found):
        st.caption("Select a row to open the ticket's last call.")


def _behind(cause: Cause, run: Run) -> list[Behind]:
    data = state.stored_data(run.data_id)
    return calls_behind.a_cause(cause, run, state.calls(run.id), state.store().replies_of,
                                data.tickets if data else None)


def _numbers(run: Run) -> dict[int, int]:
    """Id of a call -> its number in the run, in the order in which calls began."""
    ordered = sorted(state.calls(run.id), key=lambda call: (call.started, call.id))
    return {call.id: number for number, call in enumerate(ordered, start=1)}


def _cells(run: Run, one: Behind, numbers: Mapping[int, int], several: bool) -> dict[str, Any]:
    return {"#": numbers.get(one.call.id), **({"shape": run.shape} if several else {}), "step": _step(run, one.call),
            "about": visible(one.about), "said": visible(one.said or "the answer")}


def _step(run: Run, call: CallRow) -> str:
    return call.subject if run.shape == "agent" and call.subject.startswith("turn ") else call.step


def _unread(told: Mapping[str, Cause], runs: Mapping[str, Run], found: list[tuple[Run, Behind]]) -> None:
    """An agent may put a ticket under a cause without having read it."""
    if "agent" not in told:
        return
    read = {key for run, one in found if run.shape == "agent" for key in one.tickets}
    missing = [key for key in told["agent"].tickets if key not in read]
    if missing and read:
        st.text(f"Never read by the agent: {', '.join(missing[:20])}{' …' if len(missing) > 20 else ''}")


def _open(table: str, ids: list[int | None]) -> None:
    rows = st.session_state[table]["selection"]["rows"]
    if rows and (call_id := ids[rows[0]]):
        go_to.open_call(call_id)
