"""XLSX workbooks, read straight from their XML: only cells that hold something cost anything, and in the one pass it is
known which formulas have no stored value. Hidden sheets are named, never read."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from posixpath import join, normpath
from typing import IO
from xml.etree import ElementTree

from lib.errors import UnreadableFile
from lib.phrases import plural
from lib.tickets.table import MAX_COLUMNS, Grid, Table, check_size, header_at, say_places, table_from_grid

MAX_SHEETS = 500
MAX_CHILDREN = 66_000   # Excel allows 16,384 cells in a row and 65,490 cell styles
CELL = 100              # characters that a cell counts for beside its text, where a few bytes of a file fill many
MAX_RATIO = 100         # unpacked : packed. Real sheets stay far below, padding reaches 1000
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, LookupError,
           ValueError, OverflowError, ElementTree.ParseError)


def read_xlsx(name: str, data: bytes, unpacked_limit: int) -> list[Table]:
    """One table per visible sheet that holds one. Raises UnreadableFile, for a zip bomb before unpacking anything."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_directory(name, archive, unpacked_limit)
            return _read_book(name, archive, unpacked_limit)
    except _DAMAGE as error:
        raise UnreadableFile(f"{name} is damaged or no workbook ({error}): save it again as .xlsx or CSV") from error


def _check_directory(name: str, archive: zipfile.ZipFile, limit: int) -> None:
    members = {info.filename: info for info in archive.infolist()}
    if "xl/workbook.bin" in members:
        raise UnreadableFile(f"{name} is a binary workbook (.xlsb): save it as .xlsx or CSV")
    if "mimetype" in members and "content.xml" in members:
        raise UnreadableFile(f"{name} is an OpenDocument file: save it as .xlsx or CSV")
    if "xl/workbook.xml" not in members:
        raise UnreadableFile(f"{name} is a zip archive without a workbook in it: unpack it and upload the files inside")
    total = sum(info.file_size for info in members.values())
    if total > limit:
        raise UnreadableFile(f"{name} unpacks to {total / 2**20:,.0f} MB, at most {limit / 2**20:,.0f} MB are read: "
                             "split it, or save it as CSV")
    for info in members.values():
        if info.file_size > 10 * 2**20 and info.file_size > MAX_RATIO * info.compress_size:
            raise UnreadableFile(f"{name} looks like a zip bomb: {info.filename} unpacks to "
                                 f"{info.file_size // max(info.compress_size, 1)} times its size. Save it as CSV")


@dataclass
class _Book:
    archive: zipfile.ZipFile
    strings: list[str]
    formats: list[Callable[[str], str] | None]      # by style number: how a number is shown, where it matters
    text_left: int                                  # characters: one shared string may be used a million times


@dataclass
class _Sheet:
    grid: Grid = field(default_factory=lambda: Grid([], [], "row"))
    no_value: list[str] = field(default_factory=list)       # cells with a formula but without a stored value
    rounded: list[str] = field(default_factory=list)        # numbers longer than Excel can hold
    twice: list[str] = field(default_factory=list)          # places that two cells claim
    hidden: list[str] = field(default_factory=list)         # rows
    merged: list[str] = field(default_factory=list)         # cells that reach over several rows of data


def _read_book(name: str, archive: zipfile.ZipFile, limit: int) -> list[Table]:
    sheets, epoch = _sheets(archive)
    if len(sheets) > MAX_SHEETS:
        raise UnreadableFile(f"{name} has {len(sheets):,} sheets, {MAX_SHEETS} are the limit: split it")
    book = _Book(archive, _shared_strings(archive), _formats(archive, epoch), 4 * limit)
    hidden = [title for title, _, visible in sheets if not visible]
    notes = [f'hidden sheet "{title}" not read' for title in hidden]
    tables, refusals = [], []
    for title, path, visible in sheets:
        if not visible:
            continue
        try:
            tables.append(_table(title, _read_sheet(book, path), notes))
        except UnreadableFile as error:
            refusals.append(error)
    if not tables:
        why = f": {refusals[0]}" if refusals else ""
        raise UnreadableFile(f"{name} has no visible sheet with a table{why}")
    return tables


def _table(title: str, sheet: _Sheet, notes: list[str]) -> Table:
    told = list(notes)
    if sheet.no_value:
        told.append(f"{plural(len(sheet.no_value), 'formula cell')} without a stored value, left empty: open the file "
                    f"in a spreadsheet program and save it ({say_places('cell', sheet.no_value)})")
    if sheet.rounded:
        told.append(f"numbers of more than 15 digits, which Excel rounds: format such ids as text before saving "
                    f"({say_places('cell', sheet.rounded)})")
    if sheet.merged:
        told.append(f"{plural(len(sheet.merged), 'cell')} merged over several rows: each of these rows has the value "
                    f"({say_places('cell', sheet.merged)})")
    if sheet.hidden:
        told.append(f"{plural(len(sheet.hidden), 'hidden row')} read too ({say_places('row', sheet.hidden)})")
    if sheet.twice:
        told.append(f"{plural(len(sheet.twice), 'place')} with two cells, the last one was read "
                    f"({say_places('cell', sheet.twice)})")
    return table_from_grid(title, sheet.grid, told)


