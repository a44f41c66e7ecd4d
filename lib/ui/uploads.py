"""Uploads become the desk's data at once; what cannot be read leaves one line and the data as it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from lib.catalog import Catalog, customers_by_values, open_catalog
from lib.errors import PlaygroundError
from lib.phrases import plural
from lib.tickets import Columns, Table, TicketSet, combine, guess_columns, read_table, to_tickets
from lib.ui import changing, state

COLUMN_LABELS = {"id": "Ticket id", "subject": "Subject", "body": "Text", "customer": "Customer",
                 "product": "Product", "created": "Created"}
NONE = "(none)"
IDS_LOOKED_FOR = 2_000      # customers of the tickets that are looked up
SHOWN_NOTES, MOST_NOTES = 4, 54     # lines in sight, and lines sent to the browser


def tickets(page: str) -> None:
    """The uploader of tickets."""
    files = st.file_uploader("Tickets: CSV, TSV, JSON, JSONL or XLSX; several files add up", key=f"{page}.tickets",
                             accept_multiple_files=True, max_upload_size=state.settings().max_upload_mb)
    _take(page, "tickets", files, _read_tickets)
    with st.container(horizontal=True):
        for number, name in enumerate(state.SAMPLES, start=1):
            tickets = plural(len(state.sample(name).tickets), "ticket")
            st.button(f"Sample: {name} ({tickets})", key=f"{page}.sample.{number}", icon=":material/dataset:",
                      disabled=state.data().sample == name, on_click=_use_sample, args=(name,))
        changing.injection(page)
        changing.undo(page)


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
        several = _several_files()
        st.caption("The columns of several files are guessed, each file's by its own header; the notes below say what "
                   "was found. To change columns, upload one file." if several else
                   "To change columns, upload the file again: it is not kept, only the tickets read from it are.")
        return
    table, chosen = found
    with st.container(horizontal=True):
        for field, label in COLUMN_LABELS.items():
            _column(page, field, label, table, chosen)


def current_table() -> tuple[Table, Columns] | None:
    """The file behind the tickets on the desk, while this session still has it."""
    kept = st.session_state.get("_table")
    if kept and kept["version"] == state.data().tickets.version:
        return (kept["table"], kept["columns"]) if kept["table"] else None
    return state.sample_table(state.data().sample) if state.data().sample else None


def _several_files() -> bool:
    kept = st.session_state.get("_table")
    return bool(kept) and kept["version"] == state.data().tickets.version and not kept["table"]


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
            st.caption("The data before it is still in place." + (
                " Remove that file (×) to use the others." if len(files or ()) > 1 else ""))


def _error_of(read: Callable[[list[tuple[str, bytes]]], None], files: list[Any]) -> str:
    try:
        with st.spinner("Reading …"):
            read([(f.name, f.getvalue()) for f in files])
    except PlaygroundError as error:
        return str(error)
    return ""


def _read_tickets(files: list[tuple[str, bytes]]) -> None:
    tables = [read_table(name, data) for name, data in files]
    if len(tables) == 1:
        _use_table(tables[0], guess_columns(tables[0]))
        return
    made = combine([_guessed(table) for table in tables])
    choose(tickets=made)
    st.session_state["_table"] = {"table": None, "columns": None, "version": made.version}


def _guessed(table: Table) -> TicketSet:
    """The tickets of one of several files, with a note that says which column was taken for what."""
    chosen = guess_columns(table)
    said = ", ".join(f"{label.lower()} = {column}" for field, label in COLUMN_LABELS.items()
                     if (column := getattr(chosen, field)))
    found = to_tickets(table, chosen)
    return replace(found, notes=(f"columns: {said or 'none recognised'}", *found.notes))


def _read_database(files: list[tuple[str, bytes]]) -> None:
    choose(catalog=open_catalog(files))


def _use_table(table: Table, chosen: Columns) -> None:
    made: TicketSet = to_tickets(table, chosen)
    choose(tickets=made)
    st.session_state["_table"] = {"table": table, "columns": chosen, "version": made.version}


def choose(tickets: TicketSet | None = None, catalog: Catalog | None = None) -> None:
    """Puts an upload on the desk. Where no customer that tickets name is found by the guessed key, the column that
    holds them is looked for by its values."""
    now = state.data()
    tickets, catalog = tickets or now.tickets, catalog or now.catalog
    state.choose(tickets, _with_customers(catalog, _customers(tickets)))


def _with_customers(catalog: Catalog, named: list[str]) -> Catalog:
    if not named or not catalog.tables or any(map(catalog.customer, named[:IDS_LOOKED_FOR])):
        return catalog
    columns = {name: info.columns for name, info in catalog.tables.items()}
    role = customers_by_values(lambda sql, ids: catalog.query(sql, ids), columns, named)
    if role is None:
        return catalog
    found = catalog.with_roles(replace(catalog.roles, customers=role))
    found.notes = (*catalog.notes, f"customers are looked up in column {role.key} of table {role.table}: it holds the "
                                   "customers that tickets name")
    return found


def _customers(tickets: TicketSet) -> list[str]:
    return list(dict.fromkeys(t.customer for t in tickets.tickets if t.customer))


def _use_sample(sample: str) -> None:
    for name in ("_tickets_error", "_database_error"):
        st.session_state.pop(name, None)
    state.choose_sample(sample)


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
    st.selectbox(label, options, key=key, on_change=change, width=176)


# --- what is there now -----------------------------------------------------------------------------------------------


def notes(lines: tuple[str, ...]) -> None:
    """What the reader did, one plain line each; many lines fold."""
    with st.container(gap="xsmall"):
        for line in lines[:SHOWN_NOTES]:
            st.text(f"· {line}")
    if more := lines[SHOWN_NOTES:MOST_NOTES]:
        with st.expander(plural(len(lines) - SHOWN_NOTES, "more note"), type="compact"):
            for line in more:
                st.text(line)


@dataclass(frozen=True)
class Joined:
    """How many of the customers that tickets name are in the database."""

    named: int
    known: int
    table: str      # "" when no table holds customers

    def line(self) -> str:
        if not self.named:
            return "No ticket names a customer."
        if not self.known:
            place = f"in the table {self.table}" if self.table else "in the database"
            one = "The 1 customer" if self.named == 1 else f"None of the {self.named:,} customers"
            verb = "name is not" if self.named == 1 else "name is"
            return f"{one} that tickets {verb} {place}. Choose the customer table and key:"
        verb = "is" if self.known == 1 else "are"
        return (f"{self.known:,} of {plural(self.named, 'customer')} that tickets name {verb} in the table "
                f"{self.table}.")


def joined() -> Joined:
    data = state.data()
    return _joined(data.id, data)


@st.cache_resource(show_spinner=False, max_entries=64)
def _joined(data_id: str, _data: state.Data) -> Joined:
    named, role = _customers(_data.tickets)[:IDS_LOOKED_FOR], _data.catalog.roles.customers
    known = sum(1 for customer in named if _data.catalog.customer(customer))
    return Joined(len(named), known, role.table if role else "")
