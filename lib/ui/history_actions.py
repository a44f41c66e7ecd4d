"""What can be done with the chosen runs of the history: buttons in one row that keeps its place."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from lib.errors import PlaygroundError
from lib.phrases import plural
from lib.runs.store import Listed
from lib.ui import export_menu, go_to, history, history_compare, replay, start_runs, state
from lib.ui import format as fmt

NAMED = 6           # runs told one by one before they are deleted
LONGEST = {"title": 200, "note": 2_000}     # characters
NONE_YET = "Tick runs at the left of the table to open, compare, name, export, replay or delete them."


def actions(page: str, runs: list[Listed], shown: history.View) -> None:
    if not shown.kept:
        return
    with st.container(horizontal=True, vertical_alignment="center", key=f"{page}_actions"):
        _open(page, runs)
        _compare(page, runs)
        _describe(page, runs)
        _export(page, runs)
        _replay(page, runs)
        _delete(page, runs)
    with st.container(horizontal=True, vertical_alignment="center", key=f"{page}_ticked"):
        st.caption(_line(runs, shown), width="content")
        if runs:
            st.button("Untick all", key=f"{page}.untick", type="tertiary", on_click=history.choose, args=([],))


def _line(runs: list[Listed], shown: history.View) -> str:
    if not runs:
        return NONE_YET
    here = {row.run.id for row in shown.rows}
    hidden = sum(row.run.id not in here for row in runs)
    return f"{plural(len(runs), 'run')} ticked" + (f", {hidden:,} of them not in the rows below" if hidden else "")


def _ids(runs: Sequence[Listed]) -> list[str]:
    return [row.run.id for row in runs]


def _one_group(runs: list[Listed]) -> str:
    """Why these cannot be taken together as one group; "" when they can."""
    if not runs:
        return NONE_YET
    return "" if len({row.run.group for row in runs}) == 1 else "Tick runs of one number only."


def _working(runs: list[Listed]) -> int:
    return sum(state.is_active(row.run) for row in runs)


# --- open, compare ---------------------------------------------------------------------------------------------------


def _open(page: str, runs: list[Listed]) -> None:
    obstacle = _one_group(runs)
    if st.button("Open", key=f"{page}.open", icon=":material/arrow_forward:", type="primary", disabled=bool(obstacle),
                 help=obstacle or "Shows the run, and what was started with it, on the Run page."):
        go_to.run_page(runs[0].run.group)


def _compare(page: str, runs: list[Listed]) -> None:
    obstacle = "" if len(runs) == 2 else "Tick two runs, of any shape and time."
    st.button("Compare", key=f"{page}.compare", icon=":material/compare_arrows:", disabled=bool(obstacle),
              help=obstacle or "What they were made of, what they took, and which causes they found, side by side.",
              on_click=history_compare.choose, args=(_ids(runs),))


# --- name and note ---------------------------------------------------------------------------------------------------


def _describe(page: str, runs: list[Listed]) -> None:
    key = f"{page}.describe"
    with st.popover("Name and note", key=key, icon=":material/edit:", disabled=not runs, on_change="rerun",
                    help=None if runs else NONE_YET) as opened:
        if not (runs and opened.open):
            return
        ids = _ids(runs)
        if len(runs) > 1:
            st.text(f"For all {plural(len(runs), 'run')} that are ticked.")
        title = _draft(st.text_input, ids, "title", "Name", _common([row.run.title for row in runs]),
                       placeholder="the names stay as they are" if len(runs) > 1 else history.usual_title(runs[0]))
        note = _draft(st.text_area, ids, "note", "Note", _common([row.run.note for row in runs]),
                      placeholder="the notes stay as they are" if len({row.run.note for row in runs}) > 1 else
                      "What is worth remembering about it", height=110)
        st.button("Save", key=f"{page}.describe.save", on_click=_save, args=(key, runs, title, note))


def _common(values: list[str]) -> str:
    return values[0] if len(set(values)) == 1 else ""


def _draft(widget, ids: list[str], field: str, label: str, stored: str, **options) -> str:
    """A field that keeps what was typed for just these runs until it is saved. Returns its widget's key."""
    key = f"history.draft.{field}.{'.'.join(sorted(ids))}"
    drafts = st.session_state.setdefault("_history_drafts", {})
    st.session_state.setdefault(key, drafts.get(key, stored))

    def keep() -> None:
        drafts[key] = st.session_state[key]
    widget(label, key=key, on_change=keep, max_chars=max(LONGEST[field], len(stored)), **options)
    return key


