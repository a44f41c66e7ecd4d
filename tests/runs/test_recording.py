"""A recording gives back what was saved, and nothing that a stranger puts into one gets further than one line."""

from __future__ import annotations

import base64
import copy
import gzip
import json
import pickle
import random
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from lib import errors
from lib.catalog import Catalog
from lib.client.connect import connect_simulated
from lib.design import Design, Limits, ToolText
from lib.runs import read_recording, untrusted
from lib.runs.job import Runs
from lib.runs.recording import open_recording, origin_of, save
from lib.runs.store import CallRow, Run, Store, Wanted
from lib.settings import load
from lib.simulated.conditions import Conditions
from lib.task.default_design import default_design
from lib.task.report import Report
from tests.runs.recorded import BOTH, after_end, data_of, ended, replayed, sample, told
from tests.sets import both_sets

KEY = "sk-ant-api03-canary-0123456789abcdef"


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "runs.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def elsewhere(tmp_path):
    opened = Store(tmp_path / "elsewhere.sqlite")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> dict:
    """A small recording of both shapes, as the JSON in it."""
    kept = Store(tmp_path_factory.mktemp("small") / "runs.sqlite")
    runs = ended(kept, few(6), replace(default_design(), k=2))
    assert [run.status for run in runs] == ["done", "done"]
    recording = json.loads(gzip.decompress(save(kept, [run.id for run in runs])))
    kept.close()
    return recording


def few(count: int):
    tickets, catalog = sample("fernhill")
    return replace(tickets, tickets=tickets.tickets[:count]), catalog


def packed(file) -> bytes:
    return gzip.compress(json.dumps(file).encode())


def exchanges(store: Store, run_id: str) -> list:
    return [(told(row), *store.exchange(row.id)) for row in store.calls(run_id)]


def everything(store: Store) -> list:
    """All rows of the store but those of data sets, which are looked at by their ids."""
    with closing(sqlite3.connect(store.path)) as db:
        tables = [db.execute(f"select * from {table} order by 1").fetchall()
                  for table in ("run", "call", "exchange", "node", "fields", "desk")]
        return [*tables, db.execute("select id from data order by 1").fetchall()]


def refusal(store: Store, data: bytes, **options) -> str:
    """Why it is not opened: one line, after which the store is as it was."""
    before = everything(store)
    with pytest.raises(errors.UnreadableFile) as caught:
        open_recording(data, store, "a desk", **options)
    assert everything(store) == before
    words = str(caught.value)
    assert words.isprintable() and 20 < len(words) < 500, words
    return words


# --- what comes back -------------------------------------------------------------------------------------------------


@both_sets
def test_runs_data_calls_and_their_words_come_back_as_they_were(name, store, elsewhere):
    before = ended(store, sample(name))
    after = elsewhere.group(open_recording(save(store, [run.id for run in before]), elsewhere, "another desk"))
    assert [run.shape for run in after] == list(BOTH)
    for was, now in zip(before, after, strict=True):
        changed = {"id", "group", "desk", "origin"}
        assert {n for n in vars(was) if getattr(was, n) != getattr(now, n)} == changed
        assert exchanges(store, was.id) == exchanges(elsewhere, now.id)
        assert store.totals(was.id) == elsewhere.totals(now.id)
        assert Report.from_dict(was.report) == Report.from_dict(now.report)
        assert store.load_data(was.data_id) == elsewhere.load_data(now.data_id)
        assert data_of(store, was)[1].roles == data_of(elsewhere, now)[1].roles
        assert now.desk == "another desk"
        assert now.origin == origin_of(was) == origin_of(now)
        assert now.origin.startswith("simulated · Simulated Messages API · recorded 20")


