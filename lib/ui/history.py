"""The history: every run in one row, filtered and paged by the store, and which of the rows are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from math import ceil
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from lib.errors import StoreError
from lib.models import model
from lib.phrases import plural
from lib.runs.store import Listed, Run, Totals, Wanted
from lib.tickets.visible import visible
from lib.ui import connection, live, recent, simulation, state
from lib.ui import format as fmt

ROWS = 100          # on one page of the table
POLL = 2.0          # seconds between two looks while a listed run is at work
ROW_HEIGHT, MOST_IN_SIGHT = 35, 12      # pixels of a row; rows in sight, more are scrolled to
CHOICES = {         # of the filters
    "shape": ("All shapes", state.SHAPES),
    "status": ("Every status", ("done", "running", "stopped", "failed", "interrupted")),
    "source": ("All sources", tuple(connection.KINDS)),
}
COLOURS = {
    "shape": live.COLOUR,
    "source": {**connection.COLOURS, "recorded": "yellow"},
}
SILENT = ("calls failed", "left out", "name", "note", "origin", "why")     # shown only where a row has something there
HELP = {
    "#": "Runs that were started together have the same number.",
    "calls": "Of an agent: turns. Calls that failed are counted, too.",
    "input tokens": "Fresh, written to the cache and read from it, as reported.",
    "cost": "At the prices of the day the run began; of a replay, what it would list. unknown: no price is known.",
    "time": "From the first call to the end of the last, on the run's own clock.",
    "left out": "What the sums leave out: they are more than what is shown.",
    "source": "Who answered. replay: with the replies of an earlier run, nothing was sent. recorded: opened from a "
              "recording, not made here.",
    "origin": "Where the replies of a replay or of an opened recording came from.",
}


@dataclass(frozen=True)
class View:
    """The rows on this page of the table, of `found` that fit the filters, of `kept` in all."""

    rows: list[Listed]
    found: int
    kept: int


def view(page: str) -> View:
    """The filters on one line, and what they leave."""
    kept = state.how_many_runs(Wanted())
    if not kept:
        _nothing_yet(page)
        return View([], 0, 0)
    with st.container(horizontal=True, vertical_alignment="center", key=f"{page}_filters"):
        wanted = _filters(page)
        found = state.how_many_runs(wanted)
        st.caption(plural(kept, "run") if found == kept else f"{found:,} of {plural(kept, 'run')}", width="content")
    number = min(max(1, st.session_state.get(f"{page}.page", 1)), max(1, ceil(found / ROWS)))
    return View(state.listed(wanted, ROWS, (number - 1) * ROWS), found, kept)


def _nothing_yet(page: str) -> None:
    st.text("Every run will be one row here: what it was made of, what it took and what became of it. Rows can be "
            "opened, compared, named, saved, replayed and deleted.")
    if st.button("Go to the Run page", type="primary", icon=":material/play_arrow:", key=f"{page}.to_run"):
        st.switch_page("pages/run.py")


# --- the filters -----------------------------------------------------------------------------------------------------


def _filters(page: str) -> Wanted:
    typed = _kept_filter(page, "text", st.text_input, "Search", placeholder="Search data, design, model, note …",
                         icon=":material/search:", max_chars=100, width="stretch")
    chosen = {name: _kept_filter(page, name, st.selectbox, name, options=["", *options], width=150,
                                 format_func=lambda value, every=every: value or every)
              for name, (every, options) in CHOICES.items()}
    return Wanted(typed, **chosen)


def _kept_filter(page: str, name: str, widget: Any, label: str, **options: Any) -> str:
    """A filter that outlives a visit to another page. A change begins at the first page of the table."""
    key, kept = f"{page}.filter.{name}", st.session_state.setdefault("_history_filters", {})
    st.session_state.setdefault(key, kept.get(name, ""))

    def keep() -> None:
        kept[name] = st.session_state[key]
        st.session_state.pop(f"{page}.page", None)
    return widget(label, key=key, on_change=keep, label_visibility="collapsed", **options)


def _no_filters(page: str) -> None:
    for name in ("text", *CHOICES):
        st.session_state[f"{page}.filter.{name}"] = st.session_state["_history_filters"][name] = ""
    st.session_state.pop(f"{page}.page", None)


# --- what is chosen --------------------------------------------------------------------------------------------------


def choose(run_ids: Sequence[str]) -> None:
    """Makes these the chosen runs, whatever is ticked in the table."""
    st.session_state["_history_chosen"] = list(run_ids)
    st.session_state["_history_table"] = _new_key()


def chosen(shown: View) -> list[Listed]:
    """The chosen runs, newest first. Those that a filter or another page of the table hides stay chosen."""
    session, ids = st.session_state, [row.run.id for row in shown.rows]
    kept, ticked = session.get("_history_chosen", []), _ticked()
    if ticked is not None:
        seen = session.get("_history_seen", [])
        session["_history_chosen"] = kept = [k for k in kept if k not in seen] + [
            seen[place] for place in ticked if place < len(seen)]
    by_id = {row.run.id: row for row in shown.rows}
    hidden = [run_id for run_id in kept if run_id not in ids]
    found = [by_id[run_id] for run_id in kept if run_id in by_id] + (state.listed_runs(hidden) if hidden else [])
    session["_history_chosen"] = [row.run.id for row in found]      # without what was deleted meanwhile
    return sorted(found, key=lambda row: -row.run.created)


def _ticked() -> list[int] | None:
    """The rows that are ticked in the browser, of those that it was told last; None for a table it has not seen."""
    told = st.session_state.get(st.session_state.get("_history_table", "history.table.0"))
    return None if told is None else list(told["selection"]["rows"])


def _new_key() -> str:
    st.session_state["_history_tables"] = st.session_state.get("_history_tables", 0) + 1
    return f"history.table.{st.session_state['_history_tables']}"


# --- the table -------------------------------------------------------------------------------------------------------


def table(page: str, shown: View) -> None:
    """One row per run. A table is told what is ticked only when it is new, so it is made anew when rows moved."""
    if not shown.kept:
        return
    if not shown.rows:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption("No run fits these filters.", width="content")
            st.button("Show all", key=f"{page}.show_all", on_click=_no_filters, args=(page,), type="tertiary")
        return
    session, ids = st.session_state, [row.run.id for row in shown.rows]
    now = [place for place, run_id in enumerate(ids) if run_id in session.get("_history_chosen", [])]
    if now != sorted(_ticked() or []) or "_history_table" not in session:
        session["_history_table"] = _new_key()
    session["_history_seen"] = ids
    cells = _without_silent(_all_cells(shown.rows))
    st.dataframe(cells, hide_index=True, key=session["_history_table"], on_select="rerun", selection_mode="multi-row",
                 selection_default={"selection": {"rows": now}}, placeholder="unknown", row_height=ROW_HEIGHT,
                 height=ROW_HEIGHT * (min(len(cells), MOST_IN_SIGHT) + 1) + 2, column_config=_columns(shown.rows),
                 alt="Every run: shape, data, design, status, tokens, cost, time")
    if shown.found > ROWS:
        st.pagination(ceil(shown.found / ROWS), key=f"{page}.page")
    if any(row.run.source == "simulated" for row in shown.rows):
        st.caption(f"simulated: {simulation.RULES}")
    if any(row.run.source == "replay" for row in shown.rows):
        st.caption("replay: recorded replies, nothing was sent or paid; its cost is what it would list.")
    _watch(page, shown.rows)


def _all_cells(rows: list[Listed]) -> list[dict[str, Any]]:
    """Most rows have the same few designs and data, each of which is put into words once."""
    designs = {key: design_line(run) for key, run in {id(row.run.design): row.run for row in rows}.items()}
    data = {key: data_line(row) for key, row in {row.run.data_id: row for row in rows}.items()}
    zone = _zone()
    return [{**_cells(row, zone), "design": designs[id(row.run.design)], "data": data[row.run.data_id]} for row in rows]


def _cells(row: Listed, zone: tzinfo) -> dict[str, Any]:
    run, totals = row.run, row.totals
    answered, began = totals.calls > totals.errors, datetime.fromtimestamp(run.created, zone)
    return {
        "#": row.number, "name": _cell(run.title) if is_renamed(row) else "", "started": began, "shape": [run.shape],
        "source": [run.source, *["recorded"] * is_opened(run)], "data": "", "design": "", "model": models_line(run),
        "status": run.status, "calls": totals.calls, "calls failed": totals.errors,
        "input tokens": totals.input if answered else None, "cost": totals.usd if answered else None,
        "time": live.elapsed(totals), "left out": _left_out(totals),
        "note": _cell(run.note), "origin": _cell(run.origin),
        "why": _cell(run.error), "at": began,
    }


def _cell(text: str) -> str:
    return visible(fmt.cut(text, 300))


def _zone() -> tzinfo:
    """The visitor's own."""
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def _left_out(totals: Totals) -> str:
    unpriced = totals.unpriced if totals.usd is not None else 0
    unreported = totals.unreported if totals.input is not None else 0
    parts = [f"{plural(unpriced, 'call')} without a price"] * bool(unpriced)
    parts += [f"{plural(unreported, 'call')} without tokens"] * bool(unreported)
    return ", ".join(parts)


