"""The data on the desk, a page at a time: tickets, what the model sees of one, and the database's tables."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from lib.catalog import Join, joins
from lib.task.prompts import render_ticket
from lib.tickets import Ticket
from lib.tickets.visible import visible
from lib.ui import changing, looks, roles, state, uploads
from lib.ui import format as fmt
from lib.usage.tokens import estimate

PAGE = 10       # rows of a preview


def whose_data() -> None:
    """Whether this is a sample, and what can be done about it."""
    data = state.whole()
    if data.sample:
        st.caption(f"The sample of {data.sample} is in place. Upload your own tickets, your own product database, or "
                   "both.")
    elif any(data.catalog.tables == state.sample(name).catalog.tables for name in state.SAMPLES):
        st.caption("Tickets of yours, or changed by you, with the sample's product database: upload your own below, or "
                   "go without one.")
    else:
        st.caption("Your data. It is kept in the run store on this machine until you delete that file.")


def tickets(page: str) -> None:
    """A page of the tickets as they were read, all of it text."""
    found = state.whole().tickets
    if not len(found):
        st.caption("No tickets yet. Upload a file above, or use the sample.")
        return
    st.text(looks.sizes())
    start = _start_of_page(page, "tickets", len(found))
    st.dataframe([_row(t) for t in found.tickets[start:start + PAGE]], hide_index=True, key=f"{page}.ticket_table",
                 height="content", column_config={"text": st.column_config.TextColumn("text", width="large")})
    counted, told = st.columns([2, 3], gap="large")
    with counted:
        looks.counts(page)
    with told:
        uploads.notes(found.notes)


def one_ticket(page: str) -> None:
    """The user turn of a labelling call for one ticket, literally, and its size."""
    found = state.whole().tickets
    if not len(found):
        st.caption("The user turn of one labelling call will be here.")
        return
    number = _number("Ticket", len(found), f"{page}.ticket.{state.whole().id}",
                     lambda n: f"Ticket {visible(fmt.cut(found.tickets[n - 1].key))} ({n:,} of {len(found):,})",
                     min(changing.start_at(), len(found)))
    design, _ = state.design()
    text = render_ticket(found.tickets[number - 1], tags=design.tags)
    shown, rewritten = st.columns(2)
    with shown:
        st.code(text, language=None, wrap_lines=True, height=330 if len(text) > 600 else "content")
        st.caption(f"about {fmt.exact(estimate(text, design.steps['label'].model))} tokens, plus the system prompt"
                   + ("" if design.tags else " · without tags, as the design says"))
    with rewritten:
        changing.rewrite(page, number)


def database(page: str) -> None:
    """Which tables there are, what each seems to be for, and a page of one."""
    catalog = state.whole().catalog
    if not catalog.tables:
        st.caption("No database: causes will have tickets and customer ids, but no plan, region or revenue.")
        return
    lost = False
    for found in _joins(state.whole().id, state.whole()):
        nothing = found.named > 0 and not found.found and bool(found.place)
        st.text(("⚠ " if nothing else "") + visible(found.line))
        lost |= nothing
    if lost:
        with st.container(border=True, key=f"{page}_roles"):
            st.caption("Which table is what, and by which column (key) its rows are found, can be chosen here.")
            roles.roles(page)
    st.dataframe([{"table": name, "rows": info.rows, "columns": ", ".join(info.columns)}
                  for name, info in catalog.tables.items()], hide_index=True, key=f"{page}.tables", height="content")
    if not lost:
        with st.expander("Where customers, products and incidents are", type="compact"):
            roles.roles(page)
    uploads.notes(catalog.notes)
    name = st.selectbox("Look into", list(catalog.tables), key=f"{page}.table.{state.whole().id}", width=320)
    start = _start_of_page(page, f"table.{name}", catalog.tables[name].rows)
    st.dataframe([{k: _cell(v) for k, v in row.items()} for row in catalog.rows(name, PAGE, start)], hide_index=True,
                 key=f"{page}.rows", height="content")


@st.cache_resource(show_spinner=False, max_entries=64)
def _joins(data_id: str, _data: state.Data) -> tuple[Join, ...]:
    return joins(_data.catalog, _data.tickets)


def _start_of_page(page: str, what: str, rows: int) -> int:
    pages = max(1, -(-rows // PAGE))
    if pages == 1:
        return 0
    number = _number("Page", pages, f"{page}.page.{what}.{state.whole().id}", lambda n: f"Page {n:,} of {pages:,}")
    return (number - 1) * PAGE


def _number(label: str, most: int, key: str, said: Callable[[int], str], first: int = 1) -> int:
    """A number from 1 to `most`, and beside it what it stands for, literally."""
    with st.container(horizontal=True, vertical_alignment="center"):
        number = st.number_input(label, 1, most, first, key=key, width=140, label_visibility="collapsed")
        st.text(said(number), width="content")
    return number


def _row(ticket: Ticket) -> dict[str, str]:
    return {"id": ticket.key, "created": ticket.created, "customer": ticket.customer, "product": ticket.product,
            "subject": ticket.subject, "text": ticket.body[:300]}


def _cell(value: object) -> str:
    """Any cell as text: mixed types in one column are no table for the browser."""
    if isinstance(value, bytes):
        return f"({len(value):,} bytes)"
    return "" if value is None else str(value)
