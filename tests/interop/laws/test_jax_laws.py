"""The laws of `dtau.jax`: every function, by every input, in every mode."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("jax")

import adapter_law_cases
import adapter_laws as laws
from jax_modes import MODES

import dtau.jax

SAMPLE = 60  # tests of the core selection


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    rows = adapter_law_cases.public(dtau.jax)
    laws.parametrize(metafunc, MODES, rows, SAMPLE, laws.tenth)  # a test compiles for a second


def test_law(row: str, switch: str, mode: str, laws_seed: int, record_property: Any) -> None:
    count = laws.check(dtau.jax, row, adapter_law_cases.NAMED[switch], MODES[mode], laws_seed)
    record_property("laws", ["jax", count])
