"""A playground served to a real Chromium, each test with a store of its own."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.playground import serve

expect.set_options(timeout=20_000)      # milliseconds: other tests may keep the machine busy


@pytest.fixture
def speed() -> str:
    """Simulated seconds per real one; 0: no waits. A test that watches a run or stops it asks for others: WATCHED."""
    return "0"


@pytest.fixture
def address(tmp_path, speed):
    with serve(tmp_path, PLAYGROUND_SPEED=speed) as started:
        yield started


@pytest.fixture
def page(chromium, address):
    """An open start page. The test fails if the page asks any other machine for anything, or shows an exception."""
    context = chromium.new_context(viewport={"width": 1400, "height": 1000})
    opened: Page = context.new_page()
    opened.set_default_timeout(30_000)
    strangers: list[str] = []
    opened.on("request", lambda request: strangers.append(request.url)
              if urlsplit(request.url).hostname not in (None, "localhost", "127.0.0.1") else None)
    opened.goto(address)
    yield opened
    assert opened.get_by_test_id("stException").count() == 0
    context.close()
    assert strangers == []
