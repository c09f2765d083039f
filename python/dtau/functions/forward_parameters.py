"""Derivatives of forward dynamics by inertial parameters, and products with them.

The parameters are those of `dtau.inverse_dynamics_regressor`, at the model's own values.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.checks import require
from dtau.docstrings import documented
from dtau.model.model import Model
from dtau.options import Axes


@documented
def forward_dynamics_parameter_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    joint_parameters: bool = False,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Derivatives of the joint acceleration by the parameters, at the model's own.

        da/dpi = -M^-1 Y

    Returns
    -------
    da_dparameters : ndarray (..., nv, nparameters)
        Minus the inverse of the mass matrix times the regressor at the acceleration that forward
        dynamics gives; columns as in `dtau.inverse_dynamics_regressor`. nparameters is 10 nbodies,
        or 10 nbodies + 2 nv with ``joint_parameters``.

    Notes
    -----
    [Notes] section 18: inverse dynamics at this acceleration, which stays ``tau`` when parameters
    vary; O(N^2 d) with the depth d of the tree. A configuration that is singular by itself is not
    detected: see `dtau.forward_dynamics`.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0))
    >>> d = dtau.forward_dynamics_parameter_derivatives(model, q, v, tau)
    >>> Y = dtau.inverse_dynamics_regressor(model, q, v, dtau.forward_dynamics(model, q, v, tau))
    >>> bool(np.allclose(dtau.mass_matrix(model, q) @ d, -Y))
    True
    """
    require("joint_parameters", joint_parameters, bool)
    return _core.forward_dynamics_parameter_derivatives(
        model, q, v, tau, f_ext, f_ext_axes, joint_parameters, out, threads
    )


@documented
def forward_dynamics_parameter_jvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dparameters: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    joint_parameters: bool = False,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Variation of the joint acceleration along a variation of parameters, without a matrix.

        da = -M^-1 Y dpi

    Returns
    -------
    da
        ... It is `dtau.forward_dynamics_parameter_derivatives` times ``dparameters``.

    Notes
    -----
    [Notes] section 18, solved by the articulated-body algorithm, [RBDA] section 7.3; O(N), at about
    two calls of `dtau.forward_dynamics`, which see for singular configurations: they are not
    detected. Where joints mimic others O(N d^2).

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> rng = np.random.default_rng(0)
    >>> q, v, tau = dtau.random_state(model, rng)
    >>> dpi = 0.01 * rng.standard_normal(10 * model.nbodies)
    >>> product = dtau.forward_dynamics_parameter_jvp(model, q, v, tau, dpi)
    >>> d = dtau.forward_dynamics_parameter_derivatives(model, q, v, tau)
    >>> bool(np.allclose(product, d @ dpi))
    True
    """
    require("joint_parameters", joint_parameters, bool)
    return _core.forward_dynamics_parameter_jvp(
        model, q, v, tau, dparameters, f_ext, f_ext_axes, joint_parameters, out, threads
    )


@documented
def forward_dynamics_parameter_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    lam: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    joint_parameters: bool = False,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Gradient of ``lam . a`` by the parameters, without a matrix.

        -Y^T M^-1 lam

    Returns
    -------
    by_parameters
        ... It is the transpose of `dtau.forward_dynamics_parameter_derivatives` times ``lam``.

    Notes
    -----
    [Notes] section 18, solved by the articulated-body algorithm, [RBDA] section 7.3; O(N), at about
    two calls of `dtau.forward_dynamics`, which see for singular configurations: they are not
    detected. Where joints mimic others O(N d^2).

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> rng = np.random.default_rng(0)
    >>> q, v, tau = dtau.random_state(model, rng)
    >>> lam = rng.standard_normal(model.nv)
    >>> gradient = dtau.forward_dynamics_parameter_vjp(model, q, v, tau, lam)
    >>> d = dtau.forward_dynamics_parameter_derivatives(model, q, v, tau)
    >>> bool(np.allclose(gradient, d.T @ lam))
    True
    """
    require("joint_parameters", joint_parameters, bool)
    return _core.forward_dynamics_parameter_vjp(
        model, q, v, tau, lam, f_ext, f_ext_axes, joint_parameters, out, threads
    )
