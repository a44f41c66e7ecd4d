from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.replies import parse_object

ANSWER = {"cause": "late courier", "evidence": "still not here"}
JSON = '{"cause": "late courier", "evidence": "still not here"}'


@pytest.mark.parametrize("text", [
    JSON,
    f"\n  {JSON}\n",
    f"\ufeff{JSON}",
    f"Here you are:\n\n```json\n{JSON}\n```\nAnything else?",
    f"```\n{JSON}\n```",
    f"```JSON\n{JSON}",
    f"She wrote {{name}} and a stray }} in it, so:\n```sh\necho {{courier}}\n```\n{JSON}\nTell {{me}} more.",
    f'The subject is "late again (never closed)\n{JSON}',
    f"It's the courier's fault: {JSON}",
    f'He typed {{"late"}} in the box. {JSON}',
    f"An empty {{}} came first. {JSON}",
    f"See [1] and [2, 3].\n{JSON}",
    f"{{{JSON}}}",
    f"{JSON}\n\nAgain, to be sure:\n{JSON}",
    f"The request was:\n```bash\ncurl -d '{{\"sku\": \"S-1\"}}'\n```\nand so\n```json\n{JSON}\n```",
    f"```bash\necho '{{\"sku\": $SKU}}'\n```\n{JSON}",
    f"{{note: nothing to add}} {JSON}",
])
def test_prose_fences_and_stray_braces_do_not_hide_the_object(text):
    assert parse_object(text) == ANSWER


def test_a_fence_or_an_escaped_quote_inside_a_string_belongs_to_the_string():
    text = r'{"cause": "pasted ```json\n{\"a\": 1}\n``` twice", "evidence": "a \\"}'
    assert parse_object(text) == {"cause": 'pasted ```json\n{"a": 1}\n``` twice', "evidence": "a \\"}
    assert parse_object(f"So:\n```json\n{text}\n```") == parse_object(text)


@pytest.mark.parametrize("text, value", [
    ('{"a": null}', {"a": None}), ('{"a": 42}', {"a": 42}), ('{"a": "90%"}', {"a": "90%"}),
    ('{"a": true}', {"a": True}), ('{"result": {"a": 1}}', {"result": {"a": 1}}), ("{}", {}),
    ('{"a": "\\ud83d\\ude00"}', {"a": "😀"}), ('{"a": 1.50}', {"a": 1.5}),
])
def test_values_come_as_they_were_written(text, value):
    assert parse_object(text) == value


@pytest.mark.parametrize("text, reason", [
    ("", "empty"),
    (" \n", "empty"),
    ("I cannot tell.", "no JSON object; it starts with 'I cannot tell.'"),
    ("null", "no JSON object"),
    ("{order_no} is a placeholder", "no JSON object"),
    ('{"cause" "late"}', "no JSON object"),
    (f"[{JSON}]", "JSON list"),
    (f"Here: [{JSON}, {JSON}].", "JSON list"),
    ('"late"', "JSON string"),
    (r'"{\"cause\": \"late\"}"', "JSON string"),
    ('First {"cause": "a"}, then {"cause": "b"}.', "2 JSON objects that differ"),
    ('{"cause": "a", "n": 1, "cause": "b"}', "key 'cause' twice"),
    ('{"groups": [{"cause": "a", "cause": "a"}]}', "key 'cause' twice"),
    ("{'cause': 'it\\'s late',}  # python", "double quotes at line 1 column 2, near \"{'cause'"),
    ('{"cause": "late",}', "double quotes at line 1 column 18"),
    ('{\n  "cause": "late" // sure\n}', "at line 2 column 19"),
    ('{"cause": "late", "n": NaN}', "NaN"),
    ('{"n": -Infinity}', "-Infinity"),
    ('{"n": 1e999}', "too large"),
    ('{"n": ' + "9" * 5_000 + "}", "too large: 99999"),
    ('{"cause": "two\nlines"}', "control character at line 1 column 15"),
    (r'{"cause": "\ud83d"}', "surrogate"),
    ('{"cause": "\ud83d"}', "surrogate"),
    ('{"a":' * 100_000, "nested too deeply"),
    ("{“cause”: “late”}", "double quotes"),
])
def test_anything_else_is_refused_with_a_reason(text, reason):
    with pytest.raises(ValueError) as caught:
        parse_object(text)
    assert reason in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("text", [
    '{"groups": [{"cause": "a", "labels": ["x"]}, {"cause": "b"',
    '{"result": {"cause": "a"}, oops}',
    "{result: {\"cause\": \"a\"}}",
    '{ // my answer\n "result": {"cause": "a"} }',
    "{'result': {\"cause\": \"a\"}}",
    'So: {"result": {"cause": "a"}, "summary": "The courier',
    '{"the \\"late\\" ones": {"cause": "a"}, oops}',
    '{"' + "long label " * 100 + '": {"cause": "a"}, oops}',
])
def test_a_piece_of_a_broken_answer_never_passes_for_the_answer(text):
    with pytest.raises(ValueError):
        parse_object(text)


def test_of_several_broken_objects_the_longest_is_the_one_explained():
    with pytest.raises(ValueError, match="key 'cause' twice"):
        parse_object('{note: x} {"cause": "late courier", "cause": "late"} {note: y}')


MEGABYTE = 1_000_000


@pytest.mark.parametrize("text", [
    '{"a": "' + r"x\"" * (MEGABYTE // 3) + '"}',
    '{"a": "' + r"\"" * (MEGABYTE // 2),
    "{" * MEGABYTE, '{"' * (MEGABYTE // 2), "{'" * (MEGABYTE // 2), "[ " * (MEGABYTE // 2), "{ " * (MEGABYTE // 2),
    "{//" * (MEGABYTE // 3), "{" + " " * MEGABYTE, "{aaaaaaaa" * (MEGABYTE // 9), '{"a": x}' * (MEGABYTE // 8),
    '[{"a": 1},' * (MEGABYTE // 10), '{"a": "}' * (MEGABYTE // 8), "lorem {x} " * (MEGABYTE // 10) + JSON,
    "{" + ",".join(f'"{n}": 1' for n in range(90_000)) + ', "89999": 2}',
])
def test_a_megabyte_is_read_in_time_that_grows_with_its_length(text):
    started = time.perf_counter()
    try:
        parse_object(text)
    except ValueError:
        pass
    assert time.perf_counter() - started < 5        # quadratic ones take minutes


JSON_VALUES = st.recursive(st.none() | st.booleans() | st.integers(-2**53, 2**53) | st.text(), lambda inner: (
    st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1), inner, max_size=3)), max_leaves=8)


@given(st.dictionaries(st.text(min_size=1), JSON_VALUES, min_size=1), st.sampled_from(["", "Here: ", "```\n"]))
def test_every_object_is_read_back_as_it_was(value, before):
    assert parse_object(before + json.dumps(value) + "\nDone.") == value


@given(st.text(alphabet='{}[]"\'\\:,/ \nabz1'))
def test_no_text_does_worse_than_a_value_error(text):
    try:
        assert isinstance(parse_object(text), dict)
    except ValueError as error:
        assert str(error)
