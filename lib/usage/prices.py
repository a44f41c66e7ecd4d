"""List prices in US dollars per million tokens, as a plain snapshot that a run keeps, and the cost of a call by it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

# What the genai-prices package (0.2.3) has no row for. Anthropic's pricing page, read on OWN_DATE: input, output,
# write 5m, write 1h, read.
OWN_DATE = "2026-11-30"
OWN = {
    "claude-mythos-5-1": (10, 50, 12.5, 20, 0.25),
    "claude-mythos-5": (10, 50, 12.5, 20, 1.0),
}

PARTS = ("input", "output", "write_5m", "write_1h", "read")
BATCH = 0.5     # the Batches API's price, on every part including the cache


def prices_for(model_ids: Iterable[str], at: datetime | None = None) -> dict[str, Any]:
    """The prices that hold at a moment (now, unless given), as JSON data.

    `{"date", "currency", "per", "models": {id: {"input", "output", "write_5m", "write_1h", "read", "source",
    "tiers": [{"above": prompt tokens, …the same five}]}}}`. A model without a known price is left out.
    """
    at = at or datetime.now(UTC)
    rows = {model: _packaged(model, at) or _own(model) for model in dict.fromkeys(model_ids)}
    return {"date": at.date().isoformat(), "currency": "USD", "per": 1_000_000,
            "models": {model: row for model, row in rows.items() if row}}


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
    if model not in OWN:
        return None
    rates = dict(zip(PARTS, map(float, OWN[model]), strict=True))
    return {**rates, "source": f"Anthropic's price list of {OWN_DATE}", "tiers": []}
