"""How long a step of a model may be: `Model.stable_step`, `stiff_velocities`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtau import _core
from dtau.model.base import ModelBase
from dtau.support.arrays import Array


class Stable(ModelBase):
    """The largest step that is stable."""

    def stable_step(self, q: ArrayLike) -> Array:
        """Estimate the largest stable step of an explicit integrator, in s.

            4 / (lam + sqrt(lam^2 + 4 w^2))        lam, w^2: largest eigenvalues of M^-1 D, M^-1 K

        D is the damping and the slope of friction at rest, K the stiffness of the springs. This is
        2 / lam without springs, and 2 / w without damping, of the method "semi_implicit". Steps
        "implicit" have the bound 2 / w of the springs alone.

        Parameters
        ----------
        q : array_like (..., nq)
            Configuration, of which M depends. A reference posture is good enough for an estimate.

        Returns
        -------
        ndarray (...)
            Infinite without damping, friction and springs.

        Raises
        ------
        ValueError
            If the shape does not fit, numbers are not finite, or joints have no inertia.

        Examples
        --------
        >>> import dtau
        >>> arm = dtau.robots.chain(3).replace(damping=20.0)
        >>> bool(arm.stable_step(dtau.neutral(arm)) < 0.01)
        True
        """
        inverse, damping = _rates(self, q)
        with np.errstate(divide="ignore"):
            lam, squared = _largest(inverse, damping), _largest(inverse, self.stiffness)
            return np.asarray(4.0 / (lam + np.sqrt(lam * lam + 4.0 * squared)))


def stiff_velocities(model: ModelBase, q: ArrayLike, step: float) -> dict[int, float]:
    """Return velocities whose damping is stiff at a step, with the largest steps for them alone.

    These have the largest part in a mode of M^-1 D that an explicit step makes grow.
    """
    inverse, damping = _rates(model, q)
    values, modes = np.linalg.eigh(_scaled(inverse, damping))
    stiff: dict[int, float] = {}
    for value, mode in zip(values, modes.T, strict=True):
        if value * step > 2.0:
            stiff[int(np.abs(mode).argmax())] = 2.0 / float(value)
    return stiff


def _rates(model: ModelBase, q: ArrayLike) -> tuple[Array, Array]:
    """Return the inverse mass matrix, and the diagonal of D."""
    rest = np.zeros(model.nv)
    inverse = _core.mass_matrix_inverse(model, q)
    if not np.isfinite(inverse).all():
        raise ValueError("q: expected finite numbers, and joints with inertia")
    by_v = _core.inverse_dynamics_derivatives(model, q, rest, rest).dtau_dv
    return inverse, np.diagonal(by_v, axis1=-2, axis2=-1)


def _scaled(inverse: Array, diagonal: Array) -> Array:
    """Return a symmetric matrix with the eigenvalues of the inverse times the diagonal."""
    root = np.sqrt(diagonal)
    return np.asarray(root[..., :, np.newaxis] * inverse * root[..., np.newaxis, :])


def _largest(inverse: Array, diagonal: Array) -> Array:
    return np.linalg.eigvalsh(_scaled(inverse, diagonal))[..., -1].clip(min=0.0)
