"""Which calls of a run stand behind a part of its answer, a failed check, or its end. Read from rows and replies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lib.messages import blocks, get, text_of
from lib.phrases import some
from lib.runs.store import CallRow, Run
from lib.task.answers import parse_label
from lib.task.report import Cause, Check, Report
from lib.task.tools import asked_ids
from lib.tickets.ticket import TicketSet

Replies = Callable[[Sequence[int]], Mapping[int, Any]]      # ids of calls -> the reply of each that has one
OF_A_SUMMARY = ("summary", "summary ids")


@dataclass(frozen=True)
class Behind:
    """A call, and what of the answer it is about."""

    call: CallRow
    about: str      # the tickets, "all labels", the cause
    said: str       # what came of it, as the model put it; "" where that is the answer itself
    tickets: tuple[str, ...] = ()       # keys, of a call that dealt with single ones


def a_cause(cause: Cause, run: Run, calls: Sequence[CallRow], replies: Replies,
            tickets: TicketSet | None) -> list[Behind]:
    """The calls behind one cause, in the order of the answer's making. `tickets` are those of the run, if still there.
    """
    answered = [call for call in calls if not call.error]
    if run.shape == "agent":
        return _turns(cause, run, answered, replies, tickets)
    labels = _last_by_subject(answered, "label")
    said = replies([labels[key].id for key in map(_flat, cause.tickets) if key in labels])
    found = [Behind(labels[_flat(key)], key, _label(said.get(labels[_flat(key)].id)), (key,))
             for key in cause.tickets if _flat(key) in labels]
    named = {behind.said for behind in found} | {cause.name}
    found += [Behind(call, "all labels", cause.name) for call in _merges(answered, named, replies)]
    summary = _last_by_subject(answered, "summary").get(_flat(cause.name))
    return found + ([Behind(summary, cause.name, "")] if summary else [])


def a_check(check: Check, report: Report, run: Run, calls: Sequence[CallRow]) -> CallRow | None:
    """The call that a failed check leads to; None where no single one does."""
    answered = sorted((call for call in calls if not call.error), key=lambda call: call.id)
    if run.shape == "agent":
        return answered[-1] if answered else None
    if check.name in OF_A_SUMMARY:
        return _last_of(calls, "summary", check.cause)
    if check.name == "labels merged":
        return next((call for call in reversed(answered) if call.step == "merge"), None)
    if check.name == "quotes":
        unfound = [quote.ticket for cause in report.causes for quote in cause.evidence if not quote.found]
        return _last_of(calls, "label", unfound[0]) if unfound else None
    if check.name == "every ticket placed" and report.failed:
        return a_failed_ticket(next(iter(report.failed)), calls)
    return None


def a_failed_ticket(key: str, calls: Sequence[CallRow]) -> CallRow | None:
    """The call that was the last try to label a ticket."""
    return _last_of(calls, "label", key)


def failed_call(error: str, calls: Sequence[CallRow]) -> CallRow | None:
    """The call that ended a failed run: the one that the run's `error` names, or the last one with an error, of those
    that nothing answered later; without any, the last call, whose reply could not be used."""
    ordered = sorted(calls, key=lambda call: call.id)
    answered = {(call.step, call.subject): call.id for call in ordered if not call.error}
    lost = [call for call in ordered if call.error and answered.get((call.step, call.subject), 0) < call.id]
    named = sorted((call for call in lost if call.subject and _flat(call.subject) in error),
                   key=lambda call: len(call.subject))      # "turn 12" also holds "turn 1"
    return (named or lost or ordered or [None])[-1]


# --- the pipeline ----------------------------------------------------------------------------------------------------


def _last_by_subject(calls: Iterable[CallRow], step: str) -> dict[str, CallRow]:
    return {_flat(call.subject): call for call in sorted(calls, key=lambda call: call.id) if call.step == step}


def _last_of(calls: Iterable[CallRow], step: str, subject: str) -> CallRow | None:
    return _last_by_subject(calls, step).get(_flat(subject))


def _flat(subject: str) -> str:
    """As a prompt's attribute shows it, from which a call's subject is read."""
    return " ".join(subject.split())


def _merges(answered: Sequence[CallRow], named: set[str], replies: Replies) -> list[CallRow]:
    """The merge calls; of several, those whose reply names the cause or one of its labels."""
    merges = [call for call in answered if call.step == "merge"]
    if len(merges) < 2:
        return merges
    said = {call_id: text_of(reply) for call_id, reply in replies([call.id for call in merges]).items()}
    return [call for call in merges if any(f'"{name}"' in said.get(call.id, "") for name in named)]


def _label(reply: Any) -> str:
    """The cause that a label reply gives; "" where it holds none."""
    try:
        return parse_label(text_of(reply)).cause
    except ValueError:
        return ""


# --- the agent -------------------------------------------------------------------------------------------------------


def _turns(cause: Cause, run: Run, answered: Sequence[CallRow], replies: Replies,
           tickets: TicketSet | None) -> list[Behind]:
    """Each turn that read tickets of the cause, and the one that gave the answer."""
    turns = sorted(answered, key=lambda call: call.started)
    said, names, mine = replies([call.id for call in turns]), _reading_tools(run), set(cause.tickets)
    found = []
    for call in turns:
        read = [key for key in _read(said.get(call.id), names, tickets, cause.tickets) if key in mine]
        if read:
            found.append(Behind(call, some(read, 6), "read", tuple(read)))
    final = [Behind(turns[-1], cause.name, "")] if turns and run.status == "done" else []
    return found + final


def _reading_tools(run: Run) -> set[str]:
    """What the design calls read_ticket."""
    return {str(tool.get("name", "")) for tool in run.design.get("tools", []) if tool.get("key") == "read_ticket"}


def _read(reply: Any, names: set[str], tickets: TicketSet | None, mine: Sequence[str]) -> list[str]:
    """The ids that a turn asked to read; without the tickets themselves, those of `mine` among its arguments."""
    found: list[str] = []
    for use in blocks(reply) if reply else []:
        if get(use, "type") != "tool_use" or get(use, "name") not in names:
            continue
        arguments = get(use, "input", {})
        given = [get(arguments, "ticket_id"), get(arguments, "ticket_ids")]
        try:
            found += asked_ids(tickets, *given) if tickets else [key for key in mine if key in str(given)]
        except ValueError:
            continue        # the tool has told the model so
    return list(dict.fromkeys(found))
