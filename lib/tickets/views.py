"""Cheap looks at a table or a set of tickets, for pages: examples and counts by column, sizes in characters and tokens.
Each takes a fraction of a second for 100,000 tickets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from lib.tickets.table import Table
from lib.tickets.ticket import Ticket, TicketSet

SAMPLE = 200            # tickets whose tokens are counted
_FIELDS = ("key", "id", "subject", "customer", "product", "created", "label")


@dataclass(frozen=True)
class ColumnView:
    name: str
    filled: int                     # rows that hold something
    examples: tuple[str, ...]       # the first different values, shortened, each on one line


def columns_of(table: Table, examples: int = 3, longest: int = 60) -> list[ColumnView]:
    """Every column with its filled cells counted and a few examples."""
    found = []
    for at, name in enumerate(table.columns):
        seen = dict.fromkeys(islice((row[at] for row in table.rows if row[at] and not row[at].isspace()), 200))
        shown = tuple(_short(value, longest) for value in islice(seen, examples))
        found.append(ColumnView(name, sum(1 for row in table.rows if row[at]), shown))
    return found


def _short(text: str, longest: int) -> str:
    line = " ".join(text[:4 * longest].split())
    return line if len(line) <= longest and len(text) <= 4 * longest else line[:longest - 1] + "…"


def groupings(tickets: TicketSet) -> list[str]:
    """What tickets can be counted and sampled by: parts of a ticket, then other columns, that hold anything."""
    parts = [name for name in ("label", "product", "customer", "created")
             if any(getattr(ticket, name) for ticket in tickets.tickets)]
    return [*parts, *dict.fromkeys(name for ticket in tickets.tickets for name in ticket.extra)]


def value_of(ticket: Ticket, by: str) -> str:
    """The ticket's value of a part ("product") or, by its name, of another column; empty where it has none."""
    return getattr(ticket, by) if by in _FIELDS else ticket.extra.get(by, "")


def counts(tickets: TicketSet, by: str) -> Counter[str]:
    return Counter(value_of(ticket, by) for ticket in tickets.tickets)


@dataclass(frozen=True)
class Sizes:
    """Of subject and body together, in characters or tokens."""

    tickets: int
    total: int
    median: int
    ninety: int         # nine of ten tickets are no longer
    largest: int
    largest_key: str    # of the ticket that is the largest
    exact: bool = True  # False: tokens of a sample, spread over all lengths, stand for the rest
    smallest: int = 0


def characters(tickets: TicketSet) -> Sizes:
    lengths = sorted((len(ticket.subject) + len(ticket.body), ticket.key) for ticket in tickets.tickets)
    return _sizes(lengths, sum(length for length, _ in lengths), len(lengths), True)


def tokens(tickets: TicketSet, count: Callable[[Ticket], int], sample: int = SAMPLE) -> Sizes:
    """`count` tells the tokens of one ticket; it is asked for `sample` tickets, from the shortest to the longest."""
    by_length = sorted(tickets.tickets, key=lambda ticket: len(ticket.subject) + len(ticket.body))
    number = len(by_length)
    exact = number <= sample
    chosen = by_length if exact else [by_length[round(i * (number - 1) / (sample - 1))] for i in range(sample)]
    counted = sorted((count(ticket), ticket.key) for ticket in chosen)
    total = sum(length for length, _ in counted)
    return _sizes(counted, total if exact else round(total * number / sample), number, exact)


def _sizes(ordered: list[tuple[int, str]], total: int, number: int, exact: bool) -> Sizes:
    if not ordered:
        return Sizes(0, 0, 0, 0, 0, "")
    at = len(ordered) - 1
    largest, key = ordered[-1]
    return Sizes(number, total, ordered[at // 2][0], ordered[round(at * 0.9)][0], largest, key, exact,
                 ordered[0][0])

