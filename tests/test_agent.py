from __future__ import annotations

import copy
import json
import socket
import sys
import threading
from types import SimpleNamespace

import pytest

from lib import errors
from lib.agent import Tool, run_agent
from tests.fakes import FakeClient, as_is, assert_sendable, both_wires, over_sdk, reply, text, thinking, tool_use

STOCK = {
    "type": "object",
    "properties": {"sku": {"type": "string", "pattern": "^S-[0-9]+$"}, "depth": {"type": "integer"}},
    "required": ["sku"],
    "additionalProperties": False,
}


def stock_tool(fn=lambda sku, depth=0: {"sku": sku, "left": 4}) -> Tool:
    return Tool("get_stock", "Pieces in stock by SKU.", STOCK, fn)


def any_tool(fn, name="look") -> Tool:
    return Tool(name, "Looks.", {"type": "object"}, fn)


def run(client, *tools, **kwargs):
    return run_agent(client, "test-model", "Be brief.", "How many?", tools, **kwargs)


def results_after(*blocks, tools, wire=as_is) -> list[dict]:
    """The tool results that the model got for one reply holding `blocks`."""
    fake = FakeClient([reply(*blocks), reply("done")])
    answer, messages = run(wire(fake), *tools)
    assert answer == "done"
    return fake.requests[1]["messages"][2]["content"]


# --- the conversation ------------------------------------------------------------------------------------------------


@both_wires
def test_end_turn_returns_the_text_and_the_whole_conversation(wire):
    answer, messages = run(wire(FakeClient([reply("Four", " pieces.")])))
    assert answer == "Four pieces."
    assert messages == [{"role": "user", "content": "How many?"},
                        {"role": "assistant", "content": [text("Four"), text(" pieces.")]}]


def test_the_request_holds_what_was_asked_and_nothing_else():
    fake = FakeClient([reply("4")])
    run_agent(fake, "test-model", "Be brief.", "How many?", [stock_tool()], max_tokens=77)
    assert fake.requests == [{
        "model": "test-model", "max_tokens": 77, "system": "Be brief.",
        "tools": [{"name": "get_stock", "description": "Pieces in stock by SKU.", "input_schema": STOCK}],
        "messages": [{"role": "user", "content": "How many?"}],
    }]


def test_an_empty_system_prompt_and_no_tools_are_left_out_of_the_request():
    fake = FakeClient([reply("4")])
    run_agent(fake, "test-model", "", [text("How many?")], [])
    assert set(fake.requests[0]) == {"model", "max_tokens", "messages"}
    assert fake.requests[0]["messages"][0]["content"] == [text("How many?")]


@both_wires
def test_a_tool_call_is_run_and_its_result_sent_back(wire):
    fake = FakeClient([reply("Let me look.", tool_use("get_stock", {"sku": "S-1"}, "toolu_7")), reply("Four.")])
    answer, messages = run(wire(fake), stock_tool())
    assert answer == "Four."
    assert fake.requests[1]["messages"][1:] == [
        {"role": "assistant", "content": [text("Let me look."), tool_use("get_stock", {"sku": "S-1"}, "toolu_7")]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_7",
                                      "content": '{"sku": "S-1", "left": 4}'}]},
    ]
    assert messages == [*fake.requests[1]["messages"], {"role": "assistant", "content": [text("Four.")]}]


@both_wires
def test_several_calls_run_at_once_and_are_answered_in_one_message_in_order(wire):
    together = threading.Barrier(3)

    def look(n):
        together.wait(timeout=10)       # breaks unless all three are running
        return f"saw {n}"

    calls = [tool_use("look", {"n": n}, f"toolu_{n}") for n in (3, 1, 2)]
    results = results_after(*calls, tools=[any_tool(look)], wire=wire)
    assert [(r["tool_use_id"], r["content"]) for r in results] == [
        ("toolu_3", "saw 3"), ("toolu_1", "saw 1"), ("toolu_2", "saw 2")]


def test_several_calls_run_in_daemon_threads_so_that_a_hung_tool_cannot_keep_the_program_alive():
    daemons = []
    look = any_tool(lambda: daemons.append(threading.current_thread().daemon))
    results_after(tool_use("look", id="a"), tool_use("look", id="b"), tools=[look])
    assert daemons == [True, True]


