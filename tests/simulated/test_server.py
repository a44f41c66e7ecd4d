"""What only the HTTP door has: a socket, a command line, clients other than the SDK. And no body that breaks it."""

import json
import random
import socket
import subprocess
import sys
import threading
from http.client import HTTPConnection
from pathlib import Path

import anthropic
import pytest

from lib.client.clock import Clock
from lib.client.connect import connect_server
from lib.client.layers import Call
from lib.settings import load
from lib.simulated.__main__ import main
from lib.simulated.endpoints import answer
from lib.simulated.room import Room
from lib.simulated.server import PortTaken, SimulatedServer
from lib.simulated.transport import SimulatedTransport

ROOT = Path(__file__).resolve().parents[2]
HEADERS = {"x-api-key": "k", "anthropic-version": "2023-06-01", "content-type": "application/json"}
HI = {"model": "claude-haiku-5-5", "max_tokens": 200, "messages": [{"role": "user", "content": "hi"}]}


@pytest.fixture(scope="module")
def server():
    server = SimulatedServer(speed=0)
    threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def connection(server):
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    yield connection
    connection.close()


def talk(server, data):
    """What comes back for these bytes until the server closes."""
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as link:
        link.sendall(data)
        return link.makefile("rb").read()


def test_one_connection_carries_many_requests(connection):
    for request in (HI, {**HI, "stream": True}, {}, HI):
        connection.request("POST", "/v1/messages", json.dumps(request), HEADERS)
        reply = connection.getresponse()
        used = connection.sock
        assert reply.read()
        assert connection.sock is used is not None


def test_where_nobody_waits_the_next_request_reads_what_the_one_before_wrote(server):
    request = {"model": "claude-haiku-5-5", "max_tokens": 16, "cache_control": {"type": "ephemeral"},
               "system": "Name the cause of the ticket in plain words. " * 90,
               "messages": [{"role": "user", "content": "I was charged twice for one booking."}]}
    inside = anthropic.DefaultHttpxClient(transport=SimulatedTransport(Clock(0)))
    for sdk in (anthropic.Anthropic(api_key="any", base_url=server.url),
                anthropic.Anthropic(api_key="any", http_client=inside)):
        first, second = (sdk.messages.create(**request).usage for _ in range(2))
        assert second.cache_read_input_tokens == first.cache_creation_input_tokens > 512


def test_a_stream_is_chunked_and_a_whole_reply_tells_its_length(connection):
    connection.request("POST", "/v1/messages", json.dumps({**HI, "stream": True}), HEADERS)
    streamed = connection.getresponse()
    assert streamed.headers["transfer-encoding"] == "chunked" and b"message_stop" in streamed.read()
    connection.request("POST", "/v1/messages", json.dumps(HI), HEADERS)
    whole = connection.getresponse()
    assert int(whole.headers["content-length"]) == len(whole.read())


def test_an_old_client_gets_a_stream_that_ends_with_the_connection(server):
    body = json.dumps({**HI, "stream": True}).encode()
    head = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())
    reply = talk(server, f"POST /v1/messages HTTP/1.0\r\n{head}content-length: {len(body)}\r\n\r\n".encode() + body)
    assert b"transfer-encoding" not in reply and reply.rstrip().endswith(b'data: {"type": "message_stop"}')


def test_a_body_may_come_in_chunks(connection):
    data = json.dumps(HI).encode()
    connection.request("POST", "/v1/messages", iter([data[:20], data[20:]]), HEADERS, encode_chunked=True)
    assert connection.getresponse().status == 200


def test_a_body_that_is_too_large_is_read_to_its_end_and_the_connection_goes_on(connection):
    connection.request("POST", "/v1/messages", b"x" * (33 * 1024 * 1024), HEADERS)
    reply = connection.getresponse()
    assert (reply.status, json.loads(reply.read())["error"]["type"]) == (413, "request_too_large")
    connection.request("POST", "/v1/messages", json.dumps(HI), HEADERS)
    assert connection.getresponse().status == 200


def test_head_is_get_without_a_body_and_options_tell_the_methods(connection):
    connection.request("HEAD", "/v1/models", headers=HEADERS)
    head = connection.getresponse()
    assert (head.status, head.read()) == (200, b"") and int(head.headers["content-length"]) > 1000
    connection.request("OPTIONS", "/v1/messages/batches?limit=1")
    options = connection.getresponse()
    assert (options.status, options.headers["allow"], options.read()) == (204, "GET, POST, OPTIONS", b"")


@pytest.mark.parametrize("rest", [b"content-length: many\r\n\r\n", b"content-length: -5\r\n\r\n",
                                  b"transfer-encoding: chunked\r\n\r\nmany\r\n",
                                  b"transfer-encoding: chunked\r\n\r\n-5\r\n"])
def test_a_length_that_is_none_is_a_bad_request(server, rest):
    assert b" 400 " in talk(server, b"POST /v1/messages HTTP/1.1\r\nhost: x\r\n" + rest)


