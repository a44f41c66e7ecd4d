"""One simulated API with what it remembers between requests, whichever door they come in by."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from lib.simulated.conditions import Conditions
from lib.simulated.prompt_cache import PromptCache
from lib.simulated.rate_limits import RateLimits

_MOST_ATTEMPTS = 100_000        # requests whose attempts are remembered


class Room:
    """`now` gives the seconds of the simulation's own clock. Safe for threads."""

    def __init__(self, now: Callable[[], float] = time.time, conditions: Conditions | None = None):
        self.now = now
        self.conditions = conditions or Conditions()
        self.cache = PromptCache()
        self.limits = RateLimits(self.conditions.requests_per_minute)
        self.batches: dict[str, Any] = {}       # by their ids
        self._attempts: OrderedDict[str, int] = OrderedDict()
        self._lock = threading.Lock()

    def attempt(self, seed: str) -> int:
        """How many times the request that `seed` stands for has come in, this time included."""
        with self._lock:
            number = self._attempts[seed] = self._attempts.pop(seed, 0) + 1
            if len(self._attempts) > _MOST_ATTEMPTS:
                self._attempts.popitem(last=False)
            return number
