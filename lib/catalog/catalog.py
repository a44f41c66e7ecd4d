"""The product database as the tools and the report see it: read-only tables in memory, looked up by exact text."""

from __future__ import annotations

import json
import math
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from contextlib import closing
from copy import copy
from dataclasses import dataclass
from typing import Any

from lib.catalog.guard import guard, quoted, text_of
from lib.catalog.roles import Role, Roles, guess_roles
from lib.catalog.source import Source
from lib.errors import InputError, UnreadableFile
from lib.tickets.table import one_line, unique_names
from lib.tickets.visible import visible

QUERY_SECONDS = 5.0
RESULT_BYTES = 20 * 2**20       # of one answer; a tool shows far less
ABOUT = "playground_about"      # our own table in `to_bytes`: name, notes and roles

Row = dict[str, Any]            # column → str, int, float or None: plain JSON values


@dataclass(frozen=True)
class TableInfo:
    columns: tuple[str, ...]
    rows: int


class Catalog:
    """Safe to use from many threads. Ids are compared as text: "0071" is not 71."""

    def __init__(self, connection: sqlite3.Connection, name: str, tables: dict[str, TableInfo], roles: Roles,
                 notes: Sequence[str] = ()):
        """`connection` is a database of our own making, finished and not yet guarded."""
        connection.text_factory = text_of
        self._deadline = guard(connection)
        self._connection, self._lock = connection, threading.Lock()
        self._indexes: dict[tuple[str, str, bool], dict[str, list[int]]] = {}
        self.name, self.tables, self.roles = name, tables, roles
        self.notes = tuple(one_line(note) for note in notes)

    def with_roles(self, roles: Roles) -> Catalog:
        """The same data with other roles. Raises InputError for a table or column that does not exist."""
        for role in filter(None, (roles.customers, roles.products, roles.incidents)):
            known = self.tables.get(role.table)
            if known is None:
                raise InputError(f'{self.name} has no table "{role.table}"')
            for column in (role.key, *role.columns.values()):
                if column not in known.columns:
                    raise InputError(f'table "{role.table}" has no column "{column}"')
        other = copy(self)      # one connection, one lock, one index for both
        other.roles = roles
        return other

    # --- look-ups ---

    def customer(self, id: str) -> Row | None:
        """By exact id; else by the only id that differs from it in upper and lower case alone."""
        role, text = self.roles.customers, str(id).strip()
        return self._first(role, text) or self._only(role, text)

    def product(self, id_or_name: str) -> Row | None:
        """By exact id; else by id, then by name, where upper and lower case are the same."""
        role, text = self.roles.products, str(id_or_name).strip()
        if not role or not text:
            return None
        name = role.columns.get("name")
        return (self._first(role, text) or self._first(role, text, fold=True)
                or (self._first(role, text, fold=True, column=name) if name else None))

    def incidents(self, product: str) -> list[Row]:
        """Every incident of the product, given by id or name, in the table's order. Empty for an unknown product."""
        role = self.roles.incidents
        column = role.columns.get("product_id") if role else None
        if not role or not column:
            return []
        index = self._index(role.table, column, fold=True)
        wanted = {name.casefold() for name in self._product_names(str(product).strip())}
        return self._at(role.table, sorted({rowid for name in wanted for rowid in index.get(name, ())}))

    def rows(self, table: str, limit: int, offset: int = 0) -> list[Row]:
        """One page of a table, in its own order. Raises InputError for an unknown table."""
        if table not in self.tables:
            raise InputError(f'{self.name} has no table "{table}": it has {", ".join(self.tables) or "none"}')
        sql = f"SELECT * FROM {quoted(table)} ORDER BY _rowid_ LIMIT ? OFFSET ?"
        return self.query(sql, (max(0, limit), max(0, offset)), max_rows=limit)

    def query(self, sql: str, params: Sequence[Any] = (), max_rows: int = 200) -> list[Row]:
        """At most `max_rows` rows of a SELECT. Raises InputError when it is anything else, fails, or takes too long."""
        with self._lock:
            self._deadline.start(QUERY_SECONDS)
            try:
                cursor = self._connection.execute(sql, params)
                with closing(cursor):
                    return _fetch(cursor, max_rows)
            except sqlite3.OperationalError as error:
                if "interrupted" in str(error):
                    raise InputError(f"the query took longer than {QUERY_SECONDS:g} s and was stopped") from error
                raise InputError(f"the query failed: {error}") from error
            except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
                raise InputError(f"the query was refused: {error} (only reading with SELECT is allowed)") from error

    # --- storing ---

    def to_bytes(self) -> bytes:
        """The whole catalog, roles and notes included, as one SQLite file for `from_bytes`."""
        about = json.dumps({"name": self.name, "notes": self.notes, "roles": self.roles.to_dict()})
        with closing(sqlite3.connect(":memory:")) as whole:
            with self._lock:
                data = self._connection.serialize() if self.tables else None    # SQLite has no bytes for no tables
            if data:
                whole.deserialize(data)
            whole.execute(f"CREATE TABLE {ABOUT}(about TEXT)")
            whole.execute(f"INSERT INTO {ABOUT} VALUES (?)", (about,))
            whole.commit()
            return whole.serialize()

    @staticmethod
    def from_bytes(data: bytes) -> Catalog:
        """What `to_bytes` was asked of. Raises UnreadableFile for any other bytes."""
        connection = _connect()
        try:
            connection.deserialize(data)
            about = json.loads(connection.execute(f"SELECT about FROM {ABOUT}").fetchone()[0])
            connection.execute(f"DROP TABLE {ABOUT}")
            connection.commit()
            return Catalog(connection, about["name"], _tables(connection), Roles.from_dict(about["roles"]),
                           about["notes"])
        except (sqlite3.Error, MemoryError, ValueError, TypeError, KeyError, OverflowError) as error:
            raise UnreadableFile(f"a stored product database cannot be read back ({error})") from error

    # --- inside ---

    def _first(self, role: Role | None, text: str, fold: bool = False, column: str = "") -> Row | None:
        if not role or not text:
            return None
        found = self._index(role.table, column or role.key, fold).get(text.casefold() if fold else text)
        return self._at(role.table, found[:1])[0] if found else None

    def _only(self, role: Role | None, text: str) -> Row | None:
        """The row with this id in upper or lower case, None where several ids are spelled so."""
        row = self._first(role, text, fold=True)
        if not role or not row:
            return None
        same = self._index(role.table, role.key, fold=False).get(id_text(row[role.key]), [])
        return row if same == self._index(role.table, role.key, fold=True)[text.casefold()] else None

    def _product_names(self, text: str) -> list[str]:
        row, role = self.product(text), self.roles.products
        if not row or not role:
            return [text]
        return [t for t in (id_text(row[role.key]), id_text(role.get(row, "name"))) if t]

    def _index(self, table: str, column: str, fold: bool) -> dict[str, list[int]]:
        """Row numbers by the text of a column, built on first use: one scan instead of one per look-up."""
        if (table, column, fold) not in self._indexes:
            index: dict[str, list[int]] = {}
            with self._lock:
                self._deadline.start(60)
                for rowid, value in self._connection.execute(
                        f"SELECT _rowid_, {quoted(column)} FROM {quoted(table)} ORDER BY _rowid_"):
                    text = id_text(value)
                    index.setdefault(text.casefold() if fold else text, []).append(rowid)
            self._indexes[table, column, fold] = index
        return self._indexes[table, column, fold]

    def _at(self, table: str, rowids: Sequence[int]) -> list[Row]:
        sql = f"SELECT * FROM {quoted(table)} WHERE _rowid_ = ?"
        return [row for rowid in rowids for row in self.query(sql, (rowid,), max_rows=1)]


