"""Begins runs, unless something stands in the way. Several groups may be at work at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from lib.design import Design
from lib.errors import StoreError
from lib.runs.store import Run, Wanted
from lib.ui import connection, editors, own_prices, replay, state
from lib.ui.drafts import Problem

DOUBLE_CLICK = 2.0      # seconds in which the same again is no second wish


@state.told
def start(shapes: Sequence[str], data: Callable[[], state.Data]) -> None:
    """Looks once more before anything is sent: a second click or an older tab shows a button that no longer holds."""
    state.look_again()
    chosen = data()
    if may_start(shapes, chosen, editors.problems()) and not _just_started(shapes, chosen):
        design = state.design()[0]
        state.start_runs(design, list(shapes), connection.choice(), chosen, own_prices.of_next(design))


def may_start(shapes: Sequence[str], data: state.Data, problems: list[Problem]) -> bool:
    return bool(shapes and len(data.tickets)) and not (problems or connection.choice().problem)


def start_replay(recorded: replay.Recorded, speed: float) -> None:
    """Begins a new run per shape with the design and data of these runs, answered by their recorded replies. The desk
    points at it from then on. Raises DesignError for runs of another version, StoreError when their data are gone."""
    newest = state.listed(Wanted(source="replay"), 1)
    if newest and _just_now(newest[0].run):
        return
    first = recorded.runs[0]
    data = state.stored_data(first.data_id)
    if data is None:
        raise StoreError("Its data are gone from the store, so it cannot be replayed.")
    state.start_runs(Design.from_dict(first.design), [run.shape for run in recorded.runs],
                     connection.to_replay(recorded, speed), data, {})


def _just_now(run: Run) -> bool:
    """A double click is no wish for two."""
    return time.time() - run.created < DOUBLE_CLICK


def _just_started(shapes: Sequence[str], data: state.Data) -> bool:
    """Whether this desk began the very same a moment ago."""
    found = state.store().runs(desk=state.desk_id(), limit=1)
    if not found or not _just_now(found[0]):
        return False
    newest, answers = found[0], connection.choice()
    return ({run.shape for run in state.store().group(newest.group)} == set(shapes) and newest.data_id == data.id
            and (newest.source, newest.connection) == (answers.source, answers.name)
            and state.version_of(newest) == state.design()[0].version)
