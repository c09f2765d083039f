"""Values that mean nothing where they are put."""

from __future__ import annotations

from typing import Any

import numpy as np

import dtau

EXTREMES = (
    *(None, True, 0, -1, 3, 2**31, 2**70, 10**400, 0.5, -1.5, float("nan"), float("inf"), 1j),
    *("", "x", "\ud800", b"x", (), [], {}, (1,), [1, 2, 3], {"x": 1}, slice(None), object()),
    *(np.zeros(0), np.ones(3), np.eye(3), np.full((3, 3), np.nan), np.zeros(3, dtype=object)),
    *(np.array(["x"]), np.arange(6), np.full(6, 10**6), np.zeros((2, 2, 2)), dtau.Pose, len),
    *(dtau.Pose(), dtau.Inertia(), dtau.Fixed(), dtau.Revolute((0, 0, 1)), dtau.Limits()),
)


def choose(rng: np.random.Generator, choices: Any) -> Any:
    """One of a sequence, or of the values of a mapping, as it is."""
    choices = list(choices.values() if isinstance(choices, dict) else choices)
    return choices[rng.integers(len(choices))]
