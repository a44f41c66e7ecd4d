"""A recorded run as the what-if takes it: every answered call with what was asked, said and counted."""

from __future__ import annotations

from dataclasses import fields

from lib.messages import blocks
from lib.runs.store import CallRow, Store
from lib.usage.reported import Usage
from lib.usage.what_if import Exchange


def exchanges(store: Store, run_id: str) -> list[Exchange]:
    """The answered calls of a run, in the order in which they began. Calls that failed are left out."""
    rows = sorted((row for row in store.calls(run_id) if not row.error), key=lambda row: row.started)
    found = [(row, *store.exchange(row.id)) for row in rows]
    return [_exchange(row, request, reply) for row, request, reply in found if reply is not None]


def _exchange(row: CallRow, request: dict, reply: dict) -> Exchange:
    usage = Usage(**{f.name: getattr(row, f.name) for f in fields(Usage)})
    return Exchange(row.step, row.subject, row.model, request, blocks(reply), usage, row.started, row.seconds)
