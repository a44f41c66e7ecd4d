"""JSON in the shapes that exports have: a list, an envelope around lists, objects by key, a list of rows, JSON lines.

Numbers keep their digits as written, nested objects become dotted columns, nested lists stay JSON text.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from lib.errors import UnreadableFile
from lib.phrases import plural
from lib.tickets.encoding import Encoding, find_encoding, open_text
from lib.tickets.table import Grid, Table, build_table, check_size, say_places, table_from_grid

MAX_VALUES = 10_000_000     # an object counts as four: a small file could fill gigabytes with them
_TOO_DEEP = "is nested too deeply to be a table"
_RECORD_KEYS = {"id", "key", "number", "subject", "title", "body", "description", "sku"}
_ENVELOPE_KEYS = {"tickets", "issues", "conversations", "results", "items", "data", "records", "rows", "products",
                  "customers", "incidents"}


class _Number(str):
    """A JSON number or constant as it was written: 0.10 stays 0.10, and no digit of a long id is lost."""

    __slots__ = ()


def read_json(name: str, data: bytes, codec: str = "") -> list[Table]:
    """One table per list of objects. Raises UnreadableFile naming line and column where the JSON breaks off."""
    encoding = find_encoding(name, data, codec)
    notes = [encoding.note] if encoding.note else []
    if _begins_as_lines(data, encoding) and (table := _read_lines(name, data, encoding, notes)):
        return [table]
    if data.count(b",") + 4 * data.count(b"{") > MAX_VALUES:
        raise UnreadableFile(f"{name} holds more than {MAX_VALUES:,} values: split it")
    try:
        value = _parse(_text_of(data, encoding))
    except RecursionError as error:
        raise UnreadableFile(f"{name} {_TOO_DEEP}") from error
    except ValueError:
        whole = data[-100:].rstrip()[-1:] == b"]"       # then a place in it can be named, and mended
        if not whole and (table := _read_lines(name, data, encoding, notes, of_list=True)):
            return [table]
        raise UnreadableFile(f"{name} is not valid JSON: {_where(data, encoding)}. Was the export cut off?") from None
    return _tables(name, value, notes)


_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


def _text_of(data: bytes, encoding: Encoding) -> str:
    """The whole text. Emoji in a large one are written as JSON escapes, which the parser undoes: Python keeps a text in
    four bytes a character when a single one of them needs that."""
    if len(data) < 1 << 20:
        return data.decode(encoding.codec, encoding.errors).lstrip("\ufeff")
    source, pieces = open_text(data, encoding), []
    while piece := source.read(1 << 20):
        wide = sys.getsizeof(piece) > 3 * len(piece)
        pieces.append(_ASTRAL.sub(_escaped, piece) if wide else piece)
    return "".join(pieces).lstrip("\ufeff")


def _escaped(match: re.Match[str]) -> str:
    """A backslash before it would take the escape for another one."""
    return match[0] if match.string[match.start() - 1:match.start()] == "\\" else json.dumps(match[0])[1:-1]


def _parse(text: str) -> Any:
    return _DECODER.decode(text)


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


_DECODER = json.JSONDecoder(parse_int=_Number, parse_float=_Number, parse_constant=_Number, strict=False,
                            object_pairs_hook=_object)


def _free(key: str, taken: dict) -> str:
    name, n = key, 1
    while name in taken:
        n += 1
        name = f"{key} #{n}"
    return name


# --- JSON lines -------------------------------------------------------------------------------------------------------


def _begins_as_lines(data: bytes, encoding: Encoding) -> bool:
    """Whether the first two lines that hold something are a JSON object each."""
    first = list(islice((line for line in _lines(data, encoding) if line.strip()), 2))
    return len(first) == 2 and all(map(_records_in, first))


def _lines(data: bytes, encoding: Encoding) -> Iterator[str]:
    """Never the whole text at once. Whatever stands between two lines' ends is no part of them."""
    return (line.strip().lstrip("\ufeff").removesuffix(",") for line in open_text(data, encoding))


def _read_lines(name: str, data: bytes, encoding: Encoding, notes: list[str], of_list: bool = False) -> Table | None:
    """A table of the objects, one per line; None when these are no JSON lines. `of_list`: the lines may be those of a
    list that is damaged, with its brackets in the first and the last one."""
    rows, bad, read = _Rows(name), [], 0
    for number, line in enumerate(_lines(data, encoding), start=1):
        if not line:
            continue
        if of_list and line in ("[", "]"):
            continue
        records = _records_in(line) or (_records_in(line.removeprefix("[").removesuffix("]")) if of_list else [])
        if not records:
            bad.append(number)
        for record in records:
            rows.add(record)
            read += 1
        if len(bad) > 20 + read:        # no JSON lines at all
            return None
    if not read or (read == 1 and len(bad) > 1):
        return None
    told = [f"not a JSON object, left out ({say_places('line', bad)})"] if bad else []
    if of_list and data[:100].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"[":
        told.append("the list is cut off at its end: export it again for the rest")
    return rows.table([*notes, *told], len(bad))


