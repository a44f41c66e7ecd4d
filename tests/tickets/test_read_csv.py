"""CSV exports as people really have them: every row is kept or spoken of, every cell is the text that was written."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.errors import UnreadableFile
from lib.tickets import guess_columns, read_table, to_tickets

PLAIN = "id,subject,body\n1,Fan,It rattles\n2,Door,It sags\n"


def read(text, name="tickets.csv", encoding="utf-8"):
    return read_table(name, text.encode(encoding))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_never_sticks_to_the_first_column(encoding):
    table = read("id,subject\n7,Größe 電気 😕\n", encoding=encoding)
    assert table.columns == ("id", "subject")
    assert table.rows == (("7", "Größe 電気 😕"),)


def test_utf_16_without_a_mark_is_recognised():
    table = read("id\tbody\n7\tPlain western text\n", encoding="utf-16-le")
    assert table.rows == (("7", "Plain western text"),)
    assert "read as UTF-16" in table.notes


def test_windows_text_keeps_its_euro_and_dashes_and_says_how_it_was_read():
    table = read("id,body\n1,“€5” – won’t close…\n", encoding="cp1252")
    assert table.rows[0][1] == "“€5” – won’t close…"
    assert "cp1252" in table.notes[0]


def test_one_damaged_byte_does_not_turn_a_utf_8_file_into_nonsense():
    data = ("id,body\n1," + "é" * 30 + "\n2,x").encode() + b"\xff\n"
    table = read_table("a.csv", data)
    assert table.rows[0][1] == "é" * 30
    assert "1 damaged character" in table.notes[0]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_any_delimiter_is_found(delimiter):
    rows = [["id", "text", "price"], ["1", "a, b; c | d\te", "1.299,00"], ["2", "x", "0,75"]]
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows(rows)
    table = read(out.getvalue())
    assert [list(table.columns), *map(list, table.rows)] == rows


def test_excels_own_separator_line_is_obeyed():
    assert read("sep=;\nid;body\n1;a,b\n").rows == (("1", "a,b"),)


def test_a_file_of_one_column_is_not_cut_at_its_commas():
    table = read("body\nHello, I paid twice, please help\nMy lamp broke\n")
    assert table.rows == (("Hello, I paid twice, please help",), ("My lamp broke",))


def test_quoted_text_keeps_its_lines_quotes_and_delimiters():
    table = read('Ticket-Nr;Nachricht\n1;"Hallo,\n\n""Express; 24h"" bitte"\n2;kurz\n')
    assert table.rows[0] == ("1", 'Hallo,\n\n"Express; 24h" bitte')


def test_quotes_after_a_space_still_quote():
    assert read('id, body\n1, "a, b"\n2, "c, d"\n').rows == (("1", "a, b"), ("2", "c, d"))


def test_backslash_quotes_are_quotes():
    table = read('id,body\n1,"He said \\"no, never\\" twice"\n2,x\n')
    assert table.rows[0] == ("1", 'He said "no, never" twice')
    assert len(table.rows) == 2


def test_a_cell_longer_than_the_csv_modules_limit_comes_whole():
    body = "E42 valve retry; " * 18_000
    assert read(f"id,body\n1,{body}\n2,short\n").rows[0][1] == body


def test_nul_characters_are_removed_with_a_note():
    table = read("id,body\n1,The panel\0\0 shows nothing\n2,fine text here\n")
    assert table.rows[0][1] == "The panel shows nothing"
    assert table.notes == ("2 NUL characters removed",)


def test_identifiers_and_missing_like_words_stay_text():
    table = read("id,sku,body\n00042,0071,NA\n1344900117571260918,4e872,None\n")
    assert table.rows == (("00042", "0071", "NA"), ("1344900117571260918", "4e872", "None"))


def test_repeated_columns_all_stay():
    table = read("key,Label,Label,Label\nA,x,y,z\n")
    assert table.columns == ("key", "Label", "Label #2", "Label #3")
    assert table.rows == (("A", "x", "y", "z"),)


def test_awkward_and_missing_column_names_are_kept_apart():
    table = read("id,cost.usd,, body ,Body,Body #2\n1,2,3,4,5,6\n")
    assert table.columns == ("id", "cost.usd", "column 3", "body", "Body", "Body #2")


def test_blank_rows_repeated_headers_and_footers_are_dropped_and_told():
    table = read('id,subject,body\nR1,Belt,squeaks\n,,\nid,subject,body\nR2,Door,sags\n  , ,\n"Rows exported: 2",,\n')
    assert [row[0] for row in table.rows] == ["R1", "R2"]
    assert table.notes == ("2 blank rows dropped (lines 3, 6)", "the header repeated inside the file, dropped (line 4)",
                           "footer dropped (line 7): Rows exported: 2")


def test_title_lines_above_the_header_are_left_out_and_told():
    table = read("Tickets of week 40,,,\n\nid,subject,body,who\n1,a,b,c\n2,a,b,c\n")
    assert table.columns == ("id", "subject", "body", "who")
    assert any("Tickets of week 40" in note and "line 1" in note for note in table.notes)


def test_a_file_without_a_header_loses_no_first_row():
    table = read("5001,a@example.test,My lamp broke\n5002,b@example.test,My door too\n")
    assert table.columns == ("column 1", "column 2", "column 3")
    assert len(table.rows) == 2
    assert "no header" in table.notes[0]


def test_a_stray_quote_swallows_no_rows():
    table = read('id,subject,body\nQ1,a,b\nQ2,"19 inch rack,no fit\nQ3,a,b\nQ4,Feet,"one foot" missing\nQ5,a,b\n')
    assert [row[0] for row in table.rows] == ["Q1", "Q2", "Q3", "Q4", "Q5"]
    assert table.rows[1] == ("Q2", '"19 inch rack', "no fit")
    assert table.rows[3] == ("Q4", "Feet", '"one foot" missing')
    assert table.notes == ("a stray quote: read as it stands, please check (lines 3, 5)",)


def test_rows_swallowed_by_two_stray_quotes_are_at_least_spoken_of():
    table = read('id,subject,body\nQ1,"19 inch,a\nQ2,x,y\nQ3,24",b\nQ4,c,d\n')
    assert any("look like rows of their own" in note and "lines 2-4" in note for note in table.notes)


def test_a_quote_that_never_ends_costs_no_row():
    table = read('id,body\n1,a\n2,"open\n3,b\n4,c\n')
    assert [row[0] for row in table.rows] == ["1", "2", "3", "4"]


def test_an_unquoted_comma_goes_back_to_the_text_and_the_line_is_named():
    table = read("id,body,customer\n1,Cable and plug are gone,C-1\n2,Cable, plug, and fuse,C-2\n3,Lamp is dark,C-3\n")
    assert table.rows[1] == ("2", "Cable, plug, and fuse", "C-2")
    assert any("(line 3)" in note and '"body"' in note for note in table.notes)


def test_rows_that_mostly_do_not_fit_are_refused_with_line_and_counts():
    with pytest.raises(UnreadableFile, match=r"a\.csv line 2 has 3 fields, the header has 2"):
        read("id,body\n1,a,b\n2,a,b\n3,a,b\n", "a.csv")


def test_short_rows_are_filled_up_and_named():
    table = read("id,subject,body\n1,a,b\n2,a\n")
    assert table.rows[1] == ("2", "a", "")
    assert "(line 3)" in table.notes[0]


@pytest.mark.parametrize(("data", "says"), [
    (b"", "a.csv is empty"),
    (b"\xef\xbb\xbf", "a.csv is empty"),
    (b"  \n\n", "a.csv is empty"),
    (b"id,subject,body\n", "has a header but no row"),
    (b"%PDF-1.7 ...", "is a PDF document"),
    (b"\x89PNG\r\n\x1a\n", "is a picture"),
    (b"PAR1xxxx", "damaged or no Parquet file"),
    (bytes(range(256)) * 8, "is not text"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1", "old or password-protected Office file"),
    (b"\n<HTML><table><tr><td>id</td></tr></table>", "an HTML or XML file"),
    (b"<?xml version='1.0'?>\n<tickets/>\n", "an HTML or XML file"),
    (b"\x37\x7f\x06\x82" + bytes(28), "write-ahead log"),
    (b"," * 5_000 + b"x\n" + b"," * 5_000 + b"y\n", "columns"),
])
def test_what_is_no_table_is_refused_in_one_line(data, says):
    with pytest.raises(UnreadableFile, match="a.csv") as caught:
        read_table("a.csv", data)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_small_file_cannot_ask_for_billions_of_cells():
    wide = ",".join(f"c{i}" for i in range(2_000))
    with pytest.raises(UnreadableFile, match="cells"):
        read(wide + "\n" + "x,y\n" * 30_000)


def test_closing_words_below_a_report_are_no_tickets():
    table = read('"Case Number","Subject","Account"\n"0001026","Invoice","X"\n\n"Open cases"\n'
                 '"Copyright (c) 2000-2026 salesforce.com, inc. All rights reserved."\n"Acme Corp"\n')
    assert table.rows == (("0001026", "Invoice", "X"),)
    assert any(note.startswith("footer dropped (lines 4, 5, 6): Open cases | Copyright") for note in table.notes)


def test_a_last_row_with_one_cell_stays_when_no_blank_row_stands_above_it():
    assert len(read("id,subject,body\n1,a,b\n2,c,d\n3\n").rows) == 3


def test_joined_files_and_old_programs_leave_no_marks():
    table = read("id,subject\n1,a\n\ufeffid,subject\n2,b\n\x1a")
    assert table.rows == (("1", "a"), ("2", "b"))


def test_quotes_that_open_anew_on_every_line_are_refused():
    with pytest.raises(UnreadableFile, match=r"a\.csv has quotes that are never closed .* line \d+"):
        read('b","d\n' * 20_000, "a.csv")


def test_more_rows_than_a_spreadsheet_holds_are_refused_early(monkeypatch):
    monkeypatch.setattr("lib.tickets.table.MAX_ROWS", 1_000)
    for text in ("id,body\n" + "1,x\n" * 1_001, "id,body\n1,x\n" + "\n" * 1_001):
        with pytest.raises(UnreadableFile, match="more than 1,000 rows"):
            read(text)


@pytest.mark.parametrize("text", ['[{"id": 1, "body": "a, b"},\n{"id": 2, "body": "c"}]',
                                  '{"id": 1, "body": "a, b"}\n{"id": 2, "body": "c"}\n'])
def test_json_named_csv_is_read_as_json(text):
    assert read(text, "a.csv").rows == (("1", "a, b"), ("2", "c"))


def test_a_csv_file_that_was_only_renamed_is_read():
    assert read(PLAIN, "a.xlsx").rows == read(PLAIN).rows == read(PLAIN, "a.xls").rows


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400), st.sampled_from(["a.csv", "a.tsv", "a.json", "a.jsonl", "a.xlsx", "a.txt"]))
def test_any_bytes_give_a_table_or_one_refusal(data, name):
    try:
        table = read_table(name, data)
    except UnreadableFile as error:
        assert name in str(error)
    else:
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert len(to_tickets(table, guess_columns(table))) == len(table.rows)


def test_a_file_of_headers_alone_is_refused():
    for text in (b"a\na\n", b"id,text\nid,text\nid,text\n"):
        with pytest.raises(UnreadableFile, match="a.csv holds its header again and again, but no row"):
            read_table("a.csv", text)


MESSY = st.text(alphabet=st.sampled_from('ab1 ,;\t"\'\n\\|é<&'), max_size=40)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from('ab1,;\t"\r\n|\\{}[]: é'), max_size=200))
def test_any_text_gives_a_table_or_one_refusal(text):
    try:
        read_table("a.csv", text.encode())
    except UnreadableFile as error:
        assert "a.csv" in str(error)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(MESSY, MESSY), min_size=1, max_size=8), st.sampled_from(",;\t|"))
def test_a_well_written_file_comes_back_cell_for_cell(cells, delimiter):
    rows = [(f"T-{i}", *row, "end") for i, row in enumerate(cells)]
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([("id", "subject", "body", "last"), *rows])
    assert read_table("a.csv", out.getvalue().encode()).rows == tuple(rows)


def test_ids_written_for_excel_as_formulas_are_the_ids_it_shows():
    table = read_table("a.csv", b'="id",body\n="0071","=""00""""72"""\n="0073",a="b"\n="00"&"74",=""\n')
    assert table.columns == ("id", "body")
    assert table.rows == (("0071", '00"72'), ("0073", 'a="b"'), ('="00"&"74"', ""))
    assert any('="…"' in note and "5 cells" in note for note in table.notes)
