"""Resuming: what a run has paid for is not asked again, and what was no good is."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lib.client.clock import Clock
from lib.client.correct import corrected
from lib.client.layers import Call, LayeredClient, accepting, layered
from lib.client.ledger import ledger
from lib.client.reuse import reuse
from lib.client.timeline import ClockTime
from lib.errors import InvalidReply, MapError, ServerTrouble
from lib.messages import as_dict, text_of
from lib.prompt_map import map_prompts
from lib.runs.store import Run, Store


def message(text: str, stop: str | None = "end_turn", **fields):
    from anthropic.types import Message

    return Message.construct(**{
        "id": "msg", "type": "message", "role": "assistant", "model": "m", "stop_reason": stop,
        "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 10, "output_tokens": 1}, **fields})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = Store(tmp_path / "runs.sqlite")
    for run_id in ("r1", "r2"):
        opened.add_run(Run(run_id, "g", "agent", "running", "simulated", "Simulated", {}, "d", 1.0))
    return opened


class Server:
    """Answers by `answer(text of the last message)` and remembers what reached it."""

    def __init__(self, answer: Callable):
        self.answer = answer
        self.asked: list[str] = []

    def send(self, call: Call):
        self.asked.append(call.request["messages"][-1]["content"])
        outcome = self.answer(self.asked[-1])
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def session(store: Store, server: Server, run_id: str = "r1") -> LayeredClient:
    return layered(LayeredClient(server.send), reuse(store, run_id), ledger(store, run_id, ClockTime(Clock())))


def ask(client, *texts: str, **fields):
    conversation = [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(texts)]
    return client.messages.create(**{"model": "m", "max_tokens": 5, "messages": conversation, **fields})


def paid(store: Store, *texts: str, answer=message, run_id: str = "r1") -> None:
    """An earlier session that asked each text once."""
    client = session(store, Server(answer), run_id)
    for text in texts:
        try:
            ask(client, text)
        except ServerTrouble:
            pass


def echo(text: str):
    return message(f"new answer to {text}")


def test_a_paid_call_is_not_sent_again_and_makes_no_row(store: Store):
    paid(store, "a", "b")
    before = store.totals("r1")
    server = Server(echo)
    client = session(store, server)
    assert [text_of(ask(client, t)) for t in ("a", "b", "c")] == ["a", "b", "new answer to c"]
    assert server.asked == ["c"]
    assert store.totals("r1").calls == before.calls + 1


def test_another_run_pays_for_itself(store: Store):
    paid(store, "a", run_id="r2")
    server = Server(echo)
    ask(session(store, server), "a")
    assert server.asked == ["a"]


def test_a_request_that_differs_is_sent(store: Store):
    paid(store, "a")
    server = Server(echo)
    ask(session(store, server), "a", max_tokens=4000)
    assert server.asked == ["a"]


def test_an_invalid_last_answer_is_asked_for_anew_and_the_corrections_before_it_are_not(store: Store):
    def check(text: str) -> None:
        if not text.startswith("new"):
            raise ValueError("old")

    def converse(server: Server) -> str:
        return text_of(ask(layered(session(store, server), corrected(check, 1)), "a"))

    assert converse(Server(message)).startswith("That answer cannot be used")
    server = Server(echo)
    assert converse(server).startswith("new answer to That answer cannot be used")
    assert len(server.asked) == 1
    assert converse(again := Server(echo)).startswith("new answer") and again.asked == []


@pytest.mark.parametrize("bad", [
    message("half an ans", "max_tokens"), message("", "refusal"), message("x", "model_context_window_exceeded"),
    message("x", None), message("x", "brand_new_reason"), message(""), message("x", content=None),
    ServerTrouble("overloaded")], ids=str)
def test_an_answer_that_was_no_good_is_asked_for_again(store: Store, bad):
    paid(store, "a", answer=lambda text: bad)
    server = Server(echo)
    assert text_of(ask(session(store, server), "a")) == "new answer to a"
    assert server.asked == ["a"]


def test_after_a_failure_the_good_answer_is_the_one_reused(store: Store):
    answers = iter([ServerTrouble("overloaded"), message("good")])
    paid(store, "a", "a", answer=lambda text: next(answers))
    assert text_of(ask(session(store, Server(echo)), "a")) == "good"


def test_the_same_request_gets_its_answers_in_order_and_then_a_new_one(store: Store):
    answers = iter("12")
    paid(store, "a", "a", answer=lambda text: message(next(answers)))
    client = session(store, Server(echo))
    assert [text_of(ask(client, "a")) for _ in range(3)] == ["1", "2", "new answer to a"]


def test_asking_twice_in_one_session_sends_twice(store: Store):
    paid(store, "something else")
    server = Server(echo)
    client = session(store, server)
    for _ in range(2):
        ask(client, "a")
    assert server.asked == ["a", "a"]


def test_a_retry_with_the_bad_answer_in_it_is_a_request_of_its_own(store: Store):
    first = session(store, Server(lambda text: message("not json" if text == "a" else "{}")))
    ask(first, "a")
    ask(first, "a", "not json", "That was not JSON.")
    server = Server(echo)
    client = session(store, server)
    assert text_of(ask(client, "a")) == "not json"
    assert text_of(ask(client, "a", "not json", "That was not JSON.")) == "{}"
    assert text_of(ask(client, "a", "not json", "Other words.")) == "new answer to Other words."


def test_parallel_workers_share_the_paid_answers_without_using_one_twice(store: Store):
    paid(store, *["a"] * 4)
    server = Server(echo)
    client = session(store, server)
    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda _: text_of(ask(client, "a")), range(8)))
    assert sorted(texts) == ["a"] * 4 + ["new answer to a"] * 4
    assert len(server.asked) == 4


def test_a_reused_reply_is_like_the_live_one_unknown_fields_and_all(store: Store):
    wire = as_dict(message("", "tool_use", novel={"x": 1}, content=[
        {"type": "thinking", "thinking": "", "signature": "c2ln"}, {"type": "text", "text": "look", "odd": 1},
        {"type": "tool_use", "id": "t1", "name": "read_ticket", "input": {"ticket_id": "0071"}},
        {"type": "not_known_yet", "value": [1]}]))
    paid(store, "a", answer=lambda text: message("", **{k: v for k, v in wire.items() if k != "stop_reason"},
                                                 stop="tool_use"))
    answer = ask(session(store, Server(echo)), "a")
    assert as_dict(answer) == wire
    assert answer.content[2].input == {"ticket_id": "0071"} and answer.usage.output_tokens == 1
    assert type(answer).__name__ == "Message" and type(answer.content[2]).__name__ == "ToolUseBlock"


def test_a_whole_agent_conversation_is_replayed_from_reused_replies(store: Store):
    """The second session builds its requests from rebuilt SDK blocks; they must count as the same requests."""

    def converse(client) -> list:
        conversation = [{"role": "user", "content": "go"}]
        for turn in range(5):
            answer = client.messages.create(model="m", max_tokens=5, messages=conversation)
            conversation += [{"role": "assistant", "content": answer.content},
                             {"role": "user", "content": f"result {turn}"}]
        return conversation

    first = Server(lambda text: message(f"saw {text}", content=[
        {"type": "text", "text": f"saw {text}"}, {"type": "tool_use", "id": "t", "name": "n", "input": {}}]))
    converse(session(store, first))
    second = Server(echo)
    converse(session(store, second))
    assert len(first.asked) == 5 and second.asked == []
    assert store.totals("r1").calls == 5


# --- an answer that the step does not accept


def no_json(text: str) -> None:
    if not text.startswith("{"):
        raise ValueError("no JSON")


def mapped(store: Store, server: Server, retries: int = 1) -> list:
    """What the pipeline does: a map whose parser the layers below know."""
    client = layered(session(store, server), accepting(no_json))
    try:
        return map_prompts(client, "m", "", ["ticket"], str, lambda text: no_json(text) or text, 1, retries)
    except MapError as failed:
        return failed.values


def in_turn(*texts: str) -> Server:
    left = list(texts)
    return Server(lambda text: message(left.pop(0)))


def test_a_map_whose_retries_were_used_up_asks_only_the_last_attempt_anew(store: Store):
    [failed] = mapped(store, in_turn("bad", "worse"))
    assert isinstance(failed, InvalidReply)
    server = in_turn("{}")
    assert mapped(store, server) == ["{}"]
    assert len(server.asked) == 1 and server.asked[0].startswith("That answer cannot be used: no JSON")
    assert mapped(store, again := in_turn()) == ["{}"] and again.asked == []


def test_of_three_attempts_the_first_two_are_reused(store: Store):
    mapped(store, in_turn("bad", "worse", "worst"), retries=2)
    server = in_turn("{}")
    assert mapped(store, server, retries=2) == ["{}"] and len(server.asked) == 1


def test_a_bad_answer_before_a_stop_is_asked_for_anew_with_its_retry_unsent(store: Store):
    mapped(store, in_turn("bad"), retries=0)
    server = in_turn("{}")
    assert mapped(store, server) == ["{}"] and server.asked == ["ticket"]


def test_it_is_asked_anew_at_every_resume_until_it_is_good(store: Store):
    mapped(store, in_turn("bad", "worse"))
    for _ in range(2):
        server = in_turn("still bad")
        assert isinstance(mapped(store, server)[0], InvalidReply) and len(server.asked) == 1
    assert mapped(store, in_turn("{}")) == ["{}"]


def test_an_agents_last_answer_is_asked_anew_and_the_ones_before_it_are_not(store: Store):
    def converse(server: Server) -> str:
        client = layered(session(store, server), corrected(no_json, 1), accepting(no_json))
        return text_of(ask(client, "go"))

    assert converse(in_turn("bad", "worse")) == "worse"
    server = in_turn("{}")
    assert converse(server) == "{}" and len(server.asked) == 1
    assert converse(again := in_turn()) == "{}" and again.asked == []


def test_a_tool_call_that_asks_for_none_is_asked_for_again(store: Store):
    paid(store, "a", answer=lambda text: message("only words", "tool_use"))
    server = Server(echo)
    ask(session(store, server), "a")
    assert server.asked == ["a"]


def test_what_was_taken_from_before_is_counted(store: Store):
    paid(store, "a", "b")
    taken: list[int] = []
    client = layered(LayeredClient(Server(echo).send), reuse(store, "r1", lambda: taken.append(1)))
    for text in "abc":
        ask(client, text)
    assert len(taken) == 2
