"""A recording that somebody saved, opened: its runs are put into the store and ticked in the history."""

from __future__ import annotations

import hashlib
from typing import Any

import streamlit as st

from lib.errors import PlaygroundError
from lib.phrases import plural
from lib.tickets.visible import visible
from lib.ui import format as fmt
from lib.ui import history, state

WHAT = "A recording that was saved with “Save recording”, here or elsewhere (.json.gz or .json)"


def uploader(page: str) -> None:
    popover = f"{page}.recording"
    if st.session_state.pop("_recording_read", False):
        st.session_state[popover] = False       # what became of it is told behind it
    with st.popover("Open a recording", icon=":material/upload_file:", key=popover, on_change="rerun"):
        st.caption("Its runs will be in the list below, and every page works on them as if they had been made here. "
                   "No key and no network is needed.")
        file = st.file_uploader(WHAT, type=["gz", "json"], key=f"{page}.recording.file",
                                max_upload_size=state.settings().max_upload_mb)
    if file and file.file_id != st.session_state.get("_recording_file"):
        st.session_state["_recording_file"] = file.file_id
        _open(file)
        st.session_state["_recording_read"] = True
        st.rerun()      # everything above and below shows the new runs


def told(page: str) -> None:
    """What became of the last upload, until the next one."""
    line = st.session_state.get("_recording_told")
    if line:
        with st.container(border=True, key=f"{page}_recording_told", horizontal=True, vertical_alignment="center"):
            st.text(line, width="stretch")
            st.button("OK", key=f"{page}.recording.ok", type="tertiary", on_click=_forget)


def _forget() -> None:
    st.session_state.pop("_recording_told", None)


def _open(file: Any) -> None:
    """The same content is opened once, however often it is uploaded, as long as its runs are there."""
    from lib.runs import recording

    name, data = visible(fmt.cut(file.name)), file.getvalue()
    opened = st.session_state.setdefault("_recordings", {})
    content = hashlib.sha256(data).hexdigest()
    known = content in opened and bool(state.store().group(opened[content]))
    try:
        if not known:
            with st.spinner("Reading …"):
                opened[content] = recording.open_recording(data, state.store(), state.desk_id())
    except PlaygroundError as error:
        st.session_state["_recording_told"] = f"✕ {name}: {error}"
        return
    found = [run.id for run in state.store().group(opened[content])]
    history.choose(found)
    ticked = "it is ticked" if len(found) == 1 else "they are ticked"
    st.session_state["_recording_told"] = (
        f"{name} {'was open already' if known else 'is open'}: {plural(len(found), 'run')}, {ticked} below.")
