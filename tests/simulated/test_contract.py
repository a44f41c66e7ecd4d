"""What a client can rely on, through both doors and with the real SDK: refusals in the API's words, usage, headers."""

import base64
import json

import anthropic
import pytest

from lib.models import MODELS
from lib.simulated.conditions import Conditions

MODEL = "claude-haiku-5-5"
OLD = {"anthropic-version": "2023-06-01"}
HI = [{"role": "user", "content": "hi"}]
TOOL = {"name": "read_ticket", "description": "Returns one ticket.",
        "input_schema": {"type": "object", "properties": {"ticket_id": {"type": "string"}}, "required": ["ticket_id"]}}
CALL = {"type": "tool_use", "id": "toolu_A", "name": "read_ticket", "input": {"ticket_id": "1"}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_A", "content": "{}"}
MARK, LONG_MARK = {"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}
TICKET = '<ticket id="7">\n<subject>Card</subject>\n<body>I was charged twice for one booking.</body>\n</ticket>'
LABEL = 'Name the root cause. Answer with JSON only.\n{"cause": "2-5 words", "evidence": "exact quote"}'
UNANSWERED = ("messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_A. Each "
              "`tool_use` block must have a corresponding `tool_result` block in the next message.")
HELP = ("JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12). "
        "Learn more about tool use at https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview.")
PLACE = "the directive-only form (content: [] with output_config) is accepted at any position"
USE_ADAPTIVE = 'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
BLOCK_TAGS = ("'bash_code_execution_tool_result', 'code_execution_tool_result', 'container_upload', 'document', "
              "'image', 'redacted_thinking', 'search_result', 'server_tool_use', 'text', "
              "'text_editor_code_execution_tool_result', 'thinking', 'tool_result', 'tool_use', "
              "'web_fetch_tool_result', 'web_search_tool_result'")


def say(*contents):
    """A conversation that the user begins."""
    return [{"role": ("user", "assistant")[i % 2], "content": content} for i, content in enumerate(contents)]


def says(*blocks):
    return {"messages": [{"role": "user", "content": list(blocks)}]}


def text(words, **more):
    return {"type": "text", "text": words, **more}


def tool(schema=None, **more):
    return {**TOOL, **({} if schema is None else {"input_schema": schema}), **more}


def form(schema):
    return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}


def closed(properties, **more):
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False,
            **more}


def image(**source):
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk=", **source}}


def numbered(count, schema):
    return {f"p{i}": schema for i in range(count)}


TEXT = {"type": "string"}

# --- what is refused with 400 invalid_request_error: (changes to a good request, the words) -------------------------

FIELDS = {
    "an unknown field": ({"tempreature": 1}, "tempreature: Extra inputs are not permitted"),
    "temperature": ({"temperature": 0.2}, "temperature: Extra inputs are not permitted"),
    "top_k": ({"top_k": 5}, "top_k: Extra inputs are not permitted"),
    "no model": ({"model": ...}, "model: Field required"),
    "no max_tokens": ({"max_tokens": ...}, "max_tokens: Field required"),
    "no messages field": ({"messages": ...}, "messages: Field required"),
    "model is a number": ({"model": 1}, "model: Input should be a valid string"),
    "max_tokens is a text": ({"max_tokens": "9"}, "max_tokens: Input should be a valid integer"),
    "max_tokens is negative": ({"max_tokens": -1}, "max_tokens: Input should be greater than or equal to 0"),
    "max_tokens above the model's": (
        {"model": "claude-haiku-4-5", "max_tokens": 64_001},
        "max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens for claude-haiku-4-5"),
    "max_tokens 0 streamed": ({"max_tokens": 0, "stream": True},
                              "max_tokens: 0 is not supported with `stream: true`"),
    "max_tokens 0 with a format": ({"max_tokens": 0, **form(closed({"a": TEXT}))},
                                   "max_tokens: 0 is not supported with `output_config.format`"),
    "max_tokens 0 with a forced tool": ({"max_tokens": 0, "tools": [TOOL], "tool_choice": {"type": "any"}},
                                        "max_tokens: 0 is not supported with a forced `tool_choice`"),
    "max_tokens 0 with a thinking budget": (
        {"max_tokens": 0, "model": "claude-sonnet-4-6", "thinking": {"type": "enabled", "budget_tokens": 1024}},
        'max_tokens: 0 is not supported with `thinking.type: "enabled"`'),
    "stream is a text": ({"stream": "yes"}, "stream: Input should be a valid boolean"),
    "metadata is a text": ({"metadata": "me"}, "metadata: Input should be a valid dictionary"),
    "metadata with more": ({"metadata": {"name": "me"}}, "metadata.name: Extra inputs are not permitted"),
    "user_id is a number": ({"metadata": {"user_id": 7}}, "metadata.user_id: Input should be a valid string"),
    "user_id is long": ({"metadata": {"user_id": "u" * 257}},
                        "metadata.user_id: String should have at most 256 characters"),
    "service_tier": ({"service_tier": "gold"}, "service_tier: Input should be 'auto' or 'standard_only'"),
    "speed": ({"speed": "warp"}, "speed: Input should be 'standard' or 'fast'"),
    "speed where there is one only": ({"speed": "fast"},
                                      "'claude-haiku-5-5' does not support the `speed` parameter."),
    "stop_sequences is a text": ({"stop_sequences": "END"}, "stop_sequences: Input should be a valid list"),
    "a stop sequence is a number": ({"stop_sequences": ["END", 1]},
                                    "stop_sequences.1: Input should be a valid string"),
    "a stop sequence is blank": ({"stop_sequences": ["END", "\n"]},
                                 "stop_sequences: each stop sequence must contain non-whitespace"),
    "a stop sequence is empty": ({"stop_sequences": [""]},
                                 "stop_sequences: each stop sequence must contain non-whitespace"),
}

