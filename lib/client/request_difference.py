"""In which part a request differs from the nearest that was recorded, in words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from os.path import commonprefix
from typing import Any

from lib.client.layers import Call
from lib.messages import blocks, get, text_of
from lib.runs.conversations import NOT_STORED, to_json
from lib.runs.store import CallRow

_BEFORE, _AFTER = 25, 45        # characters of a text that are shown around its first difference
_FIELDS = {"model": "the model", "max_tokens": "the longest reply (max_tokens)", "system": "the system prompt",
           "tools": "the tools", "cache_control": "what is marked for the prompt cache"}
_DATA = {"label": "the text of ticket {}", "merge": "the list of labels", "agent": "the question",
         "summary": "what is told of the cause {}"}      # what the first message of a step holds

Request = Mapping[str, Any]


def difference(call: Call, recorded: Sequence[tuple[CallRow, Request]]) -> str:
    """One or two sentences. `recorded` are calls of the same step with their requests."""
    step = call.step or "without a name"
    if not recorded:
        return f"The recording holds no call of the step {step}."
    row, nearest = max(recorded, key=lambda known: _likeness(call, *known))
    fields = [(name, said) for name in _names(nearest, call.request)
              if (said := _field(name, nearest.get(name), call.request.get(name)))]
    if fields:
        more = [_FIELDS.get(name, name) for name, _ in fields[1:]]
        also = f" {_start(' and '.join(more))} {'differs' if len(more) == 1 else 'differ'}, too." if more else ""
        return f"The recording has no answer to this request of the step {step}: {fields[0][1]}.{also}"
    if row.subject != call.subject:
        return f'The recording holds no call of the step {step} about "{_cut(call.subject, 0)}".'
    said = _messages(call, nearest.get("messages") or [], call.request.get("messages") or [])
    return f"The recording has no answer to this request of the step {step}: {said}."


def _likeness(call: Call, row: CallRow, request: Request) -> tuple[int, ...]:
    same = sum(call.request.get(name) == request.get(name) for name in _names(request, call.request))
    ours, theirs = ([_plain(m) for m in of.get("messages") or []] for of in (call.request, request))
    shared = next((n for n, (one, other) in enumerate(zip_longest(ours, theirs)) if one != other), len(ours))
    return row.subject == call.subject, same, shared, -abs(len(ours) - len(theirs))


def _names(one: Request, other: Request) -> list[str]:
    """The fields of both, the best known first."""
    names = [name for name in {**one, **other} if name not in (*NOT_STORED, "messages")]
    known = list(_FIELDS)
    return sorted(names, key=lambda name: known.index(name) if name in known else len(known))


# --- fields


def _field(name: str, was: Any, now: Any) -> str:
    """What differs in a field; "" for nothing."""
    if _plain(was) == _plain(now):
        return ""
    if name == "tools":
        return _tools(was or [], now or [])
    what = _FIELDS.get(name, name)
    if name == "system":
        texts = [text_of({"content": part}) for part in (was, now)]
        if texts[0] == texts[1]:
            return f"{what} is marked for the prompt cache otherwise"
        return f"{what} differs, {_excerpts(*texts)}"
    return f"{what} differs, it was {_value(was)} and is {_value(now)}"


def _tools(was: Sequence[Any], now: Sequence[Any]) -> str:
    before, after = ({get(tool, "name", ""): tool for tool in tools} for tools in (was, now))
    for name in {**before, **after}:
        if name not in after or name not in before:
            return f"the tool {_cut(str(name), 0)} is {'missing' if name in before else 'new'}"
    for name, tool in after.items():
        for field in ("description", *sorted({*tool, *before[name]} - {"description"})):
            old, new = before[name].get(field), tool.get(field)
            if old != new:
                return f"the tool {_cut(str(name), 0)}'s {field} differs, {_excerpts(_as_text(old), _as_text(new))}"
    return "the order of the tools differs"


# --- messages


def _messages(call: Call, was: Sequence[Any], now: Sequence[Any]) -> str:
    for number, (before, after) in enumerate(zip_longest(was, now)):
        if _plain(before) != _plain(after):
            if before is None or after is None:
                return f"its conversation has {len(now):,} messages, the recorded one {len(was):,}"
            return _message(call, now[:number], before, after)
    return "something in it differs"


def _message(call: Call, earlier: Sequence[Any], was: Any, now: Any) -> str:
    if get(was, "role") == get(now, "role"):
        for before, after in zip_longest(blocks(was), blocks(now)):
            if _plain(before) != _plain(after):
                what = _what(call, earlier, get(now, "role"), after or before)
                return f"{what} differs, {_excerpts(_block_text(before), _block_text(after))}"
    return f"its message {len(earlier) + 1} differs"


def _what(call: Call, earlier: Sequence[Any], role: str, block: Any) -> str:
    if get(block, "type") == "tool_result":
        asked = {get(b, "id"): get(b, "name") for message in earlier for b in blocks(message)}
        return f"the result of the tool {_cut(str(asked.get(get(block, 'tool_use_id'), '?')), 0)}"
    if role == "assistant":
        return "an earlier reply of the model"
    if not earlier:
        return _DATA.get(call.step, "what is asked").format(_cut(call.subject, 0))
    return f"message {len(earlier) + 1}"


def _block_text(block: Any) -> str:
    if block is None:
        return ""
    if get(block, "type") == "tool_result":
        return text_of(block)
    return get(block, "text") or _as_text(_plain(block))


# --- words


def _excerpts(was: str, now: str) -> str:
    """Where two texts part, and how each goes on."""
    at = len(commonprefix([was, now]))
    return " and ".join(f"{verb} {_around(text, at)}" for verb, text in (("it was", was), ("is", now)))


def _around(text: str, at: int) -> str:
    if not text:
        return "empty"
    start = max(0, min(at, len(text)) - _BEFORE)
    shown = _one_line(text[start:at + _AFTER])
    return f'"{"…" if start else ""}{shown}{"…" if at + _AFTER < len(text) else ""}"'


def _value(value: Any) -> str:
    return "not set" if value is None else _cut(_as_text(_plain(value)), 0)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _cut(text: str, at: int) -> str:
    return _one_line(text[at:at + 80]) + ("…" if len(text) > at + 80 else "")


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _start(text: str) -> str:
    return text[:1].upper() + text[1:]


def _plain(value: Any) -> Any:
    """Without the difference between SDK objects and what they stand for."""
    return json.loads(to_json(value))
