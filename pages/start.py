"""The start: what this is, both shapes as a picture, one button, and the chart as it grows."""

import streamlit as st

from lib.ui import answer, drawings, frame, launch, live, recent, state

frame.page("start")
runs = state.group()

st.title("Pipeline or agent?", anchor=False)
st.text("Forty support tickets, one question: what are the five most common root causes, and which customers are "
        "affected? A pipeline of fixed steps and an agent with tools both answer it. Run them, and see every call, "
        "what each one cost, and how cost grows.")
if not runs:
    drawings.cards()
launch.start_buttons("start")
if runs:
    recent.shown(runs)
    live.live("start")
    answer.sentence(runs)
else:
    st.caption("Both will work side by side here, and the chart of what they send grows call by call.")
recent.groups("start")
