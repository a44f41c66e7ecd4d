"""The run: what it will send, start and stop, progress, answers, calls, and the prompts to change beside them."""

import streamlit as st

from lib.ui import (
    actuals,
    answer,
    baseline,
    calls,
    editors,
    export_menu,
    frame,
    go_to,
    launch,
    live,
    pictures,
    recent,
    state,
)

frame.page("run")
launch.header("run", editors.refresh_problems())
runs = state.group()
with st.container(horizontal=True, vertical_alignment="center", gap="small"):
    recent.shown(runs)
    baseline.button("run", runs)
    export_menu.menu("run", runs)
live.live("run")

tabs = dict(zip(go_to.TABS, st.tabs(go_to.TABS, key=go_to.KEY, on_change="rerun"), strict=True))
opened = next((name for name, tab in tabs.items() if tab.open), go_to.TABS[0])
with tabs[opened]:
    if opened == "Answer":
        answer.answers(runs)
    elif opened == "Calls":
        calls.calls(runs)
    elif opened == "Timeline":
        pictures.timeline(runs)
    elif opened == "Checks":
        answer.checks(runs)
        actuals.against_the_estimate(runs)
    else:
        launch.again("run")
        editors.beside_results("run")
