"""The program that is taken home: it runs without this project, and its report is the app's to the last check."""

from __future__ import annotations

import ast
import io
import json
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.catalog import empty_catalog, open_catalog
from lib.client.connect import connect_simulated
from lib.design import ToolText
from lib.exports.take_home import as_curl, as_json, program
from lib.exports.take_home.program import literal
from lib.settings import load
from lib.simulated.server import SimulatedServer
from lib.task import SHAPES
from lib.task.default_design import default_design
from lib.task.own_tools import own_function
from lib.tickets import Ticket, TicketSet, guess_columns, read_table, to_tickets
from tests.forked import APART, run_script

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
DEFAULT = default_design()
HOSTILE = '"""\n\\n \' " \\ \r\x00 {0} %s ${x} `x` é 日本 \u202e end"'
ON_PLAN = ToolText(
    "own_1", "customers_on_plan", "Returns up to 200 customers on a plan.",
    {"type": "object", "properties": {"plan": {"type": "string", "description": "One plan, such as pro."}},
     "additionalProperties": False},
    query="SELECT customer_id, plan FROM customers WHERE plan = :plan OR :plan IS NULL")
EDITED = replace(DEFAULT, name=HOSTILE, k=3, output="structured", tools=(*DEFAULT.tools, ON_PLAN)).with_step(
    "label", system=f"{DEFAULT.steps['label'].system}\n{HOSTILE}", effort="low").with_tool("tally", name="count_it")
PLAIN = replace(DEFAULT, tags=False, parallel_tools=True, retries=0)


@pytest.fixture(scope="module")
def tickets():
    table = read_table("tickets.csv", (SAMPLE / "tickets.csv").read_bytes())
    found = to_tickets(table, guess_columns(table))
    return TicketSet(found.name, found.tickets[:16], found.notes)


@pytest.fixture(scope="module")
def catalog():
    return open_catalog([("product.db", (SAMPLE / "product.db").read_bytes())])


