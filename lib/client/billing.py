"""Whether a call that failed may cost something: what the ledger writes and the budget counts."""

from __future__ import annotations

from lib import errors
from lib.client.layers import Sent

# A server that turns a request away bills nothing. A timeout, a lost connection or a server error is no such answer:
# the reply may have been made and billed.
_REFUSALS = (errors.Busy, errors.Stopped, errors.BudgetReached, errors.WindowExceeded, errors.WrongKey,
             errors.UnknownModel, errors.Unreachable, errors.RequestRefused, errors.NotRecorded)


def may_have_been_billed(error: BaseException, sent: Sent) -> bool:
    """False only where a refusal is sure, and no earlier attempt of the call went without an answer."""
    refused = isinstance(error, _REFUSALS) or (isinstance(error, errors.NotMessagesApi) and error.refused)
    return sent.unanswered or not refused
