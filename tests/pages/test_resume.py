"""Resuming from a page: under the limits of now, and with one line where it cannot be."""

from __future__ import annotations

import seeds
from reading import literal, sound

from lib.simulated.conditions import Conditions
from lib.tickets import TicketSet
from lib.ui import state


def resume(visit, store, sample, drafts, monkeypatch, **run):
    """The page after Resume, and what the runs were asked to do."""
    asked = []
    monkeypatch.setattr(type(state.runs()), "resume", lambda self, *given: asked.append(given))
    seeds.add_run(store, sample.tickets, sample.id, "agent", status="stopped", desk="d", **run)
    store.save_desk("d", {"drafts": drafts, "group": "g1"})
    app = visit("run", "g1", desk="d")
    app.button(key="run.resume.agent").click().run()
    sound(app)
    return app, asked


def test_a_raised_limit_lets_a_run_go_on(visit, store, sample, monkeypatch):
    _, [(run_id, _, limits, *_)] = resume(visit, store, sample, {"limits.max_turns": 99}, monkeypatch)
    assert run_id == "g1-agent" and limits.max_turns == 99


def test_a_limit_that_is_not_possible_is_named_and_nothing_goes_on(visit, store, sample, monkeypatch):
    app, asked = resume(visit, store, sample, {"limits.max_turns": 0}, monkeypatch)
    assert not asked and "Turns at most: 0 is not possible" in literal(app)


def test_a_design_of_another_version_is_one_line(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent", status="stopped")
    app = visit("run", "g1")
    design = {**store.run("g1-agent").design, "temperature": 1}
    store.update_run("g1-agent", design=design)
    app.button(key="run.resume.agent").click().run()
    sound(app)
    assert "This run cannot go on: this is no design of this version" in literal(app)
    assert store.run("g1-agent").status == "stopped"


def test_a_resumed_run_does_not_meet_the_same_faults_again(visit, store, sample, monkeypatch):
    """With the seed it began with, the attempts that ended it would fail once more, however often one resumes."""
    connected = []
    monkeypatch.setattr("lib.client.connect.connect_simulated", lambda *args, **more: connected.append(more))
    _, [(_, connect, *_)] = resume(visit, store, sample, {}, monkeypatch)
    connect()
    [more] = connected
    assert more == {"conditions": Conditions(seed=len(sample.tickets))}, "it had made one call per ticket"


# --- where the desk holds something else by now ----------------------------------------------------------------------


def ask(visit, store, sample, monkeypatch, shape="agent", **desk):
    """The page after a click on Resume, with `desk` on the desk, and what the runs were asked to do."""
    asked = []
    monkeypatch.setattr(type(state.runs()), "resume", lambda self, *given: asked.append(given))
    monkeypatch.setattr(type(state.runs()), "start", lambda self, *given: asked.append(given) or "new")
    seeds.add_run(store, sample.tickets, sample.id, shape, status="stopped", desk="d")
    store.save_desk("d", {"group": "g1", **desk})
    app = visit("run", "g1", desk="d")
    app.button(key=f"run.resume.{shape}").click().run()
    sound(app)
    return app, asked


EDITED = {"steps.label.system": "Label it.", "k": 4}


def test_resume_with_another_design_asks_first_and_names_what_differs(visit, store, sample, monkeypatch):
    app, asked = ask(visit, store, sample, monkeypatch, "pipeline", drafts=EDITED)
    assert not asked
    assert ("The desk holds something else than this pipeline run began with: how many causes, label prompt. Resume "
            "goes on with the run's own; finished calls are not paid again.") in literal(app)


def test_other_data_are_asked_about_too(visit, store, sample, monkeypatch):
    own = TicketSet("own.csv", sample.tickets.tickets[:12])
    app, asked = ask(visit, store, sample, monkeypatch, data_id=store.save_data(own.to_json(), None, own.name))
    assert not asked and "began with: data." in literal(app)
    assert app.button(key="run.resume.anew").label == "Start a new run with the present design (12 tickets)"


def test_resume_as_it_was_goes_on_with_the_runs_own_design_and_data(visit, store, sample, monkeypatch):
    app, asked = ask(visit, store, sample, monkeypatch, drafts={**EDITED, "limits.max_turns": 99})
    assert "The limits are the desk's from now on: 60 → 99 turns." in literal(app)
    app.button(key="run.resume.as_it_was").click().run()
    sound(app)
    [(run_id, _, limits, *_)] = asked
    assert run_id == "g1-agent" and limits.max_turns == 99
    assert "began with" not in literal(app) and "from now on: 60 → 99 turns." in literal(app)


def test_a_new_run_can_be_started_in_its_place(visit, store, sample, monkeypatch):
    app, asked = ask(visit, store, sample, monkeypatch, drafts=EDITED)
    app.button(key="run.resume.anew").click().run()
    sound(app)
    [(design, shapes, *_)] = asked
    assert shapes == ["agent"] and design.k == 4


def test_the_question_can_be_left(visit, store, sample, monkeypatch):
    app, asked = ask(visit, store, sample, monkeypatch, drafts=EDITED)
    app.button(key="run.resume.cancel").click().run()
    assert not asked and "began with" not in literal(app)


def test_the_question_goes_away_when_the_desk_holds_the_same_again_or_the_run_works(visit, store, sample, monkeypatch):
    app, _ = ask(visit, store, sample, monkeypatch, drafts=EDITED)
    store.update_run("g1-agent", status="running")
    assert "began with" not in literal(app.run())
    store.update_run("g1-agent", status="stopped")
    store.save_desk("d", {**store.load_desk("d"), "drafts": {}})
    assert "began with" not in literal(app.run())


def test_another_limit_alone_asks_nothing_and_is_told(visit, store, sample, monkeypatch):
    app, asked = resume(visit, store, sample, {"limits.max_usd": 2.5}, monkeypatch)
    assert len(asked) == 1 and "The limits are the desk's from now on: 5 → 2.5 dollars." in literal(app)
