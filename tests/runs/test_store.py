"""The run store: nothing is lost, nothing grows out of hand, and what comes out is what went in."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lib.errors import PlaygroundError, StoreError
from lib.runs.schema import LARGEST_LOG, MIGRATIONS, open_database
from lib.runs.store import CallRow, Run, Store, Totals

ROOT = Path(__file__).resolve().parents[2]
REPLY = {"id": "msg_1", "role": "assistant", "content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn"}


@pytest.fixture
def store(tmp_path: Path):
    opened = Store(tmp_path / "runs.sqlite")
    yield opened
    opened.close()


def run(run_id: str = "r1", **fields) -> Run:
    return Run(**{"id": run_id, "group": "g1", "shape": "agent", "status": "running", "source": "simulated",
                  "connection": "Simulated", "design": {"k": 5}, "data_id": "d1", "created": 1.0, **fields})


def row(run_id: str = "r1", **fields) -> CallRow:
    return CallRow(**{"id": 0, "run_id": run_id, "step": "agent", "subject": "", "model": "claude-haiku-5-5",
                      "started": 10.0, "seconds": 2.0, "stop_reason": "end_turn", "fresh": 10, "write_5m": 0,
                      "write_1h": 0, "cache_read": 0, "output": 1, "thinking": None, "usd": 0.001, **fields})


def request(*texts: str, **fields) -> dict:
    messages = [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(texts)]
    return {"model": "m", "max_tokens": 10, "system": "Be brief.", "messages": messages, **fields}


def look(store: Store, sql: str) -> list:
    with sqlite3.connect(store.path) as db:
        return db.execute(sql).fetchall()


# --- opening


def test_making_a_store_makes_its_folder(tmp_path: Path):
    Store(tmp_path / "new" / "deep" / "runs.sqlite").close()
    assert (tmp_path / "new" / "deep" / "runs.sqlite").is_file()


def test_the_file_is_in_wal_mode_at_the_latest_version(store: Store):
    assert look(store, "pragma journal_mode") == [("wal",)]
    assert look(store, "pragma user_version") == [(len(MIGRATIONS),)]


def test_a_store_opens_again_with_what_it_held(tmp_path: Path):
    first = Store(tmp_path / "runs.sqlite")
    first.add_run(run())
    first.close()
    assert Store(tmp_path / "runs.sqlite").run("r1") == run()


def make_text(path: Path) -> None:
    path.write_text("ticket_id,subject\n" * 100)


def make_other_database(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("create table products (id)")


def make_newer(path: Path) -> None:
    Store(path).close()
    with sqlite3.connect(path) as db:
        db.execute("pragma user_version = 999")


@pytest.mark.parametrize("make, says", [
    (make_text, "not a database"), (make_other_database, "something else"), (make_newer, "newer version"),
    (Path.mkdir, "unable to open"),
])
def test_a_file_that_is_no_store_is_one_clear_line_and_left_alone(tmp_path: Path, make, says: str):
    path = tmp_path / "odd"
    make(path)
    before = None if path.is_dir() else path.read_bytes()
    with pytest.raises(StoreError, match=says) as caught:
        Store(path)
    assert isinstance(caught.value, PlaygroundError) and str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.is_dir() or path.read_bytes() == before


def test_a_folder_that_cannot_be_made_is_a_store_error(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be used"):
        Store(tmp_path / "file" / "runs.sqlite")


# --- runs


def test_a_run_comes_back_as_it_was(store: Store):
    full = run(started=2.0, ended=3.5, error="", report={"causes": ["ü"]}, prices={"models": {}}, desk="k", title="T")
    store.add_run(full)
    assert store.run("r1") == full


def test_an_unknown_run_is_none(store: Store):
    assert store.run("nope") is None
    assert store.update_run("nope", status="done") is False


def test_fields_of_a_run_can_be_set(store: Store):
    store.add_run(run())
    assert store.update_run("r1", status="done", report={"k": 5}, ended=9.0)
    assert store.run("r1") == run(status="done", report={"k": 5}, ended=9.0)


def test_a_status_nobody_knows_is_refused(store: Store):
    with pytest.raises(StoreError):
        store.add_run(run(status="finnished"))
    assert store.run("r1") is None


def test_runs_come_newest_first_and_can_be_those_of_one_desk(store: Store):
    for i, desk in enumerate(["a", "b", "a"]):
        store.add_run(run(f"r{i}", created=float(i), desk=desk))
    assert [r.id for r in store.runs()] == ["r2", "r1", "r0"]
    assert [r.id for r in store.runs(desk="a")] == ["r2", "r0"]
    assert [r.id for r in store.runs(limit=1)] == ["r2"]


def test_the_newest_run_that_ended_is_of_one_shape_data_and_desk(store: Store):
    for run_id, fields in {"old": {"created": 1.0}, "new": {"created": 2.0}, "stopped": {"status": "stopped"},
                           "other shape": {"shape": "pipeline"}, "other data": {"data_id": "d2"},
                           "other desk": {"desk": "b"}}.items():
        store.add_run(run(run_id, **{"status": "done", "desk": "a", "created": 3.0, "report": {}, **fields}))
    assert store.newest_done("agent", "d1", "a") == store.run("new")
    assert store.newest_done("agent", "d3", "a") is None


def test_a_group_keeps_its_order(store: Store):
    for name in ("z", "a"):
        store.add_run(run(name))
    store.add_run(run("other", group="g2"))
    assert [r.id for r in store.group("g1")] == ["z", "a"]


def test_what_was_going_when_the_server_died_is_interrupted(store: Store):
    for status in ("queued", "running", "done", "stopped", "failed"):
        store.add_run(run(status, status=status))
    store.add_call(row("running", started=10.0, seconds=2.0), request("hi"), REPLY)
    assert store.mark_interrupted() == 2
    assert {r.id: r.status for r in store.runs()} == {
        "queued": "interrupted", "running": "interrupted", "done": "done", "stopped": "stopped", "failed": "failed"}
    assert store.run("running").ended == 12.0 and "finished calls are kept" in store.run("running").error


# --- calls


def test_a_call_comes_back_with_its_id(store: Store):
    store.add_run(run())
    call_id = store.add_call(row(subject="T-1", thinking=3, attempts=2), request("hi"), REPLY)
    assert store.calls("r1") == [row(id=call_id, subject="T-1", thinking=3, attempts=2)]


def test_only_calls_after_a_known_one_are_given(store: Store):
    store.add_run(run())
    ids = [store.add_call(row(), request("hi"), REPLY) for _ in range(3)]
    assert [c.id for c in store.calls("r1", after=ids[0])] == ids[1:]
    assert store.last_call("r1") == ids[2] and store.last_call("r2") == 0


def test_unknown_counts_stay_unknown(store: Store):
    store.add_run(run())
    store.add_call(row(fresh=None, output=None, usd=None, stop_reason=None), request("hi"), REPLY)
    call = store.calls("r1")[0]
    assert (call.fresh, call.output, call.usd, call.stop_reason, call.input) == (None, None, None, None, None)


def test_input_is_everything_the_model_read():
    assert row(fresh=1, write_5m=20, write_1h=300, cache_read=4000).input == 4321


def test_a_call_is_billed_unless_the_server_refused_it():
    assert row().billed is True
    assert row(usd=None).billed is True
    assert row(error="RequestRefused: …", usd=0.0).billed is False
    assert row(error="ServerTrouble: timed out", usd=None).billed is None


def test_numpy_numbers_become_integers_and_long_ids_stay_text(store: Store):
    long_id = "12345678901234567890123"
    store.add_run(run())
    for subject in (long_id, int(long_id)):
        store.add_call(row(subject=subject, fresh=np.int64(7), output=np.uint8(3), seconds=np.float32(0.5),
                           attempts=np.int32(2)), request("hi"), REPLY)
    types = look(store, "select distinct typeof(fresh), typeof(output), typeof(attempts), typeof(subject), subject "
                        "from call")
    assert types == [("integer", "integer", "integer", "text", long_id)]


def test_a_lone_surrogate_in_a_row_becomes_a_replacement_character(store: Store):
    store.add_run(run())
    store.add_call(row(subject="a\ud800b"), request("hi"), REPLY)
    assert store.calls("r1")[0].subject == "a\ufffdb"


def test_a_call_of_a_deleted_run_ends_that_run(store: Store):
    with pytest.raises(StoreError, match="deleted"):
        store.add_call(row("gone"), request("hi"), REPLY)
    assert look(store, "select count(*) from node") == [(0,)]


# --- totals


def test_no_calls_total_nothing(store: Store):
    assert store.totals("r1") == Totals(0, 0, 0, 0, 0, 0, 0, None, None)


def test_totals_add_up_what_is_known_and_count_what_is_not(store: Store):
    store.add_run(run())
    store.add_call(row(fresh=10, cache_read=5, output=2, usd=0.5), request("a"), REPLY)
    store.add_call(row(fresh=None, output=3, usd=None, started=1.0), request("b"), REPLY)
    store.add_call(row(fresh=None, write_5m=None, output=None, usd=0.0, error="429"), request("c"), None)
    store.add_call(row(fresh=None, output=None, usd=None, error="lost", started=50.0, seconds=1.5), request("d"), None)
    assert store.totals("r1") == Totals(calls=4, input=15, output=5, usd=0.5, unpriced=2, unreported=2, errors=2,
                                        first_started=1.0, last_ended=51.5, attempts=4)


def test_waits_and_attempts_add_up_beside_the_tokens(store: Store):
    store.add_run(run())
    store.add_call(row(seconds=40.0, waited=37.5, attempts=3), request("a"), REPLY)
    store.add_call(row(), request("b"), REPLY)
    totals = store.totals("r1")
    assert (totals.waited, totals.attempts, totals.calls, totals.input) == (37.5, 4, 2, 20)
    assert [(call.waited, call.worked) for call in store.calls("r1")] == [(37.5, 2.5), (0.0, 2.0)]


def test_a_total_of_nothing_known_is_unknown(store: Store):
    store.add_run(run())
    store.add_call(row(fresh=None, output=None, usd=None), request("a"), REPLY)
    totals = store.totals("r1")
    assert (totals.input, totals.output, totals.usd) == (None, None, None)


def test_a_run_of_refused_calls_cost_nothing(store: Store):
    store.add_run(run())
    store.add_call(row(fresh=None, output=None, usd=0.0, error="WrongKey: …"), request("a"), None)
    totals = store.totals("r1")
    assert (totals.input, totals.output, totals.usd, totals.unreported) == (0, 0, 0, 0)


def test_totals_of_many_rows_come_at_once(store: Store):
    store.add_run(run())
    with sqlite3.connect(store.path) as db:
        db.execute("""with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000)
            insert into call (run_id, step, subject, model, started, seconds, fresh, write_5m, write_1h, cache_read,
                output, usd, attempts, error)
            select 'r1', 'label', i, 'claude-haiku-5-5', i, 1, 10, 0, 0, 0, 1, 0.001, 1, '' from n""")
    began = time.perf_counter()
    totals = store.totals("r1")
    assert time.perf_counter() - began < 0.5        # about 0.05 on an idle machine
    assert (totals.calls, totals.input, totals.output) == (100_000, 1_000_000, 100_000)


# --- exchanges


def exchange_of(store: Store, sent: dict, reply=REPLY) -> tuple:
    return store.exchange(store.add_call(row(), sent, reply))


def test_request_and_reply_are_rebuilt(store: Store):
    store.add_run(run())
    sent = request("hi", "hello", "bye", tools=[{"name": "t", "input_schema": {"type": "object"}}], temperature=None)
    assert exchange_of(store, sent) == (sent, REPLY)


def test_a_failed_call_has_a_request_and_no_reply(store: Store):
    store.add_run(run())
    assert exchange_of(store, request("hi"), None) == (request("hi"), None)


@pytest.mark.parametrize("sent", [{}, {"model": "m"}, {"messages": []}, {"model": "m", "messages": []}])
def test_odd_requests_are_rebuilt_too(store: Store, sent: dict):
    store.add_run(run())
    assert exchange_of(store, sent) == (sent, REPLY)


def test_an_unknown_call_says_so(store: Store):
    with pytest.raises(StoreError, match="Call 7 is not in"):
        store.exchange(7)


def test_lone_surrogates_and_nul_survive_in_what_was_said(store: Store):
    store.add_run(run())
    sent = request("broken \ud83d emoji \udc00, nul \0, fine 😀 ü", system="s\udfff")
    assert exchange_of(store, sent, {"content": "\ud800"}) == (sent, {"content": "\ud800"})


def test_sdk_blocks_are_stored_as_they_came(store: Store):
    from anthropic.types import Message

    wire = {"id": "m", "type": "message", "role": "assistant", "model": "x", "stop_reason": "tool_use",
            "content": [{"type": "thinking", "thinking": "", "signature": "c2ln"},
                        {"type": "tool_use", "id": "t1", "name": "read", "input": {"id": "0071"}, "caller": None},
                        {"type": "new_kind", "value": {"x": 1}}],
            "usage": {"input_tokens": 1, "output_tokens": 2, "novel": {"y": 1}}, "container": None}
    message = Message.construct(**wire)
    sent = request("go")
    sent["messages"].append({"role": "assistant", "content": message.content})
    store.add_run(run())
    rebuilt, reply = exchange_of(store, sent, message)
    assert rebuilt["messages"][1] == {"role": "assistant", "content": wire["content"]}
    assert reply == wire


def test_headers_are_never_stored(store: Store):
    store.add_run(run())
    secret = "sk-ant-very-secret"
    rebuilt, _ = exchange_of(store, request("hi", extra_headers={"x-api-key": secret}, extra_query={"key": secret},
                                            timeout=object()))
    assert rebuilt == request("hi")
    store.close()
    assert all(secret.encode() not in file.read_bytes() for file in store.path.parent.iterdir())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-2**70, 2**70) | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3), max_leaves=8)
messages = st.lists(st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": json_values}),
                    max_size=5)
requests = st.builds(lambda rest, messages: {**rest, "messages": messages},
                     st.dictionaries(st.sampled_from(["model", "system", "tools", "metadata"]), json_values), messages)


def exactly(value) -> str:
    """For an equality that tells 1 from True and 1.0."""
    return json.dumps(value, sort_keys=True)


@settings(max_examples=60, deadline=None)
@given(st.lists(requests, min_size=1, max_size=4), json_values)
def test_any_request_is_rebuilt_whatever_was_written_before_it(sent: list[dict], reply):
    store = Store(":memory:")
    store.add_run(run())
    for one in sent:
        rebuilt, answer = exchange_of(store, one, reply)
        assert exactly(rebuilt) == exactly(one)
        assert exactly(answer) == exactly(reply)
    store.close()


@settings(max_examples=60, deadline=None)
@given(messages.filter(len), st.data())
def test_a_conversation_that_changes_in_place_is_stored_as_it_was_each_time(conversation: list[dict], data):
    store = Store(":memory:")
    store.add_run(run())
    first = exchange_of(store, {"messages": conversation})
    kept = repr(conversation)
    changed = data.draw(st.integers(0, len(conversation) - 1))
    content = data.draw(json_values)
    assume(content != conversation[changed]["content"])     # 1 turned True in place is beyond what a request does
    conversation[changed]["content"] = content
    conversation.append({"role": "user", "content": "more"})
    second = exchange_of(store, {"messages": conversation})
    assert repr(first[0]["messages"]) == kept
    assert repr(second[0]["messages"]) == repr(conversation)
    store.close()


# --- the size of the log


def talk(store: Store, turns: int) -> list[dict]:
    """An agent's calls: each sends all before it, one list that grows."""
    conversation = [{"role": "user", "content": "Find the causes. " * 20}]
    for turn in range(turns):
        said = [{"type": "tool_use", "id": f"toolu_{turn}", "name": "read_ticket", "input": {"ticket_id": turn}}]
        store.add_call(row(), {"model": "m", "system": "s" * 3000, "messages": conversation},
                       {**REPLY, "content": said})
        conversation.append({"role": "assistant", "content": said})
        conversation.append({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": f"toolu_{turn}", "content": f"ticket {turn} " + "words " * 200}]})
    return conversation


def test_a_long_conversation_takes_little_more_than_itself(store: Store):
    store.add_run(run())
    empty = store.size_bytes()
    conversation = talk(store, 200)
    store._shrink()     # empties the write-ahead log into the file
    assert store.size_bytes() - empty < 2 * len(repr(conversation))
    assert len(store.exchange(store.last_call("r1"))[0]["messages"]) == 399


def test_each_turn_adds_only_its_own_messages(store: Store):
    store.add_run(run())
    talk(store, 50)
    assert look(store, "select count(*) from node") == [(99,)]
    assert look(store, "select count(*) from fields") == [(1,)]


# --- many writers


def test_parallel_calls_are_all_counted(store: Store):
    store.add_run(run())
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda i: store.add_call(row(subject=f"T-{i}"), request(f"ticket {i}"), REPLY), range(500)))
    totals = store.totals("r1")
    assert (totals.calls, totals.input, totals.output) == (500, 5000, 500)
    assert sum(c.input for c in store.calls("r1")) == 5000 and sum(c.output for c in store.calls("r1")) == 500
    assert {c.subject for c in store.calls("r1")} == {f"T-{i}" for i in range(500)}


