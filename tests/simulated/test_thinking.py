"""Simulated models think where the real ones do; it is billed, takes time and eats max_tokens."""

import pytest

from lib.simulated.protocol import handle
from lib.simulated.thinking import genuine
from lib.usage.tokens import estimate_request

LABEL = 'Name the root cause. Answer with JSON only.\n{"cause": "2-5 words", "evidence": "exact quote"}'
TICKET = '<ticket id="7">\n<subject>Card</subject>\n<body>I was charged twice for booking {}.</body>\n</ticket>'
LISTING = {"name": "list_tickets", "description": "Lists all tickets, one page at a time.",
           "input_schema": {"type": "object", "properties": {"offset": {"type": "integer"}}}}


def label(n=0, **changes):
    return {"model": "claude-haiku-5-5", "max_tokens": 1024, "system": LABEL,
            "messages": [{"role": "user", "content": TICKET.format(n)}], **changes}


def reply(**changes):
    answered = handle(label(**changes))
    assert answered.status == 200, answered.body
    return answered.body


def thought(body):
    return body["usage"]["output_tokens_details"]["thinking_tokens"]


def kinds(body):
    return [block["type"] for block in body["content"]]


@pytest.mark.parametrize("model, thinks", [
    ("claude-haiku-5-5", True), ("claude-sonnet-5-5", True), ("claude-opus-5-5", True), ("claude-sonnet-5", True),
    ("claude-opus-4-8", False), ("claude-sonnet-4-6", False), ("claude-haiku-4-5", False)])
def test_newer_models_think_unasked_and_older_ones_do_not(model, thinks):
    body = reply(model=model)
    assert (thought(body) > 0, kinds(body)[0] == "thinking") == (thinks, thinks)


@pytest.mark.parametrize("model, thinking", [
    ("claude-opus-4-8", {"type": "adaptive"}), ("claude-haiku-4-5", {"type": "enabled", "budget_tokens": 1024})])
def test_older_models_think_when_asked(model, thinking):
    assert thought(reply(model=model, thinking=thinking, max_tokens=4000)) > 0


def test_thinking_can_be_turned_off_where_the_model_allows_it():
    body = reply(thinking={"type": "disabled"})
    assert (thought(body), kinds(body)) == (0, ["text"])


def test_a_forced_tool_leaves_no_room_for_thinking():
    body = reply(tools=[LISTING], tool_choice={"type": "any"})
    assert thought(body) == 0 and kinds(body)[-1] == "tool_use"


def test_a_label_takes_thirty_to_seventy_tokens_of_thinking_by_default():
    amounts = [thought(reply(n=n)) for n in range(30)]
    assert 30 <= min(amounts) < max(amounts) <= 70


def test_more_effort_is_more_thinking_and_low_effort_often_none():
    def total(effort):
        return sum(thought(reply(n=n, output_config={"effort": effort})) for n in range(20))

    totals = [total(effort) for effort in ("low", "medium", "high", "xhigh", "max")]
    assert totals == sorted(totals)
    low = [thought(reply(n=n, output_config={"effort": "low"})) for n in range(20)]
    assert 0 < sum(amount == 0 for amount in low) < 20


def test_thinking_is_billed_as_output_and_takes_time():
    loud, quiet = handle(label()), handle(label(thinking={"type": "disabled"}))
    tokens = thought(loud.body)
    assert loud.body["usage"]["output_tokens"] - quiet.body["usage"]["output_tokens"] == tokens > 0
    assert loud.seconds > quiet.seconds


def test_thinking_alone_can_use_up_max_tokens():
    body = reply(max_tokens=20)
    assert (kinds(body), body["stop_reason"]) == (["thinking"], "max_tokens")
    assert body["usage"]["output_tokens"] == thought(body) == 20


def test_newer_models_leave_the_text_out_unless_asked_for_a_summary():
    omitted, summarized = reply(), reply(thinking={"type": "adaptive", "display": "summarized"})
    assert omitted["content"][0]["thinking"] == "" and omitted["content"][0]["signature"]
    assert "simulated" in summarized["content"][0]["thinking"]


def test_thinking_that_is_sent_back_counts_as_input_for_what_it_was():
    body = reply(output_config={"effort": "max"})
    opening, end = label()["messages"], {"role": "user", "content": "so?"}
    counts = [estimate_request({**label(), "messages": [*opening, {"role": "assistant", "content": content}, end]})
              for content in (body["content"], body["content"][1:])]
    assert counts[0] - counts[1] == pytest.approx(thought(body), abs=1)


def test_a_block_is_genuine_only_to_the_letter():
    block = reply()["content"][0]
    assert genuine(block)
    other = block["signature"][:-1] + ("0" if block["signature"][-1] != "0" else "1")
    assert not genuine({**block, "thinking": "I changed this."})
    assert not genuine({**block, "signature": other})
    assert not genuine({**block, "signature": block["signature"][:-1]})
    assert not genuine({"type": "thinking", "thinking": ""}) and not genuine({**block, "signature": ""})


def test_sonnet_can_think_between_tools_only():
    between = {"model": "claude-sonnet-5-5", "thinking": {"type": "between_tools"}, "tools": [LISTING]}
    call = {"type": "tool_use", "id": "toolu_1", "name": "list_tickets", "input": {"offset": 0}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "[]"}
    after = [*label()["messages"], {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    assert thought(reply(**between)) == 0 < thought(reply(**between, messages=after))
