"""Named tuples: the results of functions of states, frames and the center of mass."""

from __future__ import annotations

from typing import NamedTuple

from dtau.support.arrays import Array


class IntegrateJacobians(NamedTuple):
    """Jacobians of ``q (+) dq`` by ``q`` and by ``dq``, ``(..., nv, nv)``, in tangent spaces."""

    by_q: Array
    by_dq: Array


class DifferenceJacobians(NamedTuple):
    """Jacobians of the displacement from ``q0`` to ``q1`` by each of them, ``(..., nv, nv)``."""

    by_q0: Array
    by_q1: Array


class TangentMap(NamedTuple):
    """dq/dt = ``from_tangent`` v, ``(..., nq, nv)``, and back: v = ``to_tangent`` dq/dt."""

    from_tangent: Array
    to_tangent: Array


class Placements(NamedTuple):
    """Poses in the world: a point ``x`` of the frame is at ``rotation @ x + translation``."""

    rotation: Array
    translation: Array


class FrameErrors(NamedTuple):
    """Errors of frames from their targets, ``(..., nframes, 6)``, and their Jacobians by q."""

    error: Array
    J: Array


class FrameVelocitiesDerivatives(NamedTuple):
    """First derivatives of the twists of frames, ``(..., nframes, 6, nv)``; columns by variable."""

    dtwist_dq: Array
    dtwist_dv: Array


class FrameAccelerationsDerivatives(NamedTuple):
    """Derivatives of frames' accelerations, ``(..., nframes, 6, nv)``; columns by variable."""

    dacceleration_dq: Array
    dacceleration_dv: Array
    dacceleration_da: Array


class Subtrees(NamedTuple):
    """Masses ``(nbodies,)`` and centers of mass ``(..., nbodies, 3)`` of bodies and their loads."""

    mass: Array
    center: Array


class CenterOfMassVelocityDerivatives(NamedTuple):
    """First derivatives of the velocity of the center of mass, ``(..., 3, nv)``."""

    dvelocity_dq: Array
    dvelocity_dv: Array


class CenterOfMassAccelerationDerivatives(NamedTuple):
    """First derivatives of the acceleration of the center of mass, ``(..., 3, nv)``."""

    dacceleration_dq: Array
    dacceleration_dv: Array
    dacceleration_da: Array


class CentroidalMomentumDerivatives(NamedTuple):
    """First derivatives of the momentum about the center of mass, ``(..., 6, nv)``."""

    dh_dq: Array
    dh_dv: Array


class CentroidalMomentumRateDerivatives(NamedTuple):
    """First derivatives of the rate of the momentum about the center of mass, ``(..., 6, nv)``."""

    drate_dq: Array
    drate_dv: Array
    drate_da: Array


class KineticEnergyDerivatives(NamedTuple):
    """First derivatives of the kinetic energy, ``(..., nv)``."""

    dT_dq: Array
    dT_dv: Array


class KinematicsTimeDerivatives(NamedTuple):
    """Poses of bodies or frames in the world, their twists, and the time derivatives of both.

    ``rotation (..., r + 1, n, 3, 3)`` and ``translation (..., r + 1, n, 3)`` are the derivatives of
    order 0 ... r of the fields of `Placements`. ``twist (..., r, n, 6)`` are the derivatives of
    order 0 ... r - 1 of the components of [linear, angular], in the axes of the function.
    """

    rotation: Array
    translation: Array
    twist: Array


class State(NamedTuple):
    """A configuration ``(..., nq)``, a velocity and an acceleration, both ``(..., nv)``."""

    q: Array
    v: Array
    a: Array


class PartialState(NamedTuple):
    """A configuration, and a velocity if one was given; no acceleration."""

    q: Array
    v: Array | None
    a: None = None
