"""The library of designs: what is open is told, and opening, saving, duplicating and deleting lose nothing."""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import replace

import pytest
from reading import literal, markup, sound
from seeds import TRAP, add_run

from lib import design_file
from lib.design import Design
from lib.runs import designs as runs_designs
from lib.task.default_design import default_design
from lib.ui import library

PROMPT = "design.steps.label.system"
DEFAULT = default_design()
SHORT = DEFAULT.with_step("label", system="Label it.")


def press(app, key):
    return app.button(key=key).click().run()


def type_prompt(app, text="Label it.", nth=""):
    return app.text_area(key=PROMPT + nth).set_value(text).run()


def open_list(app):
    app.session_state["design.designs"] = True
    return app.run()


def save(app, name):
    app.session_state["design.save"] = True
    app.run()
    next(t for t in app.text_input if t.key and t.key.startswith("design.save.name")).set_value(name)
    next(b for b in app.button if b.key and "design.save.yes" in b.key).click()
    return app.run()


def buttons(app, ending):
    return [b.key for b in app.button if b.key and b.key.startswith("design.design.") and b.key.endswith(ending)]


def test_what_is_open_is_named_with_its_version_and_what_was_edited_since(visit):
    app = visit("design")
    assert "the default" in literal(app) and DEFAULT.version in markup(app)
    type_prompt(app)
    assert "the default · edited since: label prompt" in literal(app) and SHORT.version in markup(app)


def test_a_saved_design_is_open_and_no_longer_edited_also_in_a_new_session(visit, store):
    app = save(type_prompt(visit("design")), "  short\n prompts ")
    sound(app)
    assert [(d.name, d.version) for d in store.designs()] == [("short prompts", SHORT.version)]
    for seen in (app, visit("design")):
        assert "saved just now" in literal(seen) and "edited since" not in literal(seen)
        assert seen.session_state["desk"]["drafts"] == {}
        assert next(t for t in seen.text_area if t.key.startswith(PROMPT)).value == "Label it."


def test_a_name_may_be_anything_but_nothing(visit, store):
    app = save(visit("design"), "   ")
    assert "A saved design needs a name" in literal(app) and store.designs() == []
    app = save(app, TRAP)
    sound(app)
    assert TRAP in literal(open_list(app)) and "evil.example" not in markup(app)


def test_the_same_again_is_told_and_kept_once(visit, store):
    app = save(save(visit("design"), "mine"), "mine")
    assert len(store.designs()) == 1 and "already" in app.toast[0].value
    app.session_state["design.save"] = True
    assert "The same content is saved already as “mine”" in literal(app.run())


def test_what_cannot_be_part_of_a_design_is_not_saved_as_something_else(visit, store):
    app = visit("design")
    app.text_area(key="design.tools.get_customer.input_schema").set_value('{"type":').run()
    app.session_state["design.save"] = True
    assert "Not while part of it cannot be used" in literal(app.run())
    press(app, "design.duplicate")
    assert "Not saved: tool get_customer: schema of the arguments (JSON): not JSON yet" in literal(app)
    assert store.designs() == []
    assert app.text_area(key="design.tools.get_customer.input_schema").value == '{"type":'


def test_no_more_designs_than_are_kept_is_one_line(visit, store, monkeypatch):
    monkeypatch.setattr(runs_designs, "MOST_DESIGNS", 0)
    app = save(visit("design"), "mine")
    sound(app)
    assert "no more are kept" in literal(app)


def test_opening_another_design_shows_it_in_every_editor(visit, store):
    store.save_design("d", "short", SHORT.version, {**SHORT.to_dict(), "name": "short"})
    app = open_list(visit("design", desk="d"))
    saved = next(key for key in buttons(app, ".open") if "other" not in key)
    press(app, saved)
    assert app.text_area(key=PROMPT + ".1").value == "Label it." and "short" in literal(app)
    assert not app.session_state["design.designs"]
    press(open_list(app), "design.design.other_0.open")
    assert app.text_area(key=PROMPT + ".2").value == DEFAULT.steps["label"].system
    assert app.session_state["desk"]["opened"] == {}


