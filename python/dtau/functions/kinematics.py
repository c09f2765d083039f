"""Placements of bodies and frames, Jacobians of frames, wrenches at frames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.checks import require, tuple_of
from dtau.model.model import Model
from dtau.options import Axes
from dtau.results import Placements


def forward_kinematics(
    model: Model,
    q: ArrayLike,
    *,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> Placements:
    """Poses of all bodies in the world.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration.
    out, threads
        See `dtau.inverse_dynamics`; ``out`` takes the two arrays of the results.

    Returns
    -------
    Placements
        ``rotation`` (..., nbodies, 3, 3) and ``translation`` (..., nbodies, 3) in metres, in the
        order of ``model.bodies``.

    Raises
    ------
    ValueError, TypeError
        As `dtau.inverse_dynamics`.

    Examples
    --------
    >>> import dtau
    >>> model = dtau.robots.quadruped()
    >>> dtau.forward_kinematics(model, dtau.neutral(model)).translation.shape
    (13, 3)
    """
    return _core.forward_kinematics(model, q, out, threads)


def center_of_mass(
    model: Model,
    q: ArrayLike,
    *,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Centre of mass of all moving bodies, in the world.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration.
    out, threads
        See `dtau.inverse_dynamics`.

    Returns
    -------
    ndarray (..., 3)
        Position in metres, in the world's axes; NaN for a model without mass. What is fixed to the
        world does not count.

    Raises
    ------
    ValueError, TypeError
        As `dtau.inverse_dynamics`.

    Notes
    -----
    [RBDA] section 2.13; O(N).

    Examples
    --------
    >>> import dtau
    >>> model = dtau.robots.quadruped()
    >>> q = dtau.neutral(model)
    >>> q[:3] = 1.0, 2.0, 3.0  # where the trunk is
    >>> print(dtau.center_of_mass(model, q).round(2))
    [1.   2.   2.97]
    """
    return _core.center_of_mass(model, q, out, threads)


