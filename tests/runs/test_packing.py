"""A large set of tickets is packed in the store: the same tickets, the same id, a fraction of the bytes."""

from __future__ import annotations

import pytest

from lib.runs.packing import PLAIN, id_of, packed, text_of, tickets_in
from lib.runs.store import Store, data_id_of
from lib.tickets import Ticket, TicketSet

LARGE = TicketSet("big.csv", tuple(Ticket(str(n), str(n), "é \ud800", f"ticket {n} is late. " * 50)
                                   for n in range(2_000)), ("a note",))
SMALL = TicketSet("small.csv", LARGE.tickets[:3])


@pytest.mark.parametrize("tickets", [LARGE, SMALL, TicketSet("none.csv", ())], ids=["large", "small", "none"])
def test_what_was_packed_comes_back_and_has_the_id_of_its_text(tickets: TicketSet):
    found = packed(tickets.json_pieces())
    assert text_of(found.content) == tickets.to_json() and tickets_in(found.content) == len(tickets)
    assert id_of(found, b"db") == id_of(packed(tickets.to_json()), b"db") == data_id_of(tickets.to_json(), b"db")


def test_only_a_large_set_is_packed():
    assert packed(SMALL.json_pieces()).content == SMALL.to_json().encode()
    assert len(LARGE.to_json()) > PLAIN > 4 * len(packed(LARGE.json_pieces()).content)


def test_the_store_gives_back_a_large_set_and_its_number(tmp_path):
    store = Store(tmp_path / "runs.sqlite")
    data_id = store.save_data(LARGE.json_pieces(), None, LARGE.name)
    assert store.save_data(LARGE.to_json(), None, LARGE.name) == data_id == data_id_of(LARGE.json_pieces(), None)
    assert TicketSet.from_json(store.load_data(data_id)[0]) == LARGE and store.tickets_in(data_id) == 2_000
    store.close()


@pytest.mark.parametrize("content", [b"no JSON", b"[]", b"{}", b'{"tickets": 7}'])
def test_what_is_no_set_of_tickets_has_no_number(content: bytes):
    assert tickets_in(content) is None


def test_an_id_tells_tickets_from_database():
    ids = {data_id_of(tickets.json_pieces(), database) for tickets in (LARGE, SMALL) for database in (None, b"a", b"b")}
    assert len(ids) == 6
