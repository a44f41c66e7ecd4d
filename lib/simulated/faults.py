"""Which attempts go wrong, when a person asks for faults, and what the API says then.

The seed, the request and its how-manieth attempt decide, never the order in which requests arrive: a class sees the
same run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from lib.simulated.conditions import Conditions
from lib.simulated.rate_limits import usual_limit

HEADER = "simulated-fault"      # a request with this header gets the fault that it names
ORGANIZATION = "5a1de000-0000-4000-8000-51bb1a7ed000"
SLOW_TIMES = 5.0                # what a slow call takes, times the usual seconds
_KINDS = ("rate_limit", "overloaded", "server_error")
_ASKED_TO_WAIT = (2, 8)         # seconds, at least and at most


@dataclass(frozen=True)
class Fault:
    status: int
    type: str
    message: str
    seconds: float                  # until the API says so
    retry_after: int | None = None  # whole seconds, where it asks for some


def fault(conditions: Conditions, headers: Mapping[str, str], model: str, seed: str, attempt: int) -> Fault | None:
    """What this attempt gets instead of an answer, or None. `seed` stands for the request."""
    asked = headers.get(HEADER)
    kind = asked if asked in _KINDS else _drawn(conditions, seed, attempt) if asked is None else None
    if kind == "rate_limit":
        least, most = _ASKED_TO_WAIT
        wait = least + round(_chance("wait", conditions.seed, seed, attempt) * (most - least))
        return too_many(f"{usual_limit(model, 'input-tokens'):,} input tokens per minute", model, wait)
    if kind == "overloaded":
        return Fault(529, "overloaded_error", "Overloaded", 0.5)
    if kind == "server_error":
        return Fault(500, "api_error", "Internal server error", 1.0)
    return None


def too_many(limit: str, model: str, retry_after: int) -> Fault:
    """The refusal of a request above `limit`, such as "50 requests per minute"."""
    return Fault(429, "rate_limit_error", (
        f"This request would exceed your organization's rate limit of {limit} (org: {ORGANIZATION}, model: {model}). "
        "For details, refer to: https://docs.claude.com/en/api/rate-limits. You can see the response headers for "
        "current usage. Please reduce the prompt length or the maximum tokens requested, or try again later. You may "
        "also contact sales at https://claude.com/contact-sales to discuss your options for a rate limit increase."),
        0.2, retry_after)


def slowness(conditions: Conditions, headers: Mapping[str, str], seed: str) -> float:
    """How many times its usual seconds a request takes."""
    asked = headers.get(HEADER)
    slow = asked == "slow" if asked else conditions.slow and _chance("slow", conditions.seed, seed) < conditions.slow
    return SLOW_TIMES if slow else 1.0


def _drawn(conditions: Conditions, seed: str, attempt: int) -> str | None:
    shares = (conditions.rate_limited, conditions.overloaded, conditions.server_error)
    if not any(shares):
        return None
    drawn = _chance("fault", conditions.seed, seed, attempt)
    for kind, share in zip(_KINDS, shares, strict=True):
        if drawn < share:
            return kind
        drawn -= share
    return None


def _chance(*what: object) -> float:
    """A number from 0 up to 1 that is always the same for the same things."""
    return int(sha256(repr(what).encode()).hexdigest()[:13], 16) / 16 ** 13
