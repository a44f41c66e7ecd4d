"""Background runs: start, stop, resume. A run lives in daemon threads and in the store, never in a page."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from lib import errors
from lib.catalog import Catalog, empty_catalog
from lib.client.allowance import Allowance
from lib.client.budget import budget, paid_before
from lib.client.connect import Connection
from lib.client.layers import Call, Layer, Next, layered
from lib.client.ledger import ledger
from lib.client.response_cache import SOURCES, response_cache
from lib.client.reuse import reuse
from lib.client.stop import stoppable
from lib.client.timeline import ClockTime, SimulatedTime, Timeline
from lib.design import Design, Limits
from lib.phrases import plural
from lib.runs.store import SIMULATED_ANSWERS as SIMULATED_ANSWERS
from lib.runs.store import Run, Store
from lib.settings import Settings
from lib.task import SHAPES
from lib.tickets import TicketSet
from lib.usage import prices, tokens

log = logging.getLogger(__name__)

LONGEST_SUBJECT = 80    # characters, in an error
OWNER = "owner"     # payer of a run with the key of a shared playground's owner
Connect = Callable[[], Connection]


class Runs:
    """All runs of this server. Progress is read from the store; this object only starts and stops work.

    `settings` say how many may be at work at once and what visitors may spend of the owner's key; without them there
    is no limit of the one and nothing of the other. `shared`: visitors see only their own runs, so a call is answered
    from those alone.
    """

    def __init__(self, store: Store, settings: Settings | None = None, shared: bool = False):
        self._store = store
        self._visitors_apart = shared
        self._most = settings.max_runs if settings else 0
        self._offered = settings.key_budget if settings else 0.0
        self._allowance = Allowance(store, self._offered, settings.key_budget_total if settings else 0.0)
        self._stops: dict[str, threading.Event] = {}    # of the runs that are working now
        self._taken: dict[str, int] = {}                # of those resumed here: calls taken from before
        self._lock = threading.Lock()

    def start(self, design: Design, shapes: Sequence[str], tickets: TicketSet, catalog: Catalog, data_id: str,
              connect: Connect, source: str, connection_name: str, desk: str = "", conditions: str = "",
              own_prices: Mapping[str, Mapping[str, Any]] | None = None, reuse_replies: bool = False, payer: str = "",
              origin: str = "", price_list: Mapping[str, Any] | None = None) -> str:
        """Begins one run per shape at once and returns the id of their group. Connecting happens in the background.

        `conditions` are what the simulated API was told to do, in words. `own_prices` are a person's, in dollars per
        million tokens; see `usage.prices.with_own`, which raises PriceRefused. The run keeps them with those listed,
        or with the `price_list` of the run that it replays. `reuse_replies` lets replies of earlier runs answer, see
        `client.response_cache`. `payer` is OWNER where the connection has the owner's key: then `client.allowance`
        holds. `origin` is the Run's. Raises InputError when too many runs are at work.
        """
        group, ids = secrets.token_urlsafe(9), [secrets.token_urlsafe(9) for _ in shapes]
        snapshot = prices.with_own(price_list or _listed(design, source), own_prices or {})
        shared = _Shared(connect, users=len(shapes))      # both shapes speak through one connection
        with self._entered(ids) as begun:
            if not self._store.has_data(data_id):       # forgotten meanwhile; a resume will want it
                database = catalog.to_bytes() if catalog.tables else None
                data_id = self._store.save_data(tickets.json_pieces(), database, tickets.name)
            new = [Run(id=run_id, group=group, shape=shape, status="queued", source=source, connection=connection_name,
                       design=design.to_dict(), data_id=data_id, created=time.time(), prices=snapshot, desk=desk,
                       title=f"{tickets.name} · {design.name}", conditions=conditions, payer=payer, origin=origin)
                   for run_id, shape in zip(ids, shapes, strict=True)]
            self._store.add_runs(new)       # all, or none: what cannot be written must not leave half a group at work
            for run in new:
                self._begin(_Job(run, design, tickets, catalog, shared, reuse_replies, payer))
                begun(run.id)
        return group

    def resume(self, run_id: str, connect: Connect, limits: Limits | None = None, conditions: str = "",
               reuse_replies: bool = False, payer: str = "") -> None:
        """Goes on with a stopped, failed or interrupted run: calls it has already finished are not paid again.

        A run that is done goes on too if tickets failed in it: their calls, and what follows from them, are made anew.
        It is answered by the same kind of source as before, or fails saying so. `limits` take the place of its
        design's: a run that reached one could not go on otherwise. `conditions` and `payer` may be others than before.
        Raises InputError when too many runs are at work.
        """
        run = self._store.run(run_id)
        if run is None or not _can_go_on(run) or self.active(run_id):
            return
        tickets_json, database = self._store.load_data(run.data_id)
        catalog = Catalog.from_bytes(database) if database else empty_catalog()
        design = Design.from_dict(run.design)
        if limits is not None:
            design = replace(design, limits=limits)
        with self._entered([run_id]) as begun:
            self._store.update_run(run_id, design=design.to_dict(), payer=payer or run.payer)
            with self._lock:
                self._taken.pop(run_id, None)
            if run.source == "simulated":
                self._store.update_run(run_id, conditions=_one_after_another(run.conditions, conditions))
            self._begin(_Job(run, design, TicketSet.from_json(tickets_json), catalog, _Shared(connect, users=1),
                             reuse_replies, payer))
            begun(run_id)

    def stop(self, run_id: str) -> None:
        """No call is sent after this; calls in flight end, are billed and logged. Raises InputError for a run that is
        at work on another server of the same store."""
        with self._lock:
            if event := self._stops.get(run_id):
                event.set()
                return
        run = self._store.run(run_id)
        if run and run.status in ("queued", "running"):     # its end could not be written, for instance on a full disk
            if not self._store.sole_server():
                raise errors.InputError("Another playground that uses the same run store is at work on this run. "
                                        "Stop it there.")
            self._store.update_run(run_id, status="interrupted", error="This run had ended. Resume it to go on.")

    def active(self, run_id: str) -> bool:
        with self._lock:
            return run_id in self._stops

    def taken_over(self, run_id: str) -> int:
        """Calls that the run, once it was resumed on this server, took from before without paying them again."""
        with self._lock:
            return self._taken.get(run_id, 0)

    def key_left(self, desk: str) -> float | None:
        """Dollars that a visitor may still spend today of the owner's key; None where it is not offered."""
        return self._allowance.left(desk) if self._offered else None

    @contextmanager
    def _entered(self, run_ids: Sequence[str]) -> Iterator[Callable[[str], None]]:
        """Makes room for runs. Yields what is to be called with each that has begun: the others' room is given back."""
        waiting = set(run_ids)
        with self._lock:
            if waiting & self._stops.keys():
                raise errors.InputError("This run is at work already.")
            if self._most and len(self._stops) + len(waiting) > self._most:
                raise errors.InputError(f"{plural(len(self._stops), 'run is', 'runs are')} at work on this server, "
                                        f"which takes {self._most} at once. Wait for one to end, or stop one.")
            self._stops |= {run_id: threading.Event() for run_id in waiting}
        try:
            yield waiting.discard
        finally:
            self._leave(waiting)

    def _leave(self, run_ids: Iterable[str]) -> None:
        with self._lock:
            for run_id in run_ids:
                self._stops.pop(run_id, None)

    def _begin(self, job: _Job) -> None:
        try:
            if job.run.status != "queued":      # it is resumed
                self._store.update_run(job.run.id, status="queued", error="", ended=None)
            threading.Thread(target=self._work, args=(job,), name=f"run-{job.run.shape}", daemon=True).start()
        except BaseException:
            job.shared.give_back()
            raise

    def _work(self, job: _Job) -> None:
        run, place = job.run, _Place()
        outcome: dict[str, Any] = {"status": "failed", "error": "the server ended this run"}
        try:
            connection = job.shared.connection()
            _check_source(run, connection)
            timeline = _timeline(connection, self._store.totals(run.id).last_ended or 0.0)
            self._store.update_run(run.id, status="running", started=run.started or timeline.now())
            client = self._client(job, connection.client, timeline, place)
            outcome = _outcome(lambda: SHAPES[run.shape](client, job.design, job.tickets, job.catalog), place)
            outcome["ended"] = timeline.now()
        except Exception as error:      # connecting failed
            outcome = _failed(error, place)
        finally:
            job.shared.give_back()
            self._end(run.id, outcome)

    def _end(self, run_id: str, outcome: dict[str, Any]) -> None:
        """The run counts as active until its row says how it ended, and no longer even if that cannot be written."""
        try:
            self._store.update_run(run_id, **outcome)
        except errors.StoreError as error:
            log.warning("the end of a run could not be written: %s", error)
        finally:
            self._leave([run_id])

    def _client(self, job: _Job, client: Any, timeline: Timeline, place: _Place) -> Any:
        run, limits = job.run, job.design.limits
        price = partial(prices.cost, run.prices)
        spent, elapsed = paid_before(self._store, run.id, price, tokens.estimate_request)
        told = self._told_when_simulated(run.id)
        return layered(
            client,
            stoppable(self._stops[run.id]),
            place.noted,
            reuse(self._store, run.id, partial(self._count, run.id)),
            *([told, self._cache(run, timeline)] if job.reuse_replies and run.source in SOURCES else []),
            budget(limits, timeline, price, tokens.estimate_request, spent, elapsed),
            *([self._owners_key(run, job.design)] if job.payer == OWNER else []),
            ledger(self._store, run.id, timeline, price),
            told,
        )

    def _cache(self, run: Run, timeline: Timeline) -> Layer:
        return response_cache(self._store, run, timeline, run.desk if self._visitors_apart else None)

    def _owners_key(self, run: Run, design: Design) -> Layer:
        """At today's list prices: those that the run keeps may be a visitor's own."""
        return self._allowance.layer(run.desk, partial(prices.cost, _listed(design, run.source)),
                                     tokens.estimate_request)

    def _count(self, run_id: str) -> None:
        with self._lock:
            self._taken[run_id] = self._taken.get(run_id, 0) + 1

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


