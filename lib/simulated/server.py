"""The simulated Messages API as a real HTTP server on this machine, for any SDK and for curl."""

from __future__ import annotations

import errno
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from lib.simulated.conditions import Conditions
from lib.simulated.endpoints import MEGABYTE, Answer, allowed_methods, answer, broken, most_bytes
from lib.simulated.room import Room

_MOST_SWALLOWED = 512 * MEGABYTE        # of a body that is too large
_PIECE = MEGABYTE


class PortTaken(Exception):
    """Somebody else listens there."""


class SimulatedServer(ThreadingHTTPServer):
    """`url` to connect to; `serve_forever` answers until `shutdown`. Port 0 takes any free one.

    `speed` simulated seconds pass in a real one, 0 does not wait at all. Raises PortTaken.
    """

    daemon_threads = True
    request_queue_size = 128        # many workers connect at once

    def __init__(self, host: str = "127.0.0.1", port: int = 0, speed: float = 30.0,
                 conditions: Conditions | None = None, monotonic: Callable[[], float] = time.monotonic):
        self.speed = speed
        self.monotonic = monotonic
        self._zero, self._began = monotonic(), time.time()
        self.room = Room(self.now, conditions)
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                raise PortTaken(f"Port {port} cannot be used: {error.strerror}. Choose another, or 0 for any free one."
                                ) from error
            raise
        self.url = f"http://{_in_url(host)}:{self.server_port}"

    def now(self) -> float:
        """Seconds since the epoch on the simulation's clock."""
        return self._began + (self.monotonic() - self._zero) * (self.speed or 1.0)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)       # a client that hung up is no error


class _Handler(BaseHTTPRequestHandler):
    server: SimulatedServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True      # else a reply after the first waits 40 ms for an ACK
    timeout = 120                       # seconds that a connection may idle

    def do_GET(self) -> None:
        started = self.server.monotonic()
        try:
            body = self._body()
        except ValueError:          # a length that is no number, a host that is no name
            self.send_error(400)
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        method = "GET" if self.command == "HEAD" else self.command
        self._send(answer(self.server.room, method, self._url(), headers, body, wait=self.server.speed > 0), started)

    do_POST = do_DELETE = do_HEAD = do_PUT = do_PATCH = do_GET

    def do_OPTIONS(self) -> None:
        try:
            methods = allowed_methods(urlsplit(self._url()).path)
        except ValueError:
            self.send_error(400)
            return
        if methods:
            self._start(204, {"allow": ", ".join((*methods, "OPTIONS"))})
        else:
            self._start(404, {"content-length": "0"})

    def _url(self) -> str:
        """As the client wrote it: the host that it knows leads back here."""
        host = self.headers.get("host") or self.server.url.removeprefix("http://")
        return self.path if self.path.startswith("http://") else f"http://{host}{self.path}"

    def _body(self) -> bytes | None:
        """None for one that is too large: it is read, so that the sender hears of it, but not kept."""
        most = most_bytes(urlsplit(self._url()).path)
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            return self._chunks(most)
        length = int(self.headers.get("content-length", "0"))
        if length < 0:
            raise ValueError(length)
        if length <= most:
            return self.rfile.read(length)
        self.close_connection = length > _MOST_SWALLOWED
        for _ in self._pieces(min(length, _MOST_SWALLOWED)):
            pass
        return None

    def _chunks(self, most: int) -> bytes | None:
        kept = bytearray()
        while size := int(self.rfile.readline().split(b";")[0], 16):
            if size < 0:
                raise ValueError(size)
            for piece in self._pieces(size):
                if len(kept) <= most:
                    kept += piece
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return bytes(kept) if len(kept) <= most else None

    def _pieces(self, size: int) -> Iterator[bytes]:
        """So many bytes of the body, never all at once; fewer where the sender stops."""
        while size > 0 and (piece := self.rfile.read(min(size, _PIECE))):
            size -= len(piece)
            yield piece

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What is no request at all is refused in JSON too. Nothing more can be read from such a connection."""
        self.close_connection = True
        self._send(broken(code, message or HTTPStatus(code).phrase), self.server.monotonic())

    def _send(self, sent: Answer, started: float) -> None:
        chunked = sent.is_stream and self.request_version != "HTTP/1.0"
        if not sent.is_stream:
            body = b"".join(self._paced(sent, started))
            self._start(sent.status, {**sent.headers, "content-length": str(len(body))})
            self._write(body)
            return
        self.close_connection |= not chunked
        self._start(sent.status, {**sent.headers, **({"transfer-encoding": "chunked"} if chunked else {})})
        for part in self._paced(sent, started):
            self._write(b"%x\r\n%b\r\n" % (len(part), part) if chunked else part)
        if chunked:
            self._write(b"0\r\n\r\n")

    def _paced(self, sent: Answer, started: float) -> Iterator[bytes]:
        """Each part in its time, told in seconds of the simulation since the request came in."""
        for seconds, part in sent.parts:
            if self.server.speed:
                time.sleep(max(0.0, seconds / self.server.speed - (self.server.monotonic() - started)))
            yield part

    def _start(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("connection", "close")
        self.end_headers()

    def _write(self, data: bytes) -> None:
        if self.command != "HEAD":
            self.wfile.write(data)

    def version_string(self) -> str:
        return "simulated-messages-api"

    def log_message(self, *args: Any) -> None:
        """Quiet: the replies tell."""


def _in_url(host: str) -> str:
    shown = "localhost" if host in ("", "0.0.0.0", "::") else host
    return f"[{shown}]" if ":" in shown else shown
