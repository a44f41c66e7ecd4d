"""All that belongs to some runs, taken from the run store or put into it at once, and what a replay asks of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from lib.runs.database import Database, insert
from lib.runs.desks import insert_data
from lib.runs.packing import packed, text_of
from lib.runs.rows import Asked, CallRow, Exchange, Recorded, call_of, cells, run_of

_OF_RUNS = "(select value from json_each(?1))"
_EXCHANGES = f"exchange join call on call.id = call_id where run_id in {_OF_RUNS}"
_RECORDED = (
    f"select * from run where id in {_OF_RUNS}",
    f"select call.*, fields, last, reply from {_EXCHANGES} order by call.id",
    f"select id, content from fields where id in (select fields from {_EXCHANGES})",
    f"""with recursive used(id) as (
            select last from {_EXCHANGES} and last is not null
            union select parent from node join used on node.id = used.id)
        select node.* from node join used on node.id = used.id""",
    f"select id, name, tickets, catalog from data where id in (select data_id from run where id in {_OF_RUNS})",
)


class Recordings(Database):
    """The part of the store that recordings, replays and the calls behind an answer use."""

    def recorded(self, run_ids: Sequence[str]) -> Recorded:
        """All of these runs, as it is at one moment; without those that are gone."""
        wanted = json.dumps(list(run_ids))
        with self._lock, self._speaking_plainly():
            self._db.execute("begin")
            try:
                runs, calls, texts, nodes, data = (self._db.execute(sql, [wanted]).fetchall() for sql in _RECORDED)
            finally:
                self._db.execute("rollback")
        found = [run_of(row) for row in runs]
        return Recorded(
            sorted(found, key=lambda run: run_ids.index(run.id)),
            [Exchange(call_of(row), row["fields"], row["last"], row["reply"])
             for row in calls],
            {row["id"]: row["content"] for row in texts},
            {row["id"]: (row["parent"], row["message"]) for row in nodes},
            {row["id"]: (row["name"], text_of(row["tickets"]), row["catalog"])
             for row in data})

    def add_recorded(self, recorded: Recorded) -> None:
        """Adds runs with all that belongs to them, or nothing at all."""
        with self._writing() as db:
            for data_id, (name, tickets_json, catalog) in recorded.data.items():
                insert_data(db, data_id, name, packed(tickets_json).content, catalog)
            for run in recorded.runs:
                insert(db, "run", cells(run))
            db.executemany("insert or ignore into fields values (?, ?)", recorded.fields.items())
            db.executemany("insert or ignore into node values (?, ?, ?)",
                           ((node_id, *node) for node_id, node in recorded.nodes.items()))
            for call in recorded.calls:
                call_id = insert(db, "call", {**cells(call.row), "id": None})
                insert(db, "exchange", {"call_id": call_id, "fields": call.fields, "last": call.last,
                                         "reply": call.reply})

    def asked(self, run_ids: Sequence[str]) -> list[Asked]:
        """What each call of these runs asked, and when, in the order in which they ended."""
        rows = self._read("select call.id, run_id, last, fields, started, seconds from exchange join call "
                          "on call.id = call_id where run_id in (select value from json_each(?)) order by call.id",
                          json.dumps(list(run_ids)))
        return [Asked(*row) for row in rows]

    def outcome(self, call_id: int) -> tuple[CallRow, str | None] | None:
        """A call and the JSON of its reply; None when it is no longer in the store."""
        rows = self._read("select call.*, reply from call join exchange on call_id = id where id = ?", call_id)
        return (call_of(rows[0]), rows[0]["reply"]) if rows else None

    def calls_like(self, run_ids: Sequence[str], step: str, subject: str, limit: int = 20) -> list[CallRow]:
        """Calls of a step of these runs, those about the same subject first."""
        rows = self._read("select * from call where run_id in (select value from json_each(?)) and step = ? "
                          "order by subject != ?, id limit ?", json.dumps(list(run_ids)), step, subject, limit)
        return [CallRow(**row) for row in rows]

    def replies_of(self, call_ids: Sequence[int]) -> dict[int, dict[str, Any]]:
        """The replies of these calls by their ids, without those that have none."""
        rows = self._read("select call_id, reply from exchange where reply is not null and call_id in "
                          "(select value from json_each(?))", json.dumps(list(call_ids)))
        return {row["call_id"]: json.loads(row["reply"]) for row in rows}
