"""What an organisation may send in a minute, what is left of it, and the headers that say so.

Each limit is a bucket that fills all the time, as the API's do: a minute's worth at most. Only the limit of requests
that a person sets is enforced; the others are told.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from lib.models import model

KINDS = ("requests", "tokens", "input-tokens", "output-tokens")
_START_TIER = {"requests": 1_000, "tokens": 2_400_000, "input-tokens": 2_000_000, "output-tokens": 400_000}
_FABLE = {"requests": 1_000, "tokens": 600_000, "input-tokens": 500_000, "output-tokens": 100_000}
_WORTH_WAITING = 0.25       # of a minute's requests: one who is turned away is told to wait until so many are back


def usual_limit(model_id: str, kind: str) -> int:
    """What an organisation of the first tier may send in a minute; Fable's limits are lower."""
    return (_FABLE if "fable" in model_id else _START_TIER)[kind]


class _Bucket:
    def __init__(self, limit: int):
        self.limit = limit
        self.used = 0.0
        self._seen = -math.inf

    def pass_time(self, at: float) -> None:
        """Requests of several workers need not come in the order of their times: time never runs back here."""
        if at > self._seen:
            self.used = max(0.0, self.used - (at - self._seen) * self.limit / 60)
            self._seen = at

    def seconds_until(self, used: float) -> float:
        return max(0.0, self.used - used) * 60 / self.limit


class RateLimits:
    """The buckets of one organisation, one set a model. Safe for threads; all times are seconds on the room's clock."""

    def __init__(self, requests_per_minute: int = 0):
        self._enforced = requests_per_minute
        self._buckets: dict[str, dict[str, _Bucket]] = {}
        self._lock = threading.Lock()

    def admit(self, model_id: str, at: float) -> int:
        """Counts one more request, if it is allowed: 0, or the seconds it should wait."""
        with self._lock:
            bucket = self._of(model_id)["requests"]
            bucket.pass_time(at)
            if self._enforced and bucket.used + 1 > bucket.limit:
                return max(1, math.ceil(bucket.seconds_until(bucket.limit - max(1.0, bucket.limit * _WORTH_WAITING))))
            bucket.used += 1
            return 0

    def count(self, model_id: str, at: float, usage: Mapping[str, Any]) -> None:
        """Counts the tokens of a reply. What was read from the cache does not count."""
        read = usage["input_tokens"] + usage["cache_creation_input_tokens"]
        written = usage["output_tokens"]
        with self._lock:
            buckets = self._of(model_id)
            for kind, tokens in (("tokens", read + written), ("input-tokens", read), ("output-tokens", written)):
                buckets[kind].pass_time(at)
                buckets[kind].used += tokens

    def headers(self, model_id: str, at: float) -> dict[str, str]:
        """The limits as the API tells them: tokens in thousands, the time when all is back again."""
        told: dict[str, str] = {}
        with self._lock:
            for kind, bucket in self._of(model_id).items():
                bucket.pass_time(at)
                left = max(0.0, bucket.limit - bucket.used)
                name = f"anthropic-ratelimit-{kind}"
                told[f"{name}-limit"] = str(bucket.limit)
                told[f"{name}-remaining"] = str(int(left) if kind == "requests" else int(round(left, -3)))
                told[f"{name}-reset"] = _rfc3339(math.ceil(at + bucket.seconds_until(0)))
        return told

    def _of(self, model_id: str) -> dict[str, _Bucket]:
        known = model(model_id).id if model(model_id).listed else "any"
        if known not in self._buckets:
            limits = {kind: usual_limit(known, kind) for kind in KINDS}
            limits["requests"] = self._enforced or limits["requests"]
            self._buckets[known] = {kind: _Bucket(limit) for kind, limit in limits.items()}
        return self._buckets[known]


@lru_cache(maxsize=256)
def _rfc3339(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
