"""A door of the simulated API with a room in which nothing has happened; a test that asks for it runs through both."""

from __future__ import annotations

import pytest

from tests.simulated.doors import DOORS, opened


@pytest.fixture(scope="module", params=DOORS)
def shared_door(request):
    with opened(request.param) as door:
        yield door


@pytest.fixture
def door(shared_door):
    shared_door.open_room()
    return shared_door
