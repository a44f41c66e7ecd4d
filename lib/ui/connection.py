"""The badge that says who answers, and the choice behind it. Keys stay in this session's memory, nowhere else."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from lib.client import base_url
from lib.errors import BaseUrlRefused
from lib.models import MODELS
from lib.runs.job import SIMULATED_ANSWERS
from lib.runs.store import Run
from lib.ui import outside, simulation, state

KINDS = {"simulated": "Simulated", "live": "Anthropic API", "server": "Compatible server"}
COLOURS = {"simulated": "gray", "live": "green", "server": "violet"}


@dataclass(frozen=True)
class Choice:
    """A way to answer. `connect` is called in the run's own thread, for a resumed run with the number of its calls."""

    source: str
    name: str
    connect: Callable[..., Any]
    problem: str = ""       # why it cannot be used yet
    priced: bool = True     # Anthropic's list prices hold for what it answers
    conditions: str = ""    # what the simulated API is told to do, in words

    def __repr__(self) -> str:
        return f"Choice({self.source}, {self.name})"


def choice() -> Choice:
    kind = _now()["kind"]
    return {"simulated": _simulated, "live": _live, "server": _server}[kind]()


def _simulated() -> Choice:
    settings, speed, conditions = state.settings(), simulation.speed(), simulation.conditions()

    def connect(made: int = 0) -> Any:
        from lib.client.connect import connect_simulated
        # the same seed would let the very attempts fail again that ended the run
        return connect_simulated(settings, speed, conditions=replace(conditions, seed=conditions.seed + made))
    return Choice("simulated", "simulated", connect, conditions=simulation.told())


def _live() -> Choice:
    settings, key = state.settings(), _now()["key"] or (_now()["use_environment"] and _key_of_environment())

    def connect(made: int = 0) -> Any:
        from lib.client.connect import connect_api
        return connect_api(settings, key)
    problem = "" if key else "The Anthropic API needs a key: open the badge at the top right."
    return Choice("live", "Anthropic API", connect, problem)


def _server() -> Choice:
    settings, key, strangers = state.settings(), _now()["server_key"], state.shared()
    url, problem = _address()

    def connect(made: int = 0) -> Any:
        from lib.client.connect import connect_server
        if strangers:
            outside.refuse_inside(url, settings.base_url)
        return connect_server(settings, url, key)
    return Choice("server", url, connect, problem, priced=False)


def _address() -> tuple[str, str]:
    """The base URL as requests use it, or as typed and why no request may go there."""
    typed = _now()["base_url"].strip()
    if not typed:
        return "", "A compatible server needs its address: open the badge at the top right."
    try:
        url = base_url.normalise(typed)
        if state.shared():      # what a name stands for is looked up when the run connects
            outside.refuse_inside(url, state.settings().base_url, resolve=outside.no_lookup)
        return url, ""
    except BaseUrlRefused as reason:
        return typed, str(reason)


def hint() -> str:
    """What may go wrong though nothing stands in the way; "" when there is nothing to say."""
    if _now()["kind"] != "server":
        return ""
    design, _ = state.design()
    theirs = sorted({step.model for step in design.steps.values() if step.model in MODELS})
    if not theirs:
        return ""
    verb = "is a name of Anthropic's models" if len(theirs) == 1 else "are names of Anthropic's models"
    return (f"{', '.join(theirs)} {verb}; this server probably has others. "
            "Type the name of its model as the model of each step, on the Design page.")


def why_not_resumed(run: Run) -> str:
    """Why this run cannot go on with what is chosen now; "" when it can. One run has one source, as its label says."""
    chosen = choice()
    if (chosen.source, chosen.name) == (run.source, run.connection):
        return chosen.problem
    same = " under the same address" if chosen.source == run.source else ""
    return f"Choose “{KINDS.get(run.source, run.source)}”{same} at the top right: it answered this run so far."


