"""Limits of tokens, money and time, held before a call is sent: a run never goes over by more than estimates err."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from lib import errors
from lib.client.layers import Call, Layer, Next
from lib.client.timeline import Timeline
from lib.messages import as_dict, blocks
from lib.usage.reported import Usage, reported

HEADROOM = 1.1      # on an input that is only estimated: estimates miss by up to a tenth

Price = Callable[[str, int, int, int, int, int], float | None]  # model, fresh, write 5m, 1h, cache read, output -> USD
Estimate = Callable[[dict[str, Any]], int]                      # a request -> its input tokens


class Limits(Protocol):
    """The limits of a `design.Limits` that are held here."""

    max_tokens: int
    max_usd: float
    max_seconds: float


@dataclass(frozen=True)
class Cost:
    tokens: int = 0
    usd: float = 0.0        # 0 where no price is known: such a run is held by its tokens

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.tokens + other.tokens, self.usd + other.usd)

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.tokens - other.tokens, self.usd - other.usd)


def budget(limits: Limits, timeline: Timeline, price: Price, estimate: Estimate, spent: Cost = Cost()) -> Layer:
    """Raises BudgetReached instead of sending a call that could go over a limit; `spent` is from before a resume.

    Before a call its worst case is held: its estimated input and `max_tokens` of output. Afterwards what `usage`
    reports takes its place; what it leaves out is estimated, for the budget only. While calls in flight hold the rest,
    a call waits for them. A call that fails costs nothing.
    """
    account = _Account(limits, timeline, spent)

    def layer(call: Call, call_next: Next) -> Any:
        size = estimate(call.request)
        worst = _worst(call.request, size, price)
        account.hold(worst, call.stop)
        actual = Cost()
        try:
            reply = call_next(call)
            actual = _actual(reply, call.request, size, price, estimate)
            return reply
        finally:
            account.settle(worst, actual)

    return layer


class _Account:
    """What is spent and what calls in flight hold, under one lock for all workers of a run."""

    def __init__(self, limits: Limits, timeline: Timeline, spent: Cost):
        self._limits = limits
        self._timeline = timeline
        self._began = timeline.now()
        self._spent = spent
        self._held = Cost()
        self._in_flight = 0
        self._changed = threading.Condition()

    def hold(self, worst: Cost, stop: threading.Event | None) -> None:
        with self._changed:
            while problem := self._problem(worst, self._spent + self._held):
                if not self._in_flight or self._problem(worst, self._spent):
                    raise errors.BudgetReached(problem)
                self._changed.wait()
                if stop and stop.is_set():
                    raise errors.Stopped("Stopped: no further call was sent. What is finished is kept.")
            self._held += worst
            self._in_flight += 1

    def settle(self, worst: Cost, actual: Cost) -> None:
        with self._changed:
            self._held -= worst
            self._spent += actual
            self._in_flight -= 1
            self._changed.notify_all()

    def _problem(self, worst: Cost, taken: Cost) -> str:
        """Which limit a call would break, in words; "" for none. Rounding errors of sums are no reason."""
        limits, elapsed = self._limits, self._timeline.now() - self._began
        if elapsed >= limits.max_seconds:
            return (f"The run's limit of {limits.max_seconds:,.0f} seconds is reached after {elapsed:,.0f}. "
                    "Raise it to go on.")
        if taken.tokens + worst.tokens > limits.max_tokens:
            return (f"The run's limit of {limits.max_tokens:,} tokens: {self._spent.tokens:,} are spent and the next "
                    f"call could take {worst.tokens:,}, so it was not sent. Raise the limit to go on.")
        if taken.usd + worst.usd > limits.max_usd + 1e-9:
            return (f"The run's limit of ${limits.max_usd:,.2f}: ${self._spent.usd:,.4f} is spent and the next call "
                    f"could cost ${worst.usd:,.4f}, so it was not sent. Raise the limit to go on.")
        return ""


def _worst(request: dict[str, Any], size: int, price: Price) -> Cost:
    """Nothing read from the cache, everything written to it where the request marks something, output to the limit."""
    size, output = round(size * HEADROOM), request.get("max_tokens") or 0
    marks = repr([request.get(name) for name in ("cache_control", "system", "tools", "messages")])
    kind = "fresh" if "'ephemeral'" not in marks else "write_1h" if "'1h'" in marks else "write_5m"
    return _cost(Usage(**{"fresh": 0, "write_5m": 0, "write_1h": 0, "cache_read": 0, "output": output, kind: size}),
                 request, price)


def _actual(reply: Any, request: dict[str, Any], size: int, price: Price, estimate: Estimate) -> Cost:
    usage = reported(reply)
    if usage.fresh is None:
        usage = replace(usage, fresh=size)
    if usage.output is None:
        answer = {"role": "assistant", "content": [as_dict(b) for b in blocks(reply)]}
        usage = replace(usage, output=estimate({"model": request.get("model", ""), "messages": [answer]}))
    return _cost(usage, request, price)


def _cost(usage: Usage, request: dict[str, Any], price: Price) -> Cost:
    parts = [part or 0 for part in (usage.fresh, usage.write_5m, usage.write_1h, usage.cache_read, usage.output)]
    return Cost(sum(parts), price(request.get("model", ""), *parts) or 0.0)
