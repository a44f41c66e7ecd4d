"""The settings that the environment gives: faults, and what the owner of a shared playground allows. What makes no
sense is named."""

from __future__ import annotations

import pytest

from lib.client import base_url
from lib.errors import BaseUrlRefused, SettingError
from lib.settings import VARIABLES, load
from lib.simulated.conditions import Conditions
from lib.ui import outside


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


# --- a shared playground


def test_by_default_no_key_is_shared_and_any_public_server_will_do():
    alone = load({})
    assert (alone.key_budget, alone.key_budget_total, alone.base_urls, alone.max_runs) == (0.0, 0.0, (), 8)


def test_what_its_owner_allows():
    shared = load({"PLAYGROUND_KEY_BUDGET": "0.5", "PLAYGROUND_KEY_BUDGET_TOTAL": "3", "PLAYGROUND_MAX_RUNS": "20",
                   "PLAYGROUND_BASE_URLS": " http://one:8000/v1 ,,https://two.example "})
    assert (shared.key_budget, shared.key_budget_total, shared.max_runs) == (0.5, 3.0, 20)
    assert shared.base_urls == ("http://one:8000/v1", "https://two.example")


def test_all_visitors_together_may_spend_ten_times_as_much_as_one_where_nothing_is_said():
    assert load({"PLAYGROUND_KEY_BUDGET": "0.5"}).key_budget_total == 5.0
    assert load({"PLAYGROUND_KEY_BUDGET": "0.5", "PLAYGROUND_KEY_BUDGET_TOTAL": "0"}).key_budget_total == 0.0


@pytest.mark.parametrize("name", ["PLAYGROUND_KEY_BUDGET", "PLAYGROUND_KEY_BUDGET_TOTAL", "PLAYGROUND_MAX_RUNS"])
@pytest.mark.parametrize("text", ["-1", "much", "nan", "inf"])
def test_a_number_that_makes_no_sense_names_its_variable(name: str, text: str):
    with pytest.raises(SettingError, match=f"{name} is '{text}'"):
        load({name: text})


def test_the_store_may_be_memory():
    assert str(load({"PLAYGROUND_STORE": ":memory:"}).store) == ":memory:"


OWNERS = load({"PLAYGROUND_BASE_URL": "http://localhost:11434/", "PLAYGROUND_BASE_URLS":
               "http://10.0.0.7:8000/v1, https://llm.example.org"})


def test_the_owners_list_is_offered_in_the_form_that_requests_use():
    assert outside.offered(OWNERS) == ("http://localhost:11434", "http://10.0.0.7:8000", "https://llm.example.org")
    assert outside.offered(load({"PLAYGROUND_BASE_URL": "http://localhost:11434"})) == ()


def to_this_network(*_: object) -> list:
    return [(0, 0, 0, "", ("10.0.0.9", 0))]


@pytest.mark.parametrize("typed", ["http://10.0.0.7:8000", " http://10.0.0.7:8000/v1/ ", "localhost:11434",
                                   "https://llm.example.org/v1/messages"])
def test_an_address_on_the_owners_list_may_be_anywhere(typed: str):
    outside.refuse(base_url.normalise(typed), OWNERS, resolve=to_this_network)


@pytest.mark.parametrize("typed", ["https://api.anthropic.com", "http://10.0.0.7:8001", "https://10.0.0.7:8000",
                                   "https://llm.example.org.evil.example", "https://llm.example.org/other",
                                   "http://localhost:8000"])
def test_no_other_address_is_allowed(typed: str):
    with pytest.raises(BaseUrlRefused, match="sends requests to http://localhost:11434, http://10.0.0.7:8000, "):
        outside.refuse(base_url.normalise(typed), OWNERS, resolve=outside.no_lookup)


def test_without_a_list_public_addresses_are_allowed_and_those_inside_are_not():
    nothing_said = load({})
    outside.refuse("https://llm.example.org", nothing_said, resolve=outside.no_lookup)
    for inside in ("http://10.0.0.7:8000", "http://localhost:11434"):
        with pytest.raises(BaseUrlRefused, match="its own network"):
            outside.refuse(inside, nothing_said, resolve=outside.no_lookup)
    with pytest.raises(BaseUrlRefused, match="its own network"):
        outside.refuse("https://llm.example.org", nothing_said, resolve=to_this_network)


def test_a_list_with_a_mistake_in_it_names_its_variable():
    wrong = load({"PLAYGROUND_BASE_URLS": "http://one:8000, ftp://two"})
    with pytest.raises(SettingError, match="PLAYGROUND_BASE_URLS .*'ftp://two'"):
        outside.refuse("http://one:8000", wrong)


def test_nothing_is_read_that_is_not_among_the_variables():
    class Noting(dict):
        def get(self, name, default=None):
            read.add(name)
            return default

    read: set[str] = set()
    load(Noting())
    assert read == set(VARIABLES)
