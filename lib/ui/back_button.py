"""The browser's Back button: one step for each page that a person saw.

A click on a page's link empties the address, and the page puts its run into it again. Streamlit makes both a step of
the browser's history, so that the first Back would lead to where one is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

_SCRIPT = """export default function() {
    if (history.onceForEachPage) return;
    history.onceForEachPage = true;
    const push = history.pushState.bind(history);
    history.pushState = (state, title, url) => {
        const next = new URL(url ?? "", location.href);
        const completed = next.pathname === location.pathname && !location.search;
        completed ? history.replaceState(state, title, url) : push(state, title, url);
    };
}"""


def one_for_each_page() -> None:
    """Part of every page, but nothing to be seen: it takes no room and asks no rerun."""
    st.html("<style>.st-key-steps_back { position: absolute; }</style>")
    _script()(key="steps_back")


@st.cache_resource(show_spinner=False)
def _script() -> Callable[..., Any]:
    return st.components.v2.component("steps_back", js=_SCRIPT)
