"""What of a conversation with tools is sent again: old results cleared, long ones cut. Whoever keeps it keeps it whole.

Only the request is changed. Every tool call stays answered under its id, and an error stays an error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from lib.client.layers import Call, Layer, Next
from lib.messages import blocks, get, text_of

_THINKING = ("thinking", "redacted_thinking")
_READ_JSON = json.JSONDecoder().raw_decode

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
    return _changing_results(partial(_cut, characters=characters))


def cut_rows(rows: int) -> Layer:
    """Sends the first `rows` rows of every tool result that is JSON and holds a longer list of objects, and a note how
    many are left out. Every other result stays as it is; each is cut the same way on every turn."""
    return _changing_results(partial(_with_fewer_rows, rows=rows))


def without_thinking(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """An assistant's message as it can be sent after other words than it was thought after."""
    given = blocks(message)
    left = [block for block in given if get(block, "type") not in _THINKING]
    return _with_blocks(message, left) if left and len(left) < len(given) else message


def _changing_results(change: Callable[[Any], Any]) -> Layer:
    """Sends every message that holds tool results with `change` applied to its blocks."""
    def layer(call: Call, call_next: Next) -> Any:
        messages = [_with_blocks(m, [change(b) for b in blocks(m)]) if _results(m) else m
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
        return without_thinking(message)
    if not _results(message):
        return message
    return _with_blocks(message, [_note(block) if (m, b) in old else block for b, block in enumerate(blocks(message))])


def _note(result: Mapping[str, Any]) -> dict[str, Any]:
    return {**result, "content": f"[cleared by the context policy: {len(text_of(result)):,} characters]"}


def _cut(block: Any, characters: int) -> Any:
    text = text_of(block) if get(block, "type") == "tool_result" else ""
    if len(text) <= characters:
        return block
    note = f"[cut by the context policy: {len(text) - characters:,} of {len(text):,} characters left out]"
    return {**block, "content": f"{text[:characters]}\n{note}"}


def _with_fewer_rows(block: Any, rows: int) -> Any:
    text = text_of(block) if get(block, "type") == "tool_result" else ""
    value, rest = _leading_json(text)
    fewer, left_out, total = _first_rows(value, rows)
    if not left_out:
        return block
    note = f"[cut by the context policy: {left_out:,} of {total:,} rows left out]"
    return {**block, "content": f"{json.dumps(fewer, ensure_ascii=False)}{rest}\n{note}"}


def _leading_json(text: str) -> tuple[Any, str]:
    """The JSON value that a text begins with, and what follows it, such as a note; (None, text) without one."""
    if not text.startswith(("[", "{")):
        return None, text
    try:
        value, end = _READ_JSON(text)
    except (ValueError, RecursionError):
        return None, text
    return value, text[end:]


def _first_rows(value: Any, rows: int) -> tuple[Any, int, int]:
    """The value with its lists of objects cut, how many rows that leaves out, and how many the cut lists had."""
    if isinstance(value, list):
        longer = len(value) > rows and all(isinstance(row, dict) for row in value)
        return (value[:rows], len(value) - rows, len(value)) if longer else (value, 0, 0)
    if not isinstance(value, dict):
        return value, 0, 0
    cut = {name: _first_rows(part, rows) for name, part in value.items() if isinstance(part, list)}
    fewer = {name: cut[name][0] if name in cut else part for name, part in value.items()}
    return fewer, sum(left_out for _, left_out, _ in cut.values()), sum(total for *_, total in cut.values())


def _results(message: Mapping[str, Any]) -> list[int]:
    """Where in a message its tool results are."""
    if isinstance(message["content"], str):
        return []
    return [b for b, block in enumerate(message["content"]) if get(block, "type") == "tool_result"]


def _with_blocks(message: Mapping[str, Any], content: list[Any]) -> dict[str, Any]:
    return {**message, "content": content}