def test_edits_on_the_design_before_are_one_click_away(visit, store):
    store.save_design("d", "short", SHORT.version, {**SHORT.to_dict(), "name": "short"})
    app = type_prompt(visit("design", desk="d"), "half done")
    press(open_list(app), next(key for key in buttons(app, ".open") if "other" not in key))
    press(app, "design.take_back")
    assert app.session_state["desk"]["opened"] == {}
    assert next(t for t in app.text_area if t.key.startswith(PROMPT)).value == "half done"
    assert not [b for b in app.button if b.key == "design.take_back"]


def test_what_was_reset_in_one_design_does_not_come_back_in_another(visit, store):
    store.save_design("d", "short", SHORT.version, {**SHORT.to_dict(), "name": "short"})
    app = type_prompt(visit("design", desk="d"), "one")
    press(app, "design.revert")
    assert app.button(key="design.revert.undo")
    press(open_list(app), next(key for key in buttons(app, ".open") if "other" not in key))
    assert not [b for b in app.button if b.key and b.key.endswith(".undo")]


def test_a_duplicate_has_a_name_of_its_own_and_the_edits(visit, store):
    app = press(press(type_prompt(visit("design")), "design.duplicate"), "design.duplicate")
    assert [(d.name, d.version) for d in store.designs()] == [
        ("default v1 copy copy", SHORT.version), ("default v1 copy", SHORT.version)]
    assert app.session_state["desk"]["opened"]["name"] == "default v1 copy copy"


def test_a_long_name_is_still_told_apart_when_duplicated(visit, store):
    store.save_desk("d", {"opened": {**SHORT.to_dict(), "name": "n" * 500}})
    press(visit("design", desk="d"), "design.duplicate")
    press(visit("design", desk="d"), "design.duplicate")
    names = [d.name for d in store.designs()]
    assert len(set(names)) == 2 and max(map(len, names)) <= library.LONGEST_NAME


def test_deleting_asks_and_leaves_what_is_open(visit, store):
    app = open_list(save(type_prompt(visit("design")), "mine"))
    asked = next(iter(buttons(app, ".delete")))
    press(app, asked)
    assert len(store.designs()) == 1
    press(app, asked + ".no")
    assert not buttons(app, ".yes")
    press(app, asked)
    press(app, asked + ".yes")
    assert store.designs() == [] and Design.from_dict(app.session_state["desk"]["opened"]).version == SHORT.version
    assert "not saved" in literal(app)


def test_the_design_of_a_run_can_be_opened_exactly(visit, store, sample):
    odd = DEFAULT.with_own_tools(["own_1"], []).with_step("label", system="Trailing \r\n blanks  ", effort="low")
    add_run(store, sample.tickets, sample.id, "agent", desk="d", design={**odd.to_dict(), "name": TRAP})
    app = open_list(visit("design", desk="d"))
    assert TRAP[:20] in literal(app)
    press(app, "design.design.other_1.open")
    sound(app)
    assert Design.from_dict(app.session_state["desk"]["opened"]) == Design.from_dict({**odd.to_dict(), "name": TRAP})


def test_a_design_of_another_version_of_the_playground_is_not_listed(visit, store, sample):
    add_run(store, sample.tickets, sample.id, "agent", desk="d", design={"name": "tomorrow's", "k": 5})
    store.save_design("d", "tomorrow's", "0123456789", {"steps": "many"})
    app = open_list(visit("design", desk="d"))
    sound(app)
    assert "tomorrow's" not in literal(app)


def test_in_a_shared_playground_visitors_see_their_own_designs_only(visit, store, monkeypatch):
    store.save_design("somebody", "theirs", SHORT.version, SHORT.to_dict())
    monkeypatch.setenv("PLAYGROUND_SHARED", "1")
    app = open_list(visit("design"))
    assert "theirs" not in literal(app)
    app = open_list(save(type_prompt(app), "mine"))
    assert "mine" in literal(app) and len(store.designs()) == 2


