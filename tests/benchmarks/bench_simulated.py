"""What the simulated API costs this machine: label calls a second through the SDK, and a long agent's turns.

    python tests/benchmarks/bench_simulated.py

Ends with exit code 1 when 40,000 label calls would take over 60 s, sixteen workers a quarter longer than one, an agent
of 200 turns over 10 s, or the work of a late turn over three times what reading and writing its request as JSON takes.
"""

from __future__ import annotations

import csv
import json
import random
import re
import statistics
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from lib.agent import Tool, run_agent  # noqa: E402
from lib.client.connect import connect_simulated  # noqa: E402
from lib.client.layers import Call, layered  # noqa: E402
from lib.errors import TurnLimit  # noqa: E402
from lib.phrases import plural  # noqa: E402
from lib.prompt_map import map_prompts  # noqa: E402
from lib.settings import load  # noqa: E402
from lib.simulated.protocol import handle  # noqa: E402
from lib.simulated.room import Room  # noqa: E402
from lib.task.answers import parse_label  # noqa: E402
from lib.task.default_design import default_design  # noqa: E402
from lib.task.prompts import render_ticket  # noqa: E402
from lib.tickets import Ticket  # noqa: E402

LABELS, ALL_LABELS, ROUNDS, WORKERS = 2_000, 40_000, 5, (1, 16)
TURNS = 200
READ = {"name": "read_ticket", "description": "Returns the whole text of one ticket.",
        "input_schema": {"type": "object", "properties": {"ticket_id": {"type": "string"}}, "required": ["ticket_id"]}}
LIMITS = {"labels": 1.0, "workers": 1.25, "agent": 1.0, "turns": 3.0}


def main() -> int:
    connection = connect_simulated(load({}), speed=0)
    every = tickets(2 * LABELS * ROUNDS)
    alone = label_seconds(connection.client, every[:LABELS * ROUNDS], WORKERS[0])
    together = label_seconds(connection.client, every[LABELS * ROUNDS:], WORKERS[1])
    kept = [
        report("40,000 label calls, seconds / 60", alone * ALL_LABELS / LABELS / 60, LIMITS["labels"]),
        report(f"{WORKERS[1]} workers / {WORKERS[0]}", together / alone, LIMITS["workers"]),
        report("an agent of 200 turns, seconds / 10", agent_seconds(connection.client) / 10, LIMITS["agent"]),
        report("turns 181-200, work beyond JSON / JSON itself", turn_ratio(), LIMITS["turns"]),
    ]
    return 0 if all(kept) else 1


def report(what: str, ratio: float, limit: float) -> bool:
    kept = ratio <= limit
    print(f"{what}: {ratio:.3f} (at most {limit:.2f}) {'ok' if kept else 'BROKEN'}")
    return kept


# --- labels ----------------------------------------------------------------------------------------------------------


def label_seconds(client: Any, every: list[Ticket], workers: int) -> float:
    """Of LABELS calls as the pipeline makes them, in the best of some rounds of different tickets: others may use the
    machine as well."""
    labelled(client, every[:1], workers)        # loads the vocabulary and the SDK's types
    rounds = [labelled(client, every[at:at + LABELS], workers) for at in range(0, len(every), LABELS)]
    best = min(rounds)
    print(f"  {LABELS} tickets, {plural(workers, 'worker')}: {best:.2f} s, {LABELS / best:,.0f} calls a second; "
          f"all rounds {', '.join(f'{seconds:.2f}' for seconds in rounds)}")
    return best


def labelled(client: Any, some: list[Ticket], workers: int) -> float:
    step = default_design().steps["label"]
    started = time.perf_counter()
    map_prompts(client, step.model, step.system, some, render_ticket, parse_label, workers=workers)
    return time.perf_counter() - started


def tickets(number: int) -> list[Ticket]:
    """Tickets that are all different: sentences of the sample in new company."""
    with (ROOT / "sample_data" / "tickets.csv").open(encoding="utf-8") as file:
        bodies = [re.split(r"(?<=[.!?])\s+", row["body"]) for row in csv.DictReader(file)]
    length, mix = round(statistics.mean(map(len, bodies))), random.Random(1)
    sentences = [sentence for body in bodies for sentence in body]
    return [Ticket(str(n), str(n), f"Request {n}", " ".join(mix.choices(sentences, k=length)), f"C-{n % 900}")
            for n in range(number)]


# --- an agent --------------------------------------------------------------------------------------------------------


def agent_seconds(client: Any) -> float:
    """Of an agent that reads another ticket in every turn, through the whole client; the model never gives up."""
    left = iter([ticket.body for ticket in tickets(TURNS)])
    read = Tool(READ["name"], READ["description"], READ["input_schema"], lambda ticket_id: next(left))
    started = time.perf_counter()
    try:
        run_agent(layered(client, ask_for_one_more), "claude-haiku-5-5", "Find the causes of the tickets.",
                  "Which causes are most common?", [read], max_turns=TURNS)
    except TurnLimit:
        pass
    elapsed = time.perf_counter() - started
    print(f"  {TURNS} turns: {elapsed:.2f} s")
    return elapsed


def ask_for_one_more(call: Call, call_next: Any) -> Any:
    """Puts a tool call in the reply's place, so that every agent takes the same turns."""
    reply, number = call_next(call).to_dict(), len(call.request["messages"])
    block = {"type": "tool_use", "id": f"toolu_{number}", "name": "read_ticket", "input": {"ticket_id": str(number)}}
    return {**reply, "content": [*thoughts(reply), block], "stop_reason": "tool_use"}


def thoughts(reply: dict[str, Any]) -> list[dict[str, Any]]:
    return [block for block in reply["content"] if block["type"] == "thinking"]


def turn_ratio() -> float:
    """What `handle` takes in the last turns beyond reading and writing the request as JSON, against just that."""
    room, rows, messages = Room(), [], [{"role": "user", "content": "Which causes are most common?"}]
    for number, ticket in enumerate(tickets(TURNS)):
        request = {"model": "claude-haiku-5-5", "max_tokens": 1024, "system": "Find the causes.", "tools": [READ],
                   "cache_control": {"type": "ephemeral"}, "messages": messages}
        sent, json_seconds = timed(lambda it: json.loads(json.dumps(it)), request)
        reply, seconds = timed(lambda it, at: handle(it, room=room, at=at), sent, 100.0 * number)
        assert reply.status == 200, reply.body
        rows.append((max(0.0, seconds - json_seconds), json_seconds))
        call = {"type": "tool_use", "id": f"toolu_{number}", "name": "read_ticket", "input": {"ticket_id": ticket.key}}
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": ticket.body}
        messages = [*messages, {"role": "assistant", "content": [*thoughts(reply.body), call]},
                    {"role": "user", "content": [result]}]
    (early, _), (late, late_json) = (map(statistics.median, zip(*turns, strict=True))
                                     for turns in (rows[1:20], rows[-20:]))
    print(f"  {early * 1000:.2f} ms a turn early, {late * 1000:.2f} ms late; JSON {late_json * 1000:.2f} ms")
    return late / late_json


def timed(work: Any, *given: Any) -> tuple[Any, float]:
    started = time.perf_counter()
    return work(*given), time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
