"""What has to be known to read a prediction, each a plain line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lib.client.caching import OFF
from lib.models import model
from lib.phrases import plural
from lib.usage.what_if.policy import AGENT, Exchange, Policy, Predicted
from lib.usage.what_if.requests import SUMMARY_WORDS

FIXED = "Behaviour is held fixed: every reply and every tool call is the recorded one."


def notes(exchanges: Sequence[Exchange], policy: Policy, calls: Sequence[Predicted],
          prices: Mapping[str, Any]) -> tuple[str, ...]:
    found = [FIXED] if policy.changes_text or policy.model else []
    answers = [call for call in calls if not call.added]
    found += [*_context(policy, calls), *_caching(exchanges, policy, calls), *_model(exchanges, policy),
              *_limits(exchanges, policy, answers, prices), *_batch(exchanges, policy)]
    if unreported := sum(None in (e.usage.fresh, e.usage.output) for e in exchanges):
        found.append(f"{plural(unreported, 'call')} did not report what it took: estimated.")
    return tuple(found)


def _context(policy: Policy, calls: Sequence[Predicted]) -> Iterator[str]:
    if policy.changes_text:
        yield "An agent that no longer sees everything would go about it differently, and may read again or forget."
    if policy.compact_above:
        added = sum(call.added for call in calls)
        yield (f"{plural(added, 'summarising call')} added and priced, each taken to write {SUMMARY_WORDS} words, when "
               f"a turn's estimate is above {policy.compact_above:,} tokens." if added else
               f"No turn sends more than {policy.compact_above:,} tokens: nothing is summarised.")
    if policy.fresh_per_ticket:
        yield ("Each turn that answers a ticket gets the first message, that ticket, and one line for every ticket "
               "read before; writing those lines is not counted.")


def _caching(exchanges: Sequence[Exchange], policy: Policy, calls: Sequence[Predicted]) -> Iterator[str]:
    if policy.caching in (None, OFF):
        return
    written = sum(call.write_5m + call.write_1h for call in calls)
    read = sum(call.read for call in calls)
    names = list(dict.fromkeys(policy.model or exchange.model for exchange in exchanges))
    if not written and not read:
        shortest = ", ".join(f"{model(name).name} {model(name).cache_minimum:,}" for name in names)
        yield f"Nothing is cached: what is marked is shorter than the models' least length in tokens ({shortest})."
    elif not read:
        yield "Whatever is written to the cache is paid for and never read: no prompt begins as one before it did."
    if policy.keep_results and policy.caching.startswith("auto"):
        yield "Clearing results changes the conversation near its beginning every turn, so little of it can be read."


def _model(exchanges: Sequence[Exchange], policy: Policy) -> Iterator[str]:
    others = [exchange.model for exchange in exchanges if exchange.model != policy.model]
    if not policy.model or not others:
        return
    if any(model(name).tokenizer != model(policy.model).tokenizer for name in others):
        yield "The models split text differently: tokens are corrected by the estimate for each family."
    yield "Another model would think, and answer, at another length. Seconds are stand-ins for its size."
    known = model(policy.model)
    refused = sum(bool(effort) and effort not in known.efforts for effort in map(_effort, exchanges))
    if refused:
        yield f"{known.name} would refuse {plural(refused, 'call')}: it does not take the effort that they ask for."


def _effort(exchange: Exchange) -> str:
    return (exchange.request.get("output_config") or {}).get("effort") or ""


def _limits(exchanges: Sequence[Exchange], policy: Policy, answers: Sequence[Predicted],
            prices: Mapping[str, Any]) -> Iterator[str]:
    named = [(policy.model or exchange.model, call) for exchange, call in zip(exchanges, answers, strict=True)]
    too_long = [place for place, (name, call) in enumerate(named, start=1)
                if model(name).listed and call.input + call.output > model(name).window]
    if too_long:
        name = model(named[too_long[0] - 1][0])
        yield (f"{plural(len(too_long), 'call')} would not fit the {name.window:,} tokens that {name.name} holds, the "
               f"first is call {too_long[0]}.")
    stepped = sum(any(call.input > tier["above"] for tier in prices.get("models", {}).get(name, {}).get("tiers", ()))
                  for name, call in named)
    if stepped:
        yield f"{plural(stepped, 'call')} so long that a higher price holds for all of it."
    unknown = list(dict.fromkeys(name for name, call in named if call.usd is None))
    if unknown:
        yield f"No price is known for {', '.join(unknown)}."


def _batch(exchanges: Sequence[Exchange], policy: Policy) -> Iterator[str]:
    if not policy.batch:
        return
    turns = sum(exchange.step == AGENT for exchange in exchanges)
    batches = turns or len({exchange.step for exchange in exchanges})
    yield "Half the price on every part. A batch may take up to 24 hours, so no time is promised."
    if batches > 1:
        what = "turn" if turns else "step"
        yield f"Each {what} waits for the one before, so these are {batches} batches one after another."
