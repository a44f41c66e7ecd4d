"""The simulated Messages API: one function from a request to the reply that the API would send.

What is refused lives in `refusals`, what is answered in `mind`; here both become the bodies that the API sends, with
the tokens they cost. The same request always gets the same answer; what it costs and whether it fails on demand depends
on the room, which remembers what came before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import Any

from lib.models import model
from lib.remember import known
from lib.simulated import faults
from lib.simulated.faults import Fault
from lib.simulated.latency import SPEEDS, timing
from lib.simulated.mind import answer
from lib.simulated.prompt_cache import Split, prompt_of
from lib.simulated.refusals import Refusal, refusal
from lib.simulated.room import Room
from lib.simulated.thinking import thinking_block, thinking_tokens
from lib.usage.tokens import CountedRequest, blocks_of, estimate_reply, estimate_request, measure

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_REFUSAL_SECONDS = 0.2
_LONG = 3                   # messages from which on a request is a conversation that has come before in part
_ONE_SPEED = {"claude-opus-4-6": "standard"}        # takes the parameter and goes on as before


@dataclass(frozen=True)
class Reply:
    status: int
    body: dict[str, Any]
    seconds: float                                      # of the simulation's own clock
    headers: dict[str, str] = field(default_factory=dict)
    first: float = 0.0                                  # seconds until the reply begins


def handle(request: Any, headers: Mapping[str, str] | None = None, method: str = "POST", path: str = "/v1/messages",
           room: Room | None = None, at: float | None = None, at_once: bool = False) -> Reply:
    """The API's reply to a request's JSON body. `headers=None` means a caller whose key needs no check.

    `headers` are read by lower-case name. Broken requests come back as the API's own error bodies, never as exceptions.
    `at` is when the request starts on the room's clock, now if nothing is said. `at_once`: nobody waits for the reply,
    so what it writes into the prompt cache can be read by whatever comes next. Without a room there is nothing before
    this request and nothing after it.
    """
    seed = seed_of(request, path)
    request = _as_known(request) if isinstance(request, dict) else request
    problem = refusal(request, headers, method, path)
    if problem:
        return refused(problem, seed)
    if path.endswith("/count_tokens"):
        return Reply(200, {"input_tokens": estimate_request(request)}, _REFUSAL_SECONDS, _headers(seed))
    if room is None:
        return _admitted(request, {}, seed, _empty_room(), 0.0, at_once)
    return _admitted(request, headers or {}, seed, room, room.now() if at is None else at, at_once)


def _as_known(request: dict[str, Any]) -> CountedRequest:
    messages = request.get("messages")
    if not isinstance(messages, list) or len(messages) < _LONG:
        return CountedRequest(request)
    return CountedRequest({**request, "messages": [known(m) if isinstance(m, dict) else m for m in messages]})


def not_json(reason: str) -> Reply:
    """The reply to a body that is no JSON."""
    message = f"The request body is not valid JSON: {reason}"
    return refused(Refusal(400, "invalid_request_error", message), seed_of(reason, ""))


def _empty_room() -> Room:
    return Room(now=lambda: 0.0)


def _admitted(request: dict[str, Any], headers: Mapping[str, str], seed: str, room: Room, at: float,
              at_once: bool) -> Reply:
    """The answer to a request that the API understands, unless something comes between on its side."""
    name = request["model"]
    wait = room.limits.admit(name, at)
    if wait:
        trouble = faults.too_many(f"{room.conditions.requests_per_minute:,} requests per minute", name, wait)
    else:
        trouble = faults.fault(room.conditions, headers, name, seed, room.attempt(seed))
    if trouble:
        return _failed(trouble, seed, room.limits.headers(name, at))
    reply = _answered(request, seed, room, at, faults.slowness(room.conditions, headers, seed), at_once)
    room.limits.count(name, at, reply.body["usage"])
    reply.headers.update(room.limits.headers(name, at))
    return reply


def _answered(request: dict[str, Any], seed: str, room: Room, at: float, slowness: float, at_once: bool) -> Reply:
    name = request["model"]
    prompt, luck = prompt_of(request, measure(request)), _luck(request)
    split = room.cache.split(prompt, at)
    said = _say(request, prompt.total, room, seed, luck)
    speed = room.conditions.speeds.get(model(name).size) or SPEEDS[model(name).size]
    times = timing(speed, prompt.total - split.read, split.read, said.tokens, luck)
    first, whole = (round(slowness * seconds, 3) for seconds in times)
    room.cache.keep(prompt, split, at, at if at_once else at + first)
    return Reply(200, _message(name, said, _usage(split, said, request), seed), whole, _headers(seed), first)


# --- what is said ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Said:
    content: list[dict[str, Any]]
    stop_reason: str
    tokens: int                         # of all output, thinking included
    thinking: int = 0                   # tokens
    stop_sequence: str | None = None


def _say(request: dict[str, Any], read: int, room: Room, seed: str, luck: str) -> _Said:
    """Thinking first, then the answer, as far as `max_tokens` and the model's window allow."""
    if request["max_tokens"] == 0:      # only fills the prompt cache
        return _Said([], "max_tokens", 0)
    left = model(request["model"]).window - read
    limit = max(1, min(request["max_tokens"], left))
    cut_by = "max_tokens" if request["max_tokens"] <= left else "model_context_window_exceeded"
    content = answer(request, room.conditions)
    thinking = thinking_tokens(request, content, luck)
    thoughts = [thinking_block(request, min(thinking, limit), luck)] if thinking else []
    if thinking >= limit:
        return _Said(thoughts, cut_by, limit, limit)
    said = _speak(request, content, limit - thinking, cut_by)
    blocks = [_with_id(block, f"{seed}{i}") for i, block in enumerate(said.content)]
    return _Said(thoughts + blocks, said.stop_reason, thinking + said.tokens, thinking, said.stop_sequence)


