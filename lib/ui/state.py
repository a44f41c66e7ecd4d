"""The only place of the pages that constructs things: settings, store, runs, and the desk with what a person works on.

A desk is what must survive a refresh or a crash: typed drafts, the chosen data, the last run. It lives in session state
as plain data and is written to the store at every change. The one who plays alone finds the last desk again; where
several people share the playground, each browser finds its own by a cookie (`visitor`).
"""

from __future__ import annotations

import functools
import importlib
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import streamlit as st

from lib import settings as settings_module
from lib import task
from lib.catalog import Catalog, empty_catalog, open_catalog
from lib.design import Design, exact
from lib.errors import DesignError, InputError, PlaygroundError, StoreError
from lib.phrases import plural
from lib.runs.job import Runs
from lib.runs.store import CallRow, Listed, Run, SavedDesign, Store, Wanted
from lib.settings import ROOT, Settings
from lib.task.default_design import default_design
from lib.task.report import Report
from lib.tickets import Columns, Table, TicketSet, guess_columns, read_table, to_tickets
from lib.ui import back_button, picked, visitor
from lib.ui import drafts as draft_module

SHAPES = tuple(task.SHAPES)
SAMPLES = {     # what it is of -> its folder, and the name its tickets go by
    "scheduling software": (ROOT / "sample_data", "tickets.csv"),
    "meal kits": (ROOT / "sample_data" / "mealkits", "mealkits.csv"),
}
FIRST_SAMPLE = next(iter(SAMPLES))
INJECTED = ROOT / "sample_data" / "injected.csv"


@dataclass(frozen=True)
class Data:
    """What a run reads. `id` finds it in the store."""

    id: str
    tickets: TicketSet
    catalog: Catalog
    sample: str = ""    # which of SAMPLES it is


# --- what the server has once ----------------------------------------------------------------------------------------


def settings() -> Settings:
    return _settings(tuple(map(os.environ.get, settings_module.VARIABLES)))


@functools.lru_cache(maxsize=1)
def _settings(values: tuple[str | None, ...]) -> Settings:
    """Read anew only when the environment changes: a page asks dozens of times."""
    said = zip(settings_module.VARIABLES, values, strict=True)
    return settings_module.load({name: value for name, value in said if value is not None})


def store() -> Store:
    return _store(str(settings().store))


def runs() -> Runs:
    return _runs(str(settings().store))


@st.cache_resource(show_spinner=False)
def _store(path: str) -> Store:
    return Store(settings_module.load().store)


@st.cache_resource(show_spinner=False)
def _runs(path: str) -> Runs:
    """Made once per server start, so whatever the store still calls running was interrupted; unless another server is
    open on the same store: those runs are its own, and a resume here would pay for them twice."""
    if _store(path).sole_server():
        _store(path).mark_interrupted()
    return Runs(_store(path), settings(), shared())


# --- trouble ---------------------------------------------------------------------------------------------------------


def told(action: Callable[..., None]) -> Callable[..., None]:
    """`action`, whose trouble becomes one line on the page: a widget's callback has no other way to say it."""
    @functools.wraps(action)
    def careful(*args: Any, **options: Any) -> None:
        try:
            action(*args, **options)
        except PlaygroundError as error:
            st.session_state["_trouble"] = str(error)
    return careful


def in_trouble() -> bool:
    return "_trouble" in st.session_state


def trouble() -> str:
    """What the last action could not do; told once."""
    return st.session_state.pop("_trouble", "")


# --- the desk --------------------------------------------------------------------------------------------------------


def enter() -> None:
    """Finds the visitor's desk and run, and puts the run into the URL."""
    runs()      # at the first visit after a start this marks what the last server left running
    st.session_state["desk_id"] = _wanted_desk(st.query_params.get("desk", ""))
    look_again()
    _follow(st.query_params.get("run", ""))
    back_button.one_for_each_page()
    if shared():
        visitor.remember(desk_id())
        st.query_params.pop("desk", None)
    _show_in_url(desk="" if shared() or desk_id() == _last_desk() else desk_id(), run=shown_group())


def _wanted_desk(linked: str) -> str:
    """The desk of this session. `linked` is a desk in the URL, where they stood before there were cookies."""
    known = st.session_state.get("desk_id")
    if shared():
        return known or visitor.desk() or _handed_over(linked)
    return linked or known or _last_desk() or _first_desk()


