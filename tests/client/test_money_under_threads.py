"""Sixteen workers at once: no token is lost on its way into the totals, and no limit is passed."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lib.client.budget import budget
from lib.client.clock import Clock
from lib.client.layers import Call, LayeredClient, layered
from lib.client.ledger import ledger
from lib.client.stop import stoppable
from lib.client.timeline import ClockTime
from lib.design import Limits
from lib.errors import BudgetReached, Busy, ServerTrouble
from lib.runs.store import Run, Store
from lib.usage.prices import cost

MODEL = "claude-haiku-5-5"
# per million tokens: a step at 100,000 tokens of prompt, as Haiku 5.5 has, on prices a hundred times as high
BASE = {"input": 10.0, "output": 50.0, "write_5m": 12.5, "write_1h": 20.0, "read": 1.0}
PRICES = {"models": {MODEL: {**BASE, "tiers": [{"above": 100_000, **{part: 5 * rate for part, rate in BASE.items()}}]}}}
WORKERS, MARK = 16, {"type": "ephemeral", "ttl": "1h"}


@pytest.fixture
def store(tmp_path: Path):
    opened = Store(tmp_path / "runs.sqlite")
    opened.add_run(Run("r", "g", "pipeline", "running", "simulated", "Simulated", {}, "d", 1.0))
    yield opened
    opened.close()


def test_sixteen_threads_of_five_hundred_calls_each_add_up_exactly(store: Store):
    together = threading.Barrier(WORKERS)

    def send(call: Call) -> dict[str, Any]:
        return {"stop_reason": "end_turn", "content": [{"type": "text", "text": "ok"}],
                "usage": {"input_tokens": 10, "output_tokens": 1}}

    client = layered(LayeredClient(send), ledger(store, "r", ClockTime(Clock()), partial(cost, PRICES)))

    def work(worker: int) -> None:
        together.wait(timeout=20)
        for number in range(500):
            client.messages.create(model=MODEL, max_tokens=5, messages=[{"role": "user", "content": f"{number % 7}"}])

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(work, range(WORKERS)))
    rows, totals = store.calls("r"), store.totals("r")
    assert (totals.calls, totals.input, totals.output) == (8_000, 80_000, 8_000)
    assert (len(rows), sum(r.input for r in rows), sum(r.output for r in rows)) == (8_000, 80_000, 8_000)
    assert totals.usd == pytest.approx(8_000 * (10 * 10 + 50) / 1e6, rel=1e-12)     # $1.20


class Erratic:
    """A server that answers, turns away or falls silent, as a seed says; its prompts are up to a tenth longer than
    estimated, and any part of them may be written to the cache or read from it. `billed` is what it charges."""

    def __init__(self, seed: int):
        self._random, self._lock = random.Random(seed), threading.Lock()
        self.billed_usd, self.billed_tokens = 0.0, 0

    def send(self, call: Call) -> dict[str, Any]:
        with self._lock:
            fate, size = self._random.random(), round(call.request["size"] * self._random.uniform(0.5, 1.1))
            cuts = sorted(self._random.randint(0, size if "cache_control" in call.request else 0) for _ in range(3))
            output = self._random.randint(0, call.request["max_tokens"])
        call.sent.attempts += 1
        if fate < 0.1:
            raise Busy("slow down")
        short, hour, read = cuts[0], cuts[1] - cuts[0], cuts[2] - cuts[1]
        if fate < 0.2:      # it had read the prompt before it fell silent, and may charge for it
            self._charge(size - cuts[2], short, hour, read, 0)
            raise ServerTrouble("timed out")
        self._charge(size - cuts[2], short, hour, read, output)
        return {"stop_reason": "end_turn", "content": [], "usage": {
            "input_tokens": size - cuts[2], "output_tokens": output, "cache_read_input_tokens": read,
            "cache_creation_input_tokens": short + hour,
            "cache_creation": {"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": hour}}}

    def _charge(self, *tokens: int) -> None:
        with self._lock:
            self.billed_usd += cost(PRICES, MODEL, *tokens)
            self.billed_tokens += sum(tokens)


def pressed(store: Store, server: Erratic, limits: Limits, seed: int, sizes: tuple[int, int]) -> list[BaseException]:
    """Sixteen workers send calls of random size until the budget ends the run; returns what each met at the end."""
    timeline, price = ClockTime(Clock()), partial(cost, PRICES)
    client = layered(LayeredClient(server.send), stoppable(threading.Event()),
                     budget(limits, timeline, price, lambda request: request["size"]),
                     ledger(store, "r", timeline, price))

    def work(worker: int) -> BaseException:
        chance = random.Random(1_000 * seed + worker)
        for _ in range(2_000):
            marks = {"cache_control": MARK} if chance.random() < 0.5 else {}
            try:
                client.messages.create(model=MODEL, size=chance.randint(*sizes), max_tokens=chance.randint(1, 2_000),
                                       messages=[], **marks)
            except BudgetReached as ending:
                return ending
            except (Busy, ServerTrouble):
                continue
        raise AssertionError("the budget never ended the run")

    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(work, range(WORKERS)))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sizes", [(100, 4_000), (80_000, 120_000)], ids=["short prompts", "around a price step"])
def test_a_dollar_is_never_exceeded(store: Store, seed: int, sizes: tuple[int, int]):
    server, limit = Erratic(seed), 1.0 if sizes[1] < 10_000 else 100.0
    endings = pressed(store, server, Limits(max_tokens=10**9, max_usd=limit), seed, sizes)
    assert 0.3 * limit < server.billed_usd <= limit     # silence counts as dear as it can be, so some is left
    assert all("is spent and the next call could cost" in str(ending) for ending in endings)
    told = store.totals("r").usd        # the rows hold what was reported; silence may have cost more
    assert told == pytest.approx(sum(row.usd or 0 for row in store.calls("r"))) and told <= server.billed_usd + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_neither_are_tokens(store: Store, seed: int):
    server = Erratic(seed)
    endings = pressed(store, server, Limits(max_tokens=400_000, max_usd=1e9), seed, (100, 4_000))
    assert 0.8 * 400_000 < server.billed_tokens <= 400_000
    assert all("400,000 tokens" in str(ending) for ending in endings)
