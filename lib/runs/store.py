"""The run store: runs, their calls with the exact requests and replies, data sets and desks, in one SQLite file.

Every finished call is in here before anybody sees its reply. Nothing here computes a price or runs anything.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from lib.errors import StoreError
from lib.messages import utf8
from lib.runs.conversations import Parts, Recent, put_together, take_apart, to_json
from lib.runs.packing import id_of, packed, text_of, tickets_in
from lib.runs.schema import BUSY_SECONDS, MEMORY, open_database

SIMULATED_ANSWERS = "simulated answers"     # conditions of a run over a server that simulates them


@dataclass(frozen=True)
class Run:
    id: str
    group: str                  # runs started together, to be compared
    shape: str                  # pipeline | agent
    status: str                 # queued | running | done | stopped | failed | interrupted
    source: str                 # simulated | live | server | replay
    connection: str             # shown name of where the calls went; never a key
    design: dict[str, Any]
    data_id: str
    created: float              # seconds since 1970, as are started and ended
    started: float | None = None
    ended: float | None = None
    error: str = ""
    report: dict[str, Any] | None = None
    prices: dict[str, Any] = field(default_factory=dict)    # as they were when the run began
    desk: str = ""
    title: str = ""
    conditions: str = ""        # what the simulated API was told to do while it answered, in words; "" for nothing
    note: str = ""              # what a person wrote about it
    origin: str = ""            # who answered first, of a replay or of a run opened from a recording; "" for neither
    payer: str = ""             # "owner" where the key of a shared playground's owner was used


@dataclass(frozen=True)
class CallRow:
    """One call. Tokens are None where the server did not report them; an unknown number is never 0."""

    id: int                     # 0 until the store has given it one; ids rise in the order in which calls ended
    run_id: str
    step: str
    subject: str
    model: str
    started: float
    seconds: float              # from its beginning to its end, waiting included
    stop_reason: str | None
    fresh: int | None           # input tokens that were neither written to nor read from the cache
    write_5m: int | None
    write_1h: int | None
    cache_read: int | None
    output: int | None
    thinking: int | None        # part of output
    usd: float | None           # None: no price known; 0.0 on a failed call: the server refused it and bills nothing
    attempts: int = 1           # HTTP requests that were sent for it
    error: str = ""
    waited: float = 0.0         # of `seconds`, those in which it was not sent because the server was busy
    cached: int = 0             # 1: nothing was sent, an earlier run's reply to the same request was taken, for nothing

    @property
    def worked(self) -> float:
        """Seconds in which something was done for it."""
        return self.seconds - self.waited

    @property
    def input(self) -> int | None:
        parts = (self.fresh, self.write_5m, self.write_1h, self.cache_read)
        return None if None in parts else sum(parts)

    @property
    def billed(self) -> bool | None:
        """Whether it costs anything; None for a failed call that may have been billed, such as a lost connection."""
        if not self.error:
            return True
        return False if self.usd == 0 else None


@dataclass(frozen=True)
class Totals:
    """Sums over calls. A sum covers what is known of it and is None when calls were made and nothing is."""

    calls: int
    input: int | None
    output: int | None
    usd: float | None
    unpriced: int               # calls that `usd` leaves out
    unreported: int             # calls that `input` or `output` leaves out, those refused unbilled not counted
    errors: int
    first_started: float | None
    last_ended: float | None
    attempts: int = 0           # HTTP requests, those that the server turned away included
    waited: float = 0.0         # seconds of all calls together, at no tokens
    cached: int = 0             # calls that were answered by an earlier run's reply; their tokens are in the sums


@dataclass(frozen=True)
class Wanted:
    """Which runs of the history are wanted; "" stands for any."""

    text: str = ""              # words that are all somewhere in title, data, design's name, models, note, origin …
    shape: str = ""
    status: str = ""
    source: str = ""


@dataclass(frozen=True)
class Listed:
    """A run in the history. The `report` of `run` is left out (None): it may hold thousands of tickets."""

    run: Run
    totals: Totals
    number: int                 # of its group, counted from the first one that is still there
    data_name: str | None       # None: its data are gone


@dataclass(frozen=True)
class Answer:
    """What another run was answered, and that run's conditions."""

    reply: dict[str, Any]
    conditions: str


