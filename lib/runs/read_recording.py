"""From the JSON of a recording, which a stranger may have made, to what the run store takes: every field is looked at,
every id made anew. Its format is told in `recording`."""

from __future__ import annotations

import base64
import binascii
import json
import secrets
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from lib.catalog import Catalog, reopen_catalog
from lib.design import Design
from lib.design_file import check_choices
from lib.errors import InputError
from lib.runs.api_shapes import check_fields_of_request, check_message, check_reply
from lib.runs.conversations import ROOT, digest, to_json
from lib.runs.store import CallRow, Exchange, Recorded, Run, data_id_of
from lib.runs.untrusted import Wrong, at, check, check_fields, check_range, described, kinds_of, optional
from lib.task import SHAPES
from lib.task.problems import RANGES
from lib.task.report import Report
from lib.tickets import TicketSet
from lib.tickets.table import one_line

FORMAT, VERSION = "pipeline-or-agent recording", 1
MOST_CALLS = 100_000
LONGEST_CONVERSATION = 10_000   # messages
MOST_RESENT = 4 * 2**30         # characters of all requests of all calls, were each written out
LONGEST_WORDS = 1_000_000       # characters of a title, an error, a call's subject: any text may be a ticket's id

NOT_KEPT = ("id", "group", "data_id", "desk", "payer")      # of a run: ids mean nothing elsewhere, and open doors here
_STATUS = ("queued", "running", "done", "stopped", "failed", "interrupted")
_SOURCES = ("simulated", "live", "server", "replay")


def origin_of(run: Run) -> str:
    """Who answered a run at first, in words: "live · Anthropic API · recorded 2026-11-12"."""
    who = dict.fromkeys((run.source, run.connection))      # the simulation has no other name
    return run.origin or " · ".join([*filter(None, who), f"recorded {day(run.created)}"])


def day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


def recorded_of(file: Any, desk: str) -> Recorded:
    """The runs, as runs of this desk that have ended. Raises Wrong."""
    _check_head(file)
    check_fields(_FILE, file)
    _check_amounts(file)
    data = [at(("data", n), _read_data, entry) for n, entry in enumerate(file["data"], start=1)]
    fields = [at(("fields", n), _read_fields, entry) for n, entry in enumerate(file["fields"], start=1)]
    conversations = _Conversations(file["messages"])
    groups: dict[int, str] = defaultdict(lambda: secrets.token_urlsafe(9))
    runs, calls = [], []
    for n, row in enumerate(file["runs"], start=1):
        run = at(("runs", n), _read_run, row, data, desk, groups)
        runs.append(run)
        for m, call in enumerate(row["calls"], start=1):
            calls.append(at(("runs", n, "calls", m), _read_call, call, run.id, fields, conversations))
    conversations.check_resent()
    return Recorded(runs, calls, dict(fields), conversations.nodes,
                    {kept.id: (kept.name, kept.tickets, kept.catalog) for kept in data})


def _check_head(file: Any) -> None:
    if not isinstance(file, dict) or file.get("format") != FORMAT:
        raise Wrong("it is no recording of a run. Choose a file that was saved with Save recording")
    at(("version",), check, int, file.get("version"))
    if file["version"] > VERSION:
        raise Wrong(f"it was saved by a newer version of the playground (its format is {file['version']}, this one "
                    f"reads {VERSION}). Update the playground to open it")
    if file["version"] != VERSION:
        raise Wrong(f"its format is {file['version']}, and there was never such a one")


def _check_amounts(file: Mapping[str, Any]) -> None:
    calls = sum(len(run["calls"]) for run in file["runs"] if isinstance(run.get("calls"), list))
    if calls > MOST_CALLS:
        raise Wrong(f"it holds {calls:,} calls, {MOST_CALLS:,} are the limit")
    if not file["runs"]:
        raise Wrong("it holds no run")


# --- data


@dataclass(frozen=True)
class _Kept:
    id: str
    name: str
    tickets: str
    catalog: bytes | None
    keys: frozenset[str]


