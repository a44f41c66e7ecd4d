"""What a request asks for: the kind of work, the shape of the answer, a list of allowed causes, tagged data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from typing import Any

_ATTRIBUTE = re.compile(r"([\w-]{1,40})=\"([^\"]*)\"")
_TAG = re.compile(r"</?\w[^<>]{0,2000}>")
_DEEPEST = 8                # levels of an example that are read
_LONGEST = 20_000           # characters of a prompt in which an example is looked for
_ONLY_JSON = re.compile(
    r"\bjson\b[^.\n]{0,30}\b(only|alone)\b|\b(only|just|nothing but|strictly|exclusively|single)\b[^.\n]{0,40}\bjson\b"
    r"|\b(no|without) (prose|other text|extra text|explanation|commentary|markdown|code fence)"
    r"|nothing (else|before or after)|\bnur\b.{0,20}\bjson\b", re.I)
_ALLOWED = re.compile(
    r"\b(?:one of(?: these| the following)?|(?:choose|pick)(?: only| one)? from|from (?:this|the following) list"
    r"|allowed (?:causes|labels|values|categories)|(?:causes|labels|categories) (?:are|allowed)|list of causes"
    r"|(?:only|these|following) (?:causes|labels|categories)|nur (?:diese|folgende) \w+|eine der folgenden \w+)\b"
    r"[^:\n\[]{0,40}[:\[]", re.I)


_NUMBERS = {w: i for i, w in enumerate("one two three four five six seven eight nine ten".split(), 1)}
_WORDS_AT_MOST = re.compile(
    r"\b(?:at most|no more than|not more than|up to|max(?:imum|imal)?(?: of)?|exactly|within|in|höchstens)\s+"
    r"(\d+|" + "|".join(_NUMBERS) + r")\s+(?:[\w-]+ ){0,3}?(?:words?|wörter[n]?)"
    r"|\b\d+\s?(?:-|–|to|bis)\s?(\d+)\s+(?:[\w-]+ ){0,3}?(?:words?|wörter[n]?)"
    r"|\b(?:one|single)[ -]word\b", re.I)
_FIELD = re.compile(
    r"\b(?:field|key|property|feld)s?\s+(?:(?:called|named)\s+[\"'`“]?|[\"'`“])(\w{2,30})[\"'`”]?([^.\n]{0,120})", re.I)
_MISSING = re.compile(r'"(\w+)" is missing')
_OVERRIDE = re.compile(
    r"\b(?:ignore|disregard|forget)\b[^.\n]{0,40}\b(?:instructions?|prompts?|rules)\b"
    r".{0,80}?\b(?:answer|reply|respond|say|output|write|return)\s+(?:only\s+|just\s+|with\s+|:\s*)*"
    r"[\"'“”]?([^\"'“”.\n!]{1,60})", re.I | re.S)
_DATA_LINE = re.compile(r"\b(?:never|not|no|nie(?:mals)?|keine)\b[^.\n]{0,30}\b(?:instruction|command|anweisung)"
                        r"|\bignore\b[^.\n]{0,40}\binstructions?\b[^.\n]{0,40}\b(?:ticket|text|inside|in)\b", re.I)


@dataclass(frozen=True)
class Ticket:
    id: str
    subject: str
    body: str


@dataclass(frozen=True)
class Ask:
    """A request as a reader takes it in."""

    system: str
    data: str                       # the first user turn
    last: str                       # the last user turn's text
    asked_again: bool               # a reply of ours came before, so the last turn corrects it
    template: Any                   # the answer's shape as JSON-like data, None where no shape is given
    only_json: bool                 # nothing may stand around the JSON


def read(request: Mapping[str, Any]) -> Ask:
    messages = request["messages"]
    system = text_of(request.get("system") or "")
    schema = ((request.get("output_config") or {}).get("format") or {}).get("schema")
    again = any(m["role"] == "assistant" for m in messages)
    last = text_of(messages[-1]["content"])
    template = from_schema(schema) if schema else _wished(system, last, again)
    return Ask(system, text_of(messages[0]["content"]), last, again, template,
               bool(schema or _ONLY_JSON.search(system) or (again and "json" in last.lower())))


def _wished(system: str, last: str, again: bool) -> Any:
    """The prompt's example with the fields that its text adds, and those that a correction says are missing."""
    shown = template_in(system) or template_in(last)
    missing = {name: None for name in _MISSING.findall(last)} if again else {}
    if isinstance(shown, Mapping):
        return {**shown, **{n: s for n, s in fields_in(system).items() if n not in shown}, **missing}
    return shown or missing or None


