"""The causes that a prompt allows, in whatever form it lists them: sentence, bullets, table, an example's options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import dropwhile, islice, takewhile
from typing import Any

CAUSE_KEYS = ("cause", "root_cause", "label", "category")
_LONGEST, _LIST, _NEAR = 20_000, 6_000, 60      # characters of a prompt, of a list in it, before its announcement
_LISTS = 20                 # lists that are looked at
_KINDS = (r"(?:root )?(?:causes?|labels?|categor(?:y|ies)|values?|names?|options?|topics?|ursachen?|kategorien?|"
          r"etiquetas|causas|categor[ií]as|étiquettes?|catégories?)")
_SEVERAL = r"(?:root )?(?:causes|labels|categories|ursachen|kategorien|etiquetas|causas|categor[ií]as|catégories)"
_ANNOUNCED = re.compile(                # up to the colon, the bracket or the line's end that a list stands behind
    r"(?:\b(?:one of(?: these| the following)?|(?:choose|pick|select|use)(?: only| exactly)? one\b|"
    r"(?:choose|pick|select)(?: only)? from|(?:from|aus) (?:this|the following|dieser|der folgenden) list\w*|"
    rf"(?:allowed|valid|possible|permitted|available|only|these|following|exactly one|list of|erlaubten?|möglichen?|"
    rf"zulässigen?|diese[nr]?|folgenden?|nur|ces|seules?|estas|solo|siguientes) {_KINDS}|{_KINDS} (?:are|allowed)|"
    r"eine der folgenden \w+)"
    rf"|^\W{{0,3}}{_SEVERAL}(?= ?:))[^:\n\[.]{{0,60}}(?:[:\[]|(?=\n\s*(?:[-*•|]|\d{{1,2}}[.)])))",
    re.I | re.M)
_RUNNING_ON = re.compile(               # a list that goes on in the sentence: one of a, b or c
    rf"\b(?:(?:is|be) (?:either|one of)|(?:choose|pick|select)(?: only| one)? from|"
    rf"(?:classify|categori[sz]e|sort|group)\b[^.:\n]{{0,30}}\binto|(?:allowed|valid|possible) {_KINDS} are)\s+"
    r"(?=[^.:\n]*[,|])", re.I)
_ABOVE = re.compile(rf"\bonly (?:the |these |one of the )?{_KINDS}(?: \w+){{0,2}} above\b", re.I)
_DENIED = re.compile(r"\b(?:not|never|n't|no|avoid|without|except|nicht|keine?)\b[^.:\n]{0,30}$", re.I)
_BULLET = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)])\s+(.+)")
_TAGGED = re.compile(r"<(?:cause|label|category)>([^<>\n]{1,60})</(?:cause|label|category)>", re.I)
_EXPLAINED, _BRACKETED, _NOTHING = re.compile(r"\s[-–—]\s|\s?:\s|\s\("), re.compile(r"\s\("), re.compile(r"(?!)")
_NAME = 60                  # characters of a cause's name
_EXAMPLE = re.compile(r"\be\.?\s?g\b|\bsuch as\b|\bfor (?:example|instance)\b|\bwords?\b|\bz\.\s?B\b", re.I)
_JOINED = re.compile(r"^(?:or|and|oder|und|ou|et|o|y|e)\s+", re.I)
_LAST = re.compile(r"\s+(?:or|and|oder|und|ou|et)\s+", re.I)


@lru_cache(maxsize=64)
def listed(prompt: str) -> Mapping[str, str]:
    """Name -> all that the prompt says of it, for each cause of the list that it allows; empty for a free choice."""
    return next((found for found in islice(_lists(prompt[:_LONGEST]), _LISTS) if len(found) > 1), {})


def shown(template: Any) -> Mapping[str, str]:
    """The options of an example such as {"cause": "billing|login|other"}, or of a schema's enum."""
    named = (template.get(key) for key in CAUSE_KEYS) if isinstance(template, Mapping) else ()
    return {option: option for option in options(next((value for value in named if value), None))}


