"""What both shapes take at another number of tickets: 40 → 100,000. The figures of a run's own calls, where there are
some, correct those of the forecast; everything else held fixed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lib.design import Design
from lib.models import model
from lib.task.forecast import Agent, Part, agent_at, fault_of, for_an_hour, pipeline_parts, turns_needed
from lib.tickets.ticket import TicketSet
from lib.usage.growth import Law, law_of
from lib.usage.prices import BATCH

if TYPE_CHECKING:
    from lib.runs.store import CallRow

SIZES = (40, 100, 1_000, 10_000, 100_000)
BATCHED = "a batch halves the price of the label calls; merges and summaries wait for what they say"


@dataclass(frozen=True)
class ScaleRow:
    """One shape at one number of tickets. Where it does not fit the window, the figures are those of the law alone."""

    shape: str
    tickets: int
    calls: int
    input: int                  # tokens
    output: int
    usd: float | None           # None for a model without a known price
    usd_batch: float | None     # with the label calls sent as a batch; None also for an agent: its turns are in a row
    seconds: float
    fits: bool                  # no request outgrows its model's context window
    note: str = ""              # where the window or a price step is met, what a batch does; one plain line
    stepped: bool = False       # some request is so long that a higher price holds for all of it


def scale(design: Design, tickets: TicketSet, calls: Mapping[str, Sequence[CallRow]], prices: Mapping[str, Any],
          sizes: Sequence[int] = SIZES) -> list[ScaleRow]:
    """A row per shape and size, the pipeline first. `calls` holds the calls that a shape made on all of `tickets`.

    Pipeline: c tokens per ticket, merges as a tree, a summary of each top cause; so it is linear but for the merges.
    Agent: a·T + d·T(T−1)/2 over T turns, which rise with the tickets as the forecast says. What a run's step took
    above its forecast, in tokens, dollars and seconds, it is taken to exceed at every size. [] without tickets, and
    for a design that cannot run.
    """
    if not tickets.tickets or fault_of(design):
        return []
    pipeline = _Pipeline(design, tickets, prices, calls.get("pipeline", ()))
    agent = _Agent(design, tickets, prices, calls.get("agent", ()))
    return [shape.at(number) for shape in (pipeline, agent) for number in sizes]


# --- the pipeline ----------------------------------------------------------------------------------------------------


class _Pipeline:
    def __init__(self, design: Design, tickets: TicketSet, prices: Mapping[str, Any], calls: Sequence[CallRow]):
        self._design, self._tickets, self._prices = design, tickets, prices
        told = pipeline_parts(design, tickets, len(tickets))
        self._steps = tuple(dict.fromkeys(part.step for part in told))
        self._corrections = {step: self._correction([p for p in told if p.step == step],
                                                    [c for c in calls if c.step == step and not c.error])
                             for step in self._steps}

    def at(self, number: int) -> ScaleRow:
        parts = pipeline_parts(self._design, self._tickets, number)
        sums = {step: self._sum([p for p in parts if p.step == step]).times(self._corrections[step])
                for step in self._steps}
        whole = _added(sums.values())
        usd_batch = None if whole.usd is None else whole.usd - sums["label"].usd * (1 - BATCH)
        full = [p.step for p in parts if p.input > model(p.model).window]
        return ScaleRow("pipeline", number, round(whole.calls), round(whole.input), round(whole.output), whole.usd,
                        usd_batch, whole.seconds, not full, _pipeline_note(full))

    def _correction(self, told: Sequence[Part], calls: Sequence[CallRow]) -> _Sums:
        """What the run's calls took over what was forecast, figure by figure; 1 for what no call reported."""
        expected, one_by_one = self._sum(told), self._sum(replace(part, at_once=1) for part in told)
        return _Sums(_ratio([1] * len(calls), expected.calls), _ratio([c.input for c in calls], expected.input),
                     _ratio([c.output for c in calls], expected.output), _ratio([c.usd for c in calls], expected.usd),
                     _ratio([c.worked for c in calls], one_by_one.seconds))

    def _sum(self, parts: Iterable[Part]) -> _Sums:
        return _added(_sums(part, self._prices, for_an_hour(self._design)) for part in parts)


def _pipeline_note(full: Sequence[str]) -> str:
    if full:
        return f"the {full[0]} prompt is longer than its model's context window"
    return BATCHED


# --- the agent -------------------------------------------------------------------------------------------------------


