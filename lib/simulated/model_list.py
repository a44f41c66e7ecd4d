"""The Models API: what each model is and can do, in pages. Abilities are those that the simulation has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lib.models import MODELS, Model
from lib.simulated import abilities
from lib.simulated.pages import page
from lib.simulated.refusals import Refusal, not_found

_RELEASED = {
    "claude-fable-5-2": "2026-11-09", "claude-haiku-5-5": "2026-10-07", "claude-sonnet-5-5": "2026-09-28",
    "claude-opus-5-5": "2026-09-22", "claude-opus-5": "2026-07-24", "claude-sonnet-5": "2026-06-29",
    "claude-opus-4-8": "2026-05-28", "claude-opus-4-7": "2026-04-14", "claude-sonnet-4-6": "2026-02-17",
    "claude-opus-4-6": "2026-02-04", "claude-haiku-4-5": "2025-10-15",
}
_UNKNOWN = "1970-01-01"


def model_page(query: Mapping[str, str]) -> dict[str, Any] | Refusal:
    """All models, the newest first."""
    infos = sorted(map(_info, MODELS.values()), key=lambda info: info["created_at"], reverse=True)
    return page(infos, query)


def model_info(model_id: str) -> dict[str, Any] | Refusal:
    return _info(MODELS[model_id]) if model_id in MODELS else not_found(f"model: {model_id}")


def _info(known: Model) -> dict[str, Any]:
    return {
        "id": known.id, "type": "model", "display_name": f"Claude {known.name}",
        "created_at": f"{_RELEASED.get(known.id, _UNKNOWN)}T00:00:00Z",
        "lifecycle": "active", "deprecated_at": None, "retires_at": None, "line": known.id.split("-")[1],
        "max_input_tokens": known.window, "max_tokens": known.max_output, "capabilities": _capabilities(known.id),
    }


def _capabilities(model_id: str) -> dict[str, Any]:
    """A server tool or an edit of the context would need more than the simulation has."""
    levels, thinking = abilities.efforts(model_id), abilities.thinking_types(model_id)
    edits = ("clear_thinking_20251015", "clear_tool_uses_20250919", "compact_20260112")
    return {
        **{name: _is(True) for name in ("batch", "image_input", "pdf_input", "structured_outputs")},
        **{name: _is(False) for name in ("citations", "code_execution")},
        "context_management": {**_is(False), **{name: _is(False) for name in edits}},
        "effort": {**_is(bool(levels)), **{level: _is(level in levels) for level in abilities.EFFORTS}},
        "server_tools": {**_is(False), **{name: _is(False) for name in ("code_execution", "web_search")}},
        "thinking": {**_is(True), "types": {kind: _is(kind in thinking) for kind in abilities.THINKING}},
    }


def _is(supported: bool) -> dict[str, Any]:
    return {"supported": supported}
