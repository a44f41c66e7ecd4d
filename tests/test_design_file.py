"""Designs as files: what is written is read back exactly, and nothing that is no design gets in."""

from __future__ import annotations

import json
import time
import tomllib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.design import CACHING, OUTPUTS, Design, Limits, Step, ToolText
from lib.design_file import DEEPEST, MOST_BYTES, checked, read, write
from lib.errors import DesignError
from lib.runs.untrusted import Wrong
from lib.task.default_design import STEPS, default_design

DEFAULT = default_design()
FILE = write(DEFAULT)
LABEL = DEFAULT.steps["label"].system

# --- the round trip --------------------------------------------------------------------------------------------------

AWKWARD = st.sampled_from(['"""', "'''", "\\", "\\n", "\r", "\r\n", "\n", " \n", "\t\n", '"', "'", "\x00", "\x7f",
                           "\x1b", "\u2028", "\ufeff", "😀", "ü", "# no comment", "[steps.label]", "k = 3",
                           "{products}"])
PLAIN = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
TEXT = st.lists(st.one_of(AWKWARD, PLAIN), max_size=8).map("".join)
NUMBER = st.integers(-(2**53) + 1, 2**53 - 1)
FLOAT = st.one_of(NUMBER, st.floats(-1e15, 1e15, allow_nan=False))
JSON = st.recursive(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False),
                              TEXT), lambda inner: st.one_of(st.lists(inner, max_size=3),
                                                             st.dictionaries(TEXT, inner, max_size=3)), max_leaves=8)
STEP = st.builds(Step, TEXT, TEXT, NUMBER, TEXT)


def tool(key: str) -> st.SearchStrategy[ToolText]:
    query = TEXT if key.startswith("own_") else st.just("")
    return st.builds(ToolText, st.just(key), TEXT, TEXT, st.dictionaries(TEXT, JSON, max_size=4), st.booleans(), query)


KEYS = st.lists(st.sampled_from(["tally", "read_ticket", "own_1", "own_2", "own_x-y"]), unique=True, max_size=5)
DESIGNS = st.builds(
    Design, name=TEXT, steps=st.fixed_dictionaries(dict.fromkeys(STEPS, STEP)),
    tools=KEYS.flatmap(lambda keys: st.tuples(*map(tool, keys))),
    limits=st.builds(Limits, NUMBER, NUMBER, FLOAT, FLOAT), k=NUMBER, workers=NUMBER, retries=NUMBER,
    parallel_tools=st.booleans(), caching=st.sampled_from(CACHING), tags=st.booleans(), keep_results=NUMBER,
    result_chars=NUMBER, output=st.sampled_from(OUTPUTS))


@settings(max_examples=200, deadline=None)
@given(DESIGNS)
def test_any_design_is_read_back_as_it_was_written(design: Design):
    found = read(write(design).encode())
    assert found.design == design and found.design.version == design.version and found.unknown == ()
    assert json.dumps(found.design.to_dict()) == json.dumps(design.to_dict()), "also in the order that models read"


@settings(max_examples=50, deadline=None)
@given(DESIGNS)
def test_json_as_a_design_gives_it_is_read_too(design: Design):
    found = read(json.dumps(design.to_dict()).encode())
    assert found.design == design and found.design.version == design.version


def test_a_file_that_a_windows_editor_saved_is_the_same_design():
    assert read(b"\xef\xbb\xbf" + FILE.replace("\n", "\r\n").encode()).design == DEFAULT


def test_prompts_stand_in_the_file_as_they_read():
    assert LABEL in FILE and f"version {DEFAULT.version}" in FILE.split("\n")[1]
    with_path = DEFAULT.with_step("label", system='Paths like C:\\temp\nand """quotes"""')
    assert 'C:\\temp\nand """quotes"""' in write(with_path)


def test_blanks_at_the_end_of_a_line_survive_an_editor_that_strips_them():
    design = DEFAULT.with_step("label", system="one  \ntwo\t\nthree ")
    stripped = "\n".join(line.rstrip() for line in write(design).split("\n"))
    assert read(stripped.encode()).design == design


