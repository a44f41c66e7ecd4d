"""What the rows of the run store mean in Python: runs, calls, their sums, and what is made of several."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from lib.messages import utf8
from lib.runs.conversations import to_json

SIMULATED_ANSWERS = "simulated answers"     # conditions of a run over a server that simulates them


@dataclass(frozen=True)
class Run:
    id: str
    group: str                  # runs started together, to be compared
    shape: str                  # pipeline | agent
    status: str                 # queued | running | done | stopped | failed | interrupted
    source: str                 # simulated | live | server | replay
    connection: str             # shown name of where the calls went; never a key
    design: dict[str, Any]
    data_id: str
    created: float              # seconds since 1970, as are started and ended
    started: float | None = None
    ended: float | None = None
    error: str = ""
    report: dict[str, Any] | None = None
    prices: dict[str, Any] = field(default_factory=dict)    # as they were when the run began
    desk: str = ""
    title: str = ""
    conditions: str = ""        # what the simulated API was told to do while it answered, in words; "" for nothing
    note: str = ""              # what a person wrote about it
    origin: str = ""            # who answered first, of a replay or of a run opened from a recording; "" for neither
    payer: str = ""             # "owner" where the key of a shared playground's owner was used


@dataclass(frozen=True)
class CallRow:
    """One call. Tokens are None where the server did not report them; an unknown number is never 0."""

    id: int                     # 0 until the store has given it one; ids rise in the order in which calls ended
    run_id: str
    step: str
    subject: str
    model: str
    started: float
    seconds: float              # from its beginning to its end, waiting included
    stop_reason: str | None
    fresh: int | None           # input tokens that were neither written to nor read from the cache
    write_5m: int | None
    write_1h: int | None
    cache_read: int | None
    output: int | None
    thinking: int | None        # part of output
    usd: float | None           # None: no price known; 0.0 on a failed call: the server refused it and bills nothing
    attempts: int = 1           # HTTP requests that were sent for it
    error: str = ""
    waited: float = 0.0         # of `seconds`, those in which it was not sent because the server was busy
    cached: int = 0             # 1: nothing was sent, an earlier run's reply to the same request was taken, for nothing

    @property
    def worked(self) -> float:
        """Seconds in which something was done for it."""
        return self.seconds - self.waited

    @property
    def input(self) -> int | None:
        parts = (self.fresh, self.write_5m, self.write_1h, self.cache_read)
        return None if None in parts else sum(parts)

    @property
    def billed(self) -> bool | None:
        """Whether it costs anything; None for a failed call that may have been billed, such as a lost connection."""
        if not self.error:
            return True
        return False if self.usd == 0 else None


@dataclass(frozen=True)
class Totals:
    """Sums over calls. A sum covers what is known of it and is None when calls were made and nothing is."""

    calls: int
    input: int | None
    output: int | None
    usd: float | None
    unpriced: int               # calls that `usd` leaves out
    unreported: int             # calls that `input` or `output` leaves out, those refused unbilled not counted
    errors: int
    first_started: float | None
    last_ended: float | None
    attempts: int = 0           # HTTP requests, those that the server turned away included
    waited: float = 0.0         # seconds of all calls together, at no tokens
    cached: int = 0             # calls that were answered by an earlier run's reply; their tokens are in the sums


@dataclass(frozen=True)
class Wanted:
    """Which runs of the history are wanted; "" stands for any."""

    text: str = ""              # words that are all somewhere in title, data, design's name, models, note, origin …
    shape: str = ""
    status: str = ""
    source: str = ""


@dataclass(frozen=True)
class Listed:
    """A run in the history, without its report."""

    run: Run
    totals: Totals
    number: int                 # of its group, counted from the first one that is still there
    data_name: str | None       # None: its data are gone


@dataclass(frozen=True)
class Answer:
    """What another run was answered, and that run's conditions."""

    reply: dict[str, Any]
    conditions: str


@dataclass(frozen=True)
class Exchange:
    """A call with what was asked and answered, as the store keeps both."""

    row: CallRow
    fields: bytes               # id of what its request holds beside the messages
    last: bytes | None          # id of its last message, as `conversations.Parts.last`
    reply: str | None           # JSON; None where none came


