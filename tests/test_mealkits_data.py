"""The meal kits are what the sample's README says: another trade, its own ids, clear counts, and deliberate gaps."""

from __future__ import annotations

import csv
import importlib.util
import re
import sqlite3
from collections import Counter
from contextlib import closing
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "sample_data" / "mealkits"

TOP_FIVE = {
    "chilled food arriving warm": 8,
    "skipped week sent and charged": 7,
    "ingredients missing from box": 5,
    "box left at wrong address": 4,
    "credit or voucher not applied": 3,
}
INCIDENTS = {"chilled food arriving warm": "IN/08", "skipped week sent and charged": "IN/09"}

# Words that would hand a reader the cause. Symptoms are allowed.
LABEL_WORDS = {
    "chilled food arriving warm": ["cold chain", "arriving warm", "not kept cold", "refrigerat"],
    "skipped week sent and charged": ["skip was not saved", "skip request", "skipped week", "sent and charged"],
    "ingredients missing from box": ["missing from", "items missing", "ingredients missing", "incomplete"],
    "box left at wrong address": ["wrong address", "wrong house", "misdeliver"],
    "credit or voucher not applied": ["not applied", "voucher not", "credit not"],
    "allergen missing on recipe card": ["allergen"],
    "wish: boxes for one person": ["one person", "feature request"],
}


def read(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def tickets() -> list[dict[str, str]]:
    return read("tickets.csv")


@cache
def gold() -> dict[str, dict[str, str]]:
    return {row["ticket_id"]: row for row in read("gold.csv")}


def query(sql: str) -> list[tuple]:
    with closing(sqlite3.connect(f"file:{FOLDER / 'product.db'}?mode=ro", uri=True)) as db:
        return db.execute(sql).fetchall()


def text(ticket: dict[str, str]) -> str:
    return f"{ticket['subject']}\n{ticket['body']}"


def test_there_are_thirty_one_tickets_in_order_over_four_weeks():
    assert [t["ticket_id"] for t in tickets()] == [f"MK/{n}" for n in range(2041, 2072)]
    assert all(t["subject"] and t["body"] for t in tickets())
    created = [datetime.fromisoformat(t["created_at"]) for t in tickets()]
    assert created == sorted(set(created)) and created[-1] - created[0] < timedelta(weeks=4)


def test_gold_labels_every_ticket_once_and_five_causes_stand_out():
    assert list(gold()) == [t["ticket_id"] for t in tickets()]
    counts = Counter(row["cause"] for row in gold().values())
    assert dict(counts.most_common(5)) == TOP_FIVE and sum(counts.values()) == 31
    assert {n for cause, n in counts.items() if cause not in TOP_FIVE} == {2}


def test_tickets_are_long_and_short():
    sizes = [len(t["body"].split()) for t in tickets()]
    assert min(sizes) < 15 and max(sizes) == 150


def test_ambiguous_tickets_are_flagged_with_the_other_reading():
    ambiguous = {key: row["note"] for key, row in gold().items() if row["ambiguous"] == "1"}
    assert set(ambiguous) == {"MK/2057", "MK/2064", "MK/2069"}
    assert all(note.startswith("Could be") for note in ambiguous.values())


@pytest.mark.parametrize("cause", LABEL_WORDS)
def test_no_ticket_names_its_cause(cause):
    own = [t for t in tickets() if gold()[t["ticket_id"]]["cause"] == cause]
    given_away = [(t["ticket_id"], words) for t in own for words in [cause, *LABEL_WORDS[cause]]
                  if words in text(t).lower()]
    assert own and given_away == []


@pytest.mark.parametrize("cause", TOP_FIVE)
def test_the_tickets_of_a_cause_share_no_phrase_that_gives_it_away(cause):
    own, others = [], set()
    for ticket in tickets():
        words = re.findall(r"\w+", text(ticket).lower())
        phrases = set(zip(words, words[1:], words[2:], strict=False))
        if gold()[ticket["ticket_id"]]["cause"] == cause:
            own.append(phrases)
        else:
            others |= phrases
    seen = Counter(phrase for phrases in own for phrase in phrases - others)
    assert max(seen.values()) <= max(2, len(own) / 2)


def test_the_database_is_what_its_script_writes(tmp_path):
    spec = importlib.util.spec_from_file_location("make_mealkits", FOLDER / "make_sample.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    make.write(tmp_path / "one.db")
    make.write(tmp_path / "two.db")
    assert (tmp_path / "one.db").read_bytes() == (tmp_path / "two.db").read_bytes()
    with closing(sqlite3.connect(tmp_path / "one.db")) as a, closing(sqlite3.connect(FOLDER / "product.db")) as b:
        assert list(a.iterdump()) == list(b.iterdump())


def test_every_incident_belongs_to_a_product_and_ends_after_it_starts():
    assert query("SELECT * FROM incidents WHERE product_id NOT IN (SELECT product_id FROM products)") == []
    assert query("SELECT * FROM incidents WHERE ended <= started") == []


@pytest.mark.parametrize("cause", INCIDENTS)
def test_no_ticket_of_an_explained_cause_came_before_its_incident(cause):
    (started,), = query(f"SELECT started FROM incidents WHERE incident_id = '{INCIDENTS[cause]}'")
    first = min(t["created_at"] for t in tickets() if gold()[t["ticket_id"]]["cause"] == cause)
    assert datetime.fromisoformat(started) < datetime.fromisoformat(first)


def test_the_gaps_are_exactly_the_stated_ones():
    known = {c for c, in query("SELECT customer_id FROM customers")}
    products = {p for p, in query("SELECT name FROM products")}
    strangers = {t["ticket_id"]: t["customer_id"] for t in tickets() if t["customer_id"] not in known}
    assert strangers == {"MK/2058": "", "MK/2068": "BX-999-4"}
    assert {t["product"] for t in tickets()} <= products
    assert query("SELECT customer_id FROM customers WHERE monthly_revenue IS NULL") == [("BX-310-8",)]
    assert {r for r, in query("SELECT DISTINCT region FROM customers")} == {"North", "East", "South", "West"}
    assert len(known) == 32 and len(known - {t["customer_id"] for t in tickets()}) == 3
