"""kill -9 of the playground's server at twenty random moments of a 200-call run, each resumed in the browser.

    python tests/benchmarks/soak_kill.py

`tests/runs/test_kill.py` does the same without pages and counts at the other end of the wire. Ends with exit code 1
when a finished call is gone, a resume does not complete, or the calls are not those of a run that nobody killed.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Page  # noqa: E402

from lib.runs.store import Store  # noqa: E402
from tests.playground import Server, open_chromium  # noqa: E402
from tests.survival.soak import keep_sample, start, undisturbed  # noqa: E402
from tests.survival.undisturbed import Asked, asked, wait_for  # noqa: E402

KILLS = 20
TICKETS = 194       # and a merge and five summaries: 200 calls
WORKERS = 8
SPEED = "40"        # simulated seconds per real one: a run takes about three seconds


def main() -> int:
    chance = random.Random(20)
    with tempfile.TemporaryDirectory() as folder, open_chromium() as browser:
        server, page = Server(Path(folder), PLAYGROUND_SPEED=SPEED), browser.new_page()
        store = Store(server.store)
        data, data_id = keep_sample(store, TICKETS)
        expected = undisturbed(store.path.parent, data, WORKERS)
        wrong = [_wrong_after_a_kill(server, page, store, f"kill-{n}", data_id, expected, chance.randrange(190))
                 for n in range(KILLS)]
        wrong.append("Traceback" in server.told() and "the server's log has a traceback")
    for n, claim in enumerate(wrong):
        if claim:
            print(f"kill {n}: {claim}")
    print(f"{KILLS} kills of a {expected.total()}-call run: {'BROKEN' if any(wrong) else 'ok'}")
    return 1 if any(wrong) else 0


def _wrong_after_a_kill(server: Server, page: Page, store: Store, desk: str, data_id: str, expected: Asked,
                        calls: int) -> str:
    """What does not hold after a kill once so many calls have ended, and a resume; "" if all does."""
    server.start()
    run = start(page, server.address, store, desk, data_id, WORKERS)
    while store.totals(run.id).calls < calls:
        time.sleep(0.005)
    server.kill()
    finished = store.calls(run.id)
    server.start()
    page.locator(".st-key-run-resume-pipeline button:enabled").first.click(delay=60)
    while store.run(run.id).status == "interrupted":
        time.sleep(0.05)
    [ended] = wait_for(store, [run])
    server.kill()
    print(f"{desk}: killed after {len(finished)} calls, {ended.status}")
    if store.calls(run.id)[:len(finished)] != finished:
        return "a finished call is gone or was changed"
    if (ended.status, asked(store.path, run.id)) != ("done", expected):
        return f"{ended.status} {ended.error} with {store.totals(run.id).calls} calls"
    return ""


if __name__ == "__main__":
    raise SystemExit(main())
