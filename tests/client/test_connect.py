"""The three wires, against a real HTTP server: what is sent, what comes back, what each fault becomes."""

from __future__ import annotations

import logging
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from lib import errors
from lib.client.billing import may_have_been_billed
from lib.client.caching import first_alone
from lib.client.connect import RETRY_DELAY, connect_api, connect_server, connect_simulated
from lib.client.layers import Call, Sent, layered
from lib.client.ledger import ledger
from lib.client.stop import stoppable
from lib.client.timeline import SimulatedTime
from lib.messages import text_of
from lib.runs.store import Run, Store
from lib.settings import load
from lib.simulated.conditions import Conditions
from tests.local_server import HTML, Reply, message, refusal, serve

SETTINGS = load({})
CANARY = "sk-ant-canary-0123456789"
SOON = {"retry_after_ms": "1"}


REQUEST = {"model": "local-model", "max_tokens": 64, "messages": [{"role": "user", "content": "hi"}]}


def ask(connection, **changes):
    return connection.client.messages.create(**{**REQUEST, **changes})


def ask_noting(connection) -> tuple[Any, Sent]:
    call = Call(REQUEST)
    return connection.client.send(call), call.sent


def failure_of(*replies: Reply, key: str = CANARY) -> tuple[errors.PlaygroundError, Sent]:
    call = Call(REQUEST)
    with serve(*replies) as server, pytest.raises(errors.PlaygroundError) as caught:
        connect_server(SETTINGS, server.url, key).client.send(call)
    return caught.value, call.sent


def error_of(*replies: Reply, key: str = CANARY) -> errors.PlaygroundError:
    return failure_of(*replies, key=key)[0]


@pytest.fixture
def impatient_sdk(monkeypatch):
    """The SDK's own retries, without its half seconds between them."""
    import anthropic

    monkeypatch.setattr(anthropic._base_client, "INITIAL_RETRY_DELAY", 0.001)


# --- what is sent ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/", "/v1/messages"])
def test_a_base_url_works_with_and_without_v1(ending: str):
    with serve(message("hi there")) as server:
        assert text_of(ask(connect_server(SETTINGS, f" {server.url}{ending} "))) == "hi there"
    assert [r.path for r in server.received] == ["/v1/messages"]


def test_a_request_goes_out_as_it_was_given_and_nothing_unset_is_added():
    with serve(message()) as server:
        ask(connect_server(SETTINGS, server.url), system="Be brief.")
    assert server.received[0].body == {"model": "local-model", "max_tokens": 64, "system": "Be brief.",
                                       "messages": [{"role": "user", "content": "hi"}]}


def test_two_connections_each_send_their_own_key_also_when_they_work_at_once():
    with serve(message()) as server:
        mine, yours = (connect_server(SETTINGS, server.url, key) for key in ("key-of-ann", "key-of-bob"))
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda c: ask(c[0], system=c[1]), [(mine, "ann"), (yours, "bob")] * 8))
    sent = {(r.body["system"], r.headers["authorization"]) for r in server.received}
    assert sent == {("ann", "Bearer key-of-ann"), ("bob", "Bearer key-of-bob")}


def poison_environment(monkeypatch, elsewhere: str) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", CANARY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", elsewhere)
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"x-api-key: {CANARY}\nAuthorization: {CANARY}\nX-Other: {CANARY}")
    monkeypatch.setenv("HTTP_PROXY", elsewhere)
    monkeypatch.setenv("ALL_PROXY", elsewhere)


@pytest.mark.parametrize("key, authorization", [("typed-key", "Bearer typed-key"), ("", None)])
def test_no_key_header_or_address_of_the_environment_gets_into_a_connection(monkeypatch, key, authorization):
    with serve(message()) as server, serve(message()) as elsewhere:
        poison_environment(monkeypatch, elsewhere.url)
        ask(connect_server(SETTINGS, server.url, key))
    assert CANARY not in str(server.received)
    assert server.received[0].headers.get("authorization") == authorization
    assert elsewhere.received == []


