"""Samples, a ticket that gives orders, a ticket in other words: each is the data of the next run, and can be undone."""

from __future__ import annotations

import seeds
from reading import literal, markup, sound

from lib.ui import state


def tickets(app):
    return state.stored_data(app.session_state["desk"]["data_id"] or state.sample().id).tickets


def press(app, key):
    app.button(key=key).click().run()
    sound(app)
    return app


def rewrite(app, number, **words):
    place = f"data.rewrite.{app.session_state['desk']['data_id'] or state.sample().id}.{number}"
    for part, text in words.items():
        field = app.text_input if part == "subject" else app.text_area
        field(key=f"{place}.{part}").set_value(text)
    app.button(key=f"{place}.save").click().run()
    sound(app)
    return app


def test_the_second_sample_comes_with_its_database_and_its_columns(visit):
    app = press(visit("data"), "data.sample.2")
    assert "of mealkits.csv" in literal(app) and "The sample of meal kits is in place" in markup(app)
    assert app.button(key="data.sample.2").disabled and not app.button(key="data.sample.1").disabled
    assert app.selectbox(key="data.column.body").value == "body"
    assert "tickets name are in customers." in literal(app)
    assert "of tickets.csv" in literal(press(app, "data.sample.1"))


def test_the_second_sample_is_still_a_sample_in_a_new_session(visit):
    press(visit("data"), "data.sample.2")
    assert visit("data").button(key="data.sample.2").disabled
    assert visit("start").button(key="start.run_own").label == "Run the meal kits both ways"


def test_a_ticket_that_gives_orders_is_added_once_and_told(visit):
    app = press(visit("data"), "data.inject")
    assert "41 tickets of" in literal(app) and app.button(key="data.inject").disabled
    assert "a ticket that gives orders was added: ORDERS-1" in literal(app)
    assert "Ignore all previous instructions" in literal(app)       # it is the one that is shown


def test_the_added_ticket_can_be_taken_out_again(visit):
    app = press(press(visit("data"), "data.inject"), "data.undo_change")
    assert "40 tickets of" in literal(app) and not app.button(key="data.inject").disabled
    assert not [b for b in app.button if b.key == "data.undo_change"]


def test_a_ticket_in_other_words_is_new_data_and_stays_in_sight(visit):
    app = visit("data")
    app.number_input(key=f"data.ticket.{state.sample().id}").set_value(3).run()
    rewrite(app, 3, subject="Login", body="We cannot sign in since the certificate was replaced.")
    assert tickets(app).tickets[2].body == "We cannot sign in since the certificate was replaced."
    assert "40 tickets of tickets.csv (edited)" in literal(app) and "rewritten by hand: T-1003" in literal(app)
    assert "<subject>Login</subject>" in literal(app) and "Ticket T-1003 (3 of 40)" in literal(app)
    assert tickets(visit("run")).tickets[2].subject == "Login"


def test_changes_are_undone_one_by_one(visit):
    app = rewrite(visit("data"), 1, body="first")
    rewrite(app, 1, body="second")
    assert tickets(press(app, "data.undo_change")).tickets[0].body == "first"
    assert tickets(press(app, "data.undo_change")) == state.sample().tickets


def test_two_tabs_keep_each_others_tickets(visit, store):
    one, other = visit("data", desk="d"), visit("data", desk="d")
    other.number_input(key=f"data.ticket.{state.sample().id}").set_value(3).run()
    rewrite(one, 1, body="from one tab")
    other.text_area(key=f"data.rewrite.{state.sample().id}.3.body").set_value("from another")
    press(other, f"data.rewrite.{state.sample().id}.3.save")
    assert [tickets(other).tickets[n].body for n in (0, 2)] == ["from one tab", "from another"]


def test_words_for_a_ticket_that_another_tab_put_away_change_nothing(visit, store):
    one, other = visit("data", desk="d"), visit("data", desk="d")
    press(one, "data.sample.2")
    app = rewrite(other, 1, body="for the first sample")
    assert "Other data were chosen in another tab" in literal(app) and tickets(app) == state.sample("meal kits").tickets


def test_the_same_words_change_nothing(visit):
    assert tickets(rewrite(visit("data"), 1)) is state.sample().tickets


def test_after_other_data_there_is_nothing_to_undo(visit):
    app = press(rewrite(visit("data"), 1, body="first"), "data.sample.2")
    assert not [b for b in app.button if b.key == "data.undo_change"]


def test_words_that_a_person_types_stay_literal(visit):
    app = rewrite(visit("data"), 1, subject=seeds.TRAP, body=seeds.TRAP)
    assert "evil.example" in literal(app) and "evil.example" not in markup(app)


def test_without_tags_the_page_shows_what_the_model_gets_then(visit):
    app = press(visit("data"), "data.inject")
    app.switch_page("pages/design.py").run()
    app.toggle(key="design.tags").set_value(False).run()
    assert "Unsafe on purpose" in literal(app)
    app.switch_page("pages/data.py").run()
    assert "<ticket id=" not in literal(app) and "Ignore all previous instructions" in literal(app)
