"""A published agent run to hold one's own against: input and output tokens of every turn, once kept, once compacted.

Where it comes from is told in sample_data/README.md.
"""

from __future__ import annotations

import csv
from pathlib import Path

FILE = Path(__file__).parents[2] / "sample_data" / "published_agent_run.csv"
MODEL = "claude-sonnet-4-6"
SOURCE = "anthropics/claude-cookbooks, tool_use/automatic-context-compaction.ipynb"


def published() -> dict[str, list[tuple[int, int]]]:
    """(input, output) tokens of turns 1, 2, …: `keep_all` kept its whole conversation, `compact_at_5000` summarised it
    above 5,000 tokens, twice; the two summarising calls are not in its figures."""
    turns: dict[str, list[tuple[int, int]]] = {}
    with FILE.open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            turns.setdefault(row["policy"], []).append((int(row["input_tokens"]), int(row["output_tokens"])))
    return turns
