"""Compute MuJoCo's solution at states and collect the arrays of it: `Solver`, `Solved`."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from dtau.mujoco.plan import Plan
from dtau.mujoco.vectors import twist_cross

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
_local = threading.local()


class Contacts(NamedTuple):
    """Some of the contacts; leading axis: contacts."""

    state: Indices
    geom: NDArray[np.int32]  # (n, 2)
    pos: Array
    frame: Array  # (n, 3, 3): rows are the normal and two tangents


class Rows(NamedTuple):
    """Rows of equality constraints."""

    state: Indices
    id: NDArray[np.int32]
    jacobian: Array
    weight: Array
    reference: Array
    parameters: Array  # (n, 4): KBIP
    position: Array

    def chosen(self, some: Any) -> Rows:
        """Return some of the rows."""
        return Rows(*(x[some] for x in self))


def _empty(*types: str) -> tuple[Any, ...]:
    return tuple(np.empty(0, dtype=kind) for kind in types)


_NO_ROWS = _empty("d", "d")
_NO_PLAIN_ROWS = _empty("i4", "i4", "d", "d", "d", "d", "d")
_NO_CONTACTS = _empty("i4", "i4", "i4", "d", "d", "d", "d", "d", "d")


class Solved:
    """Solutions at n states.

    Attributes
    ----------
    q, v, act, ctrl, a, act_dot, bias, torque : ndarray (n, ...)
        `torque` is the sum of smooth and constraint forces, without the bias.
    mass : ndarray (n, nv, nv)
    moved : ndarray (3, n, nactuator)
        Lengths, velocities and forces of the actuators.
    xpos, xquat : ndarray (n, nbody, ...)
        Poses of bodies, where a state has equality constraints.
    """

    def __init__(self, plan: Plan, mj_model: Any, n: int) -> None:
        self.plan, self.n = plan, n
        nv, nbody, ngeom = plan.nv, mj_model.nbody, mj_model.ngeom
        self.q = np.empty((n, mj_model.nq))
        self.v, self.a, self.bias, self.torque = np.empty((4, n, nv))
        self.act, self.act_dot = np.empty((2, n, plan.na))
        self.ctrl = np.empty((n, plan.nu))
        self.mass = np.zeros((n, nv, nv))
        self.moved = np.empty((3, n, mj_model.nactuator))
        self._cdof, self._com = np.empty((n, nv, 6)), np.empty((n, nbody, 3))
        self.xpos, self.xquat = np.empty((n, nbody, 3)), np.empty((n, nbody, 4))
        self._xmat = np.empty((n, nbody, 9))
        self._geom_xpos, self._geom_xmat = np.empty((n, ngeom, 3)), np.empty((n, ngeom, 9))
        self._counts = np.zeros((4, n + 1), dtype=np.intp)  # rows, plain rows, contacts, equalities
        self._parts: tuple[list[tuple[Any, ...]], ...] = ([], [], [])

    def add(self, k: int, mj_model: Any, data: Any) -> None:
        """Collect the solution in `data` as state `k`."""
        self.q[k], self.v[k], self.a[k] = data.qpos, data.qvel, data.qacc
        self.bias[k] = data.qfrc_bias
        np.add(data.qfrc_smooth, data.qfrc_constraint, out=self.torque[k])
        self.ctrl[k] = data.ctrl
        if self.plan.na:
            self.act[k], self.act_dot[k] = data.act, data.act_dot
        length, velocity, force = self.moved
        length[k], velocity[k] = data.actuator_length, data.actuator_velocity
        force[k] = data.actuator_force
        mujoco.mj_fullM(mj_model, data, self.mass[k])
        self._cdof[k] = data.cdof
        self._com[k], self._xmat[k] = data.subtree_com, data.xmat
        if data.nefc:
            self._add_constraints(k, mj_model, data)

    def _add_constraints(self, k: int, mj_model: Any, data: Any) -> None:
        rows, plain_rows, contacts = self._parts
        count, equalities = data.nefc, data.ne
        plain = equalities + data.nf + data.nl
        touching = data.ncon if plain < count else 0
        self._counts[:, k + 1] = count, plain, touching, equalities
        rows.append((data.efc_D.copy(), data.efc_KBIP.copy()))
        if touching:
            contact = data.contact
            contacts.append(
                (
                    contact.efc_address.copy(),
                    contact.geom.copy(),
                    contact.dim.copy(),
                    contact.pos.copy(),
                    contact.frame.copy(),
                    contact.dist.copy(),
                    contact.includemargin.copy(),
                    contact.friction.copy(),
                    contact.mu.copy(),
                )
            )
            self._geom_xpos[k], self._geom_xmat[k] = data.geom_xpos, data.geom_xmat
        if plain:
            plain_rows.append(
                (
                    data.efc_type[:plain].copy(),
                    data.efc_id[:plain].copy(),
                    _dense_jacobian(mj_model, data, plain),
                    data.efc_aref[:plain].copy(),
                    data.efc_pos[:plain].copy(),
                    data.efc_margin[:plain].copy(),
                    data.efc_frictionloss[:plain].copy(),
                )
            )
        if equalities:
            self.xpos[k], self.xquat[k] = data.xpos, data.xquat

    def finish(self) -> None:
        """Join the collected arrays."""
        rows, plain, contacts = self._parts
        self._starts = starts = self._counts.cumsum(axis=1)
        self._rows = _joined(rows) if rows else _NO_ROWS
        self._plain = _joined(plain) if plain else _NO_PLAIN_ROWS
        self._contacts = _joined(contacts) if contacts else _NO_CONTACTS
        self.arrays = (
            *(starts[0], self.q, self.v, self.a, self.act, self.act_dot, self.ctrl, self.bias),
            *(self.torque, self.mass, *self.moved, self._cdof, self._com, self._xmat),
            *(self._geom_xpos, self._geom_xmat, *self._rows),
            *(starts[1], *self._plain, starts[2], *self._contacts),
        )

    @property
    def axes(self) -> Array:
        """Twists [linear, angular] of the degrees of freedom, at the world's origin, (n, nv, 6)."""
        linear, angular = self._cdof[..., 3:], self._cdof[..., :3]
        com = self._com[:, self.plan.dof_roots]
        return np.concatenate([linear + np.cross(com, angular), angular], axis=-1)

    def equalities(self) -> Rows | None:
        """Return the rows of equality constraints, which are the first ones of a state."""
        if not self._starts[3, -1]:
            return None
        counts, (rows, plain, *_) = self._counts[3, 1:], self._starts
        state = np.arange(self.n).repeat(counts)
        within = np.arange(len(state)) - self._starts[3, :-1].repeat(counts)
        weight, parameters = self._rows[0], self._rows[1].reshape(-1, 4)
        weight, parameters = (x[rows[state] + within] for x in (weight, parameters))
        _, of, jacobian, reference, position, *_ = (x[plain[state] + within] for x in self._plain)
        return Rows(state, of, jacobian, weight, reference, parameters, position)

    def contacts(self, some: Indices) -> Contacts:
        """Return some of the contacts."""
        _, geom, _, pos, frame, *_ = (x[some] for x in self._contacts)
        state = np.searchsorted(self._starts[2], some, side="right") - 1
        return Contacts(state, geom, pos, frame.reshape(-1, 3, 3))


