"""Tables as CSV files that a spreadsheet opens as they are: text of strangers stays text and is never a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from lib.tickets.visible import visible

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")     # a spreadsheet reads a cell that begins so as a formula, or may


def as_csv(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """UTF-8 with a mark that tells Excel so. Columns are the rows' keys in order of appearance; None is an empty cell.

    Text that could be read as a formula gets an apostrophe before it; numbers stay numbers.
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([_cell(name) for name in columns])
    writer.writerows([_cell(row.get(name)) for name in columns] for row in rows)
    return out.getvalue().encode("utf-8-sig", "replace")


def csv_button(rows: Callable[[], Sequence[Mapping[str, Any]]], name: str, key: str) -> None:
    """A button that makes the file when it is pressed."""
    st.download_button("CSV", lambda: as_csv(rows()), file_name=name, mime="text/csv", key=key, on_click="ignore",
                       type="tertiary", icon=":material/download:", help="The numbers of this picture as a table.")


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = visible(value)
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA) else text
