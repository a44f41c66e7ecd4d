"""JSON files from strangers: unpacked and parsed within limits, and held against the types that they should hold."""

from __future__ import annotations

import json
import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from lib.tickets.table import one_line

MOST_VALUES = 8_000_000     # of one file; an object counts as four: a small file could fill gigabytes with them
DEEPEST = 100               # lists and objects inside each other
MOST = {int: 1e18, float: 1e300}    # of any number: what a database keeps, and what sums stay finite with

_GZIP = b"\x1f\x8b"
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)   # one that never ends goes to the end: linear time
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class Wrong(Exception):
    """What is wrong with a value, and where it stands."""

    def __init__(self, reason: str, *place: str | int):
        self.reason = reason
        self.place = place

    def inside(self, *outer: str | int) -> Wrong:
        return Wrong(self.reason, *outer, *self.place)

    def __str__(self) -> str:
        place = "".join(f" {part}" if isinstance(part, int) else f", {part}" for part in self.place)
        return one_line(f"{place.lstrip(', ')}: {self.reason}" if place else self.reason)


def at(place: tuple[str | int, ...], look: Callable[..., Any], *given: Any) -> Any:
    """What `look` gives; if something is wrong there, it is told that it stands at this place."""
    try:
        return look(*given)
    except Wrong as wrong:
        raise wrong.inside(*place) from None


# --- from bytes to a value -------------------------------------------------------------------------------------------


def unpacked(data: bytes, max_bytes: int) -> bytes:
    """The bytes of a gzip file, or `data` if it is none. Raises Wrong for a broken one, and for one of more than
    `max_bytes`: no more than that is unpacked."""
    if len(data) > max_bytes:
        raise Wrong(f"it is larger than {_size(max_bytes)}")
    if not data.startswith(_GZIP):
        return data
    unzip = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        text = unzip.decompress(data, max_bytes + 1)
    except zlib.error as error:
        raise Wrong(f"its compression is damaged ({error})") from error
    if len(text) > max_bytes:
        raise Wrong(f"it unpacks to more than {_size(max_bytes)}")
    if not unzip.eof:
        raise Wrong("it breaks off before its end: copy it once more")
    if unzip.unused_data:
        raise Wrong("something follows after its end")
    return text


def parsed(data: bytes) -> Any:
    """The value of JSON text. Raises Wrong, also for what JSON does not have (NaN, endless numbers), a name that stands
    twice in an object, and what would take too much memory."""
    try:
        text = data.decode("utf-8-sig")
        _refuse_bulk(data)
        return json.loads(text, object_pairs_hook=_once_each, parse_float=_finite,
                          parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise Wrong("it is no text in UTF-8") from error
    except json.JSONDecodeError as error:
        raise Wrong(f"it is no JSON from line {error.lineno}, column {error.colno} on ({error.msg})") from error
    except (ValueError, RecursionError, MemoryError) as error:      # for instance a number of 5,000 digits
        raise Wrong(f"it cannot be read ({_short(str(error))})") from error


def _refuse_bulk(data: bytes) -> None:
    """Looks at the brackets and commas outside strings, before anything is built of them."""
    structure = _STRING.sub(b"", data)
    if structure.count(b",") + structure.count(b"[") + 4 * structure.count(b"{") > MOST_VALUES:
        raise Wrong(f"it holds more than {MOST_VALUES:,} values")
    brackets = structure.translate(None, _NOT_BRACKETS)
    for _ in range(DEEPEST):
        if not brackets:
            return
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")     # at least the innermost of all
    if brackets:
        raise Wrong(f"it is nested more than {DEEPEST} levels deep, or its brackets do not match")


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise Wrong(f"the name {_short(twice)} stands twice in one object")
    return found


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)


def _no_number(text: str) -> Any:
    raise Wrong(f"{_short(text)} is no number that JSON can hold")


# --- a value against the type it should have -------------------------------------------------------------------------


