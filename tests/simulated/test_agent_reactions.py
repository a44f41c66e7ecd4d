"""What the simulated agent does when a tool's text, the prompt, the model or the history it is sent changes."""

import json
from collections import Counter

import pytest

from lib.simulated.conditions import Conditions
from lib.simulated.mind import answer, ids, notes
from lib.simulated.mind.counting import by_itself
from lib.simulated.mind.results import Seen
from lib.simulated.mind.toolbox import offered, toolbox
from lib.simulated.protocol import handle
from lib.task import prompts
from lib.task.tools import DEFAULT_TOOLS
from tests.simulated.agent_loop import (
    ALL,
    CUSTOMER,
    ID,
    INCIDENTS,
    LIST,
    READ,
    SEARCH,
    TALLY,
    TEXT,
    TICKETS,
    causes_in,
    investigate,
    tool,
)

SMALL, MEDIUM, LARGE = "claude-haiku-5-5", "claude-sonnet-5-5", "claude-opus-5-5"
NOTING = prompts.AGENT + "\nAfter each ticket, note its id and cause."
USUAL = investigate(ALL)


def with_tool(changed, tools=ALL):
    return tuple(changed if spec["name"] == changed[0]["name"] else (spec, fn) for spec, fn in tools)


def described(given, description):
    return {**given[0], "description": description}, given[1]


def reading(says="Returns one ticket with its full body.", fn=READ[1], **schema):
    return tool("read_ticket", says, {"ticket_id": {**TEXT, **schema}}, fn, ["ticket_id"])


def read_in(calls):
    return [next(iter(given.values())) for name, given in calls if name == "read_ticket"]


# --- the form of an id -----------------------------------------------------------------------------------------------


def test_an_id_whose_form_is_not_told_is_guessed_once_and_then_right():
    text, calls, turns = investigate(with_tool(reading()))
    assert read_in(calls)[0] not in TICKETS and read_in(calls)[1:] == list(TICKETS)
    assert turns == USUAL[2] + 1 and text == USUAL[0]


@pytest.mark.parametrize("told", [
    {"description": "One id, exactly as list_tickets returns it."}, {"description": "Copied from the list."},
    {"description": "An id such as K-3."}, {"description": "For instance: K-3"}, {"pattern": "^K-[0-9]+$"},
    {"examples": ["K-3"]}, {"description": "Die Id, genau wie in der Liste."}])
def test_an_id_whose_form_is_told_is_right_at_once(told):
    assert read_in(investigate(with_tool(reading(**told)))[1]) == list(TICKETS)


def test_the_tools_description_may_tell_the_form_as_well():
    told = reading("Returns one ticket with its full body. Pass its id as listed, for instance K-3.")
    assert read_in(investigate(with_tool(told))[1]) == list(TICKETS)


@pytest.mark.parametrize("key", ["read_ticket", "get_customer", "get_product"])
def test_the_default_tools_tell_the_form_and_only_in_the_parameter(key):
    text = next(t for t in DEFAULT_TOOLS if t.key == key)
    spec = {"name": text.name, "description": text.description, "input_schema": text.input_schema}
    [name] = text.input_schema["properties"]
    assert ids.form_is_told(offered(spec), name)
    bare = {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}
    assert not ids.form_is_told(offered({**spec, "input_schema": bare}), name)


@pytest.mark.parametrize("told", ["Ticket ids look like K-3.", "Pass ids exactly as list_tickets returns them."])
def test_the_prompt_may_tell_the_form_as_well(told):
    assert read_in(investigate(with_tool(reading()), f"{prompts.AGENT}\n{told}")[1]) == list(TICKETS)


def test_a_tool_that_never_finds_a_ticket_is_given_up():
    numbers = tool("read_ticket", "Returns one ticket with its full body.", {"ticket_id": {"type": "integer"}},
                   READ[1], ["ticket_id"])
    assert len(read_in(investigate(with_tool(numbers))[1])) == 5


def test_one_tool_with_actions_is_used_for_each_of_them():
    def act(action, ticket_id="", offset=0, limit=6):
        return LIST[1](offset, limit) if action == "list" else READ[1](ticket_id)

    both = tool("tickets", "Lists tickets page by page (action=list) or returns one with its body (action=read).",
                {"action": {**TEXT, "enum": ["list", "read"]}, "ticket_id": {**TEXT, "description": "As listed."},
                 "offset": {"type": "integer"}, "limit": {"type": "integer"}}, act, ["action"])
    text, calls, _ = investigate((both, TALLY))
    assert Counter(given["action"] for name, given in calls if name == "tickets")["read"] == 15
    assert [c["cause"] for c in causes_in(text)] == [c["cause"] for c in causes_in(USUAL[0])]