@dataclass(frozen=True)
class _Job:
    """What one run needs to work, until it ends."""

    run: Run
    design: Design
    tickets: TicketSet
    catalog: Catalog
    shared: _Shared
    reuse_replies: bool
    payer: str


class _Place:
    """Which call an error came from."""

    def __init__(self) -> None:
        self._last: tuple[str, str] | None = None

    def noted(self, call: Call, call_next: Next) -> Any:
        """A layer that notes the step and subject of a call, and puts them on an error that passes."""
        self._last = here = call.step, call.subject
        try:
            return call_next(call)
        except Exception as error:
            error.at_call = here
            raise

    def told(self, error: BaseException) -> str:
        """"label of ticket T-1007: ", "turn 12: "; "" for an error of no call. What an agent's loop or its last check
        finds wrong is wrong with the last reply."""
        here = getattr(error, "at_call", None) or getattr(error.__cause__, "at_call", None)
        if here is None and isinstance(error, errors.AgentError | errors.InvalidReply):
            here = self._last
        return f"{_call_in_words(*here)}: " if here and any(here) else ""


def _call_in_words(step: str, subject: str) -> str:
    subject = " ".join(subject.split())[:LONGEST_SUBJECT]
    if not subject or step == "agent":
        return subject or step
    return f"{step} of {'ticket ' if step == 'label' else ''}{subject}"


