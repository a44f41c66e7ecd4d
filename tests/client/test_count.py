"""The server's own count: what is sent, what comes back, and a server without the endpoint is asked once."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from lib import errors
from lib.client.connect import Connection, connect_server, connect_simulated
from lib.client.count import count_tokens
from lib.settings import load
from lib.usage.tokens import estimate_request
from tests.local_server import message, refusal, serve

SETTINGS = load({})
REQUEST = {"model": "claude-haiku-5-5", "max_tokens": 64, "system": "Be brief.", "stop_sequences": ["."],
           "messages": [{"role": "user", "content": "Why was I charged twice?"}]}


def answering(status: int, body: Any = None, text: str | None = None) -> tuple[Connection, list[httpx2.Request]]:
    seen = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(status, json=body) if text is None else httpx2.Response(status, html=text)

    return connect_simulated(SETTINGS, 0, transport=httpx2.MockTransport(answer)), seen


def test_the_simulated_api_counts_what_it_will_report():
    connection = connect_simulated(SETTINGS, 0)
    reply = connection.client.messages.create(**REQUEST)
    assert count_tokens(connection, REQUEST) == reply.usage.input_tokens == estimate_request(REQUEST)


def test_only_what_makes_up_the_prompt_is_sent():
    connection, seen = answering(200, {"input_tokens": 21})
    assert count_tokens(connection, REQUEST) == 21
    assert seen[0].url.path == "/v1/messages/count_tokens"
    assert json.loads(seen[0].content) == {name: REQUEST[name] for name in ("model", "system", "messages")}


@pytest.mark.parametrize("status, body, text", [
    (404, {"error": "Unexpected endpoint or method."}, None), (405, None, "no"),
    (200, {"error": "no such path"}, None), (200, {"input_tokens": "12"}, None), (200, None, "<html>sign in</html>"),
], ids=["404", "405", "error in a 200", "no number", "web page"])
def test_a_server_without_the_endpoint_is_asked_once(status, body, text):
    connection, seen = answering(status, body, text)
    assert [count_tokens(connection, REQUEST) for _ in range(3)] == [None] * 3
    assert len(seen) == 1


def test_it_goes_on_answering_calls():
    with serve(message("hi")) as server:
        connection = connect_server(SETTINGS, server.url)
        assert count_tokens(connection, REQUEST) is None
        assert connection.client.messages.create(**REQUEST).content[0].text == "hi"


@pytest.mark.parametrize("status, kind, words, expected", [
    (404, "not_found_error", "model: claude-haiku-5-5", errors.UnknownModel),
    (401, "authentication_error", "invalid x-api-key", errors.WrongKey),
    (400, "invalid_request_error", "messages: at least one message is required", errors.RequestRefused),
    (429, "rate_limit_error", "slow down", errors.Busy),
])
def test_a_refusal_is_raised_and_does_not_count_as_lacking(status, kind, words, expected):
    connection, seen = answering(status, refusal(status, kind, words).body)
    for _ in range(2):
        with pytest.raises(expected):
            count_tokens(connection, REQUEST)
    assert len(seen) == 2
