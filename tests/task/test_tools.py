"""The agent's tools: what they return, what they refuse, and how they keep results small."""

import json
from dataclasses import dataclass, field, replace

import pytest
from task_fakes import catalog, six_tickets, ticket

from lib.agent import Tool
from lib.catalog import empty_catalog, open_catalog
from lib.task import tools
from lib.task.default_design import default_design
from lib.task.tools import make_tools
from lib.tickets.ticket import TicketSet

TICKETS = six_tickets()
MANY = TicketSet("many", tuple(ticket(f"T-{i}", f"Body {i} " + "long " * 5, "C-1") for i in range(120)))


@dataclass(frozen=True)
class WideCatalog:
    """A catalog whose every row is what the test gives it."""

    row: dict = field(default_factory=dict)
    rows: list = field(default_factory=list)

    def customer(self, id):
        return self.row

    product = customer

    def incidents(self, product):
        return self.rows


def test_the_tools_are_made_from_the_designs_texts_with_their_functions_by_key():
    design = default_design().with_tool("read_ticket", name="open_ticket", description="Opens it.")
    made = {tool.name: tool for tool in make_tools(design.with_tool("tally", enabled=False), TICKETS, catalog())}
    assert isinstance(made["open_ticket"], Tool) and made["open_ticket"].description == "Opens it."
    assert made["open_ticket"].fn(ticket_id="T-1")["body"] == "You took my money two times."
    assert set(made) == {"list_tickets", "open_ticket", "search_tickets", "get_customer", "get_product",
                         "list_incidents"}


def test_paging_reaches_every_ticket_exactly_once():
    seen, offset = [], 0
    while offset is not None:
        page = tools.list_tickets(MANY, offset=offset)
        assert page["total"] == 120 and len(page["tickets"]) <= 20
        seen += [row["ticket_id"] for row in page["tickets"]]
        offset = page["next_offset"]
    assert seen == [t.key for t in MANY.tickets]


def test_a_page_shows_no_bodies():
    page = tools.list_tickets(TICKETS, limit=1)
    assert page == {"total": 6, "offset": 0, "next_offset": 1, "tickets": [
        {"ticket_id": "T-1", "subject": "About T-1", "product": "P-1"}]}


@pytest.mark.parametrize(("arguments", "reason"), [
    ({"offset": 6}, "offset must be a whole number from 0 to 5"),
    ({"offset": -1}, "offset must be"), ({"offset": "x"}, "offset must be"), ({"offset": True}, "offset must be"),
    ({"limit": 51}, "limit must be a whole number from 1 to 50"), ({"limit": 0}, "limit must be"),
    ({"limit": None}, "limit must be"), ({"limit": 2.5}, "limit must be"),
])
def test_a_page_that_does_not_exist_is_refused_with_what_is_allowed(arguments, reason):
    with pytest.raises(ValueError, match=reason):
        tools.list_tickets(TICKETS, **arguments)


def test_numbers_as_text_are_read_when_the_schema_lets_them_through():
    assert tools.list_tickets(TICKETS, offset="4", limit="1")["tickets"][0]["ticket_id"] == "T-5"


def test_reading_takes_one_existing_id():
    assert tools.read_ticket(TICKETS, " T-3 ") == {
        "ticket_id": "T-3", "subject": "About T-3", "product": "P-2", "created": "2026-03-01", "customer_id": "C-1",
        "body": "The clock is an hour off."}
    with pytest.raises(ValueError, match="no ticket 'T-99'; pass one id, exactly as list_tickets returns it"):
        tools.read_ticket(TICKETS, "T-99")


@pytest.mark.parametrize("arguments", [
    {"ticket_id": "T-3, T-1"}, {"ticket_id": ["T-3", "T-1"]}, {"ticket_ids": ["T-3", "T-1", "T-3"]},
    {"ticket_ids": "T-3,T-1,"}, {"ticket_id": "T-3", "ticket_ids": ["T-1"]}, {"ticket_ids": ["T-3,T-1"]}])
def test_reading_takes_several_ids_in_the_order_given(arguments):
    assert tools.read_ticket(TICKETS, **arguments) == {
        "tickets": [tools.read_ticket(TICKETS, "T-3"), tools.read_ticket(TICKETS, "T-1")], "not_found": []}


