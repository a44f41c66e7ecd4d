"""The pipeline: label each ticket, merge the labels, count and join in code, summarise the top causes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from lib.catalog import Catalog
from lib.client.caching import OFF, first_alone, marked
from lib.client.layers import accepting, layered, step, with_defaults
from lib.design import Design
from lib.errors import InputError, InvalidReply, MapError, RunEnded
from lib.phrases import some
from lib.prompt_map import map_prompts
from lib.task.answers import Label, Summary, parse_groups, parse_label, parse_summary, usable_groups
from lib.task.checks import ranked_by_count, summary_given, summary_tickets
from lib.task.output import output_config
from lib.task.prompts import render_cause, render_labels, render_ticket, subject_of
from lib.task.report import Check, Report
from lib.task.reporting import build_report, incidents_of, top_causes
from lib.tickets.ticket import Ticket, TicketSet

LABELS_PER_CALL = 150       # distinct labels in one merge prompt; more are merged as a tree
MERGE_ROUNDS = 4            # levels of that tree
EXCERPTS = 12               # tickets quoted in one summary prompt
INCIDENTS = 10              # incidents quoted in one summary prompt


def run_pipeline(client: Any, design: Design, tickets: TicketSet, catalog: Catalog) -> Report:
    """The Report after N label calls, the merge and K summaries.

    A ticket without a usable label, a merge or a summary that failed is told in the Report; the rest goes on.
    Raises InputError without tickets, MapError when no ticket got a label, and any RunEnded: once there are labels,
    its `partial_report` holds what is known so far.
    """
    if not tickets.tickets:
        raise InputError("there are no tickets to label; load some on the Data page")
    work = _Work()
    try:
        _do(work, client, design, tickets, catalog)
    except RunEnded as ending:
        work.add_last(getattr(ending, "partial", ()), design, tickets)
        if work.labels:
            ending.partial_report = work.report(design, tickets, catalog, f"{work.standing(tickets)}: {ending}")
        raise
    return work.report(design, tickets, catalog)


@dataclass
class _Work:
    """What the steps have given so far; None for a step that is not through."""

    labels: dict[str, Label] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    causes: dict[str, str] | None = None
    summaries: dict[str, str] | None = None
    checks: list[Check] = field(default_factory=list)

    @property
    def placed(self) -> dict[str, str]:
        """Ticket key -> cause; before the merge every label is a cause of its own."""
        return {key: (self.causes or {}).get(label.cause, label.cause) for key, label in self.labels.items()}

    def add_last(self, answers: Sequence[Any], design: Design, tickets: TicketSet) -> None:
        """The answers of the step in whose middle the run ended: labels or summaries."""
        if self.causes is not None:
            named = zip(top_causes(self.placed, design.k), answers, strict=False)
            self.summaries = {name: answer.text for name, answer in named if isinstance(answer, Summary)}
        elif not self.labels:
            named = zip((t.key for t in tickets.tickets), answers, strict=False)
            self.labels = {key: answer for key, answer in named if isinstance(answer, Label)}

    def standing(self, tickets: TicketSet) -> str:
        if self.causes is None:
            return (f"{len(self.labels)} of {len(tickets)} tickets are labelled and counted, labels that mean the same "
                    "are not merged, nothing is summarised; the run ended early")
        return "labels are merged and counted, but not every cause is summarised; the run ended early"

    def report(self, design: Design, tickets: TicketSet, catalog: Catalog, partial: str = "") -> Report:
        placed = self.placed
        ranking = ranked_by_count(top_causes(placed, design.k), Counter(placed.values()), design.k,
                                  len(tickets) - len(placed))
        return build_report("pipeline", design.k, tickets, catalog, placed, failed=self.failed,
                            summaries=self.summaries, checks=(ranking, *self.checks), partial=partial,
                            quotes={key: label.evidence for key, label in self.labels.items()})


def _do(work: _Work, client: Any, design: Design, tickets: TicketSet, catalog: Catalog) -> None:
    work.labels, work.failed = label_tickets(client, design, tickets)
    work.causes, merged = merge_labels(client, design, Counter(label.cause for label in work.labels.values()))
    work.checks.append(merged)
    work.summaries, told = summarise(client, design, work.placed, tickets, catalog)
    work.checks += told


def label_tickets(client: Any, design: Design, tickets: TicketSet) -> tuple[dict[str, Label], dict[str, str]]:
    """One label call per ticket: labels by ticket key, and for the others why they have none."""
    answers = _map(client, design, "label", tickets.tickets, partial(render_ticket, tags=design.tags), parse_label)
    keys = [ticket.key for ticket in tickets.tickets]
    failed = {key: str(answer) for key, answer in zip(keys, answers, strict=True) if isinstance(answer, Exception)}
    if len(failed) == len(keys):
        reasons = some(sorted(set(failed.values())), 3)
        raise MapError(f"none of the {len(keys)} tickets got a label: {reasons}", answers)
    return {key: answer for key, answer in zip(keys, answers, strict=True) if key not in failed}, failed


def merge_labels(client: Any, design: Design, counts: Mapping[str, int]) -> tuple[dict[str, str], Check]:
    """Label -> cause for every label. More labels than fit one prompt are merged in batches, and the causes again."""
    causes, faults = {label: label for label in counts}, []
    for _ in range(MERGE_ROUNDS):
        level = _tickets_per_cause(causes, counts)
        merged, trouble = _merge_level(client, design, level)
        causes = {label: merged[cause] for label, cause in causes.items()}
        faults += trouble
        if len(level) <= LABELS_PER_CALL or len(set(merged.values())) == len(level):
            break
    return causes, _merge_check(len(counts), len(set(causes.values())), faults, design.k)


def _tickets_per_cause(causes: Mapping[str, str], counts: Mapping[str, int]) -> Counter[str]:
    level: Counter[str] = Counter()
    for label, cause in causes.items():
        level[cause] += counts[label]
    return level


def _merge_level(client: Any, design: Design, level: Counter[str]) -> tuple[dict[str, str], list[str]]:
    merged, faults = {}, []
    for batch in _batches(level):
        groups, fault = _merge(client, design, batch)
        merged |= groups
        faults += [fault] if fault else []
    return merged, faults


def _batches(counts: Counter[str]) -> list[dict[str, int]]:
    """At most LABELS_PER_CALL labels each: by frequency if one batch holds all, else neighbours in the alphabet."""
    if len(counts) <= LABELS_PER_CALL:
        return [dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))]
    ordered = sorted(counts.items())
    return [dict(ordered[i:i + LABELS_PER_CALL]) for i in range(0, len(ordered), LABELS_PER_CALL)]


def _merge(client: Any, design: Design, counts: dict[str, int]) -> tuple[dict[str, str], str]:
    """Label -> cause by one call, and what was wrong with it; a label that it did not place is its own cause."""
    if len(counts) < 2:
        return {label: label for label in counts}, ""
    answer, = _map(client, design, "merge", [counts], partial(render_labels, tags=design.tags),
                   partial(parse_groups, labels=counts))
    if isinstance(answer, Exception):
        usable = usable_groups(answer.reply, counts) if isinstance(answer, InvalidReply) else {}
        return {label: usable.get(label, label) for label in counts}, str(answer)
    return answer, ""


def _merge_check(before: int, after: int, faults: Sequence[str], k: int) -> Check:
    if faults:
        return Check("labels merged", False, f"{before} labels became {after} causes; labels without a valid group "
                                             f"stay as they are: {some(faults, 2)}")
    if after > LABELS_PER_CALL:
        return Check("labels merged", False, f"{after} of {before} labels are left, too many to compare in one prompt; "
                                             "the same cause may stand there under two names")
    if after < min(before, k):
        return Check("labels merged", False, f"{before} labels became {after}, fewer than the {k} causes asked for; "
                                             "different causes may have been put together")
    if after == before:
        return Check("labels merged", True, f"{before} labels became {after} causes, no two of them were put together")
    return Check("labels merged", True, f"{before} labels became {after} causes, each label in exactly one")


def summarise(client: Any, design: Design, placed: Mapping[str, str], tickets: TicketSet,
              catalog: Catalog) -> tuple[dict[str, str], list[Check]]:
    """One summary per top cause, by cause, and the checks of each."""
    names = top_causes(placed, design.k)
    members = {name: [t for t in tickets.tickets if placed.get(t.key) == name] for name in names}
    prompts = [_cause_prompt(name, members[name], catalog, design.tags) for name in names]
    answers = _map(client, design, "summary", prompts, str, parse_summary)
    summaries, checks = {}, []
    for name, answer in zip(names, answers, strict=True):
        summaries[name] = answer.text if isinstance(answer, Summary) else ""
        checks += _summary_checks(name, answer, members[name])
    return summaries, checks


def _cause_prompt(name: str, members: Sequence[Ticket], catalog: Catalog, tags: bool) -> str:
    return render_cause(name, len(members), members[:EXCERPTS], incidents_of(members, catalog)[:INCIDENTS], tags)


def _summary_checks(name: str, answer: Summary | Exception, members: Sequence[Ticket]) -> list[Check]:
    if isinstance(answer, Exception):
        return [summary_given(name, "", str(answer))]
    return [summary_given(name, answer.text), summary_tickets(name, answer.tickets, [t.key for t in members])]


def _map(client: Any, design: Design, name: str, inputs: Sequence[Any], render: Callable[[Any], str],
         parse: Callable[[str], Any]) -> list[Any]:
    """One value per input, in order; the exception of an input that failed stands in its place."""
    settings = design.steps[name]
    cached = () if design.caching == OFF else (first_alone(), marked(design.caching))
    client = layered(client, step(name, subject_of), accepting(parse),
                     with_defaults(max_tokens=settings.max_tokens, output_config=output_config(design, name)), *cached)
    try:
        return map_prompts(client, settings.model, settings.system, inputs, render, parse,
                           workers=design.workers, retries=design.retries)
    except MapError as error:
        return error.values
