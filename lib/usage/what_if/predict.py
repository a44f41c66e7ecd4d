"""What each call of a recorded run would have taken under another policy: tokens, seconds and dollars, with no call."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lib.client.caching import OFF
from lib.models import model
from lib.simulated.latency import SPEEDS, timing
from lib.simulated.prompt_cache import Prompt, PromptCache, Split, prompt_of
from lib.usage.prices import cost
from lib.usage.reported import Usage
from lib.usage.tokens import CountedRequest, Measured, estimate_reply, measure
from lib.usage.what_if.notes import notes
from lib.usage.what_if.policy import AGENT, Exchange, Policy, Predicted, WhatIf
from lib.usage.what_if.requests import Asked, asked_under

_NO_JITTER = "7fffffff"     # the seed in the middle
_SAME_TIME = 1e-6           # seconds: a call that begins so soon after another's end followed it


def predict(exchanges: Sequence[Exchange], policy: Policy, prices: dict[str, Any]) -> WhatIf:
    """The run under `policy`, its replies held fixed. `prices` is a snapshot (`usage.prices`) with the models used.

    A prompt whose words are unchanged keeps the tokens that were reported for it; another counts as many times that as
    its estimate is times the recorded one's, so what the estimate misses drops out. What of it is read or written is
    the arithmetic of `simulated.prompt_cache`, at the calls' own times. Seconds are the recorded ones times what the
    simulation's speeds say for the other prompt and model. A policy that changes no prompt keeps what was reported.
    """
    exchanges = sorted(exchanges, key=lambda exchange: exchange.started)
    run = _Run(policy, prices)
    calls = tuple(run.calls(exchanges))
    if policy.batch:
        calls = tuple(replace(call, seconds=None) for call in calls)
    return WhatIf(calls, notes(exchanges, policy, calls, prices), None if policy.batch else run.timeline.seconds)


class _Run:
    """One prediction under way: what its prompt cache holds, what is known of its prompts' lengths, and the time."""

    def __init__(self, policy: Policy, prices: dict[str, Any]):
        self._policy = policy
        self._prices = prices
        self._cache = PromptCache()
        self._lengths: dict[bytes, int] = {}        # tokens of a prompt that was sent as a whole, by its last key
        self.timeline = _Timeline(first_alone=policy.caching not in (None, OFF))

    def calls(self, exchanges: Sequence[Exchange]) -> Iterator[Predicted]:
        for exchange, asked in asked_under(self._policy, exchanges):
            at = self.timeline.begin(exchange)
            for one in asked:
                call = self._call(exchange, one, at)
                at += call.seconds
                yield call
            self.timeline.end(exchange, at)

    def _call(self, exchange: Exchange, asked: Asked, at: float) -> Predicted:
        name = asked.request.get("model", "")
        output = _output(exchange, asked, name)
        if _is_reported(exchange.usage) and not self._policy.changes_prompt:
            usage = exchange.usage
            split, seconds = Split(usage.fresh, usage.cache_read, usage.write_5m, usage.write_1h), exchange.seconds
        else:
            prompt = self._prompt(exchange, asked)
            split = self._cache.split(prompt, at)
            first, seconds = _seconds(exchange, asked, name, split, output)
            seconds = seconds if self._policy.changes_prompt else exchange.seconds
            self._cache.keep(prompt, split, at, at + first)
        usd = cost(self._prices, name, split.fresh, split.write_5m, split.write_1h, split.read, output,
                   self._policy.batch)
        return Predicted(split.fresh, split.write_5m, split.write_1h, split.read, output, seconds, usd, asked.added)

    def _prompt(self, exchange: Exchange, asked: Asked) -> Prompt:
        request, reported = CountedRequest(asked.request), _input(exchange.usage)
        same_words = not (self._policy.changes_text or self._policy.model)
        if same_words and reported is not None and self._policy.caching == OFF:
            return Prompt(reported)
        estimated = measure(request)
        if reported is None:
            total = estimated.total
        else:
            total = reported if same_words else round(estimated.total * reported / measure(exchange.request).total)
        return self._measured(request, estimated, total)

    def _measured(self, request: Mapping[str, Any], estimated: Measured, total: int) -> Prompt:
        """The prompt; the tokens up to its blocks are put right by the prompts sent before that it begins with."""
        prompt = prompt_of(request, estimated)
        if not prompt.keys:
            return Prompt(total)
        tokens = _put_right(estimated, total, {i: self._lengths[key] for i, key in enumerate(prompt.keys[:-1])
                                               if key in self._lengths})
        self._lengths.setdefault(prompt.keys[-1], tokens[-1])
        same = tokens == estimated.tokens and total == estimated.total
        return prompt if same else prompt_of(request, Measured(total, tokens))


