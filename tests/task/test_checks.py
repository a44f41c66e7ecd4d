"""Every check, passing and failing."""

import pytest
from task_fakes import six_tickets, ticket

from lib.task import checks
from lib.task.report import Cause, Customer

TICKETS = six_tickets()
ALL = {t.key: "x" for t in TICKETS.tickets}


def test_every_ticket_placed():
    assert checks.all_placed(ALL, {}, TICKETS).passed
    some = checks.all_placed({k: v for k, v in ALL.items() if k > "T-2"}, {"T-1": "cut off"}, TICKETS)
    assert not some.passed
    assert some.detail == "4 of 6 tickets have a cause; without one: T-1, T-2 (cut off)"


def cause(tickets, *customers):
    return Cause("x", tuple(tickets), customers)


def test_customers_in_the_database():
    known, unknown = Customer("C-1"), Customer("C-9", known=False)
    assert checks.customers_known([cause(["T-1"], known)], TICKETS).passed
    missing = checks.customers_known([cause(["T-1", "T-5"], known, unknown)], TICKETS)
    assert (missing.passed, missing.detail) == (
        False, "1 of 2 customers of these causes are in the database; not there: C-9")
    unnamed = checks.customers_known([cause(["T-1", "T-6"], known)], TICKETS)
    assert (unnamed.passed, unnamed.detail) == (
        False, "1 of 1 customers of these causes are in the database; tickets that name no customer: T-6")


def test_quotes():
    assert checks.quotes_found({"T-1": "took my money"}, TICKETS).passed
    wrong = checks.quotes_found({"T-1": "took my money", "T-2": "no such words"}, TICKETS)
    assert (wrong.passed, wrong.detail) == (False, "1 of 2 quotes stand in their ticket; not found: T-2")
    bare = checks.quotes_found({"T-1": "took my money", "T-2": ""}, TICKETS)
    assert (bare.passed, bare.detail) == (False, "1 of 1 quotes stand in their ticket; labels without a quote: T-2")
    assert checks.quotes_found({}, TICKETS) is None


@pytest.mark.parametrize("quote", ["it’s DOWN\nagain", "“it's down again”", "Invoice 4711 … it's down", "a &lt; b",
                                   "a < b", "4711 is...again", "About T-1", "&amp;copy;"])
def test_a_quote_is_found_white_space_case_typography_and_entities_aside(quote):
    assert checks.quote_found(quote, ticket("T-1", "Invoice 4711 is late.\n\nIt's  down again, a < b &amp;copy;"))


def test_characters_that_nobody_sees_do_not_spoil_a_quote():
    assert checks.quote_found("pre-paid invoice", ticket("T-1", "My pre\u2011paid in\u00advoice\u200b is gone"))


@pytest.mark.parametrize("quote", ["it is down", "again … Invoice", "", " … ", ".", "- ’", '""'])
def test_a_quote_that_does_not_stand_there_is_not_found(quote):
    assert not checks.quote_found(quote, ticket("T-1", "Invoice 4711 is late. It's down again"))


def test_summary():
    assert checks.summary_given("x", "It breaks.").passed
    assert checks.summary_given("x", "").detail == "no summary was given"
    assert checks.summary_given("x", "", "refused").detail == "refused"


def test_summary_ids():
    assert checks.summary_tickets("x", ["T-1", "T-1"], ["T-1", "T-2"]).passed
    wrong = checks.summary_tickets("x", ["T-1", "T-9"], ["T-1"])
    assert (wrong.passed, wrong.detail, wrong.cause) == (False, "not tickets of this cause: T-9", "x")
    assert not checks.summary_tickets("x", [], ["T-1"]).passed


def test_a_summary_may_name_a_ticket_as_its_prompt_shows_it():
    assert checks.summary_tickets("x", ["A &amp; B 7", "A & B 7"], ["A & B  7"]).passed
    assert checks.summary_tickets("x", ["A & B  7"], ["A & B  7"]).passed


def test_tickets_exist():
    assert checks.tickets_exist(["T-1", "T-1", "T-2"], TICKETS).detail == "2 of 2 ticket ids in the answer exist"
    wrong = checks.tickets_exist(["T-1", "T-99"], TICKETS)
    assert (wrong.passed, wrong.detail) == (False, "1 of 2 ticket ids in the answer exist; unknown: T-99")


def test_one_cause_per_ticket():
    assert checks.one_cause_each({}).passed
    twice = checks.one_cause_each({"T-1": ["x", "y"]})
    assert (twice.passed, twice.detail) == (False, "given more than once, only the first counts: T-1 (x, y)")
    assert checks.one_cause_each({"T-1": ["x"] * 500}).detail.endswith("T-1 (x)")


def test_tickets_read():
    assert checks.tickets_read(["T-1"], {"T-1", "T-2"}).passed
    unread = checks.tickets_read(["T-1", "T-2"], {"T-1"})
    assert (unread.passed, unread.detail) == (False, "1 of 2 tickets with a cause were read; not read: T-2")


@pytest.mark.parametrize("check", [checks.count_matches, checks.customers_match])
def test_counts_and_customers(check):
    assert check("x", 3, 3).passed
    assert not check("x", 4, 3).passed
    assert check("x", 4, 3).detail.startswith("claimed 4, ")
    assert not check("x", None, 0).passed


@pytest.mark.parametrize(("answered", "k", "detail"), [
    (["b", "a"], 2, "the answer's order is 2, 3 tickets"),
    (["a", "c"], 2, "more frequent, but left out: b (2)"),
    (["a", "b", "c"], 2, "2 causes were asked for, 3 given"),
    (["a"], 2, "2 causes were asked for, 1 given, 3 found"),
])
def test_ranking(answered, k, detail):
    check = checks.ranked_by_count(answered, {"a": 3, "b": 2, "c": 1}, k)
    assert (check.passed, check.detail) == (False, detail)


@pytest.mark.parametrize(("answered", "k", "unplaced", "detail"), [
    (["a", "b"], 2, 0, "most frequent first, none left out"),
    (["a", "b", "c", "d"], 5, 0, "most frequent first, none left out; 5 were asked for, 4 found"),
    (["a", "b", "d"], 3, 0, "most frequent first; as frequent as the last one: c (1)"),
    (["a", "b"], 2, 3, "most frequent first, none left out; 3 tickets without a cause could change it"),
])
def test_a_right_ranking_tells_of_ties_and_of_what_nobody_can_know(answered, k, unplaced, detail):
    check = checks.ranked_by_count(answered, {"a": 3, "b": 2, "c": 1, "d": 1}, k, unplaced)
    assert (check.passed, check.detail) == (True, detail)


def test_fewer_causes_than_asked_for_is_a_fault_while_tickets_have_no_cause():
    check = checks.ranked_by_count(["a"], {"a": 3}, 2, unplaced=4)
    assert (check.passed, check.detail) == (False, "2 causes were asked for, 1 given, 4 tickets have no cause")
