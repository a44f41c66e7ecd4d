"""The editors of a design, the same on every page: each shows its draft, saves every change, and names its problems.

A widget's own state is dropped on a page switch; the draft on the desk is not, and is the widget's default when it
returns. The default is given at every run: what is set through session state alone never reaches a widget that the
browser has not drawn yet, such as one in a closed expander.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from lib.models import MODELS
from lib.ui import drafts, state

STEP_TITLES = {
    "label": ("Label", "one call per ticket"),
    "merge": ("Merge", "one call over all labels"),
    "summary": ("Summary", "one call per top cause"),
    "agent": ("Agent", "one call per turn"),
}
PIPELINE_STEPS = ("label", "merge", "summary")


def question(page: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _field(st.text_input, "Name of this design", page, "name", width=320)
        _field(st.number_input, "How many causes", page, "k", width=160)


def limits(page: str) -> None:
    """What ends a run of either shape."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _field(st.number_input, "Tokens", page, "limits.max_tokens", step=100_000, width=170,
               help="Input and output of one run. The next call is not sent if it could go over.")
        _field(st.number_input, "Dollars", page, "limits.max_usd", step=0.5, format="%g", width=150,
               help="Of one run, where the price of the model is known.")
        _field(st.number_input, "Seconds", page, "limits.max_seconds", step=60.0, format="%g",
               width=150,
               help="Of one run, on the run's own clock.")


def pipeline_knobs(page: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _field(st.number_input, "Calls at once", page, "workers", width=160)
        _field(st.number_input, "Retries of a bad reply", page, "retries", width=180,
               help="A reply that is not the JSON asked for is sent back with the reason, this many times.")


def agent_knobs(page: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _field(st.number_input, "Turns at most", page, "limits.max_turns", width=160,
               help="A turn is one reply of the agent. Each one resends everything said before.")
        _field(st.toggle, "Several tools in one turn", page, "parallel_tools",
               help="Off: the agent asks for one tool at a time. On: it may ask for many, and needs fewer turns.")


def step(page: str, name: str) -> None:
    """Model, longest reply and system prompt of one kind of call."""
    title, how_often = STEP_TITLES.get(name, (name, ""))
    with st.container(border=True, key=f"{page}_step_{name}"):
        _head(title, how_often, page, [f"steps.{name}.{part}" for part in ("model", "max_tokens", "system")])
        with st.container(horizontal=True):
            _model(page, f"steps.{name}.model")
            _field(st.number_input, "Longest reply (tokens)", page, f"steps.{name}.max_tokens", step=256,
                   width=180, help="max_tokens of the request. A reply that reaches it is cut off and not used.")
        _field(st.text_area, "System prompt", page, f"steps.{name}.system", height=210)


def tool(page: str, key: str) -> None:
    """What the model is told of one tool."""
    owned = [f"tools.{key}.{part}" for part in drafts.TOOL_PARTS]
    touched = any(f in drafts.edited(state.default(), state.desk()["drafts"]) for f in owned)
    with st.expander(f"{key}{' · edited' if touched else ''}", key=f"{page}_tool_{key}"):
        _head("", "what the model is told of this tool", page, owned)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            _field(st.text_input, "Name", page, owned[1], width=260)
            _field(st.toggle, "Offered to the agent", page, owned[0])
        _field(st.text_area, "Description", page, owned[2], height=120)
        _field(st.text_area, "Schema of the arguments (JSON)", page, owned[3], height=200)


def reset_all(page: str) -> None:
    count = len(drafts.edited(state.default(), state.desk()["drafts"]))
    st.button("Reset all to default", key=f"{page}.reset_all", icon=":material/restart_alt:", disabled=not count,
              on_click=_reset, args=(drafts.fields(state.default()),))


def problems() -> list[drafts.Problem]:
    """Why the design cannot be run as it stands; empty when it can."""
    from lib.task.problems import problems as design_problems

    design, unusable = state.design()
    return unusable + [drafts.Problem(p.field, p.text) for p in design_problems(design)]


def show_problems(found: list[drafts.Problem]) -> None:
    for problem in found:
        st.text(f"✕ {drafts.label(problem.field)}: {problem.text}")


# --- one field -------------------------------------------------------------------------------------------------------


def _field(widget: Callable[..., Any], label: str, page: str, field: str, **options: Any) -> None:
    key = _key(page, field)
    widget(label, value=_current(field), key=key, on_change=_save, args=(key, field), **options)
    _problems_of(field)


def _model(page: str, field: str) -> None:
    key, current = _key(page, field), _current(field)
    options = list(MODELS) + ([current] if current not in MODELS else [])
    st.selectbox("Model", options, index=options.index(current), key=key, format_func=_model_name, width=320,
                 accept_new_options=True, on_change=_save, args=(key, field),
                 help="Or type any model's id: a compatible server has its own.")
    _problems_of(field)


def _model_name(model_id: str) -> str:
    known = MODELS.get(model_id)
    return f"{known.name} · {known.size}" if known else model_id


def _current(field: str) -> Any:
    return state.desk()["drafts"].get(field, drafts.value_of(state.default(), field))


def _key(page: str, field: str) -> str:
    """A reset makes a new widget: the browser would go on showing the old one's text."""
    resets = st.session_state.setdefault("_resets", {}).get(field, 0)
    return f"{page}.{field}" + (f".{resets}" if resets else "")


def _save(key: str, field: str) -> None:
    value = st.session_state[key]
    state.keep_drafts({field: None if value == drafts.value_of(state.default(), field) else value})


def _reset(owned: list[str]) -> None:
    state.keep_drafts(dict.fromkeys(owned))
    resets = st.session_state["_resets"]
    resets.update({field: resets.get(field, 0) + 1 for field in owned})


def _head(title: str, note: str, page: str, owned: list[str]) -> None:
    """Title on the left, the reset of these fields on the right."""
    touched = any(f in state.desk()["drafts"] for f in owned)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"**{title}** :gray[{note}]" if title else f":gray[{note}]", width="content")
        st.button("Reset", key=f"{page}.reset.{owned[0]}", disabled=not touched, type="tertiary",
                  icon=":material/restart_alt:", on_click=_reset, args=(owned,))


def _problems_of(field: str) -> None:
    for problem in st.session_state.get("_problems", ()):
        if problem.field == field:
            st.text(f"✕ {problem.text}")


def refresh_problems() -> list[drafts.Problem]:
    """Works out the problems once per page run, for the fields to show beneath themselves."""
    found = st.session_state["_problems"] = problems()
    return found


def beside_results(page: str) -> None:
    """All prompts and tools on the run's page: the pipeline's on the left, the agent's on the right."""
    left, right = st.columns(2)
    with left:
        question(page)
        pipeline_knobs(page)
        for name in PIPELINE_STEPS:
            step(page, name)
    with right:
        agent_knobs(page)
        step(page, "agent")
        for each in state.default().tools:
            tool(page, each.key)
