"""Data sets, desks, and what desks spend of the owner's key, in the run store."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable
from typing import Any

from lib.errors import StoreError
from lib.runs.conversations import to_json
from lib.runs.database import Database, insert
from lib.runs.packing import id_of, packed, text_of, tickets_in
from lib.runs.rows import plain

_UNUSED_FOR = 3600.0        # seconds until a data set that nothing refers to is forgotten
_SPENDING_KEPT = 2 * 86400.0    # seconds


class Desks(Database):
    """The part of the store that holds what a person works on."""

    # --- data sets

    def save_data(self, tickets_json: str | Iterable[str], catalog: bytes | None, name: str) -> str:
        """Keeps tickets and a product database; the same content gets the same id. Forgets data sets out of use.

        The pieces of `TicketSet.json_pieces` are packed one by one: all at once a large set takes its memory twice.
        """
        tickets = packed(tickets_json)
        data_id = id_of(tickets, catalog)
        with self._writing() as db:
            insert_data(db, data_id, name, tickets.content, catalog)
            forget_unused_data(db)
        return data_id

    def has_data(self, data_id: str) -> bool:
        return bool(self._read("select 1 from data where id = ?", data_id))

    def tickets_in(self, data_id: str) -> int | None:
        """How many tickets a data set has; None when it is not there."""
        rows = self._read("select tickets from data where id = ?", data_id)
        return tickets_in(rows[0]["tickets"]) if rows else None

    def load_data(self, data_id: str) -> tuple[str, bytes | None]:
        """The tickets' JSON and the product database. Raises StoreError for an unknown id."""
        rows = self._read("select tickets, catalog from data where id = ?", data_id)
        if not rows:
            raise StoreError(f"Data set {data_id} is not in the run store; upload the files again.")
        return text_of(rows[0]["tickets"]), rows[0]["catalog"]

    # --- desks

    def save_desk(self, desk_id: str, content: dict[str, Any]) -> None:
        with self._writing() as db:
            insert(db, "desk", {"id": plain(desk_id), "content": to_json(content), "saved": time.time()}, "or replace")

    def load_desk(self, desk_id: str) -> dict[str, Any] | None:
        rows = self._read("select content from desk where id = ?", desk_id)
        return _desk(rows[0]["content"]) if rows else None

    def latest_desk(self) -> str | None:
        """The id of the desk that was saved last."""
        rows = self._read("select id from desk order by saved desc, rowid desc limit 1")
        return rows[0]["id"] if rows else None

    def hand_over_desk(self, old_id: str, new_id: str) -> None:
        """What was on a desk, its runs and its designs are the new desk's from now on; the old one is gone."""
        with self._writing() as db:
            db.execute("update desk set id = ? where id = ?", [new_id, plain(old_id)])
            db.execute("update run set desk = ? where desk = ?", [new_id, plain(old_id)])
            db.execute("update spending set desk = ? where desk = ?", [new_id, plain(old_id)])
            db.execute("update design set desk = ? where desk = ?", [new_id, plain(old_id)])

    # --- what was spent of the key of a shared playground's owner

    def spend(self, desk: str, at: float, usd: float) -> int:
        """Notes dollars that a desk spends from the moment `at` on. Returns an id for `settle`. Forgets what is older
        than two days."""
        with self._writing() as db:
            db.execute("delete from spending where at < ?", [at - _SPENDING_KEPT])
            return insert(db, "spending", {"desk": plain(desk), "at": float(at), "usd": float(usd)})

    def settle(self, spending: int, usd: float) -> None:
        """What it was in the end."""
        with self._writing() as db:
            db.execute("update spending set usd = ? where id = ?", [float(usd), spending])

    def spent(self, since: float, desk: str | None = None) -> float:
        """Dollars since a moment, of one desk or of all."""
        return self._read("select coalesce(sum(usd), 0.0) from spending where at > ? and (? is null or desk = ?)",
                          since, desk, desk)[0][0]


def data_id_of(tickets_json: str | Iterable[str], catalog: bytes | None) -> str:
    """The id that `save_data` gives a data set."""
    return id_of(packed(tickets_json), catalog)


def insert_data(db: sqlite3.Connection, data_id: str, name: str, content: bytes, catalog: bytes | None) -> None:
    """`content` is that of `packing.packed`."""
    if db.execute("select 1 from data where id = ?", [data_id]).fetchone():
        db.execute("update data set saved = ? where id = ?", [time.time(), data_id])
    else:       # at once: an update would write a large row a second time
        insert(db, "data", {"id": data_id, "name": plain(name), "catalog": catalog, "tickets": content,
                            "saved": time.time()})


def forget_unused_data(db: sqlite3.Connection) -> None:
    old = db.execute("select id from data where saved < ? and id not in (select data_id from run)",
                     [time.time() - _UNUSED_FOR]).fetchall()
    on_desks = [_desk(row["content"]).get("data_id") for row in db.execute("select content from desk")]
    db.executemany("delete from data where id = ?", [[row["id"]] for row in old if row["id"] not in on_desks])


def _desk(content: str) -> dict[str, Any]:
    """Empty where the text is no object: everybody's data are looked for on all desks, one bad row must not stop it."""
    try:
        found = json.loads(content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
