"""The forecast: its arithmetic and its directions."""

from dataclasses import replace

import pytest
from task_fakes import ticket

from lib.models import DEFAULT_MODEL
from lib.runs.store import CallRow
from lib.task.default_design import default_design
from lib.task.forecast import (
    ROUGH,
    SAMPLE,
    _sample,
    agent_parts,
    distinct_labels,
    first_requests,
    forecast,
    held_against,
    merge_levels,
)
from lib.task.problems import problems
from lib.task.prompts import render_ticket
from lib.tickets.ticket import TicketSet
from lib.usage.prices import cost, prices_for
from lib.usage.tokens import estimate_request
from tests.sets import both_sets, run, usual
from tests.sets import tickets as sample_tickets

DESIGN = default_design()
BODY = "Since Monday the invoices that go out to our clients show last month's total. " * 15


def tickets(number):
    return TicketSet("many", tuple(ticket(f"T-{i}", f"{i} {BODY}", "C-1", "P-1") for i in range(number)))


def unlimited(design=DESIGN):
    return replace(design, limits=replace(design.limits, max_turns=1_000))


def test_the_label_step_is_the_sum_of_its_rendered_prompts():
    step = DESIGN.steps["label"]
    exact = sum(estimate_request({"model": step.model, "system": step.system,
                                  "messages": [{"role": "user", "content": render_ticket(t)}]})
                for t in tickets(40).tickets)
    told = forecast(DESIGN, tickets(40))["pipeline"]
    assert exact < told.input_tokens < 1.6 * exact
    assert told.calls == 40 + 1 + 5


def test_the_agents_input_follows_the_law():
    turns = [c.input for c in agent_parts(unlimited(), tickets(40))]
    a, d, n = turns[0], turns[1] - turns[0], len(turns)
    assert n == 2 + 40 + 3         # pages, tickets; tally, incidents, answer
    assert forecast(unlimited(), tickets(40))["agent"].input_tokens == round(a * n + d * n * (n - 1) / 2)


def test_twice_the_tickets_double_the_pipeline_and_nearly_quadruple_the_agent():
    small, large = (forecast(unlimited(), tickets(n)) for n in (100, 200))
    assert 1.5 < large["pipeline"].input_tokens / small["pipeline"].input_tokens < 2.1
    assert 3.4 < large["agent"].input_tokens / small["agent"].input_tokens < 4.1


def test_the_turn_limit_bounds_the_agent():
    told = forecast(DESIGN, tickets(400))["agent"]
    assert told.calls == DESIGN.limits.max_turns == 60
    assert told.note == "reading every ticket takes about 423 turns, the limit is 60"
    assert forecast(DESIGN, tickets(40))["agent"].note == ""


def test_an_agent_that_would_outgrow_the_window_is_told():
    small = unlimited(DESIGN.with_step("agent", model="local-model"))
    assert "local-model holds 32,000" in forecast(small, tickets(100))["agent"].note


def test_parallel_tools_save_turns_and_tokens():
    one, several = (forecast(replace(DESIGN, parallel_tools=p), tickets(40))["agent"] for p in (False, True))
    assert several.calls < one.calls and several.input_tokens < one.input_tokens


def cached(caching, design=DESIGN, number=40):
    plain, marked = (forecast(replace(design, caching=c), tickets(number)) for c in ("off", caching))
    assert all(plain[shape].input_tokens == marked[shape].input_tokens for shape in plain)
    return {shape: marked[shape].usd / plain[shape].usd for shape in plain}


def test_an_agent_reads_from_the_cache_what_it_sent_before():
    assert cached("auto-5m", unlimited())["agent"] < 0.4
    assert cached("auto-5m", unlimited())["agent"] < cached("auto-1h", unlimited())["agent"] < 1
    assert cached("auto-5m", unlimited())["agent"] < cached("system", unlimited())["agent"] < 1


