"""A table on its way into the catalog."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Source:
    name: str
    columns: list[str]
    rows: list[tuple[Any, ...]]     # str, int, float or None
