"""What goes wrong now and then, but always at the same place."""

from __future__ import annotations

from hashlib import sha256


def chance(seed: str, one_in: int) -> bool:
    """True for one seed in so many."""
    return _digits(seed, 0) % one_in == 0


def share(seed: str) -> float:
    """A number from 0 to 1, spread evenly over seeds."""
    return _digits(seed, 0) / 0xFFFFFFFF


def number(seed: str, most: int) -> int:
    """A whole number from 1 to `most`."""
    return 1 + _digits(seed, 8) % most


def _digits(seed: str, start: int) -> int:
    return int(sha256(seed.encode("utf-8", "replace")).hexdigest()[start:start + 8], 16)
