"""List prices in US dollars per million tokens, as a plain snapshot that a run keeps, and the cost of a call by it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from lib.errors import InputError

# What the genai-prices package (0.2.3) has no row for. Anthropic's pricing page, read on OWN_DATE: input, output,
# write 5m, write 1h, read.
OWN_DATE = "2026-11-30"
OWN = {
    "claude-mythos-5-1": (10, 50, 12.5, 20, 0.25),
    "claude-mythos-5": (10, 50, 12.5, 20, 1.0),
}
# Priced by LiteLLM's table alone, and there without the cache, whose prices follow by the usual multipliers.
SECOND_HAND = {"claude-mythos-preview": (10, 50)}
SECOND_HAND_SOURCE = "LiteLLM 1.110.2, November 2026, not on Anthropic's list"

PARTS = ("input", "output", "write_5m", "write_1h", "read")
CACHE = {"write_5m": 1.25, "write_1h": 2.0, "read": 0.1}    # of the input price, where nothing else is known
MOST = 100_000  # dollars per million tokens: more is a slip of the finger
BATCH = 0.5     # the Batches API's price, on every part including the cache


class PriceRefused(InputError):
    """A price that a person typed and that cannot be one; the message names model and part."""


def prices_for(model_ids: Iterable[str], at: datetime | None = None) -> dict[str, Any]:
    """The prices that hold at a moment (now, unless given), as JSON data.

    `{"date", "currency", "per", "models": {id: {"input", "output", "write_5m", "write_1h", "read", "source",
    "tiers": [{"above": prompt tokens, …the same five}]}}}`. A model without a known price is left out.
    """
    at = at or datetime.now(UTC)
    rows = {model: _packaged(model, at) or _own(model) for model in dict.fromkeys(model_ids)}
    return {"date": at.date().isoformat(), "currency": "USD", "per": 1_000_000,
            "models": {model: row for model, row in rows.items() if row}}


def with_own(prices: Mapping[str, Any], own: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The same snapshot with a person's prices in front: `{model: {"input": 0.5, "output": 2, "read": 0.05, …}}`.

    Input and output are needed; the cache's parts follow from input where they are left out (`CACHE`), and "source"
    says so. An own price holds for prompts of every length. Raises PriceRefused for what cannot be a price.
    """
    typed = {model: _typed(model, row) for model, row in own.items()}
    return {**prices, "models": {**prices.get("models", {}), **typed}}


def cost(prices: dict[str, Any], model: str, fresh: int | None, write_5m: int | None, write_1h: int | None,
         read: int | None, output: int | None, batch: bool = False) -> float | None:
    """US dollars of one call by the snapshot; None when the model, a needed price or a token count is unknown.

    `functools.partial(cost, prices)` is the `price` that the ledger and the budget take.
    """
    row = prices.get("models", {}).get(model)
    tokens = {"input": fresh, "output": output, "write_5m": write_5m, "write_1h": write_1h, "read": read}
    if row is None or None in tokens.values():
        return None
    rates = _tier(row, fresh + write_5m + write_1h + read)
    used = {part: count for part, count in tokens.items() if count}
    if any(rates[part] is None for part in used):
        return None
    usd = sum(count * rates[part] for part, count in used.items()) / prices.get("per", 1_000_000)
    return usd * BATCH if batch else usd


def _typed(model: str, row: Mapping[str, Any]) -> dict[str, Any]:
    if not model.strip():
        raise PriceRefused("A price needs the name of its model. Enter it as the design names it.")
    unknown = sorted(set(row) - set(PARTS))
    if unknown:
        raise PriceRefused(f'"{unknown[0]}" is no part of a price of {model}. The parts are {", ".join(PARTS)}.')
    given = {part: _number(model, part, row[part]) for part in PARTS if row.get(part) is not None}
    for part in ("input", "output"):
        if part not in given:
            raise PriceRefused(f"{model} has no {part} price. Enter dollars per million tokens; 0 if it costs nothing.")
    return _filled(given, "set by you")


def _number(model: str, part: str, value: Any) -> float:
    number = math.nan if isinstance(value, bool) else _float(value)
    if not 0 <= number <= MOST:
        raise PriceRefused(f"The {part} price of {model} is {value!r}. "
                           f"Enter dollars per million tokens, from 0 to {MOST:,}.")
    return number


def _float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def _filled(given: Mapping[str, float], source: str) -> dict[str, Any]:
    """A row without length steps; the parts that are not `given` follow from the input price, which `source` tells."""
    missing = [part for part in CACHE if part not in given]
    told = ", ".join(f"{part} = {CACHE[part]:g} × input" for part in missing)
    rates = {**{part: round(given["input"] * CACHE[part], 9) for part in missing}, **given}
    return {**{part: rates[part] for part in PARTS}, "source": f"{source}; {told}" if told else source, "tiers": []}


def _tier(row: dict[str, Any], prompt: int) -> dict[str, Any]:
    """The rates for a prompt of this length, cached tokens included: a step changes the price of the whole call."""
    passed = [tier for tier in row["tiers"] if prompt > tier["above"]]
    return max(passed, key=lambda tier: tier["above"]) if passed else row


def _packaged(model: str, at: datetime) -> dict[str, Any] | None:
    # Reads the data inside the package; its updater, which would use the network, is never started.
    from genai_prices import Usage, __version__, calc_price

    try:
        found = calc_price(Usage(input_tokens=0, output_tokens=0), model, provider_id="anthropic",
                           genai_request_timestamp=at).model_price
    except LookupError:
        return None
    names = ("input_mtok", "output_mtok", "cache_write_mtok", "cache_write_1h_mtok", "cache_read_mtok")
    rates = {part: getattr(found, name) for part, name in zip(PARTS, names, strict=True)}
    steps = sorted({tier.start for rate in rates.values() for tier in getattr(rate, "tiers", ())})
    return {**_rates(rates, 0), "source": f"genai-prices {__version__}",
            "tiers": [{"above": step, **_rates(rates, step + 1)} for step in steps]}


def _rates(rates: dict[str, Any], prompt: int) -> dict[str, float | None]:
    return {part: _rate(rate, prompt) for part, rate in rates.items()}


def _rate(rate: Any, prompt: int) -> float | None:
    """A package's rate for a prompt of this length; it is a Decimal, or a base with steps in rising order."""
    if rate is None:
        return None
    passed = [tier.price for tier in getattr(rate, "tiers", ()) if prompt > tier.start]
    return float(passed[-1] if passed else getattr(rate, "base", rate))


def _own(model: str) -> dict[str, Any] | None:
    for table, source in ((OWN, f"Anthropic's price list of {OWN_DATE}"), (SECOND_HAND, SECOND_HAND_SOURCE)):
        if model in table:
            return _filled(dict(zip(PARTS, map(float, table[model]), strict=False)), source)
    return None
