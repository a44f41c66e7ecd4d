"""What of a conversation with tools is sent again: old results cleared, long ones cut. Whoever keeps it keeps it whole.

Only the request is changed. Every tool call stays answered under its id, and an error stays an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lib.client.layers import Call, Layer, Next
from lib.messages import blocks, get, text_of

_THINKING = ("thinking", "redacted_thinking")

Place = tuple[int, int]     # of a block: number of its message, and its number in there


def clear_old_results(keep: int) -> Layer:
    """Sends only the newest `keep` tool results whole; of every older one a note with its size is left. Results that
    the model has not seen yet, those of the last message, are always sent.

    From turn to turn one more result is cleared, so the request no longer begins as the one before did: what the prompt
    cache holds of the conversation cannot be read. And newer models sign their thinking over all that was said before,
    so thinking that came after a cleared result is left out: the API refuses it.
    """
    def layer(call: Call, call_next: Next) -> Any:
        messages = call.request["messages"]
        old = _old_results(messages, keep)
        return call_next(call.with_request(messages=_cleared(messages, old)) if old else call)

    return layer


def cut_results(characters: int) -> Layer:
    """Sends the beginning of every tool result that is longer than `characters`, and a note how much is left out.

    A result is cut the same way on every turn, so that the prompt cache still fits.
    """
    def layer(call: Call, call_next: Next) -> Any:
        messages = [_with_blocks(m, [_cut(b, characters) for b in blocks(m)]) if _results(m) else m
                    for m in call.request["messages"]]
        return call_next(call.with_request(messages=messages))

    return layer


def _old_results(messages: Sequence[Mapping[str, Any]], keep: int) -> set[Place]:
    places = [(m, b) for m, message in enumerate(messages) for b in _results(message)]
    seen = [place for place in places if place[0] < len(messages) - 1]
    kept = max(0, keep - (len(places) - len(seen)))
    return set(seen[:max(0, len(seen) - kept)])


def _cleared(messages: Sequence[Mapping[str, Any]], old: set[Place]) -> list[Mapping[str, Any]]:
    first = min(old)[0]
    return [*messages[:first], *(_after_clearing(m, messages[m], old) for m in range(first, len(messages)))]


def _after_clearing(m: int, message: Mapping[str, Any], old: set[Place]) -> Mapping[str, Any]:
    if message["role"] == "assistant":
        return _without_thinking(message)
    if not _results(message):
        return message
    return _with_blocks(message, [_note(block) if (m, b) in old else block for b, block in enumerate(blocks(message))])


def _without_thinking(message: Mapping[str, Any]) -> Mapping[str, Any]:
    given = blocks(message)
    left = [block for block in given if get(block, "type") not in _THINKING]
    return _with_blocks(message, left) if left and len(left) < len(given) else message


def _note(result: Mapping[str, Any]) -> dict[str, Any]:
    return {**result, "content": f"[cleared by the context policy: {len(text_of(result)):,} characters]"}


def _cut(block: Any, characters: int) -> Any:
    text = text_of(block) if get(block, "type") == "tool_result" else ""
    if len(text) <= characters:
        return block
    note = f"[cut by the context policy: {len(text) - characters:,} of {len(text):,} characters left out]"
    return {**block, "content": f"{text[:characters]}\n{note}"}


def _results(message: Mapping[str, Any]) -> list[int]:
    """Where in a message its tool results are."""
    if isinstance(message["content"], str):
        return []
    return [b for b, block in enumerate(message["content"]) if get(block, "type") == "tool_result"]


def _with_blocks(message: Mapping[str, Any], content: list[Any]) -> dict[str, Any]:
    return {**message, "content": content}
