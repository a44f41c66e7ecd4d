"""The design studio in a real browser: edits outlive every page, a run names its version, and wrong ones are caught."""

from __future__ import annotations

import json
import re

from playwright.sync_api import Locator, Page, expect

PAGES = ("Start", "Data", "Run", "Costs", "History")
TOOL = ".st-key-design_tool_get_customer"
ANSWER = re.compile(r"^The agent sent .* the tokens of the pipeline")
VERSION = re.compile(r"[0-9a-f]{10}")


def press(page: Page | Locator, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).first.click(delay=60)


def go_to(page: Page, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).first.click(delay=60)


def open_design(page: Page) -> None:
    go_to(page, "Design")
    expect(page.get_by_role("button", name="Add a tool of your own")).to_be_visible(timeout=30_000)
    settled(page)


def settled(page: Page) -> None:
    """The page is drawn to its end: what lies below no longer moves under the mouse."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    page.wait_for_timeout(500)


def field(place: Page | Locator, label: str) -> Locator:
    return place.get_by_role("textbox", name=label, exact=True)


def opened_tool(page: Page, place: str = TOOL) -> Locator:
    """The editor of a tool, with its fields in sight."""
    tool = page.locator(place)
    if not field(tool, "Description").is_visible():
        tool.locator("summary").click(delay=60)
    expect(field(tool, "Description")).to_be_visible()
    return tool


def edit(box: Locator, text: str) -> None:
    box.fill(text)
    box.blur()


def versions(page: Page) -> list[str]:
    return VERSION.findall(page.locator(".st-key-design_open_design").inner_text())


def run_both(page: Page) -> None:
    page.get_by_role("button", name="Run both").first.click(delay=60)
    expect(page.get_by_text(ANSWER).first).to_be_visible(timeout=90_000)


def test_an_edited_description_outlives_every_page_and_its_run_names_the_new_version(page: Page):
    go_to(page, "Run")
    run_both(page)
    open_design(page)
    box = field(opened_tool(page), "Description")
    edit(box, box.input_value() + " It returns null for a customer that is not in the database.")
    line = page.locator(".st-key-design_open_design")
    expect(line).to_contain_text("edited since: tool get_customer description")
    before, after = versions(page)
    for name in PAGES:
        go_to(page, name)
        expect(page.locator(".st-key-status_line")).to_contain_text("default v1 · edited")
    open_design(page)
    expect(field(opened_tool(page), "Description")).to_have_value(re.compile("not in the database"))
    assert versions(page) == [before, after]
    go_to(page, "Run")
    expect(page.locator(".st-key-run_shown")).to_contain_text(before)
    run_both(page)
    expect(page.locator(".st-key-run_shown")).to_contain_text(after)
    changes = page.locator(".st-key-run_changes")
    expect(changes).to_contain_text("tool get_customer: description")
    expect(changes).to_contain_text("not in the database")


def test_five_edits_in_a_row_are_kept_and_saved_as_one_design(page: Page):
    open_design(page)
    line, box = page.locator(".st-key-design_open_design"), field(page, "System prompt").first
    expect(line).to_contain_text("the default")
    seen = versions(page)
    for number in range(1, 6):
        edit(box, f"Label it, {number}. Answer with JSON only: {{\"cause\": …, \"evidence\": …}}")
        expect(line).to_contain_text("edited since: label prompt")
        expect(line).not_to_contain_text(seen[-1]) if number > 1 else None
        expect(box).to_have_value(re.compile(f"Label it, {number}"))
        seen.append(versions(page)[-1])
    assert len(set(seen)) == 6
    page.locator(".st-key-design_library").get_by_role("button", name="Save").click(delay=60)
    edit(page.get_by_test_id("stPopoverBody").get_by_role("textbox", name="Name"), "Five **edits**")
    press(page.get_by_test_id("stPopoverBody"), "Save")
    expect(line).to_contain_text("Five **edits**")
    expect(line).to_contain_text(seen[-1])
    page.reload()
    expect(line).to_contain_text("Five **edits**", timeout=30_000)
    expect(field(page, "System prompt").first).to_have_value(re.compile("Label it, 5"))


def test_a_tool_of_ones_own_is_added_tried_and_removed_and_comes_back(page: Page):
    open_design(page)
    press(page, "Add a tool of your own")
    tool = page.locator(".st-key-design_tool_own_1")
    shown = field(tool, "Schema of the arguments (JSON)")
    expect(shown).to_be_visible()
    told = json.loads(shown.input_value())["properties"]["customer_id"]["description"]
    field(tool, "customer_id").fill(re.search(r"such as (\S+)\.$", told)[1])
    press(tool, "Try it")
    expect(tool.get_by_text("✓ 1 row")).to_be_visible()
    edit(field(tool, "SELECT over the product database"), "SELECT * FROM nobody WHERE x = :customer_id")
    expect(tool.get_by_text("no such table: nobody").first).to_be_visible()
    expect(field(tool, "Description")).to_be_visible()      # it stayed open
    press(tool, "Remove")
    expect(tool).to_have_count(0)
    press(page, "Undo remove")
    expect(field(opened_tool(page, ".st-key-design_tool_own_1"), "SELECT over the product database")).to_have_value(
        re.compile("nobody"))


def test_an_exported_design_is_imported_as_the_same_version(page: Page, tmp_path):
    open_design(page)
    edit(field(page, "System prompt").first, 'Wörtlich:\n""" C:\\temp \nJSON {"cause": "…", "evidence": "…"} ')
    line = page.locator(".st-key-design_open_design")
    expect(line).to_contain_text("edited since: label prompt")
    version = versions(page)[-1]
    page.locator(".st-key-design_library").get_by_role("button", name="File").click(delay=60)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export as it stands here").click(delay=60)
    kept = tmp_path / download.value.suggested_filename
    download.value.save_as(kept)
    assert version in kept.name and kept.suffix == ".toml"
    page.keyboard.press("Escape")
    press(page, "Revert")
    expect(line).not_to_contain_text(version)
    page.locator(".st-key-design_library").get_by_role("button", name="File").click(delay=60)
    page.get_by_test_id("stPopoverBody").locator("input[type=file]").set_input_files(kept)
    expect(page.get_by_text(re.compile("is open. It is not saved yet."))).to_be_visible()
    assert versions(page) == [version]
