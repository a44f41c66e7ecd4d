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

    Before a call its worst case is held: its estimated input with headroom, at the dearest rate that its marks allow,
    and `max_tokens` of output. Afterwards what `usage` reports takes its place; what it leaves out is estimated, for
    the budget only. Where a model reports more input than the headroom allowed for, later calls to it hold as much.
    While calls in flight hold the rest, a call waits for them. A call that was refused costs nothing, one that failed
    otherwise its estimated input.
    """
    return held_by(_Account(limits, timeline, spent, elapsed), price, estimate)


class Account(Protocol):
    """Where the worst case of a call is held before it is sent, and what it cost takes its place afterwards."""

    def hold(self, worst_now: Callable[[], Cost], stop: threading.Event | None) -> Any:
        """Returns what `settle` is to be given. Raises BudgetReached for a call that must not be sent."""

    def settle(self, held: Any, actual: Cost) -> None: ...


def held_by(account: Account, price: Price, estimate: Estimate) -> Layer:
    """Sends a call while `account` holds the worst that it can cost, as `budget` says."""
    headroom = _Headroom()

    def layer(call: Call, call_next: Next) -> Any:
        model, size, kinds = call.request.get("model", ""), estimate(call.request), _kinds(call.request)
        held = account.hold(lambda: _worst(call.request, kinds, headroom.on(model, size), price), call.stop)
        actual = Cost()
        try:
            reply = call_next(call)
            headroom.learn(model, size, reported(reply))
            actual = _actual(reply, call.request, size, price, estimate)
            return reply
        except errors.StoreError:       # a reply came that could not be kept: what it cost is not known
            actual = _worst(call.request, kinds, headroom.on(model, size), price)
            raise
        except BaseException as error:
            if may_have_been_billed(error, call.sent):
                actual = _input_alone(call.request, headroom.on(model, size), price)
            raise
        finally:
            account.settle(held, actual)

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
    if row.billed is False or row.cached:
        return Cost()
    if row.input is not None and row.output is not None:
        return Cost(row.input + row.output, row.usd or 0.0)
    request, reply = store.exchange(row.id)
    if reply is None:
        return _input_alone(request, round(estimate(request) * HEADROOM), price)
    return _actual(reply, request, estimate(request), price, estimate)


class _Headroom:
    """How much more input than was estimated a call may turn out to have: a tenth, or the most that was seen so far of
    its model."""

    def __init__(self) -> None:
        self._most: dict[str, float] = {}
        self._lock = threading.Lock()

    def on(self, model: str, size: int) -> int:
        return round(size * self._most.get(model, HEADROOM))

    def learn(self, model: str, size: int, usage: Usage) -> None:
        seen = sum(part or 0 for part in (usage.fresh, usage.write_5m, usage.write_1h, usage.cache_read))
        with self._lock:
            self._most[model] = max(self._most.get(model, HEADROOM), seen / max(1, size))


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

    def hold(self, worst_now: Callable[[], Cost], stop: threading.Event | None) -> Cost:
        """Waits until the worst case fits, and holds it; it may grow while calls in flight come back."""
        with self._changed:
            while problem := self._problem(worst := worst_now(), self._spent + self._held):
                if not self._in_flight or self._problem(worst, self._spent):
                    raise errors.BudgetReached(problem)
                self._changed.wait()
                if stop and stop.is_set():
                    raise errors.Stopped("Stopped: no further call was sent. What is finished is kept.")
            self._held += worst
            self._in_flight += 1
            return worst

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
            return (f"The run's limit of {dollars(limits.max_usd)}: ${self._spent.usd:,.4f} is spent and the next "
                    f"call could cost ${worst.usd:,.4f}, so it was not sent. Raise the limit to go on.")
        return ""


def dollars(limit: float) -> str:
    """A limit as a person would write it: $0.50, $0.003."""
    return f"${limit:,.2f}" if limit >= 0.01 or not limit else f"${limit:g}"


def _kinds(request: dict[str, Any]) -> list[str]:
    """How the input may be billed: fresh, or written to the cache for as long as the request's marks say."""
    marks = repr([request.get(name) for name in ("cache_control", "system", "tools", "messages")])
    return ["fresh", *(["write_5m"] if "'ephemeral'" in marks else []), *(["write_1h"] if "'1h'" in marks else [])]


def _worst(request: dict[str, Any], kinds: list[str], size: int, price: Price) -> Cost:
    """Nothing read from the cache, all of it at the dearest of the rates, which for a long prompt are those of its
    length; output to the limit."""
    nothing = {"fresh": 0, "write_5m": 0, "write_1h": 0, "cache_read": 0, "output": request.get("max_tokens") or 0}
    return max((_cost(Usage(**{**nothing, kind: size}), request, price) for kind in kinds), key=lambda cost: cost.usd)


def _input_alone(request: dict[str, Any], size: int, price: Price) -> Cost:
    return _worst({**request, "max_tokens": 0}, _kinds(request), size, price)


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
