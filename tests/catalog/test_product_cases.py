"""What other tools got wrong with product databases, each fixed as a kind, with inputs of our own of the same shape."""

import gzip
import io
import json
import zipfile

import openpyxl
import pytest

from lib.catalog import Catalog, Role, number, open_catalog
from lib.errors import InputError, UnreadableFile
from lib.task.tools import RESULT_LIMIT, get_product, list_incidents
from tests.catalog.files import sqlite_file


def table(name, text):
    return open_catalog([(name, text.encode() if isinstance(text, str) else text)])


def zipped(**files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "."), data)
    return packed.getvalue()


def test_codes_that_look_like_numbers_stay_what_they_are():
    catalog = table("items.csv", "sku,name\n0042,Bolt\n42,Nut\n31415e02,Cable\n7e991,Lamp\n2E5,Fan\n"
                                 "98765432109876543210987,Crate\n")
    assert {sku: catalog.product(sku)["name"] for sku in ("0042", "42", "31415e02", "7e991", "2E5",
                                                          "98765432109876543210987")} == {
        "0042": "Bolt", "42": "Nut", "31415e02": "Cable", "7e991": "Lamp", "2E5": "Fan",
        "98765432109876543210987": "Crate"}
    assert catalog.product("3141500") is None and catalog.product("200000") is None


def test_text_that_looks_like_a_missing_value_is_text():
    catalog = table("customers.csv", "id,name,region\nNA,None,NA\nnan,n/a,\nnull,Null,NO\n")
    assert catalog.customer("NA") == {"id": "NA", "name": "None", "region": "NA"}
    assert catalog.customer("nan")["region"] == ""
    assert catalog.customer("null")["name"] == "Null"


def test_a_price_formula_without_a_value_is_told_and_never_zero():
    book = openpyxl.Workbook()
    for row in (["sku", "name", "price"], ["A-1", "Pot", "=2*20"], ["A-2", "Pan", 30]):
        book.active.append(row)
    packed = io.BytesIO()
    book.save(packed)
    catalog = open_catalog([("products.xlsx", packed.getvalue())])
    assert [row["price"] for row in catalog.rows("products", 9)] == ["", "30"]
    assert number("") is None
    assert "1 formula cell without a stored value" in catalog.notes[0]


def test_a_cell_far_away_makes_no_sheet_of_millions():
    book = openpyxl.Workbook()
    for row in (["sku", "name"], ["A-1", "Pot"]):
        book.active.append(row)
    book.active["XFD1048576"].font = openpyxl.styles.Font(bold=True)
    packed = io.BytesIO()
    book.save(packed)
    assert open_catalog([("products.xlsx", packed.getvalue())]).tables["products"].columns == ("sku", "name")


def test_dates_stay_as_they_were_written():
    written = ["04/05/2026", "26/05/2026", "2026-05-06T22:10:00+05:30", "1778000000", "1778000000000", "46150", "",
               "next Monday"]
    catalog = table("incidents.csv", "incident_id,product,started\n" + "".join(
        f"I{i},P,{date}\n" for i, date in enumerate(written)))
    assert [row["started"] for row in catalog.incidents("P")] == written


@pytest.mark.parametrize(("values", "read", "told"), [
    (["2.499,00", "€ 7,25", "0,15", "$8", "-3,00", "gratis", "2.499"], [2499, 7.25, 0.15, 8, -3, None, 2499],
     "numbers have a decimal comma, so 2.499 is read as 2499"),
    (["12.50", "1,750", "900"], [12.5, 1750, 900], "numbers have a decimal point, so 1,750 is read as 1750"),
    (["2.499,00", "2,499.00", "2.499"], [2499, 2499, None],
     "1 number such as 2.499 could mean two, decimal commas and points are mixed: left as text"),
    (["2.499", "3.100", "17"], [None, None, 17],
     "2 numbers such as 2.499 could mean two, nothing tells what the mark means: left as text"),
    (["1.50", "2.25"], [1.5, 2.25], None), (["12", "7"], [12, 7], None), (["v1.2", "Pro"], [None, None], None),
])
def test_the_whole_column_decides_what_a_mark_in_a_number_means(values, read, told):
    catalog = table("customers.tsv", "id\tname\tmrr\n" + "".join(f"C{i}\tn\t{v}\n" for i, v in enumerate(values)))
    role = catalog.roles.customers
    assert [catalog.amount(role, row, "monthly_revenue") for row in catalog.rows("customers", 99)] == read
    assert [row["mrr"] for row in catalog.rows("customers", 99)] == values
    assert catalog.notes == ((f'customers: column "mrr": {told}',) if told else ())


