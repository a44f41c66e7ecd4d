"""The published run follows the law where it keeps its conversation, and is recognised where it does not."""

from __future__ import annotations

import pytest

from lib.usage.growth import cumulative, fit, law, resets
from lib.usage.published import published


def inputs(policy: str) -> list[int]:
    return [tokens for tokens, _ in published()[policy]]


def test_the_figures_are_the_published_ones():
    turns = published()
    assert {policy: (len(rows), sum(i for i, _ in rows)) for policy, rows in turns.items()} == {
        "keep_all": (37, 204_416), "compact_at_5000": (26, 82_171)}
    assert turns["keep_all"][0] == (1537, 57) and turns["compact_at_5000"][-1] == (2942, 438)


def test_seven_turns_foretell_all_thirty_seven_within_2_percent():
    growth = fit(inputs("keep_all")[:7])
    assert cumulative(growth.a, growth.d, 37) == pytest.approx(204_416, rel=0.02)


def test_fitted_on_all_it_is_the_total():
    growth = fit(inputs("keep_all"))
    assert cumulative(growth.a, growth.d, 37) == pytest.approx(204_416, rel=0.001)


def test_a_compacted_conversation_is_not_forced_onto_the_law():
    compacted = inputs("compact_at_5000")
    assert resets(compacted) == [17, 25]
    growth = fit(compacted)
    assert growth.r2 < 0.5      # which is why: over all turns the line explains next to nothing
    until = fit(compacted[:16])
    assert until.r2 > 0.99 and law(until.a, until.d, 16) == pytest.approx(compacted[15], rel=0.03)


def test_a_kept_conversation_has_no_reset():
    assert resets(inputs("keep_all")) == []


def test_turns_that_reported_nothing_hide_no_reset_and_make_none():
    assert resets([1_000, None, 1_200, None, 400, 500]) == [5]
    assert resets([]) == resets([None]) == resets([700]) == []


def test_a_shorter_turn_is_no_reset_by_itself():
    assert resets([1_000, 1_300, 1_250, 1_600]) == []
