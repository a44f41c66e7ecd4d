"""Several groups of runs at once: what is shown in which window, and what stands beside it."""

from __future__ import annotations

import pytest
import seeds
from reading import everything, literal, markup, sound

from lib.runs.job import Runs
from lib.ui import start_runs, state


@pytest.fixture
def slow(monkeypatch):
    """Runs take real time; what a test has begun is stopped at its end."""
    monkeypatch.setenv("PLAYGROUND_SPEED", "5")
    yield
    for run in state.store().runs():
        state.runs().stop(run.id)


def groups(store):
    return {run.group for run in store.runs()}


def test_a_second_group_may_start_while_the_first_works(visit, store, slow, monkeypatch):
    monkeypatch.setattr(start_runs, "DOUBLE_CLICK", 0.0)
    app = visit("run")
    app.button(key="run.start").click().run()
    assert not app.button(key="run.start").disabled
    app.button(key="run.start").click().run()
    sound(app)
    assert len(groups(store)) == 2 and "Also running:" in markup(app)


def test_a_double_click_starts_one(visit, store, slow, monkeypatch):
    monkeypatch.setattr(start_runs, "DOUBLE_CLICK", 60.0)
    app = visit("run")
    app.button(key="run.start").click().run()
    app.button(key="run.start").click().run()
    assert len(groups(store)) == 1


@pytest.mark.parametrize("change", [{"drafts": {"k": 4}}, {"shapes": ["agent"]}])
def test_another_design_or_other_shapes_are_no_double_click(visit, store, slow, monkeypatch, change):
    monkeypatch.setattr(start_runs, "DOUBLE_CLICK", 60.0)
    visit("run").button(key="run.start").click().run()
    store.save_desk(desk := store.latest_desk(), {**store.load_desk(desk), **change})
    visit("run").button(key="run.start").click().run()
    assert len(groups(store)) == 2


def test_too_many_runs_at_work_are_one_line(visit, store, slow, monkeypatch):
    monkeypatch.setattr(start_runs, "DOUBLE_CLICK", 0.0)
    monkeypatch.setattr(state.runs(), "_most", 3)
    app = visit("run")
    app.button(key="run.start").click().run()
    app.button(key="run.start").click().run()
    sound(app)
    assert len(groups(store)) == 1 and "2 runs are at work on this server, which takes 3 at once" in literal(app)


@pytest.fixture
def another(store, sample):
    """A group that is shown, and another at work: its agent is through 40 turns, its pipeline through 46 calls."""
    seeds.add_run(store, sample.tickets, sample.id, "agent", group="shown")
    for shape in ("pipeline", "agent"):
        seeds.add_run(store, sample.tickets, sample.id, shape, group="other", status="running")


@pytest.mark.parametrize("page", ["run", "start"])
def test_what_works_beside_stands_in_one_line(visit, another, page):
    text = markup(visit(page, "shown"))
    assert ":blue[**pipeline**] 46 of 46 · :orange[**agent**], 40 turns" in text


def test_it_can_be_opened_from_there(visit, another):
    app = visit("run", "shown")
    app.button(key="run.beside.open.other").click().run()
    sound(app)
    assert app.query_params["run"] in ("other", ["other"]) and "Also running" not in markup(app)


def test_it_can_be_stopped_from_there(visit, another, store, monkeypatch):
    stopped = []
    monkeypatch.setattr(Runs, "stop", lambda self, run_id: stopped.append(run_id))
    app = visit("run", "shown")
    app.button(key="run.beside.stop.other").click().run()
    sound(app)
    assert stopped == ["other-pipeline", "other-agent"]


def test_one_that_ended_stays_in_its_line_so_that_nothing_jumps(visit, another, store):
    app = visit("run", "shown")
    for run in store.group("other"):
        store.update_run(run.id, status="done")
    text = markup(app.run())
    assert "Ended meanwhile:" in text and ":orange[**agent**] done" in text
    assert "Ended meanwhile" not in markup(visit("run", "shown"))


def test_in_a_shared_playground_the_runs_of_others_are_not_beside(visit, store, sample, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_SHARED", "1")
    seeds.add_run(store, sample.tickets, sample.id, "agent", group="theirs", status="running", desk="theirs")
    assert "Also running" not in everything(visit("run"))


def test_a_window_goes_on_showing_its_run_though_another_opened_something_else(visit, store, sample):
    for number, group in enumerate(("one", "two")):
        seeds.add_run(store, sample.tickets, sample.id, "agent", group=group, created=1_000.0 + number)
    first, second = visit("run", "one", desk="d"), visit("run", "two", desk="d")
    first.pills(key="run.shapes").set_value(["agent"]).run()
    assert first.query_params["run"] in ("one", ["one"])
    second.run()
    assert second.query_params["run"] in ("two", ["two"])
    assert store.load_desk("d")["group"] == "two", "the next window opens what was opened last"


def test_back_leads_to_the_run_before(visit, store, sample):
    for number, group in enumerate(("one", "two")):
        seeds.add_run(store, sample.tickets, sample.id, "agent", group=group, created=1_000.0 + number)
    app = visit("run", "one")
    app.query_params["run"] = "two"
    app.run()
    app.query_params["run"] = "one"
    app.run()
    sound(app)
    assert app.session_state["shown"] == {app.session_state["desk_id"]: "one"}


def test_a_playground_that_keeps_nothing_on_disk_runs(visit, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_STORE", ":memory:")
    monkeypatch.chdir(tmp_path)
    try:
        app = visit("run")
        app.pills(key="run.shapes").set_value(["agent"]).run()
        app.button(key="run.start").click().run()
        sound(app)
        assert len(state.store().runs()) == 1 and not list(tmp_path.iterdir())
    finally:
        for run in state.store().runs():
            state.runs().stop(run.id)
