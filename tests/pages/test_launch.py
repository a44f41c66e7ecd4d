"""Whether a click on Run, Resume or Yes does what the person sees, and never more than that."""

from __future__ import annotations

import pytest
import seeds
from reading import everything, literal, markup, sound

from lib.task.default_design import default_design
from lib.tickets import TicketSet
from lib.ui import start_runs, state


@pytest.fixture
def slow(monkeypatch):
    """Runs take real time; what a test has begun is stopped at its end."""
    monkeypatch.setenv("PLAYGROUND_SPEED", "20")
    yield
    for run in state.store().runs():
        state.runs().stop(run.id)


def test_a_run_button_left_over_in_another_tab_starts_nothing(visit, store, slow, monkeypatch):
    monkeypatch.setattr(start_runs, "DOUBLE_CLICK", 60.0)     # a busy machine takes its time
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


def test_a_run_whose_data_are_gone_says_so_and_cannot_be_resumed(visit, store, sample):
    seeds.add_run(store, sample.tickets, "gone", "agent", status="failed", error="529 overloaded")
    app = visit("run", "g1")
    assert app.button(key="run.resume.agent").disabled
    assert "529 overloaded Its data are gone from the store, so it cannot go on." in literal(app)


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


def test_what_would_end_a_run_early_is_told_before_it(visit, store):
    store.save_desk("d", {"drafts": {"limits.max_turns": 8}})
    text = literal(visit("run", desk="d"))
    assert "⚠ agent: reading every ticket takes about" in text and "the limit is 8" in text


def test_the_start_page_runs_ones_own_tickets_too(visit, store, sample, slow):
    own = TicketSet("own.csv", sample.tickets.tickets[:12])
    own_id = store.save_data(own.to_json(), None, own.name)
    store.save_desk("d", {"data_id": own_id})
    app = visit("start", desk="d")
    assert app.button(key="start.run_own").label == "Run my 12 tickets both ways"
    app.button(key="start.run_own").click().run()
    sound(app)
    assert {run.data_id for run in store.runs()} == {own_id} and len(store.runs()) == 2


def test_many_own_tickets_are_asked_about_on_the_start_page_too(visit, store, sample, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_CONFIRM_ABOVE", "10")
    own = TicketSet("own.csv", sample.tickets.tickets[:12])
    store.save_desk("d", {"data_id": store.save_data(own.to_json(), None, own.name)})
    app = visit("start", desk="d")
    app.button(key="start.run_own").click().run()
    assert "Send them all?" in markup(app) and not store.runs()


def test_the_sample_button_says_when_the_design_is_edited(visit, store):
    assert "with your edited design" not in markup(visit("start"))
    store.save_desk("d", {"drafts": {"k": 4}})
    assert "with your edited design" in markup(visit("start", desk="d"))


def test_recent_runs_name_what_was_edited(visit, store, sample):
    edited = default_design().with_step("label", system="Label it.").to_dict()
    seeds.add_run(store, sample.tickets, sample.id, "agent", design=edited)
    assert "label prompt edited" in literal(visit("start", "g1"))
