"""Compute MuJoCo's solution at states and collect the arrays of it: `Solver`, `Solved`."""

from __future__ import annotations

import copy
import threading
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from dtau import _core
from dtau.mujoco.rows import Rows, StateContacts
from dtau.mujoco.tendons import moment_arms
from dtau.mujoco.vectors import twist_cross

if TYPE_CHECKING:
    from dtau.mujoco.parameters import Parameters
    from dtau.mujoco.plan import Plan

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
_EQUALITY = int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
_local = threading.local()


class Contacts(NamedTuple):
    """Some of the contacts; leading axis: contacts."""

    state: Indices
    number: Indices  # in its state
    geom: NDArray[np.int32]  # (n, 2)
    pos: Array
    frame: Array  # (n, 3, 3): rows are the normal and two tangents
    dist: Array


# Attributes of MjData, of its rows of constraints and of its contacts, in the order of the core.
_NAMES = (
    *("qpos", "qvel", "qacc", "act", "act_dot", "ctrl", "qfrc_bias", "qfrc_smooth"),
    *("qfrc_constraint", "actuator_length", "actuator_velocity", "actuator_force"),
    "qfrc_actuator",
    *("cdof", "subtree_com", "xmat", "xipos", "geom_xpos", "geom_xmat"),
)
_FIXED = attrgetter(*_NAMES)
_OF_ROWS = (
    *("efc_D", "efc_KBIP", "efc_type", "efc_id", "efc_aref", "efc_pos", "efc_margin"),
    "efc_frictionloss",
)
_OF_CONTACTS = (
    *("efc_address", "geom", "dim", "pos", "frame", "dist", "includemargin", "friction", "mu"),
)


def _empty(*types: str) -> tuple[Any, ...]:
    return tuple(np.empty(0, dtype=kind) for kind in types)


_NO_ROWS = _empty("d", "d", "i4", "i4", "d", "d", "d", "d")
(_NO_JACOBIAN,) = _empty("d")
_NO_CONTACTS = _empty("i4", "i4", "i4", "d", "d", "d", "d", "d", "d")


def _contact_layout(contacts: Any) -> Indices:
    """Return offset, count and size of the numbers of a contact that the core reads, by `dist`."""
    first = contacts.dist.__array_interface__["data"][0]
    rows = []
    for name in _OF_CONTACTS:
        x = getattr(contacts, name)
        count = x.shape[1] if x.ndim > 1 else 1
        rows.append((x.__array_interface__["data"][0] - first, count, x.itemsize))
    return np.array(rows, dtype=np.intp)


