"""The Message Batches API: many requests at once, answered later at half the price.

A batch lives in the room and its answers are worked out when somebody asks for them after its end. Nothing in a batch
meets the faults that a person asked for: the API sends such requests again by itself.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from lib.simulated.paging import page
from lib.simulated.protocol import Reply, handle, new_id
from lib.simulated.refusals import MESSAGES, Refusal, invalid, not_found, refusal
from lib.simulated.room import Room
from lib.simulated.streaming import as_json

_MOST_REQUESTS = 100_000
_CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_SECONDS, _SECONDS_A_REQUEST = 60.0, 0.03       # until a batch has ended; stand-ins: most end within the hour
_SECONDS_TO_CANCEL = 10.0
_SECONDS_TO_EXPIRE = 24 * 3600
_COUNTS = ("processing", "succeeded", "errored", "canceled", "expired")


@dataclass
class Batch:
    """Times are seconds on the room's clock."""

    id: str
    requests: list[dict[str, Any]]
    headers: dict[str, str]             # of the request that created it: its API version
    created: float
    ends: float
    canceled: float | None = None       # when it was asked to stop
    outcome: dict[str, int] | None = None   # once it has ended
    lines: list[bytes] | None = None    # the results, once worked out
    lock: threading.Lock = field(default_factory=threading.Lock)

    def done(self) -> int:
        """How many of the requests are answered when it ends."""
        if self.canceled is None:
            return len(self.requests)
        return int(len(self.requests) * (self.canceled - self.created) / _seconds(len(self.requests)))


def create(room: Room, body: Any, headers: Mapping[str, str], at: float, origin: str, wait: bool) -> Any:
    """The new batch as the API tells it, or why there is none. Without `wait` it has ended at once."""
    message = next(_wrong(body), None)
    if message:
        return invalid(message)
    requests = body["requests"]
    seed = sha256(repr((at, len(room.batches), [r["custom_id"] for r in requests])).encode()).hexdigest()
    seconds = _seconds(len(requests)) if wait else 0.0
    batch = Batch(new_id("msgbatch", seed), requests, _plain(headers), at, at + seconds)
    room.batches[batch.id] = batch
    return _told(batch, at, origin)


def listed(room: Room, query: Mapping[str, str], at: float, origin: str) -> Any:
    """All batches, the newest first."""
    batches = list(room.batches.values())[::-1]
    shown = page([{"id": batch.id} for batch in batches], query)
    if isinstance(shown, Refusal):
        return shown
    return {**shown, "data": [_told(room.batches[row["id"]], at, origin) for row in shown["data"]]}


def retrieve(room: Room, id: str, at: float, origin: str) -> Any:
    batch = room.batches.get(id)
    return _told(batch, at, origin) if batch else _missing(id)


def cancel(room: Room, id: str, at: float, origin: str) -> Any:
    batch = room.batches.get(id)
    if batch is None:
        return _missing(id)
    with batch.lock:
        if at >= batch.ends:
            return invalid(f"Message Batch {id} has already ended and cannot be canceled.")
        if batch.canceled is None:
            batch.canceled, batch.ends = at, min(batch.ends, at + _SECONDS_TO_CANCEL)
    return _told(batch, at, origin)


def delete(room: Room, id: str, at: float) -> Any:
    batch = room.batches.get(id)
    if batch is None:
        return _missing(id)
    if at < batch.ends:
        return invalid("In progress batches cannot be deleted. Consider canceling the batch instead.")
    room.batches.pop(id, None)
    return {"id": id, "type": "message_batch_deleted"}


def results(room: Room, id: str, at: float) -> list[bytes] | Refusal:
    """One line of JSON a request, in no useful order."""
    batch = room.batches.get(id)
    if batch is None:
        return _missing(id)
    if at < batch.ends:
        return not_found(f"Message Batch {id} has no available results.")
    with batch.lock:
        if batch.lines is None:
            batch.lines = list(_lines(room, batch))
    return batch.lines


# --- what a batch has to look like -----------------------------------------------------------------------------------


def _wrong(body: Any) -> Iterator[str]:
    """Of the requests only the ids are read now: what is wrong in one of them shows in its result."""
    if not isinstance(body, dict):
        yield "Input should be a valid dictionary"
    for name in body:
        if name != "requests":
            yield f"{name}: Extra inputs are not permitted"
    if "requests" not in body:
        yield "requests: Field required"
    requests = body["requests"]
    if not isinstance(requests, list):
        yield "requests: Input should be a valid list"
    if not requests:
        yield "requests: List should have at least 1 item after validation, not 0"
    if len(requests) > _MOST_REQUESTS:
        yield f"requests: List should have at most {_MOST_REQUESTS} items after validation, not {len(requests)}"
    seen: set[str] = set()
    for i, request in enumerate(requests):
        yield from _wrong_request(f"requests.{i}", request)
        if request["custom_id"] in seen:
            yield ("requests: custom_id's must be unique within a batch. Duplicate custom_id found: "
                   f"{request['custom_id']}")
        seen.add(request["custom_id"])


