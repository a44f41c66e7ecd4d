"""Which cause each ticket has and how many have it: counted by a tool where one did, else by the agent itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lib.models import model
from lib.simulated.mind import results
from lib.simulated.mind.chance import chance, number
from lib.simulated.mind.judging import judge
from lib.simulated.mind.memory import Memory
from lib.simulated.mind.merging import merge, names_by_label
from lib.simulated.mind.reading import Ask
from lib.simulated.mind.results import Done, Seen
from lib.simulated.mind.toolbox import Offered, items_of

_LOOSE = {"small": 40, "medium": 100}        # one ticket in so many keeps its own wording; larger models merge all
_MISCOUNTS_FROM = {"medium": 12, "large": 25}   # tickets: more are not counted reliably without a tool
_SMALL_MISCOUNTS_FROM = 6
_NUMBERS = {w: i for i, w in enumerate("one two three four five six seven eight nine ten".split(), 1)}
_NUMBERS |= {w: i for i, w in enumerate("eine zwei drei vier fünf sechs sieben acht neun zehn".split(), 1)}
_DEFAULT_K = 5
_NUMBER = rf"(\d{{1,4}}|{'|'.join(_NUMBERS)})"
_HOW_MANY = re.compile(
    rf"\b(?:top|the|only) {_NUMBER} (?:most (?:common|frequent)|(?:root )?causes)|\b(?:top|häufigsten) {_NUMBER}\b"
    rf"|\b{_NUMBER} (?:most common|häufigsten)|\b{_NUMBER} (?:ursachen|causas|causes)\b", re.I)
_THE_ONE = re.compile(r"\bis the most common\b|\bthe single most\b", re.I)
_TALLIES = 2                # calls, empty ones too, after which the tool is given up


@dataclass(frozen=True)
class Found:
    """One cause as the agent sees it."""

    cause: str
    tickets: tuple[Seen, ...]
    count: int
    customers: int


def cause_of(ticket: Seen, ask: Ask, model_id: str) -> str:
    """What the agent has written down, or thinks of the text that it sees; "" where it sees none."""
    if ticket.cause or not (ticket.subject or ticket.body):
        return ticket.cause
    return judge(ask.system, ticket.subject, ticket.body, tagged=True, model_id=model_id).cause


def placed(memory: Memory, ask: Ask, model_id: str) -> dict[str, str]:
    """Ticket id -> cause: as last passed to the tally, else for every ticket seen, near-synonyms merged; smaller models
    leave a few as they were."""
    passed = [placement for d in _tallies(memory) if (placement := _passed(d))]
    if passed:
        return passed[-1]
    own = {id: cause for id, ticket in memory.tickets.items() if (cause := cause_of(ticket, ask, model_id))}
    merged = names_by_label(merge(Counter(own.values()).items()))
    loose = _LOOSE.get(model(model_id).size, 0)
    return {id: cause if loose and chance(id, loose) else merged[cause] for id, cause in own.items()}


def tally(memory: Memory, tool: Offered, placement: Mapping[str, str]) -> list[dict[str, Any]]:
    """One call with every assignment; after an error one more, with the causes in the plainest form."""
    done = _tallies(memory)
    given_up = len(done) > 1 or len(memory.of("tally")) > _TALLIES
    if not placement or given_up or any(not d.failed for d in done):
        return []
    name = tool.parameter(r".*", "array") or next(iter(tool.properties), "assignments")
    fields = items_of(tool.properties.get(name, {})).get("properties") or {}
    id_field = next((f for f in fields if re.search(r"ticket|id|key", f)), "ticket_id")
    cause_field = next((f for f in fields if f != id_field and re.search(r"cause|label|categ|topic|group", f)), "cause")
    rows = [{id_field: id, cause_field: _plainest(c) if done else c} for id, c in placement.items()]
    return [tool.with_defaults({name: rows})]


def _tallies(memory: Memory) -> list[Done]:
    """Calls of the tally that passed something to count."""
    return [d for d in memory.of("tally") if any(d.input.values())]


def _passed(done: Done) -> dict[str, str]:
    """Ticket id -> cause as a call of the tally has it: the agent's own words, which stay in the conversation."""
    pairs = (list(row.values()) for row in results.rows(done.input))
    return {str(pair[0]): str(pair[1]) for pair in pairs if len(pair) == 2}


def _plainest(cause: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", cause.lower()))[:60].strip() or "other"


def causes(memory: Memory, ask: Ask, model_id: str) -> list[Found]:
    """The most common causes, counted by the tally where there was one, else by the agent itself."""
    groups: dict[str, list[Seen]] = {}
    for id, cause in placed(memory, ask, model_id).items():
        groups.setdefault(cause, []).append(memory.tickets.get(id, Seen(id)))
    counted = _tallied(memory)
    found = [Found(cause, tuple(seen), *counted.get(cause) or by_itself(cause, seen, model_id))
             for cause, seen in groups.items()]
    found.sort(key=lambda f: (-f.count, f.cause))
    return found[:_asked_for(ask)]


def _tallied(memory: Memory) -> dict[str, tuple[int, int]]:
    """Cause -> (tickets, customers) as the last tally says, where it still stands, or as it was noted."""
    result = next((d.result for d in reversed(memory.of("tally")) if not d.failed), None)
    rows = [row for row in results.rows(result)
            if isinstance(row.get("cause"), str) and isinstance(row.get("count"), int)]
    return memory.counts | {row["cause"]: (row["count"], row.get("customers") or 0) for row in rows}


def by_itself(cause: str, seen: Sequence[Seen], model_id: str) -> tuple[int, int]:
    """Tickets and customers counted without a tool: large groups come out too large or too small, by more the larger
    they are."""
    customers = len({t.customer for t in seen if t.customer})
    sure_below = _MISCOUNTS_FROM.get(model(model_id).size, _SMALL_MISCOUNTS_FROM)
    if len(seen) < sure_below:
        return len(seen), customers
    drift = number(cause, len(seen) // sure_below)
    return len(seen) + (drift if chance(cause, 2) else -drift), customers


def _asked_for(ask: Ask) -> int:
    """How many causes the prompt wants, else the question."""
    return _number_in(ask.system) or _number_in(ask.data) or _DEFAULT_K


def _number_in(text: str) -> int:
    """The number of causes that a text asks for, 0 where it does not say."""
    found = _HOW_MANY.search(text)
    if not found:
        return int(bool(_THE_ONE.search(text)))
    word = next(filter(None, found.groups())).lower()
    return int(word) if word.isdigit() else _NUMBERS[word]
