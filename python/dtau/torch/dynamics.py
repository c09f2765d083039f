"""Dynamics on PyTorch's tensors."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from dtau.autodiff.results import NextState
from dtau.model.model import Model
from dtau.options import Axes, Integrator
from dtau.torch.arguments import results


def inverse_dynamics(
    model: Model,
    q: Tensor,
    v: Tensor,
    a: Tensor,
    f_ext: Tensor | None = None,
    *,
    f_ext_axes: Axes = "body",
) -> Tensor:
    """Joint torque that gives the acceleration ``a``: `dtau.inverse_dynamics` for PyTorch.

    Parameters
    ----------
    model : Model
        Keep it for as long as a traced program that uses it.
    q : Tensor (..., nq)
        Configuration; quaternions need no unit norm, and derivatives are by the nq numbers:
        docs/array_libraries.md. Batch axes of all arguments broadcast against each other.
    v : Tensor (..., nv)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.
    a : Tensor (..., nv)
        Time derivative of ``v``, component by component.
    f_ext : Tensor (..., nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, N and N m.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of ``f_ext``, as `dtau.inverse_dynamics` has them.

    Returns
    -------
    Tensor (..., nv)
        Torque in N m and force in N; of a free joint the wrench [force, moment] in the body frame.
        Of float32 where all tensors are.

    Raises
    ------
    TypeError
        If the model is none, or an argument is no dense tensor of float64 or float32.
    ValueError
        If a shape does not fit, a tensor is not on the CPU, or ``f_ext_axes`` is unknown.
    NotImplementedError
        When a third derivative is asked for.

    Examples
    --------
    >>> import dtau, dtau.torch, numpy as np, torch
    >>> model = dtau.robots.quadruped()
    >>> state = dtau.random_state(model, np.random.default_rng(0), shape=(256,))
    >>> q, v, a = (torch.from_numpy(x) for x in state)
    >>> torque = lambda q, v, a: dtau.torch.inverse_dynamics(model, q, v, a)
    >>> torque(q, v, a).shape
    torch.Size([256, 18])
    >>> torch.func.vmap(torch.func.jacrev(torque, argnums=1))(q, v, a).shape
    torch.Size([256, 18, 18])
    """
    result: Tensor = results(model, "inverse_dynamics", q, v, a, f_ext, f_ext_axes=f_ext_axes)[0]
    return result


def forward_dynamics(
    model: Model,
    q: Tensor,
    v: Tensor,
    tau: Tensor,
    f_ext: Tensor | None = None,
    *,
    f_ext_axes: Axes = "body",
) -> Tensor:
    """Joint acceleration under the torque ``tau``: `dtau.forward_dynamics` for PyTorch.

    Parameters
    ----------
    model, q, v
        As `dtau.torch.inverse_dynamics`.
    tau : Tensor (..., nv)
        Torque in N m and force in N; of a free joint the wrench [force, moment] in the body frame.
    f_ext, f_ext_axes
        As `dtau.torch.inverse_dynamics`.

    Returns
    -------
    Tensor (..., nv)
        Time derivative of ``v``, component by component, in rad/s² and m/s².

    Raises
    ------
    TypeError, ValueError, NotImplementedError
        As `dtau.torch.inverse_dynamics`: derivatives exist up to the second order. Also ValueError
        if joints have no inertia to accelerate.

    Examples
    --------
    >>> import dtau, dtau.torch, torch
    >>> model = dtau.robots.quadruped()
    >>> q = torch.from_numpy(dtau.neutral(model))
    >>> still = torch.zeros(model.nv, dtype=q.dtype)
    >>> tau = torch.zeros(model.nv, dtype=q.dtype, requires_grad=True)
    >>> dtau.torch.forward_dynamics(model, q, still, tau)[2].backward()
    >>> round(float(tau.grad[2]), 4)
    0.0342
    """
    result: Tensor = results(model, "forward_dynamics", q, v, tau, f_ext, f_ext_axes=f_ext_axes)[0]
    return result


def bias_torque(
    model: Model, q: Tensor, v: Tensor, f_ext: Tensor | None = None, *, f_ext_axes: Axes = "body"
) -> Tensor:
    """Joint torque at zero acceleration: `dtau.bias_torque` for PyTorch.

    Parameters
    ----------
    model : Model
    q : Tensor (..., nq)
        Configuration; quaternions need no unit norm.
    v : Tensor (..., nv)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.
    f_ext : Tensor (..., nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, N and N m.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of ``f_ext``, as `dtau.inverse_dynamics` has them.

    Returns
    -------
    Tensor (..., nv)
        Torque in N m and force in N, as `dtau.torch.inverse_dynamics` gives them.

    Raises
    ------
    TypeError, ValueError, NotImplementedError
        As `dtau.torch.inverse_dynamics`: derivatives exist up to the second order.

    Examples
    --------
    At rest it is gravity's:

    >>> import dtau, dtau.torch, torch
    >>> model = dtau.robots.quadruped()
    >>> q = torch.from_numpy(dtau.neutral(model))
    >>> still = torch.zeros(model.nv, dtype=q.dtype)
    >>> torque = dtau.torch.bias_torque(model, q, still)
    >>> bool(torch.allclose(torque, dtau.torch.gravity_torque(model, q)))
    True
    """
    result: Tensor = results(model, "bias_torque", q, v, f_ext, f_ext_axes=f_ext_axes)[0]
    return result


def gravity_torque(model: Model, q: Tensor) -> Tensor:
    """Joint torque that holds the robot at rest against gravity: `dtau.gravity_torque` for PyTorch.

    Parameters
    ----------
    model : Model
    q : Tensor (..., nq)
        Configuration; quaternions need no unit norm.

    Returns
    -------
    Tensor (..., nv)
        Torque in N m and force in N, as `dtau.torch.inverse_dynamics` gives them.

    Raises
    ------
    TypeError, ValueError, NotImplementedError
        As `dtau.torch.inverse_dynamics`: derivatives exist up to the second order.

    Examples
    --------
    A free base has to be lifted with the robot's weight:

    >>> import dtau, dtau.torch, torch
    >>> model = dtau.robots.quadruped()
    >>> q = torch.from_numpy(dtau.neutral(model))
    >>> weight = dtau.torch.gravity_torque(model, q)[2]
    >>> round(float(weight) / model.mass, 6)
    9.81
    """
    result: Tensor = results(model, "gravity_torque", q)[0]
    return result


def mass_matrix(model: Model, q: Tensor) -> Tensor:
    """Mass matrix, with the armature on its diagonal: `dtau.mass_matrix` for PyTorch.

    Parameters
    ----------
    model : Model
    q : Tensor (..., nq)
        Configuration; quaternions need no unit norm.

    Returns
    -------
    Tensor (..., nv, nv)
        Complete and symmetric; a free joint's rows are [linear, angular] in the body frame.

    Raises
    ------
    TypeError, ValueError, NotImplementedError
        As `dtau.torch.inverse_dynamics`: derivatives exist up to the second order.

    Examples
    --------
    >>> import dtau, dtau.torch, torch
    >>> model = dtau.robots.quadruped()
    >>> q = torch.from_numpy(dtau.neutral(model))
    >>> torch.func.jacrev(lambda q: dtau.torch.mass_matrix(model, q))(q).shape
    torch.Size([18, 18, 19])
    """
    result: Tensor = results(model, "mass_matrix", q)[0]
    return result


def mass_matrix_inverse(model: Model, q: Tensor) -> Tensor:
    """Inverse of the mass matrix: `dtau.mass_matrix_inverse` for PyTorch.

    Parameters
    ----------
    model : Model
    q : Tensor (..., nq)
        Configuration; quaternions need no unit norm.

    Returns
    -------
    Tensor (..., nv, nv)
        Complete and symmetric.

    Raises
    ------
    TypeError, ValueError, NotImplementedError
        As `dtau.torch.forward_dynamics`: derivatives exist up to the second order.

    Examples
    --------
    >>> import dtau, dtau.torch, torch
    >>> model = dtau.robots.quadruped()
    >>> q = torch.from_numpy(dtau.neutral(model))
    >>> product = dtau.torch.mass_matrix_inverse(model, q) @ dtau.torch.mass_matrix(model, q)
    >>> bool(torch.allclose(product, torch.eye(model.nv, dtype=q.dtype)))
    True
    """
    result: Tensor = results(model, "mass_matrix_inverse", q)[0]
    return result


def step(
    model: Model,
    q: Tensor,
    v: Tensor,
    tau: Tensor,
    dt: Tensor | float,
    integrator: Integrator = "euler",
    f_ext: Tensor | None = None,
    *,
    f_ext_axes: Axes = "body",
) -> NextState[Tensor]:
    """State after a time step with constant torque: `dtau.step` for PyTorch.

    Parameters
    ----------
    model, q, v, tau
        As `dtau.torch.forward_dynamics`.
    dt : Tensor (...) or float
        Length of the step in seconds.
    integrator : {"euler", "semi_implicit", "rk4"}
        As `dtau.step` has them.
    f_ext, f_ext_axes
        As `dtau.torch.forward_dynamics`.

    Returns
    -------
    NextState
        ``q (..., nq)``, its quaternions of unit norm, and ``v (..., nv)``.

    Raises
    ------
    TypeError, ValueError, NotImplementedError
        As `dtau.torch.forward_dynamics`; also ValueError if the integrator is unknown.

    Examples
    --------
    >>> import dtau, dtau.torch, torch
    >>> model = dtau.robots.quadruped()
    >>> q = torch.from_numpy(dtau.neutral(model))
    >>> v = torch.zeros(model.nv, dtype=q.dtype)
    >>> tau = torch.zeros(model.nv, dtype=q.dtype, requires_grad=True)
    >>> for _ in range(20):  # a fifth of a second
    ...     q, v = dtau.torch.step(model, q, v, tau, 0.01)
    >>> q[2].backward()
    >>> tau.grad.shape
    torch.Size([18])
    """
    if isinstance(dt, (float, int, np.floating, np.integer)):
        dt = torch.tensor(float(dt), dtype=torch.float64, device="cpu")
    options = {"integrator": integrator, "f_ext_axes": f_ext_axes}
    return NextState(*results(model, "step", q, v, tau, dt, f_ext, **options))
