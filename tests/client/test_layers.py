"""Layers wrap a client's one method; what they share is the Call."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from lib.client.layers import Call, LayeredClient, layered, step, with_defaults


def noting(name: str, notes: list[str]):
    def layer(call, call_next):
        notes.append(f"{name} before")
        reply = call_next(call)
        notes.append(f"{name} after")
        return reply

    return layer


def echoing() -> LayeredClient:
    """A client that returns the Call it was sent."""
    return LayeredClient(lambda call: call)


def test_the_first_layer_is_the_outermost():
    notes: list[str] = []
    layered(echoing(), noting("outer", notes), noting("inner", notes)).messages.create()
    assert notes == ["outer before", "inner before", "inner after", "outer after"]


def test_anything_with_messages_create_can_be_layered():
    plain = SimpleNamespace(messages=SimpleNamespace(create=lambda **request: request))
    client = layered(plain, with_defaults(max_tokens=5))
    assert client.messages.create(model="m") == {"model": "m", "max_tokens": 5}


def test_layering_a_layered_client_keeps_the_step():
    inner = layered(echoing(), lambda call, call_next: call_next(replace(call, subject=f"{call.step}!")))
    assert layered(inner, step("label")).messages.create() == Call({}, step="label", subject="label!")


def test_a_step_can_read_its_subject_from_the_request():
    client = layered(echoing(), step("label", lambda request: request["messages"][0]["content"][:6]))
    sent = client.messages.create(messages=[{"role": "user", "content": "T-1001 is down"}])
    assert (sent.step, sent.subject) == ("label", "T-1001")


def test_defaults_override_the_request_and_none_leaves_a_field_out():
    client = layered(echoing(), with_defaults(max_tokens=512, thinking=None))
    assert client.messages.create(max_tokens=2048, model="m").request == {"max_tokens": 512, "model": "m"}


def test_a_changed_request_leaves_the_callers_alone():
    call = Call({"model": "m"}, step="agent")
    changed = call.with_request(model="n")
    assert (call.request, changed.request, changed.step) == ({"model": "m"}, {"model": "n"}, "agent")


def test_an_exception_passes_through_all_layers():
    def send(call):
        raise LookupError("nothing there")

    notes: list[str] = []
    with pytest.raises(LookupError):
        layered(LayeredClient(send), noting("only", notes)).messages.create()
    assert notes == ["only before"]
