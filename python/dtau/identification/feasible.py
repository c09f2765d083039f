"""Minimize least squares over bodies that exist by Newton's method: `minimize`, `minimize_near`.

The cost is convex and self-concordant after division by the smallest weight, so that Newton's
method with a line search converges from the prior, where the divergence is zero. A decreasing
weight of the prior keeps the steps long, as in interior-point methods.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, cast

import numpy as np

from dtau.identification.base import triangle
from dtau.identification.log_cholesky import UNITS
from dtau.identification.regressor import Regressor
from dtau.model.parameters import pseudo_inertias
from dtau.support.arrays import Array, Indices

_WEAK = 1e-3  # weight of the barrier of a joint's term without prior, which is a number above zero
_SHRINK = 0.1  # of the prior's weight from one stage to the next
_CHOICES = tuple(10.0**-k for k in range(7))  # of the prior's weight, where none is given
_STEPS, _TRIES = 50, 60  # most of a stage, and of a line search
_ROUGH, _EXACT = 1e-2, 1e-22  # decrement at the end of a stage and of the last one, relative


class Barrier(NamedTuple):
    """The prior: a divergence of pseudo-inertias and of the joints' terms."""

    prior: Array  # (n,)
    inverses: Array  # (nbodies, 4, 4) of the prior's pseudo-inertias
    positive: Indices  # parameters of joints that stay above zero
    slopes: Array  # 1 / prior of these, zero without a prior
    weights: Array  # of their divergences

    @classmethod
    def around(cls, regressor: Regressor, prior: Array) -> Barrier:
        """Make the barrier; raise ValueError if a body cannot exist or a term is negative."""
        bodies = 10 * regressor.model.nbodies
        matrices = pseudo_inertias(prior[:bodies].reshape(-1, 10))
        least = np.linalg.eigvalsh(matrices)[:, 0]
        for body, value in zip(regressor.model.bodies, least, strict=True):
            if not value > 0:
                raise ValueError(
                    f"prior of body {body!r}: expected a positive definite pseudo-inertia, got one "
                    f"with the eigenvalue {value:.6g}; give the body a mass with an extent"
                )
        signed = [term != "offset" for term in regressor.joint_terms for _ in regressor.joints]
        positive = bodies + np.flatnonzero(signed)
        values = prior[positive]
        for k, value in zip(positive, values, strict=True):
            if value < 0:
                raise ValueError(
                    f"prior of {regressor.names[k]!r}: expected at least 0, got {value:.6g}"
                )
        given = values > 0
        slopes = np.divide(1.0, values, where=given, out=np.zeros(len(values)))
        weights = np.where(given, 1.0, _WEAK)
        inverses = cast("Array", np.linalg.inv(matrices))
        return cls(prior, inverses, positive, slopes, weights)

    def start(self) -> Array:
        """Return a point with finite divergence: the prior, with positive terms of joints."""
        x = self.prior.copy()
        x[self.positive] = np.where(self.slopes > 0, x[self.positive], 1.0)
        return x

    def value(self, x: Array) -> float:
        """Return the divergence; infinite where a body cannot exist."""
        matrices = self._matrices(x)
        joints = x[self.positive]
        if not (joints > 0).all():
            return np.inf
        try:
            factors = np.linalg.cholesky(matrices)
        except np.linalg.LinAlgError:
            return np.inf
        logs = 2.0 * np.log(np.diagonal(factors, axis1=-2, axis2=-1)).sum()
        bodies = np.einsum("nij,nij->", self.inverses, matrices) - logs
        return float(bodies + self.weights @ (self.slopes * joints - np.log(joints)))

    def divergence(self, x: Array) -> float:
        """Return the divergence without its constant: zero at the prior."""
        reference = self.prior.copy()
        reference[self.positive] = np.where(
            self.slopes > 0, reference[self.positive], x[self.positive]
        )
        return self.value(x) - self.value(reference)

    def gradient_and_root(self, x: Array) -> tuple[Array, Array]:
        """Return the gradient, and a matrix B with the Hessian B^T B."""
        n = len(x)
        bodies = len(self.inverses)
        lower = np.linalg.inv(np.linalg.cholesky(self._matrices(x)))[:, None]
        blocks = lower @ UNITS @ np.swapaxes(lower, -1, -2)  # (nbodies, 10, 4, 4)
        gradient = np.zeros(n)
        own = np.einsum("nij,kij->nk", self.inverses, UNITS)
        gradient[: 10 * bodies] = (own - np.trace(blocks, axis1=-2, axis2=-1)).ravel()
        joints = x[self.positive]
        gradient[self.positive] = self.weights * (self.slopes - 1.0 / joints)
        root = np.zeros((16 * bodies + len(joints), n))
        for i, block in enumerate(blocks):
            root[16 * i : 16 * i + 16, 10 * i : 10 * i + 10] = block.reshape(10, 16).T
        rows = range(16 * bodies, len(root))
        root[rows, self.positive] = np.sqrt(self.weights) / joints
        return gradient, root

    def _matrices(self, x: Array) -> Array:
        rows = x[: 10 * len(self.inverses)].reshape(-1, 10)
        return pseudo_inertias(rows)