def _speak(request: dict[str, Any], content: list[dict], limit: int, cut_by: str) -> _Said:
    name = request["model"]
    content, sequence = _stopped(content, request.get("stop_sequences") or ())
    reason = "tool_use" if any(b["type"] == "tool_use" for b in content) else "end_turn"
    reason = "stop_sequence" if sequence is not None else reason
    tokens = estimate_reply(content, name)
    if tokens > limit:
        content, sequence, reason = _cut(content, name, limit), None, cut_by
        tokens = min(estimate_reply(content, name), limit)
    return _Said(content, reason, max(1, tokens), stop_sequence=sequence)


def _stopped(content: list[dict], sequences: Sequence[str]) -> tuple[list[dict], str | None]:
    """The blocks up to the first stop sequence in a text, and which it was; None for none."""
    for i, block in enumerate(content if sequences else ()):
        text = block["text"] if block["type"] == "text" else ""
        found = [(text.index(sequence), sequence) for sequence in sequences if sequence in text]
        if found:
            place, sequence = min(found, key=lambda one: one[0])
            return content[:i] + ([{**block, "text": text[:place]}] if place else []), sequence
    return content, None


def _with_id(block: dict[str, Any], seed: str) -> dict[str, Any]:
    """A tool call with its id, or a text block as it is."""
    return {**block, "id": new_id("toolu", sha256(seed.encode()).hexdigest())} if block["type"] == "tool_use" else block


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


# --- bodies and headers ----------------------------------------------------------------------------------------------


def _message(name: str, said: _Said, usage: dict[str, Any], seed: str) -> dict[str, Any]:
    return {"id": new_id("msg", seed), "type": "message", "role": "assistant", "model": name, "content": said.content,
            "stop_reason": said.stop_reason, "stop_sequence": said.stop_sequence, "usage": usage}


def _usage(split: Split, said: _Said, request: Mapping[str, Any]) -> dict[str, Any]:
    """The total input is input_tokens + cache_creation_input_tokens + cache_read_input_tokens, as the API counts."""
    speed = _ONE_SPEED.get(request["model"], request.get("speed")) if request.get("speed") else None
    return {
        "input_tokens": split.fresh,
        "cache_creation_input_tokens": split.write_5m + split.write_1h,
        "cache_read_input_tokens": split.read,
        "cache_creation": {"ephemeral_5m_input_tokens": split.write_5m, "ephemeral_1h_input_tokens": split.write_1h},
        "output_tokens": said.tokens,
        "output_tokens_details": {"thinking_tokens": said.thinking},
        "service_tier": "standard", **({"speed": speed} if speed else {}),
    }


def refused(problem: Refusal, seed: str) -> Reply:
    headers = _headers(seed) | {"x-should-retry": "false"}
    return Reply(problem.status, _error(problem.type, problem.message, headers), _REFUSAL_SECONDS, headers)


def _failed(trouble: Fault, seed: str, limits: dict[str, str]) -> Reply:
    headers = {**_headers(seed), **limits, "x-should-retry": "true"}
    if trouble.retry_after is not None:
        headers["retry-after"] = str(trouble.retry_after)
    return Reply(trouble.status, _error(trouble.type, trouble.message, headers), trouble.seconds, headers)


def _error(kind: str, message: str, headers: dict[str, str]) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": headers["request-id"]}


def _headers(seed: str) -> dict[str, str]:
    return {"request-id": new_id("req", seed), "anthropic-organization-id": faults.ORGANIZATION}


def seed_of(request: Any, path: str) -> str:
    text = json.dumps(request, sort_keys=True, ensure_ascii=True, default=str)
    return sha256(f"{path}\n{text}".encode()).hexdigest()


def _luck(request: dict[str, Any]) -> str:
    """Hex digits for what varies from reply to reply without a reason. They depend on what was said last and on nothing
    else, so that marks, limits and other settings show their own effect only."""
    said = [block.get("text") or block.get("content") for block in blocks_of(request["messages"][-1]["content"])]
    return sha256(repr((request["model"], len(request["messages"]), said)).encode()).hexdigest()


def new_id(kind: str, seed: str) -> str:
    """`msg_01…` and the like: 22 letters and digits made from a hash in hex."""
    return f"{kind}_01{_letters(seed)}"


@lru_cache(maxsize=64)      # a reply and its request have the same
def _letters(seed: str) -> str:
    number, letters = int(seed, 16), ""
    while len(letters) < 22:
        number, digit = divmod(number, 58)
        letters += _BASE58[digit]
    return letters
