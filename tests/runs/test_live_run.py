"""Whole runs of both shapes over real HTTP, against a server that misbehaves as servers do."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial

import pytest

from lib.catalog import empty_catalog
from lib.client.clock import Clock
from lib.client.connect import Connection, connect_api, connect_server
from lib.runs.job import Runs
from lib.runs.store import Run, Store
from lib.settings import ROOT, load
from lib.task.default_design import default_design
from lib.tickets import Ticket, TicketSet
from tests.local_server import HTML, LocalServer, Received, Reply, message, refusal, serve, simulated
from tests.runs.test_job import TICKETS, wait_for_end

SETTINGS = load({})
CANARY = "sk-ant-canary-0123456789"
DESIGN = replace(default_design(), k=2)
SOON = {"retry_after_ms": "1"}

both_shapes = pytest.mark.parametrize("shape", ["pipeline", "agent"])


@pytest.fixture(autouse=True)
def impatient_sdk(monkeypatch):
    """The SDK's own retries, without its half seconds between them."""
    import anthropic

    monkeypatch.setattr(anthropic._base_client, "INITIAL_RETRY_DELAY", 0.001)


@pytest.fixture
def store(tmp_path) -> Iterator[Store]:
    opened = Store(tmp_path / "runs.sqlite")
    yield opened
    opened.close()


@contextmanager
def disturbed(*faults: Reply, at: int = 3) -> Iterator[LocalServer]:
    """A server that answers as the simulation does, save that its requests from the `at`-th on get `faults` first."""
    left = list(faults)

    def script(request: Received) -> Reply:
        return left.pop(0) if left and len(server.received) >= at else simulated(request)

    with serve(script=script) as server:
        yield server


def broken(answer: Callable[[Received], Reply] | Reply, at: int = 3):
    """A server that answers as the simulation does until its `at`-th request, and then always so."""
    def script(request: Received) -> Reply:
        if len(server.received) < at:
            return simulated(request)
        return answer if isinstance(answer, Reply) else answer(request)

    @contextmanager
    def serving() -> Iterator[LocalServer]:
        nonlocal server
        with serve(script=script) as server:
            yield server
    server: LocalServer
    return serving()


def begin(store: Store, runs: Runs, connect: Callable[[], Connection], shape: str, design=DESIGN, source="server",
          tickets=TICKETS) -> Run:
    data_id = store.save_data(tickets.to_json(), None, tickets.name)
    group = runs.start(design, [shape], tickets, empty_catalog(), data_id, connect, source, "my server")
    return store.group(group)[0]


def live(server: LocalServer) -> Callable[[], Connection]:
    """The Anthropic API, played by `server`: with a key, and with list prices."""
    return partial(connect_api, SETTINGS, CANARY, server.url)


def ended(store: Store, runs: Runs, run: Run) -> Run:
    return wait_for_end(runs, store, run.group)[0]


def ran(store: Store, server: LocalServer, shape: str, design=DESIGN) -> Run:
    runs = Runs(store)
    return ended(store, runs, begin(store, runs, partial(connect_server, SETTINGS, server.url, CANARY), shape, design))


def resumed(store: Store, server: LocalServer, run: Run) -> Run:
    runs = Runs(store)
    runs.resume(run.id, partial(connect_server, SETTINGS, server.url, CANARY))
    return ended(store, runs, run)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Callable[[str], tuple[Run, int]]:
    """Shape → the run as it goes when nothing happens, and its number of requests."""
    @cache
    def run(shape: str) -> tuple[Run, int]:
        other = Store(tmp_path_factory.mktemp("undisturbed") / "runs.sqlite")
        with disturbed() as server:
            found = ran(other, server, shape)
        assert found.status == "done" and other.totals(found.id).calls == len(server.received)
        other.close()
        return found, len(server.received)
    return run


# --- trouble that passes ---------------------------------------------------------------------------------------------


