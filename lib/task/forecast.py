"""What a run will roughly send and cost, told before it starts. All of it is estimated and must be shown as such."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lib.client.caching import OFF
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
THOUGHT = 25                # output tokens thought before a reply by a model that thinks, and half of its text
HIGH_EFFORT = 2             # times as many at high effort
CLEARED = 20                # tokens of the note that a cleared tool result leaves
PER_TURN = 4                # tickets read in one turn when parallel tools are on
SHAPES = ("pipeline", "agent")
ROUGH = "the tokenizer could not be loaded: tokens are characters / 4"
# fields that nothing can be told without
NEEDED = re.compile(r"k|workers|caching|keep_results|result_chars|limits\.max_turns|steps\.\w+(\.model)?")


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
    written: float = 0.0    # of `input`, to the prompt cache
    read: float = 0.0       # of `input`, from it


def forecast(design: Design, tickets: TicketSet) -> dict[str, Forecast]:
    """One Forecast per shape, from token estimates of the prompts these tickets would make.

    How rough: label prompts are within some 10 % (see `usage.tokens`). How many labels differ, how long replies and the
    thinking before them are, and how the agent goes about it are guesses: it is taken to read every ticket one by one,
    so that its input follows a·T + d·T(T-1)/2 over T turns while all results are kept. An agent that reads less, or
    looks up more, can be off by a factor of two. Retries are left out; what is marked for the prompt cache is taken to
    be there when it is asked for. A design that cannot run gets a forecast of unknowns, never an error.
    """
    if not tickets.tickets:
        return dict.fromkeys(SHAPES, Forecast(0, 0, 0, 0.0, 0.0))
    if faults := [p.text for p in problems(design) if NEEDED.fullmatch(p.field)]:
        return dict.fromkeys(SHAPES, Forecast(None, None, None, None, None, note=faults[0]))
    prices = prices_for(sorted({step.model for step in design.steps.values()}))
    rough = "" if is_exact() else ROUGH
    hour = design.caching == "auto-1h"
    return {"pipeline": replace(_sum(_pipeline(design, tickets), prices, hour), note=_pipeline_note(design) or rough),
            "agent": replace(_sum(_agent(design, tickets), prices, hour), note=_agent_note(design, tickets) or rough)}


def _pipeline(design: Design, tickets: TicketSet) -> list[_Calls]:
    label, merge, summary = (design.steps[name] for name in ("label", "merge", "summary"))
    number, sample = len(tickets), _sample(tickets)
    labels = distinct_labels(number)
    merges = math.ceil(labels / LABELS_PER_CALL) + (1 if labels > LABELS_PER_CALL else 0)
    label_prompt = _mean(_prompt(label.model, label.system, render_ticket(t, tags=design.tags)) for t in sample)
    excerpt = _mean(estimate(render_ticket(t, EXCERPT_LIMIT, design.tags), summary.model) for t in sample)
    excerpts = min(EXCERPTS, math.ceil(number / (design.k + 2)))
    groups = LABEL_LINE * labels / merges
    steps = (
        (label, _Calls(label.model, number, label_prompt, _reply(label.model, LABEL_OUTPUT), design.workers)),
        (merge, _Calls(merge.model, merges, _prompt(merge.model, merge.system, "") + groups,
                       _reply(merge.model, groups))),
        (summary, _Calls(summary.model, min(design.k, labels),
                         _prompt(summary.model, summary.system, "") + excerpts * excerpt,
                         _reply(summary.model, SUMMARY_OUTPUT), design.workers)),
    )
    return [part for step, calls in steps for part in _cached(calls, design.caching, _fixed(step.model, step.system))]


def _reply(model_id: str, text: float) -> float:
    """Output tokens of a reply with so many of text, thinking included."""
    known = model(model_id)
    if not known.thinks:
        return text
    return text + (THOUGHT + text / 2) * (HIGH_EFFORT if known.effort == "high" else 1)


def _cached(calls: _Calls, caching: str, fixed: float) -> list[_Calls]:
    """Calls that differ in their ends, the first of them alone. What "auto" marks is only ever written; the `fixed`
    beginning that "system" marks is written once and read by the others, if the model takes so short a one."""
    if caching == OFF:
        return [calls]
    first, others = replace(calls, number=1), replace(calls, number=calls.number - 1)
    marked = fixed if caching == "system" else calls.input
    if marked < model(calls.model).cache_minimum:
        return [first, others]
    read = replace(others, read=marked) if caching == "system" else replace(others, written=marked)
    return [replace(first, written=marked), read]


def _pipeline_note(design: Design) -> str:
    """Why marking for the prompt cache does not pay for the labels, the most of the calls; empty where it may."""
    step = design.steps["label"]
    fixed, known = _fixed(step.model, step.system), model(step.model)
    if design.caching == "system" and fixed < known.cache_minimum:
        return (f"{known.name} caches from {known.cache_minimum:,} tokens on, the label prompt has about {fixed:,} "
                "before the ticket: nothing is cached")
    if design.caching.startswith("auto"):
        return "every call ends in data of its own: whatever it writes to the cache is paid for and never read"
    return ""


def distinct_labels(tickets: int) -> int:
    """A guess at how many different labels so many tickets get: about 20 for 40, 130 for 1,000."""
    return min(tickets, round(3 * tickets ** 0.55))


def _agent(design: Design, tickets: TicketSet) -> list[_Calls]:
    """One entry per turn: turn t resends the first request and what the turns before have left of what they added."""
    step, turns = design.steps["agent"], min(_turns_needed(design, tickets), design.limits.max_turns)
    first, pace = estimate_request(_first_request(design, tickets)), _pace(design, tickets)
    text = ANSWER_CAUSE * design.k / turns      # long outputs, spread over all turns
    output = TURN_OUTPUT + TALLY_LINE * len(tickets) / turns + _reply(step.model, text)
    inputs = [first + pace.history(turn) for turn in range(turns)]
    return [_Calls(step.model, 1, sent, output, **_cached_turn(design, inputs, turn, turn > pace.kept))
            for turn, sent in enumerate(inputs)]


@dataclass(frozen=True)
class _Pace:
    """What a turn of reading adds to the conversation, in tokens."""

    calls: float            # number of tool calls
    asking: float           # tokens of these calls and of the messages around them
    results: float          # tokens of what they return
    thinking: float
    kept: float             # turns whose results are resent whole

    def history(self, turns: int) -> float:
        if turns <= self.kept:
            return turns * (self.asking + self.results + self.thinking)
        return (turns * self.asking + self.kept * self.results + (turns - self.kept) * self.calls * CLEARED
                + self.thinking)


def _pace(design: Design, tickets: TicketSet) -> _Pace:
    model_id, turns = design.steps["agent"].model, _reading_turns(design, tickets)
    pages = math.ceil(len(tickets) / PAGE)
    calls = (len(tickets) + pages) / turns
    results = len(tickets) * _mean(_result(read_ticket(tickets, t.key), design) for t in _sample(tickets))
    results += pages * _result(list_tickets(tickets), design)
    kept = max(1.0, design.keep_results / calls) if design.keep_results else math.inf
    return _Pace(calls, calls * (TURN_OUTPUT + FOLLOW_UP), results / turns, _reply(model_id, 0), kept)


def _cached_turn(design: Design, inputs: list[float], turn: int, cleared: bool) -> dict[str, float]:
    """What a turn writes to the prompt cache and reads from it. Once results are cleared, no request begins as the one
    before did."""
    step = design.steps["agent"]
    least = model(step.model).cache_minimum
    if design.caching == "system":
        fixed = _fixed(step.model, step.system, _tools(design))
        return {"read" if turn else "written": fixed} if fixed >= least else {}
    if design.caching == OFF or inputs[turn] < least:
        return {}
    before = inputs[turn - 1] if turn and not cleared else 0
    read = before if before >= least else 0
    return {"read": read, "written": inputs[turn] - read}


def _turns_needed(design: Design, tickets: TicketSet) -> int:
    """Listing and reading, the tally, a look at the incidents, the answer."""
    return _reading_turns(design, tickets) + 3


def _reading_turns(design: Design, tickets: TicketSet) -> int:
    return math.ceil(len(tickets) / PAGE) + math.ceil(len(tickets) / (PER_TURN if design.parallel_tools else 1))


def _agent_note(design: Design, tickets: TicketSet) -> str:
    """Which limit an agent that reads every ticket would run into, or what it would forget; empty when none."""
    needed, most, step = _turns_needed(design, tickets), design.limits.max_turns, design.steps["agent"]
    if needed > most:
        return f"reading every ticket takes about {needed} turns, the limit is {most}"
    window = model(step.model).window
    last = estimate_request(_first_request(design, tickets)) + _pace(design, tickets).history(needed - 3)
    if last > window:
        return f"all tickets together are about {round(last):,} tokens, {step.model} holds {window:,}"
    if design.keep_results or design.result_chars:
        spoiled = design.keep_results and design.caching.startswith("auto")
        return ("the agent does not know what is cleared or cut: it may end early, read again, or answer without it"
                + ("; the cache no longer fits either" if spoiled else ""))
    return ""


def _first_request(design: Design, tickets: TicketSet) -> dict[str, Any]:
    step = design.steps["agent"]
    return {"model": step.model, "system": step.system, "tools": _tools(design),
            "messages": [{"role": "user", "content": question(design.k, len(tickets))}]}


def _tools(design: Design) -> list[dict[str, Any]]:
    return [{"name": t.name, "description": t.description, "input_schema": t.input_schema}
            for t in design.tools if t.enabled]


def _fixed(model_id: str, system: str, tools: Sequence[Mapping[str, Any]] = ()) -> int:
    """Tokens of a prompt up to its first message."""
    return estimate_request({"model": model_id, "system": system, "tools": tools, "messages": []})


def _result(result: Mapping[str, Any], design: Design) -> int:
    text = json.dumps(result, ensure_ascii=False)
    return estimate(text[:design.result_chars or len(text)], design.steps["agent"].model)


def _prompt(model_id: str, system: str, user: str) -> int:
    return estimate_request({"model": model_id, "system": system, "messages": [{"role": "user", "content": user}]})


def _sample(tickets: TicketSet) -> tuple[Ticket, ...]:
    """Tickets spread evenly over the set, all of a small one."""
    return tickets.tickets[::math.ceil(len(tickets) / SAMPLE)]


def _mean(values: Iterable[float]) -> float:
    given = list(values)
    return sum(given) / len(given)


def _sum(calls: list[_Calls], prices: Mapping[str, Any], hour: bool) -> Forecast:
    usd = [_usd(c, prices, hour) for c in calls]
    return Forecast(
        calls=sum(c.number for c in calls),
        input_tokens=round(sum(c.number * c.input for c in calls)),
        output_tokens=round(sum(c.number * c.output for c in calls)),
        usd=None if None in usd else sum(usd),
        seconds=sum(math.ceil(c.number / c.at_once) * latency.usual(c.model, c.input, c.output) for c in calls),
    )


def _usd(calls: _Calls, prices: Mapping[str, Any], hour: bool) -> float | None:
    """Of all these calls; `hour` tells the cache writes that last an hour from those of five minutes."""
    fresh, written, read = map(round, (calls.input - calls.written - calls.read, calls.written, calls.read))
    one = cost(prices, calls.model, fresh, 0 if hour else written, written if hour else 0, read, round(calls.output))
    return None if one is None else calls.number * one
