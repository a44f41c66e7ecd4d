"""Text that a spreadsheet would run as a formula, and the apostrophe before it that our CSV exports put there.

The apostrophe is reversible: `unguarded(guarded(text)) == text` for every text.
"""

from __future__ import annotations

import re

# White space and invisible characters, then a sign that begins a formula, also in the full width that some spreadsheets
# take for the same; or a line break or tab at the very beginning, which ends a cell in what reads files carelessly.
_FORMULA = re.compile("[\\s\u00ad\u200b-\u200d\u2060\ufeff]*[=+\\-@\uff1d\uff0b\uff0d\uff20]|\\s*[\t\r\n]")
_NUMBER = re.compile(r" *[+-]?(\d[\d.,]*|[.,]\d+)([eE][+-]?\d+)? ?%? *", re.ASCII)


def guarded(text: str) -> str:
    """With an apostrophe before it where a spreadsheet may take the text for a formula. Plain numbers stay (-10.00)."""
    return f"'{text}" if not text[:1].isalnum() and _risky(text.lstrip("'")) else text


def unguarded(text: str) -> str:
    """What `guarded` made this of."""
    return text[1:] if text[:1] == "'" and _risky(text.lstrip("'")) else text


def take_guards_off(rows: list[list[str]]) -> int:
    """Takes the guards off all cells and returns how many there were.

    Where a single cell stands unguarded that `guarded` would have changed, nobody guarded this table: 0, as it was.
    """
    held = [(row, at) for row in rows for at, cell in enumerate(row) if not cell[:1].isalnum()]
    if any(_risky(row[at]) for row, at in held):
        return 0
    count = 0
    for row, at in held:
        bare = unguarded(row[at])
        count += bare is not row[at]
        row[at] = bare
    return count


def _risky(text: str) -> bool:
    return not text[:1].isalnum() and bool(_FORMULA.match(text)) and not _NUMBER.fullmatch(text)
