"""Column names as people and exports write them, compared by their plain words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from functools import lru_cache

# where an API nests a record's own fields; anything else before a dot ("requester.id") is another thing's field
_WRAPPERS = {"ticket", "issue", "node", "data", "fields", "properties", "attributes", "source", "conversation",
             "custom_fields", "custom_attributes", "_source"}
_TAILS = {"value", "display_value"}     # ServiceNow: "caller_id.value"
_CUSTOM = re.compile(r"custom field \((.+)\)|(.+) \[\w+\]", re.IGNORECASE)    # Jira; Zendesk: "Product [list]"


@lru_cache(4_096)       # a database of many wide tables is asked for every role
def plain(name: str) -> str:
    """"Ticket-Nr." → "ticket nr", "createdAt" → "created at", "properties.Größe" → "groesse"."""
    if custom := _CUSTOM.fullmatch(name):
        name = custom[1] or custom[2]
    parts = name.split(".")
    while len(parts) > 1 and parts[-1] in _TAILS:
        del parts[-1]
    while len(parts) > 1 and parts[0].strip().lower() in _WRAPPERS:
        del parts[0]
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", " ".join(parts))
    for umlaut, letters in (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ß", "ss")):
        spaced = spaced.replace(umlaut, letters).replace(umlaut.upper(), letters)
    bare = "".join(c for c in unicodedata.normalize("NFKD", spaced) if not unicodedata.combining(c))
    return " ".join(re.findall(r"[^\W_]+", bare.casefold()))


def named(columns: Iterable[str], wanted: Iterable[str], taken: Collection[str | None] = ()) -> str | None:
    """The first column that bears the earliest of the wanted plain names."""
    free: dict[str, str] = {}
    for column in sorted(columns, key=lambda name: name.count(".")):    # "id" goes before "source.id"
        if column not in taken:
            free.setdefault(plain(column), column)
    return next((free[name] for name in wanted if name in free), None)


def words(text: str) -> tuple[str, ...]:
    """A list of names, one per comma, kept on few lines."""
    return tuple(" ".join(name.split()) for name in text.split(","))
