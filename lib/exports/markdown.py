"""A story as GitHub-flavoured Markdown. Words that are not ours are escaped, so that none becomes a link, a picture, a
heading, a formula or HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lib.exports.story import Pair, Sheet, Story, Told
from lib.tickets.visible import visible

# What means something anywhere in a line. "&", "<" and ">" become entities, which no renderer takes for a tag.
_SPECIAL = re.compile(r"[\\`*_{}\[\]#|~$^!]")
_AT_START = re.compile(r"^([-+=:]|\d{1,9}(?=[.)](?:\s|$)))")
# Renderers make links, mentions and references of these even where every sign is escaped; inside code they never do.
_LINKED = re.compile(r"[a-z0-9+.-]:/|www\.|mailto:|xmpp:|@|#\d|\bGH-\d", re.IGNORECASE)
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def markdown_report(story: Story) -> str:
    return "\n\n".join(block for block in _blocks(story) if block) + "\n"


def literal(words: str) -> str:
    """The words as one line of Markdown that shows them as they are; links and mentions as code."""
    found = " ".join(_code(word) if _LINKED.search(word) else _escaped(word) for word in visible(words).split())
    return _AT_START.sub(lambda match: f"{match[0]}\\" if match[0].isdecimal() else f"\\{match[0]}", found)


def lines(words: str) -> str:
    """The same for words of several lines, which stay lines."""
    return "  \n".join(literal(line) for line in visible(words).splitlines() if line.strip())


def fenced(words: str) -> str:
    """The words as a block of code, in a fence that is longer than any in them."""
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", words)), 3)
    return f"{fence}text\n{visible(words)}\n{fence}"


def _escaped(words: str) -> str:
    found = _SPECIAL.sub(lambda match: "\\" + match[0], words)
    return re.sub("[&<>]", lambda match: _ENTITIES[match[0]], found)


def _code(words: str) -> str:
    fence = "`" * (max((len(run) for run in re.findall("`+", words)), default=0) + 1)
    room = " " if words[0] == "`" or words[-1] == "`" else ""
    return f"{fence}{room}{words}{room}{fence}"


# --- the parts of the report ------------------------------------------------------------------------------------------


def _blocks(story: Story) -> Iterator[str]:
    yield f"# {literal(story.title)}"
    yield f"**{literal(story.sentence)}**" if story.sentence else ""
    yield f"{literal(story.made)} · {' · '.join(f'**{literal(badge)}**' for badge in story.badges)}"
    yield "  \n".join(map(literal, story.source))
    yield "\n".join(f"> {literal(note)}\n>" for note in story.notes).removesuffix("\n>")
    yield "## What was asked"
    yield "\n".join(f"- **{literal(what)}:** {literal(how)}" for what, how in story.asked)
    yield "## In figures"
    yield _sheet(story.figures)
    yield "## The answers"
    if not story.pairs:
        yield "No answer yet."
    for number, pair in enumerate(story.pairs, start=1):
        yield from _pair(number, pair)
    if story.checks:
        yield "## What code checked"
    for checked in story.checks:
        yield f"**{literal(checked.shape.capitalize())}**: {literal(checked.told)}"
        yield "\n".join(f"- {mark} {literal(line)}" for mark, line in checked.lines)
    if story.steps:
        yield "## What every step took"
        yield _sheet(story.steps)
    if story.growth_lines:
        yield "## How it grew"
        yield "\n".join(f"- {literal(line)}" for line in story.growth_lines)
    if story.prompts:
        yield "## Prompts and tools"
    for folded in story.prompts:
        yield f"**{literal(folded.title)}**"
        yield fenced(folded.text)
    yield "---"
    yield "  \n".join(map(literal, story.footer))


def _pair(number: int, pair: Pair) -> Iterator[str]:
    if pair.same and pair.left and pair.right:
        left, right = pair.left, pair.right
        name = left.name if left.name == right.name else f"{left.name} (the agent: {right.name})"
        yield f"### {number}. {literal(name)} · {literal(left.count)} · both shapes"
        yield literal(left.customers)
        yield from _says(left, "" if left.summary == right.summary else "**Pipeline:** ")
        if right.summary != left.summary or right.claimed or right.quotes:
            yield from _says(right, "**Agent:** ")
        yield from _details(left)
        return
    for told in filter(None, (pair.left, pair.right)):
        yield f"### {number}. {literal(told.name)} · {literal(told.count)} · {literal(told.shape)}"
        yield literal(told.customers)
        yield from _says(told)
        yield from _details(told)
    if pair.differs:
        yield f"*Differs: {literal(pair.differs)}*"


def _says(told: Told, who: str = "") -> Iterator[str]:
    if told.claimed:
        yield f"{who}{literal(told.claimed)}"
    if told.summary:
        yield f"{who}{lines(told.summary)}"
    for quote in told.quotes:
        where = literal(quote.ticket) + ("" if quote.found else ", not in the ticket")
        yield f"> “{literal(quote.text)}” ({where})"


def _details(told: Told) -> Iterator[str]:
    yield "  \n".join(f"{literal(what)}: {literal(names)}" for what, names in told.details)
    yield _sheet(told.sheet) if told.sheet else ""


def _sheet(sheet: Sheet) -> str:
    rule = ["---:" if at >= sheet.figures else "---" for at in range(len(sheet.head))]
    return "\n".join(map(_row, (sheet.head, *sheet.rows))).replace("\n", f"\n| {' | '.join(rule)} |\n", 1)


def _row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(_in_table(literal(cell)) for cell in cells) + " |"


def _in_table(cell: str) -> str:
    """A bar inside code would still end the cell."""
    return re.sub(r"(?<!\\)\|", r"\\|", cell)
