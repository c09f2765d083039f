"""First derivatives of the velocities and accelerations of frames, and of wrenches at them.

Derivatives by the configuration are taken in the tangent space: column k is the derivative along
q (+) eps e_k (`dtau.integrate`), at fixed v and a.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dtau.docstrings import documented
from dtau.functions.frames import frame_jacobians, wrench_at_frame
from dtau.model.model import Model
from dtau.results import FrameAccelerationsDerivatives, FrameVelocitiesDerivatives
from dtau.support.arrays import Array
from dtau.support.checks import require_memory
from dtau.support.direct import direct
from dtau.support.options import AccelerationKind, Axes, Coordinates, Layout


@direct
def frame_jacobians_derivatives(
    model: Model,
    q: ArrayLike,
    frames: str | Sequence[str],
    axes: Axes = "body",
    *,
    symmetric: bool = False,
    coordinates: Coordinates = "tangent",
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Derivatives of the Jacobians of frames by configuration: their kinematic Hessians.

        dJ_dq[:, k, j] = derivative of column k of J along q (+) eps e_j

    Parameters
    ----------
    axes
        ... The components along these axes are differentiated; for ``"body"`` the axes turn with
        the frame.
    symmetric
        Give the second derivatives of the frame's pose in the exponential chart, which are
        symmetric in k and j: half of ``dJ_dq[:, k, j] + dJ_dq[:, j, k]``. By default repeated
        derivatives, which do not commute where rotations do not.

    Returns
    -------
    dJ_dq : ndarray (..., nframes, 6, nv, nv)
        Rows [linear, angular]. A frame of the world has zeros.

    Notes
    -----
    [Derivations] section 19: cross products of the columns of the Jacobian; O(d^2) for a frame at
    depth d, plus writing the zeros.

    Examples
    --------
    ``dJ/dt v`` is the part of a foot's acceleration that the velocity alone causes:

    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> J = dtau.frame_jacobians(model, q, "LF_FOOT", "mixed")
    >>> dJ = dtau.frame_jacobians_derivatives(model, q, "LF_FOOT", "mixed")
    >>> foot = dtau.frame_accelerations(model, q, v, a, "LF_FOOT", "mixed", kind="classical")
    >>> bool(np.allclose(J @ a + dJ @ v @ v, foot))
    True
    """


@direct
def frame_velocities_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frames: str | Sequence[str],
    axes: Axes = "body",
    *,
    layout: Layout = "dense",
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> FrameVelocitiesDerivatives:
    """Derivatives of the twists of frames by configuration and velocity.

        by q and by v of J v    by v it is J

    Parameters
    ----------
    axes
        ... The components along these axes are differentiated; for ``"body"`` the axes turn with
        the frame.

    Returns
    -------
    FrameVelocitiesDerivatives
        A frame of the world has zeros.

    Notes
    -----
    [Derivations] section 19, with the rates of [IDSVA] eq. 31; O(d) for all columns of a frame at
    depth d. In mixed axes the reference point is the moving origin of the frame, as in
    `dtau.frame_velocities`; Pinocchio's derivatives for LOCAL_WORLD_ALIGNED hold the point fixed.

    Examples
    --------
    The chain rule gives the acceleration:

    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> d = dtau.frame_velocities_derivatives(model, q, v, "LF_FOOT", "mixed")
    >>> rate = d.dtwist_dq @ v + d.dtwist_dv @ a  # of the twist's components
    >>> foot = dtau.frame_accelerations(model, q, v, a, "LF_FOOT", "mixed", kind="classical")
    >>> bool(np.allclose(rate, foot))
    True
    """


@direct
def frame_accelerations_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    frames: str | Sequence[str],
    axes: Axes = "body",
    *,
    kind: AccelerationKind = "spatial",
    layout: Layout = "dense",
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> FrameAccelerationsDerivatives:
    """Derivatives of the accelerations of frames by configuration, velocity and acceleration.

        by q, by v and by a of (J a + dJ/dt v)    by a it is J

    Parameters
    ----------
    axes
        ... The components along these axes are differentiated; for ``"body"`` the axes turn with
        the frame.

    Returns
    -------
    FrameAccelerationsDerivatives
        A frame of the world has zeros.

    Notes
    -----
    [Derivations] section 19, with the rates of [IDSVA] eq. 31; O(d) for all columns of a frame at
    depth d. In mixed axes the reference point is the moving origin of the frame, as in
    `dtau.frame_velocities`; Pinocchio's derivatives for LOCAL_WORLD_ALIGNED hold the point fixed.
    Along world axes, Pinocchio's have an additional term for joints of several degrees of freedom.
    docs/coming_from.md explains both.

    Examples
    --------
    >>> d = dtau.frame_accelerations_derivatives(model, q, v, a, ["LF_FOOT", "RH_FOOT"])
    >>> d.dacceleration_dq.shape
    (2, 6, 18)
    >>> J = dtau.frame_jacobians(model, q, ["LF_FOOT", "RH_FOOT"])
    >>> bool(np.allclose(d.dacceleration_da, J))
    True
    """


