"""A run is a background job: in the store while it works, stopped between calls, resumed without paying twice."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from itertools import pairwise

import pytest

from lib import errors
from lib.catalog import empty_catalog
from lib.client.clock import Clock
from lib.client.connect import Connection, connect_simulated
from lib.client.layers import LayeredClient, Sent
from lib.runs.job import OWNER, Runs
from lib.runs.store import Run, Store
from lib.settings import ROOT, load
from lib.simulated.conditions import Conditions
from lib.task.default_design import default_design
from lib.tickets import Ticket, TicketSet

TICKETS = TicketSet("six tickets", tuple(
    Ticket(str(n), str(n), subject, body, f"C-{n}") for n, (subject, body) in enumerate([
        ("Charged twice", "I was charged twice for my subscription this month, please refund one of the payments."),
        ("Two payments", "My card shows two identical payments for one invoice. Please give one back."),
        ("Password mail", "The reset mail never arrives, not even in spam, so I cannot get in."),
        ("Double charge", "Why did you bill me two times on Monday? I only bought once."),
        ("App crash", "The app crashes on start since the last update on my phone."),
        ("Reset link", "I asked for a password reset link three times and no e-mail came."),
    ], start=1)))


@pytest.fixture
def store(tmp_path):
    with_data = Store(tmp_path / "runs.sqlite")
    yield with_data
    with_data.close()


def simulated() -> Connection:
    return connect_simulated(load({}), speed=0)


class Gate:
    """A connection whose calls past the first `free` ones wait until `open` is set; counts what was sent."""

    def __init__(self, free: int):
        self.free, self.sent, self.waiting, self.open = free, 0, threading.Event(), threading.Event()
        self._lock = threading.Lock()

    def connect(self) -> Connection:
        below = simulated()

        def send(call):
            with self._lock:
                self.sent += 1
                must_wait = self.sent > self.free
            if must_wait:
                self.waiting.set()
                assert self.open.wait(10)
            return below.client.send(call)

        return Connection(LayeredClient(send), "simulated", "gated", Clock())


def start(runs: Runs, store: Store, connect=simulated, shapes=("pipeline",), design=None) -> str:
    data_id = store.save_data(TICKETS.to_json(), None, TICKETS.name)
    return runs.start(design or replace(default_design(), k=2), shapes, TICKETS, empty_catalog(), data_id, connect,
                      "simulated", "Simulated Messages API")


def wait_for_end(runs: Runs, store: Store, group: str):
    for _ in range(1000):
        found = store.group(group)
        if not any(runs.active(run.id) for run in found):
            return store.group(group)
        time.sleep(0.01)
    raise AssertionError("the run did not end within ten seconds")


def wait_until(what) -> None:
    for _ in range(2_000):
        if what():
            return
        time.sleep(0.005)
    raise AssertionError("it did not happen within ten seconds")


def test_both_shapes_of_a_group_end_with_a_report(store):
    runs = Runs(store)
    ended = wait_for_end(runs, store, start(runs, store, shapes=("pipeline", "agent")))
    assert {run.shape: run.status for run in ended} == {"pipeline": "done", "agent": "done"}
    for run in ended:
        assert list(run.report["causes"][0]["tickets"]) == ["1", "2", "4"]
        assert store.totals(run.id).calls == len(store.calls(run.id)) > 0
        assert run.started and run.ended and run.error == ""


def test_data_that_was_forgotten_before_the_start_is_kept_with_the_run(store):
    runs = Runs(store)
    group = runs.start(default_design(), ("pipeline",), TICKETS, empty_catalog(), "forgotten", simulated, "simulated",
                       "Simulated Messages API")
    [run] = wait_for_end(runs, store, group)
    assert store.load_data(run.data_id) == (TICKETS.to_json(), None)


def test_both_shapes_speak_through_one_connection(store):
    made = []

    def connect():
        made.append(simulated())
        return made[-1]

    runs = Runs(store)
    wait_for_end(runs, store, start(runs, store, connect, shapes=("pipeline", "agent")))
    assert len(made) == 1


def test_stop_sends_no_further_call_and_keeps_those_in_flight(store):
    gate, runs = Gate(free=2), Runs(store)
    group = start(runs, store, gate.connect, design=replace(default_design(), workers=1))
    assert gate.waiting.wait(10)
    [run] = store.group(group)
    runs.stop(run.id)
    gate.open.set()
    [run] = wait_for_end(runs, store, group)
    assert run.status == "stopped" and "Stopped" in run.error
    assert len(store.calls(run.id)) == gate.sent == 3


def test_a_resumed_run_pays_only_for_what_is_missing(store):
    runs = Runs(store)
    undisturbed = wait_for_end(runs, store, start(runs, store))[0]

    gate = Gate(free=2)
    group = start(runs, store, gate.connect, design=replace(default_design(), k=2, workers=1))
    assert gate.waiting.wait(10)
    [run] = store.group(group)
    runs.stop(run.id)
    gate.open.set()
    wait_for_end(runs, store, group)
    runs.resume(run.id, simulated)
    [run] = wait_for_end(runs, store, group)
    assert run.status == "done"
    assert run.report == undisturbed.report
    assert store.totals(run.id).input == store.totals(undisturbed.id).input
    assert store.totals(run.id).calls == store.totals(undisturbed.id).calls


def test_a_run_keeps_the_conditions_it_was_made_under(store):
    runs, data_id = Runs(store), store.save_data(TICKETS.to_json(), None, TICKETS.name)
    group = runs.start(replace(default_design(), k=2), ("pipeline", "agent"), TICKETS, empty_catalog(), data_id,
                       simulated, "simulated", "Simulated Messages API", conditions="10 % slow")
    assert {run.conditions for run in wait_for_end(runs, store, group)} == {"10 % slow"}


def test_a_run_of_several_parts_tells_the_conditions_of_each_once(store):
    runs = Runs(store)
    run = stopped_after(2, runs, store, "pipeline")
    for conditions in ("", "10 % slow", "10 % slow", ""):
        store.update_run(run.id, status="stopped")
        runs.resume(run.id, simulated, conditions=conditions)
        wait_for_end(runs, store, run.group)
    assert store.run(run.id).conditions == "no faults, then 10 % slow, then no faults"


def stopped_after(calls: int, runs: Runs, store: Store, shape: str):
    """A run with one worker that was stopped while its next call was under way."""
    gate = Gate(free=calls)
    group = start(runs, store, gate.connect, shapes=(shape,), design=replace(default_design(), k=2, workers=1))
    assert gate.waiting.wait(10)
    runs.stop(store.group(group)[0].id)
    gate.open.set()
    return wait_for_end(runs, store, group)[0]


def test_the_calls_of_a_resumed_simulated_agent_follow_those_before_the_stop(store):
    runs = Runs(store)
    run = stopped_after(3, runs, store, "agent")
    runs.resume(run.id, simulated)
    assert wait_for_end(runs, store, run.group)[0].status == "done"
    calls = store.calls(run.id)
    assert len(calls) > 5 and min(call.seconds for call in calls) > 0
    assert all(later.started >= earlier.started + earlier.seconds for earlier, later in pairwise(calls))


def test_how_long_a_stopped_simulated_run_lay_there_is_no_time_of_it(store):
    runs = Runs(store)
    run = stopped_after(3, runs, store, "agent")
    with closing(sqlite3.connect(store.path)) as db, db:
        db.execute("update call set started = started - 86400")
    runs.resume(run.id, simulated)
    wait_for_end(runs, store, run.group)
    gaps = [later.started - earlier.started - earlier.seconds for earlier, later in pairwise(store.calls(run.id))]
    assert len(gaps) > 4 and max(gaps) < 0.001


def test_a_pipeline_that_was_stopped_keeps_a_partial_report_until_it_is_through(store):
    runs = Runs(store)
    run = stopped_after(2, runs, store, "pipeline")
    assert run.status == "stopped" and "3 of 6 tickets are labelled" in run.report["partial"]
    runs.resume(run.id, simulated)
    [run] = wait_for_end(runs, store, run.group)
    assert run.status == "done" and run.report["partial"] == ""


def test_a_run_that_failed_keeps_a_partial_report(store):
    below = simulated()

    def send(call):
        if call.step == "merge":
            raise errors.StaysBusy("the server stays busy")
        return below.client.send(call)

    runs = Runs(store)
    group = start(runs, store, lambda: Connection(LayeredClient(send), "simulated", "busy", Clock()))
    [run] = wait_for_end(runs, store, group)
    assert run.status == "failed" and "6 of 6 tickets are labelled" in run.report["partial"]


def test_a_finished_run_with_failed_tickets_can_be_resumed_for_them(store):
    below, runs = simulated(), Runs(store)
    whole = wait_for_end(runs, store, start(runs, store))[0]

    def send(call):
        if call.step == "label" and call.subject == "3":
            raise errors.ServerTrouble("the connection broke")
        return below.client.send(call)

    group = start(runs, store, lambda: Connection(LayeredClient(send), "simulated", "broken", Clock()))
    [run] = wait_for_end(runs, store, group)
    assert (run.status, run.report["failed"]) == ("done", {"3": "the connection broke"})
    runs.resume(run.id, simulated)
    [run] = wait_for_end(runs, store, group)
    assert (run.status, run.report) == ("done", whole.report)
    labels = [call.subject for call in store.calls(run.id) if call.step == "label" and not call.error]
    assert sorted(labels) == ["1", "2", "3", "4", "5", "6"]


def test_a_run_that_finished_is_not_resumed(store):
    runs = Runs(store)
    group = start(runs, store)
    [run] = wait_for_end(runs, store, group)
    runs.resume(run.id, lambda: pytest.fail("a finished run connected again"))
    assert store.run(run.id).status == "done" and not runs.active(run.id)


def test_a_full_budget_stops_the_run_with_its_reason(store):
    design = default_design()
    tight = replace(design, limits=replace(design.limits, max_tokens=4_000))
    runs = Runs(store)
    [run] = wait_for_end(runs, store, start(runs, store, design=tight))
    assert run.status == "stopped"
    assert "4,000" in run.error


@pytest.mark.parametrize("error, words", [
    (errors.WrongKey("the key was refused"), "the key was refused"),
    (RuntimeError("secret detail"), "an error inside the playground (RuntimeError)"),
])
def test_a_connection_that_cannot_be_made_fails_the_run_in_one_plain_line(store, error, words):
    def connect():
        raise error

    runs = Runs(store)
    [run] = wait_for_end(runs, store, start(runs, store, connect))
    assert run.status == "failed"
    assert words in run.error and "secret" not in run.error


def test_the_prices_of_the_day_stay_with_the_run(store):
    runs = Runs(store)
    [run] = wait_for_end(runs, store, start(runs, store))
    assert set(run.prices["models"]) == {"claude-haiku-5-5"}


def stopped_by_its_budget(runs: Runs, store: Store):
    design = replace(default_design(), k=2)
    tight = replace(design, limits=replace(design.limits, max_tokens=4_000))
    [run] = wait_for_end(runs, store, start(runs, store, design=tight))
    assert run.status == "stopped"
    return run


def test_a_run_whose_budget_is_full_goes_on_with_higher_limits(store):
    runs = Runs(store)
    run = stopped_by_its_budget(runs, store)
    paid = store.totals(run.id).calls
    runs.resume(run.id, simulated, default_design().limits)
    [run] = wait_for_end(runs, store, run.group)
    assert (run.status, run.error) == ("done", "")
    assert run.design["limits"]["max_tokens"] == default_design().limits.max_tokens
    assert 0 < paid < store.totals(run.id).calls == 9


def test_an_agent_that_ran_out_of_turns_goes_on_with_the_same_conversation(store):
    runs, design = Runs(store), replace(default_design(), k=2)
    [undisturbed] = wait_for_end(runs, store, start(runs, store, shapes=("agent",), design=design))
    few = replace(design, limits=replace(design.limits, max_turns=3))
    [run] = wait_for_end(runs, store, start(runs, store, shapes=("agent",), design=few))
    assert run.status == "failed" and store.totals(run.id).calls == 3
    runs.resume(run.id, simulated, design.limits)
    [run] = wait_for_end(runs, store, run.group)
    assert (run.status, run.report) == ("done", undisturbed.report)
    assert store.totals(run.id).calls == store.totals(undisturbed.id).calls


def test_a_run_that_goes_on_has_not_ended(store):
    gate, runs = Gate(free=0), Runs(store)
    run = stopped_by_its_budget(runs, store)
    runs.resume(run.id, gate.connect, default_design().limits)
    assert gate.waiting.wait(10)
    going = store.run(run.id)
    assert (going.status, going.error, going.ended, going.started) == ("running", "", None, run.started)
    runs.stop(run.id)
    gate.open.set()
    assert wait_for_end(runs, store, run.group)[0].ended


def test_a_run_is_not_resumed_with_another_kind_of_answers(store):
    runs = Runs(store)
    run = stopped_by_its_budget(runs, store)
    before = store.totals(run.id)
    runs.resume(run.id, lambda: replace(simulated(), source="live"))
    [run] = wait_for_end(runs, store, run.group)
    assert run.status == "failed" and "answered by Simulated Messages API so far" in run.error
    assert store.totals(run.id) == before


def test_a_run_that_cannot_begin_is_not_active(store, monkeypatch):
    runs = Runs(store)
    run = stopped_by_its_budget(runs, store)
    monkeypatch.setattr(threading.Thread, "start", lambda self: pytest.fail("no more threads"))
    with pytest.raises(pytest.fail.Exception):
        runs.resume(run.id, simulated)
    assert not runs.active(run.id)


def test_a_group_that_cannot_be_written_as_a_whole_leaves_no_run_at_work(store):
    with closing(sqlite3.connect(store.path)) as db:
        db.execute("create trigger full before insert on run when new.shape = 'agent' "
                   "begin select raise(abort, 'disk full'); end")
        db.commit()
    runs = Runs(store, replace(load({}), max_runs=2))
    for _ in range(3):
        with pytest.raises(errors.StoreError, match="disk full"):
            start(runs, store, lambda: pytest.fail("it connected"), shapes=("pipeline", "agent"))
    assert store.runs() == []
    with closing(sqlite3.connect(store.path)) as db:
        db.execute("drop trigger full")
        db.commit()
    [one, two] = wait_for_end(runs, store, start(runs, store, shapes=("pipeline", "agent")))
    assert (one.status, two.status) == ("done", "done")


def test_a_run_whose_end_could_not_be_written_can_be_ended_by_stop(store):
    runs = Runs(store)
    run = stopped_by_its_budget(runs, store)
    store.update_run(run.id, status="running", error="")        # as after a full disk
    runs.stop(run.id)
    assert store.run(run.id).status == "interrupted"


def test_a_run_of_another_server_on_the_same_store_is_left_alone_until_that_server_is_gone(tmp_path):
    path = tmp_path / "shared.sqlite"
    other = subprocess.Popen([sys.executable, "-c", ANOTHER_SERVER, str(path)], cwd=ROOT, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    assert other.stdout.readline() == "True\n"
    with closing(Store(path)) as store:
        runs = Runs(store)
        runs_before = replace(RUN, status="running")
        store.add_run(runs_before)
        assert not store.sole_server()
        with pytest.raises(errors.InputError, match="Another playground"):
            runs.stop(RUN.id)
        runs.resume(RUN.id, lambda: pytest.fail("it was paid for twice"))
        assert store.run(RUN.id) == runs_before
        other.kill()
        other.communicate()
        runs.stop(RUN.id)
        assert store.run(RUN.id).status == "interrupted" and store.sole_server()


RUN = Run("r", "g", "agent", "done", "simulated", "s", {}, "", 1.0)
ANOTHER_SERVER = """
import sys
from lib.runs.store import Run, Store
store = Store(sys.argv[1])
print(store.sole_server(), flush=True)
sys.stdin.read()
"""


def test_a_persons_own_prices_are_kept_with_the_run_and_paid_by_it(store):
    runs, data_id = Runs(store), store.save_data(TICKETS.to_json(), None, TICKETS.name)
    group = runs.start(default_design(), ("pipeline",), TICKETS, empty_catalog(), data_id, simulated, "simulated",
                       "Simulated", own_prices={"claude-haiku-5-5": {"input": 1_000, "output": 0}})
    [run] = wait_for_end(runs, store, group)
    assert run.prices["models"]["claude-haiku-5-5"]["source"].startswith("set by you")
    calls = store.calls(run.id)
    assert calls and all(call.usd == pytest.approx(call.input / 1_000) for call in calls)


def test_sixteen_workers_among_faults_the_rows_are_the_total_and_the_waits_are_seen(store):
    def faulty() -> Connection:
        return connect_simulated(load({}), speed=0, conditions=Conditions(seed=3, rate_limited=0.3, server_error=0.1))

    runs = Runs(store)
    [run] = wait_for_end(runs, store, start(runs, store, faulty, design=replace(default_design(), k=2, workers=16)))
    rows, totals = store.calls(run.id), store.totals(run.id)
    answered = [row for row in rows if not row.error]
    assert totals.input == sum(row.input for row in answered) and totals.output == sum(row.output for row in answered)
    assert totals.usd == pytest.approx(sum(row.usd for row in answered))
    assert totals.attempts == sum(row.attempts for row in rows) > totals.calls
    assert totals.waited == pytest.approx(sum(row.waited for row in rows)) and totals.waited > 0
    assert all(0 <= row.waited < row.seconds for row in answered)


def test_a_run_of_a_third_of_a_cent_stops_in_time_and_its_report_can_be_read_and_finished(store):
    runs, design = Runs(store), replace(default_design(), k=2, workers=16)
    dear = replace(design, limits=replace(design.limits, max_usd=0.003))
    [run] = wait_for_end(runs, store, start(runs, store, design=dear))
    assert run.status == "stopped" and "limit of $0.003:" in run.error and "Raise the limit to go on." in run.error
    assert 0 < store.totals(run.id).usd <= 0.003 and run.report["partial"]
    runs.resume(run.id, simulated, design.limits)
    [run] = wait_for_end(runs, store, run.group)
    assert run.status == "done" and store.totals(run.id).calls == 9


def test_a_compatible_server_has_no_list_price(store):
    data_id = store.save_data(TICKETS.to_json(), None, TICKETS.name)
    runs = Runs(store)
    server = Connection(simulated().client, "server", "http://localhost:1", Clock())
    group = runs.start(default_design(), ["pipeline"], TICKETS, empty_catalog(), data_id, lambda: server, "server",
                       "mine")
    [run] = wait_for_end(runs, store, group)
    assert run.status == "done" and store.totals(run.id).usd is None
    assert store.totals(run.id).unpriced == store.totals(run.id).calls


# --- which call it failed in


def failing(at: str, error: Exception, below=simulated):
    """A connection whose calls of a step or about a subject fail."""
    def connect() -> Connection:
        connection = below()

        def send(call):
            if at in (call.step, call.subject):
                raise error
            return connection.client.send(call)
        return Connection(LayeredClient(send), "simulated", "failing", Clock())
    return connect


@pytest.mark.parametrize("shape, at, told", [
    ("pipeline", "3", "label of ticket 3: "), ("pipeline", "merge", "merge of 5 labels: "),
    ("pipeline", "summary", "summary of duplicate charge: "), ("agent", "turn 3", "turn 3: ")])
@pytest.mark.parametrize("error", [errors.RequestRefused("the API refused it"), errors.UnknownModel("no such model")])
def test_a_failed_run_says_which_call_failed(store, shape, at, told, error):
    runs, design = Runs(store), replace(default_design(), k=1, workers=1)
    [run] = wait_for_end(runs, store, start(runs, store, failing(at, error), shapes=(shape,), design=design))
    assert (run.status, run.error) == ("failed", f"{told}{error}")


def test_it_says_so_too_when_sixteen_workers_fail_at_once(store):
    runs, together = Runs(store), threading.Barrier(6)

    def connect() -> Connection:
        def send(call):
            together.wait(10)
            raise errors.RequestRefused(f"refused ticket {call.subject}")
        return Connection(LayeredClient(send), "simulated", "failing", Clock())

    [run] = wait_for_end(runs, store, start(runs, store, connect, design=replace(default_design(), workers=16)))
    about = run.error.split(": ")[0].removeprefix("label of ticket ")
    assert run.error == f"label of ticket {about}: refused ticket {about}"


def test_what_an_agents_loop_finds_wrong_is_wrong_with_its_last_turn(store):
    def cut_off() -> Connection:
        below = simulated()

        def send(call):
            reply = below.client.send(call)
            if call.subject == "turn 3":
                reply.stop_reason = "max_tokens"
            return reply
        return Connection(LayeredClient(send), "simulated", "cutting", Clock())

    runs = Runs(store)
    [run] = wait_for_end(runs, store, start(runs, store, cut_off, shapes=("agent",)))
    assert run.error == "turn 3: the reply was cut off at max_tokens; raise the limit"


def test_an_error_that_is_no_calls_names_none_and_stays_one_line(store):
    def connect() -> Connection:
        raise errors.WrongKey("two\nlines")

    runs = Runs(store)
    [run] = wait_for_end(runs, store, start(runs, store, connect))
    assert run.error == "two lines"


def test_a_bug_inside_a_call_names_the_call_and_hides_what_it_says(store):
    runs = Runs(store)
    connect = failing("turn 2", RuntimeError("secret detail"))
    [run] = wait_for_end(runs, store, start(runs, store, connect, shapes=("agent",)))
    assert run.error.startswith("turn 2: an error inside the playground (RuntimeError)") and "secret" not in run.error


# --- how many at once


def test_more_runs_than_the_server_takes_are_refused_and_leave_nothing(store):
    gate, runs = Gate(free=0), Runs(store, load({"PLAYGROUND_MAX_RUNS": "3"}))
    first = start(runs, store, gate.connect, shapes=("pipeline", "agent"))
    with pytest.raises(errors.InputError, match="2 runs are at work on this server, which takes 3 at once. Wait for"):
        start(runs, store, gate.connect, shapes=("pipeline", "agent"))
    second = start(runs, store, gate.connect)
    with pytest.raises(errors.InputError, match="3 runs are at work"):
        start(runs, store, gate.connect)
    assert len(store.runs()) == 3
    gate.open.set()
    for group in (first, second):
        wait_for_end(runs, store, group)
    assert wait_for_end(runs, store, start(runs, store))[0].status == "done"


def test_a_resume_needs_room_too_and_changes_nothing_without(store):
    runs = Runs(store, load({"PLAYGROUND_MAX_RUNS": "1"}))
    stopped, gate = stopped_by_its_budget(runs, store), Gate(free=0)
    working = start(runs, store, gate.connect)
    with pytest.raises(errors.InputError, match="1 run is at work on this server"):
        runs.resume(stopped.id, simulated, default_design().limits)
    assert store.run(stopped.id) == stopped and not runs.active(stopped.id)
    gate.open.set()
    wait_for_end(runs, store, working)
    runs.resume(stopped.id, simulated, default_design().limits)
    assert wait_for_end(runs, store, stopped.group)[0].status == "done"


def test_starts_at_the_same_moment_do_not_go_over(store):
    gate, runs, together = Gate(free=0), Runs(store, load({"PLAYGROUND_MAX_RUNS": "4"})), threading.Barrier(12)

    def begin(_) -> str:
        together.wait(10)
        try:
            return start(runs, store, gate.connect)
        except errors.InputError:
            return ""

    with ThreadPoolExecutor(12) as pool:
        begun = list(filter(None, pool.map(begin, range(12))))
    assert len(begun) == 4 == len(store.runs())
    gate.open.set()
    for group in begun:
        wait_for_end(runs, store, group)


# --- what a resumed run takes over, and what a replay keeps


def test_a_resumed_run_tells_how_many_calls_it_took_from_before(store):
    runs = Runs(store)
    run = stopped_after(2, runs, store, "pipeline")
    assert runs.taken_over(run.id) == 0
    for _ in range(2):      # of the last resume alone
        runs.resume(run.id, simulated, replace(default_design().limits, max_tokens=2_000))
        run = wait_for_end(runs, store, run.group)[0]
    before = store.totals(run.id).calls
    runs.resume(run.id, simulated, default_design().limits)
    [run] = wait_for_end(runs, store, run.group)
    assert run.status == "done" and runs.taken_over(run.id) == before < store.totals(run.id).calls


def test_a_run_keeps_who_pays_where_it_comes_from_and_the_prices_it_replays(store):
    runs, data_id = Runs(store), store.save_data(TICKETS.to_json(), None, TICKETS.name)
    recorded = {"date": "2026-01-01", "currency": "USD", "per": 1_000_000, "models": {}}
    group = runs.start(default_design(), ("pipeline",), TICKETS, empty_catalog(), data_id, simulated, "simulated",
                       "Simulated", origin="live · Anthropic API", price_list=recorded)
    [run] = wait_for_end(runs, store, group)
    assert (run.origin, run.payer, run.prices) == ("live · Anthropic API", "", recorded)
    assert store.totals(run.id).usd is None


def test_a_replay_keeps_the_time_that_its_calls_took(store):
    def replaying() -> Connection:
        def send(call):
            call.sent.seconds = 100.0
            return simulated().client.send(replace(call, sent=Sent()))
        return Connection(LayeredClient(send), "replay", "a recording", Clock())

    runs, data_id = Runs(store), store.save_data(TICKETS.to_json(), None, TICKETS.name)
    group = runs.start(replace(default_design(), workers=1), ("pipeline",), TICKETS, empty_catalog(), data_id,
                       replaying, "replay", "a recording")
    [run] = wait_for_end(runs, store, group)
    assert run.status == "done" and run.ended - run.started == pytest.approx(100.0 * store.totals(run.id).calls)
    runs.resume(run.id, replaying)
    assert store.run(run.id).status == "done"


# --- a server that several people share


SHARED = {"PLAYGROUND_KEY_BUDGET": "0.004", "PLAYGROUND_KEY_BUDGET_TOTAL": "0.006"}     # dollars


def owners(runs: Runs, store: Store, desk: str, design=None, **options) -> str:
    """A run with the owner's key."""
    data_id = store.save_data(TICKETS.to_json(), None, TICKETS.name)
    return runs.start(design or replace(default_design(), k=2), ("pipeline",), TICKETS, empty_catalog(), data_id,
                      live, "live", "Anthropic API", desk, payer=OWNER, **options)


