"""The popover "Export": a group of runs as a report, as tables and as a recording, each made when it is pressed."""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from lib.errors import StoreError
from lib.exports import rows, tables, take_home
from lib.exports.markdown import markdown_report
from lib.exports.page import html_report
from lib.runs.store import Run, Store
from lib.task.report import Report
from lib.tickets import Ticket, TicketSet
from lib.ui import downloads, export_story, state

KINDS = {"csv": ("CSV", "text/csv"), "json": ("JSON", "application/json")}
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
TABLES = {"runs": "what answered, what it took", "causes": "one row per cause", "customers": "of each cause",
          "labels": "every ticket with its cause", "checks": "what code checked",
          "calls": "tokens, dollars and seconds of each"}
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)     # names that Windows keeps for itself

# In Markdown a "_" has a backslash before it. Nothing here reads a key; somebody may have pasted one into a ticket.
KEY = re.compile(r"sk-ant-(?:\\?[\w-]){8,}", re.ASCII)
NO_KEY = "(a key, left out)"

Table = tuple[list[dict[str, Any]], tuple[str, ...]]     # rows, and columns that are there without a row too


def menu(page: str, runs: list[Run]) -> None:
    """Nothing where there is no run. A download reads the store alone, so it never disturbs a run that is at work."""
    if not runs:
        return
    with st.popover("Export", icon=":material/download:", key=f"{page}.export",
                    help="the report, its tables, and the recording"):
        _reports(page, runs)
        _tables(page, runs)
        _code(page, runs)
        _recording(page, runs)


def _reports(page: str, runs: list[Run]) -> None:
    st.markdown("**Report** :gray[answers, checks, costs, prompts]")
    with st.container(horizontal=True, gap="small"):
        _button(page, runs, "Web page", "report.html", "text/html", lambda export: export.html(),
                "One file without script; opens anywhere, prints well.")
        _button(page, runs, "Markdown", "report.md", "text/markdown", lambda export: export.markdown())


def _tables(page: str, runs: list[Run]) -> None:
    st.markdown("**Tables**")
    _button(page, runs, "All tables as one workbook", "tables.xlsx", XLSX, lambda export: export.workbook())
    with st.container(gap="xxsmall"):
        for name, what in TABLES.items():
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.text(f"{name.capitalize()}: {what}", width="stretch")
                for kind in KINDS:
                    _table_button(page, runs, name, kind)


def _table_button(page: str, runs: list[Run], name: str, kind: str) -> None:
    label, mime = KINDS[kind]
    _button(page, runs, label, f"{name}.{kind}", mime, lambda export: export.table(name, kind), type="tertiary")


def _code(page: str, runs: list[Run]) -> None:
    st.markdown("**Code** :gray[this design as a plain Python program]")
    _button(page, runs, "Get the code", "code.zip", "application/zip", lambda export: export.code(),
            "Prompts, tools, the two core functions and the data: runs as it is, without this app, against the API, a "
            "local server or `python -m lib.simulated`.")


def _recording(page: str, runs: list[Run]) -> None:
    st.markdown("**Recording** :gray[every request and reply]")
    _button(page, runs, "Save recording", "recording.json.gz", "application/gzip", lambda export: export.recording(),
            "Opens in any playground, without key or network, and can be replayed there. It holds the data, too.")


def _button(page: str, runs: list[Run], label: str, what: str, mime: str, make: Callable[[Export], bytes],
            help: str | None = None, type: str = "secondary") -> None:
    store, ids = state.store(), [run.id for run in runs]
    downloads.log_failures_in_one_line()
    st.download_button(label, lambda: make(Export(store, ids)), file_name=file_name(runs, what), mime=mime,
                       key=f"{page}.export.{what}", on_click="ignore", type=type, icon=":material/download:", help=help)