def test_odd_and_mixed_json_values_stay_text():
    items = [{"id": 1, "name": {"en": "Pot", "de": "Topf"}, "tags": ["a", 2]}, {"id": "two", "name": None, "tags": "x"},
             {"id": 2.50, "tags": []}]
    catalog = table("products.json", json.dumps(items))
    assert catalog.product("1") == {"id": "1", "name.en": "Pot", "name.de": "Topf", "tags": '["a", 2]', "name": ""}
    assert catalog.product("two")["tags"] == "x"


def test_awkward_column_names_are_kept_apart():
    catalog = table("t.csv", 'id,a.b,c[d],e:f,it\'s,"g""h",,Name,name\n1,2,3,4,5,6,7,8,9\n')
    assert list(catalog.rows("t", 1)[0]) == ["id", "a.b", "c[d]", "e:f", "it's", 'g"h', "column 7", "Name", "name #2"]
    assert catalog.query('SELECT "c[d]" || "it\'s" || "g""h" AS x FROM t') == [{"x": "356"}]


def test_a_hostile_view_leaves_the_rest_and_the_bytes_alone():
    data = sqlite_file("CREATE TABLE parts(sku TEXT, name TEXT); INSERT INTO parts VALUES ('0042', 'Bolt');"
                    "CREATE VIEW endless AS WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i FROM n) SELECT 1;"
                    "CREATE VIEW huge AS SELECT zeroblob(800000000);"
                    "CREATE TRIGGER t AFTER INSERT ON parts BEGIN DELETE FROM parts; END;")
    before = bytes(data)
    catalog = open_catalog([("shop.sqlite", data)])
    for sql in ("ATTACH 'x.db' AS x", "PRAGMA query_only = 0", "PRAGMA table_xinfo(parts)", "DELETE FROM parts"):
        with pytest.raises(InputError):
            catalog.query(sql)
    assert catalog.product("0042")["name"] == "Bolt"
    assert data == before
    assert [note.split()[1] for note in catalog.notes] == ['"endless"', '"huge"']


def test_a_huge_value_and_thousands_of_rows_are_capped_for_the_model_with_a_note():
    data = sqlite_file("CREATE TABLE products(sku TEXT, name TEXT, manual TEXT, pic BLOB);"
                    "CREATE TABLE incidents(incident_id INT, product_id TEXT, title TEXT);",
                    ("INSERT INTO products VALUES (?, ?, ?, ?)",
                     [("00017", "Part", "Turn the screw. " * 60_000, b"\xff" * 150_000)]),
                    ("INSERT INTO incidents VALUES (?, '00017', 'it broke')", [(i,) for i in range(4_000)]))
    catalog = open_catalog([("shop.db", data)])
    row, incidents = get_product(catalog, "00017"), list_incidents(catalog, "00017")
    assert len(json.dumps(row)) < RESULT_LIMIT and row["pic"] == "<blob, 150,000 bytes>"
    assert incidents["total"] == 4_000 and "of 4000 incidents shown" in incidents["note"]
    assert len(catalog.product("00017")["manual"]) == 960_000


def test_a_row_too_long_to_be_kept_is_cut_and_says_how_long_it_was():
    catalog = open_catalog([("a.db", sqlite_file("CREATE TABLE products(sku TEXT, manual TEXT)", (
        "INSERT INTO products VALUES (?, ?)", [("1", "x" * 9_000_000), ("2", "short")])))])
    assert catalog.product("1")["manual"].endswith("… (9,000,000 characters in all)")
    assert catalog.product("2")["manual"] == "short"
    assert catalog.notes == ("products: 1 enormous text cut, each says how long it was",)


