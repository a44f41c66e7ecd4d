"""A ticket, and a set of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Ticket:
    key: str                # unique in its set: the id, or "id#2" for a repeated one
    id: str                 # as exported, always text
    subject: str = ""
    body: str = ""
    customer: str = ""      # the customer's id, as exported
    product: str = ""
    created: str = ""       # raw text; never re-interpreted
    label: str = ""         # what a person said the ticket is about, to hold answers against; no model gets to see it
    extra: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TicketSet:
    name: str
    tickets: tuple[Ticket, ...]
    notes: tuple[str, ...] = ()     # what the reader did, one short line each

    def __len__(self) -> int:
        return len(self.tickets)

    @cached_property
    def by_key(self) -> dict[str, Ticket]:
        return {t.key: t for t in self.tickets}

    @cached_property
    def version(self) -> str:
        """Twelve hex digits that change when any ticket does."""
        digest = hashlib.sha256(_framed([self.name, *self.notes]))
        for ticket in self.tickets:
            *parts, extra = vars(ticket).values()
            digest.update(_framed([*parts, *extra, *extra.values()]))
        return digest.hexdigest()[:12]

    def to_json(self) -> str:
        return "".join(self.json_pieces())

    def json_pieces(self) -> Iterator[str]:
        """The same ticket by ticket, for whoever writes or packs a large set: all at once takes the memory twice."""
        encode = json.JSONEncoder(ensure_ascii=True).encode
        yield f'{{"name": {encode(self.name)}, "tickets": ['
        for number, ticket in enumerate(self.tickets):
            yield (", " if number else "") + encode(_stored(ticket))
        yield f'], "notes": {encode(self.notes)}}}'

    @staticmethod
    def from_json(text: str) -> TicketSet:
        data = json.loads(text)
        return TicketSet(data["name"], tuple(Ticket(**t) for t in data["tickets"]), tuple(data["notes"]))


def _framed(texts: list[str]) -> bytes:
    """The texts with their lengths before them, so that no other texts give the same bytes."""
    return f"{[*map(len, texts)]}{''.join(texts)}".encode("utf-8", "surrogatepass")


def _stored(ticket: Ticket) -> dict[str, Any]:
    """Its fields; without a label as they were before there were labels: the same data keep their id in the store."""
    fields = dict(vars(ticket))
    if not ticket.label:
        del fields["label"]
    return fields
