"""Who answers: what is typed is checked where it is typed, and a key never comes back."""

from __future__ import annotations

import pytest
from reading import everything, literal, sound

CANARY = "sk-ant-canary"


@pytest.fixture
def choose(visit):
    """choose("server") -> the run page after that choice."""
    def chosen(kind: str):
        app = visit("run")
        app.radio(key="run.connection.kind").set_value(kind).run()
        return app
    return chosen


def test_a_key_in_the_environment_is_offered_and_used_only_when_asked(choose, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    app = choose("live")
    assert app.button(key="run.start").disabled and "needs a key" in literal(app)
    app.toggle(key="run.connection.use_environment").set_value(True).run()
    assert not app.button(key="run.start").disabled
    assert CANARY not in everything(app) and CANARY not in repr(app)


def test_a_key_in_the_environment_is_not_offered_to_several_visitors(choose, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    monkeypatch.setenv("PLAYGROUND_SHARED", "1")
    assert not [t for t in choose("live").toggle if t.key == "run.connection.use_environment"]


def test_a_key_of_blanks_is_no_key(choose):
    app = choose("live")
    app.text_input(key="run.connection.key").set_value("   ").run()
    assert app.button(key="run.start").disabled and "needs a key" in literal(app)


@pytest.mark.parametrize("address", ["http://169.254.169.254/", "ftp://example", "http://me:secret@localhost"])
def test_an_address_that_is_refused_says_so_at_once_and_blocks_the_run(choose, address):
    app = choose("server")
    app.text_input(key="run.connection.base_url").set_value(address).run()
    sound(app)
    assert app.button(key="run.start").disabled
    assert sum(t.value.startswith("✕") for t in app.text) == 2     # beside the field and above the run


def test_a_key_over_plain_http_to_another_machine_is_warned_about(choose):
    app = choose("server")
    app.text_input(key="run.connection.base_url").set_value("http://192.168.7.7:8000").run()
    app.text_input(key="run.connection.server_key").set_value(CANARY).run()
    assert "travels unencrypted to 192.168.7.7" in literal(app) and CANARY not in everything(app)


def test_a_key_on_this_machine_is_not(choose):
    app = choose("server")
    app.text_input(key="run.connection.base_url").set_value("localhost:8000/v1").run()
    app.text_input(key="run.connection.server_key").set_value(CANARY).run()
    assert "unencrypted" not in literal(app) and not app.button(key="run.start").disabled
