"""Resuming from a page: under the limits of now, and with one line where it cannot be."""

from __future__ import annotations

import seeds
from reading import literal, sound

from lib.simulated.conditions import Conditions
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
    _, [(run_id, _, limits, _)] = resume(visit, store, sample, {"limits.max_turns": 99}, monkeypatch)
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
    _, [(_, connect, _, _)] = resume(visit, store, sample, {}, monkeypatch)
    connect()
    [more] = connected
    assert more == {"conditions": Conditions(seed=len(sample.tickets))}, "it had made one call per ticket"
