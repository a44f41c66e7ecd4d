"""Both shapes on the sample, through the real SDK over the simulated Messages API: the figures of the README."""

import math
from collections import Counter

import pytest

from lib.models import DEFAULT_MODEL
from lib.task import SHAPES
from lib.task.default_design import default_design
from lib.task.forecast import forecast
from lib.usage.growth import fit
from lib.usage.prices import cost, prices_for
from tests.sets import catalog, tickets, usual

SAMPLE = "fernhill"


@pytest.fixture(params=SHAPES)
def shape(request):
    return request.param


@pytest.fixture
def ran(shape):
    return usual(shape, SAMPLE)


@pytest.fixture
def report(ran):
    return ran.report


def test_the_calls_and_tokens_are_those_of_the_readme(shape, ran):
    told = {step: (len(ran.step(step)), sum(usage.fresh for usage in ran.usages(step)))
            for step in ("label", "merge", "summary", "agent") if ran.step(step)}
    assert told == {"pipeline": {"label": (40, 23_855), "merge": (1, 537), "summary": (5, 15_226)},     # 39,618 in all
                    "agent": {"agent": (45, 672_309)}}[shape]


def test_output_and_price_are_those_of_the_readme(shape, ran):
    output, thinking = (sum(getattr(u, part) for u in ran.usages()) for part in ("output", "thinking"))
    prices = prices_for([DEFAULT_MODEL])
    usd = sum(cost(prices, DEFAULT_MODEL, u.fresh, 0, 0, 0, u.output) for u in ran.usages())
    assert (output, thinking, f"{usd:.2g}") == {"pipeline": (6_252, 2_801, "0.0071"),
                                                "agent": (6_393, 1_803, "0.07")}[shape]


def test_the_agents_time_and_law_are_those_of_the_readme():
    agent = usual("agent", SAMPLE)
    found = fit([usage.fresh for usage in agent.usages()])
    assert round(agent.seconds) == 149
    assert (round(found.a, -2), round(found.d, -1), math.ceil(2 * found.a / found.d + 1)) == (2_800, 550, 12)


def test_the_top_five_are_those_of_the_readme(report):
    assert [(cause.name, cause.count) for cause in report.causes] == [
        ("single sign-on broken", 9), ("duplicate charge", 7), ("time zone shift", 6), ("export cut off", 5),
        ("emails land in spam", 4)]


def test_the_forecast_was_right_within_a_third(shape, ran):
    told = forecast(default_design(), tickets(SAMPLE))[shape]
    assert abs(told.input_tokens / ran.input - 1) < 0.34
    assert abs(told.output_tokens / sum(usage.output for usage in ran.usages()) - 1) < 0.34


def test_every_ticket_is_placed_and_every_check_but_the_databases_gap_passes(report):
    assert len(report.labels) == report.total == 40
    assert [(c.name, c.detail) for c in report.checks if not c.passed] == [
        ("customers in the database", "20 of 22 customers of these causes are in the database; "
                                      "not there: C-1987, C-2093; tickets that name no customer: T-1029"),
        ("products in the database", "7 of 9 products of these causes are in the database; "
                                     "not there: Login page, Fernhill Calendar")]


def test_the_affected_customers_are_exactly_those_of_the_causes_tickets(report):
    known = {row["customer_id"]: row for row in catalog(SAMPLE).rows("customers", 1_000)}
    for cause in report.causes:
        named = Counter(customer for key in cause.tickets if (customer := tickets(SAMPLE).by_key[key].customer))
        assert {c.id: c.tickets for c in cause.customers} == named
        assert all(c.known == (c.id in known) for c in cause.customers)
        assert all(c.monthly_revenue == known[c.id]["monthly_revenue"] for c in cause.customers if c.known)
