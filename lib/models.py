"""What each model is and takes: window, limits, tokenizer, thinking, effort, tools. Prices live in `usage`.

Figures: Anthropic's pages on models, pricing, prompt caching, thinking and effort as of November 2026.
`tool_prompt_tokens` of models newer than Opus 5 is not published; 350 stands in for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

EFFORTS = ("low", "medium", "high", "xhigh", "max")
THINKING = ("adaptive", "between_tools", "disabled", "enabled")


@dataclass(frozen=True)
class Model:
    id: str
    name: str
    size: str                       # small | medium | large
    released: str = ""              # the day
    window: int = 1_000_000         # tokens of context
    max_output: int = 128_000       # tokens of one reply
    cache_minimum: int = 512        # tokens: a shorter prefix is not cached
    tokenizer: str = "4.7"          # family: "3" (up to 4.6) or "4.7" (4.7 and newer)
    tool_prompt_tokens: int = 350   # what the API adds when tools are sent with tool_choice auto
    thinks: bool = True             # thinking is on unless the request turns it off
    thinking: tuple[str, ...] = ("adaptive", "disabled")    # of THINKING, what the request may ask for
    thinking_display: str = "omitted"                       # or "summarized", where the request does not say
    efforts: tuple[str, ...] = EFFORTS                      # levels that the request may ask for
    effort: str = "high"            # the level where the request names none
    forced_tools: bool = True       # tool_choice any / tool is accepted
    system_turns: bool = True       # `messages` may hold the role "system"
    sampling: bool = False          # temperature, top_p, top_k may be changed, by API versions that know them
    prefill: bool = False           # `messages` may end in the beginning of the reply
    listed: bool = True             # a Claude model with known limits; False for a local server's model


def _up_to_4_6(id: str, name: str, size: str, released: str, **more: Any) -> Model:
    usual = {"tokenizer": "3", "thinks": False, "thinking": ("adaptive", "disabled", "enabled"),
             "thinking_display": "summarized", "efforts": ("low", "medium", "high", "max"), "system_turns": False,
             "sampling": True}
    return Model(id, name, size, released, **(usual | more))


MODELS: dict[str, Model] = {m.id: m for m in (
    Model("claude-haiku-5-5", "Haiku 5.5", "small", "2026-10-07", effort="medium"),
    Model("claude-sonnet-5-5", "Sonnet 5.5", "medium", "2026-09-28", thinking=("adaptive", "between_tools"),
          forced_tools=False),
    Model("claude-opus-5-5", "Opus 5.5", "large", "2026-09-22", thinking=("adaptive",), effort="medium",
          forced_tools=False),
    Model("claude-fable-5-2", "Fable 5.2", "large", "2026-11-09", thinking=("adaptive",), forced_tools=False),
    Model("claude-sonnet-5", "Sonnet 5", "medium", "2026-06-29", cache_minimum=1024, tool_prompt_tokens=354,
          system_turns=False),
    Model("claude-opus-5", "Opus 5", "large", "2026-07-24", tool_prompt_tokens=286),
    Model("claude-opus-4-8", "Opus 4.8", "large", "2026-05-28", cache_minimum=1024, tool_prompt_tokens=290,
          thinks=False),
    Model("claude-opus-4-7", "Opus 4.7", "large", "2026-04-14", cache_minimum=2048, tool_prompt_tokens=675,
          thinks=False, system_turns=False),
    _up_to_4_6("claude-sonnet-4-6", "Sonnet 4.6", "medium", "2026-02-17", cache_minimum=1024, tool_prompt_tokens=497),
    _up_to_4_6("claude-opus-4-6", "Opus 4.6", "large", "2026-02-04", cache_minimum=4096, tool_prompt_tokens=497),
    _up_to_4_6("claude-opus-4-5", "Opus 4.5", "large", "2025-11-24", window=200_000, max_output=64_000,
               cache_minimum=4096, tool_prompt_tokens=496, thinking=("disabled", "enabled"),
               efforts=("low", "medium", "high"), prefill=True),
    _up_to_4_6("claude-haiku-4-5", "Haiku 4.5", "small", "2025-10-15", window=200_000, max_output=64_000,
               cache_minimum=4096, tool_prompt_tokens=499, thinking=("disabled", "enabled"), efforts=(), prefill=True),
)}

DATED = {       # models up to 4.5 have a second id; newer ones do not
    "claude-opus-4-5-20251101": "claude-opus-4-5", "claude-haiku-4-5-20251001": "claude-haiku-4-5"}

DEFAULT_MODEL = "claude-haiku-5-5"

# Claude tokens per tiktoken o200k token, English support text, measured against recorded requests
# (the newer family on 4.7 and 4.8; the 5.x models share that tokenizer).
TOKEN_FACTOR = {"3": 1.12, "4.7": 1.40}


def model(model_id: str) -> Model:
    """What is known of `model_id`; for an unlisted one (a local server's) careful stand-ins with `listed=False`."""
    known = MODELS.get(DATED.get(model_id, model_id))
    return known or Model(model_id, model_id, "unknown", window=32_000, max_output=8_192, thinks=False,
                          tokenizer="3", listed=False)