@dataclass(frozen=True)
class Exchange:
    """A call with what was asked and answered, as the store keeps both."""

    row: CallRow
    fields: bytes               # id of what its request holds beside the messages
    last: bytes | None          # id of its last message, as `conversations.Parts.last`
    reply: str | None           # JSON; None where none came


class Asked(NamedTuple):
    """When a call was made, and its request by the ids of its parts."""

    call_id: int
    run_id: str
    last: bytes | None
    fields: bytes
    started: float
    seconds: float


@dataclass(frozen=True)
class Recorded:
    """All that the store holds of some runs: messages, fields and data sets once each, by their ids."""

    runs: list[Run]
    calls: list[Exchange]                           # in the order in which they ended
    fields: dict[bytes, str]                        # JSON
    nodes: dict[bytes, tuple[bytes, str]]           # id of the message before it, and JSON
    data: dict[str, tuple[str, str, bytes | None]]  # name, the tickets' JSON, the product database


class Store:
    """The store in the file at `path`; its folder is made when missing. ":memory:" keeps nothing on disk. Safe to share
    between threads, and several processes may have the same file open. Every method raises StoreError when the file
    cannot be read or written."""

    # One connection behind a lock. Workers and page scripts run on short-lived threads, so a connection per thread
    # would be opened over and over; SQLite lets one writer in at a time anyway, and a write takes well under 1 ms.

    def __init__(self, path: Path | str):
        self.path = Path(path)
        self._db = open_database(self.path)
        self._lock = threading.RLock()
        self._recent = Recent()

    def close(self) -> None:
        with self._lock:
            self._db.close()

    @property
    def _in_memory(self) -> bool:
        return str(self.path) == MEMORY

    # --- runs

    def add_run(self, run: Run) -> None:
        with self._writing() as db:
            _insert(db, "run", _cells(run))

    def update_run(self, run_id: str, **changes: Any) -> bool:
        """Sets fields of a run; False when it is not (or no longer) in the store."""
        sets = ", ".join(f'"{name}" = ?' for name in changes)
        cells = [_cell(_RUN_KINDS[name], value) for name, value in changes.items()]
        with self._writing() as db:
            return db.execute(f"update run set {sets} where id = ?", [*cells, run_id]).rowcount == 1

    def run(self, run_id: str) -> Run | None:
        found = self._read("select * from run where id = ?", run_id)
        return _run(found[0]) if found else None

    def runs(self, desk: str | None = None, limit: int = 50) -> list[Run]:
        """Newest first; with `desk`, only the runs started from it."""
        rows = self._read("select * from run where ? is null or desk = ? order by created desc, rowid desc limit ?",
                          desk, desk, limit)
        return [_run(row) for row in rows]

    def history(self, desk: str | None = None, limit: int = 500) -> list[tuple[Run, Totals]]:
        """Runs with the sums over their calls, newest first; with `desk`, only the runs started from it. Their `report`
        is left out (None): it may hold thousands of tickets."""
        columns = ", ".join(f'"{name}"' for name in _RUN_KINDS if name != "report")
        rows = self._read(
            f"""with chosen as (select {columns}, rowid as place from run where ? is null or desk = ?
                                order by created desc, place desc limit ?)
                select {columns}, summed.* from chosen left join (
                    select run_id, {_SUMS} from call where run_id in (select id from chosen) group by run_id) as summed
                on summed.run_id = chosen.id order by created desc, place desc""", desk, desk, limit)
        return [(_run({name: row[name] for name in _RUN_KINDS if name != "report"}), _summed(row)) for row in rows]

    def listed(self, wanted: Wanted, desk: str | None = None, limit: int = 200, offset: int = 0) -> list[Listed]:
        """A part of the history, newest first; with `desk`, only of the runs started from it."""
        where, values = _where(wanted, desk)
        return self._listed(f"{where} order by created desc, run.rowid desc limit ? offset ?",
                            [*values, limit, offset], desk)

    def listed_runs(self, run_ids: Sequence[str], desk: str | None = None) -> list[Listed]:
        """These runs as the history lists them, newest first; without those that are gone or of another desk."""
        where, values = _where(Wanted(), desk)
        return self._listed(f"{where} and run.id in (select value from json_each(?))",
                            [*values, json.dumps(list(run_ids))], desk)

    def how_many(self, wanted: Wanted, desk: str | None = None) -> int:
        """How many runs the whole history would list."""
        where, values = _where(wanted, desk)
        joined = _WITH_DATA if wanted.text else ""      # without it SQLite counts in an index
        return self._read(f"select count(*) from run {joined} where {where}", *values)[0][0]

    def _listed(self, chosen: str, values: Sequence[Any], desk: str | None) -> list[Listed]:
        columns = ", ".join(f'run."{name}"' for name in _RUN_KINDS if name != "report")
        of_desk, desks = ("", []) if desk is None else ("where desk = ?", [desk])
        rows = self._read(
            f"""with chosen as (select {columns}, run.rowid as place, data.name as data_name
                                from run {_WITH_DATA} where {chosen}),
                numbered as (select "group", row_number() over (order by min(rowid)) as number
                             from run {of_desk} group by "group")
                select chosen.*, number, summed.* from chosen left join numbered using ("group") left join (
                    select run_id, {_SUMS} from call where run_id in (select id from chosen) group by run_id) as summed
                on summed.run_id = chosen.id order by created desc, place desc""", *values, *desks)
        read: dict[str, Any] = {}       # each different text once: most runs have the same design, prices always do
        return [Listed(_run({name: row[name] for name in _RUN_KINDS if name != "report"}, read), _summed(row),
                       row["number"], row["data_name"]) for row in rows]

    def group(self, group_id: str) -> list[Run]:
        """The runs of a group, in the order in which they were added."""
        return [_run(row) for row in self._read('select * from run where "group" = ? order by rowid', group_id)]

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
            call_id = _insert(db, "call", {**_cells(row), "id": None})
            _insert_parts(db, parts)
            _insert(db, "exchange", {"call_id": call_id, "fields": parts.fields_id, "last": parts.last,
                                     "reply": answer})
        self._recent.keep(key, parts.nodes)
        return call_id

    def calls(self, run_id: str, after: int = 0) -> list[CallRow]:
        """The calls of a run that ended after the call with id `after`, in the order in which they ended."""
        rows = self._read("select * from call where run_id = ? and id > ? order by id", run_id, after)
        return [CallRow(**row) for row in rows]

    def totals(self, run_id: str) -> Totals:
        return _totals(self._read(f"select {_SUMS} from call where run_id = ?", run_id)[0])

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

    # --- deleting

    def delete_run(self, run_id: str) -> None:
        """Deletes a run with its calls, and every message and data set that nothing else refers to."""
        self.delete_runs([run_id])

    def delete_runs(self, run_ids: Sequence[str]) -> None:
        """Deletes runs as `delete_run` does, in one go: all of them, or none."""
        with self._writing() as db:
            db.executemany("delete from run where id = ?", [[run_id] for run_id in run_ids])
            db.execute(_DELETE_UNUSED_NODES)
            db.execute("delete from fields where id not in (select fields from exchange)")
            _forget_unused_data(db)
        self._recent.clear()
        self._shrink()

    def delete_everything(self) -> None:
        """Deletes all runs, data sets and desks."""
        with self._writing() as db:
            for table in ("run", "node", "fields", "data", "desk"):
                db.execute(f"delete from {table}")
        self._recent.clear()
        self._shrink()

    def weight(self, run_ids: Sequence[str]) -> int:
        """Bytes of what these runs keep: messages, replies, reports. Other runs may hold some of the messages, too."""
        return self._read(_WEIGHT, json.dumps(list(run_ids)))[0][0]

    def ids(self, desk: str | None = None, working: bool = False) -> list[str]:
        """The ids of all runs, or of those at work; with `desk`, only of the runs started from it."""
        where = ["status in ('queued', 'running')"] * working + ["desk = ?"] * (desk is not None)
        rows = self._read(f"select id from run where {' and '.join(where) or 1}", *[desk] * (desk is not None))
        return [row["id"] for row in rows]

    def counts(self, desk: str | None = None) -> dict[str, int]:
        """How many runs, calls and data sets are kept; with `desk`, of its runs."""
        if desk is None:
            found = self._read("select (select count(*) from run), (select count(*) from call), count(*) from data")
        else:
            found = self._read("select count(distinct run.id), count(call.id), count(distinct data_id) from run "
                               "left join call on call.run_id = run.id where desk = ?", desk)
        return dict(zip(("runs", "calls", "data"), found[0], strict=True))

    def size_bytes(self) -> int:
        """What the store takes on disk; what it takes in memory where nothing is kept on disk."""
        if self._in_memory:
            return self._read("select page_count * page_size from pragma_page_count, pragma_page_size")[0][0]
        files = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    # --- what was spent of the key of a shared playground's owner

    def spend(self, desk: str, at: float, usd: float) -> int:
        """Notes dollars that a desk spends from the moment `at` on. Returns an id for `settle`. Forgets what is older
        than two days."""
        with self._writing() as db:
            db.execute("delete from spending where at < ?", [at - _SPENDING_KEPT])
            return _insert(db, "spending", {"desk": _text(desk), "at": float(at), "usd": float(usd)})

    def settle(self, spending: int, usd: float) -> None:
        """What it was in the end."""
        with self._writing() as db:
            db.execute("update spending set usd = ? where id = ?", [float(usd), spending])

    def spent(self, since: float, desk: str | None = None) -> float:
        """Dollars since a moment, of one desk or of all."""
        return self._read("select coalesce(sum(usd), 0.0) from spending where at > ? and (? is null or desk = ?)",
                          since, desk, desk)[0][0]

    # --- data sets and desks

    def save_data(self, tickets_json: str | Iterable[str], catalog: bytes | None, name: str) -> str:
        """Keeps tickets and a product database; the same content gets the same id. Forgets data sets out of use.

        The pieces of `TicketSet.json_pieces` are packed one by one: all at once a large set takes its memory twice.
        """
        content = packed(tickets_json)
        data_id = id_of(content, catalog)
        with self._writing() as db:
            _insert_data(db, data_id, name, content, catalog)
            _forget_unused_data(db)
        return data_id

    def has_data(self, data_id: str) -> bool:
        return bool(self._read("select 1 from data where id = ?", data_id))

    def forget_unused_data(self) -> None:
        """Deletes the data sets that no run and no desk refers to, save those of the last hour: whoever chose one just
        now has perhaps not kept the choice yet."""
        with self._writing() as db:
            _forget_unused_data(db)
        self._shrink()

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

    def save_desk(self, desk_id: str, content: dict[str, Any]) -> None:
        with self._writing() as db:
            _insert(db, "desk", {"id": _text(desk_id), "content": to_json(content), "saved": time.time()}, "or replace")

    def load_desk(self, desk_id: str) -> dict[str, Any] | None:
        rows = self._read("select content from desk where id = ?", desk_id)
        return _desk(rows[0]["content"]) if rows else None

    def latest_desk(self) -> str | None:
        """The id of the desk that was saved last."""
        rows = self._read("select id from desk order by saved desc, rowid desc limit 1")
        return rows[0]["id"] if rows else None

    def hand_over_desk(self, old_id: str, new_id: str) -> None:
        """What was on a desk, and its runs, are the new desk's from now on; the old one is gone."""
        with self._writing() as db:
            db.execute("update desk set id = ? where id = ?", [new_id, _text(old_id)])
            db.execute("update run set desk = ? where desk = ?", [new_id, _text(old_id)])
            db.execute("update spending set desk = ? where desk = ?", [new_id, _text(old_id)])

    # --- recordings

    def recorded(self, run_ids: Sequence[str]) -> Recorded:
        """All of these runs, as it is at one moment; without those that are gone."""
        wanted = json.dumps(list(run_ids))
        with self._lock, self._speaking_plainly():
            self._db.execute("begin")
            try:
                runs, calls, texts, nodes, data = (self._db.execute(sql, [wanted]).fetchall() for sql in _RECORDED)
            finally:
                self._db.execute("rollback")
        found = [_run(row) for row in runs]
        return Recorded(
            sorted(found, key=lambda run: run_ids.index(run.id)),
            [Exchange(CallRow(**{name: row[name] for name in _CALL_KINDS}), row["fields"], row["last"], row["reply"])
             for row in calls],
            {row["id"]: row["content"] for row in texts},
            {row["id"]: (row["parent"], row["message"]) for row in nodes},
            {row["id"]: (row["name"], text_of(row["tickets"]), row["catalog"]) for row in data})

    def add_recorded(self, recorded: Recorded) -> None:
        """Adds runs with all that belongs to them, or nothing at all."""
        with self._writing() as db:
            for data_id, (name, tickets_json, catalog) in recorded.data.items():
                _insert_data(db, data_id, name, packed(tickets_json), catalog)
            for run in recorded.runs:
                _insert(db, "run", _cells(run))
            db.executemany("insert or ignore into fields values (?, ?)", recorded.fields.items())
            db.executemany("insert or ignore into node values (?, ?, ?)",
                           ((node_id, *node) for node_id, node in recorded.nodes.items()))
            for call in recorded.calls:
                call_id = _insert(db, "call", {**_cells(call.row), "id": None})
                _insert(db, "exchange", {"call_id": call_id, "fields": call.fields, "last": call.last,
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
        return (CallRow(**{name: rows[0][name] for name in _CALL_KINDS}), rows[0]["reply"]) if rows else None

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

    # --- the connection

    def _read(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        with self._lock, self._speaking_plainly():
            return self._db.execute(sql, values).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
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


_UNUSED_FOR = 3600.0        # seconds until a data set that nothing refers to is forgotten
_SPENDING_KEPT = 2 * 86400.0    # seconds
_PAGES_AT_ONCE = 2_000      # given back while others wait: 8 MB
_PATIENCE = 500             # milliseconds that emptying the log waits for other processes

_SUMS = """count(*) as calls,
    sum(fresh + write_5m + write_1h + cache_read) as input, sum(output) as output, sum(usd) as usd,
    coalesce(sum(usd is null), 0) as unpriced,
    coalesce(sum((error = '' or usd is not 0) and fresh + write_5m + write_1h + cache_read + output is null), 0)
        as unreported,
    coalesce(sum(error != ''), 0) as errors,
    min(started) as first_started, max(started + seconds) as last_ended,
    coalesce(sum(attempts), 0) as attempts, coalesce(sum(waited), 0.0) as waited,
    coalesce(sum(cached), 0) as cached"""

_WITH_DATA = "left join data on data.id = run.data_id"
_WORDS = 12             # of a search text; more are left out
# Text is compared without case where it is ASCII, as SQLite does.
_SEARCHED = ("run.title", "data.name", "run.note", "run.origin", "run.connection", "run.source", "run.conditions",
             "run.status", "run.shape")
# subtle: the limit makes SQLite look at each different design once, however many runs have it
_DESIGNED = """run.design in (select design from (select distinct design from run limit -1)
    where json_extract(design, '$.name') like ? escape '\\' or exists (
        select 1 from json_each(design, '$.steps') where json_extract(value, '$.model') like ? escape '\\'))"""


def _where(wanted: Wanted, desk: str | None) -> tuple[str, list[Any]]:
    """The condition that rows of `run`, joined with their data where a text is wanted, have to meet; and its values."""
    parts, values = ["1"], []
    for column in ("shape", "status", "source"):
        if value := getattr(wanted, column):
            parts, values = [*parts, f"run.{column} = ?"], [*values, value]
    if desk is not None:
        parts, values = [*parts, "run.desk = ?"], [*values, desk]
    for word in wanted.text.split()[:_WORDS]:
        like = f"%{_unlike(utf8(word))}%"
        found = [f"{column} like ? escape '\\'" for column in _SEARCHED]
        parts.append(f"({' or '.join(found)} or {_DESIGNED})")
        values += [*[like] * (len(found) + 1), like.replace(".", "-")]      # Haiku 5.5 is claude-haiku-5-5
    return " and ".join(parts), values


def _unlike(word: str) -> str:
    """The word as `like` finds it literally."""
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


_WEIGHT = """with recursive
    made(id) as (select id from call where run_id in (select value from json_each(?1))),
    used(id) as (select last from exchange where call_id in (select id from made) and last is not null
                 union select parent from node join used on node.id = used.id)
    select (select coalesce(sum(length(message)), 0) from node where id in (select id from used))
         + (select coalesce(sum(length(reply)), 0) from exchange where call_id in (select id from made))
         + (select coalesce(sum(length(report) + length(design)), 0) from run
            where id in (select value from json_each(?1)))"""

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

_CONVERSATION = """with recursive back(id, depth) as (
        select ?, 0 union all select node.parent, depth + 1 from node join back on node.id = back.id)
    select message from back join node on node.id = back.id order by depth desc"""

_DELETE_UNUSED_NODES = """delete from node where id not in (
    with recursive used(id) as (
        select last from exchange where last is not null
        union select parent from node join used on node.id = used.id)
    select id from used)"""


def data_id_of(tickets_json: str | Iterable[str], catalog: bytes | None) -> str:
    """The id that `save_data` gives a data set."""
    return id_of(packed(tickets_json), catalog)


def _insert_data(db: sqlite3.Connection, data_id: str, name: str, content: bytes, catalog: bytes | None) -> None:
    if db.execute("select 1 from data where id = ?", [data_id]).fetchone():
        db.execute("update data set saved = ? where id = ?", [time.time(), data_id])
    else:       # at once: an update would write a large row a second time
        _insert(db, "data", {"id": data_id, "name": _text(name), "catalog": catalog, "tickets": content,
                             "saved": time.time()})


def _forget_unused_data(db: sqlite3.Connection) -> None:
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


def _summed(row: sqlite3.Row) -> Totals:
    """Of a run in a list of several; its columns are empty where it has no calls yet."""
    zeros = {"calls": 0, "unpriced": 0, "unreported": 0, "errors": 0, "attempts": 0, "waited": 0.0, "cached": 0}
    return _totals({name: zeros.get(name) if row[name] is None else row[name] for name in _TOTAL_NAMES})


def _totals(row: Mapping[str, Any]) -> Totals:
    known = {name: row[name] for name in _TOTAL_NAMES}
    for name, missing in (("input", "unreported"), ("output", "unreported"), ("usd", "unpriced")):
        if known[name] is None and not known[missing]:
            known[name] = 0
    if known["unpriced"] and not known["usd"]:
        known["usd"] = None     # all that is known of is what was refused for nothing
    return Totals(**known)


def _run(row: Mapping[str, Any] | sqlite3.Row, read: dict[str, Any] | None = None) -> Run:
    """`read` keeps what was read of JSON texts, so that equal ones become one and the same object."""
    def value(name: str) -> Any:
        text = row[name]
        if text is None or _RUN_KINDS[name] != "dict":
            return text
        if read is None:
            return json.loads(text)
        if text not in read:
            read[text] = json.loads(text)
        return read[text]
    return Run(**{name: value(name) for name in row.keys()})


def _insert_parts(db: sqlite3.Connection, parts: Parts) -> None:
    _insert(db, "fields", {"id": parts.fields_id, "content": to_json(parts.fields)}, "or ignore")
    db.executemany("insert or ignore into node (id, parent, message) values (?, ?, ?)",
                   [(node.id, node.parent, node.text) for node in parts.new])


def _insert(db: sqlite3.Connection, table: str, cells: dict[str, Any], conflict: str = "") -> int:
    names = ", ".join(f'"{name}"' for name in cells)
    marks = ", ".join("?" * len(cells))
    return db.execute(f"insert {conflict} into {table} ({names}) values ({marks})", list(cells.values())).lastrowid


def _kinds(row_type: type) -> dict[str, str]:
    """Column → str, int, float or dict, as the dataclass says."""
    return {f.name: f.type.split("[")[0].split(" ")[0] for f in fields(row_type)}


_RUN_KINDS = _kinds(Run)
_CALL_KINDS = _kinds(CallRow)
_TOTAL_NAMES = tuple(f.name for f in fields(Totals))


def _cells(row: Run | CallRow) -> dict[str, Any]:
    kinds = _RUN_KINDS if isinstance(row, Run) else _CALL_KINDS
    return {name: _cell(kind, getattr(row, name)) for name, kind in kinds.items()}


def _cell(kind: str, value: Any) -> Any:
    """The value as SQLite is to keep it: a numpy integer would become a blob, an id of 20 digits overflow."""
    return None if value is None else {"str": _text, "int": int, "float": float, "dict": to_json}[kind](value)


def _text(value: Any) -> str:
    """Text that a database takes; a lone surrogate becomes U+FFFD."""
    return utf8(str(value))
