"""The tickets of a data set as the store keeps them: a large set is packed ticket by ticket, so that it is never in
memory a second time; a small one stays text that anybody can read in the file."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator

PLAIN = 1 << 20             # bytes up to which nothing is packed
_MARK = b"packed tickets "  # then their number and their bytes, a line break, and zlib's stream; JSON begins otherwise
_STEP = 1 << 18         # packed bytes that are unpacked at a time


def packed(tickets_json: str | Iterable[str]) -> bytes:
    """`tickets_json` is the whole JSON, kept as it is, or the pieces of `TicketSet.json_pieces`: one for each ticket,
    between a first and a last."""
    if isinstance(tickets_json, str):
        return _bytes(tickets_json)
    stream = zlib.compressobj(1)
    plain, found, size, pieces = [], [], 0, 0
    for piece in map(_bytes, tickets_json):
        size, pieces = size + len(piece), pieces + 1
        plain.append(piece)
        if size > PLAIN:
            found += [stream.compress(each) for each in plain]
            plain = []
    if size <= PLAIN:
        return b"".join(plain)
    return b"".join([_MARK, b"%d %d\n" % (pieces - 2, size), *found, stream.flush()])


def unpacked(content: bytes) -> Iterator[bytes]:
    if not content.startswith(_MARK):
        yield content
        return
    stream = zlib.decompressobj()
    for at in range(content.index(b"\n") + 1, len(content), _STEP):     # never a look at all of the rest
        yield stream.decompress(content[at:at + _STEP])
    yield stream.flush()


def text_of(content: bytes) -> str:
    return b"".join(unpacked(content)).decode("utf-8", "surrogatepass")


def tickets_in(content: bytes) -> int | None:
    """How many tickets there are; None where it is no JSON of tickets."""
    if content.startswith(_MARK):
        return int(content[len(_MARK):content.index(b"\n")].split()[0])
    try:
        return len(json.loads(content)["tickets"])
    except (ValueError, KeyError, TypeError):
        return None


def id_of(content: bytes, catalog: bytes | None) -> str:
    """The id of a data set, which follows from what is in it, packed or not."""
    digest = hashlib.sha256(b"%d:" % _size(content))
    for piece in unpacked(content):
        digest.update(piece)
    digest.update(catalog or b"")
    return digest.hexdigest()[:16]


def _size(content: bytes) -> int:
    if not content.startswith(_MARK):
        return len(content)
    return int(content[len(_MARK):content.index(b"\n")].split()[1])


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
