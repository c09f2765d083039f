"""Compute MuJoCo's solution at states and collect its arrays: `solvers`, `Solver`, `Solved`."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from dtau import _core
from dtau.mujoco import noslip
from dtau.mujoco.noslip import Noslip
from dtau.mujoco.other_model import OtherModel
from dtau.mujoco.rows import Rows
from dtau.support.arrays import Array, Indices

if TYPE_CHECKING:
    from dtau.mujoco.parameters import Parameters
    from dtau.mujoco.plan import Plan


_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
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
    *("cdof", "subtree_com", "xmat", "xquat", "xipos", "geom_xpos", "geom_xmat"),
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
    noslip : Noslip or None
        Solutions before the noslip solver, if it runs.
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
        xmat, xquat, xipos = (np.empty((n, nbody, size)) for size in (9, 4, 3))
        geom_xpos, geom_xmat = np.empty((n, ngeom, 3)), np.empty((n, ngeom, 9))
        self._copied = (
            *(self.q, self.v, self.a, self.act, self.act_dot, self.ctrl, self.bias, self.torque),
            *(self._constraint_torque, length, velocity, force, actuation),
            *(self._cdof, self._com, xmat, xquat, xipos, geom_xpos, geom_xmat),
        )
        self._arrays = (
            *(self.q, self.v, self.a, self.act, self.act_dot, self.ctrl, self.bias, self.torque),
            *(self.mass, length, velocity, force, actuation, self._arms),
            *(self._cdof, self._com, xmat, xquat, xipos, geom_xpos, geom_xmat),
        )
        self._counts = np.zeros((3, n + 1), dtype=np.intp)  # rows, plain rows, contacts
        self._parts: tuple[list[tuple[Any, ...]], ...] = ([], [], [])
        self.noslip = Noslip(mj_model, n) if plan.noslip else None

    def size(self) -> int:
        """Return the size of the arrays in bytes."""
        copies = [x for parts in self._parts for arrays in parts for x in arrays]
        of_noslip = 0 if self.noslip is None else self.noslip.size()
        return of_noslip + sum(int(x.nbytes) for x in (*self._arrays, *copies))

    def clear(self) -> None:
        """Forget the states."""
        self._counts[:] = 0
        for parts in self._parts:
            parts.clear()
        if self.noslip is not None:
            self.noslip.clear()

    def add(self, k: int, solver: Solver) -> None:
        """Collect the solution in the data of `solver` as state `k`; the states come in turn."""
        mj_model, data = solver.model, solver.data
        rows, jacobian, touching = _core.mujoco_collect(
            *(data, solver.fixed, self._copied, self._counts, k, _OF_ROWS, self.plan.nv),
            bool(mujoco.mj_isSparse(mj_model)),
        )
        mujoco.mj_fullM(mj_model, data, self.mass[k])
        if len(self.plan.actuators.moving):
            actuators = self.plan.actuators
            self._arms[k, actuators.moving] = actuators.moving_arms(mj_model, data)
        if rows is not None:
            self._parts[0].append(rows)
        if jacobian is not None:
            self._parts[1].append((jacobian,))
        if touching:
            self._parts[2].append(_copied_contacts(data.contact))
        if self.noslip is not None:
            self.noslip.add(k, solver.without_noslip(), data, solver.fixed_of_noslip)

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

    def contacts(self, some: Indices) -> Contacts:
        """Return some of the contacts."""
        _, geom, _, pos, frame, dist, *_ = (x[some] for x in self._contacts)
        starts = self._starts[2]
        state = np.searchsorted(starts, some, side="right") - 1
        return Contacts(state, some - starts[state], geom, pos, frame.reshape(-1, 3, 3), dist)

    def limited_joint(self, row: int) -> tuple[int, int]:
        """Return the joint of a limit's row, and its state."""
        _, _, _, joints, *_ = self._rows
        return int(joints[row]), int(np.searchsorted(self._starts[0], row, side="right") - 1)


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
        self.fixed_of_noslip: tuple[Any, ...] = noslip.FIXED(self.data)
        self.plan: Plan | None = None
        self.stages: list[Solved] = []
        self.constants: tuple[Plan, Any] | None = None


@contextmanager
def solvers(mj_model: Any, given: Array, count: int) -> Iterator[list[Solver]]:
    """Lend solvers, for as many threads, whose data stays with this thread.

    They start from `given`, an `integration_state`. A handler of signals or a finalizer may solve
    meanwhile: it gets others.
    """
    kept: tuple[Any, list[OtherModel], list[_Memory]] | None = getattr(_local, "kept", None)
    if kept is None or kept[0] is not mj_model:
        _local.kept = kept = (mj_model, [], [])
    _, models, memories = kept
    other = models.pop() if models else OtherModel(mj_model)
    lent = [memories.pop() if memories else _Memory(mj_model) for _ in range(count)]
    try:
        yield [Solver(mj_model, other, given, memory) for memory in lent]
    finally:
        other.expire()
        models.append(other)
        memories.extend(lent)


class Solver:
    """Solve the constraints of states in data of its own, from `solvers`."""

    def __init__(self, mj_model: Any, other: OtherModel, given: Array, memory: _Memory) -> None:
        self.model, self._other, self._state, self._memory = mj_model, other, given, memory
        self.data, self.fixed = memory.data, memory.fixed
        self.fixed_of_noslip = memory.fixed_of_noslip

    def reset(self) -> Any:
        """Return the data with the state that was given."""
        mujoco.mj_setState(self.model, self.data, self._state, _STATE)
        return self.data

    def without_noslip(self) -> Any:
        """Return a model in which the noslip solver does not run, for what is in the data."""
        return self._other.with_options()

    def colliding(self) -> Any:
        """Return a model whose iterative collision goes on to a small error."""
        return self._other.with_arrays()

    def constants(self, plan: Plan, parameters: Parameters | None) -> Any:
        """Return `Plan.constants`; those without parameters stay for later."""
        if parameters is not None:
            return plan.constants(self.model, parameters)
        kept = self._memory.constants
        if kept is None or kept[0] is not plan:
            self._memory.constants = kept = plan, plan.constants(self.model)
        return kept[1]

    def stages(self, plan: Plan, count: int, n: int, lasting: bool) -> list[Solved]:
        """Return `count` places for solutions at n states.

        Those for one state stay for later, unless its solution is `lasting`.
        """
        memory = self._memory
        if n > 1 or lasting:
            return [Solved(plan, self.model, n) for _ in range(count)]
        if memory.plan is not plan:
            memory.stages = [Solved(plan, self.model, 1) for _ in range(count)]
            memory.plan = plan
        for stage in memory.stages:
            stage.clear()
        return memory.stages


_layouts: list[Indices] = []


def _copied_contacts(contacts: Any) -> tuple[Any, ...]:
    """Return copies of the arrays of contacts: MuJoCo makes a view of each one at a time."""
    if not _layouts:
        _layouts.append(_contact_layout(contacts))
    copies: tuple[Any, ...] = _core.mujoco_copy_contacts(contacts.dist, _layouts[0])
    return copies


def _joined(parts: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    if len(parts) == 1:
        return parts[0]
    return tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))
