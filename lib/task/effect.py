"""What an edit of a design does to the input tokens and the dollars of a run, field by field. No call is made.

Either a recorded run is held fixed, reply for reply, and asked again in the other design's words: then tokens are those
that two such runs report. Or, before there is a run, two forecasts are held against each other.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from hashlib import blake2b
from itertools import groupby
from typing import Any

from lib.catalog import empty_catalog
from lib.client.caching import OFF
from lib.design import Design, ToolText, reordered
from lib.errors import RunEnded
from lib.remember import known
from lib.task.agent_shape import run_agent_shape
from lib.task.forecast import Part, agent_parts, fault_of, for_an_hour, pipeline_parts
from lib.task.pipeline import label_tickets, merge_labels, summarise
from lib.tickets.ticket import Ticket, TicketSet
from lib.usage.reported import Usage
from lib.usage.tokens import Counted, counted, estimate_request
from lib.usage.what_if import Exchange, Policy, Predicted, predict

MOST_FOUND = 5_000      # figures kept of one recorded run
# Fields that decide which data or how many replies there are: no run with the same replies can tell what they change.
BEHAVIOUR = re.compile(r"k|tags|parallel_tools|keep_results|result_chars|limits\.max_turns|steps\.\w+\.effort")


@dataclass(frozen=True)
class Taken:
    """What the calls of one step take together."""

    calls: int
    input: int
    usd: float | None           # None: not every call has a price


Basis = Callable[[Design], dict[str, Taken]]    # step -> what its calls take under a design


@dataclass(frozen=True)
class Change:
    """A step under one design and under the other."""

    step: str
    before: Taken
    after: Taken

    @property
    def tokens(self) -> int:
        return self.after.input - self.before.input

    @property
    def usd(self) -> float | None:
        if self.before.usd is None or self.after.usd is None:
            return None
        return self.after.usd - self.before.usd


@dataclass(frozen=True)
class Effect:
    """What one field changes; `changes` leaves out the steps that it does not touch."""

    field: str                  # "steps.label.system", "k"; "tools.own_1" for a whole tool that came or went
    changes: tuple[Change, ...]

    @property
    def tokens(self) -> int:
        return sum(change.tokens for change in self.changes)

    @property
    def usd(self) -> float | None:
        return added(change.usd for change in self.changes)


def effects(basis: Basis, before: Design, after: Design) -> list[Effect]:
    """One Effect for each field in which the designs differ, each on top of those before it: their sums are exactly
    what all of them change together."""
    found, last = [], basis(before)
    for field, design in path(before, after):
        now = basis(design)
        found.append(Effect(field, _changes(last, now)))
        last = now
    return found


def added(amounts: Iterable[float | None]) -> float | None:
    """The sum; None where one is unknown."""
    known = list(amounts)
    return None if None in known else sum(known)


def _changes(before: Mapping[str, Taken], after: Mapping[str, Taken]) -> tuple[Change, ...]:
    both = [step for step in before if step in after]
    return tuple(Change(step, before[step], after[step]) for step in both if before[step] != after[step])


# --- from one design to the other ------------------------------------------------------------------------------------


def path(before: Design, after: Design) -> list[tuple[str, Design]]:
    """(field, design) for each field that differs, put in one after the other; those of BEHAVIOUR come last, and the
    name is left out."""
    names = sorted(_differing(before, after), key=lambda name: bool(BEHAVIOUR.fullmatch(name)))
    found, design = [], before
    for name in names:
        design = _with(design, after, name)
        found.append((name, design))
    return found


def _differing(before: Design, after: Design) -> list[str]:
    plain = [name for name in _parts(after) if name not in ("name", "steps", "tools", "limits")]
    found = [name for name in plain if getattr(before, name) != getattr(after, name)]
    found += [f"limits.{name}" for name in _unlike(before.limits, after.limits)]
    found += [f"steps.{step}.{name}" for step in after.steps for name in _unlike(before.steps[step], after.steps[step])]
    old, new = _by_key(before), _by_key(after)
    for key in dict.fromkeys([*new, *old]):
        both = key in old and key in new
        found += [f"tools.{key}.{name}" for name in _unlike(old[key], new[key])] if both else [f"tools.{key}"]
    return [*found, "order"] if reordered(before, after) else found


def _parts(value: Any) -> list[str]:
    return [field.name for field in fields(value)]


def _unlike(one: Any, other: Any) -> list[str]:
    return [name for name in _parts(other) if getattr(one, name) != getattr(other, name)]


def _by_key(design: Design) -> dict[str, ToolText]:
    return {tool.key: tool for tool in design.tools}


def _with(design: Design, after: Design, name: str) -> Design:
    """`design` with one field as it is in `after`."""
    match name.split("."):
        case ["limits", part]:
            return replace(design, limits=replace(design.limits, **{part: getattr(after.limits, part)}))
        case ["steps", step, part]:
            return design.with_step(step, **{part: getattr(after.steps[step], part)})
        case ["tools", key, part]:
            return design.with_tool(key, **{part: getattr(_by_key(after)[key], part)})
        case ["tools", key]:
            there = [tool for tool in design.tools if tool.key != key]
            return replace(design, tools=(*there, *(tool for tool in after.tools if tool.key == key)))
        case ["order"]:
            place = {tool.key: number for number, tool in enumerate(after.tools)}
            return replace(design, tools=tuple(sorted(design.tools, key=lambda tool: place[tool.key])))
    return replace(design, **{name: getattr(after, name)})


# --- before there is a run -------------------------------------------------------------------------------------------


def expected(tickets: TicketSet, prices: Mapping[str, Any]) -> Basis:
    """What the forecast says of each step; nothing of a design that cannot run."""
    def taken(design: Design) -> dict[str, Taken]:
        if fault_of(design) or not tickets.tickets:
            return {}
        parts = [*pipeline_parts(design, tickets, len(tickets)), *agent_parts(design, tickets)]
        return {step: _together(list(same), prices, for_an_hour(design))
                for step, same in groupby(parts, key=lambda part: part.step)}

    return taken


def _together(parts: Sequence[Part], prices: Mapping[str, Any], hour: bool) -> Taken:
    return Taken(sum(part.number for part in parts), round(sum(part.number * part.input for part in parts)),
                 added(part.usd(prices, hour) for part in parts))


# --- a recorded run --------------------------------------------------------------------------------------------------


def recorded(design: Design, exchanges: Sequence[Exchange], prices: Mapping[str, Any]) -> Basis:
    """What the calls of a run of `design` take when they are asked in the words of another one, and answered the same.

    `prices` is a snapshot with the models of the designs. Tokens are those that the simulated API reports for such
    requests; dollars come from the what-if's prompt cache at the calls' own times, with the replies' recorded lengths.
    What was worked out is kept: asked about another design, only the steps that it asks otherwise take time.
    """
    return _Recorded(design, exchanges, prices).taken


class _Recorded:
    def __init__(self, design: Design, exchanges: Sequence[Exchange], prices: Mapping[str, Any]):
        self._made_with = design
        self._exchanges = sorted(map(_counted_once, exchanges), key=lambda exchange: exchange.started)
        self._steps = tuple(dict.fromkeys(exchange.step for exchange in self._exchanges))
        self._prices = dict(prices)
        self._found: dict[bytes, Taken] = {}
        self._messages: dict[tuple[int, str], Counted] = {}

    def taken(self, design: Design) -> dict[str, Taken]:
        sent = {step: asked_with(design, step) for step in self._steps if step in ASKS}
        names = _renamed(self._made_with, design)
        if design.caching == OFF:       # then no step finds anything of another one in the prompt cache
            return {step: self._asked_again([step], sent, names, OFF)[step] for step in self._steps}
        return self._asked_again(self._steps, sent, names, design.caching)

    def _asked_again(self, steps: Sequence[str], sent: Mapping[str, Any], names: Mapping[str, str],
                     caching: str) -> dict[str, Taken]:
        """What the steps take whose calls may find each other's prompts in the prompt cache."""
        words = json.dumps([caching, [[step, sent.get(step)] for step in steps], names])
        keys = {step: blake2b(f"{step} {words}".encode("utf-8", "replace")).digest() for step in steps}
        found = {step: self._found.get(key) for step, key in keys.items()}
        if None in found.values():
            found = self._worked_out(steps, sent, names, caching)
            if len(self._found) > MOST_FOUND:
                self._found.clear()
            self._found |= {keys[step]: taken for step, taken in found.items()}
        return found

    def _worked_out(self, steps: Sequence[str], sent: Mapping[str, Any], names: Mapping[str, str],
                    caching: str) -> dict[str, Taken]:
        around = {step: counted({**sent[step], "messages": []}) for step in steps if step in sent}
        mine = [each for each in self._exchanges if each.step in steps]
        asked = [self._asked(each, sent[each.step], around[each.step], names) if each.step in sent
                 else _as_it_was(each) for each in mine]
        if caching == OFF:      # then what a call holds does not matter beside its tokens
            asked = [replace(each, request={**each.request, "messages": []}) for each in asked]
        calls = predict(asked, Policy(caching=caching), self._prices).calls
        return {step: _sum([call for each, call in zip(asked, calls, strict=True) if each.step == step])
                for step in steps}

    def _asked(self, exchange: Exchange, sent: Mapping[str, Any], around: Counted,
               names: Mapping[str, str]) -> Exchange:
        """The call with the same messages behind other words, which count `around`. Its output is told in the tokens of
        the model that wrote it."""
        request = {**sent, "messages": [_with_names(message, names) for message in exchange.request["messages"]]}
        tokens = estimate_request(request) if names else self._tokens(exchange, request, around)
        return replace(exchange, request=request, usage=Usage(tokens, 0, 0, 0, exchange.usage.output))

    def _tokens(self, exchange: Exchange, request: Mapping[str, Any], around: Counted) -> int:
        """Of the request; its messages, the same under every design, are counted once for each model."""
        which = (id(exchange), request["model"])
        if which not in self._messages:
            self._messages[which] = counted(request) - around
        return (around + self._messages[which]).estimate(request["model"])


