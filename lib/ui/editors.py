"""The editors of a design, the same on every page: each shows its draft, saves every change, and names its problems.

A widget's own state is dropped on a page switch; the draft on the desk is not, and is the widget's default when it
returns. The default is given at every run: what is set through session state alone never reaches a widget that the
browser has not drawn yet, such as one in a closed expander.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from lib.design import ToolText
from lib.design_file import LONGEST_NAME
from lib.models import MODELS, model
from lib.task import problems as task_problems
from lib.task.advice import advice
from lib.task.problems import TOOL_NAME
from lib.tickets.visible import visible
from lib.ui import connection, drafts, model_choice, own_tools, set_aside, sizes, state

STEP_TITLES = {
    "label": ("Label", "one call per ticket"),
    "merge": ("Merge", "one call over all labels"),
    "summary": ("Summary", "one call per top cause"),
    "agent": ("Agent", "one call per turn"),
}
QUERY_HELP = ("One SELECT. Write an argument as :name; one that the model leaves out is NULL. It only reads, and gives "
              "at most 200 rows.")
MARKS = {"✕": "_problems", "⚠": "_warnings"}      # what stands in the way of a run, and what does not
PIPELINE_STEPS = ("label", "merge", "summary")
OUTPUT_HELP = ("How replies become JSON. Asked: the prompt asks for it, code validates the reply, and a bad one is "
               "sent back with the reason. The API's: the request holds a schema, and no reply can break its form; the "
               "schema is sent, and paid for, with every call. Code validates what is in it all the same. Run both and "
               "compare retries and tokens.")


def question(page: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _field(st.text_input, page, "name", width=320, max_chars=max(LONGEST_NAME, len(_current("name"))))
        _field(st.number_input, page, "k", width=160)


def limits(page: str) -> None:
    """What ends a run of either shape."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _field(st.number_input, page, "limits.max_tokens", step=100_000, width=230,
               help="Input and output of one run. The next call is not sent if it could go over.")
        _field(st.number_input, page, "limits.max_usd", step=0.5, format="%g", width=190,
               help="Of one run, where the price of the model is known.")
        _field(st.number_input, page, "limits.max_seconds", step=60.0, format="%g", width=190,
               help="Of one run, on the run's own clock.")


