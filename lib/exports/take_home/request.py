"""One request as it was sent, to send again by hand: as curl and as JSON. No key is ever in it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

API = "https://api.anthropic.com"


def as_json(request: Mapping[str, Any]) -> str:
    """The request's body."""
    return json.dumps(request, ensure_ascii=False, indent=2)


def as_curl(request: Mapping[str, Any], address: str = API) -> str:
    """A command for a POSIX shell; the key comes from ANTHROPIC_API_KEY. Whatever the texts hold, they stay one quoted
    argument."""
    body = json.dumps(request, ensure_ascii=True, indent=2)
    return " \\\n  ".join([
        f"curl {shlex.quote(address.rstrip('/') + '/v1/messages')}",
        '-H "x-api-key: $ANTHROPIC_API_KEY"',
        "-H 'anthropic-version: 2023-06-01'",
        "-H 'content-type: application/json'",
        f"--data-binary {shlex.quote(body)}",
    ]) + "\n"
