"""The two data sets, read as the app reads them, and a run of one with what each of its calls was and brought."""

from __future__ import annotations

import csv
import threading
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from lib.catalog import open_catalog
from lib.client.connect import connect_simulated
from lib.client.layers import layered
from lib.settings import load
from lib.task import SHAPES
from lib.task.default_design import default_design
from lib.tickets import guess_columns, read_table, to_tickets
from lib.tickets.ticket import TicketSet

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
SETS = {"fernhill": SAMPLE, "larkspoon": SAMPLE / "mealkits"}
both_sets = pytest.mark.parametrize("name", SETS)


@dataclass(frozen=True)
class Sent:
    input_tokens: int
    output_tokens: int
    text: str


@cache
def tickets(name: str) -> TicketSet:
    table = read_table("tickets.csv", (SETS[name] / "tickets.csv").read_bytes())
    return to_tickets(table, guess_columns(table))


@cache
def gold(name: str) -> dict[str, str]:
    with (SETS[name] / "gold.csv").open(encoding="utf-8", newline="") as file:
        return {row["ticket_id"]: row["cause"] for row in csv.DictReader(file)}


def top_of_gold(name: str) -> list[str]:
    return [cause for cause, _ in Counter(gold(name).values()).most_common(5)]


def run(name: str, shape: str, design=None, data: TicketSet | None = None):
    """The report, and step -> what was sent and came back, call by call."""
    calls, lock = defaultdict(list), threading.Lock()

    def note(call, call_next):
        reply = call_next(call)
        text = "".join(block.text for block in reply.content if block.type == "text")
        with lock:
            calls[call.step].append(Sent(reply.usage.input_tokens, reply.usage.output_tokens, text))
        return reply

    client = layered(connect_simulated(load({}), speed=0).client, note)
    catalog = open_catalog([("product.db", (SETS[name] / "product.db").read_bytes())])
    return SHAPES[shape](client, design or default_design(), data or tickets(name), catalog), calls


def meant(name: str, report) -> list[str]:
    """The gold cause that most tickets of each reported cause have."""
    return [Counter(gold(name)[key] for key in cause.tickets).most_common(1)[0][0] for cause in report.causes]
