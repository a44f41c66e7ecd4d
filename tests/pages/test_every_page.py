"""What holds for all pages: they open in every situation, keep what was typed, and show strangers' text literally."""

from __future__ import annotations

from dataclasses import replace

import pytest
import seeds
from reading import everything, literal, markup, sound

PAGES = ("start", "data", "design", "run", "costs", "history")
TABS = ("Answer", "Calls", "Timeline", "Checks", "Prompts & tools")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_opens_for_a_first_visitor(visit, page):
    app = visit(page)
    sound(app)
    assert "40 tickets of" in literal(app)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_opens_with_finished_runs(visit, store, sample, page):
    for shape in ("pipeline", "agent"):
        seeds.add_run(store, sample.tickets, sample.id, shape)
    sound(visit(page, "g1"))


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("status", ["failed", "stopped", "interrupted", "queued"])
def test_a_page_opens_with_a_run_that_has_no_answer(visit, store, sample, page, status):
    seeds.add_run(store, sample.tickets, sample.id, "agent", status=status, error=seeds.TRAP)
    sound(visit(page, "g1"))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_opens_when_the_link_names_a_run_that_is_gone(visit, page):
    sound(visit(page, "no-such-group"))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_opens_when_the_data_of_a_run_is_gone(visit, store, sample, page):
    seeds.add_run(store, sample.tickets, "gone", "pipeline")
    sound(visit(page, "g1"))


@pytest.mark.parametrize("tab", TABS)
def test_text_of_tickets_and_models_is_never_read_as_markdown(visit, store, sample, tab):
    for shape in ("pipeline", "agent"):
        seeds.add_run(store, sample.tickets, sample.id, shape)
    seeds.add_run(store, sample.tickets, sample.id, "agent", group="g0", status="failed", error=seeds.TRAP)
    app = visit("run", "g1")
    app.session_state["run.tabs"] = tab
    app.session_state["run.calls"] = {"selection": {"rows": [60], "columns": [], "cells": []}}
    app.run()
    sound(app)
    assert "evil.example" not in markup(app)


def test_the_start_page_shows_titles_of_runs_literally(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent", status="failed", error=seeds.TRAP)
    app = visit("start", "g1")
    assert "evil.example" in literal(app) and "evil.example" not in markup(app)


def test_unknown_prices_and_tokens_are_words_and_never_zero(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "pipeline", priced=False, reported=False)
    app = visit("run", "g1")
    values = {m.label: m.value for m in app.metric}
    assert values["cost"] in ("no price", "–") and values["input tokens"] in ("not reported", "–")
    assert {"no price", "not reported"} <= {m.value for m in app.metric}


@pytest.mark.parametrize("page", PAGES)
def test_every_page_says_who_answers(visit, page):
    assert "Rules on this machine write the replies, not a model." in everything(visit(page))


@pytest.mark.parametrize("page", PAGES)
def test_a_setting_that_makes_no_sense_is_one_line_and_no_page(visit, monkeypatch, page):
    monkeypatch.setenv("PLAYGROUND_SPEED", "fast")
    app = visit(page)
    sound(app)
    assert "PLAYGROUND_SPEED is 'fast'" in literal(app)


def test_a_link_to_a_run_that_is_gone_leaves_the_last_run_in_place(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "pipeline")
    app = visit("run", "g1")
    app.query_params["run"] = "no-such-group"
    app.run()
    assert app.session_state["desk"]["group"] == "g1"


def test_characters_that_turn_the_reading_direction_are_shown_and_do_not_act(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent", status="failed", error="not \u202edesrever")
    for page in ("start", "run"):
        text = literal(visit(page, "g1"))
        assert "not [U+202E]desrever" in text and "\u202e" not in text


def test_a_long_file_name_does_not_fill_the_page(visit, store, sample):
    tickets = replace(sample.tickets, name="n" * 500 + ".csv")
    store.save_desk("d", {"data_id": store.save_data(tickets.to_json(), None, tickets.name)})
    assert "n" * 70 not in literal(visit("start", desk="d"))


@pytest.mark.parametrize("found", [
    {"shapes": 5}, {"shapes": None}, {"drafts": [1]}, {"drafts": None}, {"data_id": ["a"]}, {"group": ["a"]},
    {"simulation": [1]}], ids=str)
def test_a_desk_with_values_of_another_kind_is_empty_there(visit, store, found):
    store.save_desk("d", found)
    app = visit("run", desk="d")
    sound(app)
    assert app.button(key="run.start").label == "Run both"