def _handed_over(linked: str) -> str:
    """A new desk, with what was on the `linked` one if there was one. A link works once: whoever sent it, or found it
    somewhere, must not look on."""
    desk_id = visitor.new_desk()
    if linked:
        store().hand_over_desk(linked, desk_id)
    return desk_id


def _first_desk() -> str:
    """A new desk that the next window finds, too."""
    desk_id = visitor.new_desk()
    store().save_desk(desk_id, _empty_desk())
    return desk_id


def _follow(wanted: str) -> None:
    """Shows the run of a link, or the one that Back leads to, unless it is not in the store."""
    if wanted in ("", shown_group()):
        return
    if store().group(wanted):
        open_group(wanted)
    else:
        st.query_params.pop("run")
        st.toast("The run of this link is not in the store (any more).", icon=":material/link_off:")


def desk() -> dict[str, Any]:
    return st.session_state["desk"]


def desk_id() -> str:
    return st.session_state["desk_id"]


def look_again() -> None:
    """Takes the desk from the store as it is now, with what another tab changed since this page was drawn.

    Raises StoreError when the store's file was deleted.
    """
    store().check_that_it_is_there()
    st.session_state["desk"] = _stored_desk()


@told
def keep(**changes: Any) -> None:
    """Puts `changes` on the desk and the desk into the store. What another tab changed meanwhile stays."""
    st.session_state["desk"] = {**_stored_desk(), **changes}
    store().save_desk(desk_id(), desk())


@told
def keep_drafts(changes: dict[str, Any]) -> None:
    """Puts in drafts by field; None takes a draft away."""
    drafts = {**_stored_desk()["drafts"], **changes}
    keep(drafts={field: value for field, value in drafts.items() if value is not None})


def _stored_desk() -> dict[str, Any]:
    """What another version, or another hand, left there of another kind is as on an empty desk."""
    empty, kept = _empty_desk(), store().load_desk(desk_id()) or {}
    found = {**kept, **{name: kept[name] if type(kept.get(name)) is type(usual) else usual
                        for name, usual in empty.items()}}
    return {**found, "drafts": draft_module.fitting(_opened(found["opened"]), found["drafts"]),
            "shapes": [shape for shape in SHAPES if shape in found["shapes"]]}


def _empty_desk() -> dict[str, Any]:
    return {"drafts": {}, "data_id": "", "group": "", "shapes": list(SHAPES), "simulation": {}, "prices": {},
            "connection": {}, "resumed": {}, "opened": {}, "picked": {}, "pinned": "", "set_aside": {}}


def _last_desk() -> str | None:
    return None if shared() else store().latest_desk()


def shared() -> bool:
    """Whether several people may be using this server: then nobody is handed another one's desk."""
    said = settings().shared
    return st.get_option("server.address") not in ("localhost", "127.0.0.1", "::1") if said is None else said


def whose() -> str | None:
    """The desk whose runs this visitor may see listed; None: all."""
    return desk_id() if shared() else None


def link_to_run() -> str:
    """The address of the run that is shown, without the desk, for others to look at; empty before the first run."""
    if not shown_group():
        return ""
    here = urlsplit(st.context.url or "")
    root = here.path.rpartition("/")[0]
    return urlunsplit((here.scheme, here.netloc, f"{root}/run", f"run={shown_group()}", ""))


def _show_in_url(**params: str) -> None:
    for name, value in params.items():
        if value and st.query_params.get(name) != value:
            st.query_params[name] = value


# --- the design ------------------------------------------------------------------------------------------------------


@st.cache_resource(show_spinner=False)
def default() -> Design:
    return default_design()


def opened() -> Design:
    """The design that is open, without what was edited since: the default until another one was opened."""
    return _opened(desk()["opened"])


def _opened(content: dict[str, Any]) -> Design:
    """The design of a desk's `opened`, read once per session; the default where there is none, or none we know."""
    read_before, found = st.session_state.get("_opened", ({}, None))
    if found is None or exact(read_before) != exact(content):
        try:
            found = Design.from_dict(content) if content else default()
        except DesignError:
            found = default()
        st.session_state["_opened"] = (content, found)
    return found


