"""Which wire a call takes: the simulation, the Anthropic API, a compatible server, or a recording, always through the
real SDK."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal

from lib import errors
from lib.client import base_url as urls
from lib.client import translate
from lib.client.clock import Clock
from lib.client.count import Counter
from lib.client.layers import Call, LayeredClient, Sent, layered
from lib.client.pause import shared_pause
from lib.client.replay import Replay
from lib.client.translate import Endpoint, is_busy
from lib.client.turns import taking_turns
from lib.runs.store import Store
from lib.settings import Settings

ANTHROPIC_API = "https://api.anthropic.com"
SIMULATED_SERVER = "simulated-messages-api"     # how `python -m lib.simulated` names itself
NO_SECRET = "none"          # for the SDK, which wants a key; too short to be looked for in what is answered
CONNECT_TIMEOUT = 10.0      # seconds
RETRIES = 2                 # the SDK's own, of a call that met a server error
RETRY_DELAY = 0.5           # seconds of the simulation before the first of them; the second waits twice as long

_sending: ContextVar[Sent] = ContextVar("sending")      # of the call that this thread gives to the SDK


@dataclass(frozen=True)
class Connection:
    """A client and what the page says about it.

    `client.messages.create(**request)` returns an anthropic Message or raises one of `lib.errors`. A Call's `sent` says
    how it went on the wire. After `close` nothing can be sent.
    """

    client: LayeredClient = field(repr=False)
    source: Literal["simulated", "live", "server", "replay"]
    name: str
    clock: Clock = field(repr=False)
    close: Callable[[], None] = field(default=lambda: None, repr=False)
    count: Callable[[Mapping[str, Any]], int | None] = field(default=lambda request: None, repr=False)    # see `count`


def connect_simulated(settings: Settings, speed: float, transport: Any = None,
                      conditions: Any = None) -> Connection:
    """The simulated Messages API; `speed` simulated seconds pass in a real one, 0 does not wait at all.

    `conditions` (a `simulated.conditions.Conditions`) say what goes wrong in it. What it remembers ends with it.
    """
    clock = Clock(speed)
    endpoint = Endpoint("the simulated Messages API", "http://simulated.invalid", NO_SECRET)
    wire = _client(endpoint, settings, clock, transport or _simulated_transport(clock, conditions))
    client = wire.client if speed or transport else layered(wire.client, taking_turns())
    return Connection(client, "simulated", "Simulated Messages API", clock, wire.close, wire.count)


def connect_api(settings: Settings, key: str, address: str = ANTHROPIC_API) -> Connection:
    """The Anthropic API with a person's key. Raises WrongKey for a text that cannot be one."""
    if not key.strip():
        raise errors.WrongKey("The Anthropic API needs a key. Enter one, or use the simulation.")
    clock = Clock()
    endpoint = Endpoint("the Anthropic API", address, _clean(key))
    wire = _client(endpoint, settings, clock)
    return Connection(wire.client, "live", "Anthropic API", clock, wire.close, wire.count)


def connect_server(settings: Settings, base_url: str, key: str = "") -> Connection:
    """A server that speaks the Messages API; without a key none is sent. Raises BaseUrlRefused, WrongKey."""
    address = urls.normalise(base_url)
    urls.refuse_resolved(address)
    clock = Clock()
    endpoint = Endpoint(f"the server at {address}", address, _clean(key))
    wire = _client(endpoint, settings, clock)
    return Connection(wire.client, "server", address, clock, wire.close, wire.count)


def connect_replay(store: Store, run_ids: Sequence[str], speed: float, settings: Settings,
                   going_on: Sequence[str] = ()) -> Connection:
    """The recorded calls of stored runs (see `client.replay`), `speed` times as fast as they were, 0: without waiting.

    `going_on` are replays of these runs that go on: what their calls were given is not given again. A request that is
    not recorded raises NotRecorded.
    """
    clock = Clock(speed)
    replay = Replay(store, run_ids, clock, going_on)
    endpoint = Endpoint("the recording", "http://recording.invalid", NO_SECRET)
    sdk = _sdk(endpoint, clock, replay.transport())
    found = [run for run_id in run_ids if (run := store.run(run_id))]
    name = f"Recording of {' and '.join(dict.fromkeys(run.connection for run in found)) or 'nothing'}"
    client = layered(_sender(sdk, endpoint, settings), replay.layer)
    return Connection(client, "replay", name, clock, sdk.close)


def _simulated_transport(clock: Clock, conditions: Any) -> Any:
    from lib.simulated.room import Room
    from lib.simulated.transport import SimulatedTransport

    return SimulatedTransport(clock, Room(clock.now, conditions))


def _clean(key: str) -> str:
    key = key.strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise errors.WrongKey("The key holds a blank or a character that no key has. Copy it once more.")
    return key


