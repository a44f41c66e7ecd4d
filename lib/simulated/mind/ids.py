"""How ids go into a call: in which form, and how many at once, by what the tool's texts and schema say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from lib.models import model
from lib.simulated.mind.chance import chance
from lib.simulated.mind.toolbox import Offered, items_of, kinds

_GUESSES = {"medium": 2, "large": 0}        # one tool in so many gets a guessed form at first; small models: all
_AT_ONCE = 10                               # ids in one call where no number is said
_MOST = 50
_LONGEST = 20_000                           # characters of a prompt in which the form of an id is looked for
NUMBERS = {w: i for i, w in enumerate("one two three four five six seven eight nine ten".split(), 1)}
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n")
_SAMPLE = r"\b[A-Za-z]{1,10}[-_/#]?\d+|#\d+|[\"'“`]\d+"
_AS_SHOWN = (
    r"exactly as|just as|\bas (?:\w+ ){0,3}(?:list(?:s|ed)?|gives?|given|returns?|returned|shows?|shown|printed|"
    r"written|appears?)\b|\bcop(?:y|ied)\b|verbatim|unchanged|\bgenau (?:so )?wie\b|unverändert|tal como|tel que"
    r"|\bwie (?:\w+ ){0,3}(?:aufgelistet|angezeigt|gelistet|zurückgegeben)")
_FORM_TOLD = re.compile(
    rf"{_AS_SHOWN}|{_SAMPLE}|\b(?:such as|for (?:instance|example)|e\.\s?g\.|like|prefix\w*|starts? with|starting with|"
    r"begins? with|format|form|digits|returned by|taken from|as in)\b|\bfrom (?:the list|list|search)\w*|zum beispiel"
    r"|\bz\.\s?b\.|\bbeginnt mit\b|\bpor ejemplo\b|\bpar exemple\b", re.I)
_FORM_KEYS = ("pattern", "examples", "example", "enum", "format", "const", "default")
_ID_SENTENCE = re.compile(r"\bids?\b|_ids?\b|\bkey\b|\bnumber\b", re.I)
_FORM_IN_PASSING = re.compile(rf"{_AS_SHOWN}|{_SAMPLE}", re.I)
_FORM_IN_PROMPT = re.compile(rf"{_AS_SHOWN}|\b[A-Za-z]{{1,10}}[-_/#]\d+|#\d+", re.I)

_OF_IDS = r"(?:[\w-]+\s+){0,2}(?:ids?|tickets?|cases?|keys?|numbers?|messages?|requests?|nummern)\b"
_UP_TO = r"(?:up to|at most|no more than|max(?:imum|imal)?(?: of)?|bis zu|höchstens)\s+"
_NUMBER = rf"(\d+|{'|'.join(NUMBERS)})"
_SEVERAL = (
    rf"(?:several|multiple|many|more than one|mehrere|viele|varios|plusieurs)\s+{_OF_IDS}"
    rf"|\bids\b[^.]{{0,30}}\bat once\b|\b(?:one or (?:more|several))\b|\bcomma|\bkomma"
    rf"|\b(?:list|array|batch|liste) (?:of|von) {_OF_IDS}"
    rf"|{_UP_TO}(?:[2-9]|\d\d+|t(?:wo|hree|en)|four|five|six|seven|eight|nine) {_OF_IDS}")
_SEVERAL_TOLD = re.compile(_SEVERAL, re.I)
_SEVERAL_DENIED = re.compile(
    r"(?:\b(?:not?|never|cannot|nicht|keine?|without|ohne)|n't)\b\W+(?:\w+\W+){0,3}?"
    r"(?:several|multiple|many|more than one|list|comma|mehrere|viele|komma)", re.I)
_LIMIT = re.compile(rf"{_UP_TO}{_NUMBER}\b(?!\s*(?:characters|chars|words|letters|digits|zeichen))", re.I)


def form_is_told(tool: Offered, name: str, prompt: str = "") -> bool:
    """Whether schema, description or prompt say what an id of this parameter looks like, or where to copy it from."""
    schema = tool.properties.get(name, {})
    if {"integer", "number"} & set(kinds(schema)) or any(schema.get(key) for key in _FORM_KEYS):
        return True
    about = f"{schema.get('description', '')}\n{items_of(schema).get('description', '')}"
    return bool(_FORM_TOLD.search(about)) or any(
        _ID_SENTENCE.search(sentence) and form.search(sentence)
        for text, form in ((tool.description, _FORM_IN_PASSING), (prompt[:_LONGEST], _FORM_IN_PROMPT))
        for sentence in _SENTENCE.split(text))


def guesses(tool: Offered, name: str, model_id: str, prompt: str = "") -> bool:
    """Whether a model gets the form of the tool's ids wrong at first; the larger, the more rarely."""
    one_in = _GUESSES.get(model(model_id).size, 1)
    return bool(one_in) and not form_is_told(tool, name, prompt) and chance(tool.name, one_in)


def guessed(id: str, name: str) -> str:
    """The id in a form that looks as good: digits alone, with a # or a letter before them, a name as one short word."""
    digits = re.search(r"\d+(?=\D*$)", id)
    if digits is None:
        short = re.sub(r"\W+", "-", id.lower()).strip("-")
        return short if short != id else f"#{id}"
    if digits[0] == id:
        return f"#{id}" if chance(id, 2) else f"{name[:1].upper()}-{id}"
    return f"#{digits[0]}" if chance(id, 2) and id != f"#{digits[0]}" else digits[0]


def at_once(tool: Offered, name: str) -> int:
    """How many ids one call may carry: 1 unless the type is a list or a text says so."""
    schema = tool.properties.get(name, {})
    told = [s for text in (schema.get("description", ""), tool.description) for s in _SENTENCE.split(text)
            if _SEVERAL_TOLD.search(s) and not _SEVERAL_DENIED.search(s)]
    if not told and "array" not in kinds(schema):
        return 1
    limits = [_count(found[1]) for sentence in told if (found := _LIMIT.search(sentence))]
    return max(1, min([*limits, *([schema["maxItems"]] if schema.get("maxItems") else []), _MOST])
               if limits or schema.get("maxItems") else _AT_ONCE)


def _count(word: str) -> int:
    return int(word) if word.isdigit() else NUMBERS[word.lower()]


def packed(tool: Offered, name: str, ids: Sequence[str]) -> Any:
    """Ids as the parameter's type wants them: a list, a whole number, or one text with commas."""
    accepted = kinds(tool.properties.get(name, {}))
    if "array" in accepted:
        items = kinds(items_of(tool.properties[name]))
        return [_whole(id) for id in ids] if "integer" in items and "string" not in items else list(ids)
    if "string" not in accepted and {"integer", "number"} & set(accepted):
        return _whole(ids[0])
    return ",".join(ids)


def passed(tool: Offered, name: str, id: str) -> str:
    """An id as it will stand in a call."""
    return unpacked(packed(tool, name, [id]), (id,))[0]


def _whole(id: str) -> Any:
    digits = re.search(r"\d+(?=\D*$)", id)
    return int(digits[0]) if digits else id


def unpacked(value: Any, known: Iterable[str]) -> list[str]:
    """The ids that an argument carried."""
    if isinstance(value, list):
        return [str(id) for id in value]
    text = "" if value is None else str(value)
    return [text] if text in known or "," not in text else [id.strip() for id in text.split(",")]
