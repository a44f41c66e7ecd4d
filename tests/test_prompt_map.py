from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lib import errors
from lib.client.layers import layered
from lib.client.timeline import SimulatedTime
from lib.prompt_map import MAP_MAX_TOKENS, map_prompts
from tests.fakes import FakeClient, both_wires, over_sdk, reply, text, thinking

ROOT = Path(__file__).resolve().parent.parent


def ask(client, inputs, parse=str, **kwargs):
    return map_prompts(client, "test-model", "Label it.", inputs, lambda item: f"<t>{item}</t>", parse, **kwargs)


def question(request: dict) -> str:
    return request["messages"][0]["content"].removeprefix("<t>").removesuffix("</t>")


def echo(request: dict) -> dict:
    return reply(f"label of {question(request)}")


def even_only(answer: str) -> int:
    if int(answer) % 2:
        raise ValueError(f"{answer} is odd")
    return int(answer)


@both_wires
def test_values_come_in_input_order_whatever_order_the_calls_end_in(wire):
    second_is_done = threading.Event()

    def answer(request):
        if question(request) == "a":
            assert second_is_done.wait(timeout=10)
        else:
            second_is_done.set()
        return echo(request)

    assert ask(wire(FakeClient(answer)), ["a", "b"], workers=2) == ["label of a", "label of b"]


def test_the_request_holds_what_was_asked_and_nothing_else():
    fake = FakeClient(echo)
    ask(fake, ["a"])
    assert fake.requests == [{"model": "test-model", "max_tokens": MAP_MAX_TOKENS, "system": "Label it.",
                              "messages": [{"role": "user", "content": "<t>a</t>"}]}]


def test_render_may_give_blocks_and_an_empty_system_prompt_is_left_out():
    fake = FakeClient([reply("x")])
    map_prompts(fake, "test-model", "", ["a"], lambda item: [text(item)], str)
    assert "system" not in fake.requests[0]
    assert fake.requests[0]["messages"] == [{"role": "user", "content": [text("a")]}]


def test_as_many_calls_run_at_once_as_there_are_workers_and_never_more():
    all_at_work = threading.Barrier(4)

    def answer(request):
        all_at_work.wait(timeout=10)        # breaks unless four calls are open at the same time
        return echo(request)

    fake = FakeClient(answer)
    ask(fake, range(12), workers=4)
    assert fake.busiest == 4 and len(fake.requests) == 12


def test_one_worker_asks_in_input_order():
    fake = FakeClient(echo)
    ask(fake, "abcdef", workers=1)
    assert [question(request) for request in fake.requests] == list("abcdef")


def test_maps_of_one_input_follow_one_another_on_a_simulations_schedule():
    timeline, calls = SimulatedTime(0.0), []

    def timed(call, call_next):
        began = timeline.begin("merge")
        answer = call_next(call)
        calls.append((began, began + timeline.end(began, 2.0)))
        return answer

    client = layered(FakeClient(echo), timed)
    for batch in "abc":
        ask(client, [batch])
    assert calls == [(0.0, 2.0), (2.0, 4.0), (4.0, 6.0)]


def test_no_inputs_are_no_calls():
    assert ask(FakeClient([]), []) == []


def test_inputs_may_come_from_a_generator():
    assert ask(FakeClient(echo), (n for n in range(2))) == ["label of 0", "label of 1"]


def test_no_workers_is_said_at_once():
    with pytest.raises(ValueError, match="workers is 0"):
        ask(FakeClient(echo), ["a"], workers=0)


# --- invalid answers -------------------------------------------------------------------------------------------------


@both_wires
def test_a_retry_carries_the_bad_answer_and_the_error(wire):
    fake = FakeClient([reply(thinking("hm"), "7"), reply("8")])
    assert ask(wire(fake), ["a"], even_only) == [8]
    first, bad, correction = fake.requests[1]["messages"]
    assert first == {"role": "user", "content": "<t>a</t>"}
    assert bad == {"role": "assistant", "content": "7"}
    assert correction["role"] == "user" and "7 is odd" in correction["content"]