def sending(page: str) -> None:
    """How requests of both shapes are put together: what is cached, and whether data stand in tags."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _choice(page, "caching", width=300, help=_caching_help())
        _choice(page, "output", width=270, help=OUTPUT_HELP)
        _field(st.toggle, page, "tags",
               help="On: tickets, labels and causes stand inside escaped tags, and the prompt calls that data. Off: "
                    "they are pasted in as they are, and an order in a ticket looks like one of yours.")
    if not _current("tags"):
        st.text("⚠ Unsafe on purpose: without tags, nothing tells a ticket's words from your instructions. Add the "
                "ticket that gives orders (Data page) and see who is obeyed.")


def _caching_help() -> str:
    used = dict.fromkeys(step.model for step in state.design()[0].steps.values())
    minimum = ", ".join(f"{model(name).name}: {model(name).cache_minimum:,}" for name in used)
    return ("The API can keep how a request begins. To write that costs 1.25 × the input price (2 × for an hour), to "
            "read it again 0.1 × or less: it pays from the second call that begins alike. A beginning below the "
            f"model's minimum is never kept ({minimum} tokens), and nothing says so. The whole request suits an agent, "
            "which resends all of it every turn; the system prompt alone suits labels, whose tickets differ.")


def pipeline_knobs(page: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _field(st.number_input, page, "workers", width=160)
        _field(st.number_input, page, "retries", width=180,
               help="A reply that is not the JSON asked for is sent back with the reason, this many times.")


def agent_knobs(page: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _field(st.number_input, page, "limits.max_turns", width=160,
               help="A turn is one reply of the agent. Each one resends everything said before.")
        _field(st.toggle, page, "parallel_tools",
               help="Off: the agent asks for one tool at a time. On: it may ask for many, and needs fewer turns.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _field(st.number_input, page, "keep_results", width=290,
               help="Older results are replaced by a short note before a request is sent. Turns get cheaper, and what "
                    "the agent did not note down is gone for it.")
        _field(st.number_input, page, "result_chars", step=500, width=290,
               help="The rest of a longer result never reaches the model. Tickets are long: see which causes change.")


def step(page: str, name: str, size: sizes.OfDesign) -> None:
    """Model, longest reply and system prompt of one kind of call."""
    title, how_often = STEP_TITLES.get(name, (name, ""))
    with st.container(border=True, key=f"{page}_step_{name}"):
        _head(title, how_often, page, [f"steps.{name}.{part}" for part in drafts.STEP_PARTS])
        with st.container(horizontal=True):
            _model(page, f"steps.{name}.model")
            _field(st.number_input, page, f"steps.{name}.max_tokens", step=256, width=200,
                   help="max_tokens of the request. A reply that reaches it is cut off and not used.")
            _effort(page, name)
        _field(st.text_area, page, f"steps.{name}.system", height="content")
        size.prompt(name)


def tool(page: str, key: str, size: sizes.OfDesign) -> None:
    """What the model is told of one tool."""
    told = next(tool for tool in state.design()[0].tools if tool.key == key)
    owned = [f"tools.{key}.{part}" for part in drafts.tool_parts(told)]
    with st.expander(_tool_label(told, owned), key=f"{page}_tool_{key}", expanded=own_tools.just_added(key)):
        if told.is_own:
            _own_head(page, key, owned)
        else:
            _head("", "what the model is told of this tool", page, owned)
        _problems_of(f"tools.{key}")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            _field(st.text_input, page, f"tools.{key}.name", width=260)
            _field(st.toggle, page, f"tools.{key}.enabled")
        _field(st.text_area, page, f"tools.{key}.description", height="content")
        _advice(page, told)
        _field(st.text_area, page, f"tools.{key}.input_schema", height=240)
        if told.is_own:
            _field(st.text_area, page, f"tools.{key}.query", height="content", help=QUERY_HELP)
            own_tools.trial(page, told)
        size.tool(key)


def tools(page: str, size: sizes.OfDesign) -> None:
    """All tools of the agent, and the way to one more."""
    for each in state.base().tools:
        tool(page, each.key, size)
    own_tools.add(page)


def _tool_label(told: ToolText, owned: list[str]) -> str:
    """"tally · edited": its key, of an own tool the name that the model sees, where that is one."""
    named = told.is_own and TOOL_NAME.fullmatch(told.name)
    marks = {mark: _found(kind, [f"tools.{told.key}", *owned]) for mark, kind in MARKS.items()}
    touched = any(field in state.desk()["drafts"] for field in owned)
    states = [*["yours"] * told.is_own, *["edited"] * touched, *["off"] * (not told.enabled),
              *[mark for mark, found in marks.items() if found]]
    return " · ".join([f"`{told.name}`" if named else told.key, *states])


def _own_head(page: str, key: str, owned: list[str]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(":gray[what the model is told of this tool, and the SELECT that answers it]", width="content")
        with st.container(horizontal=True, width="content"):
            if not own_tools.was_added(key):
                touched = any(field in state.desk()["drafts"] for field in owned)
                _reset_button("Reset", f"{page}.reset.{owned[0]}", owned, touched, type="tertiary")
            own_tools.remove_button(page, key)


def _advice(page: str, told: ToolText) -> None:
    """What a good description states, and which of it this one does: by rules, which know words and not their sense."""
    points = advice(told)
    stated, lacks = [p.states for p in points if p.met], [p.missing for p in points if not p.met]
    with st.container(gap="xsmall", key=f"{page}_advice_{told.key}"):
        st.text(f"States: {', '.join(stated) or 'none of what a good description does'}.")
        if lacks:
            st.text(visible(f"Lacks: {'; '.join(lacks)}."))


def revert(page: str) -> None:
    """Drops every edit since the design was opened."""
    typed = state.desk()["drafts"]
    _reset_button("Revert", f"{page}.revert", list({**typed, **set_aside.fields()}), bool(typed),
                  help="Back to the design as it was opened.")


def problems() -> list[drafts.Problem]:
    """Why the design cannot be run as it stands, by whoever answers now; empty when it can."""
    design, unusable = state.design()
    return [*unusable, *task_problems.problems(design, state.data().catalog),
            *task_problems.connection_problems(design, connection.choice().source)]


def show_problems(found: list[drafts.Problem]) -> None:
    for problem in found:
        st.text(visible(f"✕ {drafts.label(problem.field)}: {problem.text}"))


# --- one field -------------------------------------------------------------------------------------------------------


def _field(widget: Callable[..., Any], page: str, field: str, **options: Any) -> None:
    key = _key(page, field)
    widget(_label(field), value=_current(field), key=key, on_change=_save, args=(key, field), **options)
    _problems_of(field)


def _label(field: str) -> str:
    """"Stop at 5,000,000 tokens", "System prompt": the words of `drafts.label`, without whose field it is."""
    head, part = field.split(".")[0], field.split(".")[-1]
    if head in ("steps", "tools"):
        return (drafts.STEP_LABELS if head == "steps" else drafts.TOOL_LABELS)[part]
    words = drafts.LABELS[field]
    return words.replace("…", f"{_current(field):,.12g}") if "…" in words else words


def _model(page: str, field: str) -> None:
    key, current = _key(page, field), _current(field)
    options = list(dict.fromkeys([*model_choice.server_models(), *MODELS, current]))
    st.selectbox(_label(field), options, index=options.index(current), key=key, format_func=_model_name, width=320,
                 accept_new_options=True, on_change=_save, args=(key, field),
                 help="Or type any model's id: a compatible server has its own.")
    _problems_of(field)


def _effort(page: str, name: str) -> None:
    """The levels that the step's model has; what else was chosen before stays in sight, with the reason below."""
    field, known = f"steps.{name}.effort", model(state.design()[0].steps[name].model)
    key, current = _key(page, field), _current(field)
    options = list(dict.fromkeys(["", *known.efforts, current]))
    own = f"model's own ({known.effort})" if known.listed and known.efforts else "model's own"
    st.selectbox(_label(field), options, index=options.index(current), key=key, disabled=len(options) == 1, width=190,
                 format_func=lambda level: level or own, on_change=_save, args=(key, field),
                 help="How much a model thinks and writes before it is done: more costs tokens and seconds."
                 if known.efforts else "This model has no levels of effort.")
    _problems_of(field)


