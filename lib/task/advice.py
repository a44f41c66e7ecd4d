"""What a good description of a tool states, and which of it one lacks: told by rules, not by a model.

The points are those of Anthropic's guide to tool use: what the tool returns, in which format and units, how much of it,
when not to use it, and what each parameter means.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from lib.design import ToolText
from lib.phrases import some

_RETURNS = r"\b(returns?|gives?|lists?|finds?|counts?|shows?|yields?|the result)\b"
_FORMAT = (r"\b(ids?|names?|dates?|times?|days?|hours?|minutes|seconds|currency|dollars?|euros?|percent|numbers?|text|"
           r"json|lists?|rows?|columns?|null|true|yes|bytes|characters|total)\b|\w_\w|[$€£%]")
_AMOUNT = r"\b(at most|up to|no more than|only|first|pages?|all|one|every|each|exact(?:ly)?|shortened|single)\b|\d"
_NOT = r"\b(do(?:es)? not|don't|never|cannot|not for|rather than|instead|only (?:if|when|for))\b"
_EXAMPLE = (r"\b(for instance|for example|e\.g\.|such as|like|exactly as|format|at most|one of|or|in [a-z]+s)\b"
            r"|\d|[\"'“:]")
_TELLING = ("enum", "const", "format", "pattern", "minimum", "maximum", "default", "examples", "items", "properties")


@dataclass(frozen=True)
class Advice:
    """One point: what a good description states, and whether this one does."""

    states: str         # "what it returns"
    met: bool
    missing: str = ""   # where it does not: what to add, one short line


def advice(tool: ToolText) -> list[Advice]:
    """The points that apply to this tool, in the order in which a reader asks for them."""
    text = tool.description if isinstance(tool.description, str) else ""
    return [
        _said(text, _RETURNS, "what it returns", 'say what comes back: "Returns …"'),
        _said(text, _FORMAT, "format and units", "name the fields of the result, their format and units"),
        _said(text, _AMOUNT, "how much", "say how much comes back at most, and what happens to the rest"),
        _said(text, _NOT, "when not to use it", 'say what it is not for, and which tool is: "Do not use it to …"'),
        *_of_parameters(tool),
    ]


def _said(text: str, pattern: str, states: str, missing: str) -> Advice:
    met = bool(re.search(pattern, text, re.IGNORECASE))
    return Advice(states, met, "" if met else missing)


def _of_parameters(tool: ToolText) -> list[Advice]:
    schemas = _properties(tool)
    if not schemas:
        return []
    unclear = [name for name, schema in schemas.items() if not _is_clear(schema)]
    missing = f"describe {some([repr(name) for name in unclear], 3)} with its format or an example" if unclear else ""
    return [Advice("each parameter's meaning and format", not unclear, missing)]


def _properties(tool: ToolText) -> dict[str, Any]:
    found = tool.input_schema.get("properties") if isinstance(tool.input_schema, dict) else None
    return found if isinstance(found, dict) else {}


def _is_clear(schema: Any) -> bool:
    if not isinstance(schema, dict) or not isinstance(schema.get("description"), str):
        return False
    told = schema["description"]
    return bool(told.strip()) and (any(name in schema for name in _TELLING)
                                   or bool(re.search(_EXAMPLE, told, re.IGNORECASE)))
