"""Regular expressions in a tool's schema that could take for ever: nothing can stop one before it is done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_REPEATS = ("MAX_REPEAT", "MIN_REPEAT")      # what `re` calls a*, a+, a{2,} and a*?


def endless_patterns(schema: Any) -> list[str]:
    """The patterns that hold a repeat of varying length inside another, such as (a+)+: on a text that nearly fits they
    take time that doubles with each letter."""
    return [pattern for pattern in dict.fromkeys(_patterns(schema)) if _is_endless(pattern)]


def _patterns(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("pattern"), str):
            yield part["pattern"]
        if isinstance(part.get("patternProperties"), dict):
            yield from part["patternProperties"]
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _patterns(inner)


def _is_endless(pattern: str) -> bool:
    try:
        return _repeats(re._parser.parse(pattern), inside=False)
    except (re.error, RecursionError, OverflowError):
        return False        # told elsewhere: no regular expression


def _repeats(parsed: Any, inside: bool) -> bool:
    """Whether a varying repeat stands in a part that is repeated itself."""
    for kind, of in parsed:
        if str(kind) in _REPEATS:
            low, high, body = of
            if inside and low != high:
                return True
            if _repeats(body, inside or high > 1):
                return True
        elif any(_repeats(part, inside) for part in _parts(of)):
            return True
    return False


def _parts(of: Any) -> Iterator[Any]:
    """The parsed expressions inside a group, a branch or a look-around."""
    if isinstance(of, re._parser.SubPattern):
        yield of
    elif isinstance(of, (tuple, list)):
        for part in of:
            yield from _parts(part)
