"""Before a run: which shapes, what it will send and roughly cost, what stands in the way, and the button."""

from __future__ import annotations

import streamlit as st

from lib.phrases import plural
from lib.ui import connection, design_diff, editors, estimate, go_to, live, picked, picking, start_runs, state
from lib.ui.drafts import Problem


def header(page: str, problems: list[Problem]) -> None:
    """Title, shapes, forecast and button on one line; below it what would end a run early or stands in the way."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"{page}_header"):
        st.title("Run", anchor=False, width="content")
        chosen = _shapes(page)
        st.markdown("" if problems else estimate.line(chosen), width="stretch")
        if not problems:
            estimate.details(page, chosen)
        _run_button(page, chosen, problems)
    picking.line(page)
    if not problems:
        estimate.notes(page, chosen)
    _simulated_with(" The forecast does not count that in.")
    _obstacles(problems)
    _confirmation(page, chosen, problems)


def start_buttons(page: str) -> None:
    """The sample both ways with whatever answers now; beside it a person's own tickets, or the way to bring them."""
    chosen, problems, data = connection.choice(), editors.problems(), state.data()
    with st.container(horizontal=True, vertical_alignment="center", key=f"{page}_buttons"):
        st.button("Run the sample both ways", type="primary", icon=":material/play_arrow:", key=f"{page}.run_sample",
                  on_click=_start_sample,
                  disabled=not start_runs.may_start(list(state.SHAPES), state.sample(), problems))
        if data.sample != state.FIRST_SAMPLE and len(data.tickets):
            whose = f"the {data.sample}" if data.sample else f"my {plural(len(data.tickets), 'ticket')}"
            st.button(f"Run {whose} both ways", icon=":material/play_arrow:", key=f"{page}.run_own",
                      disabled=not start_runs.may_start(list(state.SHAPES), data, problems), on_click=_ask_or_start,
                      args=(list(state.SHAPES),))
        if state.is_edited():
            st.caption("with your edited design", width="content")
        st.page_link("pages/data.py", label="Use your own tickets →", width="content")
        if any(live.report(run) for run in state.group()):
            st.space("stretch")
            if st.button("See the answers, every call and the prompts", icon=":material/arrow_forward:",
                         key=f"{page}.to_run"):
                go_to.run_page(state.shown_group())
    _simulated_with()
    if chosen.problem:
        st.text(chosen.problem)
    elif problems:
        st.text("The design cannot run as it is edited; the Design page says why.")
    _confirmation(page, list(state.SHAPES), problems)


def again(page: str) -> None:
    """A second way to the button, beside the editors."""
    with st.container(horizontal=True, vertical_alignment="center"):
        shapes = state.desk()["shapes"]
        ready = start_runs.may_start(shapes, state.data(), st.session_state.get("_problems", []))
        st.button("Run again", type="primary", icon=":material/replay:", key=f"{page}.again", disabled=not ready,
                  on_click=_ask_or_start, args=(list(shapes),))
        st.caption("What you change here is the design everywhere; the next run uses it and says what it changed.")
    design_diff.since(state.group())
    connection.origin(state.group())


def _simulated_with(besides: str = "") -> None:
    """What the next run will meet, where the simulated API is told to misbehave."""
    chosen = connection.choice()
    if chosen.source == "simulated" and chosen.conditions:
        with st.container(key="simulated_with"):
            st.text(f"The next run is simulated with: {chosen.conditions}.{besides}")


def _shapes(page: str) -> list[str]:
    key = f"{page}.shapes"

    def save() -> None:
        state.keep(shapes=st.session_state[key])
    return st.pills("Shapes to run", state.SHAPES, selection_mode="multi", default=state.desk()["shapes"], key=key,
                    format_func=str.capitalize, label_visibility="collapsed", on_change=save)


def _run_button(page: str, shapes: list[str], problems: list[Problem]) -> None:
    label = "Run both" if len(shapes) == 2 else f"Run the {shapes[0]}" if shapes else "Run"
    st.button(label, type="primary", icon=":material/play_arrow:", key=f"{page}.start",
              disabled=not start_runs.may_start(shapes, state.data(), problems), on_click=_ask_or_start,
              args=(list(shapes),))


def _obstacles(problems: list[Problem]) -> None:
    lines = [connection.choice().problem] if connection.choice().problem else []
    if not len(state.data().tickets):
        lines.append("There are no tickets in the data.")
    if lines or problems:
        with st.container(border=True, key="run_obstacles"):
            for line in lines:
                st.text(f"✕ {line}")
            editors.show_problems(problems)


def _confirmation(page: str, shapes: list[str], problems: list[Problem]) -> None:
    tickets = len(state.data().tickets)
    asked = st.session_state.get("_confirm") and tickets > state.settings().confirm_above
    if not asked or not start_runs.may_start(shapes, state.data(), problems):
        return
    with st.container(border=True, key=f"{page}_confirm"):
        st.markdown(f"**{tickets:,} tickets are more than {state.settings().confirm_above:,}.** Send them all?")
        st.markdown(estimate.line(shapes))
        few = min(picked.USUAL, state.settings().confirm_above)
        with st.container(horizontal=True):
            if few:
                st.button(f"Run a random {few:,} instead", icon=":material/casino:", key=f"{page}.confirm_few",
                          on_click=_start_few, args=(list(shapes), few))
            st.button(f"Yes, run all {tickets:,}", key=f"{page}.confirm", on_click=_start, args=(list(shapes),))
            st.button("No", key=f"{page}.cancel", on_click=_cancel)


# --- what the buttons do ---------------------------------------------------------------------------------------------


def _ask_or_start(shapes: list[str]) -> None:
    if len(state.data().tickets) > state.settings().confirm_above:
        st.session_state["_confirm"] = True
    else:
        _start(shapes)


def _start(shapes: list[str]) -> None:
    _cancel()
    start_runs.start(shapes, state.data)


def _start_few(shapes: list[str], number: int) -> None:
    """The others stay on the desk."""
    state.pick(how="random", number=number, seed=1, by="")
    _start(shapes)


def _start_sample() -> None:
    """The sample is run, the data on the desk stays what it is."""
    start_runs.start(state.SHAPES, state.sample)


def _cancel() -> None:
    st.session_state.pop("_confirm", None)