class Solved:
    """Solutions at n states.

    Attributes
    ----------
    q, v, act, ctrl, a, act_dot, bias, torque : ndarray (n, ...)
        `torque` is the sum of smooth and constraint forces, without the bias.
    force, actuation : ndarray (n, ...)
        Forces of the actuators, and the joint forces of them all.
    mass : ndarray (n, nv, nv)
    """

    def __init__(self, plan: Plan, mj_model: Any, n: int) -> None:
        self.plan, self.n = plan, n
        nv, nbody, ngeom = plan.nv, mj_model.nbody, mj_model.ngeom
        nact = mj_model.nactuator
        self.q, self.v, self.a = (np.empty((n, size)) for size in (mj_model.nq, nv, nv))
        self.act, self.act_dot, self.ctrl = (np.empty((n, x)) for x in (plan.na, plan.na, plan.nu))
        self.bias, self.torque, self._constraint_torque = np.empty((3, n, nv))
        actuation = np.empty((n, nv))
        self._arms = np.tile(plan.actuators.arms, (n, 1))
        self.mass = np.zeros((n, nv, nv))
        length, velocity, force = np.empty((3, n, nact))
        self.force, self.actuation = force, actuation
        self._cdof, self._com = np.empty((n, nv, 6)), np.empty((n, nbody, 3))
        xmat, xipos = np.empty((n, nbody, 9)), np.empty((n, nbody, 3))
        geom_xpos, geom_xmat = np.empty((n, ngeom, 3)), np.empty((n, ngeom, 9))
        self._copied = (
            *(self.q, self.v, self.a, self.act, self.act_dot, self.ctrl, self.bias, self.torque),
            *(self._constraint_torque, length, velocity, force, actuation),
            *(self._cdof, self._com, xmat, xipos, geom_xpos, geom_xmat),
        )
        self._arrays = (
            *(self.q, self.v, self.a, self.act, self.act_dot, self.ctrl, self.bias, self.torque),
            *(self.mass, length, velocity, force, actuation, self._arms),
            *(self._cdof, self._com, xmat, xipos, geom_xpos, geom_xmat),
        )
        self._counts = np.zeros((4, n + 1), dtype=np.intp)  # rows, plain rows, contacts, equalities
        self._parts: tuple[list[tuple[Any, ...]], ...] = ([], [], [])
        self._poses: list[tuple[Any, ...]] = []
        self._tendons: list[tuple[Any, ...]] = []

    def size(self) -> int:
        """Return the size of the arrays in bytes."""
        copies = [x for parts in self._parts for arrays in parts for x in arrays]
        return sum(x.nbytes for x in (*self._arrays, *copies))

    def clear(self) -> None:
        """Forget the states."""
        self._counts[:] = 0
        for parts in (*self._parts, self._poses, self._tendons):
            parts.clear()

    def add(self, k: int, mj_model: Any, data: Any, fixed: tuple[Any, ...]) -> None:
        """Collect the solution in `data` as state `k`; the states come in turn.

        `fixed`: the arrays of `data` that do not move, of `Solver`.
        """
        _core.mujoco_copy_rows(fixed, self._copied, k)
        mujoco.mj_fullM(mj_model, data, self.mass[k])
        if len(self.plan.actuators.moving):
            actuators = self.plan.actuators
            self._arms[k, actuators.moving] = actuators.moving_arms(mj_model, data)
        if data.nefc:
            self._add_constraints(k, mj_model, data)

    def _add_constraints(self, k: int, mj_model: Any, data: Any) -> None:
        rows, jacobians, contacts = self._parts
        count, equalities = data.nefc, data.ne
        plain = equalities + data.nf + data.nl
        touching = data.ncon if plain < count else 0
        self._counts[:, k + 1] = count, plain, touching, equalities
        rows.append(_core.mujoco_copies(data, _OF_ROWS))
        if touching:
            contacts.append(_copied_contacts(data.contact))
        if plain:
            jacobians.append((_dense_jacobian(mj_model, data, plain),))
        if equalities:
            self._poses.append((k, data.xpos.copy(), data.xquat.copy()))
            if mj_model.ntendon:
                arms = moment_arms(mj_model, data)
                self._tendons.append((k, data.ten_length.copy(), arms))

    def finish(self, mj_model: Any, parameters: Parameters | None) -> None:
        """Join the collected arrays, and add those of parameters."""
        rows, jacobians, contacts = self._parts
        self.torque += self._constraint_torque
        # The first column is zero: one state has its counts as sums.
        self._starts = starts = self._counts if self.n == 1 else self._counts.cumsum(axis=1)
        self._rows = _joined(rows) if rows else _NO_ROWS
        self._jacobian = _joined(jacobians)[0] if jacobians else _NO_JACOBIAN
        self._contacts = _joined(contacts) if contacts else _NO_CONTACTS
        self.arrays = (
            *(starts[0], *self._arrays, *self._rows),
            *(starts[1], self._jacobian, starts[2], *self._contacts),
        )
        if parameters is not None:
            of_parameters = parameters.of_solutions(mj_model, self.q, self._contacts[1])
            self.arrays = *self.arrays, *of_parameters

    def poses(self, state: Indices) -> tuple[Array, Array]:
        """Return the positions and quaternions of all bodies in states with equalities."""
        return _of_states(self._poses, state)

    def tendons(self, state: Indices) -> tuple[Array, Array]:
        """Return the lengths and moment arms of all tendons in states with equalities."""
        return _of_states(self._tendons, state)

    @property
    def axes_about_com(self) -> Array:
        """Twists as `axes`, at the center of mass of each tree."""
        return np.concatenate([self._cdof[..., 3:], self._cdof[..., :3]], axis=-1)

    @property
    def axes(self) -> Array:
        """Twists [linear, angular] of the degrees of freedom, at the world's origin, (n, nv, 6)."""
        linear, angular = self._cdof[..., 3:], self._cdof[..., :3]
        com = self._com[:, self.plan.dof_roots]
        return np.concatenate([linear + np.cross(com, angular), angular], axis=-1)

    def plain_rows(self) -> Rows | None:
        """Return the rows of all constraints but contacts."""
        if not self._starts[1, -1]:
            return None
        counts, (rows, plain, *_) = self._counts[1, 1:], self._starts
        state = np.arange(self.n).repeat(counts)
        places = np.arange(len(state)) + (rows[:-1] - plain[:-1]).repeat(counts)
        weight, parameters, kind, of, reference, position, _, loss = self._rows
        parameters = parameters.reshape(-1, 4)
        fields = (of, kind, weight, reference, parameters, position, loss)
        return Rows(state, self._jacobian, *(x[places] for x in fields))

    def equalities(self) -> Rows | None:
        """Return the rows of equality constraints."""
        rows = self.plain_rows() if self._starts[3, -1] else None
        return None if rows is None else rows.chosen(rows.kind == _EQUALITY)

    def contacts(self, some: Indices) -> Contacts:
        """Return some of the contacts."""
        _, geom, _, pos, frame, dist, *_ = (x[some] for x in self._contacts)
        starts = self._starts[2]
        state = np.searchsorted(starts, some, side="right") - 1
        return Contacts(state, some - starts[state], geom, pos, frame.reshape(-1, 3, 3), dist)

    def contacts_of(self, k: int, geom_bodies: NDArray[np.int32]) -> StateContacts:
        """Return the contacts of a state."""
        some = slice(*self._starts[2, k : k + 2])
        address, geom, dim, pos, frame, dist, margin, friction, _ = (
            x[some] for x in self._contacts
        )
        _, parameters, *_ = self._rows
        rows = self._starts[0, k] + address[:, np.newaxis] + [0, 1]
        last = len(parameters.reshape(-1, 4)) - 1
        return StateContacts(
            *(int(some.start), address, dim, geom_bodies[geom], pos, frame.reshape(-1, 3, 3)),
            *(dist - margin, friction, parameters.reshape(-1, 4)[np.clip(rows, 0, last)]),
        )

    def contact_count(self) -> int:
        """Return the number of contacts of all states."""
        return int(self._starts[2, -1])

    def limited_joint(self, row: int) -> tuple[int, int]:
        """Return the joint of a limit's row, and its state."""
        _, _, _, joints, *_ = self._rows
        return int(joints[row]), int(np.searchsorted(self._starts[0], row, side="right") - 1)


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


