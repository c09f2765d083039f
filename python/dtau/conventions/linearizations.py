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

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dtau.conventions.maps import Maps
from dtau.conventions.twists import TwistMap
from dtau.model.control_inputs import checked_inputs, driven
from dtau.support.arrays import Array, Indices


class _StateMap(NamedTuple):
    """T at a state, its inverse and its blocks; all (..., 2 nv, 2 nv) or (..., nv, nv)."""

    matrix: Array
    inverse: Array
    forward: Array  # X
    v_by_q: Array  # W(v)


def convert(
    maps: Maps, q: Array, v: Array, inputs: ArrayLike | None, lin: Mapping[str, Array]
) -> dict[str, Array]:
    """Convert arrays by name, of a time step if there is a state after it; leave out what stays."""
    twists, order, columns = maps.twists, maps.order.doubled(), _columns(maps, lin["B"], inputs)
    before = _state_map(twists, q, v)
    out, after, rate_term = {}, before, np.zeros(())
    if "a" in lin:
        rate = before.forward @ twists.embedded(twists.map_rate(v), maps.nv)
        a_by_q = twists.embedded(twists.shift(lin["a"]), maps.nv)
        rate_term = _lower(rate, -rate @ before.v_by_q - before.forward @ a_by_q)
        blocks, _ = twists.matrices(q)
        out["a"] = maps.order.from_dtau(twists.apply(blocks, lin["a"] + twists.rate(v)))
    else:
        after = _state_map(twists, lin["q"], lin["v"])
        blocks, _ = twists.matrices(lin["q"])
        out["q"] = maps.coordinates.from_dtau(lin["q"])
        out["v"] = maps.order.from_dtau(twists.apply(blocks, lin["v"]))
    by_z = after.matrix @ lin["A"] + rate_term
    out["A"] = order.from_dtau(by_z @ before.inverse, -2, -1)
    out["B"] = order.from_dtau(after.matrix @ lin["B"], -2)[..., columns]
    if "dforces_dz" in lin:
        out["dforces_dz"] = order.from_dtau(lin["dforces_dz"] @ before.inverse)
        out["dforces_du"] = lin["dforces_du"][..., columns]
    for by in ("dt", "f_ext"):  # wrenches stay as they are
        if f"dq_d{by}" in lin:
            moved = [lin[f"d{x}_d{by}"].reshape(len(q), maps.nv, -1) for x in "qv"]
            rows = order.from_dtau(after.matrix @ np.concatenate(moved, axis=1), -2)
            for x, half in zip("qv", np.split(rows, 2, axis=1), strict=True):
                out[f"d{x}_d{by}"] = half.reshape(lin[f"d{x}_d{by}"].shape)
    return out


def _columns(maps: Maps, by_u: Array, inputs: ArrayLike | None) -> Indices:
    """Return the order of B's columns: of velocities for torques, unchanged for other inputs."""
    torques, given = checked_inputs(maps.model, inputs)
    if given is not None:
        order: Indices = np.arange(given.shape[-1])
    else:
        order = maps.order.among(driven(maps.model) if torques is None else torques)
    if by_u.shape[-1:] != order.shape:
        raise ValueError(
            f"result.B has {by_u.shape[-1]} columns, expected {len(order)}, as in `inputs`, which "
            "must be the argument `inputs` of the linearization"
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
