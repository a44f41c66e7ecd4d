"""Remembers what was worked out from a text, by its content: nothing here belongs to a visitor."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar

_Work = TypeVar("_Work", bound=Callable[..., Any])


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
