"""The run: what it will send, start and stop, progress, answers, calls, and the prompts to change beside them."""

import streamlit as st

from lib.ui import answer, calls, editors, frame, held, launch, live, pictures, recent, state

TABS = ("Answer", "Calls", "Timeline", "Checks", "Prompts & tools")

frame.page("run")
launch.header("run", editors.refresh_problems())
runs = state.group()
recent.shown(runs)
live.live("run")

tabs = dict(zip(TABS, st.tabs(TABS, key="run.tabs", on_change="rerun"), strict=True))
opened = next((name for name, tab in tabs.items() if tab.open), TABS[0])
with tabs[opened]:
    if opened == "Answer":
        answer.answers(runs)
    elif opened == "Calls":
        calls.calls(runs)
    elif opened == "Timeline":
        pictures.timeline(runs)
    elif opened == "Checks":
        answer.checks(runs)
        held.against_the_estimate(runs)
    else:
        launch.again("run")
        editors.beside_results("run")
