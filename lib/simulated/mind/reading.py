"""What a request asks for: the kind of work, the shape of the answer, a list of allowed causes, tagged data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from typing import Any

from lib.simulated.mind import choices

_ATTRIBUTE = re.compile(r"([\w-]{1,40})=\"([^\"]*)\"")
_TAG = re.compile(r"</?\w[^<>]{0,2000}>")
_HEADING = re.compile(r"(?:\A|\n\n)(?:Ticket ([^\n]{1,200})|Incident(?: \([^\n]*\))?)(?=\n|\Z)")
_CAUSE_LINE = re.compile(r"\s*Cause: ([^\n]{1,200}?),? \(?(\d{1,9}) tickets?\)?(?=\n|\Z)")
_COUNT_FIRST = re.compile(r"\s*\d{1,9} ?[x×] \S")
_COUNT_LAST = re.compile(r"\s*[-*•]?\s*[^\n]{1,80}?(?:: | ?[x×(] ?)\d{1,9}\)?\s*$")
_DEEPEST = 8                # levels of an example that are read
_LONGEST = 20_000           # characters of a prompt in which an example is looked for
_ONLY = (r"(?:only|just|nothing but|strictly|exclusively|single|nur|ausschließlich|nichts (?:anderes )?als|uniquement|"
         r"seulement|exclusivement|s[oó]lo|solamente|únicamente|apenas|somente)")
_ONLY_JSON = re.compile(
    rf"\bjson\b[^.\n]{{0,30}}\b(?:{_ONLY}|alone)\b|\b{_ONLY}\b[^.\n]{{0,40}}\bjson\b"
    r"|\b(no|without) (prose|other text|extra text|explanation|commentary|markdown|code fence)"
    r"|nothing (else|before or after)|\brien d'autre\b|\bnada más\b|\bsonst nichts\b", re.I)
_NO_JSON = re.compile(r"\b(?:no|not|never|don't|without|instead of|kein|nicht|ohne|sans|pas de|sin)\b[^.\n]{0,20}"
                      r"\bjson\b(?! (?:array|list|comment))", re.I)
_PROSE = re.compile(r"\bplain (?:english|text|prose)\b|\b(?:in|with|as|write) (?:one|a|a single|\w+) sentences?\b"
                    r"|\bin prose\b|\bin einem satz\b|\ben una frase\b|\ben une phrase\b", re.I)
_NUMBERS = {w: i for i, w in enumerate("one two three four five six seven eight nine ten".split(), 1)}
_WORDS_AT_MOST = re.compile(
    r"\b(?:at most|no more than|not more than|up to|max(?:imum|imal)?(?: of)?|exactly|within|in|höchstens)\s+"
    r"(\d+|" + "|".join(_NUMBERS) + r")\s+(?:[\w-]+ ){0,3}?(?:words?|wörter[n]?)"
    r"|\b\d+\s?(?:-|–|to|bis)\s?(\d+)\s+(?:[\w-]+ ){0,3}?(?:words?|wörter[n]?)"
    r"|\b(?:one|single)[ -]word\b", re.I)
_FIELD = re.compile(
    r"\b(?:field|key|property|feld)s?\s+(?:(?:called|named)\s+[\"'`“]?|[\"'`“])(\w{2,30})[\"'`”]?([^.\n]{0,120})", re.I)
_FIELDS = re.compile(r"\b(?:fields?|keys?|properties|feldern?|schlüsseln?|champs|campos|"
                     r"(?:json|object)(?: object)? (?:with|of|containing|holding|mit|con|avec)(?: the)?)\b"
                     r"(?: are|:| named| called)*\s*"
                     r"((?:[\"'`]?\w{2,30}[\"'`]?(?:\s*,\s*|\s+)(?:(?:and|und|et|y)\s+)?){0,11}[\"'`]?\w{2,30})", re.I)
_FIELD_LINES = re.compile(r"^\s*(?:[-*•]\s*)?[\"'`]?([a-z_]\w{1,30})[\"'`]?\s?(?::|=|–|-)\s", re.M)
_LEAVES = re.compile(r"<(\w{2,30})>[^<>]{0,200}</\1>")
_BRACKETS = re.compile(r"\s*\([^()\n]{0,120}\)")
_MISSING = re.compile(r'"(\w+)" is missing')
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
    language: str                   # "json", "xml", "yaml" or "prose" where the prompt asks for it, else ""


def read(request: Mapping[str, Any]) -> Ask:
    messages = request["messages"]
    system = text_of(request.get("system") or "")
    schema = ((request.get("output_config") or {}).get("format") or {}).get("schema")
    again = any(m["role"] == "assistant" for m in messages)
    last = text_of(messages[-1]["content"])
    template = from_schema(schema) if schema else _wished(system, last, again)
    language = "json" if schema or again and "json" in last.lower() else language_of(system)
    only = schema or _insists_on_json(system) or again and "json" in last.lower()
    return Ask(system, text_of(messages[0]["content"]), last, again, template,
               bool(only) and language in ("", "json"), language)


@lru_cache(maxsize=64)
def _insists_on_json(system: str) -> bool:
    return bool(_ONLY_JSON.search(system))


@lru_cache(maxsize=64)
def language_of(system: str) -> str:
    """What a prompt wants its answer written in, "" where it does not say."""
    text = system[:_LONGEST]
    if _NO_JSON.search(text):
        return "prose"
    named = next((name for name in ("json", "xml", "yaml") if re.search(rf"\b{name}\b", text, re.I)), "")
    prose = _PROSE.search(text) and not (named and _ONLY_JSON.search(text))
    return "prose" if prose else named


def _wished(system: str, last: str, again: bool) -> Any:
    """The prompt's example, else the fields that it names, with those that its text adds and those that a correction
    says are missing."""
    shown = shape_in(system) or named_in(system) or template_in(last)
    missing = {name: None for name in _MISSING.findall(last)} if again else {}
    if isinstance(shown, Mapping):
        return {**shown, **{n: s for n, s in fields_in(system).items() if n not in shown}, **missing}
    return shown or missing or None


@lru_cache(maxsize=64)
def named_in(system: str) -> dict[str, None]:
    """The fields of an answer that a prompt names without an example in JSON: in a sentence, line by line, as tags."""
    text = system[:_LONGEST]
    sentences = (re.findall(r"\w+", found[1]) for found in _FIELDS.finditer(_BRACKETS.sub("", text)))
    for names in (*sentences, _FIELD_LINES.findall(text), _LEAVES.findall(text)):
        if any(name in choices.CAUSE_KEYS for name in names):
            return {name: None for name in names if name not in ("and", "und", "et", "y")}
    return {}


@lru_cache(maxsize=64)
def fields_in(system: str) -> dict[str, str]:
    """Fields that the prompt's text asks for, `a field "severity" (low or high)`, with what it says of each."""
    return {name: rest for name, rest in _FIELD.findall(_without_example(system)[:_LONGEST])}


