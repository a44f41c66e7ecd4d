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
        body = b"".join(self._parts(sent, started))
        told = {**sent.headers, "simulated-seconds": f"{sent.seconds:.3f}", "Content-Length": str(len(body))}
        return httpx2.Response(sent.status, headers=told, stream=httpx2.ByteStream(body), request=request)

    def _parts(self, sent: Answer, started: float) -> Iterator[bytes]:
        for seconds, part in sent.parts:
            self._sleep(max(0.0, seconds - (self._now() - started)))
            yield part


class InProcessClient(httpx2.Client):
    """A client for such a transport alone: without the proxies, logins, cookies and redirects of a network, whose care
    takes longer than many an answer of the simulation."""

    def __init__(self, transport: httpx2.BaseTransport):
        super().__init__(transport=transport, trust_env=False)
        self._wire = transport

    def build_request(self, method: str, url: httpx2.URL | str, *, content: Any = None, params: Any = None,
                      headers: Any = None, timeout: Any = None, **more: Any) -> httpx2.Request:
        """Of a request to a whole URL with a body that is ready to be sent, as the SDK makes them."""
        if more.get("files") or more.get("data"):
            return super().build_request(method, url, params=params, headers=headers, timeout=timeout, **more)
        return httpx2.Request(method, url, content=content, params=params, headers=headers,
                              extensions={"timeout": httpx2.Timeout(timeout).as_dict()})

    def send(self, request: httpx2.Request, *, stream: bool = False, **of_a_network: Any) -> httpx2.Response:
        if self.is_closed:
            raise RuntimeError("Cannot send a request, as the client has been closed.")
        response = self._wire.handle_request(request)
        response.request = request
        if not stream:
            response.read()
        return response


class _Stream(httpx2.SyncByteStream):
    def __init__(self, parts: Iterator[bytes]):
        self._parts = parts

    def __iter__(self) -> Iterator[bytes]:
        return self._parts


def _at(headers: Mapping[str, str]) -> float | None:
    told = headers.get("simulated-at")
    return None if told is None else float(told)
