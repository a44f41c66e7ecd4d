"""One sentence for each picture of the Costs page, written from its numbers; "" while there is nothing to say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lib.charts_costs import amount_of
from lib.models import MODELS
from lib.phrases import plural
from lib.runs.store import CallRow
from lib.tickets.visible import visible
from lib.ui import format as fmt
from lib.usage.growth import law_of, percent_before, resets
from lib.usage.what_if import WhatIf

MODEL_NAMES = {each.name for each in MODELS.values()}    # rungs whose tokens are others, of the same words

Calls = Mapping[str, Sequence[CallRow]]
SHOW: dict[str, Callable[[float | None], str]] = {
    "input": lambda n: fmt.NOT_REPORTED if n is None else f"{fmt.short(n)} tokens", "usd": fmt.dollars,
    "seconds": fmt.seconds}


# --- 1 ---------------------------------------------------------------------------------------------------------------


def cumulative(calls: Calls, measure: str) -> str:
    parts = {"input": _sent, "usd": _cost, "seconds": _took}[measure](calls)
    return _sentence(parts)


def _sent(calls: Calls) -> list[str]:
    return [_agent_sent(calls.get("agent", ())), _pipeline_sent(calls.get("pipeline", ()))]


def _agent_sent(calls: Sequence[CallRow]) -> str:
    """Of the longest prompt, what it had sent before; what else the law says of the run."""
    inputs = [call.input for call in _answered(calls) if call.input is not None]
    if not inputs:
        return ""
    turn = max(range(len(inputs)), key=inputs.__getitem__)
    if turn == 0:
        return f"the agent sent {fmt.exact(inputs[0])} tokens in its longest turn, the first"
    told = f"turn {turn + 1} of the agent sent {fmt.exact(inputs[turn])} tokens"
    if inputs[turn - 1] <= inputs[turn]:
        told += f", of which {percent_before(inputs[turn - 1], inputs[turn])} % it had sent before"
    if forgot := resets(inputs):
        return f"{told}; it forgot before {plural(len(forgot), 'turn')}, so no one law holds"
    law = law_of("agent", calls)
    if law and law.overtaken_from:
        told += f", and from turn {law.overtaken_from} on history has cost more than the fixed part"
    return told


def _pipeline_sent(calls: Sequence[CallRow]) -> str:
    law = law_of("pipeline", calls)
    if law is None:
        return ""
    return f"the pipeline sent {fmt.short(law.a)} tokens to label a ticket, whatever came before"


def _cost(calls: Calls) -> list[str]:
    sums = {shape: _sum(call.usd for call in made) for shape, made in calls.items()}
    known = {shape: usd for shape, usd in sums.items() if usd is not None}
    missing = {shape: sum(call.usd is None for call in calls[shape]) for shape in known}
    figures = {shape: fmt.at_least(fmt.dollars(usd, beside=known.values()), missing[shape])
               for shape, usd in known.items()}
    told = [f"the {shape} cost {figure}" for shape, figure in reversed(figures.items())]
    if len(known) == 2 and all(known.values()) and not any(missing.values()):
        told = [f"{told[0]}, {fmt.times(known['agent'] / known['pipeline'])} the {figures['pipeline']} of the pipeline"]
    last = [call.usd for call in _answered(calls.get("agent", ())) if call.usd]
    if len(last) > 1:
        told.append(f"the agent's last turn cost {fmt.times(last[-1] / last[0])} its first")
    return told


def _took(calls: Calls) -> list[str]:
    return [f"the {shape} took {fmt.seconds(_elapsed(made))} for {plural(len(made), 'call')}{_together(made)}"
            for shape, made in calls.items() if made]


def _together(calls: Sequence[CallRow]) -> str:
    return f", which add up to {fmt.seconds(sum(call.seconds for call in calls))}" if len(calls) > 1 else ""


def _elapsed(calls: Sequence[CallRow]) -> float:
    return max(call.started + call.seconds for call in calls) - min(call.started for call in calls)


def published(measure: str, turns: Mapping[str, Sequence[tuple[int, int]]], source: str, model: str) -> str:
    """Where the published run comes from, and what it shows."""
    if measure == "seconds":
        return "The published run tells no seconds."
    kept, compacted = turns["keep_all"], turns["compact_at_5000"]
    forgot = " and ".join(str(turn) for turn in resets([sent for sent, _ in compacted]))
    priced = f" Dollars at the list price of {model}." if measure == "usd" else ""
    return (f"Published: {source}. It kept all and sent {fmt.exact(sum(sent for sent, _ in kept))} tokens in "
            f"{len(kept)} turns; compacted above 5,000 tokens it forgot before turns {forgot} (◆), follows no one law, "
            f"and sent {fmt.exact(sum(sent for sent, _ in compacted))}, without its two summarising calls.{priced}")


# --- 2 ---------------------------------------------------------------------------------------------------------------


def composition(calls: Calls, measure: str) -> str:
    if measure == "seconds":
        return _sentence([_waited(shape, made) for shape, made in calls.items() if made])
    told = {shape: counted for shape, made in reversed(calls.items())
            if (counted := [call for call in made if call.input])}
    if told and not any(call.input != call.fresh for made in told.values() for call in made):
        sums = " and ".join(f"{fmt.short(_input(made))} of the {shape}" for shape, made in told.items())
        return f"No input token was read from a cache: all {sums} were paid as fresh."
    return _sentence([_made_of(shape, made) for shape, made in told.items()])


def _input(calls: Iterable[CallRow]) -> int:
    return sum(call.input for call in calls)


def _made_of(shape: str, calls: Sequence[CallRow]) -> str:
    total, read, fresh = _input(calls), sum(call.cache_read for call in calls), sum(call.fresh for call in calls)
    told = f"of the {shape}'s {fmt.short(total)} input tokens"
    if total == fresh:
        return f"{told} all were fresh"
    if not read:
        return f"{told} {_share(total - fresh, total)} was written to the cache and never read"
    written = total - read - fresh
    return (f"{told} {_share(read, total)} was read from the cache, {_share(written, total)} written to it and "
            f"{_share(fresh, total)} fresh")


def _waited(shape: str, calls: Sequence[CallRow]) -> str:
    waited, took = sum(call.waited for call in calls), sum(call.seconds for call in calls)
    slowest = max(call.seconds for call in calls)
    told = f"the {shape}'s slowest call took {fmt.seconds(slowest)}"
    return told + (f"; {fmt.seconds(waited)} of {fmt.seconds(took)} were spent waiting for a busy server" if waited
                   else "")


def _share(part: float, whole: float) -> str:
    if not part:
        return "none"
    share = 100 * part / whole
    return f"{share:.0f} %" if share >= 1 else "less than 1 %"


# --- 3 ---------------------------------------------------------------------------------------------------------------


def ladder(rungs: Mapping[str, Sequence[tuple[str, WhatIf]]], measure: str) -> str:
    return _sentence([_best(shape, found, measure) for shape, found in reversed(rungs.items())])


def _best(shape: str, rungs: Sequence[tuple[str, WhatIf]], measure: str) -> str:
    amounts = [(amount, name) for name, found in rungs if (amount := amount_of(found, measure)) is not None
               and not (measure == "input" and name in MODEL_NAMES)]
    if not amounts or amounts[0][1] != rungs[0][0]:
        return ""
    recorded, (least, name), show = amounts[0][0], min(amounts), SHOW[measure]
    if least > 0.995 * recorded or show(least) == show(recorded):
        return f"for the {shape} none of these takes less than the {show(recorded)} recorded"
    figures = (fmt.dollars(each, beside=(least, recorded)) for each in (least, recorded)) if measure == "usd" else \
        (show(least), show(recorded))
    now, before = figures
    return f"for the {shape} “{name}” takes least, {now} instead of {before} (−{1 - least / recorded:.0%})".replace(
        "%)", " %)")


def noted(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Note -> the rungs that it holds for, with the shape where it does not hold for the other's rung of that name."""
    shapes: dict[str, set[str]] = {}
    found: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        shapes.setdefault(row["name"], set()).add(row["shape"])
        for note in row["notes"]:
            found.setdefault(note, {}).setdefault(row["name"], []).append(row["shape"])
    return {note: [name if shapes[name] == set(of) else f"{name} ({', '.join(of)})" for name, of in names.items()]
            for note, names in found.items()}


