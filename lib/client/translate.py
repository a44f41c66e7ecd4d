"""From what the SDK raises, and from answers that only look like success, to `lib.errors`: one plain line each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from time import time
from typing import Any

from lib import errors

SDK_WAIT = 2.0      # seconds of retry-after that the SDK may sleep; longer ones are for the shared pause
_BUSY = (429, 503, 529)
_WINDOW = ("prompt is too long", "exceed context limit", "exceeds the available context size", "maximum context length")
_STATUS_OF = {          # the status an error body would have had, for servers that send it in a 200
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
    "not_found_error": 404, "rate_limit_error": 429, "api_error": 500, "timeout_error": 504, "overloaded_error": 529,
}
_LONGEST_WORDS = 1_000      # characters of a server's own words


@dataclass(frozen=True)
class Endpoint:
    """Who is asked. The key is here only to be sent, and to be kept out of every text."""

    name: str                           # as a sentence names it: the Anthropic API
    address: str
    key: str = field(default="", repr=False)

    def hide(self, text: str) -> str:
        """`text` on one line without the key, which some servers repeat in their errors."""
        line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        return line.replace(self.key, "[key]") if self._has_secret else line

    def without_key(self, content: bytes) -> bytes:
        """The same for a whole answer, which is kept as it is otherwise."""
        return content.replace(self.key.encode(), b"[key]") if self._has_secret else content

    @property
    def _has_secret(self) -> bool:
        return len(self.key) >= 8       # a shorter one is made up, and part of many words


@dataclass(frozen=True)
class _Refusal:
    status: int
    words: str                  # the server's own
    code: str = ""              # error.details.error_code
    retry_after: float | None = None


def failure(error: Any, model: str, endpoint: Endpoint) -> Exception:
    """What to raise for an `anthropic.APIError`: one of ours, or the bug that the SDK took for a lost connection."""
    import anthropic

    if isinstance(error, anthropic.APIStatusError):
        if 300 <= error.status_code < 400:
            return _redirect(error.response, endpoint)
        words = _words(error.body, endpoint) or endpoint.hide(error.response.reason_phrase) or "no explanation"
        code = error.error_code or ""
        status = _STATUS_OF["overloaded_error"] if error.type == "overloaded_error" else error.status_code
        return _refused(_Refusal(status, words, code, retry_after(error.response.headers)), model, endpoint)
    if isinstance(error, anthropic.APIConnectionError):
        return _no_answer(error, endpoint)
    return errors.NotMessagesApi(endpoint.hide(f"{_start(endpoint)} sent an answer that cannot be read: {error}"))


def message(raw: Any, model: str, endpoint: Endpoint) -> Any:
    """The `anthropic` Message in a raw 200 response. Raises the error that it is instead, if it is one.

    Content that is null or a bare string becomes a list of blocks; usage that is missing or no number becomes None.
    """
    content = endpoint.without_key(raw.http_response.content)
    reply = _as_declared(content) or _leniently(raw, content, model, endpoint)
    _forget_odd_usage(reply)
    return reply


def _as_declared(content: bytes) -> Any:
    """The same as the SDK's own lenient reading, several times as fast where the answer is as the SDK declares it; else
    None."""
    from anthropic.types import Message

    try:
        return Message.model_validate_json(content, strict=True)
    except ValueError:
        return None


def _leniently(raw: Any, content: bytes, model: str, endpoint: Endpoint) -> Any:
    from anthropic.types import Message

    body = _json(raw.http_response, content, endpoint)
    if not _is_message(body):
        raise _not_a_message(body, retry_after(raw.headers), model, endpoint)
    reply = raw.parse() if content == raw.http_response.content else Message.construct(**body)
    reply.content = _content(body["content"], reply.content)
    return reply


def without_key(endpoint: Endpoint) -> Callable[[Any], None]:
    """For the HTTP client: takes the key out of a response's headers, before the SDK writes them to its log."""
    def look(response: Any) -> None:
        for name, value in response.headers.multi_items():
            if (hidden := endpoint.without_key(value.encode())) != value.encode():
                response.headers[name] = hidden.decode()

    return look


