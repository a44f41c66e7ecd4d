"""A tool made of one SELECT: its parameters, what it gives the agent, what it refuses, and trying it by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lib.agent import run_agent
from lib.catalog import empty_catalog, open_catalog
from lib.design import ToolText
from lib.errors import InputError
from lib.task.default_design import default_design
from lib.task.own_tools import ROWS, own_function, parameters_of, query_problem, try_query
from lib.task.problems import problems
from lib.task.results import RESULT_LIMIT
from lib.task.tools import make_tools
from lib.tickets import TicketSet

PEOPLE = "id,name,plan,note\n" + "".join(
    f"C-{n},Name {n},{'pro' if n % 3 else 'free'},{'x' * 30}\n" for n in range(500))
BY_PLAN = ToolText(
    "own_1", "customers_on_plan", "Returns up to 200 customers on a plan.",
    {"type": "object", "properties": {"plan": {"type": "string", "description": "One plan, such as pro."}},
     "additionalProperties": False},
    query="SELECT id, plan FROM people WHERE plan = :plan OR :plan IS NULL ORDER BY id")


@pytest.fixture(scope="module")
def catalog():
    return open_catalog([("people.csv", PEOPLE.encode())])


def with_own(*tools: ToolText):
    design = default_design()
    return replace(design, tools=(*design.tools, *tools))


@pytest.mark.parametrize(("query", "names"), [
    ("SELECT 1", []),
    ("SELECT :a, :b_2, :a", ["a", "b_2"]),
    ("SELECT ':no', \":no\", [:no], `:no` -- :no\n, :yes /* :no */", ["yes"]),
    ("SELECT 'it''s :no', :yes", ["yes"]),
    ("SELECT 1 /* :never closed", []), ("SELECT :yes, ':never closed", ["yes"]), ("SELECT 'it'':s", []),
    ("SELECT :yes" + " [" * 100_000, ["yes"]),
])
def test_parameters_are_found_where_sqlite_finds_them(query, names):
    assert parameters_of(query) == names


@pytest.mark.parametrize(("query", "says"), [
    ("", "empty"), ("  \n", "empty"), ("DROP TABLE people", "begin with SELECT"),
    ("PRAGMA table_info(people)", "SELECT"),
    ("SELECT id FROM people; SELECT 1", "one statement at a time"),
    ("SELECT 1) UNION SELECT * FROM (SELECT 2", "syntax error"),
    ("WITH x AS (SELECT 1) DELETE FROM people", "not authorized"), ("SELECT id FROM people WHERE id = ?", "'?'"),
    ("SELECT id FROM people WHERE id = @id", "'@id'"), ("SELECT id FROM people WHERE id = $id", "'$id'"),
    ("SELECT age FROM people", "no such column"), ("SELECT * FROM nobody", "no such table"),
    ("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n", "not authorized"),
    ("SELECT load_extension('x')", "not authorized"), ("SELECT * FROM pragma_database_list", "not authorized"),
    ("SELECT (SELECT", "incomplete input"), ("/* a */" * 500 + "x", "begin with SELECT"),
    ("-- SELECT", "begin with SELECT"), ("SELECT ')", "unrecognized token"),
])
def test_what_is_no_single_select_is_refused_in_words(query, says, catalog):
    assert says in query_problem(query, catalog)


@pytest.mark.parametrize("query", [
    "SELECT * FROM people", "select id from people;", "WITH p AS (SELECT id FROM people) SELECT * FROM p",
    "-- who\nSELECT id FROM people -- all", "/* a */ SELECT count(*) FROM people WHERE plan = :plan",
])
def test_a_select_in_any_dress_is_taken(query, catalog):
    assert query_problem(query, catalog) == ""


def test_the_agent_gets_rows_as_far_as_they_fit_and_is_told_of_the_rest(catalog):
    function = own_function(BY_PLAN.query, catalog)
    few = function(plan="free")
    assert few["total"] == 167 and len(few["rows"]) == 167 and few["rows"][0] == {"id": "C-0", "plan": "free"}
    many = function()
    assert many["total"] == f"more than {ROWS}" and len(many["rows"]) == ROWS and "first 200 rows" in many["note"]
    wide = own_function("SELECT a.*, b.note AS more FROM people a, people b", catalog)()
    assert len(json.dumps(wide)) <= RESULT_LIMIT + 200
    assert len(wide["rows"]) < ROWS and f"first {len(wide['rows'])} rows" in wide["note"]
    assert function(plan="none") == {"total": 0, "rows": []}


def test_arguments_are_values_and_never_sql(catalog):
    assert own_function(BY_PLAN.query, catalog)(plan="' OR 1=1 --") == {"total": 0, "rows": []}
    listed = own_function("SELECT json_array_length(:ids) AS n", catalog)
    with pytest.raises(ValueError, match="not authorized to use function"):
        listed(ids=["a", "b"])
    assert own_function("SELECT :ids AS given", catalog)(ids=["a", "ü"])["rows"] == [{"given": '["a", "ü"]'}]


@pytest.mark.parametrize("value", [2**70, "x\ud800"])
def test_values_that_sqlite_cannot_hold_are_an_error_in_words(value, catalog):
    with pytest.raises(ValueError, match="the query was refused") as refusal:
        own_function("SELECT :v AS v", catalog)(v=value)
    assert type(refusal.value) is ValueError


def test_a_query_that_takes_too_long_is_stopped(catalog, monkeypatch):
    monkeypatch.setattr("lib.catalog.catalog.QUERY_SECONDS", 0.5)
    endless = own_function("SELECT count(*) FROM people a, people b, people c, people d", catalog)
    with pytest.raises(ValueError, match="longer than"):
        endless()


def test_bytes_of_the_database_are_told_by_their_size(tmp_path):
    import sqlite3
    path = tmp_path / "b.db"
    with sqlite3.connect(path) as db:
        db.execute("create table files (id integer primary key, content blob)")
        db.execute("insert into files values (1, ?)", [b"\0\1\2"])
    found = open_catalog([("b.db", path.read_bytes())])
    assert own_function("SELECT content FROM files", found)()["rows"] == [{"content": "<blob, 3 bytes>"}]


def test_it_is_tried_by_hand_with_the_checks_of_the_agents_call(catalog):
    assert try_query(BY_PLAN, catalog, {"plan": "pro"})[0]["plan"] == "pro"
    assert len(try_query(BY_PLAN, catalog, {})) == ROWS
    for arguments, says in (({"plan": 5}, "plan: 5 is not of type 'string'"), ({"plans": "pro"}, "plans")):
        with pytest.raises(InputError, match=says):
            try_query(BY_PLAN, catalog, arguments)
    with pytest.raises(InputError, match="no product database"):
        try_query(BY_PLAN, empty_catalog(), {})
    with pytest.raises(InputError, match="empty"):
        try_query(replace(BY_PLAN, query=""), catalog, {})


class Script:
    """A client that asks for one tool call, then answers."""

    def __init__(self, name: str, arguments: dict):
        self.replies = [{"role": "assistant", "stop_reason": "tool_use", "content": [
            {"type": "tool_use", "id": "t1", "name": name, "input": arguments}]},
            {"role": "assistant", "stop_reason": "end_turn", "content": [{"type": "text", "text": "done"}]}]
        self.messages = self

    def create(self, **request):
        self.request = request
        return self.replies.pop(0)


def test_the_agent_is_offered_it_and_its_call_is_run(catalog):
    tools = make_tools(with_own(BY_PLAN), TicketSet("", ()), catalog)
    client = Script("customers_on_plan", {"plan": "free"})
    run_agent(client, "m", "s", "u", tools)
    [result] = client.request["messages"][-1]["content"]
    assert json.loads(result["content"])["total"] == 167 and not result.get("is_error")
    assert [tool["name"] for tool in client.request["tools"]][-1] == "customers_on_plan"


def test_a_switched_off_own_tool_is_not_offered(catalog):
    off = make_tools(with_own(replace(BY_PLAN, enabled=False)), TicketSet("", ()), catalog)
    assert "customers_on_plan" not in [tool.name for tool in off]


@pytest.mark.parametrize(("changes", "field", "says"), [
    ({"query": ""}, "query", "empty"),
    ({"query": "SELECT id FROM people"}, "input_schema", "does not use 'plan'"),
    ({"query": "SELECT id FROM people WHERE id = :id AND plan = :plan"}, "input_schema", "asks for :id"),
    ({"query": "SELECT gone FROM people WHERE plan = :plan"}, "query", "no such column"),
    ({"name": "read_ticket"}, "name", "given to 2 tools"),
    ({"name": "two words"}, "name", "not allowed"),
    ({"description": " "}, "description", "empty"),
])
def test_what_is_wrong_with_it_is_told_by_field(changes, field, says, catalog):
    found = problems(with_own(replace(BY_PLAN, **changes)), catalog)
    assert any(p.field == f"tools.own_1.{field}" and says in p.text for p in found), found


def test_a_sound_one_has_no_problems(catalog):
    assert problems(with_own(BY_PLAN), catalog) == [] == problems(with_own(BY_PLAN))
