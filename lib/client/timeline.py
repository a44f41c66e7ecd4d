"""When the calls of a run begin and end: as the clock says, or on the simulation's own schedule."""

from __future__ import annotations

import threading
from typing import Protocol

from lib.client.clock import Clock


class Timeline(Protocol):
    def now(self) -> float:
        """Seconds since the epoch, on the run's own time."""

    def begin(self, step: str, after: float | None = None, subject: str = "") -> float:
        """When the call that this thread makes now begins; `after` is the end of what it had to wait for. A call with
        the step and subject of the thread's last one follows from it."""

    def end(self, started: float, seconds: float | None) -> float:
        """Notes that the call ended; returns its seconds, measured where `seconds` is None."""


class ClockTime:
    """Calls begin and end when they do."""

    def __init__(self, clock: Clock):
        self.now = clock.now

    def begin(self, step: str, after: float | None = None, subject: str = "") -> float:
        return self.now()

    def end(self, started: float, seconds: float | None) -> float:
        return max(self.now() - started, 0.0) if seconds is None else seconds


class SimulatedTime:
    """Calls last as long as the simulation says, and nothing else takes time.

    Thirty simulated seconds pass in a real one, so the ten milliseconds that this machine needs between two calls would
    look like a third of a second. Here a step has as many lanes as threads, all free when it begins, and a call takes
    the lane that is free first: which thread makes it is this machine's accident, above all where nobody waits. A call
    that follows from its thread's last one, or had to wait for another, begins no earlier than that one ended; so does
    one of another step than its thread's last.
    """

    def __init__(self, began: float):
        self._latest = began                        # end of the call that ended last
        self._began: dict[str, float] = {}          # step -> when its first call began
        self._free: dict[str, list[float]] = {}     # step -> since when its idle lanes are
        self._mine = threading.local()              # of a thread: its steps, and its last call's step, subject and end
        self._lock = threading.Lock()

    def now(self) -> float:
        return self._latest

    def begin(self, step: str, after: float | None = None, subject: str = "") -> float:
        mine = self._mine
        steps, before = vars(mine).setdefault("steps", set()), getattr(mine, "step", None)
        own = None if before is None or (before == step and mine.subject != subject) else mine.ended
        with self._lock:
            began = self._began.setdefault(step, self._latest)
            lanes = self._free.setdefault(step, [])
            if step not in steps:
                steps.add(step)
                lanes.append(began)
            lane = own if own in lanes else min(lanes, default=began)
            if lane in lanes:
                lanes.remove(lane)
        mine.step, mine.subject, mine.ended = step, subject, lane
        return max(t for t in (lane, own, after) if t is not None)

    def end(self, started: float, seconds: float | None) -> float:
        seconds = seconds or 0.0
        mine, ended = self._mine, started + seconds
        mine.ended = ended
        with self._lock:
            self._free[mine.step].append(ended)
            self._latest = max(self._latest, ended)
        return seconds
