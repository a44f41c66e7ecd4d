"""Which failures may have cost something: whoever refuses bills nothing, whoever falls silent may have."""

from __future__ import annotations

import pytest

from lib import errors
from lib.client.billing import may_have_been_billed
from lib.client.layers import Sent

FREE = [errors.Busy("429"), errors.StaysBusy("529"), errors.WrongKey("401"), errors.UnknownModel("404"),
        errors.WindowExceeded("too long"), errors.RequestRefused("400"), errors.Unreachable("no route"),
        errors.NotMessagesApi("404 page", refused=True)]
PERHAPS = [errors.ServerTrouble("timed out"), errors.NotMessagesApi("a web page in a 200", refused=False),
           KeyboardInterrupt()]


@pytest.mark.parametrize("error", FREE, ids=lambda error: type(error).__name__)
def test_what_was_refused_is_free_unless_an_attempt_before_it_got_no_answer(error):
    assert not may_have_been_billed(error, Sent(attempts=1))
    assert may_have_been_billed(error, Sent(attempts=2, unanswered=True))


@pytest.mark.parametrize("error", PERHAPS, ids=lambda error: type(error).__name__)
def test_what_got_no_clear_answer_may_have_been_billed(error):
    assert may_have_been_billed(error, Sent(attempts=1))
