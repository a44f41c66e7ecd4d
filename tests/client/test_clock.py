"""Simulated seconds pass `scale` times as fast as real ones."""

from __future__ import annotations

import threading
import time

from lib.client.clock import Clock


class Hand:
    """A monotonic clock that is turned by hand."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def test_a_scaled_clock_starts_at_the_wall_clock_and_runs_faster():
    hand = Hand()
    clock = Clock(20, monotonic=hand, wall=lambda: 1_000.0)
    assert clock.now() == 1_000.0
    hand.seconds += 3
    assert clock.now() == 1_060.0


def test_a_clock_without_waiting_tells_real_time():
    hand = Hand()
    clock = Clock(0, monotonic=hand, wall=lambda: 1_000.0)
    hand.seconds += 3
    assert clock.now() == 1_003.0


def test_sleeping_takes_the_scaled_time():
    began = time.monotonic()
    Clock(1_000).sleep(5)
    assert 0.005 <= time.monotonic() - began < 1


def test_no_waiting_at_scale_zero_nor_for_time_that_has_passed():
    began = time.monotonic()
    Clock(0).sleep(3_600)
    Clock(1).sleep(-5)
    assert time.monotonic() - began < 1


def test_stop_ends_a_sleep_and_the_sleeper_learns_of_it():
    event = threading.Event()
    assert Clock(1_000).sleep(1, event) is False
    event.set()
    assert Clock(1).sleep(3_600, event) is True
    assert Clock(0).sleep(3_600, event) is True
