"""A conversation that has grown too long goes on from a summary of itself. Whoever keeps it keeps it whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lib.client.layers import Call, Layer, Next
from lib.messages import blocks, text_of

STEP = "compact"        # of the call that summarises, a row of its own in the ledger
REQUEST = ("Stop here for a moment and call no tool. The conversation so far will be replaced by what you write now, "
           "and you go on from it. Write down whatever you still need: what was asked, each ticket you have read with "
           "its id and its cause, what the tools told you beyond that, and what is left to do.")

Messages = Sequence[Mapping[str, Any]]


def compact_above(tokens: int, count: Callable[[Mapping[str, Any]], int]) -> Layer:
    """When a request counts more than `tokens`, asks the model for a summary first, with one more call of step STEP.
    From then on that stands after the first message in place of all that had been said.

    The question that asks for it comes last, so the prompt cache still fits and the summary reads what is cached. If
    the reply has no text the request is sent as it is, and the next one tries again. Make one for each conversation.
    """
    kept = _Compacted()

    def layer(call: Call, call_next: Next) -> Any:
        whole = call.request["messages"]
        call = call.with_request(messages=kept.shortened(whole))
        if count(call.request) > tokens and len(call.request["messages"]) > 1:
            asking = call.again(messages=_asking(call.request["messages"]))
            if summary := text_of(call_next(replace(asking, step=STEP))).strip():
                kept.keep(whole, summary)
                call = call.with_request(messages=kept.shortened(whole))
        return call_next(call)

    return layer


class _Compacted:
    """The messages that a summary stands for, and what is sent in their place."""

    def __init__(self) -> None:
        self._covers: list[Mapping[str, Any]] = []
        self._instead: list[Mapping[str, Any]] = []

    def keep(self, messages: Messages, summary: str) -> None:
        text = {"type": "text", "text": f"<summary of the conversation so far>\n{summary}\n</summary>"}
        self._covers, self._instead = list(messages), [_with(messages[0], text)]

    def shortened(self, messages: Messages) -> list[Mapping[str, Any]]:
        """Another conversation, which does not begin with what was summarised, stays as it is."""
        covered = len(self._covers)
        fits = list(messages[:covered]) == self._covers
        return [*self._instead, *messages[covered:]] if fits else list(messages)


def _asking(messages: Messages) -> list[Mapping[str, Any]]:
    return [*messages[:-1], _with(messages[-1], {"type": "text", "text": REQUEST})]


def _with(message: Mapping[str, Any], block: dict[str, Any]) -> dict[str, Any]:
    return {**message, "content": [*blocks(message), block]}
