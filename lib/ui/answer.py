"""The answers of a group of runs, side by side, and what code checked about them. Model text is shown as plain text."""

from __future__ import annotations

from typing import Any

import streamlit as st

from lib.runs.store import Run
from lib.task.report import Cause, Check, Customer, Report
from lib.tickets.visible import visible
from lib.ui import compare, connection, live, state
from lib.ui import format as fmt


def answers(runs: list[Run]) -> None:
    """The sentence first, then the causes of both shapes, matched by the tickets they hold."""
    reports = {r.shape: report for r in runs if (report := state.report(r))}
    if not reports:
        st.caption("The answers will be here, side by side, as soon as a run is done.")
        return
    sentence(runs)
    if len(reports) == 2:
        rows = compare.pairs(reports["pipeline"], reports["agent"])
    else:
        only = next(iter(reports.values()))
        rows = [(c, None) if only.shape == "pipeline" else (None, c) for c in only.causes]
    _heads(reports)
    for number, pair in enumerate(rows, start=1):
        _row(number, pair, reports)


def sentence(runs: list[Run]) -> None:
    """One line written from the numbers of the runs, and who answered; nothing while no run has an answer."""
    text = compare.sentence([live.outcome(r) for r in runs])
    if not text:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="answer_sentence"):
        st.text(text, width="stretch")
        connection.badge(runs[0].source)
    if runs[0].source == "simulated":
        st.caption(connection.SIMULATED_MEANS)


def _heads(reports: dict[str, Report]) -> None:
    for column, shape in zip(st.columns(2), state.SHAPES, strict=True):
        if report := reports.get(shape):
            placed = f"{len(report.labels):,} of {report.total:,} tickets placed"
            column.markdown(f"**:{live.COLOUR[shape]}[{shape.capitalize()}]** :gray[{placed}]")
        else:
            column.markdown(f"**:{live.COLOUR[shape]}[{shape.capitalize()}]** :gray[no answer in this run]")


def _row(number: int, pair: tuple[Cause | None, Cause | None], reports: dict[str, Report]) -> None:
    differences = compare.marks(*pair) if len(reports) == 2 else None
    for column, shape, cause in zip(st.columns(2), state.SHAPES, pair, strict=True):
        if cause:
            with column.container(border=True, key=f"cause_{shape}_{number}", height="stretch"):
                _cause(cause, differences, f"{shape}_{number}")


def _cause(cause: Cause, differences: list[str] | None, key: str) -> None:
    """`differences` to the matched cause of the other shape; None where there is no other answer."""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        with st.container(key=f"cause_name_{key}", width="stretch"):
            st.text(visible(cause.name))
        st.badge(fmt.plural(cause.count, "ticket"), color="gray")
    if cause.claimed is not None and cause.claimed != cause.count:
        st.badge(f"the model said {cause.claimed}", icon=":material/error:", color="red",
                 help="Code counted the tickets that the answer lists.")
    if cause.summary:
        st.text(visible(cause.summary))
    st.text(visible(compare.customers_line(cause.customers)))
    if differences:
        st.badge(" · ".join(differences), icon=":material/difference:", color="yellow")
    elif differences is not None:
        st.caption("same tickets and customers in both")
    _customers(cause, key)


def _customers(cause: Cause, key: str) -> None:
    with st.expander("Customers, tickets, quotes", key=f"more_{key}", type="compact"):
        if cause.customers:
            st.dataframe([_customer(c) for c in cause.customers], hide_index=True, key=f"customers_{key}",
                         placeholder="–", height="content" if len(cause.customers) < 9 else 320, column_config={
                             "revenue": st.column_config.NumberColumn("revenue / month", format="localized",
                                                                      help="in the database's own currency")})
        if cause.products:
            st.text("Products: " + ", ".join(cause.products))
        st.text("Tickets: " + ", ".join(cause.tickets[:60]) + (" …" if cause.count > 60 else ""))
        for quote in cause.evidence[:3]:
            st.text(f"{'✓' if quote.found else '✕ not in the ticket:'} {quote.ticket}: “{visible(quote.quote)}”")


def _customer(customer: Customer) -> dict[str, Any]:
    return {"id": customer.id, "name": customer.name if customer.known else "not in the database",
            "plan": customer.plan, "region": customer.region, "revenue": customer.monthly_revenue,
            "tickets": customer.tickets}


def checks(runs: list[Run]) -> None:
    """What was checked against the data, passed and failed, per shape."""
    found = [(r, report) for r in runs if (report := state.report(r))]
    if not found:
        st.caption("What code checked about each answer will be here: counts, ticket ids, quotes, customers.")
        return
    for run, report in found:
        passed = sum(1 for c in report.checks if c.passed)
        st.markdown(f"**:{live.COLOUR[run.shape]}[{run.shape.capitalize()}]** "
                    f":gray[{passed} of {fmt.plural(len(report.checks), 'check')} passed]")
        st.dataframe([_check(c) for c in sorted(report.checks, key=lambda c: c.passed)], hide_index=True,
                     key=f"checks_{run.shape}", column_config={"found": st.column_config.TextColumn(width="large")})
        if report.failed:
            st.text(f"{fmt.plural(len(report.failed), 'ticket')} without a label:")
            st.dataframe([{"ticket": key, "why": why} for key, why in report.failed.items()], hide_index=True,
                         key=f"failed_{run.shape}")


def _check(check: Check) -> dict[str, str]:
    return {"check": f"{'✓' if check.passed else '✕'} {check.name}", "cause": visible(check.cause) or "whole answer",
            "found": visible(check.detail)}


def changes(runs: list[Run]) -> None:
    """What was edited since the run before on the same data, and what that did."""
    from lib.design import Design
    from lib.ui import drafts

    before = state.group_before(runs) if runs else []
    if not before:
        return
    fields = drafts.changed(Design.from_dict(before[0].design), Design.from_dict(runs[0].design))
    if not fields:
        return
    with st.container(border=True, key="run_changes"):
        st.markdown("**What changed since the run before**")
        st.text("Edited: " + ", ".join(drafts.label(f) for f in fields))
        for run in runs:
            old = next((b for b in before if b.shape == run.shape), None)
            if old and run.report and old.report:
                st.text(compare.difference(live.outcome(old), live.outcome(run)))