def test_results_in_plain_text_are_read_too():
    lines = tool("list_tickets", "Lists all tickets, one a line.", {},
                 lambda: "\n".join(f"{id}: {t['subject']}" for id, t in TICKETS.items()))
    whole = tool("read_ticket", "Returns one ticket as text.", {"ticket_id": {**TEXT, "description": "As listed."}},
                 lambda ticket_id: f"Ticket {ticket_id}\nSubject: x\n\n{READ[1](ticket_id)['body']}", ["ticket_id"])
    text, calls, _ = investigate((lines, whole, TALLY))
    assert read_in(calls) == list(TICKETS)
    assert [c["cause"] for c in causes_in(text)] == [c["cause"] for c in causes_in(USUAL[0])]


def test_larger_models_guess_more_rarely():
    def guesses(model):
        names = [f"read_ticket_{i}" for i in range(20)]
        tools = [(LIST, tool(n, "Returns one ticket with its full body.", {"ticket_id": TEXT}, READ[1], ["ticket_id"]))
                 for n in names]
        return sum(investigate(pair, model=model, system=prompts.AGENT)[2] == 20 for pair in tools)

    assert guesses(SMALL) == 20 > guesses(MEDIUM) > guesses(LARGE) == 0


def test_a_guess_that_works_is_kept():
    lenient = reading(fn=lambda ticket_id: TICKETS[f"K-{ticket_id.lstrip('#')}"])
    text, calls, turns = investigate(with_tool(lenient))
    assert not set(read_in(calls)) & set(TICKETS) and len(read_in(calls)) == 15
    assert turns == USUAL[2] and text == USUAL[0]


def test_a_product_is_guessed_too_where_it_has_to_be_given():
    def incidents(product):
        assert product == "Desk"
        return INCIDENTS[1](product)

    bare = tool("list_incidents", "Returns the incidents of one product.", {"product": TEXT}, incidents, ["product"])
    text, calls, _ = investigate(with_tool(bare))
    asked = [given["product"] for name, given in calls if name == "list_incidents"]
    assert asked[0] != "Desk" and asked[1] == "Desk" and text == USUAL[0]


# --- tools that say the same -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [SMALL, MEDIUM, LARGE])
@pytest.mark.parametrize(("wrong", "right"), [
    (CUSTOMER, READ), (SEARCH, LIST), (SEARCH, READ), (READ, LIST), (TALLY, READ), (INCIDENTS, READ), (CUSTOMER, TALLY),
    (LIST, READ), (CUSTOMER, INCIDENTS)])
def test_of_two_tools_that_say_the_same_the_wrong_one_is_tried_first(wrong, right, model):
    text, calls, turns = investigate(with_tool(described(wrong, right[0]["description"])), model=model)
    pair = {wrong[0]["name"], right[0]["name"]}
    usual_text, usual_calls, usual_turns = investigate(ALL, model=model)
    assert turns == usual_turns + 1 and text == usual_text
    assert [c for c in calls if c[0] in pair] != [c for c in usual_calls if c[0] in pair]


def test_nearly_the_same_is_the_same_and_another_thing_is_not():
    same = described(CUSTOMER, "Returns  ONE ticket, with the full body")
    other = described(CUSTOMER, "Returns one customer with its full body.")
    assert investigate(with_tool(same))[1][3][0] == "get_customer"
    assert "get_customer" not in {name for name, _ in investigate(with_tool(other))[1]}


def test_the_default_tools_do_not_pass_for_each_other():
    tools = [{"name": t.name, "description": t.description, "input_schema": t.input_schema} for t in DEFAULT_TOOLS]
    assert len(toolbox(tools)) == 7 and not any(t.twins for t in toolbox(tools).values())


# --- vague tools -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("vague", ["Works with tickets in our system.", "Handles support data for you.", "A helper."])
def test_a_description_that_does_not_say_what_the_tool_does_is_vague(vague):
    text, calls, _ = investigate(with_tool(described(READ, vague)))
    assert not read_in(calls) and causes_in(text)


@pytest.mark.parametrize("short", ["The full text of one ticket.", "Gibt ein Ticket mit ganzem Text zurück.",
                                   "Fetch one support ticket by its id."])
def test_a_short_description_is_not_vague(short):
    assert len(read_in(investigate(with_tool(described(READ, short)))[1])) == 15


# --- several ids at once ---------------------------------------------------------------------------------------------


