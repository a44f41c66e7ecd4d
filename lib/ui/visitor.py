"""Which browser this is, where several people share a playground: a cookie holds the id of its desk.

Whoever knows a desk's id has the desk, so it stands in no address. Without cookies a desk lasts as long as its session.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from typing import Any

import streamlit as st

A_YEAR = 365 * 24 * 3600    # seconds; counted anew at each visit
_DESK = re.compile(r"[A-Za-z0-9_-]{8,64}")
# subtle: two tabs that open at once in a new browser have a desk each. The later one takes the first one's, by a reload
# before anything was done in it; only once, since a browser might show a cookie here and not send it.
_SCRIPT = """export default function({ data }) {
    const found = document.cookie.split("; ").find((cookie) => cookie.startsWith(`${data.name}=`));
    const kept = found ? found.slice(data.name.length + 1) : "";
    if (!window[data.name] && kept !== data.desk && /^[A-Za-z0-9_-]{8,64}$/.test(kept)
            && !sessionStorage.getItem(data.name)) {
        sessionStorage.setItem(data.name, "reloaded");
        location.reload();
        return;
    }
    window[data.name] = true;
    const encrypted = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = `${data.name}=${data.desk}; path=/; max-age=${data.seconds}; SameSite=Strict${encrypted}`;
}"""


def new_desk() -> str:
    """An id that nobody guesses."""
    return secrets.token_urlsafe(9)


def desk() -> str:
    """The id that this browser brought along when its session began; "" if it has none."""
    found = str(st.context.cookies.get(_name(), ""))
    return found if _DESK.fullmatch(found) else ""


def remember(desk_id: str) -> None:
    """Has the browser keep the id. Part of the page, but nothing to be seen: it takes no room and asks no rerun."""
    st.html("<style>.st-key-visitor { position: absolute; }</style>")
    _cookie()(key="visitor", data={"name": _name(), "desk": desk_id, "seconds": A_YEAR})


def _name() -> str:
    """With the port: a browser sends the cookies of one host to all servers there."""
    return f"playground_desk_{st.get_option('server.port')}"


@st.cache_resource(show_spinner=False)
def _cookie() -> Callable[..., Any]:
    return st.components.v2.component("visitor_cookie", js=_SCRIPT)
