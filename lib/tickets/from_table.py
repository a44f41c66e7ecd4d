"""A table and its columns into tickets: keys that are never shared, comments joined in order, HTML as text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from lib.errors import InputError
from lib.phrases import plural
from lib.tickets.columns import Columns
from lib.tickets.comments import comments_in, names_in
from lib.tickets.html_text import html_to_text, looks_like_html, without_embedded
from lib.tickets.names import plain
from lib.tickets.table import Table, say_places
from lib.tickets.ticket import Ticket, TicketSet
from lib.tickets.visible import visible

_COMMENTS = {"comment", "comments", "public comment", "internal note", "note", "notes", "reply", "replies",
             "kommentar", "kommentare", "antwort", "commentaire", "comentario", "comment comments",
             "conversation parts", "conversation parts conversation parts", "comments and work notes", "work notes",
             "fields comment comments", "conversations", "messages", "ticket comments"}


def to_tickets(table: Table, columns: Columns) -> TicketSet:
    """One ticket per row, in order, none left out. Texts are whole; what was changed in them is told in the notes.

    Control characters become visible (see visible.visible), HTML bodies become text, "\\r\\n" becomes "\\n". Raises
    InputError for a column that the table does not have.
    """
    missing = sorted(columns.used - set(table.columns))
    if missing:
        raise InputError(f'{table.name} has no column "{missing[0]}": choose among {", ".join(table.columns[:20])}')
    maker = _Maker(table, columns)
    tickets = _with_keys(map(maker.ticket, table.rows), maker.ids(), bool(columns.id))
    return TicketSet(table.name, tuple(tickets), (*table.notes, *maker.notes(), *_notes(tickets, columns, table)))


def combine(sets: Sequence[TicketSet]) -> TicketSet:
    """Several uploads as one set. Every ticket stays; ids that repeat get keys of their own."""
    if len(sets) == 1:
        return sets[0]
    tickets = _with_keys((ticket for part in sets for ticket in part.tickets),
                         [ticket.id for part in sets for ticket in part.tickets], True)
    notes = [f"{part.name}: {note}" for part in sets for note in part.notes]
    return TicketSet(" + ".join(part.name for part in sets), tuple(tickets), (*notes, *_repeat_note(tickets)))


class _Maker:
    """Turns rows into tickets and counts what it changed."""

    def __init__(self, table: Table, columns: Columns):
        position = {name: i for i, name in enumerate(table.columns)}
        parts = ("id", "subject", "customer", "product", "created")
        self._rows = table.rows
        self._parts = {part: position[c] for part in parts if (c := getattr(columns, part)) is not None}
        self._body = position[columns.body] if columns.body else None
        self._comments = [position[name] for name in _comment_columns(table, columns)]
        self._labels = [position[name] for name in _label_columns(table, columns)]
        used = {*self._parts.values(), self._body, *self._comments, *self._labels}
        self._extra = [(name, i) for name, i in position.items() if i not in used]
        self._html = self._controls = self._embedded = 0

    def ids(self) -> list[str]:
        at = self._parts.get("id")
        return [""] * len(self._rows) if at is None else [self._code(row[at]) for row in self._rows]

    def ticket(self, row: tuple[str, ...]) -> dict[str, Any]:
        """All of a Ticket but its key and id."""
        cells = {part: row[i] for part, i in self._parts.items() if part != "id"}
        subject = self._shown(names_in(cells.get("subject", "")))
        if "<" in subject:
            subject = self._plain(subject)
        label = ", ".join(filter(None, (self._code(row[i]).strip('"') for i in self._labels)))
        extra = {name: self._shown(row[i]) for name, i in self._extra if row[i]}
        return {"subject": subject, "body": self._whole_body(row), "customer": self._code(cells.get("customer", "")),
                "product": self._code(cells.get("product", "")), "created": self._code(cells.get("created", "")),
                "label": label, "extra": extra}

    def notes(self) -> list[str]:
        told = [
            (self._html, "held HTML, shown as plain text"),
            (self._embedded, "held an embedded file, left out"),
            (self._controls, "held control characters, written so that they can be seen"),
        ]
        return [f"{plural(n, 'text')} {what}" for n, what in told if n]

    def _whole_body(self, row: tuple[str, ...]) -> str:
        """The body, then the comments in order, each after who said it, save a first one that is the body again."""
        texts = self._said(row[self._body]) if self._body is not None and row[self._body] else []
        first = texts[0][1].strip() if texts else ""
        for i in self._comments:
            if row[i]:
                said = self._said(row[i])
                again = first and said and len(texts) == 1 and said[0][1].strip() == first
                texts += said[1:] if again else said
                first = ""
        return "\n\n".join(f"{who}:\n{text}" if who else text for who, text in texts)

    def _said(self, cell: str) -> list[tuple[str, str]]:
        return [(self._code(who), self._plain(text)) for who, text in comments_in(cell)]

    def _plain(self, text: str) -> str:
        if "<" in text and looks_like_html(text):
            self._html += 1
            text = html_to_text(text)
        bare = without_embedded(text)
        self._embedded += bare is not text and bare != text
        if "\r" in bare:
            bare = re.sub(r"\r+\n|\r", "\n", bare)
        return self._shown(bare)

    def _code(self, cell: str) -> str:
        """An id, a name or a date, on one line."""
        shown = self._shown(names_in(cell))
        return " ".join(shown.split()) if shown and not shown.isalnum() else shown

    def _shown(self, text: str) -> str:
        shown = visible(text)
        self._controls += shown is not text and shown != text
        return shown


def _comment_columns(table: Table, columns: Columns) -> list[str]:
    """Repeated columns of the body's name, and comment columns, in the order of the file."""
    base = _base(columns.body) if columns.body else None
    return [name for at, name in enumerate(table.columns) if name not in columns.used
            and (_base(name) == base or plain(_base(name)) in _COMMENTS)
            and not all(row[at].isdecimal() or not row[at] for row in table.rows)]    # GitHub's "comments" is a count


