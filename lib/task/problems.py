"""What is wrong with a design, found while it is edited, so that nothing is sent which the API would refuse."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lib.catalog import Catalog
from lib.design import CACHING, OUTPUTS, Design, Step, ToolText
from lib.models import model
from lib.phrases import some
from lib.remember import remembered
from lib.task.default_design import STEPS
from lib.task.own_tools import parameters_of, query_problem
from lib.task.patterns import endless_patterns
from lib.task.tools import DEFAULT_TOOLS, parameters
from lib.usage.tokens import estimate

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
PROPERTY_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
RANGES: dict[str, tuple[float, float]] = {
    "k": (1, 50),
    "workers": (1, 64),
    "retries": (0, 5),
    "keep_results": (0, 1_000),
    "result_chars": (0, 100_000),
    "limits.max_turns": (1, 1_000),
    "limits.max_tokens": (1, 10**12),
    "limits.max_usd": (0, 10**6),
    "limits.max_seconds": (1, 7 * 86_400),
}
LONGEST_REPLY = 1_000_000       # tokens, of a model whose own limits nobody knows: its server tells them
WHOLE = {"k", "workers", "retries", "keep_results", "result_chars", "limits.max_turns", "limits.max_tokens"}


# What the code reads of the JSON that each prompt asks for.
NAMED = {"label": ("cause", "evidence"), "merge": ("groups", "cause", "labels"), "summary": ("summary",),
         "agent": ("causes", "cause", "ticket_ids")}
_CALLS_IT_DATA = re.compile(r"\b(?:data|content)\b[^.\n]{0,60}\b(?:never|not|no)\b[^.\n]{0,20}\binstructions?\b|"
                            r"\b(?:never|not|do not|don't)\b[^.\n]{0,30}\b(?:follow|obey)\b|"
                            r"\b(?:ignore|disregard)\b[^.\n]{0,30}\b(?:instructions?|orders?|commands?)\b",
                            re.IGNORECASE)
_NAMES = r"""["'`“‘]{0}["'`”’]|[{{,]\s*{0}\s*:|\b(?:keys?|fields?|properties)\b[^.\n]{{0,80}}\b{0}\b"""
_PLACEHOLDER = re.compile(r"\{\{?[A-Za-z_]\w*\}?\}", re.ASCII)


@dataclass(frozen=True)
class Problem:
    field: str          # the path in the design, such as "steps.label.system" or "tools.read_ticket.name"
    text: str           # one line: what is wrong and what is allowed; the field is named by whoever shows it
    severity: str = "error"     # or "warning": a design with warnings alone may run


def problems(design: Design, catalog: Catalog | None = None) -> list[Problem]:
    """Everything that must be changed before this design may run; an empty list when it may. With a `catalog` the
    queries of own tools are tried on it."""
    return [*_numbers(design), *_choices(design), *_steps(design), *_tools(design, catalog)]


def connection_problems(design: Design, source: str) -> list[Problem]:
    """What the design asks for that this source of answers ("simulated", "live", "server", "replay") does not have."""
    if source == "server" and design.output == "structured":
        return [Problem("output", "a local server holds no reply to a schema; choose to ask for JSON and validate it")]
    if source == "simulated":
        return [Problem(f"steps.{name}.model", f"the simulation has no model {step.model!r}; choose one of the list, "
                                               "or a server that has it")
                for name, step in design.steps.items()
                if name in STEPS and step.model.strip() and not model(step.model).listed]
    return []


def warnings(design: Design) -> list[Problem]:
    """What may run as it is but probably should not: a person may break a prompt on purpose, and should know."""
    return [*_of_prompts(design), *_of_parameters(design)]


def _of_prompts(design: Design) -> Iterator[Problem]:
    for name, step in design.steps.items():
        if name in STEPS and not _is_blank(step.system):
            for text in _lost(name, step.system, design):
                yield Problem(f"steps.{name}.system", text, "warning")


def _lost(name: str, prompt: str, design: Design) -> Iterator[str]:
    """What a prompt no longer says, or says in vain."""
    asked = prompt.lower()
    if design.output == "ask" and "json" not in asked:
        yield "it no longer asks for JSON; replies in prose are sent back once and then count as failed"
    elif design.output == "ask" and (absent := [key for key in NAMED[name] if not _names(asked, key)]):
        yield f"it no longer names {some([repr(key) for key in absent])} of the JSON that code reads"
    if design.tags and not _CALLS_IT_DATA.search(prompt):
        yield "it no longer says that what stands in tags is data and never instructions: a ticket may give orders"
    if found := sorted(set(_PLACEHOLDER.findall(prompt))):
        yield f"nothing is filled in here: {some(found)} is sent as it stands; the data follow in the user's turn"


def _names(prompt: str, key: str) -> bool:
    """Whether it stands there as a name: in quotes of any kind, in braces before a colon, or in a list of keys. A cause
    without them is a word like any other."""
    return bool(re.search(_NAMES.format(key), prompt))


def _of_parameters(design: Design) -> Iterator[Problem]:
    for tool in design.tools:
        if tool.enabled and isinstance(tool.input_schema, dict):
            bare = [name for name, schema in _properties(tool).items()
                    if not isinstance(schema, dict) or _is_blank(schema.get("description"))]
            if bare:
                yield Problem(f"tools.{tool.key}.input_schema", f"{some([repr(name) for name in bare])} has no "
                              "description; the model has to guess its format", "warning")


def _properties(tool: ToolText) -> dict[str, Any]:
    found = tool.input_schema.get("properties", {})
    return found if isinstance(found, dict) else {}


def _numbers(design: Design) -> Iterator[Problem]:
    for field, (lowest, highest) in RANGES.items():
        owner, _, name = field.rpartition(".")
        value = getattr(design.limits if owner else design, name)
        if not _is_number(value, whole=field in WHOLE) or not lowest <= value <= highest:
            kind = "a whole number" if field in WHOLE else "a number"
            yield Problem(field, f"{value!r} is not possible; it takes {kind} from {lowest:,} to {highest:,}")


def _is_number(value: Any, whole: bool) -> bool:
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
        return False
    return math.isfinite(value)


def _choices(design: Design) -> Iterator[Problem]:
    for field, possible in (("caching", CACHING), ("output", OUTPUTS)):
        if getattr(design, field) not in possible:
            yield Problem(field, f"{getattr(design, field)!r} is not possible; it takes one of {', '.join(possible)}")
    for field in ("parallel_tools", "tags"):
        if not isinstance(getattr(design, field), bool):
            yield Problem(field, f"{getattr(design, field)!r} is not possible; it is on or off")


def _steps(design: Design) -> Iterator[Problem]:
    for name in sorted(design.steps.keys() - set(STEPS)):
        yield Problem(f"steps.{name}", f"there is no step {name!r}; the steps are {', '.join(STEPS)}")
    for name in STEPS:
        if name not in design.steps:
            yield Problem(f"steps.{name}", f"the step {name!r} is missing")
        else:
            yield from _step(f"steps.{name}", design.steps[name])


def _step(field: str, step: Step) -> Iterator[Problem]:
    if _is_blank(step.system):
        yield Problem(f"{field}.system", "the system prompt is empty")
    if _is_blank(step.model):
        yield Problem(f"{field}.model", "no model is chosen")
        return
    if step.model != step.model.strip():
        yield Problem(f"{field}.model", f"the model {step.model!r} has white space around its name")
    known = model(step.model)
    if known.listed and isinstance(step.system, str) and (tokens := _tokens_above(known.window, step)):
        yield Problem(f"{field}.system", f"the prompt alone is about {tokens:,} tokens, {known.name} holds "
                                         f"{known.window:,}")
    longest = known.max_output if known.listed else LONGEST_REPLY
    if not _is_number(step.max_tokens, whole=True) or not 1 <= step.max_tokens <= longest:
        who = known.name if known.listed else "it"
        yield Problem(f"{field}.max_tokens", f"{step.max_tokens!r} is not possible; {who} takes a whole number from 1 "
                                             f"to {longest:,}")
    if step.effort and step.effort not in known.efforts:
        takes = f"it takes {some(known.efforts, len(known.efforts))}" if known.efforts else "it has no such setting"
        yield Problem(f"{field}.effort", f"{known.name} does not know the effort {step.effort!r}; {takes}")


def _tokens_above(window: int, step: Step) -> int:
    """Tokens of the prompt if they are more than the window, else 0. Counted only where they may be: a token is at
    least a byte."""
    tokens = estimate(step.system, step.model) if 4 * len(step.system) > window else 0
    return tokens if tokens > window else 0


def _is_blank(text: Any) -> bool:
    return not isinstance(text, str) or not text.strip()


def _tools(design: Design, catalog: Catalog | None) -> Iterator[Problem]:
    functions = {tool.key for tool in DEFAULT_TOOLS} | {tool.key for tool in design.tools if tool.is_own}
    sent = [tool for tool in design.tools if tool.enabled]
    names, keys = Counter(map(_name_of, sent)), Counter(tool.key for tool in design.tools)
    for tool in sent:
        field = f"tools.{tool.key}"
        if tool.key not in functions or keys[tool.key] > 1:
            what = "stands in the design twice" if tool.key in functions else "has no function behind it"
            yield Problem(field, f"the tool {tool.key!r} {what}")
        yield from _name(f"{field}.name", _name_of(tool), names)
        if _is_blank(tool.description):
            yield Problem(f"{field}.description", "the description is empty; it is all the model knows of the tool")
        faults = schema_problems(tool.input_schema) or _unknown_parameters(tool)
        yield from (Problem(f"{field}.input_schema", text) for text in faults)
        if tool.is_own and (refusal := query_problem(_query_of(tool), catalog)):
            yield Problem(f"{field}.query", refusal)


def _unknown_parameters(tool: ToolText) -> list[str]:
    """Properties of a sound schema that the function does not take: it would refuse every call that gives one. Of an
    own tool also the names of its query that the schema lacks: they would always be NULL."""
    if tool.is_own:
        return _unmatched(parameters_of(_query_of(tool)), list(_properties(tool)))
    takes = parameters(tool.key)
    unknown = [repr(name) for name in tool.input_schema.get("properties", {}) if takes and name not in takes]
    return [f"the function behind it takes {some(takes)}; it does not know {some(unknown)}"] if unknown else []


def _unmatched(asked: list[str], given: list[str]) -> list[str]:
    absent, unused = [f":{name}" for name in asked if name not in given], [repr(n) for n in given if n not in asked]
    return ([f"the query asks for {some(absent)}, which the schema does not have"] if absent else []) + (
        [f"the query does not use {some(unused)}"] if unused else [])


def _query_of(tool: ToolText) -> str:
    return tool.query if isinstance(tool.query, str) else ""


def _name_of(tool: ToolText) -> str:
    return tool.name if isinstance(tool.name, str) else ""


def _name(field: str, name: str, names: Counter[str]) -> Iterator[Problem]:
    if not TOOL_NAME.fullmatch(name):
        yield Problem(field, f"the name {name!r} is not allowed; use 1 to 64 of a-z, A-Z, 0-9, _ and -")
    elif names[name] > 1:
        yield Problem(field, f"the name {name!r} is given to {names[name]} tools")


def schema_problems(schema: Any) -> list[str]:
    """Why the API would refuse this input schema: it must be JSON Schema 2020-12 for an object."""
    try:
        return list(_problems_of(json.dumps(schema)))
    except (TypeError, RecursionError):         # a value that JSON does not have, or too deep for it
        return _schema_problems(schema)


@remembered(kept=256, longest=20_000)
def _problems_of(schema: str) -> tuple[str, ...]:
    return tuple(_schema_problems(json.loads(schema)))


def _schema_problems(schema: Any) -> list[str]:
    if not isinstance(schema, dict):
        return ["the schema must be a JSON object"]
    texts = []
    if schema.get("type") != "object":
        texts.append('the schema needs "type": "object" at the top')
    combined = [word for word in ("oneOf", "allOf", "anyOf") if word in schema]
    if combined:
        texts.append(f"{', '.join(combined)} is not allowed at the top of the schema")
    if invalid := _invalid(schema):
        return texts + invalid      # what follows reads a schema that is one
    slow = [f"the pattern {_short(pattern)} could take for ever: it has a repeat inside a repeat"
            for pattern in endless_patterns(schema)]
    return texts + _unresolved(schema) + slow + _property_problems(schema)


def _invalid(schema: dict[str, Any]) -> list[str]:
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as fault:
        place = ".".join(map(str, fault.absolute_path)) or "the top"
        return [f"not valid JSON Schema 2020-12 at {place}: {_short(fault.instance)} is not allowed there"]
    except RecursionError:
        return ["the schema is nested too deeply"]
    return []


def _unresolved(schema: dict[str, Any]) -> list[str]:
    """References to elsewhere: no argument could be checked against them, so every call of the tool would fail."""
    from referencing import Registry
    from referencing.exceptions import NoSuchResource, Unresolvable
    from referencing.jsonschema import DRAFT202012

    resolver, texts = Registry().resolver_with_root(DRAFT202012.create_resource(schema)), []
    for reference in sorted(set(_references(schema))):
        try:
            resolver.lookup(reference)
        except (NoSuchResource, Unresolvable):
            texts.append(f'"$ref" {_short(reference)} points to nothing inside the schema')
    return texts


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, dict) and isinstance(part.get("$ref"), str):
        yield part["$ref"]
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _references(inner)


def _property_problems(schema: dict[str, Any]) -> list[str]:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    texts = [f"the property name {name!r} is not allowed; use 1 to 64 of a-z, A-Z, 0-9, _ . and -"
             for name in properties if not PROPERTY_NAME.fullmatch(str(name))]
    absent = [name for name in required if name not in properties]
    return texts + [f"{name!r} is required but not among the properties" for name in absent]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
