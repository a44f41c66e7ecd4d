"""The Costs page in a real browser: the pictures are drawn, and each can be taken along as a picture and as numbers."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect


def test_what_a_run_cost_is_drawn_and_can_be_taken_along(page: Page):
    page.get_by_role("button", name="Run the sample both ways").click(delay=60)
    expect(page.get_by_text(re.compile(r"^The agent sent .* the tokens of the pipeline")).first).to_be_visible(
        timeout=60_000)
    page.get_by_role("link", name="Costs", exact=True).click(delay=60)
    expect(page.get_by_text(re.compile("^For the agent “.*” takes least"))).to_be_visible(timeout=60_000)
    charts = page.get_by_test_id("stVegaLiteChart")
    expect(charts).to_have_count(6)     # two pictures have one chart per shape
    page.get_by_text("Dollars", exact=True).click(delay=60)
    cost = re.compile(r"^The agent cost .* of the pipeline; the agent's last turn cost")
    expect(page.get_by_text(cost)).to_be_visible()
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    page.wait_for_timeout(500)          # the charts are drawn to their end: no new one takes the place of this one
    charts.first.hover()
    with page.expect_download() as picture:
        page.get_by_role("button", name=re.compile("^Download as PNG")).first.click(delay=60)
    assert picture.value.suggested_filename.endswith(".png")
    with page.expect_download() as numbers:
        page.get_by_test_id("stDownloadButton").first.get_by_role("button").click(delay=60)
    assert numbers.value.path().read_text("utf-8-sig").replace('"', "").startswith("kind,shape,step,n,amount,total")