def _read_data(entry: dict[str, Any]) -> _Kept:
    tickets = TicketSet.from_json(json.dumps(entry["tickets"]))
    if len(tickets.by_key) < len(tickets):
        raise Wrong("two tickets have the same key")
    catalog = None if entry["catalog"] is None else _read_catalog(entry["catalog"]).to_bytes()
    text = tickets.to_json()
    return _Kept(data_id_of(text, catalog), tickets.name, text, catalog, frozenset(tickets.by_key))


def _read_catalog(text: str) -> Catalog:
    try:
        return reopen_catalog("its product database", base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError) as error:
        raise Wrong("the product database is no base64") from error
    except InputError as error:
        raise Wrong(str(error)) from error


# --- requests


def _read_fields(entry: dict[str, Any]) -> tuple[bytes, str]:
    check_fields_of_request(entry)
    return digest(ROOT, entry), to_json(entry)


class _Conversations:
    """The messages of a file. Their ids follow from their content; what a file says comes before it, stands before it,
    so there can be no circle."""

    def __init__(self, messages: Sequence[dict[str, Any]]):
        self.nodes: dict[bytes, tuple[bytes, str]] = {}
        self._ids, self._lengths, self._sizes = [ROOT], [0], [0]
        self._resent = 0
        for number, entry in enumerate(messages, start=1):
            at(("messages", number), self._add, entry, number)

    def _add(self, entry: dict[str, Any], number: int) -> None:
        after, message = entry["after"], entry["message"]
        if not 0 <= after < number:
            raise Wrong(f"message {after} does not stand before it", "after")
        at(("message",), check_message, message)
        text, parent = to_json(message), self._ids[after]
        self._ids.append(digest(parent, message))
        self._lengths.append(self._lengths[after] + 1)
        self._sizes.append(self._sizes[after] + len(text))
        if self._lengths[-1] > LONGEST_CONVERSATION:
            raise Wrong(f"a conversation of more than {LONGEST_CONVERSATION:,} messages")
        self.nodes[self._ids[-1]] = (parent, text)

    def last(self, number: int | None, fields: str) -> bytes | None:
        """The id of a request's last message; counts what the request would be as a whole."""
        if number is None:
            return None
        if not 0 <= number < len(self._ids):
            raise Wrong(f"there is no message {number}", "last")
        self._resent += self._sizes[number] + len(fields)
        return self._ids[number]

    def check_resent(self) -> None:
        if self._resent > MOST_RESENT:
            raise Wrong(f"its requests would be {self._resent / 2**30:,.0f} GB, written out; {MOST_RESENT / 2**30:.0f} "
                        "are the limit")


# --- runs and calls


def _read_run(row: dict[str, Any], data: Sequence[_Kept], desk: str, groups: Mapping[int, str]) -> Run:
    check_fields(_RUN, row, optional(Run))
    _check_row(row)
    for name, known in (("shape", SHAPES), ("status", _STATUS), ("source", _SOURCES)):
        if row[name] not in known:
            raise Wrong(f"{described(row[name])} is not one of {', '.join(sorted(known))}", name)
    number = row["data"]
    if number is not None and not 1 <= number <= len(data):
        raise Wrong(f"there is no data set {number}", "data")
    kept = data[number - 1] if number else None
    at(("design",), _check_design, row["design"])
    if row.get("report") is not None:
        at(("report",), _check_report, row["report"], row["shape"], kept)
    at(("prices",), _check_prices, row.get("prices", {}))
    run = Run(**{name: value for name, value in row.items() if name not in ("data", "calls", "group")},
              id=secrets.token_urlsafe(9), group=groups[row["group"]], data_id=kept.id if kept else "", desk=desk)
    return _ended(run)


def _ended(run: Run) -> Run:
    """Nobody works at it here, whatever it was doing when it was saved."""
    words = {name: one_line(getattr(run, name)) for name in ("title", "connection", "conditions")}
    if run.status in ("queued", "running"):
        words |= {"status": "interrupted", "error": run.error or "It was saved while it was going."}
    return replace(run, **words, origin=one_line(origin_of(run)))


def _check_row(row: Mapping[str, Any]) -> None:
    """The numbers and texts of a run or a call."""
    for name, value in row.items():
        if name in _RANGES:
            at((name,), check_range, value, 0, _RANGES[name])
        elif isinstance(value, str) and len(value) > LONGEST_WORDS:
            raise Wrong(f"a text of {len(value):,} characters, {LONGEST_WORDS:,} are the limit", name)


