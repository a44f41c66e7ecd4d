"""Whether a body has the shape of a Messages request: fields, types, blocks, tools. Each check yields the API's words.

Everything here holds for all models; what depends on the model or on other parts of the request is in `sense`.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from lib.models import EFFORTS, THINKING
from lib.remember import once
from lib.usage.tokens import blocks_of

_SAMPLING = ("temperature", "top_k", "top_p")
_FIELDS = frozenset(
    "cache_control container diagnostics inference_geo max_tokens messages metadata model output_config service_tier "
    "speed stop_sequences stream system thinking tool_choice tools user_profile_id workspace_id".split())
_COUNTED = _FIELDS - {"container", "diagnostics", "inference_geo", "max_tokens", "metadata", "service_tier",
                      "stop_sequences", "stream"}
_MOST_MESSAGES = 100_000
_ROLES = ("user", "assistant", "system")
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_SCHEMA_HELP = ("JSON schema is invalid. It must match JSON Schema draft 2020-12 "
                "(https://json-schema.org/draft/2020-12). Learn more about tool use at "
                "https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview.")
_TOOL_FIELDS = frozenset("type name description input_schema cache_control strict allowed_callers defer_loading "
                         "eager_input_streaming input_examples".split())
_OPAQUE = frozenset(
    "bash_code_execution_tool_result code_execution_tool_result container_upload search_result server_tool_use "
    "text_editor_code_execution_tool_result web_fetch_tool_result web_search_tool_result".split())
_BLOCK_FIELDS = {
    "text": frozenset(("type", "text", "cache_control", "citations")),
    "image": frozenset(("type", "source", "cache_control", "transformations")),
    "document": frozenset(("type", "source", "cache_control", "citations", "context", "title")),
    "tool_use": frozenset(("type", "id", "name", "input", "cache_control", "caller")),
    "tool_result": frozenset(("type", "tool_use_id", "content", "is_error", "cache_control")),
    "thinking": frozenset(("type", "thinking", "signature")),
    "redacted_thinking": frozenset(("type", "data")),
}
_BLOCKS = sorted([*_BLOCK_FIELDS, *_OPAQUE])
_IN_RESULTS = ("document", "image", "search_result", "text", "tool_reference")
_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_MOST_IMAGE_BYTES = 5 * 1024 * 1024         # of base64


def shape(request: Any, counting: bool, newest: bool) -> Iterator[str]:
    """`counting`: a request to count tokens. `newest`: under an API version that no longer knows the older fields."""
    if not isinstance(request, dict):
        yield "Input should be a valid dictionary"
        return
    for name in ("model", "messages") if counting else ("model", "max_tokens", "messages"):
        if name not in request:
            yield f"{name}: Field required"
    known = _COUNTED if counting else _FIELDS
    yield from _extra("", request, known if newest else known.union(_SAMPLING))
    if not isinstance(request["model"], str):
        yield "model: Input should be a valid string"
    yield from _whole("max_tokens", request.get("max_tokens", 1), least=0)
    yield from _optional("", request, "stream", bool)
    yield from _settings(request)
    yield from _sampling(request)
    yield from _mark("cache_control", request)
    yield from _system(request.get("system"))
    yield from _messages(request["messages"], newest)
    yield from _tools(request.get("tools"))


# --- settings --------------------------------------------------------------------------------------------------------


def _settings(request: Mapping[str, Any]) -> Iterator[str]:
    for name in ("diagnostics", "metadata", "output_config", "thinking", "tool_choice"):
        yield from _optional("", request, name, dict)
    yield from _metadata(request.get("metadata") or {})
    yield from _output_config(request.get("output_config") or {})
    yield from _thinking(request.get("thinking"))
    yield from _tool_choice(request.get("tool_choice"))
    yield from _one_of("service_tier", request.get("service_tier"), ("auto", "standard_only"))
    yield from _one_of("speed", request.get("speed"), ("standard", "fast"))
    yield from _stop_sequences(request.get("stop_sequences"))


def _metadata(metadata: Mapping[str, Any]) -> Iterator[str]:
    yield from _extra("metadata.", metadata, ("user_id",))
    yield from _optional("metadata.", metadata, "user_id", str)
    if len(metadata.get("user_id") or "") > 256:
        yield "metadata.user_id: String should have at most 256 characters"


def _output_config(config: Mapping[str, Any]) -> Iterator[str]:
    yield from _extra("output_config.", config, ("effort", "format"))
    yield from _one_of("output_config.effort", config.get("effort"), EFFORTS)
    yield from _optional("output_config.", config, "format", dict)
    form = config.get("format")
    if form is None:
        return
    if form.get("type") != "json_schema":
        yield "output_config.format.type: Input should be 'json_schema'"
    elif "schema" not in form:
        yield "output_config.format.schema: Field required"
    elif not isinstance(form["schema"], dict):
        yield "output_config.format.schema: Input should be a valid dictionary"
    elif not _is_json_schema(json.dumps(form["schema"])):
        yield f"output_config.format.schema: {_SCHEMA_HELP}"


def _thinking(thinking: Mapping[str, Any] | None) -> Iterator[str]:
    if thinking is None:
        return
    yield from _tag("thinking", thinking, THINKING)
    kind = thinking["type"]
    takes = {"adaptive": ("type", "display"), "enabled": ("type", "display", "budget_tokens")}
    yield from _extra(f"thinking.{kind}.", thinking, takes.get(kind, ("type",)))
    yield from _one_of(f"thinking.{kind}.display", thinking.get("display"), ("summarized", "omitted"))
    if kind == "enabled":
        if "budget_tokens" not in thinking:
            yield "thinking.enabled.budget_tokens: Field required"
        yield from _whole("thinking.enabled.budget_tokens", thinking["budget_tokens"], least=1024)


def _tool_choice(choice: Mapping[str, Any] | None) -> Iterator[str]:
    if choice is None:
        return
    yield from _tag("tool_choice", choice, ("any", "auto", "none", "tool"))
    kind = choice["type"]
    fields = {"none": ("type",), "tool": ("type", "disable_parallel_tool_use", "name")}
    yield from _extra(f"tool_choice.{kind}.", choice, fields.get(kind, ("type", "disable_parallel_tool_use")))
    if kind == "tool":
        yield from _text("tool_choice.tool", choice, "name")
    yield from _optional(f"tool_choice.{kind}.", choice, "disable_parallel_tool_use", bool)


def _stop_sequences(sequences: Any) -> Iterator[str]:
    if sequences is None:
        return
    if not isinstance(sequences, list):
        yield "stop_sequences: Input should be a valid list"
        return
    for i, sequence in enumerate(sequences):
        if not isinstance(sequence, str):
            yield f"stop_sequences.{i}: Input should be a valid string"
    if not all(sequence.strip() for sequence in sequences):
        yield "stop_sequences: each stop sequence must contain non-whitespace"


def _sampling(request: Mapping[str, Any]) -> Iterator[str]:
    for name in ("temperature", "top_p"):
        value = request.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            yield f"{name}: Input should be a valid number"
        elif value is not None and value < 0:
            yield f"{name}: Input should be greater than or equal to 0"
        elif value is not None and value > 1:
            yield f"{name}: Input should be less than or equal to 1"
    if request.get("top_k") is not None:
        yield from _whole("top_k", request["top_k"], least=0)


# --- messages --------------------------------------------------------------------------------------------------------


def _system(system: Any) -> Iterator[str]:
    if system is None or isinstance(system, str):
        return
    if not isinstance(system, list):
        yield "system: Input should be a valid list"
        return
    for i, block in enumerate(system):
        if not isinstance(block, dict):
            yield f"system.{i}: Input should be a valid dictionary"
        if block.get("type") != "text":
            yield f"system.{i}.type: Input should be 'text'"
        yield from _extra(f"system.{i}.", block, _BLOCK_FIELDS["text"])
        yield from _text(f"system.{i}", block, "text")
        yield from _mark(f"system.{i}.cache_control", block)


def _messages(messages: Any, newest: bool) -> Iterator[str]:
    if not isinstance(messages, list):
        yield "messages: Input should be a valid list"
        return
    if len(messages) > _MOST_MESSAGES:
        yield f"messages: List should have at most {_MOST_MESSAGES} items after validation, not {len(messages)}"
    for i, message in enumerate(messages):
        if not once(_is_sound, message, newest):
            yield from _message(f"messages.{i}", message, newest)


def _is_sound(message: Any, newest: bool) -> bool:
    return next(_message("", message, newest), None) is None


def _message(where: str, message: Any, newest: bool) -> Iterator[str]:
    if not isinstance(message, dict):
        yield f"{where}: Input should be a valid dictionary"
    if message.get("role") not in _ROLES:
        yield f"{where}.role: Input should be 'user', 'assistant' or 'system'"
    if "content" not in message:
        yield f"{where}.content: Field required"
    yield from _extra(f"{where}.", message, ("role", "content"))
    if not isinstance(message["content"], str | list):
        yield f"{where}.content: Input should be a valid list"
    if isinstance(message["content"], list):
        yield from _message_blocks(where, message, newest)


def _message_blocks(where: str, message: Mapping[str, Any], newest: bool) -> Iterator[str]:
    role = message["role"]
    for j, block in enumerate(message["content"]):
        at = f"{where}.content.{j}"
        yield from _block(at, block, _BLOCKS)
        kind = block["type"]
        if role == "system" and kind != "text":
            yield f"{at}.type: Input should be 'text'"
        if kind == "tool_use" and role != "assistant" or kind == "tool_result" and role != "user":
            needed = "assistant" if kind == "tool_use" else "user"
            yield f"{where}: `{kind}` blocks can only be in `{needed}` messages"
        if kind in ("thinking", "redacted_thinking") and role != "assistant":
            yield f"{where}: `{kind}` blocks can only be in `assistant` messages"
        if newest and kind == "document" and role == "assistant":
            yield f"{where}: `document` blocks can only be in `user` messages"
        if newest and kind == "text" and role == "user" and block.get("citations"):
            yield f"{at}.text.citations: Extra inputs are not permitted"


def _block(at: str, block: Any, known: Iterable[str]) -> Iterator[str]:
    if not isinstance(block, dict):
        yield f"{at}: Input should be a valid dictionary"
    if "type" not in block:
        yield f"{at}.type: Field required"
    yield from _tag(at, block, known)
    kind = block["type"]
    inside = f"{at}.{kind}"
    if kind in _BLOCK_FIELDS:
        yield from _extra(f"{inside}.", block, _BLOCK_FIELDS[kind])
    yield from _mark(f"{inside}.cache_control", block)
    if check := _KINDS.get(kind):
        yield from check(inside, block)


def _text_block(inside: str, block: Mapping[str, Any]) -> Iterator[str]:
    yield from _text(inside, block, "text")
    yield from _optional(f"{inside}.", block, "citations", list)


def _call(inside: str, block: Mapping[str, Any]) -> Iterator[str]:
    yield from _text(inside, block, "id")
    if not _CALL_ID.fullmatch(block["id"]):
        yield f"{inside}.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
    if not _TOOL_NAME.fullmatch(str(block.get("name", ""))):
        yield f"{inside}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
    if not isinstance(block.get("input"), dict):
        yield f"{inside}.input: Input should be a valid dictionary"


def _result(inside: str, block: Mapping[str, Any]) -> Iterator[str]:
    yield from _text(inside, block, "tool_use_id")
    yield from _optional(f"{inside}.", block, "is_error", bool)
    content = block.get("content")
    if content is not None and not isinstance(content, str | list):
        yield f"{inside}.content: Input should be a valid list"
    for k, inner in enumerate(content if isinstance(content, list) else ()):
        yield from _block(f"{inside}.content.{k}", inner, _IN_RESULTS)
    if block.get("is_error"):
        yield from _failure(inside, blocks_of(content))


def _failure(inside: str, content: list[Any]) -> Iterator[str]:
    """What went wrong has to be said, in words."""
    if not content:
        yield f"{inside}: content cannot be empty if `is_error` is true"
    if any(block["type"] != "text" for block in content):
        yield f"{inside}: all content must be type `text` if `is_error` is true"


def _thought(inside: str, block: Mapping[str, Any]) -> Iterator[str]:
    for name in ("signature", "thinking"):
        yield from _text(inside, block, name)


def _redacted(inside: str, block: Mapping[str, Any]) -> Iterator[str]:
    yield from _text(inside, block, "data")


def _image(inside: str, block: Mapping[str, Any]) -> Iterator[str]:
    yield from _source(inside, block, {"base64": "data", "file": "file_id", "url": "url"})
    source, where = block["source"], f"{inside}.source.base64"
    if source["type"] != "base64":
        return
    yield from _text(where, source, "media_type")
    yield from _one_of(f"{where}.media_type", source["media_type"], _IMAGES)
    if len(source["data"]) > _MOST_IMAGE_BYTES:
        yield f"{where}: image exceeds 5 MB maximum: {len(source['data'])} bytes > {_MOST_IMAGE_BYTES} bytes"
    if not _is_base64(source["data"]):
        yield "Could not process image"


def _document(inside: str, block: Mapping[str, Any]) -> Iterator[str]:
    needed = {"base64": "data", "content": "content", "file": "file_id", "text": "data", "url": "url"}
    yield from _source(inside, block, needed)
    source = block["source"]
    media = {"base64": "application/pdf", "text": "text/plain"}.get(source["type"])
    if media and source.get("media_type") != media:
        yield f"{inside}.source.{source['type']}.media_type: Input should be '{media}'"
    yield from _optional(f"{inside}.", block, "citations", dict)


def _source(inside: str, block: Mapping[str, Any], needed: Mapping[str, str]) -> Iterator[str]:
    source = block.get("source")
    if source is None:
        yield f"{inside}.source: Field required"
    if not isinstance(source, dict):
        yield f"{inside}.source: Input should be a valid dictionary"
    yield from _tag(f"{inside}.source", source, needed)
    kind = source["type"]
    if kind == "content":
        if not isinstance(source.get("content"), str | list):
            yield f"{inside}.source.content.content: Field required"
    else:
        yield from _text(f"{inside}.source.{kind}", source, needed[kind])


_KINDS = {"text": _text_block, "image": _image, "document": _document, "tool_use": _call, "tool_result": _result,
          "thinking": _thought, "redacted_thinking": _redacted}


# --- tools -----------------------------------------------------------------------------------------------------------


def _tools(tools: Any) -> Iterator[str]:
    if tools is None:
        return
    if not isinstance(tools, list):
        yield "tools: Input should be a valid list"
        return
    for i, tool in enumerate(tools):
        where = f"tools.{i}.custom"
        if not isinstance(tool, dict):
            yield f"{where}: Input should be a valid dictionary"
        yield from _text(where, tool, "name")
        yield from _mark(f"{where}.cache_control", tool)
        if tool.get("type") in (None, "custom"):
            yield from _custom_tool(where, tool)
        elif not isinstance(tool["type"], str):
            yield f"tools.{i}.type: Input should be a valid string"


def _custom_tool(where: str, tool: Mapping[str, Any]) -> Iterator[str]:
    if not _TOOL_NAME.fullmatch(tool["name"]):
        yield f"{where}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
    yield from _extra(f"{where}.", tool, _TOOL_FIELDS)
    if "description" in tool:
        yield from _text(where, tool, "description")
    yield from _optional(f"{where}.", tool, "strict", bool)
    yield from _input_schema(f"{where}.input_schema", tool.get("input_schema"))


def _input_schema(where: str, schema: Any) -> Iterator[str]:
    if schema is None:
        yield f"{where}: Field required"
    if not isinstance(schema, dict):
        yield f"{where}: Input should be a valid dictionary"
    if any(name in schema for name in ("oneOf", "allOf", "anyOf")):
        yield f"{where}: input_schema does not support oneOf, allOf, or anyOf at the top level"
    if "type" not in schema:
        yield f"{where}.type: Field required"
    if schema["type"] != "object":
        yield f"{where}.type: Input should be 'object'"
    properties = schema.get("properties")
    if isinstance(properties, dict) and not all(_PROPERTY.fullmatch(name) for name in properties):
        yield f"{where}.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{{1,64}}$'"
    if not _is_json_schema(json.dumps(schema)):
        yield f"{where}: {_SCHEMA_HELP}"


@lru_cache(maxsize=256)
def _is_json_schema(schema: str) -> bool:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(json.loads(schema))
    except (SchemaError, RecursionError):
        return False
    return True


# --- the words that many checks share --------------------------------------------------------------------------------


def _extra(prefix: str, value: Mapping[str, Any], known: Iterable[str]) -> Iterator[str]:
    for name in value:
        if name not in known:
            yield f"{prefix}{name}: Extra inputs are not permitted"


def _tag(where: str, value: Mapping[str, Any], known: Iterable[str]) -> Iterator[str]:
    if "type" not in value:
        yield f"{where}.type: Field required"
    if not isinstance(value["type"], str) or value["type"] not in known:
        expected = ", ".join(f"'{tag}'" for tag in known)
        yield (f"{where}: Input tag '{value['type']}' found using 'type' does not match any of the expected tags: "
               f"{expected}")


def _text(where: str, value: Mapping[str, Any], name: str) -> Iterator[str]:
    if name not in value:
        yield f"{where}.{name}: Field required"
    if not isinstance(value[name], str):
        yield f"{where}.{name}: Input should be a valid string"


def _optional(prefix: str, holder: Mapping[str, Any], name: str, kind: type) -> Iterator[str]:
    """Null is as good as nothing."""
    if holder.get(name) is not None and not isinstance(holder[name], kind):
        called = {bool: "boolean", dict: "dictionary", list: "list", str: "string"}[kind]
        yield f"{prefix}{name}: Input should be a valid {called}"


def _whole(where: str, number: Any, least: int) -> Iterator[str]:
    if not isinstance(number, int) or isinstance(number, bool):
        yield f"{where}: Input should be a valid integer"
    elif number < least:
        yield f"{where}: Input should be greater than or equal to {least}"


def _one_of(where: str, value: Any, allowed: tuple[str, ...]) -> Iterator[str]:
    if value is not None and value not in allowed:
        *most, last = (f"'{one}'" for one in allowed)
        yield f"{where}: Input should be {', '.join(most)} or {last}"


def _mark(where: str, holder: Mapping[str, Any]) -> Iterator[str]:
    mark = holder.get("cache_control")
    if mark is None:
        return
    if not isinstance(mark, dict):
        yield f"{where}: Input should be a valid dictionary"
    yield from _tag(where, mark, ("ephemeral",))
    yield from _extra(f"{where}.ephemeral.", mark, ("type", "ttl"))
    yield from _one_of(f"{where}.ephemeral.ttl", mark.get("ttl"), ("5m", "1h"))


def _is_base64(data: str) -> bool:
    try:
        return bool(b64decode(data, validate=True))
    except ValueError:
        return False
