"""What a person typed and put away, kept on the desk: it can be had back after a refresh and a crash, too.

Edits of a design that was left for another one, fields that were reset, and the tool that was removed last. Fields and
tool belong to the design that is open; in another one they are not offered.
"""

from __future__ import annotations

from typing import Any

from lib.ui import state

MOST_DESIGNS = 10


# --- edits of designs that were left ---------------------------------------------------------------------------------


def designs() -> list[dict[str, Any]]:
    """{"opened", "drafts"} of each, the newest last."""
    found = _kept().get("designs")
    return [each for each in found if isinstance(each, dict) and all(
        isinstance(each.get(part), dict) for part in ("opened", "drafts"))] if isinstance(found, list) else []


def leave_design() -> None:
    """Puts the edits on the open design aside; nothing where there are none."""
    now = state.desk()
    if now["drafts"]:
        left = {"opened": now["opened"], "drafts": now["drafts"]}
        _keep(designs=[*(each for each in designs() if each != left), left][-MOST_DESIGNS:])


def back_to_design() -> None:
    """Opens the newest of them again, with its edits."""
    *others, newest = designs()
    state.keep(**newest, set_aside={**_kept(), "designs": others})


# --- of the design that is open --------------------------------------------------------------------------------------


def fields() -> dict[str, Any]:
    """Field -> what was typed there before it was reset."""
    return _of_the_open_design("fields")


def keep_fields(typed: dict[str, Any]) -> None:
    _keep(fields={"of": state.desk()["opened"], **typed})


def tool() -> dict[str, Any]:
    """"key", "typed" and "place" of the tool that was removed last; {} for none."""
    found = _of_the_open_design("tool")
    fits = isinstance(found.get("key"), str) and isinstance(found.get("typed"), dict)
    return found if fits and isinstance(found.get("place"), int | None) else {}


def keep_tool(key: str, typed: dict[str, Any], place: int | None) -> None:
    _keep(tool={"of": state.desk()["opened"], "key": key, "typed": typed, "place": place})


def drop_tool() -> None:
    _keep(tool={})


# --- on the desk -----------------------------------------------------------------------------------------------------


def _of_the_open_design(what: str) -> dict[str, Any]:
    found = _kept().get(what)
    if not isinstance(found, dict) or found.get("of") != state.desk()["opened"]:
        return {}
    return {name: value for name, value in found.items() if name != "of"}


def _kept() -> dict[str, Any]:
    return state.desk()["set_aside"]


def _keep(**changes: Any) -> None:
    state.keep(set_aside={**_kept(), **changes})