@both_wires
def test_thinking_goes_back_byte_for_byte_and_in_order(wire):
    blocks = [thinking("", "b3BhcXVl"), {"type": "redacted_thinking", "data": "aGlk+/=="}, thinking("só…\n ", ""),
              tool_use("get_stock", {"sku": "S-1"})]
    fake = FakeClient([reply(*blocks), reply("Four.")])
    run(wire(fake), stock_tool())
    assert fake.requests[1]["messages"][1]["content"] == blocks


@both_wires
def test_blocks_of_an_unknown_type_go_back_as_they_came(wire):
    block = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}, "new": [1]}
    fake = FakeClient([reply(block, tool_use("get_stock", {"sku": "S-1"})), reply("Four.")])
    run(wire(fake), stock_tool())
    assert fake.requests[1]["messages"][1]["content"][0] == block


def test_blocks_may_be_plain_objects():
    asked = SimpleNamespace(type="tool_use", id="toolu_1", name="get_stock", input={"sku": "S-1"})
    fake = FakeClient([SimpleNamespace(content=[asked], stop_reason="tool_use"), reply("Four.")])
    assert run(fake, stock_tool())[0] == "Four."


@both_wires
@pytest.mark.parametrize("blank", ["", " \n"])
def test_blank_text_is_never_sent_back(wire, blank):
    fake = FakeClient([reply(blank, tool_use("get_stock", {"sku": "S-1"})), reply("Four.")])
    run(wire(fake), stock_tool())
    assert [b["type"] for b in fake.requests[1]["messages"][1]["content"]] == ["tool_use"]


@both_wires
def test_text_with_half_a_character_goes_back_as_text_that_can_be_sent(wire):
    fake = FakeClient([reply("half \ud83d", tool_use("get_stock", {"sku": "S-1"})), reply("Four.")])
    run(wire(fake), stock_tool())
    assert fake.requests[1]["messages"][1]["content"][0] == text("half \ufffd")


def test_earlier_requests_are_not_changed_by_later_turns():
    seen = []
    replies = iter([reply(tool_use("get_stock", {"sku": "S-1"})), reply("Four.")])
    client = SimpleNamespace(messages=SimpleNamespace(create=lambda **request: seen.append(request) or next(replies)))
    run(client, stock_tool())
    assert [len(request["messages"]) for request in seen] == [1, 3]


def test_a_tool_that_changes_its_arguments_does_not_change_the_history():
    def grab(found):
        return found.pop()

    fake = FakeClient([reply(tool_use("look", {"found": [1, 2]})), reply("done")])
    _, messages = run(fake, any_tool(grab))
    assert messages[1]["content"][0]["input"] == {"found": [1, 2]}


@both_wires
def test_a_tool_call_in_a_reply_that_says_end_turn_is_still_answered(wire):
    fake = FakeClient([reply("", tool_use("get_stock", {"sku": "S-1"}), stop_reason="end_turn"), reply("Four.")])
    assert run(wire(fake), stock_tool())[0] == "Four."


@both_wires
def test_a_paused_turn_is_sent_back_and_goes_on(wire):
    fake = FakeClient([reply("Checking", stop_reason="pause_turn"), reply("Four.")])
    answer, messages = run(wire(fake))
    assert answer == "Four."
    assert fake.requests[1]["messages"][1] == {"role": "assistant", "content": [text("Checking")]}


def test_a_pause_that_never_ends_meets_the_turn_limit():
    with pytest.raises(errors.TurnLimit):
        run(FakeClient(lambda request: reply("Checking", stop_reason="pause_turn")), max_turns=3)


@both_wires
def test_a_stop_sequence_counts_as_an_answer(wire):
    assert run(wire(FakeClient([reply("Four.", stop_reason="stop_sequence")])))[0] == "Four."


# --- arguments -------------------------------------------------------------------------------------------------------


@both_wires
def test_arguments_sent_as_json_text_are_read_and_the_history_holds_the_object(wire):
    fake = FakeClient([reply(tool_use("get_stock", '{"sku": "S-1"}')), reply("Four.")])
    _, messages = run(wire(fake), stock_tool())
    assert messages[1]["content"][0]["input"] == {"sku": "S-1"}
    assert "is_error" not in messages[2]["content"][0]


