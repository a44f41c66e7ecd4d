"""Which of the offered tools serves which need, judged by what its name, description and parameters say, and which
others say the same of themselves."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

_ENOUGH = 4
_EMPTY = frozenset(("stuff", "things", "something", "misc", "various"))
_SHORT = 12                 # words of a description that is vague unless one of them says what the tool does
_DOES = (r"return|give|list|find|search|count|tall|show|get|read|open|fetch|look|retriev|load|sum|group|aggregat|rank|"
         r"provid|display|browse|quer|all\b|full|text|page|gib|liefer|suche|sucht|findet|zähl|liest|zeig|öffne|holt|"
         r"devuelve|busca|cuenta|renvoie|cherche|compte")
_ACTION = re.compile(r"action|operation|op|command|mode|method", re.I)     # a parameter that makes several tools of one
_NOT_USE = r"(?:\b(?:not|never|without|avoid)|n't) (?:us|call)(?:e|ing|)\b"
_RETIRED = re.compile(rf"{_NOT_USE}(?: (?:it|this)(?: tool| one)?)?(?: (?:any ?more|at all|now|yet))?\s*(?:[.!;,]|$)"
                      r"|\bdeprecated\b", re.I)
_SMALL = frozenset("a an the of or and in on for to with as by is are it its that this one each at".split())


@dataclass(frozen=True)
class Need:
    action: str                 # what the tool does, looked for in its name and in its description's beginning
    about: str                  # what it does it with
    parameters: str             # names of parameters that fit


NEEDS = {
    "tally": Need(r"tally|count|aggregat|tabulat|group|rank|statistic", r"cause|ticket|assignment|label|categor",
                  r"assignments?|items|labels|entries|pairs|causes|mapping"),
    "list": Need(r"list|browse|all\b|index|page|overview|enumerate",
                 r"tickets|cases|requests|messages|inbox|conversations",
                 r"offset|skip|start|page|cursor|limit|page_size|per_page"),
    "read": Need(r"read|get|open|fetch|show|view|load|full|detail|returns? (?:one|a|the|any) (?:\w+ )?ticket",
                 r"ticket|case|request|message|conversation|body",
                 r"(ticket|case|request|message)?_?(id|ids|key|number)|ticket|tickets"),
    "search": Need(r"search|find|query|grep|look", r"tickets|cases|requests|messages|text|words",
                   r"query|q|text|keywords?|terms?"),
    "incidents": Need(r"incident|outage|disruption|downtime", r"product|service|component|incident",
                      r"product\w*|service\w*"),
    "customer": Need(r"customer|client|account", r"customer|client|account", r"(customer|client|account)\w*"),
    "product": Need(r"product|service|component", r"product|service|component", r"(product|service|component)\w*"),
}

_CALLED = ("list", "search", "read", "tally", "incidents")      # needs that the simulation calls tools for
_ABOUT = r".*(customer|client|account|product|service|component|ticket|case).*"
_RECORD = re.compile(r"(?:get|read|fetch|show|look|lookup|up|load|open|view|find|one|a|the|by|of|id|record|details?|"
                     r"data|info|rows?|customers?|clients?|accounts?|products?|services?|components?|tickets?|cases?)")

_DONE = "|".join(need.action for need in NEEDS.values())
_DONE_TO = "|".join(need.about for need in NEEDS.values())


@dataclass(frozen=True)
class Offered:
    """A tool as the request offers it."""

    name: str
    description: str
    properties: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    twins: tuple[Offered, ...] = ()     # other tools whose descriptions say the same
    fixed: Mapping[str, Any] = field(default_factory=dict)      # the arguments that make it one tool of several

    def parameter(self, pattern: str, kind: str = "") -> str:
        """The first parameter whose name fits (and whose type is `kind`), "" if there is none."""
        return next((name for name, schema in self.properties.items() if re.fullmatch(pattern, name, re.I)
                     and (not kind or kind in kinds(schema))), "")

    def with_defaults(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments, with something that the schema accepts for every other required parameter."""
        missing = (name for name in self.required if name not in given)
        return {**{name: _anything(self.properties.get(name, {})) for name in missing}, **given, **self.fixed}

    def made(self, name: str, given: Mapping[str, Any]) -> bool:
        """Whether a call was one of this tool."""
        return name == self.name and all(given.get(key) == value for key, value in self.fixed.items())


def toolbox(tools: Sequence[Mapping[str, Any]], prompt: str = "") -> dict[str, Offered]:
    """Need -> the tool that serves it best; needs that no tool serves are left out, and so are tools that the prompt or
    their own description forbids."""
    return _toolbox(json.dumps([tool for tool in tools if not _is_forbidden(tool, prompt)]))


def others(tools: Sequence[Mapping[str, Any]], prompt: str = "") -> list[Offered]:
    """Tools that serve none of the needs tools are called for and give more than the plain record of one customer or
    product: those that ask for nothing but a customer, a product or a ticket, or for nothing, and tell of one."""
    serving = {tool.name for need, tool in toolbox(tools, prompt).items() if need in _CALLED}
    return [offered(tool) for tool in tools if tool["name"] not in serving and not _is_forbidden(tool, prompt)
            and not _is_vague(tool.get("description") or "") and _can_be_asked(offered(tool))
            and not all(map(_RECORD.fullmatch, _spoken(tool["name"]).split()))]


