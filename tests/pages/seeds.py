"""Runs for page tests, written straight into a store: nothing is connected, nothing waits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lib.runs.store import CallRow, Run, Store
from lib.task.default_design import default_design
from lib.task.report import Cause, Check, Customer, Evidence, Report
from lib.tickets import TicketSet

CAUSES = ("duplicate charge", "expired token", "calendar out of sync", "tax number missing", "late reminder")
TRAP = "![x](https://evil.example/leak?q=1) $5 and $10 <b>bold</b>"


def report(shape: str, tickets: TicketSet, claimed_too_many: int = 0) -> Report:
    """Five causes over the first tickets, 9, 7, 6, 5 and 4 of them."""
    keys, causes, start = [t.key for t in tickets.tickets], [], 0
    for name, count in zip(CAUSES, (9, 7, 6, 5, 4), strict=True):
        mine = tuple(keys[start:start + count])
        start += count
        causes.append(Cause(
            name, mine, tuple(_customer(f"C-{i}", i) for i in range(2000, 2000 + min(count, 3))), ("Invoicing",),
            summary=f"Customers meet this again and again. {TRAP}",
            evidence=tuple(Evidence(k, "charged twice", True) for k in mine[:1]),
            claimed=None if shape == "pipeline" else count + claimed_too_many))
    checks = (Check("tickets exist", True, "all 31 listed tickets are in the data"),
              Check("counts", not claimed_too_many, f"claimed 10, counted 9 {TRAP}", CAUSES[0]))
    return Report(shape, 5, tuple(causes), checks, len(keys), {k: c.name for c in causes for k in c.tickets}, {}, 3)


def _customer(customer_id: str, number: int) -> Customer:
    if number == 2002:
        return Customer(customer_id, known=False, tickets=1)
    return Customer(customer_id, f"Harbour {TRAP}", "pro", "EU", 129.0, True, 1)


def add_run(store: Store, tickets: TicketSet, data_id: str, shape: str, *, group: str = "g1", status: str = "done",
            error: str = "", priced: bool = True, reported: bool = True, created: float = 1_000.0,
            partial: str = "", failed: dict[str, str] | None = None, **fields: Any) -> Run:
    """A run with its calls; a report when it is done or `partial` says why it is not."""
    answer = replace(report(shape, tickets, 1), partial=partial, failed=failed or {})
    run = Run(id=f"{group}-{shape}", group=group, shape=shape, status=status, source="simulated",
              connection="simulated", design=default_design().to_dict(), data_id=data_id, created=created,
              started=created, ended=created + 60, error=error, title=f"tickets.csv · {TRAP}",
              report=answer.to_dict() if status == "done" or partial else None)
    store.add_run(replace(run, **fields))
    for row, request, reply in (_pipeline if shape == "pipeline" else _agent)(run, tickets):
        store.add_call(_known(row, priced, reported), request, reply)
    return run


def _known(row: CallRow, priced: bool, reported: bool) -> CallRow:
    row = row if priced else replace(row, usd=None)
    return row if reported else replace(row, fresh=None, write_5m=None, write_1h=None, cache_read=None, output=None)


def _row(run: Run, step: str, subject: str, started: float, fresh: int, stop: str = "end_turn", **more: Any) -> CallRow:
    given = {"write_5m": 0, "write_1h": 0, "cache_read": 0, "output": 45, "thinking": 0, "attempts": 1,
             "usd": fresh * 1e-6 + 45 * 5e-6, "error": "", **more}
    return CallRow(id=0, run_id=run.id, step=step, subject=subject, model="claude-haiku-5-5", started=started,
                   seconds=2.0, stop_reason=stop, fresh=fresh, **given)


def _pipeline(run: Run, tickets: TicketSet):
    for i, ticket in enumerate(tickets.tickets):
        asked = {"model": "claude-haiku-5-5", "max_tokens": 2048, "system": "label",
                 "messages": [{"role": "user", "content": f"<ticket>{ticket.body}{TRAP}</ticket>"}]}
        started = run.created + 2.0 * (i // 8) + 0.01 * (i % 8)
        yield _row(run, "label", ticket.key, started, 560 + i * 3), asked, _reply("{}")
    end = run.created + 2.0 * (len(tickets) // 8 + 1)
    yield _row(run, "merge", "", end, 900), {"model": "m", "messages": [{"role": "user", "content": "l"}]}, _reply("{}")
    for i, cause in enumerate(CAUSES):
        yield (_row(run, "summary", cause, end + 2.2 + 0.01 * i, 1_500),
               {"model": "m", "messages": [{"role": "user", "content": cause}]}, _reply(TRAP))


def _agent(run: Run, tickets: TicketSet):
    messages: list[dict[str, Any]] = [{"role": "user", "content": "What are the causes?"}]
    for turn, ticket in enumerate(tickets.tickets):
        use = {"type": "tool_use", "id": f"t{turn}", "name": "read_ticket", "input": {"ticket_id": ticket.key}}
        reply = {"role": "assistant", "content": [{"type": "text", "text": TRAP}, use], "stop_reason": "tool_use"}
        asked = {"model": "claude-haiku-5-5", "max_tokens": 8192, "system": "agent",
                 "tools": [{"name": "read_ticket", "description": TRAP, "input_schema": {"type": "object"}}],
                 "messages": list(messages)}
        yield _row(run, "agent", "", run.created + 2.1 * turn, 2_100 + 420 * turn, "tool_use"), asked, reply
        messages += [{"role": "assistant", "content": reply["content"]},
                     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{turn}",
                                                   "content": ticket.body}]}]


def _reply(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}
