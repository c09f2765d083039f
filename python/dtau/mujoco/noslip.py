"""Differentiate the sweeps of MuJoCo's noslip solver: `Noslip`.

After the main solver, `mj_solNoSlip` minimizes  f^T A f / 2 + f^T b,  A = J M^-1 J^T,  over the
friction forces f of one row or contact after the other, without regularization and at constant
normal forces. It takes a few sweeps, which do not converge. So the derivatives go through each
of them, from the solution of the main solver. With the changes x of the forces so far, the
accelerations are  a + M^-1 J^T x,  and a block of rows has the residual  J a + B J v + A x.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from dtau.mujoco.axes_motion import Axes
from dtau.mujoco.cone_sweeps import Block, swept
from dtau.mujoco.plan import Plan
from dtau.mujoco.scope import not_covered
from dtau.mujoco.solved import Solved

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_FRICTION = (
    int(mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF),
    int(mujoco.mjtConstraint.mjCNSTR_FRICTION_TENDON),
)
_CLOSE = 1e-6  # of the largest acceleration: most that the sweeps differ from MuJoCo's


class _Rows(NamedTuple):
    """Friction rows: their Jacobian (m, nv) and its derivatives by q (m, nv, nv)."""

    jacobian: Array
    turning: Array
    damping: Array  # (m,)
    force: Array  # (m,): of the main solver
    by_force: Array  # (m, width)
    blocks: list[Block]


class Noslip:
    """Solutions before the noslip solver at n states, and the sweeps that it takes.

    `without`: the model of `without_noslip`.

    Attributes
    ----------
    before : Solved
    """

    def __init__(self, plan: Plan, without: Any, n: int) -> None:
        self._without = without
        self.before = Solved(plan, without, n)
        self._sweeps: list[Indices] = []  # of each row of constraints
        self._inertias: list[Array] = []

    def add(self, k: int, mj_model: Any, data: Any, fixed: tuple[Any, ...]) -> None:
        """Collect the solution of the main solver in `data`, where the noslip solver has run."""
        sweeps, islands = data.solver_niter.copy(), data.nisland
        if islands > len(sweeps):
            raise not_covered(
                f"the noslip solver with more than {len(sweeps)} islands, unless option/flag "
                "disables island"
            )
        kept = [(x, x.copy()) for x in (data.qacc, data.qfrc_constraint)]
        mujoco.mj_fwdConstraint(self._without, data)
        self.before.add(k, mj_model, data, fixed)
        sweeps -= data.solver_niter
        for array, values in kept:  # the step continues from them
            array[:] = values
        island = data.efc_island if islands else np.zeros(data.nefc, dtype=int)
        self._sweeps.append(sweeps[island])
        self._inertias.append(data.crb.copy())

    def rates(self, after: Solved, contact_rows: Array, by: Array) -> Array:
        """Return derivatives (n, nv, width) of the accelerations `after.a`, from those before.

        `contact_rows`: the numbers of contacts that the core writes.
        """
        out = by.copy()
        for k in range(after.n):
            axes = Axes(self.before, k, self._inertias[k])
            rows = self._rows(k, axes, contact_rows, by[k])
            if rows.blocks:
                self._add(k, axes, rows, after.a[k], out[k])
        return out

    def _add(self, k: int, axes: Axes, rows: _Rows, after: Array, by: Array) -> None:
        """Add the change of the accelerations by the sweeps to their derivatives `by`."""
        a, v, nv, mass = self.before.a[k], self.before.v[k], axes.nv, self.before.mass[k]
        jacobian, turning, damping = rows.jacobian, rows.turning, rows.damping[:, np.newaxis]
        solved = np.linalg.solve(mass, jacobian.T)  # M^-1 J^T
        half = solved.T @ (turning - 0.5 * np.tensordot(solved, axes.by_mass(), (0, 0)))
        by_residual = jacobian @ by
        by_residual[:, :nv] += np.vecmat(a + damping * v, turning)
        by_residual[:, nv : 2 * nv] += damping * jacobian
        residual = jacobian @ a + rows.damping * (jacobian @ v)
        schur, by_schur = jacobian @ solved, half + half.swapaxes(0, 1)
        given = schur, by_schur, residual, by_residual, rows.force, rows.by_force
        x, by_x = swept(*given, rows.blocks)
        change = solved @ x
        largest = np.abs(after).max() + np.abs(a).max()
        if not np.abs(a + change - after).max() <= _CLOSE * largest:
            raise not_covered(
                "solutions of the noslip solver that the main solver has not converged for, "
                "unless option/tolerance is smaller or option/iterations larger"
            )
        moved = jacobian.T @ by_x
        moved[:, :nv] += np.tensordot(x, turning, 1) - np.tensordot(change, axes.by_mass(), 1)
        by += np.linalg.solve(mass, moved)

    def _rows(self, k: int, axes: Axes, contact_rows: Array, by: Array) -> _Rows:
        """Return the friction rows of state `k`, in the order of MuJoCo's sweeps."""
        parts = [self._losses(k, by)]
        found = self.before.contacts_of(k, self._without.geom_bodyid)
        for c in np.argsort(found.address, kind="stable"):
            if found.address[c] >= 0 and found.dim[c] > 1:
                parts.append(self._contact(k, axes, found, c, contact_rows, by))
        return _joined([part for part in parts if len(part.force)], axes.nv, by.shape[1])

    def _losses(self, k: int, by: Array) -> _Rows:
        """Return the rows of friction loss."""
        nv, solved = self.before.plan.nv, self.before
        every = solved.plain_rows()
        if every is None:
            return _joined([], nv, by.shape[1])
        chosen = (every.state == k) & np.isin(every.kind, _FRICTION)
        rows = every.chosen(chosen)
        jacobian, damping = rows.jacobian.reshape(-1, nv), rows.parameters[:, 1]
        force = rows.weight * (rows.reference - jacobian @ solved.a[k])
        by_force = jacobian @ by
        by_force[:, nv : 2 * nv] += damping[:, np.newaxis] * jacobian
        by_force *= -rows.weight[:, np.newaxis]
        by_force[np.abs(force) >= rows.loss] = 0.0
        force = np.clip(force, -rows.loss, rows.loss)
        sweeps = self._sweeps[k][np.flatnonzero(chosen[every.state == k])]
        still = np.zeros(by.shape[1])
        blocks = [
            Block(slice(i, i + 1), int(sweeps[i]), np.ones(1), rows.loss[i : i + 1], still[None])
            for i in range(len(force))
        ]
        turning = np.zeros((len(jacobian), nv, nv))
        return _Rows(jacobian, turning, damping, force, by_force, blocks)

    def _contact(
        self, k: int, axes: Axes, found: Any, c: int, contact_rows: Array, by: Array
    ) -> _Rows:
        """Return the rows along the tangents of a contact, and about its axes."""
        solved, nv, dim = self.before, axes.nv, int(found.dim[c])
        numbers = contact_rows[found.first + c]
        force, hessian, y = numbers[:6], numbers[6:42].reshape(6, 6), numbers[42:48]
        jacobian, motion = (x.reshape(-1, nv) for x in np.split(numbers[48:], [6 * nv]))
        turning = axes.turning(found.bodies[c], found.pos[c], found.frame[c], motion)
        stiffness, normal_damping, impedance, slope = found.parameters[c, 0]
        damping = np.full(6, found.parameters[c, 1, 1])
        damping[0] = normal_damping
        a, v = solved.a[k], solved.v[k]
        by_y = jacobian @ by
        by_y[:, :nv] += np.vecmat(a + damping[:, np.newaxis] * v, turning)
        by_y[:, nv : 2 * nv] += damping[:, np.newaxis] * jacobian
        by_y[0, :nv] += stiffness * (impedance + slope * found.depth[c]) * motion[6]
        by_weight = slope / (impedance * (1.0 - impedance)) * motion[6]
        by_force = -hessian @ by_y
        by_force[:, :nv] += force[:, np.newaxis] * by_weight
        mu, some = found.friction[c, : dim - 1], slice(1, dim)
        sweeps = int(self._sweeps[k][found.address[c]])
        if solved.plan.elliptic:
            blocks = [Block(slice(0, dim - 1), sweeps, mu, force[:1], by_force[:1])]
        else:  # pairs of edges have normal forces of their own
            both, odd = hessian.diagonal()[some] / mu**2, hessian[0, some]
            normal = -(both * y[0] + odd * y[some])
            by_normal = -(both[:, np.newaxis] * by_y[0] + odd[:, np.newaxis] * by_y[some])
            by_normal[:, :nv] += normal[:, np.newaxis] * by_weight
            blocks = [
                Block(slice(i, i + 1), sweeps, mu[i:][:1], normal[i:][:1], by_normal[i:][:1])
                for i in range(dim - 1)
            ]
        return _Rows(
            jacobian[some], turning[some], damping[some], force[some], by_force[some], blocks
        )


def _joined(parts: list[_Rows], nv: int, width: int) -> _Rows:
    """Return rows one after the other."""
    if not parts:
        none = np.empty(0)
        return _Rows(np.empty((0, nv)), np.empty((0, nv, nv)), none, none, np.empty((0, width)), [])
    blocks, first = [], 0
    for part in parts:
        for block in part.blocks:
            rows = slice(first + block.rows.start, first + block.rows.stop)
            blocks.append(block._replace(rows=rows))
        first += len(part.force)
    joined = [np.concatenate([part[i] for part in parts]) for i in range(5)]
    return _Rows(joined[0], joined[1], joined[2], joined[3], joined[4], blocks)
