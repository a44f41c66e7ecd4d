"""The badge that says who answers, and the choice behind it. Keys stay in this session's memory, nowhere else."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from lib.client import base_url
from lib.client.budget import dollars
from lib.errors import BaseUrlRefused
from lib.models import MODELS
from lib.runs.job import OWNER
from lib.runs.store import Run
from lib.tickets.visible import visible
from lib.ui import format as fmt
from lib.ui import outside, replay, simulation, state

KINDS = {"simulated": "Simulated", "live": "Anthropic API", "server": "Compatible server", "replay": "Replay of a run"}
COLOURS = {"simulated": "gray", "live": "green", "server": "violet", "replay": "primary"}
KEPT = ("kind", "base_url", "reuse")        # on the desk, beside what a replay is of; a key is kept nowhere
REUSE = ("Take earlier replies to the very same request",
         "A request that an earlier run has sent to the same address, word for word, gets that run's reply again, at "
         "once and for nothing. A refused, cut-off or unusable reply is never taken.")


@dataclass(frozen=True)
class Choice:
    """A way to answer. `connect` is called in the run's own thread, for a resumed run with the number of its calls and
    its id in a list."""

    source: str
    name: str
    connect: Callable[..., Any]
    problem: str = ""       # why it cannot be used yet
    priced: bool = True     # Anthropic's list prices hold for what it answers
    conditions: str = ""    # what the simulated API is told to do, or was when it was recorded, in words
    reuse: bool = False     # earlier replies to the very same requests may be taken
    payer: str = ""         # "owner" where it is not the visitor's own key
    origin: str = ""        # who answered first, of a replay
    price_list: Mapping[str, Any] | None = None     # that of the run which is replayed

    def __repr__(self) -> str:
        return f"Choice({self.source}, {self.name})"


def choice() -> Choice:
    kind = _now()["kind"]
    return {"simulated": _simulated, "live": _live, "server": _server, "replay": _replay}[kind]()


def _simulated() -> Choice:
    settings, speed, conditions = state.settings(), simulation.speed(), simulation.conditions()

    def connect(made: int = 0, going_on: Sequence[str] = ()) -> Any:
        from lib.client.connect import connect_simulated
        # the same seed would let the very attempts fail again that ended the run
        return connect_simulated(settings, speed, conditions=replace(conditions, seed=conditions.seed + made))
    return Choice("simulated", "simulated", connect, conditions=simulation.told())


def _live() -> Choice:
    settings, own = state.settings(), _now()["key"] or (_now()["use_environment"] and _key_of_environment())
    left = None if own else _owner_pays()
    key = own if left is None else _environment()

    def connect(made: int = 0, going_on: Sequence[str] = ()) -> Any:
        from lib.client.connect import connect_api
        return connect_api(settings, key)
    problem = "" if key else "The Anthropic API needs a key: open the badge at the top right."
    if left == 0:
        problem = "Your share of this playground's key is used for today. With your own key you can go on."
    return Choice("live", "Anthropic API", connect, problem, reuse=_now()["reuse"],
                  payer="" if left is None else OWNER)


def _server() -> Choice:
    settings, key, strangers = state.settings(), _now()["server_key"], state.shared()
    url, problem = _address()

    def connect(made: int = 0, going_on: Sequence[str] = ()) -> Any:
        from lib.client.connect import connect_server
        if strangers:
            outside.refuse(url, settings)
        return connect_server(settings, url, key)
    return Choice("server", url, connect, problem, priced=False, reuse=_now()["reuse"])


def models_of_server() -> list[str]:
    """What the compatible server that is chosen says it has. Raises PlaygroundError, in words, when it does not say."""
    from lib.client.model_list import models_of

    url, problem = _address()
    if problem:
        raise BaseUrlRefused(problem)
    if state.shared():
        outside.refuse(url, state.settings())
    return models_of(url, _now()["server_key"])


def _replay() -> Choice:
    found = replay.chosen()
    if found is None:
        return Choice("replay", "", lambda: None, "Choose at the top right which run is replayed.")
    return to_replay(found, replay.speed())


def to_replay(found: replay.Recorded, speed: float) -> Choice:
    settings, store = state.settings(), state.store()

    def connect(made: int = 0, going_on: Sequence[str] = ()) -> Any:
        from lib.client.connect import connect_replay
        return connect_replay(store, [run.id for run in found.runs], speed, settings, going_on)
    first = found.runs[0]
    return Choice("replay", found.name, connect, conditions=first.conditions, origin=found.origin,
                  price_list=first.prices or None)


def _address() -> tuple[str, str]:
    """The base URL as requests use it, or as typed and why no request may go there."""
    typed = _now()["base_url"].strip()
    if not typed:
        return "", "A compatible server needs its address: open the badge at the top right."
    try:
        url = base_url.normalise(typed)
        if state.shared():      # what a name stands for is looked up when the run connects
            outside.refuse(url, state.settings(), resolve=outside.no_lookup)
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
    chosen = to_resume(run)
    if (chosen.source, chosen.name) == (run.source, run.connection):
        return chosen.problem
    same = " under the same address" if chosen.source == run.source else ""
    return f"Choose “{KINDS.get(run.source, run.source)}”{same} at the top right: it answered this run so far."


def to_resume(run: Run) -> Choice:
    """What would answer the run: what is chosen now; for a replay the run that it replays, whatever is chosen."""
    if run.source != "replay":
        return choice()
    found = replay.of(run)
    if found is None:
        return Choice("replay", run.connection, lambda: None, "The run that it replays is gone from the store.")
    return replace(to_replay(found, replay.speed()), name=run.connection)


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
        {"simulated": _simulated_form, "live": _live_form, "server": _server_form,
         "replay": replay.form}[now["kind"]](page)


def badge(source: str) -> None:
    """Where an answer came from."""
    st.badge({"server": "compatible server"}.get(source, source), color=COLOURS.get(source, "gray"))


def origin(runs: list[Run], key: str = "run") -> None:
    """Who wrote what a view shows of these runs, in one line; nothing where there are none."""
    if not runs:
        return
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small", key=f"{key}_origin"):
        badge(runs[0].source)
        if runs[0].origin:
            st.text(visible(replay.told(runs[0])), width="stretch")
        elif any(simulation.wrote(run) for run in runs):
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
    if (left := _owner_pays()) is not None:
        a_day = dollars(state.settings().key_budget)
        st.caption(fmt.escaped(f"This playground's owner pays up to {a_day} a day for you; {dollars(left)} left. "
                               "With a key of your own you pay yourself."))
    _key_field(page, "key", "API key", placeholder="sk-ant-…")
    st.caption("Real calls cost real money. The key is kept in this session's memory only.")
    _reuse_field(page)


def _server_form(page: str) -> None:
    if allowed := state.shared() and outside.offered(state.settings()):
        if _now()["base_url"] not in allowed:
            _now()["base_url"] = allowed[0]
        _remembered(st.selectbox, "Base URL", page, "base_url", options=list(allowed))
    else:
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
    _reuse_field(page)


def _reuse_field(page: str) -> None:
    label, what_it_does = REUSE
    _remembered(st.toggle, label, page, "reuse")
    st.caption(what_it_does)


def run_link(page: str) -> None:
    """Where several people use one server: a link that shows the run and hands over nothing else."""
    link = state.link_to_run() if state.shared() else ""
    if not link:
        return
    with st.popover("Link to this run", icon=":material/link:", key=f"{page}.link"):
        st.code(link, language=None, wrap_lines=True)
        st.caption("Whoever has this link sees the run and its answers, and nothing else of yours.")


def _key_field(page: str, name: str, label: str, **options: Any) -> None:
    """A key goes in and is never sent back to the browser."""
    if not _now()[name]:
        _remembered(st.text_input, label, page, name, type="password", **options)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("A key is set for this session.", width="stretch")
        st.button("Forget it", key=f"{page}.forget.{name}", on_click=_now().update, kwargs={name: ""})


def _now() -> dict[str, Any]:
    """What is chosen. A new session finds what is on the desk, unless that needs a key that was typed in another."""
    session = st.session_state
    if "connection" not in session:
        usual = {"kind": "simulated", "reuse": False, "base_url": state.settings().base_url}
        found = state.desk()["connection"]
        kept = {name: found[name] for name, value in usual.items() if type(found.get(name)) is type(value)}
        session["connection"] = {**usual, **kept, "key": "", "use_environment": False, "server_key": ""}
        if kept.get("kind", "") not in KINDS or choice().problem:
            session["connection"]["kind"] = "simulated"
    return session["connection"]


def _keep(name: str) -> None:
    """An address that is refused may hold a password: it stays in this session."""
    if name not in KEPT:
        return
    value = _now()[name]
    if name == "base_url" and _address()[1]:
        value = ""
    state.keep(connection={**state.desk()["connection"], name: value})


def _remembered(widget: Callable[..., Any], label: str, page: str, name: str, **options: Any) -> None:
    """A widget whose value outlives the page switch that would drop the widget's own state."""
    key, now = f"{page}.connection.{name}", _now()[name]

    def save() -> None:
        value = st.session_state[key]
        _now()[name] = value.strip() if isinstance(value, str) else value
        if name == "base_url":
            _now()["server_key"] = ""       # a key goes to the address it was entered for, to no other
        _keep(name)
    default = {"index": options["options"].index(now)} if "options" in options else {"value": now}
    widget(label, key=key, on_change=save, **default, **options)


def _key_of_environment() -> str:
    """The key the server was started with; never offered where several people use one server."""
    return "" if state.shared() else _environment()


def _owner_pays() -> float | None:
    """Dollars that the owner of a shared playground still pays for this visitor today; None where no key is offered."""
    return state.runs().key_left(state.desk_id()) if state.shared() and _environment() else None


def _environment() -> str:
    return os.environ.get("ANTHROPIC_API_KEY", "").strip()