def live() -> Connection:
    return replace(simulated(), source="live")


def test_all_runs_of_a_visitor_share_what_the_owner_gives_and_stop_with_its_reason(store):
    runs = Runs(store, load(SHARED), shared=True)
    groups = [owners(runs, store, "ann") for _ in range(5)]
    ended = [wait_for_end(runs, store, group)[0] for group in groups]
    stopped = [run for run in ended if run.status == "stopped"]
    assert stopped and all(run.error.startswith("Your share of this playground's key, $0.004 a day, is used: $0.00")
                           and run.error.endswith("Use your own key, or go on tomorrow.") for run in stopped)
    assert {run.payer for run in ended} == {OWNER}
    spent = sum(store.totals(run.id).usd for run in ended)
    assert 0.002 < spent <= 0.004 and runs.key_left("ann") == pytest.approx(0.004 - spent)
    assert runs.key_left("bob") == pytest.approx(0.006 - spent)


def test_a_stopped_run_goes_on_with_ones_own_key(store):
    runs = Runs(store, load({"PLAYGROUND_KEY_BUDGET": "0.0012"}), shared=True)
    [run] = wait_for_end(runs, store, owners(runs, store, "ann"))
    assert run.status == "stopped" and "Your share of" in run.error
    left = runs.key_left("ann")
    runs.resume(run.id, live)
    [run] = wait_for_end(runs, store, run.group)
    assert (run.status, run.payer) == ("done", OWNER) and runs.key_left("ann") == left


