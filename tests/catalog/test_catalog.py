"""The product database: any honest upload is looked up exactly, whatever its names; nothing can be written."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.catalog import Catalog, Role, Roles, compact, empty_catalog, guess_roles, open_catalog
from lib.errors import InputError, UnreadableFile
from tests.catalog.files import sqlite_file


def shop():
    return open_catalog([("shop.db", sqlite_file("""
        CREATE TABLE products(product_id TEXT, name TEXT, area TEXT);
        INSERT INTO products VALUES ('P-1', 'Invoicing', 'money'), ('P-2', 'Calendar', 'time');
        CREATE TABLE customers(customer_id TEXT, name TEXT, plan TEXT, region TEXT, monthly_revenue REAL);
        INSERT INTO customers VALUES ('C-1', 'Ansel Ltd', 'Team', 'EU', 49.5), ('C-2', 'Pryde', NULL, 'US', NULL);
        CREATE TABLE incidents(incident_id TEXT, product_id TEXT, started TEXT, ended TEXT, title TEXT, detail TEXT);
        INSERT INTO incidents VALUES ('I-1', 'P-1', '2026-10-01', NULL, 'Charges twice', 'x'),
                                     ('I-2', 'P-2', '2026-10-02', NULL, 'Slow', 'y'),
                                     ('I-3', 'p-1', '2026-10-03', NULL, 'Charges again', 'z');
    """))])


def test_tables_roles_and_fields_are_found():
    catalog = shop()
    assert {name: info.rows for name, info in catalog.tables.items()} == {"products": 2, "customers": 2, "incidents": 3}
    assert catalog.roles.customers == Role("customers", "customer_id", {
        "name": "name", "plan": "plan", "region": "region", "monthly_revenue": "monthly_revenue"})
    assert catalog.roles.incidents.columns["product_id"] == "product_id"


def test_look_ups_give_plain_rows():
    catalog = shop()
    customer = catalog.customer("C-1")
    assert customer == {"customer_id": "C-1", "name": "Ansel Ltd", "plan": "Team", "region": "EU",
                        "monthly_revenue": 49.5}
    assert catalog.roles.customers.get(customer, "plan") == "Team"
    assert catalog.customer("C-2")["plan"] is None
    assert catalog.customer("C-9") is None
    json.dumps(catalog.rows("customers", 10))


def test_a_product_is_found_by_id_or_name_in_any_case():
    catalog = shop()
    assert {catalog.product(text)["product_id"] for text in ("P-1", "p-1", "invoicing", " INVOICING ")} == {"P-1"}
    assert catalog.product("nothing") is None
    assert catalog.product("") is None


def test_incidents_are_found_by_product_id_or_name():
    catalog = shop()
    assert [row["incident_id"] for row in catalog.incidents("P-1")] == ["I-1", "I-3"]
    assert catalog.incidents("Invoicing") == catalog.incidents("P-1")
    assert catalog.incidents("P-9") == []


def test_ids_that_look_like_numbers_are_compared_as_text():
    csv = b"sku,name\n0071,Gasket ring\n71,Pebble kettle\n1E5,Filter\n4e872,Tray\n"
    catalog = open_catalog([("products.csv", csv)])
    assert catalog.product("0071")["name"] == "Gasket ring"
    assert catalog.product("71")["name"] == "Pebble kettle"
    assert catalog.product("100000") is None


def test_number_ids_of_a_database_match_their_text():
    catalog = open_catalog([("a.db", sqlite_file("CREATE TABLE customers(id REAL, name TEXT);"
                                                 "INSERT INTO customers VALUES (71, 'a'), (72, 'b')"))])
    assert catalog.customer("71")["name"] == "a"
    assert catalog.customer("0071") is None


def test_files_become_tables_of_text():
    envelope = b'{"customers": [{"id": 1, "plan": "Team"}], "incidents": [{"id": 2, "product": "007"}]}'
    catalog = open_catalog([("Products 2026.csv", b"Art. No;Name\n007;Urn\n"), ("more.json", envelope)])
    assert list(catalog.tables) == ["Products 2026", "customers", "incidents"]
    assert catalog.product("urn") == {"Art. No": "007", "Name": "Urn"}
    assert catalog.incidents("007") == [{"id": "2", "product": "007"}]
    assert catalog.customer("1") == {"id": "1", "plan": "Team"}


def test_names_that_sqlite_finds_hard_survive():
    catalog = open_catalog([('a"b.csv', b'select,"x""y",body,Body,rowid,_rowid_\n1,2,3,4,5,6\n'),
                            ("sqlite_x.csv", b"id,a\n1,2\n"), ("A\"B.csv", b"id,a\n1,2\n")])
    assert list(catalog.tables) == ['a"b', "table sqlite_x", 'A"B #2']
    assert catalog.rows('a"b', 5) == [{"select": "1", 'x"y': "2", "body": "3", "Body #2": "4", "rowid": "5",
                                       "_rowid_ #2": "6"}]


def test_honest_oddities_of_a_database_are_survived():
    data = sqlite_file('CREATE TABLE "Products 2026"("Art. No" TEXT, "Name;de" TEXT, "select" INT, pic BLOB);'
                       'CREATE TABLE empty_table(x); CREATE TABLE "quote""d"(a TEXT);'
                       'INSERT INTO "quote""d" VALUES (1);'
                       "CREATE VIEW v_cheap AS SELECT * FROM \"Products 2026\" WHERE \"select\" < 9;",
                       ('INSERT INTO "Products 2026" VALUES (?, CAST(? AS TEXT), ?, ?)',
                        [("0071", "Körper".encode("cp1252"), 2**63 - 1, b"\0" * 5000), ("72", b"nul\0byte", 7, None)]))
    catalog = open_catalog([("odd.sqlite", data)])
    assert catalog.product("körper") == {"Art. No": "0071", "Name;de": "Körper", "select": 2**63 - 1,
                                         "pic": "<blob, 5,000 bytes>"}
    assert catalog.product("72")["Name;de"] == "nulbyte"
    assert len(catalog.rows("v_cheap", 10)) == 1
    assert catalog.rows("empty_table", 10) == []


def test_a_database_without_some_roles_works():
    catalog = open_catalog([("a.db", sqlite_file("CREATE TABLE notes(x TEXT); INSERT INTO notes VALUES ('a')"))])
    assert catalog.roles == Roles()
    assert (catalog.customer("1"), catalog.product("1"), catalog.incidents("1")) == (None, None, [])
    assert empty_catalog().customer("1") is None


def test_roles_can_be_changed_and_wrong_ones_are_refused():
    catalog = shop()
    by_name = catalog.with_roles(Roles(customers=Role("customers", "name", {"plan": "plan"})))
    assert by_name.customer("Pryde")["customer_id"] == "C-2"
    assert catalog.customer("Pryde") is None
    with pytest.raises(InputError, match='no table "x"'):
        catalog.with_roles(Roles(products=Role("x", "id")))
    with pytest.raises(InputError, match='no column "nope"'):
        catalog.with_roles(Roles(products=Role("products", "nope")))


def test_roles_are_guessed_from_other_languages_and_from_columns_alone():
    roles = guess_roles({"Tabelle1": ["Kundennummer", "Firma", "Tarif"], "Störungen": ["Nr", "Produkt", "Beginn"],
                         "Artikelliste": ["Artikelnummer", "Bezeichnung"], "log": ["when", "what"]})
    assert (roles.customers.table, roles.customers.key) == ("Tabelle1", "Kundennummer")
    assert (roles.products.table, roles.products.columns["name"]) == ("Artikelliste", "Bezeichnung")
    assert (roles.incidents.table, roles.incidents.columns["product_id"]) == ("Störungen", "Produkt")


def test_german_customers_are_found_by_kundennummer_with_its_zeros():
    catalog = open_catalog([("kunden.csv", "Kundennummer;Firma;Tarif\n00417;Müller & Söhne;Team\n".encode("cp1252"))])
    assert catalog.customer("00417") == {"Kundennummer": "00417", "Firma": "Müller & Söhne", "Tarif": "Team"}
    assert catalog.roles.customers.columns == {"name": "Firma", "plan": "Tarif"}
    assert catalog.customer("417") is None


def test_files_with_the_same_name_become_tables_of_their_own():
    catalog = open_catalog([("customers.csv", b"id,name\n1,a\n"), ("CUSTOMERS.csv", b"id,name\n3,c\n"),
                            ("customers.json", b'[{"id": 2, "name": "b"}]')])
    assert list(catalog.tables) == ["customers", "CUSTOMERS #2", "customers #3"]


def test_a_catalog_comes_back_from_its_bytes_with_its_roles():
    catalog = shop().with_roles(Roles(customers=Role("customers", "name", {"plan": "plan"})))
    again = Catalog.from_bytes(catalog.to_bytes())
    assert (again.name, again.tables, again.roles) == (catalog.name, catalog.tables, catalog.roles)
    assert again.notes == catalog.notes
    assert again.customer("Pryde")["customer_id"] == "C-2"
    assert Catalog.from_bytes(again.to_bytes()).tables == catalog.tables
    assert Catalog.from_bytes(empty_catalog().to_bytes()).tables == {}


def test_bytes_that_are_no_catalog_are_refused():
    for data in (b"", b"nonsense", b"SQLite format 3\0" + b"x" * 100, sqlite_file("CREATE TABLE t(x)")):
        with pytest.raises(UnreadableFile, match="stored product database"):
            Catalog.from_bytes(data)


def test_pages_of_a_table_follow_each_other():
    catalog = open_catalog([("products.csv", b"id,name\n" + b"".join(b"%d,n%d\n" % (i, i) for i in range(25)))])
    seen = [row["id"] for offset in range(0, 30, 10) for row in catalog.rows("products", 10, offset)]
    assert seen == [str(i) for i in range(25)]
    with pytest.raises(InputError, match='no table "x"'):
        catalog.rows("x", 10)


def test_a_query_returns_at_most_the_rows_asked_for():
    catalog = shop()
    assert catalog.query("SELECT count(*) AS n FROM incidents WHERE product_id LIKE ?", ("P-1",)) == [{"n": 2}]
    assert len(catalog.query("SELECT * FROM incidents", max_rows=2)) == 2
    assert catalog.query("SELECT 9e999 AS x, 1 AS x") == [{"x": "inf", "x #2": 1}]


def test_long_texts_can_be_shortened_and_say_so():
    assert compact({"a": "x" * 1_048_576, "b": 1}, longest=3) == {"a": "xxx… (1,048,576 characters in all)", "b": 1}


def test_a_customer_id_in_another_case_is_found_where_only_one_is_spelled_so():
    catalog = open_catalog([("customers.csv", b"id,name\nC-1,a\nC-2,b\nc-2,c\nC-3,d\nC-3,e\n")])
    assert [catalog.customer(id)["name"] for id in ("c-1", "C-1", "C-2", "c-2", "c-3")] == ["a", "a", "b", "c", "d"]
    ambiguous = open_catalog([("customers.csv", "id,name\nKÄ-2,b\nkä-2,c\n".encode())])
    assert ambiguous.customer("Kä-2") is None


def test_many_threads_can_ask_at_once():
    catalog = shop()
    with ThreadPoolExecutor(16) as pool:
        names = list(pool.map(lambda i: catalog.customer(f"C-{i % 2 + 1}")["name"], range(400)))
        found = list(pool.map(lambda i: len(catalog.incidents("P-1")), range(100)))
    assert names == ["Ansel Ltd", "Pryde"] * 200
    assert found == [2] * 100


@pytest.mark.parametrize("files", [
    [], [("a.sqlite", b"")], [("a.sqlite", b"SQLite format 3" + b" " * 40)], [("a.db", b"hello")], [("a.csv", b"")],
    [("a.csv", b"id\n1\n"), ("b.db", b"SQLite format 3\0")],
    [("a.sqlite", sqlite_file("CREATE TABLE t(x); DROP TABLE t"))],
])
def test_what_is_no_database_is_refused_in_one_line(files):
    with pytest.raises(UnreadableFile) as caught:
        open_catalog(files)
    assert "\n" not in str(caught.value)
