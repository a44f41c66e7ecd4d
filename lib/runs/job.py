"""Background runs: start, stop, resume. A run lives in daemon threads and in the store, never in a page."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from lib import errors
from lib.catalog import Catalog, empty_catalog
from lib.client.budget import budget, paid_before
from lib.client.connect import Connection
from lib.client.layers import Call, Layer, Next, layered
from lib.client.ledger import ledger
from lib.client.reuse import reuse
from lib.client.stop import stoppable
from lib.client.timeline import ClockTime, SimulatedTime, Timeline
from lib.design import Design, Limits
from lib.runs.store import Run, Store
from lib.task import SHAPES
from lib.tickets import TicketSet
from lib.usage import prices, tokens

log = logging.getLogger(__name__)

SIMULATED_ANSWERS = "simulated answers"     # conditions of a run over a server that simulates them
Connect = Callable[[], Connection]


class Runs:
    """All runs of this server. Progress is read from the store; this object only starts and stops work."""

    def __init__(self, store: Store):
        self._store = store
        self._stops: dict[str, threading.Event] = {}    # of the runs that are working now
        self._lock = threading.Lock()

    def start(self, design: Design, shapes: Sequence[str], tickets: TicketSet, catalog: Catalog, data_id: str,
              connect: Connect, source: str, connection_name: str, desk: str = "", conditions: str = "",
              own_prices: Mapping[str, Mapping[str, Any]] | None = None) -> str:
        """Begins one run per shape at once and returns the id of their group. Connecting happens in the background.

        `conditions` are what the simulated API was told to do, in words. `own_prices` are a person's, in dollars per
        million tokens; see `usage.prices.with_own`, which raises PriceRefused. The run keeps them with those listed.
        """
        group = secrets.token_urlsafe(9)
        # what somebody's own server charges is not known, whatever its models are called
        listed = prices.prices_for([] if source == "server" else sorted({s.model for s in design.steps.values()}))
        listed = prices.with_own(listed, own_prices or {})
        if not self._store.has_data(data_id):       # forgotten meanwhile; a resume will want it
            database = catalog.to_bytes() if catalog.tables else None
            data_id = self._store.save_data(tickets.to_json(), database, tickets.name)
        shared = _Shared(connect, users=len(shapes))      # both shapes speak through one connection
        for shape in shapes:
            run = Run(id=secrets.token_urlsafe(9), group=group, shape=shape, status="queued", source=source,
                      connection=connection_name, design=design.to_dict(), data_id=data_id, created=time.time(),
                      prices=listed, desk=desk, title=f"{tickets.name} · {design.name}", conditions=conditions)
            self._store.add_run(run)
            self._begin(run, design, tickets, catalog, shared)
        return group

    def resume(self, run_id: str, connect: Connect, limits: Limits | None = None, conditions: str = "") -> None:
        """Goes on with a stopped, failed or interrupted run: calls it has already finished are not paid again.

        A run that is done goes on too if tickets failed in it: their calls, and what follows from them, are made anew.
        It is answered by the same kind of source as before, or fails saying so. `limits` take the place of its
        design's: a run that reached one could not go on otherwise. `conditions` may be others than before.
        """
        run = self._store.run(run_id)
        if run is None or not _can_go_on(run):
            return
        tickets_json, database = self._store.load_data(run.data_id)
        catalog = Catalog.from_bytes(database) if database else empty_catalog()
        design = Design.from_dict(run.design)
        if limits is not None:
            design = replace(design, limits=limits)
            self._store.update_run(run_id, design=design.to_dict())
        if run.source == "simulated":
            self._store.update_run(run_id, conditions=_one_after_another(run.conditions, conditions))
        self._begin(run, design, TicketSet.from_json(tickets_json), catalog, _Shared(connect, users=1))

    def stop(self, run_id: str) -> None:
        """No call is sent after this; calls in flight end, are billed and logged."""
        with self._lock:
            if event := self._stops.get(run_id):
                event.set()
                return
        run = self._store.run(run_id)
        if run and run.status in ("queued", "running"):     # its end could not be written, for instance on a full disk
            self._store.update_run(run_id, status="interrupted", error="This run had ended. Resume it to go on.")

    def active(self, run_id: str) -> bool:
        with self._lock:
            return run_id in self._stops

    def _begin(self, run: Run, design: Design, tickets: TicketSet, catalog: Catalog, shared: _Shared) -> None:
        with self._lock:
            if run.id in self._stops:
                return
            event = self._stops[run.id] = threading.Event()
        try:
            self._store.update_run(run.id, status="queued", error="", ended=None)
            threading.Thread(target=self._work, args=(run, design, tickets, catalog, shared, event),
                             name=f"run-{run.shape}", daemon=True).start()
        except BaseException:
            with self._ended(run.id):
                shared.give_back()
            raise

    def _work(self, run: Run, design: Design, tickets: TicketSet, catalog: Catalog, shared: _Shared,
              event: threading.Event) -> None:
        outcome: dict[str, Any] = {"status": "failed", "error": "the server ended this run"}
        try:
            connection = shared.connection()
            _check_source(run, connection)
            timeline = _timeline(connection, self._store.totals(run.id).last_ended or 0.0)
            self._store.update_run(run.id, status="running", started=run.started or timeline.now())
            client = self._client(run, design, connection.client, timeline, event)
            outcome = _outcome(lambda: SHAPES[run.shape](client, design, tickets, catalog))
            outcome["ended"] = timeline.now()
        except Exception as error:      # connecting failed
            outcome = _failed(error)
        finally:
            shared.give_back()
            with self._ended(run.id):
                self._store.update_run(run.id, **outcome)

    @contextmanager
    def _ended(self, run_id: str) -> Iterator[None]:
        """The run counts as active until its row says how it ended, and no longer even if that cannot be written."""
        try:
            yield
        finally:
            with self._lock:
                self._stops.pop(run_id, None)

    def _client(self, run: Run, design: Design, client: Any, timeline: Timeline, event: threading.Event) -> Any:
        price = partial(prices.cost, run.prices)
        spent, elapsed = paid_before(self._store, run.id, price, tokens.estimate_request)
        return layered(
            client,
            stoppable(event),
            reuse(self._store, run.id),
            budget(design.limits, timeline, price, tokens.estimate_request, spent, elapsed),
            ledger(self._store, run.id, timeline, price),
            self._told_when_simulated(run.id),
        )

    def _told_when_simulated(self, run_id: str) -> Layer:
        """Puts it into the run's row when a server says that its answers are simulated, so that pages can say so."""
        told = threading.Event()

        def layer(call: Call, call_next: Next) -> Any:
            reply = call_next(call)
            if call.sent.simulated and not told.is_set():
                told.set()
                self._store.update_run(run_id, conditions=SIMULATED_ANSWERS)
            return reply

        return layer


