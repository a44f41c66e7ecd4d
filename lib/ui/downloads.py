"""The button under a picture or table: its numbers as a CSV file, made when it is pressed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from lib.exports.tables import as_csv


def csv_button(rows: Callable[[], Sequence[Mapping[str, Any]]], name: str, key: str) -> None:
    """A button that makes the file when it is pressed."""
    st.download_button("CSV", lambda: as_csv(rows()), file_name=name, mime="text/csv", key=key, on_click="ignore",
                       type="tertiary", icon=":material/download:", help="The numbers of this picture as a table.")