class _Agent:
    def __init__(self, design: Design, tickets: TicketSet, prices: Mapping[str, Any], calls: Sequence[CallRow]):
        self._design, self._tickets, self._prices = design, tickets, prices
        self._model = design.steps["agent"].model
        self._law = law_of("agent", calls)
        turns = [c for c in calls if c.step == "agent" and not c.error] if self._law else []
        self._turns = _ratio([1] * len(turns), turns_needed(design, len(tickets)))
        told = self._sum(len(tickets))
        self._more = _Sums(1, 1, _ratio([c.output for c in turns], told.output),
                           _ratio([c.usd for c in turns], told.usd), _ratio([c.worked for c in turns], told.seconds))

    def at(self, number: int) -> ScaleRow:
        agent, turns = self._agent(number), self._count(number)
        whole = self._sum(number).times(self._more)
        fits = self._first_above(agent, turns, model(self._model).window) is None
        stepped = any(self._first_above(agent, turns, tier["above"]) is not None for tier in self._tiers())
        return ScaleRow("agent", number, turns, round(whole.input), round(whole.output), whole.usd, None,
                        whole.seconds, fits, self._note(agent, number, turns), stepped)

    def _sum(self, number: int) -> _Sums:
        agent, turns = self._agent(number), self._count(number)
        return _added(_sums(agent.turn(middle, turns), self._prices, for_an_hour(self._design)).times(_each(many))
                      for middle, many in _stretches(turns, self._bends(agent, turns)))

    def _agent(self, number: int) -> Agent:
        agent = agent_at(self._design, self._tickets, number)
        return agent if self._law is None else _Measured(agent.design, number, agent.first, agent.pace, self._law)

    def _count(self, number: int) -> int:
        return max(1, round(turns_needed(self._design, number) * self._turns))

    def _bends(self, agent: Agent, turns: int) -> list[float]:
        """Turns at which what a turn costs changes its slope: between them it is a straight line."""
        lengths = [tier["above"] for tier in self._tiers()] + [model(self._model).cache_minimum]
        met = [self._first_above(agent, turns, length) for length in lengths]
        kept = [math.floor(agent.pace.kept) + 1] if agent.pace.kept < turns else []
        return [1, *(turn for turn in met if turn is not None), *kept]

    def _tiers(self) -> list[Mapping[str, Any]]:
        return self._prices.get("models", {}).get(self._model, {}).get("tiers", [])

    def _first_above(self, agent: Agent, turns: int, tokens: float) -> int | None:
        """The first of the turns, counted from 0, that sends more than so many tokens: a search by halves."""
        if agent.input(turns - 1) <= tokens:
            return None
        low, high = 0, turns - 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if agent.input(middle) > tokens else (middle + 1, high)
        return low

    def _note(self, agent: Agent, number: int, turns: int) -> str:
        window, base = model(self._model).window, self._prices.get("models", {}).get(self._model, {})
        notes = []
        for tier in self._tiers():
            met = self._first_above(agent, turns, tier["above"])
            if met is not None and base.get("input"):
                notes.append(f"from {_place(met, number, turns)}, on each request is above {tier['above']:,} tokens "
                             f"and a token costs {tier['input'] / base['input']:g} times as much")
        if (met := self._first_above(agent, turns, window)) is not None:
            notes.append(f"{_place(met, number, turns)}, would outgrow the {window:,} tokens of {self._model}")
        elif turns > self._design.limits.max_turns:
            notes.append(f"the limit of {self._design.limits.max_turns:,} turns would end it first")
        return "; ".join(notes)


@dataclass(frozen=True)
class _Measured(Agent):
    """An agent whose input follows the law of a run."""

    law: Law

    def input(self, turn: float) -> float:
        return self.law.a + max(0.0, self.law.d) * turn


def _place(turn: int, number: int, turns: int) -> str:
    """In the reader's count, from 1. Tickets are read evenly over the turns, which two digits do justice to."""
    ticket = number * turn / turns
    return f"turn {turn + 1:,}, about ticket {round(ticket, 2 - len(str(int(ticket)))):,.0f}"


def _stretches(turns: int, bends: Iterable[int]) -> list[tuple[float, int]]:
    """(middle, number of turns) of each stretch between two bends. A straight line's sum is its middle × number."""
    ends = sorted({0, turns, *(bend for bend in bends if 0 < bend < turns)})
    return [((first + after - 1) / 2, after - first) for first, after in zip(ends, ends[1:], strict=False)]


# --- sums ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Sums:
    calls: float
    input: float
    output: float
    usd: float | None
    seconds: float

    def times(self, factors: _Sums) -> _Sums:
        usd = None if self.usd is None else self.usd * factors.usd
        return _Sums(self.calls * factors.calls, self.input * factors.input, self.output * factors.output, usd,
                     self.seconds * factors.seconds)


def _sums(part: Part, prices: Mapping[str, Any], hour: bool) -> _Sums:
    return _Sums(part.number, part.number * part.input, part.number * part.output, part.usd(prices, hour), part.seconds)


def _each(many: float) -> _Sums:
    return _Sums(many, many, many, many, many)


def _added(sums: Iterable[_Sums]) -> _Sums:
    given = list(sums)
    usd = [s.usd for s in given]
    return _Sums(sum(s.calls for s in given), sum(s.input for s in given), sum(s.output for s in given),
                 None if None in usd else sum(usd), sum(s.seconds for s in given))


def _ratio(amounts: Sequence[float | None], expected: float | None) -> float:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) / expected if known and len(known) == len(amounts) and expected else 1.0