def test_of_several_ids_those_that_do_not_exist_are_named():
    result = tools.read_ticket(TICKETS, "T-1, T-98, T-99")
    assert [t["ticket_id"] for t in result["tickets"]] == ["T-1"] and result["not_found"] == ["T-98", "T-99"]
    with pytest.raises(ValueError, match="no ticket 'T-98', 'T-99'; pass one id, exactly as list_tickets returns it"):
        tools.read_ticket(TICKETS, "T-98, T-99")


@pytest.mark.parametrize(("arguments", "reason"), [
    ({}, "ticket_id is missing"), ({"ticket_id": []}, "ticket_id is missing"),
    ({"ticket_id": {"id": "T-1"}}, "ticket_id must be one id, .*or a list of ids"),
    ({"ticket_id": True}, "must be one id"), ({"ticket_ids": [["T-1"]]}, "must be one id"),
    ({"ticket_id": ""}, "there is no ticket ''"), ({"ticket_id": " , "}, "there is no ticket")])
def test_what_is_no_id_is_refused_with_what_is_allowed(arguments, reason):
    with pytest.raises(ValueError, match=reason):
        tools.read_ticket(TICKETS, **arguments)


def test_an_id_with_a_comma_in_it_is_one_id():
    odd = TicketSet("odd", (ticket("7, 8", "odd"), ticket("7"), ticket("8")))
    assert tools.read_ticket(odd, "7, 8")["body"] == "odd"


def test_ten_tickets_are_read_at_once_and_a_note_tells_of_the_others():
    result = tools.read_ticket(MANY, [f"T-{i}" for i in range(12)])
    assert [t["ticket_id"] for t in result["tickets"]] == [f"T-{i}" for i in range(10)]
    assert result["note"] == "the first 10 of 12 ids were read, pass the others in another call"
    assert "note" not in tools.read_ticket(MANY, [f"T-{i}" for i in range(10)])


def test_several_tickets_share_the_room_of_one_result_and_short_ones_leave_theirs_to_long_ones():
    long = TicketSet("long", (ticket("A", "a" * 50_000), ticket("B", "short"), ticket("C", "c" * 50_000)))
    result = tools.read_ticket(long, ["A", "B", "C"])
    assert len(json.dumps(result)) <= tools.RESULT_LIMIT + 200
    bodies = [t["body"] for t in result["tickets"]]
    assert bodies[1] == "short" and len(bodies[0]) == len(bodies[2]) > tools.RESULT_LIMIT // 3


def test_a_function_says_what_it_takes_when_the_schema_promised_something_else():
    design = default_design().with_tool("read_ticket", input_schema={"type": "object"}).with_tool(
        "search_tickets", input_schema={"type": "object"})
    made = {tool.name: tool.fn for tool in make_tools(design, TICKETS, catalog())}
    with pytest.raises(ValueError, match="^it takes ticket_id and ticket_ids; it was given id, why$"):
        made["read_ticket"](id="T-1", why="to read it")
    with pytest.raises(ValueError, match="^it takes query; nothing was given$"):
        made["search_tickets"]()


def test_every_schema_names_only_what_its_function_takes():
    for tool in default_design().tools:
        assert set(tool.input_schema["properties"]) <= set(tools.parameters(tool.key))
    assert tools.parameters("refund") == ()


def test_a_ticket_whose_id_is_repeated_is_read_by_its_key():
    twice = TicketSet("twice", (ticket("7", "first"), replace(ticket("7#2", "second"), id="7")))
    assert tools.read_ticket(twice, "7")["body"] == "first"
    assert tools.read_ticket(twice, 7)["body"] == "first"
    assert tools.read_ticket(twice, "7#2")["body"] == "second"


@pytest.mark.parametrize("character", ["a", "\n", "\x01", '"'])
def test_a_huge_ticket_fits_one_result_and_says_that_it_was_cut(character):
    result = tools.read_ticket(TicketSet("x", (ticket("T-1", character * 200_000),)), "T-1")
    assert len(json.dumps(result, ensure_ascii=False)) <= tools.RESULT_LIMIT
    assert "characters left out here" in result["body"]


def test_a_ticket_whose_id_alone_fills_a_result_can_still_be_read():
    id = "7" * 2 * tools.RESULT_LIMIT
    assert tools.read_ticket(TicketSet("x", (ticket(id, "body"),)), id)["ticket_id"] == id


