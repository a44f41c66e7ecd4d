"""Limits of tokens, money and time, held before a call is sent: a run never goes over by more than estimates err."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from lib import errors
from lib.client.billing import may_have_been_billed
from lib.client.layers import Call, Layer, Next
from lib.client.timeline import Timeline
from lib.messages import as_dict, blocks
from lib.runs.store import CallRow, Store
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


def budget(limits: Limits, timeline: Timeline, price: Price, estimate: Estimate, spent: Cost = Cost(),
           elapsed: float = 0.0) -> Layer:
    """Raises BudgetReached instead of sending a call that could go over a limit. `spent` and the seconds `elapsed` are
    from before a resume.

    Before a call its worst case is held: its estimated input and `max_tokens` of output. Afterwards what `usage`
    reports takes its place; what it leaves out is estimated, for the budget only. While calls in flight hold the rest,
    a call waits for them. A call that was refused costs nothing, one that failed otherwise its estimated input.
    """
    account = _Account(limits, timeline, spent, elapsed)

    def layer(call: Call, call_next: Next) -> Any:
        size = estimate(call.request)
        worst = _worst(call.request, size, price)
        account.hold(worst, call.stop)
        actual = Cost()
        try:
            reply = call_next(call)
            actual = _actual(reply, call.request, size, price, estimate)
            return reply
        except BaseException as error:
            if may_have_been_billed(error, call.sent):
                actual = _input_alone(call.request, size, price)
            raise
        finally:
            account.settle(worst, actual)

    return layer


def paid_before(store: Store, run_id: str, price: Price, estimate: Estimate) -> tuple[Cost, float]:
    """What the earlier calls of a run cost, counted as `budget` counts them, and the seconds in which any was open."""
    cost, seconds, until = Cost(), 0.0, 0.0
    for row in sorted(store.calls(run_id), key=lambda row: row.started):
        cost += _paid(row, store, price, estimate)
        ended = row.started + row.seconds
        seconds += max(0.0, ended - max(row.started, until))
        until = max(until, ended)
    return cost, seconds


def _paid(row: CallRow, store: Store, price: Price, estimate: Estimate) -> Cost:
    if row.billed is False:
        return Cost()
    if row.input is not None and row.output is not None:
        return Cost(row.input + row.output, row.usd or 0.0)
    request, reply = store.exchange(row.id)
    if reply is None:
        return _input_alone(request, estimate(request), price)
    return _actual(reply, request, estimate(request), price, estimate)


class _Account:
    """What is spent and what calls in flight hold, under one lock for all workers of a run."""

    def __init__(self, limits: Limits, timeline: Timeline, spent: Cost, elapsed: float):
        self._limits = limits
        self._timeline = timeline
        self._began = timeline.now() - elapsed
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


def _input_alone(request: dict[str, Any], size: int, price: Price) -> Cost:
    return _worst({**request, "max_tokens": 0}, size, price)


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
