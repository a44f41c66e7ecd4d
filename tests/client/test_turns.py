"""Calls that only compute: one at a time, and everybody's turn comes."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.client.layers import Call
from lib.client.turns import taking_turns

CALL = Call({"messages": []}, "label", "T-1")


def test_one_call_is_made_at_a_time_and_all_are_made():
    layer, inside, most = taking_turns(), [], []

    def work(call):
        inside.append(call)
        most.append(len(inside))
        time.sleep(0.001)
        inside.pop()
        return len(most)

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda _: layer(CALL, work), range(200)))
    assert max(most) == 1 and sorted(found) == list(range(1, 201))


def test_a_call_that_fails_ends_its_turn():
    layer = taking_turns()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            layer(CALL, lambda call: 1 / 0)
    assert layer(CALL, lambda call: "answered") == "answered"


def test_who_waits_gets_a_turn_though_others_never_pause():
    layer, over = taking_turns(), threading.Event()

    def busy():
        while not over.is_set():
            layer(CALL, lambda call: sum(range(20_000)))

    threads = [threading.Thread(target=busy) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        began = time.monotonic()
        assert [layer(CALL, lambda call: "mine") for _ in range(10)] == ["mine"] * 10
        assert time.monotonic() - began < 20
    finally:
        over.set()
        for thread in threads:
            thread.join()
