"""What keeps a SQLite connection harmless: only reading, only plain functions, no recursion, limited time and size."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection
from typing import Any

LONGEST_VALUE = 32 * 2**20      # bytes of one value
STEPS = 200                     # of SQLite's, from one look at the clock to the next: each may handle a longest value
FUNCTIONS = frozenset((
    "abs avg cast ceil char coalesce count date datetime dense_rank first_value floor glob group_concat hex ifnull "
    "iif instr julianday lag last_value lead length like lower ltrim max min nullif quote rank replace round "
    "row_number rtrim sign strftime substr substring sum time total trim typeof unicode upper").split())


class Deadline:
    """Interrupts a statement that is still running when its seconds are over."""

    def __init__(self) -> None:
        self._end = float("inf")

    def start(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def over(self) -> int:
        return int(time.monotonic() > self._end)


def guard(connection: sqlite3.Connection, foreign: bool = False) -> Deadline:
    """Locks the connection for good and returns its deadline, to be started before each statement. `foreign`: the
    database is a stranger's, and its views and generated columns may be written to hang."""
    _harmless_functions(connection)
    connection.execute("PRAGMA trusted_schema = ON")        # that is: a stranger's columns call ours, not SQLite's own
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 1_000_000)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200)
    connection.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 100)
    connection.set_authorizer(_only_reading({"page_count", "table_xinfo"} if foreign else {"page_count"}))
    deadline = Deadline()
    connection.set_progress_handler(deadline.over, STEPS)
    return deadline


def _harmless_functions(connection: sqlite3.Connection) -> None:
    """Nothing can stop a function before it is done, and columns of a schema call any without asking the authorizer:
    those that could take minutes are replaced."""
    for name, arguments in _ENDLESS.items():
        connection.create_function(name, arguments, _refused, deterministic=True)
    connection.create_function("instr", 2, _instr, deterministic=True)
    connection.create_function("replace", 3, _replace, deterministic=True)


# name -> arguments. '%.2000000000c' is counted to its end whatever the limits are; to trim other characters than blanks
# takes the product of both lengths, as SQLite's own instr and replace do.
_ENDLESS = {"printf": -1, "format": -1, "trim": 2, "ltrim": 2, "rtrim": 2}


def _refused(*_arguments: Any) -> None:
    raise ValueError("this function could take for ever")


def _instr(text: Any, part: Any) -> int | None:
    return None if text is None or part is None else str(text).find(str(part)) + 1


def _replace(text: Any, old: Any, new: Any) -> str | None:
    if text is None or old is None or new is None:
        return None
    text, old, new = str(text), str(old), str(new)
    if not old:
        return text
    if len(text) + text.count(old) * (len(new) - len(old)) > LONGEST_VALUE:
        raise OverflowError      # "string or blob too big", as SQLite says once all of it is in memory
    return text.replace(old, new)


def _only_reading(pragmas: Collection[str]) -> Callable[..., int]:
    """Everything not named here is refused: ATTACH, writes, WITH RECURSIVE, load_extension, zeroblob … The pragmas only
    tell something: Connection.serialize asks for page_count."""

    def authorize(action: int, first: str | None, second: str | None, _database: str | None, _view: str | None) -> int:
        if action == sqlite3.SQLITE_SELECT:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            hidden = (first or "").lower().startswith(("pragma_", "sqlite_stat", "sqlite_dbpage", "dbstat"))
            return sqlite3.SQLITE_DENY if hidden else sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            return sqlite3.SQLITE_OK if (second or "").lower() in FUNCTIONS else sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_PRAGMA and first in pragmas:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    return authorize


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def text_of(raw: bytes) -> str:
    """Text that old programs wrote in Windows-1252 into a database that should hold UTF-8 is read as what it was."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("cp1252", "replace")
    return text.replace("\0", "")
