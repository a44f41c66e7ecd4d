"""Which table of the product database is for what, and which column is which: guessed, and changeable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from lib.catalog import Catalog, Role, role_for
from lib.ui import state

FIELDS = {
    "customers": ("name", "plan", "region", "monthly_revenue"),
    "products": ("name", "area"),
    "incidents": ("product_id", "started", "ended", "title"),
}
NONE = "(none)"


def roles(page: str) -> None:
    """One line per role: its table, its id column, its fields."""
    catalog = state.whole().catalog
    for name, fields in FIELDS.items():
        role: Role | None = getattr(catalog.roles, name)
        with st.container(horizontal=True):
            _choice(page, f"{name}.table", name.capitalize(), [NONE, *catalog.tables], role.table if role else NONE,
                    lambda table, name=name: _set(name, _guessed(catalog, name, table)))
            if role:
                _columns(page, catalog, name, role, fields)


def _columns(page: str, catalog: Catalog, name: str, role: Role, fields: tuple[str, ...]) -> None:
    columns = list(catalog.tables[role.table].columns)
    _choice(page, f"{name}.key", "Key", columns, role.key, lambda key: _set(name, replace(role, key=key)))
    for field in fields:
        _choice(page, f"{name}.{field}", field.removesuffix("_id").replace("_", " ").capitalize(), [NONE, *columns],
                role.columns.get(field, NONE), lambda column, field=field: _set(name, _with_field(role, field, column)))


def _choice(page: str, name: str, label: str, options: list[str], now: str, use: Callable[[str], None]) -> None:
    key = f"{page}.role.{name}"
    st.session_state[key] = now if now in options else options[0]
    st.selectbox(label, options, key=key, on_change=lambda: use(st.session_state[key]), width=168)


def _guessed(catalog: Catalog, name: str, table: str) -> Role | None:
    return None if table == NONE else role_for(name, table, catalog.tables[table].columns)


def _with_field(role: Role, field: str, column: str) -> Role:
    kept = {f: c for f, c in role.columns.items() if f != field}
    return replace(role, columns=kept if column == NONE else {**kept, field: column})


def _set(name: str, role: Role | None) -> None:
    catalog = state.whole().catalog
    state.choose(catalog=catalog.with_roles(replace(catalog.roles, **{name: role})))
