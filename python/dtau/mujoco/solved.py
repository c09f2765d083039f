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
    """Contacts that are rows of ``efc_J``, of all states; leading axis: contacts."""

    state: Indices
    geom: NDArray[np.int32]  # (n, 2)
    dim: NDArray[np.int32]
    pos: Array
    frame: Array  # (n, 3, 3): rows are the normal and two tangents
    dist: Array
    margin: Array
    friction: Array  # (n, 5)
    mu: Array
    weight: Array  # efc_D of the first row
    stiffness: Array  # K, of the normal
    damping: Array  # (n, 2): B of the normal and of the other rows
    impedance: Array
    slope: Array  # of the impedance, by distance

    def chosen(self, some: Any) -> Contacts:
        """Return some of the contacts."""
        parts: list[Any] = [x[some] for x in self]
        return Contacts(*parts)


class Rows(NamedTuple):
    """Rows of equality constraints, friction loss and limits, of all states."""

    state: Indices
    kind: NDArray[np.int32]
    id: NDArray[np.int32]
    jacobian: Array
    weight: Array
    reference: Array
    parameters: Array  # (n, 4): KBIP
    position: Array
    margin: Array
    loss: Array

    def chosen(self, some: Any) -> Rows:
        """Return some of the rows."""
        return Rows(*(x[some] for x in self))


