"""Faults and time on demand: seeded, independent of the order of arrival, and billed nothing."""

import random

import pytest

from lib.simulated.conditions import Conditions
from lib.simulated.latency import Speed
from lib.simulated.protocol import handle
from lib.simulated.room import Room

MODEL = "claude-haiku-5-5"
KEY = {"x-api-key": "k", "anthropic-version": "2026-10-21"}


def request(n=0, **changes):
    return {"model": MODEL, "max_tokens": 300, "messages": [{"role": "user", "content": f"question {n}"}], **changes}


def room(**conditions):
    return Room(now=lambda: 0.0, conditions=Conditions(**conditions))


def statuses(place, numbers, times=1):
    return {n: [handle(request(n), room=place).status for _ in range(times)] for n in numbers}


def test_by_default_nothing_fails():
    assert {s for [s] in statuses(room(), range(50)).values()} == {200}


@pytest.mark.parametrize("kind, status, type_, message", [
    ("rate_limited", 429, "rate_limit_error", "This request would exceed your organization's rate limit of 2,000,000 "),
    ("overloaded", 529, "overloaded_error", "Overloaded"),
    ("server_error", 500, "api_error", "Internal server error"),
])
def test_each_fault_comes_in_the_apis_words(kind, status, type_, message):
    reply = handle(request(), room=room(**{kind: 1.0}))
    assert (reply.status, reply.body["type"], reply.body["error"]["type"]) == (status, "error", type_)
    assert reply.body["error"]["message"].startswith(message)
    assert reply.body["request_id"] == reply.headers["request-id"] and "usage" not in reply.body
    assert reply.headers["x-should-retry"] == "true"
    assert ("retry-after" in reply.headers) == (status == 429)


def test_a_share_is_a_share_of_attempts():
    place = room(overloaded=0.3, rate_limited=0.2)
    got = [s for attempts in statuses(place, range(500), times=2).values() for s in attempts]
    assert got.count(529) / len(got) == pytest.approx(0.3, abs=0.05)
    assert got.count(429) / len(got) == pytest.approx(0.2, abs=0.05)


def test_the_same_seed_gives_the_same_faults_in_any_order_and_another_seed_others():
    numbers = list(range(60))
    shuffled = random.Random(1).sample(numbers, len(numbers))
    one, two = (statuses(room(seed=7, overloaded=0.3), order, times=3) for order in (numbers, shuffled))
    assert one == two
    assert one != statuses(room(seed=8, overloaded=0.3), numbers, times=3)


def test_a_refusal_comes_before_any_fault():
    assert handle(request(messages=[]), room=room(overloaded=1.0)).status == 400


@pytest.mark.parametrize("fault, status", [("rate_limit", 429), ("overloaded", 529), ("server_error", 500)])
def test_a_header_asks_for_a_fault_of_one_request(fault, status):
    place = room()
    assert handle(request(), {**KEY, "simulated-fault": fault}, room=place).status == status
    assert handle(request(), KEY, room=place).status == 200


def test_slow_calls_take_several_times_as_long():
    usual, slow = (handle(request(), KEY, room=place) for place in (room(), room(slow=1.0)))
    asked = handle(request(), {**KEY, "simulated-fault": "slow"}, room=room())
    assert slow.seconds == asked.seconds > 4 * usual.seconds and slow.first > 4 * usual.first
    assert slow.body == usual.body


def test_a_failed_attempt_neither_writes_the_cache_nor_counts_tokens():
    system = [{"type": "text", "text": "words " * 1000, "cache_control": {"type": "ephemeral"}}]
    place = room()
    handle(request(system=system), {**KEY, "simulated-fault": "overloaded"}, room=place, at=0.0)
    reply = handle(request(system=system), KEY, room=place, at=60.0)
    assert reply.body["usage"]["cache_read_input_tokens"] == 0


def test_more_requests_than_allowed_in_a_minute_are_told_when_to_come_again():
    place = room(requests_per_minute=3)
    got = [handle(request(n), room=place, at=0.0) for n in range(4)]
    assert [reply.status for reply in got] == [200, 200, 200, 429]
    assert "rate limit of 3 requests per minute" in got[-1].body["error"]["message"]
    assert got[-1].headers["anthropic-ratelimit-requests-remaining"] == "0"
    wait = float(got[-1].headers["retry-after"])
    assert 0 < wait <= 60
    assert handle(request(4), room=place, at=wait + 5).status == 200


def test_every_reply_tells_the_limits_and_what_is_left_of_them():
    place = room()
    first = handle(request(), room=place, at=1_700_000_000.0).headers
    second = handle(request(1), room=place, at=1_700_000_000.0).headers
    assert first["anthropic-ratelimit-requests-limit"] == "1000"
    assert first["anthropic-ratelimit-input-tokens-limit"] == "2000000"
    assert first["anthropic-ratelimit-output-tokens-limit"] == "400000"
    assert [h["anthropic-ratelimit-requests-remaining"] for h in (first, second)] == ["999", "998"]
    assert second["anthropic-ratelimit-requests-reset"] == "2023-11-14T22:13:21Z"
    assert first["anthropic-organization-id"] and first["request-id"].startswith("req_01")
    later = handle(request(2), room=place, at=1_700_000_060.0).headers
    assert later["anthropic-ratelimit-requests-remaining"] == "999"


def test_tokens_that_are_read_from_the_cache_do_not_count_against_the_limit():
    system = [{"type": "text", "text": "words " * 20_000, "cache_control": {"type": "ephemeral"}}]
    place = room()

    def left(at):
        headers = handle(request(system=system), room=place, at=at).headers
        return int(headers["anthropic-ratelimit-input-tokens-remaining"])

    assert left(0.0) == 1_972_000
    assert left(60.0) == 2_000_000


def test_speeds_can_be_changed():
    usual = handle(request(), room=room()).seconds
    fast = handle(request(), room=room(speeds={"small": Speed(0.1, 0.0001)})).seconds
    assert fast < usual / 5


def test_without_a_room_the_same_request_gets_the_same_reply_to_the_last_header():
    assert handle(request(), KEY) == handle(request(), {**KEY, "simulated-fault": "overloaded"})
