"""Reads the tables of an uploaded SQLite file that may be broken or hostile. Nothing is written, and only plain values
are taken over: no view, trigger, index or generated column comes along."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress

from lib.catalog.guard import Deadline, guard, quoted, text_of
from lib.catalog.source import Source
from lib.errors import UnreadableFile
from lib.tickets.table import one_line

MAGIC = b"SQLite format 3\0"
LONGEST_READ = 256 * 2**20  # bytes of one value of a table
MAX_TABLES = 500
MAX_COLUMNS = 100_000       # of all tables together
VIEW_ROWS = 100_000         # a view that gives more is left out
VIEW_SECONDS = 1.0          # of one view, or of one table with columns that are worked out
MADE_SECONDS = 2.0          # of all of these
FILE_SECONDS = 60.0
MADE_LENGTH = 32 * 1024     # bytes of one value or row that a view may work with; some functions take its square
MAX_CELLS = 60_000_000


def read_sqlite(name: str, data: bytes) -> tuple[list[Source], list[str]]:
    """(the tables and the views that may safely be read, notes). Raises UnreadableFile: one line."""
    if not data:
        raise UnreadableFile(f"{name} is empty (0 bytes): export the database again")
    if not data.startswith(MAGIC):
        raise UnreadableFile(f"{name} is no SQLite database, or an encrypted one: export it again without a password, "
                             "or as CSV")
    _refuse_cut_off(name, data)
    notes = []
    if 2 in data[18:20]:        # written with a write-ahead log; without this, memory cannot hold it
        data = data[:18] + b"\x01\x01" + data[20:]
        notes.append("the database used a write-ahead log: rows that were only in its -wal file are not in this upload")
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            return _read(name, connection, data, notes)
    except (sqlite3.Error, MemoryError, OverflowError, ValueError) as error:
        why = one_line(str(error))[:200]
        raise UnreadableFile(f"{name} is no usable SQLite database ({why}): export it again, or as CSV") from error


def _refuse_cut_off(name: str, data: bytes) -> None:
    """A file is as many whole pages as its header tells. SQLite would read a missing piece as zeros."""
    page = int.from_bytes(data[16:18], "big")
    page = 65_536 if page == 1 else page
    told = page * int.from_bytes(data[28:32], "big") if data[24:28] == data[92:96] else 0     # else older than the file
    if page < 512 or len(data) < 100:
        raise UnreadableFile(f"{name} is no usable SQLite database (its header is damaged or cut off): export it again")
    if len(data) % page or len(data) < told:
        raise UnreadableFile(f"{name} is no usable SQLite database (cut off: {len(data):,} bytes of "
                             f"{f'{told:,}' if told else 'whole pages'} are there): upload or export it again")


def _read(name: str, connection: sqlite3.Connection, data: bytes, notes: list[str]) -> tuple[list[Source], list[str]]:
    connection.deserialize(data)
    deadline = guard(connection, foreign=True)
    deadline.start(FILE_SECONDS)
    connection.text_factory = text_of
    objects = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE type IN ('table', 'view') "
                                 "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid").fetchall()
    if len(objects) > MAX_TABLES:
        raise UnreadableFile(f"{name} has {len(objects):,} tables and views, {MAX_TABLES} are the limit")
    budget = _Budget(4 * len(data) + 8 * 2**20)
    virtual = {title for _, title, sql in objects if _is_virtual(sql)}
    plain = [title for kind, title, sql in objects
             if kind == "table" and title not in virtual and not _is_shadow(title, virtual)]
    made = {title: sql or "" for kind, title, sql in objects if kind == "view" or title in virtual}
    found = _tables(connection, _columns_of(name, connection, plain), budget, deadline, notes)
    found += _views(connection, made, budget, deadline, notes)
    if not found:
        raise UnreadableFile(f"{name} holds no table" + (f": {notes[-1]}" if notes else ""))
    return found, notes


def _columns_of(name: str, connection: sqlite3.Connection, titles: list[str]) -> dict[str, dict[str, bool]]:
    """title -> column -> whether it is worked out whenever it is read."""
    found: dict[str, dict[str, bool]] = {}
    columns = 0
    for title in titles:
        with suppress(sqlite3.Error, ValueError):       # reading it will say why
            told = connection.execute(f"PRAGMA table_xinfo({quoted(title)})").fetchall()
            found[title] = {column: hidden == 2 for _, column, *_, hidden in told}
            columns += len(told)
        found.setdefault(title, {})
        if columns > MAX_COLUMNS:
            raise UnreadableFile(f"{name} has more than {MAX_COLUMNS:,} columns in its {len(titles):,} tables: export "
                                 "only the tables that matter, or as CSV")
    return found


def _is_virtual(sql: str | None) -> bool:
    return bool(re.match(r"\s*create\s+virtual", sql or "", re.IGNORECASE))


def _is_shadow(title: str, virtual: Iterable[str]) -> bool:
    """Whether a virtual table keeps its own books in this table. The words of full-text search are in _content."""
    return any(title.startswith(f"{owner}_") and title[len(owner) + 1:] in _SHADOWS for owner in virtual)


_SHADOWS = {"data", "idx", "docsize", "config", "segments", "segdir", "stat", "node", "parent", "rowid"}


class _Budget:
    """How much may be read in all. A file cannot hold more than its size; views and generated columns can make more."""

    def __init__(self, size: int, cells: int = MAX_CELLS):
        self.left, self.cells, self.seconds = size, cells, MADE_SECONDS

    @contextmanager
    def time(self, deadline: Deadline) -> Iterator[None]:
        """For what is worked out: a little time each, and in all."""
        began = time.monotonic()
        deadline.start(min(VIEW_SECONDS, self.seconds))
        try:
            yield
        finally:
            self.seconds -= time.monotonic() - began

    def spend(self, characters: int, cells: int) -> None:
        self.left -= characters + cells
        self.cells -= cells
        if self.left < 0:
            raise sqlite3.DataError("it unfolds to several times its size")
        if self.cells < 0:
            raise sqlite3.DataError(f"it unfolds to more than {MAX_CELLS:,} cells")


def _tables(connection: sqlite3.Connection, plain: dict[str, dict[str, bool]], budget: _Budget, deadline: Deadline,
            notes: list[str]) -> list[Source]:
    found = []
    for title, columns in plain.items():
        try:
            if any(columns.values()) and (made := _with_made_columns(connection, title, budget, deadline)):
                found.append(made)
                continue
            deadline.start(FILE_SECONDS)
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(LONGEST_READ, budget.left + 2**20))
            stored = [column for column, worked_out in columns.items() if not worked_out]
            found.append(_select(connection, title, budget, stored if len(stored) < len(columns) else ()))
            notes += [f'{_short(title)}: column "{_short(column)}" left out (worked out at every look, and it fails or '
                      "takes too long)" for column, worked_out in columns.items() if worked_out]
        except (sqlite3.Error, ValueError) as error:
            if any(word in str(error) for word in ("malformed", "not a database", "disk", "unfolds", "interrupted")):
                raise
            notes.append(f'table "{_short(title)}" left out ({_why(error)})')
    return found


def _with_made_columns(connection: sqlite3.Connection, title: str, budget: _Budget,
                       deadline: Deadline) -> Source | None:
    """The table with the columns that are worked out; None where they cannot be had quickly and in little room."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MADE_LENGTH)
    before = budget.left, budget.cells
    try:
        with budget.time(deadline):
            return _select(connection, title, budget)
    except (sqlite3.Error, ValueError) as error:
        if "malformed" in str(error):
            raise
        budget.left, budget.cells = before
        return None


