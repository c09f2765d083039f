"""Second derivatives of a weighted sum of torques or of accelerations: no tensor is formed.

The contraction of the tensors of `dtau.functions.second_derivatives`, which see for the frames and
for ``symmetric``, with a covector lam over the outputs is a matrix [j, k] for each block and costs
about as much as first derivatives; most optimizers want only that.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.checks import require
from dtau.docstrings import documented
from dtau.model.model import Model
from dtau.options import Axes
from dtau.results import ForwardDynamicsHessian, InverseDynamicsHessian


@documented
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
    lam
        Weight of each torque, held constant: a multiplier of the dynamics in an optimizer.

    Returns
    -------
    InverseDynamicsHessian
        Second derivatives of lam . tau.

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


@documented
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
    lam
        Weight of each acceleration, held constant.

    Returns
    -------
    ForwardDynamicsHessian
        Second derivatives of lam . a.

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