def test_own_tools_effort_and_structured_output_come_back_and_are_replayed(store, elsewhere):
    own = ToolText("own_1", "plan_of_customer", "Returns the plan of one customer.", {
        "type": "object", "properties": {"customer_id": {"type": "string", "description": "One id, such as C-1."}}},
        query="SELECT plan FROM customers WHERE customer_id = :customer_id")
    design = default_design()
    design = replace(design, output="structured", tools=(*design.tools, own)).with_step("agent", effort="low")
    before = ended(store, few(6), design)
    after = elsewhere.group(open_recording(save(store, [run.id for run in before]), elsewhere, ""))
    again = replayed(elsewhere, after)
    assert [Design.from_dict(run.design) for run in [*after, *again]] == [design] * 4
    assert [run.report for run in again] == [run.report for run in before]
    calls = [row.id for row in elsewhere.calls(again[1].id)]
    assert own.name in {block.get("name") for id in calls for block in elsewhere.exchange(id)[1]["content"]}
    assert elsewhere.exchange(calls[0])[0]["output_config"]["effort"] == "low"


def test_a_message_stands_in_the_file_once(store):
    runs = ended(store, sample("fernhill"), shapes=("agent",))
    text = gzip.decompress(save(store, [runs[0].id])).decode()
    assert store.totals(runs[0].id).calls == 45
    assert len(json.loads(text)["messages"]) == 1 + 2 * 44
    assert text.count("What are the 5 most common root causes, and which customers are affected?") == 1


def test_the_same_runs_give_the_same_bytes_and_two_groups(store, elsewhere):
    ids = [run.id for run in ended(store, few(4))]
    data = save(store, ids)
    assert save(store, ids) == data
    first, second = (open_recording(data, elsewhere, "") for _ in range(2))
    assert first != second and len(elsewhere.group(first)) == len(elsewhere.group(second)) == 2
    elsewhere.delete_run(elsewhere.group(first)[0].id)
    assert len(exchanges(elsewhere, elsewhere.group(second)[0].id)) > 4     # what both shared is still there


def test_a_recording_opens_beside_the_runs_it_was_made_of(store):
    runs = ended(store, few(4))
    before = [(run, exchanges(store, run.id)) for run in runs]
    opened = store.group(open_recording(save(store, [run.id for run in runs]), store, ""))
    assert [(run, exchanges(store, run.id)) for run in store.group(runs[0].group)] == before
    assert not {run.id for run in opened} & {run.id for run in runs}


def test_a_stopped_and_a_failed_run_come_back_too(store, elsewhere):
    stopped, = ended(store, few(6), replace(default_design(), limits=Limits(max_tokens=9_000)), ["pipeline"])
    failed, = ended(store, few(6), shapes=["agent"], conditions=Conditions(server_error=0.5, seed=1))
    assert (stopped.status, failed.status) == ("stopped", "failed")
    assert stopped.report["partial"] and any(row.error for row in store.calls(failed.id))
    first = open_recording(save(store, [stopped.id, failed.id]), elsewhere, "")
    assert len(elsewhere.group(first)) == 1     # they were not started together
    for was, now in zip((stopped, failed), sorted(elsewhere.runs(), key=lambda run: run.created), strict=True):
        assert (now.status, now.error, now.report) == (was.status, was.error, was.report)
        assert exchanges(store, was.id) == exchanges(elsewhere, now.id)
        assert store.totals(was.id) == elsewhere.totals(now.id)


def test_a_stopped_run_that_was_opened_can_be_resumed(store, elsewhere):
    stopped, = ended(store, few(6), replace(default_design(), limits=Limits(max_tokens=9_000)), ["pipeline"])
    now, = elsewhere.group(open_recording(save(store, [stopped.id]), elsewhere, ""))
    runs, before = Runs(elsewhere), len(elsewhere.calls(now.id))
    runs.resume(now.id, lambda: connect_simulated(load({}), 0), Limits())
    done, = after_end(runs, elsewhere, now.group)
    assert done.status == "done" and len(elsewhere.calls(now.id)) > before


def test_a_run_that_was_still_going_is_interrupted_where_it_is_opened(small, elsewhere):
    file = changed(small, ["runs", 0, "status"], "running")
    assert elsewhere.group(open_recording(packed(file), elsewhere, ""))[0].status == "interrupted"