@both_wires
@pytest.mark.parametrize("value", [[], None, "[1]", "not json", "", 7, '"{}"', '{"sku": NaN}', '{"sku": "\\ud83d"}'])
def test_arguments_that_are_no_object_are_an_error_and_the_history_holds_an_empty_object(wire, value):
    block = {"type": "tool_use", "id": "toolu_1", "name": "get_stock", "input": value}
    fake = FakeClient([reply(block), reply("Sorry.")])
    _, messages = run(wire(fake), stock_tool(fn=pytest.fail))
    assert messages[1]["content"][0]["input"] == {}
    result, = messages[2]["content"]
    assert result["is_error"] and "get_stock was not run" in result["content"] and "JSON" in result["content"]


@pytest.mark.parametrize("arguments, named", [
    ({}, ["'sku'", "required"]),
    ({"sku": 71}, ["sku", "71", "string"]),
    ({"sku": "71"}, ["sku", "'71'", "^S-[0-9]+$"]),
    ({"sku": "S-1", "depth": "deep"}, ["depth", "'deep'", "integer"]),
    ({"sku": "S-1", "colour": "red"}, ["'colour'", "unexpected"]),
    ({"sku": "x" * 100_000}, ["sku", "^S-[0-9]+$"]),
])
def test_arguments_that_break_the_schema_name_the_field_and_what_was_expected(arguments, named):
    result, = results_after(tool_use("get_stock", arguments), tools=[stock_tool(fn=pytest.fail)])
    assert result["is_error"]
    assert all(words in result["content"] for words in named)
    assert len(result["content"]) < 1_000


def test_a_choice_that_no_branch_fits_says_which_branches_there_are():
    schema = {"type": "object", "properties": {"page": {"anyOf": [{"type": "integer"}, {"const": "last"}]}}}
    result, = results_after(tool_use("look", {"page": "first"}), tools=[Tool("look", "", schema, pytest.fail)])
    assert '"const": "last"' in result["content"] and '"integer"' in result["content"]


def test_twenty_faults_are_not_twenty_lines():
    schema = {"type": "object", "additionalProperties": {"type": "string"}}
    arguments = {f"field_{n}": n for n in range(20)}
    result, = results_after(tool_use("look", arguments), tools=[Tool("look", "", schema, pytest.fail)])
    assert result["content"].count("is not of type") == 5 and "15 more" in result["content"]


def test_the_validator_is_made_once_per_tool():
    tool = stock_tool()
    assert tool.complaint({"sku": "S-1"}) == ""
    assert tool._validator is tool._validator


@pytest.mark.parametrize("schema", [
    {"type": "object", "properties": {"sku": {"type": "str"}}},
    {"type": "object", "properties": {"sku": {"pattern": "("}}},
    None,
])
def test_a_schema_that_is_itself_broken_is_a_tool_error(schema):
    result, = results_after(tool_use("look", {"sku": "S-1"}), tools=[Tool("look", "", schema, pytest.fail)])
    assert result["is_error"] and result["content"].startswith("look failed: ")


