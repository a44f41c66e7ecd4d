"""Two designs side by side: every field that differs, word by word, and what it changes in tokens and dollars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from lib.design import Design
from lib.runs.store import Run
from lib.task.effect import BEHAVIOUR, Change, Effect, added, effects, path
from lib.ui import basis, differences, drafts, library, live, sizes, state
from lib.ui import format as fmt

NOW = "now"         # which choice stands for the design as it is edited; its version changes with every edit
SAME_REPLIES = "with the same replies"
UNTOLD = "not told: one of the two designs cannot run"


@dataclass(frozen=True)
class Told:
    """What each field changes: `held` with the replies as they are, `foreseen` by the forecast, since replies and
    calls would be others."""

    held: list[Effect]
    foreseen: list[Effect]
    known: bool             # False: one of the designs cannot run, and no run tells of it

    def of(self, field: str) -> str:
        """In words: "label +43 tokens × 40 tickets = +1,720 · +$0.0002"; what is not sent changes nothing."""
        if not self.known:
            return UNTOLD
        return next((_words(effect, by_forecast) for found, by_forecast in ((self.held, False), (self.foreseen, True))
                     for effect in found if effect.field == field), "")


def told(before: Design, after: Design) -> Told:
    way = path(before, after)
    last = next((design for field, design in reversed(way) if not BEHAVIOUR.fullmatch(field)), before)
    designs = [before, *(design for _, design in way)]
    taken, foreseen = basis.of(designs), basis.of(designs, by_forecast=True)
    known = all(taken(design).keys() >= basis.SHAPE_OF.keys() for design in (before, after))
    return Told(effects(taken, before, last), effects(foreseen, last, after), known)


def _words(effect: Effect, by_forecast: bool) -> str:
    parts = [f"{change.step} {sizes.growth(change)}" for change in effect.changes]
    if not parts:
        return "as many tokens as before" if by_forecast else "no other tokens are sent"
    return ("by the forecast: " if by_forecast or _moves(effect) else "") + "; ".join(parts)


def _moves(effect: Effect) -> bool:
    """Whether it takes more calls, or fewer: only the forecast says so, which has no replies to hold."""
    return any(change.before.calls != change.after.calls for change in effect.changes)


# --- on the Design page ----------------------------------------------------------------------------------------------


def comparison(page: str) -> None:
    """Any two designs at hand, the one that is open and its edits unless others are chosen."""
    place = st.expander("Compare two designs", key=f"{page}_compare", icon=":material/compare_arrows:",
                        on_change="rerun")
    if not place.open:
        return
    with place:
        left, right = _chosen(page)
        if not drafts.changed(left, right):
            st.caption("These two are the same, word for word.")
            return
        found = told(left, right)
        st.markdown(_in_all(found), help=_held_on())
        with st.container(key="design_differences", gap="xsmall"):
            differences.fields(left, right, {effect.field: found.of(effect.field)
                                             for effect in (*found.held, *found.foreseen)})


def _chosen(page: str) -> tuple[Design, Design]:
    now = state.design()[0]
    named = {_id(design, now): (line, design) for line, design in library.choices()}
    ids = list(named)
    first = min(1, len(ids) - 1)
    sides = zip(st.columns(2), (("left", "From", first), ("right", "To", 0)), strict=True)
    picked = [column.selectbox(label, ids, index=index, key=f"{page}.compare.{side}",
                               format_func=lambda id: named[id][0]) for column, (side, label, index) in sides]
    left, right = (named.get(id, named[ids[0]])[1] for id in picked)
    return left, right


def _id(design: Design, now: Design) -> str:
    return NOW if design == now else f"{design.version} {design.name}"


def _in_all(found: Told) -> str:
    """As markdown; all of its words are ours."""
    if not found.known:
        return f"**In all** {UNTOLD}."
    how = "by the forecast" if any(map(_moves, found.held)) else SAME_REPLIES
    lines = [f"**In all, {how}:** {_sums(found.held)} a run"]
    if found.foreseen:
        lines.append(f"**And by the forecast,** since replies would be others: {_sums(found.foreseen)}")
    return fmt.escaped("  \n".join(lines))


def _sums(found: Sequence[Effect]) -> str:
    """":blue[pipeline] +1,763 input tokens · +$0.0035, …" for both shapes."""
    parts = []
    for shape in state.SHAPES:
        mine = [change for effect in found for change in effect.changes if basis.SHAPE_OF[change.step] == shape]
        parts.append(f":{live.COLOUR[shape]}[{shape}] {_sum(mine)}")
    return ", ".join(parts)


def _sum(changes: Sequence[Change]) -> str:
    tokens = sizes.signed_tokens(sum(change.tokens for change in changes))
    return f"{tokens} input tokens · {sizes.signed_dollars(added(change.usd for change in changes))}"


def _held_on() -> str:
    runs = basis.runs_asked_again()
    return " ".join(f"{shape.capitalize()}: {sizes.HELP[sizes.RUN if shape in runs else sizes.FORECAST]}"
                    for shape in state.SHAPES)


# --- on the Run page -------------------------------------------------------------------------------------------------


def since(runs: Sequence[Run]) -> None:
    """What was edited since the runs that are shown, and what that changes in the next one."""
    before, now = state.design_of(runs[0]) if runs else None, state.design()[0]
    if before is None or not (edited := differences.named(before, now)):
        return
    st.text("Edited since the run that is shown: " + ", ".join(edited))
    st.markdown(_in_all(told(before, now)), help=_held_on())
