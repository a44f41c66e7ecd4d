"""Whether a request of the right shape makes sense: for its model, and one part of it with the others.

Each check yields the API's words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lib.models import model
from lib.remember import once
from lib.simulated.prompt_cache import can_carry_a_mark
from lib.simulated.refusals.schemas import schema_limits
from lib.simulated.thinking import genuine
from lib.usage.tokens import blocks_of, estimate_request

_TAKE_SPEED = ("claude-fable-5-2", "claude-opus-5-5", "claude-opus-5", "claude-opus-4-6")
_MOST_MARKS = 4
_BUDGET_HELP = ("Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/"
                "extended-thinking#max-tokens-and-context-window-size")
_DIRECTIVE = "the directive-only form (content: [] with output_config) is accepted at any position"


def sense(request: Mapping[str, Any]) -> Iterator[str]:
    yield from _limits(request)
    yield from _sampling(request)
    yield from _thinking(request)
    yield from _effort(request)
    yield from _tools(request)
    yield from schema_limits(request)
    yield from _messages(request)
    yield from _marks(request)
    yield from _length(request)


# --- settings --------------------------------------------------------------------------------------------------------


def _limits(request: Mapping[str, Any]) -> Iterator[str]:
    known, limit = model(request["model"]), request.get("max_tokens", 1)
    if limit > known.max_output:
        yield (f"max_tokens: {limit} > {known.max_output}, which is the maximum allowed number of output tokens for "
               f"{known.id}")
    if limit == 0:
        yield from _warming(request)
    if request.get("speed") == "fast" and known.id not in _TAKE_SPEED:
        yield f"'{known.id}' does not support the `speed` parameter."


def _warming(request: Mapping[str, Any]) -> Iterator[str]:
    """`max_tokens: 0` fills the prompt cache and answers nothing, so nothing may ask for an answer of some kind."""
    if request.get("stream"):
        yield "max_tokens: 0 is not supported with `stream: true`"
    if _kind(request, "thinking") == "enabled":
        yield 'max_tokens: 0 is not supported with `thinking.type: "enabled"`'
    if _forces_a_tool(request):
        yield "max_tokens: 0 is not supported with a forced `tool_choice`"
    if (request.get("output_config") or {}).get("format"):
        yield "max_tokens: 0 is not supported with `output_config.format`"


def _sampling(request: Mapping[str, Any]) -> Iterator[str]:
    """Only under an API version that still knows these fields."""
    given = {name: request[name] for name in ("temperature", "top_p", "top_k") if request.get(name) is not None}
    changed = [name for name, value in given.items() if name == "top_k" or value != 1]
    if changed and not model(request["model"]).sampling:
        yield f"`{changed[0]}` is deprecated for this model."
    if "temperature" in given and "top_p" in given:
        yield "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
    if "temperature" in changed and _kind(request, "thinking") in ("enabled", "adaptive"):
        yield ("`temperature` may only be set to 1 when thinking is enabled or in adaptive mode. Please consult our "
               "documentation at https://platform.claude.com/docs/en/build-with-claude/extended-thinking")


def _thinking(request: Mapping[str, Any]) -> Iterator[str]:
    name, kind = request["model"], _kind(request, "thinking")
    accepted = model(name).thinking
    if kind and kind not in accepted:
        yield _unsupported_thinking(kind, accepted)
    if kind == "enabled" and request["thinking"]["budget_tokens"] >= request.get("max_tokens", float("inf")):
        yield f"`max_tokens` must be greater than `thinking.budget_tokens`. {_BUDGET_HELP}"
    if kind in ("enabled", "adaptive") and _forces_a_tool(request) and model(name).forced_tools:
        yield "Thinking may not be enabled when tool_choice forces tool use."


def _unsupported_thinking(kind: str, accepted: tuple[str, ...]) -> str:
    if kind == "adaptive":
        return "adaptive thinking is not supported on this model"
    words = f'"thinking.type.{kind}" is not supported for this model.'
    instead = 'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
    if kind == "between_tools":
        return words
    if kind == "disabled" and "between_tools" in accepted:
        instead = ('Use "thinking.type.between_tools" for the lowest thinking setting, or "thinking.type.adaptive" and '
                   '"output_config.effort" to control thinking behavior.')
    return f"{words} {instead}"


def _effort(request: Mapping[str, Any]) -> Iterator[str]:
    name, effort = request["model"], (request.get("output_config") or {}).get("effort")
    levels, kind = model(name).efforts, _kind(request, "thinking")
    if effort and not levels:
        yield "This model does not support the effort parameter."
    if effort and effort not in levels:
        yield f"This model does not support effort level '{effort}'. Supported levels: {', '.join(sorted(levels))}."
    if effort in ("xhigh", "max") and (kind == "between_tools" or kind == "disabled" and name == "claude-opus-5"):
        yield (f"output_config.effort '{effort}' is not supported when thinking is disabled on this model. Use effort "
               "'high' or below, or enable thinking.")


def _tools(request: Mapping[str, Any]) -> Iterator[str]:
    tools, name = request.get("tools") or [], request["model"]
    names = [tool["name"] for tool in tools]
    served = [tool["type"] for tool in tools if tool.get("type") not in (None, "custom")]
    kind = _kind(request, "tool_choice")
    if served:
        yield f"'{name}' does not support tool types: {', '.join(served)}."
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique."
    if kind and kind != "none" and not tools:
        yield "tool_choice may only be specified while providing tools."
    if _forces_a_tool(request) and not model(name).forced_tools:
        yield 'tool_choice: type "tool" and "any" are not supported for this model.'
    if kind == "tool" and request["tool_choice"]["name"] not in names:
        yield f"Tool '{request['tool_choice']['name']}' not found in provided tools"


def _forces_a_tool(request: Mapping[str, Any]) -> bool:
    return _kind(request, "tool_choice") in ("any", "tool")


def _kind(request: Mapping[str, Any], name: str) -> str | None:
    return (request.get(name) or {}).get("type")


# --- messages --------------------------------------------------------------------------------------------------------


def _messages(request: Mapping[str, Any]) -> Iterator[str]:
    messages = request["messages"]
    if not messages:
        yield "messages: at least one message is required"
        return
    yield from _system_turns(request["model"], messages)
    if messages[0]["role"] != "user":
        yield 'messages: first message must use the "user" role'
    yield from _texts(request)
    yield from _thoughts(messages)
    yield from _calls(messages)
    yield from _end(request["model"], messages[-1])


def _system_turns(model_id: str, messages: list[dict]) -> Iterator[str]:
    """A system message stands after a user's and before an assistant's, or at the end."""
    roles = [message["role"] for message in messages]
    if "system" not in roles:
        return
    if not model(model_id).system_turns:
        yield "role 'system' is not supported on this model"
    for i, role in enumerate(roles):
        if role != "system":
            continue
        if i == 0:
            yield f"messages.0: use the top-level 'system' parameter for the initial system prompt; {_DIRECTIVE}"
        elif roles[i - 1] == "assistant":
            yield (f"messages.{i}: role 'system' must follow a 'user' message or an 'assistant' message ending in a "
                   f"server tool result; {_DIRECTIVE}")
        elif roles[i + 1:] and roles[i + 1] == "user":
            yield f"messages.{i}: role 'system' must precede an 'assistant' message or end the array; {_DIRECTIVE}"


def _texts(request: Mapping[str, Any]) -> Iterator[str]:
    for i, block in enumerate(_system_blocks(request)):
        if not block["text"]:
            yield (f"system.{i}: cache_control cannot be set for empty text blocks" if block.get("cache_control") else
                   "system: text content blocks must be non-empty")
    last = len(request["messages"]) - 1
    for i, message in enumerate(request["messages"]):
        if not message["content"] and not (i == last and message["role"] == "assistant"):
            yield (f"messages.{i}: all messages must have non-empty content except for the optional final assistant "
                   "message")
        if not once(_has_sound_texts, message):
            yield from _texts_of(f"messages.{i}", message)


def _has_sound_texts(message: Mapping[str, Any]) -> bool:
    return next(_texts_of("", message), None) is None


def _texts_of(where: str, message: Mapping[str, Any]) -> Iterator[str]:
    for j, block in enumerate(blocks_of(message["content"])):
        yield from _text_block(f"{where}.content.{j}", block)


def _text_block(at: str, block: Mapping[str, Any]) -> Iterator[str]:
    if block["type"] == "tool_result":
        for k, inner in enumerate(blocks_of(block.get("content"))):
            if inner["type"] == "text" and not inner["text"] and inner.get("cache_control"):
                yield f"{at}.tool_result.content.{k}.text: cache_control cannot be set for empty text blocks"
    if block["type"] != "text":
        return
    if not block["text"]:
        yield (f"{at}.text: cache_control cannot be set for empty text blocks" if block.get("cache_control") else
               "messages: text content blocks must be non-empty")
    elif not block["text"].strip():
        yield "messages: text content blocks must contain non-whitespace text"


def _thoughts(messages: list[dict]) -> Iterator[str]:
    """Thinking comes back exactly as the API sent it."""
    latest = max((i for i, message in enumerate(messages) if message["role"] == "assistant"), default=-1)
    for i, message in enumerate(messages):
        if not once(_has_sound_thoughts, message):
            yield from _thoughts_of(f"messages.{i}", message, i == latest)


def _has_sound_thoughts(message: Mapping[str, Any]) -> bool:
    return next(_thoughts_of("", message, False), None) is None


def _thoughts_of(where: str, message: Mapping[str, Any], is_latest: bool) -> Iterator[str]:
    content = blocks_of(message["content"])
    if not any(_is_thought(block) for block in content):
        return
    for j, block in enumerate(content):
        if _is_thought(block) and not (block["type"] == "thinking" and genuine(block)):
            yield _altered(f"{where}.content.{j}", block["type"], is_latest)
    if _is_thought(content[-1]):
        yield f"{where}: The final block in an assistant message cannot be `{content[-1]['type']}`."


def _altered(at: str, kind: str, latest: bool) -> str:
    if latest:
        return (f"{at}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. "
                "These blocks must remain as they were in the original response.")
    return f"{at}: Invalid `{'signature' if kind == 'thinking' else 'data'}` in `{kind}` block"


def _is_thought(block: Mapping[str, Any]) -> bool:
    return block["type"] in ("thinking", "redacted_thinking")


def _calls(messages: list[dict]) -> Iterator[str]:
    """Every tool_use is answered at the start of the next message; every tool_result answers one.

    Messages of one role in a row count as one, since the API joins them.
    """
    if _is_orderly(messages):
        return
    seen: set[str] = set()
    open_ids: list[str] = []
    opened_at = 0
    for i, role, blocks in _joined(messages):
        yield from _results(i, blocks, open_ids, opened_at)
        open_ids = [b["id"] for _, b in blocks if b["type"] == "tool_use"] if role == "assistant" else []
        opened_at = i
        if len(set(open_ids)) < len(open_ids) or seen & set(open_ids):
            yield "messages: `tool_use` ids must be unique"
        seen.update(open_ids)
    if open_ids:
        yield _unanswered(opened_at, open_ids)


def _is_orderly(messages: list[dict]) -> bool:
    """Whether roles alternate and each message begins with just the results of the calls before it, all of them new:
    what nearly every conversation is, and told faster than what is wrong with another."""
    role_before, open_ids, seen = "", set(), set()
    for message in messages:
        called, answered, lead = once(_ids, message)
        if message["role"] == role_before or not lead or len(answered) != len(open_ids) or open_ids != {*answered}:
            return False
        role_before, open_ids = message["role"], {*called}
        if len(open_ids) != len(called) or not seen.isdisjoint(open_ids):
            return False
        seen |= open_ids
    return not open_ids


def _ids(message: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
    """Of its calls, of the calls that its results answer, and whether it begins with all of these."""
    blocks = blocks_of(message["content"])
    called = tuple(b["id"] for b in blocks if b["type"] == "tool_use")
    answered = tuple(b["tool_use_id"] for b in blocks if b["type"] == "tool_result")
    return called, answered, all(b["type"] == "tool_result" for b in blocks[:len(answered)])


def _results(i: int, blocks: list, open_ids: list[str], opened_at: int) -> Iterator[str]:
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
        placed = [(f"{i}.content.{j}", b) for j, b in enumerate(blocks_of(message["content"]))]
        if groups and groups[-1][1] == message["role"]:
            groups[-1][2].extend(placed)
        else:
            groups.append((i, message["role"], placed))
    return groups


def _end(model_id: str, last: dict) -> Iterator[str]:
    if last["role"] != "assistant":
        return
    if not model(model_id).prefill:
        yield "This model does not support assistant message prefill. The conversation must end with a user message."
    text = next((b["text"] for b in reversed(blocks_of(last["content"])) if b["type"] == "text"), "")
    if text != text.rstrip():
        yield "messages: final assistant content cannot end with trailing whitespace"


def _length(request: Mapping[str, Any]) -> Iterator[str]:
    window, tokens = model(request["model"]).window, estimate_request(request)
    if tokens > window:
        yield f"prompt is too long: {tokens} tokens > {window} maximum"


# --- marks for the prompt cache --------------------------------------------------------------------------------------


def _marks(request: Mapping[str, Any]) -> Iterator[str]:
    marked = [(place, _ttl(block)) for place, block in _marked(request)]
    if request.get("cache_control"):
        yield from _automatic_mark(request, marked)
    if len(marked) > _MOST_MARKS:
        yield f"A maximum of {_MOST_MARKS} blocks with cache_control may be provided. Found {len(marked)}."
    lives = [ttl for _, ttl in marked]
    for i, (place, ttl) in enumerate(marked):
        if ttl == "1h" and "5m" in lives[:i]:
            yield (f"{place}cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' "
                   "cache_control block. Note that blocks are processed in the following order: `tools`, `system`, "
                   "`messages`.")


def _automatic_mark(request: Mapping[str, Any], marked: list[tuple[str, str]]) -> Iterator[str]:
    """The mark on the request stands for one on the last block that can carry one: it joins `marked`."""
    target = next(filter(can_carry_a_mark, _from_the_last(request)), {})
    ttl = _ttl(request)
    if not target.get("cache_control"):
        marked.append(("", ttl))
    elif _ttl(target) != ttl:
        yield (f"Top-level cache_control has ttl='{ttl}' but the target block already has cache_control with "
               f"ttl='{_ttl(target)}'. When both are specified on the same block, they must have matching TTLs.")


_Placed = tuple[str, Mapping[str, Any]]     # (place, block) of what can carry a mark


def _marked(request: Mapping[str, Any]) -> Iterator[_Placed]:
    """In the order of the prompt."""
    yield from filter(_has_mark, _before_messages(request))
    for i, message in enumerate(request["messages"]):
        for place, block in once(_marked_in, message):
            yield f"messages.{i}.{place}", block


def _from_the_last(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for message in reversed(request["messages"]):
        yield from (block for _, block in reversed(list(_cacheable(message))))
    yield from (block for _, block in reversed(list(_before_messages(request))))


def _before_messages(request: Mapping[str, Any]) -> Iterator[_Placed]:
    for i, tool in enumerate(request.get("tools") or []):
        yield f"tools.{i}.", tool
    for i, block in enumerate(_system_blocks(request)):
        yield f"system.{i}.", block


def _marked_in(message: Mapping[str, Any]) -> tuple[_Placed, ...]:
    return tuple(filter(_has_mark, _cacheable(message)))


def _cacheable(message: Mapping[str, Any]) -> Iterator[_Placed]:
    """Results after what is in them."""
    for j, block in enumerate(blocks_of(message["content"])):
        for k, inner in enumerate(blocks_of(block.get("content")) if block["type"] == "tool_result" else ()):
            yield f"content.{j}.tool_result.content.{k}.", inner
        yield f"content.{j}.", block


def _has_mark(placed: _Placed) -> bool:
    return bool(placed[1].get("cache_control"))


def _system_blocks(request: Mapping[str, Any]) -> list[Any]:
    return request["system"] if isinstance(request.get("system"), list) else []


def _ttl(holder: Mapping[str, Any]) -> str:
    return holder["cache_control"].get("ttl") or "5m"
