"""What counts as a usable answer, and the reason given where it is not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.task.answers import Label, parse_answer, parse_groups, parse_label, parse_summary, tidy_cause


def label(cause, **more):
    return parse_label(json.dumps({"cause": cause, "evidence": "it broke", **more}))


def test_a_label_is_counted_in_one_form():
    assert label("  Duplicate   CHARGE. ") == Label("duplicate charge", "it broke")
    assert label("Ｄuplicate charge").cause == "duplicate charge"


@pytest.mark.parametrize(("spelled", "counted"), [
    ("**Late mail**", "late mail"), ("- late mail;", "late mail"), ("late\u00a0mail\u200b", "late mail"),
    ("la\u00adte mail", "late mail"), ("late\x00mail", "late mail"), ("customer’s clock", "customer's clock"),
    ("pre\u2011paid – twice", "pre-paid - twice"), ("q&amp;amp;a page", "q&a page"), ("«late»", "«late»"),
])
def test_spellings_that_only_look_different_are_one_cause(spelled, counted):
    assert tidy_cause(spelled) == counted


@given(st.text(max_size=70))
def test_a_label_is_known_again_when_it_comes_back_from_the_merge(text):
    try:
        name = tidy_cause(text)
    except ValueError as reason:
        assert len(str(reason)) < 500
        return
    back = json.dumps({"groups": [{"cause": name, "labels": [name.upper() if name.isascii() else name]}]})
    assert parse_groups(back, [name]) == {name: name}


@pytest.mark.parametrize(("cause", "reason"), [
    (["duplicate charge"], "must be one text, not a list"),
    (None, "not null"),
    (True, "not true or false"),
    (42, "not a number"),
    ({"name": "x"}, "not an object"),
    ("", "names no cause"),
    (" . ", "names no cause"),
    ("None", "names no cause"),
    ("x" * 61, "has 61 characters"),
    ("duplicate charge/late mail", "looks like several"),
    ("duplicate charge, late mail", "looks like several"),
    ("duplicate charge\nlate mail", "looks like several"),
    ("duplicate charge／late mail", "looks like several"),
    (" . " * 100_000, "has 199999 characters|names no cause"),
    ("duplicаte charge", "mixes CYRILLIC and LATIN letters in the word 'duplicаte'"),
])
def test_anything_but_one_short_text_is_no_cause(cause, reason):
    with pytest.raises(ValueError, match=reason):
        label(cause)


@pytest.mark.parametrize("cause", ["rechnung doppelt gebucht", "двойная оплата", "重複請求", "ärger mit déjà vu"])
def test_a_cause_may_be_in_any_one_script(cause):
    assert tidy_cause(cause) == cause


@pytest.mark.parametrize("text", ['{"result": {"cause": "late mail"}}', '"late mail"', "null", "[1]", "late mail",
                                  '"{\\"cause\\": \\"late mail\\"}"'])
def test_a_label_that_is_not_at_its_place_is_refused(text):
    with pytest.raises(ValueError):
        parse_label(text)


def test_unasked_fields_are_ignored_and_missing_evidence_is_none_given():
    assert label("late mail", extra={"note": "unasked"}).cause == "late mail"
    assert parse_label('{"cause": "late mail"}') == parse_label('{"cause": "late mail", "evidence": null}') == Label(
        "late mail")
    with pytest.raises(ValueError, match='"evidence" must be a text, not a number'):
        label("late mail", evidence=42)


LABELS = ["a", "b & c", "d"]


def groups(*groups):
    return json.dumps({"groups": [{"cause": cause, "labels": labels} for cause, labels in groups]})


def test_groups_map_each_label_to_its_cause():
    text = groups(("First", ["a", "B &amp; c"]), ("d", ["d"]))
    assert parse_groups(text, LABELS) == {"a": "first", "b & c": "first", "d": "d"}


@pytest.mark.parametrize(("text", "reason"), [
    (groups(("x", ["a", "d"])), "labels missing: 'b & c'"),
    (groups(("x", ["a", "b & c", "d", "e"])), "labels that were not given: 'e'"),
    (groups(("x", ["a", "b & c"]), ("y", ["d", "a"])), "labels given twice: 'a'"),
    (groups(("", ["a", "b & c", "d"])), "group 1: \"cause\" is ''"),
    ('{"groups": {"x": ["a"]}}', '"groups" must be a list, not an object'),
    ('{"groups": ["a"]}', "group 1 must be an object"),
    ('{"groups": [{"cause": "x", "labels": "a"}]}', 'group 1: "labels" must be a list'),
    ('{"groups": [{"cause": "x", "labels": [null]}]}', "must hold only texts, not null"),
    ("{}", '"groups" is missing'),
])
def test_groups_that_lose_invent_or_repeat_a_label_are_refused(text, reason):
    with pytest.raises(ValueError, match=reason):
        parse_groups(text, LABELS)


def test_two_groups_of_one_name_are_one_cause():
    text = groups(("Late mail", ["a"]), ("late mail.", ["b & c"]), ("d", ["d"]), ("empty", []))
    assert parse_groups(text, LABELS) == {"a": "late mail", "b & c": "late mail", "d": "d"}


def test_the_reason_sent_back_stays_short_however_much_was_wrong():
    text = groups(*(("x", [f"{'invented ' * 50}{i}"]) for i in range(1_000)))
    with pytest.raises(ValueError, match="labels that were not given: .* and 992 more") as error:
        parse_groups(text, LABELS)
    assert len(str(error.value)) < 1_500


def test_a_summary_needs_a_text():
    assert parse_summary('{"summary": " It breaks. ", "ticket_ids": ["T-1", 7]}').tickets == ("T-1", "7")
    assert parse_summary('{"summary": "It breaks."}').tickets == ()
    for text in ('{"summary": null}', '{"summary": ""}', '{"summary": 42}', '{"summary": "x", "ticket_ids": "T-1"}'):
        with pytest.raises(ValueError):
            parse_summary(text)


def answer(**changes):
    cause = {"cause": "Late mail", "count": 2, "ticket_ids": ["T-1", "T-2"], "customers": 1, "summary": "It waits."}
    return json.dumps({"causes": [{**cause, **changes}]})


def test_the_agents_answer_is_read_as_claims():
    claimed, = parse_answer(answer())
    assert (claimed.name, claimed.tickets, claimed.count, claimed.customers) == ("late mail", ("T-1", "T-2"), 2, 1)


@pytest.mark.parametrize(("changes", "reason"), [
    ({"ticket_ids": []}, 'cause 1: "ticket_ids" is empty'),
    ({"ticket_ids": [True]}, "must hold only texts, not true or false"),
    ({"ticket_ids": "T-1"}, "must be a list"),
    ({"count": "2"}, "\"count\" must be a whole number, not a text \\('2'\\)"),
    ({"count": True}, "must be a whole number"),
    ({"count": -3}, '"count" is -3; it must be 0 or more'),
    ({"customers": 1.5}, "must be a whole number"),
    ({"customers": ["C-1"]}, "must be a whole number, not a list"),
    ({"summary": 1}, "must be a text"),
    ({"cause": None}, "must be one text"),
])
def test_claims_of_another_kind_are_refused_with_their_place(changes, reason):
    with pytest.raises(ValueError, match=reason):
        parse_answer(answer(**changes))


def test_an_answer_without_causes_or_with_one_twice_is_refused():
    with pytest.raises(ValueError, match="empty list"):
        parse_answer('{"causes": []}')
    twice = json.dumps({"causes": json.loads(answer())["causes"] * 2})
    with pytest.raises(ValueError, match="given twice: 'late mail'"):
        parse_answer(twice)


def test_a_claim_may_be_left_out_but_is_then_unknown_not_zero():
    claimed, = parse_answer(answer(count=None, customers=None, summary=None))
    assert (claimed.count, claimed.customers, claimed.summary) == (None, None, "")


def test_a_final_answer_without_the_list_of_causes_is_told_what_it_is_to_be():
    for text in ("The causes are many.", '{"answer": []}'):
        with pytest.raises(ValueError, match="It is to be .*ticket_ids"):
            parse_answer(text)