def test_plain_json_opens_as_well(small, elsewhere):
    assert len(elsewhere.group(open_recording(json.dumps(small).encode(), elsewhere, ""))) == 2


def test_a_run_without_its_data_opens(small, elsewhere):
    file = {**small, "data": [], "runs": [{**run, "data": None} for run in small["runs"]]}
    run = elsewhere.group(open_recording(packed(file), elsewhere, ""))[0]
    with pytest.raises(errors.StoreError):
        elsewhere.load_data(run.data_id)


def test_markup_in_names_stays_what_it_is(small, elsewhere):
    name = "<b>**[x](http://e.invalid)**</b> ../../etc/passwd $HOME"
    run = elsewhere.group(open_recording(packed(changed(small, ["runs", 0, "title"], name)), elsewhere, ""))[0]
    assert run.title == name


def test_half_characters_survive(store, elsewhere):
    store.add_run(Run("r", "g", "agent", "done", "server", "s", default_design().to_dict(), "", 1.0))
    row = CallRow(0, "r", "agent", "", "m", 1.0, 1.0, "end_turn", None, None, None, None, None, None, None)
    request = {"model": "m", "messages": [{"role": "user", "content": "\ud83d and \U0001f600"}]}
    store.add_call(row, request, {"content": [{"type": "text", "text": "\udc00"}], "score": float("nan")})
    now, = elsewhere.group(open_recording(save(store, ["r"]), elsewhere, ""))
    (_, asked, said), = exchanges(elsewhere, now.id)
    assert asked == request and said == {"content": [{"type": "text", "text": "\udc00"}], "score": None}


@pytest.mark.parametrize("odd", [
    {"stop_reason": 5}, {"type": 5}, {"role": 7}, {"model": 5}, {"content": [{"text": "no type"}]},
    {"content": [{"type": 5, "text": "x"}]}, {"content": [{"type": "tool_use", "id": 1.5, "name": "x", "input": {}}]},
], ids=str)
def test_what_an_odd_server_said_comes_back(store, elsewhere, odd):
    store.add_run(Run("r", "g", "agent", "failed", "server", "s", default_design().to_dict(), "", 1.0))
    row = CallRow(0, "r", "agent", "", "m", 1.0, 1.0, None, None, None, None, None, None, None, None)
    said = {"content": "x", **odd}
    messages = [{"role": "user", "content": "x"}, {"role": "assistant", "content": said["content"]}]
    asked = {"model": "m", "messages": messages}
    store.add_call(row, asked, said)
    now, = elsewhere.group(open_recording(save(store, ["r"]), elsewhere, ""))
    (_, *exchange), = exchanges(elsewhere, now.id)
    assert exchange == [asked, said]


def test_long_ids_and_great_numbers_of_a_run_come_back(store, elsewhere):
    tickets, catalog = few(2)
    ids = ["x" * 30_000, tickets.tickets[1].key]
    named = replace(tickets, tickets=tuple(replace(t, key=k, id=k) for t, k in zip(tickets.tickets, ids, strict=True)))
    run, = ended(store, (named, catalog), shapes=["pipeline"])
    run.report["causes"][0]["claimed"] = 2 ** 59
    run.report["causes"][0]["customers"][0]["monthly_revenue"] = 1e18
    store.update_run(run.id, report=run.report, title="a long name " * 3_000)
    now, = elsewhere.group(open_recording(save(store, [run.id]), elsewhere, ""))
    assert (now.report, exchanges(elsewhere, now.id)) == (run.report, exchanges(store, run.id))


def test_a_run_that_is_gone_cannot_be_saved(store):
    with pytest.raises(errors.InputError, match="not in the store"):
        save(store, ["gone"])


# --- what must not be in it ------------------------------------------------------------------------------------------