def _without_example(system: str) -> str:
    return re.sub(r"\{[^{}]{0,2000}\}", " ", system)


@lru_cache(maxsize=64)
def words_allowed(system: str) -> int:
    """Words that a cause's name may have by the prompt, 0 where it does not say."""
    shown = shape_in(system)
    cause = str(next((v for k, v in shown.items() if k in choices.CAUSE_KEYS), "")) if isinstance(
        shown, Mapping) else ""
    about = [s for s in re.split(r"(?<=[.!?\n])\s", _without_example(system)[:_LONGEST])
             if re.search(r"cause|label|name|ursache|answer|reply", s, re.I)]
    for text in (*about, cause):
        found = _WORDS_AT_MOST.search(text)
        if found:
            number = (found[1] or found[2] or "1").lower()
            return int(number) if number.isdigit() else _NUMBERS[number]
    return 0


@lru_cache(maxsize=64)
def calls_it_data(system: str) -> bool:
    """Whether the prompt says that what stands in a ticket is data, never instructions."""
    return bool(_DATA_LINE.search(system))


def text_of(content: Any) -> str:
    """All text of a message's content, tool calls and results left out."""
    if isinstance(content, str):
        return content
    return "\n".join(b.get("text", "") for b in content if b.get("type") == "text")


# --- tagged data -----------------------------------------------------------------------------------------------------


def tickets(data: str) -> list[Ticket]:
    """The tickets in a text, tagged or below a line such as "Ticket T-1"; any other text is one ticket, its first line
    the subject."""
    found = [Ticket(_attributes(a).get("id", ""), _field("subject", inner), _field("body", inner) or _plain(inner))
             for a, inner in _tagged("ticket", data)]
    if found:
        return found
    if _HEADING.search(data):
        return [_below(heading[1], text) for heading, text in _headed(data) if heading[1]]
    subject, _, body = _plain(data).strip().partition("\n")
    return [Ticket("", subject, body)] if body else [Ticket("", "", subject)]


