"""Any upload into tables of text. What kind of file it is, its content decides before its name does."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace

from lib.errors import UnreadableFile
from lib.phrases import plural
from lib.tickets.columns import guess_columns
from lib.tickets.csv_reader import read_csv
from lib.tickets.json_reader import read_json
from lib.tickets.table import Table
from lib.tickets.xlsx_reader import read_xlsx

UNPACKED_LIMIT = 400 * 2**20    # bytes that a workbook may unpack to, whatever its own size
_JSON_NAMES = (".json", ".jsonl", ".ndjson")
_CSV_NAMES = (".csv", ".tsv", ".tab", ".psv")


def read_table(name: str, data: bytes) -> Table:
    """The one table that looks most like tickets. Raises UnreadableFile: one plain line, for any bytes whatever.

    Every cell is text exactly as written. Rows are never lost in silence: what was dropped, joined or guessed is in
    `notes`, with its line.
    """
    tables = read_tables(name, data)
    best = max(tables, key=_likeness)
    if len(tables) > 1:
        others = ", ".join(f'"{t.name}" ({plural(len(t.rows), "row")})' for t in tables if t is not best)
        return replace(best, name=name, notes=(f'"{best.name}" read; left out: {others}', *best.notes))
    return replace(best, name=name)


def read_tables(name: str, data: bytes) -> list[Table]:
    """Every table in the file: one per visible sheet or list of objects, by its name there. Raises UnreadableFile."""
    kind = name.lower()
    if data.startswith(b"PK\x03\x04"):
        return read_xlsx(name, data, UNPACKED_LIMIT)
    if kind.endswith((".xlsx", ".xlsm")) and data:
        with suppress(UnreadableFile):
            return _read_text(name, data)       # a CSV or JSON file that was only renamed
        raise UnreadableFile(f"{name} is no .xlsx workbook (perhaps password-protected or cut off): save it again")
    return _read_text(name, data)


def _read_text(name: str, data: bytes) -> list[Table]:
    kind = name.lower()
    if kind.endswith(_JSON_NAMES):
        return read_json(name, data)
    if not kind.endswith(_CSV_NAMES) and data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        return read_json(name, data)
    if re.match(rb'(\xef\xbb\xbf)?\s*(\[\s*)?\{\s*"', data):
        with suppress(UnreadableFile):
            return read_json(name, data)
    return [read_csv(name, data)]


def _likeness(table: Table) -> tuple[int, int]:
    guess = guess_columns(table)
    return sum(part is not None for part in (guess.id, guess.subject, guess.body)), len(table.rows)
