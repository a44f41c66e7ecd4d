"""What the run cost: as it grew, what each call is made of, what else it could have cost, and at another scale."""

from lib.ui import costs, frame, recent, state

frame.page("costs")
runs = state.group()
costs.header(runs)
recent.shown(runs)
costs.pictures(runs)
