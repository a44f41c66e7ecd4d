"""Prices that a person sets, per model, in dollars per million tokens. They are kept on the desk, marked as theirs.

New runs keep them with their list prices and pay by them, and the forecast uses them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from lib.design import Design
from lib.runs.store import CallRow, Run
from lib.ui import connection, state
from lib.ui import format as fmt
from lib.usage.prices import PARTS, PriceRefused, cost, prices_for, with_own

TITLES = {"input": "input", "output": "output", "write_5m": "write, 5 min", "write_1h": "write, 1 h", "read": "read"}
ROW = 35            # pixels of a table's row
MINE = "set by you"

Own = dict[str, dict[str, float]]      # model -> part -> what was typed


def snapshot(run: Run) -> dict[str, Any]:
    """The prices that the run kept, with the person's own in front."""
    return with_own(_listed(run), _usable(_listed(run))[0])


def recorded(run: Run) -> dict[str, Any]:
    """The prices by which `priced` calls have theirs: the run's, and the person's own for models it has none for."""
    mine = snapshot(run)
    return {**mine, "models": {**mine["models"], **_listed(run)["models"]}}


def upcoming(design: Design) -> dict[str, Any]:
    """The prices that a run of this design would keep if it began now."""
    return with_own(_listed_now(design), of_next(design))


def of_next(design: Design) -> Own:
    """The person's own for the models of the design, as far as they make a price."""
    models, own = _models(design), _usable(_listed_now(design))[0]
    return {model: row for model, row in own.items() if model in models}


def set_by_person(prices: Mapping[str, Any], models: Iterable[str]) -> list[str]:
    """Those of the models whose price in this snapshot a person set."""
    rows = prices.get("models", {})
    return [model for model in models if rows.get(model, {}).get("source", "").startswith(MINE)]


def sources(prices: Mapping[str, Any], models: Iterable[str]) -> dict[str, list[str]]:
    """Where each price comes from, or "no price" -> the models that it holds for."""
    found: dict[str, list[str]] = {}
    for model in models:
        found.setdefault(prices["models"].get(model, {}).get("source", fmt.NO_PRICE), []).append(model)
    return found


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
    _editor("costs", models, listed, "Type over a price to ask what these runs would cost at yours. It holds for what "
            "has no price, for the what-if, for the forecast, and for the runs you start from now on. What calls with "
            "a price cost stays as it is.")


def editor_of_next(page: str) -> None:
    """The same for the models of the design, before a run."""
    design, _ = state.design()
    _editor(page, _models(design), _listed_now(design), "Type a price where none is known, as for a model of your own "
            "server, or over a list price. It holds for the estimate and for the runs you start from now on.")


def _editor(page: str, models: Sequence[str], listed: Mapping[str, Any], what: str) -> None:
    own, refused = _usable(listed)
    now = with_own(listed, own)["models"]
    touched = any(model in own for model in models)
    with st.expander("Prices ($ per million tokens)" + (f" · {MINE}" if touched else ""), key=f"{page}_prices",
                     icon=":material/sell:"):
        st.caption(what)
        key = f"{page}.prices.{_edition()}"
        st.data_editor([_row(model, now.get(model), own) for model in models], hide_index=True, key=key,
                       on_change=_save, args=(key, models), disabled=["model", "from"],
                       height=ROW * (len(models) + 1) + 3, placeholder=fmt.NO_PRICE, column_config=_columns(),
                       alt="Prices per model")
        for reason in refused:
            st.text(f"✕ {reason}")
        if typed():
            st.button("Back to list prices", key=f"{page}.prices.reset", icon=":material/restart_alt:", on_click=_reset)


def _row(model: str, price: Mapping[str, Any] | None, own: Own) -> dict[str, Any]:
    """What was typed stands there even while it is not enough for a price."""
    shown = {**dict.fromkeys(PARTS), **(price or {}), **typed().get(model, {})}
    source = MINE if model in own else price["source"] if price else fmt.NO_PRICE
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


def _models(design: Design) -> list[str]:
    return sorted({step.model for step in design.steps.values()})


def _listed_now(design: Design) -> dict[str, Any]:
    """What somebody's own server charges is not known, whatever its models are called."""
    models = _models(design) if connection.choice().priced else []
    return _prices_of(tuple(models), datetime.now(UTC).date().isoformat())


@st.cache_resource(show_spinner=False, max_entries=32)
def _prices_of(models: tuple[str, ...], day: str) -> dict[str, Any]:
    return prices_for(models)


def _all_listed(runs: Sequence[Run]) -> dict[str, Any]:
    found = [_listed(run) for run in runs]
    return {**found[0], "models": {model: row for prices in found for model, row in prices["models"].items()}}


def _priced(call: CallRow, prices: Mapping[str, Any]) -> CallRow:
    if call.error:
        return call
    return replace(call, usd=cost(prices, call.model, call.fresh, call.write_5m, call.write_1h, call.cache_read,
                                  call.output))
