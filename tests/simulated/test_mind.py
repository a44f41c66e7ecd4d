"""Merging, summarising, reading a prompt's wishes, and answering in the shape that it asks for."""

import json

import pytest

from lib.simulated.mind import answer
from lib.simulated.mind.merging import merge
from lib.simulated.mind.reading import allowed_causes, from_schema, template_in
from lib.task import prompts
from lib.tickets.ticket import Ticket

MODEL = "claude-haiku-5-5"
TICKET = Ticket("T-9", "T-9", "Card <visa>", "Hello,\n\nI was charged twice & want one payment back.\n\nBest,\nA.")


def reply(system, content, *more, **fields):
    turns = [{"role": ("user", "assistant")[i % 2], "content": c} for i, c in enumerate((content, *more))]
    return answer({"model": MODEL, "max_tokens": 1000, "system": system, "messages": turns, **fields})[0]["text"]


def test_the_default_label_prompt_gets_a_cause_and_an_exact_quote():
    found = json.loads(reply(prompts.LABEL, prompts.render_ticket(TICKET)))
    assert found == {"cause": "repeated payment attempt", "evidence": "I was charged twice & want one payment back."}


def test_keys_of_the_prompts_own_format_are_filled():
    system = 'Classify. Reply with JSON only: {"category": "...", "quote": "...", "confidence": 0.9, "urgent": true}'
    found = json.loads(reply(system, prompts.render_ticket(TICKET)))
    assert list(found) == ["category", "quote", "confidence", "urgent"]
    assert found == {"category": "repeated payment attempt", "quote": "I was charged twice & want one payment back.",
                     "confidence": 0.8, "urgent": False}


def test_a_schema_in_output_config_shapes_the_answer_as_well():
    schema = {"type": "object", "properties": {"root_cause": {"type": "string"}, "tags": {"type": "array"}}}
    found = json.loads(reply("Label it.", prompts.render_ticket(TICKET),
                             output_config={"format": {"type": "json_schema", "schema": schema}}))
    assert set(found) == {"root_cause", "tags"}


def test_without_json_only_some_answers_are_prose_and_some_are_fenced():
    system = prompts.LABEL.replace("Answer with JSON only, nothing before or after it.", "Answer in this format:")
    texts = [reply(system, prompts.render_ticket(Ticket(str(i), str(i), "Card", f"Charged twice, case {i}.")))
             for i in range(12)]
    assert any("```json" in text for text in texts)
    assert any("{" not in text for text in texts)


def test_a_correction_brings_json():
    system = prompts.LABEL.replace("Answer with JSON only, nothing before or after it.", "Answer in this format:")
    text = reply(system, prompts.render_ticket(TICKET), "The root cause …", "Your answer holds no JSON object.")
    assert set(json.loads(text)) == {"cause", "evidence"}


def test_a_list_of_causes_in_the_prompt_is_kept_to():
    system = prompts.LABEL + "\n\nUse one of these causes:\n- billing error\n- login trouble\n- delivery delay\n- other"
    assert json.loads(reply(system, prompts.render_ticket(TICKET)))["cause"] == "billing error"


def test_an_untagged_ticket_is_labelled_too():
    found = json.loads(reply(prompts.LABEL, "Card\nI was charged twice for one booking, please refund."))
    assert found["cause"] == "duplicate charge"


@pytest.mark.parametrize(("system", "causes"), [
    ("Choose from: late delivery, wrong item, damaged goods.", ("late delivery", "wrong item", "damaged goods")),
    ('The cause must be one of ["a b", "c d"].', ("a b", "c d")),
    ("Allowed causes:\n1. login trouble - all about signing in\n2. billing\n\nBe brief.", ("login trouble", "billing")),
    (prompts.LABEL, ()), (prompts.MERGE, ()), (prompts.AGENT, ()),
])
def test_allowed_causes_are_read_from_the_prompt(system, causes):
    assert tuple(allowed_causes(system)) == causes


def test_the_shape_of_the_answer_is_read_from_the_prompts_example():
    assert template_in(prompts.LABEL) == {"cause": "2-5 plain lower-case words",
                                          "evidence": "exact short quote from the ticket"}
    assert list(template_in(prompts.AGENT)["causes"][0]) == ["cause", "count", "ticket_ids", "customers", "summary"]
    assert template_in('like {"a": <string>, "b": [1, 2, ...], "c": {"d": true}}') == {"a": "<string>", "b": [0, 0],
                                                                                     "c": {"d": False}}
    assert template_in("no braces, or {braces} only, or { \"broken\": ") is None
    assert from_schema({"type": "object", "properties": {"n": {"type": "integer"}}}) == {"n": 0}


@pytest.mark.parametrize("text", [
    '<ticket id="1">' * 20_000, "<" * 200_000, '{"a' * 60_000, '{"a":' * 20_000, "<label " * 50_000, '= "' * 80_000,
    "</ticket>" * 30_000, " " * 400_000 + "x", "one of: " + "- a\n" * 40_000, "json only " * 30_000])
def test_endless_runs_of_anything_get_a_reply(text):
    assert reply(text, text).strip()


def test_merging_places_every_label_once_and_keeps_different_causes_apart():
    given = {"duplicate charge": 4, "customer charged twice": 2, "time zone shift": 3, "daylight saving offset": 1,
             "zip stuck": 1, "stuck zip on bag": 1, "wet socks": 1}
    found = json.loads(reply(prompts.MERGE, prompts.render_labels(given)))["groups"]
    assert sorted(label for g in found for label in g["labels"]) == sorted(given)
    assert [(g["cause"], len(g["labels"])) for g in found[:2]] == [("duplicate charge", 2), ("time zone shift", 2)]
    assert {"wet socks"} in [set(g["labels"]) for g in found]


def test_labels_that_only_share_a_vague_word_stay_apart():
    assert len(merge([("login failure", 1), ("printer failure", 1), ("customer missing", 1), ("wrong ticket", 1)])) == 4


def test_labels_with_markup_come_back_as_they_are():
    found = json.loads(reply(prompts.MERGE, prompts.render_labels({'a & b "c" <d>': 1})))["groups"]
    assert found[0]["labels"] == ['a & b "c" <d>']


def test_a_summary_names_tickets_it_was_given_and_quotes_them_exactly():
    tickets = [TICKET, Ticket("T-10", "T-10", "two payments", "The bank shows two payments of 9.99 on Monday.")]
    data = prompts.render_cause("duplicate charge", 7, tickets, [
        {"title": "Font file missing"}, {"title": "Payment sent twice"}])
    found = json.loads(reply(prompts.SUMMARY, data))
    assert set(found["ticket_ids"]) == {"T-9", "T-10"}
    assert "7 tickets point to duplicate charge." in found["summary"] and "Payment sent twice" in found["summary"]
    assert 2 <= found["summary"].count(". ") + 1 <= 3


def test_a_cause_without_excerpts_is_summarised_honestly():
    found = json.loads(reply(prompts.SUMMARY, prompts.render_cause("duplicate charge", 0, [])))
    assert found["ticket_ids"] == [] and found["summary"]
