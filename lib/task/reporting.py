"""The exact work: counting, ranking and joining. Takes which ticket belongs to which cause, returns the Report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lib.catalog import Catalog, id_text
from lib.task.checks import all_placed, customers_known, incidents_known, products_known, quote_found, quotes_found
from lib.task.report import Cause, Check, Customer, Evidence, Report
from lib.tickets.ticket import Ticket, TicketSet


def build_report(shape: str, k: int, tickets: TicketSet, catalog: Catalog, placed: Mapping[str, str], *,
                 only: Iterable[str] | None = None, failed: Mapping[str, str] | None = None,
                 summaries: Mapping[str, str] | None = None, quotes: Mapping[str, str] | None = None,
                 claimed: Mapping[str, int | None] | None = None, checks: Sequence[Check] = (),
                 partial: str = "") -> Report:
    """The Report for `placed` (ticket key -> cause).

    `only` names the causes that may be reported, all by default. `summaries` and `claimed` (counts) go by cause,
    `failed` (reasons) and `quotes` by ticket key. `checks` are the shape's own; those every shape shares are added.
    `partial` says why the shape did not get to its end: a failed check of its own, before all others.
    """
    labels = {t.key: placed[t.key] for t in tickets.tickets if t.key in placed}
    failed, quotes = dict(failed or {}), quotes or {}
    names = top_causes(labels, k, only)
    causes = tuple(_cause(name, _members(labels, name, tickets), catalog, (summaries or {}).get(name, ""), quotes,
                          (claimed or {}).get(name)) for name in names)
    shared = (all_placed(labels, failed, tickets), quotes_found(quotes, tickets), customers_known(causes, tickets),
              *_database_checks(causes, tickets, catalog))
    ending = (Check("run finished", False, partial),) if partial else ()
    return Report(shape, k, causes, (*ending, *checks, *(check for check in shared if check)), len(tickets), labels,
                  failed, other=len(labels) - sum(cause.count for cause in causes), partial=partial)


def _database_checks(causes: Sequence[Cause], tickets: TicketSet, catalog: Catalog) -> list[Check | None]:
    """What else could be joined. Of no database at all the check of customers tells enough."""
    if not catalog.tables:
        return []
    products, incidents = catalog.roles.products, catalog.roles.incidents
    named = dict.fromkeys(text for cause in causes for key in cause.tickets
                          if (text := tickets.by_key[key].product.strip()))
    missing = [text for text in named if not catalog.has_product(text)]
    return [products_known(list(named), missing, products.table if products else ""),
            incidents_known(incidents.table, incidents.columns.get("product_id", "")) if incidents
            else incidents_known("", "")]


def top_causes(labels: Mapping[str, str], k: int, only: Iterable[str] | None = None) -> list[str]:
    """The `k` most frequent causes: by count, then by name."""
    counts = Counter(labels.values())
    names = counts if only is None else set(only) & counts.keys()
    return sorted(names, key=lambda name: (-counts[name], name))[:k]


def _members(labels: Mapping[str, str], name: str, tickets: TicketSet) -> list[Ticket]:
    return [tickets.by_key[key] for key, cause in labels.items() if cause == name]


def _cause(name: str, members: Sequence[Ticket], catalog: Catalog, summary: str, quotes: Mapping[str, str],
           claimed: int | None) -> Cause:
    evidence = tuple(Evidence(t.key, quotes[t.key], quote_found(quotes[t.key], t))
                     for t in members if quotes.get(t.key))
    return Cause(name, tuple(t.key for t in members), affected(members, catalog), product_names(members, catalog),
                 summary, evidence, claimed)


def affected(tickets: Iterable[Ticket], catalog: Catalog) -> tuple[Customer, ...]:
    """The customers these tickets come from, each once, highest monthly revenue first, then by id.

    The database's id tells customers apart, since tickets may spell it in another case. A customer that the database
    does not have is there too, with `known=False`; a ticket without a customer adds none.
    """
    found: dict[str, Customer] = {}
    counts: Counter[str] = Counter()
    for given, count in Counter(t.customer.strip() for t in tickets if t.customer.strip()).items():
        customer = find_customer(given, catalog)
        found[customer.id] = customer
        counts[customer.id] += count
    customers = [replace(customer, tickets=counts[id]) for id, customer in found.items()]
    return tuple(sorted(customers, key=lambda c: (c.monthly_revenue is None, -(c.monthly_revenue or 0), c.id)))


def find_customer(given: str, catalog: Catalog) -> Customer:
    """The customer with this id, all as the database has it; `known=False` where it does not."""
    row, role = catalog.customer(given), catalog.roles.customers
    if row is None or role is None:
        return Customer(given, known=False)
    name, plan, region = (id_text(role.get(row, field)) for field in ("name", "plan", "region"))
    return Customer(id_text(row[role.key]), name, plan, region, catalog.amount(role, row, "monthly_revenue"))


def product_names(tickets: Iterable[Ticket], catalog: Catalog) -> tuple[str, ...]:
    """The products of these tickets by the database's name, or as exported where it has none; most frequent first."""
    counts: Counter[str] = Counter()
    for (_, name), count in _products(tickets, catalog).items():
        counts[name] += count
    return tuple(sorted(counts, key=lambda name: (-counts[name], name)))


def incidents_of(tickets: Iterable[Ticket], catalog: Catalog) -> list[dict[str, Any]]:
    """The incidents of these tickets' products, those of the most frequent product first, by the names we know.

    Each has product, id, started, ended, title and detail, None where the database has no such column.
    """
    counts = _products(tickets, catalog)
    found = {tuple(row.values()): _incident(row, name, catalog)     # one given by name may be of two products
             for id, name in sorted(counts, key=lambda product: (-counts[product], product[1], product[0]))
             for row in catalog.incidents(id)}
    return list(found.values())


def _products(tickets: Iterable[Ticket], catalog: Catalog) -> dict[tuple[str, str], int]:
    """(id, name) of each product -> its tickets. Two products may have one name; what tickets give may be either."""
    counts: Counter[tuple[str, str]] = Counter()
    for given, count in Counter(t.product.strip() for t in tickets if t.product.strip()).items():
        counts[_product(given, catalog)] += count
    return counts


def _product(given: str, catalog: Catalog) -> tuple[str, str]:
    """(id, name) as the database has them, both as exported where it has none."""
    row, role = catalog.product(given), catalog.roles.products
    if not row or not role:
        return given, given
    return id_text(row[role.key]) or given, id_text(role.get(row, "name")) or given


def _incident(row: Mapping[str, Any], product: str, catalog: Catalog) -> dict[str, Any]:
    role = catalog.roles.incidents
    fields = {field: role.get(row, field) for field in ("started", "ended", "title", "detail")}
    return {"product": product, "id": id_text(row[role.key]), **fields}
