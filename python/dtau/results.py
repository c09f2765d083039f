"""Named tuples: the results of functions with several results."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class InverseDynamicsDerivatives(NamedTuple):
    """First derivatives of the joint torque, ``(..., nv, nv)``; columns by the variable."""

    dtau_dq: NDArray[np.float64]
    dtau_dv: NDArray[np.float64]
    dtau_da: NDArray[np.float64]


class ForwardDynamicsDerivatives(NamedTuple):
    """First derivatives of the joint acceleration, ``(..., nv, nv)``; columns by the variable."""

    da_dq: NDArray[np.float64]
    da_dv: NDArray[np.float64]
    da_dtau: NDArray[np.float64]


class InverseDynamicsTimeDerivativesDerivatives(NamedTuple):
    """First derivatives of the joint torque and of its time derivatives; columns by the variable.

    ``dtau_dq (..., r + 1, nv, nv)`` is by the configuration,
    ``dtau_dv_derivatives (..., r + 1, r + 2, nv, nv)`` by the velocity and its time derivatives.
    """

    dtau_dq: NDArray[np.float64]
    dtau_dv_derivatives: NDArray[np.float64]


class ForwardDynamicsTimeDerivativesDerivatives(NamedTuple):
    """First derivatives of the joint acceleration and of its time derivatives.

    Columns by the variable. ``da_dq`` and ``da_dv``, each ``(..., r + 1, nv, nv)``, are by the
    configuration and the velocity, ``da_dtau_derivatives (..., r + 1, r + 1, nv, nv)`` by the
    torque and its time derivatives.
    """

    da_dq: NDArray[np.float64]
    da_dv: NDArray[np.float64]
    da_dtau_derivatives: NDArray[np.float64]


class ConstrainedDynamics(NamedTuple):
    """Acceleration ``(..., nv)``, constraint forces and residuals, each ``(..., nrows)``."""

    a: NDArray[np.float64]
    forces: NDArray[np.float64]
    residual: NDArray[np.float64]


class ConstrainedDynamicsDerivatives(NamedTuple):
    """First derivatives of accelerations ``(..., nv, nv)`` and forces ``(..., nrows, nv)``.

    ``residual (..., nrows)`` is the residual of `ConstrainedDynamics`.
    """

    da_dq: NDArray[np.float64]
    da_dv: NDArray[np.float64]
    da_dtau: NDArray[np.float64]
    dforces_dq: NDArray[np.float64]
    dforces_dv: NDArray[np.float64]
    dforces_dtau: NDArray[np.float64]
    residual: NDArray[np.float64]


class ConstrainedDynamicsWithDerivatives(NamedTuple):
    """`ConstrainedDynamicsDerivatives`, with the acceleration and the forces of the same call.

    The values come last: the acceleration ``a (..., nv)`` and ``forces (..., nrows)``.
    """

    da_dq: NDArray[np.float64]
    da_dv: NDArray[np.float64]
    da_dtau: NDArray[np.float64]
    dforces_dq: NDArray[np.float64]
    dforces_dv: NDArray[np.float64]
    dforces_dtau: NDArray[np.float64]
    residual: NDArray[np.float64]
    a: NDArray[np.float64]
    forces: NDArray[np.float64]


class ConstrainedDynamicsJVP(NamedTuple):
    """Variations of accelerations ``(..., nv)`` and forces ``(..., nrows)``."""

    da: NDArray[np.float64]
    dforces: NDArray[np.float64]


class ConstrainedDynamicsVJP(NamedTuple):
    """Weights of accelerations and forces times their first derivatives, each ``(..., nv)``.

    ``by_f_ext (..., nbodies, 6)`` is by the external wrenches, None where none are given.
    """

    by_q: NDArray[np.float64]
    by_v: NDArray[np.float64]
    by_tau: NDArray[np.float64]
    by_f_ext: NDArray[np.float64] | None


class ConstrainedDynamicsHessian(NamedTuple):
    """Second derivatives of a weighted sum of accelerations and forces, each ``(..., nv, nv)``.

    Rows by the variable named first, columns by the second.
    """

    dqdq: NDArray[np.float64]
    dqdv: NDArray[np.float64]
    dvdv: NDArray[np.float64]
    dtaudq: NDArray[np.float64]


class ConstrainedInverseDynamics(NamedTuple):
    """Torque ``(..., nv)`` and constraint forces ``(..., nrows)``."""

    tau: NDArray[np.float64]
    forces: NDArray[np.float64]


class Projected(NamedTuple):
    """Configurations ``(..., nq)`` in which contacts hold, and remaining errors ``(...)``."""

    q: NDArray[np.float64]
    error: NDArray[np.float64]


class ImpulseDynamics(NamedTuple):
    """Velocity after an impact ``(..., nv)``, and the impulses of contacts ``(..., nrows)``."""

    v: NDArray[np.float64]
    impulses: NDArray[np.float64]


class ImpulseDynamicsDerivatives(NamedTuple):
    """First derivatives of velocities ``(..., nv, nv)`` and impulses ``(..., nrows, nv)``."""

    dv_dq: NDArray[np.float64]
    dv_dv: NDArray[np.float64]
    dimpulses_dq: NDArray[np.float64]
    dimpulses_dv: NDArray[np.float64]


class ImpulseDynamicsHessian(NamedTuple):
    """Second derivatives of weighted velocities after an impact and impulses, ``(..., nv, nv)``.

    Rows by the variable named first, columns by the second. The block by v twice is zero.
    """

    dqdq: NDArray[np.float64]
    dqdv: NDArray[np.float64]


class InverseDynamicsVJP(NamedTuple):
    """Weights of the joint torque times its first derivatives, each ``(..., nv)``.

    ``by_f_ext (..., nbodies, 6)`` is by the external wrenches, None where none are given.
    """

    by_q: NDArray[np.float64]
    by_v: NDArray[np.float64]
    by_a: NDArray[np.float64]
    by_f_ext: NDArray[np.float64] | None


class InverseDynamicsTimeDerivativesVJP(NamedTuple):
    """Gradients of a weighted sum of the torque's time derivatives.

    ``by_q (..., nv)``; ``by_v_derivatives (..., r + 2, nv)`` by the velocity and its time
    derivatives; ``by_f_ext_derivatives (..., r + 1, nbodies, 6)`` by the external wrenches, None
    where none are given.
    """

    by_q: NDArray[np.float64]
    by_v_derivatives: NDArray[np.float64]
    by_f_ext_derivatives: NDArray[np.float64] | None


class ForwardDynamicsTimeDerivativesVJP(NamedTuple):
    """Gradients of a weighted sum of the acceleration's time derivatives.

    ``by_q`` and ``by_v``, each ``(..., nv)``; ``by_tau_derivatives (..., r + 1, nv)`` by the torque
    and its time derivatives; ``by_f_ext_derivatives (..., r + 1, nbodies, 6)`` by the external
    wrenches, None where none are given.
    """

    by_q: NDArray[np.float64]
    by_v: NDArray[np.float64]
    by_tau_derivatives: NDArray[np.float64]
    by_f_ext_derivatives: NDArray[np.float64] | None


class ForwardDynamicsVJP(NamedTuple):
    """Weights of the joint acceleration times its first derivatives, each ``(..., nv)``.

    ``by_f_ext (..., nbodies, 6)`` is by the external wrenches, None where none are given.
    """

    by_q: NDArray[np.float64]
    by_v: NDArray[np.float64]
    by_tau: NDArray[np.float64]
    by_f_ext: NDArray[np.float64] | None


class InverseDynamicsSecondDerivatives(NamedTuple):
    """Second derivatives of the joint torque, ``(..., nv, nv, nv)`` or packed.

    Entry [i, j, k]: of torque i, by the variable named first along j, then by the second along k.
    """

    d2tau_dqdq: NDArray[np.float64]
    d2tau_dqdv: NDArray[np.float64]
    d2tau_dvdv: NDArray[np.float64]
    d2tau_dadq: NDArray[np.float64]


class ForwardDynamicsSecondDerivatives(NamedTuple):
    """Second derivatives of the joint acceleration, ``(..., nv, nv, nv)``.

    Entry [i, j, k]: of acceleration i, by the variable named first along j, then by the second
    along k.
    """

    d2a_dqdq: NDArray[np.float64]
    d2a_dqdv: NDArray[np.float64]
    d2a_dvdv: NDArray[np.float64]
    d2a_dtaudq: NDArray[np.float64]


class InverseDynamicsHessian(NamedTuple):
    """Second derivatives of a weighted sum of torques, each ``(..., nv, nv)``.

    Rows by the variable named first, columns by the second.
    """

    dqdq: NDArray[np.float64]
    dqdv: NDArray[np.float64]
    dvdv: NDArray[np.float64]
    dadq: NDArray[np.float64]


class ForwardDynamicsHessian(NamedTuple):
    """Second derivatives of a weighted sum of accelerations, each ``(..., nv, nv)``.

    Rows by the variable named first, columns by the second.
    """

    dqdq: NDArray[np.float64]
    dqdv: NDArray[np.float64]
    dvdv: NDArray[np.float64]
    dtaudq: NDArray[np.float64]


class Linearization(NamedTuple):
    """dz/dt = A z + B u, ``A (..., 2 nv, 2 nv)``, ``B (..., 2 nv, nu)``, and the acceleration."""

    A: NDArray[np.float64]
    B: NDArray[np.float64]
    a: NDArray[np.float64]


class DiscreteLinearization(NamedTuple):
    """z+ = A z + B u over a step, and the state after it, ``q (..., nq)`` and ``v (..., nv)``."""

    A: NDArray[np.float64]
    B: NDArray[np.float64]
    q: NDArray[np.float64]
    v: NDArray[np.float64]


class ConstrainedLinearization(NamedTuple):
    """`Linearization` with contacts, and the residual of their rows ``(..., nrows)``."""

    A: NDArray[np.float64]
    B: NDArray[np.float64]
    a: NDArray[np.float64]
    residual: NDArray[np.float64]


class ConstrainedDiscreteLinearization(NamedTuple):
    """`DiscreteLinearization` with contacts, and the residual of their rows ``(..., nrows)``.

    ``residual`` belongs to the state before the step.
    """

    A: NDArray[np.float64]
    B: NDArray[np.float64]
    q: NDArray[np.float64]
    v: NDArray[np.float64]
    residual: NDArray[np.float64]


class DiscreteLinearizationWithForces(NamedTuple):
    """`ConstrainedDiscreteLinearization`, with the contact forces and their derivatives.

    The forces belong to the state before the step: ``forces (..., nrows)``, their derivatives
    ``dforces_dz (..., nrows, 2 nv)`` and ``dforces_du (..., nrows, nu)``.
    """

    A: NDArray[np.float64]
    B: NDArray[np.float64]
    q: NDArray[np.float64]
    v: NDArray[np.float64]
    residual: NDArray[np.float64]
    forces: NDArray[np.float64]
    dforces_dz: NDArray[np.float64]
    dforces_du: NDArray[np.float64]


class NextState(NamedTuple):
    """The state after a step: ``q (..., nq)`` and ``v (..., nv)``."""

    q: NDArray[np.float64]
    v: NDArray[np.float64]


class StepVJP(NamedTuple):
    """Weights of the state after a step times the step's derivatives, each ``(..., nv)``.

    ``by_f_ext (..., nbodies, 6)`` is by the external wrenches, None where none are given.
    """

    by_q: NDArray[np.float64]
    by_v: NDArray[np.float64]
    by_tau: NDArray[np.float64]
    by_f_ext: NDArray[np.float64] | None


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


class FrameVelocitiesDerivatives(NamedTuple):
    """First derivatives of the twists of frames, ``(..., nframes, 6, nv)``; columns by variable."""

    dtwist_dq: NDArray[np.float64]
    dtwist_dv: NDArray[np.float64]


class FrameAccelerationsDerivatives(NamedTuple):
    """Derivatives of frames' accelerations, ``(..., nframes, 6, nv)``; columns by variable."""

    dacceleration_dq: NDArray[np.float64]
    dacceleration_dv: NDArray[np.float64]
    dacceleration_da: NDArray[np.float64]


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


class HybridDynamics(NamedTuple):
    """Acceleration and torque of all joints, ``(..., nv)``, or stacks ``(..., r + 1, nv)``."""

    a: NDArray[np.float64]
    tau: NDArray[np.float64]


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


class Equilibrium(NamedTuple):
    """Inputs and forces that hold a configuration, see `dtau.equilibrium`; ``exists``: they do."""

    u: NDArray[np.float64]
    tau: NDArray[np.float64]
    forces: NDArray[np.float64]
    f_ext: NDArray[np.float64]
    residual: NDArray[np.float64]
    exists: NDArray[np.bool_]


class LQR(NamedTuple):
    """Gains of ``u = -(gains @ x + feedforward)``; cost ``1/2 x'P x + p'x + s`` from each knot on.

    ``gains (..., N, nu, nx)``, ``feedforward (..., N, nu)``, ``P (..., N + 1, nx, nx)``,
    ``p (..., N + 1, nx)``, ``s (..., N + 1)``.
    """

    gains: NDArray[np.float64]
    feedforward: NDArray[np.float64]
    P: NDArray[np.float64]
    p: NDArray[np.float64]
    s: NDArray[np.float64]