def may_have_arrived(error: Exception) -> bool:
    """Whether the request behind this exception of the SDK may have reached the server."""
    import httpx2

    return not isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError
                          | httpx2.UnsupportedProtocol)


def is_busy(status: int, headers: Mapping[str, str]) -> bool:
    """Whether the shared pause answers this response, and not the SDK's own retry."""
    return status in _BUSY or (status >= 400 and (retry_after(headers) or 0.0) > SDK_WAIT)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: retry-after-ms, or retry-after as seconds or a date; None if unsaid."""
    for name, unit in (("retry-after-ms", 1_000), ("retry-after", 1)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        return max(0.0, seconds) if seconds == seconds else None
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time())
    except (ValueError, OverflowError):
        return None


# --- statuses --------------------------------------------------------------------------------------------------------


def _refused(refusal: _Refusal, model: str, endpoint: Endpoint) -> errors.PlaygroundError:
    status, words, who = refusal.status, _sentence(refusal.words), _start(endpoint)
    if status in (401, 403):
        return errors.WrongKey(_wrong_key(status, words, endpoint))
    if status == 404 and ("model" in words.lower() or (model and model in words)):
        return errors.UnknownModel(f'{who} does not know the model "{model}": {words} Choose another in the design.')
    if status in (404, 405, 501):
        return errors.NotMessagesApi(
            f"{who} has no Messages API at {endpoint.address}/v1/messages (HTTP {status}). Is the address right?",
            refused=True)
    if any(sign in words.lower() for sign in _WINDOW):
        return errors.WindowExceeded(f"The request does not fit the model's context window: {words} "
                                     "Use fewer turns, shorter tool results, or a model with a larger window.")
    if "spend_limit" in refusal.code:
        return errors.RequestRefused(f"{who} refused the request, a spend limit is reached: {words}")
    if status in _BUSY or (refusal.retry_after or 0.0) > SDK_WAIT:
        return errors.Busy(f"{who} is busy (HTTP {status}): {words}", refusal.retry_after)
    if status in (408, 409) or status >= 500:
        return errors.ServerTrouble(f"{who} had trouble (HTTP {status}): {words} "
                                    "Try again later; what is finished is kept.")
    return errors.RequestRefused(f"{who} refused the request: {words}")


def _wrong_key(status: int, words: str, endpoint: Endpoint) -> str:
    if not endpoint.key:
        return f"{_start(endpoint)} asks for a key: {words} Enter one next to its address."
    if status == 403:
        return f"{_start(endpoint)} does not let this key do that: {words} Use a key that may, or another model."
    return f"{_start(endpoint)} did not accept the key: {words} Check it, or make a new one."


def _redirect(response: Any, endpoint: Endpoint) -> errors.NotMessagesApi:
    """Not followed: the key would go wherever the answer points."""
    target = endpoint.hide(response.headers.get("location", "another address").split("?")[0])
    return errors.NotMessagesApi(f"{_start(endpoint)} sends requests on to {target}, which were not followed, "
                                 "since the key would go along. Enter that address if you trust it.")


def _words(body: Any, endpoint: Endpoint) -> str:
    """The server's own explanation on one line, in any of the shapes that compatible servers use; "" if there is none.
    The key is taken out before the text is cut: half a key is a secret, too."""
    if isinstance(body, Mapping):
        error = body.get("error")
        found = error.get("message") if isinstance(error, Mapping) else error
        body = found or body.get("message") or body.get("detail") or ""
    if not isinstance(body, str):
        body = json.dumps(body, default=str)
    text = "" if body.lstrip().startswith("<") or body in ("", "null") else endpoint.hide(body)
    return text if len(text) <= _LONGEST_WORDS else text[:_LONGEST_WORDS] + " …"


# --- no answer -------------------------------------------------------------------------------------------------------


def _no_answer(error: Any, endpoint: Endpoint) -> Exception:
    import httpx2

    cause = error.__cause__
    reason = _sentence(re.sub(r"^\[Errno -?\d+\] ", "", endpoint.hide(str(cause) or type(cause).__name__)))
    if not may_have_arrived(error):
        return errors.Unreachable(f"Nothing answers at {endpoint.address}: {reason} "
                                  "Is the server running, and is the address right?")
    if isinstance(cause, httpx2.TimeoutException):
        return errors.ServerTrouble(f"{_start(endpoint)} gave no answer in time. Try again later, or allow more time "
                                    "with PLAYGROUND_TIMEOUT; what is finished is kept.")
    if isinstance(cause, httpx2.DecodingError) or (isinstance(cause, httpx2.RemoteProtocolError)
                                                   and not re.search("disconnected|closed", reason)):
        return errors.NotMessagesApi(f"{_start(endpoint)} does not answer like a web server: {reason} "
                                     "Is the address right, is it http or https?")
    if isinstance(cause, httpx2.HTTPError):
        return errors.ServerTrouble(f"The connection to {endpoint.address} broke: {reason} "
                                    "Try again later; what is finished is kept.")
    return cause or error


# --- a 200 that is no message ----------------------------------------------------------------------------------------


def _json(response: Any, content: bytes, endpoint: Endpoint) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        text = response.text
        what = "a web page" if text.lstrip().startswith("<") else "something that is no JSON" if text else "nothing"
    raise _wrong_shape(what, endpoint)


def _is_message(body: Any) -> bool:
    if not isinstance(body, dict) or "content" not in body:
        return False
    content = body["content"]
    blocks = isinstance(content, list) and all(map(_is_block, content))
    return (body.get("type") == "message" or body.get("role") == "assistant") and (
        blocks or content is None or isinstance(content, str))


def _is_block(block: Any) -> bool:
    """Any object, of kinds not known here too; but a text is text, and a tool's name as well."""
    if not isinstance(block, dict):
        return False
    words = {"text": "text", "tool_use": "name"}.get(str(block.get("type")))
    return words is None or isinstance(block.get(words), str | None)