def _save(popover: str, runs: list[Listed], title: str, note: str) -> None:
    """An empty field leaves several runs' different texts as they are; of one run an empty name is the usual one."""
    session = st.session_state
    for row in runs:
        changes = {}
        if (typed := session[title].strip()) or len(runs) == 1:
            changes["title"] = typed or history.usual_title(row)
        if (typed := session[note].strip()) or len({r.run.note for r in runs}) == 1:
            changes["note"] = typed
        state.describe_runs([row.run.id], **changes)
    for key in (title, note):
        session.pop(key)
        session["_history_drafts"].pop(key, None)
    session[popover] = False


# --- export, recording ------------------------------------------------------------------------------------------------


def _export(page: str, runs: list[Listed]) -> None:
    if obstacle := _not_exported(runs):
        st.popover("Export", key=f"{page}.no_export", icon=":material/download:", disabled=True, help=obstacle)
    else:
        export_menu.menu(page, [row.run for row in _ordered(runs)])


def _not_exported(runs: list[Listed]) -> str:
    if obstacle := _one_group(runs):
        return obstacle
    return "" if len({row.run.shape for row in runs}) == len(runs) else "Tick one run of each shape."


def _ordered(runs: list[Listed]) -> list[Listed]:
    """The pipeline first, as everywhere."""
    return sorted(runs, key=lambda row: row.run.shape != "pipeline")


# --- replay ----------------------------------------------------------------------------------------------------------


def _replay(page: str, runs: list[Listed]) -> None:
    obstacle, key = _not_replayed(runs), f"{page}.replay"
    with st.popover("Replay", key=key, icon=":material/replay:", disabled=bool(obstacle), on_change="rerun",
                    help=obstacle or None) as opened:
        if obstacle or not opened.open:
            return
        st.text("A new run with the same design and data, answered by the recorded replies.\n"
                "Nothing is sent and nothing paid. Your own design and data stay as they are.")
        speed = st.segmented_control("How fast?", list(replay.SPEEDS), format_func=replay.SPEEDS.get,
                                     default=replay.USUAL_SPEED, required=True, key=f"{page}.replay.speed")
        if st.button("Start the replay", key=f"{page}.replay.start", icon=":material/play_arrow:"):
            _start_replay(runs, replay.USUAL_SPEED if speed is None else speed)


def _not_replayed(runs: list[Listed]) -> str:
    if obstacle := _one_group(runs):
        return obstacle
    if _working(runs):
        return "It is still at work: what will be replayed is not all there yet."
    if not all(row.totals.calls > row.totals.errors for row in runs):
        return "Nothing was answered in it, so there is nothing to replay."
    if any(row.data_name is None for row in runs):
        return "Its data are gone."
    return _not_exported(runs)


def _start_replay(runs: list[Listed], speed: float) -> None:
    told = replay.Recorded(*zip(*((row.run, row.totals.calls) for row in _ordered(runs)), strict=True))
    try:
        start_runs.start_replay(told, speed)
    except PlaygroundError as error:
        st.text(f"✕ {error}")
        return
    go_to.run_page(state.shown_group())


# --- delete ----------------------------------------------------------------------------------------------------------


def _delete(page: str, runs: list[Listed]) -> None:
    working, key = _working(runs), f"{page}.delete"
    obstacle = NONE_YET if not runs else "" if not working else (
        f"{plural(working, 'of them is', 'of them are')} at work. Stop first, on the Run page.")
    with st.popover("Delete", key=key, icon=":material/delete:", disabled=bool(obstacle), on_change="rerun",
                    help=obstacle or None) as opened:
        if obstacle or not opened.open:
            return
        calls = sum(row.totals.calls for row in runs)
        size = state.store().weight(_ids(runs))
        st.text(f"Delete {plural(len(runs), 'run')} with {plural(calls, 'call')}, about {fmt.megabytes(size)}? "
                "There is no way back.")
        for row in runs[:NAMED]:
            st.text(f"· {history.called(row)}")
        if len(runs) > NAMED:
            st.text(f"and {len(runs) - NAMED:,} more")
        st.button(f"Delete {plural(len(runs), 'run')}", key=f"{page}.delete.yes", on_click=_deleted,
                  args=(key, _ids(runs)))


def _deleted(popover: str, ids: list[str]) -> None:
    st.session_state[popover] = False
    state.delete_runs(ids)
