"""The Message Batches API through both doors, with the real SDK."""

import anthropic
import pytest

from lib.simulated.conditions import Conditions

MODEL = "claude-haiku-5-5"
HI = {"model": MODEL, "max_tokens": 200, "messages": [{"role": "user", "content": "hi"}]}
LONG = 3_700        # seconds: every batch has ended then


@pytest.fixture
def batches(door):
    return door.sdk.messages.batches


def numbered(count, params=HI):
    return [{"custom_id": f"ticket-{i}", "params": params} for i in range(count)]


def counts(batch):
    return {name: number for name, number in batch.request_counts.to_dict().items() if number}


def test_a_batch_is_in_progress_then_ended_with_a_result_for_each_request(door, batches):
    created = batches.create(requests=numbered(3))
    assert (created.type, created.processing_status, counts(created)) == (
        "message_batch", "in_progress", {"processing": 3})
    assert created.id.startswith("msgbatch_01") and created.results_url is None and created.ended_at is None
    assert (created.expires_at - created.created_at).total_seconds() == 24 * 3600
    door.pass_time(LONG)
    ended = batches.retrieve(created.id)
    assert (ended.processing_status, counts(ended)) == ("ended", {"succeeded": 3})
    assert 0 < (ended.ended_at - ended.created_at).total_seconds() < 3600
    results = list(batches.results(created.id))
    assert sorted(r.custom_id for r in results) == ["ticket-0", "ticket-1", "ticket-2"]
    assert {r.result.type for r in results} == {"succeeded"}


def test_an_answer_in_a_batch_is_the_usual_one_at_the_batchs_price(door, batches):
    id = batches.create(requests=numbered(1)).id
    door.pass_time(LONG)
    [result] = batches.results(id)
    plain = door.sdk.messages.create(**HI)
    assert result.result.message.content == plain.content
    assert (plain.usage.service_tier, result.result.message.usage.service_tier) == ("standard", "batch")


def test_what_is_wrong_in_a_request_shows_in_its_result(door, batches):
    wrong = {
        "good": (HI, None),
        "streamed": ({**HI, "stream": True}, '"stream=True" is not supported in the Message Batches API'),
        "fast": ({**HI, "speed": "fast"}, '"speed" is not supported in the Message Batches API'),
        "warming": ({**HI, "max_tokens": 0}, "max_tokens: 0 is not supported in the Message Batches API"),
        "empty": ({"model": MODEL, "max_tokens": 9}, "messages: Field required"),
        "unknown": ({**HI, "model": "claude-sonnet-9"}, "model: claude-sonnet-9"),
    }
    id = batches.create(requests=[{"custom_id": name, "params": params} for name, (params, _) in wrong.items()]).id
    door.pass_time(LONG)
    assert counts(batches.retrieve(id)) == {"succeeded": 1, "errored": 5}
    told = {r.custom_id: r.result for r in batches.results(id)}
    for name, (_, message) in wrong.items():
        assert (told[name].error.error.message if message else None) == message
    assert told["unknown"].error.error.type == "not_found_error"
    assert told["empty"].error.error.type == "invalid_request_error"


def test_later_requests_of_a_batch_read_what_earlier_ones_cached(door, batches):
    mark = {"type": "ephemeral", "ttl": "1h"}
    shared = {**HI, "system": [{"type": "text", "text": "Label with care. " * 300, "cache_control": mark}]}
    id = batches.create(requests=numbered(6, shared)).id
    door.pass_time(LONG)
    usages = {r.custom_id: r.result.message.usage for r in batches.results(id)}
    written = usages["ticket-0"].cache_creation.ephemeral_1h_input_tokens
    assert written > 512 and usages["ticket-0"].cache_read_input_tokens == 0
    assert {usages[f"ticket-{i}"].cache_read_input_tokens for i in range(1, 6)} == {written}


def test_results_are_in_no_useful_order(door, batches):
    id = batches.create(requests=numbered(10)).id
    door.pass_time(LONG)
    ids = [r.custom_id for r in batches.results(id)]
    assert ids != sorted(ids) and ids == [r.custom_id for r in batches.results(id)]


def test_faults_that_were_asked_for_do_not_reach_into_a_batch(door, batches):
    door.open_room(Conditions(rate_limited=1.0, requests_per_minute=1))
    id = batches.create(requests=numbered(5)).id
    door.pass_time(LONG)
    assert {r.result.type for r in batches.results(id)} == {"succeeded"}


