"""What to run of the tickets on the desk: all, the first, a random sample, a share of each group."""

from __future__ import annotations

import time

import pytest
from reading import everything, literal, markup, sound

from lib.tickets import Ticket, TicketSet
from lib.ui import picked, state


def many(number: int = 40, name: str = "many.csv") -> TicketSet:
    return TicketSet(name, tuple(Ticket(f"T-{n}", f"T-{n}", f"Subject {n}", f"Order {n} never arrived.", f"C-{n % 7}",
                                        label="late" if n % 4 else "lost") for n in range(number)))


@pytest.fixture
def loaded(visit, store):
    """The Data page of a visitor who has these tickets on the desk."""
    def load(tickets: TicketSet, page: str = "data", **desk):
        app = visit("data")
        data_id = store.save_data(tickets.json_pieces(), None, tickets.name)
        store.save_desk(store.latest_desk(), {**store.load_desk(store.latest_desk()), "data_id": data_id, **desk})
        return visit(page) if page != "data" else app.run()
    return load




def done(store) -> list:
    for _ in range(600):
        runs = store.runs()
        if runs and all(run.status not in ("queued", "running") for run in runs):
            return runs
        time.sleep(0.05)
    raise AssertionError("the runs did not end")


def test_all_tickets_are_run_unless_a_part_is_picked(loaded):
    app = loaded(many())
    sound(app)
    assert "All 40 tickets will be run." in literal(app) and "40 tickets of many.csv" in literal(app)


def test_a_random_sample_is_said_on_every_page_and_kept_after_a_refresh(loaded, visit):
    app = loaded(many(), picked={"how": "random", "number": 12, "seed": 3, "by": ""})
    sound(app)
    for page in ("data", "run", "costs"):
        assert "12 of 40 tickets of many.csv" in literal(visit(page))
    assert "12 of 40 tickets will be run, picked at random, seed 3." in literal(visit("run"))


def test_what_it_costs_stands_beside_the_choice_and_follows_it(loaded, visit):
    whole = markup(loaded(many()))
    part = markup(loaded(many(), picked={"how": "first", "number": 3, "seed": 1, "by": ""}))
    assert "**pipeline**" in whole and "**pipeline**" in part and whole != part


def test_the_picked_tickets_are_what_is_run_and_the_others_stay(loaded, store):
    app = loaded(many(), "run", picked={"how": "first", "number": 3, "seed": 1, "by": ""}, shapes=["pipeline"])
    app.button(key="run.start").click().run()
    (run,) = done(store)
    assert store.tickets_in(run.data_id) == 3
    assert [t.key for t in TicketSet.from_json(store.load_data(run.data_id)[0]).tickets] == ["T-0", "T-1", "T-2"]
    app.switch_page("pages/data.py").run()
    assert "3 of 40 tickets of many.csv" in literal(app) and "Ticket T-0 (1 of 40)" in literal(app)


def test_the_same_choice_is_the_same_data(loaded, store):
    loaded(many(), picked={"how": "random", "number": 5, "seed": 1, "by": ""})
    whole = state.Data("w", many(), state.no_catalog())
    first, again = (picked.of(whole, {"how": "random", "number": 5, "seed": 1}) for _ in range(2))
    picked.made.clear()
    other = picked.of(whole, {"how": "random", "number": 5, "seed": 1, "by": "label"})
    assert first.id == again.id == other.id != picked.of(whole, {"how": "random", "number": 5, "seed": 2}).id


def test_a_share_of_each_group_has_every_group(loaded, store):
    found = picked.of(state.Data("w", many(), state.no_catalog()),
                      {"how": "stratified", "number": 8, "seed": 1, "by": "label"})
    assert sorted(t.label for t in found.tickets.tickets) == ["late"] * 6 + ["lost"] * 2
    app = loaded(many(), picked={"how": "stratified", "number": 8, "seed": 1, "by": "label"})
    assert "8 of 40 tickets will be run, picked by Gold label, each value with its share, seed 1." in literal(app)


def test_controls_change_the_choice(loaded):
    app = loaded(many(), picked={"how": "random", "number": 5, "seed": 1, "by": ""})
    app.number_input(key="data.pick.number").set_value(7).run()
    app.number_input(key="data.pick.seed").set_value(9).run()
    sound(app)
    assert "7 of 40 tickets will be run, picked at random, seed 9." in literal(app)


def test_a_group_that_the_tickets_do_not_have_is_a_random_sample_and_says_so(loaded):
    app = loaded(many(), picked={"how": "stratified", "number": 5, "seed": 2, "by": "gone"})
    sound(app)
    assert "5 of 40 tickets will be run, picked at random, seed 2." in literal(app)


@pytest.mark.parametrize("choice", [
    {"how": "magic"}, {"how": "random", "number": -3}, {"how": "random", "number": "many"}, {"how": "first"},
    {"how": ["random"]}, {"how": "random", "number": True, "seed": 1.5, "by": 7}, {"number": 10**30}, {"x": 1}])
def test_whatever_stands_on_the_desk_the_page_works(loaded, choice):
    sound(loaded(many(), picked=choice))


def test_a_choice_larger_than_the_file_is_the_whole_file(loaded):
    app = loaded(many(), picked={"how": "random", "number": 5_000, "seed": 1, "by": ""})
    sound(app)
    assert "All 40 tickets will be run." in literal(app)


def test_a_new_file_begins_with_all_its_tickets(loaded):
    app = loaded(many(), picked={"how": "first", "number": 3, "seed": 1, "by": ""})
    app.file_uploader(key="data.tickets").set_value(("new.csv", b"id,text\n1,late\n2,lost\n", "text/csv")).run()
    assert "2 tickets of new.csv" in literal(app) and "All 2 tickets will be run." in literal(app)


def test_above_the_limit_a_random_part_is_one_click_away(loaded, store, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_CONFIRM_ABOVE", "20")
    app = loaded(many(), "run", shapes=["pipeline"])
    app.button(key="run.start").click().run()
    assert "40 tickets are more than 20" in everything(app) and not store.runs()
    app.button(key="run.confirm_few").click().run()
    sound(app)
    (run,) = done(store)
    assert store.tickets_in(run.data_id) == 20
    assert "20 of 40 tickets of many.csv" in literal(app.run())
