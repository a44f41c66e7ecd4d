"""What designs take in a run of the data on the desk. All of it is estimated.

The desk's newest run of each shape is asked again in the designs' words; where there is none, the forecast says it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import streamlit as st

from lib.design import Design
from lib.runs.for_what_if import exchanges
from lib.runs.store import Run
from lib.task.effect import Basis, Taken
from lib.ui import own_prices, state

MOST_CALLS = 2_000      # of a run that is asked again: all its requests are read and counted
SHAPE_OF = {"label": "pipeline", "merge": "pipeline", "summary": "pipeline", "agent": "agent"}


def of(designs: Sequence[Design], by_forecast: bool = False) -> Basis:
    """Of these designs, worked out together and remembered; `by_forecast`: as if there was no run."""
    key, runs = state_of(designs, by_forecast)
    found = _taken(*key, tuple(design.version for design in designs), runs, designs, state.data())
    return lambda design: found[design.version]


def state_of(designs: Sequence[Design], by_forecast: bool = False) -> tuple[tuple[str, ...], dict[str, Run]]:
    """What figures about these designs hang on beside them, to remember those by, and the runs that are asked again."""
    runs = {} if by_forecast else runs_asked_again()
    held = json.dumps([(shape, run.id, run.ended) for shape, run in runs.items()])
    prices = json.dumps(_prices(designs), sort_keys=True)
    return (str(state.settings().store), held, state.data().id, prices), runs


def runs_asked_again() -> dict[str, Run]:
    """Shape -> the desk's newest run of it on the data of the desk, of those that came to their end."""
    found = {shape: state.store().newest_done(shape, state.data().id, state.desk_id()) for shape in state.SHAPES}
    return {shape: run for shape, run in found.items()
            if run and state.design_of(run) and state.store().totals(run.id).calls <= MOST_CALLS}


def _prices(designs: Sequence[Design]) -> dict[str, Any]:
    """What the next run would keep, with the models of all these designs."""
    different = {frozenset(step.model for step in design.steps.values()): design for design in designs}
    found = [own_prices.upcoming(design) for design in different.values()]
    return {**found[0], "models": {name: row for each in found for name, row in each["models"].items()}}


@st.cache_resource(show_spinner=False, max_entries=64)
def _taken(path: str, held: str, data_id: str, prices: str, versions: tuple[str, ...], _runs: dict[str, Run],
           _designs: Sequence[Design], _data: state.Data) -> dict[str, dict[str, Taken]]:
    """Version -> step -> what its calls take."""
    from lib.task.effect import expected

    at = json.loads(prices)
    bases = [_asked_again(path, run.id, str(run.ended), prices, run) for run in _runs.values()]
    forecast = expected(_data.tickets, at) if len(_runs) < len(state.SHAPES) else lambda design: {}
    different = {design.version: design for design in _designs}
    return {version: _together(design, forecast, bases, _runs) for version, design in different.items()}


@state.held_until_deleted
@st.cache_resource(show_spinner=False, max_entries=4)
def _asked_again(path: str, run_id: str, ended: str, prices: str, _run: Run) -> Basis:
    """Holds the run's calls, so that an edit works out only what it touches."""
    from lib.task.effect import recorded

    return recorded(state.design_of(_run), exchanges(state.store(), run_id), json.loads(prices))


def _together(design: Design, forecast: Basis, bases: Sequence[Basis], runs: dict[str, Run]) -> dict[str, Taken]:
    told = {step: each for step, each in forecast(design).items() if SHAPE_OF[step] not in runs}
    asked = {step: each for basis in bases for step, each in basis(design).items() if step in SHAPE_OF}
    return told | asked