def test_a_reader_following_along_misses_no_call(store: Store):
    store.add_run(run())
    seen: list[int] = []
    done = threading.Event()

    def follow() -> None:
        while True:
            last = done.is_set()
            seen.extend(c.id for c in store.calls("r1", after=seen[-1] if seen else 0))
            if last:
                return

    reader = threading.Thread(target=follow)
    reader.start()
    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(lambda i: store.add_call(row(), request(str(i)), REPLY), range(100)))
    done.set()
    reader.join()
    assert seen == sorted(ids)


WRITER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from tests.runs.test_store import REPLY, Store, request, row, run
store, name = Store(sys.argv[1]), sys.argv[2]
store.add_run(run(name))
with ThreadPoolExecutor(16) as pool:
    list(pool.map(lambda i: store.add_call(row(name), request(f"{name} {i}"), REPLY), range(100)))
"""


def test_two_processes_with_sixteen_workers_each_lose_no_row(tmp_path: Path):
    path = tmp_path / "new" / "runs.sqlite"        # both create it at the same time
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name], cwd=ROOT, stderr=subprocess.PIPE)
               for name in ("a", "b")]
    for writer in writers:
        assert writer.communicate()[1] == b"" and writer.returncode == 0
    store = Store(path)
    assert [store.totals(name).calls for name in ("a", "b")] == [100, 100]


LOADED = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
from lib.runs.store import Wanted
from tests.runs.test_store import REPLY, Store, request, row, run
store, name = Store(sys.argv[1]), sys.argv[2]
store.add_run(run(name, desk=name))
done = threading.Event()

def write(i):
    store.add_call(row(name, subject=f"T-{i}"), request("shared", f"{name} {i}", "go on"), REPLY)
    store.save_desk(name, {"i": i})

def read(_):
    seen = []
    while True:
        last = done.is_set()
        seen += store.calls(name, after=seen[-1].id if seen else 0)
        store.listed(Wanted()), store.totals(name), store.load_desk(name)
        if last:
            return sorted(call.subject for call in seen)
        done.wait(0.01)

with ThreadPoolExecutor(36) as pool:
    readers = [pool.submit(read, n) for n in range(20)]
    list(pool.map(write, range(300)))
    done.set()
    assert all(reader.result() == sorted(f"T-{i}" for i in range(300)) for reader in readers)
"""


