"""Archives, Parquet files, workbooks of several sheets, and what is refused with a line that says what to do."""

import datetime
import decimal
import gzip
import os
import zipfile

import pyarrow
import pytest
from packing import marked_encrypted, parquet, workbook, zipped

from lib.errors import UnreadableFile
from lib.tickets import guess_columns, read_files, read_table, read_tables, to_tickets

JANUARY, FEBRUARY = "id,body\n1,a\n2,b\n", "body,id\nc,3\n"


def refusal(name, data):
    with pytest.raises(UnreadableFile) as caught:
        read_table(name, data)
    said = str(caught.value)
    assert "\n" not in said and name in said
    return said


# --- archives ---------------------------------------------------------------------------------------------------------


def test_files_of_a_zip_with_the_same_columns_add_up():
    table = read_table("a.zip", zipped({"2026/january.csv": JANUARY, "2026/february.csv": FEBRUARY}))
    assert table.rows == (("1", "a"), ("2", "b"), ("3", "c"))
    assert any("2 files read: 2026/january.csv, 2026/february.csv" in note for note in table.notes)
    assert "added up: 2026/january.csv (2 rows), 2026/february.csv (1 row)" in table.notes


def test_files_of_a_zip_with_other_columns_are_tables_of_their_own():
    data = zipped({"tickets.csv": JANUARY, "more.jsonl": '{"Ticket-Nr": 7, "Nachricht": "x"}\n'})
    assert [table.columns for table in read_files([("a.zip", data)])] == [("id", "body"), ("Ticket-Nr", "Nachricht")]
    assert [table.name for table in read_tables("a.zip", data)] == ["tickets", "more"]


def test_one_table_of_a_zip_says_what_else_is_there_and_counts_it():
    data = zipped({"tickets.csv": "id,subject,body\n1,a,b\n", "users.csv": "name,mail\nUna,u@x.test\nOle,o@x.test\n"})
    table = read_table("a.zip", data)
    assert (len(table.rows), table.left_out) == (1, 2)
    assert any('"users.csv" (2 rows)' in note for note in table.notes)


def test_hidden_files_other_files_and_nested_archives_are_skipped_and_said():
    data = zipped({"t.csv": JANUARY, "__MACOSX/._t.csv": "x", ".DS_Store": "x", "readme.txt": "Hello there",
                   "photo.png": "x", "old.zip": zipped({"u.csv": JANUARY})})
    notes = " | ".join(read_table("a.zip", data).notes)
    assert "2 files not read, hidden (__MACOSX/._t.csv, .DS_Store)" in notes
    assert "2 files not read, no table (readme.txt, photo.png)" in notes
    assert "1 file not read, an archive inside the archive (old.zip)" in notes


def test_a_damaged_file_in_a_zip_does_not_cost_the_others():
    table = read_table("a.zip", zipped({"good.csv": JANUARY, "bad.json": '{"id": '}))
    assert len(table.rows) == 2
    assert any(note.startswith("not read: bad.json is not valid JSON") for note in table.notes)


def test_workbooks_and_parquet_files_in_a_zip_are_read():
    data = zipped({"a.xlsx": workbook(Tickets=[["id", "body"], ["K-1", "x"]]), "b.parquet": parquet(id=["P-1"],
                                                                                                  body=["y"])})
    assert read_table("a.zip", data).rows == (("K-1", "x"), ("P-1", "y"))


@pytest.mark.parametrize(("path", "says"), [
    ("../t.csv", "leads out"), ("/etc/t.csv", "leads out"), ("a/../../t.csv", "leads out"), ("C:\\t.csv", "leads out"),
    ("..\\t.csv", "leads out")])
def test_paths_that_lead_out_of_a_zip_are_refused(path, says):
    assert says in refusal("a.zip", zipped({path: JANUARY}))


def test_bombs_are_refused_before_they_are_unpacked():
    assert "zip bomb" in refusal("a.zip", zipped({"t.csv": b"0" * (12 * 2**20)}))
    assert "zip bomb" in refusal("t.csv.gz", gzip.compress(b"0" * (12 * 2**20)))


def test_a_zip_is_refused_by_what_its_directory_says_it_holds(monkeypatch):
    monkeypatch.setattr("lib.tickets.readers.UNPACKED_LIMIT", 1_000)
    assert "unpacks to" in refusal("a.zip", zipped({f"{i}.csv": "id,body\n" + "x,y\n" * 100 for i in range(9)}))
    assert "unpacks to more" in refusal("t.csv.gz", gzip.compress(b"id,body\n" + os.urandom(2_000)))


def test_a_zip_in_which_the_directory_lies_about_the_size_is_refused():
    data = bytearray(zipped({"t.csv": "id,body\n" + "x,y\n" * 5_000}))
    at = data.rfind(b"PK\x01\x02")
    data[at + 24:at + 28] = (10).to_bytes(4, "little")
    assert "damaged" in refusal("a.zip", bytes(data))