@both_shapes
@pytest.mark.parametrize("fault", [
    refusal(429, "rate_limit_error", "slow down", **SOON),
    refusal(529, "overloaded_error", "Overloaded", **SOON),
    Reply(200, refusal(529, "overloaded_error", "Overloaded").body, {"retry-after-ms": "1"}),
    refusal(500, "api_error", "Internal server error"),
    Reply(502, HTML),
    Reply(200, message("a long answer").body, sent=20),
], ids=["429", "529", "529 in a 200", "500", "502 with HTML", "reset in the body"])
def test_a_run_gets_over_passing_trouble(store, undisturbed, shape, fault):
    expected, calls = undisturbed(shape)
    with disturbed(fault, fault) as server:
        run = ran(store, server, shape)
    assert (run.status, run.error, run.report) == ("done", "", expected.report)
    rows = store.calls(run.id)
    assert len(rows) == calls and sum(row.attempts for row in rows) == len(server.received) == calls + 2


@both_shapes
def test_usage_that_is_missing_is_unknown_and_not_zero(store, undisturbed, shape):
    expected, calls = undisturbed(shape)

    def without_usage(request: Received) -> Reply:
        answer = simulated(request)
        return replace(answer, body={name: value for name, value in answer.body.items() if name != "usage"})

    with broken(without_usage, at=1) as server:
        run = ran(store, server, shape)
    totals = store.totals(run.id)
    assert (run.status, run.report, totals.calls) == ("done", expected.report, calls)
    assert (totals.input, totals.output, totals.usd) == (None, None, None)
    assert totals.unreported == totals.unpriced == calls


# --- trouble that stays ----------------------------------------------------------------------------------------------


@both_shapes
@pytest.mark.parametrize("fault, words", [
    (refusal(401, "authentication_error", f"invalid x-api-key {CANARY}"), "did not accept the key"),
    (refusal(403, "permission_error", "no access to this"), "does not let this key do that"),
    (refusal(404, "not_found_error", "model: claude-haiku-5-5"), 'does not know the model "claude-haiku-5-5"'),
    (refusal(429, "rate_limit_error", "the limit is used", code="enforced_spend_limit_reached"), "spend limit"),
    (refusal(429, "rate_limit_error", "slow down", retry_after="600"), "asked to wait 600 seconds"),
    (refusal(529, "overloaded_error", "Overloaded", **SOON), "stayed busy through 6 attempts"),
    (Reply(200, {"error": "no such endpoint"}), "no such endpoint"),
    (Reply(200, HTML), "a web page"),
    (Reply(200, '{"type": "mess', {"content-type": "application/json"}), "no JSON"),
], ids=["401", "403", "404", "spend limit", "429 for long", "529", "error in a 200", "HTML", "cut JSON"])
def test_a_run_ends_with_one_line_and_loses_nothing(store, undisturbed, shape, fault, words):
    expected, calls = undisturbed(shape)
    with broken(fault) as server:
        run = ran(store, server, shape, replace(DESIGN, workers=2))
    assert run.status == "failed" and run.ended and (run.report is None or run.report["partial"])
    assert words in run.error and "\n" not in run.error and "<" not in run.error and CANARY not in run.error
    good = [row for row in store.calls(run.id) if not row.error]
    assert len(good) == 2 and store.totals(run.id).input == sum(row.input for row in good)
    with disturbed() as server:
        run = resumed(store, server, run)
    assert (run.status, run.error, run.report) == ("done", "", expected.report)
    assert len(server.received) == calls - 2


@both_shapes
def test_a_server_that_dies_leaves_a_run_that_can_be_resumed(store, undisturbed, shape):
    expected, calls = undisturbed(shape)

    def die(request: Received) -> Reply:
        threading.Thread(target=server.close).start()
        return Reply(seconds=0.05)

    with broken(die, at=4) as server:
        run = ran(store, server, shape, replace(DESIGN, workers=3))
    assert run.status == "failed" and f"Nothing answers at {server.url}" in run.error and "\n" not in run.error
    good = len([row for row in store.calls(run.id) if not row.error])
    assert 0 < good <= 3
    with disturbed() as server:
        run = resumed(store, server, run)
    assert (run.status, run.report) == ("done", expected.report)
    assert len(server.received) == calls - good