def test_prices_that_a_visitor_set_do_not_make_the_owners_key_cheaper(store):
    runs, nothing = Runs(store, load(SHARED), shared=True), {"claude-haiku-5-5": {"input": 0, "output": 0}}
    ended = [wait_for_end(runs, store, owners(runs, store, "ann", own_prices=nothing))[0] for _ in range(5)]
    assert ended[-1].status == "stopped" and "Your share of" in ended[-1].error
    assert sum(store.totals(run.id).usd for run in ended) == 0.0 and runs.key_left("ann") < 0.0025


def test_without_an_offer_the_owners_key_pays_for_nothing(store):
    runs = Runs(store, load({}), shared=True)
    [run] = wait_for_end(runs, store, owners(runs, store, "ann"))
    assert run.status == "stopped" and store.totals(run.id).calls == 0 and runs.key_left("ann") is None


# --- stop, delete, end


def test_stop_at_ten_of_two_hundred_slow_tickets_sends_nothing_more_and_keeps_all_that_was_sent(store):
    many = TicketSet("many", tuple(Ticket(str(n), str(n), "Two payments", f"Charged twice, case {n}.")
                                   for n in range(200)))
    gate, runs = Gate(free=10), Runs(store)
    data_id = store.save_data(many.to_json(), None, many.name)
    group = runs.start(replace(default_design(), workers=8), ("pipeline",), many, empty_catalog(), data_id,
                       gate.connect, "simulated", "gated")
    [run] = store.group(group)
    wait_until(lambda: gate.sent == 18)     # ten are answered, eight are under way
    runs.stop(run.id)
    began = time.monotonic()
    assert runs.active(run.id) and store.run(run.id).status == "running"    # a page can tell, and does not wait
    gate.open.set()
    [run] = wait_for_end(runs, store, group)
    assert run.status == "stopped" and time.monotonic() - began < 5
    rows = store.calls(run.id)
    assert gate.sent == len(rows) == 18 and all(row.usd > 0 and not row.error for row in rows)
    assert "18 of 200 tickets are labelled" in run.report["partial"]


