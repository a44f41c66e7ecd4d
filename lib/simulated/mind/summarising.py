"""Two or three sentences about a root cause, made of what the tickets say and only that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lib.simulated.mind.labelling import label
from lib.simulated.mind.reading import Ticket

_QUOTED = 2                 # tickets a summary quotes


@dataclass(frozen=True)
class Summary:
    text: str
    ticket_ids: tuple[str, ...]


def summarise(cause: str, count: int, tickets: Sequence[Ticket], incidents: Sequence[str] = ()) -> Summary:
    """`tickets` are the excerpts at hand, `count` how many tickets the cause has, incidents one text each."""
    chosen = [t for t in tickets if t.id and label(t.subject, t.body).evidence][:_QUOTED]
    many = "1 ticket reports" if count == 1 else f"{count} tickets report"
    sentences = [f"{many} {cause}."] if cause else []
    quotes = [f"{t.id} says “{_short(label(t.subject, t.body).evidence)}”" for t in chosen]
    if quotes:
        sentences.append(f"Ticket {' and '.join(quotes)}.")
    if incidents:
        sentences.append(f"A recorded incident may explain it: {_short(incidents[0])}.")
    return Summary(" ".join(sentences) or "No tickets were given.", tuple(t.id for t in chosen))


def _short(text: str, limit: int = 110) -> str:
    """The text on one line, up to a word's end, without closing punctuation."""
    line = " ".join(text.split())
    return (line if len(line) <= limit else line[:limit].rsplit(None, 1)[0]).rstrip(" .,;:!?")
