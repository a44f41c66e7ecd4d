"""What every page begins with: the way in through app.py, and one line on what is being worked with."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from lib.design import Design
from lib.errors import SettingError, StoreError
from lib.models import model
from lib.phrases import plural
from lib.tickets.visible import visible
from lib.ui import connection, state
from lib.ui import format as fmt

PAGES = (
    ("data", "Data", ":material/table_rows:"),
    ("design", "Design", ":material/edit_note:"),
    ("run", "Run", ":material/play_arrow:"),
    ("costs", "Costs", ":material/finance:"),
    ("history", "History", ":material/history:"),
)
STYLE = Path(__file__).with_name("style.css")


def app() -> None:
    """All of app.py: names and orders the pages, runs one. A visit that `page` sent here goes back to its page."""
    st.set_page_config(page_title="pipeline or agent?", page_icon="🔀", layout="wide")
    pages = [st.Page(f"pages/{stem}.py", title=title, icon=icon, url_path=stem) for stem, title, icon in PAGES]
    # subtle: the default page is served at / only and its own path leads nowhere, so what people type needs pages too
    start = st.Page("pages/start.py", title="Start", icon=":material/home:", url_path="root", default=True)
    pages = [start, *pages, *(st.Page(_to_start, url_path=path, visibility="hidden") for path in ("start", "home"))]
    chosen = st.navigation(pages, position="top")
    st.session_state["_app"] = True
    if wanted := st.session_state.pop("_goto", None):
        st.switch_page(wanted[0], query_params=wanted[1])
    try:
        chosen.run()
    except (SettingError, StoreError) as error:
        _cannot_go_on(error)
    state.warm()


def page(stem: str) -> None:
    """First line of every page. In a fresh process Streamlit runs a deep-linked page without app.py: go through it."""
    if "_app" not in st.session_state:
        st.session_state["_goto"] = (f"pages/{stem}.py", st.query_params.to_dict())
        st.switch_page("app.py")
    st.html(STYLE)
    try:
        state.enter()
    except (SettingError, StoreError) as error:
        _cannot_go_on(error)
        st.stop()
    _status_line(stem)
    if trouble := state.trouble():
        with st.container(border=True, key=f"{stem}_trouble"):
            st.text(f"✕ {trouble}")


def _cannot_go_on(error: Exception) -> None:
    """One line instead of the rest of a page, for what a visitor cannot repair here."""
    st.header("The playground cannot go on", anchor=False)
    st.text(str(error))


def _to_start() -> None:
    st.switch_page("pages/start.py", query_params=st.query_params.to_dict())


def _status_line(stem: str) -> None:
    data, (design, _) = state.data(), state.design()
    with st.container(horizontal=True, vertical_alignment="center", key="status_line"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", width="stretch"):
            _item("data", _data_line(data))
            _item("design", fmt.cut(design.name) + (" · edited" if state.is_edited() else ""))
            _item("model", fmt.cut(models_line(design), 120))
        connection.run_link(stem)
        connection.picker(stem)
    if (hint := connection.hint()) and not connection.choice().problem:
        st.text(f"⚠ {hint}")


def _item(label: str, text: str) -> None:
    """A name and a value that may hold anything: st.text shows it literally. The two stay on one line."""
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="xsmall", width="content"):
        st.caption(label, width="content")
        st.text(visible(text), width="content")


def _data_line(data: state.Data) -> str:
    number, whole, tables = len(data.tickets), len(state.whole().tickets), len(data.catalog.tables)
    tickets = f"{number:,} of {plural(whole, 'ticket')}" if number < whole else plural(number, "ticket")
    name = fmt.cut(data.tickets.name)
    if not tables:
        return f"{tickets} of {name} · no product database"
    return f"{tickets} of {name} · {fmt.cut(data.catalog.name) or 'database'} ({plural(tables, 'table')})"


def models_line(design: Design) -> str:
    """"Haiku 5.5" for one model in all steps; else each with its steps."""
    steps: dict[str, list[str]] = {}
    for name, step in design.steps.items():
        steps.setdefault(model(step.model).name, []).append(name)
    if len(steps) == 1:
        return next(iter(steps))
    return " · ".join(f"{name} ({', '.join(used)})" for name, used in steps.items())
