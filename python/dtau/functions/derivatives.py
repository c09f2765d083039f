"""First-order partial derivatives of inverse and forward dynamics.

Derivatives by the configuration are taken in the tangent space: column k is the derivative along
q (+) eps e_k (`dtau.integrate`), at fixed v and a or tau. External wrenches keep their components
in body axes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.model.model import Model
from dtau.results import ForwardDynamicsDerivatives, InverseDynamicsDerivatives


def inverse_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> InverseDynamicsDerivatives:
    """Derivatives of the joint torque by configuration, velocity and acceleration.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity; of a free joint [linear, angular] in the body frame.
    a : array_like (..., nv)
        Time derivative of ``v``, component by component.
    f_ext : array_like (..., nbodies, 6), optional
        External wrench on each body, [force, moment] in the body frame at its origin, N and N m.
        Its components in the body frame are held constant.
    out, threads
        See `dtau.inverse_dynamics`; ``out`` takes the three arrays of the results.

    Returns
    -------
    InverseDynamicsDerivatives
        ``dtau_dq``, ``dtau_dv``, ``dtau_da``, each ``(..., nv, nv)``, entry [i, k] the derivative
        of torque i. ``dtau_dq`` is by q (+) dq in the tangent space; of a free joint by a
        displacement [linear, angular] in the body frame. ``dtau_da`` is the mass matrix.

    Raises
    ------
    ValueError, TypeError
        As `dtau.inverse_dynamics`.

    Notes
    -----
    IDSVA, [IDSVA] algorithm 1; O(N d) with the depth d of the tree.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(256,))
    >>> d = dtau.inverse_dynamics_derivatives(model, q, v, a)
    >>> d.dtau_dq.shape
    (256, 18, 18)
    >>> bool(np.allclose(d.dtau_da, dtau.mass_matrix(model, q)))
    True
    """
    return _core.inverse_dynamics_derivatives(model, q, v, a, f_ext, out, threads)


def forward_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> ForwardDynamicsDerivatives:
    """Derivatives of the joint acceleration by configuration, velocity and torque.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity; of a free joint [linear, angular] in the body frame.
    tau : array_like (..., nv)
        Joint torque; of a free joint the wrench [force, moment] in the body frame.
    f_ext : array_like (..., nbodies, 6), optional
        External wrench on each body, [force, moment] in the body frame at its origin, N and N m.
        Its components in the body frame are held constant.
    out, threads
        See `dtau.inverse_dynamics`; ``out`` takes the three arrays of the results.

    Returns
    -------
    ForwardDynamicsDerivatives
        ``da_dq``, ``da_dv``, ``da_dtau``, each ``(..., nv, nv)``, entry [i, k] the derivative of
        acceleration i. ``da_dq`` is by q (+) dq in the tangent space. ``da_dtau`` is the inverse of
        the mass matrix.

    Raises
    ------
    ValueError, TypeError
        As `dtau.forward_dynamics`.

    Notes
    -----
    FDSVA, [IDSVA] eq. 5: minus the inverse of the mass matrix times the derivatives of inverse
    dynamics, with a factorisation that keeps the zeros of the tree, [RBDA] section 6.5. A
    configuration that is singular by itself is not detected and gives huge numbers or NaN: see
    `dtau.forward_dynamics`.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0))
    >>> d = dtau.forward_dynamics_derivatives(model, q, v, tau)
    >>> bool(np.allclose(d.da_dtau, dtau.mass_matrix_inverse(model, q)))
    True
    """
    return _core.forward_dynamics_derivatives(model, q, v, tau, f_ext, out, threads)
