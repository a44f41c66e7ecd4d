"""Before a run: the estimate with its range, step by step, at a person's own prices, and counted by who will answer."""

from __future__ import annotations

import threading
import time

import pytest
from reading import literal, markup, sound

from lib.simulated.server import SimulatedServer
from lib.ui import state
from lib.ui.estimate import between, off
from tests import local_server

OWN = {"claude-haiku-5-5": {"input": 1_000.0, "output": 0.0}}


@pytest.fixture
def served(visit, store):
    """served(url, …) -> the run page with the compatible server at `url` chosen."""
    def chosen(url: str, **desk):
        store.save_desk("d", desk)
        app = visit("run", desk="d")
        app.radio(key="run.connection.kind").set_value("server").run()
        app.text_input(key="run.connection.base_url").set_value(url).run()
        return app.text_input(key="run.connection.server_key").set_value("any").run()
    return chosen


@pytest.fixture
def counting():
    """A server that can count."""
    server = SimulatedServer(speed=0)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server.url
    server.shutdown()
    server.server_close()


def line(app) -> str:
    return next(m.value for m in app.markdown if "will send" in m.value)


def buttons(app) -> set[str]:
    return {button.key for button in app.button}


def test_the_line_has_the_range_of_each_shape(visit):
    pipeline, agent = line(visit("run")).split("\n")
    assert "37.7k (33k–45k) tokens" in pipeline and "678k (210k–1.3M) tokens" in agent


@pytest.mark.parametrize(("ends", "told"), [
    ((33_612, 40_950), "33k–41k"), ((211_508, 1_286_757), "210k–1.3M"), ((99.5, 100.5), "99–110"), ((0, 7.2), "0–8")])
def test_a_range_is_rounded_away_from_its_middle(ends, told):
    assert between(*ends) == told


@pytest.mark.parametrize(("told", "actual", "words"), [
    (103, 100, "3.0 % too high"), (80, 100, "20 % too low"), (7, 7, "exactly right"), (7, 0, "exactly right")])
def test_how_far_an_estimate_is_off_is_told_in_words(told, actual, words):
    assert off(told, actual) == words


def test_each_step_stands_with_its_calls_tokens_and_dollars_and_the_range_with_its_reasons(visit):
    text = markup(visit("run"))
    assert r"| label | 40 | 23,855 | 4,360 | \$0.00456 |" in text and "| summary | 5 |" in text
    assert "| range | 25–60 | 211,508–1,286,757 |" in text
    assert "token estimates miss by up to 10 %" in text and "it may leave 50 % of the tickets unread" in text


def test_a_design_that_cannot_run_has_no_estimate_to_open(visit, store):
    store.save_desk("d", {"drafts": {"workers": 0}})
    app = visit("run", desk="d")
    sound(app)
    assert "will send" not in markup(app) and "| label |" not in markup(app)


# --- prices of one's own ---------------------------------------------------------------------------------------------


def test_the_estimate_is_at_a_persons_own_price_and_says_so(visit, store):
    store.save_desk("d", {"prices": OWN})
    app = visit("run", desk="d")
    assert r"\$38 ·" in line(app) and "prices set by you" in line(app)
    assert "set by you; write_5m = 1.25 × input" in literal(app)
    assert "prices set by you" not in line(visit("run", desk="other"))


def test_a_model_of_ones_own_server_has_the_price_that_was_set_and_else_none(served, counting):
    assert "no price" in line(served(counting)) and "$" not in line(served(counting))
    assert r"\$38 ·" in line(served(counting, prices=OWN))


def test_a_run_pays_by_the_price_that_was_set_when_it_began(visit, store):
    store.save_desk("d", {"prices": {**OWN, "of another design": {"input": 1.0, "output": 1.0}},
                          "shapes": ["pipeline"]})
    app = visit("run", desk="d")
    app.button(key="run.start").click().run()
    [run] = store.runs()
    deadline = time.monotonic() + 30
    while state.is_active(store.run(run.id)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert list(run.prices["models"]) == ["claude-haiku-5-5"]
    totals = store.totals(run.id)
    assert totals.usd == pytest.approx(totals.input / 1_000)
    [cost] = [m for m in app.run().metric if m.label == "cost" and m.value != "–"]
    assert cost.help.endswith("at a price set by you")


def test_a_price_can_be_set_before_there_is_a_run(visit, store):
    store.save_desk("d", {"prices": OWN})
    app = visit("design", desk="d")
    assert "Prices ($ per million tokens) · set by you" in markup(app)
    app.button(key="design.prices.reset").click().run()
    assert store.load_desk("d")["prices"] == {}


def test_half_a_price_is_no_price_and_stops_nothing(served, counting):
    app = served(counting, prices={"claude-haiku-5-5": {"input": 1.0}})
    sound(app)
    assert "no price" in line(app) and not app.button(key="run.start").disabled


# --- counted ---------------------------------------------------------------------------------------------------------


def test_a_simulation_offers_no_count_since_its_counts_are_estimates(visit):
    assert "run.count" not in buttons(visit("run"))


def test_the_first_requests_are_counted_and_the_estimate_held_against_them(served, counting):
    app = served(counting)
    app.button(key="run.count").click().run()
    sound(app)
    assert ("the prompt of the first ticket 573 tokens, estimated 573 (exactly right) · the first request of the agent "
            "2,085 tokens, estimated 2,085 (exactly right)") in literal(app)


def test_a_count_is_of_one_design_and_no_longer_shown_for_another(served, counting):
    app = served(counting)
    app.button(key="run.count").click().run()
    state.store().save_desk("d", {**state.store().load_desk("d"), "drafts": {"k": 4}})
    assert "Counted by" not in literal(app.run())


def test_a_server_that_cannot_count_is_asked_once(served):
    with local_server.serve(local_server.message()) as server:
        app = served(server.url)
        app.button(key="run.count").click().run()
        sound(app)
        assert "does not count tokens" in literal(app) and "run.count" not in buttons(app)


def test_a_count_that_fails_is_one_line(served):
    with local_server.serve(local_server.message()) as server:
        url = server.url
    app = served(url)
    app.button(key="run.count").click().run()
    sound(app)
    assert sum(text.value.startswith("✕ Not counted: ") for text in app.text) == 1
