"""What a person may switch on in the simulated API: faults by kind, slow calls, a confused model, other speeds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lib.simulated.latency import SPEEDS, Speed

SHARES = {"rate_limited": "rate limited", "overloaded": "overloaded", "server_error": "server errors", "slow": "slow"}


@dataclass(frozen=True)
class Conditions:
    """The default is an API without faults. Shares are of all attempts, 0 to 1; the seed decides which are hit."""

    seed: int = 0
    rate_limited: float = 0.0           # answered 429 with a retry-after
    overloaded: float = 0.0             # answered 529
    server_error: float = 0.0           # answered 500
    slow: float = 0.0                   # take several times as long
    requests_per_minute: int = 0        # more are answered 429; 0: as many as come
    confused: bool = False              # an agent makes its last tool call again and again
    speeds: Mapping[str, Speed] = field(default_factory=lambda: dict(SPEEDS))   # by a model's size

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads."""
        return {**{name: getattr(self, name) for name in (*SHARES, "seed", "requests_per_minute", "confused")},
                "speeds": {size: [s.first_token, s.per_token] for size, s in self.speeds.items()}}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Conditions:
        """The conditions that `to_dict` told; what is missing, unknown or makes no sense is as by default."""
        shares = {name: min(1.0, _number(data.get(name), 0.0)) for name in SHARES}
        told = data.get("speeds")
        told = told if isinstance(told, Mapping) else {}
        return Conditions(seed=int(_number(data.get("seed"), 0)), confused=data.get("confused") is True,
                          requests_per_minute=int(_number(data.get("requests_per_minute"), 0)),
                          speeds={size: _speed(told.get(size), usual) for size, usual in SPEEDS.items()}, **shares)

    def told(self) -> str:
        """What differs from the default, for instance "10 % rate limited, confused"; "" when nothing does."""
        parts = [f"{share * 100:.3g} % {words}" for name, words in SHARES.items()
                 if (share := getattr(self, name))]
        parts += [f"at most {self.requests_per_minute:,} requests a minute"] if self.requests_per_minute else []
        parts += ["a confused model"] if self.confused else []
        parts += ["other speeds"] if dict(self.speeds) != SPEEDS else []
        return ", ".join(parts)


def _number(value: Any, default: float) -> float:
    good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
    return value if good else default


def _speed(value: Any, usual: Speed) -> Speed:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return usual
    first, per_token = _number(value[0], usual.first_token), _number(value[1], usual.per_token)
    return Speed(first, per_token, usual.per_input)
