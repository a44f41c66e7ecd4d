"""What the model is told of a tool call: the value it returned, of any kind, or what went wrong.

Never blank, strict JSON or plain text, and capped; what was cut is said in the text itself.
"""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Set, Sized
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from typing import Any

from lib.messages import utf8

MAX_CHARS = 20_000      # characters of one result: every later turn pays for them again
LONG_STRING = 1_000     # characters that one value keeps in a result that is over MAX_CHARS
MAX_DEPTH = 40          # levels of lists in lists


def as_text(value: Any) -> str:
    """`value` as text: strings as they are, everything else as JSON.

    NaN becomes null; decimals, dates and infinity become strings; a table becomes a list of records; binary data its
    size. Raises TypeError for a coroutine, and whatever a generator or an object's `str` raises.
    """
    if inspect.iscoroutine(value):
        value.close()
        raise TypeError("it returned a coroutine; a tool has to be a plain function")
    if isinstance(value, (bytes, bytearray, memoryview)):
        value = _from_bytes(value)
    if value is None or (isinstance(value, str) and not value.strip()):
        return "(empty result)"
    return _cut(utf8(value), f" of {len(value):,}") if isinstance(value, str) else _as_json(value)


def exception_in_words(error: BaseException) -> str:
    """The kind and the message, without a traceback."""
    try:
        text = str(error).strip()
    except Exception:
        text = "(its message cannot be shown)"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def fault_in_words(error: Any) -> str:
    """One violation of a JSON schema: where, what is there, what was expected. `error` is jsonschema's."""
    where = error.json_path.removeprefix("$").removeprefix(".")
    text = error.message if len(error.message) <= 300 else f"{error.message[:150]} … {error.message[-150:]}"
    if error.validator in ("anyOf", "oneOf"):
        text += f"; expected one of {json.dumps(error.validator_value)[:300]}"
    return f"{where}: {text}" if where else text


# --- values ----------------------------------------------------------------------------------------------------------


def _as_json(value: Any) -> str:
    data = _Plain()(value)
    if isinstance(data, str):
        return as_text(data)
    text = _dumps(data)
    if len(text) <= MAX_CHARS:
        return text
    data = _shortened(data)
    return _first_rows(data, value) if isinstance(data, list) else _cut(_dumps(data))


def _first_rows(rows: list, value: Any) -> str:
    """As many whole rows as fit, and a note saying how many there are."""
    kept, size = 0, 2
    for row in rows:
        size += len(_dumps(row)) + 2
        if size > MAX_CHARS:
            break
        kept += 1
    if kept == len(rows) or not kept:
        return _cut(_dumps(rows))
    total = f"{len(value):,}" if isinstance(value, Sized) else "more"
    return f"{_dumps(rows[:kept])}\n(cut: only the first {kept:,} of {total} rows are shown; ask for fewer at a time)"


def _cut(text: str, of: str = "") -> str:
    note = f"(cut: only the first {MAX_CHARS:,}{of} characters are shown; ask for less at a time)"
    return text if len(text) <= MAX_CHARS else f"{text[:MAX_CHARS]}\n{note}"


def _shortened(data: Any) -> Any:
    """The same data with long strings cut, so that one wide value does not hide all the others."""
    if isinstance(data, dict):
        return {key: _shortened(item) for key, item in data.items()}
    if isinstance(data, list):
        return [_shortened(item) for item in data]
    if isinstance(data, str) and len(data) > LONG_STRING:
        return f"{data[:LONG_STRING]}… (cut: {len(data):,} characters)"
    return data


def _dumps(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, allow_nan=False)


class _Plain:
    """Turns one value into JSON data. Visits at most MAX_CHARS values: more could not be shown, and some never end."""

    def __init__(self) -> None:
        self.left = MAX_CHARS
        self.within: list[int] = []     # ids of the containers around the current value

    def __call__(self, value: Any) -> Any:
        self.left -= 1
        value = _unwrapped(value)
        if value is None or isinstance(value, (bool, int)):
            return value
        if isinstance(value, str):
            return utf8(value)
        if isinstance(value, (float, Decimal)):
            return _number(value)
        if isinstance(value, Iterable):
            return self._container(value)
        return utf8(value.isoformat() if hasattr(value, "isoformat") else str(value))

    def _container(self, value: Any) -> Any:
        if id(value) in self.within:
            return "(a cycle: this value contains itself)"
        if len(self.within) == MAX_DEPTH:
            return f"(cut: nested deeper than {MAX_DEPTH} levels)"
        self.within.append(id(value))
        plain = self._mapping(value) if isinstance(value, Mapping) else [self(item) for item in self._some(value)]
        self.within.pop()
        return plain

    def _mapping(self, value: Mapping) -> dict[str, Any]:
        plain: dict[str, Any] = {}
        for key, item in self._some(value.items()):
            name = utf8(str(_unwrapped(key)))
            plain[repr(key) if name in plain else name] = self(item)
        return plain

    def _some(self, items: Iterable) -> Iterator:
        iterator = iter(items)
        while self.left > 0:
            try:
                yield next(iterator)
            except StopIteration:
                return


def _unwrapped(value: Any) -> Any:
    """The plain Python value inside an enum, a record or a numpy or pandas object; others as they are."""
    if isinstance(value, Enum):
        return value.value
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _from_bytes(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if hasattr(value, "_asdict"):
        return value._asdict()
    if hasattr(value, "model_dump"):
        return value.model_dump()
    if hasattr(value, "itertuples"):
        return _records(value)
    if hasattr(value, "to_frame") and hasattr(value, "index"):
        return _records(value.to_frame())
    if getattr(value, "ndim", None) == 0:
        return _numpy_scalar(value)
    if isinstance(value, Set):
        return _sorted(value)
    if hasattr(value, "keys") and not isinstance(value, Mapping):
        return {key: value[key] for key in value.keys()}    # sqlite3.Row
    return value


def _records(frame: Any) -> Iterator[dict[str, Any]]:
    """A pandas DataFrame as one dict per row; an index that is more than a row number becomes the first column."""
    with_index = type(frame.index).__name__ != "RangeIndex"
    names = ["index"] * with_index + [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        names = [f"{name} (column {position})" for position, name in enumerate(names, start=1)]
    return (dict(zip(names, row, strict=True)) for row in frame.itertuples(index=with_index, name=None))


def _numpy_scalar(value: Any) -> Any:
    if getattr(value.dtype, "kind", "") in "mM":        # .item() of nanoseconds is a bare integer
        return None if value != value else str(value)
    return value.item()


def _sorted(value: Set) -> list:
    try:
        return sorted(value)
    except TypeError:
        return sorted(value, key=lambda item: (type(item).__name__, str(item)))


def _number(value: float | Decimal) -> Any:
    if value.is_nan() if isinstance(value, Decimal) else math.isnan(value):
        return None
    if isinstance(value, Decimal) and value.is_finite():
        return str(value)
    if math.isfinite(value):
        return float(value)
    return "infinity" if value > 0 else "-infinity"


def _from_bytes(value: bytes | bytearray | memoryview) -> str:
    raw = bytes(value)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    return f"({len(raw):,} bytes of binary data)" if "\0" in text else text
