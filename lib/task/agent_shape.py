"""The agent: one tool loop over tickets and catalog, whose final answer is validated and held against the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lib.agent import Tool, run_agent
from lib.catalog import Catalog
from lib.client.caching import marked
from lib.client.context import clear_old_results, cut_results
from lib.client.correct import corrected
from lib.client.layers import Layer, accepting, layered, step, with_defaults
from lib.client.repeats import stop_on_repeats
from lib.design import Design
from lib.errors import InputError, InvalidReply, PlaygroundError
from lib.messages import blocks, get
from lib.task.answers import ClaimedCause, parse_answer, tidy_cause
from lib.task.checks import (
    count_matches,
    customers_match,
    one_cause_each,
    ranked_by_count,
    summary_given,
    tickets_exist,
    tickets_read,
)
from lib.task.output import output_config
from lib.task.prompts import question, turn_of
from lib.task.report import Check, Report
from lib.task.reporting import affected, build_report
from lib.task.tools import READS, asked_ids, make_tools
from lib.tickets.ticket import TicketSet


def run_agent_shape(client: Any, design: Design, tickets: TicketSet, catalog: Catalog) -> Report:
    """The Report built from the ticket ids of the agent's answer, with every number it states checked.

    Raises InputError without tickets, an AgentError when the loop ends without an answer, InvalidReply when the answer
    stays invalid after `design.retries` corrections, and any RunEnded. When the agent had passed tickets to tally by
    then, the exception's `partial_report` holds what they give.
    """
    if not tickets.tickets:
        raise InputError("there are no tickets to investigate; load some on the Data page")
    settings, tools = design.steps["agent"], make_tools(design, tickets, catalog)
    messages: list[dict] = []
    try:
        text, messages = run_agent(_client(client, design, tools), settings.model, settings.system,
                                   question(design.k, len(tickets)), tools, max_turns=design.limits.max_turns,
                                   max_tokens=settings.max_tokens)
        answer = _answer(text)
    except PlaygroundError as ending:
        _keep_the_tally(ending, getattr(ending, "messages", messages), design, tickets, catalog)
        raise
    return _report(design, answer, messages, tickets, catalog)


def _client(client: Any, design: Design, tools: Sequence[Tool]) -> Any:
    one_by_one = {"type": "auto", "disable_parallel_tool_use": True} if tools and not design.parallel_tools else None
    fields = with_defaults(tool_choice=one_by_one, output_config=output_config(design, "agent"))
    return layered(client, stop_on_repeats(), corrected(parse_answer, design.retries), step("agent", turn_of),
                   accepting(parse_answer), fields, *_context(design), marked(design.caching))


def _context(design: Design) -> list[Layer]:
    """What is left out of a request. Innermost, so that what counts repeats and what corrects see all of it."""
    return [*([cut_results(design.result_chars)] if design.result_chars else []),
            *([clear_old_results(design.keep_results)] if design.keep_results else [])]


def _answer(text: str) -> tuple[ClaimedCause, ...]:
    try:
        return parse_answer(text)
    except ValueError as reason:
        raise InvalidReply(f"the agent's final answer stayed invalid: {reason}", text) from reason


@dataclass(frozen=True)
class _Placement:
    """Which cause the answer puts each ticket in, and what it says twice."""

    causes: dict[str, str]                  # ticket key -> cause, first mention
    repeated: dict[str, list[str]]          # ticket key -> every cause it stands in


def _keep_the_tally(ending: PlaygroundError, messages: Sequence[Any], design: Design, tickets: TicketSet,
                    catalog: Catalog) -> None:
    tallied = _tallied(messages, design, tickets)
    if tallied:
        why = f"No final answer, the agent's last tally is counted; the run ended early: {ending}"
        ending.partial_report = build_report("agent", design.k, tickets, catalog, tallied, partial=why,
                                             checks=(tickets_read(tallied, _read(messages, design, tickets)),))


def _report(design: Design, answer: Sequence[ClaimedCause], messages: Sequence[Any], tickets: TicketSet,
            catalog: Catalog) -> Report:
    placement = _place(answer, tickets)
    names = [cause.name for cause in answer]
    rest = {key: cause for key, cause in _tallied(messages, design, tickets).items()
            if key not in placement.causes and cause not in names}
    placed = {**placement.causes, **rest}
    checks = (tickets_exist([key for cause in answer for key in cause.tickets], tickets),
              tickets_read(placed, _read(messages, design, tickets)), one_cause_each(placement.repeated),
              ranked_by_count(names, Counter(placed.values()), design.k, len(tickets) - len(placed)),
              *(check for cause in answer for check in _claims(cause, placement.causes, tickets, catalog)))
    return build_report("agent", design.k, tickets, catalog, placed, only=names, checks=checks,
                        summaries={c.name: c.summary for c in answer}, claimed={c.name: c.count for c in answer})


def _place(answer: Sequence[ClaimedCause], tickets: TicketSet) -> _Placement:
    mentions: dict[str, list[str]] = {}
    for cause in answer:
        for key in cause.tickets:
            mentions.setdefault(key, []).append(cause.name)
    return _Placement({key: causes[0] for key, causes in mentions.items() if key in tickets.by_key},
                      {key: causes for key, causes in mentions.items() if len(causes) > 1})


def _claims(claimed: ClaimedCause, placed: Mapping[str, str], tickets: TicketSet, catalog: Catalog) -> list[Check]:
    members = [tickets.by_key[key] for key, cause in placed.items() if cause == claimed.name]
    return [count_matches(claimed.name, claimed.count, len(members)),
            customers_match(claimed.name, claimed.customers, len(affected(members, catalog))),
            summary_given(claimed.name, claimed.summary)]


# --- what the conversation shows -------------------------------------------------------------------------------------


def _tallied(messages: Sequence[Any], design: Design, tickets: TicketSet) -> dict[str, str]:
    """Ticket key -> cause as the agent last passed it to tally: the answer holds only the top causes, this the rest."""
    placed: dict[str, str] = {}
    for call in _calls(messages, design, "tally"):
        given: dict[str, str] = {}
        assignments = get(get(call, "input", {}), "assignments", [])
        for assignment in assignments if isinstance(assignments, list) else []:
            try:
                given.setdefault(str(get(assignment, "ticket_id", "")).strip(), tidy_cause(get(assignment, "cause")))
            except ValueError:
                continue        # the tool has told the model so already
        placed |= given
    return {key: cause for key, cause in placed.items() if key in tickets.by_key}


def _read(messages: Sequence[Any], design: Design, tickets: TicketSet) -> set[str]:
    """The ids the agent passed to read_ticket, save those of calls that failed."""
    failed = {get(block, "tool_use_id") for message in messages for block in blocks(message) if get(block, "is_error")}
    read: set[str] = set()
    for call in _calls(messages, design, "read_ticket"):
        if get(call, "id") not in failed:
            arguments = get(call, "input", {})
            read.update(asked_ids(tickets, get(arguments, "ticket_id"), get(arguments, "ticket_ids"))[:READS])
    return read


def _calls(messages: Sequence[Any], design: Design, key: str) -> Iterator[Any]:
    """Every call of one of our tools, whatever the design calls it."""
    names = {tool.name for tool in design.tools if tool.key == key and tool.enabled}
    for message in messages:
        for block in blocks(message):
            if get(block, "type") == "tool_use" and get(block, "name") in names:
                yield block