def _label_columns(table: Table, columns: Columns) -> list[str]:
    """The label's column, and repeated ones of its name: Jira has a column "Labels" for each label."""
    if not columns.label:
        return []
    base = _base(columns.label)
    return [name for name in table.columns if name == columns.label or (
        _base(name) == base and name not in columns.used)]


def _base(name: str) -> str:
    return re.sub(r" #\d+$", "", name)


# --- keys and notes ---------------------------------------------------------------------------------------------------


def _with_keys(tickets: Iterable[Ticket | dict[str, Any]], ids: Sequence[str], has_ids: bool) -> list[Ticket]:
    """Each ticket with a key of its own: the id, "id#2" for a repeated one, the row's number where there is no id."""
    reserved = set(ids)
    counts: dict[str, int] = {}
    taken: set[str] = set()
    found = []
    for number, (ticket, own) in enumerate(zip(tickets, ids, strict=True), start=1):
        base = key = own or (f"row {number}" if has_ids else str(number))
        counts[base] = counts.get(base, 0) + 1
        while key in taken or (key != base and key in reserved):
            key = f"{base}#{counts[base]}"
            counts[base] += key in taken or key in reserved
        taken.add(key)
        found.append(Ticket(key=key, id=own or key, **ticket) if isinstance(ticket, dict)
                     else replace(ticket, key=key, id=own or key))
    return found


def _notes(tickets: list[Ticket], columns: Columns, table: Table) -> list[str]:
    told = []
    if not columns.id:
        told.append("no id column: tickets are numbered by row")
    elif unnamed := [t.key for t in tickets if t.key.startswith("row ") and t.id == t.key]:
        told.append(f"no id, numbered by row ({say_places('ticket', unnamed)})")
    if not columns.body and columns.subject:
        told.append("no column holds the text of tickets, only their subjects: choose one, or export with descriptions")
        return told + _repeat_note(tickets)
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
