"""The models on the Design page: one table, presets at one click, and what a local server says it has."""

from __future__ import annotations

import pytest
from reading import everything, literal, markup, sound

from lib.errors import Unreachable
from lib.models import MODELS
from lib.task.default_design import default_design
from lib.ui import connection, model_choice
from lib.usage.prices import prices_for

TRAP = "![x](https://evil.example/leak?q=1)"


def table(app):
    return next(d.value for d in app.dataframe if "longest reply" in d.value.columns).set_index("model")


def on_a_server(app, url="http://localhost:11434"):
    app.radio(key="design.connection.kind").set_value("server").run()
    return app.text_input(key="design.connection.base_url").set_value(url).run()


def test_the_table_tells_what_each_model_costs_and_takes(visit):
    found = table(visit("design"))
    assert list(found.index) == [known.name for known in MODELS.values()]
    price, haiku = prices_for(["claude-haiku-5-5"])["models"]["claude-haiku-5-5"], found.loc["Haiku 5.5"]
    assert (haiku["in"], haiku["out"]) == (price["input"], price["output"])
    assert (haiku["context"], haiku["longest reply"], haiku["size"]) == (1_000_000, 128_000, "small")
    assert haiku["effort"] == "low (medium) high xhigh max" and haiku["used for"] == "label, merge, summary, agent"
    assert found.loc["Haiku 4.5"]["effort"] == "none" and found.loc["Haiku 4.5"]["tokenizer"] == "older"


def test_a_price_of_ones_own_stands_in_the_table(visit, store):
    store.save_desk("d", {"prices": {"claude-haiku-5-5": {"input": 0.5, "output": 7.0}}})
    assert table(visit("design", desk="d")).loc["Haiku 5.5"]["in"] == 0.5


@pytest.mark.parametrize(("number", "wanted"), list(enumerate(model_choice.PRESETS.values())))
def test_a_preset_sets_every_steps_model_and_says_that_it_is_set(visit, number, wanted):
    app = visit("design")
    app.selectbox(key="design.steps.merge.model").set_value("claude-sonnet-5").run()
    app.button(key=f"design.preset.{number}").click().run()
    sound(app)
    now = {s.key.split(".")[2]: s.value for s in app.selectbox if ".model" in s.key}
    assert now == wanted and app.button(key=f"design.preset.{number}").disabled
    edits = {f"steps.{s}.model": m for s, m in wanted.items() if m != default_design().steps[s].model}
    assert app.session_state["desk"]["drafts"] == edits


def test_presets_hold_only_models_of_the_list_small_and_large_as_they_say():
    sizes = {name: [MODELS[m].size for m in chosen.values()] for name, chosen in model_choice.PRESETS.items()}
    assert sizes == {"All small": ["small"] * 4, "All large": ["large"] * 4,
                     "Small map, large synthesis": ["small", "large", "large", "large"]}


def test_an_effort_that_the_new_model_lacks_goes_back_to_its_own(visit, store):
    store.save_desk("d", {"drafts": {"steps.label.model": "claude-opus-4-6", "steps.label.effort": "max",
                                     "steps.merge.effort": "turbo"}})
    app = visit("design", desk="d")
    app.button(key="design.preset.2").click().run()
    drafts = app.session_state["desk"]["drafts"]
    assert drafts["steps.label.effort"] == "max" and "steps.merge.effort" not in drafts


def test_a_servers_models_are_listed_on_demand_and_used_in_every_step(visit, monkeypatch):
    asked = []
    monkeypatch.setattr(connection, "models_of_server", lambda: asked.append(1) or ["qwen3:8b", TRAP])
    app = on_a_server(visit("design"))
    assert not asked and not [b for b in app.button if b.key.startswith("design.preset")]
    app.button(key="design.list_models").click().run()
    sound(app)
    assert app.selectbox(key="design.server_model").options == ["qwen3:8b", TRAP]
    assert app.selectbox(key="design.steps.label.model").options[:2] == ["qwen3:8b", TRAP]
    app.button(key="design.use_server_model").click().run()
    assert {d for f, d in app.session_state["desk"]["drafts"].items()} == {"qwen3:8b"} and len(asked) == 1
    assert table(app).loc["qwen3:8b"]["used for"] == "label, merge, summary, agent"
    assert "evil.example" not in markup(app)
    on_a_server(app, "http://localhost:9999")
    assert not [s for s in app.selectbox if s.key == "design.server_model"], "another server has others"


def test_a_server_that_lists_none_is_one_line(visit, monkeypatch):
    def refuse():
        raise Unreachable("Nothing answers at http://localhost:11434/v1/models. Is the server running?")
    monkeypatch.setattr(connection, "models_of_server", refuse)
    app = on_a_server(visit("design"))
    app.button(key="design.list_models").click().run()
    sound(app)
    assert "✕ Nothing answers at" in literal(app)
    assert "✕ Nothing answers at" not in literal(app.run())


def test_a_stranger_cannot_have_the_servers_own_network_asked(visit, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_SHARED", "1")
    app = on_a_server(visit("design"), "http://127.0.0.1:11434")
    assert app.button(key="design.list_models").disabled and "127.0.0.1" in everything(app)
