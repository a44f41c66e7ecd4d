"""What a run will roughly send and cost, told before it starts. All of it is estimated and must be shown as such."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lib.design import Design
from lib.models import model
from lib.simulated import latency
from lib.task.pipeline import EXCERPTS, LABELS_PER_CALL
from lib.task.problems import problems
from lib.task.prompts import EXCERPT_LIMIT, question, render_ticket
from lib.task.tools import PAGE, list_tickets, read_ticket
from lib.tickets.ticket import Ticket, TicketSet
from lib.usage.prices import cost, prices_for
from lib.usage.tokens import estimate, estimate_request, is_exact

SAMPLE = 200                # tickets counted; the rest is taken to be like them
LABEL_OUTPUT = 60           # output tokens: one cause and one quote
LABEL_LINE = 20             # tokens of one label in the merge prompt, and of its place in the reply
SUMMARY_OUTPUT = 150
TURN_OUTPUT = 60            # one tool call with a line of text
FOLLOW_UP = 51              # tokens the API adds for one tool_use/tool_result pair and its two messages
TALLY_LINE = 25             # output tokens of one ticket with its cause, passed to tally
ANSWER_CAUSE = 200          # output tokens of one cause in the answer
PER_TURN = 4                # tickets read in one turn when parallel tools are on
SHAPES = ("pipeline", "agent")
ROUGH = "the tokenizer could not be loaded: tokens are characters / 4"
NEEDED = re.compile(r"k|workers|limits\.max_turns|steps\.\w+(\.model)?")     # fields that nothing can be told without


@dataclass(frozen=True)
class Forecast:
    calls: int | None       # None, here and in all that follow: the design cannot run, `note` says why
    input_tokens: int | None
    output_tokens: int | None
    usd: float | None       # None also for a model without a known price
    seconds: float | None
    note: str = ""          # what would end the run early, or makes the figures rougher than usual, as one plain line


@dataclass(frozen=True)
class _Calls:
    """`number` like calls, `at_once` of them in parallel."""

    model: str
    number: int
    input: float            # tokens of one
    output: float
    at_once: int = 1


def forecast(design: Design, tickets: TicketSet) -> dict[str, Forecast]:
    """One Forecast per shape, from token estimates of the prompts these tickets would make.

    How rough: label prompts are within some 10 % (see `usage.tokens`). How many labels differ, how long replies are,
    and how the agent goes about it are guesses: it is taken to read every ticket one by one, so that its input follows
    a·T + d·T(T-1)/2 over T turns. An agent that reads less, or looks up more, can be off by a factor of two. Retries,
    thinking and cache reads are left out. A design that cannot run gets a forecast of unknowns, never an error.
    """
    if not tickets.tickets:
        return dict.fromkeys(SHAPES, Forecast(0, 0, 0, 0.0, 0.0))
    if faults := [p.text for p in problems(design) if NEEDED.fullmatch(p.field)]:
        return dict.fromkeys(SHAPES, Forecast(None, None, None, None, None, note=faults[0]))
    prices = prices_for(sorted({step.model for step in design.steps.values()}))
    rough = "" if is_exact() else ROUGH
    return {"pipeline": replace(_sum(_pipeline(design, tickets), prices), note=rough),
            "agent": replace(_sum(_agent(design, tickets), prices), note=_agent_note(design, tickets) or rough)}


def _pipeline(design: Design, tickets: TicketSet) -> list[_Calls]:
    label, merge, summary = (design.steps[name] for name in ("label", "merge", "summary"))
    number, sample = len(tickets), _sample(tickets)
    labels = distinct_labels(number)
    merges = math.ceil(labels / LABELS_PER_CALL) + (1 if labels > LABELS_PER_CALL else 0)
    label_prompt = _mean(_prompt(label.model, label.system, render_ticket(t)) for t in sample)
    excerpt = _mean(estimate(render_ticket(t, EXCERPT_LIMIT), summary.model) for t in sample)
    excerpts = min(EXCERPTS, math.ceil(number / (design.k + 2)))
    return [
        _Calls(label.model, number, label_prompt, LABEL_OUTPUT, design.workers),
        _Calls(merge.model, merges, _prompt(merge.model, merge.system, "") + LABEL_LINE * labels / merges,
               LABEL_LINE * labels / merges),
        _Calls(summary.model, min(design.k, labels), _prompt(summary.model, summary.system, "") + excerpts * excerpt,
               SUMMARY_OUTPUT, design.workers),
    ]


def distinct_labels(tickets: int) -> int:
    """A guess at how many different labels so many tickets get: about 20 for 40, 130 for 1,000."""
    return min(tickets, round(3 * tickets ** 0.55))


def _agent(design: Design, tickets: TicketSet) -> list[_Calls]:
    """One entry per turn: turn t resends the first request and all that t - 1 turns have added."""
    step, turns = design.steps["agent"], min(_turns_needed(design, tickets), design.limits.max_turns)
    first = estimate_request(_first_request(design, tickets))
    added = _added_by_reading(step.model, tickets) / _reading_turns(design, tickets)
    ending = (TALLY_LINE * len(tickets) + ANSWER_CAUSE * design.k) / turns     # long outputs, spread over all turns
    return [_Calls(step.model, 1, first + added * turn, TURN_OUTPUT + ending) for turn in range(turns)]


def _turns_needed(design: Design, tickets: TicketSet) -> int:
    """Listing and reading, the tally, a look at the incidents, the answer."""
    return _reading_turns(design, tickets) + 3


def _reading_turns(design: Design, tickets: TicketSet) -> int:
    return math.ceil(len(tickets) / PAGE) + math.ceil(len(tickets) / (PER_TURN if design.parallel_tools else 1))


def _agent_note(design: Design, tickets: TicketSet) -> str:
    """Which limit an agent that reads every ticket would run into; empty when none."""
    needed, most, step = _turns_needed(design, tickets), design.limits.max_turns, design.steps["agent"]
    if needed > most:
        return f"reading every ticket takes about {needed} turns, the limit is {most}"
    window = model(step.model).window
    last = estimate_request(_first_request(design, tickets)) + _added_by_reading(step.model, tickets)
    if last > window:
        return f"all tickets together are about {round(last):,} tokens, {step.model} holds {window:,}"
    return ""


def _first_request(design: Design, tickets: TicketSet) -> dict[str, Any]:
    step = design.steps["agent"]
    tools = [{"name": t.name, "description": t.description, "input_schema": t.input_schema}
             for t in design.tools if t.enabled]
    return {"model": step.model, "system": step.system, "tools": tools,
            "messages": [{"role": "user", "content": question(design.k, len(tickets))}]}


def _added_by_reading(model_id: str, tickets: TicketSet) -> float:
    """Tokens that listing and reading all tickets adds to the conversation, once."""
    read = _mean(_result(read_ticket(tickets, t.key), model_id) + TURN_OUTPUT + FOLLOW_UP for t in _sample(tickets))
    page = _result(list_tickets(tickets), model_id) + TURN_OUTPUT + FOLLOW_UP
    return read * len(tickets) + page * math.ceil(len(tickets) / PAGE)


def _result(result: Mapping[str, Any], model_id: str) -> int:
    return estimate(json.dumps(result, ensure_ascii=False), model_id)


def _prompt(model_id: str, system: str, user: str) -> int:
    return estimate_request({"model": model_id, "system": system, "messages": [{"role": "user", "content": user}]})


def _sample(tickets: TicketSet) -> tuple[Ticket, ...]:
    """Tickets spread evenly over the set, all of a small one."""
    return tickets.tickets[::math.ceil(len(tickets) / SAMPLE)]


def _mean(values: Iterable[float]) -> float:
    given = list(values)
    return sum(given) / len(given)


def _sum(calls: list[_Calls], prices: Mapping[str, Any]) -> Forecast:
    usd = [_usd(c, prices) for c in calls]
    return Forecast(
        calls=sum(c.number for c in calls),
        input_tokens=round(sum(c.number * c.input for c in calls)),
        output_tokens=round(sum(c.number * c.output for c in calls)),
        usd=None if None in usd else sum(usd),
        seconds=sum(math.ceil(c.number / c.at_once) * latency.usual(c.model, c.input, c.output) for c in calls),
    )


def _usd(calls: _Calls, prices: Mapping[str, Any]) -> float | None:
    one = cost(prices, calls.model, round(calls.input), 0, 0, 0, round(calls.output))
    return None if one is None else calls.number * one
