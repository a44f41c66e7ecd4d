"""Whether a request, a message or a reply has the shape that the Messages API gives it, as far as pages and layers rely
on it. Fields and blocks that are not known here may hold anything."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lib.runs.conversations import NOT_STORED
from lib.runs.untrusted import Wrong, at, check, check_range, described

_ROLES = ("user", "assistant", "system")
_TEXTS = {"text": "text", "thinking": "thinking", "tool_use": "name"}       # of a block's type -> what is text in it
_REQUEST = {"model": str, "max_tokens": int, "tools": tuple[dict[str, Any], ...], "tool_choice": dict, "thinking": dict,
            "cache_control": dict, "metadata": dict, "output_config": dict}
_TOOL = {"name": str, "description": str, "input_schema": dict, "cache_control": dict}
_REPLY = {"usage": dict}
_REPLY_WORDS = ("type", "role", "model", "stop_reason")     # text, but some servers send a number


def check_fields_of_request(fields: dict[str, Any]) -> None:
    """What a request holds beside its messages."""
    for name in (*NOT_STORED, "messages"):
        if name in fields:
            raise Wrong(f"{name} has no place here")
    _check_some(_REQUEST, fields)
    check_range(fields.get("max_tokens"), 0, 1e12)
    _check_content("system", fields.get("system"), none=True)
    for number, tool in enumerate(fields.get("tools") or (), start=1):
        at(("tools", number), _check_some, _TOOL, tool)


def check_message(message: dict[str, Any]) -> None:
    if message.get("role") not in _ROLES:
        raise Wrong(f"{described(message.get('role'))} is none of {', '.join(_ROLES)}", "role")
    _check_content("content", message.get("content"))
    for block in message["content"] if isinstance(message["content"], list) else ():
        if block.get("type") == "tool_use" and not isinstance(block.get("input"), dict | None):
            raise Wrong(f"{described(block['input'])} stands where an object should", "content", "input")


def check_reply(reply: dict[str, Any]) -> None:
    _check_some(_REPLY, reply)
    _check_words(_REPLY_WORDS, reply)
    _check_content("content", reply.get("content"), none=True)


def _check_content(name: str, content: Any, none: bool = False) -> None:
    """Text, or a list of blocks."""
    if isinstance(content, str) or (none and content is None):
        return
    if not isinstance(content, list):
        raise Wrong(f"{described(content)} stands where text or a list should", name)
    for number, block in enumerate(content, start=1):
        at((name, number), _check_block, block)


def _check_block(block: Any) -> None:
    check(dict, block)
    _check_words(("type", "id", "tool_use_id"), block)
    kind = block.get("type")
    if name := _TEXTS.get(kind):
        check(str | None, block.get(name))
    if kind == "tool_result":
        _check_content("content", block.get("content"), none=True)


def _check_words(names: Iterable[str], value: dict[str, Any]) -> None:
    """Neither a list nor an object stands in these fields."""
    for name in names:
        if isinstance(value.get(name), list | dict):
            raise Wrong(f"{described(value[name])} stands where text should", name)


def _check_some(kinds: dict[str, Any], value: dict[str, Any]) -> None:
    """What is there of these fields; null is as good as absent."""
    for name, kind in kinds.items():
        if value.get(name) is not None:
            at((name,), check, kind, value[name])

