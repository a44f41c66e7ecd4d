"""The HTML report in a real browser: it asks for nothing, runs nothing, and keeps its look under its own policy."""

import pytest

from lib.exports.page import html_report
from lib.ui.export_story import story
from tests.exports import hostile


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 800, 390])
def test_the_page_asks_for_nothing_but_itself_and_nothing_sticks_out(chromium, tmp_path, width, scheme):
    file = tmp_path / "report.html"
    file.write_text(html_report(story(hostile.facts())), encoding="utf-8")
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.goto(file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    look = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert look == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 28)"}[scheme]     # the style was let through
    assert asked == [file.as_uri()] and said == []
    context.close()
