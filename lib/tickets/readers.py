"""Any upload into tables of text. What kind of file it is, its content decides before its name does."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import PurePath
from typing import TypeVar

from lib.errors import UnreadableFile
from lib.phrases import plural
from lib.tickets.archives import gunzip, is_gzip, is_workbook, is_zip, unzip
from lib.tickets.columns import guess_columns
from lib.tickets.csv_reader import read_csv
from lib.tickets.encoding import find_encoding
from lib.tickets.json_reader import read_json
from lib.tickets.parquet_reader import read_parquet
from lib.tickets.table import Table, join_tables, one_line, unique_names
from lib.tickets.xlsx_reader import read_xlsx

_Read = TypeVar("_Read")

UNPACKED_LIMIT = 400 * 2**20    # bytes that one upload may unpack to, whatever its own size
_JSON_NAMES = (".json", ".jsonl", ".ndjson")
_CSV_NAMES = (".csv", ".tsv", ".tab", ".psv")
_BOOK_NAMES = (".xlsx", ".xlsm", ".parquet")


def read_files(files: Sequence[tuple[str, bytes]]) -> list[Table]:
    """The tickets' table of every file, where files with the same columns are one table. The files in a zip archive
    count as files of their own. Raises UnreadableFile when a file, or every file of an archive, cannot be read."""
    found: dict[frozenset[str], list[Table]] = {}
    for name, data in files:
        for table in _tables_of_tickets(name, data):
            found.setdefault(frozenset(table.columns), []).append(table)
    return [join_tables(tables) for tables in found.values()]


def read_table(name: str, data: bytes) -> Table:
    """The one table that looks most like tickets. Raises UnreadableFile: one plain line, for any bytes whatever.

    Every cell is text exactly as written. Rows are never lost in silence: what was dropped, joined or guessed is in
    `notes`, with its line, and `found` is the number of kept and of dropped rows. Files of a zip archive that have the
    same columns are one table.
    """
    return _best(name, read_files([(name, data)]))


def read_choices(name: str, data: bytes, codec: str = "") -> dict[str, Table]:
    """What one file that is no archive can be read as, by the names of its sheets or lists: first what `read_files`
    takes for its tickets. Tables of the same columns are one. `codec`: one of ENCODINGS, "" for the one that is found.
    Raises UnreadableFile."""
    name, tables = one_line(name), read_tables(name, data, codec)
    found: dict[frozenset[str], list[Table]] = {}
    for table in sorted(tables, key=_likeness, reverse=True):
        found.setdefault(frozenset(table.columns), []).append(table)
    called = unique_names([alike[0].name for alike in found.values()], noun="table")
    return {each: _whole(name, alike[0], tables) for each, alike in zip(called, found.values(), strict=True)}


def guessed_encoding(data: bytes) -> str:
    """The codec of a text file whose encoding nothing in it tells; "" for UTF-8 and UTF-16, and for no text."""
    if data.startswith((b"PAR1", codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or is_zip(data) or is_gzip(data):
        return ""
    try:
        codec = find_encoding("", data).codec
    except UnreadableFile:
        return ""
    return "" if codec.startswith("utf") else codec


def is_archive(data: bytes) -> bool:
    return is_gzip(data) or is_zip(data) and not is_workbook(data)


def read_tables(name: str, data: bytes, codec: str = "") -> list[Table]:
    """Every table in the file: one per visible sheet, list of objects or file of an archive, by its name there. Raises
    UnreadableFile."""
    name = one_line(name)
    found, notes, _ = _by_member(name, data, lambda member, content: [
        _named(table, member, content is not data) for table in _read(member, content, codec)])
    tables = [table for each in found for table in each]
    return [replace(tables[0], notes=(*notes, *tables[0].notes)), *tables[1:]] if notes else tables


def _by_member(name: str, data: bytes, read: Callable[[str, bytes], _Read]) -> tuple[list[_Read], tuple[str, ...], int]:
    """What `read` makes of each file of an archive, or of the one file that it is; notes, also of files that could not
    be read; and how many files there were. Raises UnreadableFile where none could."""
    members, notes = _unpacked(name, data)
    found: list[_Read] = []
    refusals: list[str] = []
    for member, content in members:
        try:
            found.append(read(member, content))
        except UnreadableFile as error:
            if len(members) == 1:
                raise
            refusals.append(f"not read: {error}")
    if not found:
        raise UnreadableFile(f"{name} holds no file that can be read. {refusals[0].removeprefix('not read: ')}")
    return found, (*notes, *refusals), len(members)


def _named(table: Table, member: str, packed: bool) -> Table:
    """A table of an archive goes by the name of its file, and of its sheet or list in it."""
    if not packed:
        return table
    stem = PurePath(member).stem
    return replace(table, name=stem if table.name == member else f"{stem}: {table.name}")


def _tables_of_tickets(name: str, data: bytes) -> list[Table]:
    """The best table of the file; of an archive, that of each file in it."""
    name = one_line(name)
    found, notes, files = _by_member(name, data, lambda member, content: _best(member, _read(member, content)))
    if files == 1:
        found = [replace(found[0], name=name)]
    return [replace(found[0], notes=(*notes, *found[0].notes)), *found[1:]] if notes else found


def _best(name: str, tables: list[Table]) -> Table:
    """The table that looks most like tickets, with those of the same columns below it (a sheet per month), and a note
    on the others. Their rows count as left out."""
    return _whole(name, max(tables, key=_likeness), tables)


def _whole(name: str, best: Table, tables: list[Table]) -> Table:
    alike = [table for table in tables if set(table.columns) == set(best.columns)]
    others = [table for table in tables if set(table.columns) != set(best.columns)]
    whole = replace(join_tables(alike), name=name)
    if not others:
        return whole
    said = ", ".join(f'"{t.name}" ({plural(len(t.rows), "row")})' for t in others)
    read = f'"{best.name}"' if len(alike) == 1 else plural(len(alike), "table")
    return replace(whole, notes=(f"{read} read; left out: {said}", *whole.notes),
                   left_out=whole.left_out + sum(table.found for table in others))


def _unpacked(name: str, data: bytes) -> tuple[list[tuple[str, bytes]], list[str]]:
    """(the files in an archive, notes on what was not read); of any other file itself."""
    notes: list[str] = []
    if is_gzip(data):
        inner, data = gunzip(name, data, UNPACKED_LIMIT)
        notes.append(f"{name} unpacked: {plural(len(data), 'byte')}")
        if is_gzip(data) or is_zip(data) and not is_workbook(data):
            raise UnreadableFile(f"{name} is an archive inside an archive: unpack it and upload what is inside")
        return [(inner, data)], notes
    if not is_zip(data) or is_workbook(data):
        return [(name, data)], notes
    members, notes = unzip(name, data, UNPACKED_LIMIT)
    listed = ", ".join(member for member, _ in members[:5]) + (" …" if len(members) > 5 else "")
    return members, [f"{name} unpacked, {plural(len(members), 'file')} read: {listed}", *notes]


def _read(name: str, data: bytes, codec: str = "") -> list[Table]:
    """The tables of one file that is no archive."""
    kind = name.lower()
    if data.startswith(b"PAR1"):
        return [read_parquet(name, data, UNPACKED_LIMIT)]
    if is_zip(data):
        if not is_workbook(data):       # its name in an archive did not tell
            raise UnreadableFile(f"{name} is an archive inside an archive: unpack it and upload what is inside")
        return read_xlsx(name, data, UNPACKED_LIMIT)
    if is_gzip(data):
        raise UnreadableFile(f"{name} is an archive inside an archive: unpack it and upload what is inside")
    if kind.endswith(_BOOK_NAMES) and data:
        with suppress(UnreadableFile):
            tables = _read_text(name, data, codec)       # a CSV or JSON file that was only renamed
            if len(tables[0].columns) > 1:
                return tables
        if kind.endswith(".parquet"):
            raise UnreadableFile(f"{name} is no Parquet file (perhaps cut off): export it again, or as CSV")
        raise UnreadableFile(f"{name} is no .xlsx workbook (perhaps password-protected or cut off): save it again")
    return _read_text(name, data, codec)


def _read_text(name: str, data: bytes, codec: str) -> list[Table]:
    kind = name.lower()
    if kind.endswith(_JSON_NAMES):
        return read_json(name, data, codec)
    if not kind.endswith(_CSV_NAMES) and data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        return read_json(name, data, codec)
    if re.match(rb'(\xef\xbb\xbf)?\s*(\[\s*)?\{\s*"', data):
        try:
            return read_json(name, data, codec)
        except UnreadableFile:
            if data[-100:].rstrip()[-1:] in (b"}", b"]"):       # JSON from end to end, only named otherwise
                raise
    return [read_csv(name, data, codec)]


def _likeness(table: Table) -> tuple[int, int]:
    guess = guess_columns(table)
    return sum(part is not None for part in (guess.id, guess.subject, guess.body)), len(table.rows)
