"""Where all of this is kept, how large it is, and how to be rid of it."""

from __future__ import annotations

import streamlit as st

from lib.phrases import plural
from lib.runs.schema import MEMORY
from lib.tickets.visible import visible
from lib.ui import format as fmt
from lib.ui import state

MEANING_IN_MEMORY = "Deleted runs, calls and replies are gone at once. There is no way back."
MEANING = "Deleting overwrites: runs, calls and replies are gone from the file too. There is no way back."


def storage(page: str) -> None:
    counts = state.store().counts(state.whose())
    with st.container(key=f"{page}_storage", gap="small"):
        st.subheader("Storage", anchor=False)
        with st.container(key=f"{page}_stored", gap="xsmall"):
            st.text(visible(_where(counts)))
            st.text(MEANING if str(state.settings().store) != MEMORY else MEANING_IN_MEMORY)
        _delete(page, counts)


def _where(counts: dict[str, int]) -> str:
    kept = f"{plural(counts['runs'], 'run')}, {plural(counts['calls'], 'call')}, {plural(counts['data'], 'data set')}"
    if state.shared():
        return f"Yours on this server: {kept}. Nobody else is shown them, except by a link that you give away."
    size = fmt.megabytes(state.store().size_bytes())
    if str(state.settings().store) == MEMORY:
        return f"In memory only, {size}: {kept}. Forgotten when the playground stops."
    return f"{state.settings().store}, {size}: {kept}. Kept when the playground stops."


def _delete(page: str, counts: dict[str, int]) -> None:
    what = "Delete my runs" if state.shared() else "Delete everything"
    working, key = state.store().ids(state.whose(), working=True), f"{page}.wipe"
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.popover(f"{what} …", key=key, icon=":material/delete_forever:", on_change="rerun",
                        disabled=bool(working) or (state.shared() and not counts["runs"])) as opened:
            if opened.open and not working:
                _confirmation(page, key, what, counts)
        if working:
            st.caption("Not while a run is at work: stop it first.")


def _confirmation(page: str, popover: str, what: str, counts: dict[str, int]) -> None:
    lost = f"{plural(counts['runs'], 'run')} and {plural(counts['calls'], 'call')}"
    if not state.shared():
        lost += ", all uploaded data, and what you changed or saved on the Design page"
    st.text(f"{lost} will be gone.")
    st.button(what, key=f"{page}.wipe.yes", on_click=_wiped, args=(popover,))


def _wiped(popover: str) -> None:
    st.session_state[popover] = False
    state.delete_everything()
