"""Who answers: what is typed is checked where it is typed, and a key never comes back."""

from __future__ import annotations

import inspect
import time

import pytest
import seeds
from reading import everything, literal, markup, sound
from streamlit import config

from lib.errors import BaseUrlRefused
from lib.runs.job import Runs
from lib.ui import outside, state

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


INSIDE = ["http://127.0.0.1:11434", "http://localhost:11434", "http://192.168.7.7", "http://10.0.0.1", "http://[::1]:8",
          "http://0.0.0.0:80", "http://100.64.1.1", "http://[::ffff:10.0.0.1]", "http://[64:ff9b::a00:1]",
          "http://[fd00::1]", "http://printer.local"]


@pytest.mark.parametrize("address", INSIDE)
def test_a_stranger_cannot_send_the_server_to_its_own_network(choose, monkeypatch, address):
    monkeypatch.setenv("PLAYGROUND_SHARED", "1")
    app = choose("server")
    app.text_input(key="run.connection.base_url").set_value(address).run()
    sound(app)
    assert app.button(key="run.start").disabled
    assert "Several people use this playground, so no request is sent to" in literal(app)


@pytest.mark.parametrize("address", ["http://127.0.0.1:11434", "https://8.8.8.8/v1", "https://llm.example.org"])
def test_the_owners_address_and_public_ones_may_be_used_by_all(choose, monkeypatch, address):
    monkeypatch.setenv("PLAYGROUND_SHARED", "1")
    monkeypatch.setenv("PLAYGROUND_BASE_URL", "http://127.0.0.1:11434/v1")
    app = choose("server")
    app.text_input(key="run.connection.base_url").set_value(address).run()
    assert "Several people use this playground" not in literal(app)


def test_a_name_for_a_private_address_is_refused_when_the_run_connects():
    def answers(_host, _port):
        return [(0, 0, 0, "", ("192.168.7.7", 0))]
    with pytest.raises(BaseUrlRefused, match="no request is sent to llm.example.org"):
        outside.refuse_inside("https://llm.example.org", "", resolve=answers)


def test_a_server_has_no_list_prices_and_hints_at_its_models(choose):
    app = choose("server")
    app.text_input(key="run.connection.base_url").set_value("localhost:8000").run()
    assert "claude-haiku-5-5 is a name of Anthropic's models; this server probably has others." in literal(app)
    assert not app.button(key="run.start").disabled


def test_no_hint_when_the_models_are_the_servers_own(visit, store):
    steps = ("label", "merge", "summary", "agent")
    store.save_desk("d", {"drafts": {f"steps.{step}.model": "qwen3:8b" for step in steps}})
    app = visit("run", desk="d")
    app.radio(key="run.connection.kind").set_value("server").run()
    assert "Anthropic's models" not in literal(app)


def test_in_a_shared_playground_the_link_to_a_run_does_not_give_away_the_desk(visit, store, sample, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_SHARED", "1")
    seeds.add_run(store, sample.tickets, sample.id, "agent")
    app = visit("run", "g1", desk="mine")
    links = [c.value for c in app.code if "run=g1" in c.value]
    assert len(links) == 1 and "mine" not in links[0]


def test_alone_there_is_no_such_link(visit, store, sample):
    seeds.add_run(store, sample.tickets, sample.id, "agent")
    assert not [c for c in visit("run", "g1").code if "run=g1" in c.value]


@pytest.mark.parametrize(("said", "address", "shared"), [
    ("", "localhost", False), ("", "0.0.0.0", True), ("0", "0.0.0.0", False), ("1", "localhost", True)])
def test_shared_is_what_was_said_and_else_what_the_address_suggests(monkeypatch, said, address, shared):
    monkeypatch.setenv("PLAYGROUND_SHARED", said)
    config.set_option("server.address", address)
    assert state.shared() is shared


# --- earlier replies, the owner's key, what is kept ------------------------------------------------------------------


@pytest.fixture
def started(monkeypatch, store):
    """What the runs were asked to start: keyword or not, by the names of `Runs.start`."""
    asked = []

    def start(self, *given):
        names = list(inspect.signature(Runs.real_start).parameters)[1:]
        asked.append(dict(zip(names, given, strict=False)))
        return "new"
    monkeypatch.setattr(Runs, "real_start", Runs.start, raising=False)
    monkeypatch.setattr(Runs, "start", start)
    return asked


def test_earlier_replies_are_taken_only_when_asked_for(choose, started):
    app = choose("live")
    app.text_input(key="run.connection.key").set_value(CANARY).run()
    assert app.toggle(key="run.connection.reuse").value is False
    app.button(key="run.start").click().run()
    app.toggle(key="run.connection.reuse").set_value(True).run()
    app.button(key="run.start").click().run()
    sound(app)
    assert [asked["reuse_replies"] for asked in started] == [False, True]
    assert {asked["payer"] for asked in started} == {""}


def test_a_simulated_run_takes_no_earlier_replies(visit, store, started):
    store.save_desk("d", {"connection": {"reuse": True}})
    visit("run", desk="d").button(key="run.start").click().run()
    assert started[0]["reuse_replies"] is False


@pytest.fixture
def owners(monkeypatch):
    """A shared playground whose owner pays half a dollar a day for each visitor."""
    monkeypatch.setenv("PLAYGROUND_SHARED", "1")
    monkeypatch.setenv("PLAYGROUND_KEY_BUDGET", "0.5")
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)


