"""Whole runs with prompt caching on, as the app makes them: schedule, cost and resume on the simulation's own time."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from lib.catalog import empty_catalog
from lib.client.connect import connect_simulated
from lib.client.layers import layered
from lib.client.ledger import ledger
from lib.client.reuse import reuse
from lib.client.stop import stoppable
from lib.client.timeline import SimulatedTime
from lib.errors import Stopped
from lib.runs.store import Run, Store
from lib.settings import load
from lib.task import SHAPES, prompts
from lib.task.default_design import default_design
from lib.task.forecast import forecast
from lib.tickets import Ticket, TicketSet
from lib.usage.prices import cost, prices_for

BODIES = ("You charged my card twice for one booking.", "All bookings in the calendar are off by one hour.",
          "The export stops after a hundred rows.", "Your emails land in the spam folder of our clients.",
          "Single sign-on sends us back to the login page.", "The app closes itself when I open a photo.",
          "The password reset mail never arrives.", "The invoice lacks our VAT number.")
TICKETS = TicketSet("thirty", tuple(
    Ticket(f"T-{n}", f"T-{n}", "Please help", BODIES[n % 8] + f" This is case {n} of ours." * 25, "C-1", "P-1", "")
    for n in range(30)))
LONG = prompts.LABEL + "\n\n" + "Look at the product, the plan and the dates before you judge. " * 30
SYSTEM = replace(default_design().with_step("label", system=LONG), caching="system")
AUTO = replace(default_design(), caching="auto-5m")


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "runs.sqlite")
    opened.add_run(Run("r", "g", "pipeline", "running", "simulated", "", {}, "d", 0.0))
    yield opened
    opened.close()


def run(shape, design, store, stop=None, stop_after=10**9):
    """The calls that one more working of the run adds to the store."""
    before, stop = store.last_call("r"), stop or threading.Event()
    connection = connect_simulated(load({}), speed=0)

    def stopping(call, call_next):
        reply = call_next(call)
        if len(store.calls("r")) >= stop_after:
            stop.set()
        return reply

    timeline = SimulatedTime(connection.clock.now())
    prices = prices_for(["claude-haiku-5-5"])
    client = layered(connection.client, stoppable(stop), reuse(store, "r"), stopping,
                     ledger(store, "r", timeline, lambda model, **t: cost(prices, model, *t.values())))
    try:
        SHAPES[shape](client, design, TICKETS, empty_catalog())
    except Stopped:
        pass
    return store.calls("r", after=before)


def labels(calls):
    return sorted((c for c in calls if c.step == "label"), key=lambda c: c.started)


def test_the_first_label_writes_and_all_others_begin_after_it_and_read(store):
    first, *others = labels(run("pipeline", SYSTEM, store))
    assert first.write_5m > 512 and first.cache_read == 0 and len(others) == 29
    assert {(c.write_5m, c.cache_read) for c in others} == {(0, first.write_5m)}
    assert min(c.started for c in others) >= first.started + first.seconds


def test_the_default_label_prompt_is_too_short_to_be_cached(store):
    calls = run("pipeline", replace(default_design(), caching="system"), store)
    assert {(c.write_5m, c.cache_read) for c in labels(calls)} == {(0, 0)}


def test_a_marked_ticket_is_written_and_never_read(store):
    calls = labels(run("pipeline", AUTO, store))
    assert all(c.write_5m == c.input and c.cache_read == 0 for c in calls)


@pytest.mark.parametrize(("shape", "design"), [("agent", AUTO), ("agent", replace(AUTO, caching="auto-1h")),
                                               ("agent", SYSTEM), ("pipeline", AUTO), ("pipeline", SYSTEM)])
def test_the_forecast_of_a_cached_run_was_right_within_a_third(shape, design, store):
    paid = sum(c.usd for c in run(shape, design, store))
    assert abs(forecast(design, TICKETS)[shape].usd / paid - 1) < 0.34


def test_a_resumed_run_sends_its_first_new_call_alone(store):
    stopped = run("pipeline", SYSTEM, store, stop_after=5)
    assert 5 <= len(stopped) < 30
    first, *others = labels(run("pipeline", SYSTEM, store))
    assert len(stopped) + 1 + len(others) == 30
    assert first.write_5m > 512 and all(c.cache_read == first.write_5m for c in others)
