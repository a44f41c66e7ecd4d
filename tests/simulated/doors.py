"""Both doors of the simulated API, so that one test can be run through each of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anthropic
import httpx2

from lib.simulated.conditions import Conditions
from lib.simulated.room import Room
from lib.simulated.server import SimulatedServer
from lib.simulated.transport import SimulatedTransport

SPEED = 10_000      # simulated seconds a second: what little is waited for does not show


class FakeClock:
    """Time that only passes when somebody sleeps."""

    def __init__(self) -> None:
        self.slept = 0.0

    def now(self) -> float:
        return self.slept

    def sleep(self, seconds: float) -> None:
        self.slept += seconds


class Door:
    """`sdk` to call the API with, `http` to send it anything. Time stands still between calls unless it is moved on."""

    sdk: anthropic.Anthropic
    http: httpx2.Client
    room: Room

    def open_room(self, conditions: Conditions | None = None) -> None:
        """A room in which nothing has happened yet."""
        raise NotImplementedError

    def pass_time(self, seconds: float) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    def client(self, key: str | None = "any", **more: Any) -> anthropic.Anthropic:
        return anthropic.Anthropic(api_key=key, base_url=str(self.http.base_url), max_retries=0,
                                   http_client=self.http, **more)

    def post(self, path: str, body: Any, **options: Any) -> Any:
        """Any JSON body through the SDK, which raises the error that belongs to the reply."""
        return self.sdk.post(path, body=body, cast_to=dict[str, Any], options=options)


class _Switch(httpx2.BaseTransport):
    """Passes requests on to whichever transport is open now."""

    to: SimulatedTransport

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        return self.to.handle_request(request)


class InProcess(Door):
    def __init__(self) -> None:
        self._time = 1_000_000.0
        self._switch = _Switch()
        self.http = httpx2.Client(base_url="http://simulated", transport=self._switch)
        self.open_room()
        self.sdk = self.client()

    def open_room(self, conditions: Conditions | None = None) -> None:
        self.room = Room(self.now, conditions)
        self._switch.to = SimulatedTransport(self, self.room)

    def pass_time(self, seconds: float) -> None:
        self._time += seconds

    def now(self) -> float:
        return self._time

    def sleep(self, seconds: float) -> None:
        """A call takes no time here."""

    def close(self) -> None:
        self.http.close()


class OverHttp(Door):
    def __init__(self) -> None:
        self._moved = 0.0
        self._server = SimulatedServer(speed=SPEED, monotonic=lambda: self._moved)
        threading.Thread(target=lambda: self._server.serve_forever(poll_interval=0.01), daemon=True).start()
        self.http = httpx2.Client(base_url=self._server.url, timeout=30)
        self.open_room()
        self.sdk = self.client()

    def open_room(self, conditions: Conditions | None = None) -> None:
        self.room = self._server.room = Room(self._server.now, conditions)

    def pass_time(self, seconds: float) -> None:
        self._moved += seconds / SPEED

    def close(self) -> None:
        self.http.close()
        self._server.shutdown()
        self._server.server_close()


DOORS = {"in process": InProcess, "over HTTP": OverHttp}


@contextmanager
def opened(name: str) -> Iterator[Door]:
    door = DOORS[name]()
    try:
        yield door
    finally:
        door.close()