@pytest.mark.parametrize(("data", "says"), [
    (zipped({"inner.zip": zipped({"t.csv": JANUARY})}), "only archives inside (inner.zip)"),
    (zipped({"__MACOSX/._t.csv": "x"}), "no file in it"), (zipped({}), "no file in it"),
    (zipped({"a.pdf": "x", "b.png": "y"}), "no table in it (a.pdf, b.png)"),
    (zipped({"t.csv": JANUARY})[:-30], "damaged, or cut off"),
    (marked_encrypted(zipped({"t.csv": JANUARY})), "encrypted: unpack it with its password"),
    (zipped({"a.json": "{", "b.json": "["}), "holds no file that can be read"),
    (zipped({f"{i}.csv": "id\n1\n" for i in range(1_001)}), "1,001 files"),
    (zipped({"word/document.xml": "x"}), "a Word document"), (zipped({"ppt/presentation.xml": "x"}), "a presentation"),
    (zipped({"mimetype": "x", "content.xml": "x"}), "an OpenDocument file: save it as .xlsx or CSV"),
    (zipped({"Index/Document.iwa": "x"}), "an Apple Numbers, Pages or Keynote file: export it as Excel"),
])
def test_a_zip_without_a_table_is_refused_with_the_reason(data, says):
    assert says in refusal("a.zip", data)


def test_an_encrypted_file_beside_an_open_one_is_told():
    data = bytearray(zipped({"t.csv": JANUARY, "u.csv": JANUARY}, zipfile.ZIP_STORED))
    for magic, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.rfind(magic) + at] |= 1
    table = read_table("a.zip", bytes(data))
    assert len(table.rows) == 2 and any("not read, encrypted (u.csv)" in note for note in table.notes)


def test_a_gz_file_is_its_one_file_also_in_several_parts():
    packed = gzip.compress(b"id,body\n1,a\n") + gzip.compress(b"2,b\n") + b"\0" * 100
    table = read_table("t.csv.gz", packed)
    assert (table.name, table.rows) == ("t.csv.gz", (("1", "a"), ("2", "b")))
    assert read_table("t.jsonl.gz", gzip.compress(b'{"id": 1}\n{"id": 2}\n')).rows == (("1",), ("2",))


@pytest.mark.parametrize(("data", "says"), [
    (gzip.compress(b"id,body\n1,a\n" * 500)[:-12], "damaged, or cut off"), (b"\x1f\x8b\x08 broken", "damaged"),
    (gzip.compress(gzip.compress(b"x")), "inside an archive"), (gzip.compress(zipped({"t.csv": JANUARY})), "inside"),
    (gzip.compress(b"t.csv".ljust(257, b"\0") + b"ustar" + b"\0" * 250), "a tar archive"),
], ids=["cut off", "broken", "gz in gz", "zip in gz", "tar"])
def test_a_gz_file_that_is_no_table_is_refused(data, says):
    assert says in refusal("t.csv.gz", data)


# --- Parquet ----------------------------------------------------------------------------------------------------------


def test_parquet_cells_are_text_as_they_stand():
    day, moment = datetime.date(2026, 5, 1), datetime.datetime(2026, 5, 1, 8, 30)
    table = read_table("a.parquet", parquet(
        id=pyarrow.array(["0071", None]), number=pyarrow.array([12345678901234567, None]),
        code=pyarrow.array([5001.0, float("nan")]), price=[0.1, 2.5], ok=[True, None], day=[day, None],
        moment=pyarrow.array([moment, None], pyarrow.timestamp("ns", "UTC")), paid=[decimal.Decimal("1.20"), None],
        tags=[["a", "ü"], []], who=[{"name": "Una", "ids": [1]}, None], raw=[b"text", b"\xff\xfe"],
        team=pyarrow.array(["east", "east"]).dictionary_encode()))
    assert dict(zip(table.columns, table.rows[0], strict=True)) == {
        "id": "0071", "number": "12345678901234567", "code": "5001", "price": "0.1", "ok": "true", "day": "2026-05-01",
        "moment": "2026-05-01 08:30:00Z", "paid": "1.20", "tags": '["a", "ü"]',
        "who": '{"name": "Una", "ids": [1]}', "raw": "text", "team": "east"}
    assert table.rows[1] == ("", "", "", "2.5", "", "", "", "", "[]", "", "(2 bytes)", "east")


def test_parquet_conversations_are_read_like_those_of_json():
    table = read_table("a.parquet", parquet(id=["1"], body=["Hi"], comments=[[{"author": "Una", "body": "Hello"}]]))
    assert to_tickets(table, guess_columns(table)).tickets[0].body == "Hi\n\nUna:\nHello"


