"""The policies that are worth holding against a recorded run, from what it did to what else could be done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from lib.models import model
from lib.usage.prices import prices_for
from lib.usage.tokens import estimate_request
from lib.usage.what_if.policy import AGENT, Exchange, Policy, WhatIf
from lib.usage.what_if.predict import predict

MODELS = ("claude-haiku-5-5", "claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-4-5")
OTHERS = 3                  # models that the run did not use
KEPT = 3                    # newest tool results
ROWS = 5
COMPACT_ABOVE = 20_000      # tokens, or less for a run that stays short


def ladder(exchanges: Sequence[Exchange], prices: Mapping[str, Any],
           models: Sequence[str] = MODELS) -> list[tuple[str, WhatIf]]:
    """(name, prediction) for each rung, the recorded run first. `prices` are the run's own; models that they lack are
    priced as of the same day."""
    used = {exchange.model for exchange in exchanges}
    others = [name for name in models if name not in used][:OTHERS]
    listed = _with_prices(prices, others)
    is_agent = any(exchange.step == AGENT for exchange in exchanges)
    rungs = [("as recorded", Policy()), *(_for_agent(exchanges) if is_agent else _for_pipeline(exchanges)),
             *((model(name).name, Policy(model=name)) for name in others), ("batch", Policy(batch=True))]
    return [(name, predict(exchanges, policy, listed)) for name, policy in rungs]


def _for_agent(exchanges: Sequence[Exchange]) -> Iterator[tuple[str, Policy]]:
    most = _compact_above([exchange for exchange in exchanges if exchange.step == AGENT])
    yield "caching off", Policy(caching="off")
    yield "automatic caching, 5 minutes", Policy(caching="auto-5m")
    yield "automatic caching, 1 hour", Policy(caching="auto-1h")
    yield "system prompt cached", Policy(caching="system")
    yield f"newest {KEPT} results kept", Policy(keep_results=KEPT)
    yield f"results cut to {ROWS} rows", Policy(result_rows=ROWS)
    yield f"compacted above {most:,} tokens", Policy(compact_above=most)
    yield "a fresh conversation per ticket", Policy(fresh_per_ticket=True)


def _for_pipeline(exchanges: Sequence[Exchange]) -> Iterator[tuple[str, Policy]]:
    if any(exchange.usage.cache_read or exchange.usage.write_5m or exchange.usage.write_1h for exchange in exchanges):
        yield "caching off", Policy(caching="off")
    yield "system prompt cached", Policy(caching="system")


def _compact_above(turns: Sequence[Exchange]) -> int:
    """COMPACT_ABOVE, or for a short run half of its longest prompt; never so little that every turn is above it."""
    first, last = (estimate_request(turn.request) for turn in (turns[0], turns[-1]))
    return round(max(min(COMPACT_ABOVE, last // 2), 2 * first), -3)


def _with_prices(prices: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    known = prices.get("models", {})
    missing = [name for name in names if name not in known]
    day = datetime.fromisoformat(prices["date"]).replace(tzinfo=UTC) if prices.get("date") else None
    return {**prices, "models": {**prices_for(missing, day)["models"], **known}} if missing else dict(prices)
