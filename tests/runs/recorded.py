"""Runs that ended, to be recorded and replayed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from lib.catalog import Catalog, empty_catalog
from lib.client.connect import connect_replay, connect_simulated
from lib.design import Design
from lib.runs.job import Runs
from lib.runs.store import CallRow, Run, Store
from lib.settings import load
from lib.simulated.conditions import Conditions
from lib.task.default_design import default_design
from lib.tickets import TicketSet
from tests import sets

BOTH = ("pipeline", "agent")


def ended(store: Store, data: tuple[TicketSet, Catalog], design: Design | None = None, shapes: Sequence[str] = BOTH,
          conditions: Conditions | None = None, connect: Callable[[], Any] | None = None) -> list[Run]:
    """The runs of a group after their end; over the simulation unless another `connect` is given."""
    tickets, catalog = data
    data_id = store.save_data(tickets.to_json(), catalog.to_bytes() if catalog.tables else None, tickets.name)
    runs = Runs(store)
    group = runs.start(design or default_design(), shapes, tickets, catalog, data_id,
                       connect or (lambda: connect_simulated(load({}), 0, conditions=conditions)),
                       "simulated" if connect is None else "replay", "Simulated Messages API", desk="a desk")
    return after_end(runs, store, group)


def after_end(runs: Runs, store: Store, group: str) -> list[Run]:
    for _ in range(6000):
        if not any(runs.active(run.id) for run in store.group(group)):
            return store.group(group)
        time.sleep(0.01)
    raise AssertionError("the runs did not end within a minute")


def replayed(store: Store, runs: Sequence[Run], design: Design | None = None, speed: float = 0,
             going_on: Sequence[str] = (), data: tuple[TicketSet, Catalog] | None = None) -> list[Run]:
    """The runs after a replay of these, with their data and design unless others are given."""
    return ended(store, data or data_of(store, runs[0]), design or Design.from_dict(runs[0].design),
                 [run.shape for run in runs],
                 connect=lambda: connect_replay(store, [run.id for run in runs], speed, load({}), going_on))


def data_of(store: Store, run: Run) -> tuple[TicketSet, Catalog]:
    tickets, catalog = store.load_data(run.data_id)
    return TicketSet.from_json(tickets), Catalog.from_bytes(catalog) if catalog else empty_catalog()


def sample(name: str) -> tuple[TicketSet, Catalog]:
    return sets.tickets(name), sets.catalog(name)


def told(row: CallRow) -> dict[str, Any]:
    """All of a call but its ids."""
    return {name: value for name, value in vars(row).items() if name not in ("id", "run_id")}