def base() -> Design:
    """The opened design with the tools that were added, still empty, and without those removed."""
    return draft_module.base_of(opened(), desk()["drafts"])


def design() -> tuple[Design, list[draft_module.Problem]]:
    """The design as edited, and what of the edits could not be used."""
    return draft_module.apply(opened(), desk()["drafts"])


def is_edited() -> bool:
    """Whether it differs from the opened one."""
    return bool(draft_module.edited(opened(), desk()["drafts"]))


def open_design(design: Design) -> None:
    """The design takes the place of the one that is open, and of all edits on it."""
    keep(opened={} if design.is_exactly(default()) else design.to_dict(), drafts={})


def save_design(name: str) -> None:
    """Saves the design as edited under `name`, and opens what was saved. Raises DesignError while part of it cannot be
    used: what stands in for it is not what was typed."""
    look_again()
    edited, unusable = design()
    if unusable:
        raise DesignError(f"Not saved: {draft_module.label(unusable[0].field)}: {unusable[0].text}")
    named = replace(edited, name=name)
    store().save_design(desk_id(), name, named.version, named.to_dict())
    open_design(named)


def saved_designs() -> list[SavedDesign]:
    """Newest first; in a shared playground only this desk's."""
    return store().designs(whose())


@told
def delete_saved_design(saved_id: int) -> None:
    store().delete_design(saved_id, whose())


def designs_of_runs(limit: int) -> list[tuple[dict[str, Any], float]]:
    """The different designs of the latest runs, each with when it ran last; in a shared playground only this desk's."""
    return store().designs_of_runs(whose(), limit)


def design_of(run: Run) -> Design | None:
    """The run's own design; None when another version of the playground wrote it."""
    try:
        return Design.from_dict(run.design)
    except DesignError:
        return None


def version_of(run: Run) -> str:
    """Of its design; "" when another version of the playground wrote it."""
    found = design_of(run)
    return found.version if found else ""


def other_on_desk(run: Run) -> str:
    """"data", "design", "data and design" or "": what the desk holds by now that the run did not have."""
    parts = ["data"] * (run.data_id != data().id) + ["design"] * (version_of(run) != design()[0].version)
    return " and ".join(parts)


@told
def put_on_desk(run: Run) -> None:
    """The run's data and design take the place of those on the desk."""
    own = design_of(run)
    if own is None:
        raise DesignError("This run's design is of another version of the playground, so it cannot be edited here.")
    here = {"data_id": run.data_id, "picked": {}} if stored_data(run.data_id) else {}
    keep(opened=own.to_dict(), drafts={}, **here)


# --- the data --------------------------------------------------------------------------------------------------------


def data() -> Data:
    """What the next run reads: the tickets that were picked of those on the desk, which may be all of them."""
    return _of_desk()[1]


def whole() -> Data:
    """All data on the desk; the sample while nothing was chosen, or when it is no longer in the store."""
    return _of_desk()[0]


def _of_desk() -> tuple[Data, Data]:
    """(the whole data, what is picked of them)"""
    chosen = desk()["data_id"]
    found = (chosen and stored_data(chosen)) or sample()
    return found, picked.of(found, desk()["picked"])


def pick(**choice: Any) -> None:
    """How, number, seed and by of `lib.tickets.picking`; nothing for all tickets."""
    keep(picked=choice)


def sample(name: str = FIRST_SAMPLE) -> Data:
    return _sample(str(settings().store), name)


def stored_data(data_id: str) -> Data | None:
    """The data of a run, or None if it is no longer in the store."""
    for name in SAMPLES:
        if data_id == sample(name).id:
            return sample(name)
    try:
        return _stored(str(settings().store), data_id)
    except StoreError:
        return None


@told
def choose(tickets: TicketSet | None = None, catalog: Catalog | None = None) -> None:
    """Puts new tickets, a new database or both on the desk; what is not given stays."""
    now = whole()
    made = Data("", tickets or now.tickets, catalog or now.catalog)
    database = made.catalog.to_bytes() if made.catalog.tables else None
    data_id = store().save_data(made.tickets.json_pieces(), database, made.tickets.name)
    if data_id not in (sample(name).id for name in SAMPLES):
        _stored(str(settings().store), data_id, replace(made, id=data_id))      # not to be read a second time
    keep(data_id=data_id)