class Kinematics:
    """Matrices that the derivatives of constraint rows share.

    Attributes
    ----------
    axes : ndarray (n, 6, nv)
    cross : ndarray (n, nv, 6, 6)
        Motion cross products of the axes.
    rates : ndarray (n, nv, 2)
        Acceleration and velocity.
    crosses : ndarray (n, 6, 6 nv)
        Entry [y, x nv + j]: how axis j turns component y of a twist into component x.
    own : ndarray (n, 2, 6, nv)
        S_j x (sum of S_i rate_i over the axes i of the path that j does not move).
    """

    def __init__(self, solved: Solved) -> None:
        plan, n = solved.plan, solved.n
        rows, nv = solved.axes, plan.nv
        rates = np.stack([solved.a, solved.v], axis=1)
        self.cross = cross = twist_cross(rows)
        still = plan.still @ (rows[:, np.newaxis] * rates[..., np.newaxis])
        self.axes = rows.swapaxes(-1, -2)
        self.rates = rates.swapaxes(-1, -2)
        self.own = np.matvec(cross[:, np.newaxis], still).swapaxes(-1, -2)
        self.crosses = cross.transpose(0, 3, 2, 1).reshape(n, 6, 6 * nv)

    def of(self, state: Indices) -> tuple[Array, Array]:
        """Return `axes` and `rates` for items of these states."""
        if len(self.axes) == 1:
            return self.axes, self.rates
        return self.axes[state], self.rates[state]

    def turning(self, state: Indices) -> tuple[Array, Array]:
        """Return `crosses` and `own` for items of these states."""
        if len(self.axes) == 1:
            return self.crosses, self.own
        return self.crosses[state], self.own[state]


class Solver:
    """Solve the constraints of states in a copy of the data, which stays with the thread.

    Solvers of other `number` have copies of their own, for other threads to use.
    """

    def __init__(self, mj_model: Any, mj_data: Any, number: int = 0) -> None:
        self._model = mj_model
        kept = getattr(_local, "kept", None)
        if kept is None or kept[0] is not mj_model:
            _local.kept = kept = (mj_model, [])
        while len(kept[1]) <= number:
            kept[1].append(mujoco.MjData(mj_model))
        self.data: Any = kept[1][number]
        self._state: Array = np.empty(mujoco.mj_stateSize(mj_model, _STATE))
        mujoco.mj_getState(mj_model, mj_data, self._state, _STATE)

    def reset(self) -> Any:
        """Return the data with the state of `mj_data`."""
        mujoco.mj_setState(self._model, self.data, self._state, _STATE)
        return self.data


def _joined(parts: list[tuple[Any, ...]]) -> list[Any]:
    if len(parts) == 1:
        return list(parts[0])
    return [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]


def _dense_jacobian(mj_model: Any, data: Any, rows: int) -> Array:
    shape = data.nefc, mj_model.nv
    if mujoco.mj_isSparse(mj_model):
        out = np.zeros(shape)
        mujoco.mju_sparse2dense(
            out, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind
        )
        return out[:rows]
    return np.array(data.efc_J.reshape(shape)[:rows])
