"""The models in one table, with what they cost and take; all steps' models at one click; what a local server has."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from lib.design import Design
from lib.errors import PlaygroundError
from lib.models import MODELS, TOKEN_FACTOR, Model, model
from lib.task.default_design import STEPS
from lib.tickets.visible import visible
from lib.ui import connection, drafts, own_prices, state
from lib.usage.prices import prices_for

SMALL, LARGE = "claude-haiku-5-5", "claude-opus-5-5"
PRESETS: dict[str, dict[str, str]] = {      # its name -> the model of each step
    "All small": dict.fromkeys(STEPS, SMALL),
    "Small map, large synthesis": {**dict.fromkeys(STEPS, LARGE), "label": SMALL},
    "All large": dict.fromkeys(STEPS, LARGE),
}
HELP = {
    "All small": f"{MODELS[SMALL].name} in every step.",
    "Small map, large synthesis": f"{MODELS[SMALL].name} labels, one call per ticket. {MODELS[LARGE].name} merges, "
                                  "summarises, and is the agent: whatever it reads, it does so to conclude.",
    "All large": f"{MODELS[LARGE].name} in every step.",
}


def models(page: str) -> None:
    """Who does what, at one click; below it the table to choose from."""
    _of_server(page) if connection.choice().source == "server" else _presets(page)
    with st.expander("Models: prices and limits", icon=":material/table_chart:", key=f"{page}_models"):
        st.dataframe(rows(state.design()[0]), hide_index=True, key=f"{page}.models", height="content",
                     placeholder="–", column_config=_columns(), alt="What each model costs and takes")
        st.caption("Dollars per million tokens: list prices, or yours where you set some. A newer tokenizer counts the "
                   f"same text as ≈ {100 * _more_tokens():.0f} % more tokens. A request that names no effort gets the "
                   "model's own, the one in brackets.")


def server_models() -> list[str]:
    """What the compatible server that is chosen listed in this session; [] before it was asked."""
    address, found = st.session_state.get("_server_models", ("", []))
    chosen = connection.choice()
    return found if chosen.source == "server" and chosen.name == address else []


# --- presets ---------------------------------------------------------------------------------------------------------


def _presets(page: str) -> None:
    now = state.design()[0]
    with st.container(horizontal=True, vertical_alignment="center"):
        for number, (name, chosen) in enumerate(PRESETS.items()):
            there = all(now.steps[step].model == model_id for step, model_id in chosen.items())
            st.button(name, key=f"{page}.preset.{number}", icon=":material/check:" if there else None, disabled=there,
                      on_click=_use, args=(chosen,), help=HELP[name])


@state.told
def _use(chosen: Mapping[str, str]) -> None:
    """An effort that the new model lacks goes back to the model's own."""
    state.look_again()
    now, base, changes = state.design()[0], state.base(), {}
    for step, model_id in chosen.items():
        wanted = {"model": model_id}
        if now.steps[step].effort not in ("", *model(model_id).efforts):
            wanted["effort"] = ""
        for part, value in wanted.items():
            field = f"steps.{step}.{part}"
            changes[field] = None if value == drafts.value_of(base, field) else value
    state.keep_drafts(changes)


# --- the models of a server ------------------------------------------------------------------------------------------


def _of_server(page: str) -> None:
    """Asked only when the button is pressed: an address that is typed is no order to call it."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if st.button("List the server's models", key=f"{page}.list_models", icon=":material/refresh:",
                     disabled=bool(connection.choice().problem)):
            st.session_state["_server_models"] = _listed()
        if found := server_models():
            chosen = st.selectbox("Model of the server", found, key=f"{page}.server_model", width=320,
                                  format_func=visible)
            st.button("Use it in every step", key=f"{page}.use_server_model", on_click=_use,
                      args=(dict.fromkeys(STEPS, chosen),))
    if problem := connection.choice().problem:
        st.text(problem)
    if reason := st.session_state.pop("_server_models_trouble", ""):
        st.text(visible(f"✕ {reason}"))


def _listed() -> tuple[str, list[str]]:
    try:
        with st.spinner("Asking …"):
            return connection.choice().name, connection.models_of_server()
    except PlaygroundError as reason:
        st.session_state["_server_models_trouble"] = str(reason)
        return "", []


# --- the table -------------------------------------------------------------------------------------------------------


def rows(design: Design) -> list[dict[str, Any]]:
    """A row per model: the known ones, then those of the design and of the server that are in no list."""
    used: dict[str, list[str]] = {}
    for name, step in design.steps.items():
        used.setdefault(step.model, []).append(name)
    others = [model_id for model_id in dict.fromkeys([*used, *server_models()]) if model_id not in MODELS]
    prices = {**_list_prices(datetime.now(UTC).date().isoformat()), **own_prices.upcoming(design)["models"]}
    return [_row(model(model_id), prices.get(model_id, {}), used.get(model_id, [])) for model_id in [*MODELS, *others]]


@st.cache_resource(show_spinner=False, max_entries=4)
def _list_prices(day: str) -> dict[str, Any]:
    return prices_for(MODELS)["models"]


def _row(known: Model, price: Mapping[str, Any], steps: list[str]) -> dict[str, Any]:
    row = {"model": visible(known.name), "size": known.size, "used for": ", ".join(steps) or None,
           "in": price.get("input"), "out": price.get("output")}
    if not known.listed:
        return {**row, **dict.fromkeys(("context", "longest reply", "tokenizer", "thinking", "effort"))}
    newer = known.tokenizer != min(TOKEN_FACTOR)
    return {**row, "context": known.window, "longest reply": known.max_output,
            "tokenizer": "newer" if newer else "older",
            "thinking": ("on" if known.thinks else "off") + (", can be changed" if len(known.thinking) > 1 else ""),
            "effort": _efforts(known)}


def _efforts(known: Model) -> str:
    """"low (medium) high xhigh max": the levels, the model's own in brackets; "none"."""
    return " ".join(f"({level})" if level == known.effort else level for level in known.efforts) or "none"


def _columns() -> dict[str, Any]:
    column = st.column_config
    dollars = {name: column.NumberColumn(f"$/M {name}", format="$%.4g", width=72) for name in ("in", "out")}
    tokens = {name: column.NumberColumn(name, format="localized", width=105) for name in ("context", "longest reply")}
    return {**dollars, **tokens, "model": column.TextColumn("model", width=108, pinned=True),
            "size": column.TextColumn("size", width=80), "used for": column.TextColumn("used for", width=152),
            "tokenizer": column.TextColumn("tokenizer", width=80), "thinking": column.TextColumn("thinking", width=132),
            "effort": column.TextColumn("effort", width=210)}


def _more_tokens() -> float:
    return max(TOKEN_FACTOR.values()) / min(TOKEN_FACTOR.values()) - 1
