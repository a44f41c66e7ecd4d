"""The tokens a reply reports. Nothing is estimated here: what the server leaves out is None."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, fields
from typing import Any

from lib.messages import get

_MOST = 2 ** 53     # whatever counts more is no count


@dataclass(frozen=True)
class Usage:
    """Tokens of one call, each counted in one field only (thinking excepted: it is part of output)."""

    fresh: int | None = None
    write_5m: int | None = None
    write_1h: int | None = None
    cache_read: int | None = None
    output: int | None = None
    thinking: int | None = None


def reported(reply: Any) -> Usage:
    """Usage of a reply, all None where it reports none.

    `iterations`, where the API sends them, hold work that the figures above them leave out, so their sum counts.
    """
    usage = get(reply, "usage")
    iterations = get(usage, "iterations")
    if not isinstance(iterations, list) or not iterations:
        return _read(usage)
    total = _sum([_read(iteration) for iteration in iterations])
    return Usage(**{**vars(total), "thinking": total.thinking if total.thinking is not None else _read(usage).thinking})


def _read(usage: Any) -> Usage:
    fresh = _count(usage, "input_tokens")
    absent = None if fresh is None else 0       # a server that counts input and does not mention a cache has none
    split = get(usage, "cache_creation")
    one_hour = _count(split, "ephemeral_1h_input_tokens", absent)
    written = _count(usage, "cache_creation_input_tokens")
    five_minutes = _count(split, "ephemeral_5m_input_tokens", absent)
    if written is not None:                     # without the split, all of it counts as the default five minutes
        five_minutes = max(written - (one_hour or 0), 0)
    return Usage(
        fresh=fresh,
        write_5m=five_minutes,
        write_1h=one_hour,
        cache_read=_count(usage, "cache_read_input_tokens", absent),
        output=_count(usage, "output_tokens"),
        thinking=_count(get(usage, "output_tokens_details"), "thinking_tokens"),
    )


def _count(holder: Any, name: str, absent: int | None = None) -> int | None:
    value = get(holder, name)
    whole = isinstance(value, numbers.Real) and not isinstance(value, bool) and 0 <= value < _MOST and value % 1 == 0
    return int(value) if whole else absent


def _sum(parts: list[Usage]) -> Usage:
    columns = {f.name: [getattr(part, f.name) for part in parts] for f in fields(Usage)}
    return Usage(**{name: None if None in column else sum(column) for name, column in columns.items()})
