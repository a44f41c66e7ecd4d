"""How an agent's input tokens grow: every turn resends all before it, so a run costs a·T + d·T(T−1)/2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Growth:
    """Turn t sends about a + d·(t−1) input tokens."""

    a: float                    # tokens that every turn resends: system prompt, tools, the question
    d: float                    # tokens that a turn adds for all later ones: its reply and tool results
    crossover: float | None     # 2a/d; None when nothing accumulates
    r2: float | None            # share of the variance explained; None for two points or no variance


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
