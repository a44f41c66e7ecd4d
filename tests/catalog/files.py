"""Product databases as the bytes of a file."""

from __future__ import annotations

import sqlite3


def sqlite_file(script, *inserts):
    """A SQLite file made by a script, and by (statement, rows) pairs."""
    with sqlite3.connect(":memory:") as connection:
        connection.executescript(script)
        for sql, rows in inserts:
            connection.executemany(sql, rows)
        connection.commit()
        return connection.serialize()
