"""The configuration manifold, on JAX's arrays."""

from __future__ import annotations

import jax
from jax.typing import ArrayLike

from dtau.autodiff.results import TangentMap
from dtau.jax.arguments import call
from dtau.model.model import Model


def integrate(model: Model, q: ArrayLike, dq: ArrayLike) -> jax.Array:
    """Configuration reached from ``q`` by the displacement ``dq``: q (+) dq.

    `dtau.integrate` for JAX.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration; quaternions need no unit norm.
    dq : array_like (..., nv)
        Displacement in the tangent space; of a free joint [linear, angular] in the body frame.

    Returns
    -------
    jax.Array (..., nq)
        With quaternions of unit norm.

    Raises
    ------
    TypeError, ValueError
        As `dtau.jax.inverse_dynamics`.

    Notes
    -----
    Derivatives of every order exist, by each of the arrays.

    Examples
    --------
    A gradient in the tangent space at q, with nv numbers:

    >>> import dtau, dtau.jax, jax, jax.numpy as jnp
    >>> jax.config.update("jax_enable_x64", True)
    >>> model = dtau.robots.quadruped()
    >>> q = jnp.asarray(dtau.neutral(model))
    >>> def height(xi):
    ...     moved = dtau.jax.integrate(model, q, xi)
    ...     return dtau.jax.center_of_mass(model, moved)[2]
    >>> jax.grad(height)(jnp.zeros(model.nv)).shape
    (18,)
    """
    return call("integrate", model, {"q": q, "dq": dq})[0]


def difference(model: Model, q0: ArrayLike, q1: ArrayLike) -> jax.Array:
    """Displacement from ``q0`` to ``q1``: a dq with q0 (+) dq = q1: `dtau.difference` for JAX.

    Parameters
    ----------
    model : Model
    q0, q1 : array_like (..., nq)
        Configurations; quaternions need no unit norm.

    Returns
    -------
    jax.Array (..., nv)
        Displacement in the tangent space at ``q0``; `dtau.difference` says which of several.

    Raises
    ------
    TypeError, ValueError
        As `dtau.jax.inverse_dynamics`.

    Notes
    -----
    Derivatives of every order exist, by each of the arrays.

    Examples
    --------
    >>> import dtau, dtau.jax, jax, jax.numpy as jnp
    >>> jax.config.update("jax_enable_x64", True)
    >>> model = dtau.robots.quadruped()
    >>> q = jnp.asarray(dtau.neutral(model))
    >>> dq = jnp.full((model.nv,), 0.1)
    >>> moved = dtau.jax.integrate(model, q, dq)
    >>> bool(jnp.allclose(dtau.jax.difference(model, q, moved), dq))
    True
    """
    return call("difference", model, {"q0": q0, "q1": q1})[0]


def normalize(model: Model, q: ArrayLike) -> jax.Array:
    """Configuration with its quaternions scaled to unit norm: `dtau.normalize` for JAX.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration; quaternions of zeros give NaN.

    Returns
    -------
    jax.Array (..., nq)
        The rest of q is unchanged.

    Raises
    ------
    TypeError, ValueError
        As `dtau.jax.inverse_dynamics`.

    Notes
    -----
    Derivatives by q of every order exist.

    Examples
    --------
    >>> import dtau, dtau.jax, jax, jax.numpy as jnp
    >>> jax.config.update("jax_enable_x64", True)
    >>> model = dtau.robots.quadruped()
    >>> q = jnp.asarray(dtau.neutral(model))
    >>> bool(jnp.allclose(dtau.jax.normalize(model, 2 * q), q))
    True
    """
    return call("normalize", model, {"q": q})[0]


def tangent_map(model: Model, q: ArrayLike) -> TangentMap[jax.Array]:
    """Between the numbers of q and the tangent space: `dtau.tangent_map` for JAX.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration; quaternions need no unit norm.

    Returns
    -------
    TangentMap
        dq/dt = ``from_tangent`` v, (..., nq, nv), and v = ``to_tangent`` dq/dt, (..., nv, nq).

    Raises
    ------
    TypeError, ValueError
        As `dtau.jax.inverse_dynamics`.

    Notes
    -----
    Both matrices are those at ``normalize(q)``, so along a quaternion they do not change. The
    derivative of f(normalize(q)) by the numbers of a quaternion of norm s is that of f in the
    tangent space, times the columns of ``to_tangent``, over s.

    Derivatives by q of every order exist.

    Examples
    --------
    >>> import dtau, dtau.jax, jax, jax.numpy as jnp
    >>> jax.config.update("jax_enable_x64", True)
    >>> model = dtau.robots.quadruped()
    >>> q = jnp.asarray(dtau.neutral(model))
    >>> T = dtau.jax.tangent_map(model, q)
    >>> bool(jnp.allclose(T.to_tangent @ T.from_tangent, jnp.eye(model.nv)))
    True
    """
    return TangentMap(*call("tangent_map", model, {"q": q}))
