"""Which column joins what, guessed by what it holds; how many are found; what could not be joined."""

from lib.catalog import empty_catalog, joined_by_values, joins, open_catalog
from lib.tickets import Ticket, TicketSet

SHOP = [("products.csv", b"sku,name\nP1,Pot\nP2,Pan\nP3,Lid\n"), ("customers.csv", b"id,name\nC1,Oak\nC2,Elm\n"),
        ("incidents.csv", b"incident_id,product_id,title\nI1,P1,a\nI2,Pan,b\nI3,P9,c\n")]


def tickets(*named):
    return TicketSet("t", tuple(Ticket(key=f"T-{i}", id=f"T-{i}", subject="", body="x", customer=customer,
                                       product=product, created="", extra={})
                                for i, (customer, product) in enumerate(named)))


def test_what_joins_is_counted_and_said():
    found = joins(open_catalog(SHOP), tickets(("C1", "P1"), ("c2", "P1"), ("C7", "Spoon"), ("", "")))
    assert [join.line for join in found] == [
        "2 of 3 customers that tickets name are in customers.id; not there: C7.",
        "1 of 2 products that tickets name is in products.sku; not there: Spoon.",
        "2 of 3 products of incidents.product_id are in products.sku or products.name; not there: P9."]
    assert [(join.named, join.found, join.complete) for join in found] == [(3, 2, False), (2, 1, False), (3, 2, False)]


def test_what_is_not_there_is_said_too():
    assert [join.line for join in joins(empty_catalog(), tickets(("C1", "P1")))] == [
        "No table of customers: they stay as tickets name them.",
        "No table of products: they stay as tickets name them.",
        "No table of incidents: none can be joined."]


def test_products_found_by_name_are_said_to_be():
    assert joins(open_catalog(SHOP), tickets(("", "pot"), ("", "PAN")))[1].place == "products.name"


def test_a_good_guess_is_left_as_it_is():
    catalog = open_catalog(SHOP[:2])
    assert joined_by_values(catalog, tickets(("C1", "P1"))) is catalog


def test_products_are_found_in_the_column_that_holds_them():
    catalog = open_catalog([("stock.csv", b"row,handle,team\n1,pot-a,kitchen\n2,pan-b,kitchen\n3,lid-c,garden\n")])
    found = joined_by_values(catalog, tickets(("", "Pot-A"), ("", "lid-c")))
    assert found.product("pot-a")["row"] == "1"
    assert found.notes[-1].startswith("products are looked up in stock.")


def test_a_column_that_repeats_its_values_names_teams_and_not_products():
    catalog = open_catalog([("stock.csv", b"row,handle,team\n1,pot-a,kitchen\n2,pan-b,kitchen\n")])
    assert joined_by_values(catalog, tickets(("", "kitchen"))).roles.products is None


def test_the_product_of_incidents_is_found_by_what_the_column_holds():
    catalog = open_catalog([SHOP[0], ("outages.csv", b"outage_id,what,hit\n1,slow,P1\n2,down,P3\n")])
    assert joined_by_values(catalog, tickets(("", "P1"))).incidents("Pot") == [
        {"outage_id": "1", "what": "slow", "hit": "P1"}]


def test_customers_are_found_by_the_column_that_holds_more_of_them():
    catalog = open_catalog([("crm.csv", b"id,company,contact\n1,Oak,a@x.org\n2,Elm,b@x.org\n")])
    found = joined_by_values(catalog, tickets(("a@x.org", ""), ("b@x.org", "")))
    assert found.customer("A@x.org")["company"] == "Oak"
    assert joins(found, tickets(("a@x.org", "")))[0].complete


def test_without_a_table_of_products_incidents_join_by_what_tickets_say():
    catalog = open_catalog([("incidents.csv", b"incident_id,product,title\n1,Pot,a\n")])
    assert joins(catalog, tickets(("", "pot"), ("", "Pan")))[2].line == (
        "1 of 2 products that tickets name is in incidents.product; not there: Pan.")
