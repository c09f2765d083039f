"""[Bos]'s own algorithms, line by line: an oracle for the compiled core that shares no code.

The extended inverse dynamics of a moving base with joints of one degree of freedom (Table 4), its
derivatives by the base's pose H, the joint positions s, the base's twist v and the joint rates r
(Tables 5 to 8), and the state matrix that they make (eq. 42). The inverse of the mass matrix
(Table 9) is in `immamb`. Numbers at the ends of lines are the table's line numbers.

Notation: frame A is the world, body 0 the base; `lam[i]` is the parent of body i. 6-vectors are
linear first. `X[i]` takes twists from the parent's to the body's frame (iXlam(i)); its transpose
takes wrenches back. `cross(v)` is the paper's v x, `cross_star(v)` its v x̄*.

Where the paper is wrong, ambiguous or says things twice, a comment begins with "Correction".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from trees import KINDS, Array, Tree, cross, skew


def cross_star(v: Array) -> Array:
    """The matrix of v x̄*, for wrenches: the dual of v x."""
    return -cross(v).T


def columns_cross_star(dv: Array, m: Array) -> Array:
    """Each column of dv, x̄* m."""
    return np.column_stack([cross_star(column) @ m for column in dv.T])


def twist_transform(rotation: Array, translation: Array) -> Array:
    """Twists from the frame A to the frame B that stands in A at this pose."""
    turn = rotation.T
    return np.block([[turn, -turn @ skew(translation)], [np.zeros((3, 3)), turn]])


def spatial_inertia(mass: float, com: Array, tensor: Array) -> Array:
    """6 x 6 inertia about the body's origin."""
    c = skew(com)
    return np.block([[mass * np.eye(3), -mass * c], [mass * c, tensor - mass * c @ c]])


@dataclass
class Bodies:
    """What the algorithms know of a robot at joint positions s; entry 0 of X and G is unused."""

    lam: list[int]
    inertia: list[Array]  # M_Bi
    X: list[Array]  # iXlam(i)
    G: list[Array]  # Gamma_Ji, the joint's motion subspace (6,)

    def __init__(self, tree: Tree, s: Array) -> None:
        assert tree.bodies[0].kind == "free"
        assert all(KINDS[body.kind].nv == 1 for body in tree.bodies[1:])
        self.lam = [body.parent for body in tree.bodies]
        self.inertia = [spatial_inertia(body.mass, body.com, body.tensor) for body in tree.bodies]
        self.X, self.G = [np.full((6, 6), np.nan)], [np.full(6, np.nan)]
        for body, position in zip(tree.bodies[1:], s, strict=True):
            kind, at = KINDS[body.kind], np.array([position])
            in_joint_frame = twist_transform(*kind.placement(body.axis, body.pitch, at))  # jcalc
            self.G.append(kind.subspace_at(body.axis, body.pitch, at)[:, 0])
            self.X.append(in_joint_frame @ twist_transform(body.rotation, body.translation))

    @property
    def joints(self) -> range:
        """The bodies but the base."""
        return range(1, len(self.lam))


class EIDAmb:
    """Table 4, with all its intermediate variables, which Tables 5 to 8 take.

    s, r, dr: joint positions, rates and accelerations. The base has the pose (R, o) in A, the body
    twist v0 and the acceleration a0 = dv0/dt; the table takes its twist in A, found from v0.
    """

    def __init__(
        self,
        tree: Tree,
        s: Array,
        r: Array,
        dr: Array,
        pose: tuple[Array, Array],
        v0: Array,
        a0: Array,
    ) -> None:
        self.bodies = bodies = Bodies(tree, s)
        lam, M, X, G = bodies.lam, bodies.inertia, bodies.X, bodies.G
        count = len(lam)
        self.dr, self.a0 = dr, a0
        self.R, self.o = pose
        self.base_X = twist_transform(*pose)  # 1-4: 0XA
        self.v_A = np.linalg.solve(self.base_X, v0)
        # Correction: the sign is not said; a_grav is what a robot at rest feels, upward.
        self.a_grav = np.concatenate([-tree.gravity, np.zeros(3)])

        v, vJ, ar, avp, m, bc, bvp = ([np.full(6, np.nan)] * count for _ in range(7))
        v[0] = self.base_X @ self.v_A  # 5
        ar[0] = self.base_X @ self.a_grav  # 6
        avp[0] = ar[0]  # 7
        Mc = list(M)  # 8, 19
        m[0] = M[0] @ v[0]  # 9
        bc[0] = M[0] @ ar[0] + cross_star(v[0]) @ m[0]  # 10
        bvp[0] = bc[0]  # 11
        for i in bodies.joints:  # 12
            vJ[i] = G[i] * r[i - 1]  # 14
            v[i] = X[i] @ v[lam[i]] + vJ[i]  # 16
            ar[i] = X[i] @ ar[lam[i]] + G[i] * dr[i - 1] + cross(v[i]) @ vJ[i]  # 17
            avp[i] = X[i] @ avp[lam[i]] + cross(v[i]) @ vJ[i]  # 18
            m[i] = M[i] @ v[i]  # 20
            bc[i] = M[i] @ ar[i] + cross_star(v[i]) @ m[i]  # 21
            bvp[i] = M[i] @ avp[i] + cross_star(v[i]) @ m[i]  # 22
        for i in reversed(bodies.joints):  # 24
            Mc[lam[i]] = Mc[lam[i]] + X[i].T @ Mc[i] @ X[i]  # 25
            bc[lam[i]] = bc[lam[i]] + X[i].T @ bc[i]  # 26
            bvp[lam[i]] = bvp[lam[i]] + X[i].T @ bvp[i]  # 27
        a_base = [a0] * count  # of the base, in each body's frame
        tau = np.full(count - 1, np.nan)
        F = np.full((6, count - 1), np.nan)
        for i in bodies.joints:  # 29
            a_base[i] = X[i] @ a_base[lam[i]]  # 30
            tau[i - 1] = G[i] @ (Mc[i] @ a_base[i] + bc[i])  # 31
            f = Mc[i] @ G[i]  # 32
            j = i  # 33
            while j > 0:  # 34-38, which treats the last step apart
                f = X[j].T @ f
                j = lam[j]
            F[:, i - 1] = f
        tau_b = Mc[0] @ a0 + F @ dr + bvp[0]  # 40

        self.v, self.vJ, self.ar, self.avp, self.m = v, vJ, ar, avp, m
        self.Mc, self.bc, self.bvp, self.a_base = Mc, bc, bvp, a_base
        # Correction: the table prints [tau; tau_b], eq. 32 and all that follows use [tau_b; tau].
        self.result = np.concatenate([tau_b, tau])
        # Correction: lines 7, 11, 18, 22, 27 and 32 to 38 are not needed.
        self.short_base_wrench = Mc[0] @ a0 + bc[0]


