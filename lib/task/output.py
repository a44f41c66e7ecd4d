"""How each step's reply is to look: the JSON schema of structured output, and the effort, as the request states them.

Code validates every reply all the same: a schema holds its shape, not that each label is placed or an id exists.
"""

from __future__ import annotations

from typing import Any

from lib.design import Design

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_NUMBER = {"type": "integer"}


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    """As the API takes it: every property is required, and no other is allowed."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


SCHEMAS: dict[str, dict[str, Any]] = {
    "label": _object(cause=_TEXT, evidence=_TEXT),
    "merge": _object(groups={"type": "array", "items": _object(cause=_TEXT, labels=_TEXTS)}),
    "summary": _object(summary=_TEXT, ticket_ids=_TEXTS),
    "agent": _object(causes={"type": "array", "items": _object(
        cause=_TEXT, count=_NUMBER, ticket_ids=_TEXTS, customers=_NUMBER, summary=_TEXT)}),
}


def output_config(design: Design, step: str) -> dict[str, Any] | None:
    """`output_config` of the requests of a step, None where the design says nothing that belongs there."""
    config: dict[str, Any] = {}
    if design.steps[step].effort:
        config["effort"] = design.steps[step].effort
    if design.output == "structured":
        config["format"] = {"type": "json_schema", "schema": SCHEMAS[step]}
    return config or None


def with_output(request: dict[str, Any], design: Design, step: str) -> dict[str, Any]:
    """A request of the step with its `output_config`, where it has one."""
    config = output_config(design, step)
    return {**request, "output_config": config} if config else request
