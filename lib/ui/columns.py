"""The file behind the tickets: which of its tables and columns is what, guessed, with examples, and changeable."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import streamlit as st

from lib.errors import PlaygroundError
from lib.phrases import plural
from lib.tickets import Columns, Table, TicketSet, guess_columns, to_tickets
from lib.tickets.encoding import ENCODINGS
from lib.tickets.readers import guessed_encoding, read_choices
from lib.tickets.views import ColumnView, columns_of
from lib.tickets.visible import visible
from lib.ui import format as fmt
from lib.ui import state

LABELS = {"id": "Ticket id", "subject": "Subject", "body": "Text", "customer": "Customer", "product": "Product",
          "created": "Created", "label": "Gold label"}
MEANING = {"label": "What a person said each ticket is about. No model gets to see it.",
           "body": "Comment columns of the same kind are added below it."}
NONE = "(none)"
WIDTH = 150     # pixels of a choice
MOST_KEPT = 50 * 2**20      # bytes of a file that is kept to be read again
ENCODING_HELP = "How the file's bytes become letters. It does not say so itself: if words look wrong, choose another."
SHOWN = 24      # characters of examples below it


@dataclass(frozen=True)
class Text:
    """A file in an encoding that had to be guessed, kept to be read again in another one."""

    name: str
    data: bytes
    guessed: str
    codec: str                  # as chosen; "": as it was guessed


@dataclass(frozen=True)
class Source:
    """What was uploaded, while this session has it, and what is taken of it."""

    tables: dict[str, Table]            # by the names of sheets or lists, the likeliest first
    sheet: str = ""
    chosen: Columns | None = field(default=None)
    text: Text | None = None            # where its encoding had to be guessed

    @property
    def table(self) -> Table:
        return self.tables[self.sheet] if self.sheet else next(iter(self.tables.values()))

    @cached_property
    def columns(self) -> Columns:
        return self.chosen or guess_columns(self.table)

    @cached_property
    def views(self) -> dict[str, ColumnView]:
        return {view.name: view for view in columns_of(self.table, examples=2, longest=40)}

    def tickets(self) -> TicketSet:
        made = to_tickets(self.table, self.columns)
        return replace(made, notes=(_account(self.table), *made.notes))

    def with_columns(self, chosen: Columns) -> Source:
        other = replace(self, chosen=chosen)
        if "views" in vars(self):
            vars(other)["views"] = self.views
        return other


def read(name: str, data: bytes, codec: str = "") -> Source:
    """The source that one file is, in an encoding or in the one that is found. Raises UnreadableFile."""
    tables = read_choices(name, data, codec)
    guessed = guessed_encoding(data) if len(data) <= MOST_KEPT else ""
    return Source(tables, text=Text(name, data, guessed, codec) if guessed else None)


def _account(table: Table) -> str:
    """"412 rows in the file: 410 kept as tickets, 2 left out"."""
    if not table.left_out:
        return f"{plural(table.found, 'row')} in the file, all kept as tickets"
    return (f"{plural(table.found, 'row')} in the file: {len(table.rows):,} kept as tickets, "
            f"{table.left_out:,} left out")


def use(source: Source) -> None:
    """Puts its tickets on the desk. Raises PlaygroundError, and then changes nothing."""
    from lib.ui import uploads

    made = source.tickets()
    uploads.choose(tickets=made)
    remember(source, made)


def remember(source: Source | None, made: TicketSet) -> None:
    """`source` is None where several tables of different columns were added up."""
    st.session_state["_source"] = (source, made)


def current() -> Source | None:
    """The file behind the tickets on the desk, while this session still has it."""
    if _is_behind_them():
        return st.session_state["_source"][0]
    sample = state.whole().sample
    return _sample(sample) if sample else None


def _is_behind_them() -> bool:
    if "_source" not in st.session_state:
        return False
    made, there = st.session_state["_source"][1], state.whole().tickets
    return made is there or len(made) == len(there) and made.version == there.version


@st.cache_resource(show_spinner=False)
def _sample(name: str) -> Source:
    table, chosen = state.sample_table(name)
    return Source({table.name: table}, chosen=chosen)


# --- the choices -----------------------------------------------------------------------------------------------------


def choices(page: str) -> None:
    """Each part of a ticket with its column, two examples and how full it is; a change makes the tickets anew."""
    source = current()
    if source is None:
        st.caption("The columns of files that differ are guessed, each file's by its own header; the notes below say "
                   "what was found. To change columns, upload one file." if _is_behind_them() else
                   "To change columns, upload the file again: it is not kept, only the tickets read from it are.")
        return
    with st.container(horizontal=True):
        if len(source.tables) > 1:
            _choice(f"{page}.sheet", "Sheet or table", list(source.tables), source.sheet or next(iter(source.tables)),
                    lambda name: Source(source.tables, name, text=source.text), width=2 * WIDTH + 16)
        if text := source.text:
            _choice(f"{page}.encoding", "Encoding", ["", *ENCODINGS], text.codec,
                    lambda codec: read(text.name, text.data, codec), width=2 * WIDTH + 16,
                    format_func=lambda codec: ENCODINGS.get(codec) or f"guessed: {ENCODINGS[text.guessed]}",
                    help=ENCODING_HELP)
    with st.container(horizontal=True, key=f"{page}_columns"):
        for part, label in LABELS.items():
            _column(page, part, label, source)


def _column(page: str, part: str, label: str, source: Source) -> None:
    column = getattr(source.columns, part)
    with st.container(width=WIDTH, gap="xsmall"):
        _choice(f"{page}.column.{part}", label, [NONE, *source.table.columns], column or NONE,
                lambda name: source.with_columns(replace(source.columns, **{part: None if name == NONE else name})),
                help=MEANING.get(part))
        st.text(_seen(source, column))


def _seen(source: Source, column: str | None) -> str:
    """"C-9 · C-4" and below it "398 of 412 filled"."""
    if not column:
        return "–"
    view, rows = source.views[column], len(source.table.rows)
    examples = fmt.cut(" · ".join(map(visible, view.examples)), SHOWN) or "nothing in it"
    filled = f"all {rows:,} filled" if view.filled == rows else f"{view.filled:,} of {rows:,} filled"
    return f"{examples}\n{filled}"


def _choice(key: str, label: str, options: list[str], now: str, changed: Any, **options_of_widget: Any) -> None:
    def change() -> None:
        try:
            use(changed(st.session_state[key]))
            st.session_state["_tickets_error"] = ""
        except PlaygroundError as error:
            st.session_state["_tickets_error"] = str(error)
    st.session_state[key] = now
    st.selectbox(label, options, key=key, on_change=change, **options_of_widget)
