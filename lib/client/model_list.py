"""Which models a compatible server says it has: one GET of /v1/models, read with care, since anybody may answer."""

from __future__ import annotations

import json
import time
from typing import Any

from lib.client import base_url as urls
from lib.errors import NotMessagesApi, Unreachable, WrongKey

SECONDS = 10.0              # for the whole answer
MOST_BYTES = 2 * 2**20
MOST_MODELS = 500
LONGEST_ID = 200            # characters


def models_of(base_url: str, key: str = "") -> list[str]:
    """The ids of the models that the server lists, in its order. Raises BaseUrlRefused, Unreachable, WrongKey, or
    NotMessagesApi where what answers lists none."""
    address = urls.normalise(base_url)
    urls.refuse_resolved(address)
    if not (key.isascii() and key.isprintable()):
        raise WrongKey("The key holds a character that no key has. Copy it once more.")
    status, body = _answer(address, key)
    if status in (401, 403):
        raise WrongKey(f"{address} wants {'another' if key else 'a'} key before it lists its models ({status}).")
    found = [id for id in _ids(body) if not key or key not in id] if status == 200 else []
    if not found:
        raise NotMessagesApi(f"{address} lists no models at /v1/models ({status}). Type the name of one in its place.")
    return found[:MOST_MODELS]


def _answer(address: str, key: str) -> tuple[int, bytes]:
    """Status and body, of which no more is read than a list of models takes."""
    import anthropic
    import httpx2

    headers = {"anthropic-version": "2023-06-01", **({"x-api-key": key} if key else {})}
    ends, body = time.monotonic() + SECONDS, b""
    try:
        # a proxy from the environment is for the outside world; a request to this machine stays on it
        with (anthropic.DefaultHttpxClient(follow_redirects=False, trust_env=not urls.is_loopback(address)) as client,
              client.stream("GET", f"{address}/v1/models", headers=headers, timeout=SECONDS / 2) as response):
            for part in response.iter_bytes():
                body += part
                if len(body) > MOST_BYTES or time.monotonic() > ends:
                    raise NotMessagesApi(f"{address} answers at /v1/models with more than a list of models.")
            return response.status_code, body
    except (httpx2.HTTPError, httpx2.InvalidURL):
        pass
    # outside the handler: the library's error holds the request, and with it the key
    raise Unreachable(f"Nothing answers at {address}/v1/models. Is the server running?")


def _ids(body: bytes) -> list[str]:
    """Of `{"data": [{"id": …}, …]}`, as the Messages API, Ollama, LM Studio, llama.cpp and vLLM write it."""
    try:
        content: Any = json.loads(body)
    except (ValueError, RecursionError):
        return []
    listed = content.get("data") if isinstance(content, dict) else None
    ids = [entry.get("id") for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    return list(dict.fromkeys(id.strip() for id in ids if isinstance(id, str) and 0 < len(id.strip()) <= LONGEST_ID))
