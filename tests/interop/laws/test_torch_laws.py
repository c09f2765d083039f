"""The laws of `dtau.torch`: every function, by every input, in every mode."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

import adapter_law_cases  # noqa: E402
import adapter_laws as laws  # noqa: E402
from torch_cases import one_thread  # noqa: E402, F401
from torch_modes import MODES  # noqa: E402

import dtau.torch  # noqa: E402

SAMPLE = 130  # tests of the core selection


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    laws.parametrize(metafunc, MODES, adapter_law_cases.public(dtau.torch), SAMPLE)


def test_law(row: str, switch: str, mode: str, laws_seed: int, record_property: Any) -> None:
    count = laws.check(dtau.torch, row, adapter_law_cases.NAMED[switch], MODES[mode], laws_seed)
    record_property("laws", ["torch", count])
