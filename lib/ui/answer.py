"""The answers of a group of runs, side by side, and what code checked about them. Model text is shown as plain text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import streamlit as st

from lib.design import Design
from lib.phrases import plural
from lib.runs.store import Run
from lib.task.report import Cause, Check, Customer, Report
from lib.tickets.visible import visible
from lib.ui import baseline, calls_behind, compare, connection, differences, live, recent, state
from lib.ui import format as fmt

Pair = tuple[Cause | None, Cause | None]    # the pipeline's, the agent's


def answers(runs: list[Run]) -> None:
    """The sentence first, then the causes of both shapes, matched by the tickets they hold."""
    reports = {r.shape: report for r in runs if (report := live.report(r))}
    if not reports:
        st.caption("The answers are here, side by side, when a run is done.")
        connection.origin(runs)
        for run in runs:
            _ended(run)
        changes(runs)
        return
    sentence(runs)
    changes(runs)
    _heads(reports, {r.shape: r for r in runs})
    compared = len(reports) == 2 and not any(report.partial for report in reports.values())
    by_shape = {r.shape: r for r in runs}
    for number, pair in enumerate(_rows(reports, compared), start=1):
        _row(number, pair, compare.marks(*pair) if compared else None, by_shape)


def sentence(runs: list[Run]) -> None:
    """One line written from the numbers of the runs, once one has an answer, and who wrote it."""
    text = compare.sentence([live.outcome(r) for r in runs])
    if text:
        with st.container(key="answer_sentence"):
            st.text(text)
    connection.origin(runs)


def _rows(reports: dict[str, Report], compared: bool) -> list[Pair]:
    """Matched causes side by side; a part of an answer is not matched, each stands in its own order."""
    if compared:
        return compare.pairs(reports["pipeline"], reports["agent"])
    return list(zip_longest(*(reports[shape].causes if shape in reports else () for shape in state.SHAPES)))


def _heads(reports: dict[str, Report], runs: dict[str, Run]) -> None:
    for column, shape in zip(st.columns(2), state.SHAPES, strict=True):
        with column:
            _head(shape, reports.get(shape))
            if shape in runs and shape not in reports:
                _ended(runs[shape])


def _head(shape: str, report: Report | None) -> None:
    name = f"**:{live.COLOUR[shape]}[{shape.capitalize()}]**"
    if report is None:
        st.markdown(f"{name} :gray[no answer in this run]")
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        placed = f"{len(report.labels):,} of {plural(report.total, 'ticket')} placed"
        st.markdown(f"{name} :gray[{placed}]", width="content")
        if report.partial:
            st.badge("partial", icon=":material/incomplete_circle:", color="red",
                     help="The run did not get to its end: this is what was known by then.")
        elif failed := _failed_checks(report):
            st.badge(f"✕ {', '.join(failed)}", color="red", help="Code checked the answer against the data, and this "
                                                                "did not pass. The tab Checks says how.")
    if report.partial:
        st.text(visible(report.partial))
    if note := compare.no_repeats(report):
        st.text(note)


def _ended(run: Run) -> None:
    """Why a run has no answer, in full: its panel has room for the beginning."""
    if run.error and not state.is_active(run):
        with st.container(border=True, key=f"ended_{run.shape}"):
            st.text(visible(f"The {run.shape} {run.status}: {run.error}"))


def _row(number: int, pair: Pair, differences: list[str] | None, runs: dict[str, Run]) -> None:
    """One card where both agree, else one in each column. `differences` is None where answers are not compared."""
    if differences == []:
        with st.container(border=True, key=f"cause_both_{number}", gap="small"):
            _cause(pair[0], None, f"both_{number}", other=pair[1])
            calls_behind.behind_cause(dict(zip(state.SHAPES, pair, strict=True)), runs, f"both_{number}")
        return
    for column, shape, cause in zip(st.columns(2), state.SHAPES, pair, strict=True):
        if cause:
            with column.container(border=True, key=f"cause_{shape}_{number}", height="stretch", gap="small"):
                _cause(cause, differences, f"{shape}_{number}")
                calls_behind.behind_cause({shape: cause}, runs, f"{shape}_{number}")


def _cause(cause: Cause, differences: list[str] | None, key: str, other: Cause | None = None) -> None:
    """`other` is the same cause as the other shape tells it."""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        with st.container(key=f"cause_name_{key}", width="stretch"):
            st.text(visible(cause.name if other is None or other.name == cause.name
                            else f"{cause.name} (the agent: {other.name})"))
        if other:
            st.caption("same tickets and customers in both", width="content")
            st.badge("both shapes", icon=":material/done_all:", color="green")
        st.badge(plural(cause.count, "ticket"), color="gray")
    for told in filter(None, (cause, other)):
        if told.claimed is not None and told.claimed != told.count:
            st.badge(f"the {'agent' if other else 'model'} said {told.claimed}", icon=":material/error:", color="red",
                     help="Code counted the tickets that the answer lists.")
    summary = cause.summary or (other.summary if other else "")
    if summary:
        st.text(visible(summary))
    st.text(visible(compare.customers_line(cause.customers)))
    if differences:
        st.badge(" · ".join(differences), icon=":material/difference:", color="yellow")
    if other and other.summary not in ("", summary):
        with st.expander("The agent's summary", key=f"summary_{key}", type="compact"):
            st.text(visible(other.summary))
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
    """What was checked against the data, passed and failed, one column per shape."""
    found = {r.shape: report for r in runs if (report := live.report(r))}
    if not found:
        st.caption("What code checked about each answer will be here: counts, ticket ids, quotes, customers.")
        return
    connection.origin(runs)
    by_shape = {r.shape: r for r in runs}
    for column, shape in zip(st.columns(2), state.SHAPES, strict=True):
        with column:
            if report := found.get(shape):
                _checks(by_shape[shape], report)


def _checks(run: Run, report: Report) -> None:
    gaps = [c for c in report.checks if c.is_gap]
    judged = [c for c in report.checks if not c.is_gap]
    passed = sum(1 for c in judged if c.passed)
    st.markdown(f"**:{live.COLOUR[run.shape]}[{run.shape.capitalize()}]** "
                f":gray[{passed} of {plural(len(judged), 'check')} passed]")
    with st.container(gap="xsmall"):
        for number, check in enumerate((*sorted(judged, key=lambda c: c.passed), *gaps)):
            with st.container(horizontal=True, vertical_alignment="top", gap="small"):
                _check(check)
                if not check.passed and not check.is_gap:
                    calls_behind.check_button(check, report, run, number)
    if report.failed:
        calls_behind.failed_tickets(report, run)


def _failed_checks(report: Report) -> list[str]:
    """The names of the checks that failed, each once."""
    return list(dict.fromkeys(c.name for c in report.checks if not c.passed and not c.is_gap))


def _check(check: Check) -> None:
    mark = "·" if check.is_gap else "✓" if check.passed else "✕"
    about = f" · {visible(check.cause)}" if check.cause else ""
    st.text(f"{mark} {check.name}{about}: {visible(check.detail)}")


# --- what changed since the run before -------------------------------------------------------------------------------


def changes(runs: list[Run]) -> None:
    """What of design and data is other than in the run before, or in the pinned one, and what that did."""
    base = baseline.of(runs) if runs else baseline.Baseline([])
    old, new = (state.design_of(found[0]) if found else None for found in (base.runs, runs))
    made = _Made.of(base.runs[0], runs[0], old, new) if old is not None and new is not None else None
    if not (made and made.otherwise) and not base.is_pinned and not base.note:
        return
    with st.container(border=True, key="run_changes", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(f"**What changed since {base.name}**", width="content")
            if base.is_pinned or base.note:
                baseline.unpin("run")
        if base.note:
            st.text(base.note)
        if made:
            _changed(base.runs, runs, made)
            differences.fields(old, new)
        elif base.runs:
            st.text("The design of one is of another version of the playground.")


@dataclass(frozen=True)
class _Made:
    """In what a run was made otherwise than another."""

    edited: list[str]       # fields of the design, in words
    data: str               # a line; "" for the same
    conditions: str         # the same of the simulation

    @staticmethod
    def of(before: Run, run: Run, old: Design, new: Design) -> _Made:
        return _Made(differences.named(old, new), differences.data(before, run), differences.conditions(before, run))

    @property
    def otherwise(self) -> bool:
        return bool(self.edited or self.data or self.conditions)


def _changed(before: list[Run], runs: list[Run], made: _Made) -> None:
    st.text(visible(f"{recent.made_with(before[0])}, {fmt.ago(before[0].created)} → {recent.made_with(runs[0])}"))
    for line in filter(None, (made.data, made.conditions)):
        st.text(visible(line))
    st.text("Edited: " + ", ".join(made.edited) if made.edited else "The design is the same.")
    _effects(before, runs, same_data=not made.data)


def _effects(before: list[Run], runs: list[Run], same_data: bool) -> None:
    """A table of all figures, a column for each shape that both have. None for a run that did not get to its end: its
    sums say nothing of the edit."""
    columns = {}
    for run in runs:
        if (was := next((b for b in before if b.shape == run.shape), None)) and not state.is_active(run):
            old, new = live.outcome(was), live.outcome(run)
            if old.complete and new.complete:
                columns[run.shape] = dict(compare.differences(old, new, same_data))
            else:
                which = "this run" if old.complete else "the baseline"
                st.text(f"{run.shape}: {which} has no whole answer to compare")
    if columns:
        st.markdown(_table(columns))


def _table(columns: dict[str, dict[str, str]]) -> str:
    """As markdown; all of its words are ours. What one shape alone has, such as failures, is "–" for the other."""
    rows = sorted({what for told in columns.values() for what in told}, key=_place(columns))
    head = ["", *(f":{live.COLOUR[shape]}[**{shape}**]" for shape in columns)]
    lines = [head, ["---"] * len(head), *([what, *(told.get(what, "–") for told in columns.values())] for what in rows)]
    return fmt.escaped("\n".join(f"| {' | '.join(line)} |" for line in lines))


def _place(columns: dict[str, dict[str, str]]) -> Callable[[str], int]:
    longest = sorted(columns.values(), key=len, reverse=True)
    order = list(dict.fromkeys(what for told in longest for what in told))
    return order.index
