"""Drafts on top of the default design: what is typed is kept, what cannot be used is named, what is gone is ignored."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lib.design import CACHING
from lib.task.default_design import default_design
from lib.ui import drafts

DEFAULT = default_design()


def test_no_draft_is_the_default():
    assert drafts.apply(DEFAULT, {}) == (DEFAULT, [])


def test_every_field_can_be_put_in_and_read_back():
    for field in drafts.fields(DEFAULT):
        value = drafts.value_of(DEFAULT, field)
        assert drafts.apply(DEFAULT, {field: value}) == (DEFAULT, []), field


def test_a_draft_changes_only_its_field():
    design, problems = drafts.apply(DEFAULT, {"steps.label.system": "Label it.", "limits.max_turns": 7})
    assert not problems
    assert drafts.changed(DEFAULT, design) == ["limits.max_turns", "steps.label.system"]


def test_other_versions_never_have_nothing_that_differs():
    moved = replace(DEFAULT, tools=DEFAULT.tools[1:] + DEFAULT.tools[:1])
    assert moved.version != DEFAULT.version and drafts.changed(DEFAULT, moved) == ["order"]
    assert drafts.value_of(moved, "order").endswith("tally, list_tickets")
    added = DEFAULT.with_own_tools(["own_1"], [])
    assert "order" not in [*drafts.changed(DEFAULT, added), *drafts.changed(added, DEFAULT)]


@pytest.mark.parametrize(("text", "said"), [('{"type":', "not JSON yet"), ("[1]", "a schema is a JSON object")])
def test_an_unusable_schema_is_named_and_the_default_stands_in(text, said):
    design, problems = drafts.apply(DEFAULT, {"tools.tally.input_schema": text})
    assert design == DEFAULT
    assert [p.field for p in problems] == ["tools.tally.input_schema"] and said in problems[0].text


def test_a_schema_is_edited_as_text():
    schema = json.loads(drafts.value_of(DEFAULT, "tools.tally.input_schema"))
    schema["properties"]["note"] = {"type": "string"}
    design, _ = drafts.apply(DEFAULT, {"tools.tally.input_schema": json.dumps(schema)})
    assert next(t for t in design.tools if t.key == "tally").input_schema == schema


@pytest.mark.parametrize("field", ["steps.gone.system", "tools.gone.name", "limits.gone", "gone"])
def test_a_draft_for_a_field_that_is_gone_is_ignored(field):
    assert drafts.apply(DEFAULT, {field: "x"}) == (DEFAULT, [])
    assert drafts.edited(DEFAULT, {field: "x"}) == []


def test_what_the_cache_the_tags_and_the_context_do_is_edited_like_the_rest():
    typed = {"caching": "system", "tags": False, "keep_results": 3, "result_chars": 500}
    design, problems = drafts.apply(DEFAULT, typed)
    assert not problems and drafts.changed(DEFAULT, design) == list(typed)
    assert (design.caching, design.tags, design.keep_results, design.result_chars) == ("system", False, 3, 500)


@pytest.mark.parametrize(("field", "value"), [("caching", "sometimes"), ("caching", True), ("tags", 0),
                                              ("keep_results", True), ("keep_results", "3")])
def test_a_draft_that_its_editor_could_not_show_is_left_out(field, value):
    assert drafts.fitting(DEFAULT, {field: value}) == {}


def test_every_choice_is_told_in_words():
    assert list(drafts.CHOICES["caching"]) == list(CACHING)
    assert len(set(drafts.CHOICES["caching"].values())) == len(CACHING)


def test_a_new_name_alone_is_no_edit():
    assert drafts.edited(DEFAULT, {"name": "mine"}) == []


def test_labels_are_plain_words():
    assert drafts.label("k") == "How many causes"
    assert drafts.label("tags") == "Data in tags"
    assert drafts.label("keep_results") == "Keep the newest … tool results (0 = all)"
    assert drafts.label("steps.label.system") == "label: system prompt"
    assert drafts.label("steps.merge.max_tokens") == "merge: longest reply (tokens)"
    assert drafts.label("tools.tally.description") == "tool tally: description"


def test_a_label_that_begins_in_capitals_keeps_them():
    assert drafts.label("tools.own_1.query") == "tool own_1: SELECT over the product database"
