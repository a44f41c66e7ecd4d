"""Two answers to one question, and two runs after one another: what is the same, what differs, in plain sentences.

Causes carry whatever name the model chose, so they are matched by the tickets they hold, not by their names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from lib.runs.store import CallRow
from lib.task.report import Cause, Customer, Report
from lib.ui import format as fmt
from lib.usage import growth

SAME_FROM = 0.5     # share of common tickets (of all in either) from which two causes count as the same


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
    """The one line above the answers, written from the numbers; "" when no run has an answer yet."""
    done = [o for o in outcomes if o.report]
    if len(done) == 2:
        return _both(*sorted(done, key=lambda o: o.shape != "pipeline"))
    return _one(done[0]) if done else ""


def _number(count: int) -> str:
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[count] if count < len(words) else f"{count:,}"


def _causes(count: int) -> str:
    return f"{_number(count)} {'cause' if count == 1 else 'causes'}"


def _one(outcome: Outcome) -> str:
    causes, calls = _causes(len(outcome.report.causes)), fmt.plural(outcome.calls, "call")
    return (f"The {outcome.shape} named {causes} with {calls}, {fmt.short(outcome.input)} input tokens and "
            f"{_money(outcome)}; {_counts(outcome.report)}.")


def _both(pipeline: Outcome, agent: Outcome) -> str:
    return (f"{_effort(pipeline, agent)} for {_same(pipeline.report, agent.report)}; "
            f"{_counts(agent.report, 'its')}.")


def _effort(pipeline: Outcome, agent: Outcome) -> str:
    if not pipeline.input or not agent.input:
        return "The agent and the pipeline have an answer, but not every call reported its tokens,"
    tokens = f"The agent sent {_factor(agent.input / pipeline.input)} the tokens of the pipeline"
    if pipeline.usd and agent.usd is not None:
        return f"{tokens} and cost {_factor(agent.usd / pipeline.usd)} as much"
    return f"{tokens} (there is no price for its model)"


def _factor(value: float) -> str:
    return fmt.times(value) if value >= 0.95 else f"{value:.2f} ×"


def _same(left: Report, right: Report) -> str:
    same = sum(1 for a, b in pairs(left, right) if a and b)
    if same == len(left.causes) == len(right.causes):
        return f"the same {_causes(same)}"
    return f"an answer that shares {_number(same)} of {_causes(max(len(left.causes), len(right.causes)))}"


def _counts(report: Report, whose: str = "its") -> str:
    claimed = [c for c in report.causes if c.claimed is not None]
    if not claimed:
        return "its counts were made by code"
    right = sum(1 for c in claimed if c.claimed == c.count)
    return f"{right} of {whose} {fmt.plural(len(claimed), 'count')} match the data"


def _money(outcome: Outcome) -> str:
    return "no known price" if outcome.usd is None else fmt.dollars(outcome.usd)


def difference(before: Outcome, after: Outcome) -> str:
    """One line on what a second run of the same shape changed: tokens, dollars, answer."""
    parts = [_change("input tokens", before.input, after.input, fmt.short),
             _change("cost", before.usd, after.usd, fmt.dollars),
             _change("calls", before.calls, after.calls, fmt.exact)]
    return f"{after.shape}: " + " · ".join(parts + [_answer_change(before.report, after.report)])


def _change(what: str, old: float | None, new: float | None, show: Show) -> str:
    if old is None or new is None:
        return f"{what} {show(old)} → {show(new)}"
    if old == new:
        return f"{what} unchanged ({show(new)})"
    share = f" ({(new - old) / old:+.0%})" if old and abs(new - old) >= 0.005 * old else ""
    return f"{what} {show(old)} → {show(new)}{share}"


def _answer_change(before: Report | None, after: Report | None) -> str:
    if not before or not after:
        return "no answer to compare"
    rows = pairs(before, after)
    same = sum(1 for a, b in rows if a and b and a.count == b.count)
    if same == len(rows):
        return "same causes and counts"
    return f"{same} of {len(rows)} causes with the same count"


def marks(left: Cause | None, right: Cause | None) -> list[str]:
    """What differs between two matched causes, in a few words each; empty when they agree."""
    if left is None or right is None:
        return ["only here"]
    found = []
    if left.count != right.count:
        found.append(f"{left.count} against {right.count} tickets")
    only = len(set(left.tickets) ^ set(right.tickets))
    if only:
        found.append(f"{fmt.plural(only, 'ticket')} in only one of them")
    if {c.id for c in left.customers} != {c.id for c in right.customers}:
        found.append("other customers")
    return found


def law_lines(calls: dict[str, list[CallRow]], measure: str) -> list[str]:
    """What the growth chart shows, in numbers: what a labelled ticket costs, what a turn resends and adds.

    Always two lines, the pipeline's and the agent's; a line is blank while nothing is known.
    """
    show = fmt.short if measure == "input" else fmt.dollars
    unit = " tokens" if measure == "input" else ""
    return [_map_law(calls.get("pipeline", []), measure, show, unit),
            _loop_law(calls.get("agent", []), measure, show, unit)]


def _amounts(calls: list[CallRow], measure: str, step: str) -> list[float]:
    amounts = (c.input if measure == "input" else c.usd for c in calls if c.step == step)
    return [a for a in amounts if a is not None]


def _map_law(calls: list[CallRow], measure: str, show: Show, unit: str) -> str:
    each = _amounts(calls, measure, "label")
    return f"Pipeline: {show(sum(each) / len(each))}{unit} per ticket, a straight line." if each else ""


def _loop_law(calls: list[CallRow], measure: str, show: Show, unit: str) -> str:
    turns = _amounts(calls, measure, "agent")
    if len(turns) < 3:
        return ""
    law = growth.fit(turns)
    line = f"Agent: every turn resends {show(law.a)}{unit} and adds {show(law.d)} that all later turns carry"
    if law.crossover is not None and law.crossover + 1 <= len(turns):
        line += f"; from turn {law.crossover + 1:.0f} on, history has cost more than the fixed part"
    return line + "."


def customers_line(customers: Sequence[Customer]) -> str:
    """"7 customers, 1 not in the database · 4 pro, 2 team · 6 EU · 2,340 a month"; what is unknown is left out."""
    known = [c for c in customers if c.known]
    unknown = len(customers) - len(known)
    head = fmt.plural(len(customers), "customer") + (f", {unknown} not in the database" if unknown else "")
    revenue = [c.monthly_revenue for c in known if c.monthly_revenue is not None]
    money = f"{sum(revenue):,.0f} a month" if revenue else ""
    return " · ".join(p for p in (head, _tally(c.plan for c in known), _tally(c.region for c in known), money) if p)


def _tally(values: Iterable[str]) -> str:
    counts = Counter(v for v in values if v)
    shown = [f"{n} {value}" for value, n in counts.most_common(4)]
    return ", ".join(shown) + (" …" if len(counts) > 4 else "")
