"""A Messages API on a local port that answers from a script. It knows the shapes and the paths, not the content."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from lib.simulated.protocol import handle

HTML = "<!DOCTYPE html><html><body>sign in</body></html>"


@dataclass(frozen=True)
class Reply:
    """One HTTP answer. A text body is sent as HTML, anything else as JSON."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0        # until it is sent
    sent: int | None = None     # bytes of the body after which the connection breaks; None: all are sent


@dataclass(frozen=True)
class Received:
    path: str
    headers: dict[str, str]     # by lower-case name
    body: dict[str, Any]


Script = Callable[[Received], Reply]


class LocalServer:
    """`url` to connect to, and every request `received` so far."""

    def __init__(self, script: Script):
        self.received: list[Received] = []
        self.closed = False
        self._script = script
        self._lock = threading.Lock()
        self._http = _Http(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def answer(self, request: Received) -> Reply:
        with self._lock:
            self.received.append(request)
            if request.path != "/v1/messages":
                return Reply(404, HTML)
            return self._script(request)

    def run(self) -> None:
        self._http.serve_forever(poll_interval=0.01)

    def close(self) -> None:
        """No connection is accepted any more, and those that are open break without an answer."""
        self.closed = True
        self._http.shutdown()
        self._http.server_close()


@contextmanager
def serve(*replies: Reply, script: Script | None = None) -> Iterator[LocalServer]:
    """Gives `replies` in turn, the last one again and again; or whatever `script` says."""
    server = LocalServer(script or _in_turn(replies))
    threading.Thread(target=server.run, daemon=True).start()
    try:
        yield server
    finally:
        server.close()


def message(text: str = "hello", **changes: Any) -> Reply:
    """A good reply; `changes` to its body, where None is sent as null and ... leaves a field out."""
    body = {
        "id": "msg_local", "type": "message", "role": "assistant", "model": "local-model",
        "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 2}, **changes,
    }
    return Reply(200, {name: value for name, value in body.items() if value is not ...})


def refusal(status: int, kind: str, words: str, code: str | None = None, **headers: str) -> Reply:
    """An error in the API's shape; `retry_after="1"` and the like become headers."""
    error = {"type": kind, "message": words, **({"details": {"error_code": code}} if code else {})}
    return Reply(status, {"type": "error", "error": error, "request_id": "req_local"},
                 {name.replace("_", "-"): value for name, value in headers.items()})


class _Http(ThreadingHTTPServer):
    request_queue_size = 64     # many workers connect at once

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)   # a client that hung up is no error


def simulated(request: Received) -> Reply:
    """What the simulated Messages API answers."""
    answer = handle(request.body)
    return Reply(answer.status, answer.body, answer.headers)


def _in_turn(replies: tuple[Reply, ...]) -> Script:
    left = list(replies)
    return lambda request: left.pop(0) if len(left) > 1 else left[0]


def _handler(server: LocalServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True      # else a reply after the first waits 40 ms for an ACK

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = server.answer(Received(self.path, headers, json.loads(sent)))
            time.sleep(reply.seconds)
            if server.closed:
                self.close_connection = True
            else:
                self._send(reply)

        def _send(self, reply: Reply) -> None:
            is_text = isinstance(reply.body, str)
            data = reply.body.encode() if is_text else json.dumps(reply.body).encode()
            headers = {"content-type": "text/html" if is_text else "application/json", **reply.headers}
            self.send_response(reply.status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[:reply.sent])
            self.close_connection |= reply.sent is not None

        def log_message(self, *args: Any) -> None:
            """Tests print nothing."""

    return Handler