def _listed(design: Design, source: str) -> dict[str, Any]:
    """What somebody's own server charges is not known, whatever its models are called."""
    return prices.prices_for([] if source == "server" else sorted({s.model for s in design.steps.values()}))


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
    """A resumed simulated run goes on where its last call ended: how long it lay there is no time of the run. A replay
    keeps time as the simulation does: its calls take what they took when they were recorded."""
    clock = connection.clock
    ours = connection.source in ("simulated", "replay")
    return SimulatedTime(last_ended or clock.now()) if ours else ClockTime(clock)


def _outcome(shape: Callable[[], Any], place: _Place) -> dict[str, Any]:
    """The fields of the run's row that its end sets: status, and the report or the reason, perhaps with a partial
    report."""
    try:
        return {"status": "done", "report": shape().to_dict(), "error": ""}
    except (errors.Stopped, errors.BudgetReached) as reason:
        return {"status": "stopped", "error": str(reason), **_partial(reason)}
    except Exception as error:
        return _failed(error, place)


def _failed(error: Exception, place: _Place) -> dict[str, Any]:
    if isinstance(error, errors.PlaygroundError):
        return {"status": "failed", "error": " ".join(f"{place.told(error)}{error}".split()), **_partial(error)}
    log.exception("a run ended with an unexpected error")
    return {"status": "failed", "error": f"{place.told(error)}an error inside the playground ({type(error).__name__}); "
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