def derivative_by_pose(e: EIDAmb, *, as_printed: bool = False) -> Array:
    """Table 5: by the base's pose, H exp(z^), at a fixed **body** twist.

    Correction: line 1 as printed holds the twist in A fixed, against Table 7 and eq. 42, where the
    body twist is the state. With the body twist fixed, v_0 does not depend on H at all.
    """
    omega, velocity = e.v_A[3:], e.v_A[:3]
    turn = e.R.T
    printed = np.block(
        [
            [turn @ skew(omega) @ e.R, turn @ skew(velocity - skew(e.o) @ omega) @ e.R],
            [np.zeros((3, 3)), turn @ skew(omega) @ e.R],
        ]
    )
    dv0 = printed if as_printed else np.zeros((6, 6))  # 1
    linear, angular = e.a_grav[:3], e.a_grav[3:]
    da0 = np.block(
        [
            [turn @ skew(angular) @ e.R, turn @ skew(linear - skew(e.o) @ angular) @ e.R],
            [np.zeros((3, 3)), turn @ skew(angular) @ e.R],
        ]
    )  # 2
    return _from_base(e, dv0, da0)  # 3-17


def derivative_by_twist(e: EIDAmb) -> Array:
    """Table 7: by the base's body twist."""
    return _from_base(e, np.eye(6), np.zeros((6, 6)))


def _from_base(e: EIDAmb, dv0: Array, da0: Array) -> Array:
    """The sweeps that Tables 5 and 7 share, from the derivatives of v_0 and a_0^r."""
    lam, M, X, G = e.bodies.lam, e.bodies.inertia, e.bodies.X, e.bodies.G
    count = len(lam)
    dv, da, db = [dv0] * count, [da0] * count, [np.zeros((6, 6))] * count
    for i in range(count):
        if i > 0:
            dv[i] = X[i] @ dv[lam[i]]  # 6 (of Table 7: 5)
            da[i] = X[i] @ da[lam[i]] - cross(e.vJ[i]) @ dv[i]  # 7 (6)
        dm = M[i] @ dv[i]  # 3, 8 (2, 7)
        db[i] = M[i] @ da[i] + columns_cross_star(dv[i], e.m[i]) + cross_star(e.v[i]) @ dm  # 4, 9
    for i in reversed(e.bodies.joints):
        # Correction (one of the two editions): the first term on the right is lam(i)'s.
        db[lam[i]] = db[lam[i]] + X[i].T @ db[i]  # 12 (11)
    return np.vstack([db[0], *(G[i] @ db[i] for i in e.bodies.joints)])  # 14-17 (13-16)


