"""What the what-if takes and gives: recorded calls, a policy, and what the calls would take under it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lib.usage.reported import Usage

AGENT = "agent"     # the step whose calls are one conversation; those of every other step know nothing of each other


@dataclass(frozen=True)
class Exchange:
    """One answered call of a recorded run."""

    step: str
    subject: str
    model: str
    request: dict[str, Any]
    reply: list[dict[str, Any]]     # content blocks
    usage: Usage
    started: float                  # seconds on the run's own time
    seconds: float


@dataclass(frozen=True)
class Policy:
    """What is done differently; whatever is not set stays as recorded."""

    caching: str | None = None      # "off", "auto-5m", "auto-1h" or "system", see client/caching.py
    keep_results: int = 0           # the agent's newest tool results that are sent whole; 0: all that were
    result_rows: int = 0            # rows of one tool result that are sent; 0: all that were
    compact_above: int = 0          # estimated tokens; an agent's longer request is summarised first; 0: none is
    fresh_per_ticket: bool = False  # the agent begins anew with each ticket, from a note of what it found so far
    model: str = ""                 # for every call
    batch: bool = False

    @property
    def changes_text(self) -> bool:
        """Whether other words are sent than those recorded."""
        return bool(self.keep_results or self.result_rows or self.compact_above or self.fresh_per_ticket)

    @property
    def changes_prompt(self) -> bool:
        """Whether the prompts, what is marked in them or who reads them changes; a batch changes their price only."""
        return self.changes_text or bool(self.model) or self.caching is not None


@dataclass(frozen=True)
class Predicted:
    """Tokens of one call, each counted in one of the first five."""

    fresh: int
    write_5m: int
    write_1h: int
    read: int
    output: int
    seconds: float | None       # None: not promised
    usd: float | None           # None: no price known
    added: bool = False         # the policy makes this call, the recorded run did not

    @property
    def input(self) -> int:
        return self.fresh + self.write_5m + self.write_1h + self.read


@dataclass(frozen=True)
class WhatIf:
    calls: tuple[Predicted, ...]
    notes: tuple[str, ...]          # what was assumed, and what else should be known of it, each a plain line
    seconds: float | None = None    # from the first call's start to the last one's end; None: not promised

    @property
    def input(self) -> int:
        return sum(call.input for call in self.calls)

    @property
    def output(self) -> int:
        return sum(call.output for call in self.calls)

    @property
    def usd(self) -> float | None:
        """Of the calls with a known price; None when none has one."""
        return _sum(call.usd for call in self.calls)

    @property
    def unpriced(self) -> int:
        """Calls that `usd` leaves out."""
        return sum(call.usd is None for call in self.calls)


def _sum(parts: Iterable[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known else None
