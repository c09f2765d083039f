"""The named tuples that functions with several results return."""

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


class InverseDynamicsProducts(NamedTuple):
    """Weights of the joint torque times its first derivatives, each ``(..., nv)``."""

    by_q: NDArray[np.float64]
    by_v: NDArray[np.float64]
    by_a: NDArray[np.float64]


class InverseDynamicsProductsWithWrenches(NamedTuple):
    """As `InverseDynamicsProducts`, also by the external wrenches, ``(..., nbodies, 6)``."""

    by_q: NDArray[np.float64]
    by_v: NDArray[np.float64]
    by_a: NDArray[np.float64]
    by_f_ext: NDArray[np.float64]


class ForwardDynamicsProducts(NamedTuple):
    """Weights of the joint acceleration times its first derivatives, each ``(..., nv)``."""

    by_q: NDArray[np.float64]
    by_v: NDArray[np.float64]
    by_tau: NDArray[np.float64]


class ForwardDynamicsProductsWithWrenches(NamedTuple):
    """As `ForwardDynamicsProducts`, also by the external wrenches, ``(..., nbodies, 6)``."""

    by_q: NDArray[np.float64]
    by_v: NDArray[np.float64]
    by_tau: NDArray[np.float64]
    by_f_ext: NDArray[np.float64]


class Placements(NamedTuple):
    """Poses in the world: a point ``x`` of the frame is at ``rotation @ x + translation``."""

    rotation: NDArray[np.float64]
    translation: NDArray[np.float64]


class State(NamedTuple):
    """A configuration ``(..., nq)``, a velocity and an acceleration, both ``(..., nv)``."""

    q: NDArray[np.float64]
    v: NDArray[np.float64]
    a: NDArray[np.float64]


class PartialState(NamedTuple):
    """A configuration, and a velocity where one was given; no acceleration."""

    q: NDArray[np.float64]
    v: NDArray[np.float64] | None
    a: None = None