def test_what_a_file_leaves_out_is_as_usual():
    usual = ("output =", "effort =", "keep_results =", "max_usd =", "format =")
    short = "\n".join(line for line in FILE.split("\n") if not line.startswith(usual))
    assert short != FILE and read(short.encode()).design == DEFAULT


def test_a_limit_in_whole_dollars_or_seconds_is_the_same_limit():
    whole = FILE.replace("max_usd = 5.0", "max_usd = 5").replace("max_seconds = 1800.0", "max_seconds = 1800")
    assert whole != FILE and write(read(whole.encode()).design) == FILE
    assert Limits(max_usd=5) == Limits(max_usd=5.0) and Design.from_dict(
        {**DEFAULT.to_dict(), "limits": {"max_usd": 5, "max_seconds": 1800}}).version == DEFAULT.version


def test_half_a_character_is_not_written():
    with pytest.raises(DesignError, match="half a character"):
        write(replace(DEFAULT, name="\ud800"))


# --- what is no design -----------------------------------------------------------------------------------------------


def line_of(text: str, start: str, nth: int = 1) -> int:
    return [n for n, line in enumerate(text.split("\n"), 1) if line.startswith(start)][nth - 1]


@pytest.mark.parametrize(("old", "new", "said", "at"), [
    ("k = 5", "k = true", "k: true stands where a whole number should", ("k =", 1)),
    ("k = 5", 'k = "5"', 'k: the text "5" stands where a whole number should', ("k =", 1)),
    ("k = 5", "k = 5.0", "k: 5.0 stands where a whole number should", ("k =", 1)),
    ("k = 5", f"k = {2**53}", "k: 9007199254740992 is not possible", ("k =", 1)),
    ("tags = true", "tags = 1", "tags: 1 stands where true or false should", ("tags =", 1)),
    ('name = "default v1"', "name = 1979-05-27", "name: 1979-05-27 stands where text should", ("name =", 1)),
    ('name = "default v1"', f'name = "{"n" * 1_001}"', "name: it has 1,001 characters", ("name =", 1)),
    ('caching = "off"', 'caching = "often"', 'caching: the text "often" is not one of', ("caching =", 1)),
    ('output = "ask"', 'output = ""', 'output: the text "" is not one of', ("output =", 1)),
    ("max_usd = 5.0", "max_usd = nan", "limits, max_usd: nan is not possible", ("max_usd =", 1)),
    ("max_usd = 5.0", "max_usd = inf", "limits, max_usd: inf is not possible", ("max_usd =", 1)),
    ("max_tokens = 8192", "max_tokens = []", "max_tokens: a list stands where a whole", ("max_tokens", 3)),
    ('key = "tally"', 'key = "read_ticket"', 'tools 7, key: the text "read_ticket" is the key of a tool', ("key", 7)),
    ('key = "tally"', 'key = "a.b"', "tools 7, key: the text \"a.b\" is no key", ("key", 7)),
    ('key = "tally"', 'key = "tally"\nquery = "SELECT 1"', "tools 7, query: only a tool of one's own", ("query", 1)),
    ('"type": "object"', '"type": "object",,', "tools 1, input_schema: not JSON yet", ("input_schema", 1)),
    ('"type": "object"', '"type": 1e999', "1e999 is no JSON number", ("input_schema", 1)),
    ("format = 1", "format = 2", "format: it has the format 2, this version reads 1", ("format", 1)),
])
def test_a_field_of_the_wrong_kind_is_named_with_its_line(old: str, new: str, said: str, at: tuple[str, int]):
    text = FILE.replace(old, new, 1)
    assert text != FILE
    with pytest.raises(DesignError) as caught:
        read(text.encode())
    assert said in str(caught.value) and f"(line {line_of(text, *at)})" in str(caught.value)


