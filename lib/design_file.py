"""A design as one readable file: TOML, prompts as they read, schemas as JSON text. Read back, it is the same design.

A file comes from anybody, so each field is held against its type before a design is made of it. Whether the design can
be run is another question (`task.problems`): one with problems may be imported, and they are shown.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from lib.design import CACHING, OUTPUTS, OWN, Design, Limits, Step, ToolText
from lib.errors import DesignError
from lib.runs.untrusted import Wrong, at, check, check_range, described, kinds_of, parsed
from lib.task.default_design import STEPS

FORMAT = 1
MOST_BYTES = 2 * 2**20
MOST_TOOLS = 200
LONGEST_NAME = 1_000        # characters of the design's name
DEEPEST = 50                # levels of a schema; what reads it after us recurses
TOO_DEEP = f"nested deeper than {DEEPEST} levels"
LARGEST = 2**53 - 1         # of a number: what a browser holds exactly
_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")
# One that never ends goes to the end: linear time, whatever the file holds.
_STRINGS = re.compile(r'''"""(?:[^\\]|\\(?:.|\Z))*?(?:"""|\Z)|'{3}.*?(?:'{3}|\Z)|'''
                      r'''"(?:[^"\\\n]|\\.)*+"?|'[^'\n]*+'?|#[^\n]*+''', re.DOTALL)
_DOTTED = re.compile(r"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){4}")     # a few thousand of them take the parser minutes

_HEAD = """\
# A design of “pipeline or agent?”: prompts, tools, models and limits. Import it on the Design page.
# It was exported as version {version}: ten digits of all that follows, the name aside.
"""


@dataclass(frozen=True)
class Imported:
    design: Design
    unknown: tuple[str, ...]    # fields of the file that this version does not know and left out


# --- writing ---------------------------------------------------------------------------------------------------------


def write(design: Design) -> str:
    """The file's text. Raises DesignError for half a character, which no file holds."""
    whole = {f.name: getattr(design, f.name) for f in fields(Design)}
    plain = {name: value for name, value in whole.items() if name not in ("steps", "tools", "limits")}
    parts = [_HEAD.format(version=design.version), _table("", {"format": FORMAT, **plain}),
             *([] if design.tools else ["tools = []\n"]), _table("[limits]", vars(design.limits)),
             *(_table(f"[steps.{_key(name)}]", vars(step)) for name, step in design.steps.items()),
             *(_table("[[tools]]", _told(tool)) for tool in design.tools)]
    text = "\n".join(parts)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DesignError(_half_a_character(design, error)) from error
    return text


def _told(tool: ToolText) -> dict[str, Any]:
    """Without the query where there is none: most tools are the playground's own."""
    told = {**vars(tool), "input_schema": json.dumps(tool.input_schema, indent=2, ensure_ascii=False)}
    return told if tool.query else {name: value for name, value in told.items() if name != "query"}


def _half_a_character(design: Design, error: UnicodeEncodeError) -> str:
    return f"{design.name[:60]!a} is not exported: half a character stands in it, which no file holds ({error.reason})"


def _table(head: str, values: Mapping[str, Any]) -> str:
    lines = [f"{name} = {_value(value)}\n" for name, value in values.items()]
    return "".join([f"{head}\n"] * bool(head) + lines)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _string(value) if isinstance(value, str) else repr(value)


def _key(name: str) -> str:
    return name if _KEY.fullmatch(name) else _quoted(name)


def _string(text: str) -> str:
    """In several lines where it has some, without escapes where it can do without: a person reads and edits this."""
    if "\n" not in text:
        return _quoted(text)
    if ("\\" in text or '"""' in text) and _is_plain(text) and "'''" not in text and not text.endswith("'"):
        return f"'''\n{text}'''"
    lines = re.sub(r'(?<="")"|"\Z', '\\\\"', _escaped(text))     # three in a row would end it
    lines = re.sub(r"[ \t](?=\n|$)", lambda blank: f"\\u{ord(blank[0]):04x}", lines)     # editors strip blanks there
    return f'"""\n{lines}"""'


def _quoted(text: str) -> str:
    return '"' + _escaped(text).replace('"', '\\"').replace("\n", "\\n") + '"'


def _escaped(text: str) -> str:
    """Everything that no string may hold; quotes and line ends are left to the kind of string."""
    return re.sub("[\x00-\x08\x0b-\x1f\x7f]", lambda odd: f"\\u{ord(odd[0]):04x}", text.replace("\\", "\\\\"))


def _is_plain(text: str) -> bool:
    return not re.search("[\x00-\x08\x0b-\x1f\x7f]", text) and not re.search(r"[ \t](\n|$)", text)


# --- reading ---------------------------------------------------------------------------------------------------------


def read(data: bytes) -> Imported:
    """The design of a file that `write` made or a person wrote, in TOML, or JSON as `Design.to_dict` gives it.

    Raises DesignError, with field and line where they are known, for what is no design."""
    if len(data) > MOST_BYTES:
        raise DesignError(f"it is larger than {MOST_BYTES // 2**20} MB")
    text = _decoded(data)
    is_json = text.lstrip().startswith("{")
    try:
        content = parsed(data) if is_json else _parsed_toml(text)
        known, unknown = _known(content)
        return Imported(checked(known), tuple(unknown))
    except Wrong as wrong:
        line = None if is_json else _line_of(text, wrong.place)
        raise DesignError(f"{wrong}" + (f" (line {line})" if line else "")) from wrong
    except RecursionError:
        raise DesignError("it is nested too deeply") from None
    except ValueError:      # Python does not even print an integer of 5,000 digits
        raise DesignError("a number in it has too many digits") from None


def checked(content: dict[str, Any]) -> Design:
    """The design of what `Design.to_dict` made, from whoever it came. Raises Wrong for a field that is none, or that no
    editor could show."""
    check(Design, content)
    at(("name",), _check_length, content["name"])
    _check_numbers(content, kinds_of(Design))
    at(("limits",), _check_numbers, content.get("limits", {}), kinds_of(Limits))
    check_choices(content)
    for name, step in content["steps"].items():
        at(("steps", name), _check_numbers, step, kinds_of(Step))
    _check_tools(content["tools"])
    _check_characters(content)
    return Design.from_dict({"limits": {}, **content})


def check_choices(content: Mapping[str, Any]) -> None:
    """That it has just our steps, and of each field with a few values one of them. Raises Wrong."""
    for field, allowed in (("caching", CACHING), ("output", OUTPUTS)):
        if content.get(field, allowed[0]) not in allowed:
            raise Wrong(f"{described(content[field])} is not one of {', '.join(allowed)}", field)
    if content["steps"].keys() != set(STEPS):
        raise Wrong(f"they are not {', '.join(STEPS)}", "steps")


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise DesignError("it is no text in UTF-8") from error


def _parsed_toml(text: str) -> dict[str, Any]:
    """With the schemas, which stand there as text, read as JSON."""
    if _DOTTED.search(_STRINGS.sub("x", text)):
        raise Wrong("it holds a name with more than three dots")
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Wrong(f"it is no TOML: {_lower(str(error))}") from error
    tools = content.get("tools")
    for place, tool in enumerate(tools if isinstance(tools, list) else [], start=1):
        if isinstance(tool, dict) and isinstance(tool.get("input_schema"), str):
            tool["input_schema"] = at(("tools", place, "input_schema"), _schema, tool["input_schema"])
    return content


def _schema(text: str) -> dict[str, Any]:
    try:
        return schema_of(text)
    except ValueError as reason:
        raise Wrong(str(reason)) from None


def _known(content: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Without the fields that no part of a design has, and their names."""
    if not isinstance(content, dict):
        raise Wrong(f"{described(content)} stands where a design should")
    if (number := content.get("format", FORMAT)) != FORMAT:
        raise Wrong(f"it has the format {described(number)}, this version reads {FORMAT}", "format")
    content, unknown = _only(Design, {k: v for k, v in content.items() if k != "format"}, "")
    if isinstance(content.get("limits"), dict):
        content["limits"], more = _only(Limits, content["limits"], "limits.")
        unknown += more
    if isinstance(content.get("steps"), dict):
        unknown += [f"steps.{name}" for name in content["steps"] if name not in STEPS]
        steps = {name: _only(Step, step, f"steps.{name}.") for name, step in content["steps"].items() if name in STEPS}
        content["steps"] = {name: step for name, (step, _) in steps.items()}
        unknown += [name for _, more in steps.values() for name in more]
    if isinstance(content.get("tools"), list):
        tools = [_only(ToolText, tool, f"tools {place}.") for place, tool in enumerate(content["tools"], start=1)]
        content["tools"] = [tool for tool, _ in tools]
        unknown += [name for _, more in tools for name in more]
    return content, unknown


def _only(kind: type, part: Any, prefix: str) -> tuple[Any, list[str]]:
    if not isinstance(part, dict):
        return part, []     # told by `checked`, with its place
    known = kinds_of(kind)
    return {k: v for k, v in part.items() if k in known}, [f"{prefix}{k}" for k in part if k not in known]


def _check_length(name: str) -> None:
    if len(name) > LONGEST_NAME:
        raise Wrong(f"it has {len(name):,} characters, {LONGEST_NAME:,} are the limit")


def _check_numbers(part: Mapping[str, Any], kinds: Mapping[str, Any]) -> None:
    for name, value in part.items():
        if kinds[name] in (int, float):
            at((name,), check_range, value, -LARGEST, LARGEST)


def _check_tools(tools: list[dict[str, Any]] | tuple[dict[str, Any], ...]) -> None:
    if len(tools) > MOST_TOOLS:
        raise Wrong(f"there are {len(tools):,}, {MOST_TOOLS} are the limit", "tools")
    seen: set[str] = set()
    for place, tool in enumerate(tools, start=1):
        at(("tools", place), _check_tool, tool, seen)


def _check_tool(tool: dict[str, Any], seen: set[str]) -> None:
    key = tool["key"]
    if not _KEY.fullmatch(key):
        raise Wrong(f"{described(key)} is no key: 1 to 64 of a-z, A-Z, 0-9, _ and -", "key")
    if key in seen:
        raise Wrong(f"{described(key)} is the key of a tool before it, too", "key")
    seen.add(key)
    if tool.get("query") and not key.startswith(OWN):
        raise Wrong(f'only a tool of one\'s own has a query; its key begins with "{OWN}"', "query")
    if levels(tool["input_schema"]) > DEEPEST:
        raise Wrong(TOO_DEEP, "input_schema")
    try:
        json.dumps(tool["input_schema"], allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Wrong(f"it is no JSON: {error}", "input_schema") from error


def _check_characters(content: dict[str, Any]) -> None:
    for name, value in content.items():
        try:
            json.dumps(value, ensure_ascii=False, default=str).encode()
        except UnicodeEncodeError as error:
            raise Wrong("half a character stands in it, which cannot be sent", name) from error


# --- schemas ---------------------------------------------------------------------------------------------------------


def schema_of(text: str) -> dict[str, Any]:
    """The schema that a person wrote as JSON. Raises ValueError, in words, for what is none that can be kept."""
    try:
        schema = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
        json.dumps(schema, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON yet: {error.msg}, line {error.lineno} column {error.colno}") from None
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    except UnicodeEncodeError:
        raise ValueError("it holds half a character (a lone surrogate, \\ud800 to \\udfff)") from None
    if not isinstance(schema, dict):
        raise ValueError("a schema is a JSON object, {…}")
    if levels(schema) > DEEPEST:
        raise ValueError(TOO_DEEP)
    return schema


def levels(value: Any) -> int:
    """How deep objects and lists are nested. Without recursion, which is what a deep one breaks."""
    deep, inside = 0, [value]
    while inside := [v for v in inside if isinstance(v, (dict, list))]:
        inside = [part for v in inside for part in (v.values() if isinstance(v, dict) else v)]
        deep += 1
    return deep


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        _refuse_constant(text)
    return number


def _refuse_constant(name: str) -> None:
    raise ValueError(f"not JSON: {name} is no JSON number")


# --- where a field stands --------------------------------------------------------------------------------------------


def _line_of(text: str, place: tuple[str | int, ...]) -> int | None:
    """The line of a field of a TOML file, of its table where it has none of its own; None where neither is found."""
    place = tuple(part.strip('"') if isinstance(part, str) else part for part in place)
    *owner, field = ("", *place) if len(place) == 1 else place or ("", "")
    table, counted, found = [""], 0, None
    for number, line in _keys(text):
        if line.startswith("[["):
            counted += 1
            table = ["tools", counted]
        elif line.startswith("["):
            table = [part.strip(" \"'") for part in line.strip("[] ").split(".")]
        if table == list(owner) and (line.startswith("[") or line.strip(" \"'") == field):
            found = number
        elif line.startswith("[") and table == list(place):
            return number
    return found


def _keys(text: str) -> Iterator[tuple[int, str]]:
    """(number of the line, head of a table or what stands before "="), without the lines inside long strings."""
    inside = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if inside:
            inside = "" if inside in line else inside
            continue
        if line.startswith("["):
            yield number, line.split("#")[0].strip()
            continue
        key, equals, value = line.partition("=")
        if equals and not line.lstrip().startswith("#"):
            yield number, key.strip()
        opening = value.strip()[:3]
        if opening in ('"""', "'''") and opening not in value.strip()[3:]:
            inside = opening


def _lower(words: str) -> str:
    return words[:1].lower() + words[1:]
