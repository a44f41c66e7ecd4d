"""The run that the shown one is held against: the one just before it on its desk, unless another is pinned."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from lib.runs.store import Run
from lib.ui import state

BEFORE = "the run before"
PINNED = "the pinned run"
GONE = "The run that was pinned as the baseline was deleted; this one is held against the run before it."
HELP = ("Every run that you look at is held against this one from now on, and not against the run before it: what "
        "changed in the design, in the answer, in tokens, dollars and seconds.")


@dataclass(frozen=True)
class Baseline:
    runs: list[Run]             # empty: there is nothing to hold the shown run against
    name: str = BEFORE
    note: str = ""              # why it is not the one that was pinned

    @property
    def is_pinned(self) -> bool:
        return self.name == PINNED


def of(runs: list[Run]) -> Baseline:
    """What these runs are held against. The pinned runs themselves are held against those before them."""
    pinned = state.desk()["pinned"]
    if pinned and pinned != runs[0].group:
        if found := state.runs_of(pinned):
            return Baseline(found, PINNED)
        return Baseline(_before(runs[0]), note=GONE)
    return Baseline(_before(runs[0]))


def button(page: str, runs: list[Run]) -> None:
    """Beside the runs that are shown: pins them as the baseline, or takes the pin off."""
    if not runs:
        return
    if state.desk()["pinned"] == runs[0].group:
        st.button("Unpin", key=f"{page}.unpin", type="tertiary", icon=":material/keep_off:", on_click=_pin, args=("",),
                  help="These runs are the baseline that others are held against.")
    else:
        st.button("Pin as baseline", key=f"{page}.pin", type="tertiary", icon=":material/keep:", on_click=_pin,
                  args=(runs[0].group,), help=HELP)


def unpin(page: str) -> None:
    """Beside what a run is held against, while that is not the run before it, or was to be another."""
    st.button("Unpin the baseline", key=f"{page}.unpin_baseline", type="tertiary", icon=":material/keep_off:",
              on_click=_pin, args=("",), help="Holds every run against the one before it again.")


def _pin(group: str) -> None:
    state.keep(pinned=group)


def _before(run: Run) -> list[Run]:
    """The group that this desk ran just before the run's; empty if there is none. Whoever was given a link to a run was
    given none to that one."""
    if not state.is_mine(run):
        return []
    for limit in (6, 50):       # mostly it is the one just before; reading 50 reports of many tickets is slow
        for other in state.store().runs(desk=run.desk, limit=limit):
            if other.group != run.group and other.created < run.created:
                return state.store().group(other.group)
    return []
