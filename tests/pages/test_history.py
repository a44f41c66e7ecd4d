"""The History page: every run in one row, and what can be done with those that are ticked."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest
import seeds
from reading import everything, literal, markup, sound

from lib.runs import recording
from lib.runs.store import Wanted
from lib.task.default_design import default_design
from lib.ui import history, state

EDITED = replace(default_design(), name="mine").with_step("label", system="Name the cause. Be quick.")


@pytest.fixture
def two_groups(store, sample):
    """Group g1 of both shapes, and later a pipeline with another label prompt."""
    for shape in ("pipeline", "agent"):
        seeds.add_run(store, sample.tickets, sample.id, shape, title="tickets.csv · default v1")
    seeds.add_run(store, sample.tickets, sample.id, "pipeline", group="g2", created=9_000.0, design=EDITED.to_dict(),
                  title="tickets.csv · mine")


def rows(app):
    """The table as the browser gets it, a list of dicts."""
    table = next(found for found in app.dataframe if "status" in found.value.columns)
    return table.value.to_dict("records")


def tick(app, *places):
    app.session_state[app.session_state["_history_table"]] = {
        "selection": {"rows": list(places), "columns": [], "cells": []}}
    app.run()
    sound(app)
    return app


def opened(app, popover):
    """The page with this popover open."""
    app.session_state[f"history.{popover}"] = True
    app.run()
    sound(app)
    return app


def compared(app):
    """Causes of the comparison, a list of dicts."""
    table = next(found for found in app.dataframe if "left cause" in found.value.columns)
    return table.value.to_dict("records")


# --- the list --------------------------------------------------------------------------------------------------------


def test_before_a_run_the_page_says_what_will_be_here_and_leads_to_the_run(visit):
    app = visit("history")
    sound(app)
    assert "Every run will be one row here" in literal(app)
    app.button(key="history.to_run").click().run()
    assert app.title[0].value == "Run"


def test_a_row_tells_what_a_run_was_made_of_and_what_it_took(visit, two_groups):
    newest, agent, pipeline = rows(visit("history"))
    assert newest["design"] == "mine · unlike the default: label prompt"
    assert newest["data"] == "40 tickets of tickets.csv"
    assert (pipeline["calls"], pipeline["input tokens"], pipeline["time"]) == (46, 33_140, pytest.approx(16.24))
    assert pipeline["cost"] == pytest.approx(0.04349)
    assert pipeline["model"] == "Haiku 5.5" and list(pipeline["source"]) == ["simulated"]
    assert newest["#"] == 2 and agent["#"] == pipeline["#"] == 1
    assert (agent["shape"][0], pipeline["shape"][0]) == ("agent", "pipeline")


@pytest.mark.parametrize(("filters", "left"), [
    ({"text": "mine"}, 1), ({"text": "haiku 5.5"}, 3), ({"text": "HAIKU mine"}, 1), ({"text": "nothing like it"}, 0),
    ({"text": "100%"}, 0), ({"shape": "agent"}, 1), ({"status": "failed"}, 0), ({"source": "simulated"}, 3),
    ({"shape": "pipeline", "text": "tickets.csv"}, 2)], ids=str)
def test_filters_leave_the_runs_that_fit_all_of_them(visit, two_groups, filters, left):
    app = visit("history")
    for name, value in filters.items():
        widget = app.text_input if name == "text" else app.selectbox
        widget(key=f"history.filter.{name}").set_value(value).run()
    sound(app)
    if left:
        assert len(rows(app)) == left
    else:
        assert "No run fits these filters." in markup(app)
    assert ("3 runs" if left == 3 else f"{left} of 3 runs") in markup(app)


def test_filters_outlive_a_visit_to_another_page_and_can_be_taken_away_at_once(visit, two_groups):
    app = visit("history")
    app.text_input(key="history.filter.text").set_value("zzz").run()
    app.switch_page("pages/run.py").run()
    app.switch_page("pages/history.py").run()
    assert app.text_input(key="history.filter.text").value == "zzz"
    app.button(key="history.show_all").click().run()
    assert len(rows(app)) == 3


def test_names_and_notes_are_shown_as_they_were_typed(visit, store, sample):
    for number, text in enumerate((seeds.TRAP, "*bold* _a_b_ :red[x] 🎈", "n" * 5_000, "not \u202edesrever")):
        seeds.add_run(store, sample.tickets, sample.id, "agent", group=f"g{number}", note=text, title=text,
                      design=replace(EDITED, name=text).to_dict(), status="failed", error=text)
    app = visit("history")
    sound(app)
    found = {row["note"] for row in rows(app)}
    assert {seeds.TRAP, "*bold* _a_b_ :red[x] 🎈", "not [U+202E]desrever"} < found
    assert max(map(len, found)) == 300
    for popover in ("delete", "describe"):
        assert "evil.example" not in markup(opened(tick(app, 0, 1, 2, 3), popover))


def test_a_name_stands_where_it_is_seen_without_scrolling(visit, store, two_groups):
    store.update_run("g2-pipeline", title="For the class")
    newest = rows(visit("history"))[0]
    assert list(newest)[:2] == ["#", "name"] and newest["name"] == "For the class"


def test_the_dollars_of_a_replay_are_not_taken_for_spent(visit, store, sample, two_groups):
    seeds.add_run(store, sample.tickets, sample.id, "pipeline", group="g3", created=10_000.0, source="replay",
                  connection="tickets.csv, 30 Nov 14:03:10", origin="simulated · recorded 2026-11-12")
    app = visit("history")
    assert "nothing was sent or paid; its cost is what it would list" in everything(app)
    app = comparing(app, 0, 3)
    assert "| cost (of a replay: would list) |" in markup(app)
    assert "Answered by: simulated → replay of tickets.csv, 30 Nov 14:03:10" in literal(app)


@pytest.mark.parametrize("status", ["queued", "running", "done", "stopped", "failed", "interrupted"])
def test_a_run_of_any_status_without_an_answer_has_its_row(visit, store, sample, status):
    run = seeds.add_run(store, sample.tickets, "gone", "pipeline", status=status, error="why it ended", report=None,
                        priced=False, reported=False)
    app = visit("history")
    sound(app)
    (row,) = rows(app)
    assert row["status"] == status and row["why"] == "why it ended" and row["data"] == "data that are gone"
    assert row["cost"] is None or row["cost"] != row["cost"]        # unknown, never 0
    tick(app, 0)
    assert app.session_state["_history_chosen"] == [run.id]


def test_many_runs_come_page_by_page(visit, store, sample):
    run = seeds.add_run(store, sample.tickets, sample.id, "agent", status="failed")
    for number in range(150):
        store.add_run(replace(run, id=f"r{number}", group=f"many{number}", created=2_000.0 + number))
    app = visit("history")
    assert len(rows(app)) == 100 and rows(app)[0]["#"] == 151 and "151 runs" in markup(app)
    app.session_state["history.page"] = 2
    app.run()
    assert len(rows(app)) == 51 and rows(app)[-1]["#"] == 1
    app.selectbox(key="history.filter.status").set_value("failed").run()
    assert len(rows(app)) == 100        # a filter begins at the first page


def test_where_several_people_share_it_only_ones_own_runs_are_listed(visit, store, sample, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_SHARED", "1")
    seeds.add_run(store, sample.tickets, sample.id, "pipeline", group="others", desk="somebody")
    app = visit("history")
    sound(app)
    assert "Every run will be one row here" in literal(app)
    seeds.add_run(store, sample.tickets, sample.id, "pipeline", group="mine", desk=app.session_state["desk_id"])
    app.run()
    assert len(rows(app)) == 1
    app.session_state["_history_chosen"] = ["others-pipeline", "mine-pipeline"]     # as no table would have it
    app.session_state["_history_table"] = "unseen"
    sound(app.run())
    opened(app, "delete").button(key="history.delete.yes").click().run()
    assert store.run("others-pipeline") and not store.run("mine-pipeline")


# --- what is ticked --------------------------------------------------------------------------------------------------


def test_with_nothing_ticked_every_button_is_off_and_says_what_to_do(visit, two_groups):
    app = visit("history")
    assert app.button(key="history.open").disabled and app.button(key="history.compare").disabled
    assert "Tick runs at the left of the table" in markup(app)


def test_ticked_runs_stay_ticked_when_new_ones_come_and_when_a_filter_hides_them(visit, store, sample, two_groups):
    app = tick(visit("history"), 0)
    seeds.add_run(store, sample.tickets, sample.id, "agent", group="g3", created=99_000.0)
    app.run()
    assert app.session_state["_history_chosen"] == ["g2-pipeline"]
    app.selectbox(key="history.filter.shape").set_value("agent").run()
    assert app.session_state["_history_chosen"] == ["g2-pipeline"]
    assert "1 run ticked, 1 of them not in the rows below" in markup(app)
    tick(app, 0)
    assert set(app.session_state["_history_chosen"]) == {"g2-pipeline", "g3-agent"}
    app.button(key="history.untick").click().run()
    assert app.session_state["_history_chosen"] == []


def test_opening_shows_the_group_on_the_run_page(visit, two_groups):
    app = tick(visit("history"), 1, 2)
    app.button(key="history.open").click().run()
    sound(app)
    assert app.title[0].value == "Run" and app.query_params["run"] == "g1"


def test_runs_of_two_groups_are_not_opened_together(visit, two_groups):
    app = tick(visit("history"), 0, 1)
    assert app.button(key="history.open").disabled


# --- compare ---------------------------------------------------------------------------------------------------------


def comparing(app, *places):
    tick(app, *places).button(key="history.compare").click().run()
    sound(app)
    return app


def test_two_runs_of_one_shape_are_told_by_what_changed(visit, two_groups):
    app = comparing(visit("history"), 0, 2)
    text = everything(app)
    assert "pipeline: input tokens unchanged" in text and "same causes and counts" in text
    assert "Be quick." in text and "label: system prompt" in text
    assert {row["difference"] for row in compared(app)} == {"same tickets and customers"}


def test_the_two_shapes_of_one_group_are_told_as_on_the_run_page(visit, two_groups):
    app = comparing(visit("history"), 1, 2)
    assert "The agent sent 12 × the tokens of the pipeline" in literal(app)
    assert "Only the shape: data, design and source are the same." in literal(app)


def test_causes_with_other_counts_and_of_only_one_run_are_marked(visit, store, sample, two_groups):
    answer = seeds.report("pipeline", sample.tickets)
    first, *middle, _ = answer.causes
    shorter = replace(answer, causes=(replace(first, tickets=first.tickets[:-1]), *middle))
    store.update_run("g2-pipeline", report=shorter.to_dict())
    told = [row["difference"] for row in compared(comparing(visit("history"), 0, 2))]
    assert told[0] == "9 against 8 tickets · 1 ticket in only one of them"
    assert told[-1] == "only in 1\u00a0·\u00a0pipeline"
    assert told.count("same tickets and customers") == 3


def test_causes_of_other_tickets_are_listed_and_not_matched(visit, store, two_groups):
    meals = state.sample("meal kits")
    store.update_run("g2-pipeline", data_id=meals.id, report=seeds.report("pipeline", meals.tickets).to_dict())
    app = comparing(visit("history"), 0, 1)
    assert "Another shape on other data" in literal(app) and "Other data: 40 tickets of tickets.csv" in literal(app)
    assert "not matched" in markup(app) and len(compared(app)) == 5


@pytest.mark.parametrize("fields", [
    {"status": "failed", "report": None}, {"design": {"name": "of another version"}}, {"data_id": "gone"},
    {"status": "running"}, {"source": "replay", "origin": seeds.TRAP, "connection": seeds.TRAP}], ids=str)
def test_runs_that_lack_something_can_be_compared_all_the_same(visit, store, two_groups, fields):
    store.update_run("g2-pipeline", **fields)
    for places in ((0, 1), (0, 2)):
        assert "evil.example" not in markup(comparing(visit("history"), *places))


def test_a_comparison_goes_with_a_run_that_is_deleted(visit, store, two_groups):
    app = comparing(visit("history"), 0, 2)
    store.delete_run("g2-pipeline")
    app.run()
    sound(app)
    assert "Two runs compared" not in markup(app)


# --- name and note ---------------------------------------------------------------------------------------------------


def draft(app, field):
    kind = app.text_input if field == "title" else app.text_area
    return next(found for found in kind if found.key.startswith(f"history.draft.{field}."))


def test_name_and_note_are_kept_with_the_run(visit, store, two_groups):
    app = opened(tick(visit("history"), 0), "describe")
    draft(app, "title").set_value("  for *Monday* $5 ")
    draft(app, "note").set_value("k = 3\nis too few")
    app.button(key="history.describe.save").click().run()
    sound(app)
    run = store.run("g2-pipeline")
    assert (run.title, run.note) == ("for *Monday* $5", "k = 3\nis too few")
    assert rows(app)[0]["name"] == "for *Monday* $5" and rows(app)[1]["name"] == ""


def test_what_was_typed_and_not_saved_is_there_again(visit, two_groups):
    app = opened(tick(visit("history"), 0), "describe")
    draft(app, "note").set_value("half a thou").run()
    app.switch_page("pages/run.py").run()
    app.switch_page("pages/history.py").run()
    assert draft(opened(app, "describe"), "note").value == "half a thou"


def test_an_empty_name_is_the_usual_one(visit, store, two_groups):
    store.update_run("g2-pipeline", title="renamed")
    app = opened(tick(visit("history"), 0), "describe")
    draft(app, "title").set_value("  ")
    app.button(key="history.describe.save").click().run()
    assert store.run("g2-pipeline").title == "tickets.csv · mine"


def test_several_runs_get_one_note_and_keep_their_names(visit, store, two_groups):
    store.update_run("g2-pipeline", note="alone")
    app = opened(tick(visit("history"), 0, 1, 2), "describe")
    app.button(key="history.describe.save").click().run()
    assert store.run("g2-pipeline").note == "alone"      # nothing was typed
    draft(opened(app, "describe"), "note").set_value("all of them")
    app.button(key="history.describe.save").click().run()
    runs = [store.run(name) for name in ("g1-agent", "g1-pipeline", "g2-pipeline")]
    assert {run.note for run in runs} == {"all of them"}
    assert runs[2].title == "tickets.csv · mine" != runs[0].title


# --- delete ----------------------------------------------------------------------------------------------------------


def test_deleting_asks_with_runs_calls_and_megabytes(visit, store, two_groups):
    app = opened(tick(visit("history"), 0), "delete")
    assert "Delete 1 run with 46 calls, about " in literal(app) and " MB?" in literal(app)
    app.button(key="history.delete.yes").click().run()
    sound(app)
    assert store.run("g2-pipeline") is None and len(rows(app)) == 2
    assert app.button(key="history.open").disabled      # nothing is ticked any more


def test_deleting_the_shown_run_leaves_the_run_page_empty(visit, store, two_groups):
    app = opened(tick(visit("history", "g1"), 1, 2), "delete")
    app.button(key="history.delete.yes").click().run()
    app.switch_page("pages/run.py").run()
    sound(app)
    assert "run" not in app.query_params and not app.session_state["desk"]["group"]


def test_a_run_at_work_is_not_deleted(visit, store, sample, two_groups):
    app = opened(tick(visit("history"), 0), "delete")
    store.update_run("g2-pipeline", status="running")       # resumed in another tab meanwhile
    app.button(key="history.delete.yes").click().run()
    sound(app)
    assert store.run("g2-pipeline") and "Nothing was deleted: 1 run is at work." in literal(app)
    assert not [button for button in app.button if button.key == "history.delete.yes"]


# --- recordings and replay -------------------------------------------------------------------------------------------


def upload(app, data, name="mine.recording.json.gz"):
    app.file_uploader(key="history.recording.file").set_value((name, data, "application/gzip")).run()
    sound(app)
    return app


def test_an_opened_recording_is_listed_ticked_and_says_where_it_comes_from(visit, store, two_groups):
    data = recording.save(store, ["g1-pipeline", "g1-agent"])
    store.delete_runs(["g1-pipeline", "g1-agent"])
    app = upload(visit("history"), data)
    assert "mine.recording.json.gz is open: 2 runs, they are ticked below." in literal(app)
    ticked = [store.run(run_id) for run_id in app.session_state["_history_chosen"]]
    assert {run.shape for run in ticked} == {"pipeline", "agent"} and len({run.group for run in ticked}) == 1
    assert all("simulated" in run.origin for run in ticked)
    assert [list(row["source"]) for row in rows(app)] == [["simulated"], *[["simulated", "recorded"]] * 2]
    app.button(key="history.open").click().run()
    sound(app)
    assert app.query_params["run"] == ticked[0].group


def test_the_same_recording_is_opened_once(visit, store, two_groups):
    data = recording.save(store, ["g2-pipeline"])
    app = upload(visit("history"), data)
    app.run()
    app.selectbox(key="history.filter.shape").set_value("pipeline").run()
    assert store.how_many(Wanted()) == 4
    upload(app, data, "the same under another name.gz")
    assert store.how_many(Wanted()) == 4 and "was open already" in literal(app)
    upload(app, recording.save(store, ["g1-agent"]))        # the first name, with other content
    assert store.how_many(Wanted()) == 5


def test_a_recording_that_was_deleted_can_be_opened_again(visit, store, two_groups):
    data = recording.save(store, ["g2-pipeline"])
    app = upload(visit("history"), data)
    store.delete_runs(app.session_state["_history_chosen"])
    app.run()
    upload(app, data, "again.gz")
    assert store.how_many(Wanted()) == 4


@pytest.mark.parametrize("data", [b"", b"\x1f\x8b", b"not json", gzip.compress(b"{}", mtime=0), b"[]", b"[" * 9_999,
                                  json.dumps({"format": "something else"}).encode()], ids=lambda data: repr(data[:20]))
def test_what_is_no_recording_is_one_plain_line(visit, store, two_groups, data):
    app = upload(visit("history"), data, "*x*.json")
    (line,) = [line for line in literal(app).splitlines() if line.startswith("✕ *x*.json: ")]
    assert len(line) < 400 and store.how_many(Wanted()) == 3
    app.button(key="history.recording.ok").click().run()
    assert "✕" not in literal(app)


def finished(app, store):
    """The page when the runs that it started have ended."""
    while store.ids(working=True):
        app.run()
    sound(app.run())
    return app


def test_a_replay_is_a_new_run_of_the_same_design_and_data_and_leaves_the_desk_as_it_is(visit, store, sample):
    store.save_desk("mine", {"drafts": {"k": 3}})
    real = visit("start", desk="mine")
    real.button(key="start.run_sample").click().run()
    finished(real, store)
    before = store.load_desk("mine")
    app = opened(tick(visit("history", desk="mine"), 0, 1), "replay")
    app.segmented_control(key="history.replay.speed").set_value(0.0).run()
    app.button(key="history.replay.start").click().run()
    assert app.title[0].value == "Run"
    finished(app, store)
    replayed = [row for row in store.listed(Wanted(source="replay"))]
    first = {row.run.shape: row for row in store.listed(Wanted(source="simulated"))}
    assert len(replayed) == 2
    for row in replayed:
        assert row.run.status == "done" and row.run.design == first[row.run.shape].run.design
        assert row.totals.input == first[row.run.shape].totals.input and "simulated" in row.run.origin
        assert store.run(row.run.id).report == store.run(first[row.run.shape].run.id).report
    after = store.load_desk("mine")
    assert after.pop("group") == replayed[0].run.group != before.pop("group") and after == before


def test_a_double_click_starts_one_replay(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent")
    app = opened(tick(visit("history"), 0), "replay")
    app.button(key="history.replay.start").click().run()
    app.switch_page("pages/history.py").run()
    opened(app, "replay").button(key="history.replay.start").click().run()
    assert store.how_many(Wanted(source="replay")) == 1
    finished(app, store)


def test_runs_without_answers_data_or_of_two_groups_are_not_replayed(visit, store, sample, two_groups):
    app = visit("history")
    for places, told in (((0, 1), "one number only"), ((0,), "Its data are gone")):
        store.update_run("g2-pipeline", data_id="gone")
        tick(app, *places)
        popover = next(found.proto.popover for found in app.get("popover") if found.proto.popover.label == "Replay")
        assert popover.disabled and told in popover.help


# --- storage ---------------------------------------------------------------------------------------------------------


def test_the_page_says_where_all_is_kept_and_how_large_it_is(visit, store, two_groups):
    text = literal(visit("history"))
    assert str(store.path) in text and " MB: 3 runs, 132 calls, 1 data set. Kept when the playground stops." in text


def test_a_playground_that_keeps_nothing_says_so(visit, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_STORE", ":memory:")
    assert "In memory only, " in literal(visit("history")) and "Forgotten when the playground stops." in literal(
        visit("history"))
    assert "the file" not in literal(visit("history"))


def test_everything_can_be_deleted_after_a_second_click(visit, store, sample, two_groups):
    store.save_desk("mine", {"drafts": {"k": 3}, "group": "g1"})
    app = opened(visit("history", desk="mine"), "wipe")
    assert "3 runs and 132 calls, all uploaded data, and what you changed or saved on the Design page" in literal(app)
    app.button(key="history.wipe.yes").click().run()
    sound(app)
    assert store.counts() == {"runs": 0, "calls": 0, "data": 0} and not state.store().load_desk("mine")["drafts"]
    assert "Every run will be one row here" in literal(app)
    app.switch_page("pages/start.py").run()
    app.button(key="start.run_sample").click().run()
    sound(finished(app, store))     # the sample is put into the store again
    assert {run.status for run in store.runs()} == {"done"}


def test_nothing_is_deleted_while_a_run_is_at_work(visit, store, sample, two_groups):
    app = opened(visit("history"), "wipe")
    store.update_run("g1-agent", status="running")
    app.button(key="history.wipe.yes").click().run()
    assert store.counts()["runs"] == 3 and "Nothing was deleted: a run is at work." in literal(app)
    assert "Not while a run is at work" in markup(app)


def test_where_several_people_share_it_only_ones_own_runs_can_be_deleted(visit, store, sample, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_SHARED", "1")
    seeds.add_run(store, sample.tickets, sample.id, "pipeline", group="others", desk="somebody")
    app = visit("history")
    seeds.add_run(store, sample.tickets, sample.id, "pipeline", group="mine", desk=app.session_state["desk_id"])
    app.run()
    assert str(store.path) not in everything(app) and "Yours on this server: 1 run, 46 calls" in literal(app)
    opened(app, "wipe").button(key="history.wipe.yes").click().run()
    assert [run.id for run in store.runs()] == ["others-pipeline"]


# --- the Start page --------------------------------------------------------------------------------------------------


def test_recent_runs_tell_no_old_figures_of_a_run_at_work(visit, store, sample, monkeypatch):
    seeds.add_run(store, sample.tickets, sample.id, "agent", status="running")
    monkeypatch.setattr(state, "is_active", lambda run: True)
    text = markup(visit("start"))
    assert "at work" in text and "**agent**] running" not in text


def test_recent_runs_tell_note_and_origin_literally_and_lead_to_all_of_them(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent", note=seeds.TRAP, origin="live · *x* · recorded 2026-11-12")
    app = visit("start")
    assert "· recorded 2026-11-12 · “![x](https" in literal(app) and "evil.example" not in markup(app)
    assert any("All runs" in found.proto.label for found in app.get("page_link"))


# --- a store that fails ----------------------------------------------------------------------------------------------


def test_a_look_at_runs_at_work_that_the_store_cannot_answer_is_told_in_one_line(store, monkeypatch):
    told = []
    monkeypatch.setattr(history.st, "text", told.append)
    store.close()
    history._look({"r1": ("running", 1)})
    assert len(told) == 1 and told[0].startswith("✕ The run store ") and "\n" not in told[0]
