"""A run goes on whatever people do with their browser, and can be taken up again after a Stop and after a power cut.

What was sent is counted by the server that answers and what was kept by the store; both are held against an undisturbed
run. The server holds its answers back where a test needs a run that is surely under way.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from lib.runs.store import Run, Store
from tests.local_server import LocalServer, Received, Reply, simulated
from tests.playground import Server, serve
from tests.survival.soak import soak
from tests.survival.undisturbed import Asked, asked, undisturbed_sample, wait_for

GOING = re.compile(r"turn \d+ \(limit 60\)")
ANSWER = re.compile(r"^The agent sent .* the tokens of the pipeline")
BADGE = re.compile("Simulated|Compatible server")
STOP = '[class*="-stop-pipeline"], [class*="-stop-agent"]'      # not the one of Streamlit itself
CALLS = 46 + 45     # of the sample both ways


class HeldBack(LocalServer):
    """A server that answers as the simulation does; after `hold(free)` no more than `free` requests until `let_go`."""

    def __init__(self):
        super().__init__(simulated)
        self._free, self._open, self.holding = 0, threading.Event(), threading.Event()
        self.let_go()

    def hold(self, free: int) -> None:
        self.received.clear()
        self.holding.clear()
        self._free, self._open = free, threading.Event()

    def let_go(self) -> None:
        self._open.set()

    def answer(self, request: Received) -> Reply:
        reply, gate = super().answer(request), self._open
        if len(self.received) > self._free and not gate.is_set():
            self.holding.set()
            assert gate.wait(60)
        return reply

    def bodies(self) -> Asked:
        """How often each request came."""
        return Counter(json.dumps(request.body, sort_keys=True) for request in self.received)


@pytest.fixture(scope="module")
def server() -> Iterator[HeldBack]:
    server = HeldBack()
    threading.Thread(target=server.run, daemon=True).start()
    yield server
    server.close()


@pytest.fixture
def answering(server) -> Iterator[HeldBack]:
    yield server
    server.let_go()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> dict[str, Asked]:
    return undisturbed_sample(tmp_path_factory.mktemp("undisturbed"))


@pytest.fixture(scope="module")
def playground(tmp_path_factory, server) -> Iterator[tuple[str, Store]]:
    """Address and store of one playground for all tests that do not kill it."""
    folder = tmp_path_factory.mktemp("playground")
    with serve(folder, PLAYGROUND_BASE_URL=server.url) as address:
        store = Store(folder / "runs.sqlite")
        yield address, store
        store.close()


@pytest.fixture
def browser(chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context(viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(30_000)
    yield context
    for page in context.pages:
        assert page.get_by_test_id("stException").count() == 0
    context.close()


def press(page: Page, name: str | re.Pattern[str]) -> None:
    page.get_by_role("button", name=name).first.click(delay=60)


def go_to(page: Page, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).first.click(delay=60)


def use_server(page: Page, key: str = "") -> None:
    """Chooses the compatible server whose address the playground was started with."""
    choices = page.get_by_role("radiogroup", name="Who answers?")
    while not choices.is_visible():     # a click misses a badge that moves while the page is drawn
        press(page, BADGE)
        page.wait_for_timeout(300)
    choices.get_by_text("Compatible server", exact=True).click(delay=60)
    if key:
        field = page.get_by_label("Key, if it wants one")
        field.fill(key)
        field.press("Enter")
        expect(page.get_by_text("A key is set for this session.")).to_be_visible()
    else:
        expect(page.get_by_label("Base URL")).to_be_visible()
    page.keyboard.press("Escape")


def start_sample(page: Page, store: Store) -> list[Run]:
    before = {run.id for run in store.runs()}
    press(page, "Run the sample both ways")
    while len(started := [run for run in store.runs() if run.id not in before]) < 2:
        page.wait_for_timeout(50)
    return started


def expect_going(page: Page, store: Store, runs: list[Run]) -> None:
    """The page shows the runs at work, and they are."""
    expect(page.locator(STOP)).to_have_count(2)
    expect(page.get_by_text(GOING).first).to_be_visible()
    assert [store.run(run.id).status for run in runs] == ["running"] * len(runs)


def test_a_run_goes_on_through_refresh_pages_back_a_download_and_a_second_tab(
        browser, playground, answering, undisturbed):
    address, store = playground
    page = browser.new_page()
    page.goto(address)
    use_server(page)
    answering.hold(30)
    runs = start_sample(page, store)
    assert answering.holding.wait(20)

    page.reload()
    expect_going(page, store, runs)
    go_to(page, "Design")
    expect(page.get_by_label("Name of this design")).to_be_visible()
    go_to(page, "Run")
    expect_going(page, store, runs)
    page.go_back()
    expect(page.get_by_label("Name of this design")).to_be_visible()
    page.go_forward()
    expect_going(page, store, runs)
    press(page, "Export")
    with page.expect_download() as calls:
        page.get_by_role("button", name="CSV", exact=True).last.click(delay=60)
    assert calls.value.path().stat().st_size > 1_000
    page.keyboard.press("Escape")
    expect_going(page, store, runs)
    second = browser.new_page()
    second.goto(page.url)
    expect_going(second, store, runs)

    answering.let_go()
    for tab in (page, second):
        tab.get_by_role("tab", name="Answer").click(delay=60)
        expect(tab.get_by_text(ANSWER).first).to_be_visible()
    assert [run.status for run in wait_for(store, runs)] == ["done", "done"]
    assert {run.shape: asked(store.path, run.id) for run in runs} == undisturbed
    assert len(answering.received) == CALLS and set(answering.bodies().values()) == {1}


def test_stop_in_another_tab_sends_nothing_more_and_resume_pays_nothing_twice(
        browser, playground, answering, undisturbed):
    address, store = playground
    page = browser.new_page()
    page.goto(address)
    use_server(page)
    answering.hold(30)
    runs = start_sample(page, store)
    assert answering.holding.wait(20)
    second = browser.new_page()
    second.goto(page.url)
    for shape in ("pipeline", "agent"):
        second.locator(f'[class*="_head_{shape}"]').get_by_role("button", name="Stop").click(delay=60)
    expect(second.get_by_text("stopping …")).to_have_count(2)
    second.reload()
    sent = len(answering.received)

    answering.let_go()
    expect(second.get_by_role("button", name="Resume")).to_have_count(2)
    expect(page.get_by_role("button", name="Resume")).to_have_count(2)
    assert [run.status for run in wait_for(store, runs)] == ["stopped", "stopped"]
    assert len(answering.received) == sent == sum(asked(store.path, run.id).total() for run in runs) < CALLS

    press(page, "Resume")
    expect(page.get_by_role("button", name="Resume")).to_have_count(1)
    press(page, "Resume")
    expect(page.get_by_text(ANSWER).first).to_be_visible()
    assert [run.status for run in wait_for(store, runs)] == ["done", "done"]
    assert {run.shape: asked(store.path, run.id) for run in runs} == undisturbed
    assert len(answering.received) == CALLS and set(answering.bodies().values()) == {1}


def test_after_a_power_cut_the_open_tab_says_interrupted_and_resume_completes(browser, tmp_path, undisturbed):
    server = Server(tmp_path, PLAYGROUND_SPEED="3")
    server.start()
    try:
        page = browser.new_page()
        page.goto(server.address)
        store = Store(server.store)
        runs = start_sample(page, store)
        while not all(store.totals(run.id).calls for run in runs):
            page.wait_for_timeout(50)
        server.kill()
        finished = {run.id: store.calls(run.id) for run in runs}

        server.start(PLAYGROUND_SPEED="0")
        expect(page.get_by_text("interrupted").first).to_be_visible()
        expect(page.get_by_role("button", name="Resume")).to_have_count(2)
        press(page, "Resume")
        expect(page.get_by_role("button", name="Resume")).to_have_count(1)
        press(page, "Resume")
        expect(page.get_by_text(ANSWER).first).to_be_visible()
        assert [run.status for run in wait_for(store, runs)] == ["done", "done"]
        assert all(store.calls(run_id)[:len(calls)] == calls and calls for run_id, calls in finished.items())
        assert {run.shape: asked(store.path, run.id) for run in runs} == undisturbed
        store.close()
    finally:
        server.end()
    assert "Traceback" not in server.told(), server.told()


def test_in_a_shared_playground_each_browser_has_a_desk_runs_and_a_key_of_its_own(chromium, tmp_path, answering):
    environment = {"PLAYGROUND_SHARED": "1", "PLAYGROUND_BASE_URL": answering.url}
    with serve(tmp_path, **environment) as address, open_page(chromium) as one, open_page(chromium) as other:
        store = Store(tmp_path / "runs.sqlite")
        one.goto(address)
        use_server(one, "key-of-one")
        answering.hold(30)
        runs = start_sample(one, store)
        assert answering.holding.wait(20)
        one.reload()
        expect_going(one, store, runs)

        other.goto(one.url)
        expect(other.get_by_text(GOING).first).to_be_visible()
        assert other.locator(STOP).count() == 0
        answering.let_go()
        for page in (one, other):
            expect(page.get_by_text(ANSWER).first).to_be_visible()
        assert keys_sent_to(answering) == Counter({"key-of-one": CALLS})

        use_server(other, "key-of-other")
        answering.received.clear()
        wait_for(store, start_sample(other, store))
        assert keys_sent_to(answering) == Counter({"key-of-other": CALLS})
        for page in (one, other):
            page.goto(address)
            expect(page.locator('[class*="st-key-start_recent_"]')).to_have_count(1)
            assert "desk" not in page.url
        first, second = [next(cookie for cookie in page.context.cookies() if cookie["name"].startswith("playground_"))
                         for page in (one, other)]
        assert first["value"] != second["value"] and first["sameSite"] == "Strict"
        assert {run.desk for run in store.runs()} == {first["value"], second["value"]}
        store.close()


def test_two_tabs_that_open_at_once_in_a_new_browser_share_a_desk(browser, tmp_path):
    with (serve(tmp_path, PLAYGROUND_SHARED="1", PLAYGROUND_SPEED="0") as address,
          closing(Store(tmp_path / "runs.sqlite")) as store):
        tabs = [browser.new_page(), browser.new_page()]
        for tab in tabs:
            tab.goto(address, wait_until="commit")
        for tab in tabs:
            expect(tab.get_by_role("button", name="Run the sample both ways")).to_be_visible()
            tab.wait_for_timeout(2_000)
        for tab in tabs:
            begun = len(store.runs())
            press(tab, "Run the sample both ways")
            expect(tab).to_have_url(re.compile("run="))
            wait_for(store, store.runs())
            assert len(store.runs()) == begun + 2
            tab.wait_for_timeout(2_000)     # within two seconds the same again is a double click
        [cookie] = [found for found in browser.cookies() if found["name"].startswith("playground_")]
        assert {run.desk for run in store.runs()} == {cookie["value"]}


def test_five_sessions_watch_two_runs_of_sixteen_workers_while_somebody_works(browser, tmp_path):
    with serve(tmp_path, PLAYGROUND_SPEED="8") as address, closing(Store(tmp_path / "runs.sqlite")) as store:
        soaked = soak(browser.new_page(), address, store, runs=2, sessions=5, tickets=60)
    assert soaked.wrong == []


@contextmanager
def open_page(chromium: Browser) -> Iterator[Page]:
    """A page of a browser that has been nowhere yet."""
    context = chromium.new_context(viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(30_000)
    page = context.new_page()
    yield page
    assert page.get_by_test_id("stException").count() == 0
    context.close()


def keys_sent_to(server: HeldBack) -> Counter[str]:
    return Counter(request.headers["authorization"].removeprefix("Bearer ") for request in server.received)