MESSAGES = {
    "no messages": ({"messages": []}, "messages: at least one message is required"),
    "messages is a text": ({"messages": "hi"}, "messages: Input should be a valid list"),
    "a message is a text": ({"messages": ["hi"]}, "messages.0: Input should be a valid dictionary"),
    "a message with a name": ({"messages": [{**HI[0], "name": "Ann"}]},
                              "messages.0.name: Extra inputs are not permitted"),
    "no content": ({"messages": [{"role": "user"}]}, "messages.0.content: Field required"),
    "content is a number": ({"messages": say(7)}, "messages.0.content: Input should be a valid list"),
    "assistant first": ({"messages": [{"role": "assistant", "content": "hi"}, *HI]},
                        'messages: first message must use the "user" role'),
    "unknown role": ({"messages": [{"role": "robot", "content": "hi"}]},
                     "messages.0.role: Input should be 'user', 'assistant' or 'system'"),
    "system first": ({"messages": [{"role": "system", "content": "Be brief."}, *HI]},
                     f"messages.0: use the top-level 'system' parameter for the initial system prompt; {PLACE}"),
    "system after assistant": (
        {"messages": [*say("hi", "ho"), {"role": "system", "content": "Be brief."}]},
        "messages.2: role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool "
        f"result; {PLACE}"),
    "system before user": ({"messages": [*HI, {"role": "system", "content": "Be brief."}, *HI]},
                           f"messages.1: role 'system' must precede an 'assistant' message or end the array; {PLACE}"),
    "system where it is unknown": (
        {"model": "claude-sonnet-5", "messages": [*HI, {"role": "system", "content": "Be brief."}]},
        "role 'system' is not supported on this model"),
    "empty content": ({"messages": say("")},
                      "messages.0: all messages must have non-empty content except for the optional final assistant "
                      "message"),
    "empty text block": (says(text("")), "messages: text content blocks must be non-empty"),
    "white space only": (says(text(" \n")), "messages: text content blocks must contain non-whitespace text"),
    "empty system block": ({"system": [text("")]}, "system: text content blocks must be non-empty"),
    "system is a number": ({"system": 7}, "system: Input should be a valid list"),
    "system with an image": ({"system": [image()]}, "system.0.type: Input should be 'text'"),
    "prefill": (
        {"messages": say("hi", "{")},
        "This model does not support assistant message prefill. The conversation must end with a user message."),
    "prefill ending in a blank": ({"model": "claude-haiku-4-5", "messages": say("hi", "The cause is ")},
                                  "messages: final assistant content cannot end with trailing whitespace"),
    "a block is a text": (says("hi"), "messages.0.content.0: Input should be a valid dictionary"),
    "a block without type": (says({"text": "hi"}), "messages.0.content.0.type: Field required"),
    "a block of another API": (
        says({"type": "image_url", "image_url": {"url": "https://x"}}),
        "messages.0.content.0: Input tag 'image_url' found using 'type' does not match any of the expected tags: "
        f"{BLOCK_TAGS}"),
    "a text without text": (says({"type": "text"}), "messages.0.content.0.text.text: Field required"),
    "a text that is none": (says(text(None)), "messages.0.content.0.text.text: Input should be a valid string"),
    "a text with more": (says(text("hi", parsed_output=None)),
                         "messages.0.content.0.text.parsed_output: Extra inputs are not permitted"),
    "citations on a user's text": (says(text("hi", citations=[{"type": "char_location"}])),
                                   "messages.0.content.0.text.citations: Extra inputs are not permitted"),
    "a document from the assistant": (
        {"messages": say("hi", [{"type": "document", "source": {"type": "url", "url": "https://x"}}], "and?")},
        "messages.1: `document` blocks can only be in `user` messages"),
    "a document of another kind": (
        says({"type": "document", "source": {"type": "base64", "media_type": "text/csv", "data": "YQ=="}}),
        "messages.0.content.0.document.source.base64.media_type: Input should be 'application/pdf'"),
}

IMAGES = {
    "no source": (says({"type": "image"}), "messages.0.content.0.image.source: Field required"),
    "source of another kind": (
        says(image(type="path")),
        "messages.0.content.0.image.source: Input tag 'path' found using 'type' does not match any of the expected "
        "tags: 'base64', 'file', 'url'"),
    "no media type": (says({"type": "image", "source": {"type": "base64", "data": "aGk="}}),
                      "messages.0.content.0.image.source.base64.media_type: Field required"),
    "bmp": (says(image(media_type="image/bmp")),
            "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', "
            "'image/gif' or 'image/webp'"),
    "not base64": (says(image(data="http://x")), "Could not process image"),
    "too large": (says(image(data="A" * 5_242_884)),
                  "messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 5242884 bytes > 5242880 "
                  "bytes"),
    "inside a result": (
        {"messages": say("go", [CALL], [{**RESULT, "content": [image(media_type="x")]}])},
        "messages.2.content.0.tool_result.content.0.image.source.base64.media_type: Input should be 'image/jpeg', "
        "'image/png', 'image/gif' or 'image/webp'"),
}

