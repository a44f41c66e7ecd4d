"""The file of the run store: its connection, reading and writing under one lock, and giving space back."""

from __future__ import annotations

import errno
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from lib.errors import StoreError
from lib.runs.schema import BUSY_SECONDS, MEMORY, open_database

_PAGES_AT_ONCE = 2_000      # given back while others wait: 8 MB
_PATIENCE = 500             # milliseconds that emptying the log waits for other processes


class Database:
    """The file at `path`; its folder is made when missing. ":memory:" keeps nothing on disk."""

    # One connection behind a lock. Workers and page scripts run on short-lived threads, so a connection per thread
    # would be opened over and over; SQLite lets one writer in at a time anyway, and a write takes well under 1 ms.

    def __init__(self, path: Path | str):
        self.path = Path(path)
        self._db = open_database(self.path)
        self._lock = threading.RLock()
        self._claim: IO[str] | None = None      # open and locked while this is the file's server

    def close(self) -> None:
        with self._lock:
            self._db.close()
            if self._claim:
                self._claim.close()

    def sole_server(self) -> bool:
        """Whether no other process that is alive has said this of the file; then this one has, until it ends. Where
        files cannot be locked, nobody else is known of."""
        if self._in_memory or self._claim:
            return True
        try:
            import fcntl  # there is none on Windows

            claim = open(self.path.with_name(f"{self.path.name}-server"), "w")
        except (ImportError, OSError):
            return True
        try:
            fcntl.lockf(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)      # the system takes it back, also after a kill -9
        except OSError as error:
            claim.close()
            return error.errno not in (errno.EACCES, errno.EAGAIN)
        self._claim = claim
        return True

    def check_that_it_is_there(self) -> None:
        """Raises StoreError when the file was deleted: SQLite would go on writing to it, and all would be lost, calls
        that are paid among it."""
        if not self._in_memory and not self.path.exists():
            raise StoreError(f"The run store {self.path} was deleted while the playground was running, so nothing "
                             "could be kept. Restart the playground: it begins with an empty store.")

    def size_bytes(self) -> int:
        """What the store takes on disk; what it takes in memory where nothing is kept on disk."""
        if self._in_memory:
            return self._read("select page_count * page_size from pragma_page_count, pragma_page_size")[0][0]
        files = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    @property
    def _in_memory(self) -> bool:
        return str(self.path) == MEMORY

    def _read(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        with self._lock, self._speaking_plainly():
            return self._db.execute(sql, values).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        self.check_that_it_is_there()
        with self._lock, self._speaking_plainly():
            self._db.execute("begin immediate")     # waits its turn here; a read turned write could fail half-way
            try:
                yield self._db
                self._db.execute("commit")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("rollback")
                raise

    @contextmanager
    def _speaking_plainly(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.IntegrityError as error:
            raise StoreError(f"The run store did not take that: {error}. The run may have been deleted.") from error
        except sqlite3.Error as error:
            raise StoreError(f"The run store {self.path} failed: {error}.") from error

    def _shrink(self) -> None:
        """Gives freed pages back to the file system, so that what was deleted is gone from the file too; others get
        their turn in between. The log is emptied only if no other process is in the midst of reading it; else when one
        of the next writes may."""
        while (free := self._free_pages()) and self._give_back() < free:
            pass
        with self._lock:
            self._read(f"pragma busy_timeout = {_PATIENCE}")
            try:
                self._read("pragma wal_checkpoint(truncate)")
            finally:
                self._read(f"pragma busy_timeout = {round(1_000 * BUSY_SECONDS)}")

    def _free_pages(self) -> int:
        return self._read("pragma freelist_count")[0][0]

    def _give_back(self) -> int:
        """Gives some pages back; how many are still free. As a script: `execute` would stop after the first page."""
        with self._lock, self._speaking_plainly():
            self._db.executescript(f"pragma incremental_vacuum({_PAGES_AT_ONCE})")
        return self._free_pages()


def insert(db: sqlite3.Connection, table: str, cells: dict[str, Any], conflict: str = "") -> int:
    names = ", ".join(f'"{name}"' for name in cells)
    marks = ", ".join("?" * len(cells))
    return db.execute(f"insert {conflict} into {table} ({names}) values ({marks})", list(cells.values())).lastrowid
