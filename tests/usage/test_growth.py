"""The law of an agent's input: a worked example, a published run, and runs too short to fit."""

from __future__ import annotations

import pytest

from lib.runs.store import CallRow
from lib.usage.growth import cumulative, fit, law, law_of

# Input tokens per turn of an agent with seven tools that keeps its whole conversation; from the printed outputs of
# anthropics/claude-cookbooks, tool_use/automatic-context-compaction.ipynb (Claude Sonnet 4.6, five tickets).
PUBLISHED = [
    1537, 1760, 1905, 2237, 2385, 2537, 2888, 3079, 3316, 3450, 3777, 3925, 4077, 4476, 4668, 4894, 5028, 5333, 5481,
    5633, 6017, 6209, 6435, 6569, 6896, 7044, 7196, 7618, 7808, 8040, 8179, 8508, 8656, 8808, 9190, 9382, 9475]


def test_a_worked_example():
    # 1000 tokens at first and 100 more each turn: 1000 + 1100 + 1200 + 1300 + 1400 = 6000
    growth = fit([1000, 1100, 1200, 1300, 1400])
    assert (growth.a, growth.d, growth.crossover, growth.r2) == (1000, 100, 20, 1)
    assert law(1000, 100, 5) == 1400
    assert cumulative(1000, 100, 5) == 6000


def test_history_overtakes_the_fixed_part_after_crossover_further_turns():
    growth = fit([1000, 1100, 1200])
    turns = growth.crossover + 1
    assert growth.a * turns == growth.d * turns * (turns - 1) / 2


def test_the_published_run_follows_the_law():
    growth = fit(PUBLISHED)
    assert len(PUBLISHED) == 37 and sum(PUBLISHED) == 204_416
    assert (growth.a, growth.d) == pytest.approx((1499.08, 223.65), abs=0.01)   # the line numpy.polyfit draws, too
    assert growth.crossover == pytest.approx(13.41, abs=0.01)
    assert growth.r2 > 0.999
    assert cumulative(growth.a, growth.d, 37) == pytest.approx(204_416)
    assert all(abs(law(growth.a, growth.d, t) - tokens) < 120 for t, tokens in enumerate(PUBLISHED, 1))


def test_an_unreported_turn_keeps_its_place():
    growth = fit([1000, None, 1200, None, 1400])
    assert (growth.a, growth.d) == (1000, 100)


@pytest.mark.parametrize("inputs", [[], [500], [None], [500, None, None]])
def test_fewer_than_two_known_turns_have_no_slope(inputs):
    assert fit(inputs) is None


def test_two_turns_fit_exactly_and_claim_no_quality():
    growth = fit([500, 700])
    assert (growth.a, growth.d, growth.crossover, growth.r2) == (500, 200, 5, None)


@pytest.mark.parametrize("inputs", [[600, 600, 600], [900, 700, 500]])
def test_without_growth_nothing_overtakes(inputs):
    assert fit(inputs).crossover is None


def test_a_flat_run_has_no_variance_to_explain():
    assert fit([600, 600, 600]).r2 is None


def call(tokens: int | None, step: str = "agent", subject: str = "", error: str = "") -> CallRow:
    return CallRow(0, "r", step, subject, "m", 0.0, 1.0, "end_turn", tokens, 0, 0, 0, 10, 0, 0.001, 1, error)


def test_history_costs_more_from_the_first_whole_turn_after_it_is_even():
    law = law_of("agent", [call(2_700 + 520 * turn) for turn in range(45)])
    assert (law.a, law.d) == (pytest.approx(2_700), pytest.approx(520))
    assert law.overtaken_from == 12     # even at 2 · 2,700 / 520 + 1 = 11.4


def test_a_run_that_ends_before_is_not_overtaken():
    assert law_of("agent", [call(2_700 + 520 * turn) for turn in range(11)]).overtaken_from is None


def test_a_ticket_costs_all_the_calls_that_its_label_took():
    calls = [call(500, "label", "1"), call(600, "label", "1"), call(500, "label", "2"), call(9_000, "merge")]
    law = law_of("pipeline", calls)
    assert (law.a, law.n, law.calls) == (800, 2, 3)


@pytest.mark.parametrize(("shape", "step"), [("agent", "agent"), ("pipeline", "label")])
def test_failed_and_unreported_calls_say_nothing_of_the_law(shape, step):
    good = [call(500 + 100 * n, step, str(n)) for n in range(4)]
    bad = [call(0, step, "0", error="529 overloaded"), call(None, step, "0")]
    assert law_of(shape, bad + good) == law_of(shape, good)


def test_too_little_has_no_law():
    assert law_of("agent", [call(500), call(600)]) is None
    assert law_of("pipeline", []) is None