class Asked(NamedTuple):
    """When a call was made, and its request by the ids of its parts."""

    call_id: int
    run_id: str
    last: bytes | None
    fields: bytes
    started: float
    seconds: float


@dataclass(frozen=True)
class Recorded:
    """All that the store holds of some runs: messages, fields and data sets once each, by their ids."""

    runs: list[Run]
    calls: list[Exchange]                           # in the order in which they ended
    fields: dict[bytes, str]                        # JSON
    nodes: dict[bytes, tuple[bytes, str]]           # id of the message before it, and JSON
    data: dict[str, tuple[str, str, bytes | None]]  # name, the tickets' JSON, the product database


# --- rows of SQL, and back ------------------------------------------------------------------------------------------


def run_of(row: Mapping[str, Any] | sqlite3.Row, read: dict[str, Any] | None = None) -> Run:
    """`read` keeps what was read of JSON texts, so that equal ones become one and the same object."""
    def value(name: str) -> Any:
        text = row[name]
        if text is None or RUN_KINDS[name] != "dict":
            return text
        if read is None:
            return json.loads(text)
        if text not in read:
            read[text] = json.loads(text)
        return read[text]
    return Run(**{name: value(name) for name in row.keys()})


def call_of(row: sqlite3.Row) -> CallRow:
    """Of a row that may have other columns too."""
    return CallRow(**{name: row[name] for name in CALL_KINDS})


# of `call`, as `totals_of` and `sums_of` read them
SUMS = """count(*) as calls,
    sum(fresh + write_5m + write_1h + cache_read) as input, sum(output) as output, sum(usd) as usd,
    coalesce(sum(usd is null), 0) as unpriced,
    coalesce(sum((error = '' or usd is not 0) and fresh + write_5m + write_1h + cache_read + output is null), 0)
        as unreported,
    coalesce(sum(error != ''), 0) as errors,
    min(started) as first_started, max(started + seconds) as last_ended,
    coalesce(sum(attempts), 0) as attempts, coalesce(sum(waited), 0.0) as waited,
    coalesce(sum(cached), 0) as cached"""


def sums_of(row: sqlite3.Row) -> Totals:
    """Of a run in a list of several; its columns are empty where it has no calls yet."""
    zeros = {"calls": 0, "unpriced": 0, "unreported": 0, "errors": 0, "attempts": 0, "waited": 0.0, "cached": 0}
    return totals_of({name: zeros.get(name) if row[name] is None else row[name] for name in _TOTAL_NAMES})


def totals_of(row: Mapping[str, Any]) -> Totals:
    """Of a row with the columns of SUMS."""
    known = {name: row[name] for name in _TOTAL_NAMES}
    for name, missing in (("input", "unreported"), ("output", "unreported"), ("usd", "unpriced")):
        if known[name] is None and not known[missing]:
            known[name] = 0
    if known["unpriced"] and not known["usd"]:
        known["usd"] = None     # all that is known of is what was refused for nothing
    return Totals(**known)


def cells(row: Run | CallRow) -> dict[str, Any]:
    kinds = RUN_KINDS if isinstance(row, Run) else CALL_KINDS
    return {name: cell(kind, getattr(row, name)) for name, kind in kinds.items()}


def cell(kind: str, value: Any) -> Any:
    """The value as SQLite is to keep it: a numpy integer would become a blob, an id of 20 digits overflow."""
    return None if value is None else {"str": plain, "int": int, "float": float, "dict": to_json}[kind](value)


def plain(value: Any) -> str:
    """Text that a database takes; a lone surrogate becomes U+FFFD."""
    return utf8(str(value))


def _kinds(row_type: type) -> dict[str, str]:
    """Column → str, int, float or dict, as the dataclass says."""
    return {f.name: f.type.split("[")[0].split(" ")[0] for f in fields(row_type)}


RUN_KINDS = _kinds(Run)
CALL_KINDS = _kinds(CallRow)
_TOTAL_NAMES = tuple(f.name for f in fields(Totals))
