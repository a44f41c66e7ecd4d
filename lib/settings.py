"""Every knob of the playground: default, unit, environment variable. Reading the environment happens in `load`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lib.errors import SettingError

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Settings:
    store: Path                 # SQLite file of runs, calls and drafts              PLAYGROUND_STORE
    shared: bool | None         # each visitor sees only their own; None: by address PLAYGROUND_SHARED
    speed: float                # simulated seconds per real second; 0 = no waiting  PLAYGROUND_SPEED
    base_url: str               # offered as the compatible server's address         PLAYGROUND_BASE_URL
    confirm_above: int          # tickets: more than this asks before it runs        PLAYGROUND_CONFIRM_ABOVE
    max_upload_mb: int          # megabytes of one file as uploaded                  PLAYGROUND_MAX_UPLOAD_MB
    request_timeout: float      # seconds until a call is given up                   PLAYGROUND_TIMEOUT


def load(environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings that hold now. Raises SettingError naming the variable whose value makes no sense."""
    return Settings(
        store=Path(environ.get("PLAYGROUND_STORE") or ROOT / ".playground" / "runs.sqlite"),
        shared=_flag(environ, "PLAYGROUND_SHARED"),
        speed=_number(environ, "PLAYGROUND_SPEED", 30.0),
        base_url=environ.get("PLAYGROUND_BASE_URL", "").strip(),
        confirm_above=int(_number(environ, "PLAYGROUND_CONFIRM_ABOVE", 500)),
        max_upload_mb=int(_number(environ, "PLAYGROUND_MAX_UPLOAD_MB", 200)),
        request_timeout=_number(environ, "PLAYGROUND_TIMEOUT", 600.0),
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