class Solved:
    """Solutions at n states.

    Attributes
    ----------
    q, v, act, ctrl, a, act_dot, bias, torque : ndarray (n, ...)
        `torque` is the sum of smooth and constraint forces, without the bias.
    mass : ndarray (n, nv, nv)
    moved : tuple of ndarray (n, nactuator)
        Lengths, velocities and forces of the actuators.
    axes : ndarray (n, nv, 6)
        Twists [linear, angular] of the degrees of freedom, at the origin of the world.
    rotations : ndarray (n, nfree, 3, 3)
        Orientations of the bodies of free joints.
    contacts, rows : Contacts, Rows
        None if no state has any.
    geom_frames : ndarray (ncontacts, 2, 3, 3)
        Orientations of the two geoms of contacts, `geom_centers` (ncontacts, 2, 3) their positions.
    """

    def __init__(self, plan: Plan, mj_model: Any, n: int) -> None:
        self.plan, self.n = plan, n
        nv, nact = plan.nv, mj_model.nactuator
        self.q, self.act = np.empty((n, mj_model.nq)), np.empty((n, plan.na))
        self.v, self.a, self.bias, self.torque = np.empty((4, n, nv))
        self.ctrl, self.act_dot = np.empty((n, plan.nu)), np.empty((n, plan.na))
        self.mass = np.zeros((n, nv, nv))
        self.moved = (np.empty((n, nact)), np.empty((n, nact)), np.empty((n, nact)))
        self._cdof, self._com = np.empty((n, nv, 6)), np.empty((n, mj_model.nbody, 3))
        self.xpos = np.empty((n, mj_model.nbody, 3))
        self.xquat = np.empty((n, mj_model.nbody, 4))
        self._xmat = np.empty((n, mj_model.nbody, 9))
        self._geom_xpos = np.empty((n, mj_model.ngeom, 3))
        self._geom_xmat = np.empty((n, mj_model.ngeom, 9))
        self._contacts: list[tuple[Any, ...]] = []
        self._contact_rows: list[tuple[Array, Array]] = []
        self._contact_states: list[tuple[int, int, int]] = []
        self._rows: list[tuple[Any, ...]] = []
        self._row_states: list[tuple[int, int]] = []
        self.contacts: Contacts | None = None
        self.rows: Rows | None = None

    def add(self, k: int, mj_model: Any, data: Any) -> None:
        """Collect the solution in `data` as state `k`."""
        self.q[k], self.v[k], self.a[k] = data.qpos, data.qvel, data.qacc
        self.bias[k] = data.qfrc_bias
        np.add(data.qfrc_smooth, data.qfrc_constraint, out=self.torque[k])
        self.ctrl[k] = data.ctrl
        if self.plan.na:
            self.act[k], self.act_dot[k] = data.act, data.act_dot
        for out, values in zip(
            self.moved,
            (data.actuator_length, data.actuator_velocity, data.actuator_force),
            strict=True,
        ):
            out[k] = values
        mujoco.mj_fullM(mj_model, data, self.mass[k])
        self._cdof[k] = data.cdof
        self._com[k], self._xmat[k] = data.subtree_com, data.xmat
        if data.nefc:
            self._add_constraints(k, mj_model, data)

    def _add_constraints(self, k: int, mj_model: Any, data: Any) -> None:
        parameters, weight = data.efc_KBIP.reshape(-1, 4), data.efc_D
        plain, count = data.ne + data.nf + data.nl, data.nefc
        if data.ncon and plain < count:
            contact = data.contact
            self._contact_states.append((k, data.ncon, count))
            self._contacts.append(
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
            self._contact_rows.append((weight.copy(), parameters.copy()))
            self._geom_xpos[k], self._geom_xmat[k] = data.geom_xpos, data.geom_xmat
        if plain:
            self._row_states.append((k, plain))
            self._rows.append(
                (
                    data.efc_type[:plain].copy(),
                    data.efc_id[:plain].copy(),
                    _dense_jacobian(mj_model, data, plain),
                    weight[:plain].copy(),
                    data.efc_aref[:plain].copy(),
                    parameters[:plain].copy(),
                    data.efc_pos[:plain].copy(),
                    data.efc_margin[:plain].copy(),
                    data.efc_frictionloss[:plain].copy(),
                )
            )
            if data.ne:
                self.xpos[k], self.xquat[k] = data.xpos, data.xquat

    def finish(self) -> None:
        """Join the collected arrays."""
        plan = self.plan
        linear, angular = self._cdof[..., 3:], self._cdof[..., :3]
        com = self._com[:, plan.dof_roots]
        self.axes = np.concatenate([linear + _cross(com, angular), angular], axis=-1)
        self.rotations = self._xmat[:, plan.free_bodies].reshape(self.n, -1, 3, 3)
        if self._contacts:
            self.contacts = self._joined_contacts()
        if self._rows:
            states, counts = np.array(self._row_states).T
            self.rows = Rows(states.repeat(counts), *_joined(self._rows))

    def _joined_contacts(self) -> Contacts:
        """Return the contacts that have rows, with the parameters of their first two rows."""
        states, counts, rows = np.array(self._contact_states).T
        first, *fields = _joined(self._contacts)
        weight, parameters = _joined(self._contact_rows)
        chosen = first >= 0
        state = states.repeat(counts)
        if len(rows) > 1:
            first += (rows.cumsum() - rows).repeat(counts)
        if not chosen.all():
            first, state = first[chosen], state[chosen]
            fields = [x[chosen] for x in fields]
        geom, dim, pos, frame, dist, margin, friction, mu = fields
        of_first = parameters[first]
        damping = np.zeros((len(first), 2))
        damping[:, 0] = of_first[:, 1]
        several = dim > 1
        damping[several, 1] = parameters[first[several] + 1, 1]
        places = state[:, np.newaxis], geom
        self.geom_frames = self._geom_xmat[places].reshape(-1, 2, 3, 3)
        self.geom_centers = self._geom_xpos[places]
        stiffness, _, impedance, slope = of_first.T
        return Contacts(
            state=state,
            geom=geom,
            dim=dim,
            pos=pos,
            frame=frame.reshape(-1, 3, 3),
            dist=dist,
            margin=margin,
            friction=friction,
            mu=mu,
            weight=weight[first],
            stiffness=stiffness,
            damping=damping,
            impedance=impedance,
            slope=slope,
        )


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


def _cross(x: Array, y: Array) -> Array:
    """Return the cross product; `numpy.cross` takes ten times as long for few vectors."""
    a, b = x[..., [1, 2, 0]], x[..., [2, 0, 1]]
    return np.asarray(a * y[..., [2, 0, 1]] - b * y[..., [1, 2, 0]])


def _dense_jacobian(mj_model: Any, data: Any, rows: int) -> Array:
    shape = data.nefc, mj_model.nv
    if mujoco.mj_isSparse(mj_model):
        out = np.zeros(shape)
        mujoco.mju_sparse2dense(
            out, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind
        )
        return out[:rows]
    return np.array(data.efc_J.reshape(shape)[:rows])
