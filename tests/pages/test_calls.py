"""The table of calls: numbers, notes, filters, and a selection that stays with its call."""

from __future__ import annotations

from dataclasses import replace

import pytest
import seeds
from reading import literal, markup, sound


@pytest.fixture
def calls(visit, store, sample):
    """calls(...) -> the Calls tab of a group with these shapes."""
    def opened(*shapes: str):
        for shape in shapes:
            seeds.add_run(store, sample.tickets, sample.id, shape)
        app = visit("run", "g1")
        app.session_state["run.tabs"] = "Calls"
        return app.run()
    return opened


def select(app, row):
    app.session_state[app.session_state["_calls_key"]] = {"selection": {"rows": [row], "columns": [], "cells": []}}
    return app.run()


def table(app):
    return app.dataframe[0].value


def add(store, run, step, subject, started, messages=1, **more):
    sent = [{"role": "user", "content": "x"}] * messages
    store.add_call(seeds._row(run, step, subject, started, 500, **more), {"model": "m", "messages": sent}, None)


def test_numbers_count_within_the_run_in_the_order_of_starts(calls):
    found = table(calls("pipeline", "agent"))
    assert list(found["#"]) == [*range(1, 47), *range(1, 41)]


def test_the_opened_call_has_the_number_of_its_row(calls):
    app = select(calls("pipeline", "agent"), 46 + 31)
    sound(app)
    assert "[Agent]** · call 32" in markup(app)


def test_a_call_that_ends_meanwhile_does_not_move_the_selection(calls, store):
    app = select(calls("agent"), 5)
    assert "· call 6" in markup(app) and "<b>" in literal(app)
    add(store, store.run("g1-agent"), "agent", "", 1_000.5)       # began second, ended last
    app.run()
    assert "· call 7" in markup(app)
    app.run()
    assert "· call 7" in markup(app)


def test_a_filter_that_hides_the_opened_call_closes_it(calls):
    app = select(calls("pipeline", "agent"), 3)
    app.pills(key="run.filter.shape").set_value("agent").run()
    assert "· call 4" not in markup(app) and "Select a row" in markup(app)


def test_columns_that_say_nothing_are_left_out(calls):
    names = set(table(calls("agent")).columns)
    assert names.isdisjoint({"cache write", "cache read", "thinking", "attempts", "error", "note"})


def test_columns_that_say_something_are_shown(calls, store):
    app = calls("agent")
    add(store, store.run("g1-agent"), "agent", "", 2_000.0, cache_read=7, write_1h=9, thinking=5, attempts=3,
        error="529 overloaded")
    assert {"cache write", "cache read", "thinking", "attempts", "error"} <= set(table(app.run()).columns)


def test_failed_attempts_are_counted_and_told_beside_the_call(calls, store):
    app = calls("agent")
    add(store, store.run("g1-agent"), "agent", "", 999.0, attempts=3)
    app.run()
    assert "2 attempts failed at a busy or broken server and sent again" in markup(app)
    assert "2.0 s in 3 attempts, waits included" in literal(select(app, 0))


@pytest.mark.parametrize(("usd", "said"), [(0.0, "no reply, nothing billed"),
                                           (None, "no reply, so what was billed is not known")])
def test_a_call_without_a_reply_has_no_figures(calls, store, usd, said):
    app = calls("agent")
    row = seeds._row(store.run("g1-agent"), "agent", "", 999.0, 500, usd=usd, error="ServerTrouble: HTTP 500")
    nothing = dict.fromkeys(("fresh", "write_5m", "write_1h", "cache_read", "output", "thinking"))
    store.add_call(replace(row, **nothing), {"messages": []}, None)
    told = literal(select(app.run(), 0))
    assert said in told and "not reported output tokens" not in told
    assert "without a price" not in markup(app) and ("1 failed call of unknown cost" in markup(app)) == (usd is None)
    assert usd == 0.0 or set(table(app)["cost"]) > {"unknown"}


def test_an_opened_call_says_what_of_its_input_the_cache_took(calls, store):
    app = calls("agent")
    add(store, store.run("g1-agent"), "agent", "", 999.0, write_5m=1_900, write_1h=30, cache_read=7)
    told = literal(select(app.run(), 0))
    assert "2,437 input (500 fresh + 1,900 written for 5 minutes + 30 written for 1 hour + 7 read)" in told


def test_an_opened_reply_names_its_stop_reason_and_its_thinking(calls, store):
    app = calls("agent")
    row = seeds._row(store.run("g1-agent"), "agent", "", 999.0, 500, "max_tokens", thinking=120)
    thought = {"type": "thinking", "thinking": "", "signature": "x"}
    store.add_call(row, {"messages": []}, {"role": "assistant", "content": [thought]})
    app = select(app.run(), 0)
    assert "stop reason: max_tokens, cut off at the longest reply" in literal(app)
    assert "thinking: 120 tokens, not shown by the API" in markup(app)


def test_thinking_that_the_api_shows_is_shown(calls, store):
    app = calls("agent")
    thought = {"type": "thinking", "thinking": f"Two of them mention it. {seeds.TRAP}", "signature": "x"}
    store.add_call(seeds._row(store.run("g1-agent"), "agent", "", 999.0, 500, thinking=9), {"messages": []},
                   {"role": "assistant", "content": [thought]})
    app = select(app.run(), 0)
    assert "Two of them mention it." in literal(app) and "evil.example" not in markup(app)