@pytest.mark.parametrize("opened", [{"k": 5}, {"name": 3}, {"steps": []}])
def test_a_desk_with_a_design_that_is_none_falls_back_to_the_default(visit, store, opened):
    store.save_desk("d", {"opened": opened})
    app = visit("design", desk="d")
    sound(app)
    assert "the default" in literal(app)


def test_another_tab_that_opens_a_design_is_seen_here(visit, store):
    here, there = visit("design", desk="d"), visit("design", desk="d")
    save(type_prompt(there, "from there"), "mine")
    here.number_input(key="design.k").set_value(3).run()
    assert next(t for t in here.text_area if t.key.startswith(PROMPT)).value == "from there"
    assert here.session_state["desk"]["drafts"] == {"k": 3}


def test_five_edits_in_a_row_are_kept(visit):
    app = visit("design")
    for number in range(1, 6):
        type_prompt(app, f"edit {number}")
        assert app.text_area(key=PROMPT).value == f"edit {number}"
        assert app.session_state["desk"]["drafts"] == {"steps.label.system": f"edit {number}"}
    app.switch_page("pages/run.py").run()
    assert app.switch_page("pages/design.py").run().text_area(key=PROMPT).value == "edit 5"


# --- files -----------------------------------------------------------------------------------------------------------


def open_file(app):
    app.session_state["design.file"] = True
    return app.run()


def test_the_code_of_the_design_as_it_stands_can_be_taken(visit, sample):
    app = open_file(visit("design"))
    assert any(button.key == "design.code" for button in app.get("download_button"))
    files = zipfile.ZipFile(io.BytesIO(library.code_of(SHORT, sample)))
    assert f"version {SHORT.version}" in files.read("take_home/run.py").decode()


def bring(app, name, content):
    app = open_file(app)
    return app.file_uploader(key="design.import").set_value((name, content, "text/plain")).run()


def test_an_exported_design_is_opened_elsewhere_as_the_same_version(visit, store):
    app = bring(visit("design", desk="elsewhere"), "short.toml", design_file.write(SHORT).encode())
    sound(app)
    assert "short.toml is open. It is not saved yet." in literal(app)
    assert SHORT.version in markup(app) and "not saved" in literal(app)
    assert next(t for t in app.text_area if t.key.startswith(PROMPT)).value == "Label it."
    assert not app.session_state["design.file"]
    assert "is open" not in literal(press(app, "design.import.ok"))


def test_edits_before_an_import_are_one_click_away(visit):
    app = bring(type_prompt(visit("design"), "half done"), "d.json", json.dumps(SHORT.to_dict()).encode())
    press(app, "design.take_back")
    assert app.session_state["desk"]["drafts"] == {"steps.label.system": "half done"}


def test_a_file_whose_limits_are_whole_numbers_is_shown_and_edited_like_any_other(visit):
    text = design_file.write(SHORT).replace("max_usd = 5.0", "max_usd = 7").replace("= 1800.0", "= 600")
    app = bring(visit("design"), "seven.toml", text.encode())
    sound(app)
    next(n for n in app.number_input if n.key.startswith("design.limits.max_usd")).set_value(7.5).run()
    sound(app)
    assert app.session_state["desk"]["drafts"] == {"limits.max_usd": 7.5}


def test_a_schema_that_python_takes_for_the_same_is_opened_as_it_stands_in_the_file(visit):
    """true, 1 and 1.0 are equal there, and the order of names counts for nothing."""
    app, shown = visit("design"), []
    for number in ("1", "1.0"):
        text = design_file.write(DEFAULT).replace('"minimum": 1,', f'"maximum": 50, "minimum": {number},')
        app = bring(app, f"{number}.toml", text.encode())
        shown.append(next(t for t in app.text_area if t.key.startswith("design.tools.list_tickets.input_schema")).value)
    first, second = shown
    assert first.index('"maximum"') < first.index('"minimum": 1,') and '"minimum": 1.0,' in second


def test_a_file_that_is_no_design_changes_nothing_and_says_where(visit):
    text = design_file.write(SHORT).replace("k = 5", "k = true")
    app = bring(type_prompt(visit("design"), "mine"), TRAP.replace("/", "_") + ".toml", text.encode())
    sound(app)
    assert "k: true stands where a whole number should (line 6). What was open before still is." in literal(app)
    assert app.session_state["desk"]["drafts"] == {"steps.label.system": "mine"} and "evil.example" not in markup(app)


