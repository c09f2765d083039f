"""[HO-FBS] section 4 as it is printed: the dense matrices of Table 2, Proposition 1, Lemma 1.

An oracle that shares nothing with the core. A free base with joints of one degree of freedom, or a
fixed one. All in world axes about the world's origin, linear part first: the screws S_j, the
twists V_j, and the base's velocity too, its spatial twist (dtau has that in body axes).

`cross(v)` is the paper's ad_v in this order of the halves. Rows go by bodies in the tree's order,
columns by velocities in the model's.
"""

from __future__ import annotations

import numpy as np
import taylor
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

    `T` takes dtau's velocities to the paper's: nu = T v. `zero_block=False` puts ad S into the
    base's block of Sdot and of its rate, as eqs. 14 to 19, 39 to 43 write them; Table 2 has zeros
    there, which is right: the base's columns are the world's axes, and stay.
    """

    def __init__(
        self, tree: Tree, model: dtau.Model, q: Array, v: Array, *, zero_block: bool = True
    ) -> None:
        self.zero_block = zero_block and tree.bodies[0].kind == "free"
        size = len(tree.bodies)
        self.Gp, self.S = np.zeros((6 * size, 6 * size)), np.zeros((6 * size, model.nv))
        self.T, self.Tdot = np.eye(model.nv), np.zeros((model.nv, model.nv))
        inertias: list[Array] = []
        self.twists: list[Array] = []
        poses = taylor.poses(tree, model, q, np.zeros((1, model.nv)))
        for i, (body, (R, p, _)) in enumerate(zip(tree.bodies, poses, strict=True)):
            row, kind = slice(6 * i, 6 * i + 6), KINDS[body.kind]
            Ad, V = adjoint(R[0], p[0]), np.zeros(6)
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
        self.Sdot = self.rate_of_screws(self.ad @ self.S)

    def rate_of_screws(self, rate: Array) -> Array:
        """Table 2: the base's block is zero."""
        if self.zero_block:
            rate[:6] = 0.0
        return rate

    @property
    def mass(self) -> Array:
        """Eq. 11, first line."""
        return self.S.T @ self.Gp.T @ self.M @ self.Gp @ self.S

    def coriolis(self) -> Array:
        """Eq. 21."""
        inner = self.M @ self.Gp @ self.Sdot - self.ad.T @ self.M @ self.Gp @ self.S
        return self.S.T @ self.Gp.T @ inner

    def coriolis_in_dtau(self) -> Array:
        """Eq. 21 for dtau's coordinates: nu' = T v' + T' v in M nu' + C nu, and T^T before it."""
        return self.T.T @ (self.coriolis() @ self.T + self.mass @ self.Tdot)

    def torques(self, nu: Array, rate: Array, second: Array, gravity: Array) -> tuple[Array, Array]:
        """Inverse dynamics of order 0 and 1 (eqs. 37, 43), without applied wrenches.

        nu and its two derivatives; gravity (3,) in the world.
        """
        S, Gp, M, ad = self.S, self.Gp, self.M, self.ad
        G = np.tile(np.r_[gravity, 0.0, 0.0, 0.0], len(self.twists))
        V = Gp @ S @ nu
        Vdot = Gp @ (S @ rate + self.Sdot @ nu)  # eq. 34
        ad_Vdot = blocks([cross(x) for x in Vdot.reshape(-1, 6)])
        Sddot = self.rate_of_screws(ad_Vdot @ S + ad @ self.Sdot)
        Vddot = Gp @ (S @ second + 2.0 * self.Sdot @ rate + Sddot @ nu)  # eq. 39
        Mdot = -(M @ ad + ad.T @ M)  # eq. 61
        Mddot = -(Mdot @ ad + ad.T @ Mdot + M @ ad_Vdot + ad_Vdot.T @ M)
        W = Gp.T @ (M @ Vdot + Mdot @ V - M @ G)  # eqs. 62, 64
        Wdot = Gp.T @ (M @ Vddot + 2.0 * Mdot @ Vdot + Mddot @ V - Mdot @ G)
        return S.T @ W, self.Sdot.T @ W + S.T @ Wdot
