"""Dynamics on JAX's arrays."""

from __future__ import annotations

from typing import Any

import jax
from jax.typing import ArrayLike

from dtau.autodiff.results import NextState
from dtau.jax.arguments import call
from dtau.model.model import Model
from dtau.options import Axes, Integrator


def inverse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    products: bool = False,
) -> jax.Array:
    """Joint torque that gives the acceleration ``a``: `dtau.inverse_dynamics` for JAX.

    Parameters
    ----------
    model : Model
        Close over it, or name its place in ``static_argnums``: it is hashable.
    q : array_like (..., nq)
        Configuration; quaternions need no unit norm, and derivatives are by the nq numbers:
        docs/array_libraries.md. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.
    a : array_like (..., nv)
        Time derivative of ``v``, component by component.
    f_ext : array_like (..., nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, N and N m.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of ``f_ext``, as `dtau.inverse_dynamics` has them.
    products : bool
        Gradients by `dtau.inverse_dynamics_vjp`, of cost O(N) and without a matrix: for long
        rollouts. It bars forward mode and second derivatives.

    Returns
    -------
    jax.Array (..., nv)
        Torque in N m and force in N; of a free joint the wrench [force, moment] in the body frame.
        Of float32 where all arrays are.

    Raises
    ------
    TypeError
        If JAX's float64 is off, the model is none, or arrays are not of real numbers.
    ValueError
        If a shape does not fit, or ``f_ext_axes`` is unknown.
    NotImplementedError
        When a third derivative is asked for.

    Examples
    --------
    >>> import dtau, dtau.jax, jax, numpy as np
    >>> jax.config.update("jax_enable_x64", True)
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(256,))
    >>> torque = lambda q, v, a: dtau.jax.inverse_dynamics(model, q, v, a)
    >>> jax.jit(torque)(q, v, a).shape
    (256, 18)
    >>> jax.vmap(jax.jacfwd(torque, argnums=1))(q, v, a).shape
    (256, 18, 18)
    """
    inputs = {"q": q, "v": v, "a": a, "f_ext": f_ext}
    return call("inverse_dynamics", model, inputs, products=products, f_ext_axes=f_ext_axes)[0]


def forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    products: bool = False,
) -> jax.Array:
    """Joint acceleration under the torque ``tau``: `dtau.forward_dynamics` for JAX.

    Parameters
    ----------
    model, q, v
        As `dtau.jax.inverse_dynamics`.
    tau : array_like (..., nv)
        Torque in N m and force in N; of a free joint the wrench [force, moment] in the body frame.
    f_ext, f_ext_axes
        As `dtau.jax.inverse_dynamics`.
    products : bool
        Gradients by `dtau.forward_dynamics_vjp`, see `dtau.jax.inverse_dynamics`.

    Returns
    -------
    jax.Array (..., nv)
        Time derivative of ``v``, component by component, in rad/s² and m/s².

    Raises
    ------
    TypeError, ValueError, NotImplementedError
        As `dtau.jax.inverse_dynamics`: derivatives exist up to the second order. Also ValueError if
        joints have no inertia to accelerate.

    Examples
    --------
    >>> import dtau, dtau.jax, jax, jax.numpy as jnp
    >>> jax.config.update("jax_enable_x64", True)
    >>> model = dtau.robots.quadruped()
    >>> q, still = jnp.asarray(dtau.neutral(model)), jnp.zeros(model.nv)
    >>> fall = lambda tau: dtau.jax.forward_dynamics(model, q, still, tau)[2]
    >>> gradient = jax.grad(fall)(still)
    >>> print(gradient.shape, gradient[2].round(4))
    (18,) 0.0342
    """
    inputs = {"q": q, "v": v, "tau": tau, "f_ext": f_ext}
    return call("forward_dynamics", model, inputs, products=products, f_ext_axes=f_ext_axes)[0]


def bias_torque(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
) -> jax.Array:
    """Joint torque at zero acceleration: `dtau.bias_torque` for JAX.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration; quaternions need no unit norm.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.
    f_ext : array_like (..., nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, N and N m.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of ``f_ext``, as `dtau.inverse_dynamics` has them.

    Returns
    -------
    jax.Array (..., nv)
        Torque in N m and force in N, as `dtau.jax.inverse_dynamics` gives them.

    Raises
    ------
    TypeError, ValueError, NotImplementedError
        As `dtau.jax.inverse_dynamics`: derivatives exist up to the second order.

    Examples
    --------
    At rest it is gravity's:

    >>> import dtau, dtau.jax, jax, jax.numpy as jnp
    >>> jax.config.update("jax_enable_x64", True)
    >>> model = dtau.robots.quadruped()
    >>> q = jnp.asarray(dtau.neutral(model))
    >>> still = jnp.zeros(model.nv)
    >>> torque = dtau.jax.bias_torque(model, q, still)
    >>> bool(jnp.allclose(torque, dtau.jax.gravity_torque(model, q)))
    True
    """
    return call("bias_torque", model, {"q": q, "v": v, "f_ext": f_ext}, f_ext_axes=f_ext_axes)[0]


