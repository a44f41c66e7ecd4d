"""The library of designs, at the top of the Design page: which one is open, and opening, saving and deleting others.

Names of designs are anybody's words: they are shown as text, never as markdown.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from lib import design_file
from lib.design import Design
from lib.errors import DesignError, InputError
from lib.exports import take_home
from lib.phrases import some
from lib.runs.store import SavedDesign
from lib.runs.untrusted import Wrong
from lib.tickets.visible import visible
from lib.ui import drafts, editors, set_aside, state
from lib.ui import format as fmt

LONGEST_NAME = 80       # characters
NAMED_EDITS = 3         # told one by one; more are counted
RUN_DESIGNS = 12        # of the latest runs, in the list
SHOWN = 40              # designs in the list; a name finds the others


@dataclass(frozen=True)
class Entry:
    """A design that can be opened, and what is said of it beside its name."""

    design: Design
    told: str
    saved_id: int | None = None

    def line(self) -> str:
        return f"{called(self.design)} · {self.design.version} · {self.told}"


def bar(page: str) -> None:
    """Title and what can be done with designs on one line, what is open below."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center",
                      key=f"{page}_library"):
        st.title("Design", anchor=False, width="content")
        with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
            _open(page)
            _save(page)
            st.button("Duplicate", key=f"{page}.duplicate", icon=":material/content_copy:", on_click=_duplicate,
                      help="Saves what stands here, edits included, under a name of its own, and opens that.")
            editors.revert(page)
            _file(page)
    _what_is_open(page)
    _told(page)


def called(design: Design) -> str:
    """Its name as one line, whatever it holds."""
    return visible(fmt.cut(" ".join(design.name.split()), LONGEST_NAME)) or "(no name)"


def choices() -> list[tuple[str, Design]]:
    """Every design at hand with a line that tells it apart: as it stands here, what is open, the default, those saved,
    those of the latest runs."""
    now, base = state.design()[0], state.opened()
    entries = [Entry(now, "as it stands here")] if state.is_edited() else []
    entries += [Entry(base, "open"), *every()]
    return [(entry.line(), entry.design) for entry in _different(entries)]


def every() -> list[Entry]:
    """The default, then those saved, then those of the latest runs that are none of these; each newest first."""
    return [Entry(state.default(), "the default"), *_saved_ones(), *_of_runs()]


def _saved_ones() -> Iterator[Entry]:
    for saved in state.saved_designs():
        if design := _read(saved.content):
            yield Entry(design, f"saved {fmt.ago(saved.created)}", saved.id)


def _of_runs() -> Iterator[Entry]:
    for content, ran in state.designs_of_runs(RUN_DESIGNS):
        if design := _read(content):
            yield Entry(design, f"of a run {fmt.ago(ran)}")


def _read(content: dict) -> Design | None:
    """None for a design of another version of the playground, or one that no editor could show."""
    try:
        return design_file.checked(content)
    except Wrong:
        return None


def _different(entries: list[Entry]) -> list[Entry]:
    """Without those whose name and content stand before them."""
    first: dict[tuple[str, str], Entry] = {}
    for entry in entries:
        first.setdefault((entry.design.name, entry.design.version), entry)
    return list(first.values())


# --- what is open ----------------------------------------------------------------------------------------------------


def _what_is_open(page: str) -> None:
    now, base = state.design()[0], state.opened()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"{page}_open_design"):
        with st.container(key=f"{page}_open_name", width="content"):
            st.text(called(base), width="content")
        st.markdown(f"`{base.version}`" + (f" → `{now.version}`" if now.version != base.version else ""),
                    width="content", help="Ten digits of all that a design holds, its name aside. A run tells which "
                                          "version it was made with.")
        st.text(f"{_kept_as(base)}{_edits()}", width="content")
        if not state.is_edited() and (left := set_aside.designs()):
            edits = len(left[-1]["drafts"])
            st.button(f"Back to the {'edit' if edits == 1 else f'{edits} edits'} before", key=f"{page}.take_back",
                      type="tertiary", icon=":material/undo:", on_click=_take_back,
                      help="What was open before this one, with what you had edited in it.")


def _kept_as(base: Design) -> str:
    if base.is_exactly(state.default()):
        return "the default"
    saved = _saved_as(base)
    return f"saved {fmt.ago(saved[0].created)}" if saved else "not saved"


def _saved_as(design: Design) -> list[SavedDesign]:
    """The saved designs with this name and content."""
    return [saved for saved in state.saved_designs() if (saved.name, saved.version) == (design.name, design.version)]


