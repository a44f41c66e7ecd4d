"""The simulated Messages API as an HTTP transport: what the SDK sends over it never leaves the process."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import httpx2

from lib.simulated.endpoints import Answer, answer
from lib.simulated.room import Room


class Sleeper(Protocol):
    """Waits for simulated seconds, on whatever scale it keeps; a `now()` of that scale is used if it has one."""

    def sleep(self, seconds: float) -> Any: ...


class SimulatedTransport(httpx2.BaseTransport):
    """For `anthropic.Anthropic(http_client=anthropic.DefaultHttpxClient(transport=SimulatedTransport(clock)))`.

    Each whole reply carries `simulated-seconds`, what the call took on the simulation's own clock. A request with the
    header `simulated-at` starts at that time of the room's clock, whenever it arrives.
    """

    def __init__(self, clock: Sleeper, room: Room | None = None):
        self._sleep = clock.sleep
        self._now = getattr(clock, "now", time.monotonic)
        self._wait = getattr(clock, "scale", 1) != 0
        self._room = room or Room(self._now)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        started = self._now()
        headers = dict(request.headers.items())     # each look into the original goes through all of them
        sent = answer(self._room, request.method, str(request.url), headers, request.read(), _at(headers), self._wait)
        if sent.is_stream:
            return httpx2.Response(sent.status, headers=sent.headers, request=request,
                                   stream=_Stream(self._parts(sent, started)))
        told = {**sent.headers, "simulated-seconds": f"{sent.seconds:.3f}"}
        return httpx2.Response(sent.status, headers=told, content=b"".join(self._parts(sent, started)),
                               request=request)

    def _parts(self, sent: Answer, started: float) -> Iterator[bytes]:
        for seconds, part in sent.parts:
            self._sleep(max(0.0, seconds - (self._now() - started)))
            yield part


class _Stream(httpx2.SyncByteStream):
    def __init__(self, parts: Iterator[bytes]):
        self._parts = parts

    def __iter__(self) -> Iterator[bytes]:
        return self._parts


def _at(headers: Mapping[str, str]) -> float | None:
    told = headers.get("simulated-at")
    return None if told is None else float(told)
