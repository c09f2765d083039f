"""Bodies and frames: placements, Jacobians, velocities, accelerations, and wrenches at frames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dtau import _core
from dtau.docstrings import documented
from dtau.model.model import Model
from dtau.registry import old_name
from dtau.results import Placements
from dtau.support.arrays import Array
from dtau.support.checks import common_batch, real_numbers, require
from dtau.support.direct import direct
from dtau.support.options import AccelerationKind, Axes, Layout


@direct
def forward_kinematics(
    model: Model, q: ArrayLike, *, out: Sequence[Array] | None = None, threads: int | None = None
) -> Placements:
    """Forward kinematics: poses of all bodies in the world.

        T_i = T_p X_i J_i(q_i)    p the parent, X_i the joint's placement on it, J_i its motion

    Returns
    -------
    Placements
    rotation : ndarray (..., nbodies, 3, 3)
        Rotation of each body in the world, in the order of ``model.bodies``.
    translation : ndarray (..., nbodies, 3)
        Position of each body in the world, in meters.

    Notes
    -----
    [RBDA] section 4.4; O(N).

    Examples
    --------
    >>> dtau.forward_kinematics(model, dtau.neutral(model)).translation.shape
    (13, 3)
    """


@direct
def frame_placements(
    model: Model,
    q: ArrayLike,
    frames: str | Sequence[str],
    *,
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> Placements:
    """Poses of frames in the world.

        T = T_b X    b the body that carries the frame, X its placement there

    Returns
    -------
    Placements
    rotation : ndarray (..., nframes, 3, 3)
        Rotation of each frame in the world.
    translation : ndarray (..., nframes, 3)
        Position of each frame in the world, in meters.

    Notes
    -----
    [RBDA] section 2.8, for the bodies between a frame and the world alone; O(d) for a frame at
    depth d.

    Examples
    --------
    >>> dtau.frame_placements(model, dtau.neutral(model), "LF_FOOT").translation.shape
    (3,)
    """


@direct
def frame_jacobians(
    model: Model,
    q: ArrayLike,
    frames: str | Sequence[str],
    axes: Axes = "body",
    *,
    layout: Layout = "dense",
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Jacobians of frames: the twist of a frame is ``J @ v``.

    Returns
    -------
    J : ndarray (..., nframes, 6, nv)
        Rows [linear, angular]. The Jacobian of a frame that is fixed to the world is zero.

    Notes
    -----
    The columns of the motion subspaces on the path to the frame, [RBDA] section 4.4; O(d) for all
    columns of a frame at depth d, plus writing the zeros.

    Examples
    --------
    The twist of a foot, along world axes at the foot's origin:

    >>> twist = dtau.frame_jacobians(model, q, "LF_FOOT", axes="mixed") @ v
    >>> twist.shape
    (6,)
    """


@documented
@old_name("frame_jacobians_time_derivatives")
def frame_jacobians_rate(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frames: str | Sequence[str],
    axes: Axes = "body",
    *,
    threads: int | None = None,
) -> Array:
    """Rates of the Jacobians of frames: an alias for row 1 of `frame_jacobians_time_derivatives`.

        dJ/dt at dq/dt = v

    New code calls `dtau.frame_jacobians_time_derivatives`, which gives the Jacobians too:

        J, J_dot = dtau.frame_jacobians_time_derivatives(model, q, [v], frame)           one state
        J_dot = dtau.frame_jacobians_time_derivatives(model, q, v[:, None], frame)[:, 1]    a batch

    Returns
    -------
    J_dot : ndarray (..., nframes, 6, nv)
        Rates of the entries of `dtau.frame_jacobians` in the same axes; rows [linear, angular]. For
        ``"body"`` the axes turn with the frame. A frame of the world has zeros.

    Notes
    -----
    [HO-FBS] Algorithm 1, for a batch of ``v`` instead of a stack of its derivatives; O(d) for all
    columns of a frame at depth d.

    Examples
    --------
    The acceleration of a foot in twelve states:

    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(12,))
    >>> J = dtau.frame_jacobians(model, q, "LF_FOOT", "mixed")
    >>> J_dot = dtau.frame_jacobians_rate(model, q, v, "LF_FOOT", "mixed")
    >>> foot = dtau.frame_accelerations(model, q, v, a, "LF_FOOT", "mixed", kind="classical")
    >>> bool(np.allclose((J @ a[..., None] + J_dot @ v[..., None])[..., 0], foot))
    True
    """
    require("model", model, Model)
    speeds = real_numbers("v", v)
    if speeds.shape[-1:] != (model.nv,):
        raise ValueError(f"v has shape {speeds.shape}, expected (..., {model.nv})")
    if speeds.ndim > 1:  # the core's message would name stacks
        common_batch({"q": real_numbers("q", q).shape[:-1], "v": speeds.shape[:-1]})
    rows = speeds[..., np.newaxis, :]  # stacks of one row each, never one stack of many orders
    found = _core.frame_jacobians_time_derivatives(model, q, rows, frames, axes, 1, None, threads)
    rate = found[..., 1, :, :] if isinstance(frames, str) else found[..., 1, :, :, :]
    return np.ascontiguousarray(rate)


