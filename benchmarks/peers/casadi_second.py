"""Second derivatives of inverse dynamics by CasADi: automatic differentiation of first ones.

The first derivatives are IDSVA's, in ground coordinates ([IDSVA] algorithm 1), written as an
expression for trees of revolute joints on a fixed base, as [IDSVA-SO] section VI has it; CasADi
differentiates their entries that are not zero by q and v. Common subexpressions may be eliminated,
which [IDSVA-SO] does not say that it did. 6-vectors have the angular part first.
"""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np

import dtau
from benchmarks.checks import Array
from benchmarks.peers.plain_urdf import axis_of

_NAME = "second_derivatives"


class SecondDerivatives:
    """The expression of all entries that are not zero, and where they belong."""

    def __init__(self, model: dtau.Model, *, eliminate: bool) -> None:
        n = model.nv
        x = casadi.SX.sym("x", 3 * n)
        entries = _first_derivatives(model, x[:n], x[n : 2 * n], x[2 * n :])
        self.n = n
        self._at = {name: np.array(list(of)) for name, of in entries.items()}
        by_q, by_v = x[:n], x[n : 2 * n]
        self._jacobians: list[tuple[str, Any]] = []
        for name, variable in (("q", by_q), ("v", by_v), ("v", by_q), ("M", by_q)):
            jacobian = casadi.jacobian(casadi.vertcat(*entries[name].values()), variable)
            self._jacobians.append((name, jacobian))
        values: Any = casadi.vertcat(*(j.nz[:] for _, j in self._jacobians))
        if eliminate:
            (values,) = casadi.cse([values])
        self.function = casadi.Function(_NAME, [x], [values])

    def dense(self, values: Array) -> list[Array]:
        """The tensors d2tau/dqdq, dvdv, dvdq and dM/dq of rows of values, complete.

        The cross tensor has [i, j, k]: output i, by v along j, then by q along k.
        """
        tensors, start = [], 0
        for name, jacobian in self._jacobians:
            rows, columns = (np.array(part) for part in jacobian.sparsity().get_triplet())
            tensor = np.zeros((len(values), self.n, self.n, self.n))
            i, j = self._at[name][rows].T
            part = values[:, start : start + len(rows)]
            tensor[:, i, j, columns] = part
            if name == "M":
                tensor[:, j, i, columns] = part
            tensors.append(tensor)
            start += len(rows)
        return tensors


def _first_derivatives(model: dtau.Model, q: Any, v: Any, a: Any) -> dict[str, dict[Any, Any]]:
    """Entries (i, j) of dtau/dq, dtau/dv and M that are not zero."""
    n = model.nv
    zero: Any = casadi.SX(6, 1)
    empty: list[list[Any]] = [[None] * n for _ in range(10)]
    rotations, places, s, twists, accelerations, psid, psidd, inertias, coriolis, forces = empty
    root: Any = casadi.vertcat(casadi.SX(3, 1), -casadi.DM(model.gravity))
    for i, joint in enumerate(model.joints):
        parent, place = joint.parent, joint.placement
        turn = casadi.DM(place.rotation) @ _rotation(axis_of(joint), q[i])
        shift = casadi.DM(place.translation)
        if parent < 0:
            rotations[i], places[i], above, rate = turn, shift, zero, root
        else:
            rotations[i] = rotations[parent] @ turn
            places[i] = places[parent] + rotations[parent] @ shift
            above, rate = twists[parent], accelerations[parent]
        axis = rotations[i] @ casadi.DM(axis_of(joint))
        s[i] = casadi.vertcat(axis, casadi.cross(places[i], axis))
        psid[i] = _cross(above, s[i])
        psidd[i] = _cross(rate, s[i]) + _cross(above, psid[i])
        twists[i] = above + s[i] * v[i]
        accelerations[i] = rate + s[i] * a[i] + psid[i] * v[i]
        inertias[i] = _inertia(model.inertias[i], rotations[i], places[i])
        momentum = inertias[i] @ twists[i]
        left = _motion_cross(twists[i])
        # [IDSVA] eq. 28, twice
        coriolis[i] = -left.T @ inertias[i] - inertias[i] @ left + _swapped(momentum)
        forces[i] = inertias[i] @ accelerations[i] - left.T @ momentum

    found: dict[str, dict[Any, Any]] = {"q": {}, "v": {}, "M": {}}
    for k in reversed(range(n)):
        t1, t2 = coriolis[k].T @ s[k], inertias[k] @ s[k]
        by_q = coriolis[k] @ psid[k] + inertias[k] @ psidd[k] - _motion_cross(s[k]).T @ forces[k]
        by_v = coriolis[k] @ s[k] + 2.0 * (inertias[k] @ psid[k])
        j = k
        while j >= 0:  # [IDSVA] eqs. 30 and 32
            found["q"][k, j] = casadi.dot(t1, psid[j]) + casadi.dot(t2, psidd[j])
            found["v"][k, j] = casadi.dot(t1, s[j]) + 2.0 * casadi.dot(t2, psid[j])
            found["M"][k, j] = casadi.dot(t2, s[j])
            if j != k:
                found["q"][j, k] = casadi.dot(s[j], by_q)
                found["v"][j, k] = casadi.dot(s[j], by_v)
            j = model.joints[j].parent
        parent = model.joints[k].parent
        if parent >= 0:
            for sums in (inertias, coriolis, forces):
                sums[parent] = sums[parent] + sums[k]
    return found


def _rotation(axis: Array, angle: Any) -> Any:
    """The rotation about an axis."""
    k = casadi.skew(casadi.DM(axis))
    return casadi.DM.eye(3) + casadi.sin(angle) * k + (1.0 - casadi.cos(angle)) * (k @ k)


def _inertia(inertia: dtau.Inertia, rotation: Any, place: Any) -> Any:
    """A body's inertia about the origin of the ground."""
    mass = inertia.mass
    com = casadi.skew(place + rotation @ casadi.DM(inertia.com))
    tensor = rotation @ casadi.DM(inertia.tensor) @ rotation.T - mass * (com @ com)
    return casadi.blockcat([[tensor, mass * com], [-mass * com, mass * casadi.DM.eye(3)]])


def _cross(x: Any, y: Any) -> Any:
    """The cross product of two twists."""
    ang = casadi.cross(x[:3], y[:3])
    return casadi.vertcat(ang, casadi.cross(x[3:], y[:3]) + casadi.cross(x[:3], y[3:]))


def _motion_cross(x: Any) -> Any:
    """The matrix of the cross product with a twist from the left."""
    turning = casadi.skew(x[:3])
    return casadi.blockcat([[turning, casadi.SX(3, 3)], [casadi.skew(x[3:]), turning]])


def _swapped(f: Any) -> Any:
    """The matrix that takes a twist v to v x* f."""
    moment, force = casadi.skew(f[:3]), casadi.skew(f[3:])
    return -casadi.blockcat([[moment, force], [force, casadi.SX(3, 3)]])


def inputs(q: Array, v: Array, a: Array) -> Array:
    """What the function takes, a row for each state."""
    return np.concatenate([q, v, a], axis=-1)