def _as_it_was(exchange: Exchange) -> Exchange:
    """A call of a step that no design has, such as a summary of the conversation."""
    return replace(exchange, usage=Usage(estimate_request(exchange.request), 0, 0, 0, exchange.usage.output))


def _counted_once(exchange: Exchange) -> Exchange:
    """The call with messages whose tokens are counted once, however many designs it is asked under."""
    request = exchange.request
    return replace(exchange, request={**request, "messages": [known(message) for message in request["messages"]]})


def _sum(calls: Sequence[Predicted]) -> Taken:
    return Taken(len(calls), sum(call.input for call in calls), added(call.usd for call in calls))


def _renamed(before: Design, after: Design) -> dict[str, str]:
    """Name in the record -> name now, of tools that have another one."""
    now = {tool.key: tool.name for tool in after.tools}
    return {tool.name: now[tool.key] for tool in before.tools if now.get(tool.key, tool.name) != tool.name}


def _with_names(message: Mapping[str, Any], names: Mapping[str, str]) -> Mapping[str, Any]:
    """The message, its tool calls under the tools' new names."""
    content = message["content"]
    if not names or isinstance(content, str) or not any(block.get("name") in names for block in content):
        return message
    return {**message, "content": [{**block, "name": names[block["name"]]} if block.get("name") in names else block
                                   for block in content]}