@pytest.mark.parametrize(("head", "status"), [
    (b"FETCH /v1/messages HTTP/1.1", 501), (b"GET /v1/models?x=" + b"x" * 70_000 + b" HTTP/1.1", 414),
    (b"GET /v1/models HTTP/1.1\r\nx-long: " + b"x" * 70_000, 431), (b"GET //[ HTTP/1.1", 404),
    (b"OPTIONS /v1/models HTTP/1.1\r\nhost: [", 400), (b"GET /v1/models HTTP/1.1\r\nhost: [", 400)])
def test_what_is_no_request_at_all_is_refused_in_json_too(server, capfd, head, status):
    reply, _, told = talk(server, head + b"\r\nconnection: close\r\n\r\n").partition(b"\r\n\r\n")
    assert reply.startswith(b"HTTP/1.1 %d " % status) and b"content-type: application/json" in reply
    assert json.loads(told)["type"] == "error" and capfd.readouterr().err == ""


def test_a_chunk_that_claims_to_be_huge_takes_no_memory(server, capfd):
    claim = b"POST /v1/messages HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffff\r\n{}"
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as link:
        link.sendall(claim)
        link.shutdown(socket.SHUT_WR)
        assert b" 400 " in link.makefile("rb").read()
    assert capfd.readouterr().err == ""


def test_a_client_that_hangs_up_is_no_error(server, capfd):
    body = json.dumps({**HI, "stream": True}).encode()
    head = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", server.server_port)) as link:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")    # closed with a reset
            link.sendall(f"POST /v1/messages HTTP/1.1\r\n{head}content-length: {len(body)}\r\n\r\n".encode() + body)
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.request("POST", "/v1/messages", json.dumps(HI), HEADERS)
    assert connection.getresponse().status == 200
    connection.close()
    assert capfd.readouterr().err == ""


def test_the_playground_can_use_it_as_a_compatible_server(server):
    connection = connect_server(load({}), server.url, key="any")
    message = connection.client.send(Call(dict(HI)))
    assert message.content[-1].type == "text" and message.usage.output_tokens > 0
    connection.close()


def test_without_waiting_a_batch_has_ended_when_it_is_made(connection):
    body = json.dumps({"requests": [{"custom_id": "a", "params": HI}]})
    connection.request("POST", "/v1/messages/batches", body, HEADERS)
    batch = json.loads(connection.getresponse().read())
    assert (batch["processing_status"], batch["request_counts"]["succeeded"]) == ("ended", 1)
    connection.request("GET", batch["results_url"], headers=HEADERS)
    reply = connection.getresponse()
    assert reply.headers["content-type"] == "application/x-jsonl"
    assert json.loads(reply.read())["result"]["type"] == "succeeded"


def test_it_listens_on_ipv6_too():
    try:
        server = SimulatedServer(host="::1", speed=0)
    except OSError:
        pytest.skip("no IPv6 on this machine")
    threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01), daemon=True).start()
    connection = HTTPConnection("::1", server.server_port, timeout=10)
    connection.request("GET", "/v1/models", headers=HEADERS)
    assert connection.getresponse().status == 200 and server.url == f"http://[::1]:{server.server_port}"
    connection.close()
    server.shutdown()
    server.server_close()


def test_time_passes_as_many_times_faster_as_it_was_told():
    real = [0.0]
    server = SimulatedServer(speed=30, monotonic=lambda: real[0])
    before = server.now()
    real[0] = 2.0
    server.server_close()
    assert server.now() - before == pytest.approx(60)


# --- the command line ------------------------------------------------------------------------------------------------


def test_a_port_that_is_taken_is_told_in_one_line(server):
    with pytest.raises(PortTaken, match=f"Port {server.server_port} cannot be used"):
        SimulatedServer(port=server.server_port)
    with pytest.raises(SystemExit) as caught:
        main(["--port", str(server.server_port)])
    assert "\n" not in str(caught.value) and "or 0 for any free one" in str(caught.value)


@pytest.mark.parametrize(("arguments", "words"), [
    ([], "--port"), (["--port", "0", "--overloaded", "1.5"], "1.5 is not between 0 and 1"),
    (["--port", "0", "--speed", "-1"], "-1 is not between 0 and"), (["--port", "0", "--slow", "often"], "--slow"),
    (["--port", "0", "--requests-per-minute", "-3"], "-3 is not a whole number"),
    (["--port", "0", "--seed", "1.5"], "1.5 is not a whole number")])
