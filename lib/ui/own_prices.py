"""Prices that a person sets, per model, in dollars per million tokens. They are kept on the desk, marked as theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from lib.runs.store import CallRow, Run
from lib.ui import state
from lib.usage.prices import PARTS, PriceRefused, cost, prices_for, with_own

TITLES = {"input": "input", "output": "output", "write_5m": "write, 5 min", "write_1h": "write, 1 h", "read": "read"}
ROW = 35            # pixels of a table's row

Own = dict[str, dict[str, float]]      # model -> part -> what was typed


def snapshot(run: Run) -> dict[str, Any]:
    """The prices that the run kept, with the person's own in front."""
    return with_own(_listed(run), _usable(_listed(run))[0])


def recorded(run: Run) -> dict[str, Any]:
    """The prices by which `priced` calls have theirs: the run's, and the person's own for models it has none for."""
    mine = snapshot(run)
    return {**mine, "models": {**mine["models"], **_listed(run)["models"]}}


def at(calls: Sequence[CallRow], prices: Mapping[str, Any]) -> list[CallRow]:
    """The calls at these prices, whatever they cost when they were made."""
    return [_priced(call, prices) for call in calls]


def priced(calls: Sequence[CallRow], prices: Mapping[str, Any]) -> list[CallRow]:
    """The calls, those without a price at the person's own where there is one. What has a price keeps it."""
    mine = {model for model in typed() if model in prices["models"]}
    return [_priced(call, prices) if call.usd is None and call.model in mine else call for call in calls]


def typed() -> Own:
    """As kept on the desk; what another hand left there of another kind is left out."""
    kept = {model: row for model, row in state.desk()["prices"].items() if isinstance(row, dict)}
    numbers = {model: {part: row[part] for part in PARTS if isinstance(row.get(part), int | float)}
               for model, row in kept.items()}
    return {model: row for model, row in numbers.items() if row}


def editor(runs: list[Run], calls: Sequence[CallRow]) -> None:
    """A table with the models of these runs: what holds for them, to be changed cell by cell."""
    listed = _all_listed(runs)
    models = sorted({call.model for call in calls} | set(listed["models"]))
    own, refused = _usable(listed)
    now = with_own(listed, own)["models"]
    with st.expander("Prices ($ per million tokens)" + (" · set by you" if own else ""), key="costs_prices",
                     icon=":material/sell:"):
        st.caption("Type over a price to ask what these runs would cost at yours. It holds on this page: for what has "
                   "no price, for the what-if and for the forecast. What calls with a list price cost stays as it is.")
        key = f"costs.prices.{_edition()}"
        st.data_editor([_row(model, now.get(model), own) for model in models], hide_index=True, key=key,
                       on_change=_save, args=(key, models), disabled=["model", "from"],
                       height=ROW * (len(models) + 1) + 3, placeholder="no price", column_config=_columns(),
                       alt="Prices per model")
        for reason in refused:
            st.text(f"✕ {reason}")
        if typed():
            st.button("Back to list prices", key="costs.prices.reset", icon=":material/restart_alt:", on_click=_reset)


def _row(model: str, price: Mapping[str, Any] | None, own: Own) -> dict[str, Any]:
    """What was typed stands there even while it is not enough for a price."""
    shown = {**dict.fromkeys(PARTS), **(price or {}), **typed().get(model, {})}
    source = "set by you" if model in own else price["source"] if price else "no price"
    return {"model": model, **{part: shown[part] for part in PARTS}, "from": source}


def _columns() -> dict[str, Any]:
    numbers = {part: st.column_config.NumberColumn(title, min_value=0.0, format="$%.4g")
               for part, title in TITLES.items()}
    return {**numbers, "from": st.column_config.TextColumn("from", width="medium")}


def _save(key: str, models: Sequence[str]) -> None:
    kept = typed()
    for place, cells in st.session_state[key]["edited_rows"].items():
        row = {**kept.get(models[int(place)], {}), **cells}
        kept[models[int(place)]] = {part: number for part, number in row.items() if number is not None}
    state.keep(prices={model: row for model, row in kept.items() if row})
    _renew()


def _reset() -> None:
    state.keep(prices={})
    _renew()


def _edition() -> int:
    return st.session_state.get("_prices_edition", 0)


def _renew() -> None:
    """A new table: the browser's one still holds the edits that are on the desk by now."""
    st.session_state["_prices_edition"] = _edition() + 1


def _usable(listed: Mapping[str, Any]) -> tuple[Own, list[str]]:
    """What was typed, with the list's input and output price where only another part was, and what makes no price."""
    own, refused = {}, []
    for model, row in typed().items():
        usual = listed["models"].get(model, {})
        whole = {**{part: usual[part] for part in ("input", "output") if usual.get(part) is not None}, **row}
        try:
            with_own(listed, {model: whole})
            own[model] = whole
        except PriceRefused as reason:
            refused.append(str(reason))
    return own, refused


def _listed(run: Run) -> dict[str, Any]:
    return {**prices_for([]), **run.prices} if not run.prices.get("models") else run.prices


def _all_listed(runs: Sequence[Run]) -> dict[str, Any]:
    found = [_listed(run) for run in runs]
    return {**found[0], "models": {model: row for prices in found for model, row in prices["models"].items()}}


def _priced(call: CallRow, prices: Mapping[str, Any]) -> CallRow:
    if call.error:
        return call
    return replace(call, usd=cost(prices, call.model, call.fresh, call.write_5m, call.write_1h, call.cache_read,
                                  call.output))
