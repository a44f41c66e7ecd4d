"""What a reply's `stop_reason` means: which replies are whole, and what is wrong with the others."""

from __future__ import annotations

from typing import Any

from lib import errors

FINAL = ("end_turn", "stop_sequence")           # the model was done
WHOLE = (*FINAL, "tool_use", "pause_turn")      # nothing is missing: a tool call in the reply is complete

_BROKEN = {
    "max_tokens": (errors.CutOff, "the reply was cut off at max_tokens; raise the limit"),
    "refusal": (errors.Refused, "the model refused to answer"),
    "model_context_window_exceeded": (errors.WindowExceeded, "what was sent does not fit the model's context window"),
}


def broken(reason: Any) -> tuple[type[errors.CallError], str]:
    """The error for a reply that must not be used, since its `stop_reason` is none of those expected, and why."""
    unknown = (errors.UnknownStop, f"the reply's stop_reason is missing or not known here: {reason!r}")
    return _BROKEN.get(str(reason), unknown)
