"""How input tokens grow. An agent's turn resends all before it: T turns cost a·T + d·T(T−1)/2. N tickets cost c·N."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lib.runs.store import CallRow


@dataclass(frozen=True)
class Growth:
    """Turn t sends about a + d·(t−1) input tokens."""

    a: float                    # tokens that every turn resends: system prompt, tools, the question
    d: float                    # tokens that a turn adds for all later ones: its reply and tool results
    crossover: float | None     # 2a/d; None when nothing accumulates
    r2: float | None            # share of the variance explained; None for two points or no variance


@dataclass(frozen=True)
class Law:
    """What a run's calls have followed so far, in input tokens or dollars: a·n + d·n(n−1)/2."""

    a: float                # of one ticket, all its calls together; or what every turn resends
    d: float                # what a turn adds for all later ones; 0 for tickets, which do not know of each other
    n: int                  # tickets labelled, or turns taken
    calls: int              # it took so many calls; more than `n` when replies were sent back

    def total(self, n: float) -> float:
        return cumulative(self.a, self.d, n)

    @property
    def even_at(self) -> float | None:
        """Where history has cost as much as the fixed part: at 2a/d + 1 turns. None when nothing accumulates."""
        return 2 * self.a / self.d + 1 if self.a > 0 and self.d > 0 else None

    @property
    def overtaken_from(self) -> int | None:
        """The first of the turns taken from which on history has cost more than the fixed part; None before that."""
        turn = None if self.even_at is None else math.floor(self.even_at) + 1
        return turn if turn is not None and turn <= self.n else None


def law_of(shape: str, calls: Sequence[CallRow], measure: str = "input") -> Law | None:
    """The law of a run's calls, of `measure` "input" or "usd"; None while too little is known.

    Calls that failed, and calls that did not report the figure, are left out: they say nothing of what a call takes.
    """
    step = "agent" if shape == "agent" else "label"
    known = [(c.subject, amount) for c in calls
             if c.step == step and not c.error and (amount := amount_of(c, measure)) is not None]
    if shape != "agent":
        tickets = len({subject for subject, _ in known})
        return Law(sum(amount for _, amount in known) / tickets, 0.0, tickets, len(known)) if known else None
    if len(known) < 3:      # two turns fit any line
        return None
    found = fit([amount for _, amount in known])
    return Law(found.a, found.d, len(known), len(known))


def amount_of(call: CallRow, measure: str) -> float | None:
    return call.input if measure == "input" else call.usd


def fit(inputs: Sequence[float | None]) -> Growth | None:
    """a and d by least squares over what turns 1, 2, … took, in input tokens or dollars; None = not reported, skipped.

    None when fewer than two turns are known, since one point has no slope. For the turns 1 … T without gaps the fit
    keeps their sum: `cumulative(a, d, T) == sum(inputs)`. History has cost as much as the fixed part when
    d·T(T−1)/2 = a·T, at T = 2a/d + 1: the first turn carries no history, `crossover` counts the turns after it.
    """
    points = [(turn, tokens) for turn, tokens in enumerate(inputs) if tokens is not None]
    if len(points) < 2:
        return None
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    d = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    a = mean_y - d * mean_x
    return Growth(a, d, 2 * a / d if a > 0 and d > 0 else None, _r2(points, a, d, mean_y))


def law(a: float, d: float, t: float) -> float:
    """Input tokens of turn t, counted from 1."""
    return a + d * (t - 1)


def cumulative(a: float, d: float, turns: float) -> float:
    """Input tokens of turns 1 … T together: the sum of an arithmetic series, a·T + d·T(T−1)/2."""
    return a * turns + d * turns * (turns - 1) / 2


def _r2(points: list[tuple[int, float]], a: float, d: float, mean: float) -> float | None:
    spread = sum((y - mean) ** 2 for _, y in points)
    if len(points) < 3 or not spread:
        return None
    return 1 - sum((y - a - d * x) ** 2 for x, y in points) / spread
