"""Measure how far a fit leaves least squares, in standard errors: `Confidence`.

For base parameters beta and the weighted factor R of `reduced`, the distance of a fit from the
least-squares result is |R (beta - beta_ls)|^2 = |P (R beta - right)|^2, where P projects on the
range of R. At the true parameters it is chi-squared distributed, with rank(R) degrees of freedom.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dtau.identification.base import BaseParameters
from dtau.identification.samples import Reduced
from dtau.support.arrays import Array

DEFICIENT = 1e-10  # of the largest singular value, with columns of norm 1
_UNDETERMINED = 1e-6  # least part of a direction of norm 1 that the samples do not determine
_NORMAL_99 = 2.3263478740408408  # the 99 % quantile of the normal distribution
_SHOWN = 3  # base parameters in a message


class Confidence(NamedTuple):
    """The part of a reduced problem that the samples determine."""

    matrix: Array  # (rank, rank)
    right: Array  # (rank,)
    inverse: Array  # (rank, rank), the pseudo-inverse of the matrix
    range: Array  # (rank, determined), orthonormal columns
    standard_errors: Array  # (rank,), infinite where the samples determine nothing

    @classmethod
    def of(cls, problem: Reduced) -> Confidence:
        """Find the determined directions."""
        norms = np.linalg.norm(problem.matrix, axis=0)
        scale = np.where(norms > 0.0, norms, 1.0)
        left, sizes, right = np.linalg.svd(problem.matrix / scale)
        count = int((sizes > DEFICIENT * sizes[0]).sum())
        left = left[:, :count]
        inverse = (right[:count].T / sizes[:count]) @ left.T / scale[:, None]
        errors = np.linalg.norm(inverse, axis=1)
        errors[(np.abs(right[count:]) > _UNDETERMINED).any(axis=0)] = np.inf
        return cls(problem.matrix, problem.right, inverse, left, errors)

    @property
    def determined(self) -> int:
        """Number of directions of base parameters that the samples determine."""
        return int(self.range.shape[1])

    def distance(self, values: Array) -> float:
        """Return the squared distance of base parameters from least squares."""
        error = self.range.T @ (self.matrix @ values - self.right)
        return float(error @ error)

    def limit(self) -> float:
        """Return the 99 % quantile of the distance at the true parameters (Wilson and Hilferty)."""
        part = 2.0 / (9.0 * max(self.determined, 1))
        return float(self.determined * (1.0 - part + _NORMAL_99 * np.sqrt(part)) ** 3)

    def farthest(self, base: BaseParameters, values: Array) -> str:
        """Name the base parameters that are the most standard errors off."""
        offsets = self.inverse @ (self.matrix @ values - self.right)
        sizes = np.abs(offsets) / self.standard_errors
        order = np.argsort(-sizes)[:_SHOWN]
        names = base.regressor.names
        return ", ".join(f"{names[base.columns[k]]} by {sizes[k]:.1f}" for k in order)
