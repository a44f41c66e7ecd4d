"""Uploads into a catalog: SQLite files, table files and zip archives of them, in any number and mix."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import PurePath
from typing import Any

from lib.catalog.catalog import ABOUT, Catalog, build_catalog
from lib.catalog.roles import Roles
from lib.catalog.source import Source
from lib.catalog.untrusted import MAGIC, read_sqlite
from lib.errors import UnreadableFile
from lib.tickets.archives import gunzip, is_gzip, is_workbook, is_zip, unzip
from lib.tickets.readers import UNPACKED_LIMIT, read_tables
from lib.tickets.table import one_line

SQLITE_NAMES = (".sqlite", ".sqlite3", ".db", ".db3", ".s3db", ".sl3")


def open_catalog(files: Sequence[tuple[str, bytes]]) -> Catalog:
    """The catalog of all tables in SQLite, CSV, XLSX, JSON and Parquet files, and zip archives of these. Every cell of
    a file that is no database is text.

    Raises UnreadableFile, one line naming the file, when one of the files, or all of an archive, cannot be read.
    """
    if not files:
        raise UnreadableFile("no file was given: upload a SQLite file, or CSV, XLSX or JSON files")
    files = [(one_line(name), data) for name, data in files]
    sources, notes = _all_of([(name, data) for name, data in files if not _is_beside(name, data)], _read_upload)
    left_out = [name for name, data in files if _is_beside(name, data)]
    if not sources:
        raise UnreadableFile(f"{left_out[0]} is what SQLite keeps beside a database: upload the database itself")
    notes += [f"{name} left out: changes that SQLite kept beside its database are not read; close the program that "
              "writes it and export it again" for name in left_out]
    return build_catalog(" + ".join(name for name, _ in files), sources, notes)


def reopen_catalog(name: str, data: bytes) -> Catalog:
    """What `Catalog.to_bytes` was asked of, from bytes that a stranger may have made: read as an upload is, with the
    name, notes and roles that it tells. Raises UnreadableFile or InputError, one line."""
    sources, notes = read_sqlite(name, data)
    about = next((source for source in sources if source.name == ABOUT), None)
    if about is None or len(about.rows) != 1 or len(about.rows[0]) != 1:
        raise UnreadableFile(f"{name} was not stored by the playground: it has no table {ABOUT}")
    told = _about(name, about.rows[0][0])
    found = build_catalog(told["name"], [s for s in sources if s is not about],
                          [*told["notes"], *notes])
    return found.with_roles(told["roles"])


def _about(name: str, text: Any) -> dict[str, Any]:
    try:
        told = json.loads(text)
        texts = [told["name"], *told["notes"]]
        roles = Roles.from_dict(told["roles"])
        for role in filter(None, vars(roles).values()):
            texts += [role.table, role.key, *role.columns.values()]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UnreadableFile(f"{name} does not tell what its tables are") from error
    if not all(isinstance(text, str) for text in texts):
        raise UnreadableFile(f"{name} does not tell what its tables are")
    return {"name": one_line(told["name"]), "notes": told["notes"], "roles": roles}


Found = tuple[list[Source], list[str]]      # tables and notes


def _all_of(files: Sequence[tuple[str, bytes]], read: Callable[[str, bytes], Found]) -> Found:
    """Notes say which file they are of, where there are several."""
    sources, notes = [], []
    for name, data in files:
        found, told = read(name, data)
        sources += found
        notes += [note if note.startswith(name) or len(files) == 1 else f"{name}: {note}" for note in told]
    return sources, notes


def _is_beside(name: str, data: bytes) -> bool:
    """Whether it is a write-ahead log, its index, or a rollback journal: never a table, and no whole database."""
    return name.lower().endswith(("-wal", "-shm", "-journal")) or data.startswith((
        b"7\x7f\x06\x82", b"7\x7f\x06\x83", b"\xd9\xd5\x05\xf9 \xa1c\xd7"))


def _read_upload(name: str, data: bytes) -> Found:
    """The tables of one file, or of every readable file in an archive."""
    if is_gzip(data):
        name, data = gunzip(name, data, UNPACKED_LIMIT)
    if not is_zip(data) or is_workbook(data):
        return _read(name, data)
    members, notes = unzip(name, data, UNPACKED_LIMIT, SQLITE_NAMES)
    sources: list[Source] = []
    refusals: list[str] = []
    for member, content in members:
        try:
            found, told = _read(member, content)
        except UnreadableFile as error:
            refusals.append(f"not read: {error}")
            continue
        sources += found
        notes += [f"{member}: {note}" for note in told]
    if not sources:
        raise UnreadableFile(f"{name} holds no file that can be read. {refusals[0].removeprefix('not read: ')}")
    return sources, refusals + notes


def _read(name: str, data: bytes) -> Found:
    """The tables of one file that is no archive: what it is, its content decides before its name does."""
    if data.startswith(MAGIC[:15]):
        return read_sqlite(name, data)
    if not name.lower().endswith(SQLITE_NAMES):
        return _read_tables(name, data)
    with suppress(UnreadableFile):
        sources, notes = _read_tables(name, data)
        if len(sources[0].columns) > 1:
            return sources, ["it is no SQLite file, but a table, and is read as one", *notes]
    return read_sqlite(name, data)      # which says what is wrong with it


def _read_tables(name: str, data: bytes) -> Found:
    tables = read_tables(name, data)
    titles = [PurePath(name).stem or name if len(tables) == 1 else table.name for table in tables]
    return ([Source(title, list(table.columns), list(table.rows)) for title, table in zip(titles, tables, strict=True)],
            [f"{title}: {note}" for title, table in zip(titles, tables, strict=True) for note in table.notes])
