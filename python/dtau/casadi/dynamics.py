"""Dynamics on CasADi's matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dtau.autodiff.results import NextState
from dtau.casadi.arguments import evaluate
from dtau.casadi.builder import function
from dtau.model.model import Model
from dtau.options import Axes, Integrator


def inverse_dynamics(
    model: Model, q: Any, v: Any, a: Any, f_ext: Any = None, *, f_ext_axes: Axes = "body"
) -> Any:
    """Joint torque that gives the acceleration ``a``: `dtau.inverse_dynamics` for CasADi.

    Parameters
    ----------
    model : Model
    q : casadi.MX, casadi.DM or array_like (nq, n)
        Configuration; quaternions need no unit norm, and derivatives are by the nq numbers:
        docs/array_libraries.md. Of all arguments columns are states, and one column serves all; a
        single state may be (nq,) too, or a row.
    v : casadi.MX, casadi.DM or array_like (nv, n)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.
    a : casadi.MX, casadi.DM or array_like (nv, n)
        Time derivative of ``v``, component by component.
    f_ext : casadi.MX, casadi.DM or array_like (nbodies, 6 n), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, N and N m; those
        of several states side by side.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of ``f_ext``, as `dtau.inverse_dynamics` has them.

    Returns
    -------
    casadi.MX or casadi.DM (nv, n)
        Torque in N m and force in N; of a free joint the wrench [force, moment] in the body frame.
        An MX where an argument is one, of numbers a DM.

    Raises
    ------
    TypeError
        If the model is none, or an argument is neither an MX nor of real numbers.
    ValueError
        If a shape or a number of states does not fit, or ``f_ext_axes`` is unknown.
    RuntimeError
        If no slot is left, see `dtau.casadi.function`; by CasADi, when a third derivative is asked
        for.

    Notes
    -----
    Derivatives by each of the matrices exist up to the second order. They are the package's own:
    `dtau.inverse_dynamics_derivatives`, `inverse_dynamics_vjp` and `inverse_dynamics_hessian`, and
    by wrenches `inverse_dynamics_wrench_derivatives`.

    Examples
    --------
    The gradient of a sum of squares, by the numbers of q:

    >>> import casadi as ca, dtau, dtau.casadi
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = ca.MX.sym("q", model.nq), ca.MX.sym("v", model.nv), ca.MX.sym("a", model.nv)
    >>> cost = ca.sumsqr(dtau.casadi.inverse_dynamics(model, q, v, a))
    >>> gradient = ca.Function("gradient", [q, v, a], [ca.gradient(cost, q)])
    >>> gradient(dtau.neutral(model), 0, 0).shape
    (19, 1)
    """
    return _with_wrenches("inverse_dynamics", model, (q, v, a), f_ext, f_ext_axes)


def forward_dynamics(
    model: Model, q: Any, v: Any, tau: Any, f_ext: Any = None, *, f_ext_axes: Axes = "body"
) -> Any:
    """Joint acceleration under the torque ``tau``: `dtau.forward_dynamics` for CasADi.

    Parameters
    ----------
    model, q, v
        As `dtau.casadi.inverse_dynamics`.
    tau : casadi.MX, casadi.DM or array_like (nv, n)
        Torque in N m and force in N; of a free joint the wrench [force, moment] in the body frame.
    f_ext, f_ext_axes
        As `dtau.casadi.inverse_dynamics`.

    Returns
    -------
    casadi.MX or casadi.DM (nv, n)
        Time derivative of ``v``, component by component, in rad/s² and m/s².

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As `dtau.casadi.inverse_dynamics`: derivatives exist up to the second order. Also ValueError
        if joints have no inertia to accelerate.

    Notes
    -----
    Derivatives are `dtau.forward_dynamics_derivatives`, `forward_dynamics_vjp`,
    `forward_dynamics_hessian` and `forward_dynamics_wrench_derivatives`.

    Examples
    --------
    >>> import casadi as ca, dtau, dtau.casadi
    >>> model = dtau.robots.quadruped()
    >>> q, still, tau = dtau.neutral(model), ca.DM.zeros(model.nv), ca.MX.sym("tau", model.nv)
    >>> fall = dtau.casadi.forward_dynamics(model, q, still, tau)[2]
    >>> gradient = ca.Function("gradient", [tau], [ca.gradient(fall, tau)])(still)
    >>> print(gradient.shape, round(float(gradient[2]), 4))
    (18, 1) 0.0342
    """
    return _with_wrenches("forward_dynamics", model, (q, v, tau), f_ext, f_ext_axes)


def bias_torque(
    model: Model, q: Any, v: Any, f_ext: Any = None, *, f_ext_axes: Axes = "body"
) -> Any:
    """Joint torque at zero acceleration: `dtau.bias_torque` for CasADi.

    Parameters
    ----------
    model : Model
    q : casadi.MX, casadi.DM or array_like (nq, n)
        Configuration; quaternions need no unit norm.
    v : casadi.MX, casadi.DM or array_like (nv, n)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.
    f_ext : casadi.MX, casadi.DM or array_like (nbodies, 6 n), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, N and N m; those
        of several states side by side.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of ``f_ext``, as `dtau.inverse_dynamics` has them.

    Returns
    -------
    casadi.MX or casadi.DM (nv, n)
        Torque in N m and force in N, as `dtau.casadi.inverse_dynamics` gives them.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As `dtau.casadi.inverse_dynamics`: derivatives exist up to the second order.

    Examples
    --------
    At rest it is gravity's:

    >>> import casadi as ca, dtau, dtau.casadi, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, still = dtau.neutral(model), ca.DM.zeros(model.nv)
    >>> torque = dtau.casadi.bias_torque(model, q, still)
    >>> bool(np.allclose(torque, dtau.casadi.gravity_torque(model, q)))
    True
    """
    return _with_wrenches("bias_torque", model, (q, v), f_ext, f_ext_axes)


def gravity_torque(model: Model, q: Any) -> Any:
    """Joint torque that holds the robot at rest against gravity: `dtau.gravity_torque` for CasADi.

    Parameters
    ----------
    model : Model
    q : casadi.MX, casadi.DM or array_like (nq, n)
        Configuration; quaternions need no unit norm.

    Returns
    -------
    casadi.MX or casadi.DM (nv, n)
        Torque in N m and force in N, as `dtau.casadi.inverse_dynamics` gives them.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As `dtau.casadi.inverse_dynamics`: derivatives exist up to the second order.

    Examples
    --------
    A free base has to be lifted with the robot's weight:

    >>> import dtau, dtau.casadi
    >>> model = dtau.robots.quadruped()
    >>> weight = dtau.casadi.gravity_torque(model, dtau.neutral(model))[2]
    >>> round(float(weight) / model.mass, 6)
    9.81
    """
    return evaluate(function(model, "gravity_torque"), q)


def mass_matrix(model: Model, q: Any) -> Any:
    """Mass matrix, with the armature on its diagonal: `dtau.mass_matrix` for CasADi.

    Parameters
    ----------
    model : Model
    q : casadi.MX, casadi.DM or array_like (nq, n)
        Configuration; quaternions need no unit norm.

    Returns
    -------
    casadi.MX or casadi.DM (nv, nv n)
        Symmetric, with both triangles, and sparse: velocities on different branches have no entry.
        A free joint's rows are [linear, angular] in the body frame. Matrices of several states
        are side by side.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As `dtau.casadi.inverse_dynamics`: derivatives exist up to the second order.

    Examples
    --------
    >>> import dtau, dtau.casadi
    >>> model = dtau.robots.quadruped()
    >>> M = dtau.casadi.mass_matrix(model, dtau.neutral(model))
    >>> M.shape, M.nnz()
    ((18, 18), 216)
    """
    return evaluate(function(model, "mass_matrix"), q)


def mass_matrix_inverse(model: Model, q: Any) -> Any:
    """Inverse of the mass matrix: `dtau.mass_matrix_inverse` for CasADi.

    Parameters
    ----------
    model : Model
    q : casadi.MX, casadi.DM or array_like (nq, n)
        Configuration; quaternions need no unit norm.

    Returns
    -------
    casadi.MX or casadi.DM (nv, nv n)
        Symmetric, with both triangles; velocities of different trees have no entry. Matrices
        of several states are side by side.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As `dtau.casadi.forward_dynamics`: derivatives exist up to the second order.

    Examples
    --------
    >>> import dtau, dtau.casadi, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q = dtau.neutral(model)
    >>> product = dtau.casadi.mass_matrix_inverse(model, q) @ dtau.casadi.mass_matrix(model, q)
    >>> bool(np.allclose(product, np.eye(model.nv)))
    True
    """
    return evaluate(function(model, "mass_matrix_inverse"), q)


def step(
    model: Model,
    q: Any,
    v: Any,
    tau: Any,
    dt: Any,
    integrator: Integrator = "euler",
    f_ext: Any = None,
    *,
    f_ext_axes: Axes = "body",
) -> NextState[Any]:
    """State after a time step with constant torque: `dtau.step` for CasADi.

    Parameters
    ----------
    model, q, v, tau
        As `dtau.casadi.forward_dynamics`.
    dt : casadi.MX, casadi.DM or array_like (1, n)
        Length of the step in seconds; a number serves all states.
    integrator : {"euler", "semi_implicit", "rk4"}
        As `dtau.step`.
    f_ext, f_ext_axes
        As `dtau.casadi.forward_dynamics`.

    Returns
    -------
    NextState
        ``q (nq, n)``, its quaternions of unit norm, and ``v (nv, n)``.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As `dtau.casadi.forward_dynamics`; also ValueError if the integrator is unknown.

    Notes
    -----
    Composed of `dtau.casadi.forward_dynamics` and `dtau.casadi.integrate`, so that CasADi makes
    first and second derivatives of theirs, by dt too.

    Examples
    --------
    >>> import casadi as ca, dtau, dtau.casadi
    >>> model = dtau.robots.quadruped()
    >>> q, v, tau = (ca.MX.sym(name, n) for name, n in (("q", 19), ("v", 18), ("tau", 18)))
    >>> after = dtau.casadi.step(model, q, v, tau, 0.01, "semi_implicit")
    >>> ca.jacobian(ca.vertcat(*after), tau).shape
    (37, 18)
    """
    return NextState(*_with_wrenches("step", model, (q, v, tau, dt), f_ext, f_ext_axes, integrator))


def _with_wrenches(
    name: str,
    model: Model,
    given: Sequence[Any],
    f_ext: Any,
    f_ext_axes: Axes,
    integrator: Integrator = "euler",
) -> Any:
    f = function(model, name, f_ext=f_ext is not None, f_ext_axes=f_ext_axes, integrator=integrator)
    return evaluate(f, *given, *(() if f_ext is None else (f_ext,)))