def test_sixteen_writers_and_twenty_readers_in_each_of_two_processes_lose_nothing_and_are_never_locked(tmp_path: Path):
    path = tmp_path / "runs.sqlite"
    servers = [subprocess.Popen([sys.executable, "-c", LOADED, str(path), name], cwd=ROOT, stderr=subprocess.PIPE)
               for name in ("a", "b")]
    for server in servers:
        assert server.communicate()[1] == b"" and server.returncode == 0
    store = Store(path)
    assert [(store.totals(name).calls, store.totals(name).input) for name in "ab"] == [(300, 3_000)] * 2
    assert all(store.exchange(call.id)[0] == request("shared", f"a {call.subject[2:]}", "go on")
               for call in store.calls("a"))
    assert look(store, "pragma integrity_check") == [("ok",)]


def log_of(store: Store) -> int:
    return store.path.with_name(store.path.name + "-wal").stat().st_size


def write_megabytes(store: Store, count: int) -> None:
    for number in range(count):
        store.save_desk("d", {"text": f"{number % 10}" * 1_000_000})


def test_the_log_does_not_grow_for_ever_and_gives_back_what_a_long_reader_made_it_grow_to(store: Store):
    write_megabytes(store, 20)
    assert log_of(store) < 8_000_000
    with closing(sqlite3.connect(store.path)) as reader:    # of another process: in ours none stays open
        reader.execute("begin")
        reader.execute("select * from desk").fetchone()
        write_megabytes(store, 20)
        assert log_of(store) > 15_000_000       # all since it began to read is kept for it
    write_megabytes(store, 2)
    store.save_desk("d", {})
    assert log_of(store) <= LARGEST_LOG


