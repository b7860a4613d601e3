"""Both WebSocket implementations share these tests: picows, and ASGI as inside another app."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["picows", "asgi"])
def embedded(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "asgi")
