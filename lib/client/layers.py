"""Layers around `client.messages.create`: each sees a Call, may change it, sends it on, and sees the reply."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass
class Sent:
    """What became of one call below the layer that looks; filled while it is under way, also when it fails."""

    attempts: int = 0               # HTTP requests, retries included; 0: it was answered or held back before the wire
    began: float | None = None      # on the run's own time; None while it has not
    seconds: float | None = None    # of all attempts on the simulation's clock; None where there is none
    simulated: bool = False         # a server said that its answers come from the simulation
    waited: float = 0.0             # seconds in which it was not sent because the server was busy
    unanswered: bool = False        # an attempt got no answer, so its reply may have been made and billed
    reused: bool = False            # answered from the run store: by this run, or by an earlier one


@dataclass(frozen=True)
class Call:
    """One call to `messages.create`, on its way through the layers."""

    request: dict[str, Any]     # the keyword arguments
    step: str = ""              # label, merge, summary, agent …
    subject: str = ""           # what it is about: a ticket's key, a cause
    stop: threading.Event | None = None     # set by Stop and by the run's end; whoever waits in a call heeds it
    accepts: Callable[[str], Any] | None = None     # raises ValueError for a reply's text that the step cannot use
    after: float | None = None  # on the run's own time: what it waited for ended then, so it begins no earlier
    sent: Sent = field(default_factory=Sent)    # shared by all layers of this call

    def with_request(self, **changes: Any) -> Call:
        return replace(self, request={**self.request, **changes})

    def again(self, **changes: Any) -> Call:
        """One more call like this: what a layer sends when it asks a second time."""
        return replace(self.with_request(**changes), sent=Sent())


Next = Callable[[Call], Any]
Layer = Callable[[Call, Next], Any]     # layer(call, call_next) -> Message


class _Messages:
    def __init__(self, send: Next):
        self._send = send

    def create(self, **request: Any) -> Any:
        return self._send(Call(request))


class LayeredClient:
    """Anything that takes a client takes this: it has `.messages.create(**request)`."""

    def __init__(self, send: Next):
        self.send = send
        self.messages = _Messages(send)


def layered(client: Any, *layers: Layer) -> LayeredClient:
    """`client` with `layers` around it, the first outermost. Layering a layered client keeps the Call's step."""
    send = _sender(client)
    for layer in reversed(layers):
        send = _around(layer, send)
    return LayeredClient(send)


def _sender(client: Any) -> Next:
    if isinstance(client, LayeredClient):
        return client.send
    return lambda call: client.messages.create(**call.request)


def _around(layer: Layer, send: Next) -> Next:
    return lambda call: layer(call, send)


def step(name: str, subject: Callable[[dict[str, Any]], str] = lambda request: "") -> Layer:
    """Names the step a call belongs to; `subject` reads from the request what the call is about."""
    return lambda call, call_next: call_next(replace(call, step=name, subject=subject(call.request)))


def accepting(check: Callable[[str], Any]) -> Layer:
    """Tells the layers below what the step takes for an answer: `check` raises ValueError for any other text."""
    return lambda call, call_next: call_next(replace(call, accepts=check))


def with_defaults(**fields: Any) -> Layer:
    """Request fields for every call of a step, such as max_tokens; None leaves a field out."""
    given = {name: value for name, value in fields.items() if value is not None}
    return lambda call, call_next: call_next(call.with_request(**given))
