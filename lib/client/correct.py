"""An answer that does not pass a check is sent back with the reason, before anybody else sees it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

from lib.client.layers import Call, Layer, Next
from lib.messages import as_dict, blocks, correction, get, text_of, utf8
from lib.stop_reasons import FINAL


def corrected(check: Callable[[str], Any], retries: int) -> Layer:
    """When a reply ends the conversation and `check` raises ValueError for its text, asks again up to `retries` times.

    Returns the last reply, valid or not: the caller checks again. Only `end_turn` and `stop_sequence` replies with
    text and without a tool call are checked; every other one is returned as it came. When the model calls a tool
    instead of answering again, the later calls of that conversation carry the exchange too, since it belongs to what
    the model has seen. A last reply that is reused and invalid is asked for anew: a resumed run would end as it did.
    """
    seen = _Exchanges()

    def layer(call: Call, call_next: Next) -> Any:
        call = call.with_request(messages=seen.put_back(call.request["messages"]))
        asked = len(call.request["messages"])
        reply = call_next(call)
        for _ in range(retries):
            wrong = problem(check, reply)
            if not wrong:
                break
            call = call.again(messages=[*call.request["messages"], *exchange(reply, wrong)])
            reply = call_next(call)
        while call.sent.reused and problem(check, reply):
            call = call.again()
            reply = call_next(call)
        seen.remember(reply, call.request["messages"][asked:])
        return reply

    return layer


def problem(check: Callable[[str], Any], reply: Any) -> ValueError | None:
    """What `check` finds wrong with a reply that ends the conversation; None for any other reply, and for a good one.
    """
    text = text_of(reply)
    if get(reply, "stop_reason") not in FINAL or calls_a_tool(reply) or not text.strip():
        return None
    try:
        check(text)
    except ValueError as wrong:
        return wrong
    return None


def exchange(reply: Any, wrong: ValueError) -> list[dict]:
    """The bad answer as it came, save what the API refuses to read again, and what is wrong with it."""
    answer = [_sendable(as_dict(b)) for b in blocks(reply) if get(b, "type") != "text" or get(b, "text", "").strip()]
    return [{"role": "assistant", "content": answer}, {"role": "user", "content": correction(wrong)}]


def calls_a_tool(message: Any) -> bool:
    """Whether a reply or a message holds a tool call."""
    return any(get(b, "type") == "tool_use" for b in blocks(message))


class _Exchanges:
    """Bad answers and corrections that a conversation's owner never saw, by the tool calls that followed them."""

    def __init__(self) -> None:
        self._before: dict[str, list[dict]] = {}
        self._lock = threading.Lock()

    def remember(self, reply: Any, exchanged: list[dict]) -> None:
        if exchanged and calls_a_tool(reply):
            with self._lock:
                self._before[_key(blocks(reply))] = exchanged

    def put_back(self, messages: list[dict]) -> list[dict]:
        if not self._before:
            return messages
        whole: list[dict] = []
        for message in messages:
            if message["role"] == "assistant":
                whole += self._before.get(_key(blocks(message)), [])
            whole.append(message)
        return whole


def _sendable(block: dict) -> dict:
    return {**block, "text": utf8(block["text"])} if block.get("type") == "text" else block


def _key(content: list[Any]) -> str:
    """Its tool calls tell a reply apart; its text does not, since whoever keeps it may drop empty blocks."""
    return json.dumps([as_dict(b) for b in content if get(b, "type") == "tool_use"], sort_keys=True)
