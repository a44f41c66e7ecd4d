"""Whether work on large or hostile input grows with the input, not with its square.

    python tests/benchmarks/bench_growth.py

Each piece of work is timed on an input of n and of 4 n parts. Prints how many times longer the larger one takes (4 for
work that grows in a straight line, 16 for its square) and ends with exit code 1 when that is more than 8 times. The
forecast counts a sample of the tickets, and the CSV reader gives up on a file of stray quotes: both have to take about
as long for either.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.catalog import empty_catalog  # noqa: E402
from lib.errors import UnreadableFile  # noqa: E402
from lib.models import DEFAULT_MODEL  # noqa: E402
from lib.simulated.mind import answer  # noqa: E402
from lib.simulated.mind.labelling import label  # noqa: E402
from lib.task.default_design import default_design  # noqa: E402
from lib.task.forecast import forecast  # noqa: E402
from lib.task.tools import tally  # noqa: E402
from lib.tickets import Ticket, TicketSet, read_table  # noqa: E402
from lib.tickets.html_text import html_to_text  # noqa: E402

LIMIT = 8.0
FLAT_LIMIT = 1.5
LABELLED = ("^", " ", "7", "a,", "1:00 ", "$1.00 ", "> ", "my calendar ")
PROMPTS = ('<ticket id="1">', "<", '{"a', '{"a":', "<label ", '= "', "</ticket>", "- a\n", "json only ")
HTML = ("<script>", "<!--", "<a ", "<a '\"", '<a "', "<p", "</", "&#", "<a href='", "<<")
RUNS = 3


def main() -> int:
    kept = [report(f"HTML of {piece!r}", growth(partial(hostile_html, piece), 25_000), LIMIT) for piece in HTML]
    kept += [report(f"label of {piece!r}", growth(partial(labelled, piece), 25_000), LIMIT) for piece in LABELLED]
    kept += [report(f"prompt of {piece!r}", growth(partial(answered, piece), 5_000), LIMIT) for piece in PROMPTS]
    kept += [report("CSV with a quote opened anew on every line", growth(stray_quotes, 2_500), FLAT_LIMIT),
             report("tally of a cause for every ticket", growth(many_causes, 2_500), LIMIT),
             report("forecast of many tickets", growth(many_tickets, 5_000), FLAT_LIMIT)]
    return 0 if all(kept) else 1


def report(what: str, ratio: float, limit: float) -> bool:
    print(f"{what}: {ratio:.2f} (at most {limit:g}) {'ok' if ratio <= limit else 'BROKEN'}")
    return ratio <= limit


def growth(prepare: Callable[[int], Callable[[], Any]], n: int) -> float:
    return seconds(prepare(4 * n)) / seconds(prepare(n))


def seconds(work: Callable[[], Any]) -> float:
    """Processor seconds of the least disturbed run, after one that fills caches."""
    work()
    times = []
    for _ in range(RUNS):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def hostile_html(piece: str, n: int) -> Callable[[], Any]:
    text = "<p>" + piece * n
    return lambda: html_to_text(text)


def labelled(piece: str, n: int) -> Callable[[], Any]:
    return partial(label, "subject", piece * n)


def answered(piece: str, n: int) -> Callable[[], Any]:
    text = piece * n
    return partial(answer, {"model": DEFAULT_MODEL, "max_tokens": 1_000, "system": text,
                            "messages": [{"role": "user", "content": text}]})


def stray_quotes(n: int) -> Callable[[], Any]:
    data = b'b","d\n' * n

    def read() -> None:
        with suppress(UnreadableFile):
            read_table("a.csv", data)
    return read


def many_causes(n: int) -> Callable[[], Any]:
    assignments = [{"ticket_id": f"T-{i}", "cause": f"cause {i}"} for i in range(n)]
    return partial(tally, tickets_of(n), empty_catalog(), assignments)


def many_tickets(n: int) -> Callable[[], Any]:
    return partial(forecast, default_design(), tickets_of(n))


def tickets_of(n: int) -> TicketSet:
    return TicketSet("many", tuple(Ticket(f"T-{i}", f"T-{i}", f"Subject {i}", f"Order {i} never arrived. " * 30, "C-1")
                                   for i in range(n)))


if __name__ == "__main__":
    raise SystemExit(main())
