"""The history as the store lists it: which runs, in which order, with what sums; and deleting several at once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lib.runs.store import CallRow, Run, Store, Wanted

RUN = Run(id="", group="", shape="pipeline", status="done", source="live", connection="Anthropic API", data_id="gone",
          design={"name": "default v1", "steps": {"label": {"model": "claude-haiku-5-5"}}}, created=0.0)
CALL = CallRow(id=0, run_id="", step="label", subject="", model="m", started=10.0, seconds=2.0, stop_reason="end_turn",
               fresh=100, write_5m=0, write_1h=0, cache_read=0, output=7, thinking=0, usd=0.5)


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "runs.sqlite")
    yield made
    made.close()


def add(store, name, group="", calls=0, text="hello", **fields):
    store.add_run(replace(RUN, **{"id": name, "group": group or name, **fields}))
    for number in range(calls):
        said = {"role": "user", "content": f"{text} {number}"}
        store.add_call(replace(CALL, run_id=name), {"model": "m", "messages": [said]}, {"content": []})


def ids(listed):
    return [row.run.id for row in listed]


def test_the_newest_run_comes_first_with_the_sums_over_its_calls(store):
    add(store, "old", created=1.0, calls=2)
    add(store, "new", created=2.0, report={"large": 1})
    new, old = store.listed(Wanted())
    assert (old.run.id, old.totals.calls, old.totals.input, old.totals.usd) == ("old", 2, 200, 1.0)
    assert (new.run.id, new.totals.calls, new.run.report) == ("new", 0, None)


def test_a_part_of_the_list_begins_after_an_offset(store):
    for number in range(5):
        add(store, f"r{number}", created=float(number))
    assert ids(store.listed(Wanted(), limit=2, offset=2)) == ["r2", "r1"]
    assert store.how_many(Wanted()) == 5


def test_runs_started_together_have_one_number_and_older_groups_a_smaller_one(store):
    add(store, "a", "first", created=5.0)
    add(store, "b", "first", created=5.0, shape="agent")
    add(store, "c", "second", created=1.0)      # opened from a recording: it began long ago
    assert {row.run.id: row.number for row in store.listed(Wanted())} == {"a": 1, "b": 1, "c": 2}


def test_another_desk_sees_neither_runs_nor_how_many_there_are(store):
    add(store, "mine", desk="me", calls=1, created=1.0)
    add(store, "theirs", desk="you", calls=3)
    (row,) = store.listed(Wanted(), "me")
    assert (row.run.id, row.number) == ("mine", 1)
    assert ids(store.listed_runs(["mine", "theirs"], "me")) == ["mine"]
    assert store.how_many(Wanted(), "me") == 1
    assert store.counts("me") == {"runs": 1, "calls": 1, "data": 1}
    assert store.counts() == {"runs": 2, "calls": 4, "data": 0}
    assert store.ids("me") == ["mine"]


@pytest.mark.parametrize(("text", "found"), [
    ("", "ab"), ("anthropic", "ab"), ("monday", "a"), ("MONDAY note", "a"), ("monday tuesday", ""), ("haiku 5.5", "ab"),
    ("sonnet", "b"), ("k=3", "b"), ("100%", "a"), ("0%s", ""), ("a_b", "b"), ("axb", ""), ("\\", ""), ("'", ""),
    ("\ud800", ""), ("default", "ab"), ("steps", ""), ("prompt", "")])
def test_a_text_is_looked_for_literally_in_all_that_a_run_is_called_by(store, text, found):
    add(store, "a", note="a note for Monday, 100% sure", created=2.0)
    add(store, "b", title="k=3 a_b", created=1.0, design={"name": "default v1", "system": "prompt", "steps": {
        "label": {"model": "claude-haiku-5-5"}, "merge": {"model": "claude-sonnet-5-5"}}})
    assert "".join(ids(store.listed(Wanted(text)))) == found
    assert store.how_many(Wanted(text)) == len(found)


def test_the_name_of_the_data_is_listed_and_found(store):
    data_id = store.save_data('{"name": "x.csv", "tickets": [{}, {}, {}], "notes": []}', None, "x.csv")
    add(store, "a", data_id=data_id)
    (row,) = store.listed(Wanted("x.csv"))
    assert row.data_name == "x.csv" and store.tickets_in(data_id) == 3
    assert store.tickets_in("gone") is None


def test_filters_hold_together(store):
    add(store, "a", shape="agent", status="failed", source="server")
    add(store, "b", shape="agent", status="done", source="server")
    assert ids(store.listed(Wanted(shape="agent", status="done", source="server"))) == ["b"]
    assert store.how_many(Wanted(shape="pipeline", source="server")) == 0


def test_a_very_long_search_text_is_cut_and_breaks_nothing(store):
    add(store, "a", note="word " * 5_000)
    assert store.how_many(Wanted("word " * 5_000)) == 1


def test_several_runs_are_deleted_at_once_and_what_others_say_too_stays(store):
    add(store, "a", calls=2, created=1.0)
    add(store, "b", calls=2, created=2.0)
    add(store, "c", calls=2, text="only here", created=3.0)
    store.delete_runs(["a", "c", "never was"])
    assert ids(store.listed(Wanted())) == ["b"]
    request, _ = store.exchange(store.calls("b")[0].id)
    assert request["messages"][0]["content"] == "hello 0"
    assert b"only here" not in store.path.read_bytes()


def test_the_weight_of_runs_counts_each_message_once(store):
    add(store, "a", calls=1, text="x" * 10_000)
    one = store.weight(["a"])
    assert 10_000 < one < 11_000
    add(store, "b", calls=1, text="x" * 10_000)
    assert store.weight(["a", "b"]) < one + 1_000
    assert store.weight([]) == store.weight(["gone"]) == 0


def test_runs_at_work_are_told_apart(store):
    for status in ("queued", "running", "done", "failed"):
        add(store, status, status=status)
    assert set(store.ids(working=True)) == {"queued", "running"}
    assert len(store.ids()) == 4
