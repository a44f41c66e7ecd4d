"""What the replies of the simulated Messages API hold, and how long they take. What is refused: `test_contract`."""

from concurrent.futures import ThreadPoolExecutor

import anthropic
import pytest

from lib.simulated.protocol import handle
from lib.simulated.transport import SimulatedTransport
from tests.simulated.doors import FakeClock

MODEL = "claude-haiku-5-5"
HI = [{"role": "user", "content": "hi"}]
TOOL = {"name": "read_ticket", "description": "Returns one ticket.",
        "input_schema": {"type": "object", "properties": {"ticket_id": {"type": "string"}}, "required": ["ticket_id"]}}
TICKET = '<ticket id="7">\n<subject>Card</subject>\n<body>I was charged twice for one booking.</body>\n</ticket>'
LABEL = 'Name the root cause. Answer with JSON only.\n{"cause": "2-5 words", "evidence": "exact quote"}'


def client(clock=None):
    http = anthropic.DefaultHttpxClient(transport=SimulatedTransport(clock or FakeClock()))
    return anthropic.Anthropic(api_key="any", max_retries=0, http_client=http)


def ask(**request):
    return client().messages.create(**{"model": MODEL, "max_tokens": 1024, "messages": HI, **request})


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
