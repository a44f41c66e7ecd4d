"""The history as the run store lists it: runs with the sums over their calls, filtered, numbered and paged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from lib.messages import utf8
from lib.runs.database import Database
from lib.runs.rows import RUN_KINDS, SUMS, Listed, Wanted, run_of, sums_of

_WITH_DATA = "left join data on data.id = run.data_id"
_WORDS = 12             # of a search text; more are left out
# Text is compared without case where it is ASCII, as SQLite does.
_SEARCHED = ("run.title", "data.name", "run.note", "run.origin", "run.connection", "run.source", "run.conditions",
             "run.status", "run.shape")
# subtle: the limit makes SQLite look at each different design once, however many runs have it
_DESIGNED = """run.design in (select design from (select distinct design from run limit -1)
    where json_extract(design, '$.name') like ? escape '\\' or exists (
        select 1 from json_each(design, '$.steps') where json_extract(value, '$.model') like ? escape '\\'))"""


class Listing(Database):
    """The part of the store that the history reads."""

    def listed(self, wanted: Wanted, desk: str | None = None, limit: int = 200, offset: int = 0) -> list[Listed]:
        """A part of the history, newest first; with `desk`, only of the runs started from it. The `report` of a run is
        left out (None): it may hold thousands of tickets."""
        where, values = _where(wanted, desk)
        return self._listed(f"{where} order by created desc, run.rowid desc limit ? offset ?",
                            [*values, limit, offset], desk)

    def listed_runs(self, run_ids: Sequence[str], desk: str | None = None) -> list[Listed]:
        """These runs as the history lists them, newest first; without those that are gone or of another desk."""
        where, values = _where(Wanted(), desk)
        return self._listed(f"{where} and run.id in (select value from json_each(?))",
                            [*values, json.dumps(list(run_ids))], desk)

    def how_many(self, wanted: Wanted, desk: str | None = None) -> int:
        """How many runs the whole history would list."""
        where, values = _where(wanted, desk)
        joined = _WITH_DATA if wanted.text else ""      # without it SQLite counts in an index
        return self._read(f"select count(*) from run {joined} where {where}", *values)[0][0]

    def _listed(self, chosen: str, values: Sequence[Any], desk: str | None) -> list[Listed]:
        columns = ", ".join(f'run."{name}"' for name in RUN_KINDS if name != "report")
        of_desk, desks = ("", []) if desk is None else ("where desk = ?", [desk])
        rows = self._read(
            f"""with chosen as (select {columns}, run.rowid as place, data.name as data_name
                                from run {_WITH_DATA} where {chosen}),
                numbered as (select "group", row_number() over (order by min(rowid)) as number
                             from run {of_desk} group by "group")
                select chosen.*, number, summed.* from chosen left join numbered using ("group") left join (
                    select run_id, {SUMS} from call where run_id in (select id from chosen) group by run_id) as summed
                on summed.run_id = chosen.id order by created desc, place desc""", *values, *desks)
        read: dict[str, Any] = {}       # each different text once: most runs have the same design, prices always do
        return [Listed(run_of({name: row[name] for name in RUN_KINDS if name != "report"}, read), sums_of(row),
                       row["number"], row["data_name"]) for row in rows]


def _where(wanted: Wanted, desk: str | None) -> tuple[str, list[Any]]:
    """The condition that rows of `run`, joined with their data where a text is wanted, have to meet; and its values."""
    parts, values = ["1"], []
    for column in ("shape", "status", "source"):
        if value := getattr(wanted, column):
            parts, values = [*parts, f"run.{column} = ?"], [*values, value]
    if desk is not None:
        parts, values = [*parts, "run.desk = ?"], [*values, desk]
    for word in wanted.text.split()[:_WORDS]:
        like = f"%{_unlike(utf8(word))}%"
        found = [f"{column} like ? escape '\\'" for column in _SEARCHED]
        parts.append(f"({' or '.join(found)} or {_DESIGNED})")
        values += [*[like] * (len(found) + 1), like.replace(".", "-")]      # Haiku 5.5 is claude-haiku-5-5
    return " and ".join(parts), values


def _unlike(word: str) -> str:
    """The word as `like` finds it literally."""
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
