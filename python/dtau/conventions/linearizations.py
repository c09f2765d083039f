"""Convert linearizations to another form of velocities, v' = A(q) v.

With A called X here, a perturbation z = [xi, dv] becomes z' = T z: a displacement becomes X xi, and
v' varies by X (dv - W(v) xi), because v changes by W(v) xi at constant v'. Hence

    T = (   X    0 )        A' = (T A + dT/dt) T^-1,   B' = T B,   in continuous time
        ( -X W   X )        A' = T+ A T^-1,            B' = T+ B,  over a step

with T+ at the state after the step, and with dX/dt = X Omega(v). Inputs, and the wrench of a free
root, stay along body axes; inputs that are joint torques are reordered like velocities. The
kinematics of the perturbation of a free root become, in the axes of each convention, with its own
velocity (v, w) and displacement (p, r):

    body (dtau's)    dp/dt = dv - w x p - v x r     dr/dt = dw - w x r
    mixed            dp/dt = dv                     dr/dt = dw + w x r
    spatial          dp/dt = dv + w x p + v x r     dr/dt = dw + w x r
    MuJoCo           dp/dt = dv                     dr/dt = dw - w x r
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dtau.checks import real_numbers, require
from dtau.control_inputs import checked_inputs, driven
from dtau.conventions.maps import Array, Maps, quiet
from dtau.conventions.twists import TwistMap
from dtau.conventions.velocity_order import Indices
from dtau.results import (
    ConstrainedDiscreteLinearization,
    ConstrainedLinearization,
    DiscreteLinearization,
    Linearization,
)

Continuous = TypeVar("Continuous", Linearization, ConstrainedLinearization)
Discrete = TypeVar("Discrete", DiscreteLinearization, ConstrainedDiscreteLinearization)


class _StateMap(NamedTuple):
    """T at a state, its inverse and its blocks; all (..., 2 nv, 2 nv) or (..., nv, nv)."""

    matrix: Array
    inverse: Array
    forward: Array  # X
    v_by_q: Array  # W(v)


@quiet
def continuous_from_dtau(
    maps: Maps, q: ArrayLike, v: ArrayLike, lin: Continuous, inputs: ArrayLike | None
) -> Continuous:
    """Return A', B' and the acceleration a'."""
    if not isinstance(lin, ConstrainedLinearization):
        require("lin", lin, Linearization)
    size, columns = 2 * maps.nv, _columns(maps, lin.B, inputs)
    batch, q, (v, by_z, by_u, a) = maps.read_from_dtau(
        q,
        v=(v, (maps.nv,)),
        **{
            "lin.A": (lin.A, (size, size)),
            "lin.B": (lin.B, (size, len(columns))),
            "lin.a": (lin.a, (maps.nv,)),
        },
    )
    twists = maps.twists
    at = _state_map(twists, q, v)
    rate = at.forward @ twists.embedded(twists.map_rate(v), maps.nv)
    a_by_q = twists.embedded(twists.shift(a), maps.nv)
    state_map_rate = _lower(rate, -rate @ at.v_by_q - at.forward @ a_by_q)
    blocks, _ = twists.matrices(q)
    a = twists.apply(blocks, a + twists.rate(v))
    order = maps.order.doubled()
    return lin._replace(
        A=batch.array(order.matrix_from_dtau((at.matrix @ by_z + state_map_rate) @ at.inverse)),
        B=batch.array(order.rows_from_dtau(at.matrix @ by_u)[..., columns]),
        a=batch.array(maps.order.from_dtau(a)),
    )


@quiet
def discrete_from_dtau(
    maps: Maps, q: ArrayLike, v: ArrayLike, lin: Discrete, inputs: ArrayLike | None
) -> Discrete:
    """Return A', B' and the state q', v' after the step."""
    if not isinstance(lin, ConstrainedDiscreteLinearization):
        require("lin", lin, DiscreteLinearization)
    size, columns = 2 * maps.nv, _columns(maps, lin.B, inputs)
    batch, q, (v, by_z, by_u, q_after, v_after) = maps.read_from_dtau(
        q,
        v=(v, (maps.nv,)),
        **{
            "lin.A": (lin.A, (size, size)),
            "lin.B": (lin.B, (size, len(columns))),
            "lin.q": (lin.q, (maps.model.nq,)),
            "lin.v": (lin.v, (maps.nv,)),
        },
    )
    before = _state_map(maps.twists, q, v)
    after = _state_map(maps.twists, q_after, v_after)
    blocks, _ = maps.twists.matrices(q_after)
    order = maps.order.doubled()
    return lin._replace(
        A=batch.array(order.matrix_from_dtau(after.matrix @ by_z @ before.inverse)),
        B=batch.array(order.rows_from_dtau(after.matrix @ by_u)[..., columns]),
        q=batch.array(maps.coordinates.from_dtau(q_after)),
        v=batch.array(maps.order.from_dtau(maps.twists.apply(blocks, v_after))),
    )


def _columns(maps: Maps, by_u: ArrayLike, inputs: ArrayLike | None) -> Indices:
    """Return the order of B's columns: of velocities for torques, unchanged for other inputs."""
    torques, given = checked_inputs(maps.model, inputs)
    if given is not None:
        order: Indices = np.arange(given.shape[-1])
    else:
        order = maps.order.among(driven(maps.model) if torques is None else torques)
    shape = real_numbers("lin.B", by_u).shape
    if shape[-1:] != order.shape:
        raise ValueError(
            f"lin.B has shape {shape}, expected {len(order)} columns, as in `inputs`, which must "
            "be the argument `inputs` of the linearization"
        )
    return order


def _state_map(twists: TwistMap, q: Array, v: Array) -> _StateMap:
    nv = v.shape[-1]
    blocks, inverse_blocks = twists.matrices(q)
    forward = np.eye(nv) + twists.embedded(blocks - np.eye(6), nv)
    inverse = np.eye(nv) + twists.embedded(inverse_blocks - np.eye(6), nv)
    v_by_q = twists.embedded(twists.shift(v), nv)
    return _StateMap(
        _lower(forward, -forward @ v_by_q), _lower(inverse, v_by_q @ inverse), forward, v_by_q
    )


def _lower(diagonal: Array, below: Array) -> Array:
    """Return the matrix (diagonal, 0; below, diagonal)."""
    return np.block([[diagonal, np.zeros_like(diagonal)], [below, diagonal]])
