"""The one JSON object in a model's text, read strictly. What its fields must be is the caller's business."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NamedTuple

from lib.messages import utf8

NEEDED = "one JSON object is needed, as itself and not inside anything"

# Where an object may start: "{", white space or a comment, and a key with its colon, in any kind of quotes; or an
# empty object; or a list of objects. A brace in prose, such as {order_no}, is none of these.
_GAP = r"(?:\s|//[^\n]{0,200}\n)*+"
_KEY = r"""(?:"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"|'[^'\n]*+'|[\w“”‘’.$-]{1,80})\s*+:"""
_START = re.compile(rf"\[{_GAP}(?=\{{{_GAP}(?:{_KEY}|\}}))|\{{{_GAP}(?:{_KEY}|\}})")
_STRING_OR_BRACKET = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z)|[{}\[\]]', re.DOTALL)
_FENCE_OPENS = re.compile(r"```(?:json\w*)?\s*\Z", re.IGNORECASE)
_FENCE_CLOSES = re.compile(r"\s*```")


def parse_object(text: str) -> dict[str, Any]:
    """The JSON object that `text` holds, with whatever prose and fences around it.

    Raises ValueError with a reason the model can act on: no object, more than one, a list or a string instead, a
    repeated key, NaN, or what makes the JSON invalid. Nothing is repaired and nothing is guessed.
    """
    text = text.strip().removeprefix("\ufeff").strip()
    if text.startswith(("[", '"')) and _is_json(text):
        raise ValueError(f"the answer is a JSON {'list' if text[0] == '[' else 'string'}; {NEEDED}")
    found, faults = _candidates(text)
    values = _preferred(found)
    if any(value != values[0] for value in values):
        raise ValueError(f"the answer holds {len(values)} JSON objects that differ; exactly one is needed")
    if not values:
        raise ValueError(_worst(faults) if faults else _nothing(text))
    if isinstance(values[0], list):
        raise ValueError(f"the answer is a JSON list; {NEEDED}")
    return values[0]


class _Found(NamedTuple):
    value: Any
    fenced: bool        # it is the whole content of a ``` or ```json fence


class _Fault(NamedTuple):
    size: int           # characters
    reason: str


def _candidates(text: str) -> tuple[list[_Found], list[_Fault]]:
    """The outermost objects in the text, and what is wrong with those that do not parse.

    What stands inside a broken object is not looked at: a piece of an answer must not pass for the answer.
    """
    found: list[_Found] = []
    faults: list[_Fault] = []
    position = 0
    while start := _START.search(text, position):
        position = _end(text, start.start())
        piece = text[start.start():position]
        try:
            found.append(_Found(_strict(piece), _is_fenced(text, start.start(), position)))
        except ValueError as error:
            faults.append(_Fault(len(piece), str(error)))
    return found, faults


def _end(text: str, start: int) -> int:
    """Where the object that starts here is closed; the end of the text if it never is."""
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text, start):
        first = text[match.start()]
        depth += (first in "{[") - (first in "}]")
        if depth == 0:
            return match.end()
    return len(text)


def _is_fenced(text: str, start: int, end: int) -> bool:
    return bool(_FENCE_OPENS.search(text[max(0, start - 20):start]) and _FENCE_CLOSES.match(text, end))


def _preferred(found: list[_Found]) -> list[Any]:
    """Objects with content before empty ones, and the content of a fence before what the prose quotes."""
    filled = [one for one in found if one.value] or found
    return [one.value for one in ([one for one in filled if one.fenced] or filled)]


def _worst(faults: list[_Fault]) -> str:
    """The fault of the longest piece, which is the likeliest to have been meant as the answer."""
    return max(faults, key=lambda fault: fault.size).reason


def _nothing(text: str) -> str:
    return f"the answer holds no JSON object; it starts with {text[:60]!r}" if text else "the answer is empty"


# --- strict JSON -----------------------------------------------------------------------------------------------------


def _is_json(text: str) -> bool:
    try:
        _strict(text)
    except ValueError:
        return False
    return True


def _strict(piece: str) -> Any:
    """json.loads without its leniencies: repeated keys, NaN, numbers beyond a float, halves of characters."""
    try:
        value = json.loads(piece, object_pairs_hook=_unique, parse_constant=_no_constant,
                           parse_float=_finite, parse_int=_whole)
    except json.JSONDecodeError as error:
        what, near = error.msg.removesuffix(" at"), piece[max(0, error.pos - 20):error.pos + 20]
        raise ValueError(f"the JSON is not valid: {what} at line {error.lineno} column {error.colno}, "
                         f"near {near!r}") from None
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    if ("\\ud" in piece.lower() or utf8(piece) != piece) and not _fits_utf8(value):
        raise ValueError("the JSON holds half of a surrogate pair (\\ud8xx without its other half)")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for key, item in pairs:
        if key in value:
            raise ValueError(f"the JSON gives the key {key[:80]!r} twice")
        value[key] = item
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"the JSON holds {name}, which is not a JSON number; use null or leave it out")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"the JSON holds a number that is too large: {digits[:40]}")
    return number


def _whole(digits: str) -> int:
    if len(digits) > 100:       # Python itself gives up at 4,300, with a reason that no model can act on
        raise ValueError(f"the JSON holds a number that is too large: {digits[:40]}")
    return int(digits)


def _fits_utf8(value: Any) -> bool:
    text = json.dumps(value, ensure_ascii=False)
    return utf8(text) == text
