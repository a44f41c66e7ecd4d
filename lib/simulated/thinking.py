"""Whether a simulated model thinks before it answers, how much, and the thinking block that it sends.

The amounts are stand-ins that grow with the effort and with the answer; they say nothing about a real model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from lib.models import model
from lib.usage.tokens import CHARACTERS_A_THINKING_TOKEN, estimate_reply

_EFFORTS = {"low": 0.5, "medium": 1.0, "high": 2.0, "xhigh": 4.0, "max": 8.0}
_BASE = 25              # tokens of thinking at medium effort, and half of what the text will take
_LOW_THINKS = 0.3       # share of replies with any thinking where the effort is low
_SUMMARY = "The simulated model weighed the request by its rules. It has no thoughts beyond them."
_CERTIFIED = 40         # characters at the start of a signature that vouch for the rest


def thinking_tokens(request: Mapping[str, Any], content: Sequence[Mapping[str, Any]], seed: str) -> int:
    """Tokens thought before `content` is sent, 0 for none; `seed` (hex digits) moves it by up to 25 % either way."""
    if not _thinks(request):
        return 0
    luck = int(seed[8:16], 16) / 0xFFFFFFFF
    effort = effort_of(request)
    if effort == "low" and luck > _LOW_THINKS:
        return 0
    text = [block for block in content if block["type"] == "text"]
    tokens = _EFFORTS[effort] * (_BASE + estimate_reply(text, request["model"]) / 2) * (0.75 + luck / 2)
    return round(min(tokens, _budget(request)))


def thinking_block(request: Mapping[str, Any], tokens: int, seed: str) -> dict[str, Any]:
    """The block as the API sends it. Its text is left out on newer models unless the request asks for a summary.

    The signature holds four characters a token, so a conversation that sends it back weighs what was thought.
    """
    text = _SUMMARY if _display(request) == "summarized" else ""
    return {"type": "thinking", "thinking": text, "signature": _sign(text, tokens, seed)}


def genuine(block: Mapping[str, Any]) -> bool:
    """Whether a thinking block is, to the letter, one that the simulated API sent."""
    text, signature = block.get("thinking"), block.get("signature")
    if not isinstance(text, str) or not isinstance(signature, str):
        return False
    return signature[:_CERTIFIED] == _certificate(text, signature[_CERTIFIED:])


def effort_of(request: Mapping[str, Any]) -> str:
    """The effort a request asks for, or the model's own."""
    effort = (request.get("output_config") or {}).get("effort")
    return effort if effort in _EFFORTS else model(request["model"]).effort


def _thinks(request: Mapping[str, Any]) -> bool:
    kind = (request.get("thinking") or {}).get("type")
    if kind == "disabled" or (request.get("tool_choice") or {}).get("type") in ("any", "tool"):
        return False
    if kind == "between_tools":
        return _answers_a_tool(request["messages"][-1])
    return kind in ("adaptive", "enabled") or model(request["model"]).thinks


def _answers_a_tool(message: Mapping[str, Any]) -> bool:
    content = message["content"]
    return isinstance(content, list) and any(block["type"] == "tool_result" for block in content)


def _budget(request: Mapping[str, Any]) -> float:
    return (request.get("thinking") or {}).get("budget_tokens") or float("inf")


def _display(request: Mapping[str, Any]) -> str:
    return (request.get("thinking") or {}).get("display") or model(request["model"]).thinking_display


def _sign(text: str, tokens: int, seed: str) -> str:
    length = max(_CERTIFIED + 8, tokens * CHARACTERS_A_THINKING_TOKEN)
    rest = (seed * (length // len(seed) + 1))[:length - _CERTIFIED]
    return _certificate(text, rest) + rest


def _certificate(text: str, rest: str) -> str:
    return blake2b(f"{text}\n{rest}".encode("utf-8", "replace"), digest_size=_CERTIFIED // 2).hexdigest()
