"""What a tool call has brought: the tickets and rows in its result, read loosely where the result was cut."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lib.simulated.mind import reading

_TICKET_ID = ("ticket_id", "case_id")       # enough to know a ticket by; any other id needs a text beside it
_ID = (*_TICKET_ID, "id", "key", "ticket", "number")
_SUBJECT = ("subject", "title", "summary", "snippet")
_BODY = ("body", "text", "description", "content", "message", "full_text")
_CUSTOMER = ("customer_id", "customer", "client_id", "client", "account_id")
_PRODUCT = ("product_id", "product", "service")
_POINTERS = ("next_offset", "next_page", "next_cursor", "next")
_TOTALS = ("total", "total_tickets", "count", "total_count")
_PAIR = re.compile(r'"(\w{1,40})"\s*:\s*("(?:[^"\\]|\\.)*(?:"|$)|-?\d+(?:\.\d+)?|null|true|false)', re.S)
_LINE = re.compile(r"^[-*•\s]{0,4}([A-Za-z]{0,6}[-_#]?\d{1,12})(?:\s*[:|,\t]|\s+[-–—])\s*(\S.*)$", re.M)
_NOTE = re.compile(r"\s*\[[^\[\]{}\"]{0,80}\bcharacters left out[^\[\]{}\"]{0,20}\]\s*")


@dataclass(frozen=True)
class Seen:
    """A ticket as far as the conversation shows it."""

    id: str
    subject: str = ""
    body: str = ""
    customer: str = ""
    product: str = ""
    cause: str = ""             # as the agent has written it down itself


@dataclass(frozen=True)
class Done:
    """A tool call that has its result."""

    tool: str
    need: str                   # "" for a tool that serves no known need
    input: Mapping[str, Any]
    text: str                   # the result as it came
    failed: bool

    @property
    def result(self) -> Any:
        """Parsed JSON, or the text as it is."""
        return _parsed(self.text)

    @property
    def is_whole(self) -> bool:
        """Whether nothing was cut from the result."""
        return not self.text.endswith("]") or not _NOTE.search(self.text[-200:])

    @property
    def tickets(self) -> tuple[Seen, ...]:
        return () if self.failed else _tickets_in(self.text)


def pointer(result: Any) -> Any:
    """Where the next page starts, None where the result does not say."""
    row = result if _is_row(result) else {}
    return next((row[n] for n in _POINTERS if row.get(n) not in (None, "", False)), None)


def is_last(result: Any) -> bool:
    """Whether a page says that none follows."""
    return _is_row(result) and any(name in result and result[name] in (None, "", False) for name in _POINTERS)


def total(result: Any) -> int | None:
    row = result if _is_row(result) else {}
    return next((row[n] for n in _TOTALS if isinstance(row.get(n), int)), None)


def rows(result: Any) -> Iterator[Mapping[str, Any]]:
    """The objects in any list of a result."""
    for value in result.values() if _is_row(result) else ():
        yield from (row for row in (value if isinstance(value, list) else ()) if _is_row(row))


def _is_row(result: Any) -> bool:
    return isinstance(result, Mapping)


@lru_cache(maxsize=4_096)
def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return _loosely(text) if text.lstrip()[:1] in ("{", "[") else text


def _loosely(text: str) -> dict[str, Any]:
    """What JSON that was cut still shows: its rows with the fields that are left, and where the next page is."""
    found = [row for piece in _NOTE.split(text) for row in _rows_left(piece)]
    first = found[0] if found else {}
    return {**{name: first[name] for name in (*_POINTERS, *_TOTALS) if name in first}, "rows": found}


def _rows_left(piece: str) -> list[dict[str, Any]]:
    """The fields of a piece as rows: a name that stands in the row already begins the next one."""
    found: list[dict[str, Any]] = []
    for name, text in _PAIR.findall(piece):
        if not found or name in found[-1]:
            found.append({})
        found[-1][name] = _value(text, cut_is_fine=name in _SUBJECT + _BODY)
    return found


def _value(text: str, cut_is_fine: bool) -> Any:
    """A value; of a text that was cut what is left, None for anything else that was."""
    try:
        return json.loads(text)
    except ValueError:
        return text[1:].replace("\\n", "\n").replace('\\"', '"') if cut_is_fine else None


@lru_cache(maxsize=4_096)
def _tickets_in(text: str) -> tuple[Seen, ...]:
    parsed = _parsed(text)
    return tuple(_in_text(parsed) if isinstance(parsed, str) else _walk(parsed))


def _in_text(text: str) -> Iterator[Seen]:
    """Tickets in plain text: a whole one below its heading, or one a line, its id first."""
    if reading.has_tickets(text):
        yield from (Seen(ticket.id, ticket.subject, ticket.body) for ticket in reading.tickets(text))
    else:
        yield from (Seen(found[1], found[2].strip()) for found in _LINE.finditer(text))


def _walk(value: Any) -> Iterator[Seen]:
    """Every object with a ticket's id in it, at any depth."""
    if isinstance(value, list):
        for item in value:
            yield from _walk(item)
    elif isinstance(value, Mapping) and isinstance(value.get("ids"), list):
        yield from (Seen(str(id)) for id in value["ids"] if isinstance(id, (str, int)))
    elif isinstance(value, Mapping):
        id = _first(value, _ID)
        if id and (_first(value, _TICKET_ID) or _first(value, _SUBJECT) or _first(value, _BODY)):
            yield Seen(id, _first(value, _SUBJECT), _first(value, _BODY), _first(value, _CUSTOMER),
                       _first(value, _PRODUCT))
        else:
            for item in value.values():
                yield from _walk(item)


def _first(row: Mapping[str, Any], names: tuple[str, ...]) -> str:
    value = next((row[n] for n in names if isinstance(row.get(n), (str, int)) and row[n] != ""), "")
    return str(value)
