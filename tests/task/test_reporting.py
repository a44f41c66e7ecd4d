"""Counting, ranking and joining, worked by hand on six tickets."""

import json

import pytest
from task_fakes import catalog, six_tickets, ticket

from lib.catalog import empty_catalog, open_catalog
from lib.errors import InputError
from lib.task.report import Customer, Report
from lib.task.reporting import affected, build_report, find_customer, incidents_of, product_names
from lib.tickets.ticket import TicketSet

TICKETS = six_tickets()
PLACED = {"T-1": "duplicate charge", "T-2": "duplicate charge", "T-4": "duplicate charge",
          "T-3": "wrong time zone", "T-5": "wrong time zone", "T-6": "missing manual"}
OAK = Customer("C-1", "Oak Dental", "Pro", "North", 900.0)
BIRCH = Customer("C-2", "Birch Gym", "Free", "South", 0.0)


def with_tickets(customer, tickets):
    return Customer(**{**customer.__dict__, "tickets": tickets})


def test_causes_are_counted_ranked_and_joined_with_their_customers():
    report = build_report("pipeline", 2, TICKETS, catalog(), PLACED)
    assert [(c.name, c.count, c.tickets) for c in report.causes] == [
        ("duplicate charge", 3, ("T-1", "T-2", "T-4")), ("wrong time zone", 2, ("T-3", "T-5"))]
    assert report.causes[0].customers == (with_tickets(OAK, 2), with_tickets(BIRCH, 1))
    assert report.causes[1].customers == (with_tickets(OAK, 1), Customer("C-9", known=False, tickets=1))
    assert [c.products for c in report.causes] == [("Invoices",), ("Calendar",)]
    assert (report.total, report.other, report.labels, report.failed) == (6, 1, PLACED, {})


def test_equal_counts_are_ranked_by_name():
    report = build_report("pipeline", 3, TICKETS, catalog(), {"T-1": "b", "T-2": "a", "T-3": "c", "T-4": "c"})
    assert [c.name for c in report.causes] == ["c", "a", "b"]


def test_labels_come_in_input_order_and_only_for_tickets_that_exist():
    report = build_report("agent", 3, TICKETS, catalog(), {"T-4": "a", "T-99": "a", "T-1": "a"})
    assert list(report.labels) == ["T-1", "T-4"]
    assert report.causes[0].tickets == ("T-1", "T-4")


def test_only_the_named_causes_are_reported_the_rest_is_other():
    report = build_report("agent", 2, TICKETS, catalog(), PLACED, only=["missing manual", "no such cause"])
    assert [c.name for c in report.causes] == ["missing manual"]
    assert report.other == 5


def test_evidence_says_whether_it_was_found():
    quotes = {"T-1": "my money", "T-2": "lies", "T-4": ""}
    report = build_report("pipeline", 1, TICKETS, catalog(), PLACED, quotes=quotes)
    assert [(e.ticket, e.found) for e in report.causes[0].evidence] == [("T-1", True), ("T-2", False)]


def test_the_shared_checks_follow_the_shapes_own():
    report = build_report("pipeline", 2, TICKETS, catalog(), PLACED, quotes={"T-1": "my money"})
    assert [(c.name, c.passed) for c in report.checks] == [
        ("every ticket placed", True), ("quotes", True), ("customers in the database", False),
        ("products in the database", True)]


def test_a_report_survives_json():
    report = build_report("pipeline", 2, TICKETS, catalog(), PLACED, quotes={"T-1": "my money"},
                          summaries={"duplicate charge": "Twice."}, claimed={"duplicate charge": 4},
                          failed={"T-9": "refused"})
    assert Report.from_dict(json.loads(json.dumps(report.to_dict()))) == report


def test_a_partial_report_says_so_first_and_survives_json():
    report = build_report("pipeline", 2, TICKETS, catalog(), PLACED, partial="stopped by the person")
    assert (report.checks[0].name, report.checks[0].passed) == ("run finished", False)
    assert Report.from_dict(json.loads(json.dumps(report.to_dict()))).partial == "stopped by the person"


@pytest.mark.parametrize("junk", [None, [], "x", {}, {"causes": [{}], "checks": []}, {"causes": 1, "checks": []}])
def test_what_is_no_report_is_refused_with_one_clear_line(junk):
    with pytest.raises(InputError, match="^this is no report of this version: .*$"):
        Report.from_dict(junk)


