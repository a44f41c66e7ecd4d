"""The what-if on small records whose figures can be followed by hand."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from lib.usage.prices import prices_for
from lib.usage.reported import Usage
from lib.usage.tokens import estimate_request
from lib.usage.what_if import Exchange, Policy, ladder, predict
from lib.usage.what_if.requests import FINDING, asked_under

HAIKU, OLD_HAIKU, OPUS = "claude-haiku-5-5", "claude-haiku-4-5", "claude-opus-5-5"
PRICES = prices_for([HAIKU, OLD_HAIKU, OPUS])
LONG = "Name the root cause of the ticket in a few plain words. " * 60


def answered(request, started=0.0, seconds=2.0, step="agent", subject="", more=0, reply=(), **usage):
    """A recorded call that reports its estimate and `more`, unless `usage` says otherwise."""
    reported = {"fresh": estimate_request(request) + more, "write_5m": 0, "write_1h": 0, "cache_read": 0, "output": 50,
                **usage}
    return Exchange(step, subject, request["model"], request, list(reply), Usage(**reported), started, seconds)


def labels(count, system=LONG, **how):
    """A pipeline's calls, all begun at once."""
    prompts = [[{"role": "user", "content": f"Ticket {n} is late"}] for n in range(count)]
    return [answered({"model": HAIKU, "system": system, "messages": prompt}, step="label", subject=f"T-{n}", **how)
            for n, prompt in enumerate(prompts)]


def conversation(turns, gap=0.0, more=0, words=120, **fields):
    """An agent that lists tickets and then reads one each turn."""
    messages, found = [{"role": "user", "content": LONG}], []
    for turn in range(turns):
        request = {"model": HAIKU, "messages": list(messages), **fields}
        name, given = ("read", {"ticket_id": f"T-{turn}"}) if turn else ("list", {"offset": 0})
        call = {"type": "tool_use", "id": f"toolu_{turn}", "name": name, "input": given}
        found.append(answered(request, turn * (2.0 + gap), subject=f"turn {turn + 1}", more=more * (turn + 1),
                              reply=[call]))
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": f"Ticket {turn}: " + "late " * words}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return found


def split(call):
    return call.fresh, call.write_5m, call.write_1h, call.read


# --- what is kept ----------------------------------------------------------------------------------------------------


def test_as_recorded_is_what_was_reported_to_the_token():
    record = [answered(conversation(1)[0].request, fresh=3, write_5m=5, write_1h=7, cache_read=11, output=13)]
    found = predict(record, Policy(), PRICES)
    assert split(found.calls[0]) == (3, 5, 7, 11) and (found.input, found.output, found.seconds) == (26, 13, 2.0)
    assert found.usd == pytest.approx((3 * 0.1 + 5 * 0.125 + 7 * 0.2 + 11 * 0.01 + 13 * 0.5) / 1e6)
    assert found.notes == ()


def test_a_batch_costs_half_and_promises_no_time():
    record = conversation(3)
    found = predict(record, Policy(batch=True), PRICES)
    assert found.usd == pytest.approx(predict(record, Policy(), PRICES).usd / 2)
    assert found.seconds is None and {call.seconds for call in found.calls} == {None}
    assert "3 batches one after another" in found.notes[1]


def test_no_call_is_made_shorter_or_longer_by_what_is_marked_in_it():
    record = conversation(5, more=37)
    for caching in ("off", "auto-5m", "auto-1h", "system"):
        found = predict(record, Policy(caching=caching), PRICES)
        assert [call.input for call in found.calls] == [e.usage.fresh for e in record]


# --- the prompt cache ------------------------------------------------------------------------------------------------


def test_a_turn_reads_just_what_was_reported_for_the_turn_before():
    """37 tokens a turn more than the estimate: as the API may count them."""
    record = conversation(6, more=37)
    reported = [exchange.usage.fresh for exchange in record]
    calls = predict(record, Policy(caching="auto-5m"), PRICES).calls
    assert [call.read for call in calls] == [0, *reported[:-1]]
    assert [call.write_5m for call in calls] == [b - a for a, b in zip([0, *reported], reported, strict=False)]


def test_after_five_minutes_a_short_entry_is_gone_and_a_long_one_is_not():
    record = conversation(3, gap=360)
    short, long = (predict(record, Policy(caching=caching), PRICES).calls for caching in ("auto-5m", "auto-1h"))
    assert [call.read for call in short] == [0, 0, 0] and [call.write_5m for call in short] == [c.input for c in short]
    assert [call.read for call in long] == [0, *(call.input for call in long[:-1])]