def test_the_api_gets_the_typed_key_and_not_the_environments(monkeypatch):
    with serve(message()) as server, serve(message()) as elsewhere:
        poison_environment(monkeypatch, elsewhere.url)
        connection = connect_api(SETTINGS, " typed-key\n", address=server.url)
        ask(connection)
    assert server.received[0].headers["authorization"] == "Bearer typed-key"
    assert CANARY not in str(server.received) and elsewhere.received == []
    assert connection.source == "live" and connection.name == "Anthropic API"


def test_a_key_does_not_follow_a_redirect():
    with serve(message()) as other:
        error = error_of(Reply(307, None, {"location": f"{other.url}/v1/messages"}))
        assert other.received == []
    assert isinstance(error, errors.NotMessagesApi) and other.url in str(error)


@pytest.mark.parametrize("key", ["", "  \n"])
def test_the_api_without_a_key_is_refused_before_anything_is_sent(key):
    with pytest.raises(errors.WrongKey, match="needs a key"):
        connect_api(SETTINGS, key)


@pytest.mark.parametrize("key", ["sk-änd", "sk-a b", "sk-a\nb"])
def test_a_key_that_no_header_can_carry_is_refused_without_repeating_it(key):
    with pytest.raises(errors.WrongKey) as caught:
        connect_api(SETTINGS, key)
    assert key not in str(caught.value)


def test_a_key_is_in_no_text_and_no_log_even_if_the_server_repeats_it(caplog, impatient_sdk):
    caplog.set_level(logging.DEBUG)
    with serve(message(), refusal(401, "authentication_error", f"no such key: {CANARY}")) as server:
        connection = connect_server(SETTINGS, server.url, CANARY)
        reply = ask(connection)
        with pytest.raises(errors.WrongKey) as caught:
            ask(connection)
    everything = [repr(connection), str(connection), repr(vars(connection)), repr(reply), caplog.text,
                  repr(caught.value), repr(vars(caught.value)),
                  "".join(traceback.format_exception(caught.value))]
    assert server.received[0].headers["authorization"] == f"Bearer {CANARY}"
    assert not [text for text in everything if CANARY in text]
    assert caught.value.__cause__ is None and caught.value.__context__ is None


def test_a_large_max_tokens_is_sent_and_not_refused_by_the_sdk():
    with serve(message()) as server:
        ask(connect_server(SETTINGS, server.url), max_tokens=64_000)
    assert server.received[0].body["max_tokens"] == 64_000


# --- what comes back -------------------------------------------------------------------------------------------------


def test_a_reply_is_an_sdk_message_and_its_call_says_how_it_was_sent():
    import anthropic

    with serve(message("yes")) as server:
        reply, sent = ask_noting(connect_server(SETTINGS, server.url))
    assert isinstance(reply, anthropic.types.Message)
    assert (text_of(reply), reply.usage.input_tokens, sent) == ("yes", 10, Sent(attempts=1))


def test_missing_usage_stays_missing():
    with serve(message(usage=...), message(usage=None), message(usage="12 tokens")) as server:
        connection = connect_server(SETTINGS, server.url)
        assert [ask(connection).usage for _ in range(3)] == [None, None, None]


def test_parts_of_usage_that_are_no_counts_are_unknown_and_zero_stays_zero():
    odd = {"input_tokens": None, "output_tokens": 64, "cache_read_input_tokens": "three"}
    with serve(message(usage=odd), message(usage={"input_tokens": 0, "output_tokens": 0})) as server:
        connection = connect_server(SETTINGS, server.url)
        first, second = ask(connection).usage, ask(connection).usage
    assert (first.input_tokens, first.output_tokens, first.cache_read_input_tokens) == (None, 64, None)
    assert (second.input_tokens, second.output_tokens) == (0, 0)


def test_content_that_is_a_bare_string_is_one_text_block_and_null_is_none():
    with serve(message(content="plain"), message(content=None, stop_reason=None)) as server:
        connection = connect_server(SETTINGS, server.url)
        first, second = ask(connection), ask(connection)
    assert [(b.type, b.text) for b in first.content] == [("text", "plain")]
    assert second.content == [] and second.stop_reason is None