def test_customers_are_ordered_by_revenue_and_unknown_ones_last():
    tickets = [ticket(f"T-{i}", customer=c) for i, c in enumerate(["C-9", "C-2", "C-3", " C-1 ", "C-1", ""])]
    assert [(c.id, c.tickets, c.known) for c in affected(tickets, catalog())] == [
        ("C-1", 2, True), ("C-3", 1, True), ("C-2", 1, True), ("C-9", 1, False)]


def test_a_customer_spelled_in_another_case_is_one_customer_by_the_databases_id():
    tickets = [ticket(f"T-{i}", customer=c) for i, c in enumerate(["c-1", "C-1", "x-9", "X-9"])]
    assert [(c.id, c.name, c.tickets) for c in affected(tickets, catalog())] == [
        ("C-1", "Oak Dental", 2), ("X-9", "", 1), ("x-9", "", 1)]


def test_products_are_named_by_the_database_most_frequent_first():
    tickets = [ticket(f"T-{i}", product=p) for i, p in enumerate(["P-9", "P-1", "Invoices", "P-2", ""])]
    assert product_names(tickets, catalog()) == ("Invoices", "Calendar", "P-9")


def test_incidents_of_tickets_come_by_the_names_we_know():
    assert incidents_of(TICKETS.tickets, catalog()) == [{
        "product": "Invoices", "id": "I-1", "started": "2026-03-01", "ended": "2026-03-02",
        "title": "Cards charged twice", "detail": "The payment job ran two times"}]


def test_each_of_two_products_with_one_name_has_its_own_incidents():
    database = open_catalog([
        ("products.csv", b"product_id,name\nP-1,Invoices\nP-2,Invoices\n"),
        ("incidents.csv", b"incident_id,product_id,title\nI-1,P-1,old\nI-2,P-2,new\nI-3,P-2,newer\n")])
    given = [ticket(f"T-{i}", product=p) for i, p in enumerate(["P-2", "p-2"])]
    assert [i["id"] for i in incidents_of(given, database)] == ["I-2", "I-3"]
    assert product_names([*given, ticket("T-3", product="P-1")], database) == ("Invoices",)


def test_a_product_given_by_id_and_by_name_has_its_incidents_once():
    given = [ticket("T-1", product="P-1"), ticket("T-2", product="Invoices")]
    assert [i["id"] for i in incidents_of(given, catalog())] == ["I-1"]


@pytest.mark.parametrize(("stored", "amount"),
                         [("0", 0.0), ("250.5", 250.5), ('"1.299,00"', 1299.0), ("1.299", None), ("free", None),
                          ("", None)])
def test_an_amount_that_is_not_certain_is_unknown_not_zero(stored, amount):
    database = open_catalog([("customers.csv", f"customer_id,name,monthly_revenue\nC-1,Oak,{stored}\n".encode())])
    assert find_customer("C-1", database).monthly_revenue == amount


def test_without_a_database_every_customer_is_unknown_and_products_keep_their_exported_names():
    report = build_report("pipeline", 1, TICKETS, empty_catalog(), PLACED)
    assert [(c.id, c.known) for c in report.causes[0].customers] == [("C-1", False), ("C-2", False)]
    assert report.causes[0].products == ("P-1",)
    assert incidents_of(TICKETS.tickets, empty_catalog()) == []


def test_a_report_of_no_placed_ticket_is_empty_but_whole():
    report = build_report("agent", 5, TicketSet("none", TICKETS.tickets[:1]), catalog(), {})
    assert (report.causes, report.other, report.total) == ((), 0, 1)
    assert not next(c for c in report.checks if c.name == "every ticket placed").passed


def test_the_report_says_what_a_database_without_some_tables_could_not_join():
    database = open_catalog([("customers.csv", b"customer_id,name\nC-1,Oak\nC-2,Elm\n")])
    report = build_report("pipeline", 2, TICKETS, database, PLACED)
    said = {c.name: c.detail for c in report.checks if not c.passed}
    assert "no table of products" in said["products in the database"]
    assert said["incidents in the database"] == "the database has no table of incidents: none was joined"


def test_an_ambiguous_amount_is_read_as_the_rest_of_its_column_is():
    database = open_catalog([("customers.csv", b"id;name;mrr\nC-1;Oak;1.299\nC-2;Elm;49,50\n")])
    assert find_customer("C-1", database).monthly_revenue == 1299.0