# --- what a design's requests hold beside their messages -------------------------------------------------------------


_TICKETS = TicketSet("one", (Ticket("1", "1", "", "a ticket", "", "", ""),))
ASKS: dict[str, Callable[[Any, Design], Any]] = {
    "label": lambda client, design: label_tickets(client, design, _TICKETS),
    "merge": lambda client, design: merge_labels(client, design, Counter(("one cause", "another"))),
    "summary": lambda client, design: summarise(client, design, {"1": "one cause"}, _TICKETS, empty_catalog()),
    "agent": lambda client, design: run_agent_shape(client, design, _TICKETS, empty_catalog()),
}


def asked_with(design: Design, step: str) -> dict[str, Any]:
    """All that the requests of a step hold but their messages, as the shape itself puts it together."""
    listener = _Listener()
    one_call = replace(design, workers=1, retries=0, k=1, keep_results=0, result_chars=0,
                       limits=replace(design.limits, max_turns=1))
    try:
        ASKS[step](listener, one_call)
    except _Heard as heard:
        return {name: value for name, value in heard.request.items() if name != "messages"}
    raise AssertionError(f"the step {step} asked nothing")


class _Heard(RunEnded):
    def __init__(self, request: dict[str, Any]):
        super().__init__("the first request is known")
        self.request = request


class _Listener:
    """A client that hears the first request, and ends the run."""

    def __init__(self) -> None:
        self.messages = self

    def create(self, **request: Any) -> Any:
        raise _Heard(request)
