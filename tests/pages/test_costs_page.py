"""The Costs page: one sentence for each picture from the numbers, nothing unknown as 0, prices of one's own."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pyarrow
import pytest
import seeds
from reading import everything, literal, markup, sound

from lib.runs.store import CallRow
from lib.ui import cost_words
from lib.usage import what_if
from lib.usage.prices import prices_for

PICTURES = ["As it grew", "What each call is made of", "What if", "At another scale"]
SLOWEST = 20        # seconds that the what-if may take on a busy machine


@pytest.fixture
def finished(store, sample):
    for shape in ("pipeline", "agent"):
        seeds.add_run(store, sample.tickets, sample.id, shape)


def settled(app):
    """The page once the what-if is worked out."""
    deadline = time.monotonic() + SLOWEST
    while "working it out" in markup(app) and time.monotonic() < deadline:
        time.sleep(0.05)
        app.run()
    sound(app)
    return app


def measured_in(app, measure):
    return settled(app.segmented_control(key="costs.measure").set_value(measure).run())


def drawn(app, title):
    """The rows of the chart of that title."""
    chart = next(found.proto for found in app.get("vega_lite_chart") if found.proto.alt.startswith(title))
    return pyarrow.ipc.open_stream(chart.data.data).read_pandas()


def call(**tokens) -> CallRow:
    return CallRow(id=0, run_id="r", step="agent", subject="", model="m", started=0.0, seconds=1.0, stop_reason=None,
                   write_1h=0, output=10, thinking=0, usd=None, **tokens)


def priced_by_hand(store, **prices):
    store.save_desk("mine", {"group": "g1", "prices": prices})


def test_before_a_run_the_page_says_what_will_be_here_and_leads_to_the_run(visit):
    app = visit("costs")
    sound(app)
    assert all(title in markup(app) for title in PICTURES)
    app.button(key="costs.to_run").click().run()
    sound(app)
    assert app.title[0].value == "Run"


def test_four_pictures_stand_one_above_the_other_with_a_sentence_each(visit, finished):
    app = settled(visit("costs", "g1"))
    assert [found.value for found in app.subheader] == PICTURES
    text = literal(app)
    assert "Turn 40 of the agent sent 18,480 tokens, of which 97 % it had sent before" in text
    assert "tokens to label a ticket, whatever came before." in text
    assert "No input token was read from a cache: all 412k of the agent and" in text
    assert "For the agent “" in text and "instead of 412k tokens" in text
    assert "100,000 tickets take the pipeline ≈" in text and "no longer fits the model's window" in text


def test_dollars_and_seconds_have_sentences_of_their_own(visit, finished):
    app = visit("costs", "g1")
    text = literal(measured_in(app, "usd"))
    assert "The agent cost $0.421" in text and "of the pipeline; the agent's last turn cost" in text
    text = literal(measured_in(app, "seconds"))
    assert "which add up to" in text and "slowest call took 2.0 s" in text


def test_what_is_predicted_is_marked_as_estimated_and_says_what_is_held_fixed(visit, finished):
    text = markup(settled(visit("costs", "g1")))
    assert text.count("estimated") >= 2
    assert "Behaviour is held fixed: every reply and every tool call is the recorded one." in text


def test_the_page_does_not_wait_for_the_what_if(visit, finished, monkeypatch):
    ready, real = threading.Event(), what_if.ladder

    def slow(*given):
        assert ready.wait(SLOWEST)
        return real(*given)
    monkeypatch.setattr(what_if, "ladder", slow)
    app = visit("costs", "g1")
    assert "working it out …" in markup(app) and "Turn 40 of the agent" in literal(app)
    ready.set()
    assert "For the agent “" in literal(settled(app)) and "working it out" not in markup(app)


def test_the_published_run_names_its_source_and_shows_where_it_forgot(visit, finished):
    app = visit("costs", "g1")
    assert "claude-cookbooks" not in literal(app)
    text = literal(app.toggle(key="costs.published").set_value(True).run())
    assert "anthropics/claude-cookbooks" in text and "204,416 tokens in 37 turns" in text
    assert "forgot before turns 17 and 25" in text and "follows no one law" in text


def test_what_was_read_from_the_cache_and_what_never_was_is_said():
    read, written = call(fresh=0, write_5m=40, cache_read=960), call(fresh=100, write_5m=900, cache_read=0)
    assert cost_words.composition({"pipeline": [written], "agent": [read]}, "input") == (
        "Of the agent's 1k input tokens 96 % was read from the cache, 4 % written to it and none fresh; "
        "of the pipeline's 1k input tokens 90 % was written to the cache and never read.")


@pytest.mark.parametrize("measure", ["input", "usd", "seconds"])
@pytest.mark.parametrize("axis", ["linear", "log"])
def test_every_measure_and_axis_can_be_shown(visit, finished, measure, axis):
    app = visit("costs", "g1")
    app.toggle(key="costs.published").set_value(True)
    app.segmented_control(key="costs.axis").set_value(axis)
    measured_in(app, measure)


@pytest.mark.parametrize("shape", ["pipeline", "agent"])
def test_one_shape_alone_has_its_pictures(visit, store, sample, shape):
    seeds.add_run(store, sample.tickets, sample.id, shape)
    app = settled(visit("costs", "g1"))
    assert [found.value for found in app.subheader] == PICTURES


@pytest.mark.parametrize(("status", "words"), [
    ("failed", "failed"), ("stopped", "was stopped"), ("interrupted", "was interrupted")])
def test_a_run_that_ended_early_says_so_and_shows_what_it_took(visit, store, sample, status, words):
    seeds.add_run(store, sample.tickets, sample.id, "agent", status=status, error=f"529 {seeds.TRAP}")
    app = settled(visit("costs", "g1"))
    assert f"⚠ The agent {words}: 529" in literal(app) and "Turn 40 of the agent" in literal(app)
    assert "evil.example" not in markup(app)


def test_a_reason_that_ends_in_a_full_stop_has_one(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent", status="failed", error="It is overloaded.")
    assert "⚠ The agent failed: It is overloaded. Here is what it took up to then." in literal(visit("costs", "g1"))


def test_a_call_that_was_lost_is_no_call_without_a_price(visit, store, sample):
    run = seeds.add_run(store, sample.tickets, sample.id, "agent", status="failed", error="HTTP 500")
    lost = replace(call(fresh=None, write_5m=None, cache_read=None), run_id=run.id, output=None, error="HTTP 500")
    store.add_call(lost, {"model": "m", "messages": []}, None)
    text = literal(settled(visit("costs", "g1")))
    assert "⚠ 1 call of 41 failed: not in the what-if. Some may have been billed, at an unknown price." in text
    assert "with no price" not in text and "did not report" not in text


def test_the_sentence_names_no_ratio_to_nothing_and_no_saving_in_other_tokens():
    refused, paid = replace(call(fresh=1, write_5m=0, cache_read=0), usd=0.0, error="404"), replace(
        call(fresh=1, write_5m=0, cache_read=0), usd=0.007)
    assert cost_words.cumulative({"pipeline": [paid], "agent": [refused]}, "usd") == (
        "The agent cost $0; the pipeline cost $0.00700.")
    assert cost_words.cumulative({"agent": [refused]}, "seconds") == "The agent took 1.0 s for 1 call."
    rungs = [(name, what_if.WhatIf((what_if.Predicted(fresh, 0, 0, 0, 1, 1.0, None),), ()))
             for name, fresh in (("as recorded", 1_000), ("Haiku 4.5", 800))]
    assert cost_words.ladder({"pipeline": rungs}, "input") == (
        "For the pipeline none of these takes less than the 1k tokens recorded.")


def test_a_run_at_work_has_no_what_if_yet(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent", status="running")
    app = visit("costs", "g1")
    sound(app)
    assert "The what-if will be here when the run has ended." in markup(app)


def test_calls_that_said_nothing_are_counted_and_never_zero(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "pipeline", priced=False, reported=False)
    app = settled(visit("costs", "g1"))
    text = everything(app)
    assert "46 calls of 46 with no price" in text and "46 calls of 46 did not report tokens" in text
    assert "No call reported its tokens." in text
    assert "no price: set one" in everything(measured_in(app, "usd"))


def test_a_run_without_an_answer_lacks_no_price(visit, store, sample):
    run = seeds.add_run(store, sample.tickets, sample.id, "agent", group="before")
    store.add_run(replace(run, id="g1-agent", group="g1", status="stopped", report=None,
                          prices=prices_for(["claude-haiku-5-5"])))
    text = everything(measured_in(visit("costs", "g1"), "usd"))
    assert "No call was answered." in text and "no price: set one" not in text


def test_a_run_whose_data_are_gone_has_no_forecast(visit, store, sample):
    seeds.add_run(store, sample.tickets, "gone", "pipeline")
    assert "nothing to scale up" in markup(settled(visit("costs", "g1")))


# --- prices of one's own ---------------------------------------------------------------------------------------------


def test_a_price_of_ones_own_holds_for_calls_without_one_and_is_marked(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent", priced=False)
    priced_by_hand(store, **{"claude-haiku-5-5": {"input": 1.0, "output": 5.0}})
    app = measured_in(visit("costs", desk="mine"), "usd")
    text = everything(app)
    assert "40 calls of 40 at the price set by you" in text and "with no price" not in text
    assert "The agent cost $0.421" in text
    assert "with prices set by you" in text and "Prices ($ per million tokens) · set by you" in text


def test_half_a_price_says_what_is_missing(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent", priced=False)
    priced_by_hand(store, **{"claude-haiku-5-5": {"output": 5.0}})
    text = everything(settled(visit("costs", desk="mine")))
    assert "claude-haiku-5-5 has no input price" in text and "40 calls of 40 with no price" in text


def test_a_price_of_ones_own_leaves_what_was_recorded_as_it_is(visit, store, sample):
    prices = prices_for(["claude-haiku-5-5"])
    prices["models"]["claude-haiku-5-5"] |= {"input": 1.0, "output": 5.0, "tiers": []}
    seeds.add_run(store, sample.tickets, sample.id, "agent", prices=prices)
    priced_by_hand(store, **{"claude-haiku-5-5": {"input": 100.0, "output": 500.0}})
    app = measured_in(visit("costs", desk="mine"), "usd")
    assert "The agent cost $0.421" in literal(app)
    assert drawn(app, "What each call is made of (agent)")["amount"].sum() == pytest.approx(0.4206)
    assert drawn(app, "What if (agent)")["amount"][0] == pytest.approx(42.06)


def test_back_to_list_prices_takes_all_of_them_away(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent")
    priced_by_hand(store, **{"claude-haiku-5-5": {"input": 100.0, "output": 500.0}})
    app = settled(visit("costs", desk="mine"))
    app.button(key="costs.prices.reset").click().run()
    assert store.load_desk("mine")["prices"] == {} and "set by you" not in markup(settled(app)).split("Type over")[0]


def test_prices_that_another_hand_left_on_the_desk_do_no_harm(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent")
    priced_by_hand(store, **{"claude-haiku-5-5": {"input": "=1+1", "output": -5.0}, "m": "free"})
    sound(settled(visit("costs", desk="mine")))
