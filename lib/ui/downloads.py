"""The button under a picture or table: its numbers as a CSV file, made when it is pressed; and what the log says when
a file could not be made."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from lib.errors import PlaygroundError
from lib.exports.tables import as_csv


def csv_button(rows: Callable[[], Sequence[Mapping[str, Any]]], name: str, key: str,
               wait: bool = False) -> None:
    """A button that makes the file when it is pressed. In a polling fragment it has to `wait`: each poll replaces the
    file behind it, and a click in between would get nothing."""
    st.download_button("CSV", lambda: as_csv(rows()), file_name=name, mime="text/csv", key=key, on_click="ignore",
                       type="tertiary", icon=":material/download:", disabled=wait,
                       help="When nothing is at work any more; Export on the Run page works at any time." if wait
                       else "The numbers of this picture as a table.")


@st.cache_resource(show_spinner=False)
def log_failures_in_one_line() -> None:
    """A file that is made when its button is pressed has no page around it that could say why it was not made:
    Streamlit tells the visitor that it failed, and logs the reason."""
    logging.getLogger("streamlit.runtime.backend_operation_handler").addFilter(in_one_line)


def in_one_line(record: logging.LogRecord) -> bool:
    """A filter: what is no bug is logged without its traceback."""
    error = record.exc_info[1] if record.exc_info else None
    while error and not isinstance(error, PlaygroundError):
        error = error.__cause__
    if error:
        record.msg, record.args, record.exc_info = "A file could not be made: %s", (error,), None
    return True
