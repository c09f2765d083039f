"""Named tuples: the results of functions of contacts, loops and impulses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dtau.results._attributes import WithAttributes


class ConstrainedDynamics(NamedTuple):
    """Acceleration ``(..., nv)``, constraint forces and residuals, each ``(..., nrows)``."""

    a: NDArray[np.float64]
    forces: NDArray[np.float64]
    residual: NDArray[np.float64]


class _ConstrainedDynamicsDerivatives(NamedTuple):
    da_dq: NDArray[np.float64]
    da_dv: NDArray[np.float64]
    da_dtau: NDArray[np.float64]
    dforces_dq: NDArray[np.float64]
    dforces_dv: NDArray[np.float64]
    dforces_dtau: NDArray[np.float64]
    residual: NDArray[np.float64]


class ConstrainedDynamicsDerivatives(WithAttributes, _ConstrainedDynamicsDerivatives):
    """First derivatives of accelerations ``(..., nv, nv)`` and forces ``(..., nrows, nv)``.

    ``residual (..., nrows)`` is the residual of `ConstrainedDynamics`. Attributes beside the tuple,
    with ``forces=True``: the acceleration ``a (..., nv)`` and ``forces (..., nrows)`` themselves.
    """

    a: NDArray[np.float64]
    forces: NDArray[np.float64]


class ConstrainedDynamicsJVP(NamedTuple):
    """Variations of accelerations ``(..., nv)`` and forces ``(..., nrows)``."""

    da: NDArray[np.float64]
    dforces: NDArray[np.float64]


class _ConstrainedDynamicsVJP(NamedTuple):
    by_q: NDArray[np.float64]
    by_v: NDArray[np.float64]
    by_tau: NDArray[np.float64]


class ConstrainedDynamicsVJP(WithAttributes, _ConstrainedDynamicsVJP):
    """Weights of accelerations and forces times their first derivatives, each ``(..., nv)``.

    Attributes beside the tuple: ``by_f_ext (..., nbodies, 6)`` by the external wrenches, if they
    are given; ``by_parameters (..., 10 nbodies)`` by the inertial parameters, with
    ``by="parameters"``.
    """

    by_f_ext: NDArray[np.float64]
    by_parameters: NDArray[np.float64]


class ConstrainedDynamicsHessian(NamedTuple):
    """Second derivatives of a weighted sum of accelerations and forces, each ``(..., nv, nv)``.

    Rows by the variable named first, columns by the second.
    """

    dqdq: NDArray[np.float64]
    dqdv: NDArray[np.float64]
    dvdv: NDArray[np.float64]
    dtaudq: NDArray[np.float64]


class ConstrainedDynamicsSecondDerivatives(NamedTuple):
    """Second derivatives of accelerations and forces, ``(..., nv or nrows, nv, nv)``.

    Entry [i, j, k]: of output i, by the variable named first along j, then by the second along k.
    """

    d2a_dqdq: NDArray[np.float64]
    d2a_dqdv: NDArray[np.float64]
    d2a_dvdv: NDArray[np.float64]
    d2a_dtaudq: NDArray[np.float64]
    d2forces_dqdq: NDArray[np.float64]
    d2forces_dqdv: NDArray[np.float64]
    d2forces_dvdv: NDArray[np.float64]
    d2forces_dtaudq: NDArray[np.float64]


class ImpulseDynamicsSecondDerivatives(NamedTuple):
    """Second derivatives of velocities after and of impulses, ``(..., nv or nrows, nv, nv)``.

    Entry [i, j, k]: of output i, by the variable named first along j, then by the second along k.
    """

    d2v_dqdq: NDArray[np.float64]
    d2v_dqdv: NDArray[np.float64]
    d2impulses_dqdq: NDArray[np.float64]
    d2impulses_dqdv: NDArray[np.float64]


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


class ImpulseDynamicsJVP(NamedTuple):
    """Variations of velocities after an impact ``(..., nv)`` and impulses ``(..., nrows)``."""

    dv: NDArray[np.float64]
    dimpulses: NDArray[np.float64]


class _ImpulseDynamicsVJP(NamedTuple):
    by_q: NDArray[np.float64]
    by_v: NDArray[np.float64]
    by_restitution: NDArray[np.float64]


class ImpulseDynamicsVJP(WithAttributes, _ImpulseDynamicsVJP):
    """Weights of velocities after an impact and impulses times their first derivatives.

    Those by configuration and velocity are ``(..., nv)``, the one by the restitution is ``(...)``.
    The attribute ``by_parameters (..., 10 nbodies)``, beside the tuple, is by the inertial
    parameters, with ``by="parameters"``.
    """

    by_parameters: NDArray[np.float64]


class ImpulseDynamicsHessian(NamedTuple):
    """Second derivatives of weighted velocities after an impact and impulses, ``(..., nv, nv)``.

    Rows by the variable named first, columns by the second. The block by v twice is zero.
    """

    dqdq: NDArray[np.float64]
    dqdv: NDArray[np.float64]
