"""Tickets changed by hand: one rewritten, one added that gives orders. Each change is new data, and can be undone."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from lib.errors import InputError
from lib.tickets import Ticket, TicketSet, combine
from lib.ui import state

EDITED = " (edited)"


def injection(page: str) -> None:
    """The button that adds the ticket with orders, once."""
    there = any(ticket.id in state.whole().tickets.by_key for ticket in state.injected().tickets)
    st.button("Add a ticket that gives orders", key=f"{page}.inject", icon=":material/vaccines:", disabled=there,
              on_click=_inject, help="A plausible complaint with a line inside that tells the model to ignore its "
                                     "instructions. See whether it is obeyed, with tags and without (Design page).")


def undo(page: str) -> None:
    """Takes back the last change; nothing while there is none."""
    if _changes():
        st.button("Undo the last change", key=f"{page}.undo_change", icon=":material/undo:", on_click=_undo)


def rewrite(page: str, number: int) -> None:
    """Subject and text of the ticket at this place, from 1, to be put in other words."""
    ticket = state.whole().tickets.tickets[number - 1]
    place = f"{page}.rewrite.{state.whole().id}.{number}"
    with st.form(place, enter_to_submit=False, border=False):
        st.text_input("Subject", ticket.subject, key=f"{place}.subject")
        st.text_area("Text", ticket.body, key=f"{place}.body", height=230)
        st.form_submit_button("Use these words", icon=":material/edit:", key=f"{place}.save", on_click=_rewrite,
                              args=(place, number, ticket.key),
                              help="The changed tickets become the data of the next run.")


def start_at() -> int:
    """The place of the ticket to show first: the one that was just changed, else 1."""
    data_id, number = st.session_state.get("_changed_ticket", ("", 1))
    return number if data_id == state.whole().id else 1


# --- what the buttons do ---------------------------------------------------------------------------------------------


@state.told
def _inject() -> None:
    state.look_again()
    tickets, added = state.whole().tickets, state.injected()
    if any(ticket.id in tickets.by_key for ticket in added.tickets):
        return      # a second click, or another tab was first
    note = f"a ticket that gives orders was added: {added.tickets[0].key}"
    made = combine([replace(tickets, notes=()), replace(added, notes=())])
    _use(replace(made, notes=(note, *tickets.notes)), len(made))


@state.told
def _rewrite(place: str, number: int, key: str) -> None:
    """What another tab changed meanwhile stays, unless it is the same ticket."""
    state.look_again()
    tickets = state.whole().tickets
    old = next(iter(tickets.tickets[number - 1:number]), None)
    if old is None or old.key != key:
        raise InputError("Other data were chosen in another tab meanwhile. Nothing was changed.")
    new = replace(old, subject=st.session_state[f"{place}.subject"].strip(), body=st.session_state[f"{place}.body"])
    if new != old:
        _use(_with(tickets, number, new), number)


def _with(tickets: TicketSet, number: int, new: Ticket) -> TicketSet:
    note = f"rewritten by hand: {new.key}"
    return TicketSet(tickets.name.removesuffix(EDITED) + EDITED,
                     (*tickets.tickets[:number - 1], new, *tickets.tickets[number:]),
                     tuple(dict.fromkeys((note, *tickets.notes))))


def _use(tickets: TicketSet, number: int) -> None:
    before, earlier = state.whole().id, _changes()
    state.choose(tickets)
    after = state.whole().id
    st.session_state["_changes"] = [*earlier, (before, after, number)]
    st.session_state["_changed_ticket"] = (after, number)


def _undo() -> None:
    if found := _changes():
        before, _, number = found[-1]
        st.session_state["_changes"] = found[:-1]
        st.session_state["_changed_ticket"] = (before, number)
        state.keep(data_id=before)


def _changes() -> list[tuple[str, str, int]]:
    """Changes of this session that led to the data on the desk, oldest first: data before, data after, the ticket."""
    found = st.session_state.get("_changes", [])
    return found if found and found[-1][1] == state.whole().id else []
