"""A run over a server that simulates its answers is marked as such, though its source is a compatible server."""

from __future__ import annotations

import threading

import pytest

from lib.catalog import empty_catalog
from lib.client.connect import connect_server
from lib.runs.job import SIMULATED_ANSWERS, Runs
from lib.runs.store import Store
from lib.settings import load
from lib.simulated.server import SimulatedServer
from lib.task.default_design import default_design
from lib.tickets import Ticket, TicketSet
from tests import local_server
from tests.runs.test_job import wait_for_end

TICKETS = TicketSet("two", tuple(Ticket(f"T-{n}", f"T-{n}", "Card", "I was charged twice for one booking.")
                                 for n in range(2)))


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "runs.sqlite")
    yield opened
    opened.close()


def conditions_of_a_run(store, url):
    """Of a run to its end over the server at `url`."""
    runs = Runs(store)
    group = runs.start(default_design(), ["pipeline"], TICKETS, empty_catalog(), "d",
                       lambda made=0: connect_server(load({}), url, "any"), "server", url)
    run, = store.group(group)
    wait_for_end(runs, store, group)
    return store.run(run.id).conditions


def test_the_row_of_a_run_says_that_the_server_simulates(store):
    server = SimulatedServer(speed=0)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        assert conditions_of_a_run(store, server.url) == SIMULATED_ANSWERS
    finally:
        server.shutdown()
        server.server_close()


def test_another_server_is_not_marked(store):
    with local_server.serve(script=local_server.simulated) as server:
        assert conditions_of_a_run(store, server.url) == ""


def test_a_run_that_takes_those_answers_again_is_marked_too(store):
    server, runs = SimulatedServer(speed=0), Runs(store)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        for _ in range(2):
            group = runs.start(default_design(), ["pipeline"], TICKETS, empty_catalog(), "d",
                               lambda made=0: connect_server(load({}), server.url, "any"), "server", server.url,
                               reuse_replies=True)
            [run] = wait_for_end(runs, store, group)
    finally:
        server.shutdown()
        server.server_close()
    assert store.totals(run.id).cached == store.totals(run.id).calls > 0 and run.conditions == SIMULATED_ANSWERS
