"""A design is what the person edits: prompts, tools, models, limits. Immutable, and versioned by its content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from lib.errors import DesignError

CACHING = ("off", "auto-5m", "auto-1h", "system")     # what is marked for the prompt cache, see client/caching.py
OUTPUTS = ("ask", "structured")     # the prompt asks for JSON and code validates; the API holds replies to a schema
OWN = "own_"                        # how the keys of a person's own tools begin


@dataclass(frozen=True)
class Step:
    """One kind of model call: `label`, `merge`, `summary` in the pipeline, `agent` in the agent."""

    model: str
    system: str
    max_tokens: int
    effort: str = ""                # one of the model's efforts; "" leaves it to the model


@dataclass(frozen=True)
class ToolText:
    """What the model is told of a tool. `key` names the function behind it and never changes.

    Behind a person's own tool stands `query`: one SELECT over the product database, whose `:names` are the arguments.
    """

    key: str
    name: str
    description: str
    input_schema: dict[str, Any]
    enabled: bool = True
    query: str = ""

    @property
    def is_own(self) -> bool:
        return self.key.startswith(OWN)


@dataclass(frozen=True)
class Limits:
    max_turns: int = 60             # replies of the agent
    max_tokens: int = 5_000_000     # input + output tokens of one run
    max_usd: float = 5.0            # of one run, where prices are known
    max_seconds: float = 1_800.0    # of one run

    def __post_init__(self) -> None:
        """A file may say 5 for 5.0: that is the same version, and an editor takes no two kinds of number."""
        for name in ("max_usd", "max_seconds"):
            if type(value := getattr(self, name)) is int:
                object.__setattr__(self, name, float(value))


@dataclass(frozen=True)
class Design:
    name: str
    steps: dict[str, Step]
    tools: tuple[ToolText, ...]
    limits: Limits = Limits()
    k: int = 5                      # how many causes
    workers: int = 8                # calls at once in the pipeline
    retries: int = 1                # of an invalid reply
    parallel_tools: bool = False    # the agent may call several tools in one turn
    caching: str = "off"            # one of CACHING
    tags: bool = True               # tickets, labels and causes go to the model inside escaped tags
    keep_results: int = 0           # the agent's newest tool results that are resent, older ones are cleared; 0: all
    result_chars: int = 0           # characters of one tool result that are sent; 0: all
    output: str = "ask"             # one of OUTPUTS

    @cached_property
    def version(self) -> str:
        """Ten hex digits that change when anything but the name does.

        What came into designs later counts only where it is used, so that older runs keep the version they told.
        """
        content = {**self.to_dict(), "name": ""}
        later = [(content, "output", "ask"), *((step, "effort", "") for step in content["steps"].values()),
                 *((tool, "query", "") for tool in content["tools"])]
        for owner, name, unused in later:
            if owner[name] == unused:
                del owner[name]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:10]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def is_exactly(self, other: Design) -> bool:
        """Also to how a schema is written: for `==` true, 1 and 1.0 are the same, in any order."""
        return exact(self.to_dict()) == exact(other.to_dict())

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Design:
        """The design that `to_dict` made this of. Raises DesignError for anything else."""
        try:
            return Design(**{
                **data,
                "steps": {name: Step(**s) for name, s in data["steps"].items()},
                "tools": tuple(ToolText(**t) for t in data["tools"]),
                "limits": Limits(**data["limits"]),
            })
        except (AttributeError, KeyError, OverflowError, TypeError) as fault:
            raise DesignError(f"this is no design of this version: {type(fault).__name__}: {fault}") from fault

    def with_step(self, name: str, **changes: Any) -> Design:
        return replace(self, steps={**self.steps, name: replace(self.steps[name], **changes)})

    def with_tool(self, key: str, **changes: Any) -> Design:
        return replace(self, tools=tuple(replace(t, **changes) if t.key == key else t for t in self.tools))

    def with_own_tools(self, added: Sequence[str], removed: Sequence[str]) -> Design:
        """With an empty tool of the person's own for each key that is `added`, without the own ones `removed`."""
        kept = tuple(tool for tool in self.tools if not (tool.is_own and tool.key in removed))
        known = {tool.key for tool in kept}
        return replace(self, tools=kept + tuple(_own_tool(key) for key in dict.fromkeys(added) if key not in known))


def reordered(before: Design, after: Design) -> bool:
    """Whether a model reads the tools of `after` in another order than those of `before` with the new ones behind
    them."""
    old, new = [tool.key for tool in before.tools], [tool.key for tool in after.tools]
    return [*(key for key in old if key in new), *(key for key in new if key not in old)] != new


def exact(content: dict[str, Any]) -> str:
    """What `to_dict` gave, as a text that differs where anything does."""
    return json.dumps(content)


def _own_tool(key: str) -> ToolText:
    nothing = {"type": "object", "properties": {}, "additionalProperties": False}
    return ToolText(key, key, "", nothing)

