"""Which replies of a run were not what was asked for, and were sent back with the reason. Both calls are paid."""

from __future__ import annotations

from collections.abc import Sequence

from lib.runs.store import CallRow, Run
from lib.stop_reasons import FINAL
from lib.ui import state


def ids(run: Run, ordered: Sequence[CallRow]) -> set[int]:
    """Of the calls whose reply was sent back. `ordered`: all calls of the run, as they began."""
    return _of_steps(ordered) if run.shape == "pipeline" else _of_agent(run, ordered)


def count(run: Run) -> int:
    return len(ids(run, sorted(state.calls(run.id), key=lambda call: (call.started, call.id))))


def _of_steps(ordered: Sequence[CallRow]) -> set[int]:
    last: dict[tuple[str, str], CallRow] = {}
    found = set()
    for call in ordered:
        before = last.get((call.step, call.subject))
        if before and not before.error and _sends_back(call):
            found.add(before.id)
        last[call.step, call.subject] = call
    return found


def _sends_back(call: CallRow) -> bool:
    """Of two calls with one subject the later asks again; only batches of a merge may share theirs by chance."""
    return call.step != "merge" or len(state.store().exchange(call.id)[0].get("messages", [])) > 1


def _of_agent(run: Run, ordered: Sequence[CallRow]) -> set[int]:
    """An answer after which the agent was asked once more: the last one is that of the run."""
    answers = [call.id for call in ordered if call.step == "agent" and not call.error and call.stop_reason in FINAL]
    return set(answers[:-1])
