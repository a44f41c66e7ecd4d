"""Characters that break exports or deceive the eye, written so that they can be seen."""

from __future__ import annotations

import re

# Kept: tab, line feed, carriage return. Joiners stay too, since emoji and several scripts need them.
_ASCII_CONTROLS = bytes([*range(9), 11, 12, *range(14, 32), 127])
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff"
                       "\ud800-\udfff]")


def visible(text: str) -> str:
    """The text with control characters as pictures (ESC becomes ␛), and C1 controls, bidirectional overrides and lone
    surrogates as [U+202E]. The same object when there is none, so that a clean text costs no memory."""
    if text.isprintable() or text.replace("\n", "").isprintable():       # far quicker than what follows
        return text
    if text.isascii():
        if len(text.encode().translate(None, _ASCII_CONTROLS)) == len(text):
            return text
    return _CONTROLS.sub(_picture, text)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"[U+{code:04X}]"