def test_deleting_does_not_wait_for_a_long_reader(store: Store):
    store.add_run(run())
    talk(store, 20)
    with closing(sqlite3.connect(store.path)) as reader:
        reader.execute("begin")
        reader.execute("select * from call").fetchone()
        began = time.perf_counter()
        store.delete_everything()
        assert store.runs() == [] and time.perf_counter() - began < 5       # not the 30 s of a write
    with closing(sqlite3.connect(store.path, check_same_thread=False)) as writer:
        writer.execute("begin immediate")
        threading.Timer(1.0, writer.rollback).start()
        store.add_run(run())        # a write still waits its turn


def test_two_stores_on_one_file_see_each_others_work(tmp_path: Path):
    here, there = Store(tmp_path / "runs.sqlite"), Store(tmp_path / "runs.sqlite")
    here.add_run(run())
    call_id = there.add_call(row(), request("hi"), REPLY)
    assert here.exchange(call_id) == (request("hi"), REPLY)


# --- finding a call again


def test_only_the_same_request_of_the_same_run_is_found(store: Store):
    store.add_run(run("r1"))
    store.add_run(run("r2"))
    call_id = store.add_call(row("r1"), request("hi"), REPLY)
    assert store.finished("r1", request("hi"), until=call_id) == [(call_id, REPLY)]
    assert store.finished("r1", dict(reversed(request("hi").items())), until=call_id) == [(call_id, REPLY)]
    assert store.finished("r2", request("hi"), until=call_id) == []
    assert store.finished("r1", request("hi"), until=call_id - 1) == []


