"""An XLSX workbook of plain tables. Text is written as text and so never a formula; what looks like one is marked with
`quotePrefix`, which keeps it text when somebody edits the cell. Reading the file here gives every text back exactly."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from lib.tickets.formulas import guarded
from lib.tickets.visible import visible

LONGEST = 32_767            # characters of a cell, as UTF-16 counts them
MOST_ROWS = 1_048_575       # below a header; what is more goes to a sheet of its own
MOST_DIGITS = 15            # of a number that a spreadsheet keeps exactly
WIDEST = 60                 # characters of a column
SAMPLED = 200               # rows that a column's width is taken from
MADE = datetime(2020, 1, 1, tzinfo=UTC)     # in every file: the same rows give the same bytes

Rows = Sequence[Mapping[str, Any]]


def as_xlsx(sheets: Mapping[str, Rows], columns: Mapping[str, Iterable[str]] | None = None) -> bytes:
    """One sheet per table, with a bold header that stays in place. `columns` of a sheet are there without a row too.

    Control characters are written so that they can be seen. A text that no cell can hold is cut, and says so.
    """
    import xlsxwriter

    pages, out = list(_pages(sheets, columns or {})), io.BytesIO()
    with xlsxwriter.Workbook(out, {"constant_memory": True}) as book:
        book.set_properties({"created": MADE})
        header, quoted = book.add_format({"bold": True}), book.add_format({"quote_prefix": True})
        for title, (_, names, rows) in zip(_sheet_names([title for title, _, _ in pages]), pages, strict=True):
            _fill(book.add_worksheet(title), names, rows, header, quoted)
    return out.getvalue()


def _pages(sheets: Mapping[str, Rows], columns: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, list[str], Rows]]:
    for title, rows in (sheets or {"empty": ()}).items():
        names = list(dict.fromkeys((*columns.get(title, ()), *(name for row in rows for name in row))))
        for start in range(0, max(len(rows), 1), MOST_ROWS):
            yield title, names, rows[start:start + MOST_ROWS] if start or len(rows) > MOST_ROWS else rows


def _fill(sheet: Any, names: Sequence[str], rows: Rows, header: Any, quoted: Any) -> None:
    sheet.freeze_panes(1, 0)
    for at, name in enumerate(names):
        longest = max((len(str(row.get(name, ""))) for row in rows[:SAMPLED]), default=0)
        sheet.set_column(at, at, min(WIDEST, max(len(name) + 2, longest + 2, 8)))
        sheet.write_string(0, at, _shown(name), header)
    for number, row in enumerate(rows, start=1):
        for at, name in enumerate(names):
            value = _plain(row.get(name))
            if isinstance(value, str):
                sheet.write_string(number, at, value, quoted if guarded(value) is not value else None)
            elif isinstance(value, bool):
                sheet.write_boolean(number, at, value)
            elif value is not None:
                sheet.write_number(number, at, value)


def _plain(value: Any) -> str | bool | int | float | None:
    """The value as a cell keeps it; None for an empty cell."""
    if value is None or value == "" or value == [] or value == ():
        return None
    if isinstance(value, (list, tuple)):
        return _shown("; ".join(map(str, value)))
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bool) or (isinstance(value, int) and abs(value) < 10 ** MOST_DIGITS):
        return value
    return _shown(str(value))


def _shown(text: str) -> str:
    text = visible(text)
    if len(text) <= LONGEST // 2:
        return text
    units = text.encode("utf-16-le")
    if len(units) <= 2 * LONGEST:
        return text
    note = f" … [cut: {len(text):,} characters in all]"
    return units[:2 * (LONGEST - len(note))].decode("utf-16-le", "ignore") + note


def _sheet_names(titles: Sequence[str]) -> list[str]:
    """Names that a workbook takes: 31 characters, none of []:*?/\\, no apostrophe at an end, each once."""
    found: list[str] = []
    for title in titles:
        base = name = re.sub(r"[\[\]:*?/\\\s]+", " ", visible(title)).strip(" '")[:31].strip(" '") or "sheet"
        number = 1
        while name.casefold() in {"history", *map(str.casefold, found)}:
            number += 1
            name = f"{base[:31 - len(f' {number}')]} {number}"
        found.append(name)
    return found
