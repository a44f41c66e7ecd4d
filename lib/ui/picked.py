"""Which of the desk's tickets are run: the choice as the desk keeps it, and the data that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from lib.runs.store import data_id_of
from lib.tickets.picking import HOW, pick
from lib.tickets.views import groupings

if TYPE_CHECKING:
    from lib.ui.state import Data

USUAL = 100         # tickets
MOST = 10**9        # of a seed


def usable(choice: Mapping[str, Any]) -> dict[str, Any]:
    """how, number, seed and by; of what another version, or another hand, left on the desk the usual ones."""
    how, by = choice.get("how"), choice.get("by")
    return {"how": how if how in HOW else "all",
            "number": _whole(choice.get("number"), 1, USUAL), "seed": _whole(choice.get("seed"), 0, 1),
            "by": by if isinstance(by, str) else ""}


def _whole(number: Any, least: int, usual: int) -> int:
    return number if type(number) is int and least <= number <= MOST else usual


def of(whole: Data, choice: Mapping[str, Any]) -> Data:
    """The data to run; `whole` itself where all of it is."""
    told = usable(choice)
    if told["how"] == "all" or told["number"] >= len(whole.tickets):
        return whole
    if told["how"] == "first":
        told["seed"] = 0
    if told["how"] != "stratified":
        told["by"] = ""
    return made(whole.id, **told, _whole=whole)


@st.cache_resource(show_spinner="Picking tickets …", max_entries=8)
def made(data_id: str, how: str, number: int, seed: int, by: str, _whole: Data) -> Data:
    if how == "stratified" and by not in groupings(_whole.tickets):     # of a file that had other columns
        how = "random"
    tickets = pick(_whole.tickets, how, number, seed, by)
    database = _whole.catalog.to_bytes() if _whole.catalog.tables else None
    return replace(_whole, id=data_id_of(tickets.json_pieces(), database), tickets=tickets, sample="")
