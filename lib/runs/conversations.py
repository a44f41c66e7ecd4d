"""A request as content-addressed parts: a chain of message nodes, and the fields beside the messages.

A node's id is a hash of its parent's id and its message, so the requests of an agent, each of which repeats all before
it, add only their new messages to the log. No SQL here; `store` keeps the parts.
"""

from __future__ import annotations

import hashlib
import json
import numbers
import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from lib.messages import as_dict

ROOT = b""                                                      # the parent of a first message
NOT_STORED = ("extra_headers", "extra_query", "timeout")        # how it is sent, not what is asked; may hold a key


@dataclass(frozen=True)
class Node:
    id: bytes
    parent: bytes
    message: Any        # the caller's own object …
    seen: Any           # … and what it held when the id was made

    @property
    def text(self) -> str:
        return to_json(self.seen)


@dataclass(frozen=True)
class Parts:
    """A request taken apart. `last` is the id of its last node, ROOT for no messages, None for no such field."""

    fields: dict[str, Any]
    fields_id: bytes
    nodes: tuple[Node, ...]
    new: tuple[Node, ...]       # those of `nodes` that `known` did not hold
    last: bytes | None


def take_apart(request: dict[str, Any], known: tuple[Node, ...] = ()) -> Parts:
    """The parts of a request. `known`, an earlier conversation, saves hashing the messages that both share."""
    fields = {name: value for name, value in request.items() if name not in NOT_STORED and name != "messages"}
    nodes, new = _chain(request.get("messages") or (), known)
    last = nodes[-1].id if nodes else ROOT
    return Parts(fields, digest(ROOT, fields), nodes, new, None if request.get("messages") is None else last)


def put_together(fields: str, messages: list[str] | None) -> dict[str, Any]:
    """The request that `take_apart` was given, from the JSON of its parts."""
    request = json.loads(fields)
    return request if messages is None else {**request, "messages": [json.loads(m) for m in messages]}


def to_json(value: Any) -> str:
    """JSON text of a request's or reply's part, SDK objects included. Always valid Unicode: lone surrogates, which no
    database takes, make it escape whatever is not ASCII."""
    text = json.dumps(value, default=_plain, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, default=_plain, separators=(",", ":"))
    return text


class Recent:
    """The conversation last written under a key, for a limited number of keys; safe to share between threads."""

    def __init__(self, limit: int = 256):
        self._limit = limit
        self._chains: OrderedDict[Hashable, tuple[Node, ...]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> tuple[Node, ...]:
        with self._lock:
            return self._chains.get(key, ())

    def keep(self, key: Hashable, nodes: tuple[Node, ...]) -> None:
        with self._lock:
            self._chains[key] = nodes
            self._chains.move_to_end(key)
            if len(self._chains) > self._limit:
                self._chains.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._chains.clear()


def _chain(messages: Any, known: tuple[Node, ...]) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    nodes: list[Node] = []
    new: list[Node] = []
    parent = ROOT
    for position, message in enumerate(messages):
        node = known[position] if position < len(known) else None
        # subtle: the same object may have been changed in place since, hence the comparison with what it held then
        if node is None or node.message is not message or node.parent != parent or node.seen != message:
            node = Node(digest(parent, message), parent, message, _snapshot(message))
            new.append(node)
        nodes.append(node)
        parent = node.id
    return tuple(nodes), tuple(new)


def _snapshot(value: Any) -> Any:
    """A copy of the dicts and lists in `value`; strings and SDK objects, which nobody changes, are shared."""
    if isinstance(value, dict):
        return {name: _snapshot(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_snapshot(part) for part in value)
    return value


def digest(parent: bytes, value: Any) -> bytes:
    """The id of a message that comes after `parent`, or of a request's fields (after ROOT)."""
    content = json.dumps(value, default=_plain, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(parent + content.encode()).digest()[:16]


def _plain(value: Any) -> Any:
    if isinstance(value, numbers.Integral):
        return int(value)       # numpy's
    return as_dict(value) if hasattr(value, "__dict__") else str(value)
