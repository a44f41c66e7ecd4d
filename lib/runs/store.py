"""The run store: runs, their calls with the exact requests and replies, data sets and desks, in one SQLite file.

Every finished call is in here before anybody sees its reply. Nothing here computes a price or runs anything. What is
listed, recorded, on desks and saved as designs is in modules of their own over one `database`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lib.errors import StoreError
from lib.runs.conversations import Parts, Recent, put_together, take_apart, to_json
from lib.runs.database import insert
from lib.runs.designs import Designs, SavedDesign
from lib.runs.desks import Desks, data_id_of, forget_unused_data
from lib.runs.listing import Listing
from lib.runs.recorded import Recordings
from lib.runs.rows import (
    RUN_KINDS,
    SIMULATED_ANSWERS,
    SUMS,
    Answer,
    Asked,
    CallRow,
    Exchange,
    Listed,
    Recorded,
    Run,
    Totals,
    Wanted,
    cell,
    cells,
    run_of,
    totals_of,
)

__all__ = ["SIMULATED_ANSWERS", "Answer", "Asked", "CallRow", "Exchange", "Listed", "Recorded", "Run", "SavedDesign",
           "Store", "Totals", "Wanted", "data_id_of"]


class Store(Listing, Recordings, Desks, Designs):
    """The store in the file at `path`; its folder is made when missing. ":memory:" keeps nothing on disk. Safe to share
    between threads, and several processes may have the same file open. Every method raises StoreError when the file
    cannot be read or written."""

    def __init__(self, path: Path | str):
        super().__init__(path)
        self._recent = Recent()

    # --- runs

    def add_run(self, run: Run) -> None:
        self.add_runs([run])

    def add_runs(self, runs: Sequence[Run]) -> None:
        """Adds all of them, or none."""
        with self._writing() as db:
            for run in runs:
                insert(db, "run", cells(run))

    def update_run(self, run_id: str, **changes: Any) -> bool:
        """Sets fields of a run; False when it is not (or no longer) in the store."""
        sets = ", ".join(f'"{name}" = ?' for name in changes)
        cells = [cell(RUN_KINDS[name], value) for name, value in changes.items()]
        with self._writing() as db:
            return db.execute(f"update run set {sets} where id = ?", [*cells, run_id]).rowcount == 1

    def run(self, run_id: str) -> Run | None:
        found = self._read("select * from run where id = ?", run_id)
        return run_of(found[0]) if found else None

    def runs(self, desk: str | None = None, limit: int = 50) -> list[Run]:
        """Newest first; with `desk`, only the runs started from it."""
        rows = self._read("select * from run where ? is null or desk = ? order by created desc, rowid desc limit ?",
                          desk, desk, limit)
        return [run_of(row) for row in rows]

    def newest_done(self, shape: str, data_id: str, desk: str) -> Run | None:
        """The run of this shape on these data that this desk started last, of those that came to their end."""
        found = self._read("select id from run where desk = ? and shape = ? and data_id = ? and status = 'done' "
                           "order by created desc, rowid desc limit 1", desk, shape, data_id)
        return self.run(found[0]["id"]) if found else None

    def group(self, group_id: str) -> list[Run]:
        """The runs of a group, in the order in which they were added."""
        return [run_of(row) for row in self._read('select * from run where "group" = ? order by rowid', group_id)]

    def ids(self, desk: str | None = None, working: bool = False) -> list[str]:
        """The ids of all runs, or of those at work; with `desk`, only of the runs started from it."""
        where = ["status in ('queued', 'running')"] * working + ["desk = ?"] * (desk is not None)
        rows = self._read(f"select id from run where {' and '.join(where) or 1}", *[desk] * (desk is not None))
        return [row["id"] for row in rows]

    def mark_interrupted(self) -> int:
        """For the start of a server: what still counts as going died with the last one. Returns how many runs."""
        with self._writing() as db:
            return db.execute(
                """update run set status = 'interrupted',
                       error = 'The playground stopped while this run was going. Its finished calls are kept.',
                       ended = (select max(started + seconds) from call where run_id = run.id)
                   where status in ('queued', 'running')""").rowcount

    # --- calls

    def add_call(self, row: CallRow, request: dict[str, Any], reply: Any) -> int:
        """Stores a call that has ended, with what was asked and answered (None for no reply). Returns its id."""
        key = (row.run_id, row.step, row.subject)
        parts = take_apart(request, self._recent.get(key))
        answer = None if reply is None else to_json(reply)
        with self._writing() as db:
            call_id = insert(db, "call", {**cells(row), "id": None})
            _insert_parts(db, parts)
            insert(db, "exchange", {"call_id": call_id, "fields": parts.fields_id, "last": parts.last,
                                     "reply": answer})
        self._recent.keep(key, parts.nodes)
        return call_id

    def calls(self, run_id: str, after: int = 0) -> list[CallRow]:
        """The calls of a run that ended after the call with id `after`, in the order in which they ended."""
        rows = self._read("select * from call where run_id = ? and id > ? order by id", run_id, after)
        return [CallRow(**row) for row in rows]

    def totals(self, run_id: str) -> Totals:
        return totals_of(self._read(f"select {SUMS} from call where run_id = ?", run_id)[0])

    def exchange(self, call_id: int) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Request and reply of a call as they were; the reply is None where none came."""
        rows = self._read("select content, last, reply from exchange join fields on fields.id = exchange.fields "
                          "where call_id = ?", call_id)
        if not rows:
            raise StoreError(f"Call {call_id} is not in the run store; its run may have been deleted.")
        content, last, reply = rows[0]
        messages = None if last is None else [row["message"] for row in self._read(_CONVERSATION, last)]
        return put_together(content, messages), None if reply is None else json.loads(reply)

    def replies(self, run_id: str, step: str) -> list[tuple[str, dict[str, Any]]]:
        """(subject, reply) of the run's answered calls of a step, in the order in which they ended."""
        rows = self._read("select subject, reply from call join exchange on call_id = call.id where run_id = ? and "
                          "step = ? and error = '' and reply is not null order by call.id", run_id, step)
        return [(row["subject"], json.loads(row["reply"])) for row in rows]

    def finished(self, run_id: str, request: dict[str, Any], until: int) -> list[tuple[int, dict[str, Any]]]:
        """Id and reply of the run's answered calls that made just this request, up to the call id `until`."""
        parts = take_apart(request)
        rows = self._read(
            """select call.id, reply from exchange join call on call.id = call_id
               where last is ? and fields = ? and run_id = ? and call.id <= ? and error = '' and reply is not null
               order by call.id""", parts.last, parts.fields_id, run_id, until)
        return [(row["id"], json.loads(row["reply"])) for row in rows]

    def answers_of_others(self, run: Run, request: dict[str, Any], desk: str | None = None) -> list[Answer]:
        """What other runs with the same source and connection were answered to just this request, latest first; with
        `desk`, only runs started from it. Nothing when the run has an answer of its own. Runs that were opened from a
        recording do not count: a stranger may have written those."""
        parts = take_apart(request)
        rows = self._read(
            """select run.id, reply, conditions from exchange
               join call on call.id = call_id join run on run.id = run_id
               where last is ? and fields = ? and call.error = '' and reply is not null
               and (run.id = ? or (source = ? and connection = ? and origin = '' and (? is null or desk = ?)))
               order by call.id desc""",
            parts.last, parts.fields_id, run.id, run.source, run.connection, desk, desk)
        if any(row["id"] == run.id for row in rows):
            return []
        return [Answer(json.loads(row["reply"]), row["conditions"]) for row in rows]

    def last_call(self, run_id: str) -> int:
        """The id of the call that ended last; 0 when there is none."""
        return self._read("select coalesce(max(id), 0) from call where run_id = ?", run_id)[0][0]

    # --- what is kept, and deleting it

    def counts(self, desk: str | None = None) -> dict[str, int]:
        """How many runs, calls and data sets are kept; with `desk`, of its runs."""
        if desk is None:
            found = self._read("select (select count(*) from run), (select count(*) from call), count(*) from data")
        else:
            found = self._read("select count(distinct run.id), count(call.id), count(distinct data_id) from run "
                               "left join call on call.run_id = run.id where desk = ?", desk)
        return dict(zip(("runs", "calls", "data"), found[0], strict=True))

    def weight(self, run_ids: Sequence[str]) -> int:
        """Bytes of what these runs keep: messages, replies, reports. Other runs may hold some of the messages, too."""
        return self._read(_WEIGHT, json.dumps(list(run_ids)))[0][0]

    def delete_run(self, run_id: str) -> None:
        """Deletes a run with its calls, and every message and data set that nothing else refers to."""
        self.delete_runs([run_id])

    def delete_runs(self, run_ids: Sequence[str]) -> None:
        """Deletes runs as `delete_run` does, in one go: all of them, or none."""
        with self._writing() as db:
            db.executemany("delete from run where id = ?", [[run_id] for run_id in run_ids])
            db.execute(_DELETE_UNUSED_NODES)
            db.execute("delete from fields where id not in (select fields from exchange)")
            forget_unused_data(db)
        self._recent.clear()
        self._shrink()

    def delete_everything(self) -> None:
        """Deletes all runs, data sets, desks and saved designs."""
        with self._writing() as db:
            for table in ("run", "node", "fields", "data", "desk", "design"):
                db.execute(f"delete from {table}")
        self._recent.clear()
        self._shrink()


_WEIGHT = """with recursive
    made(id) as (select id from call where run_id in (select value from json_each(?1))),
    used(id) as (select last from exchange where call_id in (select id from made) and last is not null
                 union select parent from node join used on node.id = used.id)
    select (select coalesce(sum(length(message)), 0) from node where id in (select id from used))
         + (select coalesce(sum(length(reply)), 0) from exchange where call_id in (select id from made))
         + (select coalesce(sum(length(report) + length(design)), 0) from run
            where id in (select value from json_each(?1)))"""

_CONVERSATION = """with recursive back(id, depth) as (
        select ?, 0 union all select node.parent, depth + 1 from node join back on node.id = back.id)
    select message from back join node on node.id = back.id order by depth desc"""

_DELETE_UNUSED_NODES = """delete from node where id not in (
    with recursive used(id) as (
        select last from exchange where last is not null
        union select parent from node join used on node.id = used.id)
    select id from used)"""


def _insert_parts(db: sqlite3.Connection, parts: Parts) -> None:
    insert(db, "fields", {"id": parts.fields_id, "content": to_json(parts.fields)}, "or ignore")
    db.executemany("insert or ignore into node (id, parent, message) values (?, ?, ?)",
                   [(node.id, node.parent, node.text) for node in parts.new])
