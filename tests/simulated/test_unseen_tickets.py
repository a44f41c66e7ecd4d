"""A grocery shop's tickets in four languages, which the lexicon was widened on, and topics it does not know."""

from collections import Counter, defaultdict
from itertools import combinations

import pytest
from other_tickets import SHOP

from lib.catalog.catalog import empty_catalog
from lib.client.connect import connect_simulated
from lib.settings import load
from lib.simulated.mind.labelling import label
from lib.simulated.mind.merging import merge
from lib.task import SHAPES
from lib.task.default_design import default_design
from lib.tickets.ticket import Ticket, TicketSet

TICKETS = TicketSet("shop.csv", tuple(Ticket(f"S-{i}", f"S-{i}", "", text) for i, (_, text) in enumerate(SHOP)))
GOLD = {f"S-{i}": cause for i, (cause, _) in enumerate(SHOP)}


@pytest.mark.parametrize("shape", SHAPES)
def test_both_shapes_group_a_shops_tickets_by_cause(shape):
    client = connect_simulated(load({}), speed=0).client
    report = SHAPES[shape](client, default_design(), TICKETS, empty_catalog())
    assert set(report.labels) == set(GOLD)
    assert agreement(report.labels) >= 0.85
    meant = [Counter(GOLD[key] for key in cause.tickets).most_common(1)[0][0] for cause in report.causes]
    assert meant[:3] == ["parcel", "damaged", "voucher"]


def agreement(found):
    """F1 over pairs of tickets: those that belong together and stand together."""
    pairs = [(GOLD[a] == GOLD[b], found[a] == found[b]) for a, b in combinations(GOLD, 2)]
    return 2 * pairs.count((True, True)) / (2 * pairs.count((True, True)) + pairs.count((True, False))
                                            + pairs.count((False, True)))


def test_causes_that_differ_never_share_a_group():
    names = defaultdict(set)
    for cause, text in SHOP:
        names[label("", text).concept].add(cause)
    assert all(len(causes) == 1 for causes in names.values()), dict(names)


@pytest.mark.parametrize(("text", "cause"), [
    ("The coffee machine in the lobby gives no milk any more.", "no milk from coffee machine"),
    ("Der Aufzug im dritten Stock ist schon wieder steckengeblieben. Bitte kommen Sie schnell.", "lift stuck"),
    ("Le radiateur de ma chambre ne marche pas depuis samedi.", "heating not working"),
    ("El ascensor no funciona desde el lunes y mi madre no puede bajar.", "lift not working"),
    ("Meine Rutsche hat eine Farbe, die ich nicht mag.", "problem with rutsche"),
    ("I can't hand the homework in.", "cannot hand homework"),
    ("The playlist never moves to the next song.", "playlist not moving"),
    ("Good afternoon, hope you are well! I would like to know when the pool opens.", "question about pool"),
    ("Посылка не пришла, жду уже две недели.", "ticket in unknown language"),
])
def test_an_unknown_topic_is_named_in_plain_words(text, cause):
    assert label("", text).cause == cause


def test_unknown_topics_merge_by_thing_and_fault_only():
    groups = merge([("lift stuck", 2), ("lift not working", 1), ("lift noisy", 1), ("door stuck", 1)])
    assert [set(g.labels) for g in groups] == [{"lift stuck", "lift not working"}, {"lift noisy"}, {"door stuck"}]