def test_a_pipeline_pays_for_marking_what_no_other_call_begins_with():
    small = DESIGN.with_step("label", model="claude-haiku-4-5")     # takes no prompt under 4,096 tokens
    assert cached("auto-1h", number=40)["pipeline"] > cached("auto-5m")["pipeline"] > 1
    assert cached("auto-5m", small)["pipeline"] < 1.02


def test_a_marked_system_prompt_pays_off_from_the_models_minimum_on():
    assert cached("system")["pipeline"] == pytest.approx(1)
    long = DESIGN.with_step("label", system=DESIGN.steps["label"].system * 8)
    assert cached("system", long)["pipeline"] < 0.6


def test_what_caching_cannot_do_is_told_before_it_is_paid_for():
    def note(shape, **change):
        return forecast(replace(DESIGN, **change), tickets(40))[shape].note

    assert note("pipeline", caching="system").startswith("Haiku 5.5 caches from 512 tokens on, the label prompt has ")
    assert note("pipeline", caching="auto-5m").endswith("is paid for and never read")
    assert note("agent", caching="auto-5m") == note("agent", caching="system") == ""
    assert note("agent", keep_results=3) == (
        "the agent does not know what is cleared or cut: it may end early, read again, or answer without it")
    assert note("agent", keep_results=3, caching="auto-1h").endswith("; the cache no longer fits either")


def test_the_first_call_of_a_cached_step_takes_its_own_time():
    assert forecast(replace(DESIGN, caching="system"), tickets(40))["pipeline"].seconds > (
        forecast(DESIGN, tickets(40))["pipeline"].seconds)


def test_clearing_old_results_flattens_the_agents_input_and_spoils_its_cache():
    kept, cleared = unlimited(), replace(unlimited(), keep_results=3)
    whole, rest = ([c.input for c in agent_parts(design, tickets(40))] for design in (kept, cleared))
    assert rest[:4] == whole[:4] and all(a < b for a, b in zip(rest[4:], whole[4:], strict=True))
    assert sum(rest) < 0.5 * sum(whole)
    assert cached("auto-5m", cleared)["agent"] > 1


def test_cut_results_and_plain_prompts_are_counted_as_they_are_sent():
    before, cut, plain = (forecast(replace(DESIGN, **change), tickets(40))
                          for change in ({}, {"result_chars": 300}, {"tags": False}))
    assert cut["agent"].input_tokens < 0.8 * before["agent"].input_tokens
    assert plain["pipeline"].input_tokens < before["pipeline"].input_tokens


def test_a_model_that_thinks_says_more_than_one_that_does_not():
    thinks, does_not = (forecast(DESIGN.with_step("label", model=m), tickets(40))["pipeline"].output_tokens
                        for m in ("claude-sonnet-5-5", "claude-sonnet-4-6"))
    # the older family needs 1.12 / 1.4 of the tokens for the same text
    assert thinks - does_not == pytest.approx(40 * (56 + 2 * (25 + 56 / 2) - 56 * 1.12 / 1.4), rel=0.01)


def test_a_model_without_a_price_makes_its_shape_unpriced_not_free():
    told = forecast(DESIGN.with_step("merge", model="local-model"), tickets(40))
    assert told["pipeline"].usd is None and told["agent"].usd > 0
    assert forecast(DESIGN.with_step("agent", model="local-model"), tickets(40))["agent"].usd is None


def test_more_workers_take_less_time_and_the_agent_takes_turns():
    eight, two = (forecast(replace(DESIGN, workers=w), tickets(40))["pipeline"].seconds for w in (8, 2))
    one = forecast(replace(DESIGN, workers=1), tickets(40))["pipeline"].seconds
    assert eight < two < one
    labels_saved = 40 - 20, 5 - 3       # rounds of label and of summary calls that a second worker saves
    assert one - two == pytest.approx(labels_saved[0] * 2.8 + labels_saved[1] * 4.6, rel=0.1)     # seconds a call
    agent = forecast(DESIGN, tickets(40))["agent"]
    assert agent.seconds > agent.calls * 2.0