def gravity_torque(model: Model, q: ArrayLike) -> jax.Array:
    """Joint torque that holds the robot at rest against gravity: `dtau.gravity_torque` for JAX.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration; quaternions need no unit norm.

    Returns
    -------
    jax.Array (..., nv)
        Torque in N m and force in N, as `dtau.jax.inverse_dynamics` gives them.

    Raises
    ------
    TypeError, ValueError, NotImplementedError
        As `dtau.jax.inverse_dynamics`: derivatives exist up to the second order.

    Examples
    --------
    A free base has to be lifted with the robot's weight:

    >>> import dtau, dtau.jax, jax, jax.numpy as jnp
    >>> jax.config.update("jax_enable_x64", True)
    >>> model = dtau.robots.quadruped()
    >>> q = jnp.asarray(dtau.neutral(model))
    >>> weight = dtau.jax.gravity_torque(model, q)[2]
    >>> round(float(weight) / model.mass, 6)
    9.81
    """
    return call("gravity_torque", model, {"q": q})[0]


def mass_matrix(model: Model, q: ArrayLike) -> jax.Array:
    """Mass matrix, with the armature on its diagonal: `dtau.mass_matrix` for JAX.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration; quaternions need no unit norm.

    Returns
    -------
    jax.Array (..., nv, nv)
        Complete and symmetric; a free joint's rows are [linear, angular] in the body frame.

    Raises
    ------
    TypeError, ValueError, NotImplementedError
        As `dtau.jax.inverse_dynamics`: derivatives exist up to the second order.

    Examples
    --------
    >>> import dtau, dtau.jax, jax, jax.numpy as jnp
    >>> jax.config.update("jax_enable_x64", True)
    >>> model = dtau.robots.quadruped()
    >>> q = jnp.asarray(dtau.neutral(model))
    >>> jax.jacfwd(lambda q: dtau.jax.mass_matrix(model, q))(q).shape
    (18, 18, 19)
    """
    return call("mass_matrix", model, {"q": q})[0]


def mass_matrix_inverse(model: Model, q: ArrayLike) -> jax.Array:
    """Inverse of the mass matrix: `dtau.mass_matrix_inverse` for JAX.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration; quaternions need no unit norm.

    Returns
    -------
    jax.Array (..., nv, nv)
        Complete and symmetric.

    Raises
    ------
    TypeError, ValueError, NotImplementedError
        As `dtau.jax.forward_dynamics`: derivatives exist up to the second order.

    Examples
    --------
    >>> import dtau, dtau.jax, jax, jax.numpy as jnp
    >>> jax.config.update("jax_enable_x64", True)
    >>> model = dtau.robots.quadruped()
    >>> q = jnp.asarray(dtau.neutral(model))
    >>> product = dtau.jax.mass_matrix_inverse(model, q) @ dtau.jax.mass_matrix(model, q)
    >>> bool(jnp.allclose(product, jnp.eye(model.nv)))
    True
    """
    return call("mass_matrix_inverse", model, {"q": q})[0]


def step(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: ArrayLike,
    integrator: Integrator = "euler",
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    products: bool = False,
) -> NextState[jax.Array]:
    """State after a time step with constant torque: `dtau.step` for JAX.

    Parameters
    ----------
    model, q, v, tau
        As `dtau.jax.forward_dynamics`.
    dt : array_like (...)
        Length of the step in seconds.
    integrator : {"euler", "semi_implicit", "rk4"}
        As `dtau.step`.
    f_ext, f_ext_axes
        As `dtau.jax.forward_dynamics`.
    products : bool
        Gradients by `dtau.step_vjp`, see `dtau.jax.inverse_dynamics`; by dt there is none then.

    Returns
    -------
    NextState
        ``q (..., nq)``, its quaternions of unit norm, and ``v (..., nv)``.

    Raises
    ------
    TypeError, ValueError, NotImplementedError
        As `dtau.jax.forward_dynamics`; also ValueError if the integrator is unknown.

    Examples
    --------
    >>> import dtau, dtau.jax, jax, jax.numpy as jnp
    >>> jax.config.update("jax_enable_x64", True)
    >>> model = dtau.robots.quadruped()
    >>> start = jnp.asarray(dtau.neutral(model)), jnp.zeros(model.nv)
    >>> def height(tau):  # after a fifth of a second
    ...     def move(state, _):
    ...         return tuple(dtau.jax.step(model, *state, tau, 0.01, products=True)), None
    ...     (q, v), _ = jax.lax.scan(move, start, length=20)
    ...     return q[2]
    >>> jax.grad(height)(jnp.zeros(model.nv)).shape
    (18,)
    """
    inputs = {"q": q, "v": v, "tau": tau, "dt": dt, "f_ext": f_ext}
    options: dict[str, Any] = {"integrator": integrator, "f_ext_axes": f_ext_axes}
    return NextState(*call("step", model, inputs, products=products, **options))
