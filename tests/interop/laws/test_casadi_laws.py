"""The laws of `dtau.casadi`: every function, by every input, in every mode."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("casadi")

import adapter_law_cases
import adapter_laws as laws
from casadi_modes import MODES

import dtau.casadi

SAMPLE = 90  # tests of the core selection


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    laws.parametrize(metafunc, MODES, adapter_law_cases.public(dtau.casadi), SAMPLE)


def test_law(row: str, switch: str, mode: str, laws_seed: int, record_property: Any) -> None:
    count = laws.check(
        dtau.casadi, row, adapter_law_cases.NAMED[switch], MODES[mode], laws_seed, values_only=False
    )
    record_property("laws", ["casadi", count])
