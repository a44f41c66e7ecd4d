"""The HTML report: one file that loads nothing, runs nothing, and says honestly what it shows."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from lib.charts import growth_rows
from lib.exports.growth_svg import growth_svg, short, ticks
from lib.exports.page import html_report
from lib.ui.export_story import story
from tests.exports import hostile

ELEMENTS = {"html", "head", "meta", "title", "style", "body", "main", "header", "section", "footer", "div", "span", "p",
            "b", "h1", "h2", "h3", "dl", "dt", "dd", "table", "thead", "tbody", "tr", "th", "td", "article",
            "blockquote", "details", "summary", "ul", "li", "pre", "figure", "figcaption", "svg", "line", "circle",
            "polyline", "text", "tspan"}
VOID = {"meta"}


class Reader(HTMLParser):
    """Collects elements, attributes and shown text, and holds the page to be well formed."""

    def __init__(self, page: str):
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.values: list[str] = []
        self.shown: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.values += [value or "" for _, value in attrs]
        if tag not in VOID and not (tag in ("line", "circle", "polyline") and self.get_starttag_text().endswith("/>")):
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if "style" not in self._open:
            self.shown.append(data)


@pytest.fixture
def page():
    return html_report(story(hostile.facts()))


def test_only_our_own_elements_are_there_and_none_that_runs_or_loads(page):
    found = Reader(page)
    assert found.elements <= ELEMENTS
    assert not {name for name in found.attributes if name.startswith("on")}
    assert not found.attributes & {"src", "href", "style", "srcset", "background", "action", "ping"}
    style = re.search("<style>(.*?)</style>", page, re.DOTALL)[1]
    assert "url(" not in style and "@import" not in style and "http" not in style


def test_a_policy_forbids_everything_but_the_pages_own_style(page):
    policy = re.search('Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy and page.index("Content-Security-Policy") < page.index("<style>")


def test_a_strangers_words_are_shown_as_they_are(page):
    shown = "".join(Reader(page).shown)
    for words in (hostile.FORMULA, hostile.HTML, hostile.MARKDOWN, hostile.QUOTED, "&lt;b&gt;"):
        assert words in shown
    assert "invoice [U+202E]gpj.exe" in shown and "a␀b" in shown and "\u202e" not in page and "\x1b" not in page


def test_the_page_says_who_answered_what_was_asked_and_what_it_took(page):
    shown = "".join(Reader(page).shown)
    for words in ("simulated", "Rules on this machine write the replies, not a model.", "Haiku 5.5",
                  "1,500", "$0.00075", "List prices as of 2026-11-30", "the model said 9", "not in the ticket",
                  "label: system prompt", "tool read_ticket", "3 against 2 tickets"):
        assert words in shown, words


@pytest.mark.parametrize(("fields", "said"), [
    ({"source": "live", "connection": "Anthropic API"}, "Answered live by Anthropic API."),
    ({"source": "server", "connection": "http://localhost:1"}, "a compatible server, http://localhost:1"),
    ({"source": "server", "conditions": "simulated answers"}, "The server says that its answers are simulated."),
    ({"source": "replay", "origin": "live · Anthropic API"}, "Nothing was sent and nothing was paid"),
    ({"source": "live", "origin": "live · recorded 2026-11-12"}, "Opened from a recording: live · recorded 2026"),
    ({"source": "replay", "origin": "simulated · yesterday"}, "First answered: simulated · yesterday."),
    ({"source": "replay", "origin": "simulated · yesterday"}, "Rules on this machine write the replies"),
    ({"conditions": "10 % overloaded"}, "The simulation was told: 10 % overloaded."),
    ({"status": "failed", "error": "the key was refused"}, "pipeline: failed. the key was refused"),
    ({"status": "running"}, "still at work when this was made"),
])
def test_the_source_and_an_early_end_are_told_plainly(fields, said):
    assert said in "".join(Reader(html_report(story(hostile.facts(**fields)))).shown)


def test_replies_that_were_reused_are_told():
    facts = hostile.facts()
    totals = {shape: replace(found, cached=2) for shape, found in facts.totals.items()}
    assert "4 calls of these runs were not sent" in html_report(story(replace(facts, totals=totals)))


@pytest.mark.parametrize("shapes", [("pipeline",), ("agent",)])
def test_one_shape_alone_is_a_whole_report(shapes):
    shown = "".join(Reader(html_report(story(hostile.facts(shapes)))).shown)
    other = {"pipeline": "agent: system prompt", "agent": "label: system prompt"}[shapes[0]]
    assert "3 tickets" in shown or "2 tickets" in shown
    assert other not in shown


def test_runs_without_an_answer_calls_or_data_still_have_a_page():
    facts = hostile.facts(reports={}, status="queued")
    empty = replace(facts, calls={"pipeline": [], "agent": []}, tickets=None,
                    totals={s: replace(t, calls=0, input=None, usd=None, first_started=None)
                            for s, t in facts.totals.items()})
    page = html_report(story(empty))
    assert "No answer yet." in page and "<svg" not in page
    Reader(page)


def test_a_design_of_another_version_leaves_out_only_what_it_cannot_tell():
    facts = hostile.facts()
    runs = [replace(run, design={"k": 5, "name": "old"}) for run in facts.runs]
    page = html_report(story(replace(facts, runs=runs)))
    assert "system prompt" not in page and "The answers" in page


# --- the picture ------------------------------------------------------------------------------------------------------


def test_the_picture_has_a_dot_for_each_call_and_names_both_curves():
    rows = growth_rows({shape: [hostile.call(shape, n) for n in range(1, 6)] for shape in ("pipeline", "agent")})
    picture = growth_svg(rows)
    assert picture.count("<circle") == 10 and picture.count("<polyline") == 2
    assert "Cumulative input tokens. pipeline: 5 calls, 1,500 tokens; agent: 5 calls, 1,500 tokens" in picture


def test_no_picture_where_no_call_reported():
    assert growth_svg(growth_rows({"agent": [hostile.call("agent", 1, fresh=None)]})) == ""


@pytest.mark.parametrize(("most", "expected"), [(672_309, [0, 200_000, 400_000, 600_000]), (46, [0, 10, 20, 30, 40]),
                                                (1, [0, 1]), (3, [0, 1, 2, 3]), (5, [0, 1, 2, 3, 4, 5])])
def test_ticks_are_round(most, expected):
    assert ticks(most) == expected


def test_ticks_have_short_names():
    assert [short(n) for n in (0, 250, 200_000, 2.5e6, 1e9)] == ["0", "250", "200k", "2.5M", "1B"]
