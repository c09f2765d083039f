"""Named tuples: the results of functions of linearizations, time steps and control."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dtau.results._attributes import WithAttributes


class _Linearization(NamedTuple):
    A: NDArray[np.float64]
    B: NDArray[np.float64]
    a: NDArray[np.float64]


class Linearization(WithAttributes, _Linearization):
    """dz/dt = A z + B u, ``A (..., 2 nv, 2 nv)``, ``B (..., 2 nv, nu)``, and the acceleration.

    The attribute ``residual (..., nrows)``, beside the tuple, is the residual of the rows of
    contacts, if ``contacts`` are given.
    """

    residual: NDArray[np.float64]


class LinearizationTimeDerivatives(NamedTuple):
    """`Linearization` along a motion, and its time derivatives.

    ``A (..., r + 1, 2 nv, 2 nv)``, ``B (..., r + 1, 2 nv, nu)`` and the acceleration ``a (...,
    r + 1, nv)``.
    """

    A: NDArray[np.float64]
    B: NDArray[np.float64]
    a: NDArray[np.float64]


class _DiscreteLinearization(NamedTuple):
    A: NDArray[np.float64]
    B: NDArray[np.float64]
    q: NDArray[np.float64]
    v: NDArray[np.float64]


class DiscreteLinearization(WithAttributes, _DiscreteLinearization):
    """z+ = A z + B u over a step, and the state after it, ``q (..., nq)`` and ``v (..., nv)``.

    Attributes beside the tuple belong to the state before the step: with ``contacts``, the
    ``residual (..., nrows)`` of their rows; with ``forces=True``, the contact forces ``forces (...,
    nrows)`` and their derivatives ``dforces_dz (..., nrows, 2 nv)`` and ``dforces_du (..., nrows,
    nu)``. Others are there if ``by`` asks for them: ``dq_ddt`` and ``dv_ddt`` by the length of the
    step, ``(..., nv)``; ``dq_df_ext`` and ``dv_df_ext`` by the external wrenches, ``(..., nv,
    nbodies, 6)``, and ``dforces_df_ext (..., nrows, nbodies, 6)``.
    """

    residual: NDArray[np.float64]
    forces: NDArray[np.float64]
    dforces_dz: NDArray[np.float64]
    dforces_du: NDArray[np.float64]
    dq_ddt: NDArray[np.float64]
    dv_ddt: NDArray[np.float64]
    dq_df_ext: NDArray[np.float64]
    dv_df_ext: NDArray[np.float64]
    dforces_df_ext: NDArray[np.float64]


class StageLinearization(NamedTuple):
    """`DiscreteLinearization` of an RK4 step, with its four stages, the first axis after the batch.

    The states ``q_stages (..., 4, nq)`` and ``v_stages (..., 4, nv)``, and their derivatives
    ``A_stages (..., 4, 2 nv, 2 nv)`` and ``B_stages (..., 4, 2 nv, nu)``.
    """

    A: NDArray[np.float64]
    B: NDArray[np.float64]
    q: NDArray[np.float64]
    v: NDArray[np.float64]
    A_stages: NDArray[np.float64]
    B_stages: NDArray[np.float64]
    q_stages: NDArray[np.float64]
    v_stages: NDArray[np.float64]


class NextState(NamedTuple):
    """The state after a step: ``q (..., nq)`` and ``v (..., nv)``."""

    q: NDArray[np.float64]
    v: NDArray[np.float64]


class StepJVP(NamedTuple):
    """Variation of the state after a step, ``dq`` and ``dv (..., nv)``."""

    dq: NDArray[np.float64]
    dv: NDArray[np.float64]


class _StepVJP(NamedTuple):
    by_q: NDArray[np.float64]
    by_v: NDArray[np.float64]
    by_tau: NDArray[np.float64]


class StepVJP(WithAttributes, _StepVJP):
    """Weights of the state after a step times the step's derivatives, each ``(..., nv)``.

    Attributes beside the tuple: ``by_f_ext (..., nbodies, 6)`` by the external wrenches, if they
    are given; ``by_dt (...)`` and ``by_parameters (..., 10 nbodies)`` by the length of the step and
    by the inertial parameters, if ``by`` asks for them.
    """

    by_f_ext: NDArray[np.float64]
    by_dt: NDArray[np.float64]
    by_parameters: NDArray[np.float64]


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