def test_nothing_costs_nothing():
    told = forecast(DESIGN, TicketSet("none", ()))
    assert {(f.calls, f.input_tokens, f.usd) for f in told.values()} == {(0, 0, 0.0)}


@pytest.mark.parametrize("broken", [
    replace(DESIGN, k=-2), replace(DESIGN, k="5"), replace(DESIGN, workers=0), replace(DESIGN, workers=2.5),
    replace(DESIGN, limits=replace(DESIGN.limits, max_turns=0)), replace(DESIGN, steps={}),
    replace(DESIGN, caching="always"), replace(DESIGN, keep_results=-1), replace(DESIGN, result_chars=None),
    DESIGN.with_step("merge", model=None), DESIGN.with_step("label", model="")])
def test_a_design_that_cannot_run_gets_unknowns_and_the_reason(broken):
    for told in forecast(broken, tickets(3)).values():
        assert (told.calls, told.input_tokens, told.output_tokens, told.usd, told.seconds) == (None,) * 5
        assert told.note == next(p.text for p in problems(broken))


def test_problems_that_change_no_figure_leave_the_forecast():
    for design in (DESIGN.with_step("label", system=""), DESIGN.with_tool("tally", name=None, input_schema=None)):
        assert problems(design) and forecast(design, tickets(3))["pipeline"].input_tokens > 0


@pytest.mark.parametrize(("number", "labels"), [(1, 1), (3, 3), (40, 23), (1_000, 134)])
def test_distinct_labels_grow_slower_than_tickets(number, labels):
    assert distinct_labels(number) == labels


def test_of_many_tickets_a_sample_is_counted():
    assert [len(_sample(tickets(n))) for n in (40, SAMPLE, SAMPLE + 1, 20_000)] == [40, SAMPLE, 101, SAMPLE]


def test_without_the_tokenizer_the_forecast_says_how_it_counted(monkeypatch):
    assert forecast(DESIGN, tickets(3))["pipeline"].note == ""
    monkeypatch.setattr("lib.task.forecast.is_exact", lambda: False)
    assert {told.note for told in forecast(DESIGN, tickets(3)).values()} == {ROUGH}
    assert "the limit is 60" in forecast(DESIGN, tickets(400))["agent"].note      # what ends a run comes first


# --- held against runs -----------------------------------------------------------------------------------------------

PRICES = prices_for([DEFAULT_MODEL])


def called(ran) -> list[CallRow]:
    """The rows that the ledger would have written."""
    usages = zip((step for step, _, _ in ran.exchanges), ran.usages(), strict=True)
    return [CallRow(0, "r", step, "", DEFAULT_MODEL, 0.0, 1.0, "end_turn", **vars(u),
                    usd=cost(PRICES, DEFAULT_MODEL, u.fresh, u.write_5m, u.write_1h, u.cache_read, u.output))
            for step, u in usages]


def held(shape, name, **changes):
    design = replace(DESIGN, **changes)
    told, calls = forecast(design, sample_tickets(name))[shape], called(run(shape, name, design))
    return told, {measure: held_against(told, calls, measure) for measure in ("input", "output", "usd", "calls")}


@both_sets
@pytest.mark.parametrize("caching", ["off", "auto-5m", "system"])
def test_the_pipelines_forecast_is_within_a_tenth_and_its_range_holds_the_truth(name, caching):
    told, rows = held("pipeline", name, caching=caching)
    for measure in ("input", "usd"):
        assert abs(rows[measure][-1].off) < 0.1
        assert getattr(told.low, measure) <= rows[measure][-1].actual <= getattr(told.high, measure)
    assert [row.step for row in rows["input"]] == ["label", "merge", "summary", "all"]
    assert abs(rows["input"][0].off) < 0.02 and all(abs(row.off) < 0.25 for row in rows["input"])
    assert [row.off for row in rows["calls"]] == [0] * 4


