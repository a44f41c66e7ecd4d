"""The answers of a group of runs, side by side, and what code checked about them. Model text is shown as plain text."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import streamlit as st

from lib.catalog import Roles
from lib.design import Design
from lib.errors import DesignError
from lib.phrases import plural
from lib.runs.store import Run
from lib.task.report import Cause, Check, Customer, Report
from lib.tickets.visible import visible
from lib.ui import compare, connection, drafts, live, state
from lib.ui import format as fmt

Pair = tuple[Cause | None, Cause | None]    # the pipeline's, the agent's


def answers(runs: list[Run]) -> None:
    """The sentence first, then the causes of both shapes, matched by the tickets they hold."""
    reports = {r.shape: report for r in runs if (report := live.report(r))}
    if not reports:
        st.caption("The answers are here, side by side, when a run is done.")
        connection.origin(runs)
        changes(runs)
        return
    sentence(runs)
    changes(runs)
    _heads(reports)
    compared = len(reports) == 2 and not any(report.partial for report in reports.values())
    for number, pair in enumerate(_rows(reports, compared), start=1):
        _row(number, pair, compare.marks(*pair) if compared else None)


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


def _heads(reports: dict[str, Report]) -> None:
    for column, shape in zip(st.columns(2), state.SHAPES, strict=True):
        with column:
            _head(shape, reports.get(shape))


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


def _row(number: int, pair: Pair, differences: list[str] | None) -> None:
    """One card where both agree, else one in each column. `differences` is None where answers are not compared."""
    if differences == []:
        with st.container(border=True, key=f"cause_both_{number}", gap="small"):
            _cause(pair[0], None, f"both_{number}", other=pair[1])
        return
    for column, shape, cause in zip(st.columns(2), state.SHAPES, pair, strict=True):
        if cause:
            with column.container(border=True, key=f"cause_{shape}_{number}", height="stretch", gap="small"):
                _cause(cause, differences, f"{shape}_{number}")


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
    for column, shape in zip(st.columns(2), state.SHAPES, strict=True):
        with column:
            if report := found.get(shape):
                _checks(shape, report)


def _checks(shape: str, report: Report) -> None:
    gaps = [c for c in report.checks if _is_gap(c)]
    judged = [c for c in report.checks if not _is_gap(c)]
    passed = sum(1 for c in judged if c.passed)
    st.markdown(f"**:{live.COLOUR[shape]}[{shape.capitalize()}]** "
                f":gray[{passed} of {plural(len(judged), 'check')} passed]")
    with st.container(gap="xsmall"):
        for check in (*sorted(judged, key=lambda c: c.passed), *gaps):
            _check(check)
    if report.failed:
        st.text(f"{plural(len(report.failed), 'ticket')} without a label:")
        st.dataframe([{"ticket": key, "why": visible(why)} for key, why in report.failed.items()], hide_index=True,
                     key=f"failed_{shape}", column_config={"why": st.column_config.TextColumn(width="large")})


def _failed_checks(report: Report) -> list[str]:
    """The names of the checks that failed, each once."""
    return list(dict.fromkeys(c.name for c in report.checks if not c.passed and not _is_gap(c)))


def _is_gap(check: Check) -> bool:
    """Whether it tells of the data and not of the model: what a database lacks is nobody's answer."""
    return check.name.endswith(" in the database") and not check.passed


def _check(check: Check) -> None:
    mark = "·" if _is_gap(check) else "✓" if check.passed else "✕"
    about = f" · {visible(check.cause)}" if check.cause else ""
    st.text(f"{mark} {check.name}{about}: {visible(check.detail)}")


# --- what changed since the run before -------------------------------------------------------------------------------


