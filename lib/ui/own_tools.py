"""Tools of the person's own: added, tried by hand before a model gets them, and removed, with a way back.

Names, descriptions and rows are anybody's words: they are shown as text, never as markdown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import streamlit as st

from lib.catalog import Catalog
from lib.catalog.guard import quoted
from lib.design import OWN, ToolText
from lib.errors import InputError
from lib.phrases import plural, some
from lib.task.own_tools import try_query
from lib.task.problems import PROPERTY_NAME, schema_problems
from lib.tickets.visible import visible
from lib.ui import format as fmt
from lib.ui import set_aside, state

MOST_FIELDS = 20        # arguments that can be tried by hand
MOST_TABLES = 30        # told one by one; more are counted
NOT_GIVEN = "(not given)"
EXAMPLE_ROWS = 20


# --- adding and removing ---------------------------------------------------------------------------------------------


def add(page: str) -> None:
    """The button that adds a tool, and the way back for the one that was removed last."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Add a tool of your own", key=f"{page}.add_tool", icon=":material/add:", on_click=_add,
                  help="A name, a description, arguments, and one SELECT over the product database. No code.")
        if _removed():
            st.button("Undo remove", key=f"{page}.undo_remove", icon=":material/undo:", type="tertiary",
                      on_click=_bring_back)


def remove_button(page: str, key: str) -> None:
    st.button("Remove", key=f"{page}.remove.{key}", icon=":material/delete:", type="tertiary", on_click=_remove,
              args=(key,), help="Undo stands beside “Add a tool of your own”.")


def was_added(key: str) -> bool:
    """Since the design was opened: then there is nothing that its fields could be reset to."""
    return key in _list("added")


def just_added(key: str) -> bool:
    return key == st.session_state.get("_added_tool")


@state.told
def _add() -> None:
    """With an example that works on the database at hand, where there is one: the fields explain themselves."""
    state.look_again()
    key = _free_key()
    st.session_state["_added_tool"] = key
    taken = {tool.name for tool in state.design()[0].tools}
    state.keep_drafts({"added": [*_list("added"), key],
                       **{f"tools.{key}.{part}": text for part, text in _example(state.data().catalog, taken).items()}})


def _free_key() -> str:
    """A key that no tool has or had since the design was opened: what was typed for that one may come back."""
    taken = {tool.key for tool in (*state.opened().tools, *state.base().tools)} | {_removed()[0] if _removed() else ""}
    return next(key for number in range(1, 10_000) if (key := f"{OWN}{number}") not in taken)


def _example(catalog: Catalog, taken: set[str]) -> dict[str, str]:
    """Fields of a tool that finds rows of a table by one column; {} without a database."""
    role = catalog.roles.customers or catalog.roles.products
    table = role.table if role else next(iter(catalog.tables), "")
    if not table:
        return {}
    column = role.key if role else catalog.tables[table].columns[0]
    argument = _word(column) or "value"
    like = _value_like(catalog, table, column)
    schema = {"type": "object", "required": [argument], "additionalProperties": False, "properties": {
        argument: {"type": "string", "description": f"One {column}, exactly as another tool returns it{like}."}}}
    return {"name": _untaken(f"find_{_word(table) or 'rows'}"[:56], taken),
            "description": f"Returns the rows of the table {table} whose {column} is the given one, with all their "
                           f"columns as text and numbers, at most {EXAMPLE_ROWS}. Do not use it to search for words.",
            "input_schema": json.dumps(schema, indent=2, ensure_ascii=False),
            "query": f"SELECT *\nFROM {quoted(table)}\nWHERE CAST({quoted(column)} AS TEXT) = :{argument}\n"
                     f"LIMIT {EXAMPLE_ROWS}"}


def _value_like(catalog: Catalog, table: str, column: str) -> str:
    """", such as C-2001"; "" where the first value is more than a word."""
    first = catalog.rows(table, 1)
    value = str(first[0].get(column)) if first else ""
    return f", such as {value}" if re.fullmatch(r"[\w-]{1,30}", value) else ""


