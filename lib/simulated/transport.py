"""The simulated Messages API as an HTTP transport: what the SDK sends over it never leaves the process."""

from __future__ import annotations

import json
import time
from typing import Any, Protocol

import httpx2

from lib.simulated.protocol import Reply, handle, not_json


class Sleeper(Protocol):
    """Waits for simulated seconds, on whatever scale it keeps; a `now()` of that scale is used if it has one."""

    def sleep(self, seconds: float) -> Any: ...


class SimulatedTransport(httpx2.BaseTransport):
    """For `anthropic.Anthropic(http_client=anthropic.DefaultHttpxClient(transport=SimulatedTransport(clock)))`.

    Each reply carries `simulated-seconds`, what the call took on the simulation's own clock.
    """

    def __init__(self, clock: Sleeper):
        self._sleep = clock.sleep
        self._now = getattr(clock, "now", time.monotonic)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        started = self._now()
        reply = _reply(request)
        self._sleep(max(0.0, reply.seconds - (self._now() - started)))
        headers = {**reply.headers, "simulated-seconds": f"{reply.seconds:.3f}"}
        return httpx2.Response(reply.status, headers=headers, json=reply.body, request=request)


def _reply(request: httpx2.Request) -> Reply:
    body = request.read()
    try:
        content: Any = json.loads(body) if body else {}
    except ValueError as reason:
        return not_json(str(reason))
    return handle(content, request.headers, request.method, request.url.path)
