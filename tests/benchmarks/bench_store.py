"""What logging a long agent run costs: time per call early and late, and bytes of log per byte of conversation.

    python tests/benchmarks/bench_store.py

Ends with exit code 1 when late writes take over twice as long and 0.2 ms, or the log over twice the conversation.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.runs.store import CallRow, Run, Store  # noqa: E402

TURNS = 200


@dataclass(frozen=True)
class Measured:
    early_ms: float         # median write of turns 1-20
    late_ms: float          # median write of turns 181-200
    log_bytes: int
    conversation_bytes: int


def measure(folder: Path) -> Measured:
    """Logs an agent of TURNS turns with SDK reply blocks, each turn adding a tool call and a result of about 1 kB."""
    store = Store(folder / "runs.sqlite")
    store.add_run(Run("r", "g", "agent", "running", "simulated", "Simulated", {}, "d", 0.0))
    empty = store.size_bytes()
    system, tools = "You find root causes. " * 100, [{"name": f"tool_{i}", "description": "x" * 400} for i in range(7)]
    conversation: list[dict] = [{"role": "user", "content": "Find the five most common causes."}]
    times = []
    for turn in range(TURNS):
        reply = _reply(turn)
        began = time.perf_counter()
        store.add_call(_row(turn), {"model": "m", "max_tokens": 1024, "system": system, "tools": tools,
                                    "messages": conversation}, reply)
        times.append(time.perf_counter() - began)
        result = {"type": "tool_result", "tool_use_id": f"toolu_{turn}", "content": f"ticket {turn}: " + "text " * 200}
        conversation += [{"role": "assistant", "content": reply.content}, {"role": "user", "content": [result]}]
    store.close()       # the last connection to close empties the write-ahead log into the file
    return Measured(statistics.median(times[:20]) * 1000, statistics.median(times[-20:]) * 1000,
                    store.size_bytes() - empty, len(_json(conversation)))


def _reply(turn: int):
    from anthropic.types import Message

    return Message.construct(
        id=f"msg_{turn}", type="message", role="assistant", model="m", stop_reason="tool_use",
        content=[{"type": "text", "text": "I will read the next ticket."},
                 {"type": "tool_use", "id": f"toolu_{turn}", "name": "read_ticket", "input": {"ticket_id": turn}}],
        usage={"input_tokens": 1000 + 300 * turn, "output_tokens": 60})


def _row(turn: int) -> CallRow:
    return CallRow(0, "r", "agent", "", "m", float(turn), 2.0, "tool_use", 1000, 0, 0, 0, 60, None, 0.01)


def _json(conversation: list[dict]) -> str:
    return json.dumps(conversation, default=lambda block: block.to_dict())


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        m = measure(Path(folder))
    print(f"write per call: {m.early_ms:.2f} ms at turns 1-20, {m.late_ms:.2f} ms at turns 181-200 "
          f"({m.late_ms / m.early_ms:.2f}x)\n"
          f"log: {m.log_bytes:,} bytes for a final conversation of {m.conversation_bytes:,} "
          f"({m.log_bytes / m.conversation_bytes:.2f}x)")
    return 0 if m.late_ms < 2 * m.early_ms + 0.2 and m.log_bytes < 2 * m.conversation_bytes else 1


if __name__ == "__main__":
    sys.exit(main())
