"""Notes that the agent keeps in its own turns where the prompt asks for them; they outlive the results they are of."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from lib.simulated.mind.results import Done, Seen, rows

_ASKED = re.compile(
    r"(?<!not )(?<!n't )(?<!never )(?<!without )(?:"
    r"\b(?:note|write|jot|noting|writing)\b(?! that| to)[^.\n]{0,40}\bdown\b"
    r"|\bnote (?:its|the|each|every|what|which|their|your|all|any|both)\b"
    r"|\b(?:take|taking|make|making|keep|keeping|write|writing) (?:\w+ ){0,3}notes?\b"
    r"|\b(?:keep|keeping|maintain|maintaining) (?:a|your|the) (?:\w+ ){0,2}(?:list|log|record|tally|table)\b"
    r"|\b(?:record|jot|log) (?:its|the|each|every|their|your)\b"
    r"|\bafter (?:each|every|reading)\b[^.\n]{0,40}\b(?:state|say|write|list|repeat|report|print|tell|jot)\b"
    r"|\b(?:state|say|write|repeat|report|output|print)\b[^.\n]{0,60}\bafter (?:each|every|reading)\b"
    r"|\bnotier\w*|\bnotizen\b|\bhalte?\b[^.\n]{0,60}\bfest\b|\bschreib\w*\b[^.\n]{0,60}\bauf\b"
    r"|\bführe?\b[^.\n]{0,40}\bliste\b|\banot[ae]\w*|\bapunt[ae]\w*|\bnotez\b)", re.I)
_READ = re.compile(r"^(\S.*?): (\S.*) \((.*?), (.*)\)$")
_LISTED = re.compile(r"^Listed: (.+)$")
_COUNTED = re.compile(r"^Counted: (.+) = (\d+) tickets, (\d+) customers$")
_INCIDENT = re.compile(r"^Incident: (.+)$")
_UNKNOWN = "-"              # stands for a customer or product that a ticket does not name
_INCIDENT_LIMIT = 240       # characters of a noted incident


@dataclass(frozen=True)
class Noted:
    """What one turn's text has written down."""

    tickets: tuple[Seen, ...] = ()
    counts: tuple[tuple[str, tuple[int, int]], ...] = ()        # cause, its tickets and customers as counted by a tool
    incidents: tuple[str, ...] = ()


def asked_for(text: str) -> bool:
    """Whether a prompt asks to note down what is found."""
    return bool(_ASKED.search(text))


def written(done: Sequence[Done], known: Callable[[str], Seen]) -> str:
    """The notes on these results; `known` gives a ticket with its cause, "" as long as it has not been read."""
    return "\n".join(line for d in done if not d.failed for line in _lines(d, known))


def _lines(done: Done, known: Callable[[str], Seen]) -> list[str]:
    if done.need in ("list", "read", "search"):
        return _of_tickets([known(t.id) for t in done.tickets])
    if done.need == "tally":
        return [f"Counted: {row['cause']} = {row['count']} tickets, {row.get('customers') or 0} customers"
                for row in rows(done.result) if "cause" in row and "count" in row]
    if done.need == "incidents":
        return [f"Incident: {_one_line(incident)[:_INCIDENT_LIMIT]}" for incident in incidents_in(done)]
    return []


def _of_tickets(tickets: Sequence[Seen]) -> list[str]:
    judged = [f"{t.id}: {t.cause} ({t.customer or _UNKNOWN}, {_one_line(t.product) or _UNKNOWN})"
              for t in tickets if t.cause]
    listed = [t.id for t in tickets if not t.cause]
    return judged + ([f"Listed: {', '.join(listed)}"] if listed else [])


def incidents_in(done: Done) -> list[str]:
    """Title and detail of every incident in a result."""
    return [f"{row.get('title') or row.get('name') or ''}: {row.get('detail') or row.get('description') or ''}"
            for row in rows(done.result)]


def _one_line(text: str) -> str:
    return " ".join(text.split())


@lru_cache(maxsize=4_096)
def read(text: str) -> Noted:
    """The notes in a turn's text; other text is passed over."""
    tickets, counts, incidents = [], [], []
    for line in text.splitlines():
        if found := _COUNTED.match(line):
            counts.append((found[1], (int(found[2]), int(found[3]))))
        elif found := _INCIDENT.match(line):
            incidents.append(found[1])
        elif found := _LISTED.match(line):
            tickets += [Seen(id) for id in found[1].split(", ")]
        elif found := _READ.match(line):
            tickets.append(Seen(found[1], customer=_known(found[3]), product=_known(found[4]), cause=found[2]))
    return Noted(tuple(tickets), tuple(counts), tuple(incidents))


def _known(text: str) -> str:
    return "" if text == _UNKNOWN else text
