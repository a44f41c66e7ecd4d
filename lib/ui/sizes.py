"""What each prompt and tool takes in a run of the data on the desk, and what its edits change, in a line each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import streamlit as st

from lib.design import Design, ToolText
from lib.phrases import plural
from lib.task.effect import Change, Taken
from lib.ui import basis, state
from lib.ui import format as fmt

NOUNS = {"label": ("ticket", "tickets"), "summary": ("cause", "causes"), "agent": ("turn", "turns")}
CALLS = ("call", "calls")
FORECAST, RUN = "by the forecast", "as in the newest run of these data"
HELP = {
    FORECAST: "Estimated: how often it is sent is the forecast's, and dollars are at the prices of the next run. Once "
              "there is a run of these data, its own calls count.",
    RUN: "Estimated: the calls of this desk's newest run of these data, asked again with the same replies, at the "
         "prices of the next run.",
}


class OfDesign:
    """The lines below the prompts and tools of the open design, as it stands; made once for a page."""

    def __init__(self) -> None:
        self._now, opened = state.design()[0], state.opened()
        key, self._runs = basis.state_of([self._now])
        self._found = _figures(*key, self._now.version, opened.version, self._now, opened)

    def prompt(self, step: str) -> None:
        """What the step's system prompt takes a run, and how much more that is since it was edited."""
        self._line(step, f"steps.{step}")

    def tool(self, key: str) -> None:
        """The same for a tool: its name, description and schema."""
        self._line("agent", f"tools.{key}")

    def _line(self, step: str, owner: str) -> None:
        found = self._found.get(owner)
        if found is None:
            sent = owner not in [f"tools.{tool.key}" for tool in self._now.tools if not tool.enabled]
            st.caption("What it takes a run is told once a run is possible." if sent else "not sent")
            return
        why = RUN if basis.SHAPE_OF[step] in self._runs else FORECAST
        edited = f"  \n**edited: {growth(found.edit)}** against the design that was opened" if found.edit else ""
        st.caption(fmt.escaped(f"≈ {size(found.whole)} a run, {why}{edited}"), help=HELP[why])


@dataclass(frozen=True)
class _Figures:
    whole: Change               # without the text, and with it
    edit: Change | None         # with the text as it was opened, and as it is; None while it is the same


@st.cache_resource(show_spinner=False, max_entries=64)
def _figures(path: str, held: str, data_id: str, prices: str, version: str, opened_version: str, _now: Design,
             _opened: Design) -> dict[str, _Figures]:
    """By "steps.label" or "tools.tally", of all texts at once; without those of which nothing can be told."""
    pairs = {**_prompts(_now, _opened), **_tools(_now, _opened)}
    taken = basis.of([_now, *(design for pair in pairs.values() for design in pair)])
    found = {owner: [_change(owner, taken(design), taken(_now)) for design in pair] for owner, pair in pairs.items()}
    return {owner: _Figures(whole, edit if pairs[owner][1].version != version else None)
            for owner, (whole, edit) in found.items() if whole}


def _change(owner: str, before: Mapping[str, Taken], after: Mapping[str, Taken]) -> Change | None:
    kind, name = owner.split(".", 1)
    step = name if kind == "steps" else "agent"
    return Change(step, before[step], after[step]) if step in before and step in after else None


def _prompts(now: Design, opened: Design) -> dict[str, tuple[Design, Design]]:
    """Owner -> the design without its text, and with the text as it was opened."""
    return {f"steps.{step}": (now.with_step(step, system=""),
                              now.with_step(step, system=opened.steps[step].system) if step in opened.steps else now)
            for step in now.steps}


def _tools(now: Design, opened: Design) -> dict[str, tuple[Design, Design]]:
    """The same; a tool that the opened design has not was not there."""
    there = {tool.key: (tool,) for tool in opened.tools}
    return {f"tools.{tool.key}": (_with(now, tool.key, ()), _with(now, tool.key, there.get(tool.key, ())))
            for tool in now.tools if tool.enabled}


def _with(design: Design, key: str, instead: tuple[ToolText, ...]) -> Design:
    """`design` with these in the place of its tool."""
    return replace(design, tools=tuple(each for tool in design.tools
                                       for each in (instead if tool.key == key else (tool,))))


# --- in words --------------------------------------------------------------------------------------------------------


def size(whole: Change) -> str:
    """"412 tokens × 40 tickets = 16,480 · $0.00206"."""
    return f"{_product(whole, '', '')} · {fmt.dollars(whole.usd)}"


def growth(change: Change) -> str:
    """"+43 tokens × 41 turns = +1,763 · +$0.0035"; "as many input tokens as before"."""
    if not change.tokens:
        return "as many input tokens as before" + (f" · {signed_dollars(change.usd)}" if change.usd else "")
    return f"{_product(change, '+', '−')} · {signed_dollars(change.usd)}"


def _product(change: Change, plus: str, minus: str) -> str:
    total = _signed(change.tokens, plus, minus)
    if change.before.calls != change.after.calls:
        return f"{total} tokens over {change.before.calls:,} → {_moved_calls(change)}"
    each = _signed(change.tokens / change.after.calls, plus, minus)
    if change.after.calls == 1:
        return f"{total} tokens, once"
    return f"{each} tokens × {_calls(change.step, change.after)} = {total}"


def _moved_calls(change: Change) -> str:
    return plural(change.after.calls, *(NOUNS["agent"] if change.step == "agent" else CALLS))


def _calls(step: str, taken: Taken) -> str:
    """"40 tickets", while each is asked about once; "43 calls" where some were asked about again."""
    again = step in ("label", "summary") and taken.calls != _asked_about(step)
    return plural(taken.calls, *(CALLS if again else NOUNS.get(step, CALLS)))


def _asked_about(step: str) -> int:
    return len(state.data().tickets) if step == "label" else state.design()[0].k


def signed_tokens(tokens: float) -> str:
    """1763 -> "+1,763", -40 -> "−40", 43.25 -> "+43.3", 0 -> "±0"."""
    return _signed(tokens, "+", "−") if tokens else "±0"


def _signed(number: float, plus: str, minus: str) -> str:
    whole = number == int(number)
    sign = plus if number > 0 else minus if number < 0 else ""
    return f"{sign}{abs(number):,.{0 if whole else 1}f}"


def signed_dollars(usd: float | None) -> str:
    """0.0035 -> "+$0.0035", -0.2 -> "−$0.2", 0 -> "±$0"; None -> "no price"."""
    if usd is None:
        return fmt.NO_PRICE
    return f"{'+' if usd > 0 else '−' if usd < 0 else '±'}{fmt.dollars(abs(usd))}"