def test_a_page_of_enormous_rows_is_shown_cut_instead_of_failing():
    data = sqlite_file("CREATE TABLE products(sku TEXT, manual TEXT)",
                    ("INSERT INTO products VALUES (?, ?)", [(str(i), "x" * 1_500_000) for i in range(20)]))
    page = open_catalog([("a.db", data)]).rows("products", 20)
    assert [row["sku"] for row in page] == [str(i) for i in range(20)]
    assert all(row["manual"].endswith("(1500000 characters in all)") for row in page)


def test_numbers_are_stored_as_numbers_and_long_ids_as_text():
    catalog = Catalog.from_bytes(open_catalog([
        ("a.db", sqlite_file("CREATE TABLE products(id INTEGER, n REAL); INSERT INTO products VALUES (7, 1.5)")),
        ("customers.csv", b"id,name\n12345678901234567890123,Oak\n")]).to_bytes())
    assert catalog.query("SELECT typeof(id) AS a, typeof(n) AS b FROM products") == [{"a": "integer", "b": "real"}]
    assert catalog.query("SELECT typeof(id) AS a FROM customers") == [{"a": "text"}]


# --- several files ---------------------------------------------------------------------------------------------------


def test_a_database_and_tables_add_up_and_no_name_is_lost():
    catalog = open_catalog([
        ("shop.db", sqlite_file("CREATE TABLE customers(id INT, name TEXT); INSERT INTO customers VALUES (1, 'Oak')")),
        ("customers.csv", b"id,plan\n1,Team\n"), ("products.json", b'[{"sku": "0042", "name": "Bolt"}]')])
    assert list(catalog.tables) == ["customers", "customers #2", "products"]
    assert 'table "customers" is called "customers #2" here' in catalog.notes
    assert catalog.product("0042")["name"] == "Bolt"


def test_a_zip_of_a_database_and_tables_is_read():
    data = zipped(data__csv="sku,name\n0042,Bolt\n", shop__sqlite=sqlite_file("CREATE TABLE customers(id, name)"),
                  notes__pdf="%PDF", broken__json="{")
    catalog = open_catalog([("export.zip", data)])
    assert list(catalog.tables) == ["data", "customers"]
    assert any("notes.pdf" in note for note in catalog.notes) and any("broken.json" in note for note in catalog.notes)


def test_a_packed_database_is_read():
    data = gzip.compress(sqlite_file("CREATE TABLE customers(id, name); INSERT INTO customers VALUES (1, 'Oak')"))
    assert open_catalog([("shop.db.gz", data)]).customer("1")["name"] == "Oak"


def test_an_object_of_lists_is_a_table_each_and_sheets_are_too():
    catalog = table("all.json", '{"customers": [{"id": "007", "at": {"city": "Ulm"}}], "products": [{"sku": "1"}]}')
    assert catalog.rows("customers", 1) == [{"id": "007", "at.city": "Ulm"}]
    assert list(catalog.tables) == ["customers", "products"]


def test_parquet_is_a_table_of_text():
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    packed = io.BytesIO()
    parquet.write_table(pyarrow.table({"sku": ["0042"], "count": [3]}), packed)
    assert open_catalog([("products.parquet", packed.getvalue())]).product("0042") == {"sku": "0042", "count": "3"}


def test_what_a_file_is_its_content_decides():
    assert list(table("shop.db", "sku,name\n1,Bolt\n").tables) == ["shop"]
    assert list(table("shop.csv", sqlite_file("CREATE TABLE parts(sku)")).tables) == ["parts"]


def test_a_log_beside_the_database_is_named_and_left_out():
    data = sqlite_file("CREATE TABLE parts(sku)")
    catalog = open_catalog([("shop.db", data), ("shop.db-wal", b"7\x7f\x06\x82" + bytes(99))])
    assert list(catalog.tables) == ["parts"] and catalog.notes[0].startswith("shop.db-wal left out")
    with pytest.raises(UnreadableFile, match="upload the database itself"):
        open_catalog([("shop.db-journal", b"\xd9\xd5\x05\xf9 \xa1c\xd7")])


def test_a_role_of_one_file_can_be_given_to_the_table_of_another():
    catalog = open_catalog([("a.csv", b"x,y\n1,2\n"), ("b.csv", b"q,r\n3,4\n")])
    changed = catalog.with_roles(type(catalog.roles)(customers=Role("b", "r")))
    assert changed.customer("4") == {"q": "3", "r": "4"}
