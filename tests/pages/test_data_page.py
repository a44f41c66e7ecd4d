"""Uploading: what was read is shown, what cannot be read is one line, and the data before it stays."""

from __future__ import annotations

import io
import re
import sqlite3
import zipfile

import pytest
import xlsxwriter
from reading import everything, literal, markup, sound

OWN = ("mine.csv", b"nr;betreff;text;kunde\n17;Hilfe;Die Rechnung fehlt;K1\n18;Frage;$5 und $10;K2\n", "text/csv")


def upload(app, what, *files):
    app.file_uploader(key=f"data.{what}").set_value(list(files)).run()
    return app


def test_the_sample_is_in_place_with_its_columns_guessed(visit):
    app = visit("data")
    chosen = {s.key: s.value for s in app.selectbox}
    assert chosen["data.column.id"] == "ticket_id" and chosen["data.column.body"] == "body"
    assert '<ticket id="T-1001">' in literal(app)
    assert "tokens, plus the system prompt" in everything(app)


def test_an_upload_becomes_the_data_on_every_page(visit):
    app = upload(visit("data"), "tickets", OWN)
    sound(app)
    assert "2 tickets of mine.csv" in literal(app)
    app.switch_page("pages/run.py").run()
    assert "2 tickets of mine.csv" in literal(app)


def test_an_upload_is_still_there_in_a_new_session(visit):
    upload(visit("data"), "tickets", OWN)
    assert "2 tickets of mine.csv" in literal(visit("run"))


def test_a_wrong_guess_can_be_changed(visit):
    app = upload(visit("data"), "tickets", OWN)
    app.selectbox(key="data.column.body").set_value("kunde").run()
    sound(app)
    assert "<body>K1</body>" in literal(app)


