"""Two answers to one question, and two runs after one another: what is the same, what differs, in plain sentences.

Causes carry whatever name the model chose, so they are matched by the tickets they hold, not by their names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff
from math import isclose

from lib.phrases import plural
from lib.runs.store import CallRow
from lib.task.report import Cause, Customer, Report
from lib.ui import format as fmt
from lib.usage.growth import Law, law_of, rest, sent_again, turns_of

SAME_FROM = 0.5         # share of common tickets (of all in either) from which two causes count as the same
TOLD_FROM = 5           # turns from which on the rest of an agent is told
MATCHED_WORDS = 4_000   # of two texts together; the time it takes grows with the square

Show = Callable[[float | None], str]     # a figure as a person reads it


@dataclass(frozen=True)
class Outcome:
    """What a sentence about one run needs."""

    shape: str
    report: Report | None
    calls: int
    input: int | None
    output: int | None
    usd: float | None
    unreported: int = 0         # calls that `input` leaves out
    unpriced: int = 0           # calls that `usd` leaves out
    replayed: bool = False      # `usd` is what it would list; nothing was paid
    seconds: float | None = None
    sent_back: int = 0          # replies that were not what was asked for, and asked again
    failed: int = 0             # calls without a reply

    @property
    def complete(self) -> bool:
        """Whether there is an answer, and not just the part that was known when the run ended early."""
        return self.report is not None and not self.report.partial


def pairs(left: Report, right: Report) -> list[tuple[Cause | None, Cause | None]]:
    """Causes of both answers side by side, the best match first taken; ranked as on the left, the right's rest last."""
    scores = sorted(((_overlap(a, b), -i, -j) for i, a in enumerate(left.causes) for j, b in enumerate(right.causes)),
                    reverse=True)
    match: dict[int, int] = {}
    for score, i, j in scores:
        if score >= SAME_FROM and -i not in match and -j not in match.values():
            match[-i] = -j
    rows = [(cause, right.causes[match[i]] if i in match else None) for i, cause in enumerate(left.causes)]
    return rows + [(None, cause) for j, cause in enumerate(right.causes) if j not in match.values()]


def _overlap(a: Cause, b: Cause) -> float:
    one, other = set(a.tickets), set(b.tickets)
    return len(one & other) / len(one | other) if one | other else 0.0


def sentence(outcomes: list[Outcome]) -> str:
    """The one line above the answers, written from the numbers; "" when no run has a whole answer yet."""
    done = [o for o in outcomes if o.complete]
    if len(done) == 2:
        return _both(*sorted(done, key=lambda o: o.shape != "pipeline"))
    return _one(done[0]) if done else ""


def _number(count: int) -> str:
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[count] if count < len(words) else f"{count:,}"


def _causes(count: int) -> str:
    return f"{_number(count)} {'cause' if count == 1 else 'causes'}"


def _one(outcome: Outcome) -> str:
    causes, calls = _causes(len(outcome.report.causes)), plural(outcome.calls, "call")
    return (f"The {outcome.shape} named {causes} with {calls}, {_tokens(outcome)} input tokens and "
            f"{_money(outcome)}; {_counts(outcome.report)}.")


def _both(pipeline: Outcome, agent: Outcome) -> str:
    return f"{_effort(pipeline, agent)} for {_same(pipeline.report, agent.report)}; {_counts(agent.report)}."


def _effort(pipeline: Outcome, agent: Outcome) -> str:
    """Factors only where both sums are whole."""
    if not pipeline.input or not agent.input or pipeline.unreported or agent.unreported:
        return "The agent and the pipeline have an answer, but not every call reported its tokens,"
    tokens = f"The agent sent {_factor(agent.input / pipeline.input)} the tokens of the pipeline"
    if pipeline.usd and agent.usd is not None and not pipeline.unpriced and not agent.unpriced:
        verb = "would cost" if agent.replayed else "cost"
        return f"{tokens} and {verb} {_factor(agent.usd / pipeline.usd)} as much"
    if pipeline.usd is None and agent.usd is None:
        return tokens       # "no price" stands beside each figure
    return f"{tokens} (not every call has a price)"


def _factor(value: float) -> str:
    return fmt.times(value) if value >= 0.95 else f"{value:.2f} ×"


def _same(left: Report, right: Report) -> str:
    same = sum(1 for a, b in pairs(left, right) if a and b)
    if same == len(left.causes) == len(right.causes):
        return f"the same {_causes(same)}"
    most = max(len(left.causes), len(right.causes))
    return f"an answer that shares {_number(same) if same else 'none'} of {_causes(most)}"


