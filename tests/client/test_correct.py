"""A final answer that fails its check goes back to the model with the reason."""

from __future__ import annotations

import json

from lib.client.correct import corrected
from lib.client.layers import LayeredClient, layered
from lib.messages import text_of

ASKED = [{"role": "user", "content": "Which causes?"}]


def says(text: str, stop_reason: str | None = "end_turn", *more: dict) -> dict:
    return {"role": "assistant", "content": [{"type": "text", "text": text}, *more], "stop_reason": stop_reason}


def calls_tool(identity: str = "toolu_1") -> dict:
    return {"type": "tool_use", "id": identity, "name": "tally", "input": {}}


class Model:
    """Gives `replies` in turn and keeps the messages of every request."""

    def __init__(self, *replies: dict):
        self.left, self.asked = list(replies), []

    def __call__(self, call):
        self.asked.append(call.request["messages"])
        return self.left.pop(0)


def ask(model: Model, retries: int = 1, messages: list = ASKED) -> dict:
    return layered(LayeredClient(model), corrected(json.loads, retries)).messages.create(messages=messages)


def test_a_valid_answer_is_returned_as_it_came():
    model = Model(says("{}"))
    assert text_of(ask(model)) == "{}" and model.asked == [ASKED]


def test_the_retry_carries_the_bad_answer_and_the_error():
    model = Model(says("five causes"), says("{}"))
    assert text_of(ask(model)) == "{}"
    again = model.asked[1]
    assert again[:2] == [*ASKED, {"role": "assistant", "content": [{"type": "text", "text": "five causes"}]}]
    assert again[2]["role"] == "user" and "Expecting value: line 1 column 1" in again[2]["content"]
    assert len(ASKED) == 1


def test_a_second_retry_carries_both_bad_answers():
    model = Model(says("one"), says("two"), says("{}"))
    assert text_of(ask(model, retries=2)) == "{}"
    assert [m["role"] for m in model.asked[2]] == ["user", "assistant", "user", "assistant", "user"]


def test_the_last_reply_is_returned_though_it_is_still_invalid():
    model = Model(says("one"), says("two"))
    assert text_of(ask(model)) == "two" and len(model.asked) == 2


def test_no_retries_means_one_call():
    model = Model(says("one"))
    assert text_of(ask(model, retries=0)) == "one"


def test_replies_that_are_no_final_answer_are_never_touched():
    for reply in (says("Let me look", "tool_use", calls_tool()), says("Let me look", "end_turn", calls_tool()),
                  says('{"cau', "max_tokens"), says("I cannot", "refusal"), says("…", "pause_turn"), says("?", None),
                  says(""), {"role": "assistant", "content": [], "stop_reason": "end_turn"}):
        model = Model(reply)
        assert ask(model) is reply and len(model.asked) == 1


def test_thinking_goes_back_as_it_came_and_empty_text_does_not():
    thinking = {"type": "thinking", "thinking": "", "signature": "abc"}
    model = Model({"content": [thinking, {"type": "text", "text": ""}, {"type": "text", "text": "no"}],
                   "stop_reason": "end_turn"}, says("{}"))
    ask(model)
    assert model.asked[1][1]["content"] == [thinking, {"type": "text", "text": "no"}]


def test_when_the_model_looks_again_its_later_calls_carry_the_exchange():
    looks_again = says("Let me count", "tool_use", calls_tool())
    model = Model(says("bad"), looks_again, says("{}"))
    client = layered(LayeredClient(model), corrected(json.loads, 1))
    client.messages.create(messages=ASKED)
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "3"}]}
    answer = {"role": "assistant", "content": looks_again["content"]}
    client.messages.create(messages=[*ASKED, answer, result])
    assert model.asked[2] == [*model.asked[1], answer, result]


def test_another_conversation_is_left_alone():
    model = Model(says("bad"), says("", "tool_use", calls_tool("toolu_1")), says("{}"))
    client = layered(LayeredClient(model), corrected(json.loads, 1))
    client.messages.create(messages=ASKED)
    other = [*ASKED, {"role": "assistant", "content": [calls_tool("toolu_9")]}, {"role": "user", "content": "…"}]
    client.messages.create(messages=other)
    assert model.asked[2] == other


def test_half_a_character_in_a_bad_answer_is_sent_back_as_something_that_can_be_sent():
    model = Model(says("half \ud83d"), says("{}"))
    ask(model)
    json.dumps(model.asked[1], ensure_ascii=False).encode("utf-8")


def test_a_server_cannot_pass_its_reply_for_a_reused_one():
    model = Model({**says("one"), "_reused": True}, says("two"))
    assert text_of(ask(model, retries=0)) == "one" and len(model.asked) == 1


def test_each_time_of_asking_counts_its_own_attempts():
    model, attempts = Model(says("one"), says("{}")), []

    def send(call):
        call.sent.attempts += 1
        attempts.append(call.sent.attempts)
        return model(call)

    layered(LayeredClient(send), corrected(json.loads, 1)).messages.create(messages=ASKED)
    assert attempts == [1, 1]
