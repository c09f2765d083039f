"""Placements of bodies and frames, Jacobians of frames, wrenches at frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.model import Model
from dtau.results import Placements

Axes = Literal["body", "world", "mixed"]
_AXES = {"body": _core.Axes.body, "world": _core.Axes.world, "mixed": _core.Axes.mixed}


def forward_kinematics(model: Model, q: ArrayLike) -> Placements:
    """Poses of all bodies in the world.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration.

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
    return Placements(*_core.forward_kinematics(model._tree, q))


def frame_placements(model: Model, q: ArrayLike, frames: str | Sequence[str]) -> Placements:
    """Poses of frames in the world.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration.
    frames : str or sequence of str
        Names from ``model.frames``: every link of the robot's file, also those that are fixed.

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
    rotation, translation = _core.frame_placements(model._tree, *_frame_arrays(model, frames), q)
    if isinstance(frames, str):
        return Placements(rotation[..., 0, :, :], translation[..., 0, :])
    return Placements(rotation, translation)


def frame_jacobians(
    model: Model, q: ArrayLike, frames: str | Sequence[str], axes: Axes = "body"
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
    code = _axes_code(axes)
    jacobians = _core.frame_jacobians(model._tree, *_frame_arrays(model, frames), code, q)
    return jacobians[..., 0, :, :] if isinstance(frames, str) else jacobians


def wrench_at_frame(
    model: Model, q: ArrayLike, frame: str, wrench: ArrayLike, axes: Axes = "body"
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
    Derivatives hold the components of ``f_ext`` in body axes constant: a force that stays constant
    in the world has a further term in the derivative by q.

    Examples
    --------
    >>> import dtau
    >>> model = dtau.robots.quadruped()
    >>> q = dtau.neutral(model)
    >>> f_ext = dtau.wrench_at_frame(model, q, "LF_FOOT", [0, 0, 80, 0, 0, 0], axes="mixed")
    >>> f_ext.shape
    (13, 6)
    """
    _axes_code(axes)
    fixed = model.frame(frame)
    if fixed.body < 0:
        raise ValueError(f"frame: '{frame}' is fixed to the world, expected one of a moving body")
    given = _real_array(wrench, "wrench")
    if given.shape[-1:] != (6,):
        raise ValueError(f"wrench has shape {given.shape}, expected (..., 6)")
    placement = frame_placements(model, q, frame)
    force, moment = given[..., :3], given[..., 3:]
    if axes == "world":
        moment = moment - np.cross(placement.translation, force)
    if axes != "body":  # to the frame's axes
        force = np.einsum("...ji,...j->...i", placement.rotation, force)
        moment = np.einsum("...ji,...j->...i", placement.rotation, moment)
    force = force @ fixed.placement.rotation.T
    moment = moment @ fixed.placement.rotation.T + np.cross(fixed.placement.translation, force)

    batch = np.broadcast_shapes(placement.translation.shape[:-1], force.shape[:-1])
    f_ext = np.zeros((*batch, model.nbodies, 6))
    f_ext[..., fixed.body, :3] = force
    f_ext[..., fixed.body, 3:] = moment
    return f_ext


def _axes_code(axes: str) -> _core.Axes:
    try:
        return _AXES[axes]
    except (KeyError, TypeError):
        raise ValueError(f"axes: expected 'body', 'world' or 'mixed', got {axes!r}") from None


def _real_array(given: ArrayLike, name: str) -> NDArray[np.float64]:
    array = np.asarray(given)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name}: expected real numbers, got dtype {array.dtype}")
    return array.astype(np.float64, copy=False)


def _frame_arrays(
    model: Model, names: str | Sequence[str]
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
    """Bodies, rotations and translations of frames as the core takes them."""
    frames = [model.frame(name) for name in ([names] if isinstance(names, str) else names)]
    return (
        np.array([frame.body for frame in frames], dtype=np.int32),
        np.array([frame.placement.rotation for frame in frames]).reshape(-1, 3, 3),
        np.array([frame.placement.translation for frame in frames]).reshape(-1, 3),
    )