def _counts(report: Report) -> str:
    claimed = [c for c in report.causes if c.claimed is not None]
    if not claimed:
        return "its counts were made by code"
    right = sum(1 for c in claimed if c.claimed == c.count)
    if len(claimed) == 1:
        return f"its one count {'matches' if right else 'does not match'} the data"
    if right == len(claimed):
        return f"{'both' if right == 2 else f'all {right}'} counts match the data"
    return f"{right or 'none'} of its {len(claimed)} counts {'matches' if right == 1 else 'match'} the data"


def _tokens(outcome: Outcome) -> str:
    return fmt.at_least(fmt.short(outcome.input), outcome.unreported)


def _money(outcome: Outcome) -> str:
    if outcome.usd is None:
        return "no known price"
    paid = " (list price, not paid)" if outcome.replayed else ""
    return fmt.at_least(fmt.dollars(outcome.usd), outcome.unpriced) + paid


def no_repeats(report: Report) -> str:
    """Says that counting found nothing, where no cause has more than one ticket; else ""."""
    count = len(report.causes)
    if not count or any(cause.count > 1 for cause in report.causes):
        return ""
    these = "this one is" if count == 1 else f"these {_number(count)} are"
    return f"No cause has more than one ticket{f'; {these} first by name' if report.other else ''}."


def difference(before: Outcome, after: Outcome, same_data: bool = True) -> str:
    """One line on what a second run of the same shape changed: tokens, dollars, calls, failures, answer."""
    parts = [f"{what} {told}" for what, told in [*_sums(before, after), *_failures(before, after)]]
    return f"{after.shape}: " + " · ".join(parts + [_answer_change(before, after)] * same_data)


def differences(before: Outcome, after: Outcome, same_data: bool = True) -> list[tuple[str, str]]:
    """The same and all else that can be held against each other, one by one: what, and from what to what."""
    tokens, cost, calls = _sums(before, after)
    output = _change((before.output, before.unreported), (after.output, after.unreported), fmt.short)
    time = _change((before.seconds, 0), (after.seconds, 0), fmt.seconds)
    found = [tokens, ("output tokens", output), cost, ("time", time), calls, *_failures(before, after),
             ("checks passed", _moved(checks_passed(before.report), checks_passed(after.report)))]
    return found + [("answer", _answer_change(before, after))] * same_data


def _sums(before: Outcome, after: Outcome) -> list[tuple[str, str]]:
    def money(usd: float | None) -> str:
        return fmt.dollars(usd, beside=(before.usd, after.usd))
    return [("input tokens", _change((before.input, before.unreported), (after.input, after.unreported), fmt.short)),
            ("cost", _change((before.usd, before.unpriced), (after.usd, after.unpriced), money)),
            ("calls", _change((before.calls, 0), (after.calls, 0), fmt.exact))]


def _failures(before: Outcome, after: Outcome) -> list[tuple[str, str]]:
    """What went wrong in either: replies that failed validation, calls without a reply, tickets left without a label.
    """
    counts = (("replies sent back", before.sent_back, after.sent_back),
              ("calls that failed", before.failed, after.failed),
              ("tickets without a label", _unlabelled(before), _unlabelled(after)))
    return [(what, _moved(f"{was:,}", f"{now:,}")) for what, was, now in counts if was or now]


def _unlabelled(outcome: Outcome) -> int:
    return len(outcome.report.failed) if outcome.report else 0


def checks_passed(report: Report | None) -> str:
    """"9 of 10", what only the data lack left out; "no answer" where nothing could be checked."""
    if report is None:
        return "no answer"
    judged = [check for check in report.checks if not check.is_gap]
    return f"{sum(check.passed for check in judged)} of {len(judged)}"


def _moved(was: str, now: str) -> str:
    return f"unchanged ({now})" if was == now else f"{was} → {now}"


Sum = tuple[float | None, int]      # of what is known, and how many calls it leaves out


def _change(old: Sum, new: Sum, show: Show) -> str:
    (was, was_without), (now, now_without) = old, new
    shown = f"{fmt.at_least(show(was), was_without)} → {fmt.at_least(show(now), now_without)}"
    if was is None or now is None or was_without or now_without:
        return shown
    if isclose(was, now):       # the same dollars added up in another order
        return f"unchanged ({show(now)})"
    share = f" ({(now - was) / was:+.0%})" if was and abs(now - was) >= 0.005 * was else ""
    return f"{shown}{share}"


def _answer_change(before: Outcome, after: Outcome) -> str:
    if not before.complete or not after.complete:
        return "no whole answer to compare"
    rows = pairs(before.report, after.report)
    same = sum(1 for a, b in rows if a and b and a.count == b.count)
    if same == len(rows):
        return "same causes and counts"
    return f"{same} of {len(rows)} causes with the same count"