def options(shape: Any) -> Sequence[str]:
    """The choices in an example's value: a|b|c, a/b/c, "one of: a, b, c" or "a, b or c"."""
    if not isinstance(shape, str) or len(shape) > _LONGEST or _EXAMPLE.search(shape):
        return ()
    if "|" in shape:
        return [option.strip() for option in shape.split("|") if option.strip()]
    told = re.match(r"\s*(?:(?:either|one of|eine[rs]? von)\b[^:,]{0,20}:?|[^:,]{1,20}:)\s*(.+)", shape, re.I)
    text = told[1] if told else shape
    if "/" in text and "," not in text:
        return [option.strip() for option in text.split("/") if option.strip()]
    if "," not in text or not (told or _LAST.search(text.rpartition(",")[2])):
        return ()
    return _split(text.strip(" ."))


# --- where a list stands ---------------------------------------------------------------------------------------------


def _lists(prompt: str) -> Iterator[Mapping[str, str]]:
    for pattern in (_ANNOUNCED, _RUNNING_ON):
        for found in pattern.finditer(prompt):
            if not _DENIED.search(prompt[max(0, found.start() - _NEAR):found.start()]):
                yield _list_in(prompt[found.end():found.end() + _LIST].splitlines())
    yield _named(_TAGGED.findall(prompt), _NOTHING)
    for found in _ABOVE.finditer(prompt):
        yield _list_before(prompt[max(0, found.start() - _LIST):found.start()].splitlines()[:-1])


def _list_in(lines: Sequence[str]) -> Mapping[str, str]:
    """The list at the beginning of a text."""
    rest = list(dropwhile(lambda line: not line.strip(), lines))
    bullets = [found[1] for found in takewhile(bool, map(_BULLET.match, filter(str.strip, rest)))]
    if bullets:
        return _named(bullets, _EXPLAINED)
    rows = [line.strip().strip("|").split("|") for line in takewhile(lambda line: line.lstrip().startswith("|"), rest)]
    if len(rows) > 2:
        return _named([": ".join(filter(None, map(str.strip, row))) for row in rows[1:] if row[0].strip(" :-")],
                      _EXPLAINED, least=0)
    if len(rest) < len(lines) and not re.search(r"[,;|]", rest[0] if rest else ""):
        return _named(list(takewhile(str.strip, rest)), _EXPLAINED)
    going_on = sum(1 for _ in takewhile(lambda line: line.rstrip().endswith((",", ";", "|")), rest))
    return _in_a_sentence("\n".join(rest[:going_on + 1]))


def _list_before(lines: Sequence[str]) -> Mapping[str, str]:
    """The list that a text ends with."""
    last = list(takewhile(str.strip, dropwhile(lambda line: not line.strip(), reversed(lines))))[::-1]
    while last and not _BULLET.match(last[0]) and any(map(_BULLET.match, last)):
        del last[0]
    return _list_in(last if last and _BULLET.match(last[0]) else last[-1:])


def _in_a_sentence(text: str) -> Mapping[str, str]:
    return _named(_split(re.split(r"\]|[.](?:\s|$)", text.lstrip(" \t["), maxsplit=1)[0]), _BRACKETED)


def _split(text: str) -> Sequence[str]:
    """The parts of a sentence's list. Only its last one may begin with "or", and only if the others have none of it."""
    quoted = re.findall(r"[\"“„]([^\"“”„\n]{1,60})[\"”“]", text)
    if len(quoted) > 1:
        return quoted
    mark = next((mark for mark in "|;,/" if mark in text), "")
    parts = re.split(rf"{re.escape(mark)}(?![^()]*\))", text) if mark else [text]
    *others, last = [part.strip() for part in parts if part.strip()] or [""]
    if _JOINED.match(last):
        return [*others, _JOINED.sub("", last)]
    return [*others, last] if any(map(_LAST.search, others)) else [*others, *_LAST.split(last)]


# --- what its entries are called -------------------------------------------------------------------------------------


def _named(entries: Sequence[str], explained: re.Pattern[str], least: float = 0.5) -> Mapping[str, str]:
    """Each entry by its name. What stands behind a dash, a colon or in brackets explains it where at least a share of
    the entries have that; where they differ in nothing else, it is part of the name."""
    texts = [text for entry in entries if re.search(r"\w", text := _clean(entry))]
    heads = [_clean(explained.split(text, maxsplit=1)[0]) for text in texts]
    told = sum(head != text for head, text in zip(heads, texts, strict=True))
    names = heads if told >= least * len(texts) and len(set(heads)) == len(set(texts)) else texts
    return {name: text for name, text in zip(names, texts, strict=True) if 0 < len(name) <= _NAME}


def _clean(text: str) -> str:
    return text.strip(" \t\"'`.“”„‘’*[]")
