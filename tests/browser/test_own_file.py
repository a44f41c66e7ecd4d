"""A person brings an export that nobody designed for, puts one column right by hand, and runs both shapes on it."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect
from test_main_job import go_to, press, wait_until_done

# Semicolons, cp1252, odd headers: "Ref. intern" looks like nothing, and the customer is guessed to be the clerk.
EXPORT = "\n".join([
    "Beleg#;Bearbeiter/Kunde;Ref. intern;Was ist los?;Wann",
    "00071;Müller;GÄRT-9;\"Where is my parcel? Tracking has not moved for nine days; it never arrived.\";01.10.2026",
    "00072;Jäger;GÄRT-4;\"My order never arrived. The courier says delivered, the door has nothing.\";02.10.2026",
    "00073;Müller;GÄRT-9;\"My card shows the same amount – 49,90 € – twice for one order.\";02.10.2026",
    "00074;Jäger;GÄRT-2;\"Still waiting for my delivery, the parcel has not arrived after two weeks.\";03.10.2026",
    "00075;Müller;GÄRT-7;\"I was charged two times for one order, please refund one payment.\";03.10.2026",
]).encode("cp1252")


def test_one_column_is_put_right_by_hand_and_the_report_names_its_customers(page: Page):
    go_to(page, "Data")
    page.locator("input[type=file]").first.set_input_files(
        {"name": "auszug.csv", "mimeType": "text/csv", "buffer": EXPORT})
    expect(page.get_by_text(re.compile("5 tickets of auszug.csv")).first).to_be_visible()
    expect(page.get_by_text(re.compile("cp1252")).first).to_be_visible()
    customer = page.get_by_role("combobox", name=re.compile("Customer")).first
    customer.click(delay=60)
    page.get_by_role("option", name="Ref. intern").click(delay=60)
    expect(page.get_by_text("GÄRT-9 · GÄRT-4").first).to_be_visible()
    press(page, "Go without a database")
    expect(page.get_by_text("no product database").first).to_be_visible()
    go_to(page, "Run")
    press(page, "Run both")
    wait_until_done(page)
    expect(page.get_by_text("5 of 5 tickets placed").first).to_be_visible()
    page.get_by_text("Customers, tickets, quotes").first.click(delay=60)
    expect(page.locator("canvas td", has_text="GÄRT-9").first).to_be_attached()      # its picture is a canvas
