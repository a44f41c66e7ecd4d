"""The tool loop: one model, some tools, and a conversation that goes on until the model answers or a limit ends it.

Logging, prices, budget, stop and caching are layers around `client` (lib/client); nothing here knows them.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from lib import errors
from lib.messages import as_dict, blocks, get, text_of, utf8
from lib.stop_reasons import FINAL, WHOLE, broken
from lib.tool_results import as_text, exception_in_words, fault_in_words

AGENT_ERRORS = {errors.CutOff: errors.AgentCutOff, errors.Refused: errors.AgentRefused,
                errors.WindowExceeded: errors.AgentWindowExceeded, errors.UnknownStop: errors.AgentUnknownStop}
MAX_FAULTS = 5          # of one call's arguments, that the model is told of at once


@dataclass(frozen=True)
class Tool:
    """A function the model may call: `fn` gets the arguments as keywords and may return or raise anything."""

    name: str
    description: str
    input_schema: dict[str, Any]
    fn: Callable[..., Any]

    def spec(self) -> dict[str, Any]:
        """The tool's definition as the API takes it."""
        return {"name": self.name, "description": self.description, "input_schema": self.input_schema}

    def complaint(self, arguments: dict[str, Any]) -> str:
        """What is wrong with the arguments, as the model is told: "do not fit …"; empty if nothing is."""
        faults = [fault_in_words(error) for error in self._validator.iter_errors(arguments)]
        if len(faults) > MAX_FAULTS:
            faults[MAX_FAULTS:] = [f"and {len(faults) - MAX_FAULTS} more"]
        return f"do not fit its schema: {'; '.join(faults)}" if faults else ""

    @cached_property
    def _validator(self) -> Any:
        from jsonschema import Draft202012Validator
        from referencing import Registry
        return Draft202012Validator(self.input_schema, registry=Registry())     # empty: a "$ref" is never fetched


def run_agent(client: Any, model: str, system: str | list[dict], user_message: str | list[dict],
              tools: Iterable[Tool], max_turns: int = 8, max_tokens: int = 1024) -> tuple[str, list[dict]]:
    """Lets the model call `tools` until it answers. Returns the text of its last reply and the whole conversation.

    Raises an AgentError when there is no answer: TurnLimit, AgentCutOff, AgentRefused, AgentWindowExceeded,
    AgentUnknownStop, AgentNoAnswer. What `client` raises goes through. Either way the exception's `messages` hold
    the conversation so far, every tool call in it answered, so that it can be continued.
    """
    by_name = {tool.name: tool for tool in tools}
    request: dict[str, Any] = {"model": model, "max_tokens": max_tokens}
    if system:
        request["system"] = system
    if by_name:
        request["tools"] = [tool.spec() for tool in by_name.values()]
    messages: list[dict] = [{"role": "user", "content": user_message}]
    try:
        return _converse(client, request, messages, by_name, max_turns), messages
    except errors.AgentError:
        raise
    except errors.WindowExceeded as error:
        raise errors.AgentWindowExceeded(str(error), messages) from error
    except BaseException as error:
        _answer_open_calls(messages, "the run ended before this call was finished")
        error.messages = messages
        raise


def _converse(client: Any, request: dict, messages: list[dict], tools: dict[str, Tool], max_turns: int) -> str:
    """Appends to `messages` turn by turn; returns the final text."""
    for turn in range(1, max_turns + 1):
        reply = client.messages.create(**request, messages=list(messages))
        calls = _append_reply(reply, messages)
        reason = get(reply, "stop_reason")
        if reason not in WHOLE:
            raise _broken(reason, messages)
        if calls and turn < max_turns:
            messages.append({"role": "user", "content": _run_calls(calls, tools)})
        elif not calls and reason in FINAL:
            return _final_text(reply, messages)
        elif not calls and reason == "tool_use":
            raise errors.AgentUnknownStop("stop_reason is 'tool_use', but the reply holds no tool call", messages)
    _answer_open_calls(messages, f"the limit of {max_turns} turns is reached")
    raise errors.TurnLimit(f"no answer after {max_turns} turns; raise max_turns or narrow the question", messages)


def _broken(reason: Any, messages: list[dict]) -> errors.AgentError:
    """The error for a reply that must not be acted on; its tool calls, perhaps half written, are not run."""
    kind, why = broken(reason)
    _answer_open_calls(messages, why)
    return AGENT_ERRORS[kind](why, messages)


