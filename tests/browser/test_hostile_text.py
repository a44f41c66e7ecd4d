"""Text of strangers in a real browser: every place shows it as it is, and nothing it names is fetched."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.playground import WATCHED

TRAP = ('![i](http://evil.example/y.png) $a$ and $b$ **bold** :material/x: <img src=http://evil.example/z.png '
        'onerror="document.title=1"> http://evil.example/link')
BECAME_MARKUP = """() => [...document.querySelectorAll('img, a, .katex, strong, em')]
    .filter(e => /evil/.test(e.src || e.href || '') || e.matches('.katex') || /bold|evil/.test(e.textContent))
    .map(e => e.outerHTML)"""


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).first.click(delay=60)


def go_to(page: Page, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).first.click(delay=60)


def unfold(page: Page) -> None:
    page.evaluate("() => document.querySelectorAll('details:not([open]) > summary').forEach(s => s.click())")


def test_nothing_that_a_ticket_holds_becomes_markup_or_a_request(page: Page):
    rows = [f'"{TRAP.replace(chr(34), chr(34) * 2)} {n}","charged twice {n}","C {n}"' for n in range(3)]
    go_to(page, "Data")
    file = "\n".join(["id,body,customer", *rows]).encode()
    page.locator("input[type=file]").first.set_input_files(
        {"name": "**own** $x$ $y$.csv", "mimeType": "text/csv", "buffer": file})
    expect(page.get_by_text(re.compile(r"3 tickets of \*\*own\*\* \$x\$ \$y\$\.csv")).first).to_be_visible()
    assert page.evaluate(BECAME_MARKUP) == []
    page.locator('[data-testid="stDataFrame"]').first.hover()
    expect(page.locator('[data-testid="stBaseButton-elementToolbar"]').first).to_be_visible()
    expect(page.get_by_role("button", name="Download as CSV")).to_have_count(0)     # formulas would be live in it
    go_to(page, "Design")
    page.get_by_label("Name of this design").fill(TRAP)
    page.get_by_label("Name of this design").blur()
    go_to(page, "Run")
    press(page, "Run both")
    answer = page.get_by_text(re.compile(r"^The agent sent .* the tokens of the pipeline")).first
    expect(answer).to_be_visible(timeout=60_000)
    for tab in ("Answer", "Checks", "Calls"):
        page.get_by_role("tab", name=tab).click(delay=60)
        unfold(page)
        assert page.evaluate(BECAME_MARKUP) == []
    go_to(page, "Start")
    expect(page.get_by_text("Recent runs")).to_be_visible()
    assert page.evaluate(BECAME_MARKUP) == []


@WATCHED
def test_two_clicks_on_run_start_one_group_and_a_stopped_run_resumes(page: Page):
    page.get_by_role("button", name="Run the sample both ways").first.dblclick()
    agent = page.locator('[class*="st-key-start_head_agent"]')      # the pipeline may end before a click on its Stop
    agent.get_by_role("button", name="Stop").click(delay=60)
    expect(agent.get_by_role("button", name="Resume")).to_be_visible()
    press(page, "Resume")
    expect(agent.get_by_text("done 45 turns")).to_be_visible(timeout=60_000)
    expect(page.locator('[class*="st-key-start_recent_"]')).to_have_count(1)


def test_what_is_typed_is_kept_when_the_next_click_leaves_the_page(page: Page):
    go_to(page, "Design")
    prompt = page.get_by_label("System prompt").first
    expect(prompt).to_have_value(re.compile("label support tickets"))       # the box is in the page before its text is
    prompt.click()
    page.keyboard.press("Control+End")
    page.keyboard.type(" And be quick.")
    go_to(page, "Data")
    go_to(page, "Design")
    expect(page.get_by_label("System prompt").first).to_have_value(re.compile("And be quick\\.$"))
