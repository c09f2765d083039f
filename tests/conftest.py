"""Settings of the test run.

The default profile of hypothesis is deterministic; `--hypothesis-profile=search` looks for more.
With the environment variable CI set, skips that tests/allowed_skips.txt does not list fail the run.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from allowed_skips import StrictSkips, read
from hypothesis import HealthCheck, settings

settings.register_profile(
    "deterministic",
    derandomize=True,
    deadline=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile("deterministic")


def pytest_configure(config: pytest.Config) -> None:
    """Watch skips in continuous integration: in one process, to which all workers report."""
    if os.environ.get("CI", "").lower() in ("", "0", "false") or hasattr(config, "workerinput"):
        return
    allowed = read(Path(__file__).with_name("allowed_skips.txt"))
    config.pluginmanager.register(StrictSkips(allowed), "strict_skips")
