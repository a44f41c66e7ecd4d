"""JSON exports: whatever the shape, values stay as written and a broken part is named by its line."""

import json

import pytest

from lib.errors import UnreadableFile
from lib.tickets import guess_columns, read_table, read_tables, to_tickets


def read(value, name="a.json"):
    text = value if isinstance(value, str) else json.dumps(value)
    return read_table(name, text.encode())


def test_numbers_keep_every_digit_as_written():
    table = read('[{"id": 12345678901234567890123, "price": 1.10, "n": 1e5, "zip": "00010", "ok": true, "no": null}]')
    assert table.rows == (("12345678901234567890123", "1.10", "1e5", "00010", "true", ""),)


def test_a_very_long_number_is_no_reason_to_fail():
    assert read('[{"id": ' + "9" * 6_000 + "}]").rows == (("9" * 6_000,),)


def test_mixed_types_in_a_column_stay_what_they_were():
    table = read([{"v": 10, "t": ["a", 1]}, {"v": "OK", "t": None}, {"v": 3.5, "t": {"k": "v"}}, {"v": False, "t": []}])
    assert table.columns == ("v", "t", "t.k")
    assert table.rows == (("10", '["a", 1]', ""), ("OK", "", ""), ("3.5", "", "v"), ("false", "[]", ""))


def test_nested_objects_become_dotted_columns_without_overwriting():
    table = read([{"via": {"from": {"address": "x@y"}}, "a.b": 1, "a": {"b": 2}}])
    assert table.columns == ("via.from.address", "a.b", "a.b #2")
    assert table.rows == (("x@y", "1", "2"),)


def test_a_repeated_key_keeps_both_values():
    assert read('[{"id": 1, "id": 2}]').columns == ("id", "id #2")


def test_an_envelope_is_opened_and_a_single_page_is_told():
    table = read({"tickets": [{"id": 1, "subject": "a"}], "users": [{"id": 9, "name": "n"}], "count": 412,
                  "next_page": "https://x"})
    assert table.rows == (("1", "a"),)
    assert any("1 of 412" in note and "next_page" in note for note in table.notes)
    assert any('"users" (1 row)' in note for note in table.notes)


def test_lists_deep_in_an_answer_are_found():
    nodes = {"data": {"repository": {"issues": {"edges": [{"node": {"number": 3, "title": "x"}}]}}}}
    assert read({"data": {"issues": {"nodes": [{"number": 3, "title": "x"}]}}}).rows == (("3", "x"),)
    assert read(nodes["data"]).rows == (("3", "x"),)


def test_objects_by_key_keep_their_key():
    table = read({"T-1": {"subject": "a"}, "T-2": {"subject": "b"}})
    assert table.columns == ("id", "subject")
    assert [row[0] for row in table.rows] == ["T-1", "T-2"]


@pytest.mark.parametrize("value", [
    {"columns": ["id", "body"], "index": [0, 1], "data": [[7, "a"], [8, "b"]]},
    {"id": [7, 8], "body": ["a", "b"]},
    {"id": {"0": 7, "1": 8}, "body": {"0": "a", "1": "b"}},
])
def test_columns_as_pandas_writes_them_become_rows(value):
    found = read(value)
    assert (found.columns, found.rows) == (("id", "body"), (("7", "a"), ("8", "b")))


def test_a_single_wrapped_ticket_is_one_ticket_and_a_single_key_is_kept():
    one = {"ticket": {"id": 35436, "subject": "s", "custom_fields": [{"id": 1, "value": "x"}]}}
    assert read(one).rows == (("35436", "s", '[{"id": 1, "value": "x"}]'),)
    assert read({"T-1": {"subject": "a", "body": "b"}}).rows == (("T-1", "a", "b"),)


def test_the_last_page_of_an_export_is_not_called_one_of_several():
    assert read({"tickets": [{"id": 1}], "next_page": "https://x", "end_of_stream": True}).notes == ()
    assert "one page" in read({"tickets": [{"id": 1}], "next_page": "https://x", "end_of_stream": False}).notes[0]


def test_json_lines_with_commas_and_any_line_ends_are_read():
    for end in ("\n", "\r\n", "\r", ",\n"):
        assert read(f'{{"id": 1}}{end}{{"id": 2}}{end}').rows == (("1",), ("2",))


def test_a_text_stored_as_a_tree_is_read_as_its_words():
    words = [{"type": "text", "text": "It hangs."}, {"type": "hardBreak"}, {"type": "text", "text": "Again"}]
    item = {"type": "listItem", "content": [{"type": "paragraph", "content": words[:1]}]}
    tree = {"type": "doc", "version": 1, "content": [{"type": "paragraph", "content": words},
                                                     {"type": "bulletList", "content": [item]}]}
    found = read({"issues": [{"key": "S-1", "fields": {"summary": "a", "description": tree}}]})
    assert found.rows == (("S-1", "a", "It hangs.\nAgain\nIt hangs."),)


def test_more_values_than_memory_should_hold_are_refused_before_parsing():
    with pytest.raises(UnreadableFile, match="more than 10,000,000 values"):
        read("[" + '{"id":1},' * 2_100_000 + "1]")


def test_a_list_of_lists_is_a_table_with_a_header():
    assert read([["id", "body"], ["0071", "x"], [None, "y"]]).rows == (("0071", "x"), ("", "y"))


