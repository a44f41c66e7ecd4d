"""Files damaged at random, by seed: whatever the bytes, a reader answers with a table or one plain refusal, quickly;
and every ticket whose mark is still in the file is in the table, or the table says that it left rows out."""

import gzip
import io
import json
import random
import time

import pytest
from packing import parquet, workbook, zipped

from lib.errors import UnreadableFile
from lib.tickets import guess_columns, read_table, to_tickets

SLOWEST = 2.0       # seconds for one damaged file of a few kilobytes
BUDGET = 0.4        # seconds for one kind of file
MARKS = [f"MARK{n:03d}" for n in range(40)]
ROWS = [[f"T-{n}", f"Subject {n}, {mark}", f"It {'rattles' * (n % 4)}; says \"no\"\nand {n} more", f"C-{n % 7}"]
        for n, mark in enumerate(MARKS)]
NAMES = ["id", "subject", "body", "customer_id"]


def csv_file(delimiter=",", encoding="utf-8"):
    out = io.StringIO()
    for row in [NAMES, *ROWS]:
        out.write(delimiter.join('"' + cell.replace('"', '""') + '"' for cell in row) + "\r\n")
    return out.getvalue().encode(encoding)


def records():
    return [dict(zip(NAMES, row, strict=True)) for row in ROWS]


LINES = "".join(json.dumps(record) + "\n" for record in records()).encode()
FILES = {
    "a.csv": csv_file(), "b.csv": csv_file(";", "cp1252"), "c.csv": csv_file("\t", "utf-16"), "d.jsonl": LINES,
    "e.json": json.dumps({"tickets": records(), "count": 40}).encode(), "f.xlsx": workbook(Tickets=[NAMES, *ROWS]),
    "g.zip": zipped({"a.csv": csv_file(), "b.jsonl": LINES}), "h.csv.gz": gzip.compress(csv_file(), mtime=0),
    "i.parquet": parquet(**{name: [row[i] for row in ROWS] for i, name in enumerate(NAMES)}),
}
TOKENS = [b'"', b"'", b",", b";", b"\t", b"\n", b"\r", b"\0", b"\xff", b"\xef\xbb\xbf", b"{", b"}", b"[", b"]", b"\\",
          b"<", b"</row>", b"&#0;", b"\x1a", b"=", b'""', b"\xf0\x9f", b"PK\x03\x04", b"\x80" * 9]


def damaged(data: bytes, chance: random.Random) -> bytes:
    """The file after one to four accidents: bytes changed, cut out, doubled, swapped, put in, or the end missing."""
    found = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at, length = chance.randrange(len(found) or 1), chance.choice((1, 1, 2, 9, 80))
        match chance.randrange(6):
            case 0:
                found[at:at + 1] = bytes([chance.randrange(256)])
            case 1:
                del found[at:at + length]
            case 2:
                found[at:at] = found[at:at + length] * chance.choice((1, 2, 30))
            case 3:
                found[at:at] = chance.choice(TOKENS)
            case 4:
                other = chance.randrange(len(found) or 1)
                found[at:at + length], found[other:other + length] = (found[other:other + length],
                                                                      found[at:at + length])
            case 5:
                if chance.random() < 0.3:
                    del found[at:]
    return bytes(found)


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_gives_a_table_or_one_refusal_in_time(name):
    chance, end, tried = random.Random(name), time.monotonic() + BUDGET, 0
    while tried < 10 or (time.monotonic() < end and tried < 2_000):
        data, begun = damaged(FILES[name], chance), time.process_time()
        try:
            table = read_table(name, data)
        except UnreadableFile as error:
            assert name in str(error) and "\n" not in str(error), (name, tried)
        else:
            assert table.rows and all(len(row) == len(table.columns) for row in table.rows), (name, tried)
            found = to_tickets(table, guess_columns(table))
            assert len(found) == len(table.rows) == len({ticket.key for ticket in found.tickets}), (name, tried)
        assert time.process_time() - begun < SLOWEST, (name, tried)
        tried += 1


@pytest.mark.parametrize("name", ["a.csv", "b.csv", "d.jsonl", "e.json"])
def test_no_ticket_is_lost_unsaid(name):
    chance, end, tried = random.Random(name + "marks"), time.monotonic() + BUDGET, 0
    while tried < 10 or (time.monotonic() < end and tried < 2_000):
        data = damaged(FILES[name], chance)
        tried += 1
        try:
            table = read_table(name, data)
        except UnreadableFile:
            continue
        there = {mark for mark in MARKS if mark.encode() in data}
        text = "\n".join((*table.columns, *map("\n".join, table.rows)))
        lost = [mark for mark in there if mark not in text]
        lines = {number for number, line in enumerate(data.splitlines()) for mark in lost if mark.encode() in line}
        assert len(lines) <= table.left_out, (name, tried, lost)
        assert bool(table.left_out) <= bool(table.notes), (name, tried)
