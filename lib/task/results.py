"""What every tool result has in common: plain JSON data, short enough for a model to read and to pay for every turn."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lib.task.prompts import shorten

RESULT_LIMIT = 18_000       # characters of one tool result as JSON
VALUE_LIMIT = 2_000         # characters of one database value


def row_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """A database row with long texts shortened, and as many of its columns as fit RESULT_LIMIT."""
    result: dict[str, Any] = {}
    size = 0
    for column, value in row.items():
        value = shorten(value, VALUE_LIMIT) if isinstance(value, str) else value
        size += size_of({column: value})
        if size > RESULT_LIMIT:
            return {**result, "note": f"only the first {len(result)} of {len(row)} columns are shown"}
        result[column] = value
    return result


def capped(result: dict[str, Any], rows: str, total: int | None = None) -> dict[str, Any]:
    """`result` with as many of its `rows` as fit RESULT_LIMIT, and a note to the model when some are left out."""
    kept, given = result[rows], result[rows]
    while len(kept) > 1 and size_of({**result, rows: kept}) > RESULT_LIMIT:
        kept = kept[:len(kept) // 2]
    total = len(given) if total is None else total
    if len(kept) == total:
        return result
    return {**result, rows: kept, "note": f"{len(kept)} of {total} {rows} shown; narrow the request to see others"}


def size_of(result: Mapping[str, Any]) -> int:
    return len(json.dumps(result, ensure_ascii=False))
