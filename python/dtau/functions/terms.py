"""The terms of the equation of motion.

    tau = M a + C v + D v + g - sum of J^T f_ext

with M including the armature and D the viscous damping of the joints.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.docstrings import documented
from dtau.model.model import Model
from dtau.options import Axes


@documented
def mass_matrix(
    model: Model,
    q: ArrayLike,
    *,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Mass matrix M, with the armature on its diagonal.

        M = sum over bodies of J_i^T I_i J_i + armature

    Returns
    -------
    M : ndarray (..., nv, nv)
        Complete and symmetric; rows of a free joint are [linear, angular] in the body frame.

    Notes
    -----
    Composite-rigid-body algorithm, [RBDA] section 6.2; O(N d) with the depth d of the tree.

    Examples
    --------
    >>> import dtau
    >>> model = dtau.robots.quadruped()
    >>> M = dtau.mass_matrix(model, dtau.neutral(model))
    >>> bool(abs(M[0, 0] - model.mass) < 1e-12)
    True
    """
    return _core.mass_matrix(model, q, out, threads)


@documented
def mass_matrix_inverse(
    model: Model,
    q: ArrayLike,
    *,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Inverse of the mass matrix: the derivative of the acceleration by the torque.

        M^-1

    Returns
    -------
    M_inverse : ndarray (..., nv, nv)
        Complete and symmetric.

    Notes
    -----
    Factorization that keeps the zeros of the tree, [RBDA] section 6.5; O(N d) a column with the
    depth d of the tree. A configuration that is
    singular by itself is not detected and gives huge numbers or NaN: see `dtau.forward_dynamics`.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q = dtau.neutral(model)
    >>> product = dtau.mass_matrix_inverse(model, q) @ dtau.mass_matrix(model, q)
    >>> bool(np.allclose(product, np.eye(model.nv)))
    True
    """
    return _core.mass_matrix_inverse(model, q, out, threads)


@documented
def coriolis_matrix(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Admissible Coriolis matrix C: ``C @ v`` is the Coriolis torque, and dM/dt = C + C^T.

        tau = M a + C v + D v + g    and dM/dt = C + C^T

    Returns
    -------
    C : ndarray (..., nv, nv)
        Damping is not part of it: ``C @ v + damping * v + gravity_torque = bias_torque``.

    Notes
    -----
    [Echeandia] algorithm 1; O(N d). Many matrices give the same torque; this one is admissible, so
    that dM/dt - 2 C is skew-symmetric, as passivity-based control needs. Of these it is the one
    of Christoffel symbols: ``C(v) @ w = C(w) @ v`` where displacements add, that is but for the
    brackets of spherical, planar and free joints ([Notes] eq. 3.8).

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, _ = dtau.random_state(model, np.random.default_rng(0))
    >>> C = dtau.coriolis_matrix(model, q, v)
    >>> bias = C @ v + model.damping * v + dtau.gravity_torque(model, q)
    >>> bool(np.allclose(bias, dtau.bias_torque(model, q, v)))
    True
    """
    return _core.coriolis_matrix(model, q, v, out, threads)


@documented
def bias_torque(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Inverse dynamics at ``a = 0``: Coriolis, damping, gravity and external forces.

        C v + D v + g - sum of J^T f_ext

    Returns
    -------
    tau

    Notes
    -----
    Recursive Newton-Euler algorithm, [RBDA] section 5.3; O(N).

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q = dtau.neutral(model)
    >>> still = dtau.bias_torque(model, q, np.zeros(model.nv))
    >>> bool(np.array_equal(still, dtau.gravity_torque(model, q)))
    True
    """
    return _core.bias_torque(model, q, v, f_ext, f_ext_axes, out, threads)


@documented
def gravity_torque(
    model: Model,
    q: ArrayLike,
    *,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Torque that holds the robot still against gravity.

        g = -sum of m_i J_i^T gravity    J_i the Jacobian of the center of mass of body i

    Returns
    -------
    tau

    Notes
    -----
    Recursive Newton-Euler algorithm, [RBDA] section 5.3; O(N).

    Examples
    --------
    >>> import dtau
    >>> model = dtau.robots.quadruped()
    >>> weight = dtau.gravity_torque(model, dtau.neutral(model))[2]
    >>> bool(abs(weight - 9.81 * model.mass) < 1e-9)
    True
    """
    return _core.gravity_torque(model, q, out, threads)
