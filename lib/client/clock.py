"""The time a run keeps: real seconds, or a simulation's seconds that pass faster than real ones."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Clock:
    """`scale` simulated seconds pass in one real second; 1 is real time, 0 is real time without any waiting."""

    def __init__(self, scale: float = 1.0, monotonic: Callable[[], float] = time.monotonic,
                 wall: Callable[[], float] = time.time):
        self.scale = scale
        self._monotonic = monotonic
        self._began = wall()
        self._zero = monotonic()

    def now(self) -> float:
        """Seconds since the epoch on this clock; it never goes back, whatever is done to the system's clock."""
        return self._began + (self._monotonic() - self._zero) * (self.scale or 1.0)

    def sleep(self, seconds: float, stop: threading.Event | None = None) -> bool:
        """Waits for `seconds` of this clock, or until `stop` is set. Returns whether `stop` is set."""
        real = seconds / self.scale if self.scale else 0.0
        if real <= 0 and stop is None:
            return False
        return (stop or threading.Event()).wait(max(0.0, real))
