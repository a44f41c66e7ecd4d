"""What a run will roughly send and cost, told before it starts, and how far that was off, told after it.

All of a forecast is estimated and must be shown as such.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

from lib.client.caching import OFF
from lib.design import Design, Step
from lib.models import TOKEN_FACTOR, model
from lib.simulated import latency
from lib.task import SHAPES
from lib.task.output import with_output
from lib.task.pipeline import EXCERPTS, LABELS_PER_CALL, MERGE_ROUNDS
from lib.task.problems import problems
from lib.task.prompts import EXCERPT_LIMIT, question, render_ticket
from lib.task.tools import PAGE, READS, list_tickets, read_ticket
from lib.tickets.ticket import Ticket, TicketSet
from lib.usage.prices import cost, prices_for
from lib.usage.tokens import Counted, counted, estimate, estimate_request, is_exact

if TYPE_CHECKING:
    from lib.runs.store import CallRow

SAMPLE = 200                # tickets counted; the rest is taken to be like them
LABEL_OUTPUT = 56           # output tokens: one cause and one quote
LABEL_LINE = 17             # tokens of one label in the merge prompt, and of its place in the reply
LABELS_LEFT = 0.55          # share of the labels that a merge leaves as causes
SUMMARY_OUTPUT = 150
INCIDENTS_TOLD = 250        # tokens of the incidents in a summary prompt, half of those that have room
TURN_OUTPUT = 60            # one tool call with a line of text
FOLLOW_UP = 51              # tokens the API adds for one tool_use/tool_result pair and its two messages
TALLY_LINE = 25             # output tokens of one ticket with its cause, passed to tally
ANSWER_CAUSE = 200          # output tokens of one cause in the answer
THOUGHT = 25                # output tokens thought before a reply by a model that thinks, and half of its text
EFFORTS_THINK = {"low": 0.15, "medium": 1, "high": 2, "xhigh": 4, "max": 8}    # times as many; at low few replies think
CLEARED = 20                # tokens of the note that a cleared tool result leaves
PER_TURN = 4                # tickets read in one turn when parallel tools are on
INPUT_OFF, OUTPUT_OFF = 0.1, 0.3    # by how much token estimates miss, either way
SENT_BACK = 0.1             # share of the label calls that are asked again, in a run that goes badly
LEFT_OUT = 0.5              # share of the tickets that a hasty agent does not read
DETOURS = 0.5               # turns of a thorough agent beyond those needed, per turn needed
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
    low: Bound | None = None        # between these two the run is expected to end
    high: Bound | None = None
    reasons: tuple[str, ...] = ()   # for the range, as plain lines
    steps: tuple[StepForecast, ...] = ()


@dataclass(frozen=True)
class Bound:
    """One end of a forecast's range. `usd` is None for a model without a known price."""

    calls: int
    input: int
    output: int
    usd: float | None
    seconds: float


@dataclass(frozen=True)
class StepForecast:
    """What the calls of one step take together."""

    step: str               # label, merge, summary, agent
    calls: int
    input: int
    output: int
    usd: float | None


@dataclass(frozen=True)
class Held:
    """A step's forecast beside what its calls took: tokens, dollars or calls."""

    step: str               # "all" for the sum
    forecast: float | None
    actual: float | None    # None where no call reported it
    off: float | None       # share by which the forecast was too high (too low: below 0); None where it cannot be told