@cache
def kinds_of(row_type: type) -> dict[str, Any]:
    """The types of a dataclass's fields; those that may be left out are in `optional`."""
    hints = get_type_hints(row_type)
    return {f.name: hints[f.name] for f in fields(row_type)}


@cache
def optional(row_type: type) -> frozenset[str]:
    return frozenset(f.name for f in fields(row_type) if (f.default, f.default_factory) != (MISSING, MISSING))


def check(kind: Any, value: Any) -> None:
    """Raises Wrong unless the JSON `value` is what `kind` holds: a dataclass, `dict[str, …]`, `tuple[…, ...]`, str,
    bool, int, float, one of these or None, or Any."""
    _check_of(kind)(value)


@cache
def _check_of(kind: Any) -> Callable[[Any], None]:
    """Looked up once for each kind: a file holds millions of values."""
    if kind is Any:
        return lambda value: None
    if isinstance(kind, UnionType):
        inner = _check_of(next(k for k in get_args(kind) if k is not NoneType))
        return lambda value: None if value is None else inner(value)
    if is_dataclass(kind):
        return partial(_check_named, kinds_of(kind), optional(kind))
    if (get_origin(kind) or kind) is dict:
        return partial(check_dict, get_args(kind)[1] if get_args(kind) else Any)
    if (get_origin(kind) or kind) in (tuple, list):
        return partial(check_list, get_args(kind)[0] if get_args(kind) else Any)
    return partial(_check_plain, kind)


def _check_named(kinds: Mapping[str, Any], may_lack: Iterable[str], value: Any) -> None:
    check_fields(kinds, value, may_lack)


def check_fields(kinds: Mapping[str, Any], value: Any, may_lack: Iterable[str] = ()) -> None:
    """`value` is an object with just these fields."""
    if not isinstance(value, dict):
        raise Wrong(f"{described(value)} stands where an object should")
    if unknown := value.keys() - kinds.keys():
        raise Wrong(f"the field {_short(min(unknown))} is not known to this version")
    if missing := kinds.keys() - value.keys() - set(may_lack):
        raise Wrong(f'the field "{min(missing)}" is missing')
    for name, part in value.items():
        try:
            check(kinds[name], part)
        except Wrong as wrong:
            raise wrong.inside(name) from None


def check_list(kind: Any, value: Any) -> None:
    if not isinstance(value, list):
        raise Wrong(f"{described(value)} stands where a list should")
    for number, part in enumerate(value, start=1):
        try:
            check(kind, part)
        except Wrong as wrong:
            raise wrong.inside(number) from None


def check_dict(kind: Any, value: Any) -> None:
    if not isinstance(value, dict):
        raise Wrong(f"{described(value)} stands where an object should")
    for name, part in value.items():
        try:
            check(kind, part)
        except Wrong as wrong:
            raise wrong.inside(_short(name)) from None


def check_range(value: float | None, lowest: float, highest: float) -> None:
    if value is not None and not lowest <= value <= highest:
        raise Wrong(f"{described(value)} is not possible; it takes a number from {_number(lowest)} to "
                    f"{_number(highest)}")


def _number(bound: float) -> str:
    return f"{bound:,.0f}" if abs(bound) < 1e15 else f"{bound:g}"


def described(value: Any) -> str:
    """A value in a few words, whatever it is."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"the text {_short(value)}" if isinstance(value, str) else _short(str(value), "")


_PLAIN = {str: (str, "text"), bool: (bool, "true or false"), int: (int, "a whole number"),
          float: ((int, float), "a number")}


def _check_plain(kind: type, value: Any) -> None:
    types, words = _PLAIN[kind]
    if not isinstance(value, types) or (isinstance(value, bool) and kind is not bool):
        raise Wrong(f"{described(value)} stands where {words} should")
    if kind in (int, float):
        check_range(value, -MOST[kind], MOST[kind])


def _short(text: str, mark: str = '"') -> str:
    return f"{mark}{text if len(text) <= 40 else text[:39] + '…'}{mark}"


def _size(count: int) -> str:
    return f"{count / 2**20:,.0f} MB" if count >= 2**20 else f"{count:,} bytes"