@pytest.mark.parametrize("how", ["these", "everything"])
def test_a_run_that_is_deleted_at_work_ends_quietly_and_sends_nothing_more(store, how, caplog, monkeypatch):
    crashed: list = []
    monkeypatch.setattr(threading, "excepthook", crashed.append)
    gate, runs = Gate(free=4), Runs(store)
    group = start(runs, store, gate.connect, shapes=("pipeline", "agent"), design=replace(default_design(), workers=2))
    wait_until(lambda: gate.sent == 7)      # three are under way
    ids = [run.id for run in store.group(group)]
    {"these": lambda: store.delete_runs(ids), "everything": store.delete_everything}[how]()
    sent = gate.sent
    gate.open.set()
    wait_until(lambda: not any(map(runs.active, ids)))
    assert gate.sent == sent and store.runs() == [] and store.counts()["calls"] == 0
    assert crashed == [] and [r.getMessage() for r in caplog.records if r.exc_info] == []


def test_an_end_that_cannot_be_written_is_one_line_in_the_log(store, caplog, monkeypatch):
    crashed: list = []
    monkeypatch.setattr(threading, "excepthook", crashed.append)
    gate, runs = Gate(free=0), Runs(store)
    [run] = store.group(start(runs, store, gate.connect, design=replace(default_design(), workers=1)))
    assert gate.waiting.wait(10)
    store.close()
    gate.open.set()
    wait_until(lambda: not runs.active(run.id))
    assert crashed == [] and [r.exc_info for r in caplog.records] == [None]
    assert "the end of a run could not be written" in caplog.text


