"""Second derivatives by complex step of the package's own first ones, compiled on the spot.

The library of baselines has the core's IDSVA with complex numbers. A pass loops over states and
directions in C++, with some Python where the results of many directions would leave the caches. It
works on trees of revolute joints.
"""

from __future__ import annotations

import numpy as np

import dtau
from benchmarks.baselines.library import Library
from benchmarks.checks import Array

STEP = 1e-30
BYTES = 2**18  # of results of one call, which stay in the caches


class ComplexStep:
    """Second derivatives of a robot at given states."""

    def __init__(self, library: Library, model: dtau.Model, q: Array, v: Array, a: Array) -> None:
        if not all(isinstance(joint.type, dtau.Revolute) for joint in model.joints):
            raise ValueError("model: expected revolute joints only")
        n, count = model.nv, len(q)
        at = np.repeat([q, v, a], 2 * n, axis=1).astype(complex)  # by q, then by v
        directions = at.reshape(3, count, 2, n, n)
        for variable in range(2):
            directions[variable, :, variable] += 1j * STEP * np.eye(n)
        tree, total = library.tree(model), 2 * n * count
        size = min(total, max(1, BYTES // (3 * 16 * n * n)))
        self._shape = (count, 2, n, n, n)
        self._results = tuple(np.empty((size, n, n), complex) for _ in range(3))
        self._loops = [
            tree.loop("idsva_mass", tuple(at[:, i : i + size]), "alone", self._results)
            for i in range(0, total, size)
        ]

    def run(self, passes: int) -> None:
        """Evaluate at all states."""
        if len(self._loops) == 1:
            self._loops[0](passes)
            return
        for _ in range(passes):
            for loop in self._loops:
                loop(1)

    def tensors(self) -> list[Array]:
        """d2tau/dqdq, dvdv, dvdq, dM/dq, [i, j, k]: output i, by the first along j, then k."""
        parts = []
        for loop in self._loops:
            loop(1)
            parts.append([x.imag / STEP for x in self._results])
        rows = np.prod(self._shape[:3])
        by_q, by_v, mass = (
            np.concatenate(x)[:rows].reshape(self._shape) for x in zip(*parts, strict=True)
        )
        found = by_q[:, 0], by_v[:, 1], by_v[:, 0], mass[:, 0]
        return [np.moveaxis(x, 1, -1) for x in found]
