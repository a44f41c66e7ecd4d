"""On resume, answers the calls that the run has already paid for from the run store.

Belongs outside the ledger and the budget, so that a reused answer is neither written nor charged again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from lib.client.correct import calls_a_tool, exchange, problem
from lib.client.layers import Call, Layer, Next
from lib.messages import correction, get, text_of, utf8
from lib.runs.store import Store
from lib.stop_reasons import FINAL, WHOLE


def reuse(store: Store, run_id: str, count: Callable[[], None] = lambda: None) -> Layer:
    """Gives the n-th call with a certain request the n-th good reply that the run got to it before this layer was made;
    a call beyond that is sent. A reply that was cut off, refused or empty is no good and is asked for again; so is one
    that the step does not accept (`call.accepts`), unless the run went on from it: then its retry is reused, too.

    It notes so in `sent.reused`, and calls `count`: who finds such a reply invalid may make the same call once more.
    """
    until = store.last_call(run_id)
    given: set[int] = set()
    lock = threading.Lock()

    def next_reply(call: Call) -> dict[str, Any] | None:
        finished = store.finished(run_id, call.request, until)
        with lock:
            for call_id, reply in finished:
                if call_id not in given and is_whole(reply) and (not wrong_with(call, reply) or went_on(call, reply)):
                    given.add(call_id)
                    return reply
        return None

    def went_on(call: Call, reply: dict[str, Any]) -> bool:
        retries = [{**call.request, "messages": messages} for messages in _retries(call, reply)]
        return any(store.finished(run_id, retry, until) for retry in retries)

    def answer(call: Call, call_next: Next) -> Any:
        reply = next_reply(call) if until else None
        if reply is None:
            return call_next(call)
        call.sent.reused = True
        count()
        return as_message(reply)

    return answer


def is_whole(reply: dict[str, Any]) -> bool:
    """Whether a stored reply came to its end and says something."""
    stop = get(reply, "stop_reason")
    return stop in WHOLE and (stop == "pause_turn" or calls_a_tool(reply)
                              or (stop in FINAL and bool(text_of(reply).strip())))


def wrong_with(call: Call, reply: dict[str, Any]) -> ValueError | None:
    """Why the step could not use a whole stored reply now; None when it could."""
    if call.accepts is None or call.request.get("tools"):
        return call.accepts and problem(call.accepts, reply)
    if get(reply, "stop_reason") not in FINAL:
        return ValueError("it asks for a tool, and there is none")
    try:
        call.accepts(text_of(reply))
    except ValueError as wrong:
        return wrong
    return None


def as_message(reply: dict[str, Any]) -> Any:
    """The reply as the SDK would have made it from the wire: known blocks typed, unknown fields kept."""
    from anthropic.types import Message

    return Message.construct(**reply)


def _retries(call: Call, reply: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
    """How the step's owner would go on from an answer that it does not accept: `prompt_map` shows the model its last
    bad answer alone, `correct` all of them."""
    wrong, messages = wrong_with(call, reply), call.request["messages"]
    yield [messages[0], {"role": "assistant", "content": utf8(text_of(reply))},
           {"role": "user", "content": correction(wrong)}]
    yield [*messages, *exchange(reply, wrong)]
