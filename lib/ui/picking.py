"""Which tickets to run: all, the first, a random sample or one with its share of every group; and what that costs."""

from __future__ import annotations

from typing import Any

import streamlit as st

from lib.phrases import plural
from lib.tickets import views
from lib.tickets.visible import visible
from lib.ui import estimate, picked, state
from lib.ui import format as fmt

HOW = {"all": "All", "first": "The first", "random": "A random sample", "stratified": "A share of each group"}
PARTS = {"label": "Gold label", "product": "Product", "customer": "Customer", "created": "Created"}
MEANING = ("A random sample is the same for the same seed. “A share of each group” gives every value of a column its "
           "share, and at least one ticket while there is room. The others stay on the desk.")


def choice(page: str) -> None:
    """The controls on one line, and the forecast of the choice below them."""
    whole = state.whole()
    if not len(whole.tickets):
        st.caption("Once there are tickets you can run all of them, or a part.")
        return
    told, by = _told(whole), groupings(whole)
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"{page}_pick"):
        _control(page, "how", told, st.segmented_control, "Tickets to run", list(HOW)[:4 if by else 3],
                 format_func=HOW.get, required=True, help=MEANING)
        if told["how"] != "all":
            _control(page, "number", told, st.number_input, "How many", 1, len(whole.tickets), width=150)
        if told["how"] == "stratified":
            _control(page, "by", told, st.selectbox, "Group by", by, format_func=called, width=220)
        if told["how"] in ("random", "stratified"):
            _control(page, "seed", told, st.number_input, "Seed", 0, picked.MOST, width=130)
    st.text(sentence())
    st.markdown(estimate.line(state.desk()["shapes"] or list(state.SHAPES)))


def sentence() -> str:
    """"50 of 412 tickets will be run, picked at random, seed 1." """
    whole, chosen = len(state.whole().tickets), state.data().tickets
    if len(chosen) == whole:
        return "The 1 ticket will be run." if whole == 1 else f"All {plural(whole, 'ticket')} will be run."
    return f"{len(chosen):,} of {plural(whole, 'ticket')} will be run, picked {_how()}."


def line(page: str) -> None:
    """On the page that runs them; nothing where all are run."""
    if len(state.data().tickets) < len(state.whole().tickets):
        with st.container(horizontal=True, vertical_alignment="center", key=f"{page}_picked"):
            st.text(sentence(), width="content")
            st.page_link("pages/data.py", label="Change →", width="content")


def _how() -> str:
    told = _told(state.whole())
    if told["how"] == "first":
        return "from the top"
    if told["how"] == "random":
        return f"at random, seed {told['seed']}"
    return f"by {visible(fmt.cut(called(told['by'])))}, each value with its share, seed {told['seed']}"


def _told(whole: state.Data) -> dict[str, Any]:
    """The choice as it holds for these tickets."""
    told, by = picked.usable(state.desk()["picked"]), groupings(whole)
    if told["by"] not in by:
        told |= {"by": by[0] if by else "", "how": "random" if told["how"] == "stratified" else told["how"]}
    return {**told, "number": max(1, min(told["number"], len(whole.tickets)))}


def called(by: str) -> str:
    return PARTS.get(by, by)


def groupings(data: state.Data) -> list[str]:
    return _groupings(data.id, data)


@st.cache_resource(show_spinner=False, max_entries=16)
def _groupings(data_id: str, _data: state.Data) -> list[str]:
    return views.groupings(_data.tickets)


def _control(page: str, name: str, told: dict[str, Any], widget: Any, *arguments: Any, **options: Any) -> None:
    key = f"{page}.pick.{name}"

    def change() -> None:
        now = st.session_state[key]
        if now is not None:
            state.pick(**{**told, name: now})
    st.session_state[key] = told[name]
    widget(*arguments, key=key, on_change=change, **options)
