"""What the person typed on top of the design that is open: a flat dict of field -> value, and the design it makes.

A field is a dotted name: `k`, `limits.max_turns`, `steps.label.system`, `tools.get_customer.description`. A draft may
be wrong (a schema that is no JSON yet): it is kept as typed, reported, and the default stands in for it. Two more hold
keys of tools of the person's own: `added` to the design, and `removed` from it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lib.design import OWN, Design, ToolText, reordered
from lib.design_file import schema_of
from lib.task.problems import Problem

Drafts = Mapping[str, Any]

TOOL_LISTS = ("added", "removed")
STEP_PARTS = ("model", "max_tokens", "effort", "system")
TOOL_PARTS = ("enabled", "name", "description", "input_schema")
OWN_PARTS = (*TOOL_PARTS, "query")
CHOICES: dict[str, dict[str, str]] = {      # fields with a few values only, and what each is called on the pages
    "caching": {"off": "Off", "auto-5m": "The whole request, 5 minutes", "auto-1h": "The whole request, 1 hour",
                "system": "System prompt and tools, 5 minutes"},
    "output": {"ask": "Ask for JSON and validate", "structured": "The API's structured output"},
}


def base_of(opened: Design, drafts: Drafts) -> Design:
    """The opened design with the tools that were added, still empty, and without those removed: what drafts are on."""
    return opened.with_own_tools(_keys(drafts, "added"), _keys(drafts, "removed"))


def apply(opened: Design, drafts: Drafts) -> tuple[Design, list[Problem]]:
    """`opened` with every fitting draft put in, and what could not be put in."""
    design, problems = base_of(opened, drafts), []
    for field, value in fitting(opened, drafts).items():
        if field in TOOL_LISTS:
            continue
        try:
            design = _put(design, field, value)
        except ValueError as error:
            problems.append(Problem(field, str(error)))
    return design, problems


def fitting(opened: Design, drafts: Drafts) -> dict[str, Any]:
    """The drafts an editor can show: those of a field that exists, with a value of the field's kind.

    What an older or newer version left in the store may be neither; it is left out.
    """
    base = base_of(opened, drafts)
    kinds = {field: type(value_of(base, field)) for field in fields(base) if field in drafts}
    lists = {name: keys for name in TOOL_LISTS if (keys := _keys(drafts, name))}
    return {**{field: kind(drafts[field]) for field, kind in kinds.items()
               if (type(drafts[field]) is kind or (kind is float and type(drafts[field]) is int))
               and drafts[field] in CHOICES.get(field, (drafts[field],))}, **lists}


def _keys(drafts: Drafts, name: str) -> list[str]:
    found = drafts.get(name)
    return [key for key in found if isinstance(key, str) and key.startswith(OWN)] if isinstance(found, list) else []


def value_of(design: Design, field: str) -> Any:
    """What an editor of `field` shows for `design`; schemas as JSON text."""
    head, *rest = field.split(".")
    if head == "order":
        return ", ".join(tool.key for tool in design.tools)
    if head == "limits":
        return getattr(design.limits, rest[0])
    if head == "steps":
        return getattr(design.steps[rest[0]], rest[1])
    if head == "tools":
        value = getattr(next(t for t in design.tools if t.key == rest[0]), rest[1])
        return json.dumps(value, indent=2, ensure_ascii=False) if rest[1] == "input_schema" else value
    return getattr(design, head)


def edited(opened: Design, drafts: Drafts) -> list[str]:
    """The fields whose draft differs from the opened design, the name aside; an added or a removed tool is one, too."""
    base = base_of(opened, drafts)
    lists = [name for name in TOOL_LISTS if _keys(drafts, name)]
    return lists + [f for f, value in drafts.items() if f != "name" and _known(base, f) and value != value_of(base, f)]


def changed(before: Design, after: Design) -> list[str]:
    """The fields in which two designs differ, the name aside, in the order in which the editors show them; those of
    tools that only the first one has come last, and then `order`, which no editor changes but a file may."""
    every = dict.fromkeys([*fields(after), *fields(before)])
    found = [f for f in every if f != "name" and _differs(before, after, f)]
    return [*found, "order"] if reordered(before, after) else found


def _differs(before: Design, after: Design, field: str) -> bool:
    return not (_known(before, field) and _known(after, field)) or value_of(before, field) != value_of(after, field)


def fields(design: Design) -> list[str]:
    names = ["name", "k", "workers", "retries", "caching", "output", "tags", "parallel_tools", "keep_results",
             "result_chars"]
    names += [f"limits.{name}" for name in ("max_turns", "max_tokens", "max_usd", "max_seconds")]
    names += [f"steps.{step}.{part}" for step in design.steps for part in STEP_PARTS]
    names += [f"tools.{tool.key}.{part}" for tool in design.tools for part in tool_parts(tool)]
    return names


def tool_parts(tool: ToolText) -> tuple[str, ...]:
    return OWN_PARTS if tool.is_own else TOOL_PARTS


LABELS = {      # as they stand on the pages; "…" is the value itself
    "name": "Name of this design", "k": "How many causes", "workers": "Calls at once",
    "retries": "Retries of a bad reply", "caching": "Prompt caching", "output": "Output", "tags": "Data in tags",
    "parallel_tools": "Several tools in one turn", "keep_results": "Keep the newest … tool results (0 = all)",
    "result_chars": "Cut a tool result at … characters (0 = whole)",
    "limits.max_turns": "Turns at most", "limits.max_tokens": "Stop at … tokens",
    "limits.max_usd": "Stop at … dollars", "limits.max_seconds": "Stop at … seconds",
    "added": "Tools of your own that were added", "removed": "Tools of your own that were removed",
    "order": "Order of the tools",
}
STEP_LABELS = {"model": "Model", "max_tokens": "Longest reply (tokens)", "effort": "Effort", "system": "System prompt"}
TOOL_LABELS = {"enabled": "Offered to the agent", "name": "Name", "description": "Description",
               "input_schema": "Schema of the arguments (JSON)", "query": "SELECT over the product database"}


def label(field: str) -> str:
    """"steps.label.system" -> "label: system prompt"; the same words as on the pages."""
    head, *rest = field.split(".")
    if head == "steps" and rest:
        return f"{rest[0]}: {_lower(STEP_LABELS.get(rest[-1], rest[-1]))}"
    if head == "tools" and rest:
        return f"tool {rest[0]}: {_lower(TOOL_LABELS.get(rest[-1], rest[-1]))}"
    return LABELS.get(field, field)


def short_label(field: str) -> str:
    """"steps.label.system" -> "label prompt": for a list of several in one line."""
    return _lower(label(field).replace(": system prompt", " prompt").replace(": ", " "))


def _lower(words: str) -> str:
    """"SELECT over …" stays as it is."""
    return words if words[1:2].isupper() else words[:1].lower() + words[1:]


def _put(design: Design, field: str, value: Any) -> Design:
    head, *rest = field.split(".")
    if head == "limits":
        return replace(design, limits=replace(design.limits, **{rest[0]: value}))
    if head == "steps":
        return design.with_step(rest[0], **{rest[1]: value})
    if head == "tools":
        return design.with_tool(rest[0], **{rest[1]: schema_of(value) if rest[1] == "input_schema" else value})
    return replace(design, **{head: value})


def _known(design: Design, field: str) -> bool:
    try:
        value_of(design, field)
    except (KeyError, AttributeError, StopIteration, IndexError):
        return False
    return True