@both_shapes
def test_stop_lets_a_slow_reply_arrive_and_keeps_it(store, shape):
    runs, slow = Runs(store), threading.Event()

    def stop_now(request: Received) -> Reply:
        slow.set()
        return replace(simulated(request), seconds=0.1)

    with broken(stop_now, at=2) as server:
        run = begin(store, runs, partial(connect_server, SETTINGS, server.url), shape, replace(DESIGN, workers=1))
        assert slow.wait(10)
        runs.stop(run.id)
        run = ended(store, runs, run)
    assert run.status == "stopped" and len(store.calls(run.id)) == len(server.received) == 2
    assert not any(row.error for row in store.calls(run.id))


@both_shapes
def test_stop_does_not_wait_for_a_busy_server(store, shape):
    runs, begun = Runs(store), threading.Event()

    def stop_now(request: Received) -> Reply:
        assert begun.wait(10)
        runs.stop(run.id)
        return refusal(429, "rate_limit_error", "slow down", retry_after="30")

    with broken(stop_now, at=2) as server:
        began = time.monotonic()
        run = begin(store, runs, live(server), shape, replace(DESIGN, workers=1), source="live")
        begun.set()
        run = ended(store, runs, run)
    assert run.status == "stopped" and time.monotonic() - began < 20       # not the 30 s the server asked for
    assert sum(row.attempts for row in store.calls(run.id)) == len(server.received) == 2
    assert store.totals(run.id).unreported == store.totals(run.id).unpriced == 0


# --- replies that cannot be used -------------------------------------------------------------------------------------


@pytest.mark.parametrize("changes, words", [
    ({"stop_reason": "max_tokens"}, "cut off at max_tokens"),
    ({"stop_reason": "refusal", "content": []}, "refused"),
    ({"stop_reason": "brand_new"}, "not known here: 'brand_new'"),
    ({"stop_reason": None}, "missing"),
    ({"content": [{"type": "brand_new", "value": 1}]}, "no text"),
])
def test_a_ticket_whose_reply_cannot_be_used_is_told_and_the_rest_goes_on(store, changes, words):
    def script(request: Received) -> Reply:
        answer = simulated(request)
        return replace(answer, body={**answer.body, **changes}) if '<ticket id="3"' in str(request.body) and \
            "cause name" not in str(request.body) else answer

    with serve(script=script) as server:
        run = ran(store, server, "pipeline")
    assert run.status == "done" and list(run.report["failed"]) == ["3"] and words in run.report["failed"]["3"]
    assert sorted(run.report["labels"]) == ["1", "2", "4", "5", "6"]
    assert store.totals(run.id).calls == len(server.received) and store.totals(run.id).errors == 0