def _edits() -> str:
    """" · edited since: label prompt, tool own_1 added"; "" when nothing was."""
    typed = state.desk()["drafts"]
    lists = {name: typed.get(name, []) for name in drafts.TOOL_LISTS}
    whole = tuple(f"tools.{key}." for key in lists["added"])
    fields = [f for f in drafts.edited(state.opened(), typed) if f not in lists and not f.startswith(whole)]
    told = [f"tool {key} {what}" for what, keys in lists.items() for key in keys]
    told += [drafts.short_label(field) for field in fields]
    return f" · edited since: {some(told, NAMED_EDITS)}" if told else ""


# --- opening ---------------------------------------------------------------------------------------------------------


def _open(page: str) -> None:
    key = f"{page}.designs"
    with st.popover("Open", key=key, icon=":material/folder_open:", on_change="rerun",
                    help="The default, designs that you saved, and those of your latest runs.") as popover:
        if not popover.open:
            return
        entries = _different(every())
        if len(entries) > SHOWN:
            entries = _found(entries, st.text_input("Find by name", key=f"{key}.find", width=380))
        tall = 400 if len(entries) > 7 else "content"
        with st.container(height=tall, border=False, key=f"{page}_designs", gap="xsmall"):
            for number, entry in enumerate(entries[:SHOWN]):
                _row(page, key, number, entry)
            if len(entries) > SHOWN:
                st.caption(f"and {len(entries) - SHOWN:,} more: type a part of the name.")
        if entries == [Entry(state.default(), "the default")]:
            st.caption("What you save, and what your runs were made with, will be listed here.")


def _found(entries: list[Entry], typed: str) -> list[Entry]:
    """Those in whose name every typed word stands."""
    words = typed.casefold().split()
    return [entry for entry in entries if all(word in entry.design.name.casefold() for word in words)]


def _row(page: str, popover: str, number: int, entry: Entry) -> None:
    here = f"{page}.design.{entry.saved_id or f'other_{number}'}"
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
        st.button("Open", key=f"{here}.open", type="tertiary", icon=":material/arrow_forward:", on_click=_opened,
                  args=(popover, entry.design))
        with st.container(gap=None, width="stretch"):
            st.text(called(entry.design))
            st.caption(f"`{entry.design.version}` · {entry.told}")
        if entry.saved_id is not None:
            st.button("", key=f"{here}.delete", type="tertiary", icon=":material/delete:", help="Delete …",
                      on_click=_ask, args=(entry.saved_id,))
    if entry.saved_id is not None and entry.saved_id == st.session_state.get("_deleting_design"):
        _really(here, entry)


def _really(here: str, entry: Entry) -> None:
    with st.container(border=True, gap="xsmall"):
        st.text("Delete this saved design? Runs that were made with it keep their copy, and so does what is open.")
        with st.container(horizontal=True):
            st.button("Delete it", key=f"{here}.delete.yes", on_click=_deleted, args=(entry.saved_id,))
            st.button("Keep it", key=f"{here}.delete.no", type="tertiary", on_click=_ask, args=(None,))


@state.told
def _opened(popover: str, design: Design) -> None:
    st.session_state[popover] = False
    open_design(design)


def open_design(design: Design) -> None:
    """Opens it; edits on the one before are set aside."""
    state.look_again()
    set_aside.leave_design()
    state.open_design(design)


@state.told
def _take_back() -> None:
    state.look_again()
    if set_aside.designs() and not state.is_edited():       # another tab may have been quicker
        set_aside.back_to_design()


def _ask(saved_id: int | None) -> None:
    st.session_state["_deleting_design"] = saved_id


def _deleted(saved_id: int) -> None:
    st.session_state["_deleting_design"] = None
    state.delete_saved_design(saved_id)


# --- saving ----------------------------------------------------------------------------------------------------------


def _save(page: str) -> None:
    key = f"{page}.save"
    if st.session_state.pop("_saved_design", False):
        st.session_state[key] = False
    with st.popover("Save", key=key, icon=":material/save:", on_change="rerun",
                    help="Under a name. One name may have many versions; none of them ever changes.") as popover:
        if not popover.open:
            return
        if unusable := state.design()[1]:
            st.text("Not while part of it cannot be used:")
            editors.show_problems(unusable)
            return
        now = state.design()[0]
        with st.form(f"{key}.form", border=False):
            name = st.text_input("Name", _proposed(now), max_chars=LONGEST_NAME, width=380,
                                 key=f"{key}.name.{now.version}", placeholder="Short prompts")
            st.text(_there_already(now))
            if st.form_submit_button("Save", key=f"{key}.yes", type="primary"):
                _save_as(name)


def _proposed(now: Design) -> str:
    """What was opened under a name of one's own is saved under it again; the default's name is nobody's own."""
    return "" if now.name == state.default().name else now.name[:LONGEST_NAME]


def _there_already(now: Design) -> str:
    same = [saved for saved in state.saved_designs() if saved.version == now.version]
    if not same:
        return f"It will be version {now.version}."
    names = some([f"“{visible(fmt.cut(saved.name))}”" for saved in same], 3)
    return f"The same content is saved already as {names}, {fmt.ago(same[0].created)}."


