"""A recording: runs with all that was asked and answered, in one file that opens in any playground and replays there.

The file is gzip-compressed JSON; plain JSON opens too. What belongs to several calls stands in it once:

    {"format": "pipeline-or-agent recording", "version": 1,
     "data": [{"tickets": {"name", "tickets", "notes"}, "catalog": a SQLite file in base64, or null}],
     "fields": [what a request holds beside its messages: model, system, tools …],
     "messages": [{"after": number of the message before it, 0 for the first of a conversation, "message": {…}}],
     "runs": [{"group": runs of the same number were started together, "data": number or null,
               shape, status, design, report, times, prices … as in `store.Run`,
               "calls": [{step, model, tokens, seconds … as in `store.CallRow`,
                          "fields": number, "last": number of the request's last message, "reply": {…} or null}]}]}

Numbers count from 1. There is no key in it: requests are stored without headers, and whatever looks like a key of
Anthropic is blotted out. Opening trusts nothing of it; see `read_recording`.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from lib.errors import InputError, UnreadableFile
from lib.runs.conversations import ROOT, to_json
from lib.runs.read_recording import FORMAT, NOT_KEPT, VERSION, recorded_of
from lib.runs.read_recording import origin_of as origin_of
from lib.runs.store import Recorded, Store
from lib.runs.untrusted import Wrong, parsed, unpacked
from lib.tickets.table import one_line

MOST_BYTES = 300 * 2**20        # of a recording, unpacked: one of 40,000 calls has 200 MB

_KEY = re.compile(rb"sk-ant-[\w-]{8,}", re.ASCII)
_NO_JSON = re.compile(r"NaN|Infinity")


# --- saving ----------------------------------------------------------------------------------------------------------


def save(store: Store, run_ids: Sequence[str]) -> bytes:
    """The recording of these runs, without those that are gone. The same runs give the same bytes.

    Raises InputError when none of them is in the store.
    """
    recorded = store.recorded(run_ids)
    if not recorded.runs:
        raise InputError("The run is not in the store (any more), so there is nothing to save.")
    return gzip.compress(_KEY.sub(_blot, "".join(_text(recorded)).encode()), mtime=0)


def _blot(key: re.Match[bytes]) -> bytes:
    """As long as the key was, so that a database around it stays whole."""
    return b"[key]".ljust(len(key[0]), b"_")


def _text(recorded: Recorded) -> Iterator[str]:
    """The file, one entry a line."""
    messages, numbers = _messages(recorded)
    fields = {fields_id: number for number, fields_id in enumerate(recorded.fields, start=1)}
    data = {data_id: number for number, data_id in enumerate(recorded.data, start=1)}
    calls: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for call in recorded.calls:
        calls[call.row.run_id].append({
            **{name: value for name, value in vars(call.row).items() if name not in ("id", "run_id")},
            "fields": fields[call.fields], "last": None if call.last is None else numbers[call.last],
            "reply": None if call.reply is None else json.loads(call.reply)})
    groups = list(dict.fromkeys(run.group for run in recorded.runs))
    runs = [{**{name: value for name, value in vars(run).items() if name not in NOT_KEPT},
             "group": groups.index(run.group) + 1, "data": data.get(run.data_id), "calls": calls[run.id]}
            for run in recorded.runs]
    yield f'{{"format":"{FORMAT}","version":{VERSION}'
    for name, entries in (("data", [_data(*content) for content in recorded.data.values()]),
                          ("fields", list(map(json.loads, recorded.fields.values()))),
                          ("messages", messages), ("runs", runs)):
        yield f',\n"{name}":[\n' + ",\n".join(map(_line, entries)) + "\n]"
    yield "}\n"


def _line(entry: dict[str, Any]) -> str:
    """A number that JSON does not have, as only a reply could bring it, becomes null."""
    text = to_json(entry)
    return to_json(json.loads(text, parse_constant=lambda _: None)) if _NO_JSON.search(text) else text


def _messages(recorded: Recorded) -> tuple[list[dict[str, Any]], dict[bytes, int]]:
    """Every message once, after those before it in its conversation, and the number of each."""
    numbers, found = {ROOT: 0}, []
    for call in recorded.calls:
        node, new = call.last, []
        while node is not None and node not in numbers:
            new.append(node)
            node = recorded.nodes[node][0]
        for node in reversed(new):
            before, text = recorded.nodes[node]
            found.append({"after": numbers[before], "message": json.loads(text)})
            numbers[node] = len(found)
    return found, numbers


def _data(name: str, tickets: str, catalog: bytes | None) -> dict[str, Any]:
    return {"tickets": json.loads(tickets),
            "catalog": None if catalog is None else base64.b64encode(_KEY.sub(_blot, catalog)).decode()}


# --- opening ---------------------------------------------------------------------------------------------------------


def open_recording(data: bytes, store: Store, desk: str, max_bytes: int = MOST_BYTES,
                   name: str = "The recording") -> str:
    """Puts the runs of a recording into the store, as runs of this desk that have ended. Returns the id of their group,
    of the first one where there are several; nothing in the store is changed by it, and opening it again gives others.

    Raises UnreadableFile, one line that says what is wrong and where, and then nothing of it is kept.
    """
    try:
        recorded = recorded_of(parsed(unpacked(data, max_bytes)), desk)
    except Wrong as wrong:
        raise UnreadableFile(f"{one_line(name)[:100]} cannot be opened: {wrong}.") from None
    store.add_recorded(recorded)
    return recorded.runs[0].group