def _final_text(reply: Any, messages: list[dict]) -> str:
    text = text_of(reply)
    if not text.strip():
        raise errors.AgentNoAnswer("the model ended its turn without any text", messages)
    return text


# --- the assistant's message -----------------------------------------------------------------------------------------


class _Call(NamedTuple):
    id: str
    name: str
    arguments: dict[str, Any]
    complaint: str              # why it cannot be run; empty = it can


def _append_reply(reply: Any, messages: list[dict]) -> list[_Call]:
    """Appends the reply as it came, save what the API would refuse to read again. Returns its tool calls.

    Left out: blank text, and thinking that nothing follows. Mended: input that is no object, an id used twice.
    """
    content: list[dict] = []
    calls: list[_Call] = []
    for block in map(as_dict, blocks(reply)):
        if block.get("type") == "tool_use":
            call = _read_call(block, {earlier.id for earlier in calls})
            calls.append(call)
            content.append({**block, "id": call.id, "input": call.arguments})
        elif block.get("type") != "text":
            content.append(block)
        elif (block.get("text") or "").strip():
            content.append({**block, "text": utf8(block["text"])})
    while content and content[-1].get("type") in ("thinking", "redacted_thinking"):
        content.pop()
    if content:
        messages.append({"role": "assistant", "content": content})
    return calls


def _read_call(block: dict, taken: set[str]) -> _Call:
    call_id = str(block.get("id") or "toolu")
    while call_id in taken:
        call_id += "_again"
    return _Call(call_id, block.get("name"), *_read_arguments(block.get("input")))


def _read_arguments(value: Any) -> tuple[dict[str, Any], str]:
    """The arguments, and what is wrong with them. Some servers send the object as JSON text, others a list or null."""
    try:
        if isinstance(value, str):
            value = json.loads(value)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, TypeError, RecursionError) as error:
        return {}, f"are not valid JSON: {utf8(str(error))}"
    if not isinstance(value, dict):
        return {}, f"must be one JSON object, not {json.dumps(value)[:80]}"
    return value, ""


# --- running tools ---------------------------------------------------------------------------------------------------


def _run_calls(calls: list[_Call], tools: dict[str, Tool]) -> list[dict]:
    """One `tool_result` per call, in order; several calls run at once, each in a daemon thread."""
    if len(calls) == 1:
        return [_run_call(calls[0], tools)]
    results: list[Any] = [None] * len(calls)

    def work(position: int) -> None:
        try:
            results[position] = _run_call(calls[position], tools)
        except KeyboardInterrupt as error:
            results[position] = error

    threads = [threading.Thread(target=work, args=(position,), daemon=True) for position in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(0.5)        # in slices: a Ctrl-C that comes just before an endless wait would not be noticed
    for result in results:
        if isinstance(result, KeyboardInterrupt):
            raise result
    return results


def _run_call(call: _Call, tools: dict[str, Tool]) -> dict:
    try:
        tool = tools.get(call.name)
        if tool is None:
            known = ", ".join(tools) or "none"
            return _result(call.id, f"There is no tool {call.name!r}. The tools are: {known}.", is_error=True)
        complaint = call.complaint or tool.complaint(call.arguments)
        if complaint:
            return _result(call.id, f"{call.name} was not run. Its arguments {complaint}", is_error=True)
        return _result(call.id, tool.fn(**json.loads(json.dumps(call.arguments))))     # a copy: history stays as it was
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return _result(call.id, f"{call.name} failed: {exception_in_words(error)}", is_error=True)


def _answer_open_calls(messages: list[dict], why: str) -> None:
    """Answers the tool calls that the last message leaves open: the API refuses a conversation with one unanswered."""
    last = messages[-1]
    if last["role"] == "assistant":
        results = [_result(block["id"], f"Not run: {why}.", is_error=True)
                   for block in last["content"] if block.get("type") == "tool_use"]
        if results:
            messages.append({"role": "user", "content": results})


def _result(call_id: str, value: Any, is_error: bool = False) -> dict:
    result = {"type": "tool_result", "tool_use_id": call_id, "content": as_text(value)}
    return {**result, "is_error": True} if is_error else result
