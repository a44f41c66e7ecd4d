"""Numbers and lists of names in words, for notes, checks and errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def plural(count: int, word: str, words: str = "") -> str:
    """(1, "row") -> "1 row"; (1200, "row") -> "1,200 rows"."""
    return f"{count:,} {word if count == 1 else words or word + 's'}"


def some(names: Sequence[Any], most: int = 8) -> str:
    """The first few names, and how many more there are: "a, b and 30 more"."""
    return ", ".join(map(str, names[:most])) + (" " + _rest(names, most)).rstrip()


def few(names: Sequence[str], most: int = 8) -> list[str]:
    """The first few names; where there are more, a last entry says how many: "and 30 more"."""
    return [*names[:most], *filter(None, [_rest(names, most)])]


def _rest(names: Sequence[Any], most: int) -> str:
    return f"and {len(names) - most:,} more" if len(names) > most else ""
