"""What careless and malicious exporters write: each input is read whole, or refused in one line, and nothing is lost
unsaid."""

import json

import pytest
from packing import workbook, zipped

from lib.errors import UnreadableFile
from lib.tickets import guess_columns, read_table, to_tickets

E = "\N{PILE OF POO}"
DEEP = "[" * 3_000 + "]" * 3_000


def j(value):
    return json.dumps(value).encode()


READ = [    # name of the fault, file name, bytes, ids of the tickets, what some note or body must say
    ("two marks at the top", "a.csv", b"\xef\xbb\xbf\xef\xbb\xbfid,body\n1,x\n", ["1"], ""),
    ("a mark inside quotes", "a.csv", b'\xef\xbb\xbf"id","body"\n"1","x"\n', ["1"], ""),
    ("old Mac line ends", "a.csv", b"id,body\r1,x\r2,y\r", ["1", "2"], ""),
    ("line ends mixed", "a.csv", b"id,body\r\n1,x\n2,y\r3,z", ["1", "2", "3"], ""),
    ("doubled carriage returns", "a.csv", b'id,body\r\r\n1,"x\r\r\ny"\r\r\n2,z\r\r\n', ["1", "2"], ""),
    ("blank line after each row", "a.csv", b"id,body\n\n1,x\n\n2,y\n\n", ["1", "2"], "2 blank rows dropped"),
    ("trailing delimiters", "a.csv", b"id,body,,\n1,x,,\n2,y,,\n", ["1", "2"], ""),
    ("rows end with one delimiter too many", "a.csv", b"id,body\n1,x,\n2,y,\n", ["1", "2"], ""),
    ("header in quotes with a line break", "a.csv", b'id,"ticket\nbody"\n1,x\n', ["1"], ""),
    ("header of three names alike", "a.csv", b"id,body,body,body\n1,x,y,z\n", ["1"], "x\n\ny\n\nz"),
    ("header in capitals and spaces", "a.csv", b"  TICKET ID , BODY \n1,x\n", ["1"], ""),
    ("no header and ids of one make", "a.csv", b"T-1,Fan,It rattles\nT-2,Door,It sags\nT-3,Lid,It sticks\n",
     ["T-1", "T-2", "T-3"], "no header"),
    ("prose without a header", "a.txt", b"My lamp broke and it smokes.\nMy door sags.\n", ["1", "2"], "no header"),
    ("sep line with a tab", "a.csv", b"sep=\t\nid\tbody\n1\tx\n", ["1"], ""),
    ("decimal commas beat the delimiter by number", "a.csv", b"id;a;b;body\n1;1,5;2,5;x\n2;1,5;2,5;y\n",
     ["1", "2"], ""),
    ("quotes inside without doubling", "a.csv", b'id,body\n1,"He said "no" twice"\n2,x\n', ["1", "2"], "stray quote"),
    ("quote at the very end of the file", "a.csv", b'id,body\n1,x\n2,y"', ["1", "2"], ""),
    ("quote opened in the last row", "a.csv", b'id,body\n1,x\n2,"y\n', ["1", "2"], ""),
    ("curly quotes are no quotes", "a.csv", "id,body\n1,“x\n2,y”\n".encode(), ["1", "2"], ""),
    ("single quotes around cells", "a.csv", b"'id','body'\n'1','x'\n", ["'1'"], ""),
    ("backslash at the end of a cell", "a.csv", b'id,body\n1,"C:\\\\"\n2,"y"\n', ["1", "2"], ""),
    ("id with a line break", "a.csv", b'id,body\n"1\n2",x\n', ["1 2"], ""),
    ("ids that are dates, floats and spaces", "a.csv", b"id,body\n1.0,x\n 1 ,y\n2026-01-01,z\n",
     ["1.0", "1", "2026-01-01"], ""),
    ("ids alike but for case and zeros", "a.csv", b"id,body\nA1,x\na1,y\n01,z\n1,w\n", ["A1", "a1", "01", "1"], ""),
    ("ids that look like our own keys", "a.csv", b"id,body\n1,x\n1#2,y\n1,z\n", ["1", "1#2", "1"], "repeated ids"),
    ("only some ids", "a.csv", b"id,body\n,x\n7,y\n,z\n", ["row 1", "7", "row 3"], "no id, numbered by row"),
    ("an id that is called row 2", "a.csv", b"id,body\nrow 2,x\n,y\n", ["row 2", "row 2#2"], ""),
    ("emoji, joiners and combining marks", "a.csv", f"id,body\n1,{E}👩‍💻é\n".encode(), ["1"], "👩‍💻é"),
    ("lone surrogates", "a.json", b'[{"id": "1", "body": "a\\ud83dz"}]', ["1"], "a\N{REPLACEMENT CHARACTER}z"),
    ("right-to-left override in the id", "a.csv", "id,body\n1\u202e2,x\n".encode(), ["1[U+202E]2"], ""),
    ("zero-width characters stay", "a.csv", "id,body\n1\u200b,x\n".encode(), ["1\u200b"], ""),
    ("Latin-1 with one C1 byte", "a.csv", b"id,body\n1,caf\xe9\x81\n", ["1"], "not UTF-8"),
    ("UTF-8 cut in a character", "a.csv", ("id,body\n1," + "é" * 20).encode()[:-1], ["1"], "damaged character"),
    ("UTF-8 twice encoded", "a.csv", "id,body\n1,cafÃ©\n".encode(), ["1"], "cafÃ©"),
    ("UTF-16 big-endian without a mark", "a.csv", "id,body\n1,plain western text\n".encode("utf-16-be"), ["1"], ""),
    ("total in the middle is a ticket", "a.csv", b"id,subject,body\n1,Total,x\nTotal,y,z\n2,a,b\n", ["1", "Total", "2"],
     ""),
    ("a footer that is a sentence is a ticket", "a.csv",
     b"id,subject,body\n1,a,b\nTotal loss of all data on Monday. Please help us with that at once.,,\n",
     ["1", "Total loss of all data on Monday. Please help us with that at once."], ""),
    ("formula and script texts", "a.csv", b"id,body\n1,\"=cmd|' /C calc'!A0\"\n2,<script>alert(1)</script>\n",
     ["1", "2"], "=cmd|"),
    ("HTML never closed", "a.csv", b"id,body\n1,\"<p>a <script>alert(1) words stay\"\n", ["1"], "words stay"),
    ("HTML entities twice", "a.csv", b"id,body\n1,<p>5 &amp;lt; 6</p>\n", ["1"], "5 &lt; 6"),
    ("a mail quoted ten times", "a.csv", b'id,body\n1,"<div>' + b"<blockquote>" * 10 + b'x</div>"\n', ["1"], "x"),
    ("list with nulls and numbers between", "a.json", b'[null, {"id": 1, "body": "x"}, 7, {"id": 2, "body": "y"}]',
     ["1", "2"], "items 1, 3"),
    ("envelope with a null in the list", "a.json", j({"tickets": [{"id": 1, "body": "x"}, None]}), ["1"], "item 2"),
    ("envelope nested ten deep", "a.json", b'{"a":' * 9 + b'{"tickets": [{"id": 1, "body": "x"}]}' + b"}" * 9,
     ["1"], ""),
    ("pages in a list", "a.json", j([{"tickets": [{"id": 1, "body": "x"}], "next_page": "u"},
                                     {"tickets": [{"id": 2, "body": "y"}], "next_page": None}]), ["1", "2"],
     "2 pages put together"),
    ("comments in a list of their own", "a.json",
     j({"tickets": [{"id": 1, "body": "x"}], "comments": [{"ticket_id": 1, "author_id": 5, "body": "late"},
                                                         {"ticket_id": 9, "body": "orphan"}],
        "users": [{"id": 5, "name": "Una"}]}), ["1"], "Una:\nlate"),
    ("JSON inside a JSON text", "a.json", j(json.dumps([{"id": 1, "body": "x"}])), ["1"], ""),
    ("a database's own types", "a.json", j([{"_id": {"$oid": "6a"}, "body": "x", "n": {"$numberLong": "5"}}]), ["6a"],
     ""),
    ("hits of a search engine", "a.json", j({"took": 1, "hits": {"total": {"value": 1}, "hits": [
        {"_id": "7", "_source": {"subject": "a", "body": "x"}}]}}), ["7"], ""),
    ("the same key twice", "a.json", b'[{"id": 1, "id": 2, "body": "x"}]', ["1"], ""),
    ("NaN and Infinity", "a.json", b'[{"id": NaN, "body": "x"}, {"id": Infinity, "body": "y"}]',
     ["NaN", "Infinity"], ""),
    ("a number of a thousand digits", "a.json", b'[{"id": ' + b"7" * 1_000 + b', "body": "x"}]', ["7" * 1_000], ""),
    ("JSON lines with a mark on each", "a.jsonl", b'\xef\xbb\xbf{"id": 1}\n\xef\xbb\xbf{"id": 2}\n', ["1", "2"], ""),
    ("JSON lines with commas and a list's brackets", "a.json", b'[\n{"id": 1},\n{"id": 2}\n]', ["1", "2"], ""),
    ("a list with one object a line", "a.json", b'[{"id": 1},\n{"id": 2},\n{"id": 3}]', ["1", "2", "3"], ""),
    ("JSON lines cut in the last", "a.jsonl", b'{"id": 1}\n{"id": 2}\n{"id": 3, "bo', ["1", "2"], "line 3"),
    ("JSON lines with a list among them", "a.jsonl", b'{"id": 1}\n[1, 2]\n{"id": 2}\n', ["1", "2"], "line 2"),
    ("a list that was cut, one object a line", "a.json", b'[{"id": 1},\n{"id": 2},\n{"id": 3}',
     ["1", "2", "3"], "cut off"),
    ("several objects in one line", "a.jsonl", b'{"id": 1}{"id": 2}\n{"id": 3}, {"id": 4}\n', ["1", "2", "3", "4"], ""),
    ("sheet whose first row is blank", "a.xlsx", workbook(A=[[], ["id", "body"], ["1", "x"]]), ["1"], ""),
    ("sheet with gaps between rows", "a.xlsx", workbook(A=[["id", "body"], ["1", "x"], [], [], ["2", "y"]]), ["1", "2"],
     ""),
    ("numbers and text as ids", "a.xlsx", workbook(A=[["id", "body"], [7, "x"], ["007", "y"]]), ["7", "007"], ""),
    ("zip with names in another alphabet", "a.zip", zipped({"тикеты/заявки.csv": "id,body\n1,x\n"}), ["1"], "заявки"),
    ("the same name twice in a zip", "a.zip", zipped({"a/t.csv": "id,body\n1,x\n", "b/t.csv": "id,body\n1,y\n"}),
     ["1", "1"], "repeated ids"),
    ("line breaks in a file's name", "a\nb.zip", zipped({"t\n.csv": "id,body\n1,x\n"}), ["1"], "a b.zip unpacked"),
    ("kind of file hidden by its name", "tickets.xlsx", b'[{"id": 1, "body": "x"}, {"id": 2, "body": "y"}]', ["1", "2"],
     ""),
    ("name without an ending", "export", b"id,body\n1,x\n", ["1"], ""),
    ("name that is a path with odd characters", "../../etc/<b>\u202e.csv", b"id,body\n1,x\n", ["1"], ""),
]


