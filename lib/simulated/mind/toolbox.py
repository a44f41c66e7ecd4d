"""Which of the offered tools serves which need, judged by what its name, description and parameters say."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_ENOUGH = 4
_EMPTY = frozenset(("stuff", "things", "something", "misc", "various"))


@dataclass(frozen=True)
class Need:
    action: str                 # what the tool does, looked for in its name and in its description's beginning
    about: str                  # what it does it with
    parameters: str             # names of parameters that fit


NEEDS = {
    "tally": Need(r"tally|count|aggregat|tabulat|group|rank|statistic", r"cause|ticket|assignment|label|categor",
                  r"assignments?|items|labels|entries|pairs|causes|mapping"),
    "list": Need(r"list|browse|all|index|page|overview|enumerate",
                 r"tickets|cases|requests|messages|inbox|conversations",
                 r"offset|skip|start|page|cursor|limit|page_size|per_page"),
    "read": Need(r"read|get|open|fetch|show|view|load|full|detail", r"ticket|case|request|message|conversation|body",
                 r"(ticket|case|request|message)?_?(id|ids|key|number)|ticket|tickets"),
    "search": Need(r"search|find|query|grep|look", r"tickets|cases|requests|messages|text|words",
                   r"query|q|text|keywords?|terms?"),
    "incidents": Need(r"incident|outage|disruption|downtime", r"product|service|component|incident",
                      r"product\w*|service\w*"),
    "customer": Need(r"customer|client|account", r"customer|client|account", r"(customer|client|account)\w*"),
    "product": Need(r"product|service|component", r"product|service|component", r"(product|service|component)\w*"),
}


@dataclass(frozen=True)
class Offered:
    """A tool as the request offers it."""

    name: str
    properties: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]

    def parameter(self, pattern: str, kind: str = "") -> str:
        """The first parameter whose name fits (and whose type is `kind`), "" if there is none."""
        return next((name for name, schema in self.properties.items() if re.fullmatch(pattern, name, re.I)
                     and kind in ("", schema.get("type"))), "")

    def with_defaults(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments, with something that the schema accepts for every other required parameter."""
        missing = (name for name in self.required if name not in given)
        return {**{name: _anything(self.properties.get(name, {})) for name in missing}, **given}


def toolbox(tools: Sequence[Mapping[str, Any]]) -> dict[str, Offered]:
    """Need -> the tool that serves it best; needs that no tool serves are left out."""
    return _toolbox(json.dumps(tools))


@lru_cache(maxsize=64)
def _toolbox(tools: str) -> dict[str, Offered]:
    offers = json.loads(tools)
    scored = [(score, -list(NEEDS).index(need), -i, need) for i, tool in enumerate(offers) for need in NEEDS
              if (score := _score(NEEDS[need], tool)) >= _ENOUGH]
    chosen: dict[str, int] = {}
    for _, _, place, need in sorted(scored, reverse=True):
        if need not in chosen and -place not in chosen.values():
            chosen[need] = -place
    return {need: offered(offers[i]) for need, i in chosen.items()}


def offered(tool: Mapping[str, Any]) -> Offered:
    schema = tool.get("input_schema") or {}
    return Offered(tool["name"], schema.get("properties") or {}, tuple(schema.get("required") or ()))


def _score(need: Need, tool: Mapping[str, Any]) -> float:
    if _is_vague(tool.get("description", "")):
        return 0
    name = re.sub(r"(?<=[a-z])(?=[A-Z])|[_-]+", " ", tool["name"]).lower()
    described = tool.get("description", "").lower()
    beginning = re.split(r"[.:;]", described, maxsplit=1)[0]
    parameters = (tool.get("input_schema") or {}).get("properties") or {}
    fits = any(re.fullmatch(need.parameters, p, re.I) for p in parameters)
    return (3 * _says(need.action, name) + 2 * _says(need.action, beginning) + 2 * fits
            + _says(need.about, name) + _says(need.about, beginning))


def _is_vague(description: str) -> bool:
    """Whether it says too little to trust the tool: two words, or nothing but stuff and things."""
    spoken = re.findall(r"\w+", description.lower())
    return len(spoken) < 3 or len(spoken) < 7 and bool(_EMPTY & set(spoken))


def _says(pattern: str, text: str) -> bool:
    return bool(re.search(rf"\b(?:{pattern})", text))


def _anything(schema: Mapping[str, Any]) -> Any:
    if "default" in schema or schema.get("enum"):
        return schema.get("default", (schema.get("enum") or [None])[0])
    return {"integer": schema.get("minimum", 1), "number": schema.get("minimum", 1), "boolean": False, "array": [],
            "object": {}}.get(schema.get("type"), "")
