"""First derivatives of the velocities and accelerations of frames.

Derivatives by the configuration are taken in the tangent space: column k is the derivative along
q (+) eps e_k (`dtau.integrate`), at fixed v and a.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.model.model import Model
from dtau.options import AccelerationKind, Axes
from dtau.results import FrameAccelerationsDerivatives, FrameVelocitiesDerivatives


def frame_velocities_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frames: str | Sequence[str],
    axes: Axes = "body",
    *,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> FrameVelocitiesDerivatives:
    """Derivatives of the twists of frames by configuration and velocity.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity.
    frames : str or sequence of str
        Names from ``model.frames``.
    axes : {"body", "world", "mixed"}
        As in `dtau.frame_velocities`: the derivatives are those of the components along these axes,
        which for ``"body"`` turn with the frame.
    out, threads
        See `dtau.inverse_dynamics`; ``out`` takes the two arrays of the results.

    Returns
    -------
    FrameVelocitiesDerivatives
        ``dtwist_dq``, ``dtwist_dv``, each ``(..., nframes, 6, nv)``: row [linear, angular], column
        k the derivative along q (+) eps e_k or by v[k]. ``dtwist_dv`` is the Jacobian. A single
        name drops the axis of the frames. A frame of the world has zeros.

    Raises
    ------
    ValueError, TypeError
        As `dtau.frame_velocities`.

    Notes
    -----
    [Notes] section 19, with the rates of [IDSVA] eq. 31; O(d) for all columns of a frame at depth
    d. In mixed axes the frame's origin is followed, as `dtau.frame_velocities` does; Pinocchio's
    derivatives for LOCAL_WORLD_ALIGNED look from a point that stays where it is.

    Examples
    --------
    A frame's position and twist, one step of the derivatives ahead:

    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> d = dtau.frame_velocities_derivatives(model, q, v, "LF_FOOT", "mixed")
    >>> rate = d.dtwist_dq @ v + d.dtwist_dv @ a  # of the twist's components
    >>> foot = dtau.frame_accelerations(model, q, v, a, "LF_FOOT", "mixed", kind="classical")
    >>> bool(np.allclose(rate, foot))
    True
    """
    return _core.frame_velocities_derivatives(model, frames, axes, q, v, out, threads)


def frame_accelerations_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    frames: str | Sequence[str],
    axes: Axes = "body",
    *,
    kind: AccelerationKind = "spatial",
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> FrameAccelerationsDerivatives:
    """Derivatives of the accelerations of frames by configuration, velocity and acceleration.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v, a : array_like (..., nv)
        Velocity, and its time derivative component by component.
    frames : str or sequence of str
        Names from ``model.frames``.
    axes : {"body", "world", "mixed"}
        As in `dtau.frame_velocities`: the derivatives are those of the components along these axes,
        which for ``"body"`` turn with the frame.
    kind : {"spatial", "classical"}
        As in `dtau.frame_accelerations`.
    out, threads
        See `dtau.inverse_dynamics`; ``out`` takes the three arrays of the results.

    Returns
    -------
    FrameAccelerationsDerivatives
        ``dacceleration_dq``, ``dacceleration_dv``, ``dacceleration_da``, each
        ``(..., nframes, 6, nv)``: row [linear, angular], column k the derivative along
        q (+) eps e_k, by v[k] or by a[k]. ``dacceleration_da`` is the Jacobian. A single name drops
        the axis of the frames. A frame of the world has zeros.

    Raises
    ------
    ValueError, TypeError
        As `dtau.frame_accelerations`.

    Notes
    -----
    [Notes] section 19, with the rates of [IDSVA] eq. 31; O(d) for all columns of a frame at depth
    d. In mixed axes the frame's origin is followed, as `dtau.frame_velocities` does; Pinocchio's
    derivatives for LOCAL_WORLD_ALIGNED look from a point that stays where it is.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> d = dtau.frame_accelerations_derivatives(model, q, v, a, ["LF_FOOT", "RH_FOOT"])
    >>> d.dacceleration_dq.shape
    (2, 6, 18)
    >>> J = dtau.frame_jacobians(model, q, ["LF_FOOT", "RH_FOOT"])
    >>> bool(np.allclose(d.dacceleration_da, J))
    True
    """
    return _core.frame_accelerations_derivatives(model, frames, axes, kind, q, v, a, out, threads)