def build_catalog(name: str, sources: Iterable[Source], notes: Sequence[str] = ()) -> Catalog:
    """A catalog of the tables, with names made unique and roles guessed."""
    connection = _connect()
    sources = list(sources)
    for source, table in zip(sources, _table_names(sources), strict=True):
        columns = unique_names(source.columns, str.casefold, reserved=["_rowid_"])
        connection.execute(f"CREATE TABLE {quoted(table)}({', '.join(map(quoted, columns))})")
        marks = ", ".join("?" * len(columns))
        connection.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", map(_visible, source.rows))
    connection.commit()
    tables = _tables(connection)
    return Catalog(connection, name, tables, guess_roles({t: info.columns for t, info in tables.items()}), notes)


def empty_catalog() -> Catalog:
    """No tables, no roles: every look-up finds nothing."""
    return build_catalog("no database", [])


def compact(row: Row, longest: int = 500) -> Row:
    """The row with long texts cut, each cut saying how long the text really is."""
    return {column: f"{value[:longest]}… ({len(value):,} characters in all)"
            if isinstance(value, str) and len(value) > longest else value for column, value in row.items()}


def id_text(value: Any) -> str:
    """An id as a person writes it: 71 for 71 and for 71.0, "0071" for "0071", nothing for NULL."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value).strip()


def _connect() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", check_same_thread=False)


def _table_names(sources: Sequence[Source]) -> tuple[str, ...]:
    """SQLite compares names without case, and keeps those that begin with sqlite_ for itself."""
    names = [f"table {s.name}" if s.name.casefold().startswith("sqlite_") else s.name for s in sources]
    return unique_names(names, str.casefold, reserved=[ABOUT], noun="table")


def _visible(row: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(visible(value) if isinstance(value, str) else value for value in row)


def _tables(connection: sqlite3.Connection) -> dict[str, TableInfo]:
    named = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid").fetchall()
    return {name: _info(connection, name) for (name,) in named}


def _info(connection: sqlite3.Connection, table: str) -> TableInfo:
    columns = [c[0] for c in connection.execute(f"SELECT * FROM {quoted(table)} LIMIT 0").description]
    return TableInfo(tuple(columns), connection.execute(f"SELECT count(*) FROM {quoted(table)}").fetchone()[0])


def _fetch(cursor: sqlite3.Cursor, max_rows: int) -> list[Row]:
    names = unique_names([column[0] for column in cursor.description or ()])
    found: list[Row] = []
    size = 0
    for values in cursor:
        if len(found) >= max_rows:
            break
        found.append(dict(zip(names, map(_plain, values), strict=True)))
        size += sum(len(v) for v in values if isinstance(v, str | bytes))
        if size > RESULT_BYTES:
            raise ValueError(f"the answer is longer than {RESULT_BYTES // 2**20} MB; ask for fewer rows or columns")
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return f"<blob, {len(value):,} bytes>"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