def _check_design(row: dict[str, Any]) -> None:
    """That it may be shown and run. What its prompts and tools say is the person's affair, as on the Design page."""
    for place, (lowest, highest) in RANGES.items():
        owner, _, name = place.rpartition(".")
        if (value := (row["limits"] if owner else row).get(name)) is not None:
            at((place,), check_range, value, lowest, highest)
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise Wrong("half a character stands in it, which cannot be sent") from error
    check_choices(row)
    for name, step in row["steps"].items():
        at(("steps", name, "max_tokens"), check_range, step["max_tokens"], 1, 1e9)


def _check_report(row: dict[str, Any], shape: str, data: _Kept | None) -> None:
    if row["shape"] != shape:
        raise Wrong(f"it is a report of {described(row['shape'])}", "shape")
    named = {*row["labels"], *row["failed"], *(key for cause in row["causes"] for key in cause["tickets"])}
    if data and (unknown := named - data.keys):
        raise Wrong(f"{described(min(unknown))} is no ticket of the data")
    Report.from_dict(row)


def _check_prices(row: dict[str, Any]) -> None:
    at(("per",), check_range, row.get("per"), 1, 1e12)
    for model, price in row.get("models", {}).items():
        for rates in (price, *price["tiers"]):
            for part in kinds_of(_Rates):
                at((model, part), check_range, rates[part], 0, 1e9)


def _read_call(row: dict[str, Any], run_id: str, fields: Sequence[tuple[bytes, str]],
               conversations: _Conversations) -> Exchange:
    check_fields(_CALL, row, optional(CallRow))
    _check_row(row)
    if not 1 <= row["fields"] <= len(fields):
        raise Wrong(f"there is no entry {row['fields']}", "fields")
    if row["reply"] is not None:
        at(("reply",), check_reply, row["reply"])
    elif not row.get("error"):
        raise Wrong("it has neither a reply nor an error")
    fields_id, text = fields[row["fields"] - 1]
    told = {name: value for name, value in row.items() if name not in ("fields", "last", "reply")}
    return Exchange(CallRow(**told, id=0, run_id=run_id), fields_id, conversations.last(row["last"], text),
                    None if row["reply"] is None else to_json(row["reply"]))


# --- what stands in the file

@dataclass(frozen=True)
class _Data:
    tickets: TicketSet
    catalog: str | None


@dataclass(frozen=True)
class _Message:
    after: int
    message: dict[str, Any]


@dataclass(frozen=True)
class _Rates:
    input: float | None
    output: float | None
    write_5m: float | None
    write_1h: float | None
    read: float | None


@dataclass(frozen=True)
class _Tier(_Rates):
    above: float


@dataclass(frozen=True)
class _Price(_Rates):
    source: str
    tiers: tuple[_Tier, ...]


@dataclass(frozen=True)
class _Prices:
    """As `usage.prices` makes them."""

    date: str = ""
    currency: str = ""
    per: float = 1_000_000
    models: dict[str, _Price] = field(default_factory=dict)


_FILE = {"format": str, "version": int, "data": tuple[_Data, ...], "fields": tuple[dict[str, Any], ...],
         "messages": tuple[_Message, ...], "runs": tuple[dict[str, Any], ...]}
_RUN = {**{name: kind for name, kind in kinds_of(Run).items() if name not in NOT_KEPT}, "design": Design,
        "report": Report | None, "prices": _Prices, "group": int, "data": int | None,
        "calls": tuple[dict[str, Any], ...]}
_CALL = {**{name: kind for name, kind in kinds_of(CallRow).items() if name not in ("id", "run_id")},
         "fields": int, "last": int | None, "reply": dict[str, Any] | None}
_TIMES = ("created", "started", "ended", "seconds", "waited")
_RANGES = {     # of numbers in runs and calls: sums over all calls must fit, times must be dates
    **dict.fromkeys(_TIMES, 4e9), **dict.fromkeys(("fresh", "write_5m", "write_1h", "cache_read", "output"), 1e12),
    "thinking": 1e12, "usd": 1e9, "attempts": 1e6, "cached": 1,
}
