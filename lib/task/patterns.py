"""Regular expressions in a tool's schema that could take for ever: nothing can stop one before it is done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_REPEATS = ("MAX_REPEAT", "MIN_REPEAT")      # what `re` calls a*, a+, a{2,} and a*?
_ANY_CASE = re.compile(r"\(\?[a-zA-Z]*i")     # (?i) and (?i:: then characters are more than those that are written


def endless_patterns(schema: Any) -> list[str]:
    """The patterns that hold a repeat of varying length inside another, such as (a+)+: on a text that nearly fits they
    take time that doubles with each letter. Those whose parts are set apart, such as a+(-a+)*, do not."""
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
        return _repeats(re._parser.parse(pattern), False, any_case=bool(_ANY_CASE.search(pattern)))
    except (re.error, RecursionError, OverflowError):
        return False        # told elsewhere: no regular expression


def _repeats(parsed: Any, inside: bool, any_case: bool) -> bool:
    """Whether a varying repeat stands in a part that is repeated itself."""
    for kind, of in parsed:
        if str(kind) in _REPEATS:
            low, high, body = of
            if inside and low != high:
                return True
            apart = not inside and not any_case and _set_apart(body)
            if not apart and _repeats(body, inside or high > 1, any_case):
                return True
        elif any(_repeats(part, inside, any_case) for part in _parts(of)):
            return True
    return False


def _set_apart(body: Any) -> bool:
    """Whether a repeated part, such as the -[a-z]+ of a(-[a-z]+)*, begins or ends with a character that nothing else
    in it can be: then a text can be cut into such parts in one way only."""
    while len(body) == 1 and str(body[0][0]) == "SUBPATTERN":
        body = body[0][1][-1]
    found, varying = [], 0
    for kind, of in body:
        low, high = 1, 1
        if str(kind) in _REPEATS:
            low, high, inner = of
            if len(inner) != 1:
                return False
            kind, of = inner[0]
        characters = _characters(str(kind), of)
        if characters is None:
            return False
        varying += low != high
        found.append((low == high == 1, characters))
    return varying == 1 and any(
        alone and not any(separator & others for _, others in found[:at] + found[at + 1:])
        for at, (alone, separator) in ((0, found[0]), (len(found) - 1, found[-1])))


_SAMPLE = frozenset([*map(chr, range(128)), "\xa0", "é", "ß", "١", "日"])      # of every kind that a class can name


def _characters(kind: str, of: Any) -> frozenset[str] | None:
    """Those of the sample that a literal or a class takes; None for anything else."""
    match kind:
        case "LITERAL":
            return frozenset([chr(of)])
        case "NOT_LITERAL":
            return _SAMPLE - {chr(of)}
        case "ANY":
            return _SAMPLE
        case "IN":
            taken: frozenset[str] = frozenset()
            for part, what in of:
                match str(part):
                    case "RANGE":
                        taken |= {c for c in _SAMPLE if what[0] <= ord(c) <= what[1]} | {chr(what[0]), chr(what[1])}
                    case "CATEGORY":
                        letter = _CLASSES[str(what)]
                        taken |= {c for c in _SAMPLE if re.fullmatch(letter, c)}
                    case "LITERAL":
                        taken |= {chr(what)}
            return _SAMPLE - taken if str(of[0][0]) == "NEGATE" else taken
    return None


_CLASSES = {"CATEGORY_DIGIT": r"\d", "CATEGORY_NOT_DIGIT": r"\D", "CATEGORY_SPACE": r"\s", "CATEGORY_NOT_SPACE": r"\S",
            "CATEGORY_WORD": r"\w", "CATEGORY_NOT_WORD": r"\W"}


def _parts(of: Any) -> Iterator[Any]:
    """The parsed expressions inside a group, a branch or a look-around."""
    if isinstance(of, re._parser.SubPattern):
        yield of
    elif isinstance(of, (tuple, list)):
        for part in of:
            yield from _parts(part)