def test_no_key_and_no_header_is_in_the_file(store, elsewhere):
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("create table customers (id text, name text)")
        db.execute("insert into customers values ('C1', ?)", [f"left here: {KEY}"])
        db.execute("create table playground_about (about text)")
        db.execute("insert into playground_about values (?)", [json.dumps({"name": "x", "notes": [], "roles": {}})])
        db.commit()
        catalog = db.serialize()
    data_id = store.save_data(few(1)[0].to_json(), catalog, "x")
    store.add_run(Run("r", "g", "agent", "failed", "live", "Anthropic API", default_design().to_dict(), data_id, 1.0,
                      error=f"refused {KEY}", note=KEY, desk="secret-desk", payer="owner"))
    row = CallRow(0, "r", "agent", "", "m", 1.0, 1.0, None, None, None, None, None, None, None, None, error=f"X: {KEY}")
    request = {"model": "m", "metadata": {"user_id": KEY}, "extra_headers": {"x-api-key": KEY, "x-other": "header"},
               "extra_query": {"key": KEY}, "messages": [{"role": "user", "content": f"my key is {KEY}!"}]}
    store.add_call(row, request, None)
    store.add_call(replace(row, error=""), request, {"content": [{"type": "text", "text": KEY}]})
    text = gzip.decompress(save(store, ["r"]))
    inside = base64.b64decode(json.loads(text)["data"][0]["catalog"])
    for secret in (KEY.encode(), b"canary", b"x-api-key", b"x-other", b"secret-desk", b"owner"):
        assert secret not in text and secret not in inside, secret
    now, = elsewhere.group(open_recording(gzip.compress(text), elsewhere, ""))
    assert elsewhere.exchange(elsewhere.calls(now.id)[0].id)[0]["metadata"]["user_id"].startswith("[key]___")
    assert data_of(elsewhere, now)[1].rows("customers", 1)[0]["name"].startswith("left here: [key]___")


# --- what is refused -------------------------------------------------------------------------------------------------


def changed(file: dict, place: list, value) -> dict:
    """The recording with another value at a place; DELETE takes it away."""
    file = copy.deepcopy(file)
    here = file
    for step in place[:-1]:
        here = here[step]
    if value is DELETE:
        del here[place[-1]]
    else:
        here[place[-1]] = value
    return file


