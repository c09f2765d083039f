"""Replays of recordings have the derivatives of the kernels that users call: by differences.

The recorder is compiled apart from these kernels, and replays are what other tests take for exact.
"""

from __future__ import annotations

import adapter_law_cases
import adapter_law_oracle as oracle
import numpy as np
import pytest
from adapter_law_cases import NAMED

import dtau
import dtau.casadi

ROWS = adapter_law_cases.public(dtau.casadi)
RELATIVE, ROUNDINGS = 2e-7, 1e-9  # what differences are off


@pytest.mark.parametrize("row", ROWS)
def test_differences_are_near(row: str) -> None:
    """Of every result by every input, with every switch."""
    for name, switch in NAMED.items():
        case = adapter_law_cases.case(dtau, row, switch, 0)
        for state in range(adapter_law_cases.STATES):
            exact, found = oracle.jacobians(case, state), oracle.differences(case, state)
            for by, of_results, others in zip(case.names, exact, found, strict=True):
                for k, (J, D) in enumerate(zip(of_results, others, strict=True)):
                    # a mask switches, and has no derivative
                    if (row, k) in adapter_law_cases.CONSTANT_RESULTS or by == "active":
                        continue
                    bound = RELATIVE * np.abs(J).max(initial=0.0) + ROUNDINGS * oracle.size(case)
                    off = np.abs(J - D).max(initial=0.0)
                    assert off <= bound, f"{name}: result {k} by {by} is {off:.1e} off"
