"""Whatever a model answers: the numbers are counted from the data, and a run ends well or with a known error."""

import json
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from task_fakes import FakeModel, agent_model, catalog, first_text, six_tickets

from lib.errors import PlaygroundError
from lib.task.agent_shape import run_agent_shape
from lib.task.default_design import default_design
from lib.task.pipeline import run_pipeline
from lib.task.report import Report

TICKETS, CATALOG = six_tickets(), catalog()
DESIGN = replace(default_design(), k=2, workers=1, limits=replace(default_design().limits, max_turns=8))

IDS = st.sampled_from([*TICKETS.by_key] * 3 + ["T-99", "t-1", "", " T-1 ", 7])
GOOD = ["late mail", "Late  Mail.", "double charge", "lost booking"]
NAMES = st.sampled_from(GOOD * 12 + ["", "a/b", "x" * 90, "lаte mail", None, 3])
NUMBERS = st.sampled_from([*range(5)] * 12 + [-1, None, "2"])
WORDS = st.sampled_from(["you took my money", "It breaks.", "", "# big\n" * 900])
FRAMES = st.sampled_from(["%s"] * 12 + ["```json\n%s\n```", "So: %s Done.", "[%s]", "%s%s", "no json", "{%s"])
ODD = st.one_of(st.none(), st.booleans(), st.integers(-3, 9), st.text(max_size=8), st.lists(st.text(max_size=3)))


def mostly(strategy):
    return st.integers(0, 30).flatmap(lambda n: strategy if n else ODD)


def objects(**fields):
    return mostly(st.fixed_dictionaries({name: mostly(field) for name, field in fields.items()}))


def texts(answer):
    return st.builds(lambda frame, value: frame.replace("%s", json.dumps(value)), FRAMES, answer)


LABELS = texts(objects(cause=NAMES, evidence=WORDS))
MERGES = texts(objects(groups=st.lists(objects(cause=NAMES, labels=st.lists(NAMES, max_size=3)), max_size=4)))
SUMMARIES = texts(objects(summary=WORDS, ticket_ids=st.lists(IDS, max_size=3)))
CAUSES = objects(cause=NAMES, count=NUMBERS, ticket_ids=st.lists(IDS, min_size=1, max_size=4), customers=NUMBERS,
                 summary=WORDS)
ANSWERS = texts(objects(causes=st.lists(CAUSES, min_size=1, max_size=3)))
PLACED = objects(ticket_id=IDS, cause=NAMES)
CALLS = st.one_of(
    st.tuples(st.just("tally"), st.fixed_dictionaries({"assignments": mostly(st.lists(PLACED, max_size=6))})),
    st.tuples(st.sampled_from(["read_ticket", "get_customer", "list_incidents", "list_tickets", "nothing"]),
              st.fixed_dictionaries({}, optional={"ticket_id": IDS, "customer_id": IDS, "product": IDS,
                                                  "offset": NUMBERS})))
few_seconds = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@few_seconds
@given(st.lists(LABELS, min_size=6, max_size=12), st.lists(MERGES, min_size=2, max_size=2), st.lists(SUMMARIES,
                                                                                                     min_size=4))
def test_the_pipeline_counts_whatever_the_model_says(labels, merges, summaries):
    def answer(request):
        user = first_text(request)
        given = labels if user.startswith("<ticket") else merges if user.startswith("<labels") else summaries
        return given[len(model.requests) % len(given)]

    model = FakeModel(answer)
    assert_sound(lambda: run_pipeline(model, DESIGN, TICKETS, CATALOG))


@few_seconds
@given(st.lists(CALLS, max_size=6), st.lists(ANSWERS, min_size=2, max_size=2))
def test_the_agent_is_counted_whatever_it_does(calls, answers):
    turns = [*calls, *answers, *answers]
    assert_sound(lambda: run_agent_shape(agent_model(*turns), DESIGN, TICKETS, CATALOG))


def assert_sound(run):
    try:
        report = run()
    except PlaygroundError as ending:
        report = getattr(ending, "partial_report", None)
        if report is None:
            return
        assert report.partial
    assert report.total == 6 and set(report.labels) <= set(TICKETS.by_key) and len(report.causes) <= DESIGN.k
    for cause in report.causes:
        assert cause.tickets == tuple(key for key, name in report.labels.items() if name == cause.name)
        assert {c.id for c in cause.customers} == {TICKETS.by_key[key].customer for key in cause.tickets} - {""}
    assert report.other == len(report.labels) - sum(cause.count for cause in report.causes)
    assert [c.count for c in report.causes] == sorted((c.count for c in report.causes), reverse=True)
    placed = next(check for check in report.checks if check.name == "every ticket placed")
    assert placed.passed == (len(report.labels) == 6)
    assert all(len(check.detail) < 2_000 for check in report.checks)
    assert Report.from_dict(json.loads(json.dumps(report.to_dict()))) == report
