"""The simulated agent in a tool loop: it works from the conversation alone, with renamed, missing and failing tools."""

import json
from collections import Counter

import pytest

from lib.simulated.protocol import handle
from lib.task import prompts

ONE_BY_ONE = {"type": "auto", "disable_parallel_tool_use": True}
SAID = {"duplicate charge": "I was charged twice for one booking, two payments of 80.00.",
        "export cut off": "The CSV export stops after 1,000 rows, the rest is missing.",
        "late delivery": "My parcel has still not arrived, the delivery is two weeks late.",
        "zipper failure": "The zip of the bag is stuck again."}
CAUSES = ["duplicate charge"] * 8 + ["export cut off"] * 4 + ["late delivery"] * 2 + ["zipper failure"]
TICKETS = {f"K-{i}": {"ticket_id": f"K-{i}", "subject": f"case {i}", "customer_id": f"C-{i % 5}", "product": "Desk",
                      "body": f"{SAID[cause]} This is case {i}."} for i, cause in enumerate(CAUSES)}


def tool(name, description, properties, fn, required=()):
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "description": description, "input_schema": schema}, fn


def list_tickets(offset=0, limit=6):
    page = [{k: t[k] for k in ("ticket_id", "subject", "customer_id", "product")} for t in TICKETS.values()]
    after = offset + limit
    return {"total": len(page), "next_offset": after if after < len(page) else None, "tickets": page[offset:after]}


def list_from(start):
    return list_tickets(start)


def search(query):
    return {"tickets": [{"ticket_id": k, "subject": t["subject"]} for k, t in TICKETS.items() if query in t["body"]]}


def tally(assignments):
    counts = Counter(a["cause"] for a in assignments)
    return {"causes": [{"cause": c, "count": n, "customers": 1} for c, n in counts.most_common()]}


NUMBER, TEXT = {"type": "integer"}, {"type": "string"}
LIST = tool("list_tickets", "Lists tickets, one page at a time.", {"offset": NUMBER, "limit": {**NUMBER, "default": 6}},
            list_tickets)
ID = {**TEXT, "description": "One id, exactly as listed."}
READ = tool("read_ticket", "Returns one ticket with its full body.", {"ticket_id": ID},
            lambda ticket_id: TICKETS[ticket_id], ["ticket_id"])
SEARCH = tool("search_tickets", "Finds tickets whose text holds the words.", {"query": TEXT}, search, ["query"])
TALLY = tool("tally", "Counts the tickets per cause.", {"assignments": {"type": "array", "items": {
    "type": "object", "properties": {"ticket_id": TEXT, "cause": TEXT}}}}, tally, ["assignments"])
INCIDENTS = tool("list_incidents", "Returns the incidents of one product.", {"product": ID}, lambda product: {
    "incidents": [{"title": "Card retries sent twice", "detail": "Customers were charged twice for one payment."}]},
    ["product"])
CUSTOMER = tool("get_customer", "Returns one customer.", {"customer_id": TEXT}, lambda customer_id: {"name": "A"},
                ["customer_id"])
ALL = (LIST, READ, SEARCH, CUSTOMER, INCIDENTS, TALLY)


def investigate(tools, system=prompts.AGENT, most=60, **fields):
    """Runs the loop against the simulation; returns (final text, calls as (tool, input), turns)."""
    functions = {spec["name"]: fn for spec, fn in tools}
    messages = [{"role": "user", "content": prompts.question(5, len(TICKETS))}]
    calls = []
    for turn in range(1, most + 1):
        reply = handle({"model": "claude-haiku-5-5", "max_tokens": 8000, "system": system, "messages": messages,
                        "tools": [spec for spec, _ in tools], "tool_choice": ONE_BY_ONE, **fields})
        assert reply.status == 200, reply.body
        content = reply.body["content"]
        messages.append({"role": "assistant", "content": content})
        asked = [b for b in content if b["type"] == "tool_use"]
        if not asked:
            return content[-1]["text"], calls, turn
        calls += [(b["name"], b["input"]) for b in asked]
        messages.append({"role": "user", "content": [_result(b, functions) for b in asked]})
    raise AssertionError(f"no end after {most} turns: {calls[-5:]}")


