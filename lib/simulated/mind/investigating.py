"""The agent's next step, decided from the conversation alone: list, read, count, look at incidents, answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lib.simulated.conditions import Conditions
from lib.simulated.mind import counting, looking, notes, reading
from lib.simulated.mind.answers import HONEST, reply_text
from lib.simulated.mind.counting import Found
from lib.simulated.mind.labelling import label
from lib.simulated.mind.memory import Memory, remember
from lib.simulated.mind.reading import Ask
from lib.simulated.mind.results import Seen
from lib.simulated.mind.summarising import summarise
from lib.simulated.mind.toolbox import Offered, offered, others, toolbox

_SAID = {"list": "I'll start by listing the tickets.", "search": "No tool lists tickets, so I'll search for them.",
         "read": "Now I'll read every ticket.", "tally": "All tickets are read; now I'll count the causes.",
         "incidents": "I'll check which incidents may explain the main causes.",
         "other": "This may tell something of the main cause."}
_NOT_THIS_ONE = "That tool does something else, although its description says the same. I'll use {name}."
_CAUSES = (r"(?:causes?|reasons?|complaints?|problems?|issues?|topics?|themes?|categor\w+|complain\w*|wrong|"
           r"trouble\w*|ursachen?|gründe|probleme?|themen|causas?|motivos|raisons)")
_RANKED = (r"(?:common\w*|frequent\w*|top|main|biggest|root|most|often|major|recurring|largest|important|rank\w*|"
           r"group\w*|find|investigat\w*|analy[sz]e\w*|häufig\w*|wichtig\w*|frecuentes?|fréquent\w*|principal\w*)")
_ASKS_FOR_CAUSES = re.compile(rf"\b{_CAUSES}\b[^.?!\n]{{0,60}}\b{_RANKED}\b|\b{_RANKED}\b[^.?!\n]{{0,60}}\b{_CAUSES}\b"
                              r"|\bwhat goes wrong\b", re.I)
_ASKS = re.compile(r"\?|^\W*(?:who|which|what|how|where|when|why|summari|translat|writ|tell|list|show|give|hello|hi\b|"
                   r"hey|thank|draft|reply|explain|name|wer|welche|was|wie|wo\b|schreib|nenn|hallo)", re.I)
_OF_ONE = re.compile(r"\b(?:customer|client|account|ticket|case|product) #?[A-Za-z]{0,4}[-_#]?\d+\b", re.I)
_QUESTION = 4_000           # characters of a question that are read
_CONFUSED_FROM = 2          # calls made before a confused model begins to repeat the last
_NO_INCIDENTS = re.compile(r"\b(?:do not|don't|never|without) (?:look(?:ing)? (?:up|at|for)|check\w*|us\w+|list\w*|"
                           r"open\w*)[^.\n]{0,20}\bincidents?\b", re.I)
_UNREAD = re.compile(r"\b(?:do not|don't|never|without) read(?:ing)?\b(?! it\b)"
                     r"|\bby (?:its|their|the) subjects? (?:only|alone)\b", re.I)


def next_step(request: Mapping[str, Any], ask: Ask, conditions: Conditions) -> list[dict[str, Any]]:
    """The blocks of the reply: one tool call, several where that is allowed, or the final text."""
    tools = toolbox(request["tools"], ask.system) if _wants_causes(ask) else {}
    memory = remember(request["messages"], tools)
    forced = _forced(request) or conditions.confused and _repeated(memory, request)
    if forced:
        return [forced]
    for need, tool, inputs in _plan(memory, tools, ask, request):
        says = _says(memory, need, tool, tools.get(need, tool))
        said = "\n".join(filter(None, (_notes(memory, tools, ask, request), says)))
        text = [{"type": "text", "text": said}] if said else []
        return text + [{"type": "tool_use", "name": tool.name, "input": i} for i in inputs]
    if (request.get("tool_choice") or {}).get("type") == "any":
        return [_bare_call(request["tools"][0])]
    return [{"type": "text", "text": _final(memory, ask, request) if _wants_causes(ask) else HONEST}]


def asks_for_causes(question: str) -> bool:
    """Whether somebody asks what is behind many tickets, or which problems are the most frequent."""
    return bool(_ASKS_FOR_CAUSES.search(question[:_QUESTION]))


def _wants_causes(ask: Ask) -> bool:
    """Whether the question asks for the causes of all tickets, or leaves it to the prompt, which does."""
    question = ask.data[:_QUESTION]
    if _OF_ONE.search(question):
        return False
    return asks_for_causes(question) or not _ASKS.search(question) and asks_for_causes(ask.system)


def _forced(request: Mapping[str, Any]) -> dict[str, Any] | None:
    """The call that tool_choice `tool` demands, its arguments no better than the schema's defaults."""
    choice = request.get("tool_choice") or {}
    tool = next((t for t in request["tools"] if choice.get("type") == "tool" and t["name"] == choice.get("name")), None)
    return _bare_call(tool) if tool else None