def several(ticket_id):
    wanted = ticket_id if isinstance(ticket_id, list) else ticket_id.split(",")
    return {"tickets": [TICKETS[i.strip()] for i in wanted if i.strip() in TICKETS], "not_found": []}


@pytest.mark.parametrize(("description", "schema", "calls"), [
    ("Returns tickets. Several ids may be passed at once, separated by commas.", ID, 2),
    ("Returns tickets with their full body.", {"description": "Up to 5 ticket ids, as listed."}, 3),
    ("Returns tickets with their full body.", {"description": "A list of ids, as listed.", "type": "array",
                                               "maxItems": 4}, 4),
    ("Liefert Tickets. Mehrere Ids auf einmal, durch Komma getrennt.", ID, 2),
    ("Returns one ticket. One ticket per call.", ID, 15),
    ("Returns one ticket. Never pass several ids at once.", ID, 15)])
def test_as_many_ids_are_passed_as_the_texts_allow(description, schema, calls):
    text, made, _ = investigate(with_tool(reading(description, fn=several, **schema)))
    assert len(read_in(made)) == calls and text == USUAL[0]
    assert all(isinstance(given, list) == (schema.get("type") == "array") for given in read_in(made))


def test_of_two_parameters_for_ids_the_one_for_several_is_used():
    either = tool("read_ticket", "Returns tickets with their full body.", {"ticket_id": ID, "ticket_ids": {
        "type": "array", "items": ID}}, lambda ticket_ids: several(ticket_ids))
    text, calls, _ = investigate(with_tool(either))
    assert len(read_in(calls)) == 2 and text == USUAL[0]


def test_a_promise_of_several_that_the_tool_does_not_keep_costs_one_call():
    text, calls, _ = investigate(with_tool(reading("Returns tickets. Pass several ids at once.", **ID)))
    assert len(read_in(calls)) == 16 and text == USUAL[0]


def test_tickets_that_a_result_leaves_out_are_asked_for_again_once():
    first = reading("Returns tickets. Pass several ids at once.", fn=lambda ticket_id: {
        "tickets": several(ticket_id)["tickets"][:6]}, **ID)
    text, calls, _ = investigate(with_tool(first))
    asked = Counter(id for given in read_in(calls) for id in given.split(","))
    assert set(asked) == set(TICKETS) and max(asked.values()) == 2 and text == USUAL[0]


# --- counting --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "first"), [(SMALL, 6), (MEDIUM, 12), (LARGE, 25)])
def test_without_a_tool_larger_groups_are_miscounted_later_by_larger_models(model, first):
    drift = {size: abs(by_itself("late delivery", [Seen(str(i)) for i in range(size)], model)[0] - size)
             for size in (3, first - 1, first, 2 * first, 200)}
    assert drift[3] == drift[first - 1] == 0 < drift[first] == 1
    assert 1 <= drift[2 * first] <= 2 and 1 <= drift[200] <= 200 // first


# --- results that are no longer there --------------------------------------------------------------------------------