def test_case_53_costs_three_requests_of_which_two_are_billed():
    with serve(refusal(429, "rate_limit_error", "slow down", **SOON),
               message("not json", usage={"input_tokens": 400, "output_tokens": 50}),
               message("{}", usage={"input_tokens": 520, "output_tokens": 60})) as server:
        connection = connect_server(SETTINGS, server.url)
        (bad, first), (good, second) = ask_noting(connection), ask_noting(connection)
    assert first.attempts + second.attempts == 3 == len(server.received)
    assert bad.usage.input_tokens + good.usage.input_tokens == 920
    assert bad.usage.output_tokens + good.usage.output_tokens == 110


@pytest.mark.parametrize("trouble", [
    refusal(429, "rate_limit_error", "slow down", **SOON),
    refusal(529, "overloaded_error", "Overloaded", **SOON),
    refusal(500, "api_error", "Internal server error", **SOON),
    Reply(502, HTML, {"retry-after-ms": "1"}),
])
def test_passing_trouble_is_retried_and_every_attempt_counted(trouble: Reply):
    with serve(trouble, trouble, message("at last")) as server:
        reply, sent = ask_noting(connect_server(SETTINGS, server.url))
    assert (text_of(reply), sent.attempts, len(server.received)) == ("at last", 3, 3)


def test_overload_reported_inside_a_200_is_waited_out_like_any_other():
    transport = scripted_transport(json_reply(200, OVERLOADED), json_reply(200, message("back").body))
    reply, sent = ask_noting(connect_simulated(SETTINGS, 0, transport))
    assert (text_of(reply), sent.attempts) == ("back", 2)


# --- what each fault becomes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("reply, expected, words", [
    (refusal(401, "authentication_error", "invalid x-api-key"), errors.WrongKey, "invalid x-api-key"),
    (refusal(403, "permission_error", "no access to this"), errors.WrongKey, "no access to this"),
    (refusal(404, "not_found_error", "model: local-model"), errors.UnknownModel, '"local-model"'),
    (Reply(404, HTML), errors.NotMessagesApi, "Is the address right?"),
    (Reply(404, {"detail": "Not Found"}), errors.NotMessagesApi, "/v1/messages (HTTP 404)"),
    (Reply(405, {"detail": "Method Not Allowed"}), errors.NotMessagesApi, "HTTP 405"),
    (refusal(400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
     errors.WindowExceeded, "208310 tokens > 200000 maximum"),
    (refusal(400, "invalid_request_error", "temperature: Extra inputs are not permitted"),
     errors.RequestRefused, "temperature: Extra inputs are not permitted"),
    (refusal(402, "billing_error", "pay first"), errors.RequestRefused, "pay first"),
    (refusal(413, "request_too_large", "Request exceeds the maximum size"), errors.RequestRefused, "maximum size"),
    (Reply(422, {"detail": [{"loc": ["body", "tools"]}]}), errors.RequestRefused, "tools"),
    (refusal(429, "rate_limit_error", "limit of $5 is used", code="enforced_spend_limit_reached"),
     errors.RequestRefused, "limit of $5 is used"),
    (Reply(400, {"error": "no such template"}), errors.RequestRefused, "no such template"),
    (refusal(500, "api_error", "Internal server error", x_should_retry="false"), errors.ServerTrouble, "HTTP 500"),
    (Reply(500, HTML, {"x-should-retry": "false"}), errors.ServerTrouble, "HTTP 500"),
    (Reply(200, HTML), errors.NotMessagesApi, "a web page"),
    (Reply(200, ""), errors.NotMessagesApi, "nothing"),
    (Reply(200, "ok", {"content-type": "application/json"}), errors.NotMessagesApi, "no JSON"),
    (Reply(200, {"error": "Unexpected endpoint or method. (POST /messages)"}), errors.NotMessagesApi, "Unexpected"),
    (Reply(200, {"choices": [{"message": {"content": "hi"}}]}), errors.NotMessagesApi, "OpenAI"),
    (Reply(200, {"status": "ok"}), errors.NotMessagesApi, "another kind"),
    (Reply(200, None), errors.NotMessagesApi, "another kind"),
    (message(content=7), errors.NotMessagesApi, "another kind"),
    (message(content=["text"]), errors.NotMessagesApi, "another kind"),
    (message(content=[{"type": "text", "text": 7}]), errors.NotMessagesApi, "another kind"),
    (message(content=[{"type": "tool_use", "id": "t", "name": {"a": 1}}]), errors.NotMessagesApi, "another kind"),
    (Reply(200, {"error": {"type": ["odd"], "message": "no"}}), errors.NotMessagesApi, "no"),
    (refusal(400, "invalid_request_error", "\x1b[31mred\x00\u202e"), errors.RequestRefused, " [31mred."),
    (Reply(200, refusal(401, "authentication_error", "bad key").body), errors.WrongKey, "bad key"),
    (Reply(200, refusal(400, "invalid_request_error", "no tools here").body), errors.RequestRefused, "no tools here"),
])
def test_a_fault_becomes_one_clear_line_after_one_attempt(reply: Reply, expected: type, words: str):
    error, sent = failure_of(reply)
    assert type(error) is expected
    assert words in str(error) and "\n" not in str(error) and "<" not in str(error)
    assert sent.attempts == 1


