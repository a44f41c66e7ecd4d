"""Stop: no call is sent once the person pressed it or the run ended; calls in flight end, are billed and logged."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

from lib import errors
from lib.client.layers import Call, Layer, Next


def stoppable(event: threading.Event) -> Layer:
    """Raises Stopped instead of sending a call once `event` is set.

    The call takes the event along as `call.stop`, so that layers below do not go on waiting for a busy server. Whatever
    else ends the run sets it too, and every worker raises that: none waits for a server that another has given up.
    """
    endings: list[errors.RunEnded] = []

    def layer(call: Call, call_next: Next) -> Any:
        try:
            if event.is_set():
                raise errors.Stopped("Stopped: no further call was sent. What is finished is kept; resume to go on.")
            return call_next(replace(call, stop=event))
        except errors.RunEnded as error:
            if not isinstance(error, errors.Stopped):
                endings.append(error)
                event.set()
            ending = endings[0] if endings else error
        raise ending

    return layer