def derivative_by_rates(e: EIDAmb) -> Array:
    """Table 8: by the joint rates r."""
    lam, M, X, G = e.bodies.lam, e.bodies.inertia, e.bodies.X, e.bodies.G
    n = len(lam) - 1
    dv, da, db = ([np.zeros((6, n))] * (n + 1) for _ in range(3))
    for i in e.bodies.joints:  # 1
        k = i - 1
        dv[i] = X[i] @ dv[lam[i]]  # 3
        dv[i][:, k] += G[i]  # 2, 4
        da[i] = X[i] @ da[lam[i]] - cross(e.vJ[i]) @ dv[i]  # 5
        da[i][:, k] += cross(e.v[i]) @ G[i]  # 6
        dm = M[i] @ dv[i]  # 7
        db[i] = M[i] @ da[i] + columns_cross_star(dv[i], e.m[i]) + cross_star(e.v[i]) @ dm  # 8
    for i in reversed(e.bodies.joints):  # 10
        db[lam[i]] = db[lam[i]] + X[i].T @ db[i]  # 11
    return np.vstack([db[0], *(G[i] @ db[i] for i in e.bodies.joints)])  # 13-16


def derivative_by_positions(e: EIDAmb) -> Array:
    """Table 6: by the joint positions s.

    Correction: lines 8, 9, 12, 21, 22 (vp) and 32, 35 to 47 (F) are right but not needed: the
    base's rows are the derivative of M_0^c a_0 + b_0^c, lines 19, 20 and 25.
    """
    lam, M, X, G = e.bodies.lam, e.bodies.inertia, e.bodies.X, e.bodies.G
    n = len(lam) - 1
    dX = [np.zeros((6, 6))] * (n + 1)
    dv, dar, davp, dbc, dbvp, da_base = ([np.zeros((6, n))] * (n + 1) for _ in range(6))
    dMc = [np.zeros((n, 6, 6)) for _ in range(n + 1)]
    for i in e.bodies.joints:  # 1
        k, parent = i - 1, lam[i]
        dX[i] = -cross(G[i]) @ X[i]  # 2, 3: jcalcderv of every joint of one degree of freedom
        dv[i] = X[i] @ dv[parent]  # 4
        dv[i][:, k] += dX[i] @ e.v[parent]  # 5
        dar[i] = X[i] @ dar[parent] - cross(e.vJ[i]) @ dv[i]  # 6
        dar[i][:, k] += dX[i] @ e.ar[parent]  # 7
        davp[i] = X[i] @ davp[parent] - cross(e.vJ[i]) @ dv[i]  # 8
        davp[i][:, k] += dX[i] @ e.avp[parent]  # 9
        dm = M[i] @ dv[i]  # 10
        products = columns_cross_star(dv[i], e.m[i]) + cross_star(e.v[i]) @ dm
        dbc[i] = M[i] @ dar[i] + products  # 11
        dbvp[i] = M[i] @ davp[i] + products  # 12
    for i in reversed(e.bodies.joints):  # 14
        k, parent = i - 1, lam[i]
        dMc[parent] += X[i].T @ dMc[i] @ X[i]  # 16, for all k
        # Correction (one of the two editions): the last factor is the derivative of iXlam(i).
        dMc[parent][k] += dX[i].T @ e.Mc[i] @ X[i] + X[i].T @ e.Mc[i] @ dX[i]  # 18
        dbc[parent] = dbc[parent] + X[i].T @ dbc[i]  # 19
        dbc[parent][:, k] += dX[i].T @ e.bc[i]  # 20
        dbvp[parent] = dbvp[parent] + X[i].T @ dbvp[i]  # 21
        dbvp[parent][:, k] += dX[i].T @ e.bvp[i]  # 22
    dtau = []
    dF_dr = np.zeros((6, n))
    for i in e.bodies.joints:  # 27
        da_base[i] = X[i] @ da_base[lam[i]]  # 28
        da_base[i][:, i - 1] += dX[i] @ e.a_base[lam[i]]  # 29
        of_inertia = (dMc[i] @ e.a_base[i]).T  # 31
        dtau.append(G[i] @ (of_inertia + e.Mc[i] @ da_base[i] + dbc[i]))  # 34
        f, df = e.Mc[i] @ G[i], (dMc[i] @ G[i]).T  # 32
        j = i  # 35
        while j > 0:  # 36-46, which treats the last step apart
            df = X[j].T @ df  # 38, 44
            df[:, j - 1] += dX[j].T @ f  # 40, 46
            f = X[j].T @ f
            j = lam[j]
        dF_dr += df * e.dr[i - 1]  # 47. Correction: the scalar dr_i, printed as the vector.
    dtau_b = (dMc[0] @ e.a0).T + dF_dr + dbvp[0]  # 25, 49
    return np.vstack([dtau_b, *dtau])


def state_matrix(e: EIDAmb, mass_matrix_inverse: Array) -> Array:
    """A of eq. 42: perturbations of [H, s, v_0, r], left-trivialized."""
    n = mass_matrix_inverse.shape[0]
    kinematics = np.zeros((n, 2 * n))
    kinematics[:6, :6] = -cross(e.v[0])
    kinematics[:, n:] = np.eye(n)
    torque = np.hstack(
        [
            derivative_by_pose(e),
            derivative_by_positions(e),
            derivative_by_twist(e),
            derivative_by_rates(e),
        ]
    )
    return np.vstack([kinematics, -mass_matrix_inverse @ torque])
