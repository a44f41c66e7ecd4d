"""After a run: the estimate of each step and of each request, held against what was reported."""

from __future__ import annotations

from dataclasses import replace

import pytest
import seeds
from reading import literal, markup, sound

from lib.usage.tokens import estimate_request


@pytest.fixture
def checks(visit):
    def opened():
        app = visit("run", "g1")
        app.session_state["run.tabs"] = "Checks"
        app.run()
        sound(app)
        return app
    return opened


def held(app):
    return next(frame.value for frame in app.dataframe if "input off" in frame.value.columns)


def test_each_step_is_held_against_its_estimate(checks, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "pipeline")
    app = checks()
    rows = held(app).set_index("step")
    assert list(rows.index) == ["label", "merge", "summary", "all"]
    # 40 labels of 560 + 3 i tokens; a merge of 900; 5 summaries of 1,500
    assert list(rows["input"]) == [24_740, 900, 7_500, 33_140] and list(rows["calls"]) == [40, 1, 5, 46]
    assert rows["input est."]["label"] == 23_855 and rows["input off"]["label"] == "−4 %"
    assert ("The pipeline sent 33.1k input tokens, 37.7k were estimated: 14 % too high, outside its range of 33k–45k."
            in literal(app))


def test_only_a_run_that_came_to_its_end_is_held_against_an_estimate(checks, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "pipeline", status="stopped", partial="stopped by you")
    assert "Held against the estimate" not in markup(checks())


def test_of_a_simulated_run_no_request_is_held_against_its_own_arithmetic(checks, store, sample):
    for shape in ("pipeline", "agent"):
        seeds.add_run(store, sample.tickets, sample.id, shape)
    assert literal(checks()).count("Request by request nothing can be said") == 1


def test_of_another_run_each_request_is_held_against_its_report(checks, store, sample):
    run = seeds.add_run(store, sample.tickets, sample.id, "agent", group="g0", source="live")
    run = replace(run, id="mine", group="g1", source="live")
    store.add_run(run)
    request = {"model": "claude-haiku-5-5", "messages": [{"role": "user", "content": "Why was I charged twice?"}]}
    told = estimate_request(request)
    for fresh in (told, 2 * told):
        store.add_call(seeds._row(run, "agent", "", 1_000.0, fresh), request, None)
    text = literal(checks())
    assert "the estimates of 2 were off by 25.0 % on average and 50.0 % at most, 33 % too low taken together" in text


def test_a_run_that_reported_nothing_is_not_held_against_anything(checks, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "pipeline", reported=False, priced=False, source="live")
    app = checks()
    assert "not every call reported its tokens" in literal(app) and "no reply reported its input" in literal(app)
    assert set(held(app)["input off"]) == {"–"} and set(held(app)["dollars"]) == {"no price"}
