"""Second derivatives of a weighted sum of torques or of accelerations: no tensor is formed.

The contraction of the tensors of `dtau.functions.second_derivatives`, which see for the frames and
for ``symmetric``, with a covector lam over the outputs is a matrix [j, k] for each block and costs
about as much as first derivatives; most optimisers want only that.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.checks import require
from dtau.model.model import Model
from dtau.options import Axes
from dtau.results import ForwardDynamicsHessian, InverseDynamicsHessian


def inverse_dynamics_hessian(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    lam: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    symmetric: bool = False,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> InverseDynamicsHessian:
    """Second derivatives of lam . tau, for the joint torque tau: all blocks, no tensor.

        dqdv[j, k] = sum over i of lam_i d/dv_k (d tau_i / dq_j)    and the others alike

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity; of a free joint [linear, angular] in the body frame.
    a : array_like (..., nv)
        Time derivative of ``v``, component by component.
    lam : array_like (..., nv)
        Weights of the torques, held constant: multipliers of the dynamics in an optimiser.
    f_ext : array_like (..., nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, N and N m.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of ``f_ext``, see `dtau.inverse_dynamics`. Its components along them are held constant:
        with ``"body"`` wrenches turn with their bodies, with the others they keep to the world.
    symmetric : bool, optional
        Give ``dqdq`` in the exponential chart: symmetric.
    out, threads
        See `dtau.inverse_dynamics`; ``out`` takes the four arrays of the results.

    Returns
    -------
    InverseDynamicsHessian
        ``dqdq``, ``dqdv``, ``dvdv``, ``dadq``, each ``(..., nv, nv)``: entry [j, k] is the
        derivative of lam . tau by the variable named first along j, then by the second along k.

    Raises
    ------
    ValueError, TypeError
        As `dtau.inverse_dynamics`.

    Notes
    -----
    The contraction of [IDSVA-SO] in O(N d), as first derivatives: [Notes] section 8.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> lam = np.linspace(-1.0, 1.0, model.nv)
    >>> hessian = dtau.inverse_dynamics_hessian(model, q, v, a, lam)
    >>> tensors = dtau.inverse_dynamics_second_derivatives(model, q, v, a)
    >>> bool(np.allclose(hessian.dqdv, np.einsum("i,ijk->jk", lam, tensors.d2tau_dqdv)))
    True
    """
    require("symmetric", symmetric, bool)
    return _core.inverse_dynamics_hessian(
        model, q, v, a, lam, f_ext, f_ext_axes, symmetric, out, threads
    )


def forward_dynamics_hessian(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    lam: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    symmetric: bool = False,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> ForwardDynamicsHessian:
    """Second derivatives of lam . a, for the joint acceleration a: all blocks, no tensor.

        dqdv[j, k] = sum over i of lam_i d/dv_k (d a_i / dq_j)    and the others alike

    This is the term of DDP that Gauss-Newton methods drop: with lam the gradient of the value
    function by the next state's velocity times the time step.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity; of a free joint [linear, angular] in the body frame.
    tau : array_like (..., nv)
        Joint torque; of a free joint the wrench [force, moment] in the body frame.
    lam : array_like (..., nv)
        Weights of the accelerations, held constant.
    f_ext : array_like (..., nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, N and N m.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of ``f_ext``, see `dtau.inverse_dynamics`. Its components along them are held constant:
        with ``"body"`` wrenches turn with their bodies, with the others they keep to the world.
    symmetric : bool, optional
        Give ``dqdq`` in the exponential chart: symmetric.
    out, threads
        See `dtau.inverse_dynamics`; ``out`` takes the four arrays of the results.

    Returns
    -------
    ForwardDynamicsHessian
        ``dqdq``, ``dqdv``, ``dvdv``, ``dtaudq``, each ``(..., nv, nv)``: entry [j, k] is the
        derivative of lam . a by the variable named first along j, then by the second along k.

    Raises
    ------
    ValueError, TypeError
        As `dtau.forward_dynamics`.

    Notes
    -----
    From `dtau.inverse_dynamics_hessian` with M^-1 lam, one solve with the factors of the mass
    matrix and two sparse products, [Notes] section 8; O(N d + nv^2 d).

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0))
    >>> lam = np.linspace(-1.0, 1.0, model.nv)
    >>> hessian = dtau.forward_dynamics_hessian(model, q, v, tau, lam)
    >>> tensors = dtau.forward_dynamics_second_derivatives(model, q, v, tau)
    >>> bool(np.allclose(hessian.dvdv, np.einsum("i,ijk->jk", lam, tensors.d2a_dvdv)))
    True
    """
    require("symmetric", symmetric, bool)
    return _core.forward_dynamics_hessian(
        model, q, v, tau, lam, f_ext, f_ext_axes, symmetric, out, threads
    )