@dataclass(frozen=True)
class Part:
    """`number` like calls of a step, `at_once` of them in parallel."""

    step: str
    model: str
    number: int
    input: float            # tokens of one
    output: float
    at_once: int = 1
    written: float = 0.0    # of `input`, to the prompt cache
    read: float = 0.0       # of `input`, from it

    def scaled(self, number: float = 1.0, input: float = 1.0, output: float = 1.0) -> Part:
        return replace(self, number=round(self.number * number), input=self.input * input, output=self.output * output,
                       written=self.written * input, read=self.read * input)

    def usd(self, prices: Mapping[str, Any], hour: bool) -> float | None:
        """Of all these calls; `hour` tells cache writes that last an hour from those of five minutes."""
        fresh, written, read = map(round, (self.input - self.written - self.read, self.written, self.read))
        one = cost(prices, self.model, fresh, 0 if hour else written, written if hour else 0, read, round(self.output))
        return None if one is None else self.number * one

    @property
    def seconds(self) -> float:
        return math.ceil(self.number / self.at_once) * latency.usual(self.model, self.input, self.output)


def forecast(design: Design, tickets: TicketSet, prices: Mapping[str, Any] | None = None) -> dict[str, Forecast]:
    """One Forecast per shape, from token estimates of the prompts these tickets would make, at `prices` (today's list).

    How rough: label prompts are within some 10 % (see `usage.tokens`). How many labels differ, how long replies and the
    thinking before them are, and how the agent goes about it are guesses: it is taken to read every ticket one by one,
    so that its input follows a·T + d·T(T-1)/2 over T turns while all results are kept. What is marked for the prompt
    cache is taken to be there when it is asked for. The range runs from an agent that reads READS tickets a turn, or
    leaves half of them out, whichever takes less, to one that takes half as many turns again; `reasons` say so. A
    design that cannot run gets a forecast of unknowns, never an error.
    """
    if not tickets.tickets:
        return dict.fromkeys(SHAPES, Forecast(0, 0, 0, 0.0, 0.0))
    if fault := fault_of(design):
        return dict.fromkeys(SHAPES, Forecast(None, None, None, None, None, note=fault))
    if prices is None:
        prices = prices_for(sorted({step.model for step in design.steps.values()}))
    rough = "" if is_exact() else ROUGH
    return {"pipeline": replace(_pipeline_forecast(design, tickets, prices), note=_pipeline_note(design) or rough),
            "agent": replace(_agent_forecast(design, tickets, prices), note=_agent_note(design, tickets) or rough)}


def held_against(told: Forecast, calls: Iterable[CallRow], measure: str = "input") -> list[Held]:
    """The forecast beside the calls of a run, step by step and in all. `measure` is input, output, usd or calls.

    A step that was not foreseen, such as a summary of the conversation, is held against 0.
    """
    actual: dict[str, list[float | None]] = {}
    for call in calls:
        actual.setdefault(call.step, []).append(1 if measure == "calls" else getattr(call, measure))
    foreseen = {step.step: getattr(step, measure) for step in told.steps}
    steps = dict.fromkeys([*foreseen, *actual])
    rows = [_held(step, foreseen.get(step, 0), actual.get(step, [])) for step in steps]
    whole = None if None in foreseen.values() else sum(foreseen.values())
    return [*rows, _held("all", whole, [amount for amounts in actual.values() for amount in amounts])]


def first_requests(design: Design, tickets: TicketSet) -> dict[str, dict[str, Any]]:
    """Step -> the first request that it would make, for the two whose first request is known before a run."""
    label = _request(design, "label", render_ticket(tickets.tickets[0], tags=design.tags))
    return {"label": label, "agent": _first_request(design, len(tickets))}


def fault_of(design: Design) -> str:
    """Why the design cannot run and nothing can be told of it; empty where it can."""
    without_tools = replace(design, tools=())       # none of theirs counts here, and to check their schemas takes time
    return next((p.text for p in problems(without_tools) if NEEDED.fullmatch(p.field)), "")


def for_an_hour(design: Design) -> bool:
    """Whether what the design writes to the prompt cache lasts an hour."""
    return design.caching == "auto-1h"


# --- the pipeline ----------------------------------------------------------------------------------------------------


