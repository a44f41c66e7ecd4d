"""Names and orders the pages, runs one."""

from lib.ui import frame

frame.app()