CALLS = {
    "call without result": ({"messages": say("go", [CALL], "and?")}, UNANSWERED),
    "call at the end": ({"messages": say("go", [CALL])}, UNANSWERED),
    "result not first": ({"messages": say("go", [CALL], [text("here"), RESULT])}, UNANSWERED),
    "result of nothing": (
        says(RESULT),
        "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_A. Each `tool_result` "
        "block must have a corresponding `tool_use` block in the previous message."),
    "one id twice": ({"messages": say("go", [CALL], [RESULT], [CALL], [RESULT])},
                     "messages: `tool_use` ids must be unique"),
    "two results": (
        {"messages": say("go", [CALL], [RESULT, RESULT])},
        "messages.2.content: each tool_use must have a single result. Found multiple `tool_result` blocks with id: "
        "toolu_A"),
    "input is a list": ({"messages": say("go", [{**CALL, "input": []}], [RESULT])},
                        "messages.1.content.0.tool_use.input: Input should be a valid dictionary"),
    "bad name in a call": ({"messages": say("go", [{**CALL, "name": "read ticket"}], [RESULT])},
                           "messages.1.content.0.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
    "bad id in a call": ({"messages": say("go", [{**CALL, "id": "call:1"}], [{**RESULT, "tool_use_id": "call:1"}])},
                         "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"),
    "an error without words": (
        {"messages": say("go", [CALL], [{**RESULT, "is_error": True, "content": ""}])},
        "messages.2.content.0.tool_result: content cannot be empty if `is_error` is true"),
    "an error with an image": (
        {"messages": say("go", [CALL], [{**RESULT, "is_error": True, "content": [text("no"), image()]}])},
        "messages.2.content.0.tool_result: all content must be type `text` if `is_error` is true"),
    "call without id": ({"messages": say("go", [{"type": "tool_use", "name": "a", "input": {}}], [RESULT])},
                        "messages.1.content.0.tool_use.id: Field required"),
    "result without id": ({"messages": say("go", [CALL], [{"type": "tool_result"}])},
                          "messages.2.content.0.tool_result.tool_use_id: Field required"),
    "result from the assistant": ({"messages": say("go", [RESULT], "and?")},
                                  "messages.1: `tool_result` blocks can only be in `user` messages"),
    "call from the user": (says(CALL), "messages.0: `tool_use` blocks can only be in `assistant` messages"),
}

TOOLS = {
    "tools is a dictionary": ({"tools": {"a": 1}}, "tools: Input should be a valid list"),
    "a tool is a text": ({"tools": ["a"]}, "tools.0.custom: Input should be a valid dictionary"),
    "no name": ({"tools": [{"description": "x"}]}, "tools.0.custom.name: Field required"),
    "name is a number": ({"tools": [tool(name=7)]}, "tools.0.custom.name: Input should be a valid string"),
    "bad name": ({"tools": [tool(name="read ticket")]},
                 "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
    "same tool twice": ({"tools": [TOOL, TOOL]}, "tools: Tool names must be unique."),
    "a tool with more": ({"tools": [tool(parameters={})]}, "tools.0.custom.parameters: Extra inputs are not permitted"),
    "description is a number": ({"tools": [tool(description=7)]},
                                "tools.0.custom.description: Input should be a valid string"),
    "no schema": ({"tools": [{"name": "a"}]}, "tools.0.custom.input_schema: Field required"),
    "schema is a text": ({"tools": [tool("{}")]}, "tools.0.custom.input_schema: Input should be a valid dictionary"),
    "schema without type": ({"tools": [tool({"properties": {}})]}, "tools.0.custom.input_schema.type: Field required"),
    "schema not an object": ({"tools": [tool({"type": "string"})]},
                             "tools.0.custom.input_schema.type: Input should be 'object'"),
    "schema with anyOf on top": (
        {"tools": [tool({"type": "object", "anyOf": [{}]})]},
        "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"),
    "schema invalid": ({"tools": [tool({"type": "object", "properties": {"a": {"type": "strange"}}})]},
                       f"tools.0.custom.input_schema: {HELP}"),
    "property with a blank": (
        {"tools": [tool({"type": "object", "properties": {"ticket id": TEXT}})]},
        "tools.0.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"),
    "a server tool": ({"tools": [{"type": "web_search_20260209", "name": "web_search"}]},
                      f"'{MODEL}' does not support tool types: web_search_20260209."),
    "tool_choice is a text": ({"tools": [TOOL], "tool_choice": "auto"},
                              "tool_choice: Input should be a valid dictionary"),
    "tool_choice of no kind": ({"tools": [TOOL], "tool_choice": {}}, "tool_choice.type: Field required"),
    "tool_choice of another kind": (
        {"tools": [TOOL], "tool_choice": {"type": "required"}},
        "tool_choice: Input tag 'required' found using 'type' does not match any of the expected tags: 'any', 'auto', "
        "'none', 'tool'"),
    "tool_choice without a name": ({"tools": [TOOL], "tool_choice": {"type": "tool"}},
                                   "tool_choice.tool.name: Field required"),
    "tool_choice of an unknown tool": ({"tools": [TOOL], "tool_choice": {"type": "tool", "name": "b"}},
                                       "Tool 'b' not found in provided tools"),
    "tool_choice without tools": ({"tool_choice": {"type": "auto"}},
                                  "tool_choice may only be specified while providing tools."),
    **{f"forced tool on {name}": ({"model": name, "tools": [TOOL], "tool_choice": {"type": "any"}},
                                  'tool_choice: type "tool" and "any" are not supported for this model.')
       for name, known in MODELS.items() if not known.forced_tools},
    "forced tool with thinking": (
        {"model": "claude-opus-4-8", "tools": [TOOL], "tool_choice": {"type": "any"}, "thinking": {"type": "adaptive"}},
        "Thinking may not be enabled when tool_choice forces tool use."),
}

THINKING = {
    "of no kind": ({"thinking": {}}, "thinking.type: Field required"),
    "of another kind": (
        {"thinking": {"type": "deep"}},
        "thinking: Input tag 'deep' found using 'type' does not match any of the expected tags: 'adaptive', "
        "'between_tools', 'disabled', 'enabled'"),
    "a budget for adaptive": ({"thinking": {"type": "adaptive", "budget_tokens": 2000}},
                              "thinking.adaptive.budget_tokens: Extra inputs are not permitted"),
    "display": ({"thinking": {"type": "adaptive", "display": "full"}},
                "thinking.adaptive.display: Input should be 'summarized' or 'omitted'"),
    "no budget": ({"model": "claude-sonnet-4-6", "thinking": {"type": "enabled"}},
                  "thinking.enabled.budget_tokens: Field required"),
    "small budget": ({"model": "claude-sonnet-4-6", "thinking": {"type": "enabled", "budget_tokens": 512}},
                     "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"),
    "budget as large as max_tokens": (
        {"model": "claude-sonnet-4-6", "max_tokens": 2000, "thinking": {"type": "enabled", "budget_tokens": 2000}},
        "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at "
        "https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size"),
    **{f"enabled on {name}": ({"model": name, "thinking": {"type": "enabled", "budget_tokens": 1024}},
                              f'"thinking.type.enabled" is not supported for this model. {USE_ADAPTIVE}')
       for name in ("claude-haiku-5-5", "claude-opus-4-7", "claude-fable-5-2")},
    "adaptive on an old model": ({"model": "claude-haiku-4-5", "thinking": {"type": "adaptive"}},
                                 "adaptive thinking is not supported on this model"),
    "off on Sonnet 5.5": (
        {"model": "claude-sonnet-5-5", "thinking": {"type": "disabled"}},
        '"thinking.type.disabled" is not supported for this model. Use "thinking.type.between_tools" for the lowest '
        'thinking setting, or "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'),
    "off on Opus 5.5": ({"model": "claude-opus-5-5", "thinking": {"type": "disabled"}},
                        f'"thinking.type.disabled" is not supported for this model. {USE_ADAPTIVE}'),
    "between tools on Opus 5.5": ({"model": "claude-opus-5-5", "thinking": {"type": "between_tools"}},
                                  '"thinking.type.between_tools" is not supported for this model.'),
    "effort of no kind": ({"output_config": {"effort": "extreme"}},
                          "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"),
    "effort on a model without": ({"model": "claude-haiku-4-5", "output_config": {"effort": "low"}},
                                  "This model does not support the effort parameter."),
    "effort above the model's": (
        {"model": "claude-opus-4-6", "output_config": {"effort": "xhigh"}},
        "This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium."),
    "most effort without thinking": (
        {"model": "claude-opus-5", "thinking": {"type": "disabled"}, "output_config": {"effort": "max"}},
        "output_config.effort 'max' is not supported when thinking is disabled on this model. Use effort 'high' or "
        "below, or enable thinking."),
    "a block without signature": ({"messages": say("hi", [{"type": "thinking", "thinking": ""}, text("ho")], "and?")},
                                  "messages.1.content.0.thinking.signature: Field required"),
    "a block that was made up": (
        {"messages": say("hi", [{"type": "thinking", "thinking": "Hm.", "signature": "x"}, text("ho")], "and?")},
        "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
        "modified. These blocks must remain as they were in the original response."),
    "an older one that was made up": (
        {"messages": say("hi", [{"type": "thinking", "thinking": "", "signature": "x"}, text("ho")], "?", "so", "?")},
        "messages.1.content.0: Invalid `signature` in `thinking` block"),
    "a block from the user": (says({"type": "thinking", "thinking": "", "signature": "x"}),
                              "messages.0: `thinking` blocks can only be in `assistant` messages"),
}

SCHEMAS = {
    "of another kind": ({"output_config": {"format": {"type": "json"}}},
                        "output_config.format.type: Input should be 'json_schema'"),
    "without schema": ({"output_config": {"format": {"type": "json_schema"}}},
                       "output_config.format.schema: Field required"),
    "open object": (form({"type": "object", "properties": {"a": TEXT}, "required": ["a"]}),
                    "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to "
                    "false"),
    "object open on purpose": (
        form(closed({"a": {"type": "object", "additionalProperties": True}})),
        "output_config.format.schema: For 'object' type, 'additionalProperties: true' is not supported. Please set "
        "'additionalProperties' to false"),
    "bounds": (form(closed({"a": {"type": "integer", "minimum": 1, "maximum": 5}})),
               "output_config.format.schema: For 'integer' type, properties maximum, minimum are not supported"),
    "length of a text": (form(closed({"a": {"type": "string", "maxLength": 5}})),
                         "output_config.format.schema: For 'string' type, property 'maxLength' is not supported"),
    "length of a list": (form(closed({"a": {"type": "array", "items": TEXT, "maxItems": 5}})),
                         "output_config.format.schema: For 'array' type, property 'maxItems' is not supported"),
    "at least two": (form(closed({"a": {"type": "array", "items": TEXT, "minItems": 2}})),
                     "output_config.format.schema: For 'array' type, 'minItems' values other than 0 or 1 are not "
                     "supported"),
    "recursion": (form(closed({"a": {"$ref": "#/$defs/n"}},
                              **{"$defs": {"n": closed({"next": {"$ref": "#/$defs/n"}})}})),
                  "output_config.format.schema: Recursive schemas are not supported: '#/$defs/n' refers to itself"),
    "reference outside": (form(closed({"a": {"$ref": "https://x/y.json"}})),
                          "output_config.format.schema: External references are not supported: 'https://x/y.json'"),
    "many optional": (
        form({**closed(numbered(25, TEXT)), "required": []}),
        "Schemas contains too many optional parameters (25), which would make grammar compilation inefficient. Reduce "
        "the number of optional parameters in your tool schemas (limit: 24)."),
    "many unions": (
        form(closed(numbered(17, {"type": ["string", "null"]}))),
        "Schemas contains too many parameters with union types (17 parameters with type arrays or anyOf). This causes "
        "exponential compilation cost. Reduce the number of nullable or union-typed parameters (limit: 16 parameters "
        "with unions)."),
    "many strict tools": (
        {"tools": [tool(closed({}), name=f"t{i}", strict=True) for i in range(21)]},
        "Too many strict tools (21). The maximum number of strict tools supported is 20. Try reducing the number of "
        "tools marked as strict."),
    "strict tool with an open object": (
        {"tools": [tool(strict=True)]},
        "tools.0.custom: For 'object' type, 'additionalProperties' must be explicitly set to false"),
}

MARKS = {
    "of another kind": (
        says(text("hi", cache_control={"type": "persistent"})),
        "messages.0.content.0.text.cache_control: Input tag 'persistent' found using 'type' does not match any of the "
        "expected tags: 'ephemeral'"),
    "of another time": ({"system": [text("x", cache_control={"type": "ephemeral", "ttl": 3600})]},
                        "system.0.cache_control.ephemeral.ttl: Input should be '5m' or '1h'"),
    "with more": ({"tools": [tool(cache_control={**MARK, "scope": "global"})]},
                  "tools.0.custom.cache_control.ephemeral.scope: Extra inputs are not permitted"),
    "automatic of another time": ({"cache_control": {"type": "ephemeral", "ttl": "1d"}},
                                  "cache_control.ephemeral.ttl: Input should be '5m' or '1h'"),
    "on empty text": (says(text("", cache_control=MARK), text("hi")),
                      "messages.0.content.0.text: cache_control cannot be set for empty text blocks"),
    "on an empty system block": ({"system": [text("", cache_control=MARK)]},
                                 "system.0: cache_control cannot be set for empty text blocks"),
    "on thinking": (
        {"messages": say("hi", [{"type": "thinking", "thinking": "", "signature": "x", "cache_control": MARK}], "?")},
        "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted"),
    "five": (says(*(text(str(i), cache_control=MARK) for i in range(5))),
             "A maximum of 4 blocks with cache_control may be provided. Found 5."),
    "four and the automatic one": (
        {"cache_control": MARK, **says(*(text(str(i), cache_control=MARK) for i in range(4)), text("last"))},
        "A maximum of 4 blocks with cache_control may be provided. Found 5."),
    "automatic unlike the last": (
        {"cache_control": LONG_MARK, **says(text("hi", cache_control=MARK))},
        "Top-level cache_control has ttl='1h' but the target block already has cache_control with ttl='5m'. When both "
        "are specified on the same block, they must have matching TTLs."),
    "an hour after five minutes": (
        {"tools": [tool(cache_control=MARK)], "system": [text("x"), text("y", cache_control=LONG_MARK)]},
        "system.1.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control "
        "block. Note that blocks are processed in the following order: `tools`, `system`, `messages`."),
}

REFUSED = {f"{part}: {what}": case for part, table in {
    "fields": FIELDS, "messages": MESSAGES, "images": IMAGES, "calls": CALLS, "tools": TOOLS, "thinking": THINKING,
    "schemas": SCHEMAS, "marks": MARKS}.items() for what, case in table.items()}

# under the older API version
REFUSED_BEFORE = {
    "temperature on a newer model": ({"temperature": 0.2}, "`temperature` is deprecated for this model."),
    "top_k on a newer model": ({"top_k": 5}, "`top_k` is deprecated for this model."),
    "both": ({"model": "claude-haiku-4-5", "temperature": 0.2, "top_p": 0.9},
             "`temperature` and `top_p` cannot both be specified for this model. Please use only one."),
    "out of range": ({"model": "claude-haiku-4-5", "temperature": 1.5},
                     "temperature: Input should be less than or equal to 1"),
    "with thinking": (
        {"model": "claude-opus-4-6", "temperature": 0.2, "thinking": {"type": "adaptive"}},
        "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode. Please consult our "
        "documentation at https://platform.claude.com/docs/en/build-with-claude/extended-thinking"),
}
ACCEPTED_BEFORE = {
    "temperature on an older model": {"model": "claude-haiku-4-5", "temperature": 0.2},
    "top_k on an older model": {"model": "claude-sonnet-4-6", "top_k": 5},
    "the default temperature on a newer one": {"temperature": 1.0},
    "citations on a user's text": says(text("hi", citations=[{"type": "char_location"}])),
    "a document from the assistant": {
        "messages": say("hi", [{"type": "document", "source": {"type": "url", "url": "https://x"}}], "and?")},
}
ACCEPTED = {
    "every setting": {"metadata": {"user_id": "u"}, "service_tier": "auto", "stop_sequences": ["END"], "stream": False,
                      "output_config": {"effort": "low"}, "thinking": {"type": "disabled"}, "system": "Be brief."},
    "a system turn": {"messages": [*HI, {"role": "system", "content": "Be brief."}]},
    "an image": says(image(data=base64.b64encode(b"x" * 100).decode()), text("What is it?")),
    "a document": says({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x"}},
                       text("What is it?")),
    "four marks": says(*(text(str(i), cache_control=MARK) for i in range(4))),
    "an hour before five minutes": {"system": [text("x", cache_control=LONG_MARK)],
                                    **says(text("y", cache_control=MARK))},
    "the automatic mark on a marked block": {"cache_control": MARK, **says(text("hi", cache_control=MARK))},
    "a strict tool": {"tools": [tool(closed({"ticket_id": TEXT}), strict=True)]},
    "a format": form(closed({"a": {"type": "array", "items": closed({"b": TEXT}), "minItems": 1}})),
    "a name given twice to a schema": form(closed({"a": {"$ref": "#/$defs/n"}, "b": {"$ref": "#/$defs/n"}},
                                                  **{"$defs": {"n": closed({"c": TEXT})}})),
    "between tools on Sonnet 5.5": {"model": "claude-sonnet-5-5", "thinking": {"type": "between_tools"}},
    "a budget on an older model": {"model": "claude-haiku-4-5", "max_tokens": 4000,
                                   "thinking": {"type": "enabled", "budget_tokens": 1024}},
    "a forced tool": {"tools": [TOOL], "tool_choice": {"type": "tool", "name": "read_ticket"}},
    "a prefill on an old model": {"model": "claude-haiku-4-5", "messages": say("hi", "The cause is")},
    "messages of one role in a row": {"messages": [*say("go", [CALL], [RESULT]), *HI]},
    "results in two messages": {"messages": [
        *say("go", [CALL, {**CALL, "id": "toolu_B"}], [RESULT]),
        {"role": "user", "content": [{**RESULT, "tool_use_id": "toolu_B"}]}]},
    "a result with an image": {"messages": say("go", [CALL], [{**RESULT, "content": [text("see"), image()]}])},
    **{f"a result of {content!r}": {"messages": say("go", [CALL], [{**RESULT, "content": content}])}
       for content in ("", [], None)},
    "an error in words": {"messages": say("go", [CALL], [{**RESULT, "is_error": True, "content": [text("no")]}])},
    "what a tool may say of itself": {"tools": [tool(
        type="custom", strict=False, defer_loading=False, eager_input_streaming=True, allowed_callers=["direct"],
        input_examples=[{"ticket_id": "1"}])]},
    "no tool": {"tools": [TOOL], "tool_choice": {"type": "none"}},
    "one tool at a time": {"tools": [TOOL], "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
    "nothing where something may stand": {
        "system": None, "tools": None, "tool_choice": None, "thinking": None, "stop_sequences": None, "metadata": None,
        "output_config": None, "cache_control": None, **says(text("hi", cache_control=None, citations=None))},
    "a fast reply": {"model": "claude-opus-5-5", "speed": "fast"},
}


def body(changes):
    whole = {"model": MODEL, "max_tokens": 1024, "messages": HI, **changes}
    return {name: value for name, value in whole.items() if value is not ...}


@pytest.mark.parametrize(("changes", "message"), REFUSED.values(), ids=REFUSED)
def test_a_broken_request_is_refused_in_the_apis_words(door, changes, message):
    with pytest.raises(anthropic.BadRequestError) as caught:
        door.post("/v1/messages", body(changes))
    assert caught.value.body["error"] == {"type": "invalid_request_error", "message": message}
    assert caught.value.body["request_id"] == caught.value.request_id
    assert caught.value.request_id.startswith("req_01")


@pytest.mark.parametrize(("changes", "message"), REFUSED_BEFORE.values(), ids=REFUSED_BEFORE)
def test_an_older_version_refuses_in_other_words(door, changes, message):
    with pytest.raises(anthropic.BadRequestError) as caught:
        door.post("/v1/messages", body(changes), headers=OLD)
    assert caught.value.body["error"]["message"] == message


@pytest.mark.parametrize("changes", ACCEPTED_BEFORE.values(), ids=ACCEPTED_BEFORE)
def test_an_older_version_still_takes_what_the_newest_does_not(door, changes):
    assert door.post("/v1/messages", body(changes), headers=OLD)["type"] == "message"
    with pytest.raises(anthropic.BadRequestError):
        door.post("/v1/messages", body(changes))


@pytest.mark.parametrize("changes", ACCEPTED.values(), ids=ACCEPTED)
def test_what_the_api_takes_is_answered_and_its_usage_adds_up(door, changes):
    request = body(changes)
    usage = door.post("/v1/messages", request)["usage"]
    counted = door.post("/v1/messages/count_tokens", {
        name: value for name, value in request.items()
        if name not in ("max_tokens", "metadata", "service_tier", "stop_sequences", "stream")})
    total = usage["input_tokens"] + usage["cache_creation_input_tokens"] + usage["cache_read_input_tokens"]
    assert total == counted["input_tokens"]
    assert sum(usage["cache_creation"].values()) == usage["cache_creation_input_tokens"]
    assert usage["output_tokens_details"]["thinking_tokens"] <= usage["output_tokens"] <= request["max_tokens"]


def test_more_than_100_000_messages_are_too_many(door):
    with pytest.raises(anthropic.BadRequestError) as caught:
        door.post("/v1/messages", body({"messages": HI * 100_001}))
    assert caught.value.body["error"]["message"] == (
        "messages: List should have at most 100000 items after validation, not 100001")


def test_a_prompt_above_the_window_is_refused_with_both_numbers(door):
    with pytest.raises(anthropic.BadRequestError, match=r"prompt is too long: 2\d{5} tokens > 200000 maximum"):
        door.post("/v1/messages", body({"model": "claude-haiku-4-5", **says(text("ticket cause label " * 70_000))}))


def test_thinking_comes_back_as_it_was_or_not_at_all(door):
    first = door.sdk.messages.create(**body({"output_config": {"effort": "max"}}))
    thought, *rest = [block.to_dict() for block in first.content]
    assert thought["type"] == "thinking"
    door.post("/v1/messages", body({"messages": say("hi", [thought, *rest], "and?")}))
    for broken in ({**thought, "signature": thought["signature"][:-1]}, {**thought, "thinking": "Hm."}):
        with pytest.raises(anthropic.BadRequestError, match="cannot be modified"):
            door.post("/v1/messages", body({"messages": say("hi", [broken, *rest], "and?")}))
    with pytest.raises(anthropic.BadRequestError, match="The final block in an assistant message cannot be `thinking`"):
        door.post("/v1/messages", body({"messages": say("hi", [thought], "and?")}))


def test_a_reply_of_no_tokens_fills_the_cache(door):
    message = door.sdk.messages.create(**body({"max_tokens": 0}))
    assert (message.content, message.stop_reason, message.usage.output_tokens) == ([], "max_tokens", 0)


# --- who may come in, and where to -----------------------------------------------------------------------------------


def test_an_unknown_model_is_not_found(door):
    with pytest.raises(anthropic.NotFoundError) as caught:
        door.sdk.messages.create(**body({"model": "claude-sonnet-9"}))
    assert caught.value.body["error"] == {"type": "not_found_error", "message": "model: claude-sonnet-9"}


@pytest.mark.parametrize(("headers", "message"), [
    ({}, "x-api-key header is required"),
    ({"authorization": "Bearer"}, "x-api-key header is required"),
    ({"x-api-key": "invalid"}, "invalid x-api-key"),
    ({"authorization": "Bearer invalid"}, "Invalid bearer token")])
@pytest.mark.parametrize(("method", "path"), [
    ("POST", "/v1/messages"), ("POST", "/v1/messages/count_tokens"), ("GET", "/v1/models"),
    ("GET", "/v1/messages/batches")])
def test_without_a_good_key_nobody_comes_in(door, method, path, headers, message):
    reply = door.http.request(method, path, headers=headers)
    assert (reply.status_code, reply.json()["error"]) == (401, {"type": "authentication_error", "message": message})


def test_the_sdk_tells_a_wrong_key(door):
    with pytest.raises(anthropic.AuthenticationError):
        door.client("invalid").messages.create(**body({}))


@pytest.mark.parametrize(("version", "message"), [
    ({}, "anthropic-version: header is required"),
    ({"anthropic-version": "2024-10-22"}, 'anthropic-version: "2024-10-22" is not a valid version')])
def test_the_version_must_be_one_of_the_apis(door, version, message):
    reply = door.http.post("/v1/messages", json=body({}), headers={"x-api-key": "k", **version})
    assert (reply.status_code, reply.json()["error"]["message"]) == (400, message)


def test_a_beta_has_a_name_and_a_date(door):
    door.sdk.beta.messages.create(**body({}), betas=["any-thing-2026-09-30", "claude-code-20250219"])
    with pytest.raises(anthropic.BadRequestError) as caught:
        door.sdk.beta.messages.create(**body({}), betas=["any-thing-2026-09-30", "caching"])
    assert caught.value.body["error"]["message"] == (
        "Unexpected value(s) `caching` for the `anthropic-beta` header. Please consult our documentation at "
        "docs.anthropic.com or try again without the header.")


@pytest.mark.parametrize("key", [{"x-api-key": "k"}, {"authorization": "Bearer k"}])
def test_both_ways_to_send_a_key_are_accepted(door, key):
    assert door.http.post("/v1/messages", json=body({}), headers={**key, **OLD}).status_code == 200


@pytest.mark.parametrize("path", ["/", "/v1/complete", "/v1/messages/other", "/v1/messages/batches/a/b/c"])
def test_other_paths_are_not_found(door, path):
    reply = door.http.post(path, json={})
    assert (reply.status_code, reply.json()["error"]) == (404, {"type": "not_found_error", "message": "Not Found"})


@pytest.mark.parametrize(("method", "path"), [
    ("GET", "/v1/messages"), ("PUT", "/v1/messages"), ("GET", "/v1/messages/count_tokens"), ("POST", "/v1/models"),
    ("DELETE", "/v1/messages/batches"), ("GET", "/v1/messages/batches/a/cancel")])
def test_other_methods_are_not_allowed(door, method, path):
    reply = door.http.request(method, path)
    assert (reply.status_code, reply.json()["error"]["message"]) == (405, "Method Not Allowed")


@pytest.mark.parametrize("content", [b"{nope", b'{"model": NaN}', b"\xff\xfe", b"[" * 100_000])
def test_a_body_that_is_no_json_is_refused(door, content):
    reply = door.http.post("/v1/messages", content=content, headers={"x-api-key": "k", **OLD})
    assert reply.status_code == 400
    assert reply.json()["error"]["message"].startswith("The request body is not valid JSON: ")


@pytest.mark.parametrize(("words", "reason"), [
    (r'"\ud83d"', "no low surrogate in string: line 1 column 9 (char 8)"),
    (r'"\\\uDE00"', "invalid high surrogate in string: line 1 column 5 (char 4)"),
    ("[" * 300 + "]" * 300, "recursion limit reached"), ("1e999", "number is infinity when parsed as double")])
def test_what_json_allows_and_the_api_does_not_is_refused(door, words, reason):
    reply = door.http.post("/v1/messages", content=f"[{words}]", headers={"x-api-key": "k", **OLD})
    assert reply.json()["error"]["message"] == f"The request body is not valid JSON: {reason}"


def test_a_whole_surrogate_pair_is_a_letter(door):
    request = json.dumps(body(says(text("all good \U0001f600 \\ud83d"))))
    assert r"\ud83d\ude00" in request
    assert door.http.post("/v1/messages", content=request, headers={"x-api-key": "k", **OLD}).status_code == 200


def test_a_body_that_is_no_object_is_refused(door):
    reply = door.http.post("/v1/messages", content=b"[]", headers={"x-api-key": "k", **OLD})
    assert reply.json()["error"]["message"] == "Input should be a valid dictionary"


def test_a_request_above_32_megabytes_is_too_large(door):
    with pytest.raises(anthropic.RequestTooLargeError) as caught:
        door.post("/v1/messages", body(says(text("x" * 33 * 1024 * 1024))))
    assert caught.value.body == {"error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}


# --- replies ---------------------------------------------------------------------------------------------------------


def test_a_reply_is_a_message(door):
    message = door.sdk.messages.create(**body({"system": LABEL, **says(text(TICKET))}))
    assert (message.type, message.role, message.model) == ("message", "assistant", MODEL)
    assert message.stop_reason == "end_turn"
    assert message.id.startswith("msg_01") and message._request_id.startswith("req_01")
    assert json.loads(next(b.text for b in message.content if b.type == "text"))["cause"]


def test_the_same_request_gets_the_same_answer(door):
    first, second = (door.sdk.messages.create(**body({})) for _ in range(2))
    other = door.sdk.messages.create(**body(says(text("ho"))))
    assert first.to_dict() == second.to_dict()
    assert first.id != other.id


def test_a_fast_reply_says_so(door):
    fast, usual = (door.post("/v1/messages", body({"model": "claude-opus-5-5", **more}))["usage"]
                   for more in ({"speed": "fast"}, {}))
    assert fast == {**usual, "speed": "fast"}


def test_headers_tell_the_request_and_the_limits(door):
    headers = door.sdk.messages.with_raw_response.create(**body({})).headers
    assert headers["request-id"].startswith("req_01") and headers["anthropic-organization-id"]
    for kind in ("requests", "tokens", "input-tokens", "output-tokens"):
        told = {what: headers[f"anthropic-ratelimit-{kind}-{what}"] for what in ("limit", "remaining", "reset")}
        assert int(told["remaining"]) <= int(told["limit"]) and told["reset"].endswith("Z")


@pytest.mark.parametrize(("fault", "error", "kind", "retried"), [
    ("rate_limit", anthropic.RateLimitError, "rate_limit_error", True),
    ("overloaded", anthropic.OverloadedError, "overloaded_error", True),
    ("server_error", anthropic.InternalServerError, "api_error", True)])
def test_a_fault_can_be_asked_for(door, fault, error, kind, retried):
    with pytest.raises(error) as caught:
        door.sdk.messages.create(**body({}), extra_headers={"simulated-fault": fault})
    assert caught.value.body["error"]["type"] == kind
    assert ("retry-after" in caught.value.response.headers) == (fault == "rate_limit")


def test_more_requests_than_a_minute_allows_are_turned_away_until_it_has_passed(door):
    door.open_room(Conditions(requests_per_minute=2))
    for _ in range(2):
        door.post("/v1/messages", body({}))
    with pytest.raises(anthropic.RateLimitError) as caught:
        door.post("/v1/messages", body({}))
    door.pass_time(int(caught.value.response.headers["retry-after"]))
    assert door.post("/v1/messages", body({}))["type"] == "message"


def test_a_marked_prompt_is_written_to_the_cache_then_read_from_it_until_it_is_forgotten(door):
    request = body({"system": [text("Label support tickets with care. " * 200, cache_control=MARK)]})
    usages = []
    for wait in (10, 10, 301, 0):
        usages.append(door.sdk.messages.create(**request).usage)
        door.pass_time(wait)
    written, read, again, anew = usages
    total = written.input_tokens + written.cache_creation_input_tokens
    assert written.cache_creation_input_tokens > 512 and written.cache_read_input_tokens == 0
    assert written.cache_creation.ephemeral_5m_input_tokens == written.cache_creation_input_tokens
    assert read.cache_read_input_tokens == again.cache_read_input_tokens == written.cache_creation_input_tokens
    assert read.input_tokens + read.cache_read_input_tokens == total
    assert anew.cache_creation_input_tokens == written.cache_creation_input_tokens


# --- models ----------------------------------------------------------------------------------------------------------


def test_the_models_are_listed_page_by_page_the_newest_first(door):
    first = door.sdk.models.list(limit=4)
    assert [m.id for m in first.data][:2] == ["claude-fable-5-2", "claude-haiku-5-5"] and first.has_more
    everything = [m.id for m in first]      # the SDK asks for the further pages
    assert sorted(everything) == sorted(MODELS)
    back = door.sdk.models.list(limit=2, before_id=everything[4])
    assert [m.id for m in back.data] == everything[2:4] and back.has_more


def test_a_model_says_what_it_is_and_can_do(door):
    info = door.sdk.models.retrieve("claude-haiku-4-5")
    assert (info.display_name, info.lifecycle, info.line) == ("Claude Haiku 4.5", "active", "haiku")
    assert (info.max_input_tokens, info.max_tokens, info.created_at.year) == (200_000, 64_000, 2025)
    can = info.capabilities
    assert can.batch.supported and not can.effort.supported and can.thinking.types.enabled.supported
    assert not can.thinking.types.adaptive.supported and not can.server_tools.supported
    assert door.sdk.models.retrieve("claude-opus-4-6").capabilities.effort.xhigh.supported is False


def test_an_unknown_model_is_not_listed(door):
    with pytest.raises(anthropic.NotFoundError) as caught:
        door.sdk.models.retrieve("claude-sonnet-9")
    assert caught.value.body["error"]["message"] == "model: claude-sonnet-9"


@pytest.mark.parametrize(("query", "message"), [
    ({"limit": 0}, "limit: Input should be greater than or equal to 1"),
    ({"limit": -1}, "limit: Input should be greater than or equal to 1"),
    ({"limit": "9" * 5000}, "limit: Input should be a valid integer, unable to parse string as an integer"),
    ({"limit": 1001}, "limit: Input should be less than or equal to 1000"),
    ({"after_id": "x"}, "after_id: 'x' was not found")])
def test_a_page_that_makes_no_sense_is_refused(door, query, message):
    with pytest.raises(anthropic.BadRequestError) as caught:
        door.sdk.models.list(**query)
    assert caught.value.body["error"]["message"] == message