def test_json_lines_under_a_wrong_name_lose_only_the_cut_line():
    text = '{"id": "T-1"}\n\n{"id": "T-2"}\n   \n{"id":"T-9","b":"cut off\n{"id": "T-3"}\n5\n'
    table = read(text)
    assert [row[0] for row in table.rows] == ["T-1", "T-2", "T-3"]
    assert table.notes == ("not a JSON object, left out (lines 5, 7)",)


def test_broken_json_is_refused_with_line_and_column():
    with pytest.raises(UnreadableFile, match=r"a\.json .* line 3, column \d"):
        read('[\n {"id": 1},\n {"id": 2,}\n]')


@pytest.mark.parametrize("text", [
    "", "5", "null", '"x"', "[]", "[1, 2]", "{}", "[[]]", '{"a": []}', "[" * 100_000,
    '[{"a":' + '{"b":' * 5_000 + "1" + "}" * 5_001 + "]", "{" + '"a":1,' * 3_000 + '"b":2}'])
def test_json_without_objects_is_refused_in_one_line(text):
    with pytest.raises(UnreadableFile, match=r"a\.json"):
        read(text)


def test_more_columns_than_a_table_may_have_are_refused():
    with pytest.raises(UnreadableFile, match="columns"):
        read([{f"k{i}": i} for i in range(3_000)])


def test_half_a_surrogate_pair_cannot_break_what_comes_later():
    table = read('[{"id": "1", "body": "\\ud83d\\ude00 and \\ud83d alone"}]')
    table.rows[0][1].encode()
    assert table.rows[0][1].startswith("😀 and ")


def test_raw_line_breaks_inside_strings_are_tolerated():
    assert read('[{"id": "1", "body": "one\ntwo"}]').rows == (("1", "one\ntwo"),)


def test_json_is_recognised_under_any_name():
    assert read('[{"id": "1"}]', "export.txt").rows == (("1",),)


def test_a_null_body_is_empty_and_reported():
    table = read([{"number": 12, "title": "Timer", "body": None, "user": {"login": "h"}},
                  {"number": 14, "title": None, "body": "", "user": None}])
    tickets = to_tickets(table, guess_columns(table))
    assert [(t.key, t.subject, t.body, t.customer) for t in tickets.tickets] == [("12", "Timer", "", "h"),
                                                                                ("14", "", "", "")]
    assert "neither subject nor body (ticket 14)" in tickets.notes
    assert "empty body, only a subject (ticket 12)" in tickets.notes


@pytest.mark.parametrize("envelope, said", [
    ({"totalSize": 412, "done": False, "nextRecordsUrl": "/x-2000"}, "1 of 412"),                   # Salesforce
    ({"@odata.nextLink": "https://x"}, "1 of more"),                                                # Dynamics
    ({"page": {"size": 1, "totalElements": 412, "totalPages": 412, "number": 1}}, "1 of 412"),      # Help Scout
    ({"info": {"more_records": True, "count": 1}}, "1 of more"),                                    # Zoho
    ({"last": False}, "last is false"),
    ({"page": 1, "pages": 9}, "page 1 of 9"),
    ({"total": {"value": 412, "relation": "eq"}}, "1 of 412"),                                      # search engines
], ids=str)
def test_one_page_of_several_is_told_whatever_the_api_calls_it(envelope, said):
    assert any(said in note and "one page" in note for note in read({**envelope, "data": [{"id": 1, "x": "a"}]}).notes)


@pytest.mark.parametrize("envelope", [
    {"totalSize": 1, "done": True}, {"@odata.count": 1}, {"page": 1, "pages": 1}, {"page": 9, "pages": 9},
    {"last": True, "totalElements": 1}, {"page": 0, "pages": 1}, {"info": {"more_records": False}}], ids=str)
def test_a_whole_answer_is_not_called_a_page(envelope):
    assert read({**envelope, "data": [{"id": 1, "x": "a"}]}).notes == ()


def test_columns_and_their_rows_can_be_one_page_too():
    table = read({"columns": ["id", "body"], "data": [["1", "x"]], "total": 412})
    assert table.rows == (("1", "x"),) and "1 of 412: this is one page of an export" in table.notes


def test_a_count_in_a_ticket_is_not_the_number_of_tickets():
    assert read({"tickets": {"T-1": {"subject": "a", "body": "x", "count": 412, "next": "T-2"}}}).notes == ()


def test_a_count_of_comments_is_no_text_even_where_every_body_is_empty():
    assert guess_columns(read([{"number": 1, "title": "a", "body": None, "comments": 3}])).body == "body"


def test_the_fields_of_a_search_engines_hits_are_known_by_their_own_names():
    guess = guess_columns(read({"hits": {"hits": [{"_id": "7", "_source": {"subject": "a", "body": "x"}}]}}))
    assert (guess.id, guess.subject, guess.body) == ("_id", "_source.subject", "_source.body")


def test_rows_by_their_key_beside_a_list_are_a_table_too():
    tables = read_tables("p.json", json.dumps({"products": {"P-1": {"name": "Lamp", "price": 2},
                                                            "P-2": {"name": "Door", "price": 3}},
                                               "customers": [{"id": "0071", "name": "A"}]}).encode())
    assert [(t.name, t.columns, len(t.rows)) for t in tables] == [("products", ("id", "name", "price"), 2),
                                                                  ("customers", ("id", "name"), 1)]
