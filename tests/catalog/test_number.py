"""Numbers as people type them: certain ones are read, ambiguous ones are not guessed."""

import pytest

from lib.catalog import number


@pytest.mark.parametrize(("text", "value"), [
    ("1.299,00", 1299.0), ("1,299.00", 1299.0), ("€ 5,50", 5.5), ("0,75", 0.75), ("$12", 12.0), ("-10.00", -10.0),
    ("1 200", 1200.0), ("1.299.000", 1_299_000.0), ("1'299.50", 1299.5), ("USD1,299.00", 1299.0), ("(12.00)", -12.0),
    ("10.00-", -10.0), ("0.750", 0.75), ("12345.678", 12345.678), ("12 kr", 12.0), (" 7 ", 7.0), (5, 5.0), (2.5, 2.5)])
def test_certain_numbers_are_read(text, value):
    assert number(text) == value


@pytest.mark.parametrize("text", ["1.299", "1,000", "free", "N/A", "", None, "1e5", "nan", "inf", "-", "--5", "1 2",
                                  "12%", "1.2.3",
                                  "1,29,99", "0071-A", "٣", True, float("nan"), float("inf"), "9" * 1000])
def test_what_is_ambiguous_or_no_number_is_none_and_never_zero(text):
    assert number(text) is None
