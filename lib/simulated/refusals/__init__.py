"""What the Messages API refuses, in its own words: first who may come in, then `shape`, then `sense`.

The words are those of public reports up to November 2026. Where a rule is documented and its words were never seen,
they follow the style of the others. The first check that fails speaks; a request that passes is one the API would
answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lib.models import model
from lib.simulated.refusals.fields import shape
from lib.simulated.refusals.sense import sense

MESSAGES, COUNT_TOKENS = "/v1/messages", "/v1/messages/count_tokens"
VERSIONS = ("2023-01-01", "2023-06-01", "2026-10-21")
_BETA = re.compile(r"[a-z0-9-]+-\d{4}-?\d{2}-?\d{2}")       # how a beta is named; which ones there are is not checked
_WRONG_KEY = "invalid"          # a key to try out what a wrong one gets


@dataclass(frozen=True)
class Refusal:
    status: int
    type: str
    message: str


def refusal(request: Any, headers: Mapping[str, str] | None, method: str, path: str) -> Refusal | None:
    """The first thing wrong with a request, or None. `headers=None` skips key and version (the newest one counts)."""
    if path not in (MESSAGES, COUNT_TOKENS):
        return not_found()
    if method != "POST":
        return method_not_allowed()
    stopped = unwelcome(headers) if headers is not None else None
    if stopped:
        return stopped
    version = (headers or {}).get("anthropic-version", VERSIONS[-1])
    message = next(shape(request, counting=path == COUNT_TOKENS, newest=version == VERSIONS[-1]), None)
    if message:
        return invalid(message)
    if not model(request["model"]).listed:
        return Refusal(404, "not_found_error", f"model: {request['model']}")
    message = next(sense(request), None)
    return invalid(message) if message else None


def unwelcome(headers: Mapping[str, str]) -> Refusal | None:
    """Why whoever sends these headers may not come in: no key, a wrong one, no version, an unknown one, a beta
    that cannot be one. Or None."""
    key, bearer = headers.get("x-api-key", "").strip(), headers.get("authorization", "").removeprefix("Bearer").strip()
    if not (key or bearer):
        return Refusal(401, "authentication_error", "x-api-key header is required")
    if key == _WRONG_KEY or (bearer == _WRONG_KEY and not key):
        return Refusal(401, "authentication_error", "invalid x-api-key" if key else "Invalid bearer token")
    version = headers.get("anthropic-version")
    if version is None:
        return invalid("anthropic-version: header is required")
    if version not in VERSIONS:
        return invalid(f'anthropic-version: "{version}" is not a valid version')
    return _strange_betas(headers.get("anthropic-beta"))


def _strange_betas(told: str | None) -> Refusal | None:
    names = [] if told is None else [name.strip() for name in told.split(",")]
    strange = ", ".join(f"`{name}`" for name in names if not _BETA.fullmatch(name))
    return invalid(f"Unexpected value(s) {strange} for the `anthropic-beta` header. Please consult our documentation "
                   "at docs.anthropic.com or try again without the header.") if strange else None


def invalid(message: str) -> Refusal:
    return Refusal(400, "invalid_request_error", message)


def not_found(message: str = "Not Found") -> Refusal:
    return Refusal(404, "not_found_error", message)


def method_not_allowed() -> Refusal:
    return Refusal(405, "invalid_request_error", "Method Not Allowed")