def test_a_schema_that_points_to_an_address_is_a_tool_error_and_nothing_is_fetched():
    with socket.create_server(("127.0.0.1", 0)) as server:
        schema = {"$ref": f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"}
        result, = results_after(tool_use("look"), tools=[Tool("look", "", schema, pytest.fail)])
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert result["is_error"]


# --- tools that go wrong ---------------------------------------------------------------------------------------------


@both_wires
def test_an_unknown_tool_is_answered_with_the_names_that_exist(wire):
    calls = [tool_use("get_stock", {"sku": "S-1"}, "a"), tool_use("no_such", {}, "b"),
             tool_use("get_stock", {"sku": "S-2"}, "c")]
    first, unknown, last = results_after(*calls, tools=[stock_tool(), any_tool(str)], wire=wire)
    assert unknown["is_error"] and "no_such" in unknown["content"] and "get_stock, look" in unknown["content"]
    assert "is_error" not in first and '"S-2"' in last["content"]


class Panic(BaseException):
    pass


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no words")


def raising(error):
    def fn():
        raise error
    return fn


@pytest.mark.parametrize("fn, words", [
    (raising(KeyError("sku")), "KeyError: 'sku'"),
    (lambda: sys.exit(3), "SystemExit: 3"),
    (raising(Panic("native panic")), "Panic: native panic"),
    (raising(ValueError()), "ValueError"),
    (raising(Unprintable()), "Unprintable"),
    (raising(OSError("x" * 3_000_000)), "OSError: xxx"),
    (raising(ValueError("half \ud83d")), "ValueError: half \ufffd"),
    (lambda: run_out(), "RecursionError"),
    (lambda wanted: wanted, "wanted"),
])
def test_a_tool_that_raises_anything_is_an_error_for_the_model_and_the_loop_goes_on(fn, words):
    once, = results_after(tool_use("look", id="a"), tools=[any_tool(fn)])
    twice = results_after(tool_use("look", id="a"), tool_use("look", id="b"), tools=[any_tool(fn)])
    for result in [once, *twice]:
        assert result["is_error"] and result["content"].startswith("look failed: ") and words in result["content"]
        assert "Traceback" not in result["content"] and len(result["content"]) < 21_000


def run_out():
    return run_out()


async def later():
    return 4


def endless():
    yield "a row"
    raise LookupError("the file ended")


@pytest.mark.parametrize("fn, words", [(later, "plain function"), (endless, "LookupError: the file ended")])
def test_a_result_that_cannot_be_read_is_a_tool_error(fn, words):
    result, = results_after(tool_use("look"), tools=[any_tool(fn)])
    assert result["is_error"] and words in result["content"]


@both_wires
@pytest.mark.parametrize("value", [None, "", " \n", b"\xff\xfe", float("nan"), "half \ud83d", "x" * 3_000_000])
def test_a_result_of_any_kind_can_be_sent(wire, value):
    result, = results_after(tool_use("look"), tools=[any_tool(lambda: value)], wire=wire)
    assert result["content"].strip() and "is_error" not in result and len(result["content"]) < 21_000


@both_wires
def test_an_id_used_twice_in_one_reply_is_answered_once_for_each_call(wire):
    calls = [tool_use("look", {"n": n}, "same") for n in (1, 2, 3)]
    fake = FakeClient([reply(*calls), reply("done")])
    _, messages = run(wire(fake), any_tool(lambda n: f"saw {n}"))
    asked = [block["id"] for block in messages[1]["content"]]
    assert asked[0] == "same" and len(set(asked)) == 3
    assert [(r["tool_use_id"], r["content"]) for r in messages[2]["content"]] == list(
        zip(asked, ["saw 1", "saw 2", "saw 3"], strict=True))


@pytest.mark.parametrize("calls", [1, 2])
def test_ctrl_c_in_a_tool_ends_the_run_with_every_call_answered(calls):
    asked = [tool_use("look", id=f"toolu_{n}") for n in range(calls)]
    with pytest.raises(KeyboardInterrupt) as caught:
        run(FakeClient([reply(*asked)]), any_tool(raising(KeyboardInterrupt())))
    assert_sendable(caught.value.messages)
    assert len(caught.value.messages[-1]["content"]) == calls


# --- endings without an answer ---------------------------------------------------------------------------------------

ENDINGS = [
    ("max_tokens", errors.AgentCutOff, "cut off"),
    ("refusal", errors.AgentRefused, "refused"),
    ("model_context_window_exceeded", errors.AgentWindowExceeded, "context window"),
    ("moon_phase", errors.AgentUnknownStop, "moon_phase"),
    (None, errors.AgentUnknownStop, "missing"),
]


@both_wires
@pytest.mark.parametrize("stop_reason, kind, words", ENDINGS)
def test_a_broken_ending_is_a_named_error_that_holds_the_conversation(wire, stop_reason, kind, words):
    with pytest.raises(kind, match=words) as caught:
        run(wire(FakeClient([reply("Checking", stop_reason=stop_reason)])))
    assert caught.value.messages == [{"role": "user", "content": "How many?"},
                                     {"role": "assistant", "content": [text("Checking")]}]


@both_wires
@pytest.mark.parametrize("stop_reason, kind, words", ENDINGS)
def test_a_tool_call_in_a_broken_reply_is_not_run_but_answered(wire, stop_reason, kind, words):
    broken = reply("I will", tool_use("get_stock", {"sku": "S-1"}), stop_reason=stop_reason)
    with pytest.raises(kind) as caught:
        run(wire(FakeClient([broken])), stock_tool(fn=pytest.fail))
    result, = caught.value.messages[-1]["content"]
    assert result["is_error"] and result["content"].startswith("Not run: ") and words in result["content"]
    assert_sendable([*caught.value.messages, {"role": "user", "content": "Go on."}])


@both_wires
@pytest.mark.parametrize("content", [[], [text("")], [thinking("hm")], [thinking(""), text(" ")]])
def test_end_turn_without_text_is_no_answer_and_leaves_a_conversation_that_can_go_on(wire, content):
    with pytest.raises(errors.AgentNoAnswer) as caught:
        run(wire(FakeClient([reply(tool_use("get_stock", {"sku": "S-1"})), reply(*content)])), stock_tool())
    assert len(caught.value.messages) == 3
    assert_sendable(caught.value.messages)


def test_thinking_cut_off_before_any_text_leaves_a_conversation_that_can_go_on():
    with pytest.raises(errors.AgentCutOff) as caught:
        run(FakeClient([reply(thinking("hm"), stop_reason="max_tokens")]))
    assert_sendable(caught.value.messages)


@both_wires
@pytest.mark.parametrize("content", [None, []])
def test_a_reply_without_content_or_stop_reason_is_an_unknown_stop(wire, content):
    with pytest.raises(errors.AgentUnknownStop):
        run(wire(FakeClient([{"id": "m", "type": "message", "role": "assistant", "content": content}])))


def test_a_reply_that_is_html_text_is_an_unknown_stop():
    with pytest.raises(errors.AgentUnknownStop):
        run(FakeClient(["<html>hello</html>"]))


def test_a_reply_that_says_tool_use_but_calls_none_is_not_a_success():
    with pytest.raises(errors.AgentUnknownStop, match="no tool call"):
        run(FakeClient([reply("Four.", stop_reason="tool_use")]))


@both_wires
def test_a_model_that_only_calls_tools_meets_the_turn_limit(wire):
    looked = []
    fake = FakeClient(lambda request: reply(tool_use("look", {"n": 1}, f"toolu_{len(request['messages'])}")))
    with pytest.raises(errors.TurnLimit, match="3 turns") as caught:
        run(wire(fake), any_tool(lambda n: looked.append(n)), max_turns=3)
    assert len(fake.requests) == 3 and len(looked) == 2     # the last call's result would reach no one
    assert_sendable(caught.value.messages)
    assert "limit of 3 turns" in caught.value.messages[-1]["content"][0]["content"]


@pytest.mark.parametrize("error", [errors.Stopped("Stop was pressed"), errors.ServerTrouble("529"), KeyError("bug"),
                                   KeyboardInterrupt(), SystemExit(1)])
def test_what_the_client_raises_goes_through_and_carries_the_conversation(error):
    with pytest.raises(type(error)) as caught:
        run(FakeClient([reply(tool_use("get_stock", {"sku": "S-1"})), error]), stock_tool())
    assert caught.value is error
    assert [message["role"] for message in error.messages] == ["user", "assistant", "user"]
    assert_sendable(error.messages)


def test_a_prompt_that_is_too_long_for_the_api_is_the_agents_window_error():
    with pytest.raises(errors.AgentWindowExceeded, match="208310 tokens") as caught:
        run(FakeClient([errors.WindowExceeded("prompt is too long: 208310 tokens > 200000 maximum")]))
    assert isinstance(caught.value.__cause__, errors.WindowExceeded)
    assert caught.value.messages == [{"role": "user", "content": "How many?"}]


def test_the_sdk_sees_the_same_requests_as_a_plain_client():
    replies = [reply(thinking("so"), tool_use("get_stock", {"sku": "S-1"})), reply("Four.")]
    plain, sdk = FakeClient(copy.deepcopy(replies)), FakeClient(replies)
    run(plain, stock_tool())
    run(over_sdk(sdk), stock_tool())
    assert json.dumps(plain.requests, sort_keys=True) == json.dumps(sdk.requests, sort_keys=True)