def test_search_finds_tickets_with_every_word_in_any_case():
    result = tools.search_tickets(TICKETS, "TWO  invoice")
    assert result["total"] == 1
    assert result["tickets"] == [{"ticket_id": "T-2", "subject": "About T-2",
                                  "snippet": "About T-2 / Two payments for one invoice!"}]
    assert tools.search_tickets(TICKETS, "refund") == {"total": 0, "tickets": []}


def test_search_shows_twenty_hits_and_tells_how_many_there_are():
    result = tools.search_tickets(MANY, "long")
    assert (result["total"], len(result["tickets"])) == (120, 20)
    assert result["note"] == "20 of 120 tickets shown; narrow the request to see others"


@pytest.mark.parametrize("query", ["", "  ", None, ["late"]])
def test_an_empty_search_is_refused(query):
    with pytest.raises(ValueError, match="query is empty"):
        tools.search_tickets(TICKETS, query)


def test_tally_counts_tickets_and_customers_exactly():
    given = {"T-1": "Duplicate charge", "T-2": "duplicate  charge", "T-4": "duplicate charge", "T-3": "wrong time zone"}
    result = tools.tally(TICKETS, catalog(), [{"ticket_id": key, "cause": cause} for key, cause in given.items()])
    assert result == {
        "total_tickets": 6, "assigned": 4, "unassigned": 2, "unknown_ticket_ids": [], "repeated_ticket_ids": [],
        "causes": [
            {"cause": "duplicate charge", "count": 3, "customers": 2, "ticket_ids": ["T-1", "T-2", "T-4"]},
            {"cause": "wrong time zone", "count": 1, "customers": 1, "ticket_ids": ["T-3"]}],
        "unassigned_ticket_ids": ["T-5", "T-6"]}


def test_tally_reports_unknown_and_repeated_ids_and_counts_neither():
    pairs = [("T-1", "a"), ("T-99", "a"), ("T-1", "b")]
    result = tools.tally(TICKETS, catalog(), [{"ticket_id": key, "cause": cause} for key, cause in pairs])
    assert (result["unknown_ticket_ids"], result["repeated_ticket_ids"]) == (["T-99"], ["T-1"])
    assert [(c["cause"], c["count"]) for c in result["causes"]] == [("a", 1)]


def test_a_search_looks_past_typography():
    told = TicketSet("t", (ticket("T-1", "It won\N{RIGHT SINGLE QUOTATION MARK}t pre\N{SOFT HYPHEN}load"),))
    assert tools.search_tickets(told, "won't preload")["total"] == 1


def test_tally_counts_a_customer_spelled_in_another_case_once():
    two = TicketSet("two", (ticket("T-1", customer="C-1"), ticket("T-2", customer="c-1")))
    result = tools.tally(two, catalog(), [{"ticket_id": key, "cause": "a"} for key in ("T-1", "T-2")])
    assert (result["causes"][0]["count"], result["causes"][0]["customers"]) == (2, 1)


def test_tally_says_how_many_ids_it_does_not_show():
    result = tools.tally(TICKETS, catalog(), [{"ticket_id": f"X-{i}" * 50, "cause": "a"} for i in range(10_000)])
    assert result["unknown_ticket_ids"][-1] == "and 9,980 more" and len(json.dumps(result)) < 3_000


def test_tally_of_ten_thousand_causes_stays_small():
    many = TicketSet("many", tuple(ticket(f"T-{i}") for i in range(10_000)))
    result = tools.tally(many, catalog(), [{"ticket_id": f"T-{i}", "cause": f"cause {i}"} for i in range(10_000)])
    assert result["assigned"] == 10_000 and "of 10000 causes shown" in result["note"]
    assert len(json.dumps(result)) < tools.RESULT_LIMIT + 200


def test_one_cause_with_long_ids_stays_small_too():
    long = TicketSet("long", tuple(ticket(f"{i:03d}" + "x" * 400) for i in range(200)))
    result = tools.tally(long, catalog(), [{"ticket_id": t.key, "cause": "a"} for t in long.tickets])
    assert result["causes"][0]["count"] == 200 and len(json.dumps(result)) < tools.RESULT_LIMIT
    assert result["causes"][0]["note"] == "12 of 200 ticket_ids shown; all are counted"


