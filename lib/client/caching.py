"""Prompt caching: what a request marks for the cache, and who has to wait so that the cache can serve the others."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

from lib.client.layers import Call, Layer, Next, Sent
from lib.errors import Stopped
from lib.messages import as_dict

OFF = "off"
_FIVE_MINUTES: dict[str, Any] = {"type": "ephemeral"}
_ONE_HOUR: dict[str, Any] = {"type": "ephemeral", "ttl": "1h"}
_AUTOMATIC = {"auto-5m": _FIVE_MINUTES, "auto-1h": _ONE_HOUR}
_LOOKS = 0.05       # seconds between two looks at `call.stop` while waiting


def marked(caching: str) -> Layer:
    """Marks requests for the prompt cache: "auto-5m" and "auto-1h" up to their end, "system" up to the end of the
    system prompt, which includes the tools; "off" marks nothing.

    The cache is read by a request that begins exactly as a marked one did, and only from the model's minimum length on;
    below it nothing happens and both counters stay 0. So it depends on what is marked: an agent's every request begins
    with the one before, and "auto" reads nearly all of it. In a map each request ends in data of its own: "auto" pays
    for writing them all and never reads one, while "system" is read by every call after the first.
    """
    if caching == OFF:
        return lambda call, call_next: call_next(call)
    if caching == "system":
        return lambda call, call_next: call_next(_with_marked_system(call))
    return lambda call, call_next: call_next(call.with_request(cache_control=dict(_AUTOMATIC[caching])))


def _with_marked_system(call: Call) -> Call:
    system = call.request.get("system")
    if not system:
        return call
    *before, last = [{"type": "text", "text": system}] if isinstance(system, str) else map(as_dict, system)
    return call.with_request(system=[*before, {**last, "cache_control": dict(_FIVE_MINUTES)}])


def first_alone() -> Layer:
    """Lets the first call through alone; all others wait until its reply came or it failed.

    What one request writes can be read by another only once the reply to the first began, and a client without
    streaming sees that when it ends. A first call that the run store answered wrote nothing, so the next one goes alone
    too. Whoever waited begins after the first call on the run's own time (`Call.after`). Raises Stopped when
    `call.stop` is set while it waits. Make one for each step: another prompt is another entry.
    """
    gate = _Gate()

    def layer(call: Call, call_next: Next) -> Any:
        if not gate.leads(call.stop):
            return call_next(replace(call, after=_later(call.after, gate.ended)))
        reused = False
        try:
            reply = call_next(call)
            reused = call.sent.reused
            return reply
        finally:
            gate.pass_on(call.sent, to_one=reused)

    return layer


class _Gate:
    """Closed until a first call was sent and is over; `ended` says when that was, None where no time is kept."""

    def __init__(self) -> None:
        self.ended: float | None = None
        self._open = False
        self._led = False       # a first call is under way
        self._changed = threading.Condition()

    def leads(self, stop: threading.Event | None) -> bool:
        """Whether this call is the first one; waits until that is decided."""
        with self._changed:
            while self._led and not self._open:
                self._changed.wait(_LOOKS if stop else None)
                if stop and stop.is_set():
                    raise Stopped("Stopped: no further call was sent. What is finished is kept; resume to go on.")
            self._led = True
            return not self._open

    def pass_on(self, first: Sent, to_one: bool) -> None:
        with self._changed:
            if to_one:
                self._led = False
            else:
                self._open = True
                self.ended = None if first.began is None else first.began + (first.seconds or 0.0)
            self._changed.notify_all()


def _later(one: float | None, other: float | None) -> float | None:
    return max((t for t in (one, other) if t is not None), default=None)
