"""Simulated calls follow one another without this machine's own delays; real ones begin and end when they do."""

from __future__ import annotations

import threading

from lib.client.timeline import ClockTime, SimulatedTime


class FixedClock:
    time = 100.0

    def now(self) -> float:
        return self.time


def in_a_thread(work) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def call(timeline, step: str, seconds: float) -> tuple[float, float]:
    began = timeline.begin(step)
    return began, began + timeline.end(began, seconds)


def test_a_real_call_begins_now_and_lasts_until_it_ended():
    clock = FixedClock()
    timeline = ClockTime(clock)
    began = timeline.begin("agent")
    clock.time = 103.5
    assert (began, timeline.end(began, None)) == (100.0, 3.5)


def test_a_duration_that_the_endpoint_states_is_taken():
    timeline = ClockTime(FixedClock())
    assert timeline.end(timeline.begin("agent"), 2.0) == 2.0


def test_turns_of_one_thread_follow_without_a_gap():
    timeline = SimulatedTime(50.0)
    assert [call(timeline, "agent", s) for s in (2.0, 3.0)] == [(50.0, 52.0), (52.0, 55.0)]
    assert timeline.now() == 55.0


def test_threads_of_one_step_begin_together_and_the_next_step_begins_when_the_last_of_them_ended():
    timeline, seen = SimulatedTime(0.0), {}
    in_a_thread(lambda: seen.update(a=[call(timeline, "label", 2.0), call(timeline, "label", 2.0)]))
    in_a_thread(lambda: seen.update(b=[call(timeline, "label", 5.0)]))
    in_a_thread(lambda: seen.update(merge=call(timeline, "merge", 1.0)))
    assert seen == {"a": [(0.0, 2.0), (2.0, 4.0)], "b": [(0.0, 5.0)], "merge": (5.0, 6.0)}


def about(timeline, subject: str, seconds: float) -> tuple[float, float]:
    began = timeline.begin("label", subject=subject)
    return began, began + timeline.end(began, seconds)


def test_it_does_not_matter_which_thread_makes_a_call():
    """Where nobody waits one thread may make most of the calls; the lanes are used alike all the same."""
    timeline, seen = SimulatedTime(0.0), []
    in_a_thread(lambda: seen.extend([about(timeline, "T-1", 1.0), about(timeline, "T-2", 1.0)]))
    in_a_thread(lambda: seen.extend(about(timeline, subject, 3.0) for subject in ("T-3", "T-4", "T-5", "T-6")))
    assert seen == [(0.0, 1.0), (1.0, 2.0), (0.0, 3.0), (2.0, 5.0), (3.0, 6.0), (5.0, 8.0)]


def test_a_call_about_the_same_begins_no_earlier_than_the_one_before_ended():
    timeline, seen = SimulatedTime(0.0), []
    in_a_thread(lambda: seen.append(about(timeline, "T-1", 1.0)))
    in_a_thread(lambda: seen.extend(about(timeline, subject, 2.0) for subject in ("T-2", "T-2", "T-3")))
    assert seen == [(0.0, 1.0), (0.0, 2.0), (2.0, 4.0), (1.0, 3.0)]


def test_a_thread_that_did_something_else_in_between_goes_on_after_it():
    """As an agent does whose conversation is summarised on the way."""
    timeline, seen = SimulatedTime(0.0), []
    for step, seconds in (("agent", 2.0), ("compact", 3.0), ("agent", 2.0), ("compact", 1.0), ("agent", 1.0)):
        began = timeline.begin(step, subject=f"turn {len(seen)}")
        seen.append((began, began + timeline.end(began, seconds)))
    assert seen == [(0.0, 2.0), (2.0, 5.0), (5.0, 7.0), (7.0, 8.0), (8.0, 9.0)]


def test_a_call_that_failed_without_a_duration_takes_no_time():
    timeline = SimulatedTime(10.0)
    began = timeline.begin("agent")
    assert timeline.end(began, None) == 0.0 and timeline.now() == 10.0


def test_a_call_that_waited_for_another_begins_when_that_one_ended_and_no_earlier():
    timeline = SimulatedTime(0.0)
    began = timeline.begin("label")
    assert (timeline.begin("label", 3.0), timeline.begin("label", None)) == (3.0, 0.0)
    timeline.end(began, 5.0)
    assert timeline.begin("label", 3.0) == 5.0, "its own thread is busy until then"


def test_on_a_real_clock_whoever_waited_has_already_waited():
    assert ClockTime(FixedClock()).begin("label", 200.0) == 100.0