@pytest.fixture(scope="module")
def address():
    with SimulatedServer(speed=0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.url
        server.shutdown()


def run(folder: Path, shape: str, address: str, *more: str) -> str:
    """What the program prints, in a process that knows nothing of this project."""
    environment = {"PATH": os.environ["PATH"], "ANTHROPIC_BASE_URL": address, "HOME": str(folder)}
    done = subprocess.run([sys.executable, "run.py", "--shape", shape, *more], cwd=folder, env=environment, text=True,
                          capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_quickly(folder: Path, shape: str, address: str, *more: str) -> str:
    """The same in a process that has loaded the libraries before."""
    environment = {"PATH": os.environ["PATH"], "ANTHROPIC_BASE_URL": address, "HOME": str(folder)}
    process = APART.Process(target=run_script, args=(folder, ["run.py", "--shape", shape, *more], environment))
    process.start()
    process.join(120)
    assert process.exitcode == 0, (folder / "errors.txt").read_text()
    return (folder / "told.txt").read_text()


def written(folder: Path, *made) -> Path:
    for name, content in program(*made).files.items():
        (folder / name).write_bytes(content)
    return folder


def reported(design, shape, tickets, catalog) -> dict:
    report = SHAPES[shape](connect_simulated(load({}), 0).client, design, tickets, catalog)
    return json.loads(json.dumps(report.to_dict()))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("design", [DEFAULT, EDITED, PLAIN], ids=["default", "edited", "plain"])
def test_it_gives_the_report_of_the_app(design, shape, tickets, catalog, address, tmp_path):
    run_it = run if design is DEFAULT else run_quickly
    found = run_it(written(tmp_path, design, list(SHAPES), tickets, catalog), shape, address, "--json")
    assert json.loads(found) == reported(design, shape, tickets, catalog)


def test_without_a_database_and_of_one_shape_alone(tickets, address, tmp_path):
    folder = written(tmp_path, DEFAULT, ["pipeline"], tickets, empty_catalog())
    assert not (folder / "product.db").exists() and "run_agent" not in (folder / "core.py").read_text()
    told = run_quickly(folder, "pipeline", address)
    first = reported(DEFAULT, "pipeline", tickets, empty_catalog())["causes"][0]
    assert told.startswith(f"1. {first['name']}: {len(first['tickets'])} tickets") and "not in the database" in told
    assert "22 calls" in told and "input and" in told


@pytest.mark.parametrize(("shape", "says"), [("pipeline", "No ticket got a label. The first reason: Connection error."),
                                             ("agent", "No report: Connection error. (asked: http://127.0.0.1:9)")])
def test_a_server_that_does_not_answer_is_told_in_a_line(shape, says, tickets, catalog, tmp_path):
    folder = written(tmp_path, DEFAULT, [shape], tickets, catalog)
    with pytest.raises(AssertionError) as ended:
        run_quickly(folder, shape, "http://127.0.0.1:9")
    assert says in str(ended.value) and "Traceback" not in str(ended.value)


class Counting:
    """A client that keeps the usage of every reply."""

    def __init__(self, client):
        self._client, self.used, self.messages = client, [], self

    def create(self, **request):
        reply = self._client.messages.create(**request)
        self.used.append(reply.usage)
        return reply


@pytest.mark.parametrize("shape", SHAPES)
def test_what_it_says_it_used_counts_replies_that_were_sent_back_too(shape, tickets, catalog, address, tmp_path):
    prose = replace(DEFAULT, retries=2)
    for name in ("label", "agent"):
        told = "\n".join(line for line in DEFAULT.steps[name].system.splitlines() if '{"' not in line)
        prose = prose.with_step(name, system=told.replace("Answer with JSON only, nothing before or after it.", ""))
    counted = Counting(connect_simulated(load({}), 0).client)
    SHAPES[shape](counted, prose, tickets, catalog)
    usual = Counting(connect_simulated(load({}), 0).client)
    SHAPES[shape](usual, DEFAULT, tickets, catalog)
    assert len(counted.used) > len(usual.used), "some were sent back"
    told = run_quickly(written(tmp_path, prose, [shape], tickets, catalog), shape, address)
    sent, got = (sum(getattr(usage, name) for usage in counted.used) for name in ("input_tokens", "output_tokens"))
    assert told.endswith(f"{len(counted.used)} calls, {sent:,} input and {got:,} output tokens\n")


def test_the_core_functions_are_there_as_they_are(tickets, catalog):
    core = program(DEFAULT, list(SHAPES), tickets, catalog).files["core.py"].decode()
    for path, name in (("lib/agent.py", "run_agent"), ("lib/prompt_map.py", "map_prompts")):
        source = (SAMPLE.parent / path).read_text()
        node = next(n for n in ast.parse(source).body if getattr(n, "name", "") == name)
        assert ast.get_source_segment(source, node).replace("errors.", "") in core


def test_nothing_of_this_project_is_imported(tickets, catalog):
    for name, content in program(EDITED, list(SHAPES), tickets, catalog).files.items():
        if name.endswith(".py"):
            for node in ast.walk(ast.parse(content)):
                names = [node.module] if isinstance(node, ast.ImportFrom) else [
                    alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                assert not any(found == "lib" or found.startswith("lib.") for found in names), (name, names)


@settings(max_examples=200, deadline=None)
@given(st.text() | st.text(alphabet='"\\\n\' \ra{}\x00', max_size=30))
def test_any_text_is_written_so_that_it_reads_back(text):
    assert ast.literal_eval(literal(text)) == text


def test_what_a_person_typed_stays_a_text(tickets, catalog):
    evil = '"""\nimport os; os.abort()\n"""'
    design = replace(DEFAULT, name=evil).with_step("merge", system=evil).with_tool("tally", description=evil, name=evil)
    source = program(design, list(SHAPES), tickets, catalog).files["run.py"].decode()
    names = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    assert "abort" not in {node.attr for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)} | names


def test_the_same_design_gives_the_same_bytes_with_all_files(tickets, catalog):
    first, second = (program(DEFAULT, list(SHAPES), tickets, catalog).zipped() for _ in range(2))
    assert first == second
    assert sorted(zipfile.ZipFile(io.BytesIO(first)).namelist()) == [f"take_home/{name}" for name in (
        "README.md", "core.py", "product.db", "requirements.txt", "run.py", "tickets.json")]


REQUEST = {"model": DEFAULT.steps["label"].model, "max_tokens": 500, "system": DEFAULT.steps["label"].system,
           "messages": [{"role": "user", "content": f"It's late; `reboot` $(reboot) {HOSTILE}".replace("\x00", "")}]}


def test_curl_sends_the_very_request(address):
    curl = shutil.which("curl")
    command = as_curl(REQUEST, address)
    assert "reboot" in command and "$ANTHROPIC_API_KEY" in command
    words = subprocess.run(["sh", "-c", command.replace("curl", "printf '%s\\0'", 1)], capture_output=True,
                           env={"PATH": os.environ["PATH"], "ANTHROPIC_API_KEY": "k"}, check=True).stdout.split(b"\0")
    assert json.loads(words[words.index(b"--data-binary") + 1]) == REQUEST and b"x-api-key: k" in words
    if curl:
        sent = subprocess.run(["sh", "-c", command], env={"PATH": os.environ["PATH"], "ANTHROPIC_API_KEY": "k"},
                              capture_output=True, check=True, timeout=60)
        reply = connect_simulated(load({}), 0).client.messages.create(**REQUEST)
        assert json.loads(sent.stdout)["content"][-1]["text"] == reply.content[-1].text


def test_the_json_is_the_body():
    assert json.loads(as_json(REQUEST)) == REQUEST


MONEY = """[{"customer_id": "c1", "name": "A", "monthly_revenue": "1,299"},
            {"customer_id": "c2", "name": "B", "monthly_revenue": "(500)"},
            {"customer_id": "c3", "name": "C", "monthly_revenue": "2 seats"},
            {"customer_id": "c4", "name": "D", "monthly_revenue": "1.299,00"},
            {"customer_id": "c5", "name": "E", "monthly_revenue": "750-"}]"""


def test_odd_amounts_are_read_as_the_app_reads_them(address, tmp_path):
    odd = open_catalog([("customers.json", MONEY.encode())])
    some = TicketSet("t", tuple(Ticket(str(n), str(n), "Charged twice", "I was charged twice for one order.", f"c{n}")
                                for n in range(1, 6)))
    found = run_quickly(written(tmp_path, DEFAULT, ["pipeline"], some, odd), "pipeline", address, "--json")
    assert json.loads(found) == reported(DEFAULT, "pipeline", some, odd)


QUERIES = ["SELECT c.name, p.name FROM customers c, products p LIMIT 3", "SELECT X'00ff' AS b", "SELECT 9e999 AS x",
           "SELECT name FROM sqlite_master ORDER BY name", "SELECT * FROM customers WHERE plan = :plan"]


def test_its_own_tools_answer_as_in_the_app(tickets, catalog, tmp_path):
    folder = written(tmp_path, DEFAULT, list(SHAPES), tickets, catalog)
    asked = (f"import core, json, run; c = core.Catalog('product.db', run.ROLES, run.DECIMALS); "
             f"print(json.dumps([core.own_function(query, c)(plan='Team') for query in {QUERIES!r}]))")
    done = subprocess.run([sys.executable, "-c", asked], cwd=folder, env={"PATH": os.environ["PATH"]}, text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    answers = dict(zip(QUERIES, json.loads(done.stdout), strict=True))
    assert answers == {query: own_function(query, catalog)(plan="Team") for query in QUERIES}


def test_a_name_with_percent_signs_leaves_the_help_alone(tickets, catalog, tmp_path):
    folder = written(tmp_path, replace(DEFAULT, name="100%(prog) %d"), ["pipeline"], tickets, catalog)
    assert "100%(prog) %d" in run_quickly(folder, "pipeline", "http://127.0.0.1:9", "--help")