# --- the parts of a workbook ------------------------------------------------------------------------------------------


def _sheets(archive: zipfile.ZipFile) -> tuple[list[tuple[str, str, bool]], datetime]:
    """((title, path in the archive, visible) of every worksheet, day zero of its dates)."""
    links = _elements(archive, "xl/_rels/workbook.xml.rels", "Relationship")
    targets = {link.get("Id"): link.get("Target", "") for link in links}
    found, epoch = [], datetime(1899, 12, 30)
    for element in _elements(archive, "xl/workbook.xml", "sheet", "workbookPr"):
        if _tag(element) == "workbookPr":
            if element.get("date1904") in ("1", "true"):
                epoch = datetime(1904, 1, 1)
            continue
        reference = next((v for k, v in element.attrib.items() if k.endswith("}id")), "")
        path = normpath(join("/xl", targets.get(reference, ""))).lstrip("/")
        if "chartsheets/" not in path:
            found.append((element.get("name", "sheet"), path, element.get("state", "visible") == "visible"))
    return found, epoch


def _shared_strings(archive: zipfile.ZipFile) -> list[str]:
    if "xl/sharedStrings.xml" not in archive.namelist():
        return []
    return [_string(item) for item in _elements(archive, "xl/sharedStrings.xml", "si")]


def _formats(archive: zipfile.ZipFile, epoch: datetime) -> list[Callable[[str], str] | None]:
    if "xl/styles.xml" not in archive.namelist():
        return []
    codes: dict[str, str] = {}
    numbers: list[str] = []
    for element in _elements(archive, "xl/styles.xml", "numFmt", "cellXfs"):
        if _tag(element) == "numFmt":
            codes[element.get("numFmtId", "")] = element.get("formatCode", "")
        else:
            numbers = [xf.get("numFmtId", "0") for xf in element]
    return [_format(number, codes.get(number, ""), epoch) for number in numbers]


_BUILTIN_DATES = {*map(str, range(14, 23)), *map(str, range(27, 37)), "45", "47", *map(str, range(50, 59))}


def _format(number: str, code: str, epoch: datetime) -> Callable[[str], str] | None:
    """How a number of this format reads: a date as ISO text, "0000" with its leading zeros, None for all else."""
    bare = re.sub(r'"[^"]*"|\\.|\[[^\]]*\]|_.', "", code).lower()
    if re.fullmatch(r"0{2,}", bare):
        return lambda value: value.zfill(len(bare)) if value.isdecimal() else value
    if number in _BUILTIN_DATES or (re.search(r"[ymdhs]", bare) and "general" not in bare):
        return lambda value: _date(value, epoch)
    return None


def _date(value: str, epoch: datetime) -> str:
    try:
        moment = epoch + timedelta(seconds=round(float(value) * 86_400))
    except (ValueError, OverflowError):
        return value
    if 0 <= float(value) < 1:
        return f"{moment:%H:%M:%S}"
    return f"{moment:%Y-%m-%d}" if float(value).is_integer() else f"{moment:%Y-%m-%d %H:%M:%S}"


# --- one sheet --------------------------------------------------------------------------------------------------------


def _read_sheet(book: _Book, path: str) -> _Sheet:
    sheet, number, merges = _Sheet(), 0, []
    with book.archive.open(path) as stream:
        for element in _ends(stream, "row", "mergeCell"):
            if _tag(element) == "mergeCell":
                merges += _merges(element.get("ref", ""))
                if len(merges) > MAX_CHILDREN:
                    raise ValueError(f"more than {MAX_CHILDREN:,} merged cells")
                continue
            number = _row_number(element, number + 1)
            row = _row(book, sheet, element, number)
            if row:
                sheet.grid.rows.append(row)
                sheet.grid.places.append(number)
                if element.get("hidden") in ("1", "true"):
                    sheet.hidden.append(str(number))
            check_size(path, 0, len(sheet.grid.rows))
    _fill_merged(book, sheet, merges)
    return sheet


def _merges(reference: str) -> list[tuple[int, int, int]]:
    """[(first row, last row, column)] of a cell such as B2:B5 that reaches over several rows, [] of any other."""
    found = re.fullmatch(r"([A-Z]{1,3})(\d{1,8}):[A-Z]{1,3}(\d{1,8})", reference)
    if not found or int(found[2]) >= int(found[3]):
        return []
    return [(int(found[2]), int(found[3]), _column(found[1], 1))]


