"""The tickets of a data set as the store keeps them: a large set is packed ticket by ticket, so that it is never in
memory a second time; a small one stays text that anybody can read in the file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

PLAIN = 1 << 20             # bytes up to which nothing is packed
_MARK = b"packed tickets "  # then their number and their bytes, a line break, and a zstd stream; JSON begins otherwise
_STEP = 1 << 20             # bytes that are packed or unpacked at a time


class Packed(NamedTuple):
    """A data set's tickets as they are stored, and the SHA-256 of their JSON."""

    content: bytes
    digest: bytes


def packed(tickets_json: str | Iterable[str]) -> Packed:
    """`tickets_json` is the whole JSON, kept as it is, or the pieces of `TicketSet.json_pieces`: one for each ticket,
    between a first and a last."""
    if isinstance(tickets_json, str):
        content = _bytes(tickets_json)
        return Packed(content, hashlib.sha256(content).digest())
    blocks = _Blocks(tickets_json)
    first = next(blocks, b"")
    if len(first) < PLAIN:
        return Packed(first, hashlib.sha256(first).digest())
    import pyarrow

    digest, found = hashlib.sha256(), []
    for block in chain([first], blocks):
        digest.update(block)
        found.append(pyarrow.compress(block, "zstd", asbytes=True))     # frames one after the other are one stream
    return Packed(b"".join([_MARK, b"%d %d\n" % (blocks.pieces - 2, blocks.size), *found]), digest.digest())


class _Blocks:
    """Pieces of text as blocks of _STEP bytes or a little more; the last one is smaller."""

    def __init__(self, texts: Iterable[str]):
        self._texts = iter(texts)
        self.pieces = self.size = 0

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        block, length = [], 0
        for text in self._texts:
            block.append(_bytes(text))
            length += len(block[-1])
            if length >= _STEP:
                break
        if not block:
            raise StopIteration
        self.pieces, self.size = self.pieces + len(block), self.size + length
        return b"".join(block)


def _unpacked(content: bytes) -> Iterator[bytes]:
    if not content.startswith(_MARK):
        yield content
        return
    import pyarrow

    found = pyarrow.py_buffer(content).slice(content.index(b"\n") + 1)
    with pyarrow.CompressedInputStream(pyarrow.BufferReader(found), "zstd") as stream:
        while block := stream.read(_STEP):
            yield block


def text_of(content: bytes) -> str:
    return b"".join(_unpacked(content)).decode("utf-8", "surrogatepass")


def tickets_in(content: bytes) -> int | None:
    """How many tickets there are; None where it is no JSON of tickets."""
    if content.startswith(_MARK):
        return int(content[len(_MARK):content.index(b"\n")].split()[0])
    try:
        return len(json.loads(content)["tickets"])
    except (ValueError, KeyError, TypeError):
        return None


def id_of(tickets: Packed, catalog: bytes | None) -> str:
    """The id of a data set, which follows from what is in it, packed or not."""
    if not tickets.content.startswith(_MARK) and len(tickets.content) < PLAIN:
        return hashlib.sha256(b"%d:%b%b" % (len(tickets.content), tickets.content, catalog or b"")).hexdigest()[:16]
    return hashlib.sha256(tickets.digest + (catalog or b"")).hexdigest()[:16]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
