"""Hand-made files in the layouts of well-known help desks: each is read with the right guess, without a click."""

from pathlib import Path

import pytest

from lib.tickets import Columns, guess_columns, read_table, to_tickets

EXPORTS = Path(__file__).parent / "exports"


def read(name):
    table = read_table(name, (EXPORTS / name).read_bytes())
    columns = guess_columns(table)
    return columns, to_tickets(table, columns)


GUESSES = {
    "zendesk_api_page.json": Columns("id", "subject", "description", "organization_id", None, "created_at", "tags"),
    "zendesk_tickets.csv": Columns("Id", "Subject", None, "Requester id", "Product [list]", "Created at", "Tags"),
    "freshdesk_tickets.csv": Columns("Ticket ID", "Subject", "Description", "Company Name", "Product", "Created time",
                                     "Tags"),
    "jira.csv": Columns("Issue key", "Summary", "Description", "Reporter", "Component/s", "Created", "Labels"),
    "intercom_conversations.json": Columns("id", "source.subject", "source.body", "source.author.email",
                                           "custom_attributes.Product", "created_at", "tags.tags"),
    "hubspot_tickets.csv": Columns("Ticket ID", "Ticket name", "Ticket description", "Associated Company IDs", None,
                                   "Create date", "Category"),
    "github_issues_api.json": Columns("number", "title", "body", "user.login", None, "created_at", "labels"),
    "gh_issue_list.json": Columns("number", "title", "body", "author.login", None, "createdAt", "labels"),
}


@pytest.mark.parametrize("name", GUESSES)
def test_every_part_is_guessed(name):
    assert read(name)[0] == GUESSES[name]


def test_every_export_here_is_tested():
    assert sorted(GUESSES) == sorted(path.name for path in EXPORTS.iterdir())


def test_a_zendesk_page_names_who_said_what_and_says_that_it_is_one_page():
    _, found = read("zendesk_api_page.json")
    assert found.tickets[0].body == (
        "Since the update on Monday the desk lamp flickers at low brightness.\n\n"
        "Sunniva Holt (agent):\nWhich firmware does the app show?\n\n"
        "Sunniva Holt (agent), internal note:\nLooks like the 2.4 rollout again.\n\n"
        "Ottoline Frey (end-user):\nIt says 2.4.1 & a red dot.")
    assert [t.body for t in found.tickets[1:]] == ["Our invoice LN-0071 lacks the VAT number <DE 12>.",
                                                   "The lamp is not found by the app on my phone."]
    assert [t.label for t in found.tickets] == ["firmware, flicker", "billing", ""]
    assert "3 of 211: this is one page of an export (next_page is set)" in found.notes


def test_a_zendesk_csv_has_no_texts_and_that_is_told():
    _, found = read("zendesk_tickets.csv")
    assert [(t.id, t.customer, t.product, t.body) for t in found.tickets] == [
        ("35012", "9101", "Lamp 2", ""), ("35013", "9102", "", ""), ("35014", "9101", "Lamp 2", "")]
    assert any("no column holds the text" in note for note in found.notes)


def test_freshdesk_keeps_lines_quotes_and_the_words_of_html():
    _, found = read("freshdesk_tickets.csv")
    assert [t.body for t in found.tickets] == [
        "The filter warning stays on, although I changed it.\n\nSerial: 004-77",
        "I ordered size L,\nyou sent M.\n\n- order 7781", 'It hums; worse at night, "like a fridge".']
    assert [t.label for t in found.tickets] == ["filter,sensor", "delivery", "sensor"]


def test_jira_keeps_all_labels_and_comments():
    _, found = read("jira.csv")
    first = found.tickets[0]
    assert first.label == "safety, power, urgent"
    assert first.body.split("\n\n") == [
        "Trips as soon as it starts.\n{code}E77{code}",
        "03/Nov/26 1:02 PM;agent.lo;Asked for a photo; waiting until 9;30 tomorrow",
        '04/Nov/26 9:31 AM;vesna.k;Photo attached, see the "burn mark".']


def test_an_intercom_conversation_is_one_body_in_order():
    _, found = read("intercom_conversations.json")
    assert found.tickets[0].body == (
        "Hi, my lamp's dimmer jumps from 10 % to 60 %.\n\n"
        "Sunniva Holt (admin):\nHello Ottoline,\n\ndoes it also happen in the app?\n\n"
        "Sunniva Holt (admin), internal note:\nThird one this week\n\nOttoline Frey (user):\nYes, in both.")
    assert (found.tickets[1].subject, found.tickets[1].label) == ("Refund", "refund, returns")


def test_hubspot_ids_are_text():
    _, found = read("hubspot_tickets.csv")
    assert [(t.id, t.customer, t.label) for t in found.tickets] == [
        ("20931557001", "8812007001", "Product Issue"), ("20931557002", "8812007002", "Billing Issue"),
        ("20931557003", "8812007001", "Product Issue")]


def test_github_issues_keep_their_lines_and_name_pull_requests():
    _, found = read("github_issues_api.json")
    assert found.tickets[0].body == "### Steps\n1. set `timer`\n2. wait\na minute"
    assert [t.label for t in found.tickets] == ["bug, timer", "", "bug"]
    assert "pull requests among the issues: 1" in found.notes


def test_the_gh_command_gives_comments_with_their_authors():
    _, found = read("gh_issue_list.json")
    assert [t.body for t in found.tickets] == ["It beeps twice.\n\nmaint-o:\nWhich build?\n\nhazel-r:\n1.9.0", ""]