def _records_in(line: str) -> list[dict[str, Any]]:
    """The objects of which the line consists, nearly always one; empty when there is anything else in it."""
    found: list[dict[str, Any]] = []
    at = 0
    try:
        while at < len(line):
            value, at = _DECODER.raw_decode(line, at)
            if not isinstance(value, dict):
                return []
            found.append(value)
            at = _BETWEEN.match(line, at).end()
    except (ValueError, RecursionError):
        return []
    return found


_BETWEEN = re.compile(r"[\s,]*")


def _where(data: bytes, encoding: Encoding) -> str:
    """The place where the text as it stands breaks off."""
    try:
        _parse(data.decode(encoding.codec, encoding.errors).lstrip("\ufeff"))
    except json.JSONDecodeError as error:
        return f"line {error.lineno}, column {error.colno}: {error.msg}"
    except ValueError as error:
        return str(error)
    return "it cannot be read"


# --- shapes of one JSON value -----------------------------------------------------------------------------------------


def _tables(name: str, value: Any, notes: list[str]) -> list[Table]:
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{") and not isinstance(value, _Number):
        value = _unwrapped(name, value)     # JSON written as one JSON text
    if isinstance(value, list) and value and all(isinstance(row, list) for row in value):
        return [_table_of_rows(name, value, notes)]
    if isinstance(value, list):
        if pages := _pages(value):
            return _tables_of_pages(name, pages, notes)
        return [_table(name, value, notes)]
    if not isinstance(value, dict):
        raise UnreadableFile(f"{name} holds a single JSON value: a list of objects is needed")
    if columns := _columnar(value):
        paged = _page_notes(value, len(columns) - 1) if isinstance(value.get("columns"), list) else []
        return [_table_of_rows(name, columns, notes + paged)]
    inner = next(iter(value.values())) if len(value) == 1 else value
    if _is_record(inner) and (inner is value or {"id", "key", "number"} & inner.keys()):
        return [_table(name, [inner], notes)]
    if said := _refusal_in(value):
        raise UnreadableFile(f"{name} holds no tickets but the answer of an API that refused: {said}. Export it again")
    if _is_keyed(value):
        return [_table(name, _keyed(value), notes)]
    lists = dict(_lists(value))
    if lists:
        notes = notes + _joined(lists)
        return [replace(_table(name, rows, notes + _page_notes(value, len(rows))), name=path)
                for path, rows in lists.items() if rows]
    if [] in value.values():
        raise UnreadableFile(f"{name} holds only an empty list: export it again with its tickets or rows")
    return [_table(name, _keyed(value), notes)]


def _unwrapped(name: str, text: str) -> Any:
    try:
        return _parse(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableFile(f"{name} holds JSON inside a JSON text, and that is not valid: {error}") from error


def _pages(value: list[Any]) -> list[dict[str, Any]]:
    """The list itself when it is one of an API's pages, each an envelope; else empty."""
    pages = [page for page in value if isinstance(page, dict)]
    enveloped = len(pages) == len(value) and all(
        any(key in _ENVELOPE_KEYS and isinstance(inner, list) for key, inner in page.items())
        and not _RECORD_KEYS & page.keys() for page in pages)
    return pages if enveloped else []


def _tables_of_pages(name: str, pages: list[dict[str, Any]], notes: list[str]) -> list[Table]:
    """Like one page that holds the lists of all."""
    whole: dict[str, list] = {}
    for page in pages:
        for path, rows in _lists(page):
            whole.setdefault(path, []).extend(rows)
    if not whole:
        raise UnreadableFile(f"{name} holds only empty pages: export it again with its tickets or rows")
    notes = [*notes, f"{len(pages):,} pages put together", *_joined(whole),
             *(_page_notes(pages[-1], max(map(len, whole.values()))))]
    return [replace(_table(name, rows, notes), name=path) for path, rows in whole.items() if rows]


def _refusal_in(value: dict[str, Any]) -> str:
    """What an API says instead of data: {"message": "Bad credentials", "documentation_url": …}."""
    said = next((value[key] for key in ("error", "errors", "message", "errorMessages", "title") if value.get(key)), "")
    if not said or not value.keys() <= _REFUSAL_KEYS:
        return ""
    return _cell(said)[:200]


_REFUSAL_KEYS = {"error", "errors", "message", "messages", "errormessages", "errorMessages", "documentation_url",
                 "status", "code", "description", "detail", "details", "title", "type", "request_id", "requestId",
                 "correlationId", "category", "error_description", "success", "ok", "statusCode"}


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


def _lists(value: dict[str, Any], path: str = "", depth: int = 12) -> Iterator[tuple[str, list]]:
    """Every list of objects in the envelope, with its dotted path. What else is in the list is told by _table."""
    for key, inner in value.items():
        here = f"{path}.{key}" if path else key
        if isinstance(inner, dict) and (_is_keyed(inner) or key in _ENVELOPE_KEYS and _is_flat(inner)):
            yield here, _keyed(inner)
        elif isinstance(inner, list) and _is_of_objects(key, inner):
            yield here, [row["node"] if isinstance(row, dict) and row.keys() <= {"node", "cursor"}
                         and isinstance(row.get("node"), dict) else row for row in inner]
        elif isinstance(inner, dict) and depth > 1:
            yield from _lists(inner, here, depth - 1)


def _is_keyed(value: dict[str, Any]) -> bool:
    """{"T-1": {…}, "T-2": {…}}: records by their key, whatever lists stand in them."""
    return len(value) > 0 and all(isinstance(inner, dict) for inner in value.values()) and 2 * sum(
        map(_is_record, value.values())) > len(value)


def _is_flat(value: dict[str, Any]) -> bool:
    """Objects by their key that hold nothing but single values: {"P-1": {"name": …, "price": …}}."""
    return len(value) > 0 and all(isinstance(inner, dict) and inner and not any(
        isinstance(cell, dict | list) for cell in inner.values()) for inner in value.values())


def _is_of_objects(key: str, rows: list[Any]) -> bool:
    """At least half of them are; of a list that is called tickets or the like, one."""
    objects = sum(isinstance(row, dict) for row in rows)
    return objects > 0 and (len(rows) <= 2 * objects or key in _TICKET_LISTS)


def _joined(lists: dict[str, list]) -> list[str]:
    """What an API loads beside the tickets goes where it belongs: comments to their ticket, names to their authors.
    Comments that went to a ticket leave their list."""
    tickets = next((rows for path, rows in lists.items() if path.rpartition(".")[2] in _TICKET_LISTS), None)
    if tickets is None:
        return []
    tickets = [ticket for ticket in tickets if isinstance(ticket, dict)]
    by_id = {_cell(ticket["id"]): ticket for ticket in reversed(tickets) if _plain_id(ticket.get("id"))}
    notes = []
    for path, rows in lists.items():
        if path.rpartition(".")[2] in _COMMENT_LISTS and rows is not tickets:
            placed = [row for row in rows if isinstance(row, dict) and _belongs(row, by_id)]
            for row in placed:
                by_id[_cell(row["ticket_id"])].setdefault("comments", []).append(row)
            if placed:
                gone = set(map(id, placed))
                rows[:] = [row for row in rows if id(row) not in gone]
                notes.append(f"{path}: {len(placed):,} went to their tickets")
    people = {_cell(row["id"]): row for path, rows in lists.items() if path.rpartition(".")[2] in _PEOPLE_LISTS
              for row in rows if isinstance(row, dict) and _plain_id(row.get("id"))
              and isinstance(row.get("name"), str)}
    if people:
        for ticket in tickets:
            _name_authors(ticket, people)
    return notes


_TICKET_LISTS = {"tickets", "issues", "conversations", "requests", "cases", "results"}
_COMMENT_LISTS = {"comments", "replies", "notes", "messages", "ticket_comments"}
_PEOPLE_LISTS = {"users", "contacts", "authors", "agents", "admins", "requesters", "people"}


def _belongs(comment: dict[str, Any], by_id: dict[str, dict[str, Any]]) -> bool:
    ticket = by_id.get(_cell(comment["ticket_id"])) if _plain_id(comment.get("ticket_id")) else None
    return ticket is not None and isinstance(ticket.get("comments", []), list)


def _plain_id(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _name_authors(ticket: dict[str, Any], people: dict[str, dict[str, Any]]) -> None:
    for comments in ticket.values():
        if not isinstance(comments, list):
            continue
        for comment in comments:
            if isinstance(comment, dict) and "author" not in comment and _plain_id(comment.get("author_id")):
                person = people.get(_cell(comment["author_id"]))
                if person:
                    comment["author"] = {key: person[key] for key in ("name", "role") if key in person}


def _page_notes(envelope: dict[str, Any], rows: int) -> list[str]:
    """Says so when the envelope tells that this is one page of several. Names count without case, "_" and the like."""
    told = dict(_scalars(envelope))
    total = max((int(v) for k, v in told.items() if _names(k)[-1] in _TOTALS and _is_count(v)), default=0)
    ended = any(_names(k)[0] in _ENDS and v == "true" for k, v in told.items())
    nexts = (k for k, v in told.items() if not _NEXTS.isdisjoint(_names(k)) and v not in ("", "false", "0"))
    open_ends = (k for k, v in told.items() if _names(k)[0] in _ENDS and v == "false")
    more = "" if ended else next(nexts, "")
    sign = f"{more} is set" if more else next((f"{k} is false" for k in open_ends), "") or _pages_left(told)
    if total <= rows and (ended or not sign):
        return []
    return [f"{rows:,} of {f'{total:,}' if total > rows else 'more'}: this is one page of an export"
            + (f" ({sign})" if sign else "")]


def _pages_left(told: dict[str, str]) -> str:
    """"page 1 of 9", where the envelope counts its pages."""
    counts = {_names(k)[-1]: int(v) for k, v in told.items() if _is_count(v)}
    page = next((counts[key] for key in ("page", "currentpage", "pagenumber") if key in counts), None)
    pages = next((counts[key] for key in ("totalpages", "pages", "pagecount", "lastpage") if key in counts), 0)
    return f"page {page:,} of {pages:,}" if page is not None and page < pages > 1 else ""


def _names(path: str) -> list[str]:
    return [re.sub(r"[^a-z]", "", part.lower()) for part in path.replace("total.value", "total").split(".")]


_TOTALS = {"count", "total", "totalcount", "totalresults", "totalentries", "totalsize", "totalelements", "totalitems",
           "totalrecords", "totalhits", "numfound"}
_NEXTS = {"nextpage", "next", "nextcursor", "nextpagetoken", "nextpageurl", "nextlink", "nexturl", "nexttoken",
          "nextrecordsurl", "hasmore", "hasnext", "hasnextpage", "morerecords", "afterurl"}
_ENDS = {"endofstream", "islast", "last", "done"}   # Zendesk and Jira name a next page even on the last one


def _scalars(value: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, inner in value.items():
        if isinstance(inner, dict):
            if not _is_keyed(inner):        # those are rows, and their "count" is their own
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
    rows = _Rows(name)
    for record in records:
        if isinstance(record, dict):
            rows.add(record)
    return rows.table(notes, len(strange))


class _Rows:
    """Objects, flattened one by one, so that no second copy of them all is ever there."""

    def __init__(self, name: str):
        self._name = name
        self._columns: dict[str, int] = {}
        self._rows: list[list[str]] = []
        self._blank = self._nul = 0

    def add(self, record: dict[str, Any]) -> None:
        try:
            flat = _flat(record)
        except RecursionError as error:
            raise UnreadableFile(f"{self._name} {_TOO_DEEP}") from error
        if not any(map(str.strip, flat.values())):
            self._blank += 1
            return
        for key in flat:
            self._columns.setdefault(key, len(self._columns))
        row = [""] * len(self._columns)
        for key, cell in flat.items():
            if "\0" in cell:
                self._nul += 1
                cell = cell.replace("\0", "")
            row[self._columns[key]] = cell
        self._rows.append(row)
        if len(self._rows) % 1_000 == 0 or len(row) > 1_000:
            check_size(self._name, len(self._columns), len(self._rows))

    def table(self, notes: list[str], left_out: int) -> Table:
        notes, width = list(notes), len(self._columns)
        check_size(self._name, width, len(self._rows))
        if self._blank:
            notes.append(f"{plural(self._blank, 'object')} without a value dropped")
        if self._nul:
            notes.append("NUL characters removed")
        for row in self._rows:
            row.extend([""] * (width - len(row)))
        return build_table(self._name, (list(self._columns), self._rows), notes, left_out + self._blank)


def _flat(record: dict[str, Any], prefix: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in record.items():
        if isinstance(value, dict) and value.get("type") == "doc" and isinstance(value.get("content"), list):
            found[_free(prefix + key, found)] = _cell(_document_text(value).strip("\n"))
        elif isinstance(value, dict) and len(value) == 1 and next(iter(value)) in _BOXES:
            found[_free(prefix + key, found)] = _cell(next(iter(value.values())))
        elif isinstance(value, dict) and value:
            for inner, cell in _flat(value, f"{prefix}{key}.").items():
                found[_free(inner, found)] = cell
        else:
            found[_free(prefix + key, found)] = _cell(value)
    return found


_BOXES = {"$oid", "$date", "$numberLong", "$numberInt", "$numberDouble", "$numberDecimal", "$uuid"}   # MongoDB


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
    if isinstance(value, str):
        text = str(value)
    else:
        text = "" if value is None else _json(value)
    if not text.isascii() and _SURROGATE.search(text):
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


_SURROGATE = re.compile("[\ud800-\udfff]")


def _json(value: Any) -> str:
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, dict) and value.get("type") == "doc" and isinstance(value.get("content"), list):
        return json.dumps(_document_text(value).strip("\n"), ensure_ascii=False)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k, ensure_ascii=False)}: {_json(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_json, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