class Export:
    """A group of runs as files, from what the store holds at that moment. Raises StoreError when another window has
    deleted them meanwhile."""

    def __init__(self, store: Store, run_ids: list[str]):
        self._store, self._ids = store, run_ids
        self.runs = [run for run_id in run_ids if (run := store.run(run_id))]
        if not self.runs:
            raise StoreError("These runs were deleted, so no file can be made of them. Reload the page.")
        self.reports = {run.shape: Report.from_dict(run.report) for run in self.runs
                        if run.report and not state.is_active(run)}

    def html(self) -> bytes:
        return KEY.sub(NO_KEY, html_report(export_story.story(self._facts()))).encode()

    def markdown(self) -> bytes:
        return KEY.sub(NO_KEY, markdown_report(export_story.story(self._facts()))).encode()

    def workbook(self) -> bytes:
        found = {name: self._rows(name) for name in TABLES}
        return tables.as_xlsx({name: held for name, (held, _) in found.items()},
                              {name: columns for name, (_, columns) in found.items()})

    def table(self, name: str, kind: str) -> bytes:
        return {"csv": tables.as_csv, "json": tables.as_json}[kind](*self._rows(name))

    def code(self) -> bytes:
        design, data = state.design_of(self.runs[0]), state.stored_data(self.runs[0].data_id)
        if design is None or data is None:
            raise StoreError("The design or the data of this run are gone, so no program can be made of it.")
        return take_home.program(design, [run.shape for run in self.runs], data.tickets, data.catalog).zipped()

    def recording(self) -> bytes:
        from lib.runs import recording

        return recording.save(self._store, self._ids)

    def _rows(self, name: str) -> Table:
        found, columns = self._told_by(*self._found(name))
        return [{column: _keyless(value) for column, value in row.items()} for row in found], columns

    def _told_by(self, found: list[dict[str, Any]], columns: tuple[str, ...]) -> Table:
        """With what answered beside every answer: a table leaves the report that says so."""
        source = {run.shape: f"{run.source}: {run.origin}" if run.origin else run.source for run in self.runs}
        if "source" in columns:
            return found, columns
        if "shape" in columns:
            return [{**row, "source": source[row["shape"]]} for row in found], (*columns, "source")
        more = {f"{shape}_source": source[shape] for shape in self.reports}
        return [{**row, **more} for row in found], (*columns, *more)

    def _found(self, name: str) -> Table:
        return {"runs": lambda: (rows.run_rows(((run, self._store.totals(run.id)) for run in self.runs),
                                               self._tickets().name), rows.RUNS),
                "causes": lambda: (rows.cause_rows(self.reports), rows.CAUSES),
                "customers": lambda: (rows.customer_rows(self.reports), rows.CUSTOMERS),
                "labels": self._labels,
                "checks": lambda: (rows.check_rows(self.reports), rows.CHECKS),
                "calls": lambda: (rows.call_rows((run, self._store.calls(run.id)) for run in self.runs), rows.CALLS),
                }[name]()

    def _labels(self) -> Table:
        pipeline = next((run for run in self.runs if run.shape == "pipeline" and run.shape in self.reports), None)
        given = rows.given_labels(self._store, pipeline) if pipeline else {}
        return rows.label_rows(self.reports, self._tickets(), given), rows.label_columns(self.reports)

    def _tickets(self) -> TicketSet:
        """Where the data are gone, the ids that the answers name."""
        if data := state.stored_data(self.runs[0].data_id):
            return data.tickets
        keys = dict.fromkeys(key for report in self.reports.values() for key in (*report.labels, *report.failed))
        return TicketSet("", tuple(Ticket(key, key) for key in keys))

    def _facts(self) -> export_story.Facts:
        data = state.stored_data(self.runs[0].data_id)
        return export_story.Facts(
            self.runs, self.reports, {run.shape: self._store.calls(run.id) for run in self.runs},
            {run.shape: self._store.totals(run.id) for run in self.runs}, data and data.tickets, data and data.catalog,
            time.time())


def _keyless(value: Any) -> Any:
    if isinstance(value, list):
        return [_keyless(part) for part in value]
    return KEY.sub(NO_KEY, value) if isinstance(value, str) and "sk-ant-" in value else value


def file_name(runs: list[Run], what: str) -> str:
    """"tickets-2026-11-12-report.html": the data's name and the day of the runs, in letters that any system takes."""
    data = re.sub(r"\.(csv|tsv|jsonl?|xlsx)$", "", runs[0].title.partition(" · ")[0], flags=re.IGNORECASE)
    plain = unicodedata.normalize("NFKD", data).encode("ascii", "ignore").decode()
    name = re.sub(r"[^A-Za-z0-9]+", "-", plain).strip("-")[:40].strip("-") or "runs"
    if RESERVED.match(name):
        name = f"runs-{name}"
    return f"{name}-{_day(runs[0].created)}-{what}"


def _day(seconds: float) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"
    except (OverflowError, OSError, ValueError):
        return "undated"