def picker(page: str) -> None:
    """The badge as a popover: who answers, and its settings. On the Run page faults and time stand beside it."""
    now = _now()
    beside = st.container(width="content")      # always there: the badge stays in its place and open when it is used
    if now["kind"] == "simulated" and page == "run":
        with beside, st.popover("Faults & time", icon=":material/tune:", key=f"{page}.faults",
                                help="refusals, slow calls, a confused model, other speeds: on demand"):
            simulation.faults_form(page)
    with st.popover(KINDS[now["kind"]], icon=":material/cable:", help="who answers the calls"):
        _remembered(st.radio, "Who answers?", page, "kind", options=list(KINDS), format_func=KINDS.get,
                    label_visibility="collapsed")
        {"simulated": _simulated_form, "live": _live_form, "server": _server_form}[now["kind"]](page)


def badge(source: str) -> None:
    """Where an answer came from."""
    st.badge({"server": "compatible server"}.get(source, source), color=COLOURS.get(source, "gray"))


def origin(runs: list[Run]) -> None:
    """Who wrote what a view shows of these runs, in one line; nothing where there are none."""
    if not runs:
        return
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
        badge(runs[0].source)
        if any(run.source == "simulated" or run.conditions == SIMULATED_ANSWERS for run in runs):
            st.caption(simulation.MEANS, width="stretch")


def _simulated_form(page: str) -> None:
    simulation.speed_field(page)
    if page != "run":
        with st.expander("Faults and time", icon=":material/tune:", key=f"{page}.faults", type="compact"):
            simulation.faults_form(page)
    st.caption(simulation.MEANS)


def _live_form(page: str) -> None:
    if _key_of_environment() and not _now()["key"]:
        _remembered(st.toggle, "Use the key found in ANTHROPIC_API_KEY", page, "use_environment")
    _key_field(page, "key", "API key", placeholder="sk-ant-…")
    st.caption("Real calls cost real money. The key is kept in this session's memory only.")


def _server_form(page: str) -> None:
    _remembered(st.text_input, "Base URL", page, "base_url", placeholder="http://localhost:11434")
    url, problem = _address()
    if _now()["base_url"].strip() and problem:
        st.text(f"✕ {problem}")
    _key_field(page, "server_key", "Key, if it wants one")
    for warning in [] if problem else base_url.warnings(url, _now()["server_key"]):
        st.text(f"⚠ {warning}")
    if tip := hint():
        st.text(f"⚠ {tip}")
    st.caption("Any server that speaks the Messages API: Ollama, LM Studio, llama.cpp, vLLM … There are no list "
               "prices for it.")


def run_link(page: str) -> None:
    """Where several people use one server: a link that shows the run and hands over nothing else."""
    link = state.link_to_run() if state.shared() else ""
    if not link:
        return
    with st.popover("Link to this run", icon=":material/link:", key=f"{page}.link"):
        st.code(link, language=None, wrap_lines=True)
        st.caption("Whoever has this link sees the run and its answers. The link in the address bar opens your whole "
                   "desk: drafts, data, Stop and Resume. Keep that one to yourself.")


def _key_field(page: str, name: str, label: str, **options: Any) -> None:
    """A key goes in and is never sent back to the browser."""
    if not _now()[name]:
        _remembered(st.text_input, label, page, name, type="password", **options)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("A key is set for this session.", width="stretch")
        st.button("Forget it", key=f"{page}.forget.{name}", on_click=_now().update, kwargs={name: ""})


def _now() -> dict[str, Any]:
    settings = state.settings()
    return st.session_state.setdefault("connection", {
        "kind": "simulated", "key": "", "use_environment": False,
        "base_url": settings.base_url, "server_key": ""})


def _remembered(widget: Callable[..., Any], label: str, page: str, name: str, **options: Any) -> None:
    """A widget whose value outlives the page switch that would drop the widget's own state."""
    key, now = f"{page}.connection.{name}", _now()[name]

    def save() -> None:
        value = st.session_state[key]
        _now()[name] = value.strip() if isinstance(value, str) else value
        if name == "base_url":
            _now()["server_key"] = ""       # a key goes to the address it was entered for, to no other
    default = {"index": options["options"].index(now)} if "options" in options else {"value": now}
    widget(label, key=key, on_change=save, **default, **options)


def _key_of_environment() -> str:
    """The key the server was started with; never offered where several people use one server."""
    return "" if state.shared() else os.environ.get("ANTHROPIC_API_KEY", "").strip()