@pytest.mark.parametrize("change", [
    {"max_tokens": 4000}, {"temperature": 1}, {"temperature": None}, {"system": "s2"}, {"model": "m2"},
    {"tools": [{"name": "a", "description": "d1", "input_schema": {"type": "object"}}]},
    {"tool_choice": {"type": "none"}}, {"stop_sequences": ["x"]}, {"messages": [{"role": "user", "content": "ho"}]},
    {"messages": []}])
def test_a_request_that_differs_in_anything_is_another_one(store: Store, change: dict):
    store.add_run(run())
    call_id = store.add_call(row(), request("hi"), REPLY)
    assert store.finished("r1", {**request("hi"), **change}, until=call_id) == []


# --- deleting


def test_deleting_a_run_takes_its_words_out_of_the_file(store: Store):
    store.add_run(run("r1"))
    store.add_run(run("r2", title="stays"))
    store.add_call(row("r1"), request("shared", "only-in-one"), REPLY)
    kept = store.add_call(row("r2"), request("shared"), REPLY)
    store.delete_run("r1")
    assert store.run("r1") is None and store.calls("r1") == []
    assert store.exchange(kept) == (request("shared"), REPLY)
    assert look(store, "select count(*) from node") == [(1,)]
    files = b"".join(file.read_bytes() for file in store.path.parent.iterdir())
    assert b"shared" in files and b"only-in-one" not in files