def _fill_merged(book: _Book, sheet: _Sheet, merges: list[tuple[int, int, int]]) -> None:
    """Gives each row of data the value of a cell that is merged over it, as a person reads it. A header of several rows
    stays as it is."""
    rows, places = sheet.grid.rows, sheet.grid.places
    if not merges or not rows or places != sorted(places):
        return
    header = places[header_at(rows[:50])]
    header = max([header, *(last for first, last, _ in merges if first == header)])
    for first, last, column in sorted(merges):
        at = bisect_left(places, first)
        if first <= header or at == len(places) or places[at] != first or len(rows[at]) < column:
            continue
        text, end = rows[at][column - 1], bisect_right(places, last)
        if not text:
            continue
        book.text_left -= (len(text) + CELL) * (end - at)
        if book.text_left < 0:
            raise UnreadableFile("the sheet repeats long texts too often: save it as CSV")
        below = [row for row in rows[at + 1:end] if len(row) < column or not row[column - 1]]
        for row in below:
            row.extend([""] * (column - len(row)))
            row[column - 1] = text
        if below:
            sheet.merged.append(f"{_letters(column)}{first}")


def _row_number(element: ElementTree.Element, expected: int) -> int:
    text = element.get("r", "")
    return int(text) if text.isdecimal() and len(text) < 9 else expected


def _row(book: _Book, sheet: _Sheet, element: ElementTree.Element, number: int) -> list[str]:
    """The row's texts up to the last cell that holds one."""
    row: list[str] = []
    column = 0
    for cell in element:
        if _tag(cell) != "c":
            continue
        column = _column(cell.get("r", ""), column + 1)
        text = _text(book, sheet, cell, f"{_letters(column)}{number}")
        if not text:
            continue
        if column > MAX_COLUMNS:
            raise UnreadableFile(f"row {number} has text in column {column:,}, {MAX_COLUMNS:,} columns are the limit")
        book.text_left -= len(text)
        if book.text_left < 0:
            raise UnreadableFile("the sheet repeats long texts too often: save it as CSV")
        row.extend([""] * (column - len(row)))
        if row[column - 1]:
            sheet.twice.append(f"{_letters(column)}{number}")
        row[column - 1] = text
    return row


def _column(reference: str, expected: int) -> int:
    letters = reference.rstrip("0123456789")
    if not letters or len(letters) > 3 or not (letters.isascii() and letters.isalpha()):
        return expected
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number


def _letters(column: int) -> str:
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _text(book: _Book, sheet: _Sheet, cell: ElementTree.Element, place: str) -> str:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return "".join(_string(child) for child in cell if _tag(child) == "is")
    value = next((child.text or "" for child in cell if _tag(child) == "v"), "")
    if not value:
        if any(_tag(child) == "f" for child in cell):
            sheet.no_value.append(place)
        return ""
    if kind == "s":
        return book.strings[_at_least_0(value)]
    if kind == "b":
        return "TRUE" if value == "1" else "FALSE"
    if kind != "n":         # str: a formula's text, e: an error such as #N/A, d: an ISO date
        return _unescape(value)
    return _number(book, sheet, value, cell.get("s", ""), place)


def _at_least_0(index: str) -> int:
    """Of a shared text. Raises ValueError: -1 would be the last one."""
    if (found := int(index)) < 0:
        raise ValueError(f"{index} is no shared text")
    return found


def _number(book: _Book, sheet: _Sheet, value: str, style: str, place: str) -> str:
    """The digits as a person would type them: 0.1 for the stored 0.10000000000000001, no exponent, no ".0"."""
    text = value
    if not value.lstrip("-").isdecimal():
        number = float(value)
        text = f"{number:.0f}" if number.is_integer() and abs(number) < 1e21 else repr(number)
    if text.isdecimal() and len(text) > 15:
        sheet.rounded.append(place)
    show = book.formats[int(style)] if style.isdecimal() and int(style) < len(book.formats) else None
    return show(text) if show else text


def _string(element: ElementTree.Element) -> str:
    """All text runs of a string, without the phonetic hints of East Asian files."""
    runs = [child for child in element if _tag(child) in ("t", "r")]
    texts = [t.text or "" for run in runs for t in ([run] if _tag(run) == "t" else run) if _tag(t) == "t"]
    return _unescape("".join(texts))


def _unescape(text: str) -> str:
    """Excel writes characters that XML cannot hold as _x000D_."""
    if "_x" not in text:
        return text
    return re.sub(r"_x([0-9A-Fa-f]{4})_", lambda m: chr(int(m[1], 16)), text).replace("\0", "")


# --- XML --------------------------------------------------------------------------------------------------------------


def _elements(archive: zipfile.ZipFile, path: str, *tags: str) -> Iterator[ElementTree.Element]:
    with archive.open(path) as stream:
        yield from _ends(stream, *tags)


def _ends(stream: IO[bytes], *tags: str) -> Iterator[ElementTree.Element]:
    """The wanted elements, complete. What was passed is let go at once, or a large part would fill the memory."""
    above: list[ElementTree.Element] = []
    wanted = 0
    for event, element in ElementTree.iterparse(stream, ("start", "end")):
        if event == "start":
            above.append(element)
            wanted += _tag(element) in tags
            continue
        above.pop()
        if _tag(element) in tags:
            wanted -= 1
            yield element
        if above and not wanted:
            del above[-1][-1]
        elif above and len(above[-1]) > MAX_CHILDREN:
            raise ValueError(f"more than {MAX_CHILDREN:,} cells in one row, or runs in one text")


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]