AT_WORK = """
import signal, sys, threading
from pathlib import Path
from tests.runs.test_job import Clock, Connection, LayeredClient, Runs, Store, start
signal.signal(signal.SIGINT, signal.default_int_handler)    # whatever the tests' own parent did
waiting = threading.Semaphore(0)

def send(call):
    waiting.release()
    threading.Event().wait(60)

store = Store(Path(sys.argv[1]))
runs = Runs(store)
for _ in range(3):
    start(runs, store, lambda: Connection(LayeredClient(send), "simulated", "slow", Clock()), ("pipeline", "agent"))
for _ in range(6):
    assert waiting.acquire(timeout=60)
print("at work", flush=True)
threading.Event().wait(60)
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_server_ends_promptly_while_runs_wait_for_replies(tmp_path, sent):
    server = subprocess.Popen([sys.executable, "-c", AT_WORK, tmp_path / "runs.sqlite"], cwd=ROOT,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert server.stdout.readline() == b"at work\n"
    began = time.monotonic()
    server.send_signal(sent)
    server.communicate(timeout=20)
    assert time.monotonic() - began < 5
    left = Store(tmp_path / "runs.sqlite")
    assert left.mark_interrupted() == 6 and left.counts()["calls"] == 0


def test_a_run_whose_store_was_deleted_sends_nothing_more(store):
    gate = Gate(free=1)
    runs = Runs(store)
    group = start(runs, store, gate.connect, design=replace(default_design(), k=2, workers=1))
    assert gate.waiting.wait(10)
    store.path.unlink()
    gate.open.set()
    wait_for_end(runs, store, group)
    assert gate.sent == 2