def kept(tools, keep, system=prompts.AGENT, characters=0, most=60):
    """The loop with all but the newest `keep` results cleared, or with results cut to `characters`."""
    functions = {spec["name"]: fn for spec, fn in tools}
    messages, results, calls, said = [{"role": "user", "content": prompts.question(5, len(TICKETS))}], [], [], []
    for _ in range(most):
        content = [b for b in handle({"model": SMALL, "max_tokens": 8000, "system": system, "messages": messages,
                                      "tools": [spec for spec, _ in tools],
                                      "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}
                                     ).body["content"] if b["type"] != "thinking"]
        call = next((b for b in content if b["type"] == "tool_use"), None)
        said += [b["text"] for b in content if b["type"] == "text"]
        if call is None:
            return content[-1]["text"], calls, said
        calls.append((call["name"], call["input"]))
        text = json.dumps(functions[call["name"]](**call["input"]))
        if characters and len(text) > characters:
            text = f"{text[:characters]}\n[cut: {len(text) - characters} of {len(text)} characters left out]"
        results.append({"type": "tool_result", "tool_use_id": call["id"], "content": text})
        messages += [{"role": "assistant", "content": content}, {"role": "user", "content": [results[-1]]}]
        for old in results[:-keep] if keep else ():
            old["content"] = "[cleared: 400 characters]"
    raise AssertionError(f"no end after {most} turns: {calls[-5:]}")


@pytest.mark.parametrize("keep", [1, 2, 4, 8])
def test_facts_in_cleared_results_are_gone_from_the_answer_and_nothing_is_read_twice(keep):
    text, calls, _ = kept(ALL, keep)
    placed = {id for cause in causes_in(text) for id in cause["ticket_ids"]}
    assert len(placed) <= keep + 6 < len(TICKETS)
    assert max(Counter(read_in(calls)).values()) == 1


@pytest.mark.parametrize("keep", [1, 2, 4, 8])
@pytest.mark.parametrize("tools", [ALL, (LIST, READ)], ids=["all", "no tally"])
def test_noted_facts_outlive_the_results_they_came_from(keep, tools):
    text, calls, said = kept(tools, keep, NOTING)
    facts = [{k: v for k, v in cause.items() if k != "summary"} for cause in causes_in(text)]
    usual = [{k: v for k, v in cause.items() if k != "summary"} for cause in causes_in(investigate(tools)[0])]
    assert facts == usual
    assert any("K-0: duplicate charge (C-0, Desk)" in text.splitlines() for text in said)


def test_noted_incidents_and_counts_are_still_known_at_the_end():
    def incidents(product):
        detail = "Customers were charged twice." if product == "Desk I w" else "Nothing was lost."
        return {"incidents": [{"title": f"Fault in {product}", "detail": detail}]}

    def read(ticket_id):
        return {**TICKETS[ticket_id], "product": f"Desk {TICKETS[ticket_id]['body'][:3]}"}

    tools = (LIST, (READ[0], read), TALLY, (INCIDENTS[0], incidents))
    text, calls, said = kept(tools, 1, NOTING)
    asked = [given["product"] for name, given in calls if name == "list_incidents"]
    assert asked[0] == "Desk I w" != asked[-1]
    assert "Incident: Fault in Desk I w: Customers were charged twice." in "\n".join(said)
    assert "Fault in Desk I w" in causes_in(text)[0]["summary"]
    assert causes_in(text)[0]["count"] == len(causes_in(text)[0]["ticket_ids"]) == 8


@pytest.mark.parametrize(("line", "asked"), [
    ("After each ticket, note its id and cause.", True), ("Write down what you find.", True),
    ("Keep a running list of causes.", True), ("Take notes.", True), ("Notiere Id und Ursache.", True),
    ("Halte nach jedem Ticket die Ursache fest.", True), ("Do not take notes.", False),
    ("Note that tickets are long.", False), ("Read the release notes.", False), (prompts.AGENT, False)])
def test_notes_are_kept_where_the_prompt_asks_for_them(line, asked):
    assert notes.asked_for(line) == asked


def test_what_a_cut_result_still_shows_is_used():
    text, calls, _ = kept((LIST, READ, TALLY), 0, characters=300)
    rows = next(given["assignments"] for name, given in calls if name == "tally")
    assert 6 <= len(rows) < len(TICKETS)
    assert {r["ticket_id"] for r in rows} == set(read_in(calls)) <= set(TICKETS) and causes_in(text)
    short, _, _ = kept((LIST, READ, TALLY), 0, characters=60)
    assert len(causes_in(short)) < len(causes_in(text))


def test_thinking_in_the_conversation_changes_nothing():
    call = {"type": "tool_use", "id": "toolu_1", "name": "list_tickets", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": json.dumps(LIST[1]())}
    thought = {"type": "thinking", "thinking": "K-1: nothing at all (C-1, Desk)", "signature": "x"}

    def next_blocks(*said):
        return answer({"model": SMALL, "max_tokens": 900, "system": prompts.AGENT, "tools": [s for s, _ in ALL],
                       "messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": [*said, call]},
                                    {"role": "user", "content": [result]}]})

    assert next_blocks(thought) == next_blocks()


# --- a confused model ------------------------------------------------------------------------------------------------


def confused(done, **fields):
    messages = [{"role": "user", "content": prompts.question(5, 15)}]
    for i in range(done):
        call = {"type": "tool_use", "id": f"toolu_{i}", "name": "read_ticket", "input": {"ticket_id": f"K-{i}"}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{i}", "content": "nothing new"}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return answer({"model": SMALL, "max_tokens": 900, "system": prompts.AGENT, "messages": messages,
                   "tools": [s for s, _ in ALL], **fields}, Conditions(confused=True))


def test_a_confused_model_makes_its_last_call_again():
    assert confused(0)[-1]["name"] == confused(1)[-1]["name"] == "list_tickets"
    for done in (2, 3, 9):
        assert confused(done) == [{"type": "tool_use", "name": "read_ticket", "input": {"ticket_id": f"K-{done - 1}"}}]


def test_a_confused_model_that_may_not_call_tools_answers():
    assert [b["type"] for b in confused(5, tool_choice={"type": "none"})] == ["text"]
    assert confused(5, tool_choice={"type": "tool", "name": "tally"})[0]["name"] == "tally"