def test_an_imported_design_with_problems_is_shown_with_them(visit):
    bad = DEFAULT.with_tool("tally", name="no good name").with_step("label", max_tokens=0)
    app = bring(visit("design"), "bad.toml", design_file.write(bad).encode())
    sound(app)
    assert "This design cannot run yet" in markup(app) and "no good name" in literal(app)


def test_unknown_fields_of_an_import_are_told(visit):
    app = bring(visit("design"), "new.toml", design_file.write(SHORT).replace("k = 5", "k = 5\ncolour = 3").encode())
    assert "does not know it: colour." in literal(app)


def test_a_name_becomes_a_file_name_that_any_system_takes():
    assert library.file_name(SHORT) == f"design-default-v1-{SHORT.version}.toml"
    odd = replace(SHORT, name="../../Größe <b>\n" + "x" * 99)
    assert re.fullmatch(r"design-groe-b-x{1,40}-[0-9a-f]{10}\.toml", library.file_name(odd))
    assert library.file_name(replace(SHORT, name="漢字")) == f"design-{SHORT.version}.toml"


def test_many_designs_are_found_by_a_part_of_their_name(visit, store):
    for number in range(library.SHOWN + 5):
        design = replace(DEFAULT, k=number % 50, name=f"Trial {number} of many")
        store.save_design("d", design.name, design.version, design.to_dict())
    app = open_list(visit("design", desk="d"))
    sound(app)
    assert len(buttons(app, ".open")) == library.SHOWN and "and 6 more" in markup(app)
    app.text_input(key="design.designs.find").set_value("MANY trial 7").run()
    assert sorted(t.value for t in app.text if t.value.startswith("Trial")) == [
        "Trial 17 of many", "Trial 27 of many", "Trial 37 of many", "Trial 7 of many"]


def test_edits_of_designs_that_were_left_come_back_after_a_crash_the_newest_first(visit, store):
    store.save_design("d", "short", SHORT.version, {**SHORT.to_dict(), "name": "short"})
    app = type_prompt(visit("design", desk="d"), "half done")
    press(open_list(app), next(key for key in buttons(app, ".open") if "other" not in key))
    prompt = next(t for t in app.text_area if t.key.startswith(PROMPT))
    prompt.input("another edit").run()
    press(open_list(app), "design.design.other_0.open")
    again = visit("design", desk="d")
    press(again, "design.take_back")
    assert next(t for t in again.text_area if t.key.startswith(PROMPT)).value == "another edit"
    press(again, "design.revert")
    press(again, "design.take_back")
    assert next(t for t in again.text_area if t.key.startswith(PROMPT)).value == "half done"
    assert again.session_state["desk"]["opened"] == {}


def test_what_was_reset_comes_back_after_a_crash(visit):
    press(type_prompt(visit("design", desk="d"), "half done"), "design.revert")
    again = visit("design", desk="d")
    press(again, "design.revert.undo")
    assert next(t for t in again.text_area if t.key.startswith(PROMPT)).value == "half done"
    sound(again)


@pytest.mark.parametrize("kept", [
    {"designs": "x"}, {"designs": [1, {"opened": 1, "drafts": {}}]}, {"fields": 3}, {"fields": {"of": 1}}, {"tool": []},
    {"tool": {"of": {}, "key": 3}}, {"tool": {"of": {}, "key": "own_1", "typed": {"k": 3}, "place": "x"}},
    {"fields": {"of": {}, "steps.label.system": 7, "nothing": [1]}},
    {"designs": [{"opened": {"x": 1}, "drafts": {"y": 2}}]},
])
def test_whatever_was_set_aside_by_another_hand_the_page_works(visit, store, kept):
    store.save_desk("d", {"set_aside": kept})
    app = visit("design", desk="d")
    sound(app)
    for key in ("design.take_back", "design.revert.undo", "design.undo_remove"):
        if key in [button.key for button in app.button]:
            press(app, key)
            sound(app)
