"""In what two runs differ, of what they were made of: the fields of the design, the data, the simulation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from lib.catalog import Roles
from lib.design import Design, ToolText
from lib.phrases import plural
from lib.runs.store import Run
from lib.tickets.visible import visible
from lib.ui import compare, drafts, state
from lib.ui import format as fmt

SHORT = 60      # characters of a text that is shown before and after; a longer one is compared word by word


def named(old: Design, new: Design) -> list[str]:
    """"label: system prompt", "tool plan_of: added": what differs, in the order of `fields`."""
    whole = _tools_of_one(old, new)
    plain = [field for field in drafts.changed(old, new) if not _is_of(field, whole)]
    return [*(visible(f"tool {tool.name or key}: {verb}") for key, (tool, _, verb) in whole.items()),
            *map(drafts.label, plain)]


def fields(old: Design, new: Design, effects: Mapping[str, str] | None = None) -> None:
    """Every field that differs, each with what it was and what it is; and what it changes, where that is given. A tool
    that came or went is one field, "tools.own_1"."""
    effects, whole = effects or {}, _tools_of_one(old, new)
    for key, (tool, sign, verb) in whole.items():
        st.text(visible(f"tool {tool.name or key}: {verb}"))
        _effect(effects.get(f"tools.{key}"))
        _lines([f"{sign} {line}" for line in _told(tool)])
    for field in drafts.changed(old, new):
        if not _is_of(field, whole):
            _field(field, _value(old, field), _value(new, field), effects.get(field))


def _tools_of_one(old: Design, new: Design) -> dict[str, tuple[ToolText, str, str]]:
    """Key -> (tool, sign, what happened) for the tools that only one of the designs has."""
    before, after = ({tool.key: tool for tool in design.tools} for design in (old, new))
    return {**{key: (tool, "+", "added") for key, tool in after.items() if key not in before},
            **{key: (tool, "-", "removed") for key, tool in before.items() if key not in after}}


def _is_of(field: str, tools: Mapping[str, Any]) -> bool:
    return any(field.startswith(f"tools.{key}.") for key in tools)


def _told(tool: ToolText) -> list[str]:
    """All that a tool says, and its SELECT, line by line."""
    return [*tool.description.splitlines(), *json.dumps(tool.input_schema, ensure_ascii=False).splitlines(),
            *tool.query.splitlines()]


def _effect(words: str | None) -> None:
    if words:
        st.text(f"≈ {words}")


def _value(design: Design, field: str) -> Any:
    """What a field is; "" where a design has no such step or tool."""
    try:
        return drafts.value_of(design, field)
    except (KeyError, StopIteration):
        return ""


def _field(field: str, old: Any, new: Any, effect: str | None) -> None:
    """The words of a text that went and came; a short value before and after."""
    if not isinstance(old, str) or max(len(old), len(new)) < SHORT and "\n" not in old + new:
        st.text(visible(f"{drafts.label(field)}: {_said(field, old)} → {_said(field, new)}"))
        _effect(effect)
        return
    st.caption(drafts.label(field))
    _effect(effect)
    _lines(compare.edit(old, new))


def _lines(lines: list[str]) -> None:
    st.code(visible("\n".join(lines)), language="diff", wrap_lines=True, height=240 if len(lines) > 10 else "content")


def _said(field: str, value: Any) -> Any:
    """A value as the editors show it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (int, float)):
        return f"{value:,.12g}"
    return drafts.CHOICES.get(field, {}).get(value, value)


def data(before: Run, run: Run) -> str:
    """"Other data: …", one line on what of tickets or database differs; "" for the same data."""
    if before.data_id == run.data_id:
        return ""
    old, new = state.stored_data(before.data_id), state.stored_data(run.data_id)
    if not old or not new:
        return "Other data: some of them are gone."
    if old.tickets != new.tickets:
        return f"Other data: {_tickets(old)} → {_tickets(new)}"
    if (old.catalog.name, old.catalog.tables) != (new.catalog.name, new.catalog.tables):
        return f"Other product database: {old.catalog.name or 'none'} → {new.catalog.name or 'none'}"
    roles = [_role(name, old.catalog.roles, new.catalog.roles) for name in ("customers", "products", "incidents")]
    return "Read differently: " + ("; ".join(filter(None, roles)) or "the product database")


def conditions(before: Run, run: Run) -> str:
    """"The simulation: 10 % rate limited → no faults"; "" for the same, and where something else answered."""
    if before.conditions == run.conditions or not before.source == run.source == "simulated":
        return ""
    return f"The simulation: {before.conditions or 'no faults'} → {run.conditions or 'no faults'}"


def _tickets(found: state.Data) -> str:
    return f"{plural(len(found.tickets), 'ticket')} of {fmt.cut(found.tickets.name)}"


def _role(name: str, before: Roles, after: Roles) -> str:
    """"which table holds customers: clients → accounts"; "" when it is read as before."""
    old, new = getattr(before, name), getattr(after, name)
    if old == new:
        return ""
    if old and new and old.table == new.table:
        return f"which columns of {new.table} are what"
    return f"which table holds {name}: {old.table if old else 'none'} → {new.table if new else 'none'}"
