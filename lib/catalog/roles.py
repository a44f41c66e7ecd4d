"""Which table is customers, products or incidents, and which of its columns holds what: guessed from their names, and
for customers and products from the ids that tickets name."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lib.catalog.guard import quoted
from lib.errors import InputError
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


IDS_LOOKED_FOR = 200
GUESS_SECONDS = 3.0

Query = Callable[[str, Sequence[Any]], list[dict[str, Any]]]


def customers_by_values(query: Query, tables: Mapping[str, Sequence[str]], ids: Sequence[str]) -> Role | None:
    """The column that holds at least half of the customer ids that tickets name; None when no column does.

    `query(sql, params)` gives rows. Of several such columns the one with the most ids wins, then the one whose values
    are unique, as a key's are, then the table that looks most like customers. Columns are tried for GUESS_SECONDS.
    """
    found = _by_values("customers", query, tables, ids)
    return replace(role_for("customers", found[0], tables[found[0]]), key=found[1]) if found else None


def products_by_values(query: Query, tables: Mapping[str, Sequence[str]], ids: Sequence[str]) -> Role | None:
    """The same for products, by id or name, where no value stands in two rows: the teams or areas of products are held
    by columns too. A table that has a key of its own is looked up by name then."""
    found = _by_values("products", query, tables, ids, unique=True)
    if not found:
        return None
    table, column = found
    role = role_for("products", table, tables[table])
    own_key = named(tables[table], (*_KINDS["products"].own_keys, *_KINDS["products"].keys))
    if own_key and column != own_key:
        return replace(role, columns={**{f: c for f, c in role.columns.items() if c != column}, "name": column})
    return replace(role, key=column)


def _by_values(kind: str, query: Query, tables: Mapping[str, Sequence[str]], ids: Sequence[str],
               unique: bool = False) -> tuple[str, str] | None:
    """(table, column) that holds at least half of the ids; with `unique` only where each stands once."""
    wanted = list(dict.fromkeys(id.lower() for id in ids))[:IDS_LOOKED_FOR]
    found, end = [], time.monotonic() + GUESS_SECONDS
    likely = sorted(tables, key=lambda name: -_score(_KINDS[kind], name, tables[name]))
    for table, column in ((name, column) for name in likely for column in tables[name]):
        if time.monotonic() > end:
            break
        hits, once = _held(query, table, column, wanted)
        if wanted and 2 * hits >= len(wanted) and (once or not unique):
            found.append(((hits, once), table, column))
    if not found:
        return None
    _, table, column = max(found, key=lambda entry: entry[0])      # the first of equals: the likeliest table
    return table, column


def _held(query: Query, table: str, column: str, wanted: Sequence[str]) -> tuple[int, bool]:
    """How many of the wanted ids the column holds, and whether no row repeats one of them."""
    value, marks = f"lower(trim({quoted(column)}))", ", ".join("?" * len(wanted))
    try:
        rows = query(f"SELECT count(*) AS n, count(DISTINCT {value}) AS d FROM {quoted(table)} "
                     f"WHERE {value} IN ({marks})", wanted)
    except InputError:      # it took too long
        return 0, False
    return rows[0]["d"], rows[0]["n"] == rows[0]["d"]


def _score(kind: _Kind, table: str, columns: Sequence[str]) -> float:
    """3 for the table's name, 2 for a key that only such a table leads with, half a point per known field."""
    if not columns:
        return 0
    in_name = any(word in plain(table) for word in kind.tables)
    leads = plain(columns[0]) in kind.own_keys
    fields = sum(named(columns, wanted) is not None for wanted in kind.fields.values())
    return 3 * in_name + 2 * leads + 0.5 * fields