def test_a_server_that_wants_a_key_says_so_to_those_without_one():
    error = error_of(refusal(401, "authentication_error", "missing key"), key="")
    assert isinstance(error, errors.WrongKey) and "asks for a key" in str(error)


def test_trouble_that_stays_is_reported_with_all_attempts():
    error, sent = failure_of(refusal(500, "api_error", "Internal server error", **SOON))
    assert type(error) is errors.ServerTrouble and sent.attempts == 3


def test_a_refused_request_costs_nothing_and_an_unreadable_answer_may():
    for reply in (refusal(400, "invalid_request_error", "no"), Reply(404, HTML),
                  Reply(200, refusal(401, "authentication_error", "no").body),
                  Reply(200, refusal(404, "not_found_error", "no").body),
                  refusal(503, "api_error", "maintenance", retry_after="3600")):
        assert not may_have_been_billed(*failure_of(reply))
    assert may_have_been_billed(*failure_of(Reply(200, HTML)))


def test_a_server_that_stays_busy_ends_the_run():
    error, sent = failure_of(refusal(529, "overloaded_error", "Overloaded", **SOON))
    assert isinstance(error, errors.StaysBusy) and isinstance(error, errors.RunEnded)
    assert sent.attempts == 6 and "Overloaded" in str(error) and "HTTP 529" in str(error)


def test_a_server_that_asks_for_an_hour_is_not_waited_for():
    error, sent = failure_of(refusal(503, "api_error", "maintenance", retry_after="3600"))
    assert isinstance(error, errors.StaysBusy) and "3,600 seconds" in str(error) and sent.attempts == 1


def test_a_spend_limit_is_not_waited_out():
    with serve(refusal(429, "rate_limit_error", "used up", code="enforced_spend_limit_reached")) as server:
        with pytest.raises(errors.RequestRefused):
            ask(connect_server(SETTINGS, server.url))
    assert len(server.received) == 1


def test_stop_ends_the_wait_for_a_busy_server():
    event = threading.Event()

    def busy_and_stop(request):
        event.set()
        return refusal(429, "rate_limit_error", "slow down", retry_after="30")

    with serve(script=busy_and_stop) as server, pytest.raises(errors.Stopped):
        ask(SimpleNamespace(client=layered(connect_server(SETTINGS, server.url).client, stoppable(event))))
    assert len(server.received) == 1


def test_an_unreachable_server_is_named(impatient_sdk):
    with serve(message()) as server:
        pass
    call = Call(REQUEST)
    with pytest.raises(errors.Unreachable) as caught:
        connect_server(SETTINGS, server.url).client.send(call)
    assert server.url in str(caught.value) and call.sent.attempts == 3
    assert not may_have_been_billed(caught.value, call.sent)


