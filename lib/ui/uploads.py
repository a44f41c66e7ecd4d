"""Uploads become the desk's data at once; what cannot be read leaves one line and the data as it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from lib.catalog import open_catalog
from lib.errors import PlaygroundError
from lib.tickets import Columns, Table, TicketSet, guess_columns, read_table, to_tickets
from lib.ui import format as fmt
from lib.ui import state

COLUMN_LABELS = {"id": "Ticket id", "subject": "Subject", "body": "Text", "customer": "Customer id",
                 "product": "Product", "created": "Created"}
NONE = "(none)"
SHOWN_NOTES, MOST_NOTES = 4, 54     # lines in sight, and lines sent to the browser


def tickets(page: str) -> None:
    """The uploader of tickets and, once a file is here, which column is what."""
    files = st.file_uploader("Tickets: CSV, TSV, JSON, JSONL or XLSX", key=f"{page}.tickets",
                             max_upload_size=state.settings().max_upload_mb)
    _take(page, "tickets", files and [files], _read_tickets)
    with st.container(horizontal=True):
        st.button("Use the sample again", key=f"{page}.sample", icon=":material/undo:", disabled=state.data().is_sample,
                  on_click=_use_sample)


def database(page: str) -> None:
    """The uploader of the product database."""
    files = st.file_uploader("Product database: one SQLite file, or CSV, XLSX or JSON files, one table each",
                             key=f"{page}.database", accept_multiple_files=True,
                             max_upload_size=state.settings().max_upload_mb)
    _take(page, "database", files, _read_database)
    with st.container(horizontal=True):
        st.button("Go without a database", key=f"{page}.no_database", icon=":material/block:",
                  disabled=not state.data().catalog.tables, on_click=_use_no_database)


def columns(page: str) -> None:
    """The guessed columns, each changeable; a change makes the tickets anew from the file."""
    found = current_table()
    if found is None:
        st.caption("Upload the file again to change which column is what.")
        return
    table, chosen = found
    for place, (field, label) in zip(st.columns(len(COLUMN_LABELS)), COLUMN_LABELS.items(), strict=True):
        with place:
            _column(page, field, label, table, chosen)


def current_table() -> tuple[Table, Columns] | None:
    """The file behind the tickets on the desk, while this session still has it."""
    kept = st.session_state.get("_table")
    if kept and kept["version"] == state.data().tickets.version:
        return kept["table"], kept["columns"]
    return state.sample_table() if state.data().tickets is state.sample().tickets else None


# --- taking an upload ------------------------------------------------------------------------------------------------


def _take(page: str, what: str, files: list[Any] | None, read: Callable[[list[tuple[str, bytes]]], None]) -> None:
    """Reads a new upload once. Its error stays on the page until the next upload."""
    ids = tuple(f.file_id for f in files or ())
    if ids and ids != st.session_state.get(f"_{what}_files"):
        st.session_state[f"_{what}_files"] = ids
        st.session_state[f"_{what}_error"] = _error_of(read, files)
        st.rerun()      # everything above and below shows the new data
    if error := st.session_state.get(f"_{what}_error"):
        with st.container(border=True, key=f"{page}_{what}_error"):
            st.text(f"✕ {error}")
            st.caption("The data before it is still in place.")


def _error_of(read: Callable[[list[tuple[str, bytes]]], None], files: list[Any]) -> str:
    try:
        with st.spinner("Reading …"):
            read([(f.name, f.getvalue()) for f in files])
    except PlaygroundError as error:
        return str(error)
    return ""


def _read_tickets(files: list[tuple[str, bytes]]) -> None:
    table = read_table(*files[0])
    _use_table(table, guess_columns(table))


def _read_database(files: list[tuple[str, bytes]]) -> None:
    state.choose(catalog=open_catalog(files))


def _use_table(table: Table, chosen: Columns) -> None:
    made: TicketSet = to_tickets(table, chosen)
    state.choose(tickets=made)
    st.session_state["_table"] = {"table": table, "columns": chosen, "version": made.version}


def _use_sample() -> None:
    for name in ("_tickets_error", "_database_error"):
        st.session_state.pop(name, None)
    state.choose_sample()


def _use_no_database() -> None:
    state.choose(catalog=state.no_catalog())


def _column(page: str, field: str, label: str, table: Table, chosen: Columns) -> None:
    key, now = f"{page}.column.{field}", getattr(chosen, field) or NONE
    options = [NONE, *table.columns]
    if st.session_state.get(key) not in options:
        st.session_state.pop(key, None)

    def change() -> None:
        name = st.session_state[key]
        try:
            _use_table(table, replace(chosen, **{field: None if name == NONE else name}))
            st.session_state["_tickets_error"] = ""
        except PlaygroundError as error:
            st.session_state["_tickets_error"] = str(error)
    st.session_state[key] = now
    st.selectbox(label, options, key=key, on_change=change)


# --- what is there now -----------------------------------------------------------------------------------------------


def notes(lines: tuple[str, ...]) -> None:
    """What the reader did, one plain line each; many lines fold."""
    for line in lines[:SHOWN_NOTES]:
        st.text(f"· {line}")
    if more := lines[SHOWN_NOTES:MOST_NOTES]:
        with st.expander(fmt.plural(len(lines) - SHOWN_NOTES, "more note"), type="compact"):
            for line in more:
                st.text(line)


def join_line() -> str:
    """How many of the customers that tickets name are in the database."""
    data = state.data()
    named = {t.customer for t in data.tickets.tickets if t.customer}
    if not named or not data.catalog.tables:
        return ""
    return _joined(data.id, data, named)


@st.cache_resource(show_spinner=False, max_entries=64)
def _joined(data_id: str, _data: state.Data, _named: set[str]) -> str:
    known = sum(1 for customer in list(_named)[:2_000] if _data.catalog.customer(customer))
    of = min(len(_named), 2_000)
    return f"{known:,} of {fmt.plural(of, 'customer')} that tickets name are in the database."
