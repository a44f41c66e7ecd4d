"""Twenty sessions watch four runs of sixteen workers each, on whatever this machine has, while a person clicks.

    python tests/benchmarks/soak_sessions.py

The sessions speak the page's own websocket; the person is a Chromium that changes tabs on the page of a run at work.
Ends with exit code 1 when a row is lost, anything fails or is logged, or a click but the first takes a second or more.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from lib.runs.store import Store  # noqa: E402
from tests.playground import Server, open_chromium  # noqa: E402
from tests.survival.soak import WORKERS, soak  # noqa: E402

RUNS = 4
SESSIONS = 20
TICKETS = 400       # of each run
SPEED = "4"         # simulated seconds per real one: each of the 64 workers ends about one call a second
LIMIT = 1.0         # seconds of an interaction


def main() -> int:
    with tempfile.TemporaryDirectory() as folder, open_chromium() as browser:
        server = Server(Path(folder), PLAYGROUND_SPEED=SPEED)
        server.start()
        store = Store(server.store)
        soaked = soak(browser.new_page(), server.address, store, RUNS, SESSIONS, TICKETS)
        server.end()
        rows = sum(store.totals(run.id).calls for run in store.runs())
        told = server.told()
    wrong = soaked.wrong + ([told] if "Traceback" in told or "rror" in told else [])
    first, *later = soaked.interactions
    middle, worst = statistics.median(later), max(later)
    print(f"{SESSIONS} sessions, {RUNS} runs of {WORKERS} workers, {os.cpu_count()} cores: {rows} calls in "
          f"{soaked.seconds:.0f} s, all sessions there after {soaked.arrived:.1f} s, {soaked.scripts} scripts")
    print(f"interaction: median {middle:.2f} s, worst {worst:.2f} s of {len(later)} "
          f"{'ok' if worst < LIMIT else 'BROKEN'}; the first {first:.2f} s, since the browser loads what draws a table")
    print("\n".join(wrong) or "no row lost, no call twice, no error")
    return 1 if wrong or worst >= LIMIT else 0


if __name__ == "__main__":
    raise SystemExit(main())
