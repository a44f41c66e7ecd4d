"""A story as one self-contained HTML page: no script, nothing loaded from anywhere, and a policy that forbids both.

Everything that is not ours is escaped, and characters that deceive the eye are written so that they can be seen.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterable

from lib.exports.growth_svg import growth_svg
from lib.exports.page_style import STYLE
from lib.exports.story import Checked, Folded, Pair, Quote, Sheet, Story, Told
from lib.tickets.visible import visible

POLICY = "default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'"


def html_report(story: Story) -> str:
    """The whole page. It looks right on a screen, in the dark and on paper."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    parts = (_head(story), _section("What was asked", _asked(story)), _section("In figures", _figures(story)),
             _section("The answers", _answers(story)), _section("What code checked", _checks(story)),
             _section("What every step took", _sheet(story.steps) if story.steps else ""),
             _section("How it grew", _growth(story)),
             _section("Prompts and tools", "".join(map(_folded, story.prompts))), _foot(story))
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY.format(style=digest)}">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">'
            f"<title>{text(story.title)}</title><style>{STYLE}</style></head>"
            f'<body><main class="{"two" if len(story.shapes) > 1 else "one"}">{"".join(parts)}</main></body></html>\n')


def text(words: str) -> str:
    """Escaped for HTML, in an element or in a quoted attribute."""
    return html.escape(visible(words).replace("\0", "␀"), quote=True)


def _section(title: str, content: str) -> str:
    return f"<section><h2>{title}</h2>{content}</section>" if content else ""


def _head(story: Story) -> str:
    badges = "".join(f'<span class="badge">{text(badge)}</span>' for badge in story.badges)
    sentence = f'<p class="sentence">{text(story.sentence)}</p>' if story.sentence else ""
    source = "".join(f"<p>{text(line)}</p>" for line in story.source)
    notes = "".join(f'<p class="note">{text(line)}</p>' for line in story.notes)
    return (f'<header><p class="made">{text(story.made)}{badges}</p><h1>{text(story.title)}</h1>{sentence}'
            f'<div class="source">{source}</div>{notes}</header>')


def _asked(story: Story) -> str:
    lines = "".join(f"<div><dt>{text(what)}</dt><dd>{text(how)}</dd></div>" for what, how in story.asked)
    return f"<dl>{lines}</dl>"


def _figures(story: Story) -> str:
    dots = {shape: f'<span class="dot {shape}"></span>' for shape in story.shapes}
    return f'<div class="narrow">{_sheet(story.figures, dots)}</div>'


