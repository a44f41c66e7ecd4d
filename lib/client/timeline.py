"""When the calls of a run begin and end: as the clock says, or on the simulation's own schedule."""

from __future__ import annotations

import threading
from typing import Protocol

from lib.client.clock import Clock


class Timeline(Protocol):
    def now(self) -> float:
        """Seconds since the epoch, on the run's own time."""

    def begin(self, step: str, after: float | None = None) -> float:
        """When the call that this thread makes now begins; `after` is the end of what it had to wait for."""

    def end(self, started: float, seconds: float | None) -> float:
        """Notes that the call ended; returns its seconds, measured where `seconds` is None."""


class ClockTime:
    """Calls begin and end when they do."""

    def __init__(self, clock: Clock):
        self.now = clock.now

    def begin(self, step: str, after: float | None = None) -> float:
        return self.now()

    def end(self, started: float, seconds: float | None) -> float:
        return max(self.now() - started, 0.0) if seconds is None else seconds


class SimulatedTime:
    """Calls last as long as the simulation says, and nothing else takes time.

    Thirty simulated seconds pass in a real one, so the ten milliseconds that this machine needs between two calls would
    look like a third of a second. Here a thread's next call begins when its last one ended, and a new thread's first
    call when its step began; a call that had to wait for another not before that one ended.
    """

    def __init__(self, began: float):
        self._latest = began                    # end of the call that ended last
        self._began: dict[str, float] = {}      # step -> when its first call began
        self._thread = threading.local()
        self._lock = threading.Lock()

    def now(self) -> float:
        return self._latest

    def begin(self, step: str, after: float | None = None) -> float:
        with self._lock:
            began = self._began.setdefault(step, self._latest)
        return max(began, getattr(self._thread, "ended", began), began if after is None else after)

    def end(self, started: float, seconds: float | None) -> float:
        seconds = seconds or 0.0
        self._thread.ended = started + seconds
        with self._lock:
            self._latest = max(self._latest, self._thread.ended)
        return seconds
