"""Workbooks: the right sheet and header row, ids as they look, and nothing unpacked that would be huge."""

import io
import time
import tracemalloc
import zipfile
from datetime import datetime

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.styles import Font

from lib.errors import UnreadableFile
from lib.tickets import Table, read_table, read_tables
from lib.tickets.xlsx_reader import read_xlsx


def saved(book):
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def book_of(*rows, title="Sheet"):
    book = openpyxl.Workbook()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    return book


def with_part(data, part, change):
    """The workbook with one of its XML parts changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, change(old.read(name)) if name == part else old.read(name))
    return out.getvalue()


SHEET = "xl/worksheets/sheet1.xml"


def test_cells_read_as_a_person_sees_them():
    book = book_of(["id", "when", "net", "ok", "text"],
                   ["0071", datetime(2026, 10, 1), 0.3, True, "a\nb"],
                   [71, datetime(2026, 10, 1, 8, 30), 40, False, "NA"])
    book.active["A3"].number_format = "00000"
    table = read_table("a.xlsx", saved(book))
    assert table.rows == (("0071", "2026-10-01", "0.3", "TRUE", "a\nb"),
                          ("00071", "2026-10-01 08:30:00", "40", "FALSE", "NA"))


def test_cover_sheets_title_rows_and_footers_are_left_out_and_hidden_sheets_never_read():
    book = book_of(["Export for the review"], [None], ["See sheet Tickets"], title="Read me")
    sheet = book.create_sheet("Tickets")
    for row in (["Open tickets"], [], ["Ticket", None, "Message"], ["No", "Opened", "Subject", "Text"],
                ["K-1", "2026-10-01", "Hinge", "It snapped"], [], ["K-2", "2026-10-02", "Bulb", "It is dead"],
                ["Total", "2 tickets"]):
        sheet.append(row)
    sheet.merge_cells("A3:B3")
    hidden = book.create_sheet("Internal")
    hidden.append(["No", "Subject", "Text"])
    hidden.append(["X-9", "Staff matter", "secret"])
    hidden.sheet_state = "hidden"
    table = read_table("a.xlsx", saved(book))
    assert table.columns == ("No", "Opened", "Subject", "Text")
    assert [row[0] for row in table.rows] == ["K-1", "K-2"]
    assert any('hidden sheet "Internal" not read' in note for note in table.notes)
    assert any("footer" in note for note in table.notes)
    assert "secret" not in str(table)


def test_every_visible_sheet_is_a_table():
    book = book_of(["sku", "name"], ["1", "Urn"], title="products")
    other = book.create_sheet("customers")
    other.append(["id", "plan"])
    other.append(["C-1", "Team"])
    assert [table.name for table in read_tables("a.xlsx", saved(book))] == ["products", "customers"]


def test_formulas_without_a_stored_value_are_counted_and_never_zero():
    book = book_of(["sku", "net", "price"], ["P-1", 40, "=B2*1.2"], ["P-2", 30, "=B3*1.2"])
    table = read_table("a.xlsx", saved(book))
    assert table.rows == (("P-1", "40", ""), ("P-2", "30", ""))
    assert any("2 formula cells without a stored value" in note and "C2, C3" in note for note in table.notes)


def test_formatted_cells_far_away_cost_nothing():
    book = book_of(["id", "body"], ["G1", "Spout drips"])
    book.active["XFD1"].font = Font(bold=True)
    book.active["B1048576"].font = Font(bold=True)
    assert read_table("a.xlsx", saved(book)).rows == (("G1", "Spout drips"),)


def test_a_row_number_out_of_this_world_is_harmless():
    data = with_part(saved(book_of(["id", "body"], ["1", "x"])), SHEET,
                     lambda xml: xml.replace(b'r="2"', b'r="99999999999"'))
    assert read_table("a.xlsx", data).rows == (("1", "x"),)


def test_cells_merged_over_rows_of_data_are_the_value_of_each_of_them():
    book = book_of(["id", "customer", "text"], ["1", "ACME", "late"], ["2", None, "lost"], ["3", None, "broken"],
                   ["4", "Beta", "late"])
    book.active.merge_cells("B2:B4")
    table = read_table("a.xlsx", saved(book))
    assert [row[1] for row in table.rows] == ["ACME", "ACME", "ACME", "Beta"]
    assert "1 cell merged over several rows: each of these rows has the value (cell B2)" in table.notes


def test_merged_cells_of_a_title_and_of_a_header_in_two_rows_change_nothing():
    rows = (["Open tickets"], [], ["Ticket", None, "Message", None], ["No", "Opened", "Subject", "Text"],
            ["K-1", "2026-10-01", "Hinge", "It snapped"], ["K-2", "2026-10-02", "Bulb", "It is dead"])
    plain, merged = book_of(*rows), book_of(*rows)
    for place in ("A1:D2", "A3:B3", "C3:D3"):
        merged.active.merge_cells(place)
    assert read_table("a.xlsx", saved(merged)) == read_table("a.xlsx", saved(plain))
    rows = (["id", "customer", "text"], [None, None, None], ["1", "ACME", "late"], ["2", "Beta", "lost"])
    merged = book_of(*rows)
    for place in ("A1:A2", "B1:B2", "C1:C2"):
        merged.active.merge_cells(place)
    assert [row[0] for row in read_table("a.xlsx", saved(merged)).rows] == ["1", "2"]


@pytest.mark.parametrize("places", ["A1:A1048576", "A2:XFD1048576", "A2", "A3:A2", "", "2:3", "A99999999:A999999999"])
def test_a_merge_of_everything_or_of_nothing_is_survived(places):
    data = saved(book_of(["id", "text"], ["1", "late"], [None, "lost"]))
    merge = f'</sheetData><mergeCells><mergeCell ref="{places}"/></mergeCells>'.encode()
    table = read_table("a.xlsx", with_part(data, SHEET, lambda xml: xml.replace(b"</sheetData>", merge)))
    assert [row[1] for row in table.rows] == ["late", "lost"]


def test_merges_that_lie_over_each_other_take_no_time():
    data = saved(book_of(["id", "text"], *(["1" if not n else None, f"late {n}"] for n in range(3_000))))
    merges = "".join(f'<mergeCell ref="A2:A{1_000 + n % 2_000}"/>' for n in range(60_000))
    began = time.perf_counter()
    with pytest.raises(UnreadableFile, match="repeats long texts too often"):
        read_xlsx("a.xlsx", with_part(data, SHEET, lambda xml: xml.replace(
            b"</sheetData>", f"</sheetData><mergeCells>{merges}</mergeCells>".encode())), 2**22)
    assert time.perf_counter() - began < 20


def test_hidden_rows_and_two_cells_of_one_place_are_told():
    book = book_of(["id", "text"], ["1", "late"], ["2", "lost"], ["3", "broken"])
    book.active.row_dimensions[3].hidden = True
    table = read_table("a.xlsx", with_part(saved(book), SHEET, lambda xml: xml.replace(b'r="B4"', b'r="A4"')))
    assert [row[0] for row in table.rows] == ["1", "2", "broken"]
    assert "1 hidden row read too (row 3)" in table.notes
    assert "1 place with two cells, the last one was read (cell A4)" in table.notes


def test_a_zip_bomb_is_refused_from_its_directory():
    row = b'<row><c t="inlineStr"><is><t>aaaaaaaa</t></is></c></row>'
    data = with_part(saved(book_of(["id", "body"])), SHEET,
                     lambda x: x.replace(b"</sheetData>", row * 250_000 + b"</sheetData>"))
    with pytest.raises(UnreadableFile, match="zip bomb"):
        read_table("a.xlsx", data)
    with pytest.raises(UnreadableFile, match="unpacks to"):
        read_xlsx("a.xlsx", data, unpacked_limit=1_000_000)


def test_entities_that_multiply_are_refused():
    bomb = b'<!DOCTYPE x [<!ENTITY a "' + b"a" * 1000 + b'">' + b"".join(
        b'<!ENTITY %c "%s">' % (c, (b"&%c;" % (c - 1)) * 20) for c in b"bcdefg") + b"]><worksheet>&g;</worksheet>"
    with pytest.raises(UnreadableFile, match=r"a\.xlsx"):
        read_table("a.xlsx", with_part(saved(book_of(["id"], ["1"])), SHEET, lambda _: bomb))


def test_characters_that_xml_cannot_hold_are_unescaped():
    data = with_part(saved(book_of(["id", "body"], ["1", "AAA"])), SHEET,
                     lambda x: x.replace(b"AAA", b"one_x000D_\ntwo"))
    assert read_table("a.xlsx", data).rows == (("1", "one\r\ntwo"),)


def test_numbers_that_excel_rounded_are_pointed_out():
    table = read_table("a.xlsx", saved(book_of(["id", "body"], [1344900117571260918, "x"])))
    assert any("more than 15 digits" in note and "A2" in note for note in table.notes)


def test_shared_strings_are_joined_from_their_runs_without_phonetic_hints():
    strings = ("<sst xmlns='m'><si><t>id</t></si><si><r><t>one </t></r><r><t>two</t></r><rPh><t>hint</t></rPh></si>"
               "</sst>")
    sheet = ("<worksheet xmlns='m'><sheetData><row><c t='s'><v>0</v></c><c t='s'><v>1</v></c></row>"
             "<row><c t='str'><v>A1</v></c><c t='s'><v>1</v></c></row></sheetData></worksheet>")
    data = zipped(**{
        "xl/workbook.xml": "<workbook xmlns:r='r'><sheets><sheet name='S' r:id='i'/></sheets></workbook>",
        "xl/_rels/workbook.xml.rels": "<x><Relationship Id='i' Target='/xl/worksheets/s.xml'/></x>",
        "xl/sharedStrings.xml": strings, "xl/worksheets/s.xml": sheet})
    table = read_table("a.xlsx", data)
    assert (table.columns, table.rows) == (("id", "one two"), (("A1", "one two"),))


def test_a_sheet_listed_a_thousand_times_is_refused():
    listed = b"".join(b'<sheet name="s%d" sheetId="%d"/>' % (i, i) for i in range(2, 1_000))
    data = with_part(saved(book_of(["id"], ["1"])), "xl/workbook.xml",
                     lambda x: x.replace(b"</sheets>", listed + b"</sheets>"))
    with pytest.raises(UnreadableFile, match="sheets, 500 are the limit"):
        read_table("a.xlsx", data)


def test_millions_of_elements_that_say_nothing_fill_no_memory():
    padding = b"".join(b'<col min="%d"/>' % i for i in range(100_000))
    data = with_part(saved(book_of(["id", "body"], ["1", "x"])), SHEET,
                     lambda x: x.replace(b"<sheetData>", b"<cols>" + padding + b"</cols><sheetData>"))
    tracemalloc.start()
    assert read_table("a.xlsx", data).rows == (("1", "x"),)
    assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    tracemalloc.stop()


def test_a_row_of_endless_cells_is_refused():
    cells = b'<row r="9">' + b'<c s="1"/>' * 70_000 + b"</row></sheetData>"
    data = with_part(saved(book_of(["id", "body"], ["1", "x"])), SHEET, lambda x: x.replace(b"</sheetData>", cells))
    with pytest.raises(UnreadableFile, match="cells in one row"):
        read_table("a.xlsx", data)


def zipped(**files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


@pytest.mark.parametrize(("data", "says"), [
    (b"PK\x03\x04 broken", "damaged"),
    (b"not a zip at all", "no .xlsx workbook"),
    (zipped(**{"a.bin": "id\n1"}), "no table in it"),
    (zipped(**{"mimetype": "x", "content.xml": "x"}), "OpenDocument"),
    (zipped(**{"xl/workbook.bin": "x"}), ".xlsb"),
    (zipped(**{"xl/workbook.xml": "<broken"}), "damaged"),
    (saved(book_of([])), "no visible sheet with a table"),
    (saved(book_of(["id", "body"])), "no row below"),
])
def test_what_is_no_workbook_is_refused_in_one_line(data, says):
    with pytest.raises(UnreadableFile, match=r"a\.xlsx") as caught:
        read_table("a.xlsx", data)
    assert says in str(caught.value)


GOOD = saved(book_of(["id", "body"], ["1", "x"], [2, 3.5]))
GOOD_TABLE = Table("a.xlsx", ("id", "body"), (("1", "x"), ("2", "3.5")))


def read_or_refused(data):
    """The table, or None for a refusal, which names the file in one line."""
    try:
        return read_table("a.xlsx", data)
    except UnreadableFile as refusal:
        assert "a.xlsx" in str(refusal) and "\n" not in str(refusal)
        return None


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(GOOD) - 1), st.binary(min_size=1, max_size=8))
def test_a_damaged_workbook_gives_the_same_table_or_one_refusal(at, noise):
    assert read_or_refused(GOOD[:at] + noise + GOOD[at + len(noise):]) in (GOOD_TABLE, None)


NONSENSE = st.integers(0, 600), st.sampled_from([b"", b"9", b"x", b'"', b"-1", b"e", b"1e999"])


def with_nonsense(part, at, noise):
    return with_part(GOOD, part, lambda xml: xml[:at] + noise + xml[at + 1:])


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["xl/workbook.xml", "xl/styles.xml", "xl/_rels/workbook.xml.rels"]), *NONSENSE)
def test_nonsense_beside_the_sheet_gives_the_same_table_or_one_refusal(part, at, noise):
    assert read_or_refused(with_nonsense(part, at, noise)) in (GOOD_TABLE, None)


@settings(max_examples=60, deadline=None)
@given(*NONSENSE)
def test_nonsense_in_the_sheet_gives_text_in_every_cell_or_one_refusal(at, noise):
    table = read_or_refused(with_nonsense(SHEET, at, noise))
    if table:
        assert all(len(row) == len(table.columns) and all(type(cell) is str for cell in row) for row in table.rows)
