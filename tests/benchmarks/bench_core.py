"""Times the two promises about the core's own overhead and says whether they hold.

Run from the project's root: python tests/benchmarks/bench_core.py
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.agent import Tool, run_agent  # noqa: E402
from lib.prompt_map import map_prompts  # noqa: E402

INPUTS, WORKERS, CALL_SECONDS = 400, 8, 0.050
TURNS, RUNS = 200, 15
MAP_LIMIT = 1.10        # elapsed / ideal
LOOP_LIMIT = 1.5        # late turns / early turns; work that grows with the history would give about 10


def main() -> int:
    kept = [
        report("map_prompts, elapsed / ideal", map_ratio(), MAP_LIMIT),
        report("run_agent, overhead of turns 181-200 / turns 1-20", loop_ratio(), LOOP_LIMIT),
    ]
    return 0 if all(kept) else 1


def report(what: str, ratio: float, limit: float) -> bool:
    kept = ratio <= limit
    print(f"{what}: {ratio:.3f} (at most {limit:.2f}) {'ok' if kept else 'BROKEN'}")
    return kept


class Client:
    """Answers from `answer(request)`; `.messages.create` is all there is of a client."""

    def __init__(self, answer: Any):
        self.messages = self
        self.create = lambda **request: answer(request)


def map_ratio() -> float:
    def answer(request: dict) -> dict:
        time.sleep(CALL_SECONDS)
        return {"content": [{"type": "text", "text": '{"cause": "late"}'}], "stop_reason": "end_turn"}

    started = time.perf_counter()
    map_prompts(Client(answer), "model", "Label it.", range(INPUTS), str, str, workers=WORKERS)
    elapsed = time.perf_counter() - started
    ideal = INPUTS / WORKERS * CALL_SECONDS
    print(f"  {INPUTS} inputs, {WORKERS} workers, {CALL_SECONDS} s a call: {elapsed:.3f} s, ideal {ideal} s")
    return elapsed / ideal


def loop_ratio() -> float:
    runs = [turn_seconds() for _ in range(RUNS)]
    per_turn = [min(turn) for turn in zip(*runs, strict=True)]      # the least disturbed of the runs
    early, late = statistics.median(per_turn[1:20]), statistics.median(per_turn[-20:])
    print(f"  {TURNS} turns: {early * 1e6:.0f} µs a turn early, {late * 1e6:.0f} µs late")
    return late / early


def turn_seconds() -> list[float]:
    """The loop's own seconds in each turn: from one reply until the next request arrives."""
    arrived: list[float] = []
    replied: list[float] = []

    def answer(request: dict) -> dict:
        arrived.append(time.perf_counter())
        number = len(arrived)
        call = {"type": "tool_use", "id": f"toolu_{number}", "name": "read", "input": {"ticket": f"T-{number}"}}
        last = {"content": [{"type": "text", "text": "done"}], "stop_reason": "end_turn"}
        reply = last if number > TURNS else {"content": [call], "stop_reason": "tool_use"}
        replied.append(time.perf_counter())
        return reply

    schema = {"type": "object", "properties": {"ticket": {"type": "string"}}, "required": ["ticket"]}
    read = Tool("read", "Reads a ticket.", schema, lambda ticket: {"id": ticket, "body": "It broke again. " * 80})
    run_agent(Client(answer), "model", "Find causes.", "Why?", [read], max_turns=TURNS + 1)
    return [after - before for before, after in zip(replied, arrived[1:], strict=False)]


if __name__ == "__main__":
    sys.exit(main())
