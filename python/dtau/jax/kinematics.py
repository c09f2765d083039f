"""Frames, centre of mass and momentum, on JAX's arrays."""

from __future__ import annotations

from collections.abc import Sequence

import jax
from jax.typing import ArrayLike

from dtau.autodiff.results import Placements
from dtau.checks import frame_names
from dtau.jax.arguments import call
from dtau.model.model import Model
from dtau.options import Axes


def frame_placements(
    model: Model, q: ArrayLike, frames: str | Sequence[str]
) -> Placements[jax.Array]:
    """Poses of frames in the world: `dtau.frame_placements` for JAX.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration; quaternions need no unit norm.
    frames : str or sequence of str
        Names from ``model.frames``.

    Returns
    -------
    Placements
        ``rotation`` (..., nframes, 3, 3) and ``translation`` (..., nframes, 3) in metres; a single
        name drops the axis of the frames.

    Raises
    ------
    TypeError, ValueError
        As `dtau.jax.inverse_dynamics`; also ValueError if a name is unknown.

    Notes
    -----
    Derivatives by q of every order exist.

    Examples
    --------
    How fast a foot rises with each of the numbers of q:

    >>> import dtau, dtau.jax, jax, jax.numpy as jnp
    >>> jax.config.update("jax_enable_x64", True)
    >>> model = dtau.robots.quadruped()
    >>> q = jnp.asarray(dtau.neutral(model))
    >>> height = lambda q: dtau.jax.frame_placements(model, q, "LF_FOOT").translation[2]
    >>> jax.grad(height)(q).shape
    (19,)
    """
    return Placements(*call("frame_placements", model, {"q": q}, frames=frame_names(frames)))


def frame_jacobians(
    model: Model, q: ArrayLike, frames: str | Sequence[str], axes: Axes = "body"
) -> jax.Array:
    """Jacobians of frames, whose twists are ``J @ v``: `dtau.frame_jacobians` for JAX.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration; quaternions need no unit norm.
    frames : str or sequence of str
        Names from ``model.frames``.
    axes : {"body", "world", "mixed"}
        Axes and point of the twist, as `dtau.frame_velocities` has them.

    Returns
    -------
    jax.Array (..., nframes, 6, nv)
        Rows [linear, angular]; of a single name (..., 6, nv). A frame of the world has zeros.

    Raises
    ------
    TypeError, ValueError
        As `dtau.jax.inverse_dynamics`; also ValueError if a name or ``axes`` is unknown.

    Notes
    -----
    Derivatives by q of every order exist.

    Examples
    --------
    >>> import dtau, dtau.jax, jax, jax.numpy as jnp
    >>> jax.config.update("jax_enable_x64", True)
    >>> model = dtau.robots.quadruped()
    >>> q, v = jnp.asarray(dtau.neutral(model)), jnp.arange(18.0)
    >>> J = dtau.jax.frame_jacobians(model, q, "LF_FOOT")
    >>> twist = dtau.jax.frame_velocities(model, q, v, "LF_FOOT")
    >>> bool(jnp.allclose(J @ v, twist))
    True
    """
    return call("frame_jacobians", model, {"q": q}, frames=frame_names(frames), axes=axes)[0]


def frame_velocities(
    model: Model, q: ArrayLike, v: ArrayLike, frames: str | Sequence[str], axes: Axes = "body"
) -> jax.Array:
    """Twists of frames: `dtau.frame_velocities` for JAX.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration; quaternions need no unit norm.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.
    frames : str or sequence of str
        Names from ``model.frames``.
    axes : {"body", "world", "mixed"}
        Axes and point of the twist, as `dtau.frame_velocities` has them.

    Returns
    -------
    jax.Array (..., nframes, 6)
        [linear, angular] in m/s and rad/s; of a single name (..., 6). A frame of the world has
        zeros.

    Raises
    ------
    TypeError, ValueError
        As `dtau.jax.inverse_dynamics`; also ValueError if a name or ``axes`` is unknown.

    Notes
    -----
    Derivatives of every order exist, by each of the arrays.

    Examples
    --------
    >>> import dtau, dtau.jax, jax, jax.numpy as jnp
    >>> jax.config.update("jax_enable_x64", True)
    >>> model = dtau.robots.quadruped()
    >>> q, v = jnp.asarray(dtau.neutral(model)), jnp.arange(18.0)
    >>> dtau.jax.frame_velocities(model, q, v, "LF_FOOT").shape
    (6,)
    >>> dtau.jax.frame_velocities(model, q, v, ["LF_FOOT", "RF_FOOT"], "mixed").shape
    (2, 6)
    """
    return call("frame_velocities", model, {"q": q, "v": v}, frames=frame_names(frames), axes=axes)[
        0
    ]


def center_of_mass(model: Model, q: ArrayLike) -> jax.Array:
    """Centre of mass of all moving bodies: `dtau.center_of_mass` for JAX.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration; quaternions need no unit norm.

    Returns
    -------
    jax.Array (..., 3)
        Along the world's axes, in metres.

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
    >>> jax.jacfwd(lambda q: dtau.jax.center_of_mass(model, q))(q).shape
    (3, 19)
    """
    return call("center_of_mass", model, {"q": q})[0]


def center_of_mass_velocity(model: Model, q: ArrayLike, v: ArrayLike) -> jax.Array:
    """Velocity of the centre of mass: `dtau.center_of_mass_velocity` for JAX.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration; quaternions need no unit norm.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.

    Returns
    -------
    jax.Array (..., 3)
        Along the world's axes, in m/s.

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
    >>> q, v = jnp.asarray(dtau.neutral(model)), jnp.arange(18.0)
    >>> velocity = dtau.jax.center_of_mass_velocity(model, q, v)
    >>> bool(jnp.allclose(model.mass * velocity, dtau.jax.momentum(model, q, v)[:3]))
    True
    """
    return call("center_of_mass_velocity", model, {"q": q, "v": v})[0]


def momentum(model: Model, q: ArrayLike, v: ArrayLike) -> jax.Array:
    """Momentum about the world's origin: `dtau.momentum` for JAX.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration; quaternions need no unit norm.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.

    Returns
    -------
    jax.Array (..., 6)
        [linear, angular] along the world's axes, in kg m/s and kg m²/s.

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
    >>> q, v = jnp.asarray(dtau.neutral(model)), jnp.arange(18.0)
    >>> jax.jacfwd(lambda v: dtau.jax.momentum(model, q, v))(v).shape
    (6, 18)
    """
    return call("momentum", model, {"q": q, "v": v})[0]


def centroidal_momentum(model: Model, q: ArrayLike, v: ArrayLike) -> jax.Array:
    """Momentum about the centre of mass: `dtau.centroidal_momentum` for JAX.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration; quaternions need no unit norm.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.

    Returns
    -------
    jax.Array (..., 6)
        [linear, angular] along the world's axes, in kg m/s and kg m²/s.

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
    >>> q, v = jnp.asarray(dtau.neutral(model)), jnp.arange(18.0)
    >>> h = dtau.jax.centroidal_momentum(model, q, v)
    >>> bool(jnp.allclose(h[:3], dtau.jax.momentum(model, q, v)[:3]))
    True
    """
    return call("centroidal_momentum", model, {"q": q, "v": v})[0]
