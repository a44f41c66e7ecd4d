"""Begins runs, unless something stands in the way. Several groups may be at work at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from lib.ui import connection, editors, own_prices, state
from lib.ui.drafts import Problem

DOUBLE_CLICK = 2.0      # seconds in which the same again is no second wish


@state.told
def start(shapes: Sequence[str], data: Callable[[], state.Data]) -> None:
    """Looks once more before anything is sent: a second click or an older tab shows a button that no longer holds."""
    state.look_again()
    chosen = data()
    if may_start(shapes, chosen, editors.problems()) and not _just_started(shapes, chosen):
        state.start_runs(list(shapes), connection.choice(), chosen, own_prices.of_next(state.design()[0]))


def may_start(shapes: Sequence[str], data: state.Data, problems: list[Problem]) -> bool:
    return bool(shapes and len(data.tickets)) and not (problems or connection.choice().problem)


def _just_started(shapes: Sequence[str], data: state.Data) -> bool:
    """Whether this desk began the very same a moment ago."""
    found = state.store().runs(desk=state.desk_id(), limit=1)
    if not found or time.time() - found[0].created > DOUBLE_CLICK:
        return False
    newest, answers = found[0], connection.choice()
    return ({run.shape for run in state.store().group(newest.group)} == set(shapes) and newest.data_id == data.id
            and (newest.source, newest.connection) == (answers.source, answers.name)
            and state.version_of(newest) == state.design()[0].version)