def _sheet(sheet: Sheet, heads: dict[str, str] | None = None) -> str:
    def cell(tag: str, at: int, words: str, mark: str = "") -> str:
        figure = ' class="figure"' if at >= sheet.figures else ""
        return f"<{tag}{figure}>{mark}{text(words)}</{tag}>"
    head = "".join(cell("th", at, name, (heads or {}).get(name, "")) for at, name in enumerate(sheet.head))
    rows = "".join(f"<tr>{''.join(cell('td', at, words) for at, words in enumerate(row))}</tr>" for row in sheet.rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


# --- answers ----------------------------------------------------------------------------------------------------------


def _answers(story: Story) -> str:
    if not story.pairs:
        return "<p>No answer yet.</p>"
    heads = "".join(f'<p class="shape {shape}">{shape}</p>' for shape in ("pipeline", "agent") if shape in story.shapes)
    split = any(not pair.same for pair in story.pairs)
    return (f'<div class="heads">{heads}</div>' if split else "") + "".join(
        _pair(number, pair, story.shapes) for number, pair in enumerate(story.pairs, start=1))


def _pair(number: int, pair: Pair, shapes: tuple[str, ...]) -> str:
    if pair.same and pair.left and pair.right:
        return f'<div class="pair both">{_both(number, pair.left, pair.right)}</div>'
    sides = {"pipeline": pair.left, "agent": pair.right}
    differs = f'<p class="differs">{text(pair.differs)}</p>' if pair.differs else ""
    cards = "".join(_card(number, sides[shape]) if sides[shape] else '<div class="card none"></div>'
                    for shape in sides if shape in shapes)
    return f'<div class="pair">{cards}{differs}</div>'


def _card(number: int, told: Told) -> str:
    return f'<article class="card {told.shape}">{_cause(number, told)}</article>'


def _both(number: int, left: Told, right: Told) -> str:
    """One card where both shapes found the same tickets and customers; what they wrote stands side by side."""
    name = left.name if left.name == right.name else f"{left.name} (the agent: {right.name})"
    claimed = "".join(_claimed(told) for told in (left, right))
    if left.summary == right.summary:
        summaries = _summary(left)
    else:
        told = "".join(f'<div class="{told.shape}"><p class="who">{told.shape}</p>{_summary(told)}</div>'
                       for told in (left, right) if told.summary)
        summaries = f'<div class="sides">{told}</div>'
    return (f'<article class="card same">{_title(number, name, left.count, "both shapes")}{claimed}'
            f'<p class="customers">{text(left.customers)}</p>{summaries}'
            f'<div class="quotes">{_quotes((*left.quotes, *right.quotes))}</div>{_details(left)}</article>')


def _cause(number: int, told: Told) -> str:
    return (f'{_title(number, told.name, told.count)}{_claimed(told)}<p class="customers">{text(told.customers)}</p>'
            f"{_summary(told)}{_quotes(told.quotes)}{_details(told)}")


def _title(number: int, name: str, count: str, badge: str = "") -> str:
    shown = f'<span class="badge good">{badge}</span>' if badge else ""
    return (f'<h3><span class="rank">{number}</span> <span class="cause">{text(name)}</span>{shown}'
            f'<span class="count">{text(count)}</span></h3>')


def _claimed(told: Told) -> str:
    return f'<p class="note">{text(f"{told.shape}: {told.claimed}")}</p>' if told.claimed else ""


def _summary(told: Told) -> str:
    return f'<p class="words">{text(told.summary)}</p>' if told.summary else ""


def _quotes(quotes: Iterable[Quote]) -> str:
    return "".join(map(_quote, quotes))


def _quote(quote: Quote) -> str:
    kind, why = ("found", "") if quote.found else ("missing", " · not in the ticket")
    return (f'<blockquote class="{kind}"><p class="words">{text(quote.text)}</p>'
            f"<footer>{text(quote.ticket)}{why}</footer></blockquote>")


def _details(told: Told) -> str:
    lines = "".join(f'<p class="names"><b>{text(what)}</b> {text(names)}</p>' for what, names in told.details)
    table = _sheet(told.sheet) if told.sheet else ""
    return f"<details><summary>Customers and tickets</summary>{table}{lines}</details>" if lines or table else ""


# --- the rest ---------------------------------------------------------------------------------------------------------


def _checks(story: Story) -> str:
    return f'<div class="sides">{"".join(map(_checked, story.checks))}</div>' if story.checks else ""


def _checked(checked: Checked) -> str:
    kind = {"✓": "passed", "✕": "failed"}
    lines = "".join(f'<li class="{kind.get(mark, "gap")}"><span class="mark">{mark}</span><span class="words">'
                    f"{text(line)}</span></li>" for mark, line in checked.lines)
    return (f'<div><p class="shape {checked.shape}">{checked.shape} <span class="count">{text(checked.told)}</span></p>'
            f'<ul class="checks">{lines}</ul></div>')


def _growth(story: Story) -> str:
    picture = growth_svg(story.growth)
    if not picture:
        return ""
    lines = "".join(f"<p>{text(line)}</p>" for line in story.growth_lines)
    return ('<figure><figcaption>Cumulative input tokens. Dots: calls; line: the law they follow.</figcaption>'
            f"{picture}</figure>{lines}")


def _folded(folded: Folded) -> str:
    return (f"<details><summary>{text(folded.title)}</summary><pre>{text(folded.text) or '(empty)'}</pre></details>")


def _foot(story: Story) -> str:
    return f"<footer>{''.join(f'<p>{text(line)}</p>' for line in story.footer)}</footer>"
