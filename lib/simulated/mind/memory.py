"""What a conversation with tools has shown so far. Facts that are no longer in it are not known."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from lib.simulated.mind.reading import text_of
from lib.simulated.mind.toolbox import Offered

_TICKET_ID = ("ticket_id", "case_id")       # enough to know a ticket by; any other id needs a text beside it
_ID = (*_TICKET_ID, "id", "key", "ticket", "number")
_SUBJECT = ("subject", "title", "summary", "snippet")
_BODY = ("body", "text", "description", "content", "message", "full_text")
_CUSTOMER = ("customer_id", "customer", "client_id", "client", "account_id")
_PRODUCT = ("product_id", "product", "service")


@dataclass(frozen=True)
class Seen:
    """A ticket as far as the conversation shows it."""

    id: str
    subject: str = ""
    body: str = ""
    customer: str = ""
    product: str = ""


@dataclass(frozen=True)
class Done:
    """A tool call that has its result."""

    need: str                   # "" for a tool that serves no known need
    input: Mapping[str, Any]
    result: Any                 # parsed JSON, or the text as it is
    failed: bool


@dataclass
class Memory:
    done: list[Done] = field(default_factory=list)
    tickets: dict[str, Seen] = field(default_factory=dict)

    def of(self, need: str) -> list[Done]:
        return [d for d in self.done if d.need == need]


def remember(messages: list[Mapping[str, Any]], tools: Mapping[str, Offered]) -> Memory:
    """All calls in order, and every ticket any result showed, later details completing earlier ones."""
    needs = {tool.name: need for need, tool in tools.items()}
    memory = Memory()
    for call, result in _exchanges(messages):
        text = text_of(result.get("content") or "")
        need, failed = needs.get(call["name"], ""), bool(result.get("is_error"))
        memory.done.append(Done(need, call["input"], _parsed(text), failed))
        if not failed and need in ("list", "read", "search"):
            for seen in _tickets_in(text):
                memory.tickets[seen.id] = _completed(memory.tickets.get(seen.id), seen)
    return memory


def _exchanges(messages: list[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    calls: dict[str, Mapping[str, Any]] = {}
    for message in messages:
        if isinstance(message["content"], str):
            continue
        for block in message["content"]:
            if block.get("type") == "tool_use":
                calls[block["id"]] = block
            elif block.get("type") == "tool_result" and block["tool_use_id"] in calls:
                yield calls[block["tool_use_id"]], block


def _completed(known: Seen | None, seen: Seen) -> Seen:
    if known is None:
        return seen
    return replace(known, **{name: value for name in ("subject", "body", "customer", "product")
                             if (value := getattr(seen, name))})


@lru_cache(maxsize=2_048)
def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@lru_cache(maxsize=2_048)
def _tickets_in(text: str) -> tuple[Seen, ...]:
    return tuple(_walk(_parsed(text)))


def _walk(value: Any) -> Iterator[Seen]:
    """Every object with a ticket's id in it, at any depth."""
    if isinstance(value, list):
        for item in value:
            yield from _walk(item)
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
