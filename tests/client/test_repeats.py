from __future__ import annotations

import pytest

from lib.agent import Tool, run_agent
from lib.client.layers import layered
from lib.client.repeats import stop_on_repeats
from lib.errors import Repeating, RunEnded
from tests.fakes import FakeClient, assert_sendable, both_wires, reply, tool_use


def asking(*arguments):
    """A client that asks for one tool call per turn, each with a new id, and then answers."""
    turns = [reply(tool_use("look", given, f"toolu_{n}")) for n, given in enumerate(arguments)]
    return FakeClient([*turns, reply("done")])


def run(client, limit, fn=lambda **given: "missing"):
    tool = Tool("look", "Looks.", {"type": "object"}, fn)
    return run_agent(layered(client, stop_on_repeats(limit)), "test-model", "", "Go.", [tool], max_turns=50)


SAME = {"sku": "missing"}


@both_wires
def test_the_same_call_with_the_same_result_is_stopped_before_the_next_turn_is_paid(wire):
    fake = asking(*[SAME] * 40)
    with pytest.raises(Repeating, match="5 times in a row") as caught:
        run(wire(fake), limit=5)
    assert len(fake.requests) == 5 and isinstance(caught.value, RunEnded)
    assert_sendable(caught.value.messages)


def test_one_repeat_fewer_than_the_limit_goes_on():
    assert run(asking(*[SAME] * 4), limit=5)[0] == "done"


def test_other_arguments_or_another_result_begin_a_new_count():
    assert run(asking(*[SAME] * 4, {"sku": "S-1"}, *[SAME] * 4), limit=5)[0] == "done"
    results = iter(range(100))
    assert run(asking(*[SAME] * 40), limit=5, fn=lambda **given: next(results))[0] == "done"


def test_calls_in_another_order_of_keys_are_the_same():
    with pytest.raises(Repeating):
        run(asking({"a": 1, "b": 2}, {"b": 2, "a": 1}), limit=2)


def test_one_layer_may_serve_several_conversations():
    layer = stop_on_repeats(3)
    tool = Tool("look", "Looks.", {"type": "object"}, lambda **given: "missing")
    for _ in range(3):
        assert run_agent(layered(asking(SAME, SAME), layer), "test-model", "", "Go.", [tool])[0] == "done"


def test_a_first_call_without_any_tool_result_passes():
    assert run(FakeClient([reply("done")]), limit=1)[0] == "done"
