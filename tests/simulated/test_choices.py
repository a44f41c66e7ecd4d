"""A list of causes in a prompt is kept to, in whatever form a person writes it."""

import json

import pytest

from lib.simulated.mind.reading import allowed_causes
from lib.task import prompts
from lib.tickets.ticket import Ticket
from tests.simulated.test_reactions import reply

JSON_ONLY = "Answer with JSON only, nothing before or after it."
FOUR = ("login", "billing", "export", "other")
TICKET = prompts.render_ticket(Ticket("1", "1", "", "I was charged twice for one booking, please refund."))


def with_list(text):
    return prompts.LABEL.replace(JSON_ONLY, f"{text}\n{JSON_ONLY}")


@pytest.mark.parametrize("text", [
    "Use only these causes: login, billing, export, other.",
    "The cause must be one of: login, billing, export or other.",
    "Categories: login, billing, export, other", "Causes:\n* login\n* billing\n* export\n* other",
    "Use one of these labels:\nlogin\nbilling\nexport\nother\n",
    "Pick exactly one cause: login, billing, export, other.",
    "The cause must be either login, billing, export or other.", "Valid causes are login, billing, export and other.",
    "Classify each ticket into login, billing, export or other.", "cause is one of login | billing | export | other.",
    "Use only these causes: login/billing/export/other.", 'Allowed causes: ["login", "billing", "export", "other"]',
    "Choose from: login; billing; export; other.", "login, billing, export, other\nUse only the causes listed above.",
    "Allowed causes:\n1. login: sign-in fails\n2. billing: charged wrongly\n3. export: files cut\n4. other: the rest",
    "Allowed causes:\n- login (sign-in, SSO)\n- billing (charged, invoice)\n- export (CSV, PDF)\n- other",
    "Use only these causes:\n| name | for |\n|---|---|\n| login | |\n| billing | money |\n| export | |\n| other | |",
    "<label>login</label>\n<label>billing</label>\n<label>export</label>\n<label>other</label>",
    "Wähle aus dieser Liste: login, billing, export, other.",
    "Utilise uniquement ces causes : login, billing, export, other.",
])
def test_the_causes_of_a_list_are_the_only_ones(text):
    assert tuple(allowed_causes(with_list(text))) == FOUR
    assert json.loads(reply(with_list(text), TICKET))["cause"] == "billing"


@pytest.mark.parametrize(("text", "names"), [
    ('Use only these causes: "login or SSO", "billing or refund".', ("login or SSO", "billing or refund")),
    ("Use only these causes: login or SSO, billing or refund.", ("login or SSO", "billing or refund")),
    ("Use only these causes:\n- auth: sso\n- auth: password\n- billing\n", ("auth: sso", "auth: password", "billing")),
    ("Use only these causes: feature request: waiting list, billing.", ("feature request: waiting list", "billing")),
    ("Allowed causes:\n- export (CSV)\n- export (PDF)\n", ("export (CSV)", "export (PDF)")),
    ("Use only these causes: v2.0 migration, billing.", ("v2.0 migration", "billing"))])
def test_names_with_or_colons_brackets_and_dots_stay_whole(text, names):
    assert tuple(allowed_causes(with_list(text))) == names


@pytest.mark.parametrize("text", [
    "Do not use these causes: login, billing, export.", "- cause: short, plain, lower case\n- evidence: a quote",
    "Typical causes are for example login, billing, export.", "The answer must be short, plain and lower-case.",
    "Name them as people name their causes", "Keep to these names"])
def test_what_is_no_list_of_the_allowed_is_none(text):
    assert not allowed_causes(with_list(text))


@pytest.mark.parametrize("shape", ["login|billing|export|other", "login | billing | export | other",
                                   "one of: login, billing, export, other", "login, billing, export or other"])
def test_the_options_of_an_example_are_the_only_ones(shape):
    system = prompts.LABEL.replace("2-5 plain lower-case words", shape)
    assert tuple(allowed_causes(system)) == FOUR and json.loads(reply(system, TICKET))["cause"] == "billing"


def test_what_the_prompt_says_of_a_cause_counts():
    system = with_list("Allowed causes:\n- A1: login trouble\n- B2: payments\n- C3: exports")
    assert json.loads(reply(system, TICKET))["cause"] == "B2"


@pytest.mark.parametrize("names", ["Anmeldung, Abrechnung, Kalender, Sonstiges",
                                   "connexion, facturation, calendrier, autre"])
def test_causes_in_other_languages_are_told_apart(names):
    system = with_list(f"Use only these causes: {names}.")
    unknown = prompts.render_ticket(Ticket("2", "2", "", "The stove makes no spark."))
    assert [json.loads(reply(system, ticket))["cause"] for ticket in (TICKET, unknown)] == names.split(", ")[1::2]


def test_a_name_that_is_sent_back_as_several_becomes_one():
    system = with_list("Allowed causes:\n- login/SSO\n- billing/refund\n- other")
    first = reply(system, TICKET)
    assert json.loads(first)["cause"] == "billing/refund"
    told = "\"cause\" is 'billing/refund', which looks like several; give one cause. Answer with JSON."
    assert json.loads(reply(system, TICKET, first, told))["cause"] == "billing"