def _pipeline_forecast(design: Design, tickets: TicketSet, prices: Mapping[str, Any]) -> Forecast:
    parts = pipeline_parts(design, tickets, len(tickets))
    again = SENT_BACK if design.retries else 0.0
    more = [part.scaled(input=1 + again, output=1 + again) if part.step == "label" else part for part in parts]
    sent_back = f"an answer that is not valid is sent back: in a bad run one label call in {round(1 / SENT_BACK)}"
    reasons = (_OFF, sent_back, _WORDS) if design.retries else (_OFF, _WORDS)
    return _told(parts, parts, more, prices, for_an_hour(design), reasons)


def pipeline_parts(design: Design, tickets: TicketSet, number: int) -> list[Part]:
    """The calls for `number` tickets like these: one label call each, merges as a tree, a summary of each top cause."""
    label, merge, summary = (design.steps[name] for name in ("label", "merge", "summary"))
    labels = distinct_labels(number)
    around = counted({**_request(design, "label", ""), "messages": []})
    levels = merge_levels(labels)
    merges = sum(math.ceil(level / LABELS_PER_CALL) for level in levels)
    label_prompt = _mean((around + own).estimate(label.model) for own in _shown(tickets, design.tags, label.model))
    excerpt = _excerpt(tickets, design.tags, summary.model)
    excerpts = min(EXCERPTS, math.ceil(number / (design.k + 2)))
    groups = _in_its_tokens(merge.model, LABEL_LINE * sum(levels) / merges)
    steps = (
        (label, Part("label", label.model, number, label_prompt, _reply(label, LABEL_OUTPUT), design.workers)),
        (merge, Part("merge", merge.model, merges, _prompt(design, "merge", "") + groups,
                     _reply(merge, LABEL_LINE * sum(levels) / merges))),
        (summary, Part("summary", summary.model, min(design.k, labels),
                       _prompt(design, "summary", "") + excerpts * excerpt + INCIDENTS_TOLD,
                       _reply(summary, SUMMARY_OUTPUT), design.workers)),
    )
    return [part for _, calls in steps for part in _cached(calls, design.caching, _fixed(design, calls.step))]


def merge_levels(labels: int) -> list[int]:
    """How many labels each level of the merge tree has to compare: one level while they fit one prompt."""
    levels = [labels]
    while levels[-1] > LABELS_PER_CALL and len(levels) < MERGE_ROUNDS:
        levels.append(math.ceil(levels[-1] * LABELS_LEFT))
    return levels


def _reply(step: Step, text: float) -> float:
    """Output tokens of a reply with so many of text, thinking included."""
    known = model(step.model)
    thought = (THOUGHT + text / 2) * _thinks(step) if known.thinks else 0
    return _in_its_tokens(step.model, text + thought)


def _thinks(step: Step) -> float:
    return EFFORTS_THINK.get(step.effort) or EFFORTS_THINK[model(step.model).effort]


def _in_its_tokens(model_id: str, tokens: float) -> float:
    """The guesses above are tokens of the newest family; an older one needs fewer for the same."""
    return tokens * TOKEN_FACTOR[model(model_id).tokenizer] / TOKEN_FACTOR["4.7"]


def _cached(calls: Part, caching: str, fixed: float) -> list[Part]:
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
    fixed, known = _fixed(design, "label"), model(step.model)
    if design.caching == "system" and fixed < known.cache_minimum:
        return (f"{known.name} caches from {known.cache_minimum:,} tokens on, the label prompt has about {fixed:,} "
                "before the ticket: nothing is cached")
    if design.caching.startswith("auto"):
        return "every call ends in data of its own: whatever it writes to the cache is paid for and never read"
    return ""


def distinct_labels(tickets: int) -> int:
    """A guess at how many different labels so many tickets get: about 20 for 40, 130 for 1,000."""
    return min(tickets, round(3 * tickets ** 0.55))