@pytest.mark.parametrize(("assignments", "reason"), [
    ("T-1", "must be a list of objects"), (["T-1"], "must be a list of objects"),
    ([{"ticket_id": "T-1", "cause": ""}], "assignment of ticket 'T-1': \"cause\" is ''"),
    ([{"ticket_id": "T-1"}], "must be one text, not null"),
    ([{"id": "T-1", "cause": "a"}], 'each assignment needs "ticket_id" and "cause"; one has id, cause'),
    ([{}], "one has none"),
])
def test_tally_refuses_what_it_cannot_count(assignments, reason):
    with pytest.raises(ValueError, match=reason):
        tools.tally(TICKETS, catalog(), assignments)


def test_look_ups_return_the_databases_own_row():
    assert tools.get_customer(catalog(), "C-3")["name"] == "Cedar Cafe"
    assert tools.get_product(catalog(), "P-1")["name"] == tools.get_product(catalog(), "Invoices")["name"] == "Invoices"
    incidents = tools.list_incidents(catalog(), "P-1")
    assert (incidents["total"], incidents["incidents"][0]["title"]) == (1, "Cards charged twice")
    assert tools.list_incidents(catalog(), "P-2") == {"product": "P-2", "total": 0, "incidents": []}


def test_what_the_database_does_not_have_is_an_error_that_says_what_to_do():
    with pytest.raises(ValueError, match="no customer 'C-9'.*do not look it up again"):
        tools.get_customer(catalog(), "C-9")
    for look_up in (tools.get_product, tools.list_incidents):
        with pytest.raises(ValueError, match="no product 'P-9'; pass the product exactly as a ticket gives it"):
            look_up(catalog(), "P-9")
        with pytest.raises(ValueError, match="no table of products; go on without it"):
            look_up(empty_catalog(), "P-1")
    with pytest.raises(ValueError, match="customer_id must be one id as text"):
        tools.get_customer(catalog(), ["C-1"])


def test_a_wide_row_is_shortened():
    row = tools.get_product(WideCatalog({"sku": "17", "manual": "Turn the screw. " * 65_536}), "17")
    assert row["sku"] == "17"
    assert "characters left out here" in row["manual"] and len(row["manual"]) < 2_100
    many = tools.get_product(WideCatalog({f"column {i}": "v" * 500 for i in range(2_000)}), "17")
    assert len(json.dumps(many)) < tools.RESULT_LIMIT + 200
    assert many["note"].endswith("of 2000 columns are shown")


def test_many_incidents_are_capped_with_a_note():
    result = tools.list_incidents(WideCatalog({"id": 1}, [{"detail": "d" * 1_500}] * 400), "P")
    assert result["total"] == 400 and len(json.dumps(result)) < tools.RESULT_LIMIT + 200
    assert result["note"] == f"{len(result['incidents'])} of 400 incidents shown; narrow the request to see others"
    assert result["incidents"]


def test_all_incidents_are_counted_also_those_not_shown():
    rows = "".join(f"I-{i},P-1,title\n" for i in range(50))
    database = open_catalog([("incidents.csv", ("incident_id,product_id,title\n" + rows).encode())])
    result = tools.list_incidents(database)
    assert (result["total"], len(result["incidents"])) == (50, 20)
    assert result["note"] == "20 of 50 incidents shown; narrow the request to see others"


def test_no_incident_is_not_said_of_a_database_that_cannot_tell():
    products = ("products.csv", b"product_id,name\nP-1,Invoices\n")
    with pytest.raises(ValueError, match="no table of incidents; go on without it"):
        tools.list_incidents(empty_catalog())
    with pytest.raises(ValueError, match="no table of incidents; go on without it"):
        tools.list_incidents(open_catalog([products]), "P-1")
    database = open_catalog([products, ("incidents.csv", b"incident_id,started,title\nI-1,2026,Late\n")])
    with pytest.raises(ValueError, match="does not tell which product an incident is of; leave product out"):
        tools.list_incidents(database, "P-1")
    assert tools.list_incidents(database)["total"] == 1


def test_every_default_tool_runs_through_its_own_schema():
    arguments = {"list_tickets": {"offset": 0}, "read_ticket": {"ticket_id": "T-1"}, "search_tickets": {"query": "two"},
                 "get_customer": {"customer_id": "C-1"}, "get_product": {"product": "P-1"},
                 "list_incidents": {"product": "P-1"}, "tally": {"assignments": [{"ticket_id": "T-1", "cause": "x"}]}}
    for tool in make_tools(default_design(), TICKETS, catalog()):
        assert tool.complaint(arguments[tool.name]) == ""
        assert tool.fn(**arguments[tool.name])
