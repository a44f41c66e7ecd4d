"""A conversation that goes on from a summary: when it is made, what stands in its place, and what follows."""

from __future__ import annotations

import copy

from lib.client.compact import REQUEST, STEP, compact_above
from lib.client.layers import Call, LayeredClient, layered, step
from tests.client.test_context import conversation, turn
from tests.fakes import assert_sendable, reply

SUMMARY = "T-1: charged twice. T-2 is left."


def length(request):
    return sum(len(str(message)) for message in request["messages"])


class Sending:
    """Sends a growing conversation through one layer, and keeps the calls that left it."""

    def __init__(self, above: int, summary: str = SUMMARY):
        self.calls: list[Call] = []
        self.summary = summary
        self.client = layered(LayeredClient(self._answer), step("agent"), compact_above(above, length))

    def _answer(self, call: Call):
        assert_sendable(call.request["messages"])
        self.calls.append(call)
        return reply(self.summary if call.step == STEP else "goes on")

    def send(self, messages):
        before, self.calls = copy.deepcopy(messages), []
        self.client.messages.create(messages=messages)
        assert messages == before, "whoever keeps the conversation keeps it whole"
        return [call.request["messages"] for call in self.calls]


SHORT, LONG = (conversation(*(turn(n, "x" * 400) for n in range(turns))) for turns in (1, 3))
LONGER = [*LONG, *turn(3, "y")]


def test_a_conversation_below_the_limit_is_sent_as_it_is():
    assert Sending(2_000).send(SHORT) == [SHORT]


def test_above_it_a_summary_is_asked_for_and_stands_after_the_first_message():
    sending = Sending(1_000)
    asked, sent = sending.send(LONG)
    assert [call.step for call in sending.calls] == [STEP, "agent"]
    assert asked[:-1] == LONG[:-1]
    assert asked[-1]["content"] == [*LONG[-1]["content"], {"type": "text", "text": REQUEST}]
    assert len(sent) == 1 and sent[0]["content"][0]["text"] == LONG[0]["content"]
    assert SUMMARY in sent[0]["content"][1]["text"]


def test_later_turns_go_on_from_the_summary():
    sending = Sending(1_000)
    head = sending.send(LONG)[1]
    assert sending.send(LONGER) == [[*head, *LONGER[len(LONG):]]]


def test_another_conversation_is_left_alone():
    sending = Sending(1_000)
    sending.send(LONG)
    assert sending.send(SHORT) == [SHORT]


def test_without_a_summary_everything_is_sent_and_the_next_turn_tries_again():
    sending = Sending(1_000, summary="")
    assert sending.send(LONG)[1] == LONG
    assert len(sending.send(LONGER)) == 2


def test_a_first_message_is_never_summarised_however_long():
    first = [{"role": "user", "content": "x" * 2_000}]
    assert Sending(1_000).send(first) == [first]