# --- the agent -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Habit:
    """How an agent goes about it."""

    reads: float = 1.0      # share of the tickets that it reads
    at_once: int = 0        # tickets that it reads in one turn; 0: one, or PER_TURN where the design lets it
    detours: float = 0.0    # turns beyond those needed, per turn needed: look-ups, calls that failed, answers sent back


USUAL, QUICK, THOROUGH = Habit(), Habit(at_once=READS), Habit(detours=DETOURS)


def _agent_forecast(design: Design, tickets: TicketSet, prices: Mapping[str, Any]) -> Forecast:
    usual, thorough = (agent_parts(design, tickets, habit) for habit in (USUAL, THOROUGH))
    if design.keep_results or design.result_chars:
        hasty = agent_parts(design, tickets, Habit(reads=0))
        fewer = "it does not get to see all results and may end early"
    else:
        hasty = agent_parts(design, tickets, Habit(reads=1 - LEFT_OUT))
        fewer = f"it may leave {100 * LEFT_OUT:.0f} % of the tickets unread"
    low = hasty
    if _reads_several(design) and _input(quick := agent_parts(design, tickets, QUICK)) < _input(hasty):
        low, fewer = quick, f"it may read {READS} tickets in one turn"
    more = f"looking things up, calls that fail and answers sent back may take {100 * DETOURS:.0f} % more turns"
    return _told(usual, low, thorough, prices, for_an_hour(design), (fewer, more, _OFF))


def agent_parts(design: Design, tickets: TicketSet, habit: Habit = USUAL) -> list[Part]:
    """One entry per turn: turn t resends the first request and what the turns before have left of what they added."""
    turns = min(turns_needed(design, len(tickets), habit), design.limits.max_turns)
    agent = agent_at(design, tickets, len(tickets), habit)
    return [agent.turn(t, turns) for t in range(turns)]


def agent_at(design: Design, tickets: TicketSet, number: int, habit: Habit = USUAL) -> Agent:
    """An agent on `number` tickets like these."""
    first = estimate_request(_first_request(design, number))
    return Agent(design, number, first, _pace(design, tickets, number, habit))


@dataclass(frozen=True)
class Agent:
    """What the turns of an agent take; they are counted from 0."""

    design: Design
    tickets: int
    first: float            # input tokens of turn 0
    pace: Pace

    def input(self, turn: float) -> float:
        return self.first + self.pace.history(turn)

    def turn(self, turn: float, turns: int) -> Part:
        """One of `turns`; what is written once, such as the answer, is spread over all of them."""
        step, sent = self.design.steps["agent"], self.input(turn)
        before = 0.0 if turn == 0 or turn > self.pace.kept else self.input(max(0.0, turn - 1))
        output = (_in_its_tokens(step.model, TURN_OUTPUT + TALLY_LINE * self.tickets / turns)
                  + _reply(step, ANSWER_CAUSE * self.design.k / turns))
        return Part("agent", step.model, 1, sent, output, **_cached_turn(self.design, sent, before, turn == 0))


@dataclass(frozen=True)
class Pace:
    """What a turn of reading adds to the conversation, in tokens."""

    calls: float            # number of tool calls
    asking: float           # tokens of these calls and of the messages around them
    results: float          # tokens of what they return
    thinking: float
    kept: float             # turns whose results are resent whole

    def history(self, turns: float) -> float:
        if turns <= self.kept:
            return turns * (self.asking + self.results + self.thinking)
        return (turns * self.asking + self.kept * self.results + (turns - self.kept) * self.calls * CLEARED
                + self.thinking)


def _pace(design: Design, tickets: TicketSet, number: int, habit: Habit) -> Pace:
    model_id, turns = design.steps["agent"].model, _reading_turns(design, number, habit)
    pages, read = math.ceil(number / PAGE), habit.reads * number
    calls = (read + pages) / turns
    results = read * _read(tickets, design.result_chars, model_id)
    results += pages * _result(list_tickets(tickets), design.result_chars, model_id)
    kept = max(1.0, design.keep_results / calls) if design.keep_results else math.inf
    asking = calls * (_in_its_tokens(model_id, TURN_OUTPUT) + FOLLOW_UP)
    return Pace(calls, asking, results / turns, _reply(design.steps["agent"], 0), kept)


