"""Ticket exports of any kind, read into tickets. Text stays text; what was dropped or guessed is told in notes."""

from lib.tickets.columns import Columns, guess_columns, to_tickets
from lib.tickets.readers import Table, read_table
from lib.tickets.ticket import Ticket, TicketSet

__all__ = ["Columns", "Table", "Ticket", "TicketSet", "guess_columns", "read_table", "to_tickets"]