def edit(old: str, new: str) -> list[str]:
    """The words that went ("- …") and came ("+ …"), each change after the words that stay around it.

    A text that is mostly rewritten, or too long to match word by word, is shown as its old and its new lines.
    """
    before, after = old.split(), new.split()
    if before == after:
        return ["(only white space differs)"]
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if len(before) + len(after) > MATCHED_WORDS or matcher.ratio() < 0.5:
        return [line for line in unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0)
                if not line.startswith(("---", "+++", "@@"))]
    lines = []
    for group in matcher.get_grouped_opcodes(n=6):
        for kind, i, i_end, j, j_end in group:
            more = "… " if kind == "equal" and i == group[0][1] > 0 else ""
            lines += [f"  {more}{' '.join(before[i:i_end])}"] if kind == "equal" else []
            lines += [f"- {' '.join(before[i:i_end])}"] if kind in ("delete", "replace") else []
            lines += [f"+ {' '.join(after[j:j_end])}"] if kind in ("insert", "replace") else []
    return lines


def marks(left: Cause | None, right: Cause | None) -> list[str]:
    """What differs between two matched causes, in a few words each; empty when they agree."""
    if left is None or right is None:
        return ["only here"]
    found = []
    if left.count != right.count:
        found.append(f"{left.count} against {right.count} tickets")
    only = len(set(left.tickets) ^ set(right.tickets))
    if only:
        found.append(f"{plural(only, 'ticket')} in only one of them")
    if {c.id for c in left.customers} != {c.id for c in right.customers}:
        found.append("other customers")
    return found


def law_lines(calls: dict[str, list[CallRow]], measure: str) -> list[str]:
    """What the growth chart shows, in numbers: what a labelled ticket costs, what a turn resends and adds.

    Always two lines, the pipeline's and the agent's; a line is blank while nothing is known.
    """
    laws = {shape: law_of(shape, calls.get(shape, []), measure) for shape in ("pipeline", "agent")}
    return [_map_line(laws["pipeline"], measure), _loop_line(laws["agent"], measure)]


def _map_line(law: Law | None, measure: str) -> str:
    return f"Pipeline: {_amount(law.a, measure)} per ticket, a straight line." if law else ""


def _loop_line(law: Law | None, measure: str) -> str:
    if law is None:
        return ""
    if law.d > 0 and law.even_at is None:
        return f"Agent: every turn adds about {_amount(law.d, measure)} for all later turns."
    line = (f"Agent: every turn resends a fixed part of {_amount(law.a, measure)} and adds "
            f"{_amount(law.d, measure)} for all later turns")
    if law.overtaken_from:
        line += f"; from turn {law.overtaken_from} on, history has cost more than the fixed part"
    return line + "."


def turn_line(calls: list[CallRow], turns: int | None) -> str:
    """What of the agent's last turn it had sent before; while it runs, what `turns` of them will have sent in all."""
    last = sent_again([call.input for call in calls if call.step == "agent" and not call.error])
    parts = filter(None, [last, _in_all(turns_of(calls), turns) if turns else ""])
    told = "; ".join(parts)
    return f"Agent: {told}." if told else ""


def _in_all(taken: list[int], turns: int) -> str:
    band = rest(taken, turns) if TOLD_FROM <= len(taken) < turns else None
    if band is None:
        return ""
    low, high = (fmt.short(sum(taken) + end) for end in (band.low, band.high))
    return f"at this rate {turns} turns send {low if low == high else f'{low}–{high}'} in all"


def _amount(number: float, measure: str) -> str:
    return f"{fmt.short(number)} tokens" if measure == "input" else fmt.dollars(number)


def customers_line(customers: Sequence[Customer]) -> str:
    """"7 customers, 1 not in the database · Plans: 4 pro, 2 team · Regions: 6 EU · revenue 2,340 a month"; what is
    unknown is left out."""
    known = [c for c in customers if c.known]
    unknown = len(customers) - len(known)
    head = plural(len(customers), "customer") + (f", {unknown} not in the database" if unknown else "")
    revenue = [c.monthly_revenue for c in known if c.monthly_revenue is not None]
    money = f"revenue {sum(revenue):,.0f} a month" if revenue else ""
    parts = (head, _tally("Plans", (c.plan for c in known)), _tally("Regions", (c.region for c in known)), money)
    return " · ".join(part for part in parts if part)


def _tally(what: str, values: Iterable[str]) -> str:
    counts = Counter(v for v in values if v)
    shown = [f"{n} {value}" for value, n in counts.most_common(4)]
    return f"{what}: {', '.join(shown)}{' …' if len(counts) > 4 else ''}" if shown else ""