def _cached_turn(design: Design, sent: float, before: float, first: bool) -> dict[str, float]:
    """What a turn writes to the prompt cache and reads from it. `before`: what the turn before it sent, 0 once results
    are cleared, since no request begins as the one before did from then on."""
    step = design.steps["agent"]
    least = model(step.model).cache_minimum
    if design.caching == "system":
        fixed = _fixed(design, "agent", _tools(design))
        return {"written" if first else "read": fixed} if fixed >= least else {}
    if design.caching == OFF or sent < least:
        return {}
    read = before if before >= least else 0
    return {"read": read, "written": sent - read}


def turns_needed(design: Design, number: int, habit: Habit = USUAL) -> int:
    """Listing and reading, the tally, a look at the incidents, the answer; one call of each of the person's own tools.
    """
    own = sum(tool.is_own and tool.enabled for tool in design.tools)
    return math.ceil((_reading_turns(design, number, habit) + 3 + own) * (1 + habit.detours))


def _reading_turns(design: Design, number: int, habit: Habit = USUAL) -> int:
    at_once = habit.at_once or (PER_TURN if design.parallel_tools else 1)
    return math.ceil(number / PAGE) + math.ceil(habit.reads * number / at_once)


def _reads_several(design: Design) -> bool:
    """Whether the agent can read several tickets in one turn."""
    schema = next((t.input_schema for t in design.tools if t.key == "read_ticket" and t.enabled), None) or {}
    return design.parallel_tools or "ticket_ids" in (schema.get("properties") or {})


def _agent_note(design: Design, tickets: TicketSet) -> str:
    """Which limit an agent that reads every ticket would run into, or what it would forget; empty when none."""
    needed, most, step = turns_needed(design, len(tickets)), design.limits.max_turns, design.steps["agent"]
    if needed > most:
        return f"reading every ticket takes about {needed} turns, the limit is {most}"
    window = model(step.model).window
    last = agent_at(design, tickets, len(tickets)).input(needed - 3)
    if last > window:
        return f"all tickets together are about {round(last):,} tokens, {step.model} holds {window:,}"
    if design.keep_results or design.result_chars:
        spoiled = design.keep_results and design.caching.startswith("auto")
        return ("the agent does not know what is cleared or cut: it may end early, read again, or answer without it"
                + ("; the cache no longer fits either" if spoiled else ""))
    return ""


def _request(design: Design, name: str, user: str) -> dict[str, Any]:
    step = design.steps[name]
    return with_output({"model": step.model, "system": step.system, "messages": [{"role": "user", "content": user}]},
                       design, name)


def _first_request(design: Design, number: int) -> dict[str, Any]:
    return {**_request(design, "agent", question(design.k, number)), "tools": _tools(design)}


def _tools(design: Design) -> list[dict[str, Any]]:
    return [{"name": t.name, "description": t.description, "input_schema": t.input_schema}
            for t in design.tools if t.enabled]


def _fixed(design: Design, step: str, tools: Sequence[Mapping[str, Any]] = ()) -> int:
    """Tokens of a prompt up to its first message."""
    return estimate_request({**_request(design, step, ""), "tools": tools, "messages": []})


def _prompt(design: Design, step: str, user: str) -> int:
    return estimate_request(_request(design, step, user))


# --- the tickets -----------------------------------------------------------------------------------------------------


_found: dict[tuple[Any, ...], Any] = {}     # figures by the content of a set: an edit of a prompt changes none of them
_MOST_FOUND = 256
_Figures = TypeVar("_Figures")


