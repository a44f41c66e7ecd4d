"""A ticket, and a set of them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class Ticket:
    key: str                # unique in its set: the id, or "id#2" for a repeated one
    id: str                 # as exported, always text
    subject: str = ""
    body: str = ""
    customer: str = ""      # the customer's id, as exported
    product: str = ""
    created: str = ""       # raw text; never re-interpreted
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
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:12]

    def to_json(self) -> str:
        return json.dumps({"name": self.name, "tickets": [vars(t) for t in self.tickets], "notes": self.notes},
                          ensure_ascii=True)

    @staticmethod
    def from_json(text: str) -> TicketSet:
        data = json.loads(text)
        return TicketSet(data["name"], tuple(Ticket(**t) for t in data["tickets"]), tuple(data["notes"]))
