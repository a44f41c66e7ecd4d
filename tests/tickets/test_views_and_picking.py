"""Looks at tickets that pages may take at every rerun, and the choice of what to run."""

import pytest

from lib.errors import InputError
from lib.tickets import Table, Ticket, TicketSet
from lib.tickets.picking import pick
from lib.tickets.views import characters, columns_of, counts, groupings, tokens

KINDS = "a" * 60 + "b" * 30 + "c" * 9 + "d"
TICKETS = TicketSet("t", tuple(Ticket(str(i), str(i), "s", "x" * i, label=kind, extra={"team": kind.upper()})
                               for i, kind in enumerate(KINDS)))


def test_columns_come_with_counts_and_short_examples():
    table = Table("t", ("id", "body"), (("1", "two\nlines"), ("2", ""), ("3", "x" * 500), ("4", "two\nlines")))
    ids, body = columns_of(table, longest=20)
    assert (ids.filled, ids.examples) == (4, ("1", "2", "3"))
    assert (body.filled, body.examples) == (3, ("two lines", "x" * 19 + "…"))


def test_tickets_are_counted_by_a_part_or_by_another_column():
    assert groupings(TICKETS) == ["label", "team"]
    assert counts(TICKETS, "label") == {"a": 60, "b": 30, "c": 9, "d": 1}
    assert counts(TICKETS, "team")["A"] == 60 and counts(TICKETS, "nope") == {"": 100}


def test_sizes_in_characters_are_exact():
    found = characters(TICKETS)
    assert (found.tickets, found.total, found.median, found.largest, found.largest_key) == (100, 5_050, 50, 100, "99")
    assert characters(TicketSet("t", ())).total == 0


def test_tokens_of_many_tickets_are_told_from_a_sample_spread_over_all_lengths():
    asked = []
    found = tokens(TICKETS, lambda ticket: asked.append(ticket) or len(ticket.body), sample=20)
    assert len(asked) == 20 and not found.exact
    assert found.total == pytest.approx(4_950, rel=0.02) and (found.largest, found.largest_key) == (99, "99")
    assert tokens(TICKETS, lambda ticket: 3).exact


def keys(found):
    return [ticket.key for ticket in found.tickets]


def test_the_first_ones_and_all():
    assert keys(pick(TICKETS, "first", 3)) == ["0", "1", "2"]
    assert pick(TICKETS, "all", 3) is pick(TICKETS, "random", 100) is TICKETS


def test_the_same_seed_picks_the_same_in_the_order_of_the_file():
    once = pick(TICKETS, "random", 10, seed=7)
    assert keys(once) == keys(pick(TICKETS, "random", 10, seed=7)) == sorted(keys(once), key=int)
    assert keys(once) != keys(pick(TICKETS, "random", 10, seed=8))
    assert once.notes == ("10 of 100 tickets picked: at random, seed 7",)


@pytest.mark.parametrize(("number", "shares"), [
    (10, {"a": 6, "b": 2, "c": 1, "d": 1}), (50, {"a": 30, "b": 15, "c": 4, "d": 1}), (2, {"a": 1, "b": 1}),
    (99, {"a": 60, "b": 29, "c": 9, "d": 1})])
def test_a_stratified_sample_gives_every_group_its_share_and_the_rare_ones_a_place(number, shares):
    found = pick(TICKETS, "stratified", number, by="label")
    assert len(found) == number
    told = counts(found, "label")
    assert set(told) == set(shares) and all(abs(told[kind] - share) <= 1 for kind, share in shares.items())


def test_a_stratified_sample_by_a_column_of_many_values_is_still_of_the_size_asked_for():
    many = TicketSet("t", tuple(Ticket(str(i), str(i), product=str(i % 37)) for i in range(500)))
    for number in (1, 5, 36, 37, 38, 123, 499):
        assert len(pick(many, "stratified", number, by="product")) == number


def test_a_wrong_way_to_pick_is_refused():
    with pytest.raises(InputError, match="choose among all, first"):
        pick(TICKETS, "best", 3)
    with pytest.raises(InputError, match="at least 1"):
        pick(TICKETS, "first", 0)
