"""Answers a call from an earlier run that made just the same request to the same address: nothing is sent or paid.

Belongs inside stop and resume, outside the budget and the ledger: it writes the row of what it answers itself.
"""

from __future__ import annotations

import threading
from typing import Any

from lib.client.correct import calls_a_tool
from lib.client.layers import Call, Layer, Next
from lib.client.reuse import as_message, is_whole, wrong_with
from lib.client.timeline import Timeline
from lib.messages import get
from lib.runs.conversations import take_apart
from lib.runs.store import SIMULATED_ANSWERS, Answer, CallRow, Run, Store
from lib.usage.reported import reported

SOURCES = ("live", "server")    # of a run that may be answered so


def response_cache(store: Store, run: Run, timeline: Timeline, desk: str | None = None) -> Layer:
    """Gives a call the reply that an earlier run got to the same request from the same source and address; with `desk`,
    a run of that desk.

    Only a whole reply is given, and only one that the step accepts now. A retry is always sent, and so is a request
    that the run has made before: whoever asks twice wants another answer. A row with `cached` = 1 is written, at $0 and
    with the reply's tokens.
    """
    asked: set[tuple[Any, bytes]] = set()
    lock = threading.Lock()

    def first_time(request: dict[str, Any]) -> bool:
        parts = take_apart(request)
        with lock:
            known = len(asked)
            asked.add((parts.last, parts.fields_id))
            return len(asked) > known

    def find(call: Call) -> Answer | None:
        if is_retry(call.request) or not first_time(call.request):
            return None
        answers = store.answers_of_others(run, call.request, desk)
        return next((a for a in answers if is_whole(a.reply) and not wrong_with(call, a.reply)), None)

    def answer(call: Call, call_next: Next) -> Any:
        found = find(call)
        if found is None:
            return call_next(call)
        call.sent.reused, call.sent.simulated = True, found.conditions == SIMULATED_ANSWERS
        started = call.sent.began = timeline.begin(call.step, call.after, call.subject)
        reply = as_message(found.reply)
        store.add_call(CallRow(
            id=0, run_id=run.id, step=call.step, subject=call.subject, model=call.request.get("model", ""),
            started=started, seconds=timeline.end(started, 0.0), stop_reason=get(reply, "stop_reason"), usd=0.0,
            attempts=0, cached=1, **vars(reported(reply)),
        ), call.request, reply)
        return reply

    return answer


def is_retry(request: dict[str, Any]) -> bool:
    """Whether the model is told what was wrong with its answer: its last message is no tool call, and a person's words
    follow."""
    messages = request.get("messages") or ()
    if len(messages) < 2:
        return False
    before, last = messages[-2:]
    return get(before, "role") == "assistant" and get(last, "role") == "user" and not calls_a_tool(before)
