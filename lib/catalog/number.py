"""Numbers as people type them, and a refusal to guess where a text can be read in two ways."""

from __future__ import annotations

import math
import re
from typing import Any

_MONEY = re.compile(r"[€$£¥]|(?<![a-z])(?:eur|usd|gbp|chf|jpy|cad|aud|us|sek|nok|dkk|pln|kr)(?![a-z])\.?", re.I)
_SPACES = re.compile(r"(?<=\d)[\s'’\u00a0\u202f\u2009](?=\d{3}(?!\d))")


def number(value: Any) -> float | None:
    """The number in a cell, or None when there is none or its meaning is not certain.

    "1.299,00", "1,299.00" and "1 299" are certain, as are "0,75" and "€ 5,50"; "1.299" is not (1299 or 1.299?).
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value) if math.isfinite(value) else None
    text = _SPACES.sub("", _MONEY.sub("", str(value)).strip()).replace("−", "-")
    if text.startswith("(") and text.endswith(")"):         # accountants write -12 as (12)
        text = "-" + text[1:-1].strip()
    if text.endswith("-"):
        text = "-" + text[:-1]
    plain = _plain(text.removeprefix("-").removeprefix("+").strip())
    if plain is None:
        return None
    return -float(plain) if text.startswith("-") else float(plain)


def _plain(text: str) -> str | None:
    """Digits with at most a decimal point, or None."""
    if len(text) > 40 or not re.fullmatch(r"[0-9][0-9.,]*|[.,][0-9]+", text):
        return None
    marks = [c for c in text if c in ".,"]
    if not marks:
        return text
    if len(set(marks)) == 2:
        return _both(text, decimal=marks[-1])
    if len(marks) > 1:
        return _grouped(text, marks[0])
    whole, after = text.split(marks[0])
    if len(after) == 3 and 1 <= len(whole) <= 3 and not whole.startswith("0"):
        return None
    return f"{whole or 0}.{after or 0}"


def _both(text: str, decimal: str) -> str | None:
    """"1.299,00": the last mark is the decimal one and stands once, the other one groups by three."""
    whole, _, after = text.rpartition(decimal)
    grouping = "," if decimal == "." else "."
    whole_digits = None if decimal in whole else _grouped(whole, grouping)
    return f"{whole_digits}.{after or 0}" if whole_digits else None


def _grouped(text: str, grouping: str) -> str | None:
    first, *groups = text.split(grouping)
    regular = 1 <= len(first) <= 3 and all(len(group) == 3 and group.isdecimal() for group in groups)
    return first + "".join(groups) if regular and first.isdecimal() else None
