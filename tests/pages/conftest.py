"""Every page test has a store of its own, waits for nothing, and enters through app.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit import config
from streamlit.testing.v1 import AppTest

from lib.ui import state

ROOT = Path(__file__).resolve().parent.parent.parent
TIMEOUT = 30        # seconds; a cold first run imports pandas and altair


@pytest.fixture(autouse=True)
def playground(tmp_path, monkeypatch):
    """The settings of a playground that nobody else uses."""
    monkeypatch.setenv("PLAYGROUND_STORE", str(tmp_path / "runs.sqlite"))
    monkeypatch.setenv("PLAYGROUND_SPEED", "0")
    for name in ("PLAYGROUND_SHARED", "PLAYGROUND_BASE_URL", "PLAYGROUND_CONFIRM_ABOVE", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(ROOT)
    config.set_option("client.showErrorDetails", "full")
    config.set_option("server.address", "localhost")


@pytest.fixture
def store(playground):
    """The store of a server that is up: what tests add as running counts as running."""
    state.runs()
    return state.store()


@pytest.fixture
def sample(playground):
    return state.sample()


@pytest.fixture
def visit():
    """visit("run", group="g1") -> the page as a visitor with the run's link sees it."""
    def open_page(page: str, group: str = "", **params: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=TIMEOUT)
        for name, value in ({"run": group} if group else {}).items() | params.items():
            app.query_params[name] = value
        if page != "start":
            app.switch_page(f"pages/{page}.py")
        return app.run()
    return open_page
