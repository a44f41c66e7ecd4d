"""How the tickets meet the product database: how many of the customers and products that they name are in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from lib.catalog import Catalog
from lib.phrases import plural
from lib.tickets import TicketSet
from lib.ui import state

IDS_LOOKED_FOR = 2_000      # different ones that are looked up
PARTS = {"customers": "customer", "products": "product"}     # role -> the part of a ticket that names one
LOST = {    # what a report cannot say without the role
    "customers": "no customer's name, plan or revenue can be joined",
    "products": "products keep the names that tickets give them",
    "incidents": "no cause can be held against incidents",
}


@dataclass(frozen=True)
class Joined:
    """How many of the customers (or products) that tickets name are in the database."""

    named: int
    known: int
    table: str          # "" when no table holds them
    more: int = 0       # named, but not looked for
    role: str = "customers"

    @property
    def lost(self) -> bool:
        return self.named > 0 and not self.known

    def line(self) -> str:
        one, few = PARTS[self.role], self.role
        if not self.named:
            return f"No ticket names a {one}."
        if not self.table:
            return f"No table of the database holds {few}: {LOST[self.role]}."
        if not self.known:
            told = f"The 1 {one} that tickets name is not" if self.named == 1 else (
                f"None of the {self.named:,} {few} that tickets name is")
            return f"{told} in the table {self.table}. Choose the {one} table and key:"
        verb = "is" if self.known == 1 else "are"
        first = f"the first {self.named:,} {few}" if self.more else plural(self.named, one)
        return f"{self.known:,} of {first} that tickets name {verb} in the table {self.table}."


def all_roles() -> list[Joined]:
    data = state.whole()
    return _all(data.id, data)


@st.cache_resource(show_spinner=False, max_entries=64)
def _all(data_id: str, _data: state.Data) -> list[Joined]:
    return [_joined(_data.tickets, _data.catalog, role) for role in PARTS]


def _joined(tickets: TicketSet, catalog: Catalog, role: str) -> Joined:
    find: dict[str, Callable[[str], object]] = {"customers": catalog.customer, "products": catalog.product}
    there, every = getattr(catalog.roles, role), named(tickets, role)
    wanted = every[:IDS_LOOKED_FOR]
    known = sum(1 for each in wanted if find[role](each)) if there else 0
    return Joined(len(wanted), known, there.table if there else "", len(every) - len(wanted), role)


def named(tickets: TicketSet, role: str) -> list[str]:
    """The customers or products that tickets name, each once."""
    part = PARTS[role]
    return list(dict.fromkeys(value for ticket in tickets.tickets if (value := getattr(ticket, part))))


def incidents() -> str:
    """"3 of 7 products that tickets name have incidents in the table incidents." """
    data = state.whole()
    return _incidents(data.id, data)


@st.cache_resource(show_spinner=False, max_entries=64)
def _incidents(data_id: str, _data: state.Data) -> str:
    catalog, role = _data.catalog, _data.catalog.roles.incidents
    if not role:
        return f"No table of the database holds incidents: {LOST['incidents']}."
    wanted = named(_data.tickets, "products")[:IDS_LOOKED_FOR]
    if not role.columns.get("product_id"):
        return f"The table {role.table} names no product, so its incidents cannot be joined. Choose the column:"
    if not wanted:
        return f"No ticket names a product, so the incidents in the table {role.table} are found by name only."
    hit = sum(1 for product in wanted if catalog.incidents(product))
    verb = "has" if hit == 1 else "have"
    return (f"{hit:,} of {plural(len(wanted), 'product')} that tickets name {verb} incidents in the table "
            f"{role.table}.")
