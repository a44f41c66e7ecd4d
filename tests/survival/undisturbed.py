"""The sample's runs as they go when nothing happens, and what disturbed ones are held against: what each call asked."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import cycle, islice
from pathlib import Path

from lib.catalog import Catalog, open_catalog
from lib.client.connect import Connection, connect_server
from lib.design import Design
from lib.runs.job import Runs
from lib.runs.store import Run, Store
from lib.settings import ROOT, load
from lib.task.default_design import default_design
from lib.tickets import TicketSet, guess_columns, read_table, to_tickets
from tests.local_server import serve, simulated

SHAPES = ("pipeline", "agent")
Asked = Counter[tuple[str, str, bytes, bytes]]


def sample() -> tuple[TicketSet, Catalog]:
    folder = ROOT / "sample_data"
    table = read_table("tickets.csv", (folder / "tickets.csv").read_bytes())
    database = open_catalog([("product.db", (folder / "product.db").read_bytes())])
    return to_tickets(table, guess_columns(table)), database


def begin(store: Store, runs: Runs, connect: Callable[[], Connection], tickets: TicketSet, catalog: Catalog,
          shapes: Sequence[str] = SHAPES, design: Design | None = None, source: str = "server") -> list[Run]:
    """Runs that have just been started, with the default design if no other is given."""
    data_id = store.save_data(tickets.to_json(), catalog.to_bytes() if catalog.tables else None, tickets.name)
    return store.group(runs.start(design or default_design(), shapes, tickets, catalog, data_id, connect, source, "it"))


def wait_for(store: Store, started: Sequence[Run], seconds: float = 60.0) -> list[Run]:
    """The runs as they ended."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = [store.run(run.id) for run in started]
        if not any(run.status in ("queued", "running") for run in found):
            return found
        time.sleep(0.01)
    raise AssertionError(f"a run did not end within {seconds:g} seconds")


def asked(store: Path, run_id: str) -> Asked:
    """How often each request was answered in a run: by step, subject and content."""
    with closing(sqlite3.connect(store)) as db:
        rows = db.execute("""select step, subject, fields, coalesce(last, x'')
                             from call join exchange on call_id = call.id where run_id = ? and error = ''""", [run_id])
        return Counter(rows.fetchall())


def undisturbed_sample(folder: Path) -> dict[str, Asked]:
    """Shape → what its run of the sample asks with the default design."""
    store = Store(folder / "undisturbed.sqlite")
    with serve(script=simulated) as server:
        runs = begin(store, Runs(store), partial(connect_server, load({}), server.url), *sample())
        ended = wait_for(store, runs)
    assert [run.status for run in ended] == ["done", "done"]
    store.close()
    return {run.shape: asked(store.path, run.id) for run in ended}


def run_to_its_end(store: Path, url: str, shape: str, tickets: int) -> None:
    """For a process of its own, which may be killed at any moment: one run of so many tickets."""
    few, catalog = sample()
    opened = Store(store)
    wait_for(opened, begin(opened, Runs(opened), partial(connect_server, load({}), url), many(few, tickets), catalog,
                           [shape]))


def many(few: TicketSet, count: int) -> TicketSet:
    """`count` tickets: those few again and again, under ids of their own."""
    return TicketSet(few.name, tuple(replace(ticket, key=f"{ticket.key}-{n}", id=f"{ticket.id}-{n}")
                                     for n, ticket in enumerate(islice(cycle(few.tickets), count))))
