"""The design a new visitor starts from."""

from __future__ import annotations

from lib.design import Design, Step
from lib.models import DEFAULT_MODEL
from lib.task import prompts
from lib.task.tools import DEFAULT_TOOLS

STEPS = ("label", "merge", "summary", "agent")


def default_design() -> Design:
    """The editable defaults: our prompts and tools, every step on the same model."""
    return Design(
        name="default v1",
        steps={
            "label": Step(DEFAULT_MODEL, prompts.LABEL, max_tokens=2048),
            "merge": Step(DEFAULT_MODEL, prompts.MERGE, max_tokens=8192),
            "summary": Step(DEFAULT_MODEL, prompts.SUMMARY, max_tokens=2048),
            "agent": Step(DEFAULT_MODEL, prompts.AGENT, max_tokens=8192),
        },
        tools=DEFAULT_TOOLS,
    )