def choose_sample(name: str) -> None:
    keep(data_id="" if name == FIRST_SAMPLE else sample(name).id, picked={})


def injected() -> TicketSet:
    """One ticket that gives orders to whoever reads it."""
    table = read_table(INJECTED.name, INJECTED.read_bytes())
    return to_tickets(table, guess_columns(table))


def no_catalog() -> Catalog:
    return empty_catalog()


@st.cache_resource(show_spinner=False)
def _sample(path: str, name: str) -> Data:
    tickets = to_tickets(*sample_table(name))
    catalog = open_catalog([("product.db", (SAMPLES[name][0] / "product.db").read_bytes())])
    database = catalog.to_bytes() if catalog.tables else None
    data_id = _store(path).save_data(tickets.json_pieces(), database, tickets.name)
    return Data(data_id, tickets, catalog, name)


@st.cache_resource(show_spinner=False)
def sample_table(name: str) -> tuple[Table, Columns]:
    """A sample's file as a table, and what its columns are."""
    folder, called = SAMPLES[name]
    table = read_table(called, (folder / "tickets.csv").read_bytes())
    return table, guess_columns(table)


@st.cache_resource(show_spinner=False, max_entries=16)
def _stored(path: str, data_id: str, _made: Data | None = None) -> Data:
    if _made:
        return _made
    tickets_json, database = _store(path).load_data(data_id)
    catalog = Catalog.from_bytes(database) if database else empty_catalog()
    return Data(data_id, TicketSet.from_json(tickets_json), catalog)


# --- runs ------------------------------------------------------------------------------------------------------------


def start_runs(current: Design, shapes: list[str], connection: Any, chosen: Data,
               own_prices: dict[str, dict[str, float]]) -> None:
    """Begins one run per shape in the background, and shows them. What is on the desk stays as it is."""
    if chosen.id != whole().id and not chosen.sample:
        _stored(str(settings().store), chosen.id, chosen)       # what was picked is not to be read a second time
    group = runs().start(current, shapes, chosen.tickets, chosen.catalog, chosen.id, connection.connect,
                         connection.source, connection.name, desk_id(), connection.conditions, own_prices,
                         connection.reuse, connection.payer, connection.origin, connection.price_list)
    show_group(group)


@told
def stop_run(run_id: str) -> None:
    runs().stop(run_id)
    st.session_state.setdefault("_stopping", set()).add(run_id)


def is_stopping(run: Run) -> bool:
    """Stop was pressed here, and calls in flight have not ended yet."""
    return is_active(run) and run.id in st.session_state.get("_stopping", ())


def open_group(group: str) -> None:
    """Shows these runs from now on, here and in the next window that opens; other windows go on showing theirs."""
    _shown()[desk_id()] = group
    keep(group=group)


def show_group(group: str) -> None:
    """Opens these runs on the page that is open; the address says so too, and Back leads to those before."""
    open_group(group)
    _show_in_url(run=group)


def shown_group() -> str:
    """The id of the runs that this window shows; "" before the first run."""
    return _shown().setdefault(desk_id(), desk()["group"])


def _shown() -> dict[str, str]:
    """Which group this window shows of each desk it was at."""
    return st.session_state.setdefault("shown", {})


def group() -> list[Run]:
    """The runs that this window shows, pipeline first; empty before the first run."""
    return runs_of(shown_group()) if shown_group() else []


def runs_of(group: str) -> list[Run]:
    return _in_order(store().group(group))


def others_at_work() -> list[list[Run]]:
    """The groups with runs at work that this window does not show, the newest first; in a shared playground only this
    desk's."""
    found = [store().run(run_id) for run_id in store().ids(whose(), working=True)]
    others = {run.group for run in found if run} - {shown_group()}
    groups = [runs_of(group) for group in others]
    return sorted(filter(None, groups), key=lambda runs: -runs[0].created)


def recent_groups(limit: int = 8) -> list[list[Run]]:
    """The newest groups of runs, newest first; in a shared playground only this desk's."""
    found: dict[str, list[Run]] = {}
    for run in store().runs(desk=whose(), limit=len(SHAPES) * limit):
        found.setdefault(run.group, []).append(run)
    return [ordered for group in found.values() if (ordered := _in_order(group))][:limit]