def integration_state(mj_model: Any, mj_data: Any) -> Array:
    """Return all numbers of the data that a step depends on."""
    state: Array = np.empty(mujoco.mj_stateSize(mj_model, _STATE))
    mujoco.mj_getState(mj_model, mj_data, state, _STATE)
    return state


class _Memory:
    """Data in which a thread solves, and arrays for the solutions of one state."""

    def __init__(self, mj_model: Any) -> None:
        self.data: Any = mujoco.MjData(mj_model)
        self.fixed: tuple[Any, ...] = _FIXED(self.data)
        self.plan: Plan | None = None
        self.stages: list[Solved] = []
        self.without_noslip: Any = None


class Solver:
    """Solve the constraints of states in data of its own, which stays with the thread.

    It starts from `given`, an `integration_state`. Solvers of other `number` have other data, for
    other threads to use.
    """

    def __init__(self, mj_model: Any, given: Array, number: int = 0) -> None:
        self._model = mj_model
        kept: tuple[Any, list[_Memory]] | None = getattr(_local, "kept", None)
        if kept is None or kept[0] is not mj_model:
            _local.kept = kept = (mj_model, [])
        while len(kept[1]) <= number:
            kept[1].append(_Memory(mj_model))
        self._memory = kept[1][number]
        self.data, self.fixed = self._memory.data, self._memory.fixed
        self._state = given

    def reset(self) -> Any:
        """Return the data with the state that was given."""
        mujoco.mj_setState(self._model, self.data, self._state, _STATE)
        return self.data

    def without_noslip(self) -> Any:
        """Return a copy of the model in which the noslip solver does not run.

        It is for solutions from what is in the data. Large meshes take long to copy: it stays.
        """
        memory = self._memory
        if memory.without_noslip is None:
            memory.without_noslip = copy.copy(self._model)
        other = memory.without_noslip
        other.opt, other.stat = self._model.opt, self._model.stat
        other.opt.noslip_iterations = 0
        return other

    def stages(self, plan: Plan, count: int, n: int, lasting: bool) -> list[Solved]:
        """Return `count` places for solutions at n states.

        Those for one state stay for later, unless its solution is `lasting`.
        """
        memory = self._memory
        if n > 1 or lasting:
            return [Solved(plan, self._model, n) for _ in range(count)]
        if memory.plan is not plan:
            memory.stages = [Solved(plan, self._model, 1) for _ in range(count)]
            memory.plan = plan
        for stage in memory.stages:
            stage.clear()
        return memory.stages


def _of_states(parts: list[tuple[Any, ...]], state: Indices) -> tuple[Array, Array]:
    """Return two arrays of the states, from a list of (number of the state, array, array)."""
    states, one, other = zip(*parts, strict=True)
    places = np.searchsorted(states, state)
    return np.stack(one)[places], np.stack(other)[places]


_layouts: list[Indices] = []


def _copied_contacts(contacts: Any) -> tuple[Any, ...]:
    """Return copies of the arrays of contacts: MuJoCo makes a view of each one at a time."""
    if not _layouts:
        _layouts.append(_contact_layout(contacts))
    copies: tuple[Any, ...] = _core.mujoco_copy_contacts(contacts.dist, _layouts[0])
    return copies


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
