"""The law of an agent's input: a worked example, a published run, and runs too short to fit."""

from __future__ import annotations

import pytest

from lib.runs.store import CallRow
from lib.usage.growth import cumulative, fit, law, law_of, resets, rest, segments, sent_again
from lib.usage.published import published

PUBLISHED = [tokens for tokens, _ in published()["keep_all"]]
COMPACTED = [tokens for tokens, _ in published()["compact_at_5000"]]


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


# --- the rest of a running agent -------------------------------------------------------------------------------------


def test_seven_turns_tell_all_thirty_seven_within_two_percent():
    told = rest(PUBLISHED[:7], 37)
    assert abs(sum(PUBLISHED[:7]) + told.middle - 204_416) < 0.02 * 204_416
    assert told.low < sum(PUBLISHED[7:]) < told.high


@pytest.mark.parametrize("seen", range(4, 37))
def test_the_band_holds_what_came_and_narrows(seen):
    told, came = rest(PUBLISHED[:seen], 37), sum(PUBLISHED[seen:])
    assert told.low <= came <= told.high
    if seen >= 20:
        assert told.high - told.low < 0.2 * came


def test_a_worked_band():
    # steps 90, 110, 100: the line through 1000, 1090, 1200, 1300 is 996 + 101 t; s² = (11² + 9² + 1²) / 2 = 101.5
    told = rest([1000, 1090, 1200, 1300], 6)
    middle = 996 + 101 * 4 + 996 + 101 * 5
    off = 4.30 * (101.5 * (2 * 3 * 5 / 6 + (2 * 3 / 2) ** 2 / 3)) ** 0.5
    assert tuple(told) == pytest.approx((middle - off, middle, middle + off))


def test_a_straight_run_has_no_band_and_a_finished_one_no_rest():
    assert rest([1000, 1100, 1200, 1300], 6) == pytest.approx((2_900, 2_900, 2_900))
    assert rest([1000, 1090, 1200, 1300], 4) == rest([1000, 1090, 1200, 1300], 3) == (0, 0, 0)


@pytest.mark.parametrize("inputs", [[], [1000], [1000, 1100, 1200], [*COMPACTED[:18]]])
def test_before_the_fourth_turn_nothing_is_told_of_the_rest(inputs):
    assert rest(inputs, 40) is None     # the last of these lost its history two turns ago


# --- a conversation that was cut -------------------------------------------------------------------------------------


def test_the_compacted_run_is_two_cuts_and_three_laws():
    assert resets(PUBLISHED) == [] and resets(COMPACTED) == [17, 25]
    parts = segments(COMPACTED)
    assert [(part.first, len(part.inputs)) for part in parts] == [(1, 16), (17, 8), (25, 2)]
    assert parts[0].growth.r2 > 0.99 and parts[1].growth.r2 > 0.98
    assert fit(COMPACTED).r2 < 0.2      # one law over all of it would say nothing


def test_no_one_law_is_forced_onto_a_run_that_was_cut():
    assert law_of("agent", [call(tokens) for tokens in COMPACTED]) is None
    assert law_of("agent", [call(tokens) for tokens in COMPACTED[:16]]).d == pytest.approx(227.275)


def test_the_rest_goes_on_from_the_last_cut():
    assert rest(COMPACTED[:24], 30) == rest(COMPACTED[16:24], 14)


def test_unreported_turns_are_no_cut():
    assert resets([1000, None, 1100]) == [] and resets([1000, None, 500]) == [3]


@pytest.mark.parametrize(("inputs", "told"), [
    ([1000, 23_000, 23_900], "turn 3 sent 23,900 tokens, of which 96 % it had sent before"),
    ([1000, 1000], "turn 2 sent 1,000 tokens, of which 100 % it had sent before"),
    ([5000, 1700], "turn 2 sent 1,700 tokens, 3,300 fewer than the one before: history was cut"),
    ([1000], ""), ([], ""), ([None, 1000], ""), ([1000, None], "")])
def test_what_the_last_turn_sent_again(inputs, told):
    assert sent_again(inputs) == told


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


def test_where_no_straight_line_holds_no_turn_is_named():
    """The sample's agent with several tools a turn. The line begins at 500 tokens, so history would lead from turn 2;
    but the first turn sent 2,085, and of the 5,175 of the first two no more than 1,005 were history."""
    inputs = [2_085, 3_090, 4_127, 6_639, 9_492, 11_829, 14_300, 16_700, 19_100, 21_500, 23_900, 26_200, 28_102]
    law = law_of("agent", [call(tokens) for tokens in inputs])
    assert 0 < law.a < 1_000 and law.overtaken_from is None


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
