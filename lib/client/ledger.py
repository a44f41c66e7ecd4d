"""One row in the run store per call that was sent, written before the caller gets the reply.

Belongs directly around the connection, inside every layer that may answer, refuse or repeat a call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lib.client.billing import may_have_been_billed
from lib.client.layers import Call, Layer, Next, Sent
from lib.client.timeline import Timeline
from lib.errors import BudgetReached, Stopped
from lib.messages import get
from lib.runs.store import CallRow, Store
from lib.usage.reported import Usage, reported

Price = Callable[..., float | None]     # price(model, fresh=, write_5m=, write_1h=, read=, output=) -> USD


def ledger(store: Store, run_id: str, timeline: Timeline, price: Price = lambda model, **tokens: None) -> Layer:
    """Writes every call of the run, failed ones too, with the tokens its reply reports and their price."""
    def record(call: Call, call_next: Next) -> Any:
        call.sent.began = timeline.begin(call.step, call.after, call.subject)

        def write(reply: Any, **fields: Any) -> None:
            started = call.sent.began       # a replay puts it where the recorded call began
            seconds = timeline.end(started, call.sent.seconds)
            store.add_call(CallRow(
                id=0, run_id=run_id, step=call.step, subject=call.subject, model=call.request.get("model", ""),
                started=started, seconds=seconds, attempts=call.sent.attempts or 1,
                waited=min(call.sent.waited, seconds), **fields,
            ), call.request, reply)

        try:
            reply = call_next(call)
        except BaseException as error:
            if not _held_back(error, call.sent):
                write(None, **_failed(error, call.sent))
            raise
        write(reply, **_answered(reply, call.request.get("model", ""), price))
        return reply

    return record


def _answered(reply: Any, model: str, price: Price) -> dict[str, Any]:
    usage = reported(reply)
    usd = price(model, fresh=usage.fresh, write_5m=usage.write_5m, write_1h=usage.write_1h, read=usage.cache_read,
                output=usage.output)
    return {**vars(usage), "stop_reason": get(reply, "stop_reason"), "usd": usd}


def _held_back(error: BaseException, sent: Sent) -> bool:
    """A layer did not let the call through, so there is nothing to record. One that was stopped while it waited for a
    busy server is none of these: it was sent and refused."""
    return isinstance(error, Stopped | BudgetReached) and not sent.attempts


def _failed(error: BaseException, sent: Sent) -> dict[str, Any]:
    name = type(error).__name__
    return {**vars(Usage()), "stop_reason": None, "usd": None if may_have_been_billed(error, sent) else 0.0,
            "error": f"{name}: {error}" if str(error) else name}
