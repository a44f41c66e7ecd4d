"""Remembers what was worked out from a text or a message, by its content: nothing here belongs to a visitor.

A conversation comes again with every turn, longer by two messages. `known` gives the same object for the same message,
and `once` keeps with it what is found out about it, so a turn's work is that of what is new in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from typing import Any, TypeVar

_Work = TypeVar("_Work", bound=Callable[..., Any])
_Found = TypeVar("_Found")
_JSON = json.JSONEncoder()


def remembered(kept: int, longest: int) -> Callable[[_Work], _Work]:
    """Like `lru_cache(kept)`, for a first argument of at most `longest` characters or words: longer ones seldom come
    again, and would fill the memory."""
    def decorate(work: _Work) -> _Work:
        known = lru_cache(maxsize=kept)(work)

        @wraps(work)
        def either(text: Any, *more: Any) -> Any:
            return known(text, *more) if len(text) <= longest else work(text, *more)

        return either

    return decorate


class Known(dict[str, Any]):
    """A message that nobody changes any more."""

    def __init__(self, message: dict[str, Any]):
        super().__init__(message)
        self.found: dict[Hashable, Any] = {}


def known(message: dict[str, Any]) -> Known:
    """A message of a request's JSON, the same object whenever the same JSON comes again."""
    return _known(_JSON.encode(message))


@remembered(kept=4_096, longest=8_000)
def _known(text: str) -> Known:
    return Known(json.loads(text))


def once(work: Callable[..., _Found], message: Any, *more: Hashable) -> _Found:
    """`work(message, *more)`, worked out once for a Known message. It may depend on nothing else."""
    if not isinstance(message, Known):
        return work(message, *more)
    found, what = message.found, (work, *more)
    if what not in found:
        found[what] = work(message, *more)
    return found[what]
