"""The settings that the simulated API takes from the environment; what makes no sense is named."""

from __future__ import annotations

import pytest

from lib.errors import SettingError
from lib.settings import load
from lib.simulated.conditions import Conditions


def faults(text: str) -> Conditions:
    return Conditions.from_dict(load({"PLAYGROUND_FAULTS": text}).faults)


def test_without_the_variable_nothing_goes_wrong():
    assert faults("") == faults(" , ") == Conditions()


def test_every_fault_can_be_named():
    said = "rate_limited=0.1, overloaded=0.05,server_error=.02,slow=1,requests_per_minute=60,confused=1,seed=7"
    assert faults(said) == Conditions(seed=7, rate_limited=0.1, overloaded=0.05, server_error=0.02, slow=1.0,
                                      requests_per_minute=60, confused=True)


def test_a_size_of_model_gets_its_seconds_and_its_tokens_a_second():
    speeds = faults("small=0.5/120").speeds
    assert (speeds["small"].first_token, speeds["small"].per_token) == (0.5, 1 / 120)
    assert speeds["large"] == Conditions().speeds["large"]


@pytest.mark.parametrize(("text", "told"), [
    ("slow=2", "'slow=2'; slow takes a share from 0 to 1"), ("slow", "'slow'; slow takes"),
    ("slow=nan", "slow takes"), ("seed=1.5", "seed takes a whole number"), ("confused=2", "confused takes 1 or 0"),
    ("small=1/0", "small takes seconds to the first token"), ("small=1", "small takes"),
    ("late=0.1", "'late=0.1'; it takes rate_limited=…, overloaded=…")])
def test_what_makes_no_sense_is_named(text, told):
    with pytest.raises(SettingError, match="PLAYGROUND_FAULTS has") as refusal:
        faults("overloaded=0.1," + text)
    assert told in str(refusal.value)