def test_ids_that_a_decimal_column_has_rounded_are_told():
    table = read_table("a.parquet", parquet(id=[1234567890123456789.0, 2.0], body=["x", "y"]))
    assert any("more than 15 digits" in note for note in table.notes)


def test_a_small_parquet_file_cannot_fill_the_memory(monkeypatch):
    monkeypatch.setattr("lib.tickets.readers.UNPACKED_LIMIT", 100_000)
    data = parquet(id=list(map(str, range(3_000))), body=["x" * 10_000] * 3_000)
    assert len(data) < 50_000 and "too often" in refusal("a.parquet", data)


@pytest.mark.parametrize("cut", [5, 40, 200, -1, -9, -40])
def test_a_damaged_parquet_file_is_refused(cut):
    data = parquet(id=["1", "2"], body=["x", "y"])
    assert "Parquet" in refusal("a.parquet", data[:cut])


def test_a_csv_file_named_parquet_is_read_and_other_bytes_are_not():
    assert len(read_table("a.parquet", JANUARY.encode()).rows) == 2
    assert "no Parquet file" in refusal("a.parquet", os.urandom(500))


# --- workbooks and listings -------------------------------------------------------------------------------------------


def test_of_several_sheets_the_one_like_tickets_is_taken_and_the_choice_is_told():
    data = workbook(Customers=[["name", "plan"], ["Una", "pro"], ["Ole", "free"]],
                    Tickets=[["id", "subject", "body"], ["K-1", "a", "b"]])
    table = read_table("a.xlsx", data)
    assert table.rows == (("K-1", "a", "b"),)
    assert table.notes[0] == '"Tickets" read; left out: "Customers" (2 rows)'
    assert [t.name for t in read_tables("a.xlsx", data)] == ["Customers", "Tickets"]


def test_a_sheet_per_month_adds_up():
    data = workbook(May=[["id", "body"], ["1", "a"]], June=[["body", "id"], ["b", "2"], ["c", "1"]],
                    Cover=[["note", "made by"], ["x", "y"]])
    table = read_table("a.xlsx", data)
    assert table.rows == (("1", "a"), ("2", "b"), ("1", "c"))
    assert table.notes == ('2 tables read; left out: "Cover" (1 row)', "added up: May (1 row), June (2 rows)")


@pytest.mark.parametrize("text", [
    "id   subject    body\n1    Fan        It rattles\n2               It sags\n",
    "id  subject  body\n1  Fan  It rattles\n2  Cat  It sags\n",
    "| id | subject | body |\n|----|:---:|---|\n| 1 | Fan | It rattles |\n| 2 | Cat | It sags |\n",
    " id | subject | body\n----+---------+-----\n  1 | Fan | It rattles\n  2 | Cat | It sags\n(2 rows)\n",
    "id^subject^body\n1^Fan^It rattles\n2^Cat^It sags\n", "id~subject~body\n1~Fan~It rattles\n2~Cat~It sags\n"])
def test_listings_are_cut_into_their_columns(text):
    table = read_table("a.txt", text.encode())
    found = to_tickets(table, guess_columns(table)).tickets
    assert [(t.id, t.body.strip()) for t in found] == [("1", "It rattles"), ("2", "It sags")]


# --- other kinds ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("data", "says"), [
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "save it as .xlsx or CSV, without a password"),
    (b"\t\x08\x10\0\0\x06\x05\0\x54\x0a", "an old Excel file (.xls)"), (b"%PDF-1.7", "where the PDF was made"),
    (b"{\\rtf1\\ansi text}", "rich text"), (b"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it"),
    (b"Rar!\x1a\x07", "a RAR archive"), (b"BZh91AY&SY", "a bzip2 file"), (b"\xfd7zXZ\0", "an xz file"),
    (b"From una@x.test Mon May 04 08:00:00 2026\r\nSubject: hi\r\n\r\nText", "a mailbox (.mbox)"),
    (b"Return-Path: <u@x.test>\nFrom: Una <u@x.test>\nTo: help@x.test\nSubject: Lamp\n\nIt flickers.", "an e-mail"),
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
    (b"<!DOCTYPE html><html><title>Sign in</title></html>", "sign in and download the export again"),
    (b"-- dump\nCREATE TABLE t (id int);\nINSERT INTO t VALUES (1);\n", "an SQL dump"),
    (b"BEGIN:VCARD\nVERSION:3.0\n", "contacts"), (b"- id: 1\n  body: x\n", "a YAML file: save it as JSON"),
    (b"\x80\x04\x95\x10", "a Python pickle"), (b"ARROW1\0\0", "Feather"),
    (b'{"message": "Bad credentials", "documentation_url": "https://x.test", "status": "401"}', "Bad credentials"),
    (b'{"error": "RecordNotFound", "description": "Not found"}', "RecordNotFound"),
])
def test_what_is_no_table_is_refused_with_what_to_do(data, says):
    assert says in refusal("export.csv", data)