@both_sets
@pytest.mark.parametrize("changes", [{}, {"parallel_tools": True}, {"caching": "auto-5m"}, {"result_chars": 600}],
                         ids=["usual", "parallel", "cached", "cut"])
def test_the_range_of_the_agent_holds_the_truth(name, changes):
    told, rows = held("agent", name, **changes)
    for measure in ("input", "output", "usd", "calls"):
        assert getattr(told.low, measure) <= rows[measure][-1].actual <= getattr(told.high, measure)
    if not changes:
        assert abs(rows["input"][-1].off) < 0.1 and abs(rows["usd"][-1].off) < 0.1


def test_the_range_is_around_the_forecast_and_says_why():
    for told in forecast(DESIGN, tickets(40)).values():
        assert told.low.input < told.input_tokens < told.high.input and told.low.usd < told.usd < told.high.usd
        assert any("up to 10 %" in reason for reason in told.reasons)
    told = forecast(DESIGN, tickets(40))["agent"]
    assert told.reasons[0].startswith("it may ") and "50 % more turns" in told.reasons[1]
    assert any("sent back" in reason for reason in forecast(DESIGN, tickets(40))["pipeline"].reasons)
    stubborn = replace(DESIGN, retries=0)
    assert not any("sent back" in reason for reason in forecast(stubborn, tickets(40))["pipeline"].reasons)


def test_the_range_keeps_to_the_turn_limit():
    assert forecast(DESIGN, tickets(400))["agent"].high.calls == 60


def test_the_steps_add_up_to_the_forecast():
    for told in forecast(DESIGN, tickets(40)).values():
        assert sum(step.calls for step in told.steps) == told.calls
        assert sum(step.input for step in told.steps) == pytest.approx(told.input_tokens, abs=2)
        assert sum(step.usd for step in told.steps) == pytest.approx(told.usd)


@pytest.mark.parametrize(("labels", "levels"), [
    (1, [1]), (150, [150]), (151, [151, 84]), (1_000, [1_000, 550, 303, 167])])
def test_labels_are_merged_as_a_tree(labels, levels):
    assert merge_levels(labels) == levels


def test_what_was_not_foreseen_and_what_was_not_reported_is_told():
    def row(step, fresh):
        return CallRow(0, "r", step, "", DEFAULT_MODEL, 0.0, 1.0, None, fresh, 0, 0, 0, 1, 0, None)

    told = forecast(DESIGN, tickets(3))["agent"]
    agent, extra, whole = held_against(told, [row("agent", None), row("compact", 500)])
    assert (agent.forecast, agent.actual, agent.off) == (told.input_tokens, None, None)
    assert (extra.step, extra.forecast, extra.actual, extra.off) == ("compact", 0, 500, -1)
    assert (whole.step, whole.actual) == ("all", 500)
    assert held_against(told, [])[-1].actual == 0 and held_against(told, [])[-1].off is None


def test_the_first_requests_are_those_that_the_run_sends():
    told = first_requests(DESIGN, sample_tickets("fernhill"))
    sent = {"label": usual("pipeline", "fernhill"), "agent": usual("agent", "fernhill")}
    for step, ran in sent.items():
        first = min((request for request, _ in ran.step(step)), key=lambda request: len(request["messages"]))
        if step == "label":
            bodies = [request["messages"] for request, _ in ran.step(step)]
            assert told[step]["messages"] in bodies and told[step]["system"] == first["system"]
        else:
            assert all(told[step][name] == first[name] for name in told[step])


def test_other_prices_make_another_forecast_of_the_same_tokens():
    dear = {"models": {DEFAULT_MODEL: {"input": 1_000.0, "output": 0.0, "tiers": []}}}
    told, listed = forecast(DESIGN, tickets(40), dear)["agent"], forecast(DESIGN, tickets(40))["agent"]
    assert told.usd == pytest.approx(told.input_tokens / 1_000, rel=1e-3) and told.input_tokens == listed.input_tokens
    assert forecast(DESIGN, tickets(40), {"models": {}})["agent"].usd is None
