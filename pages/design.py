"""The design: everything a person may change about both shapes, already filled in."""

import streamlit as st

from lib.ui import design_diff, editors, frame, library, model_choice, own_prices, sizes

frame.page("design")
found, size = editors.refresh_problems(), sizes.OfDesign()

library.bar("design")
works = "" if found else "Everything here is filled in and works. "
st.caption(f"{works}Change what you like; nothing is sent before you press Run.")
if found:
    with st.container(border=True):
        st.markdown("**This design cannot run yet**")
        editors.show_problems(found)

design_diff.comparison("design")

st.header("Question", anchor=False)
editors.question("design")
st.caption("A run of either shape ends when the next call could go over one of these.")
editors.limits("design")
editors.sending("design")

st.header("Models", anchor=False)
model_choice.models("design")
own_prices.editor_of_next("design")

st.header(":blue[Pipeline]", anchor=False)
editors.pipeline_knobs("design")
for name in editors.PIPELINE_STEPS:
    editors.step("design", name, size)

st.header(":orange[Agent]", anchor=False)
editors.agent_knobs("design")
editors.step("design", "agent", size)

st.subheader("Tools of the agent", anchor=False)
editors.tools("design", size)