def test_what_is_written_after_a_deletion_is_whole(store: Store):
    conversation = [{"role": "user", "content": "hi"}]
    for run_id in ("r1", "r1"):
        store.add_run(run(run_id))
        call_id = store.add_call(row(run_id), {"messages": conversation}, REPLY)
        assert store.exchange(call_id) == ({"messages": conversation}, REPLY)
        store.delete_run(run_id)


def test_deleting_everything_leaves_an_empty_small_store(store: Store):
    store.add_run(run())
    talk(store, 100)
    store.save_data("[]" * 10_000, b"\0" * 100_000, "big")
    store.save_desk("k", {})
    full = store.size_bytes()
    store.delete_everything()
    assert store.runs() == [] and store.latest_desk() is None
    assert store.size_bytes() < full / 3 and look(store, "pragma freelist_count") == [(0,)]
    store.add_run(run())


# --- in memory only


def test_a_store_in_memory_writes_nothing_anywhere(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = Store(Path(":memory:"))
    empty = store.size_bytes()
    store.add_run(run())
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: store.add_call(row(), request(f"ticket {i} " + "x" * 1_000), REPLY), range(200)))
    full = store.size_bytes()
    assert store.totals("r1").calls == 200 and full > empty + 200_000
    store.delete_runs(["r1"])
    assert store.size_bytes() < full / 2 and store.runs() == []
    assert list(tmp_path.iterdir()) == []
    store.close()


