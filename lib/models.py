"""What each model can do: window, limits, cache minimum, tokenizer, thinking, forced tools. Prices live in `usage`.

Figures: Anthropic's model overview, pricing and prompt-caching pages as of November 2026. `tool_prompt_tokens` of
models newer than Opus 5 is not published; 350 stands in for it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Model:
    id: str
    name: str
    size: str                       # small | medium | large
    window: int = 1_000_000         # tokens of context
    max_output: int = 128_000       # tokens of one reply
    cache_minimum: int = 512        # tokens: a shorter prefix is not cached
    tokenizer: str = "4.7"          # family: "3" (up to 4.6) or "4.7" (4.7 and newer)
    tool_prompt_tokens: int = 350   # what the API adds when tools are sent with tool_choice auto
    thinks: bool = True             # thinking is on unless the request turns it off
    thinking_off: bool = False      # the request may turn it off
    forced_tools: bool = False      # tool_choice any / tool is accepted
    listed: bool = True             # a Claude model with known limits; False for a local server's model


MODELS: dict[str, Model] = {m.id: m for m in (
    Model("claude-haiku-5-5", "Haiku 5.5", "small", thinking_off=True, forced_tools=True),
    Model("claude-sonnet-5-5", "Sonnet 5.5", "medium"),
    Model("claude-opus-5-5", "Opus 5.5", "large"),
    Model("claude-fable-5-2", "Fable 5.2", "large"),
    Model("claude-sonnet-5", "Sonnet 5", "medium", cache_minimum=1024, tool_prompt_tokens=354, thinking_off=True,
          forced_tools=True),
    Model("claude-opus-5", "Opus 5", "large", tool_prompt_tokens=286, thinking_off=True, forced_tools=True),
    Model("claude-opus-4-8", "Opus 4.8", "large", cache_minimum=1024, tool_prompt_tokens=290, thinks=False,
          thinking_off=True, forced_tools=True),
    Model("claude-opus-4-7", "Opus 4.7", "large", cache_minimum=2048, tool_prompt_tokens=675, thinks=False,
          thinking_off=True, forced_tools=True),
    Model("claude-sonnet-4-6", "Sonnet 4.6", "medium", cache_minimum=1024, tokenizer="3", tool_prompt_tokens=497,
          thinks=False, thinking_off=True, forced_tools=True),
    Model("claude-opus-4-6", "Opus 4.6", "large", cache_minimum=4096, tokenizer="3", tool_prompt_tokens=497,
          thinks=False, thinking_off=True, forced_tools=True),
    Model("claude-haiku-4-5", "Haiku 4.5", "small", window=200_000, max_output=64_000, cache_minimum=4096,
          tokenizer="3", tool_prompt_tokens=499, thinks=False, thinking_off=True, forced_tools=True),
)}

DEFAULT_MODEL = "claude-haiku-5-5"

# Claude tokens per tiktoken o200k token, English support text, measured against recorded requests
# (the newer family on 4.7 and 4.8; the 5.x models share that tokenizer).
TOKEN_FACTOR = {"3": 1.12, "4.7": 1.40}


def model(model_id: str) -> Model:
    """What is known of `model_id`; for an unlisted one (a local server's) careful stand-ins with `listed=False`."""
    known = MODELS.get(model_id)
    return known or Model(model_id, model_id, "unknown", window=32_000, max_output=8_192, thinks=False,
                          thinking_off=True, forced_tools=True, tokenizer="3", listed=False)
