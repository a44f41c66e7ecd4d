"""A stand-in for a client, builders of replies, and the real SDK with that stand-in behind it."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable, Iterable
from typing import Any

import pytest


class FakeClient:
    """Answers `.messages.create(**request)` from a function of the request or from a list of replies.

    A reply that is an exception is raised. Every request is kept in `requests`, copied, after the rules by which the
    API refuses a conversation were checked. `busiest` is the largest number of calls that were open at once.
    """

    def __init__(self, replies: Callable[[dict], Any] | Iterable[Any]):
        self.messages = self
        self.requests: list[dict] = []
        self.busiest = 0
        self._open = 0
        self._lock = threading.Lock()
        self._answer = replies if callable(replies) else _in_turn(replies)

    def create(self, **request: Any) -> Any:
        assert_sendable(request["messages"])
        with self._lock:
            self.requests.append(copy.deepcopy(request))
            self._open += 1
            self.busiest = max(self.busiest, self._open)
        try:
            answer = self._answer(request)
        finally:
            with self._lock:
                self._open -= 1
        if isinstance(answer, BaseException):
            raise answer
        return answer


def _in_turn(replies: Iterable[Any]) -> Callable[[dict], Any]:
    waiting = iter(list(replies))
    lock = threading.Lock()

    def answer(request: dict) -> Any:
        with lock:
            given = next(waiting, None)
        assert given is not None, "the fake client was asked more often than it has replies"
        return given

    return answer


# --- replies ---------------------------------------------------------------------------------------------------------


def reply(*content: str | dict, stop_reason: str | None = "") -> dict:
    """A Messages reply as the API sends it; a bare string is a text block. The stop_reason follows from the content."""
    blocks = [text(part) if isinstance(part, str) else part for part in content]
    asks = any(block["type"] == "tool_use" for block in blocks)
    return {
        "id": "msg_test", "type": "message", "role": "assistant", "model": "test-model", "content": blocks,
        "stop_reason": ("tool_use" if asks else "end_turn") if stop_reason == "" else stop_reason,
        "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 5},
    }


def text(words: str) -> dict:
    return {"type": "text", "text": words}


def tool_use(name: str, arguments: Any = None, id: str = "toolu_1") -> dict:
    return {"type": "tool_use", "id": id, "name": name, "input": {} if arguments is None else arguments}


def thinking(words: str = "", signature: str = "c2lnbmVk") -> dict:
    return {"type": "thinking", "thinking": words, "signature": signature}


# --- the same replies through the real SDK ---------------------------------------------------------------------------


def as_is(fake: FakeClient) -> Any:
    return fake


def over_sdk(fake: FakeClient) -> Any:
    """The real anthropic client, whose requests reach `fake` as JSON and whose replies are SDK objects."""
    import anthropic
    import httpx2

    def handle(request: httpx2.Request) -> httpx2.Response:
        answer = fake.create(**json.loads(request.content))
        return httpx2.Response(200, content=json.dumps(answer), headers={"content-type": "application/json"})

    transport = httpx2.MockTransport(handle)
    return anthropic.Anthropic(api_key="test", max_retries=0,
                               http_client=anthropic.DefaultHttpxClient(transport=transport))


both_wires = pytest.mark.parametrize("wire", [as_is, over_sdk])     # plain dicts; SDK objects


# --- what the API refuses --------------------------------------------------------------------------------------------


def assert_sendable(messages: list[dict]) -> None:
    """Fails where the API would answer 400: blank text, empty content, open or unknown tool calls, input no object."""
    json.dumps(messages, ensure_ascii=False, allow_nan=False).encode("utf-8")
    assert messages and messages[0]["role"] == "user"
    open_ids: list[str] = []
    for message in messages:
        content = message["content"]
        assert content, "a message without content"
        blocks = [text(content)] if isinstance(content, str) else content
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert results == open_ids, f"the calls {open_ids} are answered by {results}"
        assert all(block["type"] == "tool_result" for block in blocks[:len(results)]), "tool results come first"
        open_ids = [block["id"] for block in blocks if block["type"] == "tool_use"]
        assert len(set(open_ids)) == len(open_ids), "tool_use ids are unique"
        for block in blocks:
            assert block["type"] != "text" or block["text"].strip(), "blank text"
            assert block["type"] != "tool_use" or isinstance(block["input"], dict), "input is an object"
            assert block["type"] != "tool_result" or block["content"].strip(), "a blank tool result"
        assert message["role"] == "user" or blocks[-1]["type"] not in ("thinking", "redacted_thinking")
    assert not open_ids, f"the calls {open_ids} are not answered"