def test_arguments_that_make_no_sense_are_told(arguments, words, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert words in capsys.readouterr().err


def test_the_command_prints_its_address_serves_and_stops_on_an_interrupt():
    command = [sys.executable, "-m", "lib.simulated", "--port", "0", "--speed", "0", "--overloaded", "1", "--confused"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        greeting = process.stdout.readline()
        port = int(greeting.split("http://127.0.0.1:")[1].split(";")[0])
        connection = HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("POST", "/v1/messages", json.dumps(HI), HEADERS)
        reply = connection.getresponse()
        status, error = reply.status, json.loads(reply.read())["error"]
        connection.close()
    finally:
        process.send_signal(2)
        process.wait(timeout=10)
        rest, trouble = process.stdout.read(), process.stderr.read()
    assert "overloaded" in greeting and "confused" in greeting
    assert (status, error["type"]) == (529, "overloaded_error")
    assert f"curl http://127.0.0.1:{port}/v1/messages" in rest and "Stopped." in rest
    assert (process.returncode, trouble) == (0, "")


# --- no body breaks it -----------------------------------------------------------------------------------------------

WORDS = ["model", "claude-haiku-5-5", "claude-haiku-4-5", "claude-opus-4-6", "messages", "max_tokens", "role", "user",
         "assistant", "system", "content", "type", "text", "thinking", "signature", "tool_use", "tool_result", "id",
         "tool_use_id", "name", "input", "tools", "input_schema", "object", "properties", "required", "strict", "$ref",
         "#/properties/a", "#", "anyOf", "items", "cache_control", "ephemeral", "ttl", "1h", "output_config", "effort",
         "max", "format", "json_schema", "schema", "tool_choice", "any", "tool", "image", "source", "base64", "data",
         "document", "stream", "stop_sequences", "metadata", "requests", "params", "custom_id", "enabled", "adaptive",
         "budget_tokens", "temperature", "", " ", "\ud800", "a" * 70, "<ticket>refund</ticket>"]


def anything(luck, depth=0):
    kind = luck.randrange(9 if depth < 5 else 6)
    if kind < 3:
        return luck.choice(WORDS)
    if kind < 6:
        return luck.choice([None, True, False, 0, 1, -1, 1024, 2.5, 10**30, 64_001])
    if kind < 7:
        return [anything(luck, depth + 1) for _ in range(luck.randrange(4))]
    return {luck.choice(WORDS): anything(luck, depth + 1) for _ in range(luck.randrange(6))}


def spoiled(luck, value):
    """The value with one part of it, somewhere, turned into anything."""
    if luck.random() < 0.15 or not isinstance(value, dict | list) or not value:
        return anything(luck, 2)
    key = luck.choice(list(value) if isinstance(value, dict) else range(len(value)))
    copy = value.copy()
    copy[key] = spoiled(luck, value[key])
    if isinstance(copy, dict) and luck.random() < 0.1:
        copy[luck.choice(WORDS)] = anything(luck, 2)
    return copy


GOOD = {
    "model": "claude-sonnet-4-6", "max_tokens": 2000, "stream": False, "cache_control": {"type": "ephemeral"},
    "system": [{"type": "text", "text": "Label.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
    "thinking": {"type": "enabled", "budget_tokens": 1024}, "metadata": {"user_id": "u"}, "stop_sequences": ["END"],
    "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {
        "type": "object", "properties": {"a": {"type": ["string", "null"]}}, "required": ["a"],
        "additionalProperties": False}}},
    "tools": [{"name": "look", "description": "Looks.", "strict": True, "input_schema": {
        "type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"],
        "additionalProperties": False}}],
    "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "go", "cache_control": {"type": "ephemeral"}},
                                     {"type": "image", "source": {"type": "url", "url": "https://x"}}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {"id": "1"}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "is_error": False,
             "content": [{"type": "text", "text": "{}", "cache_control": {"type": "ephemeral"}}]},
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x"}}]}],
}


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/messages/batches"])
def test_no_depth_breaks_it(path):
    room, seen = Room(now=lambda: 0.0), set()
    for depth in (50, 90, 190, 250, 600, 950, 980, 990, 2_000):
        body = json.dumps(GOOD).replace('{"id": "1"}', '{"a":' * depth + "1" + "}" * depth)
        if path.endswith("/batches"):
            body = f'{{"requests": [{{"custom_id": "a", "params": {body}}}]}}'
        sent = answer(room, "POST", path, HEADERS, body.encode(), wait=False)
        seen.add(sent.status)
        for batch in room.batches if sent.status == 200 else ():
            assert list(answer(room, "GET", f"{path}/{batch}/results", HEADERS, b"").parts)
    assert seen == {200, 400}


COUNTED = {name: value for name, value in GOOD.items()
           if name not in ("max_tokens", "stream", "metadata", "stop_sequences")}


@pytest.mark.parametrize(("path", "good"), [
    ("/v1/messages", GOOD), ("/v1/messages/count_tokens", COUNTED), ("/v1/messages/batches", GOOD)])
def test_whatever_is_sent_is_answered_or_refused_but_breaks_nothing(path, good):
    luck, room, seen = random.Random(path), Room(now=lambda: 0.0), set()
    for i in range(700):
        body = anything(luck) if i % 3 == 0 else spoiled(luck, good)
        if path.endswith("/batches") and i % 2:
            body = {"requests": [{"custom_id": "a", "params": body}]}
        sent = answer(room, "POST", path, HEADERS, json.dumps(body).encode(), wait=False)
        seen.add(sent.status)
        assert sent.status in (200, 400, 404)
        for _, part in sent.parts:
            part.decode()
        if path.endswith("/batches") and sent.status == 200:
            id = list(room.batches)[-1]
            results = answer(room, "GET", f"{path}/{id}/results", HEADERS, b"")
            assert [json.loads(part)["custom_id"] for _, part in results.parts] == ["a"]
    assert {200, 400} <= seen
