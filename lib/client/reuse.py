"""On resume, answers the calls that the run has already paid for from the run store.

Belongs outside the ledger and the budget, so that a reused answer is neither written nor charged again.
"""

from __future__ import annotations

import threading
from typing import Any

from lib.client.layers import Call, Layer, Next
from lib.messages import blocks, get
from lib.runs.store import Store
from lib.stop_reasons import WHOLE


def reuse(store: Store, run_id: str) -> Layer:
    """Gives the n-th call with a certain request the n-th good reply that the run got to it before this layer was made;
    a call beyond that is sent. A reply that was cut off, refused or empty is no good and is asked for again.

    It notes so in `sent.reused`: who finds such a reply invalid may make the same call once more.
    """
    until = store.last_call(run_id)
    given: set[int] = set()
    lock = threading.Lock()

    def next_reply(request: dict[str, Any]) -> dict[str, Any] | None:
        finished = store.finished(run_id, request, until)
        with lock:
            for call_id, reply in finished:
                if call_id not in given and _good(reply):
                    given.add(call_id)
                    return reply
        return None

    def answer(call: Call, call_next: Next) -> Any:
        reply = next_reply(call.request) if until else None
        if reply is None:
            return call_next(call)
        call.sent.reused = True
        return _message(reply)

    return answer


def _good(reply: dict[str, Any]) -> bool:
    stop = get(reply, "stop_reason")
    says = any(get(b, "text") or get(b, "type", "").endswith("tool_use") for b in blocks(reply))
    return stop in WHOLE and (says or stop == "pause_turn")


def _message(reply: dict[str, Any]) -> Any:
    """The reply as the SDK would have made it from the wire: known blocks typed, unknown fields kept."""
    from anthropic.types import Message

    return Message.construct(**reply)
