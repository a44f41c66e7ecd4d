"""How a simulated reply is chosen: rules over the text of the request, nothing else. It sees what a model would see.

`reading` says what a request asks for. Without tools `judging` and `labelling` name a cause, `merging` and
`summarising` do what they say, and `answers` puts it into the shape that was asked for. With tools `toolbox` judges
which tool serves which need, `memory` what the conversation has shown, and `investigating` what comes next.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lib.simulated.conditions import Conditions
from lib.simulated.mind import choices, investigating, reading
from lib.simulated.mind.answers import HONEST, asks_for, reply_text
from lib.simulated.mind.judging import judge, severity
from lib.simulated.mind.labelling import label_from
from lib.simulated.mind.merging import merge
from lib.simulated.mind.own_words import language_of
from lib.simulated.mind.reading import Ask
from lib.simulated.mind.summarising import summarise

_LABELLING = re.compile(
    r"(?:\b|_)(cause|label|categor|classif|problem|issue|topic|theme|reason|triage|tag\b|complain|ursache|grund|kategori|"
    r"klassifi|thema|einordn|causa|motivo|raison|etiquet|étiquet|clasific)", re.I)


def answer(request: Mapping[str, Any], conditions: Conditions | None = None) -> list[dict[str, Any]]:
    """The content blocks of the reply, tool calls without their ids."""
    ask = reading.read(request)
    if request.get("tools") and (request.get("tool_choice") or {}).get("type") != "none":
        return investigating.next_step(request, ask, conditions or Conditions())
    said = _text(ask, request["model"]) or _nothing(ask, request)
    return [{"type": "text", "text": said}]


def _nothing(ask: Ask, request: Mapping[str, Any]) -> str:
    """What is said to anything else; where the API guarantees a schema, in its shape."""
    if (request.get("output_config") or {}).get("format"):
        return reply_text(ask, {"summary": HONEST}, HONEST, ask.data)
    return HONEST


def _text(ask: Ask, model_id: str) -> str:
    """The answer to one of the kinds of work that the rules know, "" for any other."""
    if reading.has_labels(ask.data):
        return _merged(ask)
    if reading.has_cause(ask.data):
        return _summarised(ask)
    if _asks_for_label(ask):
        return _labelled(ask, model_id)
    return ""


def _asks_for_label(ask: Ask) -> bool:
    """Whether a text is meant as a ticket to label: it has a ticket's tags and the prompt asks for nothing else, or the
    prompt speaks of causes and the text is long enough. A correction says what is wanted as well."""
    wanted = _LABELLING.search(f"{ask.system}\n{ask.last if ask.asked_again else ''}")
    if reading.has_tickets(ask.data):
        return bool(wanted) or not ask.system.strip()
    return bool(wanted) and len(ask.data.split()) > 5 and not investigating.asks_for_causes(ask.data)


def _labelled(ask: Ask, model_id: str) -> str:
    ticket = reading.tickets(ask.data)[0]
    found = judge(ask.system, ticket.subject, ticket.body, tagged=reading.tagged(ask.data), model_id=model_id,
                  allowed=choices.shown(ask.template))
    if ask.asked_again and "several" in ask.last:
        found = replace(found, cause=re.split(r"\s*[/|;,]\s*", found.cause, maxsplit=1)[0])
    facts = {"cause": found.cause, "evidence": found.evidence, "ticket_id": ticket.id, "confidence": found.confidence,
             "summary": f"The customer reports {found.cause}."}
    if asks_for("language", ask.template):
        facts["language"] = language_of(ticket.subject, ticket.body)
    if asks_for("severity", ask.template):
        facts["severity"] = severity(ticket.subject, ticket.body)
    prose = f"The root cause looks like {found.cause}: the customer writes “{found.evidence}”."

    def choose(options: Sequence[str]) -> str:
        return label_from({option: option for option in options}, ticket.subject, ticket.body).cause

    return reply_text(ask, facts, prose, ticket.subject + ticket.body, choose)


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
