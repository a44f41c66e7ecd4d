"""What tests of several folders share."""

from __future__ import annotations

import pytest

from tests.playground import open_chromium


@pytest.fixture(scope="session")
def chromium():
    """The machine's own Chromium; one for all tests, since Playwright may be started only once."""
    with open_chromium() as browser:
        yield browser


def pytest_make_parametrize_id(val, argname):
    """Names a parameter of bytes by its argument: a file's bytes may hold the time, and each worker makes its own."""
    return argname if isinstance(val, (bytes, bytearray)) else None
