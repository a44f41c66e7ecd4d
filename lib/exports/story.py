"""The report of a group of runs in words and figures as people read them, for `page` and `markdown` to lay out.

Every text may be a stranger's: what lays it out escapes all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

QUOTES = 3      # told per cause; the tables have all of them


@dataclass(frozen=True)
class Sheet:
    """A small table. Columns from `figures` on hold figures."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    figures: int = 1


@dataclass(frozen=True)
class Quote:
    ticket: str
    text: str
    found: bool         # it stands in that ticket


@dataclass(frozen=True)
class Told:
    """One cause as one shape tells it."""

    shape: str
    name: str
    count: str                          # "9 tickets"
    claimed: str = ""                   # what the model stated instead; "" where it is the same
    customers: str = ""                 # one line on them
    summary: str = ""
    quotes: tuple[Quote, ...] = ()
    details: tuple[tuple[str, str], ...] = ()       # (what, names)
    sheet: Sheet | None = None          # its customers


@dataclass(frozen=True)
class Pair:
    """The same cause in both answers, or a cause that only one of them has."""

    left: Told | None
    right: Told | None
    differs: str = ""       # in a few words; "" where both agree, or where there is nothing to compare
    same: bool = False      # both have the same tickets and customers


@dataclass(frozen=True)
class Checked:
    """What code checked of one answer: (mark, line), failed ones first."""

    shape: str
    told: str
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Folded:
    """A long text that is opened when it is wanted."""

    title: str
    text: str


@dataclass(frozen=True)
class Story:
    title: str
    sentence: str                                   # the one line on both answers; "" while there is none
    made: str                                       # when the runs were made
    badges: tuple[str, ...]                         # simulated, live, replay …
    source: tuple[str, ...]                         # the same in plain sentences
    shapes: tuple[str, ...]
    asked: tuple[tuple[str, str], ...]              # (what, how)
    figures: Sheet
    notes: tuple[str, ...] = ()                     # how runs ended that did not get to their end, and the like
    pairs: tuple[Pair, ...] = ()
    checks: tuple[Checked, ...] = ()
    steps: Sheet | None = None
    growth: tuple[dict[str, Any], ...] = ()         # rows of lib.charts.growth_rows
    growth_lines: tuple[str, ...] = ()
    prompts: tuple[Folded, ...] = ()
    footer: tuple[str, ...] = ()
