"""Writes product.db, the sample's product database, from the rows below; the same rows give the same bytes.

    python sample_data/make_sample.py

tickets.csv and gold.csv come from no script: every ticket was written on its own, with no template and no real mail, to
fit one incident (or none, in the tail). All were then read a second time, for a fair way from the text to the cause
and for times that fit the incident. Where a reader could argue for another cause, gold.csv says ambiguous = 1 and why.
Fernhill, its customers and all people in the tickets are invented; any likeness is chance.
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
    monthly_revenue INTEGER);  -- USD that the customer pays Fernhill a month; NULL: not known
CREATE TABLE incidents (
    incident_id TEXT PRIMARY KEY, product_id TEXT NOT NULL REFERENCES products, started TEXT NOT NULL,
    ended TEXT,  -- UTC; NULL: still open
    title TEXT NOT NULL, detail TEXT NOT NULL);
"""

PRODUCTS = [
    # product_id, name, area
    ("P-10", "Schedule", "booking and calendars"),
    ("P-20", "Invoicing", "invoices and estimates"),
    ("P-30", "Card Payments", "card payments and payouts"),
    ("P-40", "Team Access", "staff accounts, roles and company login"),
    ("P-50", "Reports", "reports and downloads"),
    ("P-60", "Messages", "confirmations and reminders by e-mail and SMS"),
    ("P-70", "Mobile App", "the app for phones and tablets"),
]

CUSTOMERS = [
    # customer_id, name, plan, region, monthly_revenue
    ("C-2041", "Harrow & Tegg Plumbing", "Starter", "UK", 45),
    ("C-2042", "Marisol & Wren Salon", "Team", "US", 129),
    ("C-2043", "Bright Ladder Tutoring", "Business", "UK", 540),
    ("C-2044", "Kessler Haustechnik", "Business", "EU", 465),
    ("C-2045", "Northgate Physio Group", "Enterprise", "UK", 2150),
    ("C-2046", "Lumenfold Dental Partners", "Enterprise", "US", 4880),
    ("C-2047", "Clínica Veterinaria Los Olmos", "Team", "EU", 98),
    ("C-2048", "Atelier Coiffure Delmas", "Starter", "EU", 29),
    ("C-2049", "Muddy Thistle Grooming", "Starter", "US", 29),
    ("C-2050", "Castellan Ridge Property Care", "Enterprise", "UK", 3360),
    ("C-2051", "Tide & Tallow Pools", "Business", "APAC", 310),
    ("C-2052", "Kadenza Music School", "Team", "EU", 115),
    ("C-2053", "Quillfeather Bookkeeping", "Team", "US", None),
    ("C-2054", "Redbrick Driving School", "Team", "UK", 87),
    ("C-2055", "Halden Elektro AS", "Business", "EU", 420),
    ("C-2056", "Sunny Latch Cleaning Co.", "Business", "US", 390),
    ("C-2057", "Banyan Hush Wellness", "Team", "APAC", 140),
    ("C-2058", "Corvid Lock & Key", "Starter", "UK", 19),
    ("C-2059", "Merrowdale Home Health", "Enterprise", "US", 5200),
    ("C-2060", "Vestby Ro Massasje", "Starter", "EU", 29),
    ("C-2061", "Otterwick HVAC Service", "Business", "US", 610),
    ("C-2062", "Pemberlow Nannies", "Team", "UK", 105),
    ("C-2063", "Tui Lane Dental", "Business", "APAC", 355),
    ("C-2064", "Lindqvist Optik", "Team", "EU", 92),
    ("C-2065", "Copperquill Electric", "Enterprise", "US", 6100),
    ("C-2066", "Greenlatch Gardens", "Starter", "UK", 19),
    ("C-2067", "Yarrow Speech Therapy", "Team", "US", 118),
    ("C-2068", "Bayleaf Pest Control", "Team", "APAC", 99),
    ("C-2069", "Tesselle Learning Rooms", "Enterprise", "US", 2940),
    ("C-2070", "Hobnail Roofing", "Team", "US", 149),
    ("C-2071", "Fenwillow Mobile Vets", "Business", "UK", 275),
    ("C-2072", "Brandvik Regnskap", "Starter", "EU", 39),
    ("C-2073", "Papaya Lane Daycare", "Team", "APAC", 88),
    ("C-2074", "Studio Nove Pilates", "Starter", "EU", 29),
    ("C-2075", "Gantry & Sons Lifts", "Business", "UK", 480),
    ("C-2076", "Juniper Row Counselling", "Team", "US", 110),
    ("C-2077", "Sable Point Auto Glass", "Business", "US", 335),
    ("C-2078", "Orlova Language Studio", "Starter", "EU", 19),
    ("C-2079", "Kestrel Bay Home Care", "Enterprise", "APAC", 1780),
    ("C-2080", "Tinderbox Chimney Sweeps", "Starter", "UK", 19),
]

