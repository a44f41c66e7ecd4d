"""What the Messages API refuses, in its own words (API version 2026-10-21; words as seen in public reports).

Checks run in the order below and the first that fails speaks. A request that passes is one the API would answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lib.models import MODELS
from lib.usage.tokens import estimate_request

PATHS = ("/v1/messages", "/v1/messages/count_tokens")
_FIELDS = frozenset(
    "cache_control container diagnostics inference_geo max_tokens messages metadata model output_config service_tier "
    "speed stop_sequences stream system thinking tool_choice tools user_profile_id workspace_id".split())
_ROLES = ("user", "assistant", "system")
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_SCHEMA_HELP = ("JSON schema is invalid. It must match JSON Schema draft 2020-12 "
                "(https://json-schema.org/draft/2020-12). Learn more about tool use at "
                "https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview.")
_PREFILL_ALLOWED = ("claude-haiku-4-5",)        # refused from 4.6 on
_MAX_CACHE_MARKS = 4


@dataclass(frozen=True)
class Refusal:
    status: int
    type: str
    message: str


def refusal(request: Any, headers: Mapping[str, str] | None, method: str, path: str) -> Refusal | None:
    """The first thing wrong with a request, or None. `headers=None` skips the key."""
    if method != "POST" or path not in PATHS:
        return Refusal(404, "not_found_error", "Not Found")
    if headers is not None and not _has_key(headers):
        return Refusal(401, "authentication_error", "x-api-key header is required")
    message = next(_shape(request, counting=path == PATHS[1]), None)
    if message:
        return _invalid(message)
    if request["model"] not in MODELS:
        return Refusal(404, "not_found_error", f"model: {request['model']}")
    message = next(_sense(request), None)
    return _invalid(message) if message else None


def _invalid(message: str) -> Refusal:
    return Refusal(400, "invalid_request_error", message)


def _has_key(headers: Mapping[str, str]) -> bool:
    bearer = headers.get("authorization", "")
    return bool(headers.get("x-api-key", "").strip() or bearer.removeprefix("Bearer").strip())


# --- does it have the shape of a request? ----------------------------------------------------------------------------


def _shape(request: Any, counting: bool) -> Iterator[str]:
    if not isinstance(request, dict):
        yield "Input should be a valid dictionary"
        return
    for name in ("model", "messages") if counting else ("model", "max_tokens", "messages"):
        if name not in request:
            yield f"{name}: Field required"
    for name in request:
        if name not in _FIELDS:
            yield f"{name}: Extra inputs are not permitted"
    if not isinstance(request["model"], str):
        yield "model: Input should be a valid string"
    yield from _shape_of_max_tokens(request.get("max_tokens", 1))
    if request.get("stream"):
        yield "stream: the simulated API does not stream yet"
    yield from _shape_of_objects(request)
    yield from _shape_of_messages(request["messages"])
    yield from _shape_of_tools(request.get("tools", []))


def _shape_of_max_tokens(limit: Any) -> Iterator[str]:
    if not isinstance(limit, int) or isinstance(limit, bool):
        yield "max_tokens: Input should be a valid integer"
    elif limit < 1:
        yield "max_tokens: Input should be greater than or equal to 1"


def _shape_of_objects(request: dict[str, Any]) -> Iterator[str]:
    for name in ("tool_choice", "thinking", "output_config", "metadata"):
        if request.get(name) is not None and not isinstance(request[name], dict):
            yield f"{name}: Input should be a valid dictionary"
    system = request.get("system", "")
    if isinstance(system, list):
        if not all(isinstance(b, dict) and isinstance(b.get("text"), str) for b in system):
            yield "system: Input should be a list of text blocks"
    elif not isinstance(system, str):
        yield "system: Input should be a valid list"


def _shape_of_messages(messages: Any) -> Iterator[str]:
    if not isinstance(messages, list):
        yield "messages: Input should be a valid list"
        return
    for i, message in enumerate(messages):
        where = f"messages.{i}"
        if not isinstance(message, dict):
            yield f"{where}: Input should be a valid dictionary"
        elif message.get("role") not in _ROLES:
            yield f"{where}.role: Input should be 'user', 'assistant' or 'system'"
        elif "content" not in message:
            yield f"{where}.content: Field required"
        elif not isinstance(message["content"], str):
            yield from _shape_of_blocks(where, message["content"])


def _shape_of_blocks(where: str, content: Any) -> Iterator[str]:
    if not isinstance(content, list):
        yield f"{where}.content: Input should be a valid list"
        return
    for j, block in enumerate(content):
        at = f"{where}.content.{j}"
        if not isinstance(block, dict):
            yield f"{at}: Input should be a valid dictionary"
        elif "type" not in block:
            yield f"{at}.type: Field required"
        elif block["type"] == "text" and not isinstance(block.get("text"), str):
            yield f"{at}.text.text: Input should be a valid string"
        elif block["type"] == "tool_use":
            yield from _shape_of_call(f"{at}.tool_use", block)
        elif block["type"] == "tool_result" and not isinstance(block.get("tool_use_id"), str):
            yield f"{at}.tool_result.tool_use_id: Field required"


def _shape_of_call(at: str, block: dict[str, Any]) -> Iterator[str]:
    if not isinstance(block.get("id"), str):
        yield f"{at}.id: Field required"
    if not _TOOL_NAME.fullmatch(str(block.get("name", ""))):
        yield f"{at}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
    if not isinstance(block.get("input"), dict):
        yield f"{at}.input: Input should be a valid dictionary"


def _shape_of_tools(tools: Any) -> Iterator[str]:
    if not isinstance(tools, list):
        yield "tools: Input should be a valid list"
        return
    for i, tool in enumerate(tools):
        where = f"tools.{i}.custom"
        if not isinstance(tool, dict):
            yield f"{where}: Input should be a valid dictionary"
        elif not isinstance(tool.get("name"), str):
            yield f"{where}.name: Field required"
        elif not _TOOL_NAME.fullmatch(tool["name"]):
            yield f"{where}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        else:
            yield from _shape_of_schema(f"{where}.input_schema", tool.get("input_schema"))


def _shape_of_schema(where: str, schema: Any) -> Iterator[str]:
    if schema is None:
        yield f"{where}: Field required"
    elif not isinstance(schema, dict):
        yield f"{where}: Input should be a valid dictionary"
    elif any(name in schema for name in ("oneOf", "allOf", "anyOf")):
        yield f"{where}: input_schema does not support oneOf, allOf, or anyOf at the top level"
    elif "type" not in schema:
        yield f"{where}.type: Field required"
    elif schema["type"] != "object":
        yield f"{where}.type: Input should be 'object'"
    elif not _is_json_schema(json.dumps(schema)):
        yield f"{where}: {_SCHEMA_HELP}"


@lru_cache(maxsize=256)
def _is_json_schema(schema: str) -> bool:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(json.loads(schema))
    except SchemaError:
        return False
    return True


# --- does it make sense? ---------------------------------------------------------------------------------------------


def _sense(request: dict[str, Any]) -> Iterator[str]:
    yield from _sense_of_fields(request)
    yield from _sense_of_tools(request)
    yield from _sense_of_messages(request)
    yield from _sense_of_cache_marks(request)
    known, tokens = MODELS[request["model"]], estimate_request(request)
    if tokens > known.window:
        yield f"prompt is too long: {tokens} tokens > {known.window} maximum"


def _sense_of_fields(request: dict[str, Any]) -> Iterator[str]:
    known, limit = MODELS[request["model"]], request.get("max_tokens", 1)
    thinking = (request.get("thinking") or {}).get("type")
    if limit > known.max_output:
        yield (f"max_tokens: {limit} > {known.max_output}, which is the maximum allowed number of output tokens for "
               f"{known.id}")
    if thinking == "enabled" and known.tokenizer != "3":
        yield ('"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and '
               '"output_config.effort" to control thinking behavior.')
    if thinking == "adaptive" and known.id == "claude-haiku-4-5":
        yield "adaptive thinking is not supported on this model"
    if thinking == "disabled" and not known.thinking_off:
        yield ('"thinking.type.disabled" is not supported for this model. Use "thinking.type.between_tools" for the '
               "lowest thinking setting, or leave thinking out.")


def _sense_of_tools(request: dict[str, Any]) -> Iterator[str]:
    names = [tool["name"] for tool in request.get("tools") or []]
    choice = request.get("tool_choice") or {}
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique."
    if choice.get("type") in ("any", "tool") and not MODELS[request["model"]].forced_tools:
        yield 'tool_choice: type "tool" and "any" are not supported for this model.'
    if choice.get("type") == "tool" and choice.get("name") not in names:
        yield f"Tool '{choice.get('name')}' not found in provided tools"


def _sense_of_messages(request: dict[str, Any]) -> Iterator[str]:
    messages = request["messages"]
    if not messages:
        yield "messages: at least one message is required"
        return
    if messages[0]["role"] != "user":
        yield 'messages: first message must use the "user" role'
    yield from _sense_of_text(request)
    yield from _sense_of_calls(messages)
    yield from _sense_of_end(request["model"], messages[-1])


def _sense_of_text(request: dict[str, Any]) -> Iterator[str]:
    system = request.get("system")
    if isinstance(system, list) and not all(b.get("text") for b in system):
        yield "system: text content blocks must be non-empty"
    last = len(request["messages"]) - 1
    for i, message in enumerate(request["messages"]):
        content = message["content"]
        if not content and not (i == last and message["role"] == "assistant"):
            yield (f"messages.{i}: all messages must have non-empty content except for the optional final assistant "
                   "message")
        texts = [b["text"] for b in _blocks(message) if b["type"] == "text"]
        if "" in texts and content != "":
            yield "messages: text content blocks must be non-empty"
        if any(not text.strip() for text in texts if text):
            yield "messages: text content blocks must contain non-whitespace text"


def _sense_of_calls(messages: list[dict]) -> Iterator[str]:
    """Every tool_use is answered at the start of the next message; every tool_result answers one.

    Messages of one role in a row count as one, since the API joins them.
    """
    seen: set[str] = set()
    open_ids: list[str] = []
    opened_at = 0
    for i, role, blocks in _joined(messages):
        yield from _sense_of_results(i, blocks, open_ids, opened_at)
        open_ids = [b["id"] for _, b in blocks if b["type"] == "tool_use"] if role == "assistant" else []
        opened_at = i
        if len(set(open_ids)) < len(open_ids) or seen & set(open_ids):
            yield "messages: `tool_use` ids must be unique"
        seen.update(open_ids)
    if open_ids:
        yield _unanswered(opened_at, open_ids)


def _sense_of_results(i: int, blocks: list, open_ids: list[str], opened_at: int) -> Iterator[str]:
    leading: list[str] = []
    for _, block in blocks:
        if block["type"] != "tool_result":
            break
        leading.append(block["tool_use_id"])
    for place, block in blocks:
        if block["type"] == "tool_result" and block["tool_use_id"] not in open_ids:
            yield (f"messages.{place}: unexpected `tool_use_id` found in `tool_result` blocks: {block['tool_use_id']}. "
                   "Each `tool_result` block must have a corresponding `tool_use` block in the previous message.")
    missing = [id for id in open_ids if id not in leading]
    if missing:
        yield _unanswered(opened_at, missing)
    for id in leading:
        if leading.count(id) > 1:
            yield (f"messages.{i}.content: each tool_use must have a single result. Found multiple `tool_result` "
                   f"blocks with id: {id}")


def _unanswered(i: int, ids: list[str]) -> str:
    return (f"messages.{i}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(ids)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
            "message.")


def _joined(messages: list[dict]) -> list[tuple[int, str, list[tuple[str, dict]]]]:
    """(place, role, blocks with their places), messages of one role in a row joined."""
    groups: list[tuple[int, str, list[tuple[str, dict]]]] = []
    for i, message in enumerate(messages):
        placed = [(f"{i}.content.{j}", b) for j, b in enumerate(_blocks(message))]
        if groups and groups[-1][1] == message["role"]:
            groups[-1][2].extend(placed)
        else:
            groups.append((i, message["role"], placed))
    return groups


def _blocks(message: dict) -> list[dict]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _sense_of_end(model_id: str, last: dict) -> Iterator[str]:
    if last["role"] != "assistant":
        return
    if model_id not in _PREFILL_ALLOWED:
        yield "This model does not support assistant message prefill. The conversation must end with a user message."
    text = next((b["text"] for b in reversed(_blocks(last)) if b["type"] == "text"), "")
    if text != text.rstrip():
        yield "messages: final assistant content cannot end with trailing whitespace"


def _sense_of_cache_marks(request: dict[str, Any]) -> Iterator[str]:
    marked = [block for block in _cacheable(request) if isinstance(block, dict) and block.get("cache_control")]
    if len(marked) > _MAX_CACHE_MARKS:
        yield f"A maximum of {_MAX_CACHE_MARKS} blocks with cache_control may be provided. Found {len(marked)}."


def _cacheable(request: dict[str, Any]) -> Iterator[Any]:
    """Everything that can carry a mark: tools, system blocks, content blocks, blocks in results, the request itself."""
    system = request.get("system")
    yield from request.get("tools") or []
    yield from system if isinstance(system, list) else []
    for block in (b for message in request["messages"] for b in _blocks(message)):
        inner = block.get("content") if block["type"] == "tool_result" else None
        yield from (block, *(inner if isinstance(inner, list) else ()))
    yield request