def test_marks_of_the_recorded_run_are_taken_off():
    marked = [{"type": "text", "text": LONG, "cache_control": {"type": "ephemeral"}}]
    automatic = {"cache_control": {"type": "ephemeral"}}
    record = [answered({**exchange.request, "system": marked, **automatic}) for exchange in conversation(3)]
    calls = predict(record, Policy(caching="off"), PRICES).calls
    assert [split(call) for call in calls] == [(e.usage.fresh, 0, 0, 0) for e in record]


def test_of_calls_that_began_at_once_one_goes_ahead_and_the_others_read_what_it_wrote():
    found = predict(labels(4), Policy(caching="system"), PRICES)
    first, *others = found.calls
    assert first.write_5m > 512 and first.read == 0
    assert {(call.write_5m, call.read) for call in others} == {(0, first.write_5m)}
    assert 3.9 < found.seconds < 4.1, "two calls one after the other"


def test_a_prompt_below_the_least_length_is_not_cached_and_the_note_says_so():
    found = predict(labels(4, system="Name the cause."), Policy(caching="system"), PRICES)
    assert {call.write_5m + call.read for call in found.calls} == {0}
    assert "Nothing is cached" in found.notes[0] and "512" in found.notes[0]


def test_marking_what_differs_in_every_call_pays_for_nothing_and_the_note_says_so():
    found = predict(labels(4), Policy(caching="auto-5m"), PRICES)
    assert all(call.write_5m == call.input for call in found.calls) and "never read" in found.notes[0]
    assert found.usd > predict(labels(4), Policy(), PRICES).usd


# --- what is sent again ----------------------------------------------------------------------------------------------


def test_each_ticket_in_a_conversation_of_its_own():
    """Turn 4 answers ticket T-2: it gets the question, a note of T-1, and that ticket."""
    *_, (_, (fourth,)) = asked_under(Policy(fresh_per_ticket=True), conversation(4))
    first, asked, result = fourth.request["messages"]
    assert [block["text"] for block in first["content"]] == [LONG, f"Found so far:\nT-1: {FINDING}"]
    assert asked["content"][0]["input"] == {"ticket_id": "T-2"} and result["content"][0]["tool_use_id"] == "toolu_2"


