"""Bytes to text: which encoding a file is in, said aloud when it is not UTF-8, and a refusal for what is no text."""

from __future__ import annotations

import codecs
import io
import re
from dataclasses import dataclass
from itertools import islice
from typing import TextIO

from lib.errors import UnreadableFile
from lib.phrases import plural
from lib.tickets.other_kinds import refuse_other_kinds

# Python's name of a codec -> how it is called. Of the first, cp1252 is guessed: no rule tells them apart in a text that
# is mostly plain letters.
_MOSTLY_PLAIN = {
    "utf-8": "UTF-8", "cp1252": "Western (Windows-1252)", "latin-1": "Western (ISO 8859-1)",
    "mac_roman": "Western (Mac)", "cp850": "Western (DOS)",
    "cp1250": "Central European (Windows-1250)", "iso8859_2": "Central European (ISO 8859-2)",
    "cp1254": "Turkish (Windows-1254)", "cp1257": "Baltic (Windows-1257)", "cp1258": "Vietnamese (Windows-1258)",
}
_OTHER_SCRIPTS = {
    "cp932": "Japanese (Shift-JIS)", "euc_jp": "Japanese (EUC-JP)", "iso2022_jp": "Japanese (ISO-2022-JP)",
    "gb18030": "Simplified Chinese (GB 18030)", "big5hkscs": "Traditional Chinese (Big5)", "cp949": "Korean (EUC-KR)",
    "cp1251": "Cyrillic (Windows-1251)", "koi8_r": "Cyrillic (KOI8-R)", "cp866": "Cyrillic (DOS)",
    "mac_cyrillic": "Cyrillic (Mac)", "iso8859_5": "Cyrillic (ISO 8859-5)", "cp1253": "Greek (Windows-1253)",
    "cp1255": "Hebrew (Windows-1255)", "cp1256": "Arabic (Windows-1256)", "cp874": "Thai (Windows-874)",
}
ENCODINGS = _MOSTLY_PLAIN | _OTHER_SCRIPTS      # what a person can choose where the guess is wrong
_BOMS = [(codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
         (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")]
_BLANK = b"\0\t\r\n "
_LOOKED_AT = 8 * 2**20      # bytes in which other scripts are looked for
_HIGH = re.compile(rb"[\x80-\xff]+")
_WORD = re.compile(rb"[^\0-/]+")      # cut where no encoding has the middle of a character
_RUN = re.compile(rb"[\x80-\xff]{3}")
_WORDS = 2_000


@dataclass(frozen=True)
class Encoding:
    codec: str
    errors: str = "strict"
    note: str = ""


def find_encoding(name: str, data: bytes, chosen: str = "") -> Encoding:
    """How to decode the bytes without an exception: as one of ENCODINGS that was chosen, or as they look. Raises
    UnreadableFile for an empty file or one that is no text."""
    if not data[:4_096].strip(_BLANK) and not data.strip(_BLANK):     # a copy of all of it is seldom needed
        raise UnreadableFile(f"{name} is empty")
    refuse_other_kinds(name, data)
    if chosen:
        return _checked(data, chosen, f"read as {ENCODINGS[chosen]}, as chosen")
    encoding = _by_bom(data) or _by_zeros(data) or _by_trying(data)
    _refuse_binary(name, data, encoding)
    return encoding


def open_text(data: bytes, encoding: Encoding) -> TextIO:
    """The text as a stream of lines that keep their own endings. Nothing is decoded before it is read."""
    return io.TextIOWrapper(io.BytesIO(data), encoding.codec, encoding.errors, newline="")


def _by_bom(data: bytes) -> Encoding | None:
    codec = next((codec for bom, codec in _BOMS if data.startswith(bom)), None)
    if codec is None:
        return None
    return _checked(data, codec, "" if codec == "utf-8-sig" else f"read as {codec.upper()}")


def _by_zeros(data: bytes) -> Encoding | None:
    """UTF-16 without a byte order mark: every second byte of western text is zero."""
    sample = data[:2_000]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if max(even, odd) < 0.7 * len(sample) / 2 or min(even, odd) > 0.1 * len(sample) / 2:
        return None
    return _checked(data, "utf-16-le" if odd > even else "utf-16-be", "read as UTF-16")


def _by_trying(data: bytes) -> Encoding:
    bad, other = _misfits(data, "utf-8")
    if not bad:
        return _seven_bits(data) if not other else Encoding("utf-8")
    if bad * 10 < other:        # a cut or damaged character among many good ones is still UTF-8
        return _checked(data, "utf-8", "")
    if codec := _of_another_script(data):
        return _checked(data, codec, f"not UTF-8, read as {ENCODINGS[codec]}: check a few words")
    bad, other = _misfits(data, "cp1252")
    if bad * 10 <= other:
        return _checked(data, "cp1252", "not UTF-8, read as Windows-1252 (cp1252): check accents and currency signs")
    return Encoding("latin-1", note="not UTF-8, read as Latin-1: check accents and currency signs")


def _seven_bits(data: bytes) -> Encoding:
    """Plain letters, or Japanese as old mail programs write it."""
    if b"\x1b$B" in data or b"\x1b$@" in data:
        found = _checked(data, "iso2022_jp", "read as ISO-2022-JP")
        if found.errors == "strict":
            return found
    return Encoding("utf-8")


def _of_another_script(data: bytes) -> str | None:
    """The codec of a text whose letters are mostly beyond ASCII, and so stand side by side: accented ones of western
    texts stand alone."""
    head = data[:_LOOKED_AT]
    runs = [len(run) for run in _HIGH.findall(head)]
    if sum(run for run in runs if run > 2) < 0.4 * sum(runs):
        return None
    from charset_normalizer import from_bytes

    foreign = (word[0] for word in _WORD.finditer(head) if _RUN.search(word[0]))
    best = from_bytes(b" ".join(islice(foreign, _WORDS)), cp_isolation=list(_OTHER_SCRIPTS)).best()
    return best.encoding if best and best.encoding in _OTHER_SCRIPTS else None


def _checked(data: bytes, codec: str, note: str) -> Encoding:
    bad, _ = _misfits(data, codec)
    if not bad:
        return Encoding(codec, note=note)
    damage = f"{plural(bad, 'damaged character')} shown as \N{REPLACEMENT CHARACTER}"
    return Encoding(codec, "replace", f"{note}; {damage}" if note else damage)


def _misfits(data: bytes, codec: str) -> tuple[int, int]:
    """(characters that cannot be decoded, characters beyond ASCII), decoded piece by piece to spare memory."""
    bad = other = 0
    decoder = codecs.getincrementaldecoder(codec)("replace")
    for start in range(0, len(data), 1 << 20):
        piece = data[start:start + (1 << 20)]
        text = decoder.decode(piece, final=start + (1 << 20) >= len(data))
        if not text.isascii():
            bad += text.count("\N{REPLACEMENT CHARACTER}")
            other += len(text) - len(text.encode("ascii", "ignore"))
    if bad and codec.startswith("utf-8"):       # the character may simply stand in the file
        bad -= data.count("\N{REPLACEMENT CHARACTER}".encode())
    return bad, other


def _refuse_binary(name: str, data: bytes, encoding: Encoding) -> None:
    sample = data[:8_192].decode(encoding.codec, "replace")
    strange = sum(1 for c in sample if c < "\x20" and c not in "\t\n\r\x0b\x0c\x1b")
    if strange > 3 and strange > 0.05 * len(sample):
        raise UnreadableFile(f"{name} is not text: export it as CSV, XLSX, JSON or JSONL")