def frame_placements(
    model: Model,
    q: ArrayLike,
    frames: str | Sequence[str],
    *,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> Placements:
    """Poses of frames in the world.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration.
    frames : str or sequence of str
        Names from ``model.frames``: every link of the robot's file, also those that are fixed.
    out, threads
        See `dtau.inverse_dynamics`; ``out`` takes the two arrays of the results.

    Returns
    -------
    Placements
        ``rotation`` (..., nframes, 3, 3) and ``translation`` (..., nframes, 3) in metres; a single
        name drops the axis of the frames.

    Raises
    ------
    ValueError
        If a name is unknown, or as `dtau.inverse_dynamics`.
    TypeError
        As `dtau.inverse_dynamics`.

    Examples
    --------
    >>> import dtau
    >>> model = dtau.robots.quadruped()
    >>> dtau.frame_placements(model, dtau.neutral(model), "LF_FOOT").translation.shape
    (3,)
    """
    return _core.frame_placements(model, frame_list(model, frames), q, out, threads)


def frame_jacobians(
    model: Model,
    q: ArrayLike,
    frames: str | Sequence[str],
    axes: Axes = "body",
    *,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Jacobians of frames: the twist of a frame is ``J @ v``.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration.
    frames : str or sequence of str
        Names from ``model.frames``.
    axes : {"body", "world", "mixed"}
        ``"body"``: twist in the frame's own axes, at its origin. ``"mixed"``: in world axes, at the
        frame's origin. ``"world"``: in world axes, of the point of the body that is at the world's
        origin (the spatial twist).
    out, threads
        See `dtau.inverse_dynamics`.

    Returns
    -------
    ndarray (..., nframes, 6, nv)
        Rows [linear, angular]; a single name drops the axis of the frames. A frame of the world has
        zeros.

    Raises
    ------
    ValueError
        If a name or ``axes`` is unknown, or as `dtau.inverse_dynamics`.
    TypeError
        As `dtau.inverse_dynamics`.

    Examples
    --------
    The velocity of a foot in world axes:

    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, _ = dtau.random_state(model, np.random.default_rng(0))
    >>> twist = dtau.frame_jacobians(model, q, "LF_FOOT", axes="mixed") @ v
    >>> twist.shape
    (6,)
    """
    return _core.frame_jacobians(model, frame_list(model, frames), axes, q, out, threads)


def wrench_at_frame(
    model: Model,
    q: ArrayLike,
    frame: str,
    wrench: ArrayLike,
    axes: Axes = "body",
    *,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """External wrenches ``f_ext`` for one wrench that acts at a frame.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration.
    frame : str
        A name from ``model.frames``, of a frame that moves.
    wrench : array_like (..., 6)
        [force, moment] in N and N m.
    axes : {"body", "world", "mixed"}
        ``"body"``: in the frame's own axes, at its origin. ``"mixed"``: in world axes, at the
        frame's origin (a contact force on a foot). ``"world"``: in world axes, moment about the
        world's origin.
    out, threads
        See `dtau.inverse_dynamics`.

    Returns
    -------
    ndarray (..., nbodies, 6)
        For the argument ``f_ext`` of the dynamics; add several of them for several wrenches. Its
        torque is ``frame_jacobians(model, q, frame, axes).T @ wrench``.

    Raises
    ------
    ValueError
        If a name or ``axes`` is unknown, the frame is fixed to the world, or a shape does not fit.
    TypeError
        As `dtau.inverse_dynamics`.

    Notes
    -----
    Derivatives by q hold ``f_ext`` constant along body axes. A wrench that keeps to the world and
    acts at a body's origin is better given as it is, with ``f_ext_axes="mixed"``; for one that acts
    elsewhere, ``f_ext`` changes with q, as below.

    Examples
    --------
    >>> import dtau
    >>> model = dtau.robots.quadruped()
    >>> q = dtau.neutral(model)
    >>> f_ext = dtau.wrench_at_frame(model, q, "LF_FOOT", [0, 0, 80, 0, 0, 0], axes="mixed")
    >>> f_ext.shape
    (13, 6)

    The derivative of the torque under a foot's force that keeps to the world. As the foot turns,
    the force turns back:

    >>> import numpy as np
    >>> v = a = np.zeros(model.nv)
    >>> force = np.array([10.0, 0.0, 80.0, 0.0, 0.0, 0.0])
    >>> turns = dtau.frame_jacobians(model, q, "LF_FOOT", axes="mixed")[3:].T
    >>> back = -np.cross(turns[:, np.newaxis], force.reshape(2, 3)).reshape(-1, 6)
    >>> df_ext = dtau.wrench_at_frame(model, q, "LF_FOOT", back, axes="mixed")  # along each of q
    >>> f_ext = dtau.wrench_at_frame(model, q, "LF_FOOT", force, axes="mixed")
    >>> dtau_dq = dtau.inverse_dynamics_derivatives(model, q, v, a, f_ext).dtau_dq
    >>> by_wrenches = dtau.inverse_dynamics_wrench_derivatives(model, q)
    >>> dtau_dq += np.einsum("ibc,kbc->ik", by_wrenches, df_ext)
    """
    require("model", model, Model)
    require("frame", frame, str)
    if model.frame(frame).body < 0:
        raise ValueError(f"frame: '{frame}' is fixed to the world, expected one of a moving body")
    return _core.wrench_at_frame(model, frame_list(model, frame), axes, q, wrench, out, threads)


def frame_list(model: Model, names: str | Sequence[str]) -> _core.Frames:
    """Frames of a model as the core has them; a single name has no axis in the results."""
    require("model", model, Model)
    single = isinstance(names, str)
    names = [names] if isinstance(names, str) else tuple_of("frames", names, str, "names")
    frames = [model.frame(name) for name in names]
    return _core.Frames(
        model,
        np.array([frame.body for frame in frames], dtype=np.int32),
        np.array([frame.placement.rotation for frame in frames]).reshape(-1, 3, 3),
        np.array([frame.placement.translation for frame in frames]).reshape(-1, 3),
        single,
    )
