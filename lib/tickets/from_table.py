"""A table and its columns into tickets: keys that are never shared, comments joined in order, HTML as text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lib.errors import InputError
from lib.phrases import plural
from lib.tickets.columns import Columns
from lib.tickets.html_text import html_to_text, looks_like_html, without_embedded
from lib.tickets.names import plain
from lib.tickets.table import Table, say_places
from lib.tickets.ticket import Ticket, TicketSet
from lib.tickets.visible import visible

_COMMENTS = {"comment", "comments", "public comment", "internal note", "note", "notes", "reply", "replies",
             "kommentar", "kommentare", "antwort", "commentaire", "comentario", "comment comments",
             "conversation parts", "conversation parts conversation parts", "comments and work notes", "work notes",
             "fields comment comments"}


def to_tickets(table: Table, columns: Columns) -> TicketSet:
    """One ticket per row, in order, none left out. Texts are whole; what was changed in them is told in the notes.

    Control characters become visible (see visible.visible), HTML bodies become text, "\\r\\n" becomes "\\n". Raises
    InputError for a column that the table does not have.
    """
    missing = sorted(columns.used - set(table.columns))
    if missing:
        raise InputError(f'{table.name} has no column "{missing[0]}": choose among {", ".join(table.columns[:20])}')
    maker = _Maker(table, columns)
    tickets = _with_keys([maker.ticket(row) for row in table.rows], bool(columns.id))
    return TicketSet(table.name, tuple(tickets), (*table.notes, *maker.notes(), *_notes(tickets, columns, table)))


def combine(sets: Sequence[TicketSet]) -> TicketSet:
    """Several uploads as one set. Every ticket stays; ids that repeat get keys of their own."""
    if len(sets) == 1:
        return sets[0]
    tickets = _with_keys([ticket for part in sets for ticket in part.tickets], True)
    notes = [f"{part.name}: {note}" for part in sets for note in part.notes]
    return TicketSet(" + ".join(part.name for part in sets), tuple(tickets), (*notes, *_repeat_note(tickets)))


class _Maker:
    """Turns rows into tickets and counts what it changed."""

    def __init__(self, table: Table, columns: Columns):
        position = {name: i for i, name in enumerate(table.columns)}
        parts = ("id", "subject", "customer", "product", "created")
        self._parts = {part: position[c] for part in parts if (c := getattr(columns, part)) is not None}
        self._bodies = [position[name] for name in _body_columns(table, columns)]
        used = {*self._parts.values(), *self._bodies}
        self._extra = [(name, i) for name, i in position.items() if i not in used]
        self._html = self._controls = self._embedded = 0

    def ticket(self, row: tuple[str, ...]) -> Ticket:
        parts = {part: self._shown(_names_in(row[i])) for part, i in self._parts.items()}
        codes = {part: " ".join(parts.get(part, "").split()) for part in ("id", "customer", "product", "created")}
        if "<" in parts.get("subject", ""):
            parts["subject"] = self._plain(parts["subject"])
        bodies = [self._text(row[i]) for i in self._bodies if row[i]]
        extra = {name: self._shown(row[i]) for name, i in self._extra if row[i]}
        return Ticket(key="", **{**parts, **codes}, body="\n\n".join(bodies), extra=extra)

    def notes(self) -> list[str]:
        told = [
            (self._html, "held HTML, shown as plain text"),
            (self._embedded, "held an embedded file, left out"),
            (self._controls, "held control characters, written so that they can be seen"),
        ]
        return [f"{plural(n, 'text')} {what}" for n, what in told if n]

    def _text(self, cell: str) -> str:
        return "\n\n".join(map(self._plain, _comment_texts(cell)))

    def _plain(self, text: str) -> str:
        if "<" in text and looks_like_html(text):
            self._html += 1
            text = html_to_text(text)
        bare = without_embedded(text)
        self._embedded += bare is not text and bare != text
        if "\r" in bare:
            bare = re.sub(r"\r+\n|\r", "\n", bare)
        return self._shown(bare)

    def _shown(self, text: str) -> str:
        shown = visible(text)
        self._controls += shown is not text and shown != text
        return shown


def _body_columns(table: Table, columns: Columns) -> list[str]:
    """The body's column, then repeated columns of its name and comment columns, in the order of the file."""
    base = _base(columns.body) if columns.body else None
    more = [name for at, name in enumerate(table.columns) if name not in columns.used
            and (_base(name) == base or plain(_base(name)) in _COMMENTS)
            and not all(row[at].isdecimal() or not row[at] for row in table.rows)]    # GitHub's "comments" is a count
    return [columns.body, *more] if columns.body else more


