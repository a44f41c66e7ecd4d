"""What a conversation with tools has shown so far. Facts that are no longer in it are not known, save noted ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from lib.remember import once
from lib.simulated.mind import notes
from lib.simulated.mind.reading import text_of
from lib.simulated.mind.results import Done, Seen
from lib.simulated.mind.toolbox import Offered


@dataclass
class Memory:
    done: list[Done] = field(default_factory=list)
    latest: list[Done] = field(default_factory=list)            # those of the last turn
    tickets: dict[str, Seen] = field(default_factory=dict)      # in the order in which they were listed
    listed: int = 0                                             # how many of them are not known from a search alone
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)    # noted: cause -> its tickets and customers
    incidents: list[str] = field(default_factory=list)          # noted

    def of(self, need: str) -> list[Done]:
        return [d for d in self.done if d.need == need]

    def calls(self, tool: Offered) -> list[Done]:
        return [d for d in self.done if tool.made(d.tool, d.input)]


def remember(messages: Iterable[Mapping[str, Any]], tools: Mapping[str, Offered]) -> Memory:
    """All calls in order, and every ticket that a result or a note shows, later details completing earlier ones."""
    memory, calls, found = Memory(), {}, {}
    for message in messages:
        content = message["content"]
        if message["role"] == "assistant":
            _take_notes(memory, once(_noted, message))
        blocks = () if isinstance(content, str) else content
        calls |= {b["id"]: b for b in blocks if b.get("type") == "tool_use"}
        memory.latest = [_done(calls[b["tool_use_id"]], b, tools) for b in blocks
                         if b.get("type") == "tool_result" and b["tool_use_id"] in calls]
        for done in memory.latest:
            memory.done.append(done)
            if done.need in ("list", "read"):
                _take_in(memory.tickets, done.tickets)
            elif done.need == "search":
                _take_in(found, done.tickets)
    memory.listed = len(memory.tickets)
    _take_in(memory.tickets, found.values())
    return memory


def _noted(message: Mapping[str, Any]) -> notes.Noted:
    return notes.read(text_of(message["content"]))


def _done(call: Mapping[str, Any], result: Mapping[str, Any], tools: Mapping[str, Offered]) -> Done:
    need = next((need for need, tool in tools.items() if tool.made(call["name"], call["input"])), "")
    return Done(call["name"], need, call["input"], text_of(result.get("content") or ""),
                bool(result.get("is_error")))


def _take_notes(memory: Memory, noted: notes.Noted) -> None:
    _take_in(memory.tickets, noted.tickets)
    memory.counts |= dict(noted.counts)
    memory.incidents += noted.incidents


def _take_in(known: dict[str, Seen], tickets: Iterable[Seen]) -> None:
    for seen in tickets:
        known[seen.id] = _completed(known.get(seen.id), seen)


@lru_cache(maxsize=8_192)
def _completed(known: Seen | None, seen: Seen) -> Seen:
    """One and the same on every turn of a conversation, so it is made once."""
    if known is None:
        return seen
    return replace(known, **{name: value for name in ("subject", "body", "customer", "product", "cause")
                             if (value := getattr(seen, name))})
