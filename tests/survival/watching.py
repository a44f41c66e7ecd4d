"""Sessions without a browser that watch a run: they speak the page's own websocket and poll as the page does."""

from __future__ import annotations

import threading
import time
from urllib.parse import urlsplit

import websockets.sync.client
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg


class Watcher:
    """One session on the Run page of `group`. `watch` goes on until the run has ended and the page polls no more."""

    def __init__(self, address: str, group: str):
        self._url = f"ws://{urlsplit(address).netloc}/_stcore/stream"
        self._query = f"run={group}"
        self._polls: dict[str, tuple[float, float]] = {}       # fragment -> its interval, and when it is due
        self.scripts, self.exceptions = 0, []
        self.has_page = threading.Event()       # with a view that polls

    def watch(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        with websockets.sync.client.connect(self._url, subprotocols=["streamlit"], max_size=None) as socket:
            socket.send(self._rerun())
            finished = False
            while time.monotonic() < until and not (finished and not self._polls):
                finished |= self._take(socket)
                self._poll(socket)
        assert not self._polls, "the run was still polled when the time was up"

    def _take(self, socket) -> bool:
        """Whether a whole script has ended with the message that came, if one came."""
        try:
            message = ForwardMsg.FromString(socket.recv(timeout=self._patience()))
        except TimeoutError:
            return False
        kind = message.WhichOneof("type")
        if kind == "delta" and message.delta.new_element.WhichOneof("type") == "exception":
            self.exceptions.append(message.delta.new_element.exception.message)
        elif kind == "new_session" and not message.metadata.run.fragment_ids:
            self._polls.clear()
        elif kind == "auto_rerun":
            interval = message.auto_rerun.interval
            self._polls[message.auto_rerun.fragment_id] = (interval, time.monotonic() + interval)
        elif kind == "stop_auto_rerun":
            for fragment in message.stop_auto_rerun.fragment_ids:
                self._polls.pop(fragment, None)
        elif kind == "script_finished":
            self.scripts += 1
            whole = message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
            if whole and self._polls:
                self.has_page.set()
            return whole
        return False

    def _patience(self) -> float:
        due = min((due for _, due in self._polls.values()), default=time.monotonic() + 0.2)
        return max(0.001, due - time.monotonic())

    def _poll(self, socket) -> None:
        now = time.monotonic()
        for fragment, (interval, due) in self._polls.items():
            if due <= now:
                self._polls[fragment] = (interval, now + interval)
                socket.send(self._rerun(fragment))

    def _rerun(self, fragment: str = "") -> bytes:
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.fragment_id, state.is_auto_rerun = self._query, fragment, bool(fragment)
        if not fragment:
            state.page_name = "run"
        return message.SerializeToString()
