"""The start: what this is, both shapes as a picture, one button, and the chart as it grows."""

import streamlit as st

from lib.ui import answer, drawings, frame, launch, live, recent, state

frame.page("start")

st.title("Pipeline or agent?", anchor=False)
st.text("Forty support tickets, one question: what are the five most common root causes, and which customers are "
        "affected? A pipeline of fixed steps and an agent with tools both answer it. Run them, and see every call, "
        "what each one cost, and how cost grows.")
drawings.cards()
launch.sample_button("start")
live.live("start")
answer.sentence(state.group())
st.page_link("pages/run.py", label="See the answers, every call and the prompts", icon=":material/arrow_forward:")
recent.groups("start")
