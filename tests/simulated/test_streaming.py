"""Streamed replies through both doors: the events, their order and times, and the same message in the end."""

import json

import anthropic
import httpx2
import pytest

from lib.simulated.endpoints import answer
from lib.simulated.protocol import Reply
from lib.simulated.streaming import events
from lib.simulated.transport import SimulatedTransport
from tests.simulated.doors import DOORS, FakeClock, opened

MODEL = "claude-haiku-5-5"
HEADERS = {"x-api-key": "k", "anthropic-version": "2026-10-21"}
LISTING = {"name": "list_tickets", "description": "Lists all tickets, one page at a time.",
           "input_schema": {"type": "object", "properties": {"offset": {"type": "integer"}}}}
LABEL = 'Name the root cause. Answer with JSON only.\n{"cause": "2-5 words", "evidence": "exact quote"}'
REQUESTS = {
    "a free question": {"messages": [{"role": "user", "content": "What is the capital of France?"}]},
    "a label": {"system": LABEL, "messages": [{"role": "user", "content": "<ticket>I was charged twice.</ticket>"}]},
    "a call": {"tools": [LISTING], "messages": [{"role": "user", "content": "What are the most common root causes?"}]},
    "a call cut off": {"tools": [LISTING], "max_tokens": 30, "thinking": {"type": "disabled"},
                       "messages": [{"role": "user", "content": "What are the most common root causes?"}]},
    "a text cut off": {"max_tokens": 10, "thinking": {"type": "disabled"},
                       "messages": [{"role": "user", "content": "What is the capital of France?"}]},
    "thinking shown": {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "max"},
                       "messages": [{"role": "user", "content": "What is the capital of France?"}]},
    "thinking omitted": {"output_config": {"effort": "max"}, "messages": [{"role": "user", "content": "Why?"}]},
}


@pytest.fixture(scope="module", params=DOORS)
def door(request):
    with opened(request.param) as door:
        yield door


def whole(changes):
    return {"model": MODEL, "max_tokens": 1024, **changes}


@pytest.mark.parametrize("changes", REQUESTS.values(), ids=REQUESTS)
def test_a_streamed_message_is_the_one_that_comes_whole(door, changes):
    request = whole(changes)
    with door.sdk.messages.stream(**request) as stream:
        streamed = stream.get_final_message()
    plain = door.sdk.messages.create(**request)
    assert streamed.to_dict(exclude_none=True) == plain.to_dict(exclude_none=True)


@pytest.mark.parametrize("changes", REQUESTS.values(), ids=REQUESTS)
def test_events_come_in_the_apis_order(door, changes):
    kinds = [event.type for event in door.sdk.messages.create(**whole(changes), stream=True)]
    assert (kinds[0], kinds[-2:]) == ("message_start", ["message_delta", "message_stop"])
    is_open = False
    for kind in kinds[1:-2]:
        assert is_open == (kind != "content_block_start")
        is_open = kind != "content_block_stop"
    assert not is_open


def test_usage_begins_with_the_input_and_ends_with_all_of_it(door):
    request = whole(REQUESTS["thinking omitted"])
    first, *_, last, _ = door.sdk.messages.create(**request, stream=True)
    usage = door.sdk.messages.create(**request).usage
    assert first.message.usage.input_tokens == usage.input_tokens and first.message.usage.output_tokens == 1
    assert (last.usage.output_tokens, last.usage.input_tokens) == (usage.output_tokens, usage.input_tokens)
    assert last.usage.output_tokens_details.thinking_tokens > 0


def test_a_stream_is_sent_as_server_sent_events(door):
    reply = door.http.post("/v1/messages", headers=HEADERS, json=whole({**REQUESTS["a label"], "stream": True}))
    assert reply.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert reply.headers["request-id"].startswith("req_01")
    told = [dict(line.split(": ", 1) for line in event.split("\n")) for event in reply.text.strip().split("\n\n")]
    assert all(json.loads(one["data"])["type"] == one["event"] for one in told)
    assert [one["event"] for one in told][:3] == ["message_start", "content_block_start", "ping"]


def test_what_is_refused_is_refused_before_the_stream_begins(door):
    with pytest.raises(anthropic.BadRequestError, match="at least one message"):
        door.sdk.messages.create(**whole({"messages": []}), stream=True)
    with pytest.raises(anthropic.OverloadedError):
        door.sdk.messages.create(**whole(REQUESTS["a label"]), stream=True,
                                 extra_headers={"simulated-fault": "overloaded"})


def test_an_overload_may_end_a_stream_half_way(door):
    stream = door.sdk.messages.create(**whole(REQUESTS["a label"]), stream=True,
                                      extra_headers={"simulated-fault": "overloaded_in_stream"})
    seen = []
    with pytest.raises(anthropic.APIStatusError) as caught:
        for event in stream:
            seen.append(event.type)
    assert caught.value.body["error"] == {"type": "overloaded_error", "message": "Overloaded"}
    assert "content_block_delta" in seen and "message_stop" not in seen


def test_the_first_event_comes_with_the_first_token_and_the_last_when_all_is_written():
    body = {"content": [{"type": "text", "text": "one two three four five six seven"}], "stop_reason": "end_turn",
            "stop_sequence": None, "usage": {"output_tokens": 9}}
    times = [seconds for seconds, _ in events(Reply(200, body, 3.0, first=1.0))]
    assert times[0] == 1.0 and times[-1] == 3.0
    assert times == sorted(times) and len({*times}) > 4


def test_a_stream_waits_on_the_clock_as_it_is_read():
    clock = FakeClock()
    http = httpx2.Client(base_url="http://simulated", transport=SimulatedTransport(clock))
    request = whole({**REQUESTS["a label"], "stream": True})
    with http.stream("POST", "/v1/messages", headers=HEADERS, json=request) as reply:
        parts = reply.iter_raw()
        next(parts)
        begun = clock.slept
        for _ in parts:
            pass
    assert 1.0 < begun < clock.slept
    del request["stream"]
    told = http.post("/v1/messages", headers=HEADERS, json=request).headers["simulated-seconds"]
    assert clock.slept - float(told) == pytest.approx(float(told), abs=0.01)


def test_the_wire_tells_when_each_part_is_sent(door):
    body = json.dumps(whole({**REQUESTS["a label"], "stream": True})).encode()
    sent = answer(door.room, "POST", "/v1/messages", HEADERS, body)
    times = [seconds for seconds, _ in sent.parts]
    assert 0 < times[0] < times[-1] == sent.seconds
