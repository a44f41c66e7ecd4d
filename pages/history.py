"""The history: every run in one table, what can be done with the ticked ones, and where all of it is kept."""

import streamlit as st

from lib.ui import frame, history, history_actions, history_compare, open_recording, storage

frame.page("history")
with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
    st.title("History", anchor=False, width="content")
    open_recording.uploader("history")
open_recording.told("history")

shown = history.view("history")
history_actions.actions("history", history.chosen(shown), shown)
history.table("history", shown)
history_compare.side_by_side("history")
storage.storage("history")