def test_two_stores_in_memory_know_nothing_of_each_other():
    one, other = Store(":memory:"), Store(":memory:")
    one.add_run(run())
    assert other.runs() == []


# --- what the owner's key paid


def test_what_was_spent_is_summed_by_desk_and_time_and_stays_when_runs_go(store: Store):
    first = store.spend("ann", 100.0, 0.5)
    store.spend("ann", 200.0, 0.25)
    store.spend("bob", 300.0, 1.0)
    assert (store.spent(0.0), store.spent(0.0, "ann"), store.spent(100.0, "ann")) == (1.75, 0.75, 0.25)
    store.settle(first, 0.125)
    store.delete_everything()
    assert store.spent(0.0, "ann") == 0.375 and store.spent(0.0, "nobody") == 0.0


def test_spending_of_days_ago_is_forgotten(store: Store):
    store.spend("ann", 1_000.0, 0.5)
    store.spend("ann", 1_000.0 + 3 * 86_400, 0.25)
    assert look(store, "select usd from spending") == [(0.25,)]


# --- data sets and desks


def test_the_same_data_is_kept_once(store: Store):
    first = store.save_data('{"tickets": []}', b"sqlite", "a.csv")
    assert store.save_data('{"tickets": []}', b"sqlite", "b.csv") == first
    assert store.save_data('{"tickets": []}', None, "a.csv") != first
    assert store.load_data(first) == ('{"tickets": []}', b"sqlite")


def let_two_hours_pass(store: Store) -> None:
    with closing(sqlite3.connect(store.path)) as db, db:
        db.execute("update data set saved = saved - 7200")


def test_data_that_no_run_and_no_desk_refers_to_is_forgotten_when_new_data_comes(store: Store):
    old, of_a_run, of_a_desk = (store.save_data(f'["{n}"]', b"sqlite", n) for n in ("old", "run", "desk"))
    store.add_run(run("r1", data_id=of_a_run))
    store.save_desk("a", {"data_id": of_a_desk})
    store.save_desk("b", {"data_id": ""})
    store.save_desk("c", {})
    let_two_hours_pass(store)
    new = store.save_data('["new"]', None, "new")
    assert [store.has_data(i) for i in (old, of_a_run, of_a_desk, new)] == [False, True, True, True]


def test_data_of_the_last_hour_is_kept_and_saving_it_again_keeps_it_longer(store: Store):
    first, second = store.save_data('["a"]', None, "a"), store.save_data('["b"]', None, "b")
    assert store.has_data(first) and store.has_data(second)
    let_two_hours_pass(store)
    store.save_data('["a"]', None, "a")
    assert store.has_data(first) and not store.has_data(second)