def test_a_second_retry_shows_the_latest_bad_answer_only():
    fake = FakeClient([reply("7"), reply("9"), reply("10")])
    assert ask(fake, ["a"], even_only, retries=2) == [10]
    assert [m["content"] for m in fake.requests[2]["messages"][:2]] == ["<t>a</t>", "9"]
    assert "9 is odd" in fake.requests[2]["messages"][2]["content"]


@pytest.mark.parametrize("retries, calls", [(0, 1), (1, 2), (3, 4)])
def test_an_answer_that_stays_invalid_fails_after_the_retries_and_keeps_the_last_one(retries, calls):
    fake = FakeClient([reply(str(2 * n + 1)) for n in range(calls)])
    with pytest.raises(errors.MapError) as caught:
        ask(fake, ["a"], even_only, retries=retries)
    failure = caught.value.failures[0]
    assert isinstance(failure, errors.InvalidReply) and len(fake.requests) == calls
    assert failure.reply == str(2 * calls - 1) and isinstance(failure.__cause__, ValueError)


def test_a_parse_error_of_a_megabyte_is_not_sent_back_whole():
    def parse(answer):
        if answer == "7":
            raise ValueError("odd " * 250_000)
        return answer

    fake = FakeClient([reply("7"), reply("8")])
    assert ask(fake, ["a"], parse) == ["8"]
    assert len(fake.requests[1]["messages"][2]["content"]) < 3_000


def test_a_bad_answer_with_half_a_character_can_still_be_sent_back():
    fake = FakeClient([reply('{"cause": "\ud83d'), reply('{"cause": "x"}')])
    assert ask(over_sdk(fake), ["a"], json.loads) == [{"cause": "x"}]


def test_a_parse_that_fails_otherwise_is_not_asked_again():
    fake = FakeClient(echo)
    with pytest.raises(errors.MapError) as caught:
        ask(fake, ["a"], lambda answer: {}["cause"])
    assert isinstance(caught.value.failures[0], KeyError) and len(fake.requests) == 1


# --- replies that are no answer --------------------------------------------------------------------------------------


@both_wires
@pytest.mark.parametrize("broken, kind", [
    (reply('{"parses": true}', stop_reason="max_tokens"), errors.CutOff),
    (reply(thinking(), stop_reason="max_tokens"), errors.CutOff),
    (reply(stop_reason="refusal"), errors.Refused),
    (reply("x", stop_reason="model_context_window_exceeded"), errors.WindowExceeded),
    (reply("x", stop_reason="pause_turn"), errors.UnknownStop),
    (reply("x", stop_reason="tool_use"), errors.UnknownStop),
    (reply("x", stop_reason="moon_phase"), errors.UnknownStop),
    (reply("x", stop_reason=None), errors.UnknownStop),
    (reply(), errors.NoAnswer),
    (reply(" \n"), errors.NoAnswer),
    (reply(thinking("hm")), errors.NoAnswer),
])
def test_a_reply_that_is_no_answer_fails_by_name_and_is_neither_parsed_nor_asked_again(wire, broken, kind):
    fake = FakeClient([broken])
    with pytest.raises(errors.MapError) as caught:
        ask(wire(fake), ["a"], parse=pytest.fail)
    assert type(caught.value.failures[0]) is kind and len(fake.requests) == 1


@both_wires
def test_text_blocks_are_joined_and_a_stop_sequence_counts_as_an_answer(wire):
    split = reply(thinking("hm"), '{"cause": "dup', 'licate"}', stop_reason="stop_sequence")
    assert ask(wire(FakeClient([split])), ["a"], json.loads) == [{"cause": "duplicate"}]


