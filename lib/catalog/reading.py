"""Uploads into a catalog: one SQLite file, or any number of table files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from lib.catalog.catalog import ABOUT, Catalog, build_catalog
from lib.catalog.roles import Roles
from lib.catalog.source import Source
from lib.catalog.untrusted import read_sqlite
from lib.errors import UnreadableFile
from lib.tickets.readers import read_tables
from lib.tickets.table import one_line

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
