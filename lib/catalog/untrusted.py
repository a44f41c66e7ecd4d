"""Reads the tables of an uploaded SQLite file that may be broken or hostile. Nothing is written, and only plain values
are taken over: no view, trigger, index or generated column comes along."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing

from lib.catalog.guard import Deadline, guard, quoted, text_of
from lib.catalog.source import Source
from lib.errors import UnreadableFile
from lib.tickets.table import one_line

MAX_TABLES = 500
MAX_COLUMNS = 100_000       # of all tables together
VIEW_ROWS = 100_000         # a view that gives more is left out
VIEW_SECONDS = 2.0          # of one view
VIEWS_SECONDS = 4.0        # of all
FILE_SECONDS = 60.0


def read_sqlite(name: str, data: bytes) -> tuple[list[Source], list[str]]:
    """(the tables and the views that may safely be read, notes). Raises UnreadableFile: one line."""
    if not data:
        raise UnreadableFile(f"{name} is empty (0 bytes): export the database again")
    notes = []
    if data[18:20] == b"\x02\x02":      # written with a write-ahead log; without this, memory cannot hold it
        data = data[:18] + b"\x01\x01" + data[20:]
        notes.append("the database used a write-ahead log: rows that were only in its -wal file are not in this upload")
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            return _read(name, connection, data, notes)
    except (sqlite3.Error, MemoryError, OverflowError, UnicodeError) as error:
        why = one_line(str(error))
        raise UnreadableFile(f"{name} is no usable SQLite database ({why}): export it again, or as CSV") from error


def _read(name: str, connection: sqlite3.Connection, data: bytes, notes: list[str]) -> tuple[list[Source], list[str]]:
    connection.deserialize(data)
    connection.text_factory = text_of
    deadline = guard(connection)
    deadline.start(FILE_SECONDS)
    objects = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE type IN ('table', 'view') "
                                 "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid").fetchall()
    if len(objects) > MAX_TABLES:
        raise UnreadableFile(f"{name} has {len(objects):,} tables and views, {MAX_TABLES} are the limit")
    budget = _Budget(4 * len(data) + 8 * 2**20)
    plain = [title for kind, title, sql in objects if kind == "table" and not _is_virtual(sql)]
    made = {title: sql or "" for kind, title, sql in objects if title not in plain}
    _check_columns(name, connection, plain)
    found = _tables(connection, plain, budget, notes)
    found += _views(connection, made, budget, deadline, notes)
    if not found:
        raise UnreadableFile(f"{name} holds no table" + (f": {notes[-1]}" if notes else ""))
    return found, notes


def _check_columns(name: str, connection: sqlite3.Connection, titles: list[str]) -> None:
    columns = 0
    for title in titles:
        try:
            columns += len(connection.execute(f"SELECT * FROM {quoted(title)} LIMIT 0").description)
        except sqlite3.Error:
            continue        # reading it will say why
        if columns > MAX_COLUMNS:
            raise UnreadableFile(f"{name} has more than {MAX_COLUMNS:,} columns in its {len(titles):,} tables: export "
                                 "only the tables that matter, or as CSV")


def _is_virtual(sql: str | None) -> bool:
    return bool(re.match(r"\s*create\s+virtual", sql or "", re.IGNORECASE))


class _Budget:
    """How much may be read in all. A file cannot hold more than its size; views and generated columns can make more."""

    def __init__(self, size: int):
        self.left = size

    def spend(self, row: tuple) -> None:
        self.left -= sum(len(value) if isinstance(value, str) else 1 for value in row)
        if self.left < 0:
            raise sqlite3.DataError("it unfolds to several times its size")


def _tables(connection: sqlite3.Connection, titles: list[str], budget: _Budget, notes: list[str]) -> list[Source]:
    found = []
    for title in titles:
        try:
            found.append(_select(connection, title, budget))
        except (sqlite3.Error, UnicodeError) as error:
            if any(word in str(error) for word in ("malformed", "not a database", "disk", "unfolds", "interrupted")):
                raise
            notes.append(f'table "{title}" left out ({error})')
    return found


def _select(connection: sqlite3.Connection, title: str, budget: _Budget, limit: str = "") -> Source:
    cursor = connection.execute(f"SELECT * FROM {quoted(title)}{limit}")
    return Source(title, [column[0] for column in cursor.description], list(_rows(cursor, budget)))


def _rows(cursor: sqlite3.Cursor, budget: _Budget) -> Iterator[tuple]:
    for row in cursor:
        row = tuple(f"<blob, {len(v):,} bytes>" if isinstance(v, bytes) else v for v in row)
        budget.spend(row)
        yield row


def _views(connection: sqlite3.Connection, made: dict[str, str], budget: _Budget, deadline: Deadline,
           notes: list[str]) -> list[Source]:
    """What the views give now. `made` holds the virtual tables too: they run code and are left out."""
    found, end = [], time.monotonic() + VIEWS_SECONDS
    for title, sql in made.items():
        deadline.start(min(VIEW_SECONDS, end - time.monotonic()))
        try:
            _refuse_nesting(title, sql, made)
            found.append(_view(connection, title, budget))
        except (sqlite3.Error, UnicodeError) as error:
            notes.append(f'{"table" if _is_virtual(sql) else "view"} "{title}" left out ({error})')
    return found


def _refuse_nesting(title: str, sql: str, made: Iterable[str]) -> None:
    """Views on views, and WITH, can double in size at every step before the first row is read: no limit stops that."""
    if _is_virtual(sql):
        raise sqlite3.NotSupportedError("it is a virtual table, made by code")
    text = sql.casefold().replace('""', '"')
    if re.search(r"\bwith\b", text):
        raise sqlite3.NotSupportedError("it uses WITH")
    for other in made:
        if other != title and re.search(rf"(?<!\w){re.escape(other.casefold())}(?!\w)", text):
            raise sqlite3.NotSupportedError(f'it builds on "{other}"')


def _view(connection: sqlite3.Connection, title: str, budget: _Budget) -> Source:
    small = _Budget(min(budget.left, 8 * 2**20))
    before = small.left
    source = _select(connection, title, small, f" LIMIT {VIEW_ROWS + 1}")
    if len(source.rows) > VIEW_ROWS:
        raise sqlite3.DataError(f"it gives more than {VIEW_ROWS:,} rows")
    budget.left -= before - small.left
    return source