def _not_a_message(body: Any, wait: float | None, model: str, endpoint: Endpoint) -> errors.PlaygroundError:
    error = body.get("error") if isinstance(body, dict) else None
    kind = str(error.get("type")) if isinstance(error, dict) else ""
    if kind in _STATUS_OF:
        refusal = _Refusal(_STATUS_OF[kind], _words(body, endpoint) or kind, _code(error), wait)
        return _refused(refusal, model, endpoint)
    if error:
        return _wrong_shape(f'HTTP 200 and an error ("{_words(body, endpoint)}")', endpoint)
    if isinstance(body, dict) and "choices" in body:
        return _wrong_shape("OpenAI's chat format", endpoint)
    return _wrong_shape("JSON of another kind", endpoint)


def _code(error: dict[str, Any]) -> str:
    details = error.get("details")
    return str(details.get("error_code") or "") if isinstance(details, dict) else ""


def _wrong_shape(what: str, endpoint: Endpoint) -> errors.NotMessagesApi:
    return errors.NotMessagesApi(f"{endpoint.address}/v1/messages answers with {what} instead of a Messages reply. "
                                 "Is the address right, and does this server speak Anthropic's Messages API?")


def _content(sent: Any, parsed: Any) -> list[Any]:
    from anthropic.types import TextBlock

    if isinstance(sent, str):
        return [TextBlock.construct(type="text", text=sent)]
    return parsed or []


def _forget_odd_usage(reply: Any) -> None:
    usage = reply.usage
    if not hasattr(usage, "model_fields_set"):
        reply.usage = None
        return
    for name in tuple(usage.model_fields_set):
        count = getattr(usage, name)
        if name.endswith("_tokens") and (type(count) is not int or count < 0):
            setattr(usage, name, None)


# --- sentences -------------------------------------------------------------------------------------------------------


def _start(endpoint: Endpoint) -> str:
    return endpoint.name[0].upper() + endpoint.name[1:]


def _sentence(words: str) -> str:
    return words if words.endswith((".", "!", "?")) else f"{words}."
