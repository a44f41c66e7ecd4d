"""A replay: what a run asks is answered by the recorded calls of stored runs, over the real SDK, and nothing is sent.

Requests are the same if `conversations.take_apart` gives them the same ids: all that is asked counts, but not how it is
sent. In what a request that is not recorded differs, `difference` says.
"""

from __future__ import annotations

import json
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from lib import errors
from lib.client.clock import Clock
from lib.client.layers import Call, Next, Sent
from lib.client.request_difference import difference
from lib.runs.conversations import take_apart
from lib.runs.store import Asked, CallRow, Store

LONGEST_IDLE = 60.0     # seconds without a call, after which a run was stopped and resumed

Request = tuple[bytes | None, bytes]    # ids of its last message and of its fields

_WHAT_NOW = ("Nothing else was taken in its place. Undo the change, or let the simulation or an API answer instead of "
             "the recording.")


@dataclass
class _Asked:
    """What the transport found for the call that this thread makes."""

    request: Request | None = None
    row: CallRow | None = None


_asked: ContextVar[_Asked] = ContextVar("asked")


class Replay:
    """The recorded calls of some runs. The n-th time that a request is made, it has the n-th recorded outcome, also
    where that is an error; `going_on` are replays of the same runs whose calls have had theirs. Safe for threads."""

    def __init__(self, store: Store, run_ids: Sequence[str], clock: Clock, going_on: Sequence[str] = ()):
        self._store = store
        self._run_ids = list(run_ids)
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: dict[Request, deque[int]] = defaultdict(deque)
        recorded = store.asked(run_ids)
        for call in recorded:
            self._waiting[call.last, call.fields].append(call.call_id)
        self._recorded = {request: len(calls) for request, calls in self._waiting.items()}
        for request, times in Counter((call.last, call.fields) for call in store.asked(going_on)).items():
            for _ in range(min(times, self._recorded.get(request, 0))):
                self._waiting[request].popleft()
        self._began = _beginnings(recorded)
        left = {call_id for calls in self._waiting.values() for call_id in calls}
        self._first: dict[str, float] = {}      # recorded run -> when the first of its calls that are left began
        for call in recorded:
            if call.call_id in left:
                began = self._began[call.call_id]
                self._first[call.run_id] = min(began, self._first.get(call.run_id, began))
        self._later: dict[str, float] = {}      # recorded run -> how much later its replay is

    def transport(self) -> Any:
        """For the SDK's HTTP client, in the network's place."""
        import httpx2

        return httpx2.MockTransport(self._answer)

    def layer(self, call: Call, call_next: Next) -> Any:
        """Belongs directly around the SDK: a recorded call lasts as long as it did, on the clock and in `call.sent`,
        and one that failed fails again. `call.stop` ends the wait. Raises NotRecorded."""
        asked = _Asked()
        _asked.set(asked)
        reply, failure = None, None
        try:
            reply = call_next(call)
        except errors.PlaygroundError as error:
            failure = error
        if asked.row is None:
            raise errors.NotRecorded(self._why(call, asked.request)) if asked.request else failure
        self._tell(call.sent, asked.row)
        self._clock.sleep(asked.row.seconds, call.stop)
        if asked.row.error:
            raise _recorded_error(asked.row)
        if failure:
            raise failure
        return reply

    def _tell(self, sent: Sent, row: CallRow) -> None:
        """The call began, in the replay's time, when it began in the recorded run's: later by as much as the first.
        Whichever thread is here first, its call begins when the replay does, though it may not be the first recorded.
        """
        sent.seconds, sent.waited, sent.attempts = row.seconds, row.waited, row.attempts
        sent.unanswered = bool(row.error) and row.usd is None
        if sent.began is not None:
            with self._lock:
                later = self._later.setdefault(row.run_id, sent.began - self._first[row.run_id])
            sent.began = self._began[row.id] + later

    def _answer(self, request: Any) -> Any:
        import httpx2

        if request.method != "POST" or request.url.path != "/v1/messages":
            return httpx2.Response(404, json=_error("A recording answers messages only."))
        asked, parts = _asked.get(), take_apart(json.loads(request.content))
        asked.request = parts.last, parts.fields_id
        row, reply = self._next(asked.request)
        asked.row = row
        if row is None or row.error:
            return httpx2.Response(400, json=_error("recorded as failed" if row else "not recorded"))
        return httpx2.Response(200, content=reply, headers={"content-type": "application/json"})

    def _next(self, request: Request) -> tuple[CallRow | None, str | None]:
        with self._lock:
            waiting = self._waiting.get(request)
            call_id = waiting.popleft() if waiting else None
        found = None if call_id is None else self._store.outcome(call_id)
        return found or (None, None)

    def _why(self, call: Call, request: Request) -> str:
        if times := self._recorded.get(request):
            often = "once" if times == 1 else f"{times:,} times"
            return (f"The recording has this request of the step {call.step or 'without a name'} {often}, and it was "
                    f"made once more, so there is no answer left. {_WHAT_NOW}")
        nearest = [(row, self._store.exchange(row.id)[0])
                   for row in self._store.calls_like(self._run_ids, call.step, call.subject)]
        return f"{difference(call, nearest)}{self._early_end()} {_WHAT_NOW}"

    def _early_end(self) -> str:
        """What else may be the reason."""
        ended = [run for run_id in self._run_ids if (run := self._store.run(run_id)) and run.status != "done"]
        return f" The recorded {ended[0].shape} did not come to its end ({ended[0].status})." if ended else ""


def _beginnings(calls: Sequence[Asked]) -> dict[int, float]:
    """When each call began, by its id. The time that a run lay still before it was resumed is left out."""
    began: dict[int, float] = {}
    left_out: Counter[str] = Counter()
    ended: dict[str, float] = {}
    for call in sorted(calls, key=lambda call: call.started):
        idle = call.started - ended.get(call.run_id, call.started)
        if idle > LONGEST_IDLE:
            left_out[call.run_id] += idle
        began[call.call_id] = call.started - left_out[call.run_id]
        ended[call.run_id] = max(call.started + call.seconds, ended.get(call.run_id, 0.0))
    return began


def _recorded_error(row: CallRow) -> errors.PlaygroundError:
    """As it was raised then, by the name that `ledger` wrote before its words."""
    name, _, words = row.error.partition(": ")
    kind = getattr(errors, name, None)
    if not isinstance(kind, type) or not issubclass(kind, errors.CallError | errors.RunEnded) or (
            issubclass(kind, errors.AgentError)):
        return errors.CallError(row.error)
    error = kind(words)
    if isinstance(error, errors.NotMessagesApi):
        error.refused = row.usd == 0
    return error


def _error(words: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": words}}
