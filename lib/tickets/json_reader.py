"""JSON in the shapes that exports have: a list, an envelope around lists, objects by key, a list of rows, JSON lines.

Numbers keep their digits as written, nested objects become dotted columns, nested lists stay JSON text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lib.errors import UnreadableFile
from lib.tickets.encoding import find_encoding
from lib.tickets.table import Grid, Table, build_table, check_size, say_places, table_from_grid

MAX_VALUES = 10_000_000     # an object counts as four: a small file could fill gigabytes with them
_TOO_DEEP = "is nested too deeply to be a table"
_RECORD_KEYS = {"id", "key", "number", "subject", "title", "body", "description", "sku"}
_ENVELOPE_KEYS = {"tickets", "issues", "conversations", "results", "items", "data", "records", "rows", "products",
                  "customers", "incidents"}


class _Number(str):
    """A JSON number or constant as it was written: 0.10 stays 0.10, and no digit of a long id is lost."""

    __slots__ = ()


def read_json(name: str, data: bytes) -> list[Table]:
    """One table per list of objects. Raises UnreadableFile naming line and column where the JSON breaks off."""
    encoding = find_encoding(name, data)
    text = data.decode(encoding.codec, encoding.errors).lstrip("\ufeff")
    notes = [encoding.note] if encoding.note else []
    if text.count(",") + 4 * text.count("{") > MAX_VALUES:
        raise UnreadableFile(f"{name} holds more than {MAX_VALUES:,} values: split it")
    try:
        value = _parse(text)
    except RecursionError as error:
        raise UnreadableFile(f"{name} {_TOO_DEEP}") from error
    except ValueError as error:
        return [_read_lines(name, text, notes, error)]
    return _tables(name, value, notes)


def _parse(text: str) -> Any:
    return json.loads(text, parse_int=_Number, parse_float=_Number, parse_constant=_Number, strict=False,
                      object_pairs_hook=_object)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object as a dict that keeps the values of repeated keys, as "key #2"."""
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    if len(pairs) - len(found) > 1_000:
        raise ValueError("one object repeats its keys more than 1,000 times")
    found = {}
    for key, value in pairs:
        found[_free(key, found)] = value
    return found


def _free(key: str, taken: dict) -> str:
    name, n = key, 1
    while name in taken:
        n += 1
        name = f"{key} #{n}"
    return name


# --- JSON lines -------------------------------------------------------------------------------------------------------


def _read_lines(name: str, text: str, notes: list[str], error: ValueError) -> Table:
    lines = [(number, line) for number, line in enumerate(re.split(r"\r\n|[\r\n]", text), start=1) if line.strip()]
    records, bad = [], []
    for number, line in lines:
        record = _record(line.strip().removesuffix(","))
        if record is None:
            bad.append(number)
        else:
            records.append(record)
        if len(bad) > 20 + len(records):        # no JSON lines at all
            break
    if not records or (len(records) == 1 and len(lines) > 2) or len(bad) > 20 + len(records):
        raise UnreadableFile(f"{name} is not valid JSON: {_where(error)}. Was the export cut off?") from error
    if bad:
        notes.append(f"not a JSON object, left out ({say_places('line', bad)})")
    return _table(name, records, notes)


