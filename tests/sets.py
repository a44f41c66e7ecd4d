"""The two sample data sets, read as the app reads them, and whole runs on them over the simulated Messages API."""

from __future__ import annotations

import csv
import threading
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lib.catalog import Catalog, open_catalog
from lib.client.connect import connect_simulated
from lib.client.layers import layered
from lib.client.timeline import SimulatedTime
from lib.design import Design
from lib.errors import PlaygroundError
from lib.settings import load
from lib.simulated.conditions import Conditions
from lib.task import SHAPES
from lib.task.default_design import default_design
from lib.task.report import Report
from lib.tickets import guess_columns, read_table, to_tickets
from lib.tickets.ticket import Ticket, TicketSet
from lib.usage.reported import Usage, reported

SAMPLE = Path(__file__).resolve().parents[1] / "sample_data"
SETS = {"fernhill": SAMPLE, "larkspoon": SAMPLE / "mealkits"}
both_sets = pytest.mark.parametrize("name", SETS)


@cache
def tickets(name: str) -> TicketSet:
    table = read_table("tickets.csv", (SETS[name] / "tickets.csv").read_bytes())
    return to_tickets(table, guess_columns(table))


@cache
def catalog(name: str) -> Catalog:
    return open_catalog([("product.db", (SETS[name] / "product.db").read_bytes())])


@cache
def gold(name: str) -> dict[str, str]:
    with (SETS[name] / "gold.csv").open(encoding="utf-8", newline="") as file:
        return {row["ticket_id"]: row["cause"] for row in csv.DictReader(file)}


def top_of_gold(name: str) -> list[str]:
    return [cause for cause, _ in Counter(gold(name).values()).most_common(5)]


def meant(name: str, report: Report) -> list[str]:
    """The gold cause that most tickets of each reported cause have: gold and model need not use the same words."""
    return [Counter(gold(name)[key] for key in cause.tickets).most_common(1)[0][0] for cause in report.causes]


@dataclass
class Ran:
    """A run's report or the error that ended it, and every request with its reply, in order of their ends."""

    report: Any = None
    error: PlaygroundError | None = None
    exchanges: list[tuple[str, dict, Any]] = field(default_factory=list)
    seconds: float = 0.0        # on the simulation's clock

    def step(self, name: str) -> list[tuple[dict, Any]]:
        return [(request, reply) for step, request, reply in self.exchanges if step == name]

    def texts(self, step: str) -> list[str]:
        """What was said in each reply of a step."""
        return ["".join(block.text for block in reply.content if block.type == "text") for _, reply in self.step(step)]

    def usages(self, step: str = "") -> list[Usage]:
        return [reported(reply) for name, _, reply in self.exchanges if step in ("", name)]

    @property
    def turns(self) -> int:
        return len(self.step("agent"))

    @property
    def input(self) -> int:
        return sum(u.fresh + u.write_5m + u.write_1h + u.cache_read for u in self.usages())

    def calls(self) -> list[tuple[str, dict, bool]]:
        """(tool, arguments, whether it failed) of the agent's calls, from its last request and reply."""
        messages = self.step("agent")[-1][0]["messages"]
        blocks = [b for m in messages if not isinstance(m["content"], str) for b in m["content"]]
        failed = {b["tool_use_id"]: bool(b.get("is_error")) for b in blocks if b["type"] == "tool_result"}
        return [(b["name"], b["input"], failed.get(b["id"], False)) for b in blocks if b["type"] == "tool_use"]

    def failed_checks(self) -> set[str]:
        return {check.name for check in self.report.checks if not check.passed}


def run(shape: str, name: str, design: Design | None = None, more: tuple[Ticket, ...] = (),
        conditions: Conditions | None = None) -> Ran:
    """One run on a set, with `more` tickets added to it, on the simulation's own time."""
    ran, lock = Ran(), threading.Lock()
    data = TicketSet(tickets(name).name, (*tickets(name).tickets, *more)) if more else tickets(name)

    def note(call, call_next):
        call.sent.began = timeline.begin(call.step, call.after, call.subject)
        reply = call_next(call)
        timeline.end(call.sent.began, call.sent.seconds)
        with lock:
            ran.exchanges.append((call.step, call.request, reply))
        return reply

    connection = connect_simulated(load({}), speed=0, conditions=conditions or Conditions())
    began = connection.clock.now()
    timeline, client = SimulatedTime(began), layered(connection.client, note)
    try:
        ran.report = SHAPES[shape](client, design or default_design(), data, catalog(name))
    except PlaygroundError as error:
        ran.error = error
    ran.seconds = timeline.now() - began
    return ran


@cache
def usual(shape: str, name: str) -> Ran:
    """The run of the unchanged design."""
    return run(shape, name)