def _base(name: str) -> str:
    return re.sub(r" #\d+$", "", name)


_TEXT_KEYS = ("plain_body", "body_text", "body", "text", "content", "message")


def _comment_texts(cell: str) -> list[str]:
    """The texts, in order, of a cell that is a JSON list of comments; comments without words (a note that something was
    closed) are left out. Any other cell as it is."""
    comments = [c for c in _objects(cell) if any(k in c for k in _TEXT_KEYS)]
    texts = [next((c[k] for k in _TEXT_KEYS if c.get(k)), "") for c in comments]
    if not any(texts) or len(comments) < len(_objects(cell)) or not all(isinstance(t, str) for t in texts):
        return [cell]
    return [text for text in texts if text]


def _names_in(cell: str) -> str:
    """The names in a cell that is a JSON list of named objects (Jira's components); any other cell as it is."""
    names = [thing.get("name") for thing in _objects(cell)]
    return ", ".join(names) if names and all(isinstance(name, str) and name for name in names) else cell


def _objects(cell: str) -> list[dict]:
    """The objects of a JSON list of nothing else; empty for any other text."""
    if not cell.startswith("[{") or not cell.endswith("}]"):
        return []
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError):
        return []
    return found if all(isinstance(thing, dict) for thing in found) else []


# --- keys and notes ---------------------------------------------------------------------------------------------------


def _with_keys(tickets: Iterable[Ticket], has_ids: bool) -> list[Ticket]:
    """Each ticket with a key of its own: the id, "id#2" for a repeated one, the row's number where there is no id."""
    tickets = list(tickets)
    reserved = {ticket.id for ticket in tickets}
    counts: dict[str, int] = {}
    taken: set[str] = set()
    found = []
    for number, ticket in enumerate(tickets, start=1):
        base = key = ticket.id or (f"row {number}" if has_ids else str(number))
        counts[base] = counts.get(base, 0) + 1
        while key in taken or (key != base and key in reserved):
            key = f"{base}#{counts[base]}"
            counts[base] += key in taken or key in reserved
        taken.add(key)
        found.append(replace(ticket, key=key, id=ticket.id or key))
    return found


def _notes(tickets: list[Ticket], columns: Columns, table: Table) -> list[str]:
    told = []
    if not columns.id:
        told.append("no id column: tickets are numbered by row")
    elif unnamed := [t.key for t in tickets if t.key.startswith("row ") and t.id == t.key]:
        told.append(f"no id, numbered by row ({say_places('ticket', unnamed)})")
    told += _repeat_note(tickets)
    if empty := [t.key for t in tickets if not t.body.strip() and not t.subject.strip()]:
        told.append(f"neither subject nor body ({say_places('ticket', empty)})")
    if bare := [t.key for t in tickets if not t.body.strip() and t.subject.strip()]:
        told.append(f"empty body, only a subject ({say_places('ticket', bare)})")
    if pulls := next((c for c in table.columns if c.startswith("pull_request.")), None):
        at = table.columns.index(pulls)
        told.append(f"pull requests among the issues: {sum(1 for row in table.rows if row[at]):,}")
    return told


def _repeat_note(tickets: list[Ticket]) -> list[str]:
    repeated = [t.key for t in tickets if t.key != t.id]
    return [f"repeated ids, kept apart as {say_places('ticket', repeated)}"] if repeated else []