def test_a_canceled_batch_ends_soon_with_what_was_done_by_then(door, batches):
    id = batches.create(requests=numbered(20)).id
    door.pass_time(30)
    canceled = batches.cancel(id)
    assert (canceled.processing_status, counts(canceled)) == ("canceling", {"processing": 20})
    assert canceled.cancel_initiated_at is not None
    door.pass_time(10)
    ended = batches.retrieve(id)
    assert ended.processing_status == "ended"
    assert 0 < ended.request_counts.succeeded < 20
    assert ended.request_counts.succeeded + ended.request_counts.canceled == 20
    kinds = [r.result.type for r in batches.results(id)]
    assert kinds.count("canceled") == ended.request_counts.canceled


def test_results_and_deletion_wait_for_the_end_and_cancelling_is_for_before_it(door, batches):
    id = batches.create(requests=numbered(1)).id
    reply = door.http.get(f"/v1/messages/batches/{id}/results", headers={"x-api-key": "k",
                                                                         "anthropic-version": "2023-06-01"})
    assert (reply.status_code, reply.json()["error"]) == (404, {
        "type": "not_found_error", "message": f"Message Batch {id} has no available results."})
    with pytest.raises(anthropic.AnthropicError, match="Has it finished processing"):
        batches.results(id)
    with pytest.raises(anthropic.BadRequestError) as caught:
        batches.delete(id)
    assert caught.value.body["error"]["message"] == (
        "In progress batches cannot be deleted. Consider canceling the batch instead.")
    door.pass_time(LONG)
    with pytest.raises(anthropic.BadRequestError, match="has already ended"):
        batches.cancel(id)
    assert batches.delete(id).type == "message_batch_deleted"
    with pytest.raises(anthropic.NotFoundError) as caught:
        batches.retrieve(id)
    assert caught.value.body["error"]["message"] == f"Message Batch {id} not found."


def test_a_batch_in_progress_says_when_to_ask_again(door, batches):
    id = batches.create(requests=numbered(1)).id
    assert batches.with_raw_response.retrieve(id).headers["retry-after"] == "10"
    door.pass_time(LONG)
    assert "retry-after" not in batches.with_raw_response.retrieve(id).headers


def test_batches_are_listed_the_newest_first(door, batches):
    ids = []
    for _ in range(3):
        ids.append(batches.create(requests=numbered(1)).id)
        door.pass_time(1)
    assert len({*ids}) == 3
    page = batches.list(limit=2)
    assert [b.id for b in page.data] == ids[:0:-1] and page.has_more
    assert [b.id for b in page] == ids[::-1]


CREATE_REFUSED = {
    "no requests": ({}, "requests: Field required"),
    "a text": ({"requests": "x"}, "requests: Input should be a valid list"),
    "an empty list": ({"requests": []}, "requests: List should have at least 1 item after validation, not 0"),
    "too many": ({"requests": [{}] * 100_001},
                 "requests: List should have at most 100000 items after validation, not 100001"),
    "more fields": ({"requests": numbered(1), "model": MODEL}, "model: Extra inputs are not permitted"),
    "a request is a text": ({"requests": ["x"]}, "requests.0: Input should be a valid dictionary"),
    "no id": ({"requests": [{"params": HI}]}, "requests.0.custom_id: Field required"),
    "no params": ({"requests": [{"custom_id": "a"}]}, "requests.0.params: Field required"),
    "params is a text": ({"requests": [{"custom_id": "a", "params": "x"}]},
                         "requests.0.params: Input should be a valid dictionary"),
    "long id": ({"requests": [{"custom_id": "a" * 65, "params": HI}]},
                "requests.0.custom_id: String should have at most 64 characters"),
    "id with a colon": ({"requests": [{"custom_id": "a:b", "params": HI}]},
                        "requests.0.custom_id: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'"),
    "id twice": ({"requests": [*numbered(2), *numbered(1)]},
                 "requests: custom_id's must be unique within a batch. Duplicate custom_id found: ticket-0"),
}


@pytest.mark.parametrize(("body", "message"), CREATE_REFUSED.values(), ids=CREATE_REFUSED)
def test_a_broken_batch_is_refused_in_the_apis_words(door, body, message):
    with pytest.raises(anthropic.BadRequestError) as caught:
        door.post("/v1/messages/batches", body)
    assert caught.value.body["error"] == {"type": "invalid_request_error", "message": message}


@pytest.mark.parametrize(("method", "rest"), [("get", ""), ("get", "/results"), ("post", "/cancel"), ("delete", "")])
def test_an_unknown_batch_is_not_found(door, method, rest):
    reply = getattr(door.http, method)(f"/v1/messages/batches/msgbatch_x{rest}", headers={
        "x-api-key": "k", "anthropic-version": "2023-06-01"})
    assert (reply.status_code, reply.json()["error"]["message"]) == (404, "Message Batch msgbatch_x not found.")