def _put_right(estimated: Measured, total: int, known: Mapping[int, int]) -> tuple[int, ...]:
    """The estimated tokens up to each block, stretched so that they pass through those known and end at the total."""
    tokens: list[int] = []
    below = right_below = 0
    points = [*((estimated.tokens[i], right) for i, right in sorted(known.items())), (estimated.total, total)]
    for above, right_above in points:
        stretch = (right_above - right_below) / (above - below) if above > below else 0.0
        while len(tokens) < len(estimated.tokens) and (guess := estimated.tokens[len(tokens)]) <= above:
            tokens.append(round(right_below + (guess - below) * stretch))
        below, right_below = above, right_above
    return tuple(tokens)


def _is_reported(usage: Usage) -> bool:
    return _input(usage) is not None


def _input(usage: Usage) -> int | None:
    parts = (usage.fresh, usage.write_5m, usage.write_1h, usage.cache_read)
    return None if None in parts else sum(parts)


def _output(exchange: Exchange, asked: Asked, name: str) -> int:
    """As reported; for a model with another tokenizer, corrected by what the same reply counts in it."""
    if asked.added or exchange.usage.output is None:
        return estimate_reply(asked.reply, name)
    if model(name).tokenizer == model(exchange.model).tokenizer:
        return exchange.usage.output
    return max(1, exchange.usage.output + estimate_reply(exchange.reply, name)
               - estimate_reply(exchange.reply, exchange.model))


# --- time ------------------------------------------------------------------------------------------------------------


def _seconds(exchange: Exchange, asked: Asked, name: str, split: Split, output: int) -> tuple[float, float]:
    """Seconds until the reply begins and until it is whole. A recorded call that took longer than the simulation's
    speeds say, perhaps in a slow hour, takes as many times longer under the other policy too."""
    first, whole = _usual(name, split.fresh + split.write_5m + split.write_1h, split.read, output)
    if asked.added:
        return first, whole
    factor = exchange.seconds / _usual(exchange.model, *_taken(exchange))[1]
    return first * factor, whole * factor


def _taken(exchange: Exchange) -> tuple[int, int, int]:
    """Tokens of the recorded call: not from the cache, from it, and of the reply; estimated where not reported."""
    usage, taken = exchange.usage, _input(exchange.usage)
    output = estimate_reply(exchange.reply, exchange.model) if usage.output is None else usage.output
    if taken is None:
        return measure(exchange.request).total, 0, output
    return taken - usage.cache_read, usage.cache_read, output


def _usual(name: str, sent: int, read: int, output: int) -> tuple[float, float]:
    return timing(SPEEDS[model(name).size], sent, read, output, _NO_JITTER)


class _Timeline:
    """When the calls begin if they last longer or shorter than recorded: each as long after the one that it followed as
    it did. Where marks are put in, the first call of a step goes alone, as it does in a real run."""

    def __init__(self, first_alone: bool):
        self._first_alone = first_alone
        self._alone: dict[str, float] = {}              # step -> when its first call ends
        self._open: list[tuple[float, float]] = []      # (recorded end, end now) of calls, by the first
        self._asked: dict[tuple[str, str], float] = {}  # (step, subject) -> end now of the last call about it
        self._followed: tuple[float, float] | None = None
        self._from: float | None = None
        self._until = 0.0

    def begin(self, exchange: Exchange) -> float:
        """To be asked in the recorded order."""
        while self._open and self._open[0][0] <= exchange.started + _SAME_TIME:
            self._followed = heapq.heappop(self._open)
        shift = self._followed[1] - self._followed[0] if self._followed else 0.0
        at = max(exchange.started + shift, self._alone.get(exchange.step, 0.0), self._asked.get(_about(exchange), 0.0))
        self._from = at if self._from is None else min(self._from, at)
        return at

    def end(self, exchange: Exchange, at: float) -> None:
        if self._first_alone and exchange.step != AGENT:
            self._alone.setdefault(exchange.step, at)
        self._asked[_about(exchange)] = at
        heapq.heappush(self._open, (exchange.started + exchange.seconds, at))
        self._until = max(self._until, at)

    @property
    def seconds(self) -> float:
        return 0.0 if self._from is None else self._until - self._from


def _about(exchange: Exchange) -> tuple[str, str]:
    """A reply that is sent back is asked for again after it, whatever else ends meanwhile."""
    return exchange.step, exchange.subject
