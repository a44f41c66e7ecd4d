"""Faults and time of the simulated API: set on a page, kept on the desk, told wherever they matter."""

from __future__ import annotations

import pytest
import seeds
from reading import everything, literal, markup, sound

from lib.simulated.conditions import Conditions
from lib.ui import simulation, state

FIELD = "run.simulation."
TABS = ("Answer", "Calls", "Timeline", "Checks", "Prompts & tools")


def set_percent(app, name, value):
    return app.number_input(key=FIELD + name).set_value(value).run()


@pytest.fixture
def started(visit, monkeypatch):
    """started(app) -> what Runs.start was given when Run was pressed."""
    def press(app):
        given = []
        monkeypatch.setattr(type(state.runs()), "start", lambda self, *args: given.append(args) or "g")
        app.button(key="run.start").click().run()
        sound(app)
        return given[0]
    return press


def test_what_is_set_reaches_the_run_and_is_told_where_it_starts(visit, started):
    app = visit("run")
    for name in ("rate_limited", "overloaded", "server_error", "slow"):
        set_percent(app, name, 10.0)
    app.toggle(key=FIELD + "confused").set_value(True).run()
    told = "10 % rate limited, 10 % overloaded, 10 % server errors, 10 % slow, a confused model"
    assert f"simulated with: {told}." in literal(app)
    assert started(app)[9] == told


def test_without_any_nothing_is_told(visit, started):
    app = visit("run")
    assert "simulated with:" not in literal(app) and started(app)[9] == ""


def test_what_is_set_reaches_the_simulated_api(visit, monkeypatch):
    connected = []
    monkeypatch.setattr("lib.client.connect.connect_simulated", lambda *args, **more: connected.append((args, more)))
    app = set_percent(visit("run"), "overloaded", 25.0)
    app.number_input(key=FIELD + "seed").set_value(7).run()
    app.selectbox(key=FIELD + "speed").set_value(10.0).run()
    monkeypatch.setattr(type(state.runs()), "start", lambda self, *args: args[5]() or "g")
    app.button(key="run.start").click().run()
    sound(app)
    [((_, speed), more)] = connected
    assert speed == 10.0 and more == {"conditions": Conditions(seed=7, overloaded=0.25)}


def test_faults_and_speed_are_still_there_on_another_page_and_after_a_refresh(visit):
    app = set_percent(visit("run"), "rate_limited", 15.0)
    app.selectbox(key=FIELD + "speed").set_value(100.0).run()
    app.number_input(key=FIELD + "large.pace").set_value(20.0).run()
    app.switch_page("pages/design.py").run()
    later = visit("start")
    for page, found in (("design", app), ("start", later)):
        assert found.number_input(key=f"{page}.simulation.rate_limited").value == 15.0
        assert found.number_input(key=f"{page}.simulation.large.pace").value == 20.0
        assert found.selectbox(key=f"{page}.simulation.speed").value == 100.0
    assert "simulated with: 15 % rate limited, other speeds." in literal(later)


def test_another_speed_of_one_size_leaves_the_others(visit):
    app = visit("run")
    app.number_input(key=FIELD + "small.first").set_value(5.0).run()
    [(size, speed)] = [(s, v) for s, v in app.session_state["desk"]["simulation"]["speeds"].items()
                       if v != Conditions().to_dict()["speeds"][s]]
    assert size == "small" and speed == [5.0, 1 / 75]


