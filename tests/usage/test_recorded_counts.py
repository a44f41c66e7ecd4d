"""The estimate held against what the API reported for recorded requests whose whole prompt is visible.

`recorded_counts.csv` holds figures only, with the repository, path and interaction they come from; the script beside it
makes it. The recordings themselves are not part of this project.
"""

from __future__ import annotations

import csv
from pathlib import Path

from lib.client.budget import HEADROOM
from lib.models import TOKEN_FACTOR
from lib.usage.calibration import overheads

RECORDED = [{name: int(value) if value.isdigit() else value for name, value in row.items()}
            for row in csv.DictReader((Path(__file__).parent / "recorded_counts.csv").open())]


def estimated(row: dict, counted: str) -> float:
    """The formula of `usage.tokens.estimate_request`, over counts: o200k's times the factor, or Claude's own."""
    factor = TOKEN_FACTOR[overheads.family(row["model"])] if counted == "o200k" else 1
    choice = {"type": row["tool_choice"], "disable_parallel_tool_use": bool(row["one_by_one"])}
    return (factor * sum(row[f"{part}_{counted}"] for part in ("text", "tools", "schema"))
            + overheads.frame({"model": row["model"], "messages": [{"role": "assistant"}] if row["begun"] else []})
            + overheads.MESSAGE * row["messages"]
            + overheads.CALL * row["calls"] + overheads.PARAMETER * row["parameters"]
            + (overheads.tool_prompt(row["model"], choice) if row["tools_o200k"] else 0)
            + overheads.thinking(row["model"], row["thinking"])
            + (overheads.SCHEMA if row["structured"] else 0))


def errors(counted: str, part: str = "claude") -> list[float]:
    return [abs(estimated(row, counted) / row["input_tokens"] - 1) for row in RECORDED if part in row["model"]]


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def test_the_record_is_large_enough_to_say_something():
    assert len(RECORDED) == 52
    assert len({row["model"] for row in RECORDED}) >= 15


def test_the_estimate_by_tiktoken_is_off_by_at_most_3_5_percent_on_average():
    assert mean(errors("o200k")) <= 0.035


def test_with_claudes_own_counts_it_is_off_by_at_most_2_percent():
    assert mean(errors("claude")) <= 0.02
    assert sum(error < 0.005 for error in errors("claude")) >= len(RECORDED) / 2


def test_the_budgets_headroom_covers_every_underestimate_of_the_record():
    assert all(HEADROOM * estimated(row, "o200k") >= row["input_tokens"] for row in RECORDED)


def test_tools_are_most_of_what_a_small_prompt_costs():
    """Without the API's own tool prompt an estimate would miss half of such a request."""
    small = [row for row in RECORDED if row["tools_o200k"] and not row["calls"] and row["text_o200k"] < 100]
    assert mean([(row["text_o200k"] + row["tools_o200k"]) / row["input_tokens"] for row in small]) < 0.5
