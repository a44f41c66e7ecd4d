"""The Markdown report: a stranger's words never become a link, a picture, a heading, a formula, HTML or a fence."""

import re

import pytest

from lib.exports.markdown import fenced, literal, markdown_report
from lib.ui.export_story import story
from tests.exports import hostile


@pytest.mark.parametrize(("words", "written"), [
    ("plain words, with (brackets)", "plain words, with (brackets)"),
    ("*b* _i_ `c` ~s~", r"\*b\* \_i\_ \`c\` \~s\~"),
    ("[y](z)", r"\[y\](z)"),
    ("![x](y)", r"\!\[x\](y)"),
    ("<script>&lt;", "&lt;script&gt;&amp;lt;"),
    ("# h", r"\# h"), ("- item", r"\- item"), ("+ item", r"\+ item"), ("1. one", r"1\. one"), ("2) two", r"2\) two"),
    ("=== ", r"\==="), ("> q", "&gt; q"), ("$5 and $10", r"\$5 and \$10"), ("a|b", r"a\|b"), ("9.0 s", "9.0 s"),
    ("back\\slash", r"back\\slash"),
    ("one\n# two\n\nthree", r"one \# two three"), ("    indented", "indented"), ("2 tickets", "2 tickets"),
    ("see https://evil.example/?a=1 now", "see `https://evil.example/?a=1` now"),
    ("www.evil.example", "`www.evil.example`"), ("a@b.example", "`a@b.example`"), ("@everyone", "`@everyone`"),
    ("see #12", "see `#12`"), ("javascript:/x`y", "``javascript:/x`y``"), ("mailto:x`", "`` mailto:x` ``"),
])
def test_words_are_written_so_that_they_are_shown_as_they_are(words, written):
    assert literal(words) == written


def test_a_fence_is_longer_than_any_inside():
    assert fenced("a ``` b ```` c").splitlines()[0] == "`````text"
    assert fenced("plain").startswith("```text\n")


@pytest.fixture
def report():
    return markdown_report(story(hostile.facts()))


def prose(report: str) -> str:
    """Without code blocks and code, in which nothing is anything."""
    blocks = re.sub(r"^(`{3,})text\n.*?\n\1$", "", report, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"(?<!\\)(`+)(?!`).*?(?<!`)\1(?!`)", "", blocks)


def test_no_link_picture_or_html_is_live(report):
    outside = prose(report)
    assert "![" not in outside.replace(r"\!\[", "")
    assert not re.search(r"(?<!\\)\]\(", outside)
    assert not re.search(r"https?:|www\.|@", outside)
    assert not re.search(r"<(?!$)", outside)
    assert not re.search(r"(?<!\\)\$", outside)
    assert "\u202e" not in report and "[U+202E]" not in outside.replace(r"\[U+202E\]", "")


def test_only_our_own_headings_are_headings(report):
    headings = [line for line in prose(report).splitlines() if line.startswith("#")]
    assert headings[0].startswith("# Root causes in 4 tickets")
    assert {re.match("#+", line)[0] for line in headings} == {"#", "##", "###"}
    assert [line for line in headings if line.startswith("## ")] == [
        "## What was asked", "## In figures", "## The answers", "## What code checked", "## What every step took",
        "## How it grew", "## Prompts and tools"]


def test_every_row_of_a_table_has_the_columns_of_its_head(report):
    tables = re.findall(r"(?:^\|.*\|\n)+", report, re.MULTILINE)
    assert len(tables) == 4        # figures, the customers of both causes, steps
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1, table


def test_the_figures_and_the_source_are_told(report):
    assert "| input tokens | 1,500 | 1,500 |" in report
    assert "Rules on this machine write the replies, not a model." in report and r"\$0.00075" in report
