"""One prompt over many inputs: a validated call for each, several at once, results in input order.

Logging, prices, budget, stop and caching are layers around `client` (lib/client); nothing here knows them.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable
from typing import Any

from lib import errors
from lib.messages import correction, get, text_of, utf8
from lib.stop_reasons import FINAL, broken

MAP_MAX_TOKENS = 2048       # of one reply, thinking included; the layer `with_defaults(max_tokens=…)` overrides it
ENDS_THE_MAP = (errors.RunEnded, KeyboardInterrupt, SystemExit)
WAIT = 0.5      # seconds at a time: a Ctrl-C that comes just before an endless wait would never be noticed


def map_prompts(client: Any, model: str, system: str | list[dict], inputs: Iterable[Any],
                render: Callable[[Any], str | list[dict]], parse: Callable[[str], Any],
                workers: int = 8, retries: int = 1) -> list[Any]:
    """`parse(reply's text)` for each input, in input order; at most `workers` calls at once.

    `render` gives the user's content for an input. When `parse` raises ValueError, the bad answer and the error go
    back to the model, up to `retries` times. An input that fails otherwise is not tried again.

    Raises MapError when inputs failed; it holds all the other values. An errors.RunEnded from the client starts no
    further input and is raised once the calls in flight are done; its `partial` is like MapError's `values`.
    """
    request: dict[str, Any] = {"model": model, "max_tokens": MAP_MAX_TOKENS}
    if system:
        request["system"] = system
    inputs = list(inputs)
    values, ending = _in_threads(lambda item: _answer(client, request, render(item), parse, retries), inputs, workers)
    if ending is not None:
        ending.partial = values
        raise ending
    failed = [position for position, value in enumerate(values) if isinstance(value, BaseException)]
    if failed:
        raise errors.MapError(f"{len(failed)} of {len(values)} inputs failed; the first is number {failed[0] + 1}: "
                              f"{values[failed[0]]}", values)
    return values


def _in_threads(work: Callable[[Any], Any], inputs: list[Any], workers: int) -> tuple[list[Any], BaseException | None]:
    """What `work` returned or raised for each input, and the first exception that ends the map, if there was one.

    Plain daemon threads: the interpreter waits for those of a ThreadPoolExecutor before it exits.
    """
    if workers < 1:
        raise ValueError(f"workers is {workers}; it has to be at least 1")
    values: list[Any] = [None] * len(inputs)
    endings: list[BaseException] = []
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for position in range(len(inputs)):
        waiting.put(position)

    def worker() -> None:
        while not endings and (position := _next(waiting)) is not None:
            try:
                values[position] = work(inputs[position])
            except BaseException as error:
                values[position] = error
                if isinstance(error, ENDS_THE_MAP):
                    endings.append(error)

    at_once = min(workers, len(inputs))
    threads = [threading.Thread(target=worker, daemon=True) for _ in range(at_once)] if at_once > 1 else []
    try:
        if not threads:
            worker()        # here, as one after another needs no thread: whoever times calls by thread sees them follow
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(WAIT)
    except BaseException as error:      # Ctrl-C here: start nothing more, and do not wait either
        endings.append(error)
        raise
    while (position := _next(waiting)) is not None:
        values[position] = endings[0]
    return values, endings[0] if endings else None


def _next(waiting: queue.SimpleQueue[int]) -> int | None:
    try:
        return waiting.get_nowait()
    except queue.Empty:
        return None


def _answer(client: Any, request: dict[str, Any], content: str | list[dict], parse: Callable[[str], Any],
            retries: int) -> Any:
    """The parsed reply to one input. A retry shows the model its last bad answer and what was wrong with it."""
    question = {"role": "user", "content": content}
    messages = [question]
    for retries_left in range(retries, -1, -1):
        text = _text(client.messages.create(**request, messages=messages))
        try:
            return parse(text)
        except ValueError as error:
            if not retries_left:
                why = f"the reply is still invalid after {retries} {'retry' if retries == 1 else 'retries'}: {error}"
                raise errors.InvalidReply(why, text) from error
            messages = [question, {"role": "assistant", "content": utf8(text)},
                        {"role": "user", "content": correction(error)}]


def _text(reply: Any) -> str:
    """The text of a reply that ended by itself; a cut or refused one is not worth parsing, even if it would parse."""
    reason = get(reply, "stop_reason")
    if reason not in FINAL:
        kind, why = broken(reason)
        raise kind(why)
    text = text_of(reply)
    if not text.strip():
        raise errors.NoAnswer("the reply holds no text")
    return text
