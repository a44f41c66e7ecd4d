"""Script time of a warm rerun of every page: on the sample with a finished run, and with 10,000 tickets on the desk;
and of the rerun that follows an edit on the Design page, which tells what the edit costs.

    python tests/benchmarks/bench_pages.py

Prints the median time as a share of what a page may take (150 ms on the sample, 400 ms with 10,000 tickets) and ends
with exit code 1 when one takes more.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
os.environ |= {"PLAYGROUND_STORE": str(Path(tempfile.mkdtemp()) / "runs.sqlite"), "PLAYGROUND_SPEED": "0"}
os.chdir(ROOT)

from streamlit.testing.v1 import AppTest  # noqa: E402

from lib.tickets import Ticket, TicketSet  # noqa: E402
from lib.ui import state  # noqa: E402

PAGES = ("start", "data", "design", "run", "costs", "history")
RERUNS = 7


def main() -> int:
    sample = measured("sample, run finished", 0.150, run_sample())
    many = measured("10,000 tickets", 0.400, load_ten_thousand())
    return 0 if sample and many else 1


def run_sample() -> AppTest:
    app = open_app()
    app.button(key="start.run_sample").click().run()
    while any(run.status in ("queued", "running") for run in state.store().runs()):
        time.sleep(0.1)
    return app.run()


def load_ten_thousand() -> AppTest:
    tickets = TicketSet("many.csv", tuple(
        Ticket(str(n), str(n), f"Subject {n}", f"Order {n} never arrived. " * 100, f"C-{n % 900}")
        for n in range(10_000)))
    store = state.store()
    data_id = store.save_data(tickets.to_json(), None, tickets.name)
    desk = store.latest_desk()
    store.save_desk(desk, {**store.load_desk(desk), "data_id": data_id})
    return open_app()


def open_app() -> AppTest:
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run()


def measured(what: str, limit: float, app: AppTest) -> bool:
    print(f"{what}: median of {RERUNS} reruns, as a share of {limit * 1000:.0f} ms")
    shares = {page: warm_rerun(app, page) / limit for page in PAGES}
    shares["edit"] = edited(app) / limit
    for page, share in shares.items():
        print(f"  {page:<8}{share:6.2f}")
    return max(shares.values()) <= 1.0


def warm_rerun(app: AppTest, page: str) -> float:
    app.switch_page(f"pages/{page}.py").run()
    app.run()
    times = []
    for _ in range(RERUNS):
        began = time.perf_counter()
        app.run()
        times.append(time.perf_counter() - began)
    assert not app.exception, app.exception
    return statistics.median(times)


def edited(app: AppTest) -> float:
    app.switch_page("pages/design.py").run()
    times = []
    for n in range(RERUNS):
        prompt = app.text_area(key="design.steps.agent.system")
        prompt.input(f"{prompt.value} Number {n}.")
        began = time.perf_counter()
        app.run()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


if __name__ == "__main__":
    raise SystemExit(main())
