"""What code can say about a model's answer: each function compares one claim with the data and returns a Check."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import unescape

from lib.phrases import plural, some
from lib.task.report import CUSTOMERS_KNOWN, Cause, Check
from lib.task.spelling import one_spelling
from lib.tickets.ticket import Ticket, TicketSet


def all_placed(labels: Mapping[str, str], failed: Mapping[str, str], tickets: TicketSet) -> Check:
    """Every ticket has a cause."""
    detail = f"{len(labels)} of {len(tickets)} tickets have a cause"
    left = [t.key for t in tickets.tickets if t.key not in labels]
    if not left:
        return Check("every ticket placed", True, detail)
    reasons = f" ({some(sorted({failed[key] for key in left if key in failed}), 2)})" if failed else ""
    return Check("every ticket placed", False, f"{detail}; without one: {some(left)}{reasons}")


def customers_known(causes: Sequence[Cause], tickets: TicketSet) -> Check:
    """The database has every customer that the tickets of the causes name, and every such ticket names one."""
    customers = {c.id: c.known for cause in causes for c in cause.customers}
    missing = sorted(id for id, known in customers.items() if not known)
    unnamed = [key for cause in causes for key in cause.tickets if not tickets.by_key[key].customer.strip()]
    parts = [f"{len(customers) - len(missing)} of {len(customers)} customers of these causes are in the database"]
    parts += [f"not there: {some(missing)}"] if missing else []
    parts += [f"tickets that name no customer: {some(unnamed)}"] if unnamed else []
    return Check(CUSTOMERS_KNOWN, not missing and not unnamed, "; ".join(parts))


def products_known(named: Sequence[str], missing: Sequence[str], table: str) -> Check | None:
    """The database has every product that the tickets of the causes name; None where they name none."""
    if not named:
        return None
    if not table:
        return Check("products in the database", False, "the database has no table of products: they are given as "
                                                        "tickets name them")
    detail = f"{len(named) - len(missing)} of {len(named)} products of these causes are in the database"
    detail += f"; not there: {some(missing)}" if missing else ""
    return Check("products in the database", not missing, detail)


def incidents_known(table: str, product_column: str) -> Check | None:
    """Whether incidents could be joined to products at all; None where nothing stood in the way."""
    if table and product_column:
        return None
    detail = (f"no column of {table} tells an incident's product: none was joined" if table else
              "the database has no table of incidents: none was joined")
    return Check("incidents in the database", False, detail)


def quotes_found(quotes: Mapping[str, str], tickets: TicketSet) -> Check | None:
    """Every label has a quote ("" = none) and it stands in its ticket. None where the shape is asked for none."""
    if not quotes:
        return None
    given = {key: quote for key, quote in quotes.items() if quote}
    without = [key for key in quotes if key not in given]
    missing = [key for key, quote in given.items() if not quote_found(quote, tickets.by_key[key])]
    parts = [f"{len(given) - len(missing)} of {len(given)} quotes stand in their ticket"] if given else []
    parts += [f"not found: {some(missing)}"] if missing else []
    parts += [f"labels without a quote: {some(without)}"] if without else []
    return Check("quotes", not missing and not without, "; ".join(parts))


def quote_found(quote: str, ticket: Ticket) -> bool:
    """Whether the quote stands in the ticket, white space, case, typography and entities aside.

    An ellipsis in the quote stands for left-out text: its pieces must follow each other in the ticket.
    """
    text = _without_quotes(f"{ticket.subject}\n{ticket.body}")
    return any(_stands_in(text, version) for version in (quote, unescape(quote)))


def _stands_in(text: str, quote: str) -> bool:
    pieces, start = [p for p in map(_without_quotes, re.split(r"…|\.{3,}", quote)) if any(map(str.isalnum, p))], 0
    for piece in pieces:
        at = text.find(piece, start)
        if at < 0:
            return False
        start = at + len(piece)
    return bool(pieces)


def _without_quotes(text: str) -> str:
    return one_spelling(text).strip("\"'")


def summary_given(cause: str, text: str, problem: str = "") -> Check:
    """The cause has a summary; `problem` says why it has none."""
    detail = "has a summary" if text else problem or "no summary was given"
    return Check("summary", bool(text), detail, cause)


def summary_tickets(cause: str, named: Sequence[str], members: Iterable[str]) -> Check:
    """The tickets a summary names are tickets of its cause."""
    shown = {" ".join(key.split()) for key in members}      # as an attribute of the prompt shows them
    wrong = sorted(id for id in set(named) if " ".join(unescape(id).split()) not in shown and id not in shown)
    if not named:
        return Check("summary ids", False, "the summary names no ticket", cause)
    if wrong:
        return Check("summary ids", False, f"not tickets of this cause: {some(wrong)}", cause)
    return Check("summary ids", True, f"{plural(len(set(named)), 'ticket')} named, all of the cause", cause)


def tickets_exist(named: Iterable[str], tickets: TicketSet) -> Check:
    """Every ticket id in the answer is in the data."""
    ids = list(dict.fromkeys(named))
    unknown = [id for id in ids if id not in tickets.by_key]
    detail = f"{len(ids) - len(unknown)} of {len(ids)} ticket ids in the answer exist"
    return Check("tickets exist", not unknown, f"{detail}; unknown: {some(unknown)}" if unknown else detail)


def one_cause_each(repeated: Mapping[str, Sequence[str]]) -> Check:
    """No ticket is given twice; `repeated` maps each one that is to the causes it stands in, the first counts."""
    if not repeated:
        return Check("one cause per ticket", True, "no ticket is given twice")
    told = [f"{key} ({some(list(dict.fromkeys(causes)), 3)})" for key, causes in repeated.items()]
    return Check("one cause per ticket", False, f"given more than once, only the first counts: {some(told)}")


def count_matches(cause: str, claimed: int | None, counted: int) -> Check:
    """The count the model states is the count its ticket ids give."""
    if claimed is None:
        return Check("counts", False, f"no count claimed, counted {counted}", cause)
    return Check("counts", claimed == counted, f"claimed {claimed}, counted {counted}", cause)


def customers_match(cause: str, claimed: int | None, joined: int) -> Check:
    """The number of customers the model states is the number its tickets come from."""
    if claimed is None:
        return Check("customers", False, f"no number of customers claimed, its tickets come from {joined}", cause)
    return Check("customers", claimed == joined, f"claimed {claimed}, its tickets come from {joined}", cause)


def tickets_read(placed: Iterable[str], read: set[str]) -> Check:
    """Every ticket that has a cause was read before it was judged."""
    keys = list(placed)
    unread = [key for key in keys if key not in read]
    detail = f"{len(keys) - len(unread)} of {len(keys)} tickets with a cause were read"
    return Check("tickets read", not unread, f"{detail}; not read: {some(unread)}" if unread else detail)


def ranked_by_count(answered: Sequence[str], counts: Mapping[str, int], k: int, unplaced: int = 0) -> Check:
    """The answer gives the `k` most frequent causes, in the order of `counts` (of every cause that has tickets).

    `unplaced` tickets have no cause, so they may hide one. Causes as frequent as the last one are told, not a fault.
    """
    inside, named = [counts.get(name, 0) for name in answered], set(answered)
    last = min(inside, default=0)
    outside = {name: n for name, n in counts.items() if name not in named}
    faults = []
    if inside != sorted(inside, reverse=True):
        faults.append(f"the answer's order is {some(inside, 20)} tickets")
    if len(answered) > k:
        faults.append(f"{k} causes were asked for, {len(answered)} given")
    if more := [f"{name} ({n})" for name, n in outside.items() if n > last]:
        faults.append("more frequent, but left out: " + some(more))
    if len(answered) < k and (outside or unplaced):
        rest = f"{len(counts)} found" if outside else f"{unplaced} tickets have no cause"
        faults.append(f"{k} causes were asked for, {len(answered)} given, {rest}")
    return Check("ranking", not faults, "; ".join(faults) or "; ".join(_ranked(len(answered), last, outside, k,
                                                                               unplaced)))


def _ranked(given: int, last: int, outside: Mapping[str, int], k: int, unplaced: int) -> list[str]:
    """What there is to say of a ranking without a fault."""
    parts = ["most frequent first, none left out"]
    if tied := [f"{name} ({n})" for name, n in outside.items() if n == last]:
        parts = [f"most frequent first; as frequent as the last one: {some(tied)}"]
    if unplaced > last:
        parts.append(f"{unplaced} tickets without a cause could change it")
    if given < k:
        parts.append(f"{k} were asked for, {given} found")
    return parts