@pytest.mark.parametrize(("name", "data", "ids", "says"), [case[1:] for case in READ], ids=[case[0] for case in READ])
def test_it_is_read_whole(name, data, ids, says):
    table = read_table(name, data)
    found = to_tickets(table, guess_columns(table))
    assert [ticket.id for ticket in found.tickets] == ids
    assert len({ticket.key for ticket in found.tickets}) == len(ids)
    assert says in "\n".join([*found.notes, *(ticket.body for ticket in found.tickets)])
    assert all("\n" not in note for note in found.notes)


REFUSED = [
    ("nothing but delimiters", "a.csv", b",,,\n,,,\n", "is empty"),
    ("nothing but the header, again and again", "a.csv", b"id,body\nid,body\nid,body\n", "no row"),
    ("brackets three thousand deep", "a.json", DEEP.encode(), "nested too deeply"),
    ("objects a thousand deep", "a.json", b'{"a":' * 5_000 + b"1" + b"}" * 5_000, "nested too deeply"),
    ("millions of empty objects", "a.json", b"[" + b"{}," * 3_000_000 + b"{}]", "values"),
    ("a list of numbers", "a.json", b"[1, 2, 3]", "no objects"),
    ("a single text", "a.json", b'"hello"', "single JSON value"),
    ("an empty list", "a.json", b"[]", "no objects"),
    ("an envelope of nothing", "a.json", b'{"tickets": [], "count": 0}', "empty list"),
    ("an object that was cut", "a.json", b'{"tickets": [{"id": 1', "line 1, column 22"),
    ("a list with one damaged object", "a.json", b'[{"id": 1},\n{"id": 2,\n{"id": 3}]', "line 3, column 1"),
    ("an answer that says no", "a.json", b'{"errors": [{"message": "API rate limit exceeded"}]}', "rate limit"),
    ("a header of ten thousand columns", "a.csv", b",".join(b"c%d" % i for i in range(10_000)) + b"\n1\n", "columns"),
    ("quotes that open in every line", "a.csv", b'a","b\n' * 30_000, "never closed"),
    ("a picture named csv", "a.csv", b"\x89PNG\r\n\x1a\n" + bytes(100), "a picture"),
    ("zeros", "a.csv", bytes(5_000), "is empty"),
    ("random bytes", "a.csv", bytes(range(256)) * 20, "not text"),
    ("a workbook with a sheet of nothing", "a.xlsx", workbook(A=[[]]), "no visible sheet"),
    ("a zip in a zip in a zip", "a.zip", zipped({"b.zip": zipped({"c.zip": zipped({"t.csv": "id\n1\n"})})}), "b.zip"),
]


