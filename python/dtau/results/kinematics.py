"""Named tuples: the results of functions of states, frames and the center of mass."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class IntegrateJacobians(NamedTuple):
    """Jacobians of ``q (+) dq`` by ``q`` and by ``dq``, ``(..., nv, nv)``, in tangent spaces."""

    by_q: NDArray[np.float64]
    by_dq: NDArray[np.float64]


class DifferenceJacobians(NamedTuple):
    """Jacobians of the displacement from ``q0`` to ``q1`` by each of them, ``(..., nv, nv)``."""

    by_q0: NDArray[np.float64]
    by_q1: NDArray[np.float64]


class TangentMap(NamedTuple):
    """dq/dt = ``from_tangent`` v, ``(..., nq, nv)``, and back: v = ``to_tangent`` dq/dt."""

    from_tangent: NDArray[np.float64]
    to_tangent: NDArray[np.float64]


class Placements(NamedTuple):
    """Poses in the world: a point ``x`` of the frame is at ``rotation @ x + translation``."""

    rotation: NDArray[np.float64]
    translation: NDArray[np.float64]


class FrameErrors(NamedTuple):
    """Errors of frames from their targets, ``(..., nframes, 6)``, and their Jacobians by q."""

    error: NDArray[np.float64]
    J: NDArray[np.float64]


class FrameVelocitiesDerivatives(NamedTuple):
    """First derivatives of the twists of frames, ``(..., nframes, 6, nv)``; columns by variable."""

    dtwist_dq: NDArray[np.float64]
    dtwist_dv: NDArray[np.float64]


class FrameAccelerationsDerivatives(NamedTuple):
    """Derivatives of frames' accelerations, ``(..., nframes, 6, nv)``; columns by variable."""

    dacceleration_dq: NDArray[np.float64]
    dacceleration_dv: NDArray[np.float64]
    dacceleration_da: NDArray[np.float64]


class Subtrees(NamedTuple):
    """Masses ``(nbodies,)`` and centers of mass ``(..., nbodies, 3)`` of bodies and their loads."""

    mass: NDArray[np.float64]
    center: NDArray[np.float64]


class CenterOfMassVelocityDerivatives(NamedTuple):
    """First derivatives of the velocity of the center of mass, ``(..., 3, nv)``."""

    dvelocity_dq: NDArray[np.float64]
    dvelocity_dv: NDArray[np.float64]


class CenterOfMassAccelerationDerivatives(NamedTuple):
    """First derivatives of the acceleration of the center of mass, ``(..., 3, nv)``."""

    dacceleration_dq: NDArray[np.float64]
    dacceleration_dv: NDArray[np.float64]
    dacceleration_da: NDArray[np.float64]


class CentroidalMomentumDerivatives(NamedTuple):
    """First derivatives of the momentum about the center of mass, ``(..., 6, nv)``."""

    dh_dq: NDArray[np.float64]
    dh_dv: NDArray[np.float64]


class CentroidalMomentumRateDerivatives(NamedTuple):
    """First derivatives of the rate of the momentum about the center of mass, ``(..., 6, nv)``."""

    drate_dq: NDArray[np.float64]
    drate_dv: NDArray[np.float64]
    drate_da: NDArray[np.float64]


class KineticEnergyDerivatives(NamedTuple):
    """First derivatives of the kinetic energy, ``(..., nv)``."""

    dT_dq: NDArray[np.float64]
    dT_dv: NDArray[np.float64]


class KinematicsTimeDerivatives(NamedTuple):
    """Poses of bodies or frames in the world, their twists, and the time derivatives of both.

    ``rotation (..., r + 1, n, 3, 3)`` and ``translation (..., r + 1, n, 3)`` are the derivatives of
    order 0 ... r of the fields of `Placements`. ``twist (..., r, n, 6)`` are the derivatives of
    order 0 ... r - 1 of the components of [linear, angular], in the axes of the function.
    """

    rotation: NDArray[np.float64]
    translation: NDArray[np.float64]
    twist: NDArray[np.float64]


class State(NamedTuple):
    """A configuration ``(..., nq)``, a velocity and an acceleration, both ``(..., nv)``."""

    q: NDArray[np.float64]
    v: NDArray[np.float64]
    a: NDArray[np.float64]


class PartialState(NamedTuple):
    """A configuration, and a velocity if one was given; no acceleration."""

    q: NDArray[np.float64]
    v: NDArray[np.float64] | None
    a: None = None
