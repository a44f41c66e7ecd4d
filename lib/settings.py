"""Every knob of the playground: default, unit, environment variable. Reading the environment happens in `load`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lib.errors import SettingError

ROOT = Path(__file__).resolve().parent.parent
VARIABLES = tuple(f"PLAYGROUND_{name}" for name in (
    "STORE", "SHARED", "SPEED", "BASE_URL", "CONFIRM_ABOVE", "MAX_UPLOAD_MB", "TIMEOUT", "FAULTS", "KEY_BUDGET",
    "KEY_BUDGET_TOTAL", "BASE_URLS", "MAX_RUNS"))      # all that `load` reads
TOGETHER = 10       # times what one visitor may spend: all of them, where the owner does not say; a new browser is one


@dataclass(frozen=True)
class Settings:
    store: Path                 # SQLite file of runs and drafts; ":memory:": none   PLAYGROUND_STORE
    shared: bool | None         # each visitor sees only their own; None: by address PLAYGROUND_SHARED
    speed: float                # simulated seconds per real second; 0 = no waiting  PLAYGROUND_SPEED
    base_url: str               # offered as the compatible server's address         PLAYGROUND_BASE_URL
    confirm_above: int          # tickets: more than this asks before it runs        PLAYGROUND_CONFIRM_ABOVE
    max_upload_mb: int          # megabytes of one file as uploaded                  PLAYGROUND_MAX_UPLOAD_MB
    request_timeout: float      # seconds until a call is given up                   PLAYGROUND_TIMEOUT
    faults: Mapping[str, Any] = field(default_factory=dict)  # of the simulated API: slow=0.1 PLAYGROUND_FAULTS
    key_budget: float = 0.0     # dollars of the owner's key a visitor may use a day PLAYGROUND_KEY_BUDGET
    key_budget_total: float = 0.0   # dollars a day for all visitors; unset: 10 times that PLAYGROUND_KEY_BUDGET_TOTAL
    base_urls: tuple[str, ...] = ()     # the only ones for visitors; (): any public  PLAYGROUND_BASE_URLS
    max_runs: int = 8           # at work at once on this server; 0: no limit        PLAYGROUND_MAX_RUNS


def load(environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings that hold now. Raises SettingError naming the variable whose value makes no sense."""
    key_budget = _number(environ, "PLAYGROUND_KEY_BUDGET", 0.0)
    return Settings(
        store=Path(environ.get("PLAYGROUND_STORE") or ROOT / ".playground" / "runs.sqlite"),
        shared=_flag(environ, "PLAYGROUND_SHARED"),
        speed=_number(environ, "PLAYGROUND_SPEED", 30.0),
        base_url=environ.get("PLAYGROUND_BASE_URL", "").strip(),
        confirm_above=int(_number(environ, "PLAYGROUND_CONFIRM_ABOVE", 500)),
        max_upload_mb=int(_number(environ, "PLAYGROUND_MAX_UPLOAD_MB", 400)),
        request_timeout=_number(environ, "PLAYGROUND_TIMEOUT", 600.0),
        faults=_faults(environ, "PLAYGROUND_FAULTS"),
        key_budget=key_budget,
        key_budget_total=_number(environ, "PLAYGROUND_KEY_BUDGET_TOTAL", TOGETHER * key_budget),
        base_urls=tuple(filter(None, map(str.strip, environ.get("PLAYGROUND_BASE_URLS", "").split(",")))),
        max_runs=int(_number(environ, "PLAYGROUND_MAX_RUNS", 8)),
    )


def _number(environ: Mapping[str, str], name: str, default: float) -> float:
    text = environ.get(name, "").strip()
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise SettingError(f"{name} is {text!r}; it takes a number that is 0 or more, for instance {default:g}")
    return value


def _flag(environ: Mapping[str, str], name: str) -> bool | None:
    """None where nothing is said."""
    text = environ.get(name, "").strip().lower()
    if text in ("1", "true", "yes", "on"):
        return True
    if text in ("0", "false", "no", "off"):
        return False
    if not text:
        return None
    raise SettingError(f"{name} is {text!r}; it takes 1 or 0")


def _faults(environ: Mapping[str, str], name: str) -> dict[str, Any]:
    """What the simulated API does by default, as plain data for `Conditions.from_dict`; empty where nothing is said.

    A text such as rate_limited=0.1,overloaded=0.05,server_error=0.02,slow=0.1,requests_per_minute=60,confused=1,seed=7
    where shares are of all attempts; small=0.5/120 gives small models 0.5 s to the first token and 120 tokens a second.
    """
    found: dict[str, Any] = {}
    for part in filter(None, map(str.strip, environ.get(name, "").split(","))):
        fault, _, value = map(str.strip, part.partition("="))
        if fault not in _FAULTS:
            raise SettingError(f"{name} has {part!r}; it takes {', '.join(f'{known}=…' for known in _FAULTS)}")
        read, said = _FAULTS[fault]
        try:
            told = read(value)
        except (ValueError, ZeroDivisionError):
            raise SettingError(f"{name} has {part!r}; {fault} takes {said}") from None
        if fault in _SIZES:
            found.setdefault("speeds", {})[fault] = told
        else:
            found[fault] = told
    return found


def _between(lowest: float, highest: float, kind: type) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        value = kind(text)
        if not lowest <= value <= highest:
            raise ValueError(text)
        return value
    return read


def _speed(text: str) -> list[float]:
    first, _, per_second = text.partition("/")
    return [_between(0, 3_600, float)(first), 1 / _between(0.01, 1e6, float)(per_second)]


_SIZES = ("small", "medium", "large")
_SHARE = (_between(0, 1, float), "a share from 0 to 1, for instance 0.1")
_WHOLE = (_between(0, 10**9, int), "a whole number that is 0 or more")
_FAULTS: dict[str, tuple[Callable[[str], Any], str]] = {
    **dict.fromkeys(("rate_limited", "overloaded", "server_error", "slow"), _SHARE),
    **dict.fromkeys(("requests_per_minute", "seed"), _WHOLE),
    "confused": (lambda text: bool(_between(0, 1, int)(text)), "1 or 0"),
    **dict.fromkeys(_SIZES, (_speed, "seconds to the first token / tokens a second, for instance 0.5/120")),
}