@dataclass(frozen=True)
class _Wire:
    client: LayeredClient
    close: Callable[[], None]
    count: Callable[[Mapping[str, Any]], int | None]


def _client(endpoint: Endpoint, settings: Settings, clock: Clock, transport: Any = None) -> _Wire:
    """Client, counter, and what closes their connections. `transport` takes the network's place: it is simulated."""
    sdk = _sdk(endpoint, clock, transport)
    counter = Counter(sdk, endpoint)

    def count(request: Mapping[str, Any]) -> int | None:
        _sending.set(Sent())
        return counter(request)

    client = layered(_sender(sdk, endpoint, settings), shared_pause(clock, simulated=transport is not None))
    return _Wire(client, sdk.close, count)


def _sender(sdk: Any, endpoint: Endpoint, settings: Settings) -> LayeredClient:
    timeout = _timeout(settings)

    def send(call: Call) -> Any:
        _sending.set(call.sent)
        return _send(sdk, {"timeout": timeout, **call.request}, endpoint)

    return LayeredClient(send)


def _sdk(endpoint: Endpoint, clock: Clock, transport: Any) -> Any:
    import anthropic

    sdk = anthropic.Anthropic(
        api_key=endpoint.key,
        base_url=endpoint.address,
        http_client=_in_process(transport) if transport else _over_the_network(endpoint),
        max_retries=RETRIES,
        middleware=[_leave_busy_servers_to_the_pause, *([_retries_on(clock), _tell_when] if transport else []),
                    _note_attempt],
        open_telemetry=False,
    )
    # The constructor adds ANTHROPIC_CUSTOM_HEADERS, which may hold the key of another host.
    sdk._custom_headers = {} if endpoint.key else {"Authorization": anthropic.Omit()}
    return sdk


def _over_the_network(endpoint: Endpoint) -> Any:
    """A proxy from the environment is for the outside world; a request to this machine stays on it."""
    import anthropic

    return anthropic.DefaultHttpxClient(follow_redirects=False, trust_env=not urls.is_loopback(endpoint.address),
                                        event_hooks={"response": [translate.without_key(endpoint)]})


def _in_process(transport: Any) -> Any:
    from lib.simulated.transport import InProcessClient

    return InProcessClient(transport)


def _note_attempt(request: Any, call_next: Any) -> Any:
    """Each HTTP request passes here, also those that the SDK sends again and says nothing of."""
    sent = _sending.get()
    sent.attempts += 1
    try:
        response = call_next(request)
    except Exception as error:
        sent.unanswered |= translate.may_have_arrived(error)
        raise
    sent.simulated |= response.headers.get("server", "").startswith(SIMULATED_SERVER)
    sent.unanswered |= response.status_code >= 500 and not is_busy(response.status_code, response.headers)
    if (seconds := _seconds(response.headers.get("simulated-seconds"))) is not None:
        sent.seconds = (sent.seconds or 0.0) + seconds
    return response


def _tell_when(request: Any, call_next: Any) -> Any:
    """The simulation keeps the run's own time: an attempt begins when the ones before it and their pauses ended."""
    sent = _sending.get()
    if sent.began is not None:
        at = sent.began + (sent.seconds or 0.0)
        request.options.headers = {**request.headers, "simulated-at": repr(at)}
    return call_next(request)


def _retries_on(clock: Clock) -> Any:
    """Lets the SDK's wait before it sends a failed request again pass on the simulation's clock."""
    def middleware(request: Any, call_next: Any) -> Any:
        response = call_next(request)
        failed = response.status_code >= 500 and not is_busy(response.status_code, response.headers)
        if failed and request.retries_taken < RETRIES:
            wait, sent = RETRY_DELAY * 2 ** request.retries_taken, _sending.get()
            clock.sleep(wait)
            sent.seconds = (sent.seconds or 0.0) + wait
            response.headers["retry-after-ms"] = "1"
        return response

    return middleware


def _timeout(settings: Settings) -> Any:
    """Given with every call: without one the SDK refuses a large max_tokens before sending it."""
    import httpx2

    seconds = settings.request_timeout or None
    return httpx2.Timeout(seconds, connect=min(CONNECT_TIMEOUT, seconds or CONNECT_TIMEOUT))


def _leave_busy_servers_to_the_pause(request: Any, call_next: Any) -> Any:
    response = call_next(request)
    if is_busy(response.status_code, response.headers):
        response.headers["x-should-retry"] = "false"
    return response


def _send(sdk: Any, request: dict[str, Any], endpoint: Endpoint) -> Any:
    import anthropic

    model = request.get("model", "")
    try:
        raw = sdk.messages.with_raw_response.create(**request)
    except anthropic.APIError as error:
        failure = translate.failure(error, model, endpoint)
    else:
        return translate.message(raw, model, endpoint)
    raise failure   # outside the handler: the SDK's error holds the request, and with it the key


def _seconds(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