def _sample(tickets: TicketSet) -> tuple[Ticket, ...]:
    """Tickets that stand for the set: spread evenly over it, all of a small one."""
    return tickets.tickets[::math.ceil(len(tickets) / SAMPLE)]


def _shown(tickets: TicketSet, tags: bool, model_id: str) -> list[Counted]:
    """What each ticket of the sample adds to a prompt that is about it."""
    nothing = {"model": model_id, "messages": []}

    def added(ticket: Ticket) -> Counted:
        message = {"role": "user", "content": render_ticket(ticket, tags=tags)}
        return counted({**nothing, "messages": [message]}) - counted(nothing)

    return _once(("shown", tickets.version, tags, model_id), lambda: [added(ticket) for ticket in _sample(tickets)])


def _excerpt(tickets: TicketSet, tags: bool, model_id: str) -> float:
    return _once(("excerpt", tickets.version, tags, model_id), lambda: _mean(
        estimate(render_ticket(ticket, EXCERPT_LIMIT, tags), model_id) for ticket in _sample(tickets)))


def _read(tickets: TicketSet, most: int, model_id: str) -> float:
    """What `read_ticket` returns of one ticket, of at most so many characters; 0: all."""
    return _once(("read", tickets.version, most, model_id), lambda: _mean(
        _result(read_ticket(tickets, ticket.key), most, model_id) for ticket in _sample(tickets)))


def _once(key: tuple[Any, ...], work: Callable[[], _Figures]) -> _Figures:
    figures = _found.get(key)
    if figures is None:
        figures = work()
        if len(_found) >= _MOST_FOUND:
            _found.clear()
        _found[key] = figures
    return figures


def _result(result: Mapping[str, Any], most: int, model_id: str) -> int:
    text = json.dumps(result, ensure_ascii=False)
    return estimate(text[:most or len(text)], model_id)


def _mean(values: Iterable[float]) -> float:
    given = list(values)
    return sum(given) / len(given)


# --- what both have in common ----------------------------------------------------------------------------------------


_OFF = f"token estimates miss by up to {100 * INPUT_OFF:.0f} %, lengths of replies by up to {100 * OUTPUT_OFF:.0f} %"
_WORDS = "how many labels differ, and how many tickets a cause has, is not known before"


def _told(usual: Sequence[Part], low: Sequence[Part], high: Sequence[Part], prices: Mapping[str, Any], hour: bool,
          reasons: tuple[str, ...]) -> Forecast:
    middle = _bound(usual, prices, hour)
    return Forecast(
        middle.calls, middle.input, middle.output, middle.usd, middle.seconds, reasons=reasons,
        low=_bound([part.scaled(input=1 - INPUT_OFF, output=1 - OUTPUT_OFF) for part in low], prices, hour),
        high=_bound([part.scaled(input=1 + INPUT_OFF, output=1 + OUTPUT_OFF) for part in high], prices, hour),
        steps=tuple(_step(name, _bound(list(parts), prices, hour))
                    for name, parts in groupby(usual, key=lambda part: part.step)))


def _bound(parts: Sequence[Part], prices: Mapping[str, Any], hour: bool) -> Bound:
    usd = [part.usd(prices, hour) for part in parts]
    return Bound(
        calls=sum(part.number for part in parts),
        input=round(_input(parts)),
        output=round(sum(part.number * part.output for part in parts)),
        usd=None if None in usd else sum(usd),
        seconds=sum(part.seconds for part in parts),
    )


def _step(name: str, sums: Bound) -> StepForecast:
    return StepForecast(name, sums.calls, sums.input, sums.output, sums.usd)


def _input(parts: Sequence[Part]) -> float:
    return sum(part.number * part.input for part in parts)


def _held(step: str, forecast: float | None, amounts: Sequence[float | None]) -> Held:
    known = [amount for amount in amounts if amount is not None]
    actual = sum(known) if known or not amounts else None
    return Held(step, forecast, actual, forecast / actual - 1 if actual and forecast is not None else None)