@direct
def frame_velocities(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frames: str | Sequence[str],
    axes: Axes = "body",
    *,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Velocities (twists) of frames.

        J v

    Returns
    -------
    twist : ndarray (..., nframes, 6)
        [linear, angular] in m/s and rad/s: ``frame_jacobians(model, q, frames, axes) @ v``. A frame
        of the world has zeros.

    Notes
    -----
    [RBDA] section 2.10, for the bodies between a frame and the world alone; O(d) for a frame at
    depth d.

    Examples
    --------
    >>> q, v = dtau.neutral(model), [0.0] * model.nv
    >>> v[5] = 1.0  # about the base's vertical axis
    >>> print(dtau.frame_velocities(model, q, v, "LF_FOOT").round(3))
    [-0.246  0.44   0.     0.     0.     1.   ]
    """


@direct
def frame_accelerations(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    frames: str | Sequence[str],
    axes: Axes = "body",
    *,
    kind: AccelerationKind = "spatial",
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Spatial or classical accelerations of frames, without gravity.

        spatial      J a + dJ/dt v    with J in body or world axes
        classical    J a + dJ/dt v    with J in mixed axes: adds omega x u to the linear part

    Returns
    -------
    acceleration : ndarray (..., nframes, 6)
        [linear, angular] in m/s^2 and rad/s^2. A frame of the world has zeros. An accelerometer
        measures the classical acceleration in body axes minus gravity.

    Notes
    -----
    [RBDA] sections 2.10 and 2.11, for the bodies between a frame and the world alone; O(d) for a
    frame at depth d.

    Examples
    --------
    A foot on a circle accelerates towards its center:

    >>> q, v = dtau.neutral(model), np.zeros(model.nv)
    >>> v[5] = 1.0  # about the base's vertical axis
    >>> a = np.zeros(model.nv)
    >>> foot = dtau.frame_accelerations(model, q, v, a, "LF_FOOT", "mixed", kind="classical")
    >>> print((foot[:3] + dtau.frame_placements(model, q, "LF_FOOT").translation)[:2].round(9))
    [0. 0.]
    """


@documented
def wrench_at_frame(
    model: Model,
    q: ArrayLike,
    frame: str,
    wrench: ArrayLike,
    axes: Axes = "body",
    *,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Convert a wrench that acts at a frame to external wrenches ``f_ext``.

        f_b = [R f, R m + p x R f]    R and p: axes and origin of the wrench in body b

    Parameters
    ----------
    axes
        Axes of the wrench. ``"body"``: in the frame's own axes, at its origin. ``"mixed"``: in
        world axes, at the frame's origin (a contact force on a foot). ``"world"``: in world axes,
        moment about the world's origin.

    Returns
    -------
    f_ext : ndarray (..., nbodies, 6)
        [force, moment] on each body in **its own axes** at its origin, for the argument ``f_ext``
        of the dynamics with ``f_ext_axes="body"``, the default. For several wrenches add the
        results. Its torque is ``frame_jacobians(model, q, frame, axes).T @ wrench``.

    Notes
    -----
    [RBDA] section 2.8; O(d) for a frame at depth d. The result is in body axes for every value of
    ``axes``. Use it with ``f_ext_axes="body"``, the default; with another value it means other
    wrenches. Derivatives by q hold the result constant in body axes, so it turns with its body. For
    a wrench that is constant in the world, such as a contact force on a foot, add
    `dtau.wrench_at_frame_derivatives`. A wrench that acts at a body's origin needs no conversion:
    use ``f_ext_axes="mixed"``.

    Examples
    --------
    >>> q = dtau.neutral(model)
    >>> f_ext = dtau.wrench_at_frame(model, q, "LF_FOOT", [0, 0, 80, 0, 0, 0], axes="mixed")
    >>> f_ext.shape
    (13, 6)
    >>> still = np.zeros(model.nv)
    >>> tau = dtau.inverse_dynamics(model, q, still, still, f_ext)  # f_ext_axes="body"
    """
    require("frame", frame, str)
    return _core.wrench_at_frame(model, q, frame, wrench, axes, out, threads)