def _wrong_request(where: str, request: Any) -> Iterator[str]:
    if not isinstance(request, dict):
        yield f"{where}: Input should be a valid dictionary"
    for name in ("custom_id", "params"):
        if name not in request:
            yield f"{where}.{name}: Field required"
    for name in request:
        if name not in ("custom_id", "params"):
            yield f"{where}.{name}: Extra inputs are not permitted"
    id = request["custom_id"]
    if not isinstance(id, str):
        yield f"{where}.custom_id: Input should be a valid string"
    if len(id) > 64:
        yield f"{where}.custom_id: String should have at most 64 characters"
    if not _CUSTOM_ID.fullmatch(id):
        yield f"{where}.custom_id: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"
    if not isinstance(request["params"], dict):
        yield f"{where}.params: Input should be a valid dictionary"


# --- how it stands ---------------------------------------------------------------------------------------------------


def _told(batch: Batch, at: float, origin: str) -> dict[str, Any]:
    """A request moves on from "processing" only when the whole batch has ended."""
    ended = at >= batch.ends
    counts = dict.fromkeys(_COUNTS, 0) | (_outcome(batch) if ended else {"processing": len(batch.requests)})
    return {
        "id": batch.id, "type": "message_batch",
        "processing_status": "ended" if ended else "in_progress" if batch.canceled is None else "canceling",
        "request_counts": counts,
        "created_at": _time(batch.created), "expires_at": _time(batch.created + _SECONDS_TO_EXPIRE),
        "ended_at": _time(batch.ends) if ended else None, "archived_at": None,
        "cancel_initiated_at": None if batch.canceled is None else _time(batch.canceled),
        "results_url": f"{origin}/v1/messages/batches/{batch.id}/results" if ended else None,
    }


def _outcome(batch: Batch) -> dict[str, int]:
    if batch.outcome is None:
        done = batch.requests[:batch.done()]
        errored = sum(_problem(request["params"], batch.headers) is not None for request in done)
        batch.outcome = {"succeeded": len(done) - errored, "errored": errored,
                         "canceled": len(batch.requests) - len(done)}
    return batch.outcome


def _problem(params: dict[str, Any], headers: Mapping[str, str]) -> Refusal | None:
    """What is wrong with one request; a few things do not go together with being in a batch."""
    if params.get("stream"):
        return invalid('"stream=True" is not supported in the Message Batches API')
    if params.get("speed") == "fast":
        return invalid('"speed" is not supported in the Message Batches API')
    if params.get("max_tokens") == 0:
        return invalid("max_tokens: 0 is not supported in the Message Batches API")
    return refusal(params, headers, "POST", MESSAGES)


def _lines(room: Room, batch: Batch) -> Iterator[bytes]:
    """The requests are worked on one after the other, so that a later one may read what an earlier one cached."""
    quiet = replace(room.conditions, rate_limited=0.0, overloaded=0.0, server_error=0.0, slow=0.0,
                    requests_per_minute=0)
    inside = Room(room.now, quiet)
    inside.cache = room.cache
    answered = batch.requests[:batch.done()]
    step = (batch.ends - batch.created) / max(1, len(answered))
    results = {request["custom_id"]: _result(inside, batch.headers, request["params"], batch.created + i * step)
               for i, request in enumerate(answered)}
    for id in sorted((request["custom_id"] for request in batch.requests), key=lambda id: sha256(id.encode()).digest()):
        yield as_json({"custom_id": id, "result": results.get(id, {"type": "canceled"})}) + b"\n"


def _result(room: Room, headers: Mapping[str, str], params: dict[str, Any], at: float) -> dict[str, Any]:
    problem = _problem(params, headers)
    if problem:
        error = {"details": {"error_visibility": "user_facing"}, "type": problem.type, "message": problem.message}
        return {"type": "errored", "error": {"type": "error", "error": error, "request_id": None}}
    reply: Reply = handle(params, headers, room=room, at=at)
    usage = {**reply.body["usage"], "service_tier": "batch"}
    return {"type": "succeeded", "message": {**reply.body, "usage": usage}}


def _plain(headers: Mapping[str, str]) -> dict[str, str]:
    names = ("x-api-key", "authorization", "anthropic-version")
    return {name: headers[name] for name in names if name in headers}


def _missing(id: str) -> Refusal:
    return not_found(f"Message Batch {id} not found.")


def _seconds(requests: int) -> float:
    return _SECONDS + requests * _SECONDS_A_REQUEST


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
