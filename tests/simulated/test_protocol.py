"""The simulated Messages API through the real SDK: what it refuses and in which words, and what its replies hold."""

from concurrent.futures import ThreadPoolExecutor

import anthropic
import httpx2
import pytest

from lib.simulated.protocol import handle
from lib.simulated.transport import SimulatedTransport

MODEL = "claude-haiku-5-5"
HI = [{"role": "user", "content": "hi"}]
TOOL = {"name": "read_ticket", "description": "Returns one ticket.",
        "input_schema": {"type": "object", "properties": {"ticket_id": {"type": "string"}}, "required": ["ticket_id"]}}
CALL = {"type": "tool_use", "id": "toolu_A", "name": "read_ticket", "input": {"ticket_id": "1"}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_A", "content": "{}"}
TICKET = '<ticket id="7">\n<subject>Card</subject>\n<body>I was charged twice for one booking.</body>\n</ticket>'
LABEL = 'Name the root cause. Answer with JSON only.\n{"cause": "2-5 words", "evidence": "exact quote"}'


class FakeClock:
    """Time that only passes when somebody sleeps."""

    def __init__(self):
        self.slept = 0.0

    def now(self):
        return self.slept

    def sleep(self, seconds):
        self.slept += seconds


def client(clock=None, key="any", **more):
    transport = SimulatedTransport(clock or FakeClock())
    http = anthropic.DefaultHttpxClient(transport=transport)
    return anthropic.Anthropic(api_key=key, max_retries=0, http_client=http, **more)


def ask(**request):
    return client().messages.create(**{"model": MODEL, "max_tokens": 1024, "messages": HI, **request})


def conversation(*turns):
    roles = ("user", "assistant")
    return [{"role": roles[i % 2], "content": content} for i, content in enumerate(turns)]


REFUSED = {
    "no messages": ({"messages": []}, "messages: at least one message is required"),
    "assistant first": ({"messages": [{"role": "assistant", "content": "hi"}, *HI]},
                        'messages: first message must use the "user" role'),
    "unknown role": ({"messages": [{"role": "robot", "content": "hi"}]},
                     "messages.0.role: Input should be 'user', 'assistant' or 'system'"),
    "empty content": ({"messages": [{"role": "user", "content": ""}]},
                      "messages.0: all messages must have non-empty content except for the optional final assistant "
                      "message"),
    "empty text block": ({"messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]},
                         "messages: text content blocks must be non-empty"),
    "white space only": ({"messages": [{"role": "user", "content": [{"type": "text", "text": " \n"}]}]},
                         "messages: text content blocks must contain non-whitespace text"),
    "empty system block": ({"system": [{"type": "text", "text": ""}]}, "system: text content blocks must be non-empty"),
    "call without result": (
        {"messages": conversation("go", [CALL], "and?")},
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_A. Each "
        "`tool_use` block must have a corresponding `tool_result` block in the next message."),
    "result not first": (
        {"messages": conversation("go", [CALL], [{"type": "text", "text": "here"}, RESULT])},
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_A. Each "
        "`tool_use` block must have a corresponding `tool_result` block in the next message."),
    "result of nothing": (
        {"messages": [{"role": "user", "content": [RESULT]}]},
        "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_A. Each `tool_result` "
        "block must have a corresponding `tool_use` block in the previous message."),
    "one id twice": ({"messages": conversation("go", [CALL], [RESULT], [CALL], [RESULT])},
                     "messages: `tool_use` ids must be unique"),
    "two results": (
        {"messages": conversation("go", [CALL], [RESULT, RESULT])},
        "messages.2.content: each tool_use must have a single result. Found multiple `tool_result` blocks with id: "
        "toolu_A"),
    "input not an object": ({"messages": conversation("go", [{**CALL, "input": []}], [RESULT])},
                            "messages.1.content.0.tool_use.input: Input should be a valid dictionary"),
    "bad tool name": ({"tools": [{**TOOL, "name": "read ticket"}]},
                      "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
    "same tool twice": ({"tools": [TOOL, TOOL]}, "tools: Tool names must be unique."),
    "schema not an object": ({"tools": [{**TOOL, "input_schema": {"type": "string"}}]},
                             "tools.0.custom.input_schema.type: Input should be 'object'"),
    "schema with anyOf on top": (
        {"tools": [{**TOOL, "input_schema": {"type": "object", "anyOf": [{}]}}]},
        "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"),
    "schema invalid": (
        {"tools": [{**TOOL, "input_schema": {"type": "object", "properties": {"a": {"type": "strange"}}}}]},
        "tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 "
        "(https://json-schema.org/draft/2020-12). Learn more about tool use at "
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview."),
    "temperature": ({"extra_body": {"temperature": 0.2}}, "temperature: Extra inputs are not permitted"),
    "forced tool where refused": (
        {"model": "claude-sonnet-5-5", "tools": [TOOL], "tool_choice": {"type": "any"}},
        'tool_choice: type "tool" and "any" are not supported for this model.'),
    "max_tokens above the model's": (
        {"model": "claude-haiku-4-5", "max_tokens": 64_001, "timeout": 60},
        "max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens for claude-haiku-4-5"),
    "prefill": (
        {"messages": [*HI, {"role": "assistant", "content": "{"}]},
        "This model does not support assistant message prefill. The conversation must end with a user message."),
    "prefill ending in a blank": (
        {"model": "claude-haiku-4-5", "messages": [*HI, {"role": "assistant", "content": "The cause is "}]},
        "messages: final assistant content cannot end with trailing whitespace"),
    "five cache marks": (
        {"messages": [{"role": "user", "content": [
            {"type": "text", "text": str(i), "cache_control": {"type": "ephemeral"}} for i in range(5)]}]},
        "A maximum of 4 blocks with cache_control may be provided. Found 5."),
    "thinking switched on by hand": (
        {"thinking": {"type": "enabled", "budget_tokens": 2000}, "max_tokens": 4000},
        '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and '
        '"output_config.effort" to control thinking behavior.'),
}


@pytest.mark.parametrize(("request_", "message"), REFUSED.values(), ids=REFUSED)
def test_a_broken_request_is_refused_in_the_apis_words(request_, message):
    with pytest.raises(anthropic.BadRequestError) as caught:
        ask(**request_)
    assert caught.value.body["error"] == {"type": "invalid_request_error", "message": message}
    assert caught.value.body["request_id"] == caught.value.response.headers["request-id"]
    assert caught.value.request_id.startswith("req_01")


def test_a_prompt_above_the_window_is_refused_with_both_numbers():
    with pytest.raises(anthropic.BadRequestError, match=r"prompt is too long: 2\d{5} tokens > 200000 maximum"):
        ask(model="claude-haiku-4-5", messages=[{"role": "user", "content": "ticket cause label " * 70_000}])


def test_an_unknown_model_is_not_found():
    with pytest.raises(anthropic.NotFoundError) as caught:
        ask(model="claude-sonnet-9")
    assert caught.value.body["error"] == {"type": "not_found_error", "message": "model: claude-sonnet-9"}


def test_a_request_without_key_is_not_let_in():
    with pytest.raises(anthropic.AuthenticationError) as caught:
        keyless = client(default_headers={"Authorization": anthropic.Omit()})
        keyless.messages.create(model=MODEL, max_tokens=9, messages=HI)
    assert caught.value.body["error"]["message"] == "x-api-key header is required"


def test_the_older_key_header_is_accepted_too():
    request, version = {"model": MODEL, "max_tokens": 9, "messages": HI}, {"anthropic-version": "2023-06-01"}
    assert handle(request, {"x-api-key": "k", **version}).status == 200
    assert handle(request, {"authorization": "Bearer ", **version}).status == 401


@pytest.mark.parametrize(("missing", "message"), [
    ("max_tokens", "max_tokens: Field required"), ("messages", "messages: Field required"),
    ("model", "model: Field required")])
def test_a_missing_field_is_named(missing, message):
    request = {"model": MODEL, "max_tokens": 9, "messages": HI}
    del request[missing]
    assert handle(request).body["error"]["message"] == message


@pytest.mark.parametrize("request_", [
    None, [], "x", {}, {"model": 1}, {"model": MODEL, "max_tokens": "9", "messages": HI},
    {"model": MODEL, "max_tokens": 9, "messages": "hi"}, {"model": MODEL, "max_tokens": 9, "messages": [1]},
    {"model": MODEL, "max_tokens": 9, "messages": [{"role": "user", "content": [1]}]},
    {"model": MODEL, "max_tokens": 9, "messages": [{"role": "user", "content": [{}]}]},
    {"model": MODEL, "max_tokens": 9, "messages": HI, "tools": [1]},
    {"model": MODEL, "max_tokens": 9, "messages": HI, "tools": [{"name": "a"}]},
    {"model": MODEL, "max_tokens": 9, "messages": HI, "tools": {}, "system": 7},
    {"model": MODEL, "max_tokens": 9, "messages": HI, "system": [1], "tool_choice": "auto", "thinking": []},
])
def test_malformed_requests_are_refused_never_raised(request_):
    reply = handle(request_)
    assert (reply.status, reply.body["type"], reply.body["error"]["type"]) == (400, "error", "invalid_request_error")


def test_a_body_that_is_no_json_is_refused():
    http = httpx2.Client(transport=SimulatedTransport(FakeClock()))
    headers = {"authorization": "Bearer k", "anthropic-version": "2026-10-21"}
    reply = http.post("http://simulated/v1/messages", content=b"{nope", headers=headers)
    assert reply.status_code == 400
    assert reply.json()["error"]["message"].startswith("The request body is not valid JSON")


def test_other_paths_are_not_found():
    assert handle({}, None, "POST", "/v1/complete").status == 404


def test_consecutive_messages_of_one_role_count_as_one():
    turns = [{"role": "user", "content": "go"}, {"role": "assistant", "content": [CALL]},
             {"role": "user", "content": [RESULT]}, {"role": "user", "content": "thanks"}]
    assert ask(messages=turns, tools=[TOOL]).type == "message"


def test_a_reply_is_a_message_with_honest_usage():
    request = {"system": LABEL, "messages": [{"role": "user", "content": TICKET}]}
    message = ask(**request)
    counted = client().messages.count_tokens(model=MODEL, **request)
    usage = message.usage
    assert (message.type, message.role, message.model) == ("message", "assistant", MODEL)
    assert message.stop_reason == "end_turn"
    assert message.id.startswith("msg_01") and message._request_id.startswith("req_01")
    total = usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens
    assert total == counted.input_tokens
    assert usage.cache_creation.ephemeral_5m_input_tokens + usage.cache_creation.ephemeral_1h_input_tokens == 0
    assert 0 < usage.output_tokens_details.thinking_tokens < usage.output_tokens


def test_the_same_request_gets_the_same_reply_and_another_one_another_id():
    first, second, other = ask(), ask(), ask(messages=[{"role": "user", "content": "ho"}])
    assert first.to_dict() == second.to_dict()
    assert first.id != other.id


def test_replies_do_not_depend_on_other_calls_at_the_same_time():
    sdk = client()
    requests = [{"model": MODEL, "max_tokens": 1024, "system": LABEL,
                 "messages": [{"role": "user", "content": TICKET.replace("booking", f"booking {i}")}]}
                for i in range(40)]
    alone = [sdk.messages.create(**r).to_dict() for r in requests]
    with ThreadPoolExecutor(8) as pool:
        together = [m.to_dict() for m in pool.map(lambda r: sdk.messages.create(**r), requests)]
    assert together == alone


def test_a_tool_call_comes_with_its_own_id_and_stop_reason():
    listing = {"name": "list_tickets", "description": "Lists all tickets, one page at a time.",
               "input_schema": {"type": "object", "properties": {"offset": {"type": "integer"}}}}
    message = ask(tools=[listing], messages=[{"role": "user", "content": "What are the 5 most common root causes?"}])
    call = message.content[-1]
    assert message.stop_reason == "tool_use"
    assert (call.type, call.name, call.input) == ("tool_use", "list_tickets", {"offset": 0})
    assert call.id.startswith("toolu_01")


def test_a_reply_longer_than_max_tokens_is_cut_there():
    request = {"system": LABEL, "messages": [{"role": "user", "content": TICKET}]}
    whole = ask(**request)
    limit = whole.usage.output_tokens - 10
    cut = ask(**request, max_tokens=limit)
    assert (cut.stop_reason, whole.stop_reason) == ("max_tokens", "end_turn")
    assert limit - 5 <= cut.usage.output_tokens <= limit
    assert whole.content[-1].text.startswith(cut.content[-1].text) and whole.content[-1].text != cut.content[-1].text


def test_a_tool_call_cut_off_arrives_without_its_input():
    tools = [{**TOOL, "name": "list_tickets", "description": "Lists all tickets."}]
    request = {"tools": tools, "messages": [{"role": "user", "content": "Which causes are most common?"}]}
    message = ask(**request, max_tokens=ask(**request).usage.output_tokens - 10)
    assert message.stop_reason == "max_tokens"
    assert (message.content[-1].type, message.content[-1].to_dict()["input"]) == ("tool_use", {})


def test_a_reply_that_outgrows_the_window_says_so():
    filler = {"role": "user", "content": "word " * 178_540}
    reply = handle({"model": "claude-haiku-4-5", "max_tokens": 4000, "messages": [filler]})
    room = 200_000 - reply.body["usage"]["input_tokens"]
    assert 0 < room < 30, "the filler must leave less room than the reply needs"
    assert reply.body["stop_reason"] == "model_context_window_exceeded"
    assert reply.body["usage"]["output_tokens"] <= room


@pytest.mark.parametrize("sequences, kept, stopped_by", [
    (['"evidence"'], '"cause"', '"evidence"'), (["nowhere", '"evidence"', '"cause"'], "{", '"cause"')])
def test_text_ends_before_the_first_stop_sequence(sequences, kept, stopped_by):
    request = {"system": LABEL, "messages": [{"role": "user", "content": TICKET}]}
    whole, cut = ask(**request), ask(**request, stop_sequences=sequences)
    text, shown = whole.content[-1].text, cut.content[-1].text
    assert (cut.stop_reason, cut.stop_sequence) == ("stop_sequence", stopped_by)
    assert text.startswith(shown + stopped_by) and kept in shown
    assert cut.usage.output_tokens < whole.usage.output_tokens


def test_a_stop_sequence_that_never_comes_stops_nothing():
    message = ask(stop_sequences=["nowhere"])
    assert (message.stop_reason, message.stop_sequence) == ("end_turn", None)


def test_max_tokens_may_come_before_the_stop_sequence():
    message = ask(max_tokens=5, stop_sequences=["simulation"])
    assert (message.stop_reason, message.stop_sequence) == ("max_tokens", None)


def test_a_call_takes_its_stated_seconds_on_the_clock_it_is_given():
    clock = FakeClock()
    raw = client(clock).messages.with_raw_response.create(
        model=MODEL, max_tokens=1024, system=LABEL, messages=[{"role": "user", "content": TICKET}])
    stated = float(raw.headers["simulated-seconds"])
    assert clock.slept == pytest.approx(stated, abs=0.01)
    assert 1.3 < stated < 3, "a label call takes about two seconds"


def test_larger_models_take_longer():
    def seconds(model):
        return handle({"model": model, "max_tokens": 99, "messages": HI}).seconds

    assert seconds("claude-haiku-5-5") < seconds("claude-opus-5-5")


def test_a_free_question_gets_a_short_honest_answer():
    message = ask(messages=[{"role": "user", "content": "What is the capital of France?"}])
    assert "simulation" in message.content[-1].text