DELETE = object()
FIRST_CALL = ["runs", 0, "calls", 0]
HOSTILE = [     # where, what, and words of the refusal
    ([], "format", "other", "no recording"),
    ([], "version", 2, "newer version"),
    ([], "version", 0, "never such a one"),
    ([], "version", True, "version: true stands where a whole number should"),
    ([], "version", DELETE, "version"),
    ([], "runs", [], "holds no run"),
    ([], "runs", {"0": {}}, "runs: an object stands where a list should"),
    ([], "runs", DELETE, '"runs" is missing'),
    ([], "pickle", "gASV", '"pickle" is not known'),
    ([], "messages", [[]], "messages 1: a list stands where an object should"),
    (["runs", 0], "id", "mine", '"id" is not known'),
    (["runs", 0], "desk", "yours", '"desk" is not known'),
    (["runs", 0], "shape", "swarm", "runs 1, shape"),
    (["runs", 0], "shape", ["pipeline"], "runs 1, shape: a list stands where text should"),
    (["runs", 0], "status", "winning", "runs 1, status"),
    (["runs", 0], "source", "oracle", "runs 1, source"),
    (["runs", 0], "created", -1.0, "runs 1, created: -1.0 is not possible"),
    (["runs", 0], "created", 1e300, "runs 1, created"),
    (["runs", 0], "created", "today", 'the text "today" stands where a number should'),
    (["runs", 0], "title", "x" * 1_000_001, "title: a text of 1,000,001 characters"),
    (["runs", 0], "data", 7, "there is no data set 7"),
    (["runs", 0], "data", 0, "there is no data set 0"),
    (["runs", 0], "design", {}, "runs 1, design: the field"),
    (["runs", 0, "design"], "workers", 10**9, "runs 1, design, workers"),
    (["runs", 0, "design"], "caching", "all", "caching"),
    (["runs", 0, "design"], "output", "yaml", 'the text "yaml" is not one of ask, structured'),
    (["runs", 0, "design"], "output", None, "output"),
    (["runs", 0, "design", "steps", "agent"], "effort", 3, 'steps, "agent", effort: 3 stands where text should'),
    (["runs", 0, "design", "tools", 0], "query", ["SELECT 1"], "tools 1, query"),
    (["runs", 0, "design"], "steps", {}, "steps"),
    (["runs", 0, "design", "steps", "label"], "system", 5, 'steps, "label", system: 5 stands where text should'),
    (["runs", 0, "design", "tools", 0], "input_schema", "{}", "tools 1, input_schema"),
    (["runs", 0, "design"], "name", "\ud800", "runs 1, design: half a character"),
    (["runs", 0, "prices"], "per", 0, "per"),
    (["runs", 0, "prices"], "models", {"m": {"input": -1}}, "models"),
    (["runs", 0, "report"], "shape", "agent", "report of"),
    (["runs", 0, "report"], "causes", [{"name": "x"}], "report, causes 1"),
    (["runs", 0, "report", "labels"], "no-such-ticket", "cause", '"no-such-ticket" is no ticket'),
    (["runs", 0, "report", "causes", 0], "tickets", [["1"]], "tickets 1: a list stands where text should"),
    (FIRST_CALL, "fresh", -3, "runs 1, calls 1, fresh: -3 is not possible"),
    (FIRST_CALL, "output", 2**62, "output"),
    (FIRST_CALL, "output", 10**400, "output"),
    (FIRST_CALL, "output", 1.5, "output: 1.5 stands where a whole number should"),
    (FIRST_CALL, "output", True, "output: true stands where a whole number should"),
    (FIRST_CALL, "seconds", None, "seconds: null"),
    (FIRST_CALL, "usd", "0", "usd"),
    (FIRST_CALL, "cached", 2, "cached"),
    (FIRST_CALL, "run_id", "another", '"run_id" is not known'),
    (FIRST_CALL, "fields", 0, "there is no entry 0"),
    (FIRST_CALL, "fields", 99, "there is no entry 99"),
    (FIRST_CALL, "last", 10**6, "there is no message 1000000"),
    (FIRST_CALL, "last", -1, "there is no message -1"),
    (FIRST_CALL, "reply", "yes", "reply"),
    (FIRST_CALL, "reply", None, "neither a reply nor an error"),
    ([*FIRST_CALL, "reply"], "content", [1], "reply, content 1: 1 stands where an object should"),
    ([*FIRST_CALL, "reply"], "content", [{"type": "text", "text": {}}], "content 1"),
    ([*FIRST_CALL, "reply"], "usage", 5, "reply, usage"),
    (["fields", 0], "extra_headers", {"x-api-key": "k"}, "extra_headers has no place here"),
    (["fields", 0], "messages", [], "messages has no place here"),
    (["fields", 0], "system", 7, "system"),
    (["fields", 0], "tools", [5], "tools"),
    (["messages", 0], "after", 1, "message 1 does not stand before it"),
    (["messages", 0], "after", 2, "messages 1, after: message 2"),
    (["messages", 0], "after", -1, "message -1"),
    (["messages", 0], "message", {"role": "owner", "content": "x"}, 'role: the text "owner"'),
    (["messages", 0], "message", {"role": ["user"], "content": "x"}, "role: a list"),
    (["messages", 0], "message", {"role": "user"}, "content: null"),
    (["data", 0, "tickets"], "tickets", [{"key": "1"}], "tickets, tickets 1"),
    (["data", 0, "tickets", "tickets", 0], "body", 5, "body: 5 stands where text should"),
    (["data", 0, "tickets", "tickets", 0], "extra", {"a": {}}, "extra"),
    (["data", 0], "catalog", "no base64 !", "no base64"),
    (["data", 0], "catalog", base64.b64encode(b"SQLite format 3\0" + b"\xff" * 5000).decode(), "no usable SQLite"),
    (["data", 0], "catalog", base64.b64encode(pickle.dumps({"a": 1})).decode(), "no SQLite database"),
]


@pytest.mark.parametrize(("place", "name", "value", "words"), HOSTILE,
                         ids=lambda part: "gone" if part is DELETE else str(part)[:30])
