"""The simulated agent in a tool loop: it works from the conversation alone, with renamed, missing and failing tools."""

import json
from collections import Counter

import pytest

from lib.simulated.protocol import handle
from lib.task import prompts
from tests.simulated.agent_loop import (
    ALL,
    CAUSES,
    ID,
    LIST,
    NUMBER,
    READ,
    SAID,
    SEARCH,
    TALLY,
    TEXT,
    TICKETS,
    causes_in,
    investigate,
    list_from,
    list_tickets,
    tally,
    tool,
)


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
    free = prompts.AGENT.replace("answer with JSON only, nothing before or after it", "answer in prose")
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