# --- failures --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trouble", [errors.ServerTrouble("529"), ValueError("streaming is required"), OSError("x")])
def test_one_failed_input_does_not_lose_the_others(trouble):
    fake = FakeClient(lambda request: trouble if question(request) == "b" else echo(request))
    with pytest.raises(errors.MapError, match="1 of 3 inputs failed; the first is number 2") as caught:
        ask(fake, "abc")
    assert caught.value.values == ["label of a", trouble, "label of c"]
    assert caught.value.failures == {1: trouble}
    assert len(fake.requests) == 3


def test_a_render_that_fails_fails_its_input_only():
    def render(item):
        return {"a": "fine"}[item]

    with pytest.raises(errors.MapError) as caught:
        map_prompts(FakeClient([reply("x")]), "test-model", "", "ab", render, str)
    assert caught.value.values[0] == "x" and isinstance(caught.value.values[1], KeyError)


@pytest.mark.parametrize("ending", [errors.Stopped("Stop was pressed"), errors.BudgetReached("no money"),
                                    errors.WrongKey("401"), KeyboardInterrupt(), SystemExit(1)])
def test_an_ended_run_starts_nothing_more_and_keeps_what_was_paid_for(ending):
    fake = FakeClient(lambda request: ending if question(request) == "b" else echo(request))
    with pytest.raises(type(ending)) as caught:
        ask(fake, "abcd", workers=1)
    assert caught.value is ending
    assert ending.partial == ["label of a", ending, ending, ending]
    assert [question(request) for request in fake.requests] == ["a", "b"]


def test_calls_in_flight_finish_when_the_run_ends():
    both_open = threading.Barrier(2)
    others = []

    def answer(request):
        both_open.wait(timeout=10)
        if question(request) == "a":
            return stop
        ended.join(timeout=10)          # until the worker that ended the run is gone
        others.append(ended.is_alive())
        return echo(request)

    def answer_and_know_the_thread(request):
        nonlocal ended
        if question(request) == "a":
            ended = threading.current_thread()
        return answer(request)

    ended, stop = threading.Thread(), errors.Stopped("Stop was pressed")
    with pytest.raises(errors.Stopped) as caught:
        ask(FakeClient(answer_and_know_the_thread), "abc", workers=2)
    assert others == [False]
    assert caught.value.partial == [stop, "label of b", stop]


@pytest.mark.parametrize("workers, at_most", [(1, "a"), (2, "ab")])
def test_ctrl_c_starts_nothing_more(workers, at_most):
    released, working = threading.Event(), []

    def answer(request):
        if threading.current_thread() is not threading.main_thread():
            working.append(threading.current_thread())
        if question(request) == "a":
            os.kill(os.getpid(), signal.SIGINT)     # reaches the main thread, which waits for the workers or is one
        assert released.wait(timeout=10)
        return echo(request)

    fake = FakeClient(answer)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            ask(fake, "abcdef", workers=workers)
    finally:
        signal.signal(signal.SIGINT, before)
    released.set()
    for thread in working:
        thread.join(timeout=10)
    assert {question(request) for request in fake.requests} <= set(at_most)


def test_the_program_ends_on_ctrl_c_though_calls_are_open():
    """In a process of its own, with calls that never return."""
    code = """
import signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)
from lib.prompt_map import map_prompts
class Client:
    def create(self, **request):
        print("call\\n", end="", flush=True)
        threading.Event().wait()
client = Client()
client.messages = client
map_prompts(client, "m", "", range(9), str, str, workers=2)
"""
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
    assert [process.stdout.readline() for _ in range(2)] == ["call\n", "call\n"]
    os.kill(process.pid, signal.SIGINT)
    rest, trouble = process.communicate(timeout=20)
    assert rest == "" and "KeyboardInterrupt" in trouble


def test_workers_are_daemon_threads():
    daemons = []
    client = FakeClient(lambda request: daemons.append(threading.current_thread().daemon) or reply("x"))
    ask(client, "ab", workers=2)
    assert daemons == [True, True]
