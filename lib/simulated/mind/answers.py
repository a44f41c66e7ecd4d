"""Puts what the mind found into the shape the prompt asks for, and into prose where no shape is asked for strictly."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import Any

from lib.simulated.mind import choices
from lib.simulated.mind.chance import number
from lib.simulated.mind.reading import Ask
from lib.simulated.mind.text import pick

HONEST = ("This is a simulation: its rules label tickets, merge labels, summarise causes and investigate tickets with "
          "tools, but they cannot answer this.")
Choose = Callable[[Sequence[str]], str] | None

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
    ("cause", r"cause|label|category|topic|issue|problem|theme|title|^name$|class|type|group|canonical|"
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


def reply_text(ask: Ask, facts: Mapping[str, Any], prose: str, seed: str, choose: Choose = None) -> str:
    """JSON where the prompt insists on it; where it only asks for it mostly JSON in a fence; where it does not even
    that, now prose alone, now JSON bare or in a fence, as people's models do. `choose` picks one of a field's
    options."""
    if ask.template is None and ask.language != "json":
        shaped: Any = dict(facts)
    elif ask.template is None:
        shaped = dict(facts) if ask.asked_again and "groups" not in facts else _own_format(facts)
    else:
        shaped = fill(ask.template, facts, choose)
    if ask.only_json:
        return json.dumps(shaped, ensure_ascii=False)
    if ask.language in _WRITTEN and isinstance(shaped, Mapping):
        return _WRITTEN[ask.language](shaped)
    if ask.language == "prose" or ask.template is None and ask.language != "json":
        return prose
    fenced = f"```json\n{json.dumps(shaped, ensure_ascii=False, indent=2)}\n```"
    both = f"{prose}\n\n{fenced}"
    if ask.language == "json":
        return pick((fenced, both, prose), seed)
    return (prose, both, prose, fenced, json.dumps(shaped, ensure_ascii=False))[number(f"form {seed}", 5) - 1]


def _own_format(facts: Mapping[str, Any]) -> dict[str, Any]:
    """JSON was asked for and no format given, so the keys are of the model's choice."""
    if "groups" in facts:
        return {"root_causes": facts["groups"]}
    return {key: facts[name] for key, name in (("root_cause", "cause"), ("explanation", "summary")) if name in facts}


def _as_xml(shaped: Mapping[str, Any]) -> str:
    inner = "\n".join(f"  <{key}>{escape(_one_line(value), quote=False)}</{key}>" for key, value in shaped.items())
    return f"<answer>\n{inner}\n</answer>"


def _as_yaml(shaped: Mapping[str, Any]) -> str:
    return "\n".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in shaped.items())


def _one_line(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_WRITTEN = {"xml": _as_xml, "yaml": _as_yaml}


def asks_for(fact: str, template: Any) -> bool:
    return isinstance(template, Mapping) and any(_meaning(key, "", {fact: ""}) for key in template)


def fill(template: Any, facts: Mapping[str, Any], choose: Choose = None) -> Any:
    """The template with its values replaced by what the facts hold for each key."""
    if isinstance(template, Mapping):
        return {key: _filled(key, shape, facts, choose) for key, shape in template.items()}
    if isinstance(template, list):
        rows = next((facts[name] for name in _MANY if name in facts), [facts])
        return [fill(template[0], row, choose) for row in rows] if template else list(rows)
    return facts.get("cause", template)


def _filled(key: str, shape: Any, facts: Mapping[str, Any], choose: Choose) -> Any:
    meaning = _meaning(key, shape, facts)
    value = facts.get(meaning)
    if shape is None and value is not None:
        return list(value) if isinstance(value, tuple) else value
    if isinstance(shape, Mapping):
        return fill(shape, facts, choose)
    if isinstance(shape, list) and isinstance(value, Sequence) and not isinstance(value, str):
        inner = shape[0] if shape else None
        return [fill(inner, row) if isinstance(row, Mapping) and isinstance(inner, Mapping) else _simple(row)
                for row in value]
    if value is None or isinstance(value, (list, tuple, dict)):
        return _unknown(shape, choose)
    if isinstance(shape, list):
        return [fill(shape[0], facts, choose) if shape and isinstance(shape[0], Mapping) else value]
    if isinstance(shape, bool) and value in _RANKS:
        return value == "high"
    options = _options(shape, meaning)
    return _option(options, value) if options else value


def _meaning(key: str, shape: Any, facts: Mapping[str, Any]) -> str:
    matching = [name for name in _meanings(key) if name in facts]
    if isinstance(shape, list):
        matching.sort(key=lambda name: not isinstance(facts[name], (list, tuple)))
    return matching[0] if matching else ""


@lru_cache(maxsize=1_024)
def _meanings(key: str) -> tuple[str, ...]:
    """All that a key of that name may stand for."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower().replace("-", "_")
    return tuple(name for name, pattern in _MEANINGS if re.search(pattern, words))


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


def _unknown(shape: Any, choose: Choose) -> Any:
    """An honest stand-in of the right kind for a field that the rules have no answer to; of options the one that the
    text speaks of most, unless one of them says that it is not known."""
    if isinstance(shape, list):
        return []
    options = choices.options(shape)
    if options:
        unsure = (o for o in options if re.search(r"neutral|unknown|unclear|other|none|n/a", o, re.I))
        return next(unsure, "") or (choose(options) if choose else options[0])
    if isinstance(shape, str):
        return "not stated"
    return shape if isinstance(shape, bool) else 0