def _save_as(typed: str) -> None:
    """In the midst of the page's run, not before it: a refused name stays in its field, with the reason below."""
    try:
        new = save_as(typed)
    except InputError as error:
        st.text(f"✕ {error}")
        return
    st.toast("Saved." if new else "It was saved already under this name; nothing new was kept.")
    st.session_state["_saved_design"] = True
    st.rerun()      # the status line above names what is open now


def save_as(typed: str) -> bool:
    """Saves the design as it stands under this name and opens what was saved. False where just this was saved under
    the name before. Raises InputError for a name that is none, and where no more designs are kept."""
    name = " ".join(typed.split())[:LONGEST_NAME]
    if not name:
        raise InputError("A saved design needs a name.")
    known = bool(_saved_as(replace(state.design()[0], name=name)))
    state.save_design(name)
    return not known


@state.told
def _duplicate() -> None:
    state.save_design(_free_name(state.design()[0].name))


def _free_name(name: str) -> str:
    """"mine" -> "mine copy", "mine copy 2" …: the first that no saved design has."""
    taken = {saved.name for saved in state.saved_designs()}
    number, base = 1, name[:LONGEST_NAME - 9]
    while (found := f"{base} copy{f' {number}' if number > 1 else ''}") in taken:
        number += 1
    return found


# --- files -----------------------------------------------------------------------------------------------------------


def _file(page: str) -> None:
    key = f"{page}.file"
    if st.session_state.pop("_design_read", False):
        st.session_state[key] = False       # what became of it is told below
    with st.popover("File", key=key, icon=":material/description:", on_change="rerun",
                    help="A design as one readable file, to keep, to send, or to edit elsewhere.") as popover:
        if popover.open:
            _export(page)
            _import(page)


def _export(page: str) -> None:
    now, unusable = state.design()
    st.download_button("Export as it stands here", lambda: design_file.write(now).encode(), key=f"{page}.export",
                       file_name=file_name(now), mime="application/toml", icon=":material/download:",
                       on_click="ignore", disabled=bool(unusable), width="stretch",
                       help="Not while part of it cannot be used." if unusable else
                       "TOML: prompts as they read, schemas as JSON. Read back, it is the same version.")
    data, cannot_run = state.data(), bool(editors.problems())
    st.download_button("Get the code", lambda: code_of(now, data), key=f"{page}.code", on_click="ignore",
                       file_name=file_name(now).replace(".toml", ".zip"), mime="application/zip",
                       icon=":material/code:", width="stretch", disabled=cannot_run,
                       help="Not while the design cannot run." if cannot_run else
                       "A plain Python program of both shapes with these prompts, tools and data, which needs none "
                       "of this project.")


def code_of(design: Design, data: state.Data) -> bytes:
    return take_home.program(design, state.SHAPES, data.tickets, data.catalog).zipped()


def file_name(design: Design) -> str:
    """"design-short-prompts-3fa2b1c0d9.toml", in letters that any system takes."""
    plain = unicodedata.normalize("NFKD", design.name).encode("ascii", "ignore").decode()
    words = re.sub(r"[^A-Za-z0-9]+", "-", plain)[:40].strip("-").lower()
    return f"{'-'.join(filter(None, ('design', words, design.version)))}.toml"


def _import(page: str) -> None:
    file = st.file_uploader("Import a design (TOML, or JSON)", type=["toml", "json"], key=f"{page}.import",
                            max_upload_size=max(1, design_file.MOST_BYTES // 2**20))
    if file and file.file_id != st.session_state.get("_design_file"):
        st.session_state["_design_file"] = file.file_id
        st.session_state["_design_told"] = _imported(file)
        st.session_state["_design_read"] = True
        st.rerun()      # everything above and below shows the new design


def _imported(file: Any) -> str:
    """Opens the design of the file; what became of it, in one line."""
    name = visible(fmt.cut(file.name))
    try:
        found = design_file.read(file.getvalue())
    except DesignError as error:
        return f"✕ {name} is no design: {visible(str(error))}. What was open before still is."
    open_design(found.design)
    more = f" Left out, because this version does not know it: {visible(some(found.unknown))}." if found.unknown else ""
    return f"{name} is open. It is not saved yet.{more}"


def _told(page: str) -> None:
    """What became of the last import, until it is read."""
    if line := st.session_state.get("_design_told"):
        with st.container(border=True, key=f"{page}_import_told", horizontal=True, vertical_alignment="center"):
            st.text(line, width="stretch")
            st.button("OK", key=f"{page}.import.ok", type="tertiary", on_click=_forget)


def _forget() -> None:
    st.session_state.pop("_design_told", None)
