"""The replay of a run: which one answers, how fast, and how that is told. Its calls are answered from the store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import streamlit as st

from lib.runs.store import Run, Wanted
from lib.tickets.visible import visible
from lib.ui import format as fmt
from lib.ui import set_aside, simulation, state

SPEEDS = {1.0: "as recorded", 10.0: "10 × faster", 30.0: "30 × faster", 0.0: "at once"}
USUAL_SPEED = 10.0
LISTED = 60         # runs that are looked through for groups to replay
MEANS = ("Each request gets the reply that the chosen run got to the very same request. Nothing is sent, nothing is "
         "paid; dollars are what it would list. A request that was not recorded ends the run, which says what differs.")


@dataclass(frozen=True)
class Recorded:
    """Runs started together whose calls can answer a replay."""

    runs: tuple[Run, ...]       # without their reports
    calls: tuple[int, ...]      # answered ones of each

    @property
    def group(self) -> str:
        return self.runs[0].group

    @property
    def name(self) -> str:
        """What a replay of it is said to be answered by."""
        return f"{fmt.cut(self.runs[0].title)}, {_moment(self.runs[0].created)}"

    @property
    def origin(self) -> str:
        """Who answered first: what it says itself if it came from a recording."""
        from lib.runs.recording import origin_of

        return origin_of(self.runs[0])

    def told(self) -> str:
        """"30 Nov 14:03 · tickets.csv · default v1 · pipeline 46 calls, agent 45 · live"."""
        calls = ", ".join(f"{run.shape} {made:,}" for run, made in zip(self.runs, self.calls, strict=True))
        whence = self.runs[0].source + " · from a recording" * bool(self.runs[0].origin)
        return visible(f"{_moment(self.runs[0].created)} · {fmt.cut(self.runs[0].title)} · calls: {calls} · {whence}")


def chosen() -> Recorded | None:
    """What the next run would replay; None while nothing is chosen or it is gone from the store."""
    wanted = state.desk()["connection"].get("replay", "")
    return next((found for found in _recorded() if found.group == wanted), None)


def of(run: Run) -> Recorded | None:
    """What a replay is of, found by the moment in its name: titles may be changed. None if it is gone."""
    return next((found for found in _recorded() if found.name.endswith(run.connection.rpartition(", ")[2])), None)


def speed() -> float:
    kept = state.desk()["connection"].get("replay_speed", USUAL_SPEED)
    return kept if kept in SPEEDS else USUAL_SPEED


def form(page: str) -> None:
    """Which run, how fast, and whether the desk asks what that run asked."""
    found = {recorded.group: recorded for recorded in _recorded()}
    if not found:
        st.caption("No run to replay yet. Run something, or open a recording on the History page.")
        return
    now = chosen()
    _field(st.selectbox, page, "replay", "Which run answers?", options=list(found), placeholder="Choose a run",
           index=list(found).index(now.group) if now else None, format_func=lambda group: found[group].told())
    _field(st.segmented_control, page, "replay_speed", "How fast?", options=list(SPEEDS), format_func=SPEEDS.get,
           default=speed(), required=True)
    st.caption(MEANS)
    if now and (other := state.other_on_desk(now.runs[0])):
        st.text(f"⚠ The {other} on the desk {'are' if other.startswith('data') else 'is'} not that run's, so a replay "
                "will soon ask what was not recorded.")
        st.button("Put its data and design on the desk", key=f"{page}.replay.take", icon=":material/input:",
                  on_click=_put_on_desk, args=(now.runs[0],),
                  help="They take the place of those on the desk. Edits on the design stay one click away on Design.")


def _put_on_desk(run: Run) -> None:
    set_aside.leave_design()
    state.put_on_desk(run)


def told(run: Run) -> str:
    """Where the answers of a replay, or of a run from a recording, come from: one line, in which `origin` may be
    anybody's words."""
    rules = f" {simulation.RULES}" if simulation.wrote(run) else ""
    if run.source != "replay":
        return f"opened from a recording: {_first(run.origin)}.{rules}"
    return (f"replay of {_first(run.origin)}: recorded answers, nothing is sent, $0 spent; dollars are what it would "
            f"list.{rules}")


def _first(origin: str) -> str:
    """"live · Anthropic API · recorded 2026-11-12" -> "a live run of 12 Nov 2026"; as it is where it is put otherwise.
    """
    source, *_, day = origin.split(" · ")
    try:
        moment = datetime.strptime(day, "recorded %Y-%m-%d")
    except ValueError:
        return origin
    kind = {"server": "run of a compatible server"}.get(source, f"{source} run")
    return f"a {kind} of {moment.day} {moment:%b %Y}"


def _recorded() -> list[Recorded]:
    """The newest first. A replay is left out: it has nothing that its own source has not."""
    groups: dict[str, list[tuple[Run, int]]] = {}
    for row in state.listed(Wanted(), LISTED):
        run, answered = row.run, row.totals.calls - row.totals.errors
        if answered and run.source != "replay" and run.shape in state.SHAPES:
            groups.setdefault(run.group, []).append((run, answered))
    ordered = [sorted(group, key=lambda found: state.SHAPES.index(found[0].shape)) for group in groups.values()]
    return [Recorded(*zip(*group, strict=True)) for group in ordered]


def _moment(created: float) -> str:
    moment = datetime.fromtimestamp(created)
    return f"{moment.day} {moment:%b %H:%M:%S}"


def _field(widget: Any, page: str, name: str, label: str, **options: Any) -> None:
    key = f"{page}.connection.{name}"

    def save() -> None:
        state.keep(connection={**state.desk()["connection"], name: st.session_state[key]})
    widget(label, key=key, on_change=save, **options)