@pytest.mark.parametrize(("name", "data", "says"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_it_is_refused_in_one_line(name, data, says):
    with pytest.raises(UnreadableFile) as caught:
        read_table(name, data)
    assert says in str(caught.value) and "\n" not in str(caught.value)


KEYED = {"T-1": {"subject": "Login broken", "body": "cannot log in", "comments": [{"body": "still broken"}]},
         "T-2": {"subject": "Bill", "body": "charged twice", "comments": [{"body": "any news"}]}}


@pytest.mark.parametrize("value", [
    KEYED, {"data": KEYED}, {"tickets": KEYED, "users": [{"id": 1, "name": "Al"}]}, {"tickets": KEYED, "count": 2},
])
def test_tickets_by_their_key_are_tickets_whatever_lists_stand_in_or_beside_them(value):
    table = read_table("t.json", json.dumps(value).encode())
    found = to_tickets(table, guess_columns(table)).tickets
    assert [(t.id, t.subject) for t in found] == [("T-1", "Login broken"), ("T-2", "Bill")]
    assert "cannot log in" in found[0].body and "still broken" in found[0].body


def test_a_list_of_tickets_with_many_nulls_is_read_and_the_nulls_are_told():
    value = {"tickets": [None, None, None, {"id": 1, "subject": "a", "body": "b"}], "users": [{"id": 7, "name": "Al"}]}
    table = read_table("t.json", json.dumps(value).encode())
    assert len(table.rows) == 1 and "b" in table.rows[0] and any("items 1, 2, 3" in note for note in table.notes)


def test_a_later_comment_in_the_words_of_the_body_stays():
    rows = [{"id": "1", "subject": "s", "body": "Any news?", "comments": [
        {"body": "Any news?"}, {"body": "first"}, {"body": "Any news?"},
        {"body": None, "html_body": "<p>real words</p>"}]}]
    table = read_table("t.json", json.dumps(rows).encode())
    assert to_tickets(table, guess_columns(table)).tickets[0].body.split("\n\n") == [
        "Any news?", "first", "Any news?", "real words"]
