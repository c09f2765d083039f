"""The seed of the laws of the array libraries, and the count of what ran, for tests/conftest.py."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest


def add_option(parser: pytest.Parser) -> None:
    parser.getgroup("selection").addoption(
        "--laws-seed",
        type=int,
        default=int(os.environ.get("DTAU_LAWS_SEED", "0")),
        help="seed of the laws of the array libraries: of the core selection's sample, and of "
        "states; the environment variable DTAU_LAWS_SEED is its default, else 0",
    )


def header(config: pytest.Config) -> str:
    return f"laws of the array libraries: --laws-seed={config.getoption('laws_seed')}"


def summary(reporter: Any) -> None:
    """Print how many combinations of function, input, mode, switch and library were checked."""
    counts: Counter[str] = Counter()
    for report in reporter.stats.get("passed", []):
        for name, value in report.user_properties:
            if name == "laws":
                library, count = value
                counts[library] += count
    if counts:
        each = ", ".join(f"{library} {count}" for library, count in sorted(counts.items()))
        reporter.write_line(
            f"laws: {sum(counts.values())} combinations of function, input, mode and switch: {each}"
        )
