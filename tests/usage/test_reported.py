"""What a reply reports is read part by part, and what it leaves out is None."""

from __future__ import annotations

import pytest

from lib.usage.reported import Usage, reported


def read(**usage) -> Usage:
    return reported({"usage": usage})


@pytest.mark.parametrize("reply", [{}, {"usage": None}, {"usage": {}}, None, "<html>"])
def test_missing_usage_is_unknown_in_every_part(reply):
    assert reported(reply) == Usage()


def test_a_null_count_is_unknown_while_its_neighbour_is_kept():
    assert read(input_tokens=None, output_tokens=64, cache_read_input_tokens=None) == Usage(output=64)


def test_a_reported_zero_is_a_zero():
    assert read(input_tokens=0, output_tokens=0) == Usage(0, 0, 0, 0, 0)


def test_cache_writes_without_a_split_count_as_five_minutes():
    assert read(input_tokens=1, output_tokens=2, cache_creation_input_tokens=30) == Usage(1, 30, 0, 0, 2)


def test_the_total_of_cache_writes_is_not_added_to_its_split():
    split = {"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 4000}
    usage = read(input_tokens=7, output_tokens=1, cache_creation_input_tokens=5000, cache_creation=split)
    assert (usage.write_5m, usage.write_1h) == (1000, 4000)


def test_a_split_without_its_total_is_enough():
    split = {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 40}
    usage = read(input_tokens=7, output_tokens=1, cache_creation=split)
    assert (usage.write_5m, usage.write_1h) == (10, 40)


def test_thinking_is_a_part_of_output():
    usage = read(input_tokens=1, output_tokens=50, output_tokens_details={"thinking_tokens": 40})
    assert (usage.output, usage.thinking) == (50, 40)


def test_iterations_are_summed_since_the_top_level_leaves_some_out():
    usage = read(input_tokens=100, output_tokens=10, output_tokens_details={"thinking_tokens": 3}, iterations=[
        {"type": "compaction", "input_tokens": 5000, "output_tokens": 300},
        {"type": "message", "input_tokens": 100, "output_tokens": 10, "cache_read_input_tokens": 7}])
    assert usage == Usage(fresh=5100, write_5m=0, write_1h=0, cache_read=7, output=310, thinking=3)


def test_counts_of_another_kind_are_read_when_whole_and_unknown_otherwise():
    assert read(input_tokens=12.0, output_tokens="12") == Usage(12, 0, 0, 0, None)
    assert read(input_tokens=True, output_tokens=-1) == Usage()
    assert read(input_tokens=float("nan"), output_tokens=1.5) == Usage()
    assert read(input_tokens=10 ** 30, output_tokens=float("inf")) == Usage()


def test_the_sdks_own_message_reads_like_its_dict():
    from anthropic.types import Message

    wire = {"id": "m", "type": "message", "role": "assistant", "model": "x", "content": [], "stop_reason": "end_turn",
            "usage": {"input_tokens": 7, "output_tokens": 9, "cache_read_input_tokens": 3,
                      "output_tokens_details": {"thinking_tokens": 4}}}
    assert reported(Message.construct(**wire)) == reported(wire) == Usage(7, 0, 0, 3, 9, 4)
