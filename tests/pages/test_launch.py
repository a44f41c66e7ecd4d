"""Whether a click on Run, Resume or Yes does what the person sees, and never more than that."""

from __future__ import annotations

import pytest
import seeds
from reading import everything, literal, markup, sound

from lib.ui import state


@pytest.fixture
def slow(monkeypatch):
    """Runs take real time; what a test has begun is stopped at its end."""
    monkeypatch.setenv("PLAYGROUND_SPEED", "20")
    yield
    for run in state.store().runs():
        state.runs().stop(run.id)


def test_a_run_button_left_over_in_another_tab_starts_nothing(visit, store, slow):
    one, other = visit("run", desk="d"), visit("run", desk="d")
    one.button(key="run.start").click().run()
    other.button(key="run.start").click().run()
    assert len(store.runs()) == 2       # one group: the pipeline and the agent


def test_a_run_of_many_tickets_asks_first(visit, store, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_CONFIRM_ABOVE", "30")
    app = visit("run")
    app.button(key="run.start").click().run()
    assert "Send them all?" in markup(app) and not store.runs()
    app.button(key="run.confirm").click().run()
    assert len(store.runs()) == 2


def test_the_question_goes_away_with_its_reason(visit, store, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_CONFIRM_ABOVE", "30")
    app = visit("run")
    app.button(key="run.start").click().run()
    app.pills(key="run.shapes").set_value([]).run()
    sound(app)
    assert "Send them all?" not in markup(app)
    monkeypatch.setenv("PLAYGROUND_CONFIRM_ABOVE", "500")
    assert "Send them all?" not in markup(app.run())


def test_a_run_whose_data_is_gone_says_so_when_resumed(visit, store, sample):
    seeds.add_run(store, sample.tickets, "gone", "agent", status="failed")
    app = visit("run", "g1")
    app.button(key="run.resume.agent").click().run()
    sound(app)
    assert "Data set gone is not in the run store" in literal(app)


@pytest.mark.parametrize("source", ["live", "server"])
def test_a_run_is_resumed_only_by_what_answered_it_so_far(visit, store, sample, source):
    seeds.add_run(store, sample.tickets, sample.id, "agent", status="stopped", source=source, connection="there")
    resume = visit("run", "g1").button(key="run.resume.agent")
    assert resume.disabled and "it answered this run so far" in resume.help


@pytest.mark.parametrize("source", ["simulated", "live", "server"])
def test_figures_without_an_answer_name_their_source_too(visit, store, sample, source):
    seeds.add_run(store, sample.tickets, sample.id, "agent", status="failed", source=source)
    badge = {"server": "compatible server"}.get(source, source)
    assert f"badge[{badge}]" in "\n".join(m.value for m in visit("run", "g1").markdown)


def test_a_run_of_a_later_version_is_left_out(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent", status="failed")
    store._db.execute("update run set shape = 'shape of tomorrow'")
    for page in ("start", "run"):
        sound(visit(page, "g1"))


def test_a_store_deleted_under_a_running_playground_is_one_line(visit, store):
    app = visit("run")
    store.path.unlink()
    app.button(key="run.start").click().run()
    sound(app)
    assert "was deleted while the playground was running" in everything(app) and not store.runs()