def test_the_settings_of_the_server_are_where_it_begins_and_what_a_reset_brings_back(visit, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_FAULTS", "overloaded=0.2,confused=1")
    app = visit("run")
    assert "simulated with: 20 % overloaded, a confused model." in literal(app)
    assert app.button(key=FIELD + "reset").disabled
    app.toggle(key=FIELD + "confused").set_value(False).run()
    assert "simulated with: 20 % overloaded." in literal(app)
    app.button(key=FIELD + "reset").click().run()
    assert app.toggle(key=FIELD + "confused.1").value is True
    assert "a confused model" in literal(app)


def test_a_setting_of_faults_that_makes_no_sense_is_one_line_and_no_page(visit, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_FAULTS", "overloaded=often")
    app = visit("run")
    sound(app)
    assert "PLAYGROUND_FAULTS has 'overloaded=often'" in literal(app)


@pytest.mark.parametrize("faults", ["small=0.5/0.01", "large=3600/1000000", "seed=1000000000"])
def test_whatever_the_settings_take_the_fields_show(visit, monkeypatch, faults):
    monkeypatch.setenv("PLAYGROUND_FAULTS", faults)
    sound(visit("run"))


@pytest.mark.parametrize("found", [
    {"speeds": {"small": [1e9, 1e9], "large": [0, 0]}}, {"seed": 10**12, "requests_per_minute": 10**12}])
def test_a_kept_value_beyond_a_field_is_shown_at_its_end(visit, store, found):
    store.save_desk("d", {"simulation": found})
    sound(visit("run", desk="d"))


def test_two_tabs_do_not_undo_each_others_faults(visit, store):
    one, other = visit("run", desk="d"), visit("run", desk="d")
    set_percent(one, "rate_limited", 10.0)
    set_percent(other, "overloaded", 20.0)
    other.number_input(key=FIELD + "small.first").set_value(5.0).run()
    assert "simulated with: 10 % rate limited, 20 % overloaded, other speeds." in literal(one.run())


@pytest.mark.parametrize("found", ["much", {"speed": "fast", "rate_limited": "some", "tomorrow": 1}, {"speeds": [1]}])
def test_what_another_version_kept_is_left_out(visit, store, found):
    store.save_desk("d", {"simulation": found})
    app = visit("run", desk="d")
    sound(app)
    assert "simulated with:" not in literal(app) and app.selectbox(key=FIELD + "speed").value == 0.0


def test_only_the_simulation_can_be_told_to_misbehave(visit):
    app = set_percent(visit("run"), "overloaded", 25.0)
    app.radio(key="run.connection.kind").set_value("live").run()
    assert "simulated with:" not in literal(app)
    assert not [n for n in app.number_input if n.key == FIELD + "overloaded"]


# --- what the pages say of runs made so ------------------------------------------------------------------------------


def test_a_run_says_under_which_conditions_it_was_made(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent", conditions="10 % rate limited")
    assert "· simulated with 10 % rate limited" in literal(visit("run", "g1"))
    assert "· with 10 % rate limited" in literal(visit("start"))


@pytest.mark.parametrize("tab", TABS)
def test_every_view_of_simulated_answers_says_so_and_what_that_means(visit, store, sample, tab):
    seeds.add_run(store, sample.tickets, sample.id, "agent")
    app = visit("run", "g1")
    app.session_state["run.tabs"] = tab
    app.run()
    sound(app)
    assert [c.value for c in app.caption].count(simulation.MEANS) == 2      # in the badge, and in this view


@pytest.mark.parametrize("tab", TABS)
def test_no_view_says_so_of_a_live_run(visit, store, sample, tab):
    seeds.add_run(store, sample.tickets, sample.id, "agent", source="live")
    app = visit("run", "g1")
    app.session_state["run.tabs"] = tab
    app.run()
    assert [c.value for c in app.caption].count(simulation.MEANS) == 1


def test_the_start_page_says_so_while_a_run_is_at_work_and_of_recent_ones(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent", status="running")
    assert [c.value for c in visit("start", "g1").caption].count(simulation.MEANS) == 2
    assert f"simulated: {simulation.RULES}" in markup(visit("start", desk="new"))


def test_an_opened_call_says_who_wrote_it(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent")
    app = visit("run", "g1")
    app.session_state["run.tabs"] = "Calls"
    before = everything(app.run()).count("badge[simulated]")
    app.session_state["run.calls"] = {"selection": {"rows": [3], "columns": [], "cells": []}}
    assert everything(app.run()).count("badge[simulated]") == before + 1


def test_a_run_under_other_conditions_says_what_changed(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "pipeline", created=1_000.0, conditions="10 % rate limited")
    seeds.add_run(store, sample.tickets, sample.id, "pipeline", group="g2", created=2_000.0)
    app = visit("run", "g2")
    assert "The simulation: 10 % rate limited → no faults" in literal(app)
    assert "| calls | unchanged (46) |" in markup(app)


def test_a_run_is_resumed_under_the_conditions_of_now(visit, store, sample, monkeypatch):
    asked = []
    monkeypatch.setattr(type(state.runs()), "resume", lambda self, *given: asked.append(given))
    seeds.add_run(store, sample.tickets, sample.id, "agent", status="stopped", conditions="50 % overloaded")
    app = set_percent(visit("run", "g1"), "slow", 10.0)
    app.button(key="run.resume.agent").click().run()
    assert asked[0][3] == "10 % slow"
