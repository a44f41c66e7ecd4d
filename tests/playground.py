"""A playground in a process of its own, and the machine's own Chromium to visit it. Nothing may leave this machine."""

from __future__ import annotations

import os
import shutil
import socket
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.context import BaseContext
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.forked import APART, run_app

ROOT = Path(__file__).resolve().parent.parent
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
SPEED = "40"        # simulated seconds per real one: slow enough to see a run while it works, and to stop it
WATCHED = pytest.mark.parametrize("speed", [SPEED])


@contextmanager
def open_chromium() -> Iterator[Browser]:
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not path:
        pytest.fail("No Chromium found: install it (Debian: apt-get install chromium) or set CHROMIUM to its path.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield browser
        browser.close()


@contextmanager
def serve(folder: Path, apart: BaseContext = APART, **environment: str) -> Iterator[str]:
    """The address of a playground that was just started, as soon as it answers; its store and log are in `folder`.

    What the server says must hold no traceback."""
    server = Server(folder, apart, **environment)
    try:
        server.start()
        yield server.address
    finally:
        server.end()
    told = server.told().partition("Stopping...")[0]     # what follows is Streamlit's own, cutting its connections
    assert "Traceback" not in told, told


class Server:
    """A playground in a process of its own, that may be killed and started again at the same address."""

    def __init__(self, folder: Path, apart: BaseContext = APART, **environment: str):
        self._apart = apart
        self.store = folder / "runs.sqlite"
        self._log = folder / "server.log"
        self._port = _free_port()
        self.address = f"http://localhost:{self._port}"
        self._environment = {name: value for name, value in os.environ.items()
                             if not name.startswith(("ANTHROPIC_", "PLAYGROUND_"))}
        self._environment |= {"PLAYGROUND_STORE": str(self.store), "PLAYGROUND_SPEED": SPEED} | environment

    def start(self, **environment: str) -> None:
        self._environment |= environment
        self._process = self._apart.Process(target=run_app, args=(ROOT, self._port, self._environment, self._log))
        self._process.start()
        _wait_until_it_answers(f"{self.address}/_stcore/health", self._process.is_alive)

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        """As a power cut does: nothing can be tidied up."""
        self._process.kill()
        self._process.join(20)

    def end(self) -> None:
        self._process.terminate()
        self._process.join(20)

    def told(self) -> str:
        return self._log.read_text()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_until_it_answers(url: str, is_alive: Callable[[], bool]) -> None:
    for _ in range(600):
        try:
            if urllib.request.urlopen(url, timeout=1).status == 200:
                return
        except OSError:
            assert is_alive(), "the server ended before it answered"
            time.sleep(0.05)
    raise AssertionError("the server did not answer within 30 seconds")
