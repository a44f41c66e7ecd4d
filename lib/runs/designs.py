"""Designs that a person saved, in the run store. Immutable: a changed design is saved as one more version of its name.

Runs keep copies of their own, so deleting a saved design touches none of them.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

from lib.errors import InputError
from lib.runs.conversations import to_json
from lib.runs.database import Database, insert
from lib.runs.rows import plain

MOST_DESIGNS = 500      # of one desk: strangers may share a store
_LATEST_RUNS = 200      # whose designs are looked at; the history has the others


@dataclass(frozen=True)
class SavedDesign:
    id: int
    desk: str
    name: str
    version: str            # as `Design.version` told it
    content: dict[str, Any]     # as `Design.to_dict` made it, its name in it
    created: float          # seconds since 1970


class Designs(Database):
    """The part of the store that holds designs."""

    def save_design(self, desk: str, name: str, version: str, content: dict[str, Any]) -> SavedDesign:
        """Keeps a design under its name; the one that is there already where this desk saved the same before.

        Raises InputError when the desk has MOST_DESIGNS."""
        with self._writing() as db:
            there = db.execute("select * from design where desk = ? and name = ? and version = ?",
                               [plain(desk), plain(name), version]).fetchone()
            if there:
                return _saved(there)
            if db.execute("select count(*) from design where desk = ?", [plain(desk)]).fetchone()[0] >= MOST_DESIGNS:
                raise InputError(f"{MOST_DESIGNS} designs are saved, and no more are kept. Delete one, or export this "
                                 "one as a file.")
            cells = {"desk": plain(desk), "name": plain(name), "version": version, "content": to_json(content),
                     "created": time.time()}
            return _saved({**cells, "id": insert(db, "design", cells)})

    def designs(self, desk: str | None = None) -> list[SavedDesign]:
        """Newest first; with `desk`, only those saved from it."""
        rows = self._read("select * from design where ? is null or desk = ? order by created desc, id desc", desk, desk)
        return [_saved(row) for row in rows]

    def delete_design(self, design_id: int, desk: str | None = None) -> bool:
        """False when it is not (or no longer) there; with `desk`, also when another desk saved it."""
        with self._writing() as db:
            gone = db.execute("delete from design where id = ? and (? is null or desk = ?)", [design_id, desk, desk])
        self._shrink()
        return gone.rowcount == 1

    def designs_of_runs(self, desk: str | None = None, limit: int = 20) -> list[tuple[dict[str, Any], float]]:
        """The different designs of the latest runs, each with when it ran last, newest first; with `desk`, only of
        the runs started from it."""
        rows = self._read(
            """select design, max(created) as created from (
                   select design, created from run where ? is null or desk = ? order by created desc limit ?)
               group by design order by created desc limit ?""", desk, desk, _LATEST_RUNS, limit)
        return [(json.loads(row["design"]), row["created"]) for row in rows]


def _saved(row: Any) -> SavedDesign:
    return SavedDesign(row["id"], row["desk"], row["name"], row["version"], json.loads(row["content"]), row["created"])
