"""The agent's tools over the tickets and the catalog: what the model is told of each, and the function behind it.

Every function returns plain JSON data, capped in rows and size, and raises ValueError with a text the model can act on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import signature
from typing import Any

from lib.agent import Tool
from lib.catalog import Catalog, Role, empty_catalog
from lib.design import Design, ToolText
from lib.phrases import few, some
from lib.task.answers import tidy_cause
from lib.task.own_tools import own_function
from lib.task.prompts import BODY_LIMIT, ID_RULE, shorten
from lib.task.reporting import affected
from lib.task.results import RESULT_LIMIT, capped, row_of, size_of
from lib.task.spelling import one_spelling
from lib.tickets.ticket import Ticket, TicketSet

PAGE = 20                   # tickets on a page unless the model asks for another number
PAGE_LIMIT = 50             # tickets on a page at most
HITS = 20                   # tickets one search returns
LINE_LIMIT = 500            # characters of one short field, such as a subject
IDS = 200                   # ticket ids shown of one cause
READS = 10                  # tickets one call of read_ticket returns


def make_tools(design: Design, tickets: TicketSet, catalog: Catalog) -> list[Tool]:
    """The design's enabled tools, with its names and texts, over these tickets and this catalog."""
    functions = {key: _explaining(function) for key, function in _functions(tickets, catalog).items()}
    functions |= {text.key: own_function(text.query, catalog) for text in design.tools if text.is_own}
    return [Tool(text.name, text.description, text.input_schema, functions[text.key])
            for text in design.tools if text.enabled and text.key in functions]


def parameters(key: str) -> tuple[str, ...]:
    """The names that the function behind a tool takes, whatever its schema says; () where there is no function."""
    function = _functions(TicketSet("", ()), empty_catalog()).get(key)
    return tuple(signature(function).parameters) if function else ()