def _word(name: str) -> str:
    """Letters, digits and underscores that may begin a parameter's name; "" where there are none."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_0123456789")


def _untaken(name: str, taken: set[str]) -> str:
    names = (f"{name}_{number}" if number > 1 else name for number in range(1, 10_000))
    return next(free for free in names if free not in taken)


@state.told
def _remove(key: str) -> None:
    state.look_again()
    now = state.desk()["drafts"]
    typed = {field: value for field, value in now.items() if field.startswith(f"tools.{key}.")}
    place = _list("added").index(key) if was_added(key) else None
    set_aside.keep_tool(key, typed, place)
    if was_added(key):
        lists = {"added": [other for other in _list("added") if other != key] or None}
    else:
        lists = {"removed": [*_list("removed"), key]}
    state.keep_drafts({**dict.fromkeys(typed), **lists})


@state.told
def _bring_back() -> None:
    state.look_again()
    if not (found := _removed()):       # another tab was quicker
        return
    key, typed, place = found
    set_aside.drop_tool()
    if place is not None:
        there = _list("added")
        lists = {"added": [*there[:place], key, *there[place:]]}
    else:
        lists = {"removed": [other for other in _list("removed") if other != key] or None}
    state.keep_drafts({**typed, **lists})


def _removed() -> tuple[str, dict[str, Any], int | None] | None:
    """Key of the tool that was removed last from the design that is open, what was typed for it, and where it stood
    among those that were added since, None for one that the opened design has."""
    found = set_aside.tool()
    return (found["key"], found["typed"], found["place"]) if found and found["key"] not in _keys() else None


def _keys() -> set[str]:
    return {tool.key for tool in state.base().tools}


def _list(name: str) -> list[str]:
    return state.desk()["drafts"].get(name, [])


# --- by hand ---------------------------------------------------------------------------------------------------------


def trial(page: str, tool: ToolText) -> None:
    """Arguments to try the tool with, what it gave, and the tables that it can read."""
    form, tables = st.columns([3, 2], gap="medium")
    with tables:
        _tables(page, tool.key, state.data().catalog)
    with form:
        _form(page, tool)
    _outcome(page, tool)


def _tables(page: str, key: str, catalog: Catalog) -> None:
    st.markdown("**Tables it can read**")
    if not catalog.tables:
        st.caption("None: there is no product database. Upload one on the Data page.")
    with st.container(gap="xsmall", key=f"{page}_readable_{key}"):
        for name, info in list(catalog.tables.items())[:MOST_TABLES]:
            st.text(visible(f"{name} ({plural(info.rows, 'row')}): {some(info.columns, 30)}"))
        if len(catalog.tables) > MOST_TABLES:
            st.caption(f"and {len(catalog.tables) - MOST_TABLES:,} more")


def _form(page: str, tool: ToolText) -> None:
    here = f"{page}.try.{tool.key}"
    st.markdown("**Try it** :gray[nothing is sent to a model]")
    with st.form(here, border=False):
        given = {name: _argument(here, name, schema, name in _required(tool))
                 for name, schema in _properties(tool).items()}
        pressed = st.form_submit_button("Try it", icon=":material/play_arrow:", key=f"{here}.go")
    if pressed:
        st.session_state.setdefault("_tried", {})[tool.key] = (tool, state.data().id, _tried(tool, given))


def _properties(tool: ToolText) -> dict[str, Any]:
    """Those arguments whose names a field may have for a label; the others are refused beside the schema."""
    found = tool.input_schema.get("properties", {})
    names = [name for name in found if PROPERTY_NAME.fullmatch(name)] if isinstance(found, dict) else []
    return {name: found[name] if isinstance(found[name], dict) else {} for name in names[:MOST_FIELDS]}


def _required(tool: ToolText) -> list[Any]:
    found = tool.input_schema.get("required", [])
    return found if isinstance(found, list) else []


def _argument(here: str, name: str, schema: Mapping[str, Any], required: bool) -> Any:
    """What was entered, None where nothing was. Descriptions are shown as they are, in the empty field."""
    label, key = _label(name) + ("" if required else " (may be left out)"), f"{here}.{name}.{_kind(schema)}"
    told = fmt.cut(visible(str(schema.get("description", ""))), 120)
    if _kind(schema) == "choice":
        values = schema["enum"] if "enum" in schema else [True, False]
        chosen = st.selectbox(label, range(len(values)), index=None, key=key, placeholder=NOT_GIVEN,
                              format_func=lambda place: _shown(values[place]) if place < len(values) else "")
        return None if chosen is None or chosen >= len(values) else values[chosen]
    if _kind(schema) in ("integer", "number"):
        step = 1 if _kind(schema) == "integer" else 0.1
        return st.number_input(label, value=None, step=step, key=key, placeholder=told or NOT_GIVEN,
                               **({} if step == 1 else {"format": "%g"}))
    text = st.text_input(label, key=key, placeholder=told or NOT_GIVEN)
    return _value(text, schema)


def _label(name: str) -> str:
    """As code where markdown would read it as something else: a screen reader would read the marks of all others."""
    return name if re.fullmatch(r"[A-Za-z0-9]+([_-][A-Za-z0-9]+)*", name) else f"`{name}`"


def _kind(schema: Mapping[str, Any]) -> str:
    """Which field an argument gets: choice, integer, number, string, or json for whatever else it may be."""
    if isinstance(schema.get("enum"), list) and schema["enum"] or schema.get("type") == "boolean":
        return "choice"
    return schema["type"] if schema.get("type") in ("integer", "number", "string") else "json"


def _value(text: str, schema: Mapping[str, Any]) -> Any:
    """A text as it is; where the schema asks for something else, the JSON of it where it is some."""
    if not text:
        return None
    if _kind(schema) == "string":
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _tried(tool: ToolText, given: Mapping[str, Any]) -> list[dict[str, Any]] | str:
    """The rows, or in words why there are none."""
    if faults := schema_problems(tool.input_schema):
        return f"the schema: {faults[0]}"
    try:
        return try_query(tool, state.data().catalog, {name: v for name, v in given.items() if v is not None})
    except InputError as reason:
        return str(reason)
    except RecursionError:
        return "the schema refers to itself without end"


def _outcome(page: str, tool: ToolText) -> None:
    """Of the last trial, while tool and data are still the same."""
    tried, data_id, found = st.session_state.get("_tried", {}).get(tool.key, (None, "", ""))
    if (tried, data_id) != (tool, state.data().id):
        return
    if isinstance(found, str):
        st.text(visible(f"✕ {found}"))
        return
    st.text(f"✓ {plural(len(found), 'row')}" if found else "No rows: nothing in the database fits these arguments.")
    if found:
        st.dataframe([{visible(str(name)): _cell(value) for name, value in row.items()} for row in found],
                     hide_index=True, key=f"{page}.tried.{tool.key}", height="content" if len(found) <= 10 else 385)


def _cell(value: Any) -> str:
    """Any cell as text: mixed types in one column are no table for the browser."""
    return "" if value is None else visible(str(value))


def _shown(value: Any) -> str:
    return visible(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