def _without_silent(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    mute = {name for name in SILENT if not any(row[name] for row in cells)}
    return [{name: value for name, value in row.items() if name not in mute} for row in cells]


def _columns(rows: list[Listed]) -> dict[str, Any]:
    column = st.column_config
    widths = {"shape": 80, "source": 175 if any(is_opened(row.run) for row in rows) else 92}
    chips = {name: column.MultiselectColumn(name, options=list(colours), color=list(colours.values()),
                                            width=widths[name], help=HELP.get(name))
             for name, colours in COLOURS.items()}
    texts = {name: column.TextColumn(name, width=width, help=HELP.get(name)) for name, width in (
        ("data", 155), ("design", 155), ("model", 85), ("status", 82), ("left out", 170), ("name", 160), ("note", 200),
        ("origin", 220), ("why", 300))}
    return {**chips, **texts,
            "#": column.NumberColumn("#", width=42, help=HELP["#"]),
            "started": column.DatetimeColumn("started", format="distance", width=115),
            "at": column.DatetimeColumn("at", format="YYYY-MM-DD HH:mm:ss", width=150),
            "calls": column.NumberColumn("calls", format="localized", width=52, help=HELP["calls"]),
            "calls failed": column.NumberColumn("failed", format="localized", width=65),
            "input tokens": column.NumberColumn("input tokens", format="localized", width=92,
                                                help=HELP["input tokens"]),
            "cost": column.NumberColumn("cost", format="$%.4f", width=70, help=HELP["cost"]),
            "time": column.NumberColumn("time", format="%.1f s", width=70, help=HELP["time"])}


def _watch(page: str, rows: list[Listed]) -> None:
    """While a listed run is at work, the page is drawn anew whenever one of them got further."""
    working = _progress([row for row in rows if state.is_active(row.run)])
    with st.container(key=f"{page}_watch"):     # subtle: a polling fragment needs a container of its own
        st.fragment(_look, run_every=POLL if working else None)(working)


def _look(working: dict[str, tuple[str, int]]) -> None:
    try:
        moved = bool(working) and _progress(state.listed_runs(list(working))) != working
    except StoreError as error:     # a polling fragment has no page around it that could say so
        st.text(f"✕ {error}")
        return
    if moved:
        st.rerun()


def _progress(rows: list[Listed]) -> dict[str, tuple[str, int]]:
    """How far runs are, by their ids."""
    return {row.run.id: (row.run.status, row.totals.calls) for row in rows}


# --- a run in words, here and where two are compared ------------------------------------------------------------------


def data_line(row: Listed) -> str:
    """"40 tickets of tickets.csv"."""
    if row.data_name is None:
        return "data that are gone"
    tickets = state.tickets_in(row.run.data_id)
    return visible(f"{'' if tickets is None else plural(tickets, 'ticket') + ' of '}{fmt.cut(row.data_name)}")


def design_line(run: Run) -> str:
    """"default v1", "label prompt edited" where that is all that is other, else "mine · unlike the
    default: label prompt"."""
    name, edits = str(run.design.get("name", "")), recent.edits(run)
    if edits and name == state.default().name:
        return visible(edits.removeprefix(" · "))
    return visible(f"{fmt.cut(name)}{edits}")


def models_line(run: Run) -> str:
    """"Haiku 5.5" for one model in all steps of the run's shape; else each with its steps."""
    steps = run.design.get("steps", {})
    mine = {name: step for name, step in steps.items() if (name == "agent") == (run.shape == "agent")}
    used: dict[str, list[str]] = {}
    for name, step in mine.items():
        used.setdefault(model(str(step.get("model", ""))).name, []).append(name)
    if len(used) == 1:
        return visible(fmt.cut(next(iter(used))))
    return visible(" · ".join(f"{fmt.cut(name)} ({', '.join(names)})" for name, names in used.items()))


def is_opened(run: Run) -> bool:
    """Whether it was made elsewhere, or before, and came in a recording."""
    return bool(run.origin) and run.source != "replay"


def usual_title(row: Listed) -> str:
    return f"{row.data_name or ''} · {row.run.design.get('name', '')}"


def is_renamed(row: Listed) -> bool:
    return row.data_name is not None and row.run.title != usual_title(row)


def called(row: Listed) -> str:
    """"12 · agent · tickets.csv · default v1": what a run is called where it has to be told from others."""
    return visible(f"{row.number} · {row.run.shape} · {fmt.cut(row.run.title)}")
