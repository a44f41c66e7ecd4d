"""The agent with models that answer well and models whose numbers are wrong."""

import json
from dataclasses import replace

import pytest
from task_fakes import agent_model, catalog, pipeline_model, six_tickets

from lib.client.layers import layered
from lib.errors import InputError, InvalidReply, ServerTrouble, Stopped, TurnLimit
from lib.task.agent_shape import run_agent_shape
from lib.task.default_design import default_design
from lib.task.pipeline import run_pipeline
from lib.task.report import Report
from lib.tickets.ticket import TicketSet

DESIGN = replace(default_design(), k=2)
TICKETS = six_tickets()
PLACED = {"T-1": "duplicate charge", "T-2": "duplicate charge", "T-3": "wrong time zone", "T-4": "duplicate charge",
          "T-5": "wrong time zone", "T-6": "missing manual"}
TALLY = ("tally", {"assignments": [{"ticket_id": key, "cause": cause} for key, cause in PLACED.items()]})
READ = [("read_ticket", {"ticket_id": key}) for key in PLACED]
CHARGE = {"cause": "duplicate charge", "count": 3, "ticket_ids": ["T-1", "T-2", "T-4"], "customers": 2,
          "summary": "Twice."}
CLOCK = {"cause": "wrong time zone", "count": 2, "ticket_ids": ["T-3", "T-5"], "customers": 2,
         "summary": "An hour off."}


def final(*causes):
    return json.dumps({"causes": causes or (CHARGE, CLOCK)})


def run(*turns, design=DESIGN):
    return run_agent_shape(agent_model(*turns), design, TICKETS, catalog())


def failed(report):
    return {(c.name, c.cause): c.detail for c in report.checks if not c.passed}


def test_a_good_answer_gives_the_report_the_pipeline_gives_and_only_the_data_fails_a_check():
    report = run(("list_tickets", {}), *READ, TALLY, final())
    same = run_pipeline(pipeline_model(), DESIGN, TICKETS, catalog())
    assert type(report) is type(same) is Report
    assert [(c.name, c.tickets, c.customers, c.products) for c in report.causes] == [
        (c.name, c.tickets, c.customers, c.products) for c in same.causes]
    assert (report.labels, report.other, report.total) == (same.labels, same.other, same.total)
    assert [c.claimed for c in report.causes] == [3, 2]
    assert failed(report) == {
        ("customers in the database", ""): "2 of 3 customers of these causes are in the database; not there: C-9"}


