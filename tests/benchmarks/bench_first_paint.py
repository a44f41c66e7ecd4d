"""What the first visitor of a playground that was just started waits for its first page.

    python tests/benchmarks/bench_first_paint.py

Each of PROCESSES fresh servers gets one visit in Chromium, from the moment the server says it is well until the page's
main button can be seen. Prints the median as a share of 3 s and ends with exit code 1 when it takes more.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser  # noqa: E402

from tests.forked import FRESH  # noqa: E402
from tests.playground import open_chromium, serve  # noqa: E402

PROCESSES = 3
LIMIT = 3.0         # seconds


def main() -> int:
    with open_chromium() as browser:
        first_paint(browser)        # the browser's own first page is not what is asked for
        seconds = [first_paint(browser) for _ in range(PROCESSES)]
    share = statistics.median(seconds) / LIMIT
    print(f"first page of a fresh server: median {statistics.median(seconds):.2f} s of {PROCESSES} "
          f"(slowest {max(seconds):.2f} s), {share:.2f} of {LIMIT:g} s {'ok' if share <= 1.0 else 'BROKEN'}")
    return 0 if share <= 1.0 else 1


def first_paint(browser: Browser) -> float:
    """Seconds from going to a server that nobody has visited until its main button is there."""
    with tempfile.TemporaryDirectory() as folder, serve(Path(folder), FRESH) as address:
        context = browser.new_context()
        page = context.new_page()
        began = time.perf_counter()
        page.goto(address)
        page.get_by_role("button", name="Run the sample both ways").wait_for()
        took = time.perf_counter() - began
        context.close()
        return took


if __name__ == "__main__":
    raise SystemExit(main())
