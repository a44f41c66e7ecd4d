"""Two or three sentences about a root cause, made of what the tickets say and only that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lib.simulated.mind.labelling import label, speaks_of
from lib.simulated.mind.reading import Ticket

_QUOTED = 2                 # tickets a summary quotes
_RELATED = 1.0              # score from which an incident's text counts as speaking of a cause


@dataclass(frozen=True)
class Summary:
    text: str
    ticket_ids: tuple[str, ...]


def summarise(cause: str, count: int, tickets: Sequence[Ticket], incidents: Sequence[str] = ()) -> Summary:
    """`tickets` are the excerpts at hand, `count` how many tickets the cause has, incidents one text each."""
    chosen = [t for t in tickets if t.id and label(t.subject, t.body).evidence][:_QUOTED]
    many = "1 ticket points" if count == 1 else f"{count} tickets point"
    sentences = [f"{many} to {cause}."] if cause else []
    quotes = [f"{t.id} says “{_short(label(t.subject, t.body).evidence)}”" for t in chosen]
    if quotes:
        sentences.append(f"Ticket {' and '.join(quotes)}.")
    incident = _explaining(cause, incidents)
    if incident:
        title = incident.partition(": ")[0]
        sentences.append(f"A recorded incident may explain it: {_short(title)}.")
    return Summary(" ".join(sentences) or "No tickets were given.", tuple(t.id for t in chosen))


def _explaining(cause: str, incidents: Sequence[str]) -> str:
    """The incident that speaks of the cause most, "" where none does."""
    best = max(incidents, key=lambda text: speaks_of(cause, text), default="")
    return best if best and speaks_of(cause, best) >= _RELATED else ""


def _short(text: str, limit: int = 110) -> str:
    """The text on one line without closing punctuation; a longer one up to a word's end, and an ellipsis."""
    line = " ".join(text.split()).rstrip(" .,;:!?")
    return line if len(line) <= limit else line[:limit].rsplit(None, 1)[0].rstrip(" .,;:!?") + " …"