def _can_go_on(run: Run) -> bool:
    if run.status == "done":
        return bool(run.report and run.report.get("failed"))
    return run.status not in ("running", "queued")


def _one_after_another(before: str, now: str) -> str:
    """The conditions of a run of several parts: "10 % overloaded, then no faults"."""
    then = f", then {now or 'no faults'}"
    return before if before == now or before.endswith(then) else f"{before or 'no faults'}{then}"


def _check_source(run: Run, connection: Connection) -> None:
    """A run is labelled with what answers it, so all of it has to come from there."""
    if connection.source != run.source:
        raise errors.InputError(f"This run was answered by {run.connection} so far. Choose that again as what answers, "
                                "then resume; or start a new run.")


def _timeline(connection: Connection, last_ended: float) -> Timeline:
    """A resumed simulated run goes on where its last call ended: how long it lay there is no time of the run."""
    clock = connection.clock
    return SimulatedTime(last_ended or clock.now()) if connection.source == "simulated" else ClockTime(clock)


def _outcome(shape: Callable[[], Any]) -> dict[str, Any]:
    """The fields of the run's row that its end sets: status, and the report or the reason, perhaps with a partial
    report."""
    try:
        return {"status": "done", "report": shape().to_dict(), "error": ""}
    except (errors.Stopped, errors.BudgetReached) as reason:
        return {"status": "stopped", "error": str(reason), **_partial(reason)}
    except Exception as error:
        return _failed(error)


def _failed(error: Exception) -> dict[str, Any]:
    if isinstance(error, errors.PlaygroundError):
        return {"status": "failed", "error": str(error), **_partial(error)}
    log.exception("a run ended with an unexpected error")
    return {"status": "failed", "error": f"an error inside the playground ({type(error).__name__}); "
                                         "the server's log has the details"}


def _partial(ending: errors.PlaygroundError) -> dict[str, Any]:
    """The report of what was known when the run ended early; nothing if the shape could not tell."""
    report = getattr(ending, "partial_report", None)
    return {"report": report.to_dict()} if report else {}


class _Shared:
    """One connection for all `users`, made when the first needs it and closed when the last has given it back."""

    def __init__(self, connect: Connect, users: int):
        self._connect = connect
        self._users = users
        self._made: Connection | None = None
        self._lock = threading.Lock()

    def connection(self) -> Connection:
        with self._lock:
            if self._made is None:
                self._made = self._connect()
            return self._made

    def give_back(self) -> None:
        with self._lock:
            self._users -= 1
            if self._made and not self._users:
                self._made.close()