@documented
def wrench_at_frame_derivatives(
    model: Model,
    q: ArrayLike,
    frame: str,
    wrench: ArrayLike,
    axes: Axes = "body",
    *,
    threads: int | None = None,
) -> Array:
    """Derivatives of the wrenches of `dtau.wrench_at_frame` by the configuration.

        f_b(q (+) dq) = f_b(q) + df_b dq    with the wrench constant along ``axes``

    The derivatives of the dynamics by q hold ``f_ext`` constant. If a force acts at a frame (a
    foot, a gripper) and is constant in the world, its wrenches on the bodies change with q. These
    derivatives are the missing part.

    Parameters
    ----------
    axes
        Axes along which the six numbers of the wrench are constant. ``"body"``: in the frame's own
        axes, at its origin. ``"mixed"``: in world axes, at the frame's origin (a contact force on a
        foot). ``"world"``: in world axes, moment about the world's origin. For ``"body"`` the
        wrench turns with the frame, and the derivatives are zero.

    Returns
    -------
    df_ext : ndarray (..., nbodies, 6, nv)
        Entry [b, c, k] is the derivative of component c of the wrench on body b along q (+) eps
        e_k; the components are [force, moment] in the **body's axes** at its origin. For several
        wrenches add the results.

    Notes
    -----
    In the axes of a body that moves by the twist t, a wrench f that is constant in the world
    changes by -t x* f, the reverse of [Derivations] eq. 1.4; O(d) for a frame at depth d. For
    ``"mixed"`` the wrench moves with the frame's origin, and t is the motion of the body about that
    point.

    Examples
    --------
    The derivative of the torque under a ground force on a foot that is constant in the world:

    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> force = [10.0, 0.0, 80.0, 0.0, 0.0, 0.0]
    >>> f_ext = dtau.wrench_at_frame(model, q, "LF_FOOT", force, axes="mixed")
    >>> df_ext = dtau.wrench_at_frame_derivatives(model, q, "LF_FOOT", force, axes="mixed")
    >>> by_wrenches = dtau.inverse_dynamics_wrench_derivatives(model, q)
    >>> dtau_dq = dtau.inverse_dynamics_derivatives(model, q, v, a, f_ext).dtau_dq
    >>> dtau_dq += np.einsum("...ibc,...bck->...ik", by_wrenches, df_ext)

    The same by central differences:

    >>> def torque(xi):
    ...     moved = dtau.integrate(model, q, xi)
    ...     f_ext = dtau.wrench_at_frame(model, moved, "LF_FOOT", force, axes="mixed")
    ...     return dtau.inverse_dynamics(model, moved, v, a, f_ext)
    >>> step = 1e-6 * np.eye(model.nv)
    >>> slopes = (torque(step) - torque(-step)).T / 2e-6
    >>> bool(np.allclose(dtau_dq, slopes, atol=1e-6))
    True

    The same for forward dynamics, and for the lower left block of a linearization's ``A``:

    >>> tau = dtau.inverse_dynamics(model, q, v, a, f_ext)
    >>> by_wrenches = dtau.forward_dynamics_wrench_derivatives(model, q)
    >>> da_dq = dtau.forward_dynamics_derivatives(model, q, v, tau, f_ext).da_dq
    >>> da_dq += np.einsum("...ibc,...bck->...ik", by_wrenches, df_ext)
    >>> A = dtau.linearize(model, q, v, tau, f_ext).A
    >>> A[..., model.nv :, : model.nv] += np.einsum("...ibc,...bck->...ik", by_wrenches, df_ext)
    """
    f_ext = wrench_at_frame(model, q, frame, wrench, axes, threads=threads)
    # Memory for the result, the body's Jacobian and four temporaries of its size.
    numbers = float(math.prod(f_ext.shape[:-2])) * (model.nbodies + 5) * 6 * model.nv
    require_memory("wrench_at_frame_derivatives", numbers)
    out = np.repeat(0.0 * f_ext[..., np.newaxis], model.nv, axis=-1)  # NaN stays NaN
    if axes == "body":
        return out
    at = model.frame(frame)
    jacobian = frame_jacobians(model, q, model.bodies[at.body], threads=threads)
    linear, angular = jacobian[..., :3, :], jacobian[..., 3:, :]
    if axes == "mixed":  # the point moves with the frame: only rotations about it count
        linear = np.cross(at.placement.translation[:, np.newaxis], angular, axis=-2)
    force, moment = f_ext[..., at.body, :3, np.newaxis], f_ext[..., at.body, 3:, np.newaxis]
    out[..., at.body, :3, :] = -np.cross(angular, force, axis=-2)
    out[..., at.body, 3:, :] = -(
        np.cross(angular, moment, axis=-2) + np.cross(linear, force, axis=-2)
    )
    return out
