"""The question itself: which root causes are most common, and which customers are affected. One file per shape."""

from __future__ import annotations

from lib.task.agent_shape import run_agent_shape
from lib.task.pipeline import run_pipeline

SHAPES = {"pipeline": run_pipeline, "agent": run_agent_shape}