def minimize(matrix: Array, right: Array, barrier: Barrier, weight: float) -> Array:
    """Return the minimum of |matrix x - right|^2 / 2 + weight times the divergence of x."""
    return _newton(
        matrix, right, barrier, weight, _approach(matrix, right, barrier, weight), _EXACT
    )


def minimize_near(
    matrix: Array, right: Array, barrier: Barrier, distance: Callable[[Array], float], near: float
) -> tuple[Array, float]:
    """Return the minimum for a weight that is chosen, and the weight.

    It is the largest of 1, 0.1, ... at which the distance is at most `near`, if there is one, and
    else at most `near` above the distance of the smallest weight.
    """
    x = _approach(matrix, right, barrier, _CHOICES[0])
    tried: list[tuple[Array, float, float]] = []
    for weight in _CHOICES:
        x = _newton(matrix, right, barrier, weight, x, _EXACT)
        far = distance(x)
        if far <= near:
            return x, weight
        tried.append((x, weight, far))
    most = near + tried[-1][2]
    return next((y, w) for y, w, d in tried if d <= most)


def _approach(matrix: Array, right: Array, barrier: Barrier, weight: float) -> Array:
    """Return a point close to the minimum, by weights that decrease to the given one."""
    x = barrier.start()
    error = matrix @ x - right
    now = max(weight, float(error @ error) / len(x))
    while now > weight:
        x = _newton(matrix, right, barrier, now, x, _ROUGH)
        now *= _SHRINK
    return x


def _newton(
    matrix: Array, right: Array, barrier: Barrier, weight: float, x: Array, tolerance: float
) -> Array:
    """Minimize for one weight, until the Newton decrement is below the tolerance."""

    def cost(y: Array) -> float:
        error = matrix @ y - right
        return 0.5 * float(error @ error) + weight * barrier.value(y)

    value = cost(x)
    for _ in range(_STEPS):
        gradient, root = barrier.gradient_and_root(x)
        gradient = matrix.T @ (matrix @ x - right) + weight * gradient
        stacked = np.concatenate([matrix, np.sqrt(weight) * root])
        scale = np.linalg.norm(stacked, axis=0)  # parameters are of different sizes
        factor = triangle(stacked / scale)
        half = np.linalg.solve(factor.T, gradient / scale)
        step = -np.linalg.solve(factor, half) / scale
        decrement = float(half @ half)
        if decrement <= tolerance * weight:
            return x + step if np.isfinite(barrier.value(x + step)) else x
        size = 1.0
        for _ in range(_TRIES):
            moved = cost(x + size * step)
            if moved <= value - 0.25 * size * decrement:
                break
            size *= 0.5
        else:
            return x  # rounding errors of the cost: it cannot fall any more
        x, value = x + size * step, moved
    return x
