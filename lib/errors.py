"""Every error the playground raises, as one tree. Each message says what happened, where, and what to do."""

from __future__ import annotations


class PlaygroundError(Exception):
    """Root of the tree. `str(error)` is one plain line that may be shown to a person."""


# --- what the person gave us -----------------------------------------------------------------------------------------


class InputError(PlaygroundError):
    """Something uploaded, typed or set cannot be used as it is."""


class UnreadableFile(InputError):
    """An upload that cannot be read; the message names the file and, where known, line and column."""


class DesignError(InputError):
    """A design that must not be run: the message names the field."""


class SettingError(InputError):
    """An environment variable or setting with a value that makes no sense."""


class BaseUrlRefused(InputError):
    """A base URL that no request will be sent to."""


# --- one call --------------------------------------------------------------------------------------------------------


class CallError(PlaygroundError):
    """One model call did not give a usable answer. Other calls may still do."""


class NoAnswer(CallError):
    """The reply holds no text and no tool call."""


class CutOff(CallError):
    """stop_reason `max_tokens`: the reply ends in the middle. Asking again with the same limit would end there too."""


class Refused(CallError):
    """stop_reason `refusal`."""


class WindowExceeded(CallError):
    """stop_reason `model_context_window_exceeded`, or the API's 400 "prompt is too long"."""


class UnknownStop(CallError):
    """A stop_reason that is missing or that this version does not know; never counted as success."""


class InvalidReply(CallError):
    """The reply stayed invalid after every retry; `reply` is the last bad text, `__cause__` the reason."""

    def __init__(self, message: str, reply: str = ""):
        super().__init__(message)
        self.reply = reply


class ServerTrouble(CallError):
    """Rate limited, overloaded, a server error, a timeout or a lost connection, after the SDK's own retries."""


class Busy(ServerTrouble):
    """Rate limited or overloaded: the same call may work after `retry_after` seconds (None: the server did not say)."""

    def __init__(self, message: str, retry_after: float | None = None):
        super().__init__(message)
        self.retry_after = retry_after


# --- the whole run ---------------------------------------------------------------------------------------------------


class RunEnded(PlaygroundError):
    """No further call of this run makes sense; whoever loops over calls stops at once."""


class Stopped(RunEnded):
    """The person pressed Stop."""


class BudgetReached(RunEnded):
    """The next call could have gone over a limit of tokens, money or time, so it was not sent."""


class StaysBusy(Busy, RunEnded):
    """The server stayed busy through every pause, or asks for a longer one than a run waits."""


class Repeating(RunEnded):
    """The model makes the same tool call again and again and gets the same result each time."""


class Unusable(RunEnded):
    """The endpoint cannot serve this run at all: every further call would fail in the same way."""


class WrongKey(Unusable):
    """401 or 403, or a key that cannot be one."""


class UnknownModel(Unusable):
    """404 for the model."""


class Unreachable(Unusable):
    """Nothing answers at the address."""


class NotMessagesApi(Unusable):
    """Something answers at the address, but not in the shapes of the Messages API (HTML, an error body in a 200 …).
    `refused`: it did so with an error status, and so bills nothing."""

    def __init__(self, message: str, refused: bool = False):
        super().__init__(message)
        self.refused = refused


class RequestRefused(Unusable):
    """400, 402, 413, 422 or a spend limit: the API refuses the request as it is built; its own words are shown."""


class NotRecorded(Unusable):
    """A replay was asked something that its recording holds no answer to; the message says what differs."""


class StoreError(RunEnded):
    """The run store cannot be opened, read or written; to go on calling would be to pay for work that is not kept."""


# --- the two core functions ------------------------------------------------------------------------------------------


class AgentError(PlaygroundError):
    """The tool loop ended without an answer. `messages` is the conversation so far; `__cause__` says more."""

    def __init__(self, message: str, messages: list[dict]):
        super().__init__(message)
        self.messages = messages


class TurnLimit(AgentError):
    """`max_turns` replies came and the last one still asked for a tool."""


class AgentCutOff(AgentError, CutOff):
    """A reply ended at `max_tokens`; a tool call in it was not run."""


class AgentRefused(AgentError, Refused):
    """The model refused."""


class AgentWindowExceeded(AgentError, WindowExceeded):
    """The conversation no longer fits the model's context window."""


class AgentUnknownStop(AgentError, UnknownStop):
    """The loop does not know this stop_reason."""


class AgentNoAnswer(AgentError, NoAnswer):
    """`end_turn` without any text."""


class MapError(PlaygroundError):
    """Some inputs of a map failed. Nothing paid for is lost.

    `values` has one entry per input, in input order: the parsed value, or the exception that input ended with.
    `failures` maps the position of each failed input to its exception.
    """

    def __init__(self, message: str, values: list):
        super().__init__(message)
        self.values = values
        self.failures = {i: v for i, v in enumerate(values) if isinstance(v, BaseException)}