def _in_order(runs: list[Run]) -> list[Run]:
    """Pipeline first; without the shapes that only a later version of the playground knows."""
    return sorted((r for r in runs if r.shape in SHAPES), key=lambda r: SHAPES.index(r.shape))


def report(run: Run) -> Report | None:
    """The answer of a run, None while it has none; read from its JSON once."""
    return _report(str(settings().store), run.id, run.ended, run.report) if run.report else None


@st.cache_resource(show_spinner=False, max_entries=16)
def _report(path: str, run_id: str, ended: float | None, _report_json: dict[str, Any]) -> Report:
    return Report.from_dict(_report_json)


def calls(run_id: str) -> list[CallRow]:
    """All calls of a run so far. Only those that are new since anybody last looked are read from the store."""
    seen = _seen(str(settings().store), run_id)
    with seen.lock:
        seen.rows += store().calls(run_id, after=seen.rows[-1].id if seen.rows else 0)
        return list(seen.rows)


class _Seen:
    def __init__(self):
        self.rows: list[CallRow] = []
        self.lock = threading.Lock()


@st.cache_resource(show_spinner=False, max_entries=32)
def _seen(path: str, run_id: str) -> _Seen:
    return _Seen()


def is_mine(run: Run) -> bool:
    """Whether this visitor may stop or resume the run."""
    return not shared() or run.desk == desk_id()


def is_active(run: Run) -> bool:
    return run.status in ("queued", "running")


@st.cache_resource(show_spinner=False)
def warm() -> None:
    """Loads the slow libraries in the background, after the first page was sent."""
    timer = threading.Timer(1.0, _import_slow_libraries)
    timer.daemon = True
    timer.start()


def _import_slow_libraries() -> None:
    for name in ("altair", "anthropic"):
        importlib.import_module(name)


# --- history ---------------------------------------------------------------------------------------------------------


def how_many_runs(wanted: Wanted) -> int:
    return store().how_many(wanted, whose())


def listed(wanted: Wanted, limit: int, offset: int = 0) -> list[Listed]:
    return store().listed(wanted, whose(), limit, offset)


def listed_runs(run_ids: Sequence[str]) -> list[Listed]:
    """These runs, newest first, without those that are gone or somebody else's."""
    return store().listed_runs(run_ids, whose())


def tickets_in(data_id: str) -> int | None:
    return _tickets_in(str(settings().store), data_id)


@st.cache_resource(show_spinner=False, max_entries=1000)
def _tickets_in(path: str, data_id: str) -> int | None:
    return _store(path).tickets_in(data_id)


@told
def describe_runs(run_ids: Sequence[str], **changes: str) -> None:
    """Sets title or note of runs."""
    for row in listed_runs(run_ids):
        store().update_run(row.run.id, **changes)


@told
def delete_runs(run_ids: Sequence[str]) -> None:
    """Deletes runs, none of which may be at work."""
    found = [row.run for row in listed_runs(run_ids)]
    if working := sum(is_active(run) for run in found):
        raise InputError(f"Nothing was deleted: {plural(working, 'run is', 'runs are')} at work. Stop first.")
    store().delete_runs([run.id for run in found])
    _forget_deleted()


@told
def delete_everything() -> None:
    """All runs of this visitor; where nobody else uses the playground, also all data and all that was typed."""
    if store().ids(whose(), working=True):
        raise InputError("Nothing was deleted: a run is at work. Stop it first.")
    if shared():
        store().delete_runs(store().ids(desk_id()))
    else:
        store().delete_everything()
        store().save_desk(desk_id(), _empty_desk())
        st.session_state["desk"] = _stored_desk()
    _forget_deleted()


def held_until_deleted(cache: Any) -> Any:
    """Marks a cache of what runs hold: it is cleared when runs are deleted."""
    _held.append(cache)
    return cache


_held: list[Any] = [_seen, _report, _stored, _tickets_in, picked.made]


def _forget_deleted() -> None:
    """What this process still holds of deleted runs goes too, and the desk no longer points at them."""
    for cache in _held:
        cache.clear()
    if shown_group() and not group():
        open_group("")
        st.query_params.pop("run", None)