def test_a_rejected_reply_is_marked_and_counted(calls, store, sample):
    app = calls("pipeline")
    run, ticket = store.run("g1-pipeline"), sample.tickets.tickets[0]
    add(store, run, "label", ticket.key, 1_003.0, messages=3)
    app.run()
    sound(app)
    noted = table(app)[table(app)["note"] == "asked again"]
    assert list(noted["about"]) == [ticket.key] and list(noted["#"]) == [1]
    assert "1 reply rejected and asked again" in markup(app)


def test_batches_of_a_merge_are_no_second_tries(calls, store):
    app = calls("pipeline")
    run = store.run("g1-pipeline")
    add(store, run, "merge", "150 labels", 1_030.0)
    add(store, run, "merge", "150 labels", 1_032.0)
    assert "asked again" not in markup(app.run())


def test_a_failed_call_that_is_made_anew_is_no_rejected_reply(calls, store):
    app = calls("pipeline")
    run = store.run("g1-pipeline")
    add(store, run, "label", "late", 1_030.0, error="lost")
    add(store, run, "label", "late", 1_032.0)
    assert "asked again" not in markup(app.run()) and "1 failed" in markup(app)


def test_without_errors_that_is_said_and_there_is_nothing_to_switch(calls):
    app = calls("agent")
    assert "no call failed" in markup(app) and not [t for t in app.toggle if t.key == "run.filter.errors"]


def test_the_filters_name_nothing_twice(calls):
    app = calls("pipeline", "agent")
    assert app.pills(key="run.filter.shape").options == ["pipeline", "agent"]
    assert app.pills(key="run.filter.step").options == ["label", "merge", "summary"]


def test_errors_of_servers_stay_literal(calls, store):
    app = calls("agent")
    add(store, store.run("g1-agent"), "agent", seeds.TRAP, 999.0, error=seeds.TRAP)
    app = select(app.run(), 0)
    sound(app)
    assert "evil.example" in literal(app) and "evil.example" not in markup(app)


def test_a_turn_tells_which_tool_it_asked_for_and_that_it_gave_an_error(calls, store):
    app = calls("pipeline")
    run = replace(store.run("g1-pipeline"), id="g1-agent", shape="agent")
    one = {"type": "tool_use", "id": "e1", "name": "read_ticket", "input": {"ticket_id": seeds.TRAP}}
    two = [{"type": "tool_use", "id": f"e{i}", "name": "tally", "input": {}} for i in (2, 3)]
    error = {"type": "tool_result", "tool_use_id": "e1", "content": "no such id", "is_error": True}
    said = [{"role": "user", "content": "q"}, {"role": "assistant", "content": [one]},
            {"role": "user", "content": [error]}]
    store.add_run(run)
    store.add_call(seeds._row(run, "agent", "", 1.0, 500, "tool_use"), {"messages": said[:1]}, said[1])
    store.add_call(seeds._row(run, "agent", "", 2.0, 500), {"messages": said}, {"role": "assistant", "content": two})
    found = table(app.run()).tail(2).reset_index()
    sound(app)
    assert found["outcome"][0].startswith("read_ticket: ![x]") and found["outcome"][1] == "tally × 2"
    assert list(found["note"]) == ["tool error", ""] and "1 tool call gave an error" in markup(app)


def test_replies_cut_off_are_counted(calls, store):
    app = calls("pipeline")
    store.add_call(seeds._row(store.run("g1-pipeline"), "label", "x", 9.0, 500, "max_tokens"), {"messages": []}, None)
    assert "1 reply cut off at max_tokens" in markup(app.run())


def test_a_label_call_tells_the_cause_of_its_ticket(calls):
    found = table(calls("pipeline"))
    assert found["outcome"][0] == seeds.CAUSES[0] and set(found[found["step"] == "merge"]["outcome"]) == {""}


def test_a_wait_for_a_busy_server_is_told_beside_its_call_and_in_all(calls, store):
    app = calls("agent")
    assert "waited" not in table(app).columns and "waited" not in markup(app)
    add(store, store.run("g1-agent"), "agent", "", 999.0, attempts=3, waited=12.0)
    add(store, store.run("g1-agent"), "agent", "", 2_999.0, waited=1.0)
    app.run()
    assert list(table(app)["waited"])[:2] == [12.0, 0.0]
    assert "13 s waited for a busy server, all calls together" in markup(app)
    assert "in 3 attempts, of which waited 12 s for a busy server" in literal(select(app, 0))


def test_calls_without_a_price_are_counted(calls, store):
    app = calls("agent")
    assert "without a price" not in markup(app)
    add(store, store.run("g1-agent"), "agent", "", 999.0, usd=None)
    assert "1 call without a price" in markup(app.run())


def test_a_price_that_a_person_set_says_so_beside_its_call(calls, store):
    app = calls("agent")
    assert "set by you" not in literal(select(app, 0))
    store.update_run("g1-agent", prices={"models": {"claude-haiku-5-5": {"source": "set by you; read = 0.1 × input"}}})
    assert "at the price set by you" in literal(app.run())
