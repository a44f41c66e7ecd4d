"""Prices are a snapshot, costs are exact, and an unknown price is never zero."""

from __future__ import annotations

import json
import socket
from datetime import UTC, datetime
from functools import partial

import pytest

from lib.errors import InputError
from lib.models import MODELS
from lib.usage.prices import BATCH, OWN, PARTS, SECOND_HAND, PriceRefused, cost, prices_for, with_own
from lib.usage.reported import reported

SONNET = {"input": 3, "output": 15, "read": 0.3, "write_5m": 3.75, "write_1h": 6}
NOW = datetime(2026, 11, 30, tzinfo=UTC)

# Usage as the API sends it at Sonnet 4.6's prices → dollars, and in a batch.
BILLS = {
    "plain": ({"input_tokens": 1000, "output_tokens": 200}, 0.006, 0.003),
    "cached input is not in input_tokens": (
        {"input_tokens": 7, "output_tokens": 200, "cache_read_input_tokens": 10_000,
         "cache_creation_input_tokens": 0}, 0.006021, 0.0030105),
    "written for 5 minutes": (
        {"input_tokens": 7, "output_tokens": 10, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 4000,
         "cache_creation": {"ephemeral_5m_input_tokens": 4000, "ephemeral_1h_input_tokens": 0}}, 0.015171, 0.0075855),
    "written for both": (
        {"input_tokens": 7, "output_tokens": 10, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 5000,
         "cache_creation": {"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 4000}},
        0.027921, 0.0139605),
    "nulls": (
        {"input_tokens": 50, "output_tokens": 5, "cache_read_input_tokens": None,
         "cache_creation_input_tokens": None, "cache_creation": None}, 0.000225, 0.0001125),
    "cache fields absent": ({"input_tokens": 50, "output_tokens": 5}, 0.000225, 0.0001125),
}

# Anthropic's pricing page, November 2026: input, output, write 5m, write 1h, read.
LIST = {
    "claude-fable-5-2": (8, 40, 10, 16, 0.20), "claude-mythos-5-2": (8, 40, 10, 16, 0.20),
    "claude-fable-5-1": (10, 50, 12.5, 20, 0.25), "claude-mythos-5-1": (10, 50, 12.5, 20, 0.25),
    "claude-fable-5": (10, 50, 12.5, 20, 1), "claude-mythos-5": (10, 50, 12.5, 20, 1),
    "claude-opus-5-5": (4, 20, 5, 8, 0.20), "claude-opus-5": (5, 25, 6.25, 10, 0.5),
    "claude-opus-4-8": (5, 25, 6.25, 10, 0.5), "claude-opus-4-7": (5, 25, 6.25, 10, 0.5),
    "claude-opus-4-6": (5, 25, 6.25, 10, 0.5), "claude-opus-4-5": (5, 25, 6.25, 10, 0.5),
    "claude-sonnet-5-5": (2, 10, 2.5, 4, 0.10), "claude-sonnet-5": (2, 10, 2.5, 4, 0.20),
    "claude-sonnet-4-6": (3, 15, 3.75, 6, 0.30), "claude-sonnet-4-5": (3, 15, 3.75, 6, 0.30),
    "claude-haiku-5-5": (0.10, 0.50, 0.125, 0.20, 0.01), "claude-haiku-4-5": (1, 5, 1.25, 2, 0.10),
}


def bill(prices: dict, model: str, usage: dict, batch: bool = False) -> float | None:
    u = reported({"usage": usage})
    return cost(prices, model, u.fresh, u.write_5m, u.write_1h, u.cache_read, u.output, batch)


@pytest.mark.parametrize("case", BILLS)
def test_a_reply_costs_what_the_api_bills(case: str):
    usage, usd, batch_usd = BILLS[case]
    hand_written = {"models": {"m": {**SONNET, "tiers": []}}}
    for prices, model in ((hand_written, "m"), (prices_for(["claude-sonnet-4-6"], NOW), "claude-sonnet-4-6")):
        assert bill(prices, model, usage) == pytest.approx(usd, rel=1e-12)
        assert bill(prices, model, usage, batch=True) == pytest.approx(batch_usd, rel=1e-12)


@pytest.mark.parametrize("model", LIST)
def test_the_snapshot_agrees_with_the_price_list(model: str):
    row = prices_for([model], NOW)["models"][model]
    assert (row["input"], row["output"], row["write_5m"], row["write_1h"], row["read"]) == LIST[model]


# One part of a call at a time, below every length step and above, and all parts together.
CALLS = {
    **{f"{part}, {length} prompt": {part: tokens} for part in PARTS[2:] + ("input",)
       for length, tokens in (("short", 4_000), ("long", 150_000))},
    "output, short prompt": {"input": 1_000, "output": 2_000},
    "output, long prompt": {"input": 120_000, "output": 2_000},
    "all parts": {"input": 700, "write_5m": 900, "write_1h": 1_100, "read": 30_000, "output": 500},
    "all parts, long prompt": {"input": 700, "write_5m": 90_000, "write_1h": 11_000, "read": 210_000, "output": 500},
}


def priced_by_the_package(model: str, tokens: dict[str, int], at: datetime, batch: bool) -> float:
    from genai_prices import extract_usage

    usage = {"input_tokens": tokens["input"], "output_tokens": tokens["output"],
             "cache_read_input_tokens": tokens["read"],
             "cache_creation_input_tokens": tokens["write_5m"] + tokens["write_1h"],
             "cache_creation": {"ephemeral_5m_input_tokens": tokens["write_5m"],
                                "ephemeral_1h_input_tokens": tokens["write_1h"]}}
    found = extract_usage({"model": model, "usage": usage}, provider_id="anthropic")
    context = {"processing": "batch"} if batch else None
    return float(found.calc_price(genai_request_timestamp=at, price_context=context).total_price)


@pytest.mark.parametrize("model", MODELS)
def test_a_model_on_offer_costs_what_genai_prices_says_part_by_part_tier_by_tier_and_in_a_batch(model: str):
    for at in (NOW, datetime(2027, 2, 1, tzinfo=UTC)):
        prices = prices_for([model], at)
        for name, used in CALLS.items():
            tokens = {**dict.fromkeys(PARTS, 0), **used}
            for batch in (False, True):
                ours = cost(prices, model, tokens["input"], tokens["write_5m"], tokens["write_1h"], tokens["read"],
                            tokens["output"], batch)
                assert ours == pytest.approx(priced_by_the_package(model, tokens, at, batch), rel=1e-9), (name, batch)


def test_own_rows_stand_in_only_for_what_the_package_lacks():
    found = prices_for([*OWN, *SECOND_HAND], NOW)["models"]
    assert all("genai-prices" not in row["source"] for row in found.values())
    assert all("2026-11-30" in found[model]["source"] for model in OWN)


def test_a_second_hand_price_says_where_it_comes_from_and_what_was_filled_in():
    row = prices_for(["claude-mythos-preview"], NOW)["models"]["claude-mythos-preview"]
    assert [row[part] for part in PARTS] == [10, 50, 12.5, 20, 1]
    assert "LiteLLM" in row["source"] and "November 2026" in row["source"] and "read = 0.1 × input" in row["source"]


def test_a_batch_halves_every_part():
    prices = prices_for(["claude-opus-5-5"], NOW)
    for part in range(5):
        tokens = [1_000 if n == part else 0 for n in range(5)]
        assert cost(prices, "claude-opus-5-5", *tokens, batch=True) == BATCH * cost(prices, "claude-opus-5-5", *tokens)


# --- a person's own prices -------------------------------------------------------------------------------------------


def test_a_person_may_price_a_model_that_nobody_lists():
    prices = with_own(prices_for(["qwen3:8b", "claude-haiku-5-5"], NOW), {"qwen3:8b": {"input": 0.2, "output": 0.8}})
    row = prices["models"]["qwen3:8b"]
    assert [row[part] for part in PARTS] == [0.2, 0.8, 0.25, 0.4, 0.02]
    assert row["source"] == "set by you; write_5m = 1.25 × input, write_1h = 2 × input, read = 0.1 × input"
    assert cost(prices, "qwen3:8b", 1_000_000, 1_000_000, 0, 0, 500_000) == pytest.approx(0.2 + 0.25 + 0.4)
    assert prices["models"]["claude-haiku-5-5"]["source"].startswith("genai-prices")


def test_an_own_price_beats_the_list_and_holds_for_every_length():
    listed = prices_for(["claude-haiku-5-5"], NOW)
    own = with_own(listed, {"claude-haiku-5-5": {"input": "1", "output": "2", "read": 0, "write_5m": 3, "write_1h": 4}})
    assert own["models"]["claude-haiku-5-5"]["source"] == "set by you"
    assert cost(own, "claude-haiku-5-5", 300_000, 0, 0, 1_000_000, 0) == pytest.approx(0.3)
    assert listed == prices_for(["claude-haiku-5-5"], NOW)


def test_a_local_model_may_be_free_which_is_not_unknown():
    prices = with_own({}, {"llama": {"input": 0, "output": 0}})
    assert cost(prices, "llama", 500, 0, 0, 0, 50) == 0.0
    assert cost(prices, "other", 500, 0, 0, 0, 50) is None


def test_an_empty_cache_price_is_filled_in_like_a_missing_one():
    given = {"input": 2, "output": 4, "read": None}
    assert with_own({}, {"m": given})["models"]["m"]["read"] == 0.2


@pytest.mark.parametrize("model, row, words", [
    ("m", {"input": -1, "output": 2}, "The input price of m is -1"),
    ("m", {"input": 1, "output": "much"}, "The output price of m is 'much'"),
    ("m", {"input": 1, "output": float("nan")}, "The output price of m is nan"),
    ("m", {"input": 1, "output": float("inf")}, "from 0 to 100,000"),
    ("m", {"input": True, "output": 2}, "The input price of m is True"),
    ("m", {"input": 1}, "m has no output price"),
    ("m", {"output": 1, "read": 1}, "m has no input price"),
    ("m", {"input": 1, "output": 2, "cached": 1}, '"cached" is no part of a price of m'),
    ("  ", {"input": 1, "output": 2}, "needs the name of its model"),
])
def test_what_cannot_be_a_price_is_refused_by_name(model, row, words):
    with pytest.raises(PriceRefused, match=words.replace("(", r"\(")) as refused:
        with_own({}, {model: row})
    assert isinstance(refused.value, InputError)


def test_every_model_on_offer_has_a_price_that_names_its_source():
    prices = prices_for(MODELS, NOW)
    assert set(prices["models"]) == set(MODELS)
    assert prices["date"] == "2026-11-30"
    assert all("genai-prices" in row["source"] for row in prices["models"].values())
    assert all("2026-11-30" in prices_for(OWN, NOW)["models"][model]["source"] for model in OWN)


def test_above_100k_tokens_the_whole_haiku_request_changes_price():
    price = partial(cost, prices_for(["claude-haiku-5-5"], NOW), "claude-haiku-5-5")
    assert price(100_000, 0, 0, 0, 1000) == pytest.approx(0.0105)
    assert price(100_001, 0, 0, 0, 1000) == pytest.approx(0.0525005)


def test_cached_tokens_count_toward_the_length_step():
    price = partial(cost, prices_for(["claude-haiku-5-5"], NOW), "claude-haiku-5-5")
    assert price(1_000, 9_000, 10_000, 80_000, 0) == pytest.approx((100 + 1_125 + 2_000 + 800) / 1e6)
    assert price(1_001, 9_000, 10_000, 80_000, 0) == pytest.approx((500.5 + 5_625 + 10_000 + 4_000) / 1e6)


def test_an_unknown_price_or_count_is_not_zero():
    prices = prices_for(["qwen3:8b", "claude-haiku-5-5"], NOW)
    assert cost(prices, "qwen3:8b", 10, 0, 0, 0, 1) is None
    assert cost(prices, "claude-haiku-5-5", None, 0, 0, 0, 1) is None
    assert cost(prices, "claude-haiku-5-5", 10, 0, 0, 0, None) is None
    assert cost({}, "claude-haiku-5-5", 10, 0, 0, 0, 1) is None
    assert cost(prices, "claude-haiku-5-5", 0, 0, 0, 0, 0) == 0


def test_a_part_without_a_price_matters_only_where_it_is_used():
    prices = {"models": {"m": {**SONNET, "write_1h": None, "tiers": []}}}
    assert cost(prices, "m", 1_000_000, 0, 0, 0, 0) == 3
    assert cost(prices, "m", 1_000_000, 0, 1, 0, 0) is None


def test_prices_are_those_of_the_day():
    steps = {year: prices_for(["claude-sonnet-4-6"], datetime(year, 3, 1, tzinfo=UTC))["models"]["claude-sonnet-4-6"]
             for year in (2026, 2027)}
    assert [tier["above"] for tier in steps[2026]["tiers"]] == [200_000]    # its surcharge ended on 13 March 2026
    assert steps[2027]["tiers"] == []


def test_a_snapshot_survives_json_and_keeps_its_prices():
    prices = prices_for(MODELS, NOW)
    kept = json.loads(json.dumps(prices))
    assert kept == prices
    assert cost(kept, "claude-haiku-5-5", 200_000, 0, 0, 0, 0) == cost(prices, "claude-haiku-5-5", 200_000, 0, 0, 0, 0)


def test_prices_are_read_without_a_network(monkeypatch: pytest.MonkeyPatch):
    def refuse(*args):
        raise AssertionError("a price was looked up on the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert prices_for(["claude-opus-5-5"])["models"]["claude-opus-5-5"]["input"] == 4
