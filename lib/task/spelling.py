"""Text in the one form in which it is compared, so that what only looks different is equal."""

from __future__ import annotations

import unicodedata

# Soft hyphen, zero-width space, direction marks, word joiner, byte order mark and the like. The joiners U+200C and
# U+200D stay: several scripts spell with them.
_UNSEEN = [0xAD, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF]
_CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
_SAME = {**dict.fromkeys(_UNSEEN), **dict.fromkeys(_CONTROLS, " "), **dict.fromkeys(map(ord, "‘’‚"), "'"),
         **dict.fromkeys(map(ord, "“”„"), '"'), **dict.fromkeys(map(ord, "‐‑‒–—"), "-")}


def one_spelling(text: str) -> str:
    """NFKC, lower case, straight quotes, plain hyphens, single spaces, and no characters that nobody sees."""
    return " ".join(unicodedata.normalize("NFKC", text).translate(_SAME).casefold().split())
