"""After a run: the estimate of each step, and of each request, held against what was reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from lib.charts import thinned
from lib.runs.store import CallRow, Run
from lib.ui import estimate, live, simulation, state
from lib.ui import format as fmt

MOST = 200      # requests of a run whose estimate is held against their report
MEASURES = ("calls", "input", "output", "usd")
OFF = "The estimate as a share of what was reported: +10 % means that it was too high."


def against_the_estimate(runs: list[Run]) -> None:
    """One line and a few rows for each run that came to its end; the estimate is what would be told before it today."""
    told = {run.shape: (run, forecast) for run in runs
            if run.status == "done" and (forecast := live.forecast_of(run)) and forecast.steps}
    if not told:
        return
    with st.container(key="run_held", gap="xsmall"):
        st.markdown("**Held against the estimate**")
        for shape, (run, forecast) in told.items():
            st.text(_sentence(shape, forecast, state.store().totals(run.id)))
        rows = [row for run, forecast in told.values() for row in _rows(run, forecast)]
        st.dataframe(rows, hide_index=True, height="content", key="run.held", placeholder=fmt.NOT_REPORTED,
                     column_config=_columns(), alt="Of each step calls, tokens and dollars: estimated, actual, off by")
        for line in dict.fromkeys(_requests_line(shape, run) for shape, (run, _) in told.items()):
            st.text(line)


def _sentence(shape: str, forecast: Any, totals: Any) -> str:
    """"The pipeline sent 39.6k input tokens, 36.3k were estimated: 8.4 % too low, inside its range of 33k–43k."."""
    if not totals.input or totals.unreported:
        return f"The {shape}: not every call reported its tokens, so the whole estimate cannot be held against them."
    told = forecast.input_tokens
    inside = forecast.low.input <= totals.input <= forecast.high.input
    return (f"The {shape} sent {fmt.short(totals.input)} input tokens, {fmt.short(told)} were estimated: "
            f"{estimate.off(told, totals.input)}, {'inside' if inside else 'outside'} its range of "
            f"{estimate.between(forecast.low.input, forecast.high.input)}.")


def _rows(run: Run, forecast: Any) -> list[dict[str, Any]]:
    from lib.task.forecast import held_against

    calls = state.calls(run.id)
    held = zip(*(held_against(forecast, calls, measure) for measure in MEASURES), strict=True)
    rows = [_row(run.shape, step) for step in held]
    return rows[-1:] if len(rows) == 2 else rows      # of one step, "all" is the same again


def _row(shape: str, step: tuple[Any, ...]) -> dict[str, Any]:
    calls, sent, replied, usd = step
    return {"shape": shape, "step": calls.step,
            "calls est.": calls.forecast, "calls": calls.actual,
            "input est.": sent.forecast, "input": sent.actual, "input off": _off(sent),
            "output est.": replied.forecast, "output": replied.actual, "output off": _off(replied),
            "dollars est.": fmt.dollars(usd.forecast), "dollars": fmt.dollars(usd.actual), "dollars off": _off(usd)}


def _off(held: Any) -> str:
    """"+4 %": the estimate was too high."""
    if held.off is None:
        return "–"
    percent = round(100 * held.off)
    return f"{percent:+} %".replace("-", "−") if percent else "0 %"


def _columns() -> dict[str, Any]:
    column = st.column_config
    numbers = {name: column.NumberColumn(name, format="localized")
               for kind in ("calls", "input", "output") for name in (f"{kind} est.", kind)}
    texts = {name: column.TextColumn(name, alignment="right") for name in ("dollars est.", "dollars")}
    shares = {name: column.TextColumn(name, alignment="right", help=OFF)
              for name in ("input off", "output off", "dollars off")}
    return {**numbers, **texts, **shares}


# --- request by request ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Missed:
    """How far the token estimates of requests were from what their replies reported, as shares."""

    requests: int
    mean: float
    most: float
    bias: float     # below 0: too low


def _requests_line(shape: str, run: Run) -> str:
    if simulation.wrote(run):
        return ("Request by request nothing can be said: in a simulated run the estimate and the reported count come "
                "from the same arithmetic, so an error of 0 % would prove nothing.")
    missed = _missed(str(state.settings().store), run.id, run.ended)
    if missed is None:
        return f"The {shape}'s requests, one by one: no reply reported its input tokens."
    return (f"The {shape}'s requests, one by one: the estimates of {missed.requests:,} were off by "
            f"{100 * missed.mean:.1f} % on average and {100 * missed.most:.1f} % at most, "
            f"{estimate.off(1 + missed.bias, 1)} taken together.")


@st.cache_resource(show_spinner=False, max_entries=32)
def _missed(path: str, run_id: str, ended: float | None) -> Missed | None:
    """Of up to MOST of the answered calls, spread evenly; None where none reported its input."""
    known = [call for call in state.calls(run_id) if not call.error and call.input]
    pairs = [(_estimated(call), call.input) for call in thinned(known, MOST)]
    if not pairs:
        return None
    shares = [told / actual - 1 for told, actual in pairs]
    together = sum(told for told, _ in pairs) / sum(actual for _, actual in pairs) - 1
    return Missed(len(pairs), sum(map(abs, shares)) / len(shares), max(map(abs, shares)), together)


def _estimated(call: CallRow) -> int:
    from lib.usage.tokens import estimate_request

    return estimate_request(state.store().exchange(call.id)[0])
