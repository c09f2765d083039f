"""The seed of the laws, and one thread for each test."""

from __future__ import annotations

import pytest


@pytest.fixture
def laws_seed(request: pytest.FixtureRequest) -> int:
    seed: int = request.config.getoption("laws_seed")
    return seed
