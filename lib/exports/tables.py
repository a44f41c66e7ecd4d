"""Rows as files: CSV and JSON here, XLSX by `workbook`. Numbers stay numbers, and text of strangers stays text.

Rows are dicts of texts, numbers, True or False, None (an unknown value: an empty cell, null) and lists of texts.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lib.exports.workbook import as_xlsx
from lib.tickets.formulas import guarded, unguarded
from lib.tickets.visible import visible

__all__ = ["as_csv", "as_json", "as_xlsx", "columns_of", "guarded", "unguarded"]

Rows = Sequence[Mapping[str, Any]]

# Valid in JSON as they are, but they deceive the eye or break what reads it; the escape means the same.
_UNSEEN = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff\ud800-\udfff]")


def columns_of(rows: Rows, first: Iterable[str] = ()) -> list[str]:
    """Every column once: those of `first`, which are there without a row too, then the rest as they appear."""
    return list(dict.fromkeys((*first, *(name for row in rows for name in row))))


def as_csv(rows: Rows, columns: Iterable[str] = ()) -> bytes:
    """UTF-8 with a mark that tells Excel so. Lists are joined by "; ".

    Control characters are written so that they can be seen, and text that could be read as a formula gets an
    apostrophe before it, which reading the file here takes off again (`formulas.take_guards_off`).
    """
    names = columns_of(rows, columns)
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC)      # quoted, texts keep the spaces they begin with
    writer.writerow([_cell(name) for name in names])
    writer.writerows([_cell(row.get(name)) for name in names] for row in rows)
    return out.getvalue().encode("utf-8-sig", "replace")


def as_json(rows: Rows, columns: Iterable[str] = ()) -> bytes:
    """A list of objects, one a line, each with every column, and the values exactly as they are."""
    names = columns_of(rows, columns)
    lines = [json.dumps({name: _known(row.get(name)) for name in names}, ensure_ascii=False, allow_nan=False,
                        default=str) for row in rows]
    text = "[\n" + ",\n".join(lines) + "\n]\n" if lines else "[]\n"
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode()


def _cell(value: Any) -> Any:
    kind = type(value)
    if kind is str:
        return value if value.isalnum() else guarded(visible(value))
    if kind is int:
        return value
    if value is None or isinstance(value, float):
        return _known(value)
    if isinstance(value, bool):
        return str(value).upper()
    return guarded(visible("; ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)))


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
