"""Which table is customers, products or incidents, and which of its columns holds what: guessed from their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lib.tickets.names import named, plain, words


@dataclass(frozen=True)
class Role:
    """A table with a job: `key` is its id column, `columns` maps known fields to the table's own column names."""

    table: str
    key: str
    columns: dict[str, str] = field(default_factory=dict)

    def get(self, row: Mapping[str, Any], name: str) -> Any:
        """The value of a known field in a row of this table; None where the table has no such column."""
        return row.get(self.columns.get(name, ""))


@dataclass(frozen=True)
class Roles:
    customers: Role | None = None
    products: Role | None = None
    incidents: Role | None = None

    def to_dict(self) -> dict[str, Any]:
        return {name: role and vars(role) for name, role in vars(self).items()}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Roles:
        return Roles(**{name: role and Role(**role) for name, role in data.items()})


@dataclass(frozen=True)
class _Kind:
    tables: tuple[str, ...]             # words in a table's name
    own_keys: tuple[str, ...]           # key columns that say what the table is
    keys: tuple[str, ...]               # key columns that could be any table's
    fields: dict[str, tuple[str, ...]]


_NAME = words("name, title, titel, bezeichnung, nom, nombre, full name, company name, customer name, product name, "
              "kundenname, produktname, display name, name de")
_ANY_KEY = words("id, key, code, number, no, nr, nummer")

_KINDS = {
    "customers": _Kind(
        words("customer, client, account, kunde, compan, organi, contact, user, cliente, klant"),
        words("customer id, customer number, customer no, kundennummer, kunden nr, kunden id, client id, account id, "
              "account number, company id, organization id, organisation id, user id, contact id, customer"),
        (*_ANY_KEY, "email", "e mail"),
        {"name": (*_NAME, "company", "firma", "customer"),
         "plan": words("plan, tier, subscription, tarif, package, paket"),
         "region": words("region, country, land, area, pays, pais, territory, market, gebiet"),
         "monthly_revenue": words("monthly revenue, mrr, revenue, monatsumsatz, umsatz, arr, monthly value, amount, "
                                  "monthly fee")}),
    "products": _Kind(
        words("product, produkt, item, article, artikel, sku, module, producto, produit, service"),
        words("product id, sku, product code, produkt id, produktnummer, artikelnummer, artikel nr, art no, art nr, "
              "item id, article id, module id"),
        _ANY_KEY,
        {"name": (*_NAME, "product", "produkt", "item", "artikel"),
         "area": words("area, category, kategorie, team, component, group, bereich, type")}),
    "incidents": _Kind(
        words("incident, outage, stoerung, vorfall, disruption, status event, downtime"),
        words("incident id, outage id, incident number, vorfall id, stoerung id"),
        _ANY_KEY,
        {"product_id": words("product id, product, sku, produkt id, produkt, component, service, item id, module"),
         "started": words("started, started at, start, start time, begin, began, opened, beginn, from, created at, "
                          "date"),
         "ended": words("ended, ended at, end, end time, resolved, resolved at, closed, ende, until, to"),
         "title": words("title, titel, name, summary, subject, headline"),
         "detail": words("detail, details, description, beschreibung, body, text, impact, notes")}),
}


def guess_roles(tables: Mapping[str, Sequence[str]]) -> Roles:
    """The best table for each role, each table used once; None where no table fits."""
    scored = sorted(((_score(kind, table, columns), role, table)
                     for role, kind in _KINDS.items() for table, columns in tables.items()),
                    key=lambda entry: -entry[0])
    found: dict[str, Role] = {}
    for score, role, table in scored:
        if score >= 2.5 and role not in found and table not in {r.table for r in found.values()}:
            found[role] = role_for(role, table, tables[table])
    return Roles(**found)


def role_for(role: str, table: str, columns: Sequence[str]) -> Role:
    """The role ("customers", "products" or "incidents") filled by this table, with its key and fields guessed."""
    kind = _KINDS[role]
    key = named(columns, (*kind.own_keys, *kind.keys)) or columns[0]
    fields = {name: named(columns, wanted, {key}) for name, wanted in kind.fields.items()}
    return Role(table, key, {name: column for name, column in fields.items() if column})


def _score(kind: _Kind, table: str, columns: Sequence[str]) -> float:
    """3 for the table's name, 2 for a key that only such a table leads with, half a point per known field."""
    if not columns:
        return 0
    in_name = any(word in plain(table) for word in kind.tables)
    leads = plain(columns[0]) in kind.own_keys
    fields = sum(named(columns, wanted) is not None for wanted in kind.fields.values())
    return 3 * in_name + 2 * leads + 0.5 * fields
