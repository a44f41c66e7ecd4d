"""Writes `recorded_counts.csv`: of recorded Messages API calls, the counts that the estimate is held against.

    python -m tests.usage.make_recorded_counts FOLDER > tests/usage/recorded_counts.csv

FOLDER holds one JSON file a call: `{"source": {"repo", "path", "interaction"}, "request": {"body"}, "response":
{"status", "body", "sse"}}`. Only figures are written, no text. A call counts if it was answered and its whole prompt is
text that can be seen: no server tools, files, images, citations or hidden thinking. Claude's own counts need `ctok`.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lib.messages import get
from lib.usage.calibration.overheads import FRAME, MESSAGE, generation
from lib.usage.tokens import raw_count

COLUMNS = ("repo", "path", "interaction", "model", "text_o200k", "tools_o200k", "schema_o200k", "text_claude",
           "tools_claude", "schema_claude", "messages", "calls", "parameters", "tool_choice", "one_by_one", "thinking",
           "structured", "begun", "input_tokens")
SEEN = {"model", "messages", "max_tokens", "tools", "tool_choice", "stream", "system", "temperature", "top_p", "top_k",
        "stop_sequences", "service_tier", "thinking", "output_config", "output_format", "cache_control", "metadata"}

Count = Callable[[str], int]


def main(folder: str) -> None:
    out = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    out.writeheader()
    for path in sorted(Path(folder).glob("*.json")):
        call = json.loads(path.read_text())
        if row := counted(call):
            out.writerow({**{name: call["source"][name] for name in COLUMNS[:3]}, **row})


def counted(call: dict[str, Any]) -> dict[str, Any] | None:
    request, tokens = call["request"]["body"], reported_input(call["response"])
    if not tokens or call.get("trimmed") or not is_visible(request):
        return None
    model, choice = request["model"], request.get("tool_choice") or {}
    calls = [b for b in blocks(request) if b["type"] == "tool_use"]
    return {
        "model": model, **sizes(request, "o200k", raw_count), **sizes(request, "claude", claude_count(model)),
        "messages": len(request["messages"]), "calls": len(calls), "parameters": sum(len(c["input"]) for c in calls),
        "tool_choice": choice.get("type", ""), "one_by_one": int(bool(choice.get("disable_parallel_tool_use"))),
        "thinking": (request.get("thinking") or {}).get("type", ""), "structured": int(bool(schema_of(request))),
        "begun": int(request["messages"][-1]["role"] == "assistant"), "input_tokens": tokens}


def sizes(request: dict[str, Any], name: str, count: Count) -> dict[str, int]:
    schema = schema_of(request)
    return {f"text_{name}": sum(map(count, texts(request))),
            f"tools_{name}": sum(count(plain(tool)) for tool in request.get("tools") or []),
            f"schema_{name}": count(plain(schema)) if schema else 0}


def reported_input(response: dict[str, Any]) -> int:
    """Everything the prompt took, from the body or from the first event of a stream; 0 where nothing was answered."""
    if response["status"] != 200:
        return 0
    events = [json.loads(line[5:]) for line in (response.get("sse") or "").splitlines() if line.startswith("data:")]
    first = next((e["message"] for e in events if e["type"] == "message_start"), response.get("body"))
    usage = get(first, "usage") or {}
    return sum(usage.get(f"{part}input_tokens") or 0 for part in ("", "cache_creation_", "cache_read_"))


def is_visible(request: Any) -> bool:
    if not isinstance(request, dict) or set(request) - SEEN or request["model"].startswith("claude-2"):
        return False
    tools = request.get("tools") or []
    return (not set(request.get("output_config") or {}) - {"format", "effort"}
            and all(tool.get("type", "custom") == "custom" for tool in tools)
            and all(m["role"] in ("user", "assistant") for m in request["messages"])
            and all(is_text(block) for block in blocks(request)))


def is_text(block: dict[str, Any]) -> bool:
    if block["type"] == "tool_result":
        return all(is_text(part) for part in as_blocks(block.get("content")))
    return block["type"] in ("text", "tool_use") and not block.get("citations")


def blocks(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for message in request["messages"]:
        yield from as_blocks(message["content"])


def as_blocks(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []


def texts(request: dict[str, Any]) -> Iterator[str]:
    for block in [*as_blocks(request.get("system")), *blocks(request)]:
        match block["type"]:
            case "text":
                yield block["text"]
            case "tool_use":
                yield from (block["name"], plain(block["input"]))
            case _:
                yield from (part["text"] for part in as_blocks(block.get("content")))


def schema_of(request: dict[str, Any]) -> Any:
    asked = request.get("output_format") or (request.get("output_config") or {}).get("format") or {}
    return asked.get("schema")


def plain(value: Any) -> str:
    if isinstance(value, dict):
        value = {name: part for name, part in value.items() if name != "cache_control"}
    return json.dumps(value, ensure_ascii=False)


def claude_count(model: str) -> Count:
    from ctok import token_count

    kind = generation(model)
    version = {"3": "3.0"}.get(kind, kind)
    return lambda text: token_count(text, version) - FRAME[kind] - MESSAGE if text else 0


if __name__ == "__main__":
    main(sys.argv[1])
