"""Row numbers by the text of a column, in a small database of its own: a million keys take some 60 MB, not 250."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable
from typing import Any


class Keys:
    """Where each text of one column stands. Safe to use from many threads."""

    def __init__(self, texts: Iterable[tuple[int, str]]):
        """`texts` are (row number, text), in the order of the rows."""
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._connection.execute("CREATE TABLE keys(fold TEXT, exact TEXT, row INTEGER)")
        self._connection.execute("BEGIN")
        self._connection.executemany("INSERT INTO keys VALUES (?, ?, ?)", map(_entry, texts))
        self._connection.execute("COMMIT")
        self._connection.execute("CREATE INDEX by_fold ON keys(fold)")

    def exact(self, text: str) -> int | None:
        """The first row with this very text."""
        found = self._all("SELECT min(row) FROM keys WHERE fold = ? AND coalesce(exact, fold) = ?",
                          text.casefold(), text)
        return found[0][0]

    def any_case(self, text: str) -> list[int]:
        """Every row with this text, upper and lower case being the same."""
        return [row for (row,) in self._all("SELECT row FROM keys WHERE fold = ? ORDER BY row", text.casefold())]

    def spellings(self, text: str) -> int:
        """In how many ways the text is written where upper and lower case are the same."""
        return self._all("SELECT count(DISTINCT coalesce(exact, fold)) FROM keys WHERE fold = ?", text.casefold())[0][0]

    def different(self, most: int) -> list[str]:
        """The first `most` different texts, empty ones left out, each as it is first written."""
        sql = ("SELECT coalesce(exact, fold) FROM (SELECT exact, fold, min(row) AS first FROM keys WHERE fold <> '' "
               "GROUP BY fold ORDER BY first LIMIT ?)")
        return [text for (text,) in self._all(sql, most)]

    def _all(self, sql: str, *values: Any) -> list[tuple]:
        with self._lock:
            return self._connection.execute(sql, values).fetchall()


def _entry(text: tuple[int, str]) -> tuple[str, str | None, int]:
    fold = text[1].casefold()
    return fold, None if fold == text[1] else text[1], text[0]
