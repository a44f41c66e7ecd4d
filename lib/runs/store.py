"""The run store: runs, their calls with the exact requests and replies, data sets and desks, in one SQLite file.

Every finished call is in here before anybody sees its reply. Nothing here computes a price or runs anything.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from lib.errors import StoreError
from lib.messages import utf8
from lib.runs.conversations import Parts, Recent, put_together, take_apart, to_json
from lib.runs.schema import open_database


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


class Store:
    """The store in the file at `path`; its folder is made when missing. Safe to share between threads, and several
    processes may have the same file open. Every method raises StoreError when the file cannot be read or written."""

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

    def finished(self, run_id: str, request: dict[str, Any], until: int) -> list[tuple[int, dict[str, Any]]]:
        """Id and reply of the run's answered calls that made just this request, up to the call id `until`."""
        parts = take_apart(request)
        rows = self._read(
            """select call.id, reply from exchange join call on call.id = call_id
               where last is ? and fields = ? and run_id = ? and call.id <= ? and error = '' and reply is not null
               order by call.id""", parts.last, parts.fields_id, run_id, until)
        return [(row["id"], json.loads(row["reply"])) for row in rows]

    def last_call(self, run_id: str) -> int:
        """The id of the call that ended last; 0 when there is none."""
        return self._read("select coalesce(max(id), 0) from call where run_id = ?", run_id)[0][0]

    # --- deleting

    def delete_run(self, run_id: str) -> None:
        """Deletes a run with its calls, and every message and data set that nothing else refers to."""
        with self._writing() as db:
            db.execute("delete from run where id = ?", [run_id])
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

    def size_bytes(self) -> int:
        """What the store takes on disk."""
        files = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    # --- data sets and desks

    def save_data(self, tickets_json: str, catalog: bytes | None, name: str) -> str:
        """Keeps tickets and a product database; the same content gets the same id. Forgets data sets out of use."""
        tickets = tickets_json.encode("utf-8", "surrogatepass")
        data_id = hashlib.sha256(b"%d:%b%b" % (len(tickets), tickets, catalog or b"")).hexdigest()[:16]
        with self._writing() as db:
            _insert(db, "data", {"id": data_id, "name": _text(name), "tickets": tickets, "catalog": catalog},
                    "or ignore")
            db.execute("update data set saved = ? where id = ?", [time.time(), data_id])
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

    def load_data(self, data_id: str) -> tuple[str, bytes | None]:
        """The tickets' JSON and the product database. Raises StoreError for an unknown id."""
        rows = self._read("select tickets, catalog from data where id = ?", data_id)
        if not rows:
            raise StoreError(f"Data set {data_id} is not in the run store; upload the files again.")
        return rows[0]["tickets"].decode("utf-8", "surrogatepass"), rows[0]["catalog"]

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
        """Gives freed pages back to the file system, so that what was deleted is gone from the file too."""
        self._read("pragma incremental_vacuum")
        self._read("pragma wal_checkpoint(truncate)")


_UNUSED_FOR = 3600.0        # seconds until a data set that nothing refers to is forgotten

_SUMS = """count(*) as calls,
    sum(fresh + write_5m + write_1h + cache_read) as input, sum(output) as output, sum(usd) as usd,
    coalesce(sum(usd is null), 0) as unpriced,
    coalesce(sum((error = '' or usd is not 0) and fresh + write_5m + write_1h + cache_read + output is null), 0)
        as unreported,
    coalesce(sum(error != ''), 0) as errors,
    min(started) as first_started, max(started + seconds) as last_ended,
    coalesce(sum(attempts), 0) as attempts, coalesce(sum(waited), 0.0) as waited,
    coalesce(sum(cached), 0) as cached"""

_CONVERSATION = """with recursive back(id, depth) as (
        select ?, 0 union all select node.parent, depth + 1 from node join back on node.id = back.id)
    select message from back join node on node.id = back.id order by depth desc"""

_DELETE_UNUSED_NODES = """delete from node where id not in (
    with recursive used(id) as (
        select last from exchange where last is not null
        union select parent from node join used on node.id = used.id)
    select id from used)"""


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


def _run(row: Mapping[str, Any] | sqlite3.Row) -> Run:
    return Run(**{name: json.loads(row[name]) if _RUN_KINDS[name] == "dict" and row[name] is not None else row[name]
                  for name in row.keys()})


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