def test_what_a_recording_cannot_hold_is_named_with_its_place(small, elsewhere, place, name, value, words):
    assert words in refusal(elsewhere, packed(changed(small, [*place, name], value)), name="demo.json.gz")


def test_two_tickets_of_one_key_are_refused(small, elsewhere):
    tickets = small["data"][0]["tickets"]["tickets"]
    file = changed(small, ["data", 0, "tickets", "tickets"], [tickets[0], tickets[0]])
    assert "two tickets have the same key" in refusal(elsewhere, packed(file))


def test_a_trigger_a_view_and_a_table_of_code_do_not_come_along(small, elsewhere):
    good = base64.b64decode(small["data"][0]["catalog"])
    with closing(sqlite3.connect(":memory:")) as db:
        db.deserialize(good)
        db.execute("create table log (line text)")
        db.execute("create trigger spy after insert on log begin delete from log; end")
        db.execute("create virtual table words using fts5(text)")
        db.execute("create view endless as with recursive n(i) as (select 1 union all select i + 1 from n) "
                   "select i from n")
        db.commit()
        hostile = db.serialize()
    file = changed(small, ["data", 0, "catalog"], base64.b64encode(hostile).decode())
    run = elsewhere.group(open_recording(packed(file), elsewhere, ""))[0]
    stored = elsewhere.load_data(run.data_id)[1]
    assert "endless" not in Catalog.from_bytes(stored).tables and b"spy" not in stored and b"fts5" not in stored


@pytest.mark.parametrize("roles", [{"customers": {"table": "none", "key": "id"}}, {"customers": 5}, {"owners": None},
                                   {"customers": {"table": "customers", "key": ["id"], "columns": {}}}, [], None])
def test_a_database_that_says_nonsense_of_its_tables_is_refused(small, elsewhere, roles):
    with closing(sqlite3.connect(":memory:")) as db:
        db.deserialize(base64.b64decode(small["data"][0]["catalog"]))
        db.execute("update playground_about set about = ?", [json.dumps({"name": "x", "notes": [], "roles": roles})])
        db.commit()
        file = changed(small, ["data", 0, "catalog"], base64.b64encode(db.serialize()).decode())
    assert "data 1" in refusal(elsewhere, packed(file))


@pytest.mark.parametrize(("data", "words"), [
    (b"", "no JSON"),
    (b"{}", "no recording"),
    (b"null", "no recording"),
    (b"[" * 10**6, "nested more than 100 levels"),
    (b'{"a":' * 10**6, "nested more than 100 levels"),
    (b"[" * 200 + b"]" * 200, "nested more than 100 levels"),
    (b"[]" * 10**6, "no JSON"),
    (b'"' + b'\\"' * 10**6, "no JSON"),
    (b'{"a": NaN}', "no number"),
    (b'{"a": -Infinity}', "no number"),
    (b'{"a": 1e999}', "no number"),
    (b'{"a": ' + b"9" * 5000 + b"}", "cannot be read"),
    (b'{"version": 1, "version": 2}', "stands twice"),
    (b"{" + b'"a": 0,' * 10**5 + b'"a": 0}', "stands twice"),
    (b"\xff\xfe{\x00}\x00", "no text in UTF-8"),
    (pickle.dumps({"format": "x"}), "no text in UTF-8"),
    (b"PK\x03\x04" + b"\x00" * 100, "no JSON"),
    (b"\x1f\x8b" + b"garbage", "damaged"),
    (gzip.compress(b"garbage", mtime=0), "no JSON"),
    (gzip.compress(b"{}", mtime=0)[:-6], "breaks off"),
    (gzip.compress(b"{}", mtime=0) + b"more", "follows after"),
    (gzip.compress(b"{}", mtime=0) * 2, "follows after"),
    (gzip.compress(gzip.compress(b"{}", mtime=0), mtime=0), "no text in UTF-8"),
], ids=lambda part: repr(part[:20]))
def test_bytes_that_are_no_recording_are_one_line(elsewhere, data, words):
    assert words in refusal(elsewhere, data)


