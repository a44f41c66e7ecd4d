"""Two runs side by side, whatever their shape, data and time: in what they differ, what they took, what they found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import streamlit as st

from lib.phrases import plural
from lib.runs.store import Listed, Run
from lib.task.report import Cause
from lib.tickets.visible import visible
from lib.ui import compare, connection, differences, drafts, history, live, state
from lib.ui import format as fmt

MATCHED_FROM = 0.5      # share of the larger data set's tickets that both have, from which causes can be matched


@dataclass(frozen=True)
class Side:
    row: Listed
    run: Run                # with its report
    outcome: compare.Outcome

    @property
    def name(self) -> str:
        """"12 · agent"; all of it is ours."""
        return f"{self.row.number}\u00a0·\u00a0{self.run.shape}"


def choose(run_ids: Sequence[str]) -> None:
    """Compares these two from now on, whatever is ticked later; none for nothing."""
    st.session_state["_history_compared"] = list(run_ids)


def side_by_side(page: str) -> None:
    sides = _sides(st.session_state.get("_history_compared", []))
    if not sides:
        return
    left, right = sides
    with st.container(border=True, key=f"{page}_compared"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.subheader("Two runs compared", anchor=False, width="content")
            st.button("Close", key=f"{page}.compared.close", type="tertiary", icon=":material/close:", on_click=choose,
                      args=([],))
        with st.container(key=f"{page}_compared_sentence"):
            st.text(_sentence(left, right))
        for column, side in zip(st.columns(2), sides, strict=True):
            with column:
                _head(side)
        with st.container(key=f"{page}_compared_figures"):
            figures, made_of = st.columns(2)
            with figures:
                st.markdown("**What they took**")
                st.markdown(_figures(left, right))
            with made_of:
                st.markdown("**What differs**")
                _made_of(left.run, right.run)
        _causes(page, left, right)


def _sides(run_ids: list[str]) -> tuple[Side, Side] | None:
    """The one that began first on the left; of runs that were started together the pipeline. None when one is gone."""
    rows = state.listed_runs(run_ids)
    found = [(row, state.store().run(row.run.id)) for row in rows]
    sides = [Side(row, run, live.outcome(run)) for row, run in found if run]
    if len(sides) != 2:
        return None
    one, other = sides
    if one.run.group == other.run.group:
        return tuple(sorted(sides, key=lambda side: side.run.shape != "pipeline"))
    return tuple(sorted(sides, key=lambda side: side.run.created))


def _head(side: Side) -> None:
    run = side.run
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**:{live.COLOUR.get(run.shape, 'gray')}[{side.name}]** {run.status}", width="content")
        connection.badge(run.source)
    lines = [f"{history.data_line(side.row)} · {history.design_line(run)} · {history.models_line(run)}",
             f"{fmt.ago(run.created)}{f' · {run.title}' if history.is_renamed(side.row) else ''}"]
    lines += [run.origin] * bool(run.origin) + [run.note] * bool(run.note) + [run.error] * bool(run.error)
    st.text(visible("\n".join(lines)))


# --- the sentence ----------------------------------------------------------------------------------------------------


def _sentence(left: Side, right: Side) -> str:
    one, other = left.outcome, right.outcome
    if working := [side.name for side in (left, right) if state.is_active(side.run)]:
        return f"Still at work: {' and '.join(working)}. The figures are those of now."
    if one.shape == other.shape:
        return compare.difference(one, other, same_data=_shared(left.run, right.run) is None)
    if missing := [side.name for side in (left, right) if not side.outcome.complete]:
        return f"No whole answer: {' and '.join(missing)}. Only the figures can be compared."
    if _shared(left.run, right.run) is not None:
        return "Another shape on other data: a factor between their figures would say nothing."
    return compare.sentence([one, other])


def _shared(left: Run, right: Run) -> tuple[int, int] | None:
    """How many tickets both data sets have, word for word, of how many in the larger one; None where all are the same.
    """
    if left.data_id == right.data_id:
        return None
    old, new = state.stored_data(left.data_id), state.stored_data(right.data_id)
    if not old or not new:
        return 0, 0
    if old.tickets.tickets == new.tickets.tickets:
        return None
    same = sum(new.tickets.by_key.get(key) == ticket for key, ticket in old.tickets.by_key.items())
    return same, max(len(old.tickets), len(new.tickets))


# --- figures ---------------------------------------------------------------------------------------------------------


def _figures(left: Side, right: Side) -> str:
    """As a markdown table; all of its words are ours."""
    one, other = left.row.totals, right.row.totals
    costs = (one.usd, other.usd)
    times = (live.elapsed(one), live.elapsed(other))
    calls = (one.calls, other.calls)
    rows = [
        ("turns" if left.run.shape == right.run.shape == "agent" else "calls", *map(fmt.exact, calls), _change(*calls)),
        ("input tokens", *_sums((one.input, other.input), (one.unreported, other.unreported), fmt.exact)),
        ("output tokens", *_sums((one.output, other.output), (one.unreported, other.unreported), fmt.exact)),
        (_cost_label(left.run, right.run),
         *_sums(costs, (one.unpriced, other.unpriced), lambda usd: fmt.dollars(usd, beside=costs))),
        ("time", *map(fmt.seconds, times), _change(*times)),
        ("checks passed", *(compare.checks_passed(side.outcome.report) for side in (left, right)), ""),
    ]
    sent_back = (left.outcome.sent_back, right.outcome.sent_back)
    if any(sent_back):
        rows.insert(1, ("replies sent back", *map(fmt.exact, sent_back), _change(*sent_back)))
    if one.errors or other.errors:
        rows.insert(1, ("calls that failed", fmt.exact(one.errors), fmt.exact(other.errors), ""))
    head = [f"| | {left.name} | {right.name} | |", "|---|---:|---:|---:|"]
    return fmt.escaped("\n".join([*head, *(f"| {' | '.join(row)} |" for row in rows)]))


def _cost_label(left: Run, right: Run) -> str:
    """Nothing was paid for a replay: its dollars are what it would list."""
    replays = [run.source == "replay" for run in (left, right)]
    return "would list" if all(replays) else "cost (of a replay: would list)" if any(replays) else "cost"


def _sums(values: tuple[Any, Any], left_out: tuple[int, int], show: compare.Show) -> tuple[str, str, str]:
    """Both sums as shown, and what changed where both are whole."""
    told = [fmt.at_least(show(value), missing) for value, missing in zip(values, left_out, strict=True)]
    return told[0], told[1], "" if any(left_out) else _change(*values)


def _change(old: float | None, new: float | None) -> str:
    """"17 ×" of what is at least doubled, "17 × less" of what is at most half, else "+12 %"."""
    if not old or not new:
        return ""
    factor = new / old
    if factor >= 2:
        return fmt.times(factor)
    if factor <= 0.5:
        return f"{fmt.times(1 / factor)} less"
    return "same" if abs(factor - 1) < 0.0005 else f"{factor - 1:+.0%}".replace("%", " %")


# --- what they were made of ------------------------------------------------------------------------------------------


def _made_of(left: Run, right: Run) -> None:
    lines = [differences.data(left, right), differences.conditions(left, right), _answered(left, right)]
    old, new = state.design_of(left), state.design_of(right)
    if old is None or new is None:
        lines.append("The design of one is of another version of the playground.")
    edited = bool(old and new and drafts.changed(old, new))
    for line in filter(None, lines):
        st.text(visible(line))
    if edited:
        with st.container(key="history_differences", gap="xsmall"):
            differences.fields(old, new)
    if not edited and not any(lines):
        same = "data, design and source are the same."
        st.text(f"Only the shape: {same}" if left.shape != right.shape else f"Nothing: {same}")


def _answered(left: Run, right: Run) -> str:
    """Who answered each, where that differs."""
    if (left.source, left.connection) == (right.source, right.connection):
        return ""
    return f"Answered by: {_who(left)} → {_who(right)}"


def _who(run: Run) -> str:
    """"simulated", "live, Anthropic API", "replay of tickets.csv · default v1, 30 Nov 14:03:10"."""
    if run.connection in ("", run.source):
        return run.source
    return f"{run.source}{' of ' if run.source == 'replay' else ', '}{fmt.cut(run.connection)}"


# --- causes ----------------------------------------------------------------------------------------------------------


def _causes(page: str, left: Side, right: Side) -> None:
    one, other = left.outcome.report, right.outcome.report
    st.markdown("**Which causes they found**")
    if one is None or other is None:
        missing = " and ".join(side.name for side in (left, right) if side.outcome.report is None)
        st.caption(f"No answer: {missing}.")
        return
    shared = _shared(left.run, right.run)
    matched = shared is None or shared[0] >= MATCHED_FROM * max(1, shared[1])
    st.caption(_how_matched(shared, matched))
    pairs = compare.pairs(one, other) if matched else list(zip_longest(one.causes, other.causes))
    if not pairs:
        st.caption("Neither names a cause.")
        return
    column = st.column_config
    st.dataframe([_pair(a, b, left, right, matched) for a, b in pairs], hide_index=True, placeholder="–",
                 key=f"{page}.compared.causes", alt="The causes of both runs, matched by their tickets", column_config={
        "left cause": column.TextColumn(f"cause in {left.name}", width=190),
        "right cause": column.TextColumn(f"cause in {right.name}", width=190),
        "left": column.NumberColumn("tickets", width=62), "right": column.NumberColumn("tickets", width=62),
        "difference": column.TextColumn("difference", width=210)})


def _how_matched(shared: tuple[int, int] | None, matched: bool) -> str:
    if shared is None:
        return "Causes are matched by the tickets they hold, not by their names."
    if matched:
        return (f"{shared[0]:,} of {plural(shared[1], 'ticket')} are the same in both; causes are matched by the "
                "tickets they hold.")
    return "The tickets are others, so causes are listed in their own order and not matched."


def _pair(a: Cause | None, b: Cause | None, left: Side, right: Side, matched: bool) -> dict[str, Any]:
    told = {"left cause": visible(a.name) if a else None, "left": a.count if a else None,
            "right cause": visible(b.name) if b else None, "right": b.count if b else None}
    if not matched:
        return told
    if a is None or b is None:
        return {**told, "difference": f"only in {(left if a else right).name}"}
    return {**told, "difference": " · ".join(compare.marks(a, b)) or "same tickets and customers"}
