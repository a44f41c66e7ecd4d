"""Sentences from numbers: what two answers share, what a later run changed, what is unknown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lib.runs.store import CallRow
from lib.task.report import Cause, Customer, Report
from lib.ui import compare
from lib.ui import format as fmt
from lib.ui.compare import Outcome


def cause(name: str, *tickets: str, **more) -> Cause:
    return Cause(name, tickets, (), **more)


def report(shape: str, *causes: Cause) -> Report:
    return Report(shape, len(causes), causes, (), 10, {}, {})


PIPELINE = Outcome("pipeline", report("pipeline", cause("double charge", "1", "2", "3"), cause("spam", "4", "5")),
                   9, 1_000, 50, 0.001)
AGENT = Outcome("agent", report("agent", cause("mail in spam", "4", "5", claimed=2),
                                cause("charged twice", "1", "2", "3", "6", claimed=3)), 12, 16_000, 90, 0.015)


def test_causes_are_matched_by_their_tickets_whatever_they_are_called():
    found = [(a.name, b.name) for a, b in compare.pairs(PIPELINE.report, AGENT.report)]
    assert found == [("double charge", "charged twice"), ("spam", "mail in spam")]


def test_a_cause_without_a_match_stands_alone():
    other = report("agent", cause("something else", "8", "9"))
    assert [(a and a.name, b and b.name) for a, b in compare.pairs(PIPELINE.report, other)] == [
        ("double charge", None), ("spam", None), (None, "something else")]


def test_two_causes_cannot_be_matched_to_the_same_one():
    right = report("agent", cause("all", "1", "2", "3", "4", "5"), cause("part", "1", "2", "3"))
    found = compare.pairs(report("pipeline", cause("a", "1", "2", "3"), cause("b", "1", "2", "3", "4")), right)
    assert len({id(b) for _, b in found}) == 2


def test_the_sentence_names_tokens_cost_causes_and_counts():
    assert compare.sentence([AGENT, PIPELINE]) == (
        "The agent sent 16 × the tokens of the pipeline and cost 15 × as much for the same two causes; "
        "1 of its 2 counts matches the data.")


def test_without_a_price_the_sentence_says_so():
    assert "(not every call has a price)" in compare.sentence([PIPELINE, replace(AGENT, usd=None)])


def test_where_nothing_has_a_price_the_sentence_is_about_tokens():
    text = compare.sentence([replace(PIPELINE, usd=None), replace(AGENT, usd=None)])
    assert text.startswith("The agent sent 16 × the tokens of the pipeline for the same two causes")


def test_answers_without_a_common_cause_share_none():
    other = report("agent", cause("a", "7", "8", claimed=2), cause("b", "9", claimed=1))
    assert "that shares none of two causes" in compare.sentence([PIPELINE, replace(AGENT, report=other)])


def test_unreported_tokens_are_no_factor():
    text = compare.sentence([replace(PIPELINE, input=None), AGENT])
    assert "×" not in text and "not every call reported its tokens" in text


@pytest.mark.parametrize("missing", [{"unreported": 1}, {"unpriced": 1}])
def test_a_sum_that_leaves_calls_out_makes_no_factor(missing):
    text = compare.sentence([replace(PIPELINE, **missing), AGENT])
    assert "cost 15 ×" not in text
    assert ("16 ×" in text) == ("unpriced" in missing)


def test_a_part_of_an_answer_is_left_out_of_the_sentence():
    stopped = replace(AGENT, report=replace(AGENT.report, partial="stopped by you"))
    assert compare.sentence([PIPELINE, stopped]).startswith("The pipeline named two causes")
    assert compare.sentence([stopped]) == ""


def test_counts_that_all_match_are_told_short():
    right = report("agent", cause("a", "1", "2", "3", claimed=3), cause("b", "4", "5", claimed=2))
    assert compare.sentence([PIPELINE, replace(AGENT, report=right)]).endswith("both counts match the data.")


def test_causes_of_one_ticket_each_are_no_ranking():
    each_once = replace(report("agent", cause("a", "1"), cause("b", "2")), other=3)
    assert compare.no_repeats(each_once) == "No cause has more than one ticket; these two are first by name."
    assert compare.no_repeats(AGENT.report) == ""


def test_one_answer_gets_its_own_sentence():
    assert compare.sentence([replace(AGENT, report=None), PIPELINE]) == (
        "The pipeline named two causes with 9 calls, 1k input tokens and $0.001; its counts were made by code.")


def test_no_answer_no_sentence():
    assert compare.sentence([replace(AGENT, report=None)]) == ""


def test_a_later_run_is_told_by_what_changed():
    line = compare.difference(AGENT, replace(AGENT, input=8_000, calls=12))
    assert line == ("agent: input tokens 16k → 8k (-50%) · cost unchanged ($0.0150) · calls unchanged (12) · "
                    "same causes and counts")


def test_what_failed_in_either_run_is_told_and_only_then():
    bad = replace(AGENT, sent_back=3, failed=1)
    assert "replies sent back 3 → 0 · calls that failed 1 → 0 · same causes" in compare.difference(bad, AGENT)
    assert "replies sent back unchanged (3)" in compare.difference(bad, bad)
    assert "sent back" not in compare.difference(AGENT, AGENT)


def test_all_figures_of_two_runs_are_told_one_by_one():
    after = replace(AGENT, input=8_000, output=180, usd=None, seconds=5.0)
    assert compare.differences(replace(AGENT, seconds=10.0), after) == [
        ("input tokens", "16k → 8k (-50%)"), ("output tokens", "90 → 180 (+100%)"), ("cost", "$0.0150 → no price"),
        ("time", "10 s → 5.0 s (-50%)"), ("calls", "unchanged (12)"), ("checks passed", "unchanged (0 of 0)"),
        ("answer", "same causes and counts")]
    assert compare.differences(AGENT, after, same_data=False)[-1][0] == "checks passed"


def test_dollars_added_up_in_another_order_are_unchanged():
    line = compare.difference(replace(AGENT, usd=0.1 + 0.2 + 0.3), replace(AGENT, usd=0.3 + 0.2 + 0.1))
    assert "cost unchanged ($0.60" in line


def test_an_edited_text_is_told_by_the_words_that_went_and_came():
    old, new = "Name the one cause\nof every ticket.", "Name the likely cause\nof every ticket. Be quick."
    assert compare.edit(old, new) == [
        "  Name the", "- one", "+ likely", "  cause of every ticket.", "+ Be quick."]


def test_a_rewritten_text_is_told_by_its_lines():
    assert compare.edit("Name the cause.\nOf all.", "Label it.") == ["-Name the cause.", "-Of all.", "+Label it."]


def test_an_edit_of_white_space_says_so():
    assert compare.edit("a  b", "a b") == ["(only white space differs)"]


def test_marks_say_what_differs_between_matched_causes():
    assert compare.marks(cause("a", "1", "2"), cause("a", "1", "2", "3")) == [
        "2 against 3 tickets", "1 ticket in only one of them"]
    assert compare.marks(cause("a", "1"), cause("b", "1")) == []


def test_customers_are_summed_up_without_what_is_unknown():
    given = (Customer("1", plan="pro", region="EU", monthly_revenue=1200.0), Customer("2", plan="pro", region="US"),
             Customer("3", known=False))
    assert compare.customers_line(given) == (
        "3 customers, 1 not in the database · Plans: 2 pro · Regions: 1 EU, 1 US · revenue 1,200 a month")


@pytest.mark.parametrize(("number", "shown"), [
    (0, "0"), (7, "7"), (999, "999"), (1_000, "1k"), (26_123, "26.1k"), (999_600, "1M"), (492_311, "492k"),
    (1_234_567, "1.23M"), (None, "not reported")])
def test_numbers_have_three_significant_digits(number, shown):
    assert fmt.short(number) == shown


@pytest.mark.parametrize(("usd", "shown"), [
    (0, "$0"), (0.02134, "$0.0213"), (0.0000012345, "$0.00000123"), (3, "$3"), (1234.5, "$1,230"), (None, "no price")])
def test_dollars_keep_their_leading_digits(usd, shown):
    assert fmt.dollars(usd) == shown


def test_dollars_side_by_side_have_the_same_decimals():
    both = (0.00571, 0.0658)
    assert [fmt.dollars(usd, beside=both) for usd in both] == ["$0.0057", "$0.0658"]


@pytest.mark.parametrize(("duration", "shown"), [(9.83, "9.8 s"), (51.2, "51 s"), (125, "2 min 5 s"), (None, "–")])
def test_durations_are_short(duration, shown):
    assert fmt.seconds(duration) == shown


def turns(*inputs: int | None) -> list[CallRow]:
    return [CallRow(id=i, run_id="r", step="agent", subject="", model="m", started=0.0, seconds=1.0, stop_reason=None,
                    fresh=tokens, write_5m=0, write_1h=0, cache_read=0, output=1, thinking=0, usd=None)
            for i, tokens in enumerate(inputs)]


def test_the_last_turn_is_told_by_what_it_sent_again():
    assert compare.turn_line(turns(1_000, 1_250), None) == (
        "Agent: turn 2 sent 1,250 tokens, of which 80 % it had sent before.")
    assert compare.turn_line(turns(1_000), None) == compare.turn_line([], 45) == ""


def test_what_a_running_agent_will_have_sent_is_told_from_its_fifth_turn_on():
    # 1,000 and 100 more each turn: 1,000 + … + 1,900 = 14,500 in ten turns
    line = compare.turn_line(turns(1_000, 1_100, 1_200, 1_300, 1_400), 10)
    assert line.endswith("it had sent before; at this rate 10 turns send 14.5k in all.")
    assert "at this rate" not in compare.turn_line(turns(1_000, 1_100, 1_200, 1_300), 10)
    assert "at this rate" not in compare.turn_line(turns(1_000, 1_100, 1_200, 1_300, 1_400), 5)


def test_an_uneven_agent_is_told_by_a_range():
    # the line 996 + 102 (t − 1) gives 14,550; steps off by 12, 8, 8, 12:
    # 3.18 · √(416/3 · (55 + 15²/4)) = 395 to either side
    assert "10 turns send 14.2k–14.9k in all" in compare.turn_line(turns(1_000, 1_090, 1_200, 1_310, 1_400), 10)
