"""Times the files of a run of 100,000 calls and says whether they are made in time.

Run from the project's root: python tests/benchmarks/bench_exports.py
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.exports.rows import call_rows  # noqa: E402
from lib.exports.tables import as_csv, as_json, as_xlsx  # noqa: E402
from lib.runs.store import CallRow, Run  # noqa: E402

CALLS = 100_000
LIMITS = {"CSV": 2.0, "JSON": 4.0, "XLSX": 20.0}      # seconds


def main() -> int:
    rows = call_rows([(_run(), [_call(n) for n in range(CALLS)])])
    makers = {"CSV": as_csv, "JSON": as_json, "XLSX": lambda held: as_xlsx({"calls": held})}
    kept = [_report(kind, make, rows) for kind, make in makers.items()]
    return 0 if all(kept) else 1


def _report(kind: str, make, rows) -> bool:
    began = time.perf_counter()
    size = len(make(rows))
    took = time.perf_counter() - began
    print(f"{kind} of {CALLS:,} calls, seconds / {LIMITS[kind]:g} s: {took / LIMITS[kind]:.2f} "
          f"({took:.1f} s, {size / 2**20:.0f} MB)")
    return took <= LIMITS[kind]


def _run() -> Run:
    return Run(id="r", group="g", shape="pipeline", status="done", source="simulated", connection="", design={},
               data_id="", created=1e9)


def _call(number: int) -> CallRow:
    return CallRow(id=number, run_id="r", step="label", subject=f"T-{number}", model="claude-haiku-5-5",
                   started=1e9 + number / 8, seconds=1.25, stop_reason="end_turn", fresh=600 + number % 97, write_5m=0,
                   write_1h=0, cache_read=0, output=50, thinking=20, usd=0.0001234, error="=busy" * (number % 50 == 0))


if __name__ == "__main__":
    sys.exit(main())