def test_a_file_that_cannot_be_read_is_one_line_and_the_data_before_it_stays(visit):
    app = upload(visit("data"), "tickets", ("photo.csv", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00", "text/csv"))
    sound(app)
    lines = [t.value for t in app.text if t.value.startswith("✕")]
    assert len(lines) == 1 and "photo.csv" in lines[0] and "\n" not in lines[0]
    assert "40 tickets of" in literal(app)


def test_after_a_good_upload_the_error_is_gone(visit):
    app = upload(visit("data"), "tickets", ("bad.csv", b"", "text/csv"))
    assert "✕" in literal(app)
    assert "✕" not in literal(upload(app, "tickets", OWN))


def test_the_sample_comes_back(visit):
    app = upload(visit("data"), "tickets", OWN)
    app.button(key="data.sample.1").click().run()
    assert "40 tickets of" in literal(app)


def test_a_product_database_can_be_uploaded_as_csv_files(visit):
    customers = ("customers.csv", b"customer_id,name,plan\nC-2041,Harbour,pro\n", "text/csv")
    products = ("products.csv", b"product_id,name\nP-1,Invoicing\n", "text/csv")
    app = upload(visit("data"), "database", customers, products)
    sound(app)
    assert "(2 tables)" in literal(app)


def test_a_broken_database_is_one_line_and_the_one_before_it_stays(visit, tmp_path):
    path = tmp_path / "x.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("create table customers (id text, name text)")
        db.executemany("insert into customers values (?, ?)", [(str(i), "x" * 500) for i in range(50)])
    app = upload(visit("data"), "database", ("x.sqlite", path.read_bytes()[:3000], "application/octet-stream"))
    sound(app)
    assert [t.value for t in app.text if t.value.startswith("✕")]
    assert "(3 tables)" in literal(app)


def test_it_works_without_a_database(visit):
    app = visit("data")
    app.button(key="data.no_database").click().run()
    sound(app)
    assert "no product database" in literal(app)


EMAILS = ("mail.csv", b"id,text,customer\n1,no sync,a@x.org\n2,billed twice,b@x.org\n", "text/csv")
PEOPLE = ("customers.csv", b"customer_id,name,mail\n7,Ann,a@x.org\n8,Bob,b@x.org\n9,Cy,c@x.org\n", "text/csv")
ORDERS = ("orders.csv", b"order,buyer\n1,a@x.org\n2,a@x.org\n3,b@x.org\n", "text/csv")


def test_customers_are_found_by_their_values_where_the_guessed_key_holds_none(visit):
    app = upload(visit("data"), "tickets", EMAILS)
    app = upload(app, "database", ORDERS, PEOPLE)
    sound(app)
    assert app.selectbox(key="data.role.customers.key").value == "mail"
    assert "2 of 2 customers that tickets name are in customers.mail." in literal(app)
    assert "customers are looked up in customers.mail: it holds those that tickets name" in literal(app)


def test_a_key_that_a_person_chose_is_left_alone(visit):
    app = upload(upload(visit("data"), "tickets", EMAILS), "database", PEOPLE)
    app.selectbox(key="data.role.customers.key").set_value("name").run()
    assert app.selectbox(key="data.role.customers.key").value == "name"
    assert "0 of 2 customers that tickets name are in customers.name" in literal(app)


def test_when_no_customer_is_found_the_mapping_is_open_and_says_so(visit):
    app = upload(visit("data"), "tickets", EMAILS)
    sound(app)
    assert "⚠ 0 of 2 customers that tickets name are in customers.customer_id" in literal(app)
    assert not [e for e in app.expander if e.label.startswith("Where customers")]


def test_several_ticket_files_add_up_and_say_what_was_taken_for_what(visit):
    app = upload(visit("data"), "tickets", OWN, EMAILS, ("more.csv", b"id,text\n17,late\n", "text/csv"))
    sound(app)
    text = everything(app)
    assert "5 tickets of mine.csv + mail.csv + more.csv" in text
    assert "mine.csv: columns: ticket id = nr, subject = betreff, text = text, customer = kunde" in text
    assert "repeated ids, kept apart as ticket 17#2" in text
    assert "To change columns, upload one file." in text


def test_after_a_refresh_the_columns_say_what_to_do(visit):
    upload(visit("data"), "tickets", OWN)
    assert "To change columns, upload the file again" in everything(visit("data"))


def test_tickets_and_pages_are_named_beside_their_numbers(visit):
    app = visit("data")
    assert "Page 1 of 4" in literal(app) and "Ticket T-1001 (1 of 40)" in literal(app)


def test_names_from_a_file_stay_literal_in_every_line(visit):
    trap = "![x](http://evil.example)"
    app = upload(visit("data"), "tickets", (f"{trap}.csv", f"id,text,customer\n{trap},a,{trap}\n".encode(), "text/csv"))
    app = upload(app, "database", (f"{trap}.csv", f"customer_id,{trap}\n1,{trap}\n".encode(), "text/csv"))
    sound(app)
    assert "evil.example" in literal(app) and "evil.example" not in markup(app)


def workbook(**sheets: list[list[str]]) -> bytes:
    book = io.BytesIO()
    with xlsxwriter.Workbook(book, {"in_memory": True}) as made:
        for name, rows in sheets.items():
            sheet = made.add_worksheet(name)
            for at, row in enumerate(rows):
                sheet.write_row(at, 0, row)
    return book.getvalue()


def zipped(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in files.items():
            archive.writestr(name.replace("_csv", ".csv"), data)
    return packed.getvalue()


def chosen(app, part: str) -> str:
    return app.selectbox(key=f"data.column.{part}").value


JANUARY = ("january.csv", b"id,text,customer\n1,late,K1\n2,lost,K2\n", "text/csv")
FEBRUARY = ("february.csv", b"id,text,customer\n1,broken,K3\n3,late,K1\n", "text/csv")


def test_files_of_the_same_columns_are_one_table_whose_columns_can_be_changed(visit):
    app = upload(visit("data"), "tickets", JANUARY, FEBRUARY)
    sound(app)
    assert "4 tickets of january.csv + february.csv" in literal(app)
    assert "⚠ repeated ids, kept apart as ticket 1#2" in literal(app)
    app.selectbox(key="data.column.customer").set_value("(none)").run()
    assert "4 tickets of january.csv + february.csv" in literal(app) and chosen(app, "customer") == "(none)"


def test_files_of_a_zip_are_one_table_too(visit):
    data = zipped(a_csv=JANUARY[1], b_csv=FEBRUARY[1])
    app = upload(visit("data"), "tickets", ("export.zip", data, "application/zip"))
    sound(app)
    assert "4 tickets of" in literal(app) and chosen(app, "body") == "text"


def test_an_encoding_that_was_guessed_wrong_is_changed_with_a_click(visit):
    data = "numer;temat;treść;klient\n0071;Paczka;Zamówienie wciąż nie dotarło;Ł-9\n".encode("cp1250")
    app = upload(visit("data"), "tickets", ("zgloszenia.csv", data, "text/csv"))
    sound(app)
    assert app.selectbox(key="data.encoding").options[0] == "guessed: Western (Windows-1252)"
    assert "wci¹¿" in literal(app) and "wciąż" not in literal(app)
    app.selectbox(key="data.encoding").set_value("cp1250").run()
    sound(app)
    assert "Zamówienie wciąż nie dotarło" in literal(app) and chosen(app, "id") == "numer"
    assert "read as Central European (Windows-1250), as chosen" in literal(app)
    app.selectbox(key="data.column.customer").set_value("klient").run()
    assert app.selectbox(key="data.encoding").value == "cp1250" and "Ł-9" in literal(app)
    app.selectbox(key="data.encoding").set_value("").run()
    assert "wci¹¿" in literal(app)


@pytest.mark.parametrize("data", ["id;text\n1;Größe\n".encode(), "id;text\n1;Größe\n".encode("utf-16"),
                                  zipped(a_csv="id;text\n1;Größe\n".encode("cp1252"))])
def test_no_encoding_is_offered_where_the_file_says_it_or_is_not_kept(visit, data):
    app = upload(visit("data"), "tickets", ("a.zip" if data.startswith(b"PK") else "a.csv", data, "text/csv"))
    sound(app)
    assert "Größe" in literal(app) and "data.encoding" not in [box.key for box in app.selectbox]


def test_a_sheet_can_be_chosen_where_a_workbook_holds_several(visit):
    data = workbook(Tickets=[["id", "subject", "text"], ["1", "Late", "It is late"], ["2", "Lost", "It is lost"]],
                    Calls=[["call", "notes"], ["C-1", "The caller waits for a refund of the second order"]])
    app = upload(visit("data"), "tickets", ("book.xlsx", data, "application/octet-stream"))
    sound(app)
    assert app.selectbox(key="data.sheet").value == "Tickets" and "2 tickets of book.xlsx" in literal(app)
    app.selectbox(key="data.sheet").set_value("Calls").run()
    sound(app)
    assert "1 ticket of book.xlsx" in literal(app) and "The caller waits for a refund" in literal(app)
    assert app.selectbox(key="data.sheet").value == "Calls"


def test_each_column_shows_examples_and_how_full_it_is(visit):
    app = upload(visit("data"), "tickets", ("m.csv", b"id,text,customer\n1,late,K1\n2,lost,\n", "text/csv"))
    assert "1 · 2\nall 2 filled" in literal(app) and "K1\n1 of 2 filled" in literal(app)


def test_a_gold_label_is_guessed_counted_and_can_be_taken_away(visit):
    app = upload(visit("data"), "tickets", ("m.csv", b"id,text,root cause\n1,a,late\n2,b,late\n3,c,lost\n", "text/csv"))
    assert chosen(app, "label") == "root cause"
    (counted,) = [table.value for table in app.dataframe if list(table.value.columns) == ["value", "tickets"]]
    assert counted.to_dict("list") == {"value": ["late", "lost"], "tickets": [2, 1]}
    app.selectbox(key="data.column.label").set_value("(none)").run()
    sound(app)
    assert chosen(app, "label") == "(none)"


def test_rows_in_are_rows_kept_and_rows_left_out(visit):
    app = upload(visit("data"), "tickets", ("m.csv", b"id,text\n1,a\n,\nid,text\n2,b\n", "text/csv"))
    assert "4 rows in the file: 2 kept as tickets, 2 left out" in literal(app)
    assert "3 rows in the file, all kept as tickets" in literal(upload(
        visit("data"), "tickets", ("n.csv", b"id,text\n1,a\n2,b\n3,c\n", "text/csv")))


def test_the_size_of_all_tickets_is_told_as_an_estimate(visit):
    text = literal(visit("data"))
    assert re.search(r"about [\d.]+k tokens: \d+ to [\d,]+ a ticket, half of them up to \d+, "
                     r"nine of ten up to [\d,]+ · estimated", text)


def test_the_same_name_with_other_content_is_noticed(visit):
    app = upload(visit("data"), "tickets", ("m.csv", b"id,text\n1,a\n", "text/csv"))
    app.number_input(key=next(n.key for n in app.number_input if n.key.startswith("data.ticket."))).run()
    assert "1 ticket of m.csv" in literal(app)
    assert "2 tickets of m.csv" in literal(upload(app, "tickets", ("m.csv", b"id,text\n1,a\n2,b\n", "text/csv")))


def test_a_large_file_is_not_kept_beside_its_tickets(visit, monkeypatch):
    monkeypatch.setattr("lib.ui.uploads.LARGE", 10)
    app = upload(visit("data"), "tickets", OWN)
    sound(app)
    assert [u.key for u in app.file_uploader] == ["data.tickets.1", "data.database"]
    assert "2 tickets of mine.csv" in literal(app) and chosen(app, "body") == "text"
    app.file_uploader(key="data.tickets.1").set_value(("bad.csv", b"", "text/csv")).run()
    assert "✕" in literal(app) and "2 tickets of mine.csv" in literal(app)


def test_many_tickets_send_a_page_of_rows_to_the_browser(visit):
    rows = "".join(f"{n},text {n},K{n}\n" for n in range(20_000))
    app = upload(visit("data"), "tickets", ("many.csv", f"id,text,customer\n{rows}".encode(), "text/csv"))
    sound(app)
    assert max(len(table.value) for table in app.dataframe) <= 10
    assert "and 19,992 more values" in literal(app)


def test_a_database_without_a_role_says_what_cannot_be_joined(visit):
    app = upload(visit("data"), "database", ("customers.csv", b"customer_id,name\nC-2041,Harbour\n", "text/csv"))
    sound(app)
    assert "No table of incidents: none can be joined." in literal(app)
    assert "No table of products: they stay as tickets name them." in literal(app)


def test_how_many_customers_and_products_are_there_is_told(visit):
    text = literal(visit("data"))
    assert re.search(r"\d+ of \d+ customers that tickets name are in customers\.customer_id", text)
    assert "products that tickets name" in text and "incidents.product_id" in text
