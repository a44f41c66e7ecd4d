"""How a simulated reply is chosen: rules over the text of the request, nothing else. It sees what a model would see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lib.simulated.mind import investigating, reading
from lib.simulated.mind.answers import reply_text
from lib.simulated.mind.labelling import label, label_from
from lib.simulated.mind.merging import merge
from lib.simulated.mind.reading import Ask
from lib.simulated.mind.summarising import summarise
from lib.simulated.mind.text import words

HONEST = ("This is a simulation: its rules label tickets, merge labels, summarise causes and investigate tickets with "
          "tools, but they cannot answer this.")


def answer(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The content blocks of the reply, tool calls without their ids."""
    ask = reading.read(request)
    if request.get("tools") and (request.get("tool_choice") or {}).get("type") != "none":
        return investigating.next_step(request, ask)
    return [{"type": "text", "text": _text(ask)}]


def _text(ask: Ask) -> str:
    if reading.has_labels(ask.data):
        return _merged(ask)
    if reading.has_cause(ask.data):
        return _summarised(ask)
    if reading.has_tickets(ask.data) or _asks_for_label(ask):
        return _labelled(ask)
    return HONEST


def _asks_for_label(ask: Ask) -> bool:
    """Whether an untagged text is meant as a ticket: the prompt speaks of causes or labels, the text is long enough."""
    wanted = {"cause", "causes", "label", "labels", "category", "classify", "categorise", "categorize"}
    return bool(wanted & set(words(ask.system))) and len(ask.data.split()) > 5


def _labelled(ask: Ask) -> str:
    ticket = reading.tickets(ask.data)[0]
    allowed = reading.allowed_causes(ask.system)
    found = label_from(allowed, ticket.subject, ticket.body) if allowed else label(ticket.subject, ticket.body)
    facts = {"cause": found.cause, "evidence": found.evidence, "ticket_id": ticket.id, "confidence": 0.8,
             "summary": f"The customer reports {found.cause}.", "count": 1, "ticket_ids": [ticket.id]}
    prose = f"The root cause looks like {found.cause}: the customer writes “{found.evidence}”."
    return reply_text(ask, facts, prose, ticket.subject + ticket.body)


def _merged(ask: Ask) -> str:
    groups = merge(reading.labels(ask.data))
    rows = [{"cause": g.cause, "labels": list(g.labels), "count": g.count} for g in groups]
    lines = "\n".join(f"- {g.cause}: {', '.join(g.labels)}" for g in groups)
    return reply_text(ask, {"groups": rows}, f"These labels name {len(groups)} causes:\n{lines}", ask.data)


def _summarised(ask: Ask) -> str:
    name, count = reading.cause(ask.data)
    tickets = reading.tickets(ask.data) if reading.has_tickets(ask.data) else []
    found = summarise(name, len(tickets) if count is None else count, tickets, reading.incidents(ask.data))
    facts = {"cause": name, "summary": found.text, "ticket_ids": list(found.ticket_ids),
             "count": len(tickets) if count is None else count}
    return reply_text(ask, facts, found.text, ask.data)
