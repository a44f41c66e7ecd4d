from __future__ import annotations

import datetime
import json
import sqlite3
import uuid
from collections import namedtuple
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lib.tool_results import MAX_CHARS, as_text


class Plan(Enum):
    PRO = "pro"


@dataclass
class Customer:
    id: str
    since: datetime.date


def data_in(value):
    """What a strict JSON reader finds in the text, which has to be valid UTF-8."""
    text = as_text(value)
    text.encode("utf-8")
    return json.loads(text, parse_constant=pytest.fail)


@pytest.mark.parametrize("value", [None, "", " \n\t", b"", bytearray()])
def test_nothing_is_said_to_be_nothing(value):
    assert as_text(value) == "(empty result)"


@pytest.mark.parametrize("value, text", [
    ("4 left", "4 left"),
    ('{"left": 4}', '{"left": 4}'),
    ("Körper 😀", "Körper 😀"),
    ("half \ud83d", "half \ufffd"),
    ("pair \ud83d\ude00", "pair 😀"),
    (b"caf\xc3\xa9", "café"),
    (b"\xff\xfeabc", "(5 bytes of binary data)"),
    (b"\x89PNG\x00" + bytes(200_000), "(200,005 bytes of binary data)"),
    (Decimal("19.90"), "19.90"),
    (datetime.datetime(2026, 10, 1, 8), "2026-10-01T08:00:00"),
    (datetime.timedelta(hours=2), "2:00:00"),
    (Path("a/b"), "a/b"),
    (uuid.UUID(int=7), "00000000-0000-0000-0000-000000000007"),
    (Plan.PRO, "pro"),
])
def test_a_single_value_is_plain_text(value, text):
    assert as_text(value) == text


@pytest.mark.parametrize("value, data", [
    (True, True), (0, 0), ([], []), ({}, {}),
    (float("nan"), None), (Decimal("NaN"), None), (pd.NaT, None), (pd.NA, None), (np.float32("nan"), None),
    ({"price": float("inf"), "low": Decimal("-Infinity")}, {"price": "infinity", "low": "-infinity"}),
    ({"n": np.int64(7), "b": np.bool_(True), "a": np.arange(3), "z": np.zeros((2, 1))},
     {"n": 7, "b": True, "a": [0, 1, 2], "z": [[0.0], [0.0]]}),
    ({"at": np.datetime64("2026-10-01T08:00:00.000000000"), "never": np.datetime64("NaT")},
     {"at": "2026-10-01T08:00:00.000000000", "never": None}),
    ({"when": datetime.date(2026, 10, 1), "price": Decimal("1.10"), "tags": {"b", "a"}, (1, 2): "tuple key"},
     {"when": "2026-10-01", "price": "1.10", "tags": ["a", "b"], "(1, 2)": "tuple key"}),
    ({"mixed": {1, "a"}}, {"mixed": [1, "a"]}),
    ({1: "number", "1": "text"}, {"1": "number", "'1'": "text"}),
    ((n * n for n in range(3)), [0, 1, 4]),
    ({"a": 1}.keys(), ["a"]),
    ([Customer("C-1", datetime.date(2026, 1, 2))], [{"id": "C-1", "since": "2026-01-02"}]),
    (namedtuple("Row", "id left")("S-1", 4), {"id": "S-1", "left": 4}),
    ({"raw": b"\xff\xff", "half": "\ud83d", "\ud83d": 1},
     {"raw": "(2 bytes of binary data)", "half": "\ufffd", "\ufffd": 1}),
    (pd.DataFrame({"sku": ["0071", None], "at": pd.to_datetime(["2026-10-01", None]), "n": [1.5, float("nan")]}),
     [{"sku": "0071", "at": "2026-10-01T00:00:00", "n": 1.5}, {"sku": None, "at": None, "n": None}]),
    (pd.DataFrame([[1, 2]], columns=["n", "n"]), [{"n (column 1)": 1, "n (column 2)": 2}]),
    (pd.Series({"C-1": 3, "C-2": 4}, name="tickets"), [{"index": "C-1", "tickets": 3}, {"index": "C-2", "tickets": 4}]),
])
def test_everything_else_is_strict_json(value, data):
    assert data_in(value) == data


def test_a_database_row_keeps_its_column_names():
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    assert data_in(connection.execute("select 'S-1' as sku, x'ff00' as picture").fetchall()) == [
        {"sku": "S-1", "picture": "(2 bytes of binary data)"}]


def test_a_cycle_and_endless_nesting_are_said_and_not_followed():
    cycle: dict = {"name": "loop"}
    cycle["self"] = cycle
    nested: list = []
    for _ in range(100_000):
        nested = [nested]
    assert data_in(cycle) == {"name": "loop", "self": "(a cycle: this value contains itself)"}
    assert "nested deeper than 40 levels" in as_text(nested)


def test_the_same_value_twice_is_no_cycle():
    shared = {"left": 4}
    assert data_in([shared, shared]) == [shared, shared]


# --- the cap ---------------------------------------------------------------------------------------------------------


def test_a_long_text_is_cut_and_says_so():
    text = as_text("x" * 3_000_000)
    assert text.startswith("x" * MAX_CHARS + "\n(cut: only the first 20,000 of 3,000,000 characters are shown")
    assert len(text) < MAX_CHARS + 200


def test_a_text_at_the_cap_is_whole():
    assert as_text("x" * MAX_CHARS) == "x" * MAX_CHARS


def test_thousands_of_rows_are_cut_to_whole_rows_and_the_total_is_said():
    rows = [{"sku": f"{n:05d}", "name": f"Part {n}"} for n in range(5_000)]
    shown, note = as_text(rows).split("\n")
    kept = json.loads(shown)
    assert kept == rows[:len(kept)] and 400 < len(kept) < 600 and len(shown) <= MAX_CHARS
    assert note == f"(cut: only the first {len(kept)} of 5,000 rows are shown; ask for fewer at a time)"


def test_a_table_is_cut_like_rows():
    shown, note = as_text(pd.DataFrame({"n": range(100_000)})).split("\n")
    assert json.loads(shown)[:2] == [{"n": 0}, {"n": 1}] and "of 100,000 rows" in note


def test_one_wide_value_does_not_hide_the_others():
    data = data_in({"sku": "00017", "manual": "Turn the screw. " * 65_536, "left": 4})
    assert data["left"] == 4
    assert data["manual"].endswith("… (cut: 1,048,576 characters)") and len(data["manual"]) < 1_100


def test_a_value_below_the_cap_keeps_its_long_strings():
    body = "word " * 3_000
    assert data_in({"body": body}) == {"body": body}


def test_rows_without_end_and_values_that_multiply_are_cut():
    bush: list = ["leaf"]
    for _ in range(30):
        bush = [bush] * 10          # 10 to the 30th leaves, thirty lists in memory
    assert "of more rows are shown" in as_text(count())
    assert "(cut: " in as_text(bush) and len(as_text({"bush": bush})) < MAX_CHARS + 200