def test_the_data_of_a_deleted_run_goes_with_it(store: Store):
    data_id = store.save_data('["words of a customer"]', None, "a")
    for run_id in ("r1", "r2"):
        store.add_run(run(run_id, data_id=data_id))
    let_two_hours_pass(store)
    store.delete_run("r1")
    assert store.has_data(data_id)
    store.delete_run("r2")
    assert not store.has_data(data_id) and b"words of a customer" not in store.path.read_bytes()


def test_data_in_a_file_of_the_first_version_counts_as_old(tmp_path: Path, monkeypatch):
    path = tmp_path / "runs.sqlite"
    with monkeypatch.context() as before:
        before.setattr("lib.runs.schema.MIGRATIONS", MIGRATIONS[:1])
        with closing(open_database(path)) as db:
            db.execute("insert into data (id, name, tickets) values ('d', 'old', 'x')")
    store = Store(path)
    assert store.has_data("d")
    store.save_data("new", None, "new")
    assert not store.has_data("d")
    store.close()


def test_a_run_of_a_file_of_an_earlier_version_was_made_without_faults(tmp_path: Path, monkeypatch):
    path = tmp_path / "runs.sqlite"
    with monkeypatch.context() as before:
        before.setattr("lib.runs.schema.MIGRATIONS", MIGRATIONS[:2])
        with closing(open_database(path)) as db:
            db.execute("""insert into run values ('r', 'g', 'agent', 'done', 'simulated', 'simulated', '{}', 'd', 1,
                          null, null, '', null, '{}', '', 'old')""")
    store = Store(path)
    assert store.run("r").conditions == ""
    store.close()


def test_the_calls_of_an_earlier_version_did_not_note_their_waits(tmp_path: Path, monkeypatch):
    path = tmp_path / "runs.sqlite"
    with monkeypatch.context() as before:
        before.setattr("lib.runs.schema.MIGRATIONS", MIGRATIONS[:3])
        with closing(open_database(path)) as db:
            db.execute("""insert into run values ('r1', 'g', 'agent', 'done', 'simulated', 'simulated', '{}', 'd', 1,
                          null, null, '', null, '{}', '', 'old', '')""")
            db.execute("""insert into call values (1, 'r1', 'label', '', 'm', 1, 9, 'end_turn', 10, 0, 0, 0, 1, null,
                          0.5, 2, '')""")
    store = Store(path)
    [call] = store.calls("r1")
    assert (call.waited, call.worked, call.seconds, call.attempts) == (0, 9, 9, 2)
    store.close()


def test_data_without_a_product_database_has_none(store: Store):
    assert store.load_data(store.save_data("é\ud800", None, "x")) == ("é\ud800", None)


def test_unknown_data_says_what_to_do(store: Store):
    with pytest.raises(StoreError, match="upload"):
        store.load_data("nope")


@pytest.mark.parametrize("text", ["no JSON", "[]", "null"])
def test_a_desk_that_cannot_be_read_is_empty_and_does_not_keep_others_from_saving(store: Store, text: str):
    store.save_desk("a", {"data_id": ""})
    with closing(sqlite3.connect(store.path)) as db, db:
        db.execute("update desk set content = ?", [text])
    assert store.load_desk("a") == {} and store.save_data("[]", None, "new")


def test_a_desk_comes_back_and_the_last_saved_is_the_latest(store: Store):
    assert store.latest_desk() is None and store.load_desk("a") is None
    store.save_desk("a", {"design": {"k": 3}})
    store.save_desk("b", {})
    store.save_desk("a", {"design": {"k": 4}})
    assert store.load_desk("a") == {"design": {"k": 4}} and store.latest_desk() == "a"


# --- trouble


def test_a_failed_write_changes_nothing_and_the_store_goes_on(store: Store):
    store.add_run(run())
    with pytest.raises(TypeError):
        store.add_call(replace(row(), fresh=[1]), request("hi"), REPLY)
    with pytest.raises(StoreError):
        store.add_run(run())
    store.add_call(row(), request("hi"), REPLY)
    assert store.totals("r1").calls == 1


def test_a_full_disk_is_a_store_error(store: Store):
    store.add_run(run())
    store._db.execute("pragma max_page_count = 1")
    with pytest.raises(StoreError, match="full"):
        store.save_data("x" * 1_000_000, None, "big")
    assert store.run("r1") == run()