def test_the_model_gets_the_question_its_tools_and_one_call_at_a_time():
    model = agent_model(final())
    run_agent_shape(model, DESIGN, TICKETS, catalog())
    request, = model.requests
    assert request["messages"][0]["content"].startswith("There are 6 support tickets. What are the 2 most common")
    assert [t["name"] for t in request["tools"]] == [t.name for t in DESIGN.tools]
    assert request["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert (request["system"], request["max_tokens"]) == (DESIGN.steps["agent"].system, 8192)


def test_parallel_tools_or_no_tools_send_no_tool_choice():
    without = replace(DESIGN, tools=())
    for design in (replace(DESIGN, parallel_tools=True), without):
        model = agent_model(final())
        run_agent_shape(model, design, TICKETS, catalog())
        assert "tool_choice" not in model.requests[0]


def test_each_call_is_named_by_its_turn_also_a_correction():
    seen = []

    def note(call, call_next):
        seen.append((call.step, call.subject))
        return call_next(call)

    run_agent_shape(layered(agent_model(TALLY, "no json", final()), note), DESIGN, TICKETS, catalog())
    assert seen == [("agent", "turn 1"), ("agent", "turn 2"), ("agent", "turn 3")]


def test_an_invalid_answer_is_sent_back_with_the_reason():
    model = agent_model(final({**CHARGE, "count": "three"}), final())
    assert run_agent_shape(model, DESIGN, TICKETS, catalog()).causes[0].claimed == 3
    correction = model.requests[1]["messages"][-1]["content"]
    assert "cause 1: \"count\" must be a whole number, not a text ('three')" in correction


def test_an_answer_that_stays_invalid_fails_the_run_and_keeps_the_text():
    with pytest.raises(InvalidReply, match="final answer stayed invalid: ") as error:
        run("It is mostly billing.", "As I said, billing.")
    assert error.value.reply == "As I said, billing."


def test_a_miscount_is_told_and_the_report_counts_by_itself():
    report = run(TALLY, final({**CHARGE, "count": 4, "customers": 3}, CLOCK))
    assert (report.causes[0].count, report.causes[0].claimed) == (3, 4)
    assert failed(report)["counts", "duplicate charge"] == "claimed 4, counted 3"
    assert failed(report)["customers", "duplicate charge"] == "claimed 3, its tickets come from 2"


def test_unknown_tickets_count_nowhere():
    report = run(TALLY, final({**CHARGE, "ticket_ids": ["T-1", "T-2", "T-4", "T-77"], "count": 4}, CLOCK))
    assert report.causes[0].tickets == ("T-1", "T-2", "T-4")
    assert failed(report)["tickets exist", ""] == "5 of 6 ticket ids in the answer exist; unknown: T-77"
    assert failed(report)["counts", "duplicate charge"] == "claimed 4, counted 3"


def test_a_ticket_in_two_causes_counts_in_the_first():
    report = run(TALLY, final(CHARGE, {**CLOCK, "ticket_ids": ["T-3", "T-5", "T-4"], "count": 3}))
    assert report.causes[1].tickets == ("T-3", "T-5")
    assert "T-4 (duplicate charge, wrong time zone)" in failed(report)["one cause per ticket", ""]


def test_the_report_ranks_by_its_own_count_and_says_when_the_answer_does_not():
    report = run(TALLY, final(CLOCK, CHARGE))
    assert [c.name for c in report.causes] == ["duplicate charge", "wrong time zone"]
    assert failed(report)["ranking", ""] == "the answer's order is 2, 3 tickets"


def test_a_bigger_cause_of_its_own_tally_that_the_answer_leaves_out_is_told():
    manual = {"cause": "missing manual", "count": 1, "ticket_ids": ["T-6"], "customers": 0, "summary": "None."}
    report = run(TALLY, final(CHARGE, manual))
    assert failed(report)["ranking", ""] == "more frequent, but left out: wrong time zone (2)"
    assert report.other == 2


def test_without_a_tally_the_tickets_outside_the_answer_have_no_cause():
    report = run(final())
    assert failed(report)["every ticket placed", ""] == "5 of 6 tickets have a cause; without one: T-6"
    assert report.other == 0


def test_a_ticket_tallied_to_a_cause_but_missing_from_its_answer_is_not_placed_silently():
    report = run(TALLY, final({**CHARGE, "ticket_ids": ["T-1", "T-2"], "count": 2}, CLOCK))
    assert report.causes[0].count == 2 and "T-4" not in report.labels
    assert "without one: T-4" in failed(report)["every ticket placed", ""]


def test_a_renamed_tally_still_tells_where_the_other_tickets_belong():
    report = run(("count_all", TALLY[1]), final(), design=DESIGN.with_tool("tally", name="count_all"))
    assert report.labels == PLACED


def test_bad_assignments_in_a_tally_call_do_not_stop_the_report():
    bad = ("tally", {"assignments": [{"ticket_id": "T-6", "cause": ""}, {"ticket_id": "T-404", "cause": "x"}, "T-6"]})
    assert "without one: T-6" in failed(run(bad, final()))["every ticket placed", ""]


def test_a_ticket_twice_in_one_tally_belongs_where_the_tool_counted_it():
    twice = [{"ticket_id": "T-6", "cause": "first"}, {"ticket_id": "T-6", "cause": "second"}]
    assert run(("tally", {"assignments": twice}), final()).labels["T-6"] == "first"


def test_tickets_that_were_never_opened_are_told():
    assert failed(run(TALLY, final()))["tickets read", ""] == (
        "0 of 6 tickets with a cause were read; not read: T-1, T-2, T-4, T-3, T-5, T-6")
    design = DESIGN.with_tool("read_ticket", name="open_ticket")
    renamed = [("open_ticket", arguments) for _, arguments in READ]
    assert ("tickets read", "") not in failed(run(*renamed, TALLY, final(), design=design))


@pytest.mark.parametrize("arguments", [{"ticket_id": ", ".join(PLACED)}, {"ticket_ids": list(PLACED)}])
def test_tickets_that_were_opened_together_count_as_read(arguments):
    anything = {"type": "object"}
    report = run(("read_ticket", arguments), TALLY, final(), design=DESIGN.with_tool("read_ticket",
                                                                                     input_schema=anything))
    assert ("tickets read", "") not in failed(report)


def test_a_call_that_failed_read_nothing():
    report = run(("read_ticket", {"ticket_id": list(PLACED)}), TALLY, final())      # the schema takes one text
    assert failed(report)["tickets read", ""].startswith("0 of 6 tickets with a cause were read")


def sent(design):
    """The requests of an agent that reads two tickets, tallies and answers."""
    model = agent_model(*READ[:2], TALLY, final())
    run_agent_shape(model, design, TICKETS, catalog())
    return model.requests


def results(request):
    return [block["content"] for message in request["messages"][2::2] for block in message["content"]]


def test_old_results_leave_the_request_but_not_the_checks():
    design = replace(DESIGN, keep_results=1, result_chars=20)
    last = results(sent(design)[-1])
    assert [text.startswith("[cleared by the context policy: ") for text in last] == [True, True, False]
    assert "characters left out]" in last[-1]
    report = run(*READ, TALLY, final(), design=design)
    assert report == run(*READ, TALLY, final())


def test_a_policy_on_results_does_not_look_like_repeating():
    """Cleared results are all alike; what counts repeats has to see the real ones."""
    report = run(*READ, ("list_tickets", {}), TALLY, final(), design=replace(DESIGN, result_chars=1, keep_results=1))
    assert report.causes[0].count == 3


@pytest.mark.parametrize(("caching", "mark"), [
    ("off", None), ("auto-5m", {"type": "ephemeral"}), ("auto-1h", {"type": "ephemeral", "ttl": "1h"})])
def test_every_turn_is_marked_for_the_cache_as_designed(caching, mark):
    assert [request.get("cache_control") for request in sent(replace(DESIGN, caching=caching))] == [mark] * 4


def test_the_system_prompt_alone_can_be_marked():
    block, = sent(replace(DESIGN, caching="system"))[0]["system"]
    assert block == {"type": "text", "text": DESIGN.steps["agent"].system, "cache_control": {"type": "ephemeral"}}


def test_fewer_causes_than_asked_for_are_told_when_tickets_are_left():
    assert failed(run(final(CHARGE)))["ranking", ""] == (
        "2 causes were asked for, 1 given, 3 tickets have no cause")


def test_an_answer_of_unknown_tickets_only_is_an_empty_report_that_says_so():
    report = run(final({**CHARGE, "ticket_ids": ["X-1", "X-2", "X-3"]}))
    assert report.causes == () and report.labels == {}
    assert failed(report)["tickets exist", ""] == "0 of 3 ticket ids in the answer exist; unknown: X-1, X-2, X-3"
    assert failed(report)["counts", "duplicate charge"] == "claimed 3, counted 0"


@pytest.mark.parametrize(("ending", "error"), [
    (("It is billing.", "Billing."), InvalidReply), ((Stopped("you stopped it"),), Stopped),
    ((ServerTrouble("overloaded"),), ServerTrouble), ((("list_tickets", {}),), TurnLimit)])
def test_a_run_without_an_answer_still_reports_what_it_had_tallied(ending, error):
    design = replace(DESIGN, limits=replace(DESIGN.limits, max_turns=len(READ) + 2))
    with pytest.raises(error) as raised:
        run(*READ, TALLY, *ending, design=design)
    report = raised.value.partial_report
    assert [(c.name, c.count, c.claimed) for c in report.causes] == [
        ("duplicate charge", 3, None), ("wrong time zone", 2, None)]
    assert report.partial == failed(report)["run finished", ""]
    assert report.partial.endswith(f"the run ended early: {raised.value}")


def test_a_run_that_ends_before_anything_is_tallied_has_no_partial_report():
    with pytest.raises(Stopped) as raised:
        run(("tally", {"assignments": "all"}), ("tally", {"assignments": [{"ticket_id": "T-99", "cause": "x"}]}),
            Stopped("stopped"))
    assert not hasattr(raised.value, "partial_report")


BAD_CALLS = [
    ("list_tickets", {"limit": 10**9}), ("list_tickets", {"offset": -1}), ("list_tickets", {"page": 2}),
    ("read_ticket", {"ticket_id": "T-1' OR 1=1 --"}), ("read_ticket", {}), ("get_customer", {"customer_id": "'; DROP"}),
    ("search_tickets", {"query": ""}), ("no_such_tool", {"x": 1}), ("tally", {}),
    ("tally", {"assignments": [{"ticket_id": f"X-{i}", "cause": f"cause {i}"} for i in range(1_000)]}),
]


def test_wrong_tool_calls_are_answered_and_change_nothing_in_the_report():
    model = agent_model(*BAD_CALLS, *READ, TALLY, final())
    report = run_agent_shape(model, DESIGN, TICKETS, catalog())
    assert report == run(*READ, TALLY, final())
    results = [m["content"][0] for m in model.requests[-1]["messages"][2::2]][:len(BAD_CALLS)]
    assert [r.get("is_error", False) for r in results] == [True] * (len(BAD_CALLS) - 1) + [False]
    assert len(results[-1]["content"]) < 5_000


def test_a_cause_without_summary_is_told():
    assert failed(run(TALLY, final({**CHARGE, "summary": ""}, CLOCK)))["summary", "duplicate charge"] == (
        "no summary was given")


def test_the_turn_limit_of_the_design_ends_the_loop():
    design = replace(DESIGN, limits=replace(DESIGN.limits, max_turns=2))
    with pytest.raises(TurnLimit):
        run(("list_tickets", {}), ("list_tickets", {}), final(), design=design)


def test_a_stop_goes_through():
    with pytest.raises(Stopped):
        run(("list_tickets", {}), Stopped("stopped"))


def test_a_run_without_tickets_is_refused():
    with pytest.raises(InputError, match="no tickets"):
        run_agent_shape(agent_model(final()), DESIGN, TicketSet("none", ()), catalog())
