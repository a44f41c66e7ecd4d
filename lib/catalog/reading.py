"""Uploads into a catalog: one SQLite file, or any number of table files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from lib.catalog.catalog import Catalog, build_catalog
from lib.catalog.source import Source
from lib.catalog.untrusted import read_sqlite
from lib.errors import UnreadableFile
from lib.tickets.readers import read_tables

SQLITE_NAMES = (".sqlite", ".sqlite3", ".db", ".db3")


def open_catalog(files: Sequence[tuple[str, bytes]]) -> Catalog:
    """The catalog of one SQLite file, or of CSV, XLSX and JSON files with every cell as text.

    Raises UnreadableFile, one line naming the file, when anything in it cannot be read.
    """
    if not files:
        raise UnreadableFile("no file was given: upload a SQLite file, or CSV, XLSX or JSON files")
    if not any(_is_sqlite(name, data) for name, data in files):
        return _from_tables(files)
    if len(files) > 1:
        raise UnreadableFile("upload one SQLite file alone, or several CSV, XLSX or JSON files")
    name, data = files[0]
    sources, notes = read_sqlite(name, data)
    return build_catalog(name, sources, notes)


def _is_sqlite(name: str, data: bytes) -> bool:
    return data.startswith(b"SQLite format 3") or name.lower().endswith(SQLITE_NAMES)


def _from_tables(files: Sequence[tuple[str, bytes]]) -> Catalog:
    sources, notes = [], []
    for name, data in files:
        tables = read_tables(name, data)
        for table in tables:
            title = PurePath(name).stem if len(tables) == 1 else table.name
            sources.append(Source(title, list(table.columns), list(table.rows)))
            notes += [f"{title}: {note}" for note in table.notes]
    return build_catalog(" + ".join(name for name, _ in files), sources, notes)
