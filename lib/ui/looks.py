"""How large the tickets are, and how many there are of what: one sentence and one small table, whatever the size."""

from __future__ import annotations

import streamlit as st

from lib.design import Design
from lib.phrases import plural
from lib.task.prompts import render_ticket
from lib.tickets import views
from lib.tickets.visible import visible
from lib.ui import format as fmt
from lib.ui import picking, state
from lib.usage.tokens import estimate

SHOWN = 8       # values counted in sight
NOTHING = "(empty)"


def sizes() -> str:
    """"about 2.1M tokens: 40 to 3,100 a ticket, half of them up to 560 · estimated from 200 tickets"."""
    whole, (design, _) = state.whole(), state.design()
    model, tags = design.steps["label"].model, design.tags
    found = _sizes(whole.id, model, tags, whole, design)
    how = "estimated" if found.exact else f"estimated from {views.SAMPLE} tickets of all lengths"
    if found.tickets == 1:
        return f"about {fmt.exact(found.total)} tokens · {how}"
    smallest, half, ninety, largest = map(fmt.exact, (found.smallest, found.median, found.ninety, found.largest))
    return (f"about {fmt.short(found.total)} tokens: {smallest} to {largest} a ticket, half of them up to {half}, "
            f"nine of ten up to {ninety} · {how}")


@st.cache_resource(show_spinner=False, max_entries=32)
def _sizes(data_id: str, model: str, tags: bool, _data: state.Data, _design: Design) -> views.Sizes:
    return views.tokens(_data.tickets, lambda ticket: estimate(render_ticket(ticket, tags=tags), model))


def counts(page: str) -> None:
    """How many tickets have which value of a column that the person chooses."""
    whole = state.whole()
    by = picking.groupings(whole)
    if not by:
        return
    with st.container(key=f"{page}_counts", gap="xsmall"):
        column = st.selectbox("Count by", by, key=f"{page}.count_by.{whole.id}", format_func=picking.called, width=220)
        found = _counts(whole.id, column, whole)
        st.dataframe([{"value": visible(fmt.cut(value)) or NOTHING, "tickets": number}
                      for value, number in found[1]], hide_index=True, key=f"{page}.counts", height="content",
                     column_config={"tickets": st.column_config.NumberColumn(format="localized")})
        if (more := found[0] - len(found[1])) > 0:
            st.text(f"and {plural(more, 'more value')}")


@st.cache_resource(show_spinner=False, max_entries=64)
def _counts(data_id: str, by: str, _data: state.Data) -> tuple[int, list[tuple[str, int]]]:
    """(how many different values, the commonest)"""
    found = views.counts(_data.tickets, by)
    return len(found), found.most_common(SHOWN)