def test_a_ticket_that_is_too_long_is_told_and_the_rest_goes_on(store):
    def script(request: Received) -> Reply:
        if '<ticket id="3"' in str(request.body) and "cause name" not in str(request.body):
            return refusal(400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum")
        return simulated(request)

    runs = Runs(store)
    with serve(script=script) as server:
        run = ended(store, runs, begin(store, runs, live(server), "pipeline", source="live"))
    assert run.status == "done" and "208310 tokens" in run.report["failed"]["3"]
    assert store.totals(run.id).errors == 1 and store.totals(run.id).unpriced == 0


@both_shapes
def test_thinking_and_unknown_blocks_do_no_harm(store, undisturbed, shape):
    expected, calls = undisturbed(shape)
    extra = [{"type": "thinking", "thinking": "", "signature": "c2lnbmVk"}, {"type": "brand_new", "value": 1}]

    def thoughtful(request: Received) -> Reply:
        answer = simulated(_without(request, extra))
        return replace(answer, body={**answer.body, "content": extra + answer.body["content"]})

    with broken(thoughtful, at=1) as server:
        run = ran(store, server, shape)
    assert (run.status, run.report, len(server.received)) == ("done", expected.report, calls)
    if shape == "agent":
        assert server.received[-1].body["messages"][1]["content"][:2] == extra


def _without(request: Received, extra: list[dict]) -> Received:
    messages = [{**m, "content": [b for b in m["content"] if b not in extra]} if isinstance(m["content"], list) else m
                for m in request.body["messages"]]
    return replace(request, body={**request.body, "messages": messages})


# --- keys ------------------------------------------------------------------------------------------------------------


def test_two_runs_at_once_each_use_their_own_key(store):
    runs = Runs(store)
    with serve(script=simulated) as ann, serve(script=simulated) as bob:
        begun = [begin(store, runs, partial(connect_api, SETTINGS, f"key-of-{name}", server.url), shape, source="live")
                 for shape in ("pipeline", "agent") for name, server in (("ann", ann), ("bob", bob))]
        assert {ended(store, runs, run).status for run in begun} == {"done"}
    for name, server in (("ann", ann), ("bob", bob)):
        assert {r.headers["authorization"] for r in server.received} == {f"Bearer key-of-{name}"}


@both_shapes
def test_a_key_is_in_no_file_no_log_no_row_and_no_error(store, caplog, shape):
    caplog.set_level(logging.DEBUG)
    echo = refusal(401, "authentication_error", "x" * 985 + CANARY)
    with broken(echo, at=2) as server:
        run = ran(store, server, shape)
    files = b"".join(file.read_bytes() for file in store.path.parent.iterdir())
    assert server.received[0].headers["authorization"] == f"Bearer {CANARY}" and run.status == "failed"
    assert CANARY[:12].encode() not in files and b"xxxx" in files
    for text in (caplog.text, repr(run), repr(store.calls(run.id)), repr(threading.enumerate())):
        assert CANARY[:12] not in text


# --- what stays behind -----------------------------------------------------------------------------------------------


@both_shapes
@pytest.mark.parametrize("fault", [None, refusal(401, "authentication_error", "no")], ids=["done", "failed"])
def test_a_run_that_ended_leaves_no_thread_and_no_connection(store, shape, fault):
    before = set(threading.enumerate())
    made = []

    def connect() -> Connection:
        made.append(connect_server(SETTINGS, server.url))
        return made[0]

    runs = Runs(store)
    with broken(fault or simulated, at=4) as server:
        ended(store, runs, begin(store, runs, connect, shape))
        with pytest.raises(Exception, match="closed"):
            made[0].client.messages.create(model="m", max_tokens=1, messages=[])
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
        assert not thread.is_alive(), thread.name


# --- a process that is killed ----------------------------------------------------------------------------------------


KILLED = """
import sys
from functools import partial
from pathlib import Path
from tests.runs.test_live_run import SETTINGS, Runs, Store, begin, connect_server, ended
store = Store(Path(sys.argv[1]))
runs = Runs(store)
begun = [begin(store, runs, partial(connect_server, SETTINGS, sys.argv[2]), shape) for shape in ("pipeline", "agent")]
for run in begun:
    ended(store, runs, run)
"""


def test_runs_whose_process_was_killed_go_on_in_a_new_one(store, undisturbed):
    held, both = set(), threading.Event()

    def hold(request: Received) -> Reply:
        shape = "agent" if "tools" in request.body else "pipeline"
        if not any(store.totals(run.id).calls >= 3 for run in store.runs() if run.shape == shape):
            return simulated(request)
        held.add(shape)
        if len(held) == 2:
            both.set()
        return Reply(seconds=60)

    with serve(script=hold) as server:
        process = subprocess.Popen([sys.executable, "-c", KILLED, store.path, server.url], cwd=ROOT)
        assert both.wait(20)
        process.kill()
        process.wait()
    assert store.mark_interrupted() == len(store.runs()) == 2
    for run in store.runs():
        expected, calls = undisturbed(run.shape)
        kept = store.totals(run.id)
        assert (run.status, run.report, run.ended) == ("interrupted", None, kept.last_ended)
        assert "Its finished calls are kept" in run.error
        with disturbed() as server:
            run = resumed(store, server, run)
        assert (run.status, run.error, run.report) == ("done", "", expected.report)
        assert len(server.received) == calls - kept.calls and store.totals(run.id).calls == calls


# --- many at once ----------------------------------------------------------------------------------------------------


MANY = TicketSet("many", tuple(Ticket(str(n), str(n), f"Problem {n}", "short") for n in range(1, 121)))


def ten_in_one_out(request: Received) -> Reply:
    is_summary = "<cause name" in str(request.body)
    return message('{"summary": "Mail is late."}' if is_summary else '{"cause": "late mail"}',
                   usage={"input_tokens": 10, "output_tokens": 1})


def test_two_servers_of_runs_with_sixteen_workers_each_lose_no_call(store, tmp_path):
    other = Store(store.path)
    with serve(script=ten_in_one_out) as server:
        design = replace(DESIGN, workers=16)
        sides = [(s, Runs(s)) for s in (store, other)]
        begun = [begin(s, runs, live(server), "pipeline", design, "live", MANY) for s, runs in sides]
        runs_ended = [ended(s, runs, run) for (s, runs), run in zip(sides, begun, strict=True)]
    for run in runs_ended:
        rows, totals = store.calls(run.id), store.totals(run.id)
        assert run.status == "done" and len(rows) == totals.calls == 121
        assert (totals.input, totals.output) == (1_210, 121)
        assert (sum(r.input for r in rows), sum(r.output for r in rows)) == (1_210, 121)
        assert totals.usd == pytest.approx(sum(r.usd for r in rows))
    assert len(server.received) == 242
    other.close()


@pytest.mark.parametrize("limits, spent", [
    ({"max_tokens": 60_000}, lambda totals: totals.input + totals.output),
    ({"max_usd": 0.06}, lambda totals: totals.usd),
], ids=["tokens", "usd"])
def test_eight_workers_do_not_go_over_a_limit(store, limits, spent):
    def dear(request: Received) -> Reply:
        return replace(message('{"cause": "late mail"}', usage={"input_tokens": 300, "output_tokens": 2_000}),
                       seconds=0.002)

    design = replace(DESIGN, workers=8, limits=replace(DESIGN.limits, **limits))
    with serve(script=dear) as server:
        run = ran_many(store, server, design)
    most, = limits.values()
    assert run.status == "stopped" and 0.85 * most < spent(store.totals(run.id)) <= most


def test_no_call_is_sent_after_the_time_is_over(store):
    design = replace(DESIGN, workers=8, limits=replace(DESIGN.limits, max_seconds=0.2))
    with serve(script=lambda request: replace(ten_in_one_out(request), seconds=0.05)) as server:
        run = ran_many(store, server, design)
    assert run.status == "stopped" and "limit of 0 seconds" in run.error
    assert len(store.calls(run.id)) <= 8 * 5        # of 121: in 0.2 s each worker begins four calls of 0.05 s, or five


def ran_many(store: Store, server: LocalServer, design) -> Run:
    runs = Runs(store)
    return ended(store, runs, begin(store, runs, live(server), "pipeline", design, "live", MANY))


# --- answered by an earlier run --------------------------------------------------------------------------------------


def begun(store: Store, runs: Runs, connect: Callable[[], Connection], shape: str, design=DESIGN, **options) -> Run:
    """A live run that may take earlier replies."""
    data_id = store.save_data(TICKETS.to_json(), None, TICKETS.name)
    group = runs.start(design, [shape], TICKETS, empty_catalog(), data_id, connect, "live", "Anthropic API",
                       reuse_replies=True, **options)
    return ended(store, runs, store.group(group)[0])


@both_shapes
def test_a_second_run_of_the_same_is_answered_for_nothing(store, undisturbed, shape):
    expected, calls = undisturbed(shape)
    runs = Runs(store)
    with serve(script=simulated) as server:
        first = begun(store, runs, live(server), shape)
        second = begun(store, runs, live(server), shape)
    assert len(server.received) == calls and first.report == second.report == expected.report
    paid, free = store.totals(first.id), store.totals(second.id)
    assert (paid.cached, free.cached) == (0, calls) and paid.usd > free.usd == 0
    assert (free.calls, free.input, free.output, free.attempts) == (calls, paid.input, paid.output, 0)


@both_shapes
def test_without_being_told_to_a_run_pays_for_itself(store, undisturbed, shape):
    runs = Runs(store)
    with serve(script=simulated) as server:
        for _ in range(2):
            run = ended(store, runs, begin(store, runs, live(server), shape, source="live"))
    assert len(server.received) == 2 * undisturbed(shape)[1] and store.totals(run.id).cached == 0


def test_a_changed_prompt_pays_for_what_it_changes(store):
    steps = {**DESIGN.steps, "summary": replace(DESIGN.steps["summary"], system="Sum it up. Answer with JSON only. "
                                                + DESIGN.steps["summary"].system)}
    runs = Runs(store)
    with serve(script=simulated) as server:
        first = begun(store, runs, live(server), "pipeline")
        before = len(server.received)
        second = begun(store, runs, live(server), "pipeline", replace(DESIGN, steps=steps))
    assert len(server.received) - before == DESIGN.k and store.totals(second.id).cached == before - DESIGN.k
    assert store.totals(second.id).usd < store.totals(first.id).usd


def test_free_answers_take_nothing_of_a_runs_limits(store):
    runs, tight = Runs(store), replace(DESIGN, limits=replace(DESIGN.limits, max_tokens=1))
    with serve(script=simulated) as server:
        begun(store, runs, live(server), "pipeline")
        assert begun(store, runs, live(server), "pipeline", tight).status == "done"


def test_two_visitors_keys_are_each_sent_by_their_own_runs_and_their_answers_stay_apart(store):
    runs = Runs(store, shared=True)
    with serve(script=simulated) as server:
        for key, desk in (("key-of-ann-1", "ann"), ("key-of-bob-1", "bob"), ("key-of-ann-2", "ann")):
            before = len(server.received)
            run = begun(store, runs, partial(connect_api, SETTINGS, key, server.url), "pipeline", desk=desk)
            sent = server.received[before:]
            assert {r.headers["authorization"] for r in sent} == ({f"Bearer {key}"} if key[-1] == "1" else set())
            assert store.totals(run.id).cached == (0 if key[-1] == "1" else store.totals(run.id).calls)


# --- overload that lasts ---------------------------------------------------------------------------------------------


@both_shapes
def test_minutes_of_overload_are_waited_for_together_and_cost_nothing(store, undisturbed, shape, monkeypatch):
    """For two minutes every request gets a 429 with 30 seconds to wait; here 100 seconds pass in a real one."""
    expected, calls = undisturbed(shape)
    clock, began = Clock(100), []
    monkeypatch.setattr("lib.client.connect.Clock", lambda: clock)

    def overloaded(request: Received) -> Reply:
        began.append(clock.now())
        if began[-1] < began[0] + 120:
            return refusal(429, "rate_limit_error", "slow down", retry_after="30")
        return simulated(request)

    with serve(script=overloaded) as server:
        run = ran(store, server, shape, replace(DESIGN, workers=8))
    assert (run.status, run.report) == ("done", expected.report)
    refused = len(server.received) - calls
    assert 3 <= refused <= 8 * 4        # one of each worker after each of the pauses, and none in between
    totals = store.totals(run.id)
    assert totals.calls == calls and totals.attempts == len(server.received) and totals.waited >= 90


@both_shapes
def test_overload_inside_a_200_that_does_not_end_fails_the_whole_run_and_keeps_what_is_finished(store, shape,
                                                                                                monkeypatch):
    monkeypatch.setattr("lib.client.connect.Clock", lambda: Clock(2_000))
    inside = Reply(200, refusal(529, "overloaded_error", "Overloaded").body)
    with broken(inside, at=5) as server:
        run = ran(store, server, shape, replace(DESIGN, workers=2))
    good = [row for row in store.calls(run.id) if not row.error]
    assert run.status == "failed" and "stayed busy through 6 attempts" in run.error and "\n" not in run.error
    assert run.error.startswith("turn 5: " if shape == "agent" else "label of ticket ")
    assert len(good) == 4 and len(server.received) <= 4 + 2 * 6
