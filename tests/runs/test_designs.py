"""Saved designs: kept as they were, in versions under a name, one desk's own, and nothing a run depends on."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from lib.design import Design
from lib.errors import InputError, StoreError
from lib.runs import designs as module
from lib.runs import schema
from lib.runs.schema import MIGRATIONS
from lib.runs.store import Run, SavedDesign, Store
from lib.task.default_design import default_design


@pytest.fixture
def store(tmp_path: Path):
    opened = Store(tmp_path / "runs.sqlite")
    yield opened
    opened.close()


def save(store: Store, design: Design, desk: str = "d", name: str = "mine") -> SavedDesign:
    return store.save_design(desk, name, design.version, design.to_dict())


def run(run_id: str, design: Design, created: float, desk: str = "d") -> Run:
    return Run(run_id, run_id, "agent", "done", "simulated", "simulated", design.to_dict(), "data", created, desk=desk)


DEFAULT = default_design()
SHORT = DEFAULT.with_step("label", system="Label it. 😀 \r\n ")


def test_a_saved_design_comes_back_as_it_was(store: Store):
    save(store, SHORT)
    found = store.designs("d")[0]
    assert (found.name, found.version, found.desk) == ("mine", SHORT.version, "d")
    assert Design.from_dict(found.content) == SHORT and Design.from_dict(found.content).version == found.version


def test_one_name_may_have_several_versions_the_newest_first(store: Store):
    save(store, DEFAULT)
    save(store, SHORT)
    assert [d.version for d in store.designs("d")] == [SHORT.version, DEFAULT.version]


def test_the_same_content_under_the_same_name_is_kept_once(store: Store):
    first = save(store, DEFAULT)
    save(store, SHORT)
    assert save(store, DEFAULT) == first and len(store.designs("d")) == 2
    assert save(store, DEFAULT, name="other").id != first.id and save(store, DEFAULT, desk="e").id != first.id


def test_visitors_see_and_delete_only_their_own(store: Store):
    mine, other = save(store, DEFAULT, "d"), save(store, SHORT, "e")
    assert store.designs("d") == [mine] and {d.id for d in store.designs()} == {mine.id, other.id}
    assert not store.delete_design(other.id, "d") and store.designs("e") == [other]
    assert store.delete_design(other.id, "e") and not store.delete_design(other.id, "e")


def test_deleting_a_saved_design_leaves_the_runs_theirs(store: Store):
    store.add_run(run("r1", SHORT, 1.0))
    store.delete_design(save(store, SHORT).id)
    assert Design.from_dict(store.run("r1").design) == SHORT and store.designs() == []


def test_designs_go_with_everything_and_move_with_their_desk(store: Store):
    save(store, DEFAULT, "old")
    store.hand_over_desk("old", "new")
    assert [d.desk for d in store.designs()] == ["new"]
    store.delete_everything()
    assert store.designs() == []


def test_no_more_than_the_most_are_kept_and_the_same_again_is_no_new_one(store: Store, monkeypatch):
    monkeypatch.setattr(module, "MOST_DESIGNS", 1)
    first = save(store, DEFAULT)
    with pytest.raises(InputError, match="no more are kept"):
        save(store, SHORT)
    assert save(store, DEFAULT) == first
    assert save(store, SHORT, desk="e").desk == "e"


def test_names_that_are_no_plain_words_are_kept_as_text(store: Store):
    name = "'; drop table design; -- **x** \ud800"
    save(store, DEFAULT, name=name)
    assert [d.name for d in store.designs("d")] == [name.replace("\ud800", "\ufffd")]


def test_the_designs_of_runs_are_told_once_each_the_latest_first(store: Store):
    store.add_runs([run("r1", DEFAULT, 1.0), run("r2", SHORT, 2.0), run("r3", DEFAULT, 3.0)])
    store.add_run(run("r4", SHORT, 9.0, desk="e"))
    found = [(Design.from_dict(content), created) for content, created in store.designs_of_runs("d")]
    assert found == [(DEFAULT, 3.0), (SHORT, 2.0)]
    assert len(store.designs_of_runs()) == 2 and len(store.designs_of_runs(limit=1)) == 1


def test_a_store_of_before_gets_the_table_and_keeps_its_runs(tmp_path: Path, monkeypatch):
    before = next(i for i, statements in enumerate(MIGRATIONS) if "create table design" in statements[0])
    with monkeypatch.context() as then, closing(_opened(tmp_path, then, MIGRATIONS[:before])) as old:
        old.add_run(run("r1", DEFAULT, 1.0))
        with pytest.raises(StoreError, match="no such table"):
            old.designs()
    with closing(Store(tmp_path / "runs.sqlite")) as again:
        assert again.run("r1") is not None and save(again, DEFAULT).name == "mine"


def _opened(folder: Path, patch: pytest.MonkeyPatch, migrations: list[tuple[str, ...]]) -> Store:
    patch.setattr(schema, "MIGRATIONS", migrations)
    return Store(folder / "runs.sqlite")
