"""What is remembered by content: the same answers as without, and less work."""

from __future__ import annotations

import random

from lib.remember import Known, known, once, remembered
from lib.usage import tokens
from tests.sets import SETS, tickets


def counted(work_done: list):
    def work(text, *more):
        work_done.append((text, *more))
        return len(text)
    return work


def test_a_short_text_is_worked_out_once_and_a_long_one_each_time():
    done = []
    size = remembered(kept=10, longest=3)(counted(done))
    assert [size("abc"), size("abc"), size("abcd"), size("abcd")] == [3, 3, 4, 4]
    assert done == [("abc",), ("abcd",), ("abcd",)]


def test_the_same_message_is_the_same_object_and_keeps_what_was_found():
    done = []
    work, message = counted(done), {"role": "user", "content": "Which causes?"}
    assert known(message) == message and known(message) is known(dict(message))
    assert [once(work, known(message)), once(work, known(message)), once(work, known(message), "other")] == [2, 2, 2]
    assert len(done) == 2


def test_messages_that_differ_in_the_order_of_their_fields_are_kept_apart():
    assert known({"a": 1, "b": 2}) is not known({"b": 2, "a": 1})


def test_a_message_that_is_not_known_is_worked_out_each_time():
    done = []
    assert [once(counted(done), {"a": 1}), once(counted(done), {"a": 1})] == [1, 1] and len(done) == 2
    assert isinstance(known({"a": 1}), Known)


def test_the_tokens_of_a_text_are_those_of_its_sentences():
    mix, whole = random.Random(1), tokens._load_encoding().encode_ordinary
    parts = ["a", "Bc", ". A", "! b", "? I'm", "'s", "'S.", ">\n", "n.", ".\n<", " ", "x. Y", " 5", "é", "'LL", "\n\n"]
    texts = [ticket.body for name in SETS for ticket in tickets(name).tickets]
    texts += ["".join(mix.choices(parts, k=14)) for _ in range(3_000)]
    for text in texts:
        sentences = list(tokens._sentences(text))
        assert "".join(sentences) == text
        assert sum(len(whole(sentence)) for sentence in sentences) == len(whole(text)), text


def test_a_number_counts_by_its_length_only():
    mix, whole = random.Random(1), tokens._load_encoding().encode_ordinary
    parts = ["1", "27", "904", "5555", " 31", "a", ".", "-", "$", "²", "٣", "é", "½", "漢", "ſ", "\n", "'s"]
    for text in ("".join(mix.choices(parts, k=8)) for _ in range(3_000)):
        assert len(whole(tokens._without_figures(text))) == len(whole(text)), text
    assert tokens._without_figures('<ticket id="2041">') == tokens._without_figures('<ticket id="1337">')
