"""The replay of a run: chosen in the badge at the top right, and told wherever its answers or dollars are shown."""

from __future__ import annotations

import time

import pytest
import seeds
from reading import everything, literal, markup, sound

from lib.design import Design
from lib.task.default_design import default_design
from lib.ui import state

WAIT = 30       # seconds


@pytest.fixture
def recorded(visit, store):
    """A run that the simulation answered, both ways: the group's id."""
    visit("run").button(key="run.start").click().run()
    group = store.runs()[0].group
    _wait(store, group)
    return group


def _wait(store, group):
    deadline = time.monotonic() + WAIT
    while any(run.status in ("queued", "running") for run in store.group(group)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return {run.shape: run for run in store.group(group)}


def replay(visit, group, speed=0.0, page="run", shown=""):
    app = visit(page, shown)
    app.radio(key=f"{page}.connection.kind").set_value("replay").run()
    app.selectbox(key=f"{page}.connection.replay").set_value(group).run()
    app.segmented_control(key=f"{page}.connection.replay_speed").set_value(speed).run()
    sound(app)
    return app


def start(app, store):
    before = {run.group for run in store.runs()}
    app.button(key="run.start").click().run()
    group = next(run.group for run in store.runs() if run.group not in before)
    found = _wait(store, group)
    sound(app.run())
    return found


def test_a_replay_gives_the_same_answer_and_sends_nothing(visit, store, recorded):
    app = replay(visit, recorded)
    found = start(app, store)
    for run in store.group(recorded):
        again = found[run.shape]
        assert again.status == "done" and again.source == "replay"
        assert again.report == run.report and again.prices == run.prices
        assert again.origin.startswith("simulated · recorded ")


def test_its_dollars_are_what_it_would_list(visit, store, recorded):
    app = replay(visit, recorded)
    assert ":gray[would send ≈]" in markup(app) and "a replay: nothing is sent or paid" in markup(app)
    start(app, store)
    assert [m.label for m in app.metric].count("would list") == 2 and "cost" not in {m.label for m in app.metric}
    assert "badge[replay]" in markup(app)
    assert "nothing is sent, $0 spent; dollars are what it would list." in literal(app)
    assert "would cost" in literal(app) and "Rules on this machine write the replies" in literal(app)


def test_an_edited_prompt_ends_it_and_says_what_differs(visit, store, recorded):
    app = replay(visit, recorded)
    system = default_design().steps["label"].system
    desk = app.session_state["desk_id"]
    store.save_desk(desk, {**store.load_desk(desk), "drafts": {"steps.label.system": system + " Be quick."}})
    found = start(app.run(), store)
    assert found["pipeline"].status == "failed" and found["agent"].status == "done"
    assert "the system prompt differs" in literal(app) and "Be quick." in literal(app)


def test_what_the_desk_holds_otherwise_is_told_and_can_be_put_right(visit, store, recorded):
    store.save_desk(desk := store.latest_desk(), {**store.load_desk(desk), "drafts": {"k": 4}})
    app = replay(visit, recorded)
    assert "⚠ The design on the desk is not that run's" in literal(app)
    app.button(key="run.replay.take").click().run()
    sound(app)
    assert "is not that run's" not in literal(app) and store.load_desk(desk)["drafts"] == {}
    design = app.switch_page("pages/design.py").run()
    design.button(key="design.take_back").click().run()
    assert store.load_desk(desk)["drafts"] == {"k": 4}


def test_the_design_of_an_edited_run_comes_back_whole(visit, store, sample):
    edited = default_design().with_step("label", system="Label it.").with_tool("tally", enabled=False)
    seeds.add_run(store, sample.tickets, sample.id, "agent", design=edited.to_dict())
    app = replay(visit, "g1")
    app.button(key="run.replay.take").click().run()
    app.run()
    desk = store.load_desk(app.session_state["desk_id"])
    assert Design.from_dict(desk["opened"]) == edited and desk["drafts"] == {}
    assert "is not that run's" not in literal(app)


def test_before_one_is_chosen_nothing_can_be_started(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent")
    app = visit("run")
    app.radio(key="run.connection.kind").set_value("replay").run()
    assert app.button(key="run.start").disabled and "Choose at the top right which run is replayed." in literal(app)


def test_without_a_run_there_is_nothing_to_replay(visit, store):
    app = visit("run")
    app.radio(key="run.connection.kind").set_value("replay").run()
    sound(app)
    assert "No run to replay yet." in markup(app) and app.button(key="run.start").disabled


def test_a_replay_and_a_run_without_answers_are_not_offered(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent", group="real")
    seeds.add_run(store, sample.tickets, sample.id, "agent", group="again", source="replay")
    store.add_run(store.group("real")[0].__class__(**{**vars(store.group("real")[0]), "id": "x", "group": "empty"}))
    app = visit("run")
    app.radio(key="run.connection.kind").set_value("replay").run()
    assert len(app.selectbox(key="run.connection.replay").options) == 1


def test_in_a_shared_playground_only_ones_own_runs_are_offered(visit, store, sample, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_SHARED", "1")
    seeds.add_run(store, sample.tickets, sample.id, "agent", desk="theirs")
    app = visit("run")
    app.radio(key="run.connection.kind").set_value("replay").run()
    assert "No run to replay yet." in markup(app)


def test_the_choice_is_still_there_on_another_page_and_in_a_new_session(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent")
    app = replay(visit, "g1", speed=30.0)
    app.switch_page("pages/start.py").run()
    for shown, page in ((app, "start"), (visit("run"), "run")):
        assert shown.radio(key=f"{page}.connection.kind").value == "replay"
        assert shown.selectbox(key=f"{page}.connection.replay").value == "g1"
        assert shown.segmented_control(key=f"{page}.connection.replay_speed").value == 30.0


def test_when_the_run_is_deleted_a_new_session_is_simulated_again(visit, store, sample):
    run = seeds.add_run(store, sample.tickets, sample.id, "agent")
    replay(visit, "g1")
    store.delete_run(run.id)
    assert visit("run").radio(key="run.connection.kind").value == "simulated"


def test_a_stopped_replay_is_resumed_whatever_is_chosen_by_now(visit, store, recorded):
    app = replay(visit, recorded, speed=1.0)
    app.button(key="run.start").click().run()
    agent = next(run for run in store.runs() if run.source == "replay" and run.shape == "agent")
    while not store.calls(agent.id):
        time.sleep(0.05)
    app.button(key="run.stop.agent").click().run()
    for run in store.group(agent.group):
        state.runs().stop(run.id)
    _wait(store, agent.group)
    app.run()
    app.segmented_control(key="run.connection.replay_speed").set_value(0.0).run()
    app.radio(key="run.connection.kind").set_value("simulated").run()
    assert not app.button(key="run.resume.agent").disabled
    app.button(key="run.resume.agent").click().run()
    assert _wait(store, agent.group)["agent"].status == "done"
    sound(app.run())
    assert "taken from before, not paid again" in literal(app)


def test_a_replay_whose_run_is_gone_cannot_be_resumed(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent", status="stopped", source="replay",
                  connection="tickets.csv, 30 Nov 14:03:12")
    button = visit("run", "g1").button(key="run.resume.agent")
    assert button.disabled and "The run that it replays is gone" in button.help


def test_titles_and_origins_of_strangers_stay_literal(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent", title=seeds.TRAP, origin=f"live · {seeds.TRAP} · recorded")
    app = replay(visit, "g1", shown="g1")
    assert "evil.example" in literal(app) and "evil.example" not in markup(app)
    assert "opened from a recording: live · ![x]" in literal(app)


def test_a_run_from_a_recording_says_whose_answers_it_shows(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent", origin="simulated · recorded 2026-11-12")
    words = literal(visit("run", group="g1"))
    assert "opened from a recording: a simulated run of 12 Nov 2026. Rules on this machine write" in words
    assert "· simulated, from a recording" in words      # at the top, too


def test_no_count_is_asked_of_a_recording(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent")
    app = replay(visit, "g1")
    assert not [b for b in app.button if b.key == "run.count"] and "will send" not in everything(app)