def test_a_bomb_is_not_unpacked(elsewhere):
    import tracemalloc

    bomb = gzip.compress(b" " * (300 * 2**20))
    tracemalloc.start()
    try:
        assert "unpacks to more than 1 MB" in refusal(elsewhere, bomb, max_bytes=2**20)
        assert tracemalloc.get_traced_memory()[1] < 20 * 2**20
    finally:
        tracemalloc.stop()
    assert "larger than 1 MB" in refusal(elsewhere, b" " * (2**20 + 1), max_bytes=2**20)


def test_millions_of_values_are_counted_before_they_are_built(elsewhere, monkeypatch):
    monkeypatch.setattr(untrusted, "MOST_VALUES", 1000)
    assert "more than 1,000 values" in refusal(elsewhere, b"[" + b"[]," * 1000 + b"[]]")
    words = '"' + "," * 5000 + '"'      # commas in a text are no values
    assert "no recording" in refusal(elsewhere, words.encode())


def test_a_small_file_whose_requests_would_be_huge_is_refused(small, elsewhere, monkeypatch):
    monkeypatch.setattr(read_recording, "MOST_RESENT", 10_000)
    assert "written out" in refusal(elsewhere, packed(small))


def test_too_long_a_conversation_and_too_many_calls_are_refused(small, elsewhere, monkeypatch):
    monkeypatch.setattr(read_recording, "LONGEST_CONVERSATION", 5)
    assert "a conversation of more than 5 messages" in refusal(elsewhere, packed(small))
    monkeypatch.setattr(read_recording, "MOST_CALLS", 5)
    assert "5 are the limit" in refusal(elsewhere, packed(small))


def test_a_name_of_many_lines_stays_one_line(elsewhere):
    assert refusal(elsewhere, b"{}", name="a\nb\x1b[31m<script>" + "x" * 1000).startswith("a b␛[31m<script>xxx")


def test_what_fails_while_it_is_stored_leaves_nothing(small, elsewhere, monkeypatch):
    before = everything(elsewhere)
    with closing(sqlite3.connect(elsewhere.path)) as db:
        db.execute("create trigger full before insert on exchange when (select count(*) from exchange) > 5 "
                   "begin select raise(abort, 'disk full'); end")
    with pytest.raises(errors.StoreError):
        open_recording(packed(small), elsewhere, "")
    assert everything(elsewhere) == before


SPOILS = [None, True, -1, 0, 1, 2**70, 1.5, "", "x", "\ud800", [], {}, [[]], [None], {"a": 1}, {"type": "text"}, DELETE]


def places(value, here=()):
    yield here
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in inner:
        yield from places(part, (*here, name))


def test_any_one_value_replaced_is_either_refused_or_a_run_like_others(small, elsewhere):
    chance = random.Random(5)
    all_places = [place for place in places(small) if place]
    for place in chance.sample(all_places, 250):
        data = packed(changed(small, list(place), chance.choice(SPOILS)))
        try:
            group = open_recording(data, elsewhere, "")
        except errors.UnreadableFile as reason:
            assert str(reason).isprintable()
            continue
        for run in elsewhere.group(group):
            assert exchanges(elsewhere, run.id) and elsewhere.totals(run.id).calls
            Report.from_dict(run.report) if run.report else None
            if run.data_id:
                data_of(elsewhere, run)
    assert elsewhere.listed(Wanted(), limit=1000)


def test_any_bytes_changed_are_either_refused_or_a_run(small, elsewhere):
    chance, good = random.Random(7), json.dumps(small).encode()
    for _ in range(100):
        spoiled = bytearray(good)
        for _ in range(chance.randint(1, 4)):
            spoiled[chance.randrange(len(spoiled))] = chance.choice(b'"\\{}[],:0-.eNtn\xff')
        try:
            open_recording(bytes(spoiled), elsewhere, "")
        except errors.UnreadableFile as reason:
            assert str(reason).isprintable()
