"""kill -9 at a random moment of a run: what was finished is kept, what is missing is made, and nothing is paid twice.

The run works in a process of its own, which is killed; it asks a server in this one, which counts what it is asked.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import cache, partial
from pathlib import Path

import pytest

from lib.client.connect import connect_server
from lib.runs.job import Runs
from lib.runs.store import Run, Store
from lib.settings import load
from lib.task.default_design import default_design
from tests.forked import APART
from tests.local_server import LocalServer, Received, Reply, serve, simulated
from tests.survival.undisturbed import Asked, asked, run_to_its_end, wait_for

TICKETS = {"pipeline": 194, "agent": 40}
CALLS = {"pipeline": 194 + 1 + 5, "agent": 40 + 5}      # labels, a merge, summaries; turns
WORKERS = {"pipeline": default_design().workers, "agent": 1}
AT_ONCE = 4


@pytest.mark.parametrize(("shape", "kills"), [("pipeline", 6), ("agent", 3)])
def test_a_killed_run_keeps_what_it_finished_and_pays_only_for_what_is_missing(tmp_path, shape, kills):
    expected = undisturbed(tmp_path / "undisturbed.sqlite", shape)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        wrong = list(pool.map(lambda n: wrong_after_a_kill(tmp_path / f"{n}.sqlite", shape, n, expected), range(kills)))
    assert wrong == [[]] * kills


def undisturbed(path: Path, shape: str) -> tuple[Run, Asked]:
    """The run as it goes when nobody kills it, and what it asks."""
    with serve(script=answer) as server:
        run_to_its_end(path, server.url, shape, TICKETS[shape])
    run = only_run(Store(path))
    assert run.status == "done" and asked(path, run.id).total() == len(server.received) == CALLS[shape]
    return run, asked(path, run.id)


def wrong_after_a_kill(path: Path, shape: str, seed: int, expected: tuple[Run, Asked]) -> list[str]:
    """Begins a run, kills it, resumes it here, and says which claims do not hold."""
    chance = random.Random(f"{shape} {seed}")
    with serve(script=answer) as server, closing(Store(path)) as store:
        kill_at(path, server, shape, chance.randrange(1, CALLS[shape]), chance.uniform(0, 0.01))
        run, sent = only_run(store), requests_of(server)
        kept, finished = asked(path, run.id), store.calls(run.id)
        store.mark_interrupted()
        interrupted, runs = store.run(run.id).status, Runs(store)
        runs.resume(run.id, partial(connect_server, load({}), server.url))
        [ended] = wait_for(store, [run])
        again = requests_of(server) - sent
        claims = {
            "it was interrupted": interrupted == "interrupted",
            "no more than the calls in flight are lost": 0 <= sent.total() - kept.total() <= WORKERS[shape],
            "it ends with the same report": (ended.status, ended.report) == ("done", expected[0].report),
            "finished calls stay as they were": store.calls(run.id)[:len(finished)] == finished,
            "each call is answered once": asked(path, run.id) == expected[1],
            "nothing but the missing calls is sent": again.total() == CALLS[shape] - kept.total(),
        }
    return [f"kill {seed}: {claim}" for claim, holds in claims.items() if not holds]


def kill_at(path: Path, server: LocalServer, shape: str, requests: int, seconds: float) -> None:
    """Begins a run and kills its process a moment after the server got so many requests."""
    process = APART.Process(target=run_to_its_end, args=(path, server.url, shape, TICKETS[shape]))
    process.start()
    while len(server.received) < requests:
        assert process.is_alive(), f"the run ended after {len(server.received)} requests"
        time.sleep(0.001)
    time.sleep(seconds)
    process.kill()
    process.join()
    wait_until_quiet(server)


def wait_until_quiet(server: LocalServer) -> None:
    """Requests that were on their way when the process died are counted after this."""
    before = -1
    while before != len(server.received):
        before = len(server.received)
        time.sleep(0.02)


def answer(request: Received) -> Reply:
    return _answer(json.dumps(request.body, sort_keys=True))


@cache
def _answer(body: str) -> Reply:
    return simulated(Received("/v1/messages", {}, json.loads(body)))


def requests_of(server: LocalServer) -> Counter[str]:
    return Counter(json.dumps(request.body, sort_keys=True) for request in server.received)


def only_run(store: Store) -> Run:
    [run] = store.runs()
    return run
