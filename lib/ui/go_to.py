"""The way from anything that a call stands behind to that call: the Run page's tab Calls, with the call open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from lib.ui import state

TABS = ("Answer", "Calls", "Timeline", "Checks", "Prompts & tools")
KEY = "run.tabs"        # of the Run page's tabs
SCROLL = """export default function({ data }) {
    let looks = 0;
    const look = () => {
        const found = document.querySelector(data.selector);
        if (found) found.scrollIntoView({ behavior: "smooth", block: "start" });
        else if (looks++ < 20) setTimeout(look, 100);
    };
    look();
}"""
FILTERS = ("run.filter.shape", "run.filter.step", "run.filter.errors")


def open_call(call_id: int) -> None:
    """For a callback: the tabs and the table of calls are drawn after it."""
    session = st.session_state
    session[KEY], session["_call_wanted"] = "Calls", call_id
    for name in FILTERS:        # they may hide it
        session.pop(name, None)


def wanted_call() -> int | None:
    """The id of the call that was asked for just now; told once."""
    return st.session_state.pop("_call_wanted", None)


def scroll_to(call_id: int, selector: str) -> None:
    """Brings what was opened into view: it may be far below what was pressed. Once, since the next rerun drops it."""
    with st.container(key="scroll_to"):
        st.html("<style>.st-key-scroll_to { position: absolute; visibility: hidden; }</style>")
        _scroller()(key=f"run.scroll.{call_id}", data={"selector": selector})


@st.cache_resource(show_spinner=False)
def _scroller() -> Callable[..., Any]:
    return st.components.v2.component("scroll_to", js=SCROLL)


def run_page(group: str) -> None:
    """The Run page with these runs. With the run in the address from the start, Back leads where one came from."""
    state.open_group(group)
    st.switch_page("pages/run.py", query_params={"run": group})


def button(page: str, label: str, call_id: int, key: str, help: str | None = None) -> None:
    """Opens a call, from another page and from within a polling fragment too."""
    if st.button(label, key=key, type="tertiary", icon=":material/manage_search:", help=help, on_click=open_call,
                 args=(call_id,)):
        if page == "run":
            st.rerun()
        run_page(state.shown_group())