@lru_cache(maxsize=64)
def fields_in(system: str) -> dict[str, str]:
    """Fields that the prompt's text asks for, `a field "severity" (low or high)`, with what it says of each."""
    return {name: rest for name, rest in _FIELD.findall(_without_example(system)[:_LONGEST])}


def _without_example(system: str) -> str:
    return re.sub(r"\{[^{}]{0,2000}\}", " ", system)


@lru_cache(maxsize=64)
def words_allowed(system: str) -> int:
    """Words that a cause's name may have by the prompt, 0 where it does not say."""
    shown = template_in(system)
    cause = str(next((v for k, v in shown.items() if k in ("cause", "root_cause", "label")), "")) if isinstance(
        shown, Mapping) else ""
    about = [s for s in re.split(r"(?<=[.!?\n])\s", _without_example(system)[:_LONGEST])
             if re.search(r"cause|label|name|ursache|answer|reply", s, re.I)]
    for text in (*about, cause):
        found = _WORDS_AT_MOST.search(text)
        if found:
            number = (found[1] or found[2] or "1").lower()
            return int(number) if number.isdigit() else _NUMBERS[number]
    return 0


def takeover(system: str, tagged: bool, text: str) -> tuple[str, int]:
    """What a text tells its reader to answer instead ("" if nothing), and how many of the two guards are up: tags
    around the data, a line in the prompt that calls it data."""
    found = _OVERRIDE.search(text[:_LONGEST]) if "nstruction" in text or "rompt" in text or "ules" in text else None
    return (found[1].strip() if found else ""), int(tagged) + bool(_DATA_LINE.search(system))


def text_of(content: Any) -> str:
    """All text of a message's content, tool calls and results left out."""
    if isinstance(content, str):
        return content
    return "\n".join(b.get("text", "") for b in content if b.get("type") == "text")


# --- tagged data -----------------------------------------------------------------------------------------------------


def tickets(data: str) -> list[Ticket]:
    """The tagged tickets in a text; a text without such tags is one ticket, its first line the subject."""
    found = [Ticket(_attributes(a).get("id", ""), _field("subject", inner), _field("body", inner) or _plain(inner))
             for a, inner in _tagged("ticket", data)]
    if found:
        return found
    subject, _, body = _plain(data).strip().partition("\n")
    return [Ticket("", subject, body)] if body else [Ticket("", "", subject)]


def labels(data: str) -> list[tuple[str, int]]:
    """Tagged labels with their counts; without tags, one label a line, `label: 3` or `3 x label`."""
    tagged = [(unescape(inner).strip(), _count(_attributes(attributes).get("count", "1")))
              for attributes, inner in _tagged("label", data)]
    if tagged:
        return tagged
    lines = (re.match(r"^\s*[-*•]?\s*(?:(\d+)\s*[x×:]\s*)?(.+?)(?:\s*[:(×x]\s*(\d+)\)?)?\s*$", line)
             for line in _plain(data).splitlines() if line.strip())
    return [(m[2], _count(m[1] or m[3] or "1")) for m in lines if m]


def cause(data: str) -> tuple[str, int | None]:
    """Name and number of tickets of the cause that a summary is asked for."""
    given = next((_attributes(attributes) for attributes, _ in _tagged("cause", data)), {})
    count = given.get("tickets", given.get("count", ""))
    return given.get("name", ""), int(count) if count.isdigit() else None


def incidents(data: str) -> list[str]:
    return [_plain(inner).strip() for _, inner in _tagged("incident", data)]


def has_labels(data: str) -> bool:
    return any(_tagged("label", data))


def has_cause(data: str) -> bool:
    return any(_tagged("cause", data))


def has_tickets(data: str) -> bool:
    return any(_tagged("ticket", data))


def _tagged(name: str, data: str) -> Iterator[tuple[str, str]]:
    """(attributes, content) of every closed tag; work grows with the text only, however broken its tags are."""
    parts = re.split(rf"</{name}>", data, flags=re.I)
    for part in parts[:-1]:
        *_, opening = (None, *re.finditer(rf"<{name}\b([^<>]{{0,2000}})>", part, re.I))
        if opening:
            yield opening[1], part[opening.end():]


def _attributes(text: str) -> dict[str, str]:
    return {name.lower(): unescape(value) for name, value in _ATTRIBUTE.findall(text)}


def _field(name: str, inner: str) -> str:
    return next((unescape(content) for _, content in _tagged(name, inner)), "")


def _plain(text: str) -> str:
    return unescape(_TAG.sub(" ", text))


def _count(text: str) -> int:
    return int(text) if text.isdigit() else 1


