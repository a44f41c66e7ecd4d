"""What each simulated model takes in a request beyond what `lib.models` knows: thinking, effort, sampling and the like.

Figures: Anthropic's pages on thinking, effort and mid-conversation system messages as of November 2026.
"""

from __future__ import annotations

from lib.models import MODELS

EFFORTS = ("low", "medium", "high", "xhigh", "max")
THINKING = ("adaptive", "between_tools", "disabled", "enabled")
_NO_SYSTEM_TURNS = ("claude-sonnet-5", "claude-opus-4-7")       # besides all older ones


def efforts(model_id: str) -> tuple[str, ...]:
    """The levels of `output_config.effort`; none where the model does not know the parameter."""
    if model_id == "claude-haiku-4-5":
        return ()
    return tuple(level for level in EFFORTS if level != "xhigh") if _up_to_4_6(model_id) else EFFORTS


def thinking_types(model_id: str) -> tuple[str, ...]:
    """Of `THINKING`, those that the model accepts."""
    accepted = {"adaptive": model_id != "claude-haiku-4-5", "between_tools": model_id == "claude-sonnet-5-5",
                "disabled": MODELS[model_id].thinking_off, "enabled": _up_to_4_6(model_id)}
    return tuple(kind for kind in THINKING if accepted[kind])


def takes_system_turns(model_id: str) -> bool:
    """Whether `messages` may hold the role "system"."""
    return not _up_to_4_6(model_id) and model_id not in _NO_SYSTEM_TURNS


def takes_sampling(model_id: str) -> bool:
    """Whether temperature, top_p and top_k other than the default are accepted, by API versions that know them."""
    return _up_to_4_6(model_id)


def _up_to_4_6(model_id: str) -> bool:
    return MODELS[model_id].tokenizer == "3"
