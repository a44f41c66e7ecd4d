"""The requests that a recorded run would have sent under another policy.

They are made by the layers that make them in a real run, with nobody at the other end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lib.client import compact
from lib.client.caching import marked
from lib.client.context import clear_old_results, cut_rows, without_thinking
from lib.client.layers import Call, Layer, LayeredClient, Next, layered, with_defaults
from lib.messages import blocks, get
from lib.usage.tokens import estimate_request
from lib.usage.what_if.policy import AGENT, Exchange, Policy

SUMMARY_WORDS = 500         # of the summary that stands for a compacted conversation
FINDING = "its cause in a few words"        # what a note says of each ticket read before, with its id
_SUMMARY = [{"type": "text", "text": " ".join(["word"] * SUMMARY_WORDS)}]
_TICKETS = ("ticket_id", "ticket_ids")      # the arguments by which the agent's tools read tickets


@dataclass(frozen=True)
class Asked:
    """One request of the changed run, in place of a recorded one or added before it."""

    request: Mapping[str, Any]
    reply: Sequence[Mapping[str, Any]]
    added: bool = False


def asked_under(policy: Policy, exchanges: Iterable[Exchange]) -> Iterator[tuple[Exchange, list[Asked]]]:
    """For each recorded call, in the order given, what is sent instead: one request, or a summarising one before it."""
    sent: list[Call] = []

    def nobody(call: Call) -> dict[str, Any]:
        sent.append(call)
        return {"content": _SUMMARY}

    marks = _marks(policy)
    agent, others = (layered(LayeredClient(nobody), *layers) for layers in ([*_context(policy), *marks], marks))
    for exchange in exchanges:
        sent.clear()
        client = agent if exchange.step == AGENT else others
        client.send(Call(exchange.request, exchange.step, exchange.subject))
        yield exchange, [_asked(call, exchange) for call in sent]


def _asked(call: Call, exchange: Exchange) -> Asked:
    added = call.step == compact.STEP
    return Asked(call.request, _SUMMARY if added else exchange.reply, added)


def _context(policy: Policy) -> list[Layer]:
    return [*([cut_rows(policy.result_rows)] if policy.result_rows else []),
            *([clear_old_results(policy.keep_results)] if policy.keep_results else []),
            *([_fresh_per_ticket] if policy.fresh_per_ticket else []),
            *([compact.compact_above(policy.compact_above, estimate_request)] if policy.compact_above else [])]


def _marks(policy: Policy) -> list[Layer]:
    return [*([with_defaults(model=policy.model)] if policy.model else []),
            *([_unmarked, marked(policy.caching)] if policy.caching is not None else [])]


# --- marks of the recorded run ---------------------------------------------------------------------------------------


def _unmarked(call: Call, call_next: Next) -> Any:
    """Takes every mark for the prompt cache off the request."""
    request = {name: value for name, value in call.request.items() if name != "cache_control"}
    for name in ("tools", "system"):
        if isinstance(request.get(name), list):
            request[name] = _without_marks(request[name])
    request["messages"] = [_unmarked_message(message) for message in request["messages"]]
    return call_next(Call(request, call.step, call.subject, call.stop, call.after, call.sent))


def _unmarked_message(message: Mapping[str, Any]) -> Mapping[str, Any]:
    content = message["content"]
    return message if isinstance(content, str) else {**message, "content": _without_marks(content)}


def _without_marks(parts: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [_without_mark(part) for part in parts]


def _without_mark(part: Mapping[str, Any]) -> Mapping[str, Any]:
    if "cache_control" in part:
        part = {name: value for name, value in part.items() if name != "cache_control"}
    if part.get("type") == "tool_result" and isinstance(part.get("content"), list):
        part = {**part, "content": _without_marks(part["content"])}
    return part


# --- a conversation for each ticket ----------------------------------------------------------------------------------


def _fresh_per_ticket(call: Call, call_next: Next) -> Any:
    """Sends the first message with a note of the tickets read before, and what came since the last one that was read;
    that one with it, if it is what the model is to answer. Before the first ticket everything is sent as it was."""
    first, *rest = call.request["messages"]
    read = [_tickets_read(message) for message in rest]
    turns = [place for place, ids in enumerate(read) if ids]
    if not turns:
        return call_next(call)
    newest = turns[-1]
    begin = newest if newest >= len(rest) - 2 else newest + 2      # a reading message and its results
    noted = [id for ids in read[:begin] for id in ids]
    kept = [without_thinking(message) if message["role"] == "assistant" else message for message in rest[begin:]]
    return call_next(call.with_request(messages=[_with_note(first, noted), *kept]))


def _tickets_read(message: Mapping[str, Any]) -> list[str]:
    """The ids in an assistant's calls that read tickets."""
    given = [get(block, "input", {}) for block in blocks(message) if get(block, "type") == "tool_use"]
    values = [value for arguments in given for name in _TICKETS if (value := get(arguments, name))]
    return [str(id) for value in values for id in (value if isinstance(value, list) else str(value).split(","))]


def _with_note(first: Mapping[str, Any], ids: Sequence[str]) -> Mapping[str, Any]:
    if not ids:
        return first
    lines = "\n".join(f"{id.strip()}: {FINDING}" for id in dict.fromkeys(ids))
    return {**first, "content": [*blocks(first), {"type": "text", "text": f"Found so far:\n{lines}"}]}
