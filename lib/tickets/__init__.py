"""Ticket exports of any kind, read into tickets. Text stays text; what was dropped or guessed is told in notes."""

from lib.tickets.columns import Columns, guess_columns
from lib.tickets.from_table import combine, to_tickets
from lib.tickets.readers import read_files, read_table, read_tables
from lib.tickets.table import Table
from lib.tickets.ticket import Ticket, TicketSet

__all__ = ["Columns", "Table", "Ticket", "TicketSet", "combine", "guess_columns", "read_files", "read_table",
           "read_tables", "to_tickets"]
