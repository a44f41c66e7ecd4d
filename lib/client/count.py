"""The server's own count of a request's input tokens, which is free. Nothing is estimated here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lib import errors
from lib.client import translate
from lib.client.translate import Endpoint

SECONDS = 10.0      # until a count is given up; an estimate stands in for it
_COUNTED = ("model", "messages", "system", "tools", "tool_choice", "thinking", "output_config", "cache_control")


def count_tokens(connection: Any, request: Mapping[str, Any]) -> int | None:
    """Input tokens of a Messages request as the server counts them; None where it has no such endpoint.

    That is asked once. Raises one of `lib.errors` where the request is refused, the server busy, or nobody answers.
    """
    return connection.count(request)


class Counter:
    """Asks one server. `sdk` is an `anthropic.Anthropic`."""

    def __init__(self, sdk: Any, endpoint: Endpoint):
        self._sdk = sdk
        self._endpoint = endpoint
        self._lacking = False

    def __call__(self, request: Mapping[str, Any]) -> int | None:
        if self._lacking:
            return None
        tokens, failure = self._ask({name: request[name] for name in _COUNTED if name in request})
        if failure and not isinstance(failure, errors.NotMessagesApi):
            raise failure
        self._lacking = tokens is None      # 404, a web page, another API: it will not grow one
        return tokens

    def _ask(self, request: dict[str, Any]) -> tuple[int | None, Exception | None]:
        import anthropic

        try:
            counted = self._sdk.messages.count_tokens(**request, timeout=SECONDS)
        except anthropic.APIError as error:
            return None, translate.failure(error, request.get("model", ""), self._endpoint)
        except ValueError:      # a 200 that says it is JSON and is not
            return None, None
        tokens = getattr(counted, "input_tokens", None)
        return (tokens if type(tokens) is int and tokens >= 0 else None), None
