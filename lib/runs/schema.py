"""The tables of the run store, and opening its file. What the rows mean in Python is in `store`."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from lib.errors import StoreError

APPLICATION_ID = 0x504C4159     # "PLAY": tells our file from any other SQLite file
BUSY_SECONDS = 30.0             # how long a write waits for another process before it gives up
LARGEST_LOG = 4 * 1024 * 1024   # bytes of the write-ahead log that are kept once its content is in the file
MEMORY = ":memory:"             # in place of a path: nothing is kept on disk, not even for a moment

# One tuple of statements per version of the file; `user_version` counts those already applied. Append, never edit.
MIGRATIONS: list[tuple[str, ...]] = [
    (
        """create table run (
            id text primary key, "group" text not null, shape text not null,
            status text not null
                check (status in ('queued', 'running', 'done', 'stopped', 'failed', 'interrupted')),
            source text not null, connection text not null, design text not null, data_id text not null,
            created real not null, started real, ended real, error text not null, report text,
            prices text not null, desk text not null, title text not null)""",
        "create index run_by_age on run (created)",
        'create index run_by_group on run ("group")',
        # Rows stay small so that totals over a long run read few pages; what was said is in `exchange`.
        """create table call (
            id integer primary key autoincrement, run_id text not null references run on delete cascade,
            step text not null, subject text not null, model text not null,
            started real not null, seconds real not null, stop_reason text,
            fresh integer, write_5m integer, write_1h integer, cache_read integer, output integer, thinking integer,
            usd real, attempts integer not null, error text not null)""",
        "create index call_by_run on call (run_id)",
        # A message and all before it: the id is a hash of both, so conversations share their beginnings.
        "create table node (id blob primary key, parent blob not null, message text not null)",
        # What a request holds beside its messages (system, tools, model …), once per different content.
        "create table fields (id blob primary key, content text not null)",
        """create table exchange (
            call_id integer primary key references call on delete cascade,
            fields blob not null, last blob, reply text)""",
        "create index exchange_by_request on exchange (last, fields)",
        "create table data (id text primary key, name text not null, tickets blob not null, catalog blob)",
        "create table desk (id text primary key, content text not null, saved real not null)",
    ),
    ("alter table data add column saved real not null default 0",),
    ("alter table run add column conditions text not null default ''",),
    ("alter table call add column waited real not null default 0",),
    ("alter table run add column note text not null default ''",
     "alter table run add column origin text not null default ''",
     "alter table run add column payer text not null default ''",
     "alter table call add column cached integer not null default 0",
     "create index run_by_desk on run (desk, created)"),
    # What was spent of the key of a shared playground's owner, by whom. Apart from the calls, which may be deleted.
    ("create table spending (id integer primary key, desk text not null, at real not null, usd real not null)",
     "create index spending_by_time on spending (at, desk, usd)"),
    # Designs that were saved under a name. Runs do not refer to them: each has its own copy.
    ("""create table design (
        id integer primary key autoincrement, desk text not null, name text not null, version text not null,
        content text not null, created real not null, unique (desk, name, version))""",),
]


def open_database(path: Path) -> sqlite3.Connection:
    """A connection to the store's file, made and brought up to date where needed, in autocommit mode.

    Raises StoreError when the file cannot be opened, is not ours, or was written by a newer version.
    """
    try:
        if str(path) != MEMORY:
            path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    except (OSError, sqlite3.Error) as error:
        raise _unusable(path, error) from error
    try:
        _check(connection, path)
        _configure(connection, path)
        _migrate(connection, path)
    except sqlite3.Error as error:
        connection.close()
        raise _unusable(path, error) from error
    except StoreError:
        connection.close()
        raise
    return connection


def _unusable(path: Path, error: Exception) -> StoreError:
    return StoreError(f"The run store {path} cannot be used: {error}. Set PLAYGROUND_STORE to another file.")


def _check(connection: sqlite3.Connection, path: Path) -> int:
    """The file's version; nothing is written before this has passed."""
    version = connection.execute("pragma user_version").fetchone()[0]
    owner = connection.execute("pragma application_id").fetchone()[0]
    tables = connection.execute("select count(*) from sqlite_master").fetchone()[0]
    if tables and owner != APPLICATION_ID:
        raise StoreError(f"{path} is a database of something else. Set PLAYGROUND_STORE to a file of its own.")
    if version > len(MIGRATIONS):
        raise StoreError(f"{path} was written by a newer version of the playground. "
                         "Update the playground, or set PLAYGROUND_STORE to another file.")
    return version


def _configure(connection: sqlite3.Connection, path: Path) -> None:
    connection.row_factory = sqlite3.Row
    connection.execute("pragma auto_vacuum = incremental")  # takes effect only before the first table is made
    connection.execute("pragma journal_mode = wal")
    connection.execute(f"pragma journal_size_limit = {LARGEST_LOG}")    # whatever a long reader made it grow to
    connection.execute("pragma synchronous = normal")       # in WAL mode a commit survives a crash of the process
    if str(path) == MEMORY:
        connection.execute("pragma temp_store = memory")
    connection.execute("pragma foreign_keys = on")
    connection.execute("pragma secure_delete = on")         # deleted tickets are overwritten, not only unlinked


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("begin immediate")       # two processes may open a new file at once; one of them migrates
    try:
        for migration in MIGRATIONS[_check(connection, path):]:
            for statement in migration:
                connection.execute(statement)
        connection.execute(f"pragma user_version = {len(MIGRATIONS)}")
        connection.execute(f"pragma application_id = {APPLICATION_ID}")
        connection.execute("commit")
    except BaseException:
        connection.execute("rollback")
        raise
