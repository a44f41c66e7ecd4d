"""Numbers as people type them, and a refusal to guess where a text can be read in two ways."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from lib.phrases import plural

_MONEY = re.compile(r"[€$£¥]|(?<![a-z])(?:eur|usd|gbp|chf|jpy|cad|aud|us|sek|nok|dkk|pln|kr)(?![a-z])\.?", re.I)
_SPACES = re.compile(r"(?<=\d)[\s'’\u00a0\u202f\u2009](?=\d{3}(?!\d))")


def number(value: Any, decimal: str = "") -> float | None:
    """The number in a cell, or None when there is none or its meaning is not certain.

    "1.299,00", "1,299.00" and "1 299" are certain, as are "0,75" and "€ 5,50"; "1.299" is not (1299 or 1.299?), unless
    `decimal`, the column's decimal mark, says which.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value) if math.isfinite(value) else None
    sign, digits = _digits(str(value))
    plain, _ = _plain(digits, decimal)
    return None if plain is None else sign * float(plain)


def decimal_mark(values: Iterable[Any]) -> str:
    """"," or ".", as the texts of a column that can be read in one way alone have it; "" where none is or they
    disagree."""
    found = ""
    for value in values:
        mark = _plain(_digits(value)[1])[1] if isinstance(value, str) and _MARKS & set(value) else ""
        if mark in _MARKS:
            if found not in ("", mark):
                return ""
            found = mark
    return found


def say_numbers(values: Iterable[Any]) -> str:
    """How the numbers of a column are read, where that is not plain: "" for a column of other things, or of numbers
    with a decimal point."""
    marks, filled, numbers = set(), 0, 0
    unsure: list[str] = []
    for value in values:
        if not isinstance(value, str) or not value or value.isspace():
            continue
        filled += 1
        if simple := _SIMPLE.fullmatch(value):      # nearly all of them, and a million may be asked for
            numbers += 1
            marks.add(simple[1] or "")
            continue
        if len(value) > 60:
            continue
        plain, mark = _plain(_digits(value)[1])
        marks.add(mark)
        numbers += plain is not None
        if mark == EITHER:
            numbers += 1
            unsure.append(value)
    if not numbers or 2 * numbers < filled:
        return ""
    return _said(marks - {"", EITHER}, unsure)


def _said(marks: set[str], unsure: list[str]) -> str:
    example = f"{plural(len(unsure), 'number')} such as {unsure[0]}" if unsure else ""
    if len(marks) == 1:
        mark = next(iter(marks))
        name = "comma" if mark == "," else "point"
        if unsure:
            return f"numbers have a decimal {name}, so {unsure[0]} is read as {number(unsure[0], mark):g}"
        return "numbers have a decimal comma" if mark == "," else ""
    if unsure:
        why = "decimal commas and points are mixed" if marks else "nothing tells what the mark means"
        return f"{example} could mean two, {why}: left as text"
    return "decimal commas and points are mixed, each number is read by its own" if marks else ""


EITHER = "?"        # the mark of a number that can be read in two ways
_MARKS = frozenset(".,")


def _digits(text: str) -> tuple[int, str]:
    """(sign, the rest of a number without currency and spaces)."""
    if len(text) > 100:
        return 1, ""
    text = _SPACES.sub("", _MONEY.sub("", text).strip()).replace("−", "-")
    if text.startswith("(") and text.endswith(")"):         # accountants write -12 as (12)
        text = "-" + text[1:-1].strip()
    if text.endswith("-"):
        text = "-" + text[:-1]
    return (-1 if text.startswith("-") else 1), text.removeprefix("-").removeprefix("+").strip()


def _plain(text: str, decimal: str = "") -> tuple[str | None, str]:
    """(digits with at most a decimal point, or None; the decimal mark it shows: "," or ".", EITHER, "")."""
    if len(text) > 40 or not _NUMBER.fullmatch(text):
        return None, ""
    marks = [c for c in text if c in _MARKS]
    if not marks:
        return text, ""
    if len(set(marks)) == 2:
        plain = _both(text, decimal=marks[-1])
        return plain, marks[-1] if plain else ""
    other = "," if marks[0] == "." else "."
    if len(marks) > 1:
        plain = _grouped(text, marks[0])
        return plain, other if plain else ""
    whole, after = text.split(marks[0])
    if len(after) == 3 and 1 <= len(whole) <= 3 and not whole.startswith("0"):
        if not decimal:
            return None, EITHER
        return (f"{whole}.{after}" if decimal == marks[0] else whole + after), EITHER
    return f"{whole or 0}.{after or 0}", marks[0]


_SIMPLE = re.compile(r"[0-9]{1,15}(?:([.,])[0-9]{1,2})?")
_NUMBER = re.compile(r"[0-9][0-9.,]*|[.,][0-9]+")


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
