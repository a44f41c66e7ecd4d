"""Uploads become the desk's data at once; what cannot be read leaves one line and the data as it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from lib.catalog import Catalog, joined_by_values, open_catalog
from lib.errors import PlaygroundError
from lib.phrases import plural
from lib.tickets import TicketSet, combine, read_files
from lib.tickets.readers import is_archive
from lib.ui import changing, columns, state

SHOWN_NOTES, MOST_NOTES = 4, 54     # lines in sight, and lines sent to the browser
LARGE = 50 * 2**20   # bytes
SAME = "Files and members of a zip with the same columns are read as one table."


def tickets(page: str) -> None:
    """The uploader of tickets."""
    _take(page, "tickets", "Tickets: CSV, TSV, XLSX, JSON, JSONL or Parquet, also as .zip or .gz; several files add up",
          _read_tickets)
    with st.container(horizontal=True):
        for number, name in enumerate(state.SAMPLES, start=1):
            tickets = plural(len(state.sample(name).tickets), "ticket")
            st.button(f"Sample: {name} ({tickets})", key=f"{page}.sample.{number}", icon=":material/dataset:",
                      disabled=state.whole().sample == name, on_click=_use_sample, args=(name,))
        changing.injection(page)
        changing.undo(page)


def database(page: str) -> None:
    """The uploader of the product database."""
    _take(page, "database", "Product database: SQLite, or CSV, XLSX, JSON or Parquet (a file or sheet for each table); "
          "also as .zip", _read_database)
    with st.container(horizontal=True):
        st.button("Go without a database", key=f"{page}.no_database", icon=":material/block:",
                  disabled=not state.whole().catalog.tables, on_click=_use_no_database)


# --- taking an upload ------------------------------------------------------------------------------------------------


def _take(page: str, what: str, label: str, read: Callable[[list[tuple[str, bytes]]], None]) -> None:
    """Reads a new upload once. Its error stays on the page until the next upload."""
    files = _uploader(page, what, label)
    ids = tuple(f.file_id for f in files)
    if ids and ids != st.session_state.get(f"_{what}_files"):
        st.session_state[f"_{what}_files"] = ids
        st.session_state[f"_{what}_error"] = _error_of(read, files)
        if sum(f.size for f in files) > LARGE:      # a new uploader: this one would keep all bytes beside the tickets
            st.session_state[f"_{what}_uploads"] = st.session_state.get(f"_{what}_uploads", 0) + 1
        st.rerun()      # everything above and below shows the new data
    if error := st.session_state.get(f"_{what}_error"):
        with st.container(border=True, key=f"{page}_{what}_error"):
            st.text(f"✕ {error}")
            st.caption("The data before it is still in place." + (
                " Remove that file (×) to use the others." if len(files) > 1 else ""))


def _uploader(page: str, what: str, label: str) -> list[Any]:
    number = st.session_state.get(f"_{what}_uploads", 0)
    key = f"{page}.{what}" + (f".{number}" if number else "")
    st.file_uploader(label, key=key, accept_multiple_files=True, max_upload_size=state.settings().max_upload_mb,
                     help=SAME if what == "tickets" else None)
    return st.session_state.get(key) or []      # subtle: what the widget returns is a copy of every byte


def _error_of(read: Callable[[list[tuple[str, bytes]]], None], files: list[Any]) -> str:
    try:
        with st.spinner("Reading …"):
            read([(f.name, f.getvalue()) for f in files])
    except PlaygroundError as error:
        return str(error)
    return state.trouble()      # of the store, when it could not take them


def _read_tickets(files: list[tuple[str, bytes]]) -> None:
    if len(files) == 1 and not is_archive(files[0][1]):
        columns.use(columns.read(*files[0]))
    else:
        tables = read_files(files)
        if len(tables) == 1:
            columns.use(columns.Source({tables[0].name: tables[0]}))
        else:
            made = combine([_guessed(columns.Source({table.name: table})) for table in tables])
            choose(tickets=made)
            columns.remember(None, made)
    state.pick()


def _guessed(source: columns.Source) -> TicketSet:
    """The tickets of one of several tables, with a note that says which column was taken for what."""
    said = ", ".join(f"{label.lower()} = {column}" for field, label in columns.LABELS.items()
                     if (column := getattr(source.columns, field)))
    found = source.tickets()
    return replace(found, notes=(f"columns: {said or 'none recognised'}", *found.notes))


def _read_database(files: list[tuple[str, bytes]]) -> None:
    choose(catalog=open_catalog(files))


def choose(tickets: TicketSet | None = None, catalog: Catalog | None = None) -> None:
    """Puts an upload on the desk. Where a guess by names finds few of the customers and products that tickets name, the
    columns that hold them are looked for by their values."""
    now = state.whole()
    tickets, catalog = tickets or now.tickets, catalog or now.catalog
    state.choose(tickets, joined_by_values(catalog, tickets))


def _use_sample(sample: str) -> None:
    for name in ("_tickets_error", "_database_error"):
        st.session_state.pop(name, None)
    state.choose_sample(sample)


def _use_no_database() -> None:
    state.choose(catalog=state.no_catalog())


# --- what is there now -----------------------------------------------------------------------------------------------


def notes(lines: tuple[str, ...]) -> None:
    """What the reader did, one plain line each; what may be wrong comes first, and many lines fold."""
    lines = tuple(sorted((f"⚠ {line}" if _is_flagged(line) else f"· {line}" for line in lines),
                         key=lambda line: line[0] != "⚠"))
    with st.container(gap="xsmall"):
        for line in lines[:SHOWN_NOTES]:
            st.text(line)
    if more := lines[SHOWN_NOTES:MOST_NOTES]:
        with st.expander(plural(len(lines) - SHOWN_NOTES, "more note"), type="compact"):
            for line in more:
                st.text(line)


def _is_flagged(line: str) -> bool:
    return any(telling in line for telling in ("repeated ids, kept apart", "no column holds the text of tickets",
                                               "neither subject nor body", "pull requests among the issues"))
