"""How tickets and tables join: which column holds the customers and products that tickets name, and how many of them.
Columns are guessed by their names first; here what they hold has its say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lib.catalog.catalog import Catalog, id_text
from lib.catalog.guard import quoted
from lib.catalog.roles import IDS_LOOKED_FOR, Role, Roles, customers_by_values, products_by_values
from lib.errors import InputError
from lib.phrases import plural, some
from lib.tickets.ticket import TicketSet

ROWS_LOOKED_AT = 5_000      # of the incidents, to find the column that names their product
INCIDENT_PRODUCTS = 100_000     # different products of incidents that are counted
SHOWN = 20                  # missing ones that are named


@dataclass(frozen=True)
class Join:
    """One kind of table, and how many of the values that point to it are in it."""

    what: str                   # customers | products | incidents
    place: str = ""             # "products.sku" or "products.sku or products.name"; "" = nothing to join with
    named: int = 0              # different values that tickets (for incidents: incidents) name
    found: int = 0
    missing: tuple[str, ...] = ()
    line: str = ""              # all of it in words

    @property
    def complete(self) -> bool:
        return bool(self.place) and self.found == self.named


def joins(catalog: Catalog, tickets: TicketSet) -> tuple[Join, Join, Join]:
    """Customers, products and incidents, each counted in full: "38 of 40 products that tickets name are in …"."""
    return _customers(catalog, tickets), _products(catalog, tickets), _incidents(catalog, tickets)


def joined_by_values(catalog: Catalog, tickets: TicketSet) -> Catalog:
    """The catalog, with other roles and a note on each where a guess by names finds less than half of what tickets
    name and another column holds more."""
    notes, found = [], catalog
    if customers := _other_customers(catalog, tickets):
        found = found.with_roles(_with(found.roles, customers=customers))
        notes.append(f"customers are looked up in {customers.table}.{customers.key}: it holds those that tickets name")
    if products := _other_products(catalog, tickets):
        found = found.with_roles(_with(found.roles, products=products))
        notes.append(f"products are looked up in {_places(products)}: it holds those that tickets name")
    if incidents := _other_incidents(found):
        found = found.with_roles(replace(found.roles, incidents=incidents))
        notes.append(f"the product of an incident is {incidents.table}.{incidents.columns['product_id']}: it holds "
                     "those of the products' table")
    if notes:
        found.notes = (*catalog.notes, *notes)
    return found


def _with(roles: Roles, **changed: Role) -> Roles:
    """A table that was found to be one thing is no longer taken for another."""
    tables = {role.table for role in changed.values()}
    kept = {name: None if role and role.table in tables else role for name, role in vars(roles).items()}
    return Roles(**{**kept, **changed})


def _places(role: Role) -> str:
    name = role.columns.get("name")
    return f"{role.table}.{role.key}" + (f" or {role.table}.{name}" if name else "")


# --- counting --------------------------------------------------------------------------------------------------------


def _customers(catalog: Catalog, tickets: TicketSet) -> Join:
    named, role = _named(tickets, "customer"), catalog.roles.customers
    missing = [id for id in named if not catalog.has_customer(id)]
    return _of_tickets("customer", f"{role.table}.{role.key}" if role else "", named, missing)


def _products(catalog: Catalog, tickets: TicketSet) -> Join:
    named, role = _named(tickets, "product"), catalog.roles.products
    found = [id for id in named if catalog.has_product(id)]
    missing = [id for id in named if id not in set(found)] if len(found) < len(named) else []
    return _of_tickets("product", _place(catalog, role, found) if role else "", named, missing)


def _place(catalog: Catalog, role: Role, found: Sequence[str]) -> str:
    """The column that holds the products, or both where some are named by id and some by name."""
    key, name = f"{role.table}.{role.key}", role.columns.get("name")
    by_key = sum(1 for id in found if catalog.keys(role.table, role.key).any_case(id))
    if by_key == len(found) or not name:
        return key
    return f"{key} or {role.table}.{name}" if by_key else f"{role.table}.{name}"


def _of_tickets(one: str, place: str, named: Sequence[str], missing: Sequence[str]) -> Join:
    if not place:
        line = f"No table of {one}s" + (": they stay as tickets name them." if named else ".")
        return Join(f"{one}s", "", len(named), 0, tuple(missing[:SHOWN]), line)
    if not named:
        return Join(f"{one}s", place, line=f"No ticket names a {one}.")
    return _counted(f"{one}s", place, named, missing, f"{plural(len(named), one)} that tickets name", f"in {place}")


def _incidents(catalog: Catalog, tickets: TicketSet) -> Join:
    role, products = catalog.roles.incidents, catalog.roles.products
    if not role:
        return Join("incidents", line="No table of incidents: none can be joined.")
    column = role.columns.get("product_id")
    if not column:
        return Join("incidents", line=f"No column of {role.table} tells the product: its incidents join no product.")
    place, keys = f"{role.table}.{column}", catalog.keys(role.table, column)
    if not products:        # then an incident is of the product that tickets name in the same words
        named = _named(tickets, "product")
        return _counted("incidents", place, named, [id for id in named if not keys.any_case(id)],
                        f"{plural(len(named), 'product')} that tickets name", f"in {place}")
    named = keys.different(INCIDENT_PRODUCTS)
    found = {id for id in named if catalog.has_product(id)}
    return _counted("incidents", place, named, [id for id in named if id not in found],
                    f"{plural(len(named), 'product')} of {place}", f"in {_place(catalog, products, list(found))}")


def _counted(what: str, place: str, named: Sequence[str], missing: Sequence[str], of: str, where: str) -> Join:
    found = len(named) - len(missing)
    tail = f"; not there: {some([id[:60] for id in missing], 3)}" if missing else ""
    return Join(what, place, len(named), found, tuple(missing[:SHOWN]),
                f"{found:,} of {of} {'is' if found == 1 else 'are'} {where}{tail}.")


def _named(tickets: TicketSet, field: str) -> list[str]:
    return list(dict.fromkeys(text for t in tickets.tickets if (text := getattr(t, field).strip())))


# --- guessing --------------------------------------------------------------------------------------------------------


def _other_customers(catalog: Catalog, tickets: TicketSet) -> Role | None:
    return _other(catalog, _named(tickets, "customer"), catalog.has_customer, customers_by_values)


def _other_products(catalog: Catalog, tickets: TicketSet) -> Role | None:
    return _other(catalog, _named(tickets, "product"), catalog.has_product, products_by_values)


def _other(catalog: Catalog, named: Sequence[str], is_there: Callable[[str], bool],
           by_values: Callable[..., Role | None]) -> Role | None:
    """The table that holds what tickets name, where the guessed one has less than half of it."""
    named = named[:IDS_LOOKED_FOR]
    if 2 * sum(map(is_there, named)) >= len(named) or not catalog.tables:
        return None
    return by_values(catalog.query, _columns(catalog), named)


def _columns(catalog: Catalog) -> dict[str, tuple[str, ...]]:
    return {name: info.columns for name, info in catalog.tables.items()}


def _other_incidents(catalog: Catalog) -> Role | None:
    """The incidents with the column that holds most products, where the guessed one holds less than half of them."""
    role = catalog.roles.incidents
    if not role or not catalog.roles.products:
        return None
    shares = {column: _share_of_products(catalog, role.table, column) for column in catalog.tables[role.table].columns
              if column != role.key}
    best = max(shares, key=lambda column: shares[column], default="")
    if not best or shares[best] < 0.5 or shares.get(role.columns.get("product_id", ""), 0) >= 0.5:
        return None
    kept = {field: column for field, column in role.columns.items() if column != best}
    return replace(role, columns={**kept, "product_id": best})


def _share_of_products(catalog: Catalog, table: str, column: str) -> float:
    sql = (f"SELECT DISTINCT {quoted(column)} AS id FROM (SELECT {quoted(column)} FROM {quoted(table)} LIMIT "
           f"{ROWS_LOOKED_AT})")
    try:
        named = [id for row in catalog.query(sql, max_rows=IDS_LOOKED_FOR) if (id := id_text(row["id"]))]
    except InputError:      # it took too long, or its texts are very long: no ids
        return 0.0
    return sum(map(catalog.has_product, named)) / len(named) if named else 0.0