@pytest.mark.parametrize("before, unanswered", [
    (refusal(500, "api_error", "Internal server error"), True),
    (Reply(200, message("a long answer").body, sent=20), True),
    (refusal(429, "rate_limit_error", "slow down", **SOON), False)])
def test_a_refusal_tells_whether_an_attempt_before_it_may_have_been_billed(impatient_sdk, before, unanswered):
    error, sent = failure_of(before, refusal(401, "authentication_error", "no"))
    assert (sent.attempts, sent.unanswered) == (2, unanswered)
    assert may_have_been_billed(error, sent) == unanswered


def test_a_spend_limit_and_a_pause_reported_inside_a_200_count_as_elsewhere():
    code = "enforced_spend_limit_reached"
    limit = error_of(Reply(200, refusal(429, "rate_limit_error", "used up", code=code).body))
    busy = error_of(Reply(200, OVERLOADED, {"retry-after": "600"}))
    assert type(limit) is errors.RequestRefused and busy.retry_after == 600


def test_not_even_half_a_key_is_in_an_error_that_is_too_long_to_show():
    error = error_of(refusal(401, "authentication_error", "x" * 990 + CANARY))
    assert "xxx" in str(error) and CANARY[:6] not in str(error)


def test_a_closed_connection_sends_nothing(impatient_sdk):
    with serve(message()) as server:
        connection = connect_server(SETTINGS, server.url)
        connection.close()
        with pytest.raises(Exception, match="closed"):
            ask(connection)
        assert server.received == []


def test_a_reply_that_takes_too_long_is_trouble(impatient_sdk):
    settings = load({"PLAYGROUND_TIMEOUT": "0.01"})
    with serve(Reply(200, None, {"x-should-retry": "false"}, seconds=0.05)) as server:
        with pytest.raises(errors.ServerTrouble, match="no answer in time"):
            ask(connect_server(settings, server.url))


# --- the simulation --------------------------------------------------------------------------------------------------

OVERLOADED = refusal(529, "overloaded_error", "Overloaded").body


def scripted_transport(*replies):
    left = list(replies)
    return httpx2.MockTransport(lambda request: left.pop(0))


def json_reply(status: int, body: object, **headers: str):
    return httpx2.Response(status, json=body, headers={k.replace("_", "-"): v for k, v in headers.items()})


def test_a_simulated_reply_says_what_it_took_on_the_simulations_clock():
    transport = scripted_transport(json_reply(200, message().body, simulated_seconds="1.875"))
    assert ask_noting(connect_simulated(SETTINGS, 0, transport))[1].seconds == 1.875


def test_what_failed_on_the_simulations_clock_took_its_time_too(impatient_sdk):
    refused = refusal(400, "invalid_request_error", "no").body
    transport = scripted_transport(json_reply(500, {}, simulated_seconds="0.5"),
                                   json_reply(400, refused, simulated_seconds="0.25"))
    call = Call(REQUEST)
    with pytest.raises(errors.RequestRefused):
        connect_simulated(SETTINGS, 0, transport).client.send(call)
    assert call.sent.seconds == 0.5 + RETRY_DELAY + 0.25


def test_waiting_for_the_sdks_own_retry_takes_the_simulations_time_and_not_ours():
    failing = [json_reply(500, {}, simulated_seconds="0.5") for _ in range(3)]
    call, started = Call(REQUEST), time.perf_counter()
    with pytest.raises(errors.ServerTrouble):
        connect_simulated(SETTINGS, 0, scripted_transport(*failing)).client.send(call)
    assert time.perf_counter() - started < RETRY_DELAY
    assert call.sent.seconds == 3 * 0.5 + RETRY_DELAY + 2 * RETRY_DELAY


