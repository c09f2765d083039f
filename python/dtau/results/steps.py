"""Named tuples: the results of functions of linearizations, time steps and control."""

from __future__ import annotations

from typing import NamedTuple

from dtau.results._attributes import WithAttributes
from dtau.support.arrays import Array, Mask


class _Linearization(NamedTuple):
    A: Array
    B: Array
    a: Array


class Linearization(WithAttributes, _Linearization):
    """dz/dt = A z + B u, ``A (..., 2 nv, 2 nv)``, ``B (..., 2 nv, nu)``, and the acceleration.

    The attribute ``residual (..., nrows)``, beside the tuple, is the residual of the rows of
    contacts, if ``contacts`` are given.
    """

    residual: Array


class LinearizationTimeDerivatives(NamedTuple):
    """`Linearization` along a motion, and its time derivatives.

    ``A (..., r + 1, 2 nv, 2 nv)``, ``B (..., r + 1, 2 nv, nu)`` and the acceleration ``a (...,
    r + 1, nv)``.
    """

    A: Array
    B: Array
    a: Array


class _DiscreteLinearization(NamedTuple):
    A: Array
    B: Array
    q: Array
    v: Array


class DiscreteLinearization(WithAttributes, _DiscreteLinearization):
    """z+ = A z + B u over a step, and the state after it, ``q (..., nq)`` and ``v (..., nv)``.

    Attributes beside the tuple belong to the state before the step: with ``contacts``, the
    ``residual (..., nrows)`` of their rows; with ``forces=True``, the contact forces ``forces (...,
    nrows)`` and their derivatives ``dforces_dz (..., nrows, 2 nv)`` and ``dforces_du (..., nrows,
    nu)``. Others are there if ``by`` asks for them: ``dq_ddt`` and ``dv_ddt`` by the length of the
    step, ``(..., nv)``; ``dq_df_ext`` and ``dv_df_ext`` by the external wrenches, ``(..., nv,
    nbodies, 6)``, and ``dforces_df_ext (..., nrows, nbodies, 6)``.
    """

    residual: Array
    forces: Array
    dforces_dz: Array
    dforces_du: Array
    dq_ddt: Array
    dv_ddt: Array
    dq_df_ext: Array
    dv_df_ext: Array
    dforces_df_ext: Array


class StageLinearization(NamedTuple):
    """`DiscreteLinearization` of an RK4 step, with its four stages, the first axis after the batch.

    The states ``q_stages (..., 4, nq)`` and ``v_stages (..., 4, nv)``, and their derivatives
    ``A_stages (..., 4, 2 nv, 2 nv)`` and ``B_stages (..., 4, 2 nv, nu)``.
    """

    A: Array
    B: Array
    q: Array
    v: Array
    A_stages: Array
    B_stages: Array
    q_stages: Array
    v_stages: Array


class NextState(NamedTuple):
    """The state after a step: ``q (..., nq)`` and ``v (..., nv)``."""

    q: Array
    v: Array


class StepJVP(NamedTuple):
    """Variation of the state after a step, ``dq`` and ``dv (..., nv)``."""

    dq: Array
    dv: Array


class _StepVJP(NamedTuple):
    by_q: Array
    by_v: Array
    by_tau: Array


class StepVJP(WithAttributes, _StepVJP):
    """Weights of the state after a step times the step's derivatives, each ``(..., nv)``.

    Attributes beside the tuple: ``by_f_ext (..., nbodies, 6)`` by the external wrenches, if they
    are given; ``by_dt (...)`` and ``by_parameters (..., 10 nbodies)`` by the length of the step and
    by the inertial parameters, if ``by`` asks for them.
    """

    by_f_ext: Array
    by_dt: Array
    by_parameters: Array


class Equilibrium(NamedTuple):
    """Inputs and forces that hold a configuration, see `dtau.equilibrium`; ``exists``: they do."""

    u: Array
    tau: Array
    forces: Array
    f_ext: Array
    residual: Array
    exists: Mask


class LQR(NamedTuple):
    """Gains of ``u = -(gains @ x + feedforward)``; cost ``1/2 x'P x + p'x + s`` from each knot on.

    ``gains (..., N, nu, nx)``, ``feedforward (..., N, nu)``, ``P (..., N + 1, nx, nx)``,
    ``p (..., N + 1, nx)``, ``s (..., N + 1)``.
    """

    gains: Array
    feedforward: Array
    P: Array
    p: Array
    s: Array
