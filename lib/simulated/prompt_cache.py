"""The prompt cache of one workspace: which part of a prompt is read from it, which is written, and for how long.

A prompt is a row of blocks, tools before system before messages. An entry stands for everything up to one block, so
whatever changes early makes all later entries useless.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

from lib.models import model
from lib.remember import once
from lib.simulated.thinking import effort_of
from lib.usage.tokens import Measured, blocks_of

LOOKBACK = 20                                   # blocks that a mark looks at, its own is the first
LIFETIMES = {"5m": 300.0, "1h": 3600.0}         # seconds since the start of the request that last used an entry
_MOST_ENTRIES = 20_000


@dataclass(frozen=True)
class Prompt:
    """A prompt as the cache sees it. `keys` are prefix hashes, one a block; `tokens` what the prompt holds up to it."""

    total: int
    keys: Sequence[bytes] = ()
    tokens: Sequence[int] = ()
    marks: tuple[tuple[int, str], ...] = ()     # (block, time to live), in order; only those long enough to be cached


@dataclass(frozen=True)
class Split:
    """What a prompt costs: the four add up to all of its tokens."""

    fresh: int
    read: int = 0
    write_5m: int = 0
    write_1h: int = 0
    hit: int = -1       # the block up to which the prompt was read; -1 for none


@dataclass
class _Entry:
    lifetime: float
    expires: float
    usable: float       # from when on it can be read: its first reply has begun


class PromptCache:
    """All times are seconds on the room's clock. Safe for threads."""

    def __init__(self) -> None:
        self._entries: OrderedDict[bytes, _Entry] = OrderedDict()
        self._lock = threading.Lock()

    def split(self, prompt: Prompt, at: float) -> Split:
        """What is read and what has to be written when a request with this prompt starts `at`. Changes nothing."""
        if not prompt.marks:
            return Split(prompt.total)
        with self._lock:
            hit = max(self._found(prompt.keys, mark, at) for mark, _ in prompt.marks)
        read = prompt.tokens[hit] if hit >= 0 else 0
        until_1h = max([read] + [prompt.tokens[mark] for mark, life in prompt.marks if life == "1h"])
        until_5m = max(until_1h, prompt.tokens[prompt.marks[-1][0]])
        return Split(prompt.total - until_5m, read, until_5m - until_1h, until_1h - read, hit)

    def keep(self, prompt: Prompt, split: Split, at: float, reply_begins: float) -> None:
        """Notes what the request used and wrote; what is new can be read once its reply begins."""
        with self._lock:
            if split.hit >= 0:
                self._refresh(prompt.keys[split.hit], at)
            for mark, life in prompt.marks:
                if mark <= split.hit:
                    self._refresh(prompt.keys[mark], at)
                else:
                    self._write(prompt.keys[mark], LIFETIMES[life], at, reply_begins)
            while len(self._entries) > _MOST_ENTRIES:
                self._entries.popitem(last=False)

    def _found(self, keys: Sequence[bytes], mark: int, at: float) -> int:
        for block in range(mark, max(mark - LOOKBACK, -1), -1):
            entry = self._entries.get(keys[block])
            if entry and entry.usable <= at < entry.expires:
                return block
        return -1

    def _refresh(self, key: bytes, at: float) -> None:
        entry = self._entries.get(key)
        if entry and at < entry.expires:
            entry.expires = max(entry.expires, at + entry.lifetime)
            self._entries.move_to_end(key)

    def _write(self, key: bytes, lifetime: float, at: float, usable: float) -> None:
        known, expires = self._entries.get(key), at + lifetime
        if known and at < known.expires:        # written by another request whose reply has not begun either
            lifetime, usable = max(lifetime, known.lifetime), min(usable, known.usable)
            expires = max(at + lifetime, known.expires)     # requests need not come in the order of their times
        self._entries[key] = _Entry(lifetime, expires, usable)
        self._entries.move_to_end(key)


def prompt_of(request: Mapping[str, Any], measured: Measured) -> Prompt:
    """The request's prompt; without any mark only its size, which is all that is needed then."""
    if not _is_marked(request):
        return Prompt(measured.total)
    levels = _levels(request)
    shortest = model(request["model"]).cache_minimum
    lives = _lives(request, [block for blocks in levels for block in blocks])
    marks = [(i, life) for i, life in enumerate(lives) if life and measured.tokens[i] >= shortest]
    return Prompt(measured.total, _keys(request, levels), measured.tokens, tuple(marks))


class _Block(NamedTuple):
    """What the cache needs to know of a block."""

    digest: bytes       # of all that it says, and who says it
    life: str           # that its mark asks for, "" without one
    carries: bool       # a mark on the request may stand for one on it


