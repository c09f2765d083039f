"""Named tuples: the results of functions of inverse and forward dynamics."""

from __future__ import annotations

from typing import NamedTuple

from dtau.results._attributes import WithAttributes
from dtau.support.arrays import Array


class InverseDynamicsDerivatives(NamedTuple):
    """First derivatives of the joint torque, ``(..., nv, nv)``; columns by the variable."""

    dtau_dq: Array
    dtau_dv: Array
    dtau_da: Array


class ForwardDynamicsDerivatives(NamedTuple):
    """First derivatives of the joint acceleration, ``(..., nv, nv)``; columns by the variable."""

    da_dq: Array
    da_dv: Array
    da_dtau: Array


class InverseDynamicsTimeDerivativesDerivatives(NamedTuple):
    """First derivatives of the joint torque and of its time derivatives; columns by the variable.

    ``dtau_dq (..., r + 1, nv, nv)`` is by the configuration,
    ``dtau_dv_derivatives (..., r + 1, r + 2, nv, nv)`` by the velocity and its time derivatives.
    """

    dtau_dq: Array
    dtau_dv_derivatives: Array


class ForwardDynamicsTimeDerivativesDerivatives(NamedTuple):
    """First derivatives of the joint acceleration and of its time derivatives.

    Columns by the variable. ``da_dq`` and ``da_dv``, each ``(..., r + 1, nv, nv)``, are by the
    configuration and the velocity, ``da_dtau_derivatives (..., r + 1, r + 1, nv, nv)`` by the
    torque and its time derivatives.
    """

    da_dq: Array
    da_dv: Array
    da_dtau_derivatives: Array


class _InverseDynamicsVJP(NamedTuple):
    by_q: Array
    by_v: Array
    by_a: Array


class InverseDynamicsVJP(WithAttributes, _InverseDynamicsVJP):
    """Weights of the joint torque times its first derivatives, each ``(..., nv)``.

    The attribute ``by_f_ext (..., nbodies, 6)``, beside the tuple, is by the external wrenches, if
    they are given.
    """

    by_f_ext: Array


class _InverseDynamicsTimeDerivativesVJP(NamedTuple):
    by_q: Array
    by_v_derivatives: Array


class InverseDynamicsTimeDerivativesVJP(WithAttributes, _InverseDynamicsTimeDerivativesVJP):
    """Gradients of a weighted sum of the torque's time derivatives.

    ``by_q (..., nv)``; ``by_v_derivatives (..., r + 2, nv)`` by the velocity and its time
    derivatives. The attribute ``by_f_ext_derivatives (..., r + 1, nbodies, 6)``, beside the tuple,
    is by the external wrenches, if they are given.
    """

    by_f_ext_derivatives: Array


class _ForwardDynamicsTimeDerivativesVJP(NamedTuple):
    by_q: Array
    by_v: Array
    by_tau_derivatives: Array


class ForwardDynamicsTimeDerivativesVJP(WithAttributes, _ForwardDynamicsTimeDerivativesVJP):
    """Gradients of a weighted sum of the acceleration's time derivatives.

    ``by_q`` and ``by_v``, each ``(..., nv)``; ``by_tau_derivatives (..., r + 1, nv)`` by the torque
    and its time derivatives. The attribute ``by_f_ext_derivatives (..., r + 1, nbodies, 6)``,
    beside the tuple, is by the external wrenches, if they are given.
    """

    by_f_ext_derivatives: Array


class _ForwardDynamicsVJP(NamedTuple):
    by_q: Array
    by_v: Array
    by_tau: Array


class ForwardDynamicsVJP(WithAttributes, _ForwardDynamicsVJP):
    """Weights of the joint acceleration times its first derivatives, each ``(..., nv)``.

    The attribute ``by_f_ext (..., nbodies, 6)``, beside the tuple, is by the external wrenches, if
    they are given.
    """

    by_f_ext: Array


class InverseDynamicsSecondDerivatives(NamedTuple):
    """Second derivatives of the joint torque, ``(..., nv, nv, nv)`` or on their pattern.

    Entry [i, j, k]: of torque i, by the variable named first along j, then by the second along k.
    """

    d2tau_dqdq: Array
    d2tau_dqdv: Array
    d2tau_dvdv: Array
    d2tau_dadq: Array


class ForwardDynamicsSecondDerivatives(NamedTuple):
    """Second derivatives of the joint acceleration, ``(..., nv, nv, nv)``.

    Entry [i, j, k]: of acceleration i, by the variable named first along j, then by the second
    along k.
    """

    d2a_dqdq: Array
    d2a_dqdv: Array
    d2a_dvdv: Array
    d2a_dtaudq: Array


class InverseDynamicsHessian(NamedTuple):
    """Second derivatives of a weighted sum of torques, each ``(..., nv, nv)``.

    Rows by the variable named first, columns by the second.
    """

    dqdq: Array
    dqdv: Array
    dvdv: Array
    dadq: Array


class ForwardDynamicsHessian(NamedTuple):
    """Second derivatives of a weighted sum of accelerations, each ``(..., nv, nv)``.

    Rows by the variable named first, columns by the second.
    """

    dqdq: Array
    dqdv: Array
    dvdv: Array
    dtaudq: Array


class HybridDynamics(NamedTuple):
    """Acceleration and torque of all joints, ``(..., nv)``, or stacks ``(..., r + 1, nv)``."""

    a: Array
    tau: Array
