"""How long a simulated call takes: time to the first token plus the tokens at the model's speed, with some jitter.

Figures are round stand-ins of the size people see, not measurements: Claude does not publish its speed.
"""

from __future__ import annotations

from dataclasses import dataclass

from lib.models import model

_READ_FROM_CACHE = 0.1      # of the time that a token takes which is read anew


@dataclass(frozen=True)
class Speed:
    first_token: float          # seconds until the reply begins, for a short prompt
    per_token: float            # seconds per output token
    per_input: float = 4e-6     # seconds per input token


SPEEDS = {
    "small": Speed(1.25, 1 / 75),
    "medium": Speed(1.6, 1 / 60),
    "large": Speed(2.2, 1 / 45),
    "unknown": Speed(1.5, 1 / 30),
}


def timing(speed: Speed, fresh: int, cached: int, output: int, seed: str) -> tuple[float, float]:
    """Seconds from the request until the reply begins, and until it is whole; thinking is part of the output.

    `seed` (hex digits) moves both by up to 15 % either way.
    """
    jitter = 0.85 + 0.3 * int(seed[:8], 16) / 0xFFFFFFFF
    first = jitter * (speed.first_token + (fresh + cached * _READ_FROM_CACHE) * speed.per_input)
    return round(first, 3), round(first + jitter * output * speed.per_token, 3)


def usual(model_id: str, input_tokens: float, output_tokens: float) -> float:
    """Seconds of a whole call at the usual speeds, nothing cached, without the jitter."""
    speed = SPEEDS[model(model_id).size]
    return speed.first_token + input_tokens * speed.per_input + output_tokens * speed.per_token