def test_each_attempt_tells_the_simulation_when_it_begins():
    told, busy = [], refusal(429, "rate_limit_error", "slow down").body
    replies = [json_reply(500, {}, simulated_seconds="0.5"),
               json_reply(429, busy, simulated_seconds="0.25", retry_after="8"),
               json_reply(200, message().body, simulated_seconds="2")]

    def noting(request):
        told.append(float(request.headers["simulated-at"]))
        return replies[len(told) - 1]

    call = Call(REQUEST)
    call.sent.began = 1_700_000_000.123
    connect_simulated(SETTINGS, 0, httpx2.MockTransport(noting)).client.send(call)
    assert told == pytest.approx([1_700_000_000.123, 1_700_000_001.123, 1_700_000_009.373], abs=1e-4)
    assert call.sent.seconds == pytest.approx(11.25)


def test_no_other_wire_is_told_when():
    call = Call(REQUEST)
    call.sent.began = 5.0
    with serve(message()) as server:
        connect_server(SETTINGS, server.url).client.send(call)
    assert "simulated-at" not in server.received[0].headers


def test_what_a_connection_wrote_to_the_prompt_cache_its_later_calls_read():
    request = {**REQUEST, "model": "claude-haiku-5-5", "max_tokens": 512, "cache_control": {"type": "ephemeral"},
               "system": "Find the root cause of each ticket. " * 200}
    client, usages = connect_simulated(SETTINGS, 0).client, []
    for began in (100.0, 200.0, 501.0):
        call = Call(request)
        call.sent.began = began
        usages.append(client.send(call).usage)
    assert [usage.cache_read_input_tokens > 0 for usage in usages] == [False, True, False]
    assert usages[1].cache_read_input_tokens == usages[0].cache_creation_input_tokens


@pytest.mark.parametrize("speed", [0, 3000], ids=["not waiting", "waiting"])
def test_calls_at_once_read_what_the_first_of_them_wrote_at_any_speed(tmp_path, speed):
    store = Store(tmp_path / "runs.sqlite")
    store.add_run(Run("r", "g", "pipeline", "running", "simulated", "Simulated", {}, "d", 1.0))
    client = layered(connect_simulated(SETTINGS, speed).client, first_alone(), ledger(store, "r", SimulatedTime(50.0)))
    mark = {"type": "text", "text": "Find the root cause. " * 300, "cache_control": {"type": "ephemeral"}}
    request = {**REQUEST, "model": "claude-haiku-5-5", "max_tokens": 300, "system": [mark]}

    def ask_about(number):
        return client.messages.create(**{**request, "messages": [{"role": "user", "content": f"ticket {number}"}]})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(ask_about, range(12)))
    written = sorted(row.write_5m for row in store.calls("r"))
    read = sorted(row.cache_read for row in store.calls("r"))
    assert written[-1] > 1_000 and written == [0] * 11 + [written[-1]]
    assert read == [0] + [written[-1]] * 11


def test_conditions_reach_the_simulation():
    connection = connect_simulated(SETTINGS, 0, conditions=Conditions(overloaded=1.0))
    with pytest.raises(errors.StaysBusy, match="Overloaded"):
        ask(connection, model="claude-haiku-5-5")


def test_a_simulated_pause_passes_on_the_simulations_clock():
    busy = refusal(429, "rate_limit_error", "slow down").body
    transport = scripted_transport(json_reply(429, busy, retry_after="30"), json_reply(200, message().body))
    connection = connect_simulated(SETTINGS, 100_000, transport)
    before = connection.clock.now()
    assert ask_noting(connection)[1].attempts == 2
    assert connection.clock.now() - before >= 30


def test_a_bug_behind_the_wire_is_not_taken_for_a_lost_connection(impatient_sdk):
    def broken(request):
        raise ZeroDivisionError("a bug")

    with pytest.raises(ZeroDivisionError):
        ask(connect_simulated(SETTINGS, 0, httpx2.MockTransport(broken)))


def test_the_simulated_api_answers_through_the_same_sdk():
    connection = connect_simulated(SETTINGS, 0)
    call = Call({**REQUEST, "model": "claude-haiku-5-5", "max_tokens": 512})
    reply = connection.client.send(call)
    assert connection.source == "simulated" and reply.type == "message"
    assert call.sent.seconds > 0 and reply.usage.input_tokens > 0
