"""What the visitors of a shared playground may spend of its owner's key in a day: each alone, and all together.

The account is in the store, apart from the runs: who deletes their runs has spent the same.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lib import errors
from lib.client.budget import Cost, Estimate, Price, dollars, held_by
from lib.client.layers import Call, Layer, Next
from lib.runs.store import Store

DAY = 24 * 3600.0   # seconds
LOOKS = 0.2         # seconds between two looks at Stop


class Allowance:
    """The accounts of all visitors, for all runs of this server. Dollars are those of the price list, whatever prices
    a visitor has set."""

    def __init__(self, store: Store, each: float, together: float, now: Callable[[], float] = time.time):
        self._store, self._now = store, now
        self._each, self._together = each, together
        self._in_flight: dict[int, tuple[str, float]] = {}      # id of the spending -> desk, dollars held
        self._changed = threading.Condition()

    def layer(self, desk: str, price: Price, estimate: Estimate) -> Layer:
        """Raises BudgetReached instead of sending a call that could go over the visitor's or everybody's dollars of the
        last 24 hours, or whose price is not listed. The worst case is held as `budget` does, in the store: were the
        server to die, it would count."""
        held = held_by(_OfVisitor(self, desk), price, estimate)

        def layer(call: Call, call_next: Next) -> Any:
            model = call.request.get("model", "")
            if price(model, 1, 1, 1, 1, 1) is None:
                raise errors.BudgetReached(f'There is no list price for "{model}", so this playground\'s key is not '
                                           "used for it. Use your own key, or another model.")
            return held(call, call_next)

        return layer

    def left(self, desk: str) -> float:
        """Dollars that this visitor may still spend; what calls in flight hold is taken."""
        own, everybody = self._spent(desk)
        return max(0.0, min(self._each - own, self._together - everybody))

    def hold(self, desk: str, worst_now: Callable[[], Cost], stop: threading.Event | None) -> int:
        with self._changed:
            while self._problem(desk, usd := worst_now().usd):
                if problem := self._problem(desk, usd, once_all_are_back=True):
                    raise errors.BudgetReached(problem)
                self._changed.wait(LOOKS)       # another run's call may take long to come back
                if stop and stop.is_set():
                    raise errors.Stopped("Stopped: no further call was sent. What is finished is kept.")
            spending = self._store.spend(desk, self._now(), usd)
            self._in_flight[spending] = desk, usd
            return spending

    def settle(self, spending: int, usd: float) -> None:
        with self._changed:
            try:
                self._store.settle(spending, usd)
            finally:
                del self._in_flight[spending]
                self._changed.notify_all()

    def _problem(self, desk: str, usd: float, once_all_are_back: bool = False) -> str:
        """Whose dollars a call could go over, in words; "" for nobody's. Rounding errors of sums are no reason."""
        own, everybody = self._spent(desk)
        if once_all_are_back:
            own -= sum(held for whose, held in self._in_flight.values() if whose == desk)
            everybody -= sum(held for _, held in self._in_flight.values())
        call = f"and the next call could cost ${usd:,.4f}. Use your own key, or go on tomorrow."
        if own + usd > self._each + 1e-9:
            return (f"Your share of this playground's key, {dollars(self._each)} a day, is used: ${own:,.4f} is spent "
                    f"{call}")
        if everybody + usd > self._together + 1e-9:
            return (f"This playground's key, {dollars(self._together)} a day for all visitors together, is used: "
                    f"${everybody:,.4f} is spent {call}")
        return ""

    def _spent(self, desk: str) -> tuple[float, float]:
        since = self._now() - DAY
        return self._store.spent(since, desk), self._store.spent(since)


@dataclass(frozen=True)
class _OfVisitor:
    """One visitor's account, as `budget.held_by` takes it."""

    allowance: Allowance
    desk: str

    def hold(self, worst_now: Callable[[], Cost], stop: threading.Event | None) -> int:
        return self.allowance.hold(self.desk, worst_now, stop)

    def settle(self, held: int, actual: Cost) -> None:
        self.allowance.settle(held, actual.usd)
