"""Which tickets to run: the first ones, a random sample, or one in which every group has its share."""

from __future__ import annotations

import random
from collections.abc import Iterable

from lib.errors import InputError
from lib.phrases import plural
from lib.tickets.ticket import TicketSet
from lib.tickets.views import value_of

HOW = ("all", "first", "random", "stratified")


def pick(tickets: TicketSet, how: str, number: int, seed: int = 0, by: str = "") -> TicketSet:
    """The chosen tickets in their order and with their keys, and a note on the choice; the same seed picks the same.

    "stratified" gives every value of `by` (see views.groupings) its share of `number`, rounded, and at least one ticket
    while there is room, the commonest value first. Raises InputError for a number below 1 and for an unknown `how`.
    """
    if how not in HOW:
        raise InputError(f'"{how}" is no way to pick tickets: choose among {", ".join(HOW)}')
    if how != "all" and number < 1:
        raise InputError("pick at least 1 ticket")
    if how == "all" or number >= len(tickets):
        return tickets
    places, said = _places(tickets, how, number, seed, by)
    note = f"{number:,} of {plural(len(tickets), 'ticket')} picked: {said}"
    return TicketSet(tickets.name, tuple(tickets.tickets[i] for i in sorted(places)), (note, *tickets.notes))


def _places(tickets: TicketSet, how: str, number: int, seed: int, by: str) -> tuple[Iterable[int], str]:
    if how == "first":
        return range(number), "the first ones"
    chance = random.Random(seed)
    if how == "random":
        return chance.sample(range(len(tickets)), number), f"at random, seed {seed}"
    groups: dict[str, list[int]] = {}
    for place, ticket in enumerate(tickets.tickets):
        groups.setdefault(value_of(ticket, by), []).append(place)
    shares = _shares({value: len(places) for value, places in groups.items()}, number)
    return ([place for value, share in shares.items() for place in chance.sample(groups[value], share)],
            f"by {by}, each of {plural(len(groups), 'value')} with its share, seed {seed}")


def _shares(sizes: dict[str, int], number: int) -> dict[str, int]:
    """How many of each group: one each, the commonest first, then by largest remainder."""
    order = sorted(sizes, key=lambda value: (-sizes[value], value))
    shares = {value: int(at < number) for at, value in enumerate(order)}
    whole = sum(sizes.values())
    for value in order:
        fair = min(sizes[value], number * sizes[value] // whole)
        shares[value] += min(max(fair - shares[value], 0), number - sum(shares.values()))
    while (left := number - sum(shares.values())) > 0:
        behind = sorted((value for value in order if shares[value] < sizes[value]),
                        key=lambda value: shares[value] - number * sizes[value] / whole)
        for value in behind[:left]:
            shares[value] += 1
    return shares
