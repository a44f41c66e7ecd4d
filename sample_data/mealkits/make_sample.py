"""Writes product.db, the meal kits' product database, from the rows below; the same rows give the same bytes.

    python sample_data/mealkits/make_sample.py

tickets.csv and gold.csv come from no script: every ticket was written on its own, with no template and no real mail.
Larkspoon, its customers and all people in the tickets are invented; any likeness is chance.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

PATH = Path(__file__).with_name("product.db")

SCHEMA = """
CREATE TABLE products (
    product_id TEXT PRIMARY KEY, name TEXT NOT NULL, area TEXT NOT NULL);
CREATE TABLE customers (
    customer_id TEXT PRIMARY KEY, name TEXT NOT NULL, plan TEXT NOT NULL, region TEXT NOT NULL,
    monthly_revenue INTEGER);  -- GBP that the household spends a month; NULL: not known
CREATE TABLE incidents (
    incident_id TEXT PRIMARY KEY, product_id TEXT NOT NULL REFERENCES products, started TEXT NOT NULL,
    ended TEXT,  -- UTC; NULL: still open
    title TEXT NOT NULL, detail TEXT NOT NULL);
"""

PRODUCTS = [
    # product_id, name, area
    ("LK-1", "Family Box", "meal kits for four"),
    ("LK-2", "Duo Box", "meal kits for two"),
    ("LK-3", "Green Box", "vegetables, dairy and bread of the week"),
    ("LK-4", "Doorstep Delivery", "packing, cooling and vans"),
    ("LK-5", "App and Website", "choosing meals, skipping weeks, payment"),
    ("LK-6", "Gifts and Credits", "gift cards, codes and rewards"),
]

CUSTOMERS = [
    # customer_id, name, plan, region, monthly_revenue
    ("BX-118-3", "Ros Tindall", "Weekly", "North", 168),
    ("BX-124-7", "Wendeline Schat", "Fortnightly", "East", 74),
    ("BX-131-9", "Gareth Pugh-Lloyd", "Weekly", "West", 248),
    ("BX-142-6", "Priya Ramanathan", "Weekly", "South", 172),
    ("BX-150-4", "Joss Ekwueme", "Weekly", "South", 96),
    ("BX-163-2", "Josephine Attwater", "Weekly", "South", 247),
    ("BX-171-8", "Cornelius Obi", "Fortnightly", "East", 78),
    ("BX-188-5", "Kayleigh Strand", "Weekly", "North", 216),
    ("BX-195-0", "Solène Kerbrat", "Weekly", "South", 255),
    ("BX-202-7", "Hamish McCrindle", "Weekly", "North", 240),
    ("BX-211-4", "Benedikt Sailer", "Weekly", "East", 190),
    ("BX-219-6", "Tola Adeyemi-Holt", "Weekly", "West", 166),
    ("BX-226-8", "Marguerite Lacey-Stone", "Weekly", "East", 181),
    ("BX-233-1", "Lowri Penhallow", "Flexible", "West", 117),
    ("BX-240-2", "Callum Brightwater", "Weekly", "North", 232),
    ("BX-247-5", "Aoife Brannigan-Shaw", "Weekly", "North", 288),
    ("BX-254-9", "Fliss Carrow", "Fortnightly", "West", 88),
    ("BX-261-7", "Ilse Vandermeulen", "Weekly", "East", 156),
    ("BX-268-0", "Dewi and Hanna Prosser", "Weekly", "West", 305),
    ("BX-275-3", "Tomasz Wilk", "Weekly", "North", 251),
    ("BX-282-6", "Rune Aspelund", "Flexible", "East", 80),
    ("BX-289-9", "Oksana Hrytsenko", "Weekly", "South", 174),
    ("BX-296-2", "Marcin Dobek", "Fortnightly", "South", 92),
    ("BX-303-5", "Augustin Fairweather-Boateng", "Weekly", "East", 262),
    ("BX-310-8", "Yusuf Demirel", "Flexible", "North", None),
    ("BX-317-1", "Lars-Erik Tveit", "Weekly", "West", 273),
    ("BX-324-4", "Petra Golightly", "Weekly", "South", 140),
    ("BX-331-0", "Eskil Nordahl", "Fortnightly", "North", 90),
    ("BX-338-3", "Hilde Rasmussen", "Weekly", "South", 269),
    ("BX-345-6", "Aubrey Lockhart-Singh", "Flexible", "East", 61),
    ("BX-204-1", "Imelda Farrow", "Weekly", "South", 259),
    ("BX-352-8", "Noor van Dam", "Weekly", "West", 133),
]

INCIDENTS = [
    # incident_id, product_id, started, ended, title, detail
    ("IN/07", "LK-4", "2026-08-19T05:00Z", "2026-08-19T11:30Z", "Vans late in the North after a road closure",
     "Up to three hours. Everyone was told by text."),
    ("IN/08", "LK-4", "2026-09-08T22:00Z", None, "Cool bags leave the Ryeford hub too warm",
     "Since packing moved to Ryeford the gel packs are frozen for 6 hours, not 24, and one goes into a bag where two "
     "did before. Chilled food is above 8 C on arrival even when a box is on time. More freezers are ordered."),
    ("IN/09", "LK-5", "2026-09-08T23:00Z", "2026-09-21T09:00Z", "Skipped weeks not kept since app release 7.2",
     "Skipping a week shows a tick, but the request is lost before it reaches the order book, so the box is packed, "
     "sent and charged. Website and app alike. Weeks skipped before the fix have to be skipped again."),
    ("IN/10", "LK-6", "2026-09-16T10:00Z", "2026-09-16T12:10Z", "Gift page shows prices in euro",
     "Display only. Charges were right."),
    ("IN/11", "LK-5", "2026-09-24T18:30Z", "2026-09-24T19:05Z", "Website unreachable for half an hour",
     "A load balancer ran out of memory. Orders were not affected."),
]


def write(path: Path = PATH) -> None:
    """Writes the database to `path`, in place of any file there."""
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path)
    try:
        db.execute("PRAGMA page_size = 4096")
        fill(db)
    finally:
        db.close()


def fill(db: sqlite3.Connection) -> None:
    db.executescript(SCHEMA)
    with db:
        db.executemany("INSERT INTO products VALUES (?, ?, ?)", PRODUCTS)
        db.executemany("INSERT INTO customers VALUES (?, ?, ?, ?, ?)", CUSTOMERS)
        db.executemany("INSERT INTO incidents VALUES (?, ?, ?, ?, ?, ?)", INCIDENTS)


if __name__ == "__main__":
    write()
