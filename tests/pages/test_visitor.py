"""Whose desk it is: where several people play, each browser's own, found by a cookie and named in no address."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import seeds
from reading import everything, sound

from lib.task.default_design import default_design
from lib.ui import state, visitor

NAME = "design.name"


@pytest.fixture
def shared(monkeypatch):
    monkeypatch.setenv("PLAYGROUND_SHARED", "1")


@pytest.fixture
def browser(monkeypatch):
    """browser("d") -> from now on visits come from a browser that was given the desk d before."""
    def brings(desk: str) -> None:
        monkeypatch.setattr(visitor, "desk", lambda: desk)
    return brings


def test_two_visitors_have_two_desks_that_nobody_guesses(visit, shared):
    one, other = (visit("start").session_state["desk_id"] for _ in range(2))
    assert one != other and min(len(one), len(other)) >= 12


def test_a_browser_finds_its_desk_again_and_no_address_names_it(visit, shared, browser):
    first = visit("design")
    first.text_input(key=NAME).set_value("Mine").run()
    browser(first.session_state["desk_id"])
    again = visit("design")
    assert again.text_input(key=NAME).value == "Mine"
    assert "desk" not in first.query_params and "desk" not in again.query_params


def test_an_old_link_to_a_desk_brings_its_work_and_runs_once(visit, shared, store, sample):
    store.save_desk("an-old-desk", {"drafts": {"name": "Mine from before"}})
    run = seeds.add_run(store, sample.tickets, sample.id, "pipeline")
    store.update_run(run.id, desk="an-old-desk")
    one, other = (visit("design", desk="an-old-desk") for _ in range(2))
    assert one.text_input(key=NAME).value == "Mine from before" and "desk" not in one.query_params
    assert store.run(run.id).desk == one.session_state["desk_id"] != "an-old-desk"
    assert other.text_input(key=NAME).value != "Mine from before"
    assert store.load_desk("an-old-desk") is None


def test_a_link_to_a_desk_does_not_take_a_browser_away_from_its_own(visit, shared, store, browser):
    store.save_desk("a-strangers-desk", {"drafts": {"name": "A stranger's"}})
    browser("my-own-desk")
    app = visit("design", desk="a-strangers-desk")
    sound(app)
    assert app.session_state["desk_id"] == "my-own-desk" and "desk" not in app.query_params
    assert store.load_desk("a-strangers-desk")


@pytest.mark.parametrize(("cookie", "found"), [("abcDEF-_12", "abcDEF-_12"), ("", ""), ("short", ""), ("x" * 65, ""),
                                               ("<script>12", ""), ("abc def ghi", "")])
def test_only_what_can_be_a_desk_is_taken_from_a_cookie(monkeypatch, cookie, found):
    browser = SimpleNamespace(context=SimpleNamespace(cookies={"playground_desk_8501": cookie}),
                              get_option=lambda name: 8501)
    monkeypatch.setattr(visitor, "st", browser)
    assert visitor.desk() == found


def test_alone_all_windows_share_the_last_desk_and_no_address_names_it(visit, playground):
    one, other = visit("design"), visit("design")
    assert one.session_state["desk_id"] == other.session_state["desk_id"] == state.store().latest_desk()
    assert "desk" not in one.query_params and "desk" not in other.query_params


def test_alone_another_desk_than_the_last_stays_in_the_address(visit, store):
    store.save_desk("for-the-class", {})
    store.save_desk("mine", {})
    app = visit("design", desk="for-the-class")
    assert app.session_state["desk_id"] == "for-the-class" and app.query_params["desk"] == "for-the-class"
    app.switch_page("pages/run.py").run()
    assert app.session_state["desk_id"] == "for-the-class" and app.query_params["desk"] == "for-the-class"


def test_whoever_has_the_link_to_a_run_is_not_told_of_the_run_before_it(visit, shared, store, sample, browser):
    before = default_design().with_step("label", system="Of my secret project, name the cause.")
    seeds.add_run(store, sample.tickets, sample.id, "pipeline", group="g0", created=900.0, desk="owners-desk",
                  design=before.to_dict())
    seeds.add_run(store, sample.tickets, sample.id, "pipeline", desk="owners-desk")
    browser("owners-desk")
    assert "my secret project" in everything(visit("run", group="g1"))
    browser("another-desk")
    assert "my secret project" not in everything(visit("run", group="g1"))