def _choice(page: str, field: str, **options: Any) -> None:
    key, names = _key(page, field), drafts.CHOICES[field]
    st.selectbox(_label(field), list(names), index=list(names).index(_current(field)), key=key, format_func=names.get,
                 on_change=_save, args=(key, field), **options)
    _problems_of(field)


def _model_name(model_id: str) -> str:
    known = MODELS.get(model_id)
    return f"{known.name} · {known.size}" if known else model_id


def _current(field: str) -> Any:
    return state.desk()["drafts"].get(field, drafts.value_of(state.base(), field))


def _key(page: str, field: str) -> str:
    """A new one where a reset, another design or another tab changed the field under its widget: the browser would go
    on showing what stood there. What was typed and could not be kept changed nothing, and stays."""
    renewed = st.session_state.setdefault("_renewed", {})
    shown = st.session_state.setdefault("_shown_values", {})
    key, now = _nth_key(page, field, renewed.get(field, 0)), _current(field)
    if key in st.session_state and shown.get(key, now) != now != st.session_state[key]:
        renewed[field] = renewed.get(field, 0) + 1
        key = _nth_key(page, field, renewed[field])
    shown[key] = now
    return key


def _nth_key(page: str, field: str, number: int) -> str:
    return f"{page}.{field}" + (f".{number}" if number else "")


def _save(key: str, field: str) -> None:
    value = st.session_state[key]
    if field in (dropped := set_aside.fields()):
        set_aside.keep_fields({name: typed for name, typed in dropped.items() if name != field})
    state.keep_drafts({field: None if value == drafts.value_of(state.base(), field) else value})


def _reset(owned: list[str]) -> None:
    """What was typed is set aside, for Undo."""
    now = state.desk()["drafts"]
    set_aside.keep_fields({**set_aside.fields(), **{field: now[field] for field in owned if field in now}})
    state.keep_drafts(dict.fromkeys(owned))


def _undo(owned: list[str]) -> None:
    typed = set_aside.fields()
    set_aside.keep_fields({field: value for field, value in typed.items() if field not in owned})
    state.keep_drafts({field: typed[field] for field in owned if field in typed})


def _reset_button(label: str, key: str, owned: list[str], touched: bool, **options: Any) -> None:
    """Resets these fields; once they are reset, and until they are edited, it brings back what was typed."""
    if not touched and any(field in set_aside.fields() for field in owned):
        st.button(f"Undo {label.lower()}", key=f"{key}.undo", icon=":material/undo:", on_click=_undo, args=(owned,),
                  **options)
    else:
        st.button(label, key=key, icon=":material/restart_alt:", disabled=not touched, on_click=_reset, args=(owned,),
                  **options)


def _head(title: str, note: str, page: str, owned: list[str]) -> None:
    """Title on the left, the reset of these fields on the right."""
    touched = any(f in state.desk()["drafts"] for f in owned)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"**{title}** :gray[{note}]" if title else f":gray[{note}]", width="content")
        _reset_button("Reset", f"{page}.reset.{owned[0]}", owned, touched, type="tertiary")


def _problems_of(field: str) -> None:
    for mark, kind in MARKS.items():
        for problem in _found(kind, [field]):
            st.text(visible(f"{mark} {problem.text}"))


def _found(kind: str, fields: list[str]) -> list[drafts.Problem]:
    return [problem for problem in st.session_state.get(kind, ()) if problem.field in fields]


def refresh_problems() -> list[drafts.Problem]:
    """Works out problems and warnings once per page run, for the fields to show beneath themselves. Returns what stands
    in the way of a run, which a warning does not."""
    found = st.session_state["_problems"] = problems()
    st.session_state["_warnings"] = task_problems.warnings(state.design()[0])
    return found


def beside_results(page: str) -> None:
    """All prompts and tools on the run's page: the pipeline's on the left, the agent's on the right."""
    (left, right), size = st.columns(2), sizes.OfDesign()
    with left:
        question(page)
        sending(page)
        pipeline_knobs(page)
        for name in PIPELINE_STEPS:
            step(page, name, size)
    with right:
        agent_knobs(page)
        step(page, "agent", size)
        tools(page, size)
