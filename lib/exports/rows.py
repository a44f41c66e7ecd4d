"""What a group of runs found and did, as rows for `tables`: the same columns in every kind of file, units in names.

`reports` are the answers by shape. Each function has its columns beside it, so that a file without rows has them too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from lib.messages import text_of
from lib.runs.store import CallRow, Run, Store, Totals
from lib.task.answers import Label, parse_label
from lib.task.report import Report
from lib.tickets.ticket import TicketSet

Reports = Mapping[str, Report]          # shape -> its answer
Row = dict[str, Any]

CAUSES = ("shape", "rank", "cause", "tickets", "tickets_claimed", "customers", "customers_not_in_database",
          "revenue_per_month", "products", "summary", "evidence", "evidence_not_found", "ticket_keys")
CUSTOMERS = ("shape", "cause", "customer_id", "name", "plan", "region", "revenue_per_month", "tickets", "in_database")
LABELS = ("ticket_id", "ticket_key", "subject")
TICKET = ("customer", "product", "created", "body")
CHECKS = ("shape", "check", "cause", "passed", "detail")
RUNS = ("shape", "source", "simulation", "first_answered", "status", "ended_because", "tickets", "design", "models",
        "started", "seconds", "calls", "calls_failed", "input_tokens", "output_tokens", "usd", "usd_spent",
        "calls_unpriced", "calls_unreported", "note", "run_id")
CALLS = ("shape", "number", "step", "about", "model", "started", "seconds", "waited_seconds", "stop_reason",
         "input_tokens", "fresh_input_tokens", "cache_write_5m_tokens", "cache_write_1h_tokens", "cache_read_tokens",
         "output_tokens", "thinking_tokens", "usd", "attempts", "cached", "error", "source", "call_id", "run_id")


def cause_rows(reports: Reports) -> list[Row]:
    """One row per cause and shape, ranked; revenue in the database's own currency."""
    return [_named(CAUSES, (
        shape, rank, cause.name, cause.count, cause.claimed, len(cause.customers),
        sum(not c.known for c in cause.customers), _sum(c.monthly_revenue for c in cause.customers),
        list(cause.products), cause.summary, [f"{e.ticket}: {e.quote}" for e in cause.evidence],
        sum(not e.found for e in cause.evidence), list(cause.tickets)))
        for shape, report in reports.items() for rank, cause in enumerate(report.causes, start=1)]


def customer_rows(reports: Reports) -> list[Row]:
    """One row per cause and customer, highest revenue first."""
    return [_named(CUSTOMERS, (shape, cause.name, c.id, c.name, c.plan, c.region, c.monthly_revenue, c.tickets,
                               c.known))
            for shape, report in reports.items() for cause in report.causes for c in cause.customers]


def label_columns(reports: Reports) -> tuple[str, ...]:
    """The ticket comes first and last: read in again as tickets, the file gives the tickets that were labelled."""
    of_shapes = [f"{shape}_{part}" for shape, report in reports.items() for part in _parts(report)]
    return (*LABELS, *of_shapes, *TICKET)


def label_rows(reports: Reports, tickets: TicketSet, given: Mapping[str, Label] | None = None) -> list[Row]:
    """One row per ticket, with each shape's cause for it and why it has none.

    `given` are the pipeline's labels as the model gave them, by ticket key (see `given_labels`).
    """
    columns, given = label_columns(reports), given or {}
    return [_named(columns, (t.id, t.key, t.subject, *_placed(reports, t.key, given.get(t.key)),
                             t.customer, t.product, t.created, t.body)) for t in tickets.tickets]


def given_labels(store: Store, run: Run) -> dict[str, Label]:
    """Ticket key -> the label that the run's calls gave it before labels were merged; the last that can be read."""
    found = {}
    for subject, reply in store.replies(run.id, "label"):
        with suppress(ValueError):
            found[subject] = parse_label(text_of(reply))
    return found


def check_rows(reports: Reports) -> list[Row]:
    return [_named(CHECKS, (shape, check.name, check.cause, check.passed, check.detail))
            for shape, report in reports.items() for check in report.checks]


def run_rows(runs: Iterable[tuple[Run, Totals]], tickets: str) -> list[Row]:
    """One row per run: who answered it and what it took. `usd` is the list price, which only live calls spend."""
    return [_named(RUNS, (
        run.shape, run.source, run.conditions, run.origin, run.status, run.error, tickets, run.design.get("name", ""),
        _models(run), _moment(run.created), _lasted(totals), totals.calls, totals.errors, totals.input, totals.output,
        totals.usd, totals.usd if run.source in ("live", "server") else 0.0, totals.unpriced, totals.unreported,
        run.note, run.id))
        for run, totals in runs]


def call_rows(runs: Iterable[tuple[Run, Sequence[CallRow]]]) -> list[Row]:
    """One row per call, numbered within its run by when it began; `cached`: answered by an earlier run's reply."""
    return [_named(CALLS, (
        run.shape, number, call.step, call.subject, call.model, _moment(call.started), call.seconds, call.waited,
        call.stop_reason, call.input, call.fresh, call.write_5m, call.write_1h, call.cache_read, call.output,
        call.thinking, call.usd, call.attempts, bool(call.cached), call.error, run.source, call.id, run.id))
        for run, calls in runs for number, call in enumerate(sorted(calls, key=lambda c: (c.started, c.id)), start=1)]


def _parts(report: Report) -> tuple[str, ...]:
    """What a shape says of a ticket: only the pipeline's calls give a label and a quote of their own."""
    own = ("label_before_merge", "quote") if report.shape == "pipeline" else ()
    return ("cause", *own, "failed_because")


def _placed(reports: Reports, key: str, label: Label | None) -> Iterator[Any]:
    for report in reports.values():
        yield report.labels.get(key)
        if report.shape == "pipeline":
            yield label and label.cause
            yield label and label.evidence
        yield report.failed.get(key)


def _named(columns: Sequence[str], values: Sequence[Any]) -> Row:
    return dict(zip(columns, values, strict=True))


def _models(run: Run) -> list[str]:
    """The models of the run's own shape."""
    steps = run.design.get("steps", {})
    return list(dict.fromkeys(str(step.get("model", "")) for name, step in steps.items()
                              if (name == "agent") == (run.shape == "agent")))


def _lasted(totals: Totals) -> float | None:
    if totals.first_started is None or totals.last_ended is None:
        return None
    return totals.last_ended - totals.first_started


def _sum(parts: Iterable[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known else None


def _moment(seconds: float) -> str:
    """Seconds since 1970 as "2026-11-12T10:00:00.250Z"; "" for what is no time of this world."""
    with suppress(OverflowError, OSError, ValueError):
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return ""
