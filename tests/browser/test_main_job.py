"""The main jobs in a real browser: run the sample, bring other tickets, edit and run again, come back later."""

from __future__ import annotations

import re
from contextlib import closing

from playwright.sync_api import Page, expect

from tests.forked import FRESH
from tests.playground import WATCHED, serve

# Written by someone who never saw the sample: semicolons, cp1252, German headers, ids with leading zeros.
GARDEN_SHOP = "\n".join([
    "Vorgang;Kundennr;Betreff;Nachricht;Eingang",
    "00071;K-9;Paket nicht da;\"Steht seit acht Tagen auf „in Zustellung“, hier ist nichts angekommen.\";01.10.2026",
    "00072;K-4;Where is my parcel;\"Tracking has not moved for nine days; the parcel never arrived.\";02.10.2026",
    "00073;K-9;Zweimal abgebucht;\"Sie haben 49,90 € doppelt abgebucht. Bitte eine Zahlung zurück.\";02.10.2026",
    "00074;K-2;Parcel lost?;\"My order never arrived. The courier says delivered, the door has nothing.\";03.10.2026",
    "00075;K-7;Broken pot;\"The pot came out of the box in three pieces, badly packed.\";03.10.2026",
    "00076;K-3;Charged two times;\"My card shows the same amount twice for one order.\";04.10.2026",
    "00077;K-8;Delivery late;\"Still waiting for my delivery, the parcel has not arrived after two weeks.\";05.10.2026",
]).encode("cp1252")


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).first.click(delay=60)


def go_to(page: Page, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).first.click(delay=60)


def wait_until_done(page: Page) -> None:
    answer = page.get_by_text(re.compile(r"^The agent sent .* the tokens of the pipeline")).first
    expect(answer).to_be_visible(timeout=60_000)


def test_the_first_visitor_of_a_fresh_server_gets_the_start_page(chromium, tmp_path):
    with serve(tmp_path, FRESH) as address, closing(chromium.new_page()) as page:
        page.goto(address)
        expect(page.get_by_role("button", name="Run the sample both ways")).to_be_visible()


def test_from_one_click_to_both_answers_every_call_and_the_chart(page: Page):
    press(page, "Run the sample both ways")
    wait_until_done(page)
    expect(page.get_by_test_id("stVegaLiteChart").first).to_be_visible()
    expect(page.get_by_text("simulated", exact=True).first).to_be_visible()
    go_to(page, "Run")
    expect(page.get_by_text("same tickets and customers in both").first).to_be_visible()
    page.get_by_role("tab", name="Calls").click(delay=60)
    expect(page.get_by_test_id("stDataFrame").first).to_be_visible()
    page.get_by_role("tab", name="Timeline").click(delay=60)
    expect(page.get_by_text(re.compile("up to 8 calls at once")).first).to_be_visible()
    page.set_viewport_size({"width": 800, "height": 1000})
    go_to(page, "Start")
    told = page.locator('[class*="st-key-start_recent_"] [data-testid="stText"]').first
    expect(told).to_contain_text("tickets.csv · default v1")
    assert told.bounding_box()["height"] < 40, "what a recent run was of is one line in a narrow window"


def test_tickets_in_a_shape_nobody_designed_for_are_read_run_and_answered(page: Page):
    go_to(page, "Data")
    page.locator("input[type=file]").first.set_input_files(
        {"name": "tickets oktober.csv", "mimeType": "text/csv", "buffer": GARDEN_SHOP})
    expect(page.get_by_text(re.compile("7 tickets of tickets oktober.csv")).first).to_be_visible()
    expect(page.get_by_text(re.compile("cp1252")).first).to_be_visible()
    go_to(page, "Run")
    press(page, "Run both")
    wait_until_done(page)
    expect(page.get_by_text("7 of 7 tickets placed").first).to_be_visible()
    expect(page.get_by_text("2 tickets", exact=True).first).to_be_visible()     # 00073 and 00076: charged twice


def test_an_edit_beside_the_results_survives_pages_and_a_refresh(page: Page):
    go_to(page, "Run")
    page.get_by_role("tab", name="Prompts & tools").click(delay=60)
    prompt = page.get_by_label("System prompt").first
    expect(prompt).to_have_value(re.compile("label support tickets"))      # the box is in the page before its text is
    edited = prompt.input_value() + "\nUse no more than three words for a cause."
    prompt.fill(edited)
    prompt.blur()
    go_to(page, "Data")
    expect(page.get_by_text("default v1 · edited").first).to_be_visible()
    page.reload()
    go_to(page, "Design")
    expect(page.get_by_label("System prompt").first).to_have_value(edited)


@WATCHED
def test_a_run_goes_on_while_the_person_is_elsewhere_and_after_a_refresh(page: Page):
    press(page, "Run the sample both ways")
    expect(page.get_by_text(re.compile(r"\d+ of 46 calls|turn \d+")).first).to_be_visible()
    go_to(page, "Design")
    expect(page.get_by_label("System prompt").first).to_be_visible()
    page.reload()
    go_to(page, "Run")
    wait_until_done(page)
    expect(page.get_by_text("46 of 46 calls").first).to_be_visible()


@WATCHED
def test_a_stopped_agent_goes_on_from_resume_to_its_answer_without_another_click(page: Page):
    press(page, "Run the sample both ways")
    expect(page.get_by_text(re.compile(r"turn \d+ \(limit 60\)")).first).to_be_visible()
    page.get_by_role("button", name="Stop").last.click(delay=60)
    page.get_by_role("button", name="Resume").last.click(delay=60)
    wait_until_done(page)
    expect(page.get_by_text("45 turns").first).to_be_visible()


def test_a_fault_leaves_its_form_open_and_is_still_there_after_a_refresh(page: Page):
    go_to(page, "Run")
    press(page, "Faults & time")
    field = page.get_by_role("spinbutton", name="Rate limited")
    field.fill("15")
    field.press("Enter")
    told = page.get_by_text("The next run is simulated with: 15 % rate limited.")
    expect(told).to_be_visible()
    expect(field).to_be_visible()
    page.reload()
    expect(told).to_be_visible()