def _select(connection: sqlite3.Connection, title: str, budget: _Budget, columns: Sequence[str] = (),
            limit: str = "") -> Source:
    """The rows of a table or view. Text that is no UTF-8 is found out on the way: reading takes twice as long then."""
    sql = f"SELECT {', '.join(map(quoted, columns)) or '*'} FROM {quoted(title)}{limit}"
    before = budget.left, budget.cells
    for read_text in (str, text_of):
        budget.left, budget.cells = before
        connection.text_factory = read_text
        try:
            with closing(connection.execute(sql)) as cursor:
                return Source(title, [column[0] for column in cursor.description], list(_rows(cursor, budget)))
        except sqlite3.OperationalError as error:
            if "decode" not in str(error):
                raise
    raise sqlite3.DataError("its text cannot be decoded")


def _rows(cursor: sqlite3.Cursor, budget: _Budget) -> Iterator[tuple]:
    many = 1
    while rows := cursor.fetchmany(many):
        kinds = {type(value) for row in rows for value in row}
        if bytes in kinds:
            rows = [tuple(f"<blob, {len(v):,} bytes>" if isinstance(v, bytes) else v for v in row) for row in rows]
        texts = [value for row in rows for value in row if isinstance(value, str)]
        size = sum(map(len, texts))
        budget.spend(size, len(rows) * len(rows[0]))
        many = max(1, min(200, 2 * many, 2**21 * len(rows) // (size + 1)))      # a row may be of many megabytes
        yield from (_without_nul(row) for row in rows) if any("\0" in text for text in texts) else rows


def _without_nul(row: tuple) -> tuple:
    return tuple(value.replace("\0", "") if isinstance(value, str) else value for value in row)


def _short(title: str) -> str:
    return one_line(title if len(title) <= 80 else title[:79] + "…")


def _why(error: Exception) -> str:
    """What SQLite says, which may name a column of any length."""
    return "it took too long" if "interrupted" in str(error) else one_line(str(error)[:200])


def _views(connection: sqlite3.Connection, made: dict[str, str], budget: _Budget, deadline: Deadline,
           notes: list[str]) -> list[Source]:
    """What the views give now. `made` holds the virtual tables too: they run code and are left out."""
    found = []
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MADE_LENGTH)
    for title, sql in made.items():
        try:
            _refuse_nesting(title, sql, made)
            with budget.time(deadline):
                found.append(_view(connection, title, budget))
        except (sqlite3.Error, ValueError) as error:
            notes.append(f'{"table" if _is_virtual(sql) else "view"} "{_short(title)}" left out ({_why(error)})')
    return found


def _refuse_nesting(title: str, sql: str, made: Iterable[str]) -> None:
    """Views on views, and WITH, can double in size at every step before the first row is read: no limit stops that."""
    if _is_virtual(sql):
        raise sqlite3.NotSupportedError("it is a virtual table, made by code; its texts are in its _content table")
    text = sql.casefold().replace('""', '"')
    if re.search(r"\bwith\b", text):
        raise sqlite3.NotSupportedError("it uses WITH")
    for other in made:
        if other != title and re.search(rf"(?<!\w){re.escape(other.casefold())}(?!\w)", text):
            raise sqlite3.NotSupportedError(f'it builds on "{_short(other)}"')


def _view(connection: sqlite3.Connection, title: str, budget: _Budget) -> Source:
    small = _Budget(min(budget.left, 8 * 2**20), budget.cells)
    before = small.left
    source = _select(connection, title, small, limit=f" LIMIT {VIEW_ROWS + 1}")
    if len(source.rows) > VIEW_ROWS:
        raise sqlite3.DataError(f"it gives more than {VIEW_ROWS:,} rows")
    budget.left -= before - small.left
    return source