# --- the answer's shape ----------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def allowed_causes(system: str) -> tuple[str, ...]:
    """The causes a prompt allows, where it lists at least two; () for a free choice."""
    found = _ALLOWED.search(_without_example(system))
    if not found:
        return _options_shown(template_in(system))
    rest = _without_example(system)[found.end():]
    bullets = re.match(r"\s*((?:\s*(?:[-*•]|\d+[.)])\s+.+\n?)+)", rest)
    if bullets:
        items = [re.sub(r"^\s*(?:[-*•]|\d+[.)])\s+", "", line) for line in bullets[1].splitlines()]
    else:
        first = re.split(r"\]|\n\s*\n|\.(?:\s|$)", rest.strip(), maxsplit=1)[0]
        items = re.split(r"[,;\n|]|\bor\b", first)
    causes = tuple(dict.fromkeys(clean for item in items if (clean := _item(item))))
    return causes if len(causes) > 1 else ()


def _options_shown(template: Any) -> tuple[str, ...]:
    """The options of an example such as {"cause": "billing|login|other"}."""
    shown = template.get("cause") if isinstance(template, Mapping) else None
    return tuple(o.strip() for o in shown.split("|") if o.strip()) if isinstance(shown, str) and "|" in shown else ()


def _item(text: str) -> str:
    """A list item's name: no quotes, no full stop, no explanation after a colon or dash."""
    name = re.split(r"\s[-–—]\s|:\s", text.strip())[0].strip(" \t\"'`.“”‘’*")
    return name if 0 < len(name) <= 60 and re.search(r"\w", name) else ""


@lru_cache(maxsize=64)
def template_in(text: str) -> Any:
    """The first JSON-like object with quoted keys that a prompt shows, loosely read; None where there is none."""
    text = text[:_LONGEST]
    for start in re.finditer(r"\{\s{0,40}\"\w", text):
        value, end = _value(text, start.start(), 0)
        if end and value:
            return value
    return None


def from_schema(schema: Mapping[str, Any]) -> Any:
    """A template in the shape that a JSON schema asks for."""
    kind = schema.get("type")
    if "enum" in schema:
        return "|".join(str(v) for v in schema["enum"])
    if kind == "object" or "properties" in schema:
        return {name: from_schema(inner) for name, inner in schema.get("properties", {}).items()}
    if kind == "array":
        return [from_schema(schema.get("items") or {})]
    return {"integer": 0, "number": 0.5, "boolean": False}.get(kind, "")


def _value(text: str, i: int, depth: int) -> tuple[Any, int]:
    """One JSON-like value from position i and where it ends; (None, 0) where it is broken or too deep."""
    i = _skip(text, i)
    if i >= len(text) or depth > _DEEPEST:
        return None, 0
    if text[i] == "{":
        return _object(text, i + 1, depth + 1)
    if text[i] == "[":
        return _array(text, i + 1, depth + 1)
    if text[i] == '"':
        found = re.compile(r'"((?:[^"\\]|\\.)*)"').match(text, i)
        return (found[1], found.end()) if found else (None, 0)
    found = re.compile(r"[^,\]}\n]+").match(text, i)
    return (_bare(found[0]), found.end()) if found else (None, 0)


def _bare(text: str) -> Any:
    text = text.strip()
    if re.fullmatch(r"-?\d+", text) or re.fullmatch(r"<?(int(eger)?|count|number)>?", text):
        return 0
    if re.fullmatch(r"-?\d*\.\d+|<?float>?|0-1|0\.\.1", text):
        return 0.5
    return False if text in ("true", "false", "bool", "<bool>", "true|false") else text


def _object(text: str, i: int, depth: int) -> tuple[Any, int]:
    found: dict[str, Any] = {}
    while True:
        i = _skip(text, i)
        if text[i:i + 1] == "}":
            return found, i + 1
        key = re.compile(r'"([^"]+)"\s*:').match(text, i)
        if not key:
            return None, 0
        found[key[1]], i = _value(text, key.end(), depth)
        if not i:
            return None, 0


def _array(text: str, i: int, depth: int) -> tuple[Any, int]:
    found: list[Any] = []
    while True:
        i = _skip(text, i)
        if text[i:i + 1] == "]":
            return found, i + 1
        value, i = _value(text, i, depth)
        if not i:
            return None, 0
        if value not in ("...", "…"):
            found.append(value)


def _skip(text: str, i: int) -> int:
    """Past white space, commas and dots of an ellipsis."""
    return re.compile(r"[\s,…]*(?:\.{3})?[\s,]*").match(text, i).end()
