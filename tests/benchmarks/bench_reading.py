"""A large upload in a fresh process: 100,000 tickets of 2,500 characters from bytes to tickets, seconds and memory.

    python tests/benchmarks/bench_reading.py [tickets]
"""

from __future__ import annotations

import csv
import json
import random
import resource
import subprocess
import sys
import time
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from lib.task.prompts import render_ticket  # noqa: E402
from lib.tickets import guess_columns, read_table, to_tickets, views  # noqa: E402
from lib.usage.tokens import estimate  # noqa: E402

CHARACTERS = 2_500
SECONDS, RERUN_SECONDS = 10.0, 0.4
MEGABYTES = {"csv": 1_200, "jsonl": 1_200, "json": 1_500}
NAMES = ("ticket_id", "subject", "description", "customer_id", "product", "created_at", "root cause", "status")
WORDS = ("the order app calendar invoice crashed when I tried to open it yesterday and nobody answered my mail please "
         "refund or help since we cannot work any more “really” café it’s").split()


def rows(number: int):
    chance = random.Random(1)
    texts = [_text(chance) for _ in range(500)]
    for i in range(number):
        text = texts[i % len(texts)]
        cut = chance.randrange(CHARACTERS)
        body = f"{i} {text[cut:]} {text[:cut]}"[:CHARACTERS]
        yield (f"T-{i:06d}", f"Ticket {i} about an order", ("😕" if i % 50 == 0 else "") + body, f"C-{i % 5_000:05d}",
               f"P-{i % 40}", f"2026-{i % 12 + 1:02d}-{i % 28 + 1:02d}", f"cause {i % 9}", "open")


def _text(chance: random.Random) -> str:
    words: list[str] = []
    while sum(map(len, words)) + len(words) < CHARACTERS + 10:
        words += [chance.choice(WORDS) + ("\n" if chance.random() < 0.02 else "") for _ in range(50)]
    return " ".join(words)


def write(path: Path, kind: str, number: int) -> None:
    """Row by row: the peak of a process counts from what its parent held when it began."""
    with path.open("w", encoding="utf-8", newline="") as file:
        if kind == "csv":
            csv.writer(file).writerows(chain([NAMES], rows(number)))
            return
        lines = (json.dumps(dict(zip(NAMES, row, strict=True)), ensure_ascii=False) for row in rows(number))
        for at, line in enumerate(lines):
            file.write(line if kind == "jsonl" else (",\n" if at else "[") + line)
            file.write("\n" if kind == "jsonl" else "]" if at == number - 1 else "")


def measure(path: str) -> None:
    """Prints what one file took, in this process."""
    data = Path(path).read_bytes()
    table, reading = timed(lambda: read_table(path, data))
    columns, guessing = timed(lambda: guess_columns(table))
    tickets, making = timed(lambda: to_tickets(table, columns))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    _, version = timed(lambda: tickets.version)
    looks = max(timed(look)[1] for look in (
        lambda: views.columns_of(table), lambda: views.characters(tickets), lambda: views.counts(tickets, "label")))
    estimate("warm", "claude-haiku-5-5")
    _, counting = timed(lambda: views.tokens(tickets, lambda t: estimate(render_ticket(t), "claude-haiku-5-5")))
    print(json.dumps({"tickets": len(tickets), "read": reading, "guess": guessing, "make": making, "peak": peak,
                      "hash": version, "looks": looks, "tokens": counting}))


def timed(work):
    """(result, processor seconds: others may share the machine)"""
    begun = time.process_time()
    result = work()
    return result, time.process_time() - begun


def main(number: int) -> int:
    broken = 0
    for kind, most in MEGABYTES.items():
        path = ROOT / ".playground" / f"bench_reading.{kind}"
        path.parent.mkdir(exist_ok=True)
        try:
            write(path, kind, number)
            done = subprocess.run([sys.executable, __file__, "--measure", str(path)], capture_output=True, text=True,
                                  check=True)
            size = path.stat().st_size / 2**20
        finally:
            path.unlink(missing_ok=True)
        took = json.loads(done.stdout)
        seconds = took["read"] + took["guess"] + took["make"]
        broken += took["tickets"] != number or seconds > SECONDS or took["peak"] > most or took["looks"] > RERUN_SECONDS
        print(f"{kind}: {took['tickets']:,} tickets, {size:.0f} MB: {seconds:.1f} s of {SECONDS:.0f} "
              f"(read {took['read']:.1f}, guess {took['guess']:.2f}, make {took['make']:.1f}), "
              f"peak {took['peak']:,.0f} MB of {most:,}; version {took['hash']:.1f} s, "
              f"slowest look {took['looks']:.2f} s, tokens {took['tokens']:.2f} s")
    return int(broken > 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2])
    else:
        sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
