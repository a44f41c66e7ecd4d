"""Many sessions watch runs at full work while one person goes on working: small as a test, large as a benchmark."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from playwright.sync_api import Page, expect

from lib.client.connect import connect_simulated
from lib.runs.job import Runs
from lib.runs.store import Run, Store
from lib.settings import load
from lib.task.default_design import default_design
from lib.tickets import TicketSet
from tests.survival.undisturbed import Asked, asked, begin, many, sample, wait_for
from tests.survival.watching import Watcher

WORKERS = 16
MOST_SECONDS = 180.0        # of a whole soak


@dataclass(frozen=True)
class Soaked:
    """What came of it. `interactions` are seconds from a click to what it brings, once all sessions are there; in the
    first the browser also loads what draws a table."""

    arrived: float          # seconds from the first run's start until every session has its page
    interactions: list[float]
    scripts: int            # that the watching sessions had run
    seconds: float          # from the first run's start to the last one's end
    wrong: list[str]


def soak(page: Page, address: str, store: Store, runs: int, sessions: int, tickets: int) -> Soaked:
    """Starts runs of so many tickets from desks of their own and has each watched by its share of the sessions."""
    data, data_id = keep_sample(store, tickets)
    began = time.monotonic()
    started = [start(page, address, store, f"soak-{n}", data_id, WORKERS) for n in range(runs)]
    watchers = [Watcher(address, started[n % runs].group) for n in range(sessions)]
    with ThreadPoolExecutor(sessions) as pool:
        watching = [pool.submit(watcher.watch, MOST_SECONDS) for watcher in watchers]
        arrived = all(watcher.has_page.wait(MOST_SECONDS) for watcher in watchers) and time.monotonic() - began
        interactions = list(_work(page, store, started))
        ended = wait_for(store, started, MOST_SECONDS)
        seconds = time.monotonic() - began
        trouble = [str(error) for job in watching if (error := job.exception())]
    wrong = trouble + [text for watcher in watchers for text in watcher.exceptions]
    wrong += _wrong_rows(store, ended, undisturbed(store.path.parent, data, WORKERS))
    return Soaked(arrived, interactions, sum(watcher.scripts for watcher in watchers), seconds, wrong)


def keep_sample(store: Store, tickets: int) -> tuple[TicketSet, str]:
    """So many tickets of the sample, and the id they are kept under."""
    few, catalog = sample()
    data = many(few, tickets)
    return data, store.save_data(data.to_json(), catalog.to_bytes(), data.name)


def start(page: Page, address: str, store: Store, desk: str, data_id: str, workers: int) -> Run:
    """A pipeline that was just started from a desk of its own; the page is on it."""
    store.save_desk(desk, {"data_id": data_id, "shapes": ["pipeline"], "drafts": {"workers": workers}})
    page.goto(f"{address}/run?desk={desk}")
    page.locator(".st-key-run-start button:enabled").click(delay=60)
    expect(page.locator(".st-key-run-stop-pipeline")).to_be_visible()
    return store.runs(desk)[0]


def _work(page: Page, store: Store, runs: list[Run]) -> Iterator[float]:
    """What a person does meanwhile, for as long as any run is at work: looks at the calls, and elsewhere."""
    calls = page.get_by_role("tabpanel").get_by_test_id("stDataFrame")
    while not store.calls(runs[-1].id):
        page.wait_for_timeout(50)
    while any(store.run(run.id).status in ("queued", "running") for run in runs):
        for tab, shown in (("Calls", True), ("Checks", False)):
            began = time.monotonic()
            page.get_by_role("tab", name=tab).click()
            expect(calls.first).to_be_visible(visible=shown)
            yield time.monotonic() - began
            page.wait_for_timeout(300)


def undisturbed(folder: Path, tickets: TicketSet, workers: int) -> Asked:
    """What one of these runs asks when it is alone and goes to its end."""
    store = Store(folder / "undisturbed.sqlite")
    design = replace(default_design(), workers=workers)
    [run] = begin(store, Runs(store), partial(connect_simulated, load({}), 0), tickets, sample()[1], ["pipeline"],
                  design, "simulated")
    assert wait_for(store, [run], MOST_SECONDS)[0].status == "done"
    store.close()
    return asked(store.path, run.id)


def _wrong_rows(store: Store, runs: list[Run], expected: Asked) -> Iterator[str]:
    for run in runs:
        found, totals = asked(store.path, run.id), store.totals(run.id)
        if run.status != "done":
            yield f"a run is {run.status}: {run.error}"
        if found != expected:
            yield f"{(expected - found).total()} calls are missing and {(found - expected).total()} too many"
        if totals.errors or totals.calls != expected.total():
            yield f"{totals.errors} calls failed, {totals.calls} were made instead of {expected.total()}"