def _result(block, functions):
    try:
        text, failed = json.dumps(functions[block["name"]](**block["input"])), False
    except Exception as error:  # what a tool loop does
        text, failed = f"{type(error).__name__}: {error}", True
    return {"type": "tool_result", "tool_use_id": block["id"], "content": text, "is_error": failed}


def causes_in(text):
    return json.loads(text)["causes"]


def test_the_agent_lists_reads_each_ticket_counts_and_answers():
    text, calls, turns = investigate(ALL)
    names = [name for name, _ in calls]
    assert names.count("list_tickets") == 3 and names.count("read_ticket") == 15 and names.count("tally") == 1
    assert names.index("tally") > max(i for i, n in enumerate(names) if n == "read_ticket")
    assert turns == len(calls) + 1
    found = causes_in(text)
    assert [c["count"] for c in found][:2] == sorted((c["count"] for c in found), reverse=True)[:2]
    assert set(found[0]["ticket_ids"]) <= set(TICKETS) and found[0]["customers"] >= 1
    assert "Card retries sent twice" in found[0]["summary"]


def test_every_ticket_is_assigned_once_and_near_synonyms_are_merged():
    _, calls, _ = investigate(ALL)
    rows = next(given["assignments"] for name, given in calls if name == "tally")
    assert sorted(r["ticket_id"] for r in rows) == sorted(TICKETS)
    assert 4 <= len({r["cause"] for r in rows}) <= 6


def test_parallel_calls_are_only_made_where_they_are_allowed():
    _, calls, turns = investigate(ALL, tool_choice={"type": "auto"})
    assert turns < len(calls) - 5
    assert causes_in(investigate(ALL, tool_choice={"type": "auto"})[0]) == causes_in(investigate(ALL)[0])


def test_a_tool_that_takes_several_ids_is_given_several():
    several = tool("read_tickets", "Returns the full tickets with these ids.",
                   {"ticket_ids": {"type": "array", "items": ID}},
                   lambda ticket_ids: {"tickets": [TICKETS[i] for i in ticket_ids]}, ["ticket_ids"])
    text, calls, turns = investigate((LIST, several, TALLY))
    assert turns < 9 and len(causes_in(text)) >= 4


def test_renamed_tools_still_serve():
    renamed = (tool("browse_inbox", "Shows all tickets page by page.", {"start": NUMBER}, list_from),
               tool("open_case", "Opens a ticket: all its text.", {"key": ID}, lambda key: TICKETS[key], ["key"]),
               tool("count_causes", "Counts tickets by cause, exactly.", TALLY[0]["input_schema"]["properties"], tally))
    text, calls, _ = investigate(renamed)
    assert {name for name, _ in calls} == {"browse_inbox", "open_case", "count_causes"}
    assert len(causes_in(text)[0]["ticket_ids"]) >= 7


def test_without_tally_it_counts_itself_and_larger_groups_come_out_wrong():
    found = causes_in(investigate((LIST, READ))[0])
    assert found[0]["count"] != len(found[0]["ticket_ids"])
    assert all(c["count"] == len(c["ticket_ids"]) for c in found if len(c["ticket_ids"]) < 6)


def test_without_a_list_it_searches():
    text, calls, _ = investigate((SEARCH, READ, TALLY))
    assert calls[0][0] == "search_tickets" and causes_in(text)


def test_without_reading_it_judges_by_the_subject():
    text, calls, _ = investigate((LIST, TALLY))
    assert {name for name, _ in calls} == {"list_tickets", "tally"} and causes_in(text)