def _record(line: str) -> dict[str, Any] | None:
    try:
        value = _parse(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _where(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}, column {error.colno}: {error.msg}"
    return str(error)


# --- shapes of one JSON value -----------------------------------------------------------------------------------------


def _tables(name: str, value: Any, notes: list[str]) -> list[Table]:
    if isinstance(value, list) and value and all(isinstance(row, list) for row in value):
        return [_table_of_rows(name, value, notes)]
    if isinstance(value, list):
        return [_table(name, value, notes)]
    if not isinstance(value, dict):
        raise UnreadableFile(f"{name} holds a single JSON value: a list of objects is needed")
    if columns := _columnar(value):
        return [_table_of_rows(name, columns, notes)]
    inner = next(iter(value.values())) if len(value) == 1 else value
    if _is_record(inner) and (inner is value or {"id", "key", "number"} & inner.keys()):
        return [_table(name, [inner], notes)]
    lists = list(_lists(value))
    if lists:
        return [replace(_table(name, rows, notes + _page_notes(value, len(rows))), name=path) for path, rows in lists]
    if [] in value.values():
        raise UnreadableFile(f"{name} holds only an empty list: export it again with its tickets or rows")
    return [_table(name, _keyed(value), notes)]


def _is_record(value: Any) -> bool:
    return isinstance(value, dict) and len(_RECORD_KEYS & value.keys()) > 1 and not _ENVELOPE_KEYS & value.keys()


def _columnar(value: dict[str, Any]) -> list[list[Any]]:
    """Header and rows of the shapes that hold columns, as pandas writes them; empty for anything else.

    {"columns": […], "data": [[…], …]}, {"id": […], "body": […]} and {"id": {"0": …, "1": …}, "body": {…}}.
    """
    header, rows = value.get("columns"), value.get("data")
    if isinstance(header, list) and isinstance(rows, list) and all(isinstance(row, list) for row in rows):
        return [header, *rows]
    lists = [list(v.values()) if isinstance(v, dict) and all(map(_is_count, v)) else v for v in value.values()]
    plain = all(isinstance(column, list) and not any(isinstance(v, dict | list) for v in column) for column in lists)
    if len(lists) > 1 and plain and lists[0] and len(set(map(len, lists))) == 1:
        return [list(value), *map(list, zip(*lists, strict=True))]
    return []


def _lists(value: dict[str, Any], path: str = "", depth: int = 3) -> Iterator[tuple[str, list]]:
    """Every non-empty list of objects in the envelope, with its dotted path."""
    for key, inner in value.items():
        here = f"{path}.{key}" if path else key
        if isinstance(inner, list) and inner and all(isinstance(row, dict) for row in inner):
            yield here, [row["node"] if row.keys() <= {"node", "cursor"} and isinstance(row.get("node"), dict) else row
                         for row in inner]
        elif isinstance(inner, dict) and depth > 1:
            yield from _lists(inner, here, depth - 1)


def _page_notes(envelope: dict[str, Any], rows: int) -> list[str]:
    """Says so when the envelope tells that this is one page of several."""
    told = dict(_scalars(envelope))
    total = next((int(v) for k, v in told.items() if k.split(".")[-1] in _TOTALS and _is_count(v) and int(v) > rows), 0)
    ended = any(told.get(key) == "true" for key in _ENDS)
    nexts = (k for k, v in told.items() if _NEXTS & set(k.split(".")) and v not in ("", "false"))
    more = "" if ended else next(nexts, "")
    if not total and not more:
        return []
    return [f"{rows:,} of {f'{total:,}' if total else 'more'}: this is one page of an export"
            + (f" ({more} is set)" if more else "")]


_TOTALS = {"count", "total", "total_count", "totalCount", "total_results", "totalResults", "total_entries"}
_NEXTS = {"next_page", "next", "nextPage", "next_cursor", "nextPageToken", "has_more", "hasNextPage", "after_url"}
_ENDS = ("end_of_stream", "isLast")     # Zendesk and Jira name a next page even on the last one


def _scalars(value: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from _scalars(inner, f"{prefix}{key}.")
        elif not isinstance(inner, list):
            yield prefix + key, _cell(inner)


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 16


def _keyed(value: dict[str, Any]) -> list[dict[str, Any]]:
    """{"T-1": {…}, "T-2": {…}} as records that know their key; anything else is one record."""
    if not value or not all(isinstance(inner, dict) for inner in value.values()):
        return [value]
    return [{"id" if "id" not in inner else "key": key, **inner} for key, inner in value.items()]


def _table_of_rows(name: str, value: list[list[Any]], notes: list[str]) -> Table:
    try:
        rows = [[_cell(cell) for cell in row] for row in value]
    except RecursionError as error:
        raise UnreadableFile(f"{name} {_TOO_DEEP}") from error
    return table_from_grid(name, Grid(rows, list(range(1, len(rows) + 1)), "row"), notes)


# --- records to rows --------------------------------------------------------------------------------------------------


def _table(name: str, records: list[Any], notes: list[str]) -> Table:
    strange = [i for i, record in enumerate(records, start=1) if not isinstance(record, dict)]
    if len(strange) == len(records):
        raise UnreadableFile(f"{name} holds no objects: a list of objects such as {{\"id\": …, \"body\": …}} is needed")
    notes = list(notes)
    if strange:
        notes.append(f"not a JSON object, left out ({say_places('item', strange)})")
    try:
        flat = [_flat(record) for record in records if isinstance(record, dict)]
    except RecursionError as error:
        raise UnreadableFile(f"{name} {_TOO_DEEP}") from error
    return _table_of_flat(name, flat, notes)


def _table_of_flat(name: str, flat: list[dict[str, str]], notes: list[str]) -> Table:
    full = [record for record in flat if any(map(str.strip, record.values()))]
    if len(full) < len(flat):
        notes.append(f"{len(flat) - len(full):,} objects without a value dropped")
    columns = list(dict.fromkeys(key for record in full for key in record))
    check_size(name, len(columns), len(full))
    if any("\0" in cell for record in full for cell in record.values()):
        full = [{k: v.replace("\0", "") for k, v in record.items()} for record in full]
        notes.append("NUL characters removed")
    return build_table(name, (columns, [[record.get(c, "") for c in columns] for record in full]), notes)


def _flat(record: dict[str, Any], prefix: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in record.items():
        if isinstance(value, dict) and value.get("type") == "doc" and isinstance(value.get("content"), list):
            found[_free(prefix + key, found)] = _cell(_document_text(value).strip("\n"))
        elif isinstance(value, dict) and value:
            for inner, cell in _flat(value, f"{prefix}{key}.").items():
                found[_free(inner, found)] = cell
        else:
            found[_free(prefix + key, found)] = _cell(value)
    return found


def _document_text(node: Any) -> str:
    """The words of a text that Jira stores as a tree of paragraphs."""
    if not isinstance(node, dict):
        return ""
    kind, attributes = node.get("type"), node.get("attrs")
    shown = attributes.get("text") or attributes.get("url") if isinstance(attributes, dict) else None
    own = node.get("text") or shown or ""
    children = node.get("content")
    text = (own if isinstance(own, str) else "") + "".join(
        map(_document_text, children if isinstance(children, list) else ()))
    flows = kind in ("text", "mention", "emoji", "inlineCard", "date", "status")
    return text if flows or text.endswith("\n") else text + "\n"


def _cell(value: Any) -> str:
    """Text stays text, null is empty, a list is JSON text. A lone surrogate, which no file can hold, is replaced."""
    text = "" if value is None else str(value) if isinstance(value, str) else _json(value)
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _json(value: Any) -> str:
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k, ensure_ascii=False)}: {_json(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_json, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
