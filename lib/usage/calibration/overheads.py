"""What the API adds to the texts of a request, in Claude tokens, and which tokenizer counts them.

Fitted on recorded requests of public test suites (their counts: tests/usage/recorded_counts.csv) and taken from
Anthropic's list of tool-use system prompts of November 2026. Texts themselves are counted in `tokens`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from lib.models import MODELS, model

MESSAGE = 3         # of each message, and of the reply's opening
# A request of one plain user message costs its text and 7, 11 or 6: this and one MESSAGE (measured by ctok's authors).
FRAME = {"3": 4, "4.7": 8, "4.8": 3}
CALL = 48           # of a tool call and its result together, besides name, input as JSON, and result
PARAMETER = 7       # of each parameter in that input: 55 for a call with one, 62 for one with two
SCHEMA = 120        # of a JSON schema in output_config, besides the schema; 116 and 139 in the recordings
THINKING = 28       # of a thinking budget up to 4.6; adaptive thinking and newer models added next to nothing
NAMED_TOOL = 9      # of naming the tool in tool_choice, besides forcing one
FORCED = {"3": 92, "4.7": 129, "4.8": 120}      # of forcing a tool: the longer of the API's two tool prompts
PARALLEL = {"claude-haiku-4-5": 197, "claude-sonnet-4-5": 197}      # of it is left out where calls come one by one

# The API's own prompt when tools are sent, left to the model / forced, of models that are not on offer here.
_EARLIER = {
    "claude-3-5-haiku": (269, 353), "claude-3-5-sonnet": (309, 312), "claude-3-7-sonnet": (315, 316),
    "claude-opus-4": (315, 316), "claude-sonnet-4": (315, 316),
    "claude-opus-4-5": (496, 588), "claude-sonnet-4-5": (499, 590),
}
_VERSION = re.compile(r"claude-(?:[a-z]+-)?(\d+)(?:-(\d{1,2})(?!\d))?")
_SUFFIX = re.compile(r"-(\d{8}|latest)$|-0$")


@lru_cache(maxsize=256)
def generation(model_id: str) -> str:
    """Of its tokenizer: "3" up to Claude 4.6 and for models that are not Claude, "4.7" of Opus 4.7 alone, then "4.8".

    The last two share a vocabulary and differ in what surrounds a message. A Claude without a number counts as new.
    """
    if not model_id.startswith("claude"):
        return "3"
    found = _VERSION.match(model_id)
    version = (int(found[1]), int(found[2] or 0)) if found else (5, 0)
    return "3" if version < (4, 7) else "4.7" if version == (4, 7) else "4.8"


def frame(request: Mapping[str, Any]) -> int:
    """Of the request as a whole; a reply that the request itself begins needs no opening of its own."""
    messages = request.get("messages") or [{}]
    begun = messages[-1].get("role") == "assistant"
    return FRAME[generation(request.get("model", ""))] - (MESSAGE if begun else 0)


def tool_prompt(model_id: str, choice: Mapping[str, Any]) -> int:
    """The API's own instructions for tools, sent with every request that has some, whatever `tool_choice` says."""
    known = _SUFFIX.sub("", model_id)
    auto, forced = _EARLIER.get(known) or _on_offer(known)
    match choice.get("type"):
        case "any":
            return forced
        case "tool":
            return forced + NAMED_TOOL
    return auto - (PARALLEL.get(known, 0) if choice.get("disable_parallel_tool_use") else 0)


def _on_offer(model_id: str) -> tuple[int, int]:
    auto = model(model_id).tool_prompt_tokens
    return auto, auto + FORCED[generation(model_id)]


def thinking(model_id: str, kind: str | None) -> int:
    return THINKING if kind == "enabled" and generation(model_id) == "3" else 0


def family(model_id: str) -> str:
    """Of `models.TOKEN_FACTOR`: the model's own, or for one that is not listed, that of its generation."""
    known = MODELS.get(model_id)
    return known.tokenizer if known else "3" if generation(model_id) == "3" else "4.7"
