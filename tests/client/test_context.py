"""What leaves a request when old tool results are cleared or long ones cut, and what has to stay."""

from __future__ import annotations

import copy
import json

import pytest

from lib.agent import Tool, run_agent
from lib.client.context import clear_old_results, cut_results, cut_rows
from lib.client.layers import LayeredClient, layered
from tests.fakes import FakeClient, assert_sendable, reply, thinking, tool_use


def turn(n: int, *results: str, is_error: bool = False, thought: bool = False) -> list[dict]:
    """An assistant's tool calls and the user message with their results."""
    ids = [f"t{n}_{i}" for i in range(len(results))]
    answered = [{"type": "tool_result", "tool_use_id": id, "content": text, **({"is_error": True} if is_error else {})}
                for id, text in zip(ids, results, strict=True)]
    asked = [*([thinking()] if thought else []), *(tool_use("read", {"n": n}, id) for id in ids)]
    return [{"role": "assistant", "content": asked}, {"role": "user", "content": answered}]


def conversation(*turns: list[dict]) -> list[dict]:
    return [{"role": "user", "content": "Which causes?"}, *(message for pair in turns for message in pair)]


FOUR = conversation(*(turn(n, f"result {n} " + "x" * 91) for n in range(4)))     # 100 characters each


def sent(messages: list[dict], *layers) -> list[dict]:
    before = copy.deepcopy(messages)
    found = layered(LayeredClient(lambda call: call.request["messages"]), *layers).messages.create(messages=messages)
    assert messages == before, "whoever keeps the conversation keeps it whole"
    assert_sendable(found)
    return found


def results(messages: list[dict]) -> list[str]:
    return [block["content"] for message in messages for block in message["content"]
            if isinstance(block, dict) and block["type"] == "tool_result"]


def test_only_the_newest_results_are_sent_whole():
    cleared = "[cleared by the context policy: 100 characters]"
    assert results(sent(FOUR, clear_old_results(2))) == [cleared, cleared, *results(FOUR)[2:]]


@pytest.mark.parametrize("kept", [4, 5, 7, 100])
def test_as_many_results_as_may_stay_are_left_alone(kept):
    assert sent(FOUR, clear_old_results(kept)) == FOUR


def test_results_that_the_model_has_not_seen_are_never_cleared():
    together = conversation(turn(0, "old"), turn(1, "a", "b", "c"))
    assert results(sent(together, clear_old_results(1))) == ["[cleared by the context policy: 3 characters]",
                                                             "a", "b", "c"]


def test_a_cleared_error_stays_an_error_and_every_id_stays_answered():
    failed = conversation(turn(0, "no such ticket", is_error=True), turn(1, "b"), turn(2, "c"))
    first = sent(failed, clear_old_results(1))[2]["content"][0]
    assert first == {"type": "tool_result", "tool_use_id": "t0_0", "is_error": True,
                     "content": "[cleared by the context policy: 14 characters]"}


def test_thinking_after_a_cleared_result_is_left_out_since_it_was_signed_over_it():
    thoughtful = conversation(*(turn(n, f"result {n}", thought=True) for n in range(4)))
    first, *others = ([block["type"] for block in message["content"]]
                      for message in sent(thoughtful, clear_old_results(2))[1::2])
    assert (first, others) == (["thinking", "tool_use"], [["tool_use"]] * 3)
    assert sent(thoughtful, clear_old_results(4)) == thoughtful


def test_a_long_result_is_cut_to_its_beginning_and_says_so():
    first, *_ = results(sent(FOUR, cut_results(8)))
    assert first == "result 0\n[cut by the context policy: 92 of 100 characters left out]"
    assert sent(FOUR, cut_results(100)) == FOUR


def test_a_result_in_blocks_is_cut_like_a_text():
    blocks = conversation(turn(0, "x"))
    blocks[2]["content"][0]["content"] = [{"type": "text", "text": "abcdef"}]
    assert results(sent(blocks, cut_results(2))) == ["ab\n[cut by the context policy: 4 of 6 characters left out]"]


def test_cutting_keeps_what_was_sent_before_as_it_was():
    shorter, longer = (sent(FOUR[:n], cut_results(20)) for n in (5, 9))
    assert longer[:5] == shorter


def test_both_policies_go_together():
    found = results(sent(FOUR, cut_results(8), clear_old_results(1)))
    assert [text[:8] for text in found] == ["[cleared"] * 3 + ["result 3"]


@pytest.mark.parametrize("layer", [clear_old_results(1), cut_results(3)])
def test_the_agent_keeps_its_own_conversation_whole(layer):
    fake = FakeClient([reply(tool_use("look", {}, "a")), reply(tool_use("look", {}, "b")), reply("done")])
    look = Tool("look", "Looks.", {"type": "object"}, lambda: "twelve words")
    text, messages = run_agent(layered(fake, layer), "m", "s", "q", [look])
    assert text == "done" and results(messages) == ["twelve words"] * 2
    assert "context policy" in results(fake.requests[2]["messages"])[0]


def rows(count: int) -> str:
    return json.dumps([{"id": n} for n in range(count)])


def test_a_list_of_rows_is_cut_and_says_so():
    first, second = results(sent(conversation(turn(0, rows(9)), turn(1, rows(3))), cut_rows(3)))
    assert first == f"{rows(3)}\n[cut by the context policy: 6 of 9 rows left out]"
    assert second == rows(3)


def test_rows_inside_an_object_are_cut_and_its_other_fields_stay():
    text = json.dumps({"total": 40, "ids": ["a"] * 9, "tickets": [{"id": n} for n in range(20)], "more": [{}] * 6})
    cut, = results(sent(conversation(turn(0, text)), cut_rows(5)))
    kept = json.dumps({"total": 40, "ids": ["a"] * 9, "tickets": [{"id": n} for n in range(5)], "more": [{}] * 5})
    assert cut == f"{kept}\n[cut by the context policy: 16 of 26 rows left out]"


def test_what_follows_the_rows_stays():
    cut, = results(sent(conversation(turn(0, rows(4) + "\n(cut: only the first 4 are shown)")), cut_rows(1)))
    assert cut.startswith(rows(1) + "\n(cut: only the first 4 are shown)\n[cut by")


@pytest.mark.parametrize("text", ["words", "{broken", "[1, 2, 3]", '{"a": 1}', '["a", {"b": 1}]', "[" * 5_000])
def test_a_result_without_rows_stays_as_it_is(text):
    messages = conversation(turn(0, text))
    assert sent(messages, cut_rows(1)) == messages
