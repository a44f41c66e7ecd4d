"""The Models API: what each model is and can do, in pages. Abilities are those that the simulation has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lib.models import EFFORTS, MODELS, THINKING, Model, model
from lib.simulated.paging import page
from lib.simulated.refusals import Refusal, not_found


def model_page(query: Mapping[str, str]) -> dict[str, Any] | Refusal:
    """All models, the newest first."""
    infos = sorted(map(_info, MODELS.values()), key=lambda info: info["created_at"], reverse=True)
    return page(infos, query)


def model_info(model_id: str) -> dict[str, Any] | Refusal:
    known = model(model_id)
    return _info(known) if known.listed else not_found(f"model: {model_id}")


def _info(known: Model) -> dict[str, Any]:
    return {
        "id": known.id, "type": "model", "display_name": f"Claude {known.name}",
        "created_at": f"{known.released}T00:00:00Z",
        "lifecycle": "active", "deprecated_at": None, "retires_at": None, "line": known.id.split("-")[1],
        "max_input_tokens": known.window, "max_tokens": known.max_output, "capabilities": _capabilities(known),
    }


def _capabilities(known: Model) -> dict[str, Any]:
    """A server tool or an edit of the context would need more than the simulation has."""
    edits = ("clear_thinking_20251015", "clear_tool_uses_20250919", "compact_20260112")
    return {
        **{name: _is(True) for name in ("batch", "image_input", "pdf_input", "structured_outputs")},
        **{name: _is(False) for name in ("citations", "code_execution")},
        "context_management": {**_is(False), **{name: _is(False) for name in edits}},
        "effort": {**_is(bool(known.efforts)), **{level: _is(level in known.efforts) for level in EFFORTS}},
        "server_tools": {**_is(False), **{name: _is(False) for name in ("code_execution", "web_search")}},
        "thinking": {**_is(True), "types": {kind: _is(kind in known.thinking) for kind in THINKING}},
    }


def _is(supported: bool) -> dict[str, Any]:
    return {"supported": supported}
