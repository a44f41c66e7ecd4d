"""How input tokens grow. An agent's turn resends all before it: T turns cost a·T + d·T(T−1)/2. N tickets cost c·N."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lib.runs.store import CallRow

RESET_SHARE = 0.75      # of the turn before: a turn that sends less has forgotten; one shortened result takes less
FIXED_SHARE = 0.75      # of the first turn: an `a` below it is none that the turns resend, no straight line holds
_T95 = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23)     # for 1 … 10 degrees of freedom


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
    first: float = 0.0      # what the agent's first turn took

    def total(self, n: float) -> float:
        return cumulative(self.a, self.d, n)

    @property
    def even_at(self) -> float | None:
        """Where history has cost as much as the fixed part: at 2a/d + 1 turns. None when nothing accumulates, and when
        `a` is no fixed part, being well below what the first turn took."""
        holds = self.a > 0 and self.a >= FIXED_SHARE * self.first and self.d > 0
        return 2 * self.a / self.d + 1 if holds else None

    @property
    def overtaken_from(self) -> int | None:
        """The first of the turns taken from which on history has cost more than the fixed part; None before that."""
        turn = None if self.even_at is None else math.floor(self.even_at) + 1
        return turn if turn is not None and turn <= self.n else None


@dataclass(frozen=True)
class Segment:
    """Turns between two cuts of the conversation, and the law they follow by themselves."""

    first: int                          # the turn it begins with, counted from 1
    inputs: tuple[float | None, ...]
    growth: Growth | None               # None for a single turn


class Band(NamedTuple):
    """Between `low` and `high` with 95 % confidence, in tokens."""

    low: float
    middle: float
    high: float


def law_of(shape: str, calls: Sequence[CallRow], measure: str = "input") -> Law | None:
    """The law of a run's calls, of `measure` "input" or "usd"; None while too little is known, and for an agent whose
    conversation was cut on the way: no one law holds over that, `segments` has one for each part.

    Calls that failed, and calls that did not report the figure, are left out: they say nothing of what a call takes.
    """
    step = "agent" if shape == "agent" else "label"
    known = [(c.subject, amount) for c in calls
             if c.step == step and not c.error and (amount := amount_of(c, measure)) is not None]
    if shape == "agent" and resets(turns_of(calls)):
        return None
    if shape != "agent":
        tickets = len({subject for subject, _ in known})
        return Law(sum(amount for _, amount in known) / tickets, 0.0, tickets, len(known)) if known else None
    if len(known) < 3:      # two turns fit any line
        return None
    found = fit([amount for _, amount in known])
    return Law(found.a, found.d, len(known), len(known), known[0][1])


def turns_of(calls: Sequence[CallRow]) -> list[int]:
    """Input tokens of the agent's turns that were answered and reported, in order."""
    return [c.input for c in calls if c.step == "agent" and not c.error and c.input is not None]


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


def rest(inputs: Sequence[float], turns: int) -> Band | None:
    """Input tokens of the turns that a running agent has still to take, up to `turns` in all; None before its fourth
    turn since its conversation was last cut.

    In the middle is the law of `fit`, summed over the m turns that are left. What one turn adds beyond d stays for all
    later ones, so errors add up like the steps of a walk. With s² = Σ(step − d)²/(n − 2) over the n − 1 steps from turn
    to turn, which are differences of the fit's residuals, the sum of what is left has the variance

        s² · (m(m+1)(2m+1)/6 + (m(m+1)/2)²/(n − 1)):

    the steps still to come, and d that is known from n − 1 steps only. The band is t(n − 2) of its roots wide to either
    side, Student's t for 95 %. It cannot know that an agent ends sooner or begins to do something else.
    """
    last = segments(inputs)[-1] if inputs else None
    if last is None or len(last.inputs) < 4:
        return None
    found, n, left = last.growth, len(last.inputs), max(0, turns - len(inputs))
    middle = cumulative(found.a, found.d, n + left) - cumulative(found.a, found.d, n)
    steps = [after - before - found.d for before, after in pairwise(last.inputs)]
    spread = sum(step ** 2 for step in steps) / (n - 2)
    variance = spread * (left * (left + 1) * (2 * left + 1) / 6 + (left * (left + 1) / 2) ** 2 / (n - 1))
    off = _student(n - 2) * math.sqrt(variance)
    return Band(max(0.0, middle - off), max(0.0, middle), middle + off)


def resets(inputs: Sequence[float | None]) -> list[int]:
    """The turns, counted from 1, that sent clearly less than the known turn before: what had been said was summarised,
    cleared or left behind there. Turns that reported nothing are passed over."""
    known = [(turn, tokens) for turn, tokens in enumerate(inputs, 1) if tokens is not None]
    return [turn for (_, before), (turn, tokens) in pairwise(known) if tokens < RESET_SHARE * before]


def segments(inputs: Sequence[float | None]) -> list[Segment]:
    """The parts of a conversation between two resets, each with a law of its own."""
    starts = [1, *resets(inputs), len(inputs) + 1]
    parts = [(first, tuple(inputs[first - 1:after - 1])) for first, after in pairwise(starts)]
    return [Segment(first, part, fit(part)) for first, part in parts if part]


def sent_again(inputs: Sequence[float | None]) -> str:
    """"turn 41 sent 23,900 tokens, of which 96 % it had sent before", of the last turn; "" where that is not known.

    A turn sends again all that the turn before it sent, unless the conversation was cut: how much of it stayed is then
    not to be seen from the counts, and the sentence says so.
    """
    turn = len(inputs)
    if turn < 2 or not inputs[-1] or inputs[-2] is None:
        return ""
    before, now = inputs[-2:]
    if now < before:
        return f"turn {turn} sent {now:,.0f} tokens, {before - now:,.0f} fewer than the one before: history was cut"
    return f"turn {turn} sent {now:,.0f} tokens, of which {percent_before(before, now)} % it had sent before"


def percent_before(before: float, now: float) -> int:
    """How much of a turn's input the turn before it had sent, rounded down: what is new is never told as nothing."""
    return math.floor(100 * before / now)


def _student(freedom: int) -> float:
    """Half the width of a 95 % band in standard errors: Student's t, above ten degrees by 1.96 + 2.372/ν + 2.83/ν²."""
    return _T95[freedom - 1] if freedom <= len(_T95) else 1.96 + 2.372 / freedom + 2.83 / freedom ** 2


def _r2(points: list[tuple[int, float]], a: float, d: float, mean: float) -> float | None:
    spread = sum((y - mean) ** 2 for _, y in points)
    if len(points) < 3 or not spread:
        return None
    return 1 - sum((y - a - d * x) ** 2 for x, y in points) / spread
