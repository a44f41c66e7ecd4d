"""A list in pages, as the API's list endpoints give it: `limit`, `after_id`, `before_id`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lib.simulated.refusals import Refusal, invalid

_USUAL, _MOST = 20, 1_000


def page(rows: Sequence[Mapping[str, Any]], query: Mapping[str, str]) -> dict[str, Any] | Refusal:
    """The page of `rows` (each with an `id`) that the query asks for, or why there is none."""
    limit, ids = query.get("limit", str(_USUAL)), [row["id"] for row in rows]
    after, before = query.get("after_id"), query.get("before_id")
    try:
        most = int(limit)
    except ValueError:      # no number, or one of thousands of digits
        return invalid("limit: Input should be a valid integer, unable to parse string as an integer")
    if not 1 <= most <= _MOST:
        return invalid(f"limit: Input should be {'greater' if most < 1 else 'less'} than or equal to "
                       f"{1 if most < 1 else _MOST}")
    for name, id in (("after_id", after), ("before_id", before)):
        if id and id not in ids:
            return invalid(f"{name}: '{id}' was not found")
    if before:
        whole = rows[:ids.index(before)]
        shown = whole[-most:]
    else:
        whole = rows[ids.index(after) + 1:] if after else rows
        shown = whole[:most]
    return {"data": list(shown), "has_more": len(whole) > len(shown),
            "first_id": shown[0]["id"] if shown else None, "last_id": shown[-1]["id"] if shown else None}
