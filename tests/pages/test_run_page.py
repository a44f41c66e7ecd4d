"""The run's page: what stands before a run, what a run shows, and what a later run changed."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
import seeds
from reading import everything, literal, markup, sound

from lib.task.default_design import default_design
from lib.task.report import Check
from lib.ui import state


@pytest.fixture
def finished(store, sample):
    for shape in ("pipeline", "agent"):
        seeds.add_run(store, sample.tickets, sample.id, shape)


def tab(app, name):
    app.session_state["run.tabs"] = name
    return app.run()


def test_before_a_run_the_page_says_what_it_will_send(visit):
    line = next(m.value for m in visit("run").markdown if "will send" in m.value)
    assert "pipeline" in line and "agent" in line and "tokens" in line and r"\$" in line


def test_the_sentence_is_written_from_the_numbers(visit, finished):
    text = literal(visit("run", "g1"))
    assert "The agent sent 12 × the tokens of the pipeline" in text
    assert "the same five causes; none of its 5 counts match the data." in text


def test_a_cause_on_which_both_agree_is_one_card(visit, finished):
    app = visit("run", "g1")
    assert literal(app).count("duplicate charge") == 1
    assert "both shapes" in markup(app) and "the agent said 10" in markup(app)
    assert "badge[✕ counts]" in markup(app)
    assert ("3 customers, 1 not in the database · Plans: 2 pro · Regions: 2 EU · revenue 258 a month"
            in literal(app))


def test_causes_that_differ_stand_side_by_side(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "pipeline")
    run = seeds.add_run(store, sample.tickets, sample.id, "agent")
    first = seeds.report("agent", sample.tickets).causes[0]
    fewer = replace(first, tickets=first.tickets[:-1])
    report = seeds.report("agent", sample.tickets)
    store.update_run(run.id, report=replace(report, causes=(fewer, *report.causes[1:])).to_dict())
    app = visit("run", "g1")
    assert literal(app).count("duplicate charge") == 2
    assert "9 against 8 tickets" in markup(app)


@pytest.mark.parametrize("status", ["stopped", "failed", "interrupted"])
def test_a_part_of_an_answer_is_marked_and_compared_with_nothing(visit, store, sample, status):
    seeds.add_run(store, sample.tickets, sample.id, "pipeline", status=status, partial=f"28 labelled {seeds.TRAP}")
    seeds.add_run(store, sample.tickets, sample.id, "agent")
    app = visit("run", "g1")
    sound(app)
    assert "badge[:material/incomplete_circle: partial]" in markup(app)
    assert "28 labelled" in literal(app) and "evil.example" not in markup(app)
    assert "The agent named five causes" in literal(app) and "both shapes" not in markup(app)
    assert app.button(key="run.resume.pipeline").label == "Resume"


def test_a_part_of_an_answer_alone_makes_no_sentence(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent", status="stopped", partial="turn limit")
    app = visit("run", "g1")
    assert "duplicate charge" in literal(app) and "named" not in literal(app)


def test_failed_tickets_of_a_finished_run_can_be_tried_again(visit, store, sample):
    keys = [t.key for t in sample.tickets.tickets]
    seeds.add_run(store, sample.tickets, sample.id, "pipeline", failed={keys[38]: "no reply", keys[39]: "no reply"})
    app = visit("run", "g1")
    button = app.button(key="run.resume.pipeline")
    assert button.label == "Try the 2 failed tickets again"
    button.click().run()
    sound(app)
    deadline = time.monotonic() + 30
    while store.run("g1-pipeline").status in ("queued", "running") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert store.run("g1-pipeline").report["failed"] == {}


def test_a_resumed_run_shows_no_answer_of_before(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent", status="running", partial="stopped by you")
    assert "partial" not in markup(visit("run", "g1"))


def test_what_is_missing_from_a_sum_is_said(visit, store, sample):
    run = seeds.add_run(store, sample.tickets, sample.id, "agent")
    store.add_call(seeds._row(run, "agent", "", 2_000.0, 0, cache_read=None, usd=None), {"messages": []}, None)
    app = visit("run", "g1")
    shown = {m.label: m for m in app.metric if m.value.startswith("≥ ")}
    assert set(shown) == {"input tokens", "cost"}
    assert "1 call did not report theirs" in shown["input tokens"].help
    assert "1 call without a price" in shown["cost"].help


def test_replies_that_were_sent_back_are_told_apart_from_answers(visit, store, sample):
    run = seeds.add_run(store, sample.tickets, sample.id, "pipeline")
    for ticket in sample.tickets.tickets[:12]:
        store.add_call(seeds._row(run, "label", ticket.key, 2_000.0, 500), {"messages": []}, None)
    text = markup(visit("run", "g1"))
    assert "46 of 46 answers · 12 sent again" in text


def test_the_agents_limit_is_no_goal(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent", status="stopped")
    assert "turn 40 (limit 60)" in markup(visit("run", "g1"))


def test_the_page_says_what_its_results_are_of(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent", created=time.time() - 370)
    app = visit("run", "g1")
    shown = f"Shown: 40 tickets of tickets.csv · default v1 · {default_design().version} · 6 minutes ago · simulated"
    assert shown in literal(app)
    assert "above: run again" not in markup(app)


def test_results_of_another_design_or_other_data_say_so(visit, store, sample):
    edited = default_design().with_step("label", system="Label it.").to_dict()
    seeds.add_run(store, sample.tickets, "gone", "agent", design=edited)
    app = visit("run", "g1")
    assert "default v1 · label" in literal(app) and "edited" in literal(app)
    assert "Not the data and design above: run again" in markup(app)


def test_a_selected_call_opens_to_what_it_added(visit, finished):
    app = tab(visit("run", "g1"), "Calls")
    app.session_state["run.calls"] = {"selection": {"rows": [60], "columns": [], "cells": []}}
    app.run()
    sound(app)
    assert "new in this call: 2 messages" in markup(app)
    assert "read_ticket" in literal(app)


def test_calls_can_be_filtered_by_shape_and_step(visit, finished):
    app = tab(visit("run", "g1"), "Calls")
    app.pills(key="run.filter.step").set_value("summary").run()
    assert len(app.dataframe[0].value) == 5


def test_the_checks_name_what_failed(visit, finished):
    app = tab(visit("run", "g1"), "Checks")
    assert "✕ counts · duplicate charge: claimed 10, counted 9" in literal(app)


def test_what_the_data_lack_is_not_held_against_the_model(visit, store, sample):
    run = seeds.add_run(store, sample.tickets, sample.id, "pipeline")
    gap = Check("customers in the database", False, "30 of 31 customers are in the database")
    report = seeds.report("pipeline", sample.tickets)
    store.update_run(run.id, report=replace(report, checks=(*report.checks, gap)).to_dict())
    app = tab(visit("run", "g1"), "Checks")
    assert "· customers in the database: 30 of 31" in literal(app)
    assert "2 of 2 checks passed" in markup(app)


def test_the_timeline_says_how_much_ran_at_once(visit, finished):
    text = literal(tab(visit("run", "g1"), "Timeline"))
    assert "up to 8 calls at once" in text and "up to 1 call at once" in text


def test_a_failed_run_says_why_and_offers_to_resume(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent", status="failed", error="529 overloaded")
    app = visit("run", "g1")
    assert "529 overloaded" in literal(app) and "failed" in markup(app)
    assert app.button(key="run.resume.agent")


def test_what_a_server_left_running_is_interrupted_for_the_next_one(visit, sample):
    seeds.add_run(state.store(), sample.tickets, sample.id, "agent", status="running")     # before any visit
    app = visit("run", "g1")
    assert app.button(key="run.resume.agent") and "interrupted" in markup(app)


def test_a_stranger_may_look_at_a_shared_run_but_not_stop_or_resume_it(visit, store, sample, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_SHARED", "1")
    seeds.add_run(store, sample.tickets, sample.id, "agent", status="failed", desk="theirs")
    app = visit("run", "g1")
    assert "theirs" not in everything(app) and app.metric
    assert not [b for b in app.button if b.key == "run.resume.agent"]


def test_in_a_shared_playground_recent_runs_are_ones_own(visit, store, sample, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_SHARED", "1")
    seeds.add_run(store, sample.tickets, sample.id, "agent", desk="theirs")
    assert "Your runs will be listed here" in markup(visit("start"))


def test_a_run_after_an_edit_says_what_changed(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "pipeline", created=1_000.0)
    edited = default_design().with_step("label", system="Label it.").to_dict()
    seeds.add_run(store, sample.tickets, sample.id, "pipeline", group="g2", created=2_000.0, design=edited)
    app = visit("run", "g2")
    text = literal(app)
    assert "Edited: label: system prompt" in text
    assert "| input tokens | unchanged (33.1k) |" in markup(app)
    assert "+Label it." in text and "\n-" in text


def test_a_run_on_other_data_says_so(visit, store, sample):
    few = replace(sample.tickets, name="few.csv", tickets=sample.tickets.tickets[:31])
    few_id = store.save_data(few.to_json(), None, few.name)
    seeds.add_run(store, few, few_id, "pipeline", created=1_000.0)
    seeds.add_run(store, sample.tickets, sample.id, "pipeline", group="g2", created=2_000.0)
    text = literal(visit("run", "g2"))
    assert "Other data: 31 tickets of few.csv → 40 tickets of tickets.csv" in text
    assert "same causes" not in text


def test_the_same_run_twice_has_nothing_to_say(visit, store, sample):
    for group, created in (("g1", 1_000.0), ("g2", 2_000.0)):
        seeds.add_run(store, sample.tickets, sample.id, "pipeline", group=group, created=created)
    assert "What changed" not in markup(visit("run", "g2"))


def test_more_tickets_than_the_limit_ask_first(visit, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_CONFIRM_ABOVE", "10")
    app = visit("run")
    app.button(key="run.start").click().run()
    assert "40 tickets are more than 10." in markup(app)
    app.button(key="run.cancel").click().run()
    assert "40 tickets are more than 10." not in markup(app)


def test_without_a_shape_nothing_can_be_started(visit):
    app = visit("run")
    app.pills(key="run.shapes").set_value([]).run()
    assert app.button(key="run.start").disabled


def test_the_api_without_a_key_says_so_and_does_not_start(visit):
    app = visit("run")
    app.radio(key="run.connection.kind").set_value("live").run()
    assert "needs a key" in literal(app) and app.button(key="run.start").disabled


def test_a_key_is_shown_nowhere_and_stored_nowhere(visit, store):
    app = visit("run")
    app.radio(key="run.connection.kind").set_value("live").run()
    app.text_input(key="run.connection.key").set_value("sk-ant-secret").run()
    app.switch_page("pages/design.py").run()
    app.number_input(key="design.k").set_value(4).run()
    assert "sk-ant-secret" not in everything(app)
    assert b"sk-ant-secret" not in store.path.read_bytes() + store.path.with_name(store.path.name + "-wal").read_bytes()


def test_the_sample_runs_both_ways_from_the_start_page(visit, store):
    app = visit("start")
    app.button(key="start.run_sample").click().run()
    group = app.session_state["desk"]["group"]
    deadline = time.monotonic() + 60
    while any(r.status in ("queued", "running") for r in store.group(group)) and time.monotonic() < deadline:
        app.run()
    sound(app)
    ended = [(r.shape, r.status, r.error) for r in store.group(group)]
    assert ended == [("pipeline", "done", ""), ("agent", "done", "")]
    app.switch_page("pages/run.py").run()
    assert "The agent sent" in literal(app)


def test_k_of_the_design_reaches_the_panel(visit, store, sample):
    design = replace(default_design(), k=3).to_dict()
    seeds.add_run(store, sample.tickets, sample.id, "pipeline", status="stopped", error="stopped by you", design=design)
    sound(visit("run", "g1"))


def test_only_while_the_agent_runs_the_page_tells_what_it_will_have_sent(visit, store, sample):
    run = seeds.add_run(store, sample.tickets, sample.id, "agent", status="running")
    assert "at this rate 45 turns send 510k in all" in literal(visit("run", "g1"))
    store.update_run(run.id, status="stopped")
    text = literal(visit("run", "g1"))
    assert "turn 40 sent 18,480 tokens, of which 97 % it had sent before." in text and "at this rate" not in text
