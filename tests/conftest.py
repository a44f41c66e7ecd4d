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


@pytest.fixture(scope="session", autouse=True)
def quick_app_tests():
    """AppTest looks through every installed package for components each time it opens, and asks a thousand times a
    second whether the script has ended: here it looks once, and waits."""
    from functools import lru_cache

    from streamlit.components.v2 import manifest_scanner
    from streamlit.testing.v1 import local_script_runner

    look, ask = manifest_scanner.scan_component_manifests, local_script_runner.require_widgets_deltas

    def wait(runner, timeout: float = 3) -> None:
        runner._script_thread.join(timeout)
        ask(runner, timeout)

    manifest_scanner.scan_component_manifests = lru_cache(look)
    local_script_runner.require_widgets_deltas = wait
    yield
    manifest_scanner.scan_component_manifests, local_script_runner.require_widgets_deltas = look, ask
