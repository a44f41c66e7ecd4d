"""Stops an agent that makes the same tool call over and over and learns nothing new from it."""

from __future__ import annotations

import json
from itertools import takewhile
from typing import Any

from lib.client.layers import Call, Layer, Next
from lib.errors import Repeating
from lib.messages import as_dict

LONGEST = 120       # characters of the repeated call that are told


def stop_on_repeats(limit: int = 5) -> Layer:
    """A layer that raises Repeating before a call whose conversation ends in `limit` equal exchanges.

    An exchange is an assistant message with tool calls and the results it got; two are equal when names, arguments
    and results are. The layer keeps no state: it reads the end of the conversation, whoever's that is.
    """
    def layer(call: Call, call_next: Next) -> Any:
        exchanges = _latest_exchanges(call.request.get("messages", []), limit)
        first = exchanges[0] if exchanges else None
        if first is not None and len(list(takewhile(first.__eq__, exchanges))) >= limit:
            raise Repeating(f"the model made the same call {limit} times in a row and got the same result each time: "
                            f"{_told(call.request['messages'][-2])}")
        return call_next(call)

    return layer


def _told(asked: dict) -> str:
    """"list_tickets(limit=20)", for every tool call of a message; long ones cut."""
    calls = (f"{block['name']}({', '.join(f'{name}={json.dumps(value)}' for name, value in block['input'].items())})"
             for block in _blocks(asked, "tool_use"))
    return ", ".join(calls)[:LONGEST]


def _latest_exchanges(messages: list[dict], limit: int) -> list[str]:
    """The last `limit` exchanges, latest first, as text without the call ids; stops where there is no tool result."""
    pairs = [messages[end - 2:end] for end in range(len(messages), 1, -2)][:limit]
    return list(takewhile(bool, (_exchange(*pair) for pair in pairs)))


def _exchange(asked: dict, answered: dict) -> str:
    calls = [(block["name"], block["input"]) for block in _blocks(asked, "tool_use")]
    results = [block.get("content") for block in _blocks(answered, "tool_result")]
    return json.dumps([calls, results], sort_keys=True, default=str) if calls and results else ""


def _blocks(message: dict, kind: str) -> list[dict]:
    content = message["content"]
    found = [] if isinstance(content, str) else [as_dict(block) for block in content]
    return [block for block in found if block.get("type") == kind]