def _bare_call(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "name": tool["name"], "input": offered(tool).with_defaults({})}


def _repeated(memory: Memory, request: Mapping[str, Any]) -> dict[str, Any] | None:
    """The last call once more, whatever came of it."""
    last = memory.done[-1] if len(memory.done) >= _CONFUSED_FROM else None
    if last is None or last.tool not in {tool["name"] for tool in request["tools"]}:
        return None
    return {"type": "tool_use", "name": last.tool, "input": dict(last.input)}


# --- what is left to do ----------------------------------------------------------------------------------------------


def _plan(memory: Memory, tools: Mapping[str, Offered], ask: Ask, request: Mapping[str, Any]
          ) -> Iterator[tuple[str, Offered, list[dict[str, Any]]]]:
    """What is still to be done, the next thing first, as (need, tool, arguments of its calls). Of tools that say the
    same of themselves, the wrong ones are tried first, once each."""
    for need, inputs in _needed(memory, tools, ask, request):
        wrong = _taken_for(memory, tools[need])
        if inputs and wrong:
            yield need, wrong, [looking.mistaken(memory, need, wrong)]
        elif inputs:
            yield need, tools[need], inputs
    if memory.tickets:
        for tool in others(request["tools"], ask.system):
            if inputs := looking.next_other(memory, tool, counting.causes(memory, ask, request["model"])):
                yield "other", tool, inputs


def _needed(memory: Memory, tools: Mapping[str, Offered], ask: Ask, request: Mapping[str, Any]
            ) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    model_id = request["model"]
    if "list" in tools:
        yield "list", looking.next_page(memory, tools["list"])
    elif "search" in tools:
        yield "search", looking.next_query(memory, tools["search"])
    if _reads(tools, ask):
        yield "read", looking.next_reads(memory, tools["read"], model_id, ask.system, looking.calls_at_once(request))
    if "tally" in tools and memory.tickets:
        yield "tally", counting.tally(memory, tools["tally"], counting.placed(memory, ask, model_id))
    if "incidents" in tools and memory.tickets and not _NO_INCIDENTS.search(ask.system):
        causes = counting.causes(memory, ask, model_id)
        yield "incidents", looking.next_incidents(memory, tools["incidents"], causes, model_id)


def _reads(tools: Mapping[str, Offered], ask: Ask) -> bool:
    return "read" in tools and not _UNREAD.search(ask.system)


def _taken_for(memory: Memory, tool: Offered) -> Offered | None:
    """A tool that says the same as the right one, as long as neither has shown what it does."""
    called = {d.tool for d in memory.done}
    return None if tool.name in called else next((t for t in tool.twins if t.name not in called), None)


def _says(memory: Memory, need: str, tool: Offered, right: Offered) -> str:
    """What it says before the first call for a need."""
    if memory.calls(tool):
        return ""
    tried = {d.tool for d in memory.done[-len(right.twins):]} if right.twins else set()
    return _NOT_THIS_ONE.format(name=tool.name) if tried & {t.name for t in right.twins} else _SAID[need]


def _notes(memory: Memory, tools: Mapping[str, Offered], ask: Ask, request: Mapping[str, Any]) -> str:
    """What the last results have brought, written down where the prompt asks for that."""
    if not notes.asked_for(f"{ask.system}\n{ask.data}"):
        return ""
    reads = _reads(tools, ask)

    def known(id: str) -> Seen:
        ticket = memory.tickets[id]
        return ticket if reads and not ticket.body else replace(
            ticket, cause=counting.cause_of(ticket, ask, request["model"]))

    return notes.written(memory.latest, known)


# --- the answer ------------------------------------------------------------------------------------------------------


def _final(memory: Memory, ask: Ask, request: Mapping[str, Any]) -> str:
    causes = counting.causes(memory, ask, request["model"])
    incidents = _incidents(memory)
    rows = [_row(found, incidents) for found in causes]
    lines = "\n".join(f"{i}. {r['cause']} ({r['count']} tickets)" for i, r in enumerate(rows, 1))
    prose = f"The most common causes are:\n{lines}" if rows else "I found no tickets with the tools I have."
    return reply_text(ask, {"groups": rows, "count": len(memory.tickets)}, prose, ask.data)


def _row(found: Found, incidents: Sequence[str]) -> dict[str, Any]:
    tickets = [reading.Ticket(t.id, t.subject, t.body) for t in found.tickets]
    summary = summarise(found.cause, found.count, tickets, incidents)
    return {"cause": found.cause, "count": found.count, "ticket_ids": [t.id for t in tickets],
            "customers": found.customers,
            "customer_ids": list(dict.fromkeys(t.customer for t in found.tickets if t.customer)),
            "summary": summary.text, "evidence": label(tickets[0].subject, tickets[0].body).evidence}


def _incidents(memory: Memory) -> list[str]:
    """Title and detail of every incident that was looked up and is still in sight or noted."""
    seen = [text for d in memory.of("incidents") if not d.failed for text in notes.incidents_in(d)]
    return seen + memory.incidents
