"""Puts what the mind found into the shape the prompt asks for, and into prose where no shape is asked for strictly."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from lib.simulated.mind.reading import Ask
from lib.simulated.mind.text import pick

# What a key of the wished-for JSON stands for, by the words in its name.
_MEANINGS = (
    ("ticket_ids", r"ticket_?ids$|^tickets$|^ids$|examples|members"),
    ("customers", r"customer"),
    ("customer_ids", r"customer"),
    ("count", r"count|number|total|how_many|frequency|^n$|size"),
    ("labels", r"labels$|synonyms|variants|names$|merged"),
    ("groups", r"groups|clusters|causes$|categories$|themes|topics$|results|answer"),
    ("evidence", r"evidence|quote|excerpt|snippet|proof|citation|verbatim|zitat|beleg|^cita$|prueba"),
    ("summary", r"summary|explanation|description|reason|why|details?$|rationale|analysis|zusammenfassung|begr|resum"),
    ("cause", r"cause|label|category|topic|issue|problem|theme|title|name|class|type|group|canonical|"
              r"ursache|grund|kategorie|thema|causa|motivo"),
    ("confidence", r"confidence|certainty|probability|score"),
    ("language", r"lang"),
    ("severity", r"severity|urgen|priority|impact|schwere|dringlich|gravedad|gravite"),
    ("sentiment", r"sentiment|mood|tone"),
    ("ticket_id", r"ticket|^id$|key"),
)
_MANY = ("groups",)
_RANKS = ("low", "medium", "high")
_OPTIONS = re.compile(r"[\w -]{1,24}(?:(?:\s*[,/|]\s*|,?\s+(?:or|oder|and)\s+)[\w -]{1,24}){1,9}")


def reply_text(ask: Ask, facts: Mapping[str, Any], prose: str, seed: str) -> str:
    """JSON where the prompt insists on it; else now JSON in a fence, now prose alone, as people's models do."""
    if ask.template is None and ask.only_json and not ask.asked_again and "groups" not in facts:
        return json.dumps(_own_format(facts), ensure_ascii=False)
    shaped = fill(ask.template if ask.template is not None else dict(facts), facts)
    text = json.dumps(shaped, ensure_ascii=False)
    if ask.only_json:
        return text
    if ask.template is None:
        return prose
    return pick((prose, f"{prose}\n\n```json\n{json.dumps(shaped, ensure_ascii=False, indent=2)}\n```"), seed)


def _own_format(facts: Mapping[str, Any]) -> dict[str, Any]:
    """JSON was asked for and no format given, so the keys are of the model's choice."""
    return {key: facts[name] for key, name in (("root_cause", "cause"), ("explanation", "summary")) if name in facts}


def asks_severity(template: Any) -> bool:
    return isinstance(template, Mapping) and any(_meaning(key, "", {"severity": ""}) for key in template)


def fill(template: Any, facts: Mapping[str, Any]) -> Any:
    """The template with its values replaced by what the facts hold for each key."""
    if isinstance(template, Mapping):
        return {key: _filled(key, shape, facts) for key, shape in template.items()}
    if isinstance(template, list):
        rows = next((facts[name] for name in _MANY if name in facts), [facts])
        return [fill(template[0], row) for row in rows] if template else list(rows)
    return facts.get("cause", template)


def _filled(key: str, shape: Any, facts: Mapping[str, Any]) -> Any:
    meaning = _meaning(key, shape, facts)
    value = facts.get(meaning)
    if shape is None and value is not None:
        return list(value) if isinstance(value, tuple) else value
    if isinstance(shape, Mapping):
        return fill(shape, facts)
    if isinstance(shape, list) and isinstance(value, Sequence) and not isinstance(value, str):
        inner = shape[0] if shape else None
        return [fill(inner, row) if isinstance(row, Mapping) and isinstance(inner, Mapping) else _simple(row)
                for row in value]
    if value is None or isinstance(value, (list, tuple, dict)):
        return _unknown(shape)
    if isinstance(shape, list):
        return [value]
    if isinstance(shape, bool) and value in _RANKS:
        return value == "high"
    options = _options(shape, meaning)
    return _option(options, value) if options else value


def _meaning(key: str, shape: Any, facts: Mapping[str, Any]) -> str:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower().replace("-", "_")
    matching = [name for name, pattern in _MEANINGS if re.search(pattern, words) and name in facts]
    if isinstance(shape, list):
        matching.sort(key=lambda name: not isinstance(facts[name], (list, tuple)))
    return matching[0] if matching else ""


def _simple(row: Any) -> Any:
    return row.get("cause", "") if isinstance(row, Mapping) else row


def _options(shape: Any, meaning: str) -> Sequence[str]:
    """The choices a shape lists: `a|b|c` for any key, "a, b or c" and a/b/c only where one word is wanted."""
    if not isinstance(shape, str):
        return ()
    if "|" in shape:
        return shape.split("|")
    found = _OPTIONS.search(shape) if meaning in ("severity", "sentiment", "language") else None
    parts = re.split(r"\s*[,/]\s*|\s+(?:or|oder|and)\s+", found[0]) if found else ()
    return [re.sub(r"^(?:or|with|one of|is|as|mit|of)\s+", "", p.strip()) for p in parts if p.strip()]


def _option(options: Sequence[str], value: Any) -> str:
    plain = [option.strip() for option in options]
    if value in _RANKS and all(str(value) != option.lower() for option in plain):
        ordered = plain if not re.search(r"high|critical|urgent|p?1$|hoch", plain[0], re.I) else plain[::-1]
        return ordered[round(_RANKS.index(value) / 2 * (len(ordered) - 1))]
    return next((option for option in plain if option.lower() == str(value).lower()), plain[len(plain) // 2])


def _unknown(shape: Any) -> Any:
    """An honest stand-in of the right kind for a field that the rules have no answer to."""
    if isinstance(shape, list):
        return []
    if isinstance(shape, str) and "|" in shape:
        options = [option.strip() for option in shape.split("|")]
        return next((o for o in options if re.search(r"neutral|unknown|unclear|other|none|n/a", o, re.I)), options[0])
    if isinstance(shape, str):
        return "not stated"
    return shape if isinstance(shape, bool) else 0
