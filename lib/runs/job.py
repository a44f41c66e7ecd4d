"""Background runs: start, stop, resume. A run lives in daemon threads and in the store, never in a page."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from lib import errors
from lib.catalog import Catalog, empty_catalog
from lib.client.budget import Cost, budget
from lib.client.connect import Connection
from lib.client.layers import layered
from lib.client.ledger import ledger
from lib.client.reuse import reuse
from lib.client.stop import stoppable
from lib.client.timeline import ClockTime, SimulatedTime, Timeline
from lib.design import Design
from lib.runs.store import Run, Store
from lib.task import SHAPES
from lib.tickets import TicketSet
from lib.usage import prices, tokens

log = logging.getLogger(__name__)

Connect = Callable[[], Connection]


class Runs:
    """All runs of this server. Progress is read from the store; this object only starts and stops work."""

    def __init__(self, store: Store):
        self._store = store
        self._stops: dict[str, threading.Event] = {}    # of the runs that are working now
        self._lock = threading.Lock()

    def start(self, design: Design, shapes: Sequence[str], tickets: TicketSet, catalog: Catalog, data_id: str,
              connect: Connect, source: str, connection_name: str, desk: str = "") -> str:
        """Begins one run per shape at once and returns the id of their group. Connecting happens in the background."""
        group = secrets.token_urlsafe(9)
        listed = prices.prices_for(sorted({s.model for s in design.steps.values()}))
        connect_once = _once(connect)      # both shapes speak through one connection
        for shape in shapes:
            run = Run(id=secrets.token_urlsafe(9), group=group, shape=shape, status="queued", source=source,
                      connection=connection_name, design=design.to_dict(), data_id=data_id, created=time.time(),
                      prices=listed, desk=desk, title=f"{tickets.name} · {design.name}")
            self._store.add_run(run)
            self._begin(run, design, tickets, catalog, connect_once)
        return group

    def resume(self, run_id: str, connect: Connect) -> None:
        """Goes on with a stopped, failed or interrupted run: calls it has already finished are not paid again."""
        run = self._store.run(run_id)
        if run is None or run.status in ("done", "running", "queued"):
            return
        tickets_json, database = self._store.load_data(run.data_id)
        catalog = Catalog.from_bytes(database) if database else empty_catalog()
        self._begin(run, Design.from_dict(run.design), TicketSet.from_json(tickets_json), catalog, connect)

    def stop(self, run_id: str) -> None:
        """No call is sent after this; calls in flight end, are billed and logged."""
        with self._lock:
            if event := self._stops.get(run_id):
                event.set()

    def active(self, run_id: str) -> bool:
        with self._lock:
            return run_id in self._stops

    def _begin(self, run: Run, design: Design, tickets: TicketSet, catalog: Catalog, connect: Connect) -> None:
        with self._lock:
            if run.id in self._stops:
                return
            event = self._stops[run.id] = threading.Event()
        self._store.update_run(run.id, status="queued", error="")
        threading.Thread(target=self._work, args=(run, design, tickets, catalog, connect, event),
                         name=f"run-{run.shape}", daemon=True).start()

    def _work(self, run: Run, design: Design, tickets: TicketSet, catalog: Catalog, connect: Connect,
              event: threading.Event) -> None:
        outcome: dict[str, Any] = {"status": "failed", "error": "the server ended this run"}
        try:
            connection = connect()
            timeline = _timeline(connection)
            self._store.update_run(run.id, status="running", started=run.started or timeline.now())
            client = self._client(run, design, connection.client, timeline, event)
            outcome = _outcome(lambda: SHAPES[run.shape](client, design, tickets, catalog))
            outcome["ended"] = timeline.now()
        except Exception as error:      # connecting failed
            outcome = _failed(error)
        finally:
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
        paid = self._store.totals(run.id)
        spent = Cost((paid.input or 0) + (paid.output or 0), paid.usd or 0.0)
        return layered(
            client,
            stoppable(event),
            reuse(self._store, run.id),
            budget(design.limits, timeline, price, tokens.estimate_request, spent),
            ledger(self._store, run.id, timeline, price),
        )


def _timeline(connection: Connection) -> Timeline:
    clock = connection.clock
    return SimulatedTime(clock.now()) if connection.source == "simulated" else ClockTime(clock)


def _outcome(shape: Callable[[], Any]) -> dict[str, Any]:
    """The fields of the run's row that its end sets: status, and the report or the reason."""
    try:
        return {"status": "done", "report": shape().to_dict(), "error": ""}
    except (errors.Stopped, errors.BudgetReached) as reason:
        return {"status": "stopped", "error": str(reason)}
    except Exception as error:
        return _failed(error)


def _failed(error: Exception) -> dict[str, Any]:
    if isinstance(error, errors.PlaygroundError):
        return {"status": "failed", "error": str(error)}
    log.exception("a run ended with an unexpected error")
    return {"status": "failed", "error": f"an error inside the playground ({type(error).__name__}); "
                                         "the server's log has the details"}


def _once(connect: Connect) -> Connect:
    lock = threading.Lock()
    made: list[Connection] = []

    def once() -> Connection:
        with lock:
            if not made:
                made.append(connect())
            return made[0]

    return once