def test_before_the_first_ticket_all_is_sent_and_after_the_last_only_what_came_since():
    record = conversation(3)
    tally = {"type": "tool_use", "id": "toolu_t", "name": "tally", "input": {"assignments": []}}
    after = [*record[2].request["messages"], {"role": "assistant", "content": record[2].reply},
             {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_2", "content": "late"}]},
             {"role": "assistant", "content": [tally]},
             {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_t", "content": "5 late"}]}]
    record.append(answered({"model": HAIKU, "messages": after}, started=9.0))
    sent = [asked.request["messages"] for _, (asked,) in asked_under(Policy(fresh_per_ticket=True), record)]
    assert sent[:2] == [record[0].request["messages"], record[1].request["messages"]]
    assert sent[3][1:] == after[-2:] and sent[3][0]["content"][1]["text"].count("\n") == 2


def test_what_the_estimate_misses_drops_out():
    """The API counts a tenth more than the estimate; so it does for the shorter prompt."""
    record = [replace(e, usage=replace(e.usage, fresh=round(1.1 * e.usage.fresh))) for e in conversation(8)]
    calls = predict(record, Policy(keep_results=1), PRICES).calls
    sent = [estimate_request(asked.request) for _, (asked,) in asked_under(Policy(keep_results=1), record)]
    assert [call.input for call in calls] == pytest.approx([1.1 * tokens for tokens in sent], abs=1)
    assert calls[-1].input < 0.7 * record[-1].usage.fresh


def test_a_summary_is_a_call_of_its_own_with_its_price_and_its_time():
    record = conversation(8)
    found = predict(record, Policy(compact_above=1_500), PRICES)
    added = [call for call in found.calls if call.added]
    assert len(found.calls) == 8 + len(added) and added and all(call.usd > 0 and call.seconds > 0 for call in added)
    assert found.seconds == pytest.approx(sum(call.seconds for call in found.calls))
    assert any(f"{len(added)} summarising call" in note for note in found.notes)


def test_a_run_that_stays_short_is_not_summarised_and_the_note_says_so():
    found = predict(conversation(3), Policy(compact_above=50_000), PRICES)
    assert len(found.calls) == 3 and any("nothing is summarised" in note for note in found.notes)


# --- other models, and what is not known -----------------------------------------------------------------------------


def test_another_model_reads_and_writes_by_its_own_tokenizer_and_price():
    record = conversation(3)
    found = predict(record, Policy(model=OLD_HAIKU), PRICES)
    assert [call.input for call in found.calls] == [estimate_request({**e.request, "model": OLD_HAIKU}) for e in record]
    assert found.calls[0].usd == pytest.approx((found.calls[0].input * 1 + found.calls[0].output * 5) / 1e6)
    assert 0 < found.calls[0].output < 50
    assert predict(record, Policy(model=OPUS), PRICES).output == 150, "the same tokenizer"


def test_an_effort_that_the_other_model_does_not_take_is_told():
    calls = conversation(3, output_config={"effort": "max"})
    told = {name: [note for note in predict(calls, Policy(model=name), PRICES).notes if "would refuse" in note]
            for name in ("claude-haiku-4-5", "claude-opus-5")}
    assert told == {"claude-opus-5": [], "claude-haiku-4-5": [
        "Haiku 4.5 would refuse 3 calls: it does not take the effort that they ask for."]}


def test_a_window_that_is_too_small_is_told_with_the_call():
    record = conversation(3, words=100_000)
    found = predict(record, Policy(model=OLD_HAIKU), PRICES)
    assert any("1 call would not fit the 200,000 tokens that Haiku 4.5 holds, the first is call 3" in note
               for note in found.notes)
    assert any("a higher price holds" in note for note in predict(record, Policy(), PRICES).notes)


def test_an_unknown_price_is_unknown_and_counted():
    found = predict(conversation(3), Policy(model="some-local-model"), PRICES)
    assert found.usd is None and found.unpriced == 3
    assert any("No price is known for some-local-model" in note for note in found.notes)


def test_what_was_not_reported_is_estimated_and_told():
    record = [replace(e, usage=Usage()) for e in conversation(2)]
    found = predict(record, Policy(), PRICES)
    assert [call.fresh for call in found.calls] == [estimate_request(e.request) for e in record]
    assert found.output > 0 and "2 calls did not report what it took: estimated." in found.notes


def test_calls_that_reported_nothing_keep_the_time_that_they_took():
    record = [replace(e, usage=Usage(), seconds=20.0) for e in conversation(2, gap=18.0)]
    assert [call.seconds for call in predict(record, Policy(), PRICES).calls] == [20.0, 20.0]
    assert predict(record, Policy(), PRICES).seconds == 40.0
    assert predict(record, Policy(caching="off"), PRICES).seconds == pytest.approx(40.0)


def test_an_empty_record_gives_nothing():
    assert predict([], Policy(caching="auto-5m"), PRICES).input == 0 == predict([], Policy(), PRICES).seconds


# --- the ladder ------------------------------------------------------------------------------------------------------


def test_the_rungs_of_an_agent():
    rungs = dict(ladder(conversation(12), prices_for([HAIKU])))
    assert list(rungs) == ["as recorded", "caching off", "automatic caching, 5 minutes", "automatic caching, 1 hour",
                           "system prompt cached", "newest 3 results kept", "results cut to 5 rows",
                           "compacted above 2,000 tokens", "a fresh conversation per ticket", "Sonnet 5.5", "Opus 5.5",
                           "Haiku 4.5", "batch"]
    assert all(rung.usd for rung in rungs.values()), "models that the run's prices lack are priced too"
    assert rungs["automatic caching, 5 minutes"].usd < rungs["caching off"].usd == rungs["as recorded"].usd


def test_the_rungs_of_a_pipeline():
    rungs = dict(ladder(labels(4), PRICES))
    assert list(rungs) == ["as recorded", "system prompt cached", "Sonnet 5.5", "Opus 5.5", "Haiku 4.5", "batch"]


def test_a_run_without_prices_stays_unpriced():
    rungs = dict(ladder(labels(4), {"date": "2026-11-30", "models": {}}))
    assert rungs["as recorded"].usd is None and rungs["Opus 5.5"].usd > 0


@pytest.mark.parametrize("policy", [Policy(caching="auto-5m"), Policy(keep_results=3), Policy(compact_above=10_000)])
def test_a_prediction_over_45_turns_takes_less_than_a_third_of_a_second(policy):
    record = conversation(45, words=400)
    predict(record, policy, PRICES)     # texts are counted once
    began = time.process_time()
    predict(record, policy, PRICES)
    assert time.process_time() - began < 0.3
