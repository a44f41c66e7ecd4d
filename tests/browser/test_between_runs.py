"""The Run page in a real browser: from an answer to its calls, several runs at once, and Back between them."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.playground import WATCHED

ANSWER = re.compile(r"^The agent sent .* the tokens of the pipeline")


def run_in(page: Page) -> str:
    return page.url.partition("run=")[2].partition("&")[0]


def start_another(page: Page, button: str) -> str:
    before = run_in(page)
    page.get_by_role("button", name=button).first.click(delay=60)
    expect(page).not_to_have_url(re.compile(rf"run={before}$" if before else r"^[^?]*/(root)?$"))
    return run_in(page)


def test_a_cause_leads_to_the_call_behind_it(page: Page):
    start_another(page, "Run the sample both ways")
    page.get_by_role("link", name="Run", exact=True).click(delay=60)
    expect(page.get_by_text(ANSWER).first).to_be_visible(timeout=60_000)
    page.get_by_text("Calls behind this").first.click(delay=60)
    table = page.locator('[class*="st-key-behind_calls_"]').first
    expect(table).to_be_visible()
    table.scroll_into_view_if_needed()
    page.wait_for_timeout(500)          # the page has come to rest
    box = table.bounding_box()
    page.mouse.click(box["x"] + 16, box["y"] + 35 + 17, delay=60)       # the first row's box, below the head
    opened = page.locator(".st-key-run_exchange")
    expect(opened.get_by_text(re.compile(r"^label · T-10\d\d · "))).to_be_in_viewport()
    expect(page.get_by_role("tab", name="Calls")).to_have_attribute("aria-selected", "true")


@WATCHED
def test_a_second_run_stands_beside_the_first_and_back_leads_between_them(page: Page):
    first = start_another(page, "Run the sample both ways")
    page.get_by_role("link", name="Run", exact=True).click(delay=60)
    expect(page.get_by_role("button", name="Run both")).to_be_visible()
    page.wait_for_timeout(2_000)        # within two seconds the same again is a double click
    second = start_another(page, "Run both")
    beside = page.locator(".st-key-run_beside")
    expect(beside).to_contain_text("Also running:")
    beside.get_by_role("button", name="Open").click(delay=60)
    expect(page).to_have_url(re.compile(f"run={first}$"))
    expect(beside).to_contain_text("Also running:")
    page.go_back()
    expect(page).to_have_url(re.compile(f"run={second}$"))
    page.go_forward()
    expect(page).to_have_url(re.compile(f"run={first}$"))
    other = page.context.new_page()
    other.goto(page.url.replace(first, second))
    expect(other.get_by_role("button", name="Run both")).to_be_visible(timeout=30_000)
    page.get_by_role("radio", name="Dollars").click(delay=60)
    expect(page.get_by_text("$0").first).to_be_visible()
    assert (run_in(page), run_in(other)) == (first, second), "each window goes on showing its own run"
    expect(page.get_by_text(ANSWER).first).to_be_visible(timeout=60_000)
    other.close()
