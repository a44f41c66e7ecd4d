"""Resume: the button, what it says in the way of one, and the question where the desk holds something else by now."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import streamlit as st

from lib.design import Design, Limits
from lib.errors import DesignError
from lib.phrases import plural, some
from lib.runs.store import Run, Totals
from lib.task.problems import problems
from lib.tickets.visible import visible
from lib.ui import connection, drafts, editors, start_runs, state

NOTES = 8       # of resumed runs that a desk keeps
NAMED = 5       # of the fields that differ; more are counted
LIMITS = {"limits.max_turns": "turns", "limits.max_tokens": "tokens", "limits.max_usd": "dollars",
          "limits.max_seconds": "seconds"}
ENDED = ("stopped", "failed", "interrupted")
GONE = "Its data are gone from the store, so it cannot go on. What it found and its calls are still here."
TIP = "Goes on where it ended; calls that are finished are not paid again."
TIP_AGAIN = "Asks for their labels once more, then merges and summarises anew; the other labels are kept."


@dataclass(frozen=True)
class Differences:
    """What the desk holds by now that a run did not have, in words."""

    things: tuple[str, ...]     # that the run goes on with as they were
    limits: tuple[str, ...]     # that hold from now on: "60 → 99 turns"


def button(page: str, run: Run, failed: int = 0) -> None:
    """For a run that ended early, or one that is done with `failed` tickets in it."""
    label = f"Try the {plural(failed, 'failed ticket')} again" if failed else "Resume"
    obstacle = why_not(run)
    st.button(label, key=f"{page}.resume.{run.shape}", icon=":material/resume:", on_click=_ask_or_resume, args=(run,),
              disabled=bool(obstacle), help=obstacle or (TIP_AGAIN if failed else TIP))


def why_not(run: Run) -> str:
    """Why it cannot go on; "" when it can."""
    return connection.why_not_resumed(run) or ("" if state.store().has_data(run.data_id) else GONE)


def question(page: str, runs: list[Run]) -> None:
    """In place of a resume that would go on with something else than the desk holds: which of the two is meant?"""
    run = next((run for run in runs if run.id == st.session_state.get("_resume_asked")), None)
    if run is None or state.is_active(run) or why_not(run):
        return
    differ, data = differences(run), state.data()
    if not differ.things:
        return
    with st.container(border=True, key=f"{page}_resume_question", gap="small"):
        st.text(visible(f"The desk holds something else than this {run.shape} run began with: "
                        f"{some(differ.things, NAMED)}. Resume goes on with the run's own; finished calls are not paid "
                        "again."))
        if differ.limits:
            st.text(_limits_line(differ))
        with st.container(horizontal=True, gap="small"):
            st.button("Resume as it was", type="primary", icon=":material/resume:", key=f"{page}.resume.as_it_was",
                      on_click=_resume, args=(run,))
            anew = f"Start a new run with the present design ({plural(len(data.tickets), 'ticket')})"
            st.button(anew, icon=":material/play_arrow:", key=f"{page}.resume.anew", on_click=_start_anew,
                      args=(run.shape,), disabled=not start_runs.may_start([run.shape], data, editors.problems()))
            st.button("Cancel", key=f"{page}.resume.cancel", on_click=_forget_the_question)


def line(run: Run, totals: Totals) -> str:
    """What a panel says of calls that cost nothing more: kept at an early end, taken along when resumed."""
    if run.status in ENDED and not state.store().has_data(run.data_id):
        return GONE
    kept, taken = totals.calls - totals.errors, state.runs().taken_over(run.id)
    told = [f"{plural(kept, 'finished call')} kept."] if run.status in ENDED and kept else []
    told += [f"Resumed: {plural(taken, 'call')} taken from before, not paid again."] if taken else []
    return " ".join([*told, *filter(None, [_noted(run.id)])])


def differences(run: Run) -> Differences:
    own, now = state.design_of(run), state.design()[0]
    changed = drafts.changed(own, now) if own else []
    limits = [field for field in changed if field.startswith("limits.")]
    things = ["data"] * (run.data_id != state.data().id)
    things += [drafts.short_label(field) for field in changed if field not in limits]
    told = [f"{_number(own, f)} → {_number(now, f)} {LIMITS[f]}" for f in limits]
    return Differences(tuple(things), tuple(told))


def _number(design: Design, field: str) -> str:
    value = drafts.value_of(design, field)
    return f"{int(value) if value == int(value) else value:,}"


def _limits_line(differ: Differences) -> str:
    return f"The limits are the desk's from now on: {', '.join(differ.limits)}."


# --- what the buttons do ---------------------------------------------------------------------------------------------


@state.told
def _ask_or_resume(run: Run) -> None:
    state.look_again()
    if why_not(run):
        return
    if differences(run).things:
        st.session_state["_resume_asked"] = run.id
    else:
        _resume(run)


def _resume(run: Run) -> None:
    _forget_the_question()
    differ = differences(run)
    _go_on(run.id, connection.to_resume(run), _limits_line(differ) if differ.limits else "")


@state.told
def _go_on(run_id: str, answers: connection.Choice, note: str) -> None:
    """With the run's own design under the limits that the desk has now: a raised one lets it go on. The `note` is kept
    for whoever looks on."""
    st.session_state.get("_stopping", set()).discard(run_id)
    connect = functools.partial(answers.connect, state.store().totals(run_id).calls, [run_id])
    try:
        state.runs().resume(run_id, connect, _usable_limits(), answers.conditions, answers.reuse, answers.payer)
    except DesignError as reason:
        raise DesignError(f"This run cannot go on: {reason}. Start a new one.") from reason
    newest = list(state.desk()["resumed"].items())[-(NOTES - 1):]
    state.keep(resumed={**dict(newest), run_id: note})


def _noted(run_id: str) -> str:
    """What was noted when the run was resumed last; "" for another one."""
    return str(state.desk()["resumed"].get(run_id, ""))


def _usable_limits() -> Limits:
    """Raises DesignError, naming the limit, for what no run may have."""
    current, _ = state.design()
    for problem in problems(current):
        if problem.field.startswith("limits."):
            raise DesignError(f"{drafts.label(problem.field)}: {problem.text}")
    return current.limits


def _start_anew(shape: str) -> None:
    _forget_the_question()
    start_runs.start([shape], state.data)


def _forget_the_question() -> None:
    st.session_state.pop("_resume_asked", None)
