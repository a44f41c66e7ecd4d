"""A reply as the server-sent events that the Messages API streams, each with the second in which it is sent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from lib.simulated.protocol import Reply

TYPE = "text/event-stream; charset=utf-8"
_PIECE = re.compile(r"(?s)\S*\s*(?:\S+\s*){0,2}")       # up to three words
_JSON_PIECE = 24                                        # characters
_OVERLOADED = {"type": "overloaded_error", "message": "Overloaded"}


def events(reply: Reply, breaks: bool = False) -> Iterator[tuple[float, bytes]]:
    """(seconds after the start, event). The first come when the reply begins, the others as its tokens are written.

    With `breaks` the API is overloaded half way: an error ends the stream, as it may after a status of 200.
    """
    message = reply.body
    started = {**message, "content": [], "stop_reason": None, "stop_sequence": None,
               "usage": {**message["usage"], "output_tokens": min(1, message["usage"]["output_tokens"]),
                         "output_tokens_details": {"thinking_tokens": 0}}}
    written = [event for i, block in enumerate(message["content"]) for event in _block(i, block)]
    yield reply.first, _event("message_start", message=started)
    if breaks:
        written = written[:len(written) // 2]
    spread = (reply.seconds - reply.first) / max(1, len(written))
    for i, event in enumerate(written):
        yield reply.first + i * spread, event
        if i == 0:
            yield reply.first, _event("ping")
    if breaks:
        yield reply.first + len(written) * spread, _event(
            "error", error=_OVERLOADED, request_id=reply.headers.get("request-id"))
        return
    yield reply.seconds, _event("message_delta", delta=_end(message), usage=message["usage"])
    yield reply.seconds, _event("message_stop")


def _block(index: int, block: dict[str, Any]) -> Iterator[bytes]:
    empty, deltas = _KINDS[block["type"]](block)
    yield _event("content_block_start", index=index, content_block=empty)
    for delta in deltas:
        yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _text(block: dict[str, Any]) -> tuple[dict, list[dict]]:
    pieces = [piece for piece in _PIECE.findall(block["text"]) if piece]
    return {**block, "text": ""}, [{"type": "text_delta", "text": piece} for piece in pieces]


def _call(block: dict[str, Any]) -> tuple[dict, list[dict]]:
    """A call without arguments, or one cut off, comes as an empty piece."""
    text = json.dumps(block["input"], ensure_ascii=False) if block["input"] else ""
    pieces = ["", *(text[i:i + _JSON_PIECE] for i in range(0, len(text), _JSON_PIECE))]
    return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]


def _thought(block: dict[str, Any]) -> tuple[dict, list[dict]]:
    shown = [{"type": "thinking_delta", "thinking": piece} for piece in _PIECE.findall(block["thinking"]) if piece]
    return {**block, "thinking": "", "signature": ""}, [
        *shown, {"type": "signature_delta", "signature": block["signature"]}]


_KINDS = {"text": _text, "tool_use": _call, "thinking": _thought}


def _end(message: dict[str, Any]) -> dict[str, Any]:
    return {name: message.get(name) for name in ("stop_reason", "stop_sequence", "stop_details", "container")
            if name in message}


def _event(kind: str, **data: Any) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), as_json({"type": kind, **data}))


def as_json(value: Any) -> bytes:
    """JSON in UTF-8; what has no UTF-8 (half a surrogate pair) stays escaped."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")
