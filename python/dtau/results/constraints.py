"""Named tuples: the results of functions of contacts, loops and impulses."""

from __future__ import annotations

from typing import NamedTuple

from dtau.results._attributes import WithAttributes
from dtau.support.arrays import Array


class ConstrainedDynamics(NamedTuple):
    """Acceleration ``(..., nv)``, constraint forces and residuals, each ``(..., nrows)``."""

    a: Array
    forces: Array
    residual: Array


class _ConstrainedDynamicsDerivatives(NamedTuple):
    da_dq: Array
    da_dv: Array
    da_dtau: Array
    dforces_dq: Array
    dforces_dv: Array
    dforces_dtau: Array
    residual: Array


class ConstrainedDynamicsDerivatives(WithAttributes, _ConstrainedDynamicsDerivatives):
    """First derivatives of accelerations ``(..., nv, nv)`` and forces ``(..., nrows, nv)``.

    ``residual (..., nrows)`` is the residual of `ConstrainedDynamics`. Attributes beside the tuple,
    with ``forces=True``: the acceleration ``a (..., nv)`` and ``forces (..., nrows)`` themselves.
    """

    a: Array
    forces: Array


class ConstrainedDynamicsJVP(NamedTuple):
    """Variations of accelerations ``(..., nv)`` and forces ``(..., nrows)``."""

    da: Array
    dforces: Array


class _ConstrainedDynamicsVJP(NamedTuple):
    by_q: Array
    by_v: Array
    by_tau: Array


class ConstrainedDynamicsVJP(WithAttributes, _ConstrainedDynamicsVJP):
    """Weights of accelerations and forces times their first derivatives, each ``(..., nv)``.

    Attributes beside the tuple: ``by_f_ext (..., nbodies, 6)`` by the external wrenches, if they
    are given; ``by_parameters (..., 10 nbodies)`` by the inertial parameters, with
    ``by="parameters"``.
    """

    by_f_ext: Array
    by_parameters: Array


class ConstrainedDynamicsHessian(NamedTuple):
    """Second derivatives of a weighted sum of accelerations and forces, each ``(..., nv, nv)``.

    Rows by the variable named first, columns by the second.
    """

    dqdq: Array
    dqdv: Array
    dvdv: Array
    dtaudq: Array


class ConstrainedDynamicsSecondDerivatives(NamedTuple):
    """Second derivatives of accelerations and forces, ``(..., nv or nrows, nv, nv)``.

    Entry [i, j, k]: of output i, by the variable named first along j, then by the second along k.
    """

    d2a_dqdq: Array
    d2a_dqdv: Array
    d2a_dvdv: Array
    d2a_dtaudq: Array
    d2forces_dqdq: Array
    d2forces_dqdv: Array
    d2forces_dvdv: Array
    d2forces_dtaudq: Array


class ImpulseDynamicsSecondDerivatives(NamedTuple):
    """Second derivatives of velocities after and of impulses, ``(..., nv or nrows, nv, nv)``.

    Entry [i, j, k]: of output i, by the variable named first along j, then by the second along k.
    """

    d2v_dqdq: Array
    d2v_dqdv: Array
    d2impulses_dqdq: Array
    d2impulses_dqdv: Array


class ConstrainedInverseDynamics(NamedTuple):
    """Torque ``(..., nv)`` and constraint forces ``(..., nrows)``."""

    tau: Array
    forces: Array


class Projected(NamedTuple):
    """Configurations ``(..., nq)`` in which contacts hold, and remaining errors ``(...)``."""

    q: Array
    error: Array


class ImpulseDynamics(NamedTuple):
    """Velocity after an impact ``(..., nv)``, and the impulses of contacts ``(..., nrows)``."""

    v: Array
    impulses: Array


class ImpulseDynamicsDerivatives(NamedTuple):
    """First derivatives of velocities ``(..., nv, nv)`` and impulses ``(..., nrows, nv)``."""

    dv_dq: Array
    dv_dv: Array
    dimpulses_dq: Array
    dimpulses_dv: Array


class ImpulseDynamicsJVP(NamedTuple):
    """Variations of velocities after an impact ``(..., nv)`` and impulses ``(..., nrows)``."""

    dv: Array
    dimpulses: Array


class _ImpulseDynamicsVJP(NamedTuple):
    by_q: Array
    by_v: Array
    by_restitution: Array


class ImpulseDynamicsVJP(WithAttributes, _ImpulseDynamicsVJP):
    """Weights of velocities after an impact and impulses times their first derivatives.

    Those by configuration and velocity are ``(..., nv)``, the one by the restitution is ``(...)``.
    The attribute ``by_parameters (..., 10 nbodies)``, beside the tuple, is by the inertial
    parameters, with ``by="parameters"``.
    """

    by_parameters: Array


class ImpulseDynamicsHessian(NamedTuple):
    """Second derivatives of weighted velocities after an impact and impulses, ``(..., nv, nv)``.

    Rows by the variable named first, columns by the second. The block by v twice is zero.
    """

    dqdq: Array
    dqdv: Array
