"""The table of models: what a row says fits together and is what the API knows."""

from datetime import date

import pytest

from lib.models import EFFORTS, MODELS, THINKING, model


@pytest.mark.parametrize("known", MODELS.values(), ids=MODELS)
def test_a_row_of_the_table_makes_sense(known):
    assert date.fromisoformat(known.released) and known.max_output < known.window
    assert set(known.thinking) <= set(THINKING) and set(known.efforts) <= set(EFFORTS) and known.effort in EFFORTS
    assert known.thinks or "disabled" in known.thinking, "a model that does not think by default can do without"


def test_a_model_that_has_a_dated_id_is_known_by_both():
    assert model("claude-haiku-4-5-20251001") == model("claude-haiku-4-5")