INCIDENTS = [
    # incident_id, product_id, started, ended, title, detail
    ("I-301", "P-50", "2026-09-30T04:00Z", None, "Large extracts end early on the new report workers",
     "A job is cut after 60 s of building, and Job history after 10,000 rows. Some jobs then hand over the part they "
     "have, some hand over nothing and stay in the state 'started'. Small accounts are not affected. Fix in work."),
    ("I-302", "P-10", "2026-10-14T09:20Z", "2026-10-14T10:05Z", "Public booking pages unavailable",
     "A deploy removed a font file that the page waited for. Rolled back."),
    ("I-303", "P-70", "2026-10-20T17:00Z", "2026-10-20T19:30Z", "Push notifications late",
     "Queue backlog of up to 40 minutes. No notification was lost."),
    ("I-304", "P-10", "2026-10-25T01:00Z", "2026-11-11T16:00Z", "Calendar sync kept the summer UTC offset",
     "Events pushed to Google, Outlook/Exchange and Apple calendars carried the offset of the day before the change "
     "to winter time (EU/UK 25 October, US 1 November) and show 60 minutes early. Entries pushed before the fix stay "
     "wrong until they are pushed again. Regions that do not change their clocks are not affected."),
    ("I-305", "P-40", "2026-10-27T04:30Z", "2026-11-13T18:00Z", "SAML signing certificate replaced, trust not updated",
     "The federation service moved to a new signing certificate and a rebuilt trust store, EU/UK first, US from "
     "29 October, late batch 9 November. Tenants whose metadata was once uploaded as a file hold the old certificate "
     "and fail in one direction or the other. Local passwords and sessions already open keep working. Each tenant's "
     "administrator has to import the new metadata."),
    ("I-306", "P-20", "2026-10-30T12:00Z", "2026-10-30T15:40Z", "Invoice preview shows the wrong font",
     "On screen only. Invoices that were sent look as they should."),
    ("I-307", "P-30", "2026-11-03T12:40Z", "2026-11-03T17:45Z", "Card processor slow; second attempt without its key",
     "The processor answered after 60 s and more. The app gave up at 60 s and sent the charge again without the key of "
     "the first attempt, so both were captured, while only the second is on record here. Refunds are made from our "
     "side, in batches."),
    ("I-308", "P-60", "2026-11-05T20:10Z", "2026-11-05T22:00Z", "SMS delays with one US carrier",
     "Carrier maintenance. All texts went out by 22:00."),
    ("I-309", "P-60", "2026-11-07T05:00Z", "2026-11-19T10:00Z", "Outgoing mail moved to new sending addresses",
     "The new IP range has no reputation yet and is missing from the SPF and DKIM records of customers who send from "
     "their own domain. Several mailbox providers delay, reject or junk such mail. The outbox says 'Sent' once "
     "the message has left our servers."),
    ("I-310", "P-10", "2026-11-17T08:00Z", "2026-11-17T15:30Z", "Overview tiles slow for accounts with many staff",
     "A missing index after a migration. Data was correct."),
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