def _can_be_asked(tool: Offered) -> bool:
    """Whether it only tells, what it has to be given is known, and what it tells is no list of tickets."""
    told = _beginning(tool.description.lower())
    if not re.match(rf"\W*(?:{_DOES})", told):
        return False
    if about := tool.parameter(_ABOUT):
        return set(tool.required) <= {about}
    of_tickets = _says(NEEDS["list"].about, f"{told} {_spoken(tool.name)}")
    return not tool.required and not of_tickets and _says(_DONE_TO, told)


def _is_forbidden(tool: Mapping[str, Any], prompt: str) -> bool:
    name = rf"[`'\"]?{re.escape(tool['name'])}\b[`'\"]?"
    return bool(_RETIRED.search(tool.get("description") or "") or re.search(
        rf"{_NOT_USE}(?:[^\w.:;\n]+\w+){{0,6}}?[^\w.:;\n]+{name}\s*(?:[.,;!\n]|$|and\b|or\b|at all|tool)"
        rf"|\b(?:be|ver)?(?:nutz|wend)\w*\s+(?:\w+ ){{0,2}}{name}\s+nicht", prompt, re.I))


@lru_cache(maxsize=64)
def _toolbox(tools: str) -> dict[str, Offered]:
    offers = [offer for tool in json.loads(tools) for offer in _by_action(tool)]
    scored = [(score, -list(NEEDS).index(need), -i, need) for i, tool in enumerate(offers) for need in NEEDS
              if (score := _score(NEEDS[need], tool)) >= _ENOUGH]
    chosen: dict[str, int] = {}
    for _, _, place, need in sorted(scored, reverse=True):
        if need not in chosen and -place not in chosen.values():
            chosen[need] = -place
    return {need: _with_twins(offers[i], offers) for need, i in chosen.items()}


def _by_action(tool: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The tool, or one for each of its actions where it has several."""
    properties = (tool.get("input_schema") or {}).get("properties") or {}
    name = next(filter(_ACTION.fullmatch, properties), "")
    told = re.findall(rf"\b{re.escape(name)}\s?=\s?[\"']?(\w+)", tool.get("description") or "") if name else ()
    values = _as_object(properties.get(name)).get("enum") or list(dict.fromkeys(told))
    yield from ({**tool, "spoken": f"{value} {tool['name']}", "fixed": {name: value}} for value in values)
    if not values:
        yield tool


def offered(tool: Mapping[str, Any]) -> Offered:
    schema = tool.get("input_schema") or {}
    properties = {name: _as_object(given) for name, given in (schema.get("properties") or {}).items()}
    return Offered(tool["name"], tool.get("description") or "", properties, tuple(schema.get("required") or ()),
                   fixed=tool.get("fixed", {}))


def _as_object(schema: Any) -> Mapping[str, Any]:
    """A schema may be just true; what every parameter of ours is read by is an object."""
    return schema if isinstance(schema, Mapping) else {}


def items_of(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of a list's items, empty where it does not say."""
    return _as_object(schema.get("items"))


def kinds(schema: Any) -> tuple[str, ...]:
    """The types that a schema accepts, () where it does not say."""
    schema = _as_object(schema)
    given = [_as_object(option).get("type") for option in
             (schema, *(schema.get("anyOf") or ()), *(schema.get("oneOf") or ()))]
    return tuple(kind for g in given for kind in (g if isinstance(g, list) else [g]) if kind)


def _with_twins(tool: Mapping[str, Any], offers: Sequence[Mapping[str, Any]]) -> Offered:
    twins = tuple(offered(t) for t in offers if t["name"] != tool["name"] and _say_the_same(tool, t))
    return replace(offered(tool), twins=twins)


def _say_the_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two descriptions hold the same words, or differ in few that tell nothing of what the tools do."""
    if _is_vague(one.get("description", "")):
        return False
    mine, theirs = _telling(one.get("description", "")), _telling(other.get("description", ""))
    apart = mine ^ theirs
    return len(apart) <= len(mine | theirs) // 10 and not any(_says(f"{_DONE}|{_DONE_TO}", word) for word in apart)


def _telling(description: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", description.lower())) - _SMALL


def _score(need: Need, tool: Mapping[str, Any]) -> float:
    if _is_vague(tool.get("description", "")):
        return 0
    name = _spoken(tool.get("spoken", tool["name"]))
    described = tool.get("description", "").lower()
    beginning = _beginning(described)
    parameters = (tool.get("input_schema") or {}).get("properties") or {}
    fits = any(re.fullmatch(need.parameters, p, re.I) for p in parameters)
    return (3 * _says(need.action, name) + 2 * _says(need.action, beginning) + 2 * fits
            + _says(need.about, name) + _says(need.about, beginning))


def _beginning(described: str) -> str:
    return re.split(r"[.:;]", described, maxsplit=1)[0]


def _spoken(name: str) -> str:
    """A name in words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_-]+", " ", name).lower()


def _is_vague(description: str) -> bool:
    """Whether it says too little to trust the tool: two words, stuff and things, or nothing of what the tool does."""
    spoken = re.findall(r"\w+", description.lower())
    if len(spoken) < 3 or len(spoken) < 7 and _EMPTY & set(spoken):
        return True
    return len(spoken) <= _SHORT and not _says(f"{_DOES}|{_DONE}", description.lower())


def _says(pattern: str, text: str) -> bool:
    return bool(re.search(rf"\b(?:{pattern})", text))


def _anything(schema: Mapping[str, Any]) -> Any:
    if "default" in schema or schema.get("enum"):
        return schema.get("default", (schema.get("enum") or [None])[0])
    return {"integer": schema.get("minimum", 1), "number": schema.get("minimum", 1), "boolean": False, "array": [],
            "object": {}}.get(next(iter(kinds(schema)), ""), "")