def labels(data: str) -> list[tuple[str, int]]:
    """Labels with their counts, tagged or one a line, as `label: 3` or `3 x label`."""
    tagged = [(unescape(inner).strip(), _count(_attributes(attributes).get("count", "1")))
              for attributes, inner in _tagged("label", data)]
    if tagged:
        return tagged
    lines = (re.match(r"^\s*[-*•]?\s*(?:(\d+)\s*[x×:]\s*)?(.+?)(?:\s*[:(×x]\s*(\d+)\)?)?\s*$", line)
             for line in data.splitlines() if line.strip())
    return [(m[2], _count(m[1] or m[3] or "1")) for m in lines if m]


def cause(data: str) -> tuple[str, int | None]:
    """Name and number of tickets of the cause that a summary is asked for."""
    given = next((_attributes(attributes) for attributes, _ in _tagged("cause", data)), {})
    line = None if given else _CAUSE_LINE.match(data)
    if line:
        return line[1].strip(), int(line[2])
    count = given.get("tickets", given.get("count", ""))
    return given.get("name", ""), int(count) if count.isdigit() else None


def incidents(data: str) -> list[str]:
    found = [_plain(inner).strip() for _, inner in _tagged("incident", data)]
    return found or [text.strip() for heading, text in _headed(data) if not heading[1]]


def tagged(data: str) -> bool:
    """Whether tags tell what of a text is data."""
    return any(any(_tagged(name, data)) for name in ("ticket", "label", "cause"))


def has_labels(data: str) -> bool:
    lines = [line for line in data[:_LONGEST].splitlines() if line.strip()]
    return any(_tagged("label", data)) or bool(lines) and (
        all(map(_COUNT_FIRST.match, lines)) or len(lines) > 1 and all(map(_COUNT_LAST.match, lines)))


def has_cause(data: str) -> bool:
    return any(_tagged("cause", data)) or bool(_CAUSE_LINE.match(data))


def has_tickets(data: str) -> bool:
    return any(_tagged("ticket", data)) or bool(_HEADING.search(data)) and any(h[1] for h, _ in _headed(data))


def _headed(data: str) -> Iterator[tuple[re.Match[str], str]]:
    """(heading, text below it) of the tickets and incidents that stand without tags."""
    headings = list(_HEADING.finditer(data))
    for heading, after in zip(headings, [*headings[1:], None], strict=False):
        yield heading, data[heading.end():after.start() if after else len(data)]


def _below(id: str, text: str) -> Ticket:
    subject, _, body = text.removeprefix("\n").partition("\n")
    return Ticket(id.strip(), re.sub(r"^Subject:\s*", "", subject), body.strip("\n"))


def _tagged(name: str, data: str) -> Iterator[tuple[str, str]]:
    """(attributes, content) of every closed tag; work grows with the text only, however broken its tags are."""
    opening, closing = _tag(name)
    for part in closing.split(data)[:-1]:
        *_, opened = (None, *opening.finditer(part))
        if opened:
            yield opened[1], part[opened.end():]


@lru_cache(maxsize=16)
def _tag(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What opens and what closes it. Only the name is compared in any case: with a plain beginning most of a text is
    passed over at once."""
    return re.compile(rf"<(?i:{name})\b([^<>]{{0,2000}})>"), re.compile(rf"</(?i:{name})>")


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
def allowed_causes(system: str) -> Mapping[str, str]:
    """Name -> what the prompt says of it, for each cause that it allows; empty for a free choice."""
    return choices.listed(_without_example(system)) or choices.shown(shape_in(system))


@lru_cache(maxsize=64)
def shape_in(system: str) -> Any:
    """A prompt's example of an answer, also one with single quotes or with none around its keys."""
    text = system[:_LONGEST]
    return template_in(text) or template_in(
        re.sub(r"([{,]\s{0,40})(\w{2,30})\s?:", r'\1"\2":', re.sub(r"'([^'\n]{1,200})'", r'"\1"', text)))


@lru_cache(maxsize=64)
def template_in(text: str) -> Any:
    """The first JSON-like object with quoted keys that a prompt shows, loosely read; None where there is none."""
    text = text[:_LONGEST]
    for start in re.finditer(r"\{\s{0,40}\"\w", text):
        value, end = _value(text, start.start(), 0)
        if end and value:
            return value
    return None


def from_schema(schema: Any) -> Any:
    """A template in the shape that a JSON schema asks for. Of several types the first counts, and `true` is one too."""
    if not isinstance(schema, Mapping):
        return ""
    kind = schema.get("type")
    kind = next(iter(kind), "") if isinstance(kind, list) else kind
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
    text = text.partition("//")[0].strip()
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
    """Past white space, commas, dots of an ellipsis and comments."""
    return re.compile(r"[\s,…]*(?:\.{3})?(?:[\s,]+|//[^\n]{0,200})*").match(text, i).end()