def test_the_owner_pays_for_a_visitor_without_a_key_and_the_form_says_how_much_is_left(owners, store, choose, started):
    app = choose("live")
    sound(app)
    assert r"pays up to \$0.50 a day for you; \$0.50 left" in markup(app) and CANARY not in everything(app)
    app.button(key="run.start").click().run()
    assert started[0]["payer"] == "owner"


def test_with_a_key_of_ones_own_the_owner_does_not_pay(owners, store, choose, started):
    app = choose("live")
    app.text_input(key="run.connection.key").set_value("sk-ant-mine").run()
    app.button(key="run.start").click().run()
    assert started[0]["payer"] == ""


def test_what_is_spent_is_not_offered_again(owners, store, choose):
    app = choose("live")
    store.spend(app.session_state["desk_id"], time.time(), 0.19)
    assert r"\$0.31 left" in markup(app.run())
    store.spend(app.session_state["desk_id"], time.time(), 0.31)
    assert app.run().button(key="run.start").disabled
    assert "Your share of this playground's key is used for today." in literal(app)


@pytest.mark.parametrize("missing", ["PLAYGROUND_KEY_BUDGET", "ANTHROPIC_API_KEY"])
def test_without_a_budget_or_a_key_nothing_of_the_owners_is_offered(owners, monkeypatch, choose, missing):
    monkeypatch.delenv(missing)
    app = choose("live")
    assert app.button(key="run.start").disabled and "owner pays" not in everything(app)


def test_alone_the_budget_means_nothing(monkeypatch, choose):
    monkeypatch.setenv("PLAYGROUND_KEY_BUDGET", "0.5")
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    app = choose("live")
    assert app.button(key="run.start").disabled and "owner pays" not in everything(app)


def test_where_the_owner_lists_addresses_one_of_them_is_chosen(monkeypatch, choose):
    monkeypatch.setenv("PLAYGROUND_SHARED", "1")
    monkeypatch.setenv("PLAYGROUND_BASE_URLS", "http://10.0.0.7:8000/v1, https://llm.example.org")
    app = choose("server")
    sound(app)
    assert app.selectbox(key="run.connection.base_url").options == ["http://10.0.0.7:8000", "https://llm.example.org"]
    assert not app.button(key="run.start").disabled


def test_the_address_and_the_toggle_are_still_there_in_a_new_session_a_key_is_not(choose, visit, store):
    app = choose("server")
    app.text_input(key="run.connection.base_url").set_value("localhost:8000").run()
    app.text_input(key="run.connection.server_key").set_value(CANARY).run()
    app.toggle(key="run.connection.reuse").set_value(True).run()
    again = visit("run")
    assert again.radio(key="run.connection.kind").value == "server"
    assert again.text_input(key="run.connection.base_url").value == "localhost:8000"
    assert again.toggle(key="run.connection.reuse").value is True
    assert again.text_input(key="run.connection.server_key").value == "", "a key stays with the session that typed it"
    assert CANARY not in str(store.load_desk(again.session_state["desk_id"]))


def test_an_address_that_holds_a_password_is_not_kept(choose, visit, store):
    app = choose("server")
    app.text_input(key="run.connection.base_url").set_value("http://me:hunter2@localhost").run()
    assert "hunter2" not in str(store.load_desk(app.session_state["desk_id"]))


def test_what_needs_a_key_is_not_chosen_in_a_new_session(choose, visit):
    app = choose("live")
    app.text_input(key="run.connection.key").set_value(CANARY).run()
    assert visit("run").radio(key="run.connection.kind").value == "simulated"
