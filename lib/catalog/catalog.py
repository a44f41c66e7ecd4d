"""The product database as the tools and the report see it: read-only tables in memory, looked up by exact text."""

from __future__ import annotations

import json
import math
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lib.catalog.guard import guard, quoted
from lib.catalog.keys import Keys
from lib.catalog.number import decimal_mark, number, say_numbers
from lib.catalog.roles import Role, Roles, guess_roles
from lib.catalog.source import Source
from lib.errors import InputError, UnreadableFile
from lib.phrases import plural
from lib.tickets.table import one_line, unique_names
from lib.tickets.visible import visible

QUERY_SECONDS = 5.0
COLUMN_SECONDS = 60.0           # to learn the keys or numbers of a column, once
RESULT_BYTES = 20 * 2**20       # of one answer; a tool shows far less
LONGEST_CELL = 2 * 2**20        # characters of one value that are kept
LONGEST_ROW = 6 * 2**20         # of one row: at four bytes each still below what the guard lets through
LONGEST_NAME = 200              # of a table or column
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
        self._deadline = guard(connection)
        self._connection, self._lock, self._learning = connection, threading.Lock(), threading.Lock()
        self._keys: dict[tuple[str, str], Keys] = {}
        self._decimals: dict[tuple[str, str], str] = {}
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
        return self._row(self.roles.customers, self._customer(id))

    def product(self, id_or_name: str) -> Row | None:
        """By exact id; else by id, then by name, where upper and lower case are the same."""
        return self._row(self.roles.products, self._product(id_or_name))

    def has_customer(self, id: str) -> bool:
        """Whether `customer` would find a row: quicker than to fetch it."""
        return self._customer(id) is not None

    def has_product(self, id_or_name: str) -> bool:
        return self._product(id_or_name) is not None

    def incidents(self, product: str) -> list[Row]:
        """Every incident of the product, given by id or name, in the table's order. Empty for an unknown product."""
        role = self.roles.incidents
        column = role.columns.get("product_id") if role else None
        if not role or not column:
            return []
        keys = self.keys(role.table, column)
        names = {name.casefold() for name in self._product_names(_asked(product))}
        return self._at(role.table, sorted({row for name in names for row in keys.any_case(name)}))

    def amount(self, role: Role, row: Row, field: str) -> float | None:
        """The number in a field of a row, None where there is none or it could mean two. A text such as "1.299" is
        read as the whole column is: as 1299 where others have a decimal comma."""
        column, value = role.columns.get(field, ""), role.get(row, field)
        if not isinstance(value, str) or not set(".,") & set(value):
            return number(value)
        return number(value, self.decimal(role.table, column))

    def decimal(self, table: str, column: str) -> str:
        """The decimal mark of the texts in a column, "," or "."; "" where they do not tell, or disagree."""
        with self._learning:
            if (table, column) not in self._decimals:
                with closing(self._column(table, column)) as values:
                    self._decimals[table, column] = decimal_mark(value for _, value in values)
            return self._decimals[table, column]

    def rows(self, table: str, limit: int, offset: int = 0) -> list[Row]:
        """One page of a table, in its own order. Raises InputError for an unknown table."""
        if table not in self.tables:
            raise InputError(f'{self.name} has no table "{table}": it has {", ".join(self.tables) or "none"}')
        limit, offset = max(0, limit), max(0, min(offset, 2**62))
        page = f"FROM {quoted(table)} WHERE _rowid_ > ? AND _rowid_ <= ?"       # our rows are numbered without a gap
        try:
            return self.query(f"SELECT * {page}", (offset, offset + limit), max_rows=limit)
        except InputError:      # a page of a few enormous values
            columns = self.tables[table].columns
            longest = max(100, RESULT_BYTES // (4 * max(1, limit) * len(columns)))
            cut = ", ".join(f"{_cut_in_sql(quoted(column), longest)} AS {quoted(column)}" for column in columns)
            return self.query(f"SELECT {cut} {page}", (offset, offset + limit), max_rows=limit)

    def query(self, sql: str, params: Sequence[Any] | Mapping[str, Any] = (), max_rows: int = 200) -> list[Row]:
        """At most `max_rows` rows of a SELECT; a mapping gives its `:names`. Raises InputError when it is anything
        else, fails, or takes too long."""
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

    def keys(self, table: str, column: str) -> Keys:
        """Where each id of a column stands, learned on first use: one scan instead of one per look-up."""
        with self._learning:
            if (table, column) not in self._keys:
                with closing(self._column(table, column)) as values:
                    self._keys[table, column] = Keys((row, id_text(value)) for row, value in values)
            return self._keys[table, column]

    def _column(self, table: str, column: str) -> Iterator[tuple[int, Any]]:
        sql = f"SELECT _rowid_, {quoted(column)} FROM {quoted(table)} ORDER BY _rowid_"
        with self._lock:
            self._deadline.start(COLUMN_SECONDS)
            try:
                yield from self._connection.execute(sql)
            except sqlite3.Error as error:
                raise InputError(f'column "{column}" of table "{table}" cannot be read ({error})') from error

    def _customer(self, id: str) -> int | None:
        role, text = self.roles.customers, _asked(id)
        if not role or not text:
            return None
        keys = self.keys(role.table, role.key)
        if (row := keys.exact(text)) is not None:
            return row
        return keys.any_case(text)[0] if keys.spellings(text) == 1 else None

    def _product(self, id_or_name: str) -> int | None:
        role, text = self.roles.products, _asked(id_or_name)
        if not role or not text:
            return None
        keys, name = self.keys(role.table, role.key), role.columns.get("name")
        if (row := keys.exact(text)) is not None:
            return row
        found = keys.any_case(text) or (self.keys(role.table, name).any_case(text) if name else [])
        return found[0] if found else None

    def _row(self, role: Role | None, row: int | None) -> Row | None:
        return self._at(role.table, [row])[0] if role and row is not None else None

    def _product_names(self, text: str) -> list[str]:
        row, role = self.product(text), self.roles.products
        if not row or not role:
            return [text] if text else []
        return [t for t in (id_text(row[role.key]), id_text(role.get(row, "name"))) if t]

    def _at(self, table: str, rows: Sequence[int]) -> list[Row]:
        found: list[Row] = []
        for start in range(0, len(rows), 100):
            some = rows[start:start + 100]
            sql = f"SELECT * FROM {quoted(table)} WHERE _rowid_ IN ({', '.join('?' * len(some))}) ORDER BY _rowid_"
            try:
                found += self.query(sql, some, max_rows=len(some))
            except InputError:      # many enormous rows: one by one each fits
                found += [row for one in some for row in self.rows(table, 1, one - 1)]
        return found


def build_catalog(name: str, sources: Iterable[Source], notes: Sequence[str] = ()) -> Catalog:
    """A catalog of the tables, with names made unique and roles guessed."""
    connection = _connect()
    sources, told = list(sources), list(notes)
    for source, table in zip(sources, _table_names(sources), strict=True):
        columns = unique_names(map(_short, source.columns), str.casefold, reserved=["_rowid_"])
        connection.execute(f"CREATE TABLE {quoted(table)}({', '.join(map(quoted, columns))})")
        marks, fitting = ", ".join("?" * len(columns)), _Fitting(len(columns))
        connection.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", map(fitting, source.rows))
        told += _naming(source, table) + fitting.notes(table)
        told += [f'{table}: column "{column}": {said}' for column, said in _numbers(source, columns)]
    connection.commit()
    tables = _tables(connection)
    return Catalog(connection, name, tables, guess_roles({t: info.columns for t, info in tables.items()}), told)


class _Fitting:
    """Makes rows fit to be kept and shown: control characters become visible, enormous texts are cut."""

    def __init__(self, columns: int):
        self._columns = columns
        self._cut = 0

    def __call__(self, row: Sequence[Any]) -> tuple[Any, ...]:
        row = tuple([visible(value) if isinstance(value, str) else value for value in row])
        size = sum([len(value) for value in row if isinstance(value, str)])
        return self._shorter(row, size) if size > LONGEST_CELL else row

    def _shorter(self, row: tuple[Any, ...], size: int) -> tuple[Any, ...]:
        longest = LONGEST_CELL if size <= LONGEST_ROW else LONGEST_ROW // self._columns
        self._cut += sum(1 for value in row if isinstance(value, str) and len(value) > longest)
        return tuple(compact({str(i): value for i, value in enumerate(row)}, longest).values())

    def notes(self, table: str) -> list[str]:
        return [f"{table}: {plural(self._cut, 'enormous text')} cut, each says how long it was"] if self._cut else []


def _naming(source: Source, table: str) -> list[str]:
    """Says so where a table could not keep its name."""
    asked = one_line(source.name)
    return [] if table == asked or not asked else [f'table "{_short(asked, 60)}" is called "{_short(table, 60)}" here']


def _numbers(source: Source, columns: Sequence[str]) -> list[tuple[str, str]]:
    """(column, how its numbers are read) where that is worth saying."""
    found = []
    for i, column in enumerate(columns):
        said = say_numbers([row[i] for row in source.rows[:500]]) and say_numbers(row[i] for row in source.rows)
        found += [(column, said)] if said else []
    return found


@lru_cache(maxsize=1)
def empty_catalog() -> Catalog:
    """No tables, no roles: every look-up finds nothing. One for all, since nothing in it can change."""
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
    names = [one_line(source.name) for source in sources]
    names = [f"table {name}" if name.casefold().startswith("sqlite_") else _short(name) for name in names]
    return unique_names(names, str.casefold, reserved=[ABOUT], noun="table")


def _short(name: str, longest: int = LONGEST_NAME) -> str:
    return name if len(name) <= longest else name[:longest - 1] + "…"


def _asked(text: Any) -> str:
    """An id as it may stand in a table, where control characters have become visible."""
    return visible(str(text)).strip()


def _cut_in_sql(column: str, longest: int) -> str:
    cut = f"substr({column}, 1, {longest}) || '… (' || length({column}) || ' characters in all)'"
    return f"CASE WHEN length({column}) > {longest} THEN {cut} ELSE {column} END"


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
