"""One pause for all workers of a connection: while a busy server asked to wait, none of them sends anything.

Rate limits (429), overload (503, 529, or reported inside a 200) and long retry-after headers are answered here, since
the SDK would let each worker wait alone and Stop would have to wait with it. All other retries are the SDK's own.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

from lib import errors
from lib.client.clock import Clock
from lib.client.layers import Call, Layer, Next

TRIES = 6               # times one call is sent before it is given up
LONGEST_WAIT = 60.0     # seconds a server may ask for
UNASKED_WAIT = 30.0     # seconds, at most, when it does not say: 2, 4, 8, 16, 30
KEPT_PAUSES = 100       # of a simulation, whose workers need not come to a pause in its order


def shared_pause(clock: Clock, simulated: bool = False) -> Layer:
    """Sends a call again after Busy, when the pause that the server asked for is over; `call.stop` ends the wait.

    What a call waited counts in `sent.waited`. On the simulated wire it is also part of what a call takes: it counts in
    `sent.seconds`, whatever the clock does.

    Raises Busy when this call kept failing while others got through, StaysBusy when none did or the server asks for
    more than LONGEST_WAIT, Stopped when stopped while waiting.
    """
    gate = _SimulatedGate(clock) if simulated else _Gate(clock)

    def layer(call: Call, call_next: Next) -> Any:
        tries, answered = 0, gate.answered
        while True:
            gate.wait(call)
            try:
                reply = call_next(call)
            except errors.Busy as error:
                busy = error
            else:
                gate.count_answer()
                return reply
            tries += 1
            wait = _wait(busy, tries)
            if wait > LONGEST_WAIT or tries == TRIES:
                raise _given_up(busy, wait, call.sent.attempts, others_get_through=gate.answered > answered)
            gate.close_for(wait, call)

    return layer


class _Gate:
    """Closed until the pause is over. `answered` counts replies: proof that the server serves somebody."""

    def __init__(self, clock: Clock):
        self.answered = 0
        self._clock = clock
        self._until = 0.0
        self._lock = threading.Lock()

    def count_answer(self) -> None:
        with self._lock:
            self.answered += 1

    def close_for(self, seconds: float, call: Call) -> None:
        with self._lock:
            self._until = max(self._until, self._clock.now() + seconds)

    def wait(self, call: Call) -> None:
        waited_until = self._clock.now()
        while (until := self._until) > waited_until:    # another worker may prolong the pause meanwhile
            began = self._clock.now()
            stopped = self._clock.sleep(until - began, call.stop)
            call.sent.waited += self._clock.now() - began
            self._heed(stopped)
            waited_until = until

    def _heed(self, stopped: bool) -> None:
        if stopped:
            raise errors.Stopped("Stopped while the server was busy. What is finished is kept; resume to go on.")


class _SimulatedGate(_Gate):
    """Keeps the run's own time, in which one worker may be far ahead of another: a pause holds whoever is in it."""

    def __init__(self, clock: Clock):
        super().__init__(clock)
        self._pauses: deque[tuple[float, float]] = deque(maxlen=KEPT_PAUSES)

    def close_for(self, seconds: float, call: Call) -> None:
        began = self._time(call)
        with self._lock:
            self._pauses.append((began, began + seconds))

    def wait(self, call: Call) -> None:
        while (seconds := self._left(self._time(call))) > 0:
            self._heed(self._clock.sleep(seconds, call.stop))
            call.sent.seconds = (call.sent.seconds or 0.0) + seconds
            call.sent.waited += seconds

    def _time(self, call: Call) -> float:
        """How far the call is. One that belongs to no run begins whenever the clock says."""
        began = self._clock.now() if call.sent.began is None else call.sent.began
        return began + (call.sent.seconds or 0.0)

    def _left(self, time: float) -> float:
        with self._lock:
            return max((until - time for began, until in self._pauses if began <= time), default=0.0)


def _wait(busy: errors.Busy, tries: int) -> float:
    return min(UNASKED_WAIT, 2.0 ** tries) if busy.retry_after is None else busy.retry_after


def _given_up(busy: errors.Busy, wait: float, attempts: int, others_get_through: bool) -> errors.Busy:
    kind = errors.StaysBusy
    if wait > LONGEST_WAIT:
        advice = f"The server asked to wait {wait:,.0f} seconds, a run waits {LONGEST_WAIT:.0f} at most; resume later."
    elif others_get_through:
        kind, advice = errors.Busy, f"The server refused this call {attempts} times; use fewer workers."
    else:
        advice = f"The server stayed busy through {attempts} attempts; what is finished is kept, resume the run later."
    return kind(f"{advice} {busy}", busy.retry_after)   # its own words may be long: what to do comes first