_TOOLS, _SYSTEM, _MESSAGES = range(3)


def _levels(request: Mapping[str, Any]) -> list[list[_Block]]:
    """The blocks in the order of the prompt, one by one as `measure` counts them: of tools, system, messages."""
    return [[_block("", tool) for tool in request.get("tools") or []],
            [_block("", block) for block in blocks_of(request.get("system") or "")],
            [block for message in request["messages"] for block in once(_blocks_in, message)]]


def _blocks_in(message: Mapping[str, Any]) -> tuple[_Block, ...]:
    return tuple(_block(message["role"], block) for block in blocks_of(message["content"]))


def _block(role: str, block: Mapping[str, Any]) -> _Block:
    return _Block(_mixed(b"", role, _unmarked(block)), _life(block), can_carry_a_mark(block))


def _is_marked(request: Mapping[str, Any]) -> bool:
    before = (*(request.get("tools") or ()), *blocks_of(request.get("system") or ""))
    return bool(request.get("cache_control")) or any(map(_life, before)) or any(
        once(_holds_a_mark, message) for message in request["messages"])


def _holds_a_mark(message: Mapping[str, Any]) -> bool:
    return any(map(_life, blocks_of(message["content"])))


def _lives(request: Mapping[str, Any], blocks: Sequence[_Block]) -> list[str]:
    """For each block the time to live of its mark, "" without one. A mark on the request goes to the last block that
    can carry one."""
    lives = [block.life for block in blocks]
    if automatic := request.get("cache_control"):
        last = next((i for i in range(len(blocks) - 1, -1, -1) if blocks[i].carries), None)
        if last is not None:
            lives[last] = lives[last] or _ttl(automatic)
    return lives


def _life(block: Mapping[str, Any]) -> str:
    """Its own mark, or that of a block inside a tool result: the result ends where its last block does."""
    if mark := block.get("cache_control"):
        return _ttl(mark)
    if block.get("type") != "tool_result":
        return ""
    inner = block.get("content")
    nested = [_ttl(b["cache_control"]) for b in inner if b.get("cache_control")] if isinstance(inner, list) else []
    return max(nested, default="", key=LIFETIMES.__getitem__)


def _ttl(mark: Mapping[str, Any]) -> str:
    return "1h" if mark.get("ttl") == "1h" else "5m"


def can_carry_a_mark(block: Mapping[str, Any]) -> bool:
    kind = block.get("type")
    return kind not in ("thinking", "redacted_thinking") and not (kind == "text" and not block["text"].strip())


# --- what makes an entry useless -------------------------------------------------------------------------------------


def _keys(request: Mapping[str, Any], levels: Sequence[Sequence[_Block]]) -> list[bytes]:
    """A hash for each block and all before it. The settings of a level stand before its blocks, so a change of them
    reaches this level and those after it."""
    keys, key = [], b""
    for level, blocks in enumerate(levels):
        key = _mixed(key, _settings(level, request))
        for block in blocks:
            key = blake2b(key + block.digest, digest_size=16).digest()
            keys.append(key)
    return keys


def _settings(level: int, request: Mapping[str, Any]) -> list[Any]:
    if level == _TOOLS:
        return [request["model"], (request.get("output_config") or {}).get("format")]
    if level == _SYSTEM:
        return [request.get("speed") or "standard", _uses_citations(request)]
    return [request.get("tool_choice") or {"type": "auto"}, _holds_images(request), request.get("thinking"),
            effort_of(request)]


def _uses_citations(request: Mapping[str, Any]) -> bool:
    return any(once(_cites, message) for message in request["messages"])


def _cites(message: Mapping[str, Any]) -> bool:
    return any((block.get("citations") or {}).get("enabled") for block in _content(message)
               if isinstance(block.get("citations"), dict))


def _holds_images(request: Mapping[str, Any]) -> bool:
    return any(once(_shows, message) for message in request["messages"])


def _shows(message: Mapping[str, Any]) -> bool:
    return any(block.get("type") == "image" for block in _content(message))


def _content(message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for block in blocks_of(message["content"]):
        yield block
        if block.get("type") == "tool_result" and isinstance(block.get("content"), list):
            yield from block["content"]


def _unmarked(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """The block without its marks: where the marks stand changes from request to request, what is cached does not."""
    if "cache_control" in block:
        block = {name: value for name, value in block.items() if name != "cache_control"}
    if block.get("type") == "tool_result" and isinstance(block.get("content"), list):
        block = {**block, "content": [_unmarked(inner) for inner in block["content"]]}
    return block


def _mixed(key: bytes, *more: Any) -> bytes:
    return blake2b(key + repr(more).encode(), digest_size=16).digest()
