"""A group of runs told as the `Story` that the HTML and Markdown reports lay out: the same words as on the pages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any

from lib.catalog import Catalog
from lib.charts import growth_rows
from lib.design import Design
from lib.errors import DesignError
from lib.exports.story import QUOTES, Checked, Folded, Pair, Quote, Sheet, Story, Told
from lib.models import MODELS
from lib.phrases import plural
from lib.runs.store import SIMULATED_ANSWERS, CallRow, Run, Totals
from lib.task.default_design import default_design
from lib.task.report import Cause, Check, Report
from lib.tickets import TicketSet
from lib.ui import compare, differences, drafts, simulation
from lib.ui import format as fmt

APP = "Pipeline or agent?"
STEPS_OF = {"pipeline": ("label", "merge", "summary"), "agent": ("agent",)}
BADGES = {"server": "compatible server"}
KEYS_TOLD = 60      # ticket ids under a cause; the tables have all of them


@dataclass(frozen=True)
class Facts:
    """A group of runs with all that is told of them. `tickets` and `catalog` are None when the data are gone."""

    runs: Sequence[Run]
    reports: Mapping[str, Report]               # by shape, of runs that are not at work
    calls: Mapping[str, Sequence[CallRow]]      # by shape
    totals: Mapping[str, Totals]                # by shape
    tickets: TicketSet | None
    catalog: Catalog | None
    now: float                                  # seconds since 1970


def story(facts: Facts) -> Story:
    runs, calls = facts.runs, {run.shape: list(facts.calls[run.shape]) for run in facts.runs}
    rows = growth_rows(calls)
    return Story(
        title=f"Root causes in {_data(facts)}",
        sentence=compare.sentence([_outcome(facts, run) for run in runs]),
        made=_made(runs), badges=tuple(dict.fromkeys(BADGES.get(run.source, run.source) for run in runs)),
        source=_source(facts), shapes=tuple(run.shape for run in runs), asked=_asked(facts),
        figures=_figures(facts), notes=_notes(facts), pairs=_pairs(facts),
        checks=tuple(_checked(shape, report) for shape, report in facts.reports.items()),
        steps=_steps(calls), growth=tuple(rows),
        growth_lines=tuple(line for line in (*compare.law_lines(calls, "input"),
                                             compare.turn_line(calls.get("agent", []), None)) if line),
        prompts=_prompts(runs), footer=_footer(facts))


# --- what was asked, and who answered ---------------------------------------------------------------------------------


def _data(facts: Facts) -> str:
    if facts.tickets is None:
        return facts.runs[0].title
    return f"{plural(len(facts.tickets), 'ticket')} of {facts.tickets.name}"


def _made(runs: Sequence[Run]) -> str:
    return f"Run on {_day(runs[0].created)}"


def _source(facts: Facts) -> tuple[str, ...]:
    """Who wrote what is told here, as plainly as the badge says it."""
    told = [line for run in facts.runs for line in _source_of(run)]
    if reused := sum(totals.cached for totals in facts.totals.values()):
        told.append(f"{plural(reused, 'call')} of these runs were not sent: an earlier run's reply to the same request "
                    "was taken, for nothing.")
    return tuple(dict.fromkeys(told))


def _source_of(run: Run) -> list[str]:
    told = {
        "simulated": f"Simulated. {simulation.MEANS}",
        "live": f"Answered live by {run.connection or 'the Anthropic API'}.",
        "server": f"Answered by a compatible server, {run.connection}.",
        "replay": "A replay: every call was answered from a recording. Nothing was sent and nothing was paid; the "
                  "dollars are what the recorded calls would list.",
    }.get(run.source, f"Answered by {run.connection}.")
    lines = [told]
    if run.origin:
        lines.append(f"{'First answered' if run.source == 'replay' else 'Opened from a recording'}: {run.origin}.")
        lines += [simulation.MEANS] if simulation.wrote(run) and run.source != "simulated" else []
    if run.conditions == SIMULATED_ANSWERS:
        lines.append("The server says that its answers are simulated.")
    elif run.conditions:
        lines.append(f"The simulation was told: {run.conditions}.")
    return lines


def _asked(facts: Facts) -> tuple[tuple[str, str], ...]:
    run = facts.runs[0]
    design = _design(run)
    found = [("Question", f"What are the {run.design.get('k', 5)} most common root causes in these tickets, and which "
              "customers are affected?"), ("Tickets", _data(facts))]
    if facts.catalog is not None and facts.catalog.tables:
        tables = ", ".join(f"{name} ({plural(info.rows, 'row')})" for name, info in facts.catalog.tables.items())
        found.append(("Product database", tables))
    if design:
        found += [("Design", f"{design.name}, version {design.version}{_edits(design)}"),
                  ("Models", _models(design, [r.shape for r in facts.runs])), ("Settings", _settings(design))]
    if note := "; ".join(dict.fromkeys(r.note for r in facts.runs if r.note)):
        found.append(("Note", note))
    return tuple(found)


def _edits(design: Design) -> str:
    usual = default_design()
    edited = differences.named(usual, design)
    how = "edited" if design.name == usual.name else "unlike the default"
    return f" ({how}: {', '.join(edited)})" if edited else " (the default)"


def _models(design: Design, shapes: Sequence[str]) -> str:
    steps = [step for shape in shapes for step in STEPS_OF[shape] if step in design.steps]
    models: dict[str, list[str]] = {}
    for step in steps:
        models.setdefault(design.steps[step].model, []).append(step)
    names = {model: MODELS[model].name if model in MODELS else model for model in models}
    if len(models) == 1:
        return f"{next(iter(names.values()))} for every step"
    return ", ".join(f"{names[model]} for {' and '.join(of)}" for model, of in models.items())


def _settings(design: Design) -> str:
    caching = drafts.CHOICES["caching"].get(design.caching, design.caching)
    parts = [f"prompt caching {caching[0].lower()}{caching[1:]}", f"{plural(design.workers, 'call')} at once",
             f"data in tags {'on' if design.tags else 'off'}", f"at most {plural(design.limits.max_turns, 'turn')}, "
             f"{fmt.short(design.limits.max_tokens)} tokens and {fmt.dollars(design.limits.max_usd)} a run"]
    return "; ".join(parts)


def _footer(facts: Facts) -> tuple[str, ...]:
    dates = sorted({str(run.prices.get("date", "")) for run in facts.runs if run.prices.get("models")} - {""})
    prices = f"List prices as of {' and '.join(dates)}, in US dollars." if dates else "No list price is known here."
    return (f"Made with “{APP}”, a playground about one decision, on {_day(facts.now)}.",
            f"{prices} Tokens are those that the replies reported.",
            "Counts, ranks and joins were made by code; causes, summaries and quotes were written by the model and are "
            "shown as it wrote them.")


# --- figures ----------------------------------------------------------------------------------------------------------


def _outcome(facts: Facts, run: Run) -> compare.Outcome:
    totals = facts.totals[run.shape]
    return compare.Outcome(run.shape, facts.reports.get(run.shape), totals.calls, totals.input, totals.output,
                           totals.usd, totals.unreported, totals.unpriced)


def _figures(facts: Facts) -> Sheet:
    """One column per shape, so that two are read side by side."""
    told = [(run, facts.totals[run.shape], facts.reports.get(run.shape)) for run in facts.runs]
    costs = [totals.usd for _, totals, _ in told]
    lines = [
        ("status", [run.status for run, _, _ in told]),
        ("causes found", [fmt.exact(len(report.causes)) if report else "–" for _, _, report in told]),
        ("tickets placed", [f"{len(report.labels):,} of {report.total:,}" if report else "–" for *_, report in told]),
        ("with another, less frequent cause", [fmt.exact(report.other) if report else "–" for *_, report in told]),
        ("checks passed", [_passed(report) if report else "–" for *_, report in told]),
        ("calls", [f"{totals.calls:,}" + (f", {totals.errors:,} failed" if totals.errors else "")
                   for _, totals, _ in told]),
        ("input tokens", [fmt.at_least(fmt.exact(totals.input), totals.unreported) for _, totals, _ in told]),
        ("output tokens", [fmt.at_least(fmt.exact(totals.output), totals.unreported) for _, totals, _ in told]),
        ("cost", [fmt.at_least(fmt.dollars(totals.usd, beside=costs), totals.unpriced) for _, totals, _ in told]),
        ("time", [_time(totals) for _, totals, _ in told]),
    ]
    return Sheet(("", *(run.shape for run, _, _ in told)), tuple((what, *values) for what, values in lines))


def _time(totals: Totals) -> str:
    if totals.first_started is None or totals.last_ended is None:
        return "–"
    return fmt.seconds(totals.last_ended - totals.first_started)


def _passed(report: Report) -> str:
    judged = [check for check in report.checks if not check.is_gap]
    return f"{sum(check.passed for check in judged)} of {len(judged)}"


def _steps(calls: Mapping[str, Sequence[CallRow]]) -> Sheet | None:
    found: dict[tuple[str, str], list[CallRow]] = {}
    for shape, made in calls.items():
        for call in made:
            found.setdefault((shape, call.step), []).append(call)
    if not found:
        return None
    costs = [_known(call.usd for call in made)[0] for made in found.values()]
    rows = tuple((shape, step, *_step(made, costs)) for (shape, step), made in found.items())
    return Sheet(("shape", "step", "calls", "input tokens", "from the cache", "output tokens", "of it thinking", "cost",
                  "time of all calls"), rows, figures=2)


def _step(made: Sequence[CallRow], costs: Sequence[float | None]) -> tuple[str, ...]:
    paid = [call for call in made if call.billed is not False]      # what was refused for nothing reported nothing
    sums = [_known(values) for values in ((c.input for c in paid), (c.cache_read for c in paid),
                                          (c.output for c in paid), (c.thinking for c in paid))]
    usd, unpriced = _known(call.usd for call in made)
    thinking = fmt.exact(sums[3][0]) if sums[3][0] is not None else "–"
    return (fmt.exact(len(made)), *(fmt.at_least(fmt.exact(total), missing) for total, missing in sums[:3]), thinking,
            fmt.at_least(fmt.dollars(usd, beside=costs), unpriced), fmt.seconds(sum(call.seconds for call in made)))


def _known(values: Any) -> tuple[float | None, int]:
    """The sum of what is known, None where nothing is, and how many values it leaves out."""
    given = list(values)
    known = [value for value in given if value is not None]
    return (sum(known) if known or not given else None), len(given) - len(known)


def _notes(facts: Facts) -> tuple[str, ...]:
    """What a reader has to know before the answers: ends that came early, answers in parts, tickets without a cause."""
    told = []
    for run in facts.runs:
        if run.status in ("queued", "running"):
            told.append(f"{run.shape}: still at work when this was made; its figures are those so far.")
        elif run.status != "done":
            told.append(f"{run.shape}: {run.status}. {run.error}".strip())
        if report := facts.reports.get(run.shape):
            told += [f"{run.shape}: this is only a part of an answer. {report.partial}"] if report.partial else []
            if note := compare.no_repeats(report):
                told.append(f"{run.shape}: {note}")
            if report.failed:
                told.append(f"{run.shape}: {plural(len(report.failed), 'ticket')} without a label.")
    return tuple(told)


# --- answers ----------------------------------------------------------------------------------------------------------


def _pairs(facts: Facts) -> tuple[Pair, ...]:
    reports = facts.reports
    if len(reports) == 2 and not any(report.partial for report in reports.values()):
        return tuple(_pair(left, right) for left, right in compare.pairs(reports["pipeline"], reports["agent"]))
    columns = (reports[shape].causes if shape in reports else () for shape in ("pipeline", "agent"))
    return tuple(Pair(left and _told("pipeline", left), right and _told("agent", right))
                 for left, right in zip_longest(*columns))


def _pair(left: Cause | None, right: Cause | None) -> Pair:
    differs = " · ".join(compare.marks(left, right))
    return Pair(left and _told("pipeline", left), right and _told("agent", right), differs, same=not differs)


def _told(shape: str, cause: Cause) -> Told:
    claimed = f"the model said {cause.claimed}" if cause.claimed not in (None, cause.count) else ""
    keys = ", ".join(cause.tickets[:KEYS_TOLD]) + (" …" if cause.count > KEYS_TOLD else "")
    details = [("Products", ", ".join(cause.products)), ("Tickets", keys)]
    return Told(shape, cause.name, plural(cause.count, "ticket"), claimed, compare.customers_line(cause.customers),
                cause.summary, tuple(Quote(e.ticket, e.quote, e.found) for e in cause.evidence[:QUOTES]),
                tuple((what, names) for what, names in details if names), _customers(cause))


def _customers(cause: Cause) -> Sheet | None:
    rows = tuple((c.id, c.name if c.known else "not in the database", c.plan, c.region,
                  "" if c.monthly_revenue is None else f"{c.monthly_revenue:,.2f}".removesuffix(".00"),
                  fmt.exact(c.tickets)) for c in cause.customers)
    head = ("customer", "name", "plan", "region", "revenue a month", "tickets")
    return Sheet(head, rows, figures=4) if rows else None


def _checked(shape: str, report: Report) -> Checked:
    ranked = sorted(report.checks, key=lambda check: (check.is_gap, check.passed))
    return Checked(shape, f"{_passed(report)} passed", tuple(map(_line, ranked)))


def _line(check: Check) -> tuple[str, str]:
    mark = "·" if check.is_gap else "✓" if check.passed else "✕"
    return mark, f"{check.name}{f' · {check.cause}' if check.cause else ''}: {check.detail}"


# --- the design -------------------------------------------------------------------------------------------------------


def _prompts(runs: Sequence[Run]) -> tuple[Folded, ...]:
    design = _design(runs[0])
    if design is None:
        return ()
    shapes = [run.shape for run in runs]
    found = [Folded(f"{step}: system prompt · {design.steps[step].model}", design.steps[step].system)
             for shape in shapes for step in STEPS_OF[shape] if step in design.steps]
    if "agent" in shapes:
        found += [Folded(f"tool {tool.name}", f"{tool.description}\n\n"
                         f"{json.dumps(tool.input_schema, indent=2, ensure_ascii=False)}")
                  for tool in design.tools if tool.enabled]
    return tuple(found)


def _design(run: Run) -> Design | None:
    """The run's design; None when another version of the playground wrote it."""
    try:
        return Design.from_dict(run.design)
    except DesignError:
        return None


def _day(seconds: float) -> str:
    """"12 November 2026, 10:00 UTC"."""
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return "an unknown day"
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"
