"""MuJoCo, without contacts, limits and constraints: one state a call, but for its rollouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import Array
from benchmarks.peers import mujoco_peer
from benchmarks.peers.cases import CHECKED, LONE_STATES, Case, Way, rows
from benchmarks.robots import Robot
from dtau.cli.timing import DT, Contender, loop

EPS = 1e-6  # of its differences, central
DIFFERENCES = ("inverse_dynamics_derivatives", "linearize_discrete")

_POSITION = "mj.mj_kinematics(m, d); mj.mj_comPos(m, d)"
_BIAS = f"{_POSITION}; mj.mj_comVel(m, d); mj.mj_rne(m, d, 0, force)"
_FIXED = ("integrate", "difference")  # whose meaning is another for a free root

# What is done for a state, whose coordinates are in `d` already, and where the results are then.
CALLS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "inverse_dynamics": ("QVA", "mj.mj_inverse(m, d)", ("d.qfrc_inverse",)),
    "forward_dynamics": ("QVT", "mj.mj_forward(m, d)", ("d.qacc",)),
    "mass_matrix": ("Q", f"{_POSITION}; mj.mj_makeM(m, d); mj.mj_fullM(m, d, square)", ("square",)),
    "bias_torque": ("QV", _BIAS, ("force",)),
    "gravity_torque": ("Q", _BIAS, ("force",)),
    "inverse_dynamics_derivatives": (
        "QVA",
        "mj.mjd_inverseFD(m, d, eps, 0, by_q, by_v, by_a, None, None, None, None)",
        ("by_q.T", "by_v.T", "by_a.T"),
    ),
    "frame_placements": (
        "Q",
        "mj.mj_kinematics(m, d)",
        ("d.xmat[body].reshape(3, 3)", "d.xpos[body]"),
    ),
    "frame_jacobians": (
        "Q",
        f"{_POSITION}; mj.mj_jacBody(m, d, linear, angular, body)",
        ("np.vstack([linear, angular])",),
    ),
    "center_of_mass": ("Q", _POSITION, ("d.subtree_com[0]",)),
    "center_of_mass_velocity": (
        "QV",
        f"{_POSITION}; mj.mj_comVel(m, d); mj.mj_subtreeVel(m, d)",
        ("d.subtree_linvel[0]",),
    ),
    "center_of_mass_jacobian": (
        "Q",
        f"{_POSITION}; mj.mj_jacSubtreeCom(m, d, linear, 0)",
        ("linear",),
    ),
    "kinetic_energy": (
        "QV",
        f"{_POSITION}; mj.mj_makeM(m, d); mj.mj_energyVel(m, d)",
        ("d.energy[1]",),
    ),
    "potential_energy": ("Q", f"{_POSITION}; mj.mj_energyPos(m, d)", ("d.energy[0]",)),
    "integrate": ("Q", "q1[:] = q; mj.mj_integratePos(m, q1, v, 1.0)", ("q1",)),
    "difference": ("Q", "mj.mj_differentiatePos(m, force, 1.0, q, x)", ("force",)),
    "step": ("QVT", "mj.mj_step(m, d)", ("d.qpos", "d.qvel")),
    "linearize_discrete": (
        "QVT",
        "mj.mjd_transitionFD(m, d, eps, True, A, None, None, None)",
        ("A",),
    ),
}
_WRITES = {
    "Q": "d.qpos[:] = q",
    "QV": "d.qpos[:] = q; d.qvel[:] = v",
    "QVA": "d.qpos[:] = q; d.qvel[:] = v; d.qacc[:] = x",
    "QVT": "d.qpos[:] = q; d.qvel[:] = v; d.qfrc_applied[:] = x",
}


class MuJoCo:
    """One robot in MuJoCo."""

    name = "MuJoCo"

    def __init__(self, robot: Robot) -> None:
        self._mj = mujoco_peer.mujoco
        self._peer = mujoco_peer.Peer(robot, DT)
        self._model = self._peer.model
        flags = self._mj.mjtDisableBit
        for flag in ("CONTACT", "CONSTRAINT", "EQUALITY", "LIMIT", "FRICTIONLOSS", "SENSOR"):
            self._model.opt.disableflags |= getattr(flags, f"mjDSBL_{flag}")
        self._robot, self.convention = robot, self._peer.convention

    def way(self, case: Case) -> Way | str:
        """Its functions, one state a call."""
        name, root = case.function, self._robot.root
        if name not in CALLS or (root == "free" and name in _FIXED):
            return ""
        writes, call, results = CALLS[name]
        scope = self._scope(case)
        statement = f"{_WRITES[writes]}; {call}"
        states = rows(self.states(case))
        run = loop(f"for q, v, x in states: {statement}", states=states, **scope)

        found = []
        for q, v, x in states[:CHECKED]:
            here = scope | {"q": q, "v": v, "x": x, "np": np}
            exec(statement, here)
            found.append([np.array(eval(result, here)) for result in results])
        got = [np.array(x) for x in zip(*found, strict=True)]
        way = Way(got, self.wanted(case), Contender(run, LONE_STATES))
        way.differences = name in DIFFERENCES
        if name == "step":
            way.batch = self._rollout(case)
        return way

    def _scope(self, case: Case) -> dict[str, Any]:
        model, n = self._model, self._model.nv
        data = self._mj.MjData(model)
        body = self._mj.mj_name2id(model, self._mj.mjtObj.mjOBJ_BODY, case.frame)
        squares = {name: np.zeros((n, n)) for name in ("square", "by_q", "by_v", "by_a")}
        scope = squares | {"linear": np.zeros((3, n)), "angular": np.zeros((3, n))}
        scope |= {"force": np.zeros(n), "q1": np.zeros(model.nq), "A": np.zeros((2 * n, 2 * n))}
        return scope | {"mj": self._mj, "m": model, "d": data, "body": body, "eps": EPS}

    def joints(self) -> list[str]:
        """The names of joints of one degree of freedom, in the order of velocities."""
        names = [self._model.joint(int(j)).name for j in self._model.dof_jntid]
        return names[6 * (self._robot.root == "free") :]

    def states(self, case: Case) -> Sequence[Array]:
        """Coordinates, velocities, and whatever is third, as MuJoCo writes them."""
        at, arguments = case.at, case.arguments
        there = self.convention.from_dtau(at["q"], at["v"], at["a"])
        v = there.v if "v" in arguments else np.zeros_like(there.v)
        if case.function in _FIXED:
            v = self.convention.from_dtau(at["q"], at["dq"], at["a"]).v
        third: Array = there.a
        if "tau" in arguments:
            third = self.convention.convert(at["tau"], of="tau", at={"q": at["q"]})
        if "q1" in arguments:
            third = self.convention.from_dtau(at["q1"]).q
        return there.q, v, np.asarray(third)

    def wanted(self, case: Case) -> list[Array]:
        """The package's results at the first states, in MuJoCo's convention."""
        convention, model = self.convention, case.robot.model
        at = {name: x[:CHECKED] for name, x in case.at.items()}
        q, v, a, tau = (at[x] for x in ("q", "v", "a", "tau"))
        there = convention.from_dtau(q, v, a)
        name = case.function
        if name == "inverse_dynamics":
            return [convention.convert(tau, of=dtau.inverse_dynamics, at={"q": q})]
        if name == "forward_dynamics":
            return [there.a]
        if name == "mass_matrix":
            return [self.matrix(q, v, case.wanted[0])]
        if name in ("bias_torque", "gravity_torque"):  # at zero acceleration in its coordinates
            speed = there.v if name == "bias_torque" else np.zeros_like(there.v)
            state = convention.to_dtau(there.q, speed, np.zeros_like(speed))
            return [convention.convert(dtau.inverse_dynamics(model, *state), of="tau", at={"q": q})]
        if name == "inverse_dynamics_derivatives":
            d = dtau.inverse_dynamics_derivatives(model, q, v, a)
            return list(convention.convert(d, at={"q": q, "v": v, "a": a, "tau": tau}))
        if name in ("frame_jacobians", "center_of_mass_jacobian"):
            return [self._columns(q, case.wanted[0])]
        if name == "step":
            after = there.v + DT * there.a
            ends = there.q.copy()
            for end, speed in zip(ends, after, strict=True):
                self._mj.mj_integratePos(self._model, end, speed, DT)
            return [ends, after]
        if name == "linearize_discrete":
            return [self._peer.exact(at)]
        if name == "integrate":
            return [convention.from_dtau(case.wanted[0]).q]
        if name == "difference":
            return [convention.from_dtau(q, case.wanted[0], a).v]
        return case.wanted

    def matrix(self, q: Array, v: Array, matrix: Array) -> Array:
        """The package's mass matrix, converted."""
        return self.convention.convert(matrix, of=dtau.mass_matrix, at={"q": q})

    def _columns(self, q: Array, jacobians: Array) -> Array:
        """Jacobians (..., 6, nv), whose rows are the package's twists, by MuJoCo's velocities."""
        n = self._model.nv
        units = np.broadcast_to(np.eye(n), (len(q), n, n))
        there = np.repeat(self.convention.from_dtau(q).q[:, np.newaxis], n, axis=1)
        back = self.convention.to_dtau(there, units, units).v  # row k: what velocity k is here
        return jacobians @ np.swapaxes(back, -1, -2)

    def _rollout(self, case: Case) -> Callable[[int, int], Contender | None]:
        def batch(count: int, threads: int) -> Contender | None:
            from mujoco import rollout

            kind = self._mj.mjtState
            q, v, tau = (x[:count] for x in self.states(case))
            state = np.hstack([np.zeros((count, 1)), q, v])
            spec = kind.mjSTATE_FULLPHYSICS
            if self._mj.mj_stateSize(self._model, spec) != state.shape[1]:
                return None
            data = [self._mj.MjData(self._model) for _ in range(threads)]
            out = np.empty((count, 1, state.shape[1]))
            names: Mapping[str, Any] = {
                "run": rollout.Rollout(nthread=threads).rollout,
                "m": [self._model] * count,
                "d": data,
                "s": state,
                "tau": tau[:, np.newaxis].copy(),
                "spec": int(kind.mjSTATE_QFRC_APPLIED),
                "out": out,
                "sensors": np.empty((count, 1, self._model.nsensordata)),
            }
            call = "run(m, d, s, tau, control_spec=spec, skip_checks=True, nstep=1, state=out, "
            return Contender(loop(f"{call}sensordata=sensors)", **names), count)

        return batch

    def close(self) -> None:
        """Nothing to let go of."""
