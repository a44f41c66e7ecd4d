"""The history: every run in one table, what can be done with the ticked ones, and where all of it is kept."""

import streamlit as st

from lib.ui import chosen, frame, history, recordings, storage, two_runs

frame.page("history")
with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
    st.title("History", anchor=False, width="content")
    recordings.uploader("history")
recordings.told("history")

shown = history.view("history")
chosen.actions("history", history.chosen(shown), shown)
history.table("history", shown)
two_runs.side_by_side("history")
storage.storage("history")
