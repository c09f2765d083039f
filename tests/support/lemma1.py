"""[HO-FBS] section 4 as it is printed: the dense matrices of Table 2, eq. 11 and Lemma 1.

An oracle that shares nothing with the core. A free base with joints of one degree of freedom, or a
fixed one. All in world axes about the world's origin, linear part first: the screws S_j, the
twists V_j, and the base's velocity too, its spatial twist (dtau has that in body axes).

`cross(v)` is the paper's ad_v in this order of the halves. Rows go by bodies in the tree's order,
columns by velocities in the model's.
"""

from __future__ import annotations

import numpy as np
from newton_euler import motions
from trees import KINDS, Array, Tree, cross, skew

import dtau


def adjoint(rotation: Array, position: Array) -> Array:
    """Ad of a pose: twists from its axes to the world's (eq. 3)."""
    return np.block([[rotation, skew(position) @ rotation], [np.zeros((3, 3)), rotation]])


def blocks(diagonal: list[Array]) -> Array:
    """A block-diagonal matrix of 6x6 blocks."""
    out = np.zeros((6 * len(diagonal), 6 * len(diagonal)))
    for i, block in enumerate(diagonal):
        out[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = block
    return out


class ClosedForm:
    """The matrices at one state, given in dtau's coordinates.

    `T` takes dtau's velocities to the paper's: nu = T v.
    """

    def __init__(self, tree: Tree, model: dtau.Model, q: Array, v: Array) -> None:
        size, zero = len(tree.bodies), np.zeros(model.nv)
        self.Gp, self.S = np.zeros((6 * size, 6 * size)), np.zeros((6 * size, model.nv))
        self.T, self.Tdot = np.eye(model.nv), np.zeros((model.nv, model.nv))
        inertias: list[Array] = []
        self.twists: list[Array] = []
        for i, (body, at) in enumerate(
            zip(tree.bodies, motions(tree, model, q, zero, zero), strict=True)
        ):
            row, kind = slice(6 * i, 6 * i + 6), KINDS[body.kind]
            Ad, V = adjoint(at.rotation, at.origin), np.zeros(6)
            if body.parent >= 0:  # all bodies on the way to the base, and i itself: eq. 31
                self.Gp[row] = self.Gp[6 * body.parent : 6 * body.parent + 6]
                V = self.twists[body.parent]
            self.Gp[row, row] = np.eye(6)
            if kind.nv:
                joint = model.joint(body.name)
                V = V + Ad @ kind.subspace_at(body.axis, body.pitch, q[joint.q]) @ v[joint.v]
                if body.kind == "free":
                    assert i == 0, "the base comes first"
                    self.S[row, joint.v] = np.eye(6)
                    self.T[joint.v, joint.v], self.Tdot[joint.v, joint.v] = Ad, cross(V) @ Ad
                else:
                    assert kind.nv == 1, "joints have one degree of freedom"
                    self.S[row, joint.v] = Ad @ kind.subspace_at(body.axis, body.pitch, q[joint.q])
            self.twists.append(V)
            c, back = skew(body.com), np.linalg.inv(Ad)
            tensor = body.tensor - body.mass * c @ c
            inertia = np.block([[body.mass * np.eye(3), -body.mass * c], [body.mass * c, tensor]])
            inertias.append(back.T @ inertia @ back)  # eq. 60
        self.inertias, self.M = inertias, blocks(inertias)
        self.ad = blocks([cross(V) for V in self.twists])
        self.Sdot = self.ad @ self.S
        if tree.bodies[0].kind == "free":
            # The base's columns are the world's axes, which stay: Table 2 has zeros there, where
            # Sdot = ad S, of eqs. 14 to 19, would not.
            self.Sdot[:6] = 0.0

    @property
    def mass(self) -> Array:
        """Eq. 11, first line."""
        return self.S.T @ self.Gp.T @ self.M @ self.Gp @ self.S

    def coriolis(self, Sdot: Array | None = None) -> Array:
        """Eq. 21, with another Sdot if one is given."""
        Sdot = self.Sdot if Sdot is None else Sdot
        inner = self.M @ self.Gp @ Sdot - self.ad.T @ self.M @ self.Gp @ self.S
        return self.S.T @ self.Gp.T @ inner

    def coriolis_in_dtau(self) -> Array:
        """Eq. 21 for dtau's coordinates: nu' = T v' + T' v in M nu' + C nu, and T^T before it."""
        return self.T.T @ (self.coriolis() @ self.T + self.mass @ self.Tdot)