def changes(runs: list[Run]) -> None:
    """What of design and data is other than in the run before, and what that did."""
    before = _group_before(runs[0]) if runs else []
    if not before:
        return
    try:
        old, new = Design.from_dict(before[0].design), Design.from_dict(runs[0].design)
    except DesignError:
        return
    fields, data = drafts.changed(old, new), _other_data(before[0], runs[0])
    conditions = _other_conditions(before[0], runs[0])
    if not (fields or data or conditions):
        return
    with st.container(border=True, key="run_changes", gap="xsmall"):
        st.markdown("**What changed since the run before**")
        if data:
            st.text(visible(data))
        if conditions:
            st.text(conditions)
        if fields:
            st.text("Edited: " + ", ".join(drafts.label(f) for f in fields))
        for run in runs:
            _effect(next((b for b in before if b.shape == run.shape), None), run, same_data=not data)
        for field in fields:
            _edit(field, _value(old, field), drafts.value_of(new, field))


def _group_before(run: Run) -> list[Run]:
    """The group that this desk ran just before the run's; empty if there is none."""
    for limit in (6, 50):       # mostly it is the one just before; reading 50 reports of many tickets is slow
        for other in state.store().runs(desk=run.desk, limit=limit):
            if other.group != run.group and other.created < run.created:
                return state.store().group(other.group)
    return []


def _effect(before: Run | None, run: Run, same_data: bool) -> None:
    """No figures for a run that did not get to its end: its sums say nothing of the edit."""
    if before is None or state.is_active(run):
        return
    old, new = live.outcome(before), live.outcome(run)
    if old.complete and new.complete:
        st.text(compare.difference(old, new, same_data))
    else:
        st.text(f"{run.shape}: {'this run' if old.complete else 'the run before'} has no whole answer to compare")


def _value(design: Design, field: str) -> Any:
    """What a field was; "" where an older design had no such step or tool."""
    try:
        return drafts.value_of(design, field)
    except (KeyError, StopIteration):
        return ""


def _edit(field: str, old: Any, new: Any) -> None:
    """The words of a text that went and came; a short value before and after."""
    if not isinstance(old, str) or max(len(old), len(new)) < 60 and "\n" not in old + new:
        st.text(visible(f"{drafts.label(field)}: {_said(field, old)} → {_said(field, new)}"))
        return
    lines = compare.edit(old, new)
    st.caption(drafts.label(field))
    st.code(visible("\n".join(lines)), language="diff", wrap_lines=True,
            height=240 if len(lines) > 10 else "content")


def _said(field: str, value: Any) -> Any:
    """A value as the editors show it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return drafts.CHOICES.get(field, {}).get(value, value)


def _other_data(before: Run, run: Run) -> str:
    """"Other data: …", one line on what of tickets or database differs; "" for the same data."""
    if before.data_id == run.data_id:
        return ""
    old, new = state.stored_data(before.data_id), state.stored_data(run.data_id)
    if not old or not new:
        return "Other data: those of the run before are gone."
    if old.tickets != new.tickets:
        return f"Other data: {_tickets(old)} → {_tickets(new)}"
    if (old.catalog.name, old.catalog.tables) != (new.catalog.name, new.catalog.tables):
        return f"Other product database: {old.catalog.name or 'none'} → {new.catalog.name or 'none'}"
    roles = [_role(name, old.catalog.roles, new.catalog.roles) for name in ("customers", "products", "incidents")]
    return "Read differently: " + ("; ".join(filter(None, roles)) or "the product database")


def _other_conditions(before: Run, run: Run) -> str:
    """"The simulation: 10 % rate limited → no faults"; "" for the same, and where something else answered."""
    if before.conditions == run.conditions or not before.source == run.source == "simulated":
        return ""
    return f"The simulation: {before.conditions or 'no faults'} → {run.conditions or 'no faults'}"


def _tickets(data: state.Data) -> str:
    return f"{plural(len(data.tickets), 'ticket')} of {fmt.cut(data.tickets.name)}"


def _role(name: str, before: Roles, after: Roles) -> str:
    """"which table holds customers: clients → accounts"; "" when it is read as before."""
    old, new = getattr(before, name), getattr(after, name)
    if old == new:
        return ""
    if old and new and old.table == new.table:
        return f"which columns of {new.table} are what"
    return f"which table holds {name}: {old.table if old else 'none'} → {new.table if new else 'none'}"
