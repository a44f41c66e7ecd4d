"""A server's list of models: read where there is one, one plain line where there is none, and never too much of it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from lib.client import model_list
from lib.client.model_list import models_of
from lib.errors import BaseUrlRefused, NotMessagesApi, PlaygroundError, Unreachable, WrongKey

KEY = "sk-canary-5511"


@contextmanager
def serve(status: int, body: bytes, **headers: str) -> Iterator[tuple[str, list]]:
    """The address of a server that answers every GET so, and (path, headers) of what it was asked."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, dict(self.headers)))
            self.send_response(status)
            for name, value in {"content-length": str(len(body)), **headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args) -> None:
            """Tests print nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


def listing(*ids) -> bytes:
    return json.dumps({"object": "list", "data": [{"id": id, "object": "model"} for id in ids]}).encode()


def test_the_ids_come_in_the_servers_order_each_once():
    with serve(200, listing("qwen3:8b", " llama ", "qwen3:8b")) as (url, asked):
        assert models_of(f"{url}/v1/", KEY) == ["qwen3:8b", "llama"]
    path, headers = asked[0]
    assert path == "/v1/models" and headers["x-api-key"] == KEY


def test_without_a_key_none_is_sent():
    with serve(200, listing("m")) as (url, asked):
        models_of(url)
    assert not {"x-api-key", "authorization"} & {name.lower() for name in asked[0][1]}


@pytest.mark.parametrize("body", [b"", b"<html>sign in</html>", b"[]", b"{}", b'{"data": {}}', b'{"data": ["m", 5]}',
                                  b"[" * 100_000, listing(), listing("", 5, None, "x" * 201), listing(f"echo {KEY}")])
def test_what_lists_no_models_is_one_line_without_the_key(body):
    with serve(200, body) as (url, _), pytest.raises(NotMessagesApi, match="lists no models at /v1/models") as caught:
        models_of(url, KEY)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(("status", "kind"), [(401, WrongKey), (403, WrongKey), (404, NotMessagesApi),
                                              (500, NotMessagesApi), (302, NotMessagesApi)])
def test_a_refusal_is_told_with_its_status_and_no_redirect_is_followed(status, kind):
    with serve(status, listing("m"), location="http://169.254.169.254/") as (url, asked):
        with pytest.raises(kind, match=str(status)):
            models_of(url)
        assert len(asked) == 1


def test_nothing_there_is_told_as_such():
    with serve(200, b"") as (url, _):
        pass
    with pytest.raises(Unreachable, match="Is the server running"):
        models_of(url, KEY)


def test_no_more_is_read_than_a_list_takes(monkeypatch):
    monkeypatch.setattr(model_list, "MOST_BYTES", 1_000)
    many = listing(*map(str, range(1_000)))
    with serve(200, many) as (url, _), pytest.raises(NotMessagesApi, match="more than a list"):
        models_of(url)
    monkeypatch.undo()
    with serve(200, many) as (url, _):
        assert len(models_of(url)) == model_list.MOST_MODELS


@pytest.mark.parametrize(("url", "key", "kind"), [
    ("http://169.254.169.254", "", BaseUrlRefused), ("file:///etc/passwd", "", BaseUrlRefused),
    ("http://localhost:1", "schlüssel", WrongKey), ("http://localhost:1", "a\nb", WrongKey)])
def test_nothing_is_sent_to_where_no_request_may_go_nor_with_what_is_no_key(url, key, kind):
    with pytest.raises(kind) as caught:
        models_of(url, key)
    assert isinstance(caught.value, PlaygroundError)