@pytest.mark.parametrize(("old", "new", "said"), [
    ("[steps.merge]", "[steps.marge]", "steps: they are not label, merge, summary, agent"),
    ("[limits]", "[[limits]]", "limits: a list stands where an object should"),
    ("k = 5", "k = 5\nk = 6", "it is no TOML: cannot overwrite a value (at line 7"),
    ("k = 5", "k = 0x" + "f" * 50_000, "a number in it has too many digits"),
    ("k = 5", "k = " + "9" * 5_000, "a number in it has too many digits"),
    ("k = 5", "k = " + "[" * 50_000, "nested too deeply"),
    ("k = 5", "k" + ".a" * 50_000 + " = 5", "a name with more than three dots"),
])
def test_a_file_that_no_design_can_be_made_of_is_one_line(old: str, new: str, said: str):
    with pytest.raises(DesignError) as caught:
        read(FILE.replace(old, new, 1).encode())
    assert said in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(("data", "said"), [
    (b"", 'the field "name" is missing'), (b"[1, 2]", "it is no TOML"), (b"{}", 'the field "name" is missing'),
    (b"\xff\xfe\x00", "no text in UTF-8"), (b'{"k": 5,}', "it is no JSON from line 1"), (b"{\"k\": NaN}", "NaN"),
    (b'{"k": 1, "k": 2}', 'the name "k" stands twice'), (b"x" * (MOST_BYTES + 1), "larger than 2 MB"),
    (FILE[:3_000].encode(), "it is no TOML"), (b'{"a":' * 5_000, "nested"),
    (json.dumps({**DEFAULT.to_dict(), "name": "\ud800"}).encode(), "name: half a character"),
    (json.dumps({**DEFAULT.to_dict(), "tools": [{"key": 5}]}).encode(), "tools"),
    (json.dumps({**DEFAULT.to_dict(), "tools": [vars(DEFAULT.tools[0]) | {"key": f"own_{n}"} for n in range(201)]}
                ).encode(), "tools: there are 201, 200 are the limit"),
])
def test_bytes_that_are_no_design_are_one_line(data: bytes, said: str):
    with pytest.raises(DesignError) as caught:
        read(data)
    assert said in str(caught.value)


def test_a_schema_that_is_nested_too_deeply_is_refused():
    deep = {"type": "object"}
    for _ in range(DEEPEST):
        deep = {"not": deep}
    with pytest.raises(DesignError, match="tools 1, input_schema: nested deeper than 50 levels"):
        read(write(DEFAULT.with_tool("list_tickets", input_schema=deep)).encode())


@pytest.mark.parametrize("bomb", ["a." * 500_000 + "a = 1", "x = {" + '"a".' * 200_000 + "a = 1}", '""" "\\' * 200_000,
                                  "'''" + "''" * 500_000, "[" * 1_000_000, '"\\' * 500_000, "a" * 1_000_000])
def test_a_file_made_to_keep_the_parser_busy_is_refused_at_once(bomb: str):
    began = time.monotonic()
    with pytest.raises(DesignError):
        read(bomb.encode())
    assert time.monotonic() - began < 10


def test_unknown_fields_are_left_out_and_told():
    text = FILE.replace("k = 5", "k = 5\ncolour = 3").replace("[steps.merge]", "[steps.merge]\ntemperature = 1")
    text += "strict = true\n[steps.review]\nmodel = 'm'\n[limits.more]\n"
    tomllib.loads(text)
    found = read(text.encode())
    assert found.design == DEFAULT
    assert set(found.unknown) == {"colour", "steps.merge.temperature", "tools 7.strict", "steps.review", "limits.more"}


def test_a_design_with_problems_is_read_for_the_page_to_show_them():
    design = replace(DEFAULT, k=0).with_tool("tally", name="no good name").with_step("label", system="", max_tokens=-1)
    assert read(write(design).encode()).design == design


@pytest.mark.parametrize("content", [{}, {**DEFAULT.to_dict(), "k": "many"}, {**DEFAULT.to_dict(), "more": 1},
                                     {**DEFAULT.to_dict(), "steps": {}}, {**DEFAULT.to_dict(), "tools": "all"}])
def test_what_a_stranger_stored_as_a_design_is_held_against_the_same_rules(content):
    with pytest.raises(Wrong):
        checked(content)