# --- 4 ---------------------------------------------------------------------------------------------------------------


def scale(rows: Sequence[Any], measure: str) -> str:
    pipeline, agent = ([row for row in rows if row.shape == shape] for shape in ("pipeline", "agent"))
    return _sentence([_far(pipeline, measure), _window(agent, measure)])


def _far(rows: Sequence[Any], measure: str) -> str:
    if not rows:
        return ""
    last = max(rows, key=lambda row: row.tickets)
    amount = _scaled(last, measure)
    if amount is None:
        return "no price is known for the pipeline"
    told = SHOW[measure](amount)
    if measure == "usd" and last.usd_batch is not None:
        told += f", {fmt.dollars(last.usd_batch)} with the labels in a batch"
    return f"{last.tickets:,} tickets take the pipeline ≈ {told}"


def _window(rows: Sequence[Any], measure: str) -> str:
    fitting, beyond = [row for row in rows if row.fits], [row for row in rows if not row.fits]
    told = ""
    if fitting:
        last = max(fitting, key=lambda row: row.tickets)
        amount = _scaled(last, measure)
        told = "no price is known for the agent" if amount is None else \
            f"the agent takes ≈ {SHOW[measure](amount)} for {last.tickets:,}"
    if beyond:
        first = min(row.tickets for row in beyond)
        end = f"from {first:,} on its conversation no longer fits the model's window"
        return f"{told}, and {end}" if told else f"the agent cannot: {end}"
    return told


def _scaled(row: Any, measure: str) -> float | None:
    return {"input": row.input, "usd": row.usd, "seconds": row.seconds}[measure]


def scale_notes(rows: Sequence[Any]) -> list[str]:
    """What is to be known of each shape at the greatest size that fits, and at the first that does not."""
    told = []
    for shape in dict.fromkeys(row.shape for row in rows):
        mine = sorted((row for row in rows if row.shape == shape), key=lambda row: row.tickets)
        fitting, beyond = [row for row in mine if row.fits], [row for row in mine if not row.fits]
        told += [f"{shape}, {row.tickets:,} tickets: {visible(row.note)}." for row in fitting[-1:] + beyond[:1]
                 if row.note]
    return told


# --- shared ----------------------------------------------------------------------------------------------------------


def _answered(calls: Iterable[CallRow]) -> list[CallRow]:
    return [call for call in sorted(calls, key=lambda call: call.started) if not call.error]


def _sum(parts: Iterable[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known else None


def _sentence(parts: Iterable[str]) -> str:
    text = "; ".join(part for part in parts if part)
    return f"{text[0].upper()}{text[1:]}." if text else ""
