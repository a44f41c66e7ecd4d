"""The simulated API's endpoints, whichever door a request comes in by: from bytes to bytes and the time they take."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isinf
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from lib.simulated import batches
from lib.simulated.faults import HEADER
from lib.simulated.model_list import model_info, model_page
from lib.simulated.protocol import Reply, handle, new_id, not_json, refused, seed_of
from lib.simulated.refusals import COUNT_TOKENS, MESSAGES, Refusal, method_not_allowed, not_found, unwelcome
from lib.simulated.room import Room
from lib.simulated.streaming import TYPE, as_json, events

BATCHES, MODELS = f"{MESSAGES}/batches", "/v1/models"
BREAKS = "overloaded_in_stream"         # a fault to ask for: an error after half a stream
MEGABYTE = 1024 * 1024
_MOST_BYTES = {BATCHES: 256 * MEGABYTE}
_USUALLY_MOST_BYTES = 32 * MEGABYTE
_TOO_LARGE = {"error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}
_LOOK_UP_SECONDS = 0.1
_POLL_AGAIN = 10                        # seconds, told while a batch is in progress
_DEEPEST = 200                          # levels of a body
_ESCAPE = re.compile(r"\\(?:(u[dD][89abAB]..)(\\u[dD][c-fC-F]..)?|(u[dD][c-fC-F]..)|.)")     # of JSON text


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    parts: Iterable[tuple[float, bytes]]        # (seconds after the start, what is sent then)
    seconds: float                              # until all is sent
    is_stream: bool = False


def answer(room: Room, method: str, target: str, headers: Mapping[str, str], body: bytes | None,
           at: float | None = None, wait: bool = True) -> Answer:
    """What the API sends for one HTTP request. `target` is a URL or its path and query; `headers` are read by
    lower-case name; a `body` of None is one too large to be read; `at` is when it starts on the room's clock. Without
    `wait` batches end at once.
    """
    url = urlsplit(target)
    path = url.path.rstrip("/")
    problem = _not_served(path, method)
    if problem:
        return _whole(refused(problem, seed_of(None, path)))
    if body is None or len(body) > most_bytes(path):
        return _whole(Reply(413, _TOO_LARGE, _LOOK_UP_SECONDS))
    stopped = unwelcome(headers)
    if stopped:
        return _whole(refused(stopped, seed_of(None, path)))
    at_once = at is None and not wait
    at = room.now() if at is None else at
    if method == "GET" or method == "DELETE" or path.endswith("/cancel"):
        return _looked_up(room, method, path, dict(parse_qsl(url.query)), at, _origin(url))
    try:
        content = _content(body or b"{}")
    except (ValueError, RecursionError) as reason:
        return _whole(not_json(str(reason)))
    if path == BATCHES:
        return _told(batches.create(room, content, headers, at, _origin(url), wait), path)
    return _message(room, content, headers, path, at, at_once)


def most_bytes(path: str) -> int:
    """How large the body of a request may be."""
    return _MOST_BYTES.get(path, _USUALLY_MOST_BYTES)


def _not_served(path: str, method: str) -> Refusal | None:
    methods = allowed_methods(path)
    return not_found() if not methods else None if method in methods else method_not_allowed()


def allowed_methods(path: str) -> tuple[str, ...]:
    """What may be done with a path; nothing where there is nothing."""
    if path in (MESSAGES, COUNT_TOKENS):
        return ("POST",)
    if path == BATCHES:
        return ("GET", "POST")
    match path.removeprefix(f"{BATCHES}/").split("/") if path.startswith(f"{BATCHES}/") else ():
        case [_]:
            return ("GET", "DELETE")
        case [_, "results"]:
            return ("GET",)
        case [_, "cancel"]:
            return ("POST",)
    return ("GET",) if path == MODELS or path.startswith(f"{MODELS}/") else ()


def _message(room: Room, request: Any, headers: Mapping[str, str], path: str, at: float, at_once: bool) -> Answer:
    """A streamed reply is the same one: how it is sent changes nothing about what is said."""
    streams = path == MESSAGES and isinstance(request, dict) and request.get("stream") is True
    if isinstance(request, dict) and isinstance(request.get("stream"), bool) and request.get("max_tokens") != 0:
        request = {name: value for name, value in request.items() if name != "stream"}
    reply = handle(request, headers, "POST", path, room, at, at_once)
    if not streams or reply.status != 200:
        return _whole(reply)
    sent = {**reply.headers, "content-type": TYPE, "cache-control": "no-cache"}
    return Answer(200, sent, events(reply, headers.get(HEADER) == BREAKS), reply.seconds, is_stream=True)


def _looked_up(room: Room, method: str, path: str, query: Mapping[str, str], at: float, origin: str) -> Answer:
    if path == MODELS:
        return _told(model_page(query), path)
    if path.startswith(f"{MODELS}/"):
        return _told(model_info(path.removeprefix(f"{MODELS}/")), path)
    if path == BATCHES:
        return _told(batches.listed(room, query, at, origin), path)
    id, _, rest = path.removeprefix(f"{BATCHES}/").partition("/")
    if rest == "results":
        return _lines(batches.results(room, id, at), path)
    if rest == "cancel":
        return _told(batches.cancel(room, id, at, origin), path)
    return _told(batches.delete(room, id, at) if method == "DELETE" else batches.retrieve(room, id, at, origin), path)


def _told(told: dict[str, Any] | Refusal, path: str) -> Answer:
    if isinstance(told, Refusal):
        return _whole(refused(told, seed_of(told.message, path)))
    headers = {"request-id": new_id("req", seed_of(told, path))}
    if told.get("processing_status") in ("in_progress", "canceling"):
        headers["retry-after"] = str(_POLL_AGAIN)
    return _whole(Reply(200, told, _LOOK_UP_SECONDS, headers))


def _lines(lines: list[bytes] | Refusal, path: str) -> Answer:
    if isinstance(lines, Refusal):
        return _told(lines, path)
    headers = {"request-id": new_id("req", seed_of(len(lines), path)), "content-type": "application/x-jsonl"}
    return Answer(200, headers, ((_LOOK_UP_SECONDS, line) for line in lines), _LOOK_UP_SECONDS, is_stream=True)


def _whole(reply: Reply) -> Answer:
    headers = {**reply.headers, "content-type": "application/json"}
    return Answer(reply.status, headers, [(reply.seconds, as_json(reply.body))], reply.seconds)


def broken(status: int, message: str) -> Answer:
    """The answer to what is no HTTP request to the API at all."""
    return _whole(refused(Refusal(status, "invalid_request_error", message), seed_of(message, "")))


def _content(body: bytes) -> Any:
    """What the JSON says. As for the API, half a surrogate pair, a number too large to hold and a nesting too deep to
    follow are none."""
    text = body.decode()
    content = _DECODER.decode(text)
    for escape in _ESCAPE.finditer(text) if "\\ud" in text or "\\uD" in text else ():
        high, low, alone = escape.groups()
        if high and not low:
            raise json.JSONDecodeError("no low surrogate in string", text, escape.end())
        if alone:
            raise json.JSONDecodeError("invalid high surrogate in string", text, escape.start())
    if text.count("{") + text.count("[") > _DEEPEST and _is_deeper(content, _DEEPEST):
        raise ValueError("recursion limit reached")
    return content


def _is_deeper(value: Any, levels: int) -> bool:
    inside = [value]
    for _ in range(levels):
        inside = [inner for outer in inside if isinstance(outer, dict | list)
                  for inner in (outer.values() if isinstance(outer, dict) else outer)]
        if not inside:
            return False
    return True


def _number(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ValueError("number is infinity when parsed as double")
    return number


def _origin(url: Any) -> str:
    return f"{url.scheme}://{url.netloc}" if url.netloc else ""


def _no_number(name: str) -> None:
    raise ValueError(f"unexpected {name}")


_DECODER = json.JSONDecoder(parse_constant=_no_number, parse_float=_number)