def test_without_useful_tools_it_says_so():
    weather = tool("get_weather", "Returns the weather of a city.", {"city": TEXT}, lambda city: {}, ["city"])
    text, calls, _ = investigate((weather,), system="Find the causes.")
    assert calls == [] and "no tickets" in text


@pytest.mark.parametrize("broken", range(len(ALL)), ids=[spec["name"] for spec, _ in ALL])
def test_a_tool_that_always_fails_does_not_keep_it_busy_for_ever(broken):
    def fail(**given):
        raise ValueError("out of order")

    tools = [(spec, fail if i == broken else fn) for i, (spec, fn) in enumerate(ALL)]
    text, calls, _ = investigate(tools, most=40)
    repeated = Counter((name, json.dumps(given)) for name, given in calls)
    assert text and max(repeated.values(), default=0) <= 2


def test_a_list_that_never_moves_on_is_given_up():
    stuck = (LIST[0], lambda **given: {**list_tickets(0, 3), "total": 1000, "next_offset": 3})
    text, calls, _ = investigate((stuck, READ, TALLY), most=15)
    assert [name for name, _ in calls].count("list_tickets") <= 3 and causes_in(text)


def test_cleared_results_are_forgotten():
    assert causes_in(after_listing("[cleared]", k=5)) == []


def test_the_number_of_causes_is_the_one_asked_for():
    listed = {"total": 15, "next_offset": None, "tickets": list(TICKETS.values())}
    assert len(causes_in(after_listing(json.dumps(listed), k=2))) == 2
    assert len(causes_in(after_listing(json.dumps(listed), k=1))) == 1


def test_a_prose_answer_becomes_json_when_asked_again():
    free = prompts.AGENT.replace("answer with JSON only, nothing before or after it", "answer")
    listed = json.dumps({"total": 15, "next_offset": None, "tickets": list(TICKETS.values())})
    text = after_listing(listed, k=5, system=free)
    assert text.startswith("The most common causes are:")
    assert len(causes_in(after_listing(listed, 5, free, text, "Your answer is not valid: no JSON object"))) >= 4


def after_listing(result, k, system=prompts.AGENT, *more):
    """The text that follows a list call with this result, and further turns where given."""
    call = {"type": "tool_use", "id": "toolu_1", "name": "list_tickets", "input": {"offset": 0}}
    answer = {"type": "tool_result", "tool_use_id": "toolu_1", "content": result}
    turns = [prompts.question(k, 15), [call], [answer], *more]
    messages = [{"role": ("user", "assistant")[i % 2], "content": turn} for i, turn in enumerate(turns)]
    reply = handle({"model": "claude-haiku-5-5", "max_tokens": 9000, "system": system, "messages": messages,
                    "tools": [LIST[0]]})
    return reply.body["content"][-1]["text"]


def test_a_forced_tool_is_called():
    reply = handle({"model": "claude-haiku-5-5", "max_tokens": 900, "tools": [READ[0]],
                    "messages": [{"role": "user", "content": "go"}],
                    "tool_choice": {"type": "tool", "name": "read_ticket"}})
    assert reply.body["content"][-1]["name"] == "read_ticket"


def test_two_hundred_tickets_are_each_read_once():
    more = "More words about it. " * 30
    many = {f"N-{i}": {"ticket_id": f"N-{i}", "subject": f"s {i}", "customer_id": "C", "product": "P",
                       "body": f"{SAID[CAUSES[i % 15]]} Number {i}. {more}"} for i in range(200)}
    page = [{k: t[k] for k in ("ticket_id", "subject")} for t in many.values()]
    tools = ((LIST[0], lambda **given: {"total": 200, "next_offset": None, "tickets": page}),
             (READ[0], lambda ticket_id: many[ticket_id]), TALLY)
    _, calls, turns = investigate(tools, most=210)
    read = [given["ticket_id"] for name, given in calls if name == "read_ticket"]
    assert turns > 200 and read == list(many)
