"""The simulated Messages API as one pure function: the same request always gets the same reply.

What is refused lives in `refusals`, what is answered in `mind`; here both become the bodies that the API sends.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from lib.models import model
from lib.simulated.latency import seconds
from lib.simulated.mind import answer
from lib.simulated.refusals import Refusal, refusal
from lib.usage.tokens import estimate_reply, estimate_request

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_REFUSAL_SECONDS = 0.2


@dataclass(frozen=True)
class Reply:
    status: int
    body: dict[str, Any]
    seconds: float                                      # of the simulation's own clock
    headers: dict[str, str] = field(default_factory=dict)


def handle(request: Any, headers: Mapping[str, str] | None = None, method: str = "POST",
           path: str = "/v1/messages") -> Reply:
    """The API's reply to a request's JSON body. `headers=None` means a caller whose key needs no check.

    `headers` are read by lower-case name. Broken requests come back as the API's own error bodies, never as exceptions.
    """
    seed = _seed(request, path)
    problem = refusal(request, headers, method, path)
    if problem:
        return _refused(problem, seed)
    if path.endswith("/count_tokens"):
        return Reply(200, {"input_tokens": estimate_request(request)}, _REFUSAL_SECONDS, _headers(seed))
    return _answered(request, seed)


def not_json(reason: str) -> Reply:
    """The reply to a body that is no JSON."""
    message = f"The request body is not valid JSON: {reason}"
    return _refused(Refusal(400, "invalid_request_error", message), _seed(reason, ""))


def _answered(request: dict[str, Any], seed: str) -> Reply:
    name, read = request["model"], estimate_request(request)
    content = [_with_id(block, f"{seed}{i}") for i, block in enumerate(answer(request))]
    stop_reason = "tool_use" if any(b["type"] == "tool_use" for b in content) else "end_turn"
    room = model(name).window - read
    limit = min(request["max_tokens"], room)
    if estimate_reply(content, name) > limit:
        content = _cut(content, name, limit)
        stop_reason = "max_tokens" if request["max_tokens"] <= room else "model_context_window_exceeded"
    written = max(1, min(estimate_reply(content, name), limit))
    body = _message(name, content, stop_reason, _usage(read, written), seed)
    return Reply(200, body, seconds(name, read, written, seed), _headers(seed))


def _message(name: str, content: list, stop_reason: str, usage: dict, seed: str) -> dict[str, Any]:
    return {"id": _id("msg", seed), "type": "message", "role": "assistant", "model": name, "content": content,
            "stop_reason": stop_reason, "stop_sequence": None, "usage": usage}


def _usage(read: int, written: int) -> dict[str, Any]:
    """The total input is input_tokens + cache_creation_input_tokens + cache_read_input_tokens, as the API counts."""
    return {
        "input_tokens": read,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        "output_tokens": written,
        "output_tokens_details": {"thinking_tokens": 0},
        "service_tier": "standard",
    }


def _with_id(block: dict[str, Any], seed: str) -> dict[str, Any]:
    """A tool call with its id, or a text block as it is."""
    return {**block, "id": _id("toolu", sha256(seed.encode()).hexdigest())} if block["type"] == "tool_use" else block


def _cut(content: list[dict], name: str, limit: int) -> list[dict]:
    """The blocks that fit `limit` output tokens, the last one ending in the middle.

    A tool call that does not fit arrives with the empty input that the API sends for it.
    """
    kept: list[dict] = []
    for block in content:
        if estimate_reply([*kept, block], name) > limit:
            return [*kept, *_cut_block(block, kept, name, limit)]
        kept.append(block)
    return kept


def _cut_block(block: dict, kept: list[dict], name: str, limit: int) -> list[dict]:
    if block["type"] == "tool_use":
        return [{**block, "input": {}}]
    fits, too_long = 0, len(block["text"])
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if estimate_reply([*kept, {"type": "text", "text": block["text"][:middle]}], name) > limit:
            too_long = middle
        else:
            fits = middle
    return [{"type": "text", "text": block["text"][:fits]}] if fits else []


def _refused(problem: Refusal, seed: str) -> Reply:
    headers = _headers(seed) | {"x-should-retry": "false"}
    error = {"type": problem.type, "message": problem.message}
    return Reply(problem.status, {"type": "error", "error": error, "request_id": headers["request-id"]},
                 _REFUSAL_SECONDS, headers)


def _headers(seed: str) -> dict[str, str]:
    return {"request-id": _id("req", seed)}


def _seed(request: Any, path: str) -> str:
    text = json.dumps(request, sort_keys=True, ensure_ascii=True, default=str)
    return sha256(f"{path}\n{text}".encode()).hexdigest()


def _id(kind: str, seed: str) -> str:
    """`msg_01…` and the like: 22 letters and digits made from a hash in hex."""
    number, letters = int(seed, 16), ""
    while len(letters) < 22:
        number, digit = divmod(number, 58)
        letters += _BASE58[digit]
    return f"{kind}_01{letters}"