def _explaining(function: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """`function`, with a ValueError that the model can act on for arguments that it does not take, or does not get."""
    takes = signature(function)

    def call(**arguments: Any) -> dict[str, Any]:
        try:
            takes.bind(**arguments)
        except TypeError:
            given = f"it was given {some(sorted(arguments))}" if arguments else "nothing was given"
            raise ValueError(f"it takes {' and '.join(takes.parameters)}; {given}") from None
        return function(**arguments)

    return call


def _functions(tickets: TicketSet, catalog: Catalog) -> dict[str, Callable[..., dict[str, Any]]]:
    return {
        "list_tickets": partial(list_tickets, tickets),
        "read_ticket": partial(read_ticket, tickets),
        "search_tickets": partial(search_tickets, tickets),
        "get_customer": partial(get_customer, catalog),
        "get_product": partial(get_product, catalog),
        "list_incidents": partial(list_incidents, catalog),
        "tally": partial(tally, tickets, catalog),
    }


# --- tickets ---------------------------------------------------------------------------------------------------------


def list_tickets(tickets: TicketSet, offset: int = 0, limit: int = PAGE) -> dict[str, Any]:
    """One page of tickets without their bodies, and where the next page starts (None after the last)."""
    offset = _whole(offset, "offset", 0, max(0, len(tickets) - 1))
    page = tickets.tickets[offset:offset + _whole(limit, "limit", 1, PAGE_LIMIT)]
    result = capped({"total": len(tickets), "offset": offset, "next_offset": None,
                      "tickets": [_fields(t, "subject", "product") for t in page]}, "tickets")
    after = offset + len(result["tickets"])
    return {**result, "next_offset": after if after < len(tickets) else None}


def _fields(ticket: Ticket, *names: str) -> dict[str, str]:
    """The ticket's id and these short fields of it. A list shows few: the agent pays for them again on every turn."""
    return {"ticket_id": ticket.key, **{name: shorten(getattr(ticket, name), LINE_LIMIT) for name in names}}


def read_ticket(tickets: TicketSet, ticket_id: Any = None, ticket_ids: Any = None) -> dict[str, Any]:
    """One ticket with its body, which is shortened in the middle if it is very long.

    Several ids (in either argument: a list, or one text with commas) give `{"tickets": […], "not_found": […]}`; they
    share the room that one result has. At most READS of them are read, a note tells of the others.
    """
    ids = asked_ids(tickets, ticket_id, ticket_ids)
    found = [tickets.by_key[id] for id in ids[:READS] if id in tickets.by_key]
    if not found:
        raise ValueError(f"there is no ticket {some([repr(id[:80]) for id in ids], 3)}; pass one id, {ID_RULE}")
    if len(ids) == 1:
        return _whole_ticket(found[0], RESULT_LIMIT)
    result: dict[str, Any] = {"tickets": _whole_tickets(found),
                              "not_found": _few([id for id in ids[:READS] if id not in tickets.by_key])}
    return result if len(ids) <= READS else {**result, "note": f"the first {READS} of {len(ids)} ids were read, "
                                                               "pass the others in another call"}


def asked_ids(tickets: TicketSet, *given: Any) -> list[str]:
    """Every id in arguments of read_ticket, each once, whether it exists or not. ValueError for what is no id."""
    ids = [id for value in given if value is not None for id in _ids(tickets, value)]
    if not ids:
        raise ValueError(f"ticket_id is missing; pass one id, {ID_RULE}")
    return list(dict.fromkeys(ids))


def _ids(tickets: TicketSet, value: Any) -> list[str]:
    if isinstance(value, list):
        return [id for part in value for id in _ids(tickets, None if isinstance(part, list) else part)]
    if not isinstance(value, (str, int)) or isinstance(value, bool):
        raise ValueError(f"ticket_id must be one id, {ID_RULE}, or a list of ids")
    whole = str(value).strip()
    parts = [whole] if whole in tickets.by_key else [part.strip() for part in whole.split(",")]
    return [part for part in parts if part] or [whole]


def _whole_tickets(found: Sequence[Ticket]) -> list[dict[str, str]]:
    """What short tickets leave of their share goes to the longer ones."""
    rows: dict[str, dict[str, str]] = {}
    left = RESULT_LIMIT
    for waiting, ticket in enumerate(sorted(found, key=lambda t: len(t.body))):
        rows[ticket.key] = _whole_ticket(ticket, left // (len(found) - waiting))
        left -= size_of(rows[ticket.key])
    return [rows[ticket.key] for ticket in found]


def _whole_ticket(ticket: Ticket, most: int) -> dict[str, str]:
    """A ticket with as much of its body as fits `most` characters of JSON."""
    limit = BODY_LIMIT
    fields = {**_fields(ticket, "subject", "product", "created"), "customer_id": shorten(ticket.customer, LINE_LIMIT)}
    while size_of(result := {**fields, "body": shorten(ticket.body, limit)}) > most and limit:
        limit //= 2
    return result


def search_tickets(tickets: TicketSet, query: str) -> dict[str, Any]:
    """The tickets that hold every word of the query, with the text around the first hit, and how many there are."""
    words = one_spelling(query).split() if isinstance(query, str) else []
    if not words:
        raise ValueError("query is empty; pass one or more words to look for")
    hits = [t for t in tickets.tickets if _holds(t, words)]
    rows = [{**_fields(t, "subject"), "snippet": _snippet(t, words[0])} for t in hits[:HITS]]
    return capped({"total": len(hits), "tickets": rows}, "tickets", total=len(hits))


def _holds(ticket: Ticket, words: Sequence[str]) -> bool:
    text = one_spelling(f"{ticket.subject} {ticket.body}")
    return all(word in text for word in words)


def _snippet(ticket: Ticket, word: str) -> str:
    text = " ".join(f"{ticket.subject} / {ticket.body}".split())
    at = max(0, text.casefold().find(word) - 70)
    return ("… " if at else "") + text[at:at + 160] + (" …" if at + 160 < len(text) else "")


def tally(tickets: TicketSet, catalog: Catalog, assignments: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Exact counts per cause, most frequent first, with ticket ids and the number of different customers.

    A ticket given twice counts where it stood first; ids that do not exist count nowhere. Both are reported.
    """
    placed: dict[str, str] = {}
    unknown, repeated = [], []
    for key, cause in map(_assignment, _objects(assignments)):
        if key not in tickets.by_key:
            unknown.append(key)
        elif key in placed:
            repeated.append(key)
        else:
            placed[key] = cause
    left = [t.key for t in tickets.tickets if t.key not in placed]
    result = {"total_tickets": len(tickets), "assigned": len(placed), "unassigned": len(left),
              "unknown_ticket_ids": _few(unknown), "repeated_ticket_ids": _few(repeated),
              "causes": _tallied(placed, tickets, catalog)}
    if left:
        result["unassigned_ticket_ids"] = _few(left)
    return capped(result, "causes")


def _few(ids: Sequence[str]) -> list[str]:
    return few([id[:80] for id in ids], HITS)


def _objects(assignments: Any) -> list[Mapping[str, Any]]:
    if not isinstance(assignments, list) or not all(isinstance(a, Mapping) for a in assignments):
        raise ValueError('assignments must be a list of objects such as {"ticket_id": "…", "cause": "…"}')
    return assignments


def _assignment(assignment: Mapping[str, Any]) -> tuple[str, str]:
    if "ticket_id" not in assignment:
        raise ValueError(f'each assignment needs "ticket_id" and "cause"; one has {some(list(assignment)) or "none"}')
    key = str(assignment["ticket_id"]).strip()
    try:
        return key, tidy_cause(assignment.get("cause"))
    except ValueError as fault:
        raise ValueError(f"assignment of ticket {key[:80]!r}: {fault}") from None


def _tallied(placed: Mapping[str, str], tickets: TicketSet, catalog: Catalog) -> list[dict[str, Any]]:
    members: dict[str, list[Ticket]] = {}
    for ticket in tickets.tickets:
        if ticket.key in placed:
            members.setdefault(placed[ticket.key], []).append(ticket)
    return [_row_of_tally(cause, found, catalog)
            for cause, found in sorted(members.items(), key=lambda item: (-len(item[1]), item[0]))]


def _row_of_tally(cause: str, members: Sequence[Ticket], catalog: Catalog) -> dict[str, Any]:
    ids = [t.key for t in members[:IDS]]
    while len(ids) > 1 and size_of({"ticket_ids": ids}) > RESULT_LIMIT // 2:
        ids = ids[:len(ids) // 2]
    row = {"cause": cause, "count": len(members), "customers": len(affected(members, catalog)),
           "ticket_ids": ids}
    if len(ids) < len(members):
        row["note"] = f"{len(ids)} of {len(members)} ticket_ids shown; all are counted"
    return row


# --- product database ------------------------------------------------------------------------------------------------


def get_customer(catalog: Catalog, customer_id: str) -> dict[str, Any]:
    """The customer's row of the database."""
    row = catalog.customer(_one(customer_id, "customer_id"))
    if row is None:
        raise ValueError(_unknown("customer", customer_id, catalog.roles.customers))
    return row_of(row)


def get_product(catalog: Catalog, product: str) -> dict[str, Any]:
    """The product's row of the database."""
    row = catalog.product(_one(product, "product"))
    if row is None:
        raise ValueError(_unknown("product", product, catalog.roles.products))
    return row_of(row)


def list_incidents(catalog: Catalog, product: str = "") -> dict[str, Any]:
    """The incidents of one product, or of all for an empty `product`: as many as fit, and how many there are."""
    if not product:
        rows, total = _all_incidents(catalog)
        return capped({"total": total, "incidents": rows}, "incidents", total=total)
    rows = [row_of(row) for row in catalog.incidents(_one(product, "product"))]
    if not rows:
        _explain_no_incidents(catalog, product)
    return capped({"product": product, "total": len(rows), "incidents": rows}, "incidents", total=len(rows))


def _explain_no_incidents(catalog: Catalog, product: str) -> None:
    """Raises ValueError when it is not known that the product had none."""
    role = catalog.roles.incidents
    if catalog.product(product) is None:
        raise ValueError(_unknown("product", product, catalog.roles.products))
    if role is None:
        raise ValueError(_unknown("incident", product, role))
    if "product_id" not in role.columns:
        raise ValueError("the database does not tell which product an incident is of; leave product out to see all")


def _all_incidents(catalog: Catalog) -> tuple[list[dict[str, Any]], int]:
    """The first incidents of the database, and how many it has."""
    role = catalog.roles.incidents
    if role is None:
        raise ValueError(_unknown("incident", "", role))
    return [row_of(row) for row in catalog.rows(role.table, limit=HITS)], catalog.tables[role.table].rows


def _unknown(kind: str, given: Any, role: Role | None) -> str:
    if role is None:
        return f"the database has no table of {kind}s; go on without it"
    return (f"the database has no {kind} {str(given)[:80]!r}; pass the {kind} exactly as a ticket gives it. If a "
            "ticket does give this one, the database lacks it: do not look it up again")


def _one(value: Any, name: str) -> str:
    if not isinstance(value, (str, int)) or isinstance(value, bool) or not str(value).strip():
        raise ValueError(f"{name} must be one id as text")
    return str(value).strip()


# --- arguments ------------------------------------------------------------------------------------------------------


def _whole(value: Any, name: str, lowest: int, highest: int) -> int:
    if isinstance(value, str) and re.fullmatch(r"\s*\d{1,9}\s*", value):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value <= highest:
        raise ValueError(f"{name} must be a whole number from {lowest} to {highest}, not {str(value)[:40]!r}")
    return value


# --- what the model is told ------------------------------------------------------------------------------------------


def _schema(**properties: dict[str, Any]) -> dict[str, Any]:
    """An object of these properties; those without a default are required."""
    required = [name for name, schema in properties.items() if "default" not in schema]
    return {"type": "object", "properties": properties, **({"required": required} if required else {}),
            "additionalProperties": False}


_PRODUCT = {"type": "string", "description": "One product id or name, exactly as a ticket gives it."}

DEFAULT_TOOLS: tuple[ToolText, ...] = (
    ToolText(
        "list_tickets", "list_tickets",
        "Lists tickets, one page at a time: total number, and per ticket ticket_id, subject and product. next_offset "
        "is where the next page starts, null after the last page. It does not return bodies: a subject rarely shows "
        "the cause, so read the ticket before you judge it.",
        _schema(offset={"type": "integer", "minimum": 0, "default": 0, "description": "How many tickets to skip."},
                limit={"type": "integer", "minimum": 1, "maximum": PAGE_LIMIT, "default": PAGE,
                       "description": f"Tickets on this page, at most {PAGE_LIMIT}."})),
    ToolText(
        "read_ticket", "read_ticket",
        "Returns one ticket: ticket_id, subject, product, created (the date as exported), customer_id and the full "
        "body. A very long body is shortened in the middle and says so. One ticket per call. Do not use it to find "
        "tickets about something; use search_tickets for that.",
        _schema(ticket_id={"type": "string", "description": f"One ticket id, {ID_RULE}."})),
    ToolText(
        "search_tickets", "search_tickets",
        f"Finds tickets whose subject or body holds every word of the query, in any case: total number, and for up to "
        f"{HITS} of them ticket_id, subject and a snippet around the first hit. Words are matched as written, no "
        "synonyms, no operators. Do not use it to count a cause: customers describe the same cause in different words.",
        _schema(query={"type": "string", "description": "One or more words, for instance: invoice total"})),
    ToolText(
        "get_customer", "get_customer",
        "Returns one customer as the product database holds it, such as name, plan, region and monthly revenue (in the "
        "database's own currency). An error means that the database does not have the customer. "
        "Do not use it to count customers; tally does that.",
        _schema(customer_id={"type": "string", "description": "One customer id, exactly as a ticket gives it."})),
    ToolText(
        "get_product", "get_product",
        "Returns one product as the product database holds it, such as its id, name and area. Do not use it for what "
        "went wrong with a product; list_incidents has that.",
        _schema(product=_PRODUCT)),
    ToolText(
        "list_incidents", "list_incidents",
        "Returns the known incidents of one product, or of all products when product is left out: total number, and "
        "per incident its id, product, when it started and ended, title and detail. An incident explains a ticket only "
        "if its time and its detail fit; an empty list means that none is known, not that nothing happened.",
        _schema(product={**_PRODUCT, "default": ""})),
    ToolText(
        "tally", "tally",
        "Counts exactly, in code. Pass every ticket with its one cause; returns per cause, most frequent first, count, "
        "ticket_ids and customers (how many different ones), and reports ids that do not exist, ids given twice and "
        "tickets without a cause. Spell a cause the same way every time. It remembers nothing: pass all assignments "
        "in one call, and use its numbers in your answer.",
        _schema(assignments={
            "type": "array", "description": "One entry per ticket.",
            "items": _schema(ticket_id={"type": "string", "description": f"One ticket id, {ID_RULE}."},
                             cause={"type": "string", "description": "Root cause in 2-5 plain lower-case words."})})),
)
