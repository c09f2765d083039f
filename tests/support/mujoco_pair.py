"""A model and MuJoCo's own of the same robot, put through the same states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from cases import random_state
from compare import TOLERANCE, assert_close, cancelled, solved
from numpy.typing import ArrayLike
from trees import Array

import dtau

mujoco = pytest.importorskip("mujoco")

STEP = 1e-3  # of central differences of fourth order


@dataclass
class Peer:
    """MuJoCo's functions of plain arrays."""

    model: Any

    def __post_init__(self) -> None:
        self.data = mujoco.MjData(self.model)

    def inverse(self, q: Array, v: Array, a: Array) -> Array:
        self.data.qpos[:], self.data.qvel[:], self.data.qacc[:] = q, v, a
        mujoco.mj_inverse(self.model, self.data)
        return np.array(self.data.qfrc_inverse)

    def forward(self, q: Array, v: Array, tau: Array, xfrc: ArrayLike = 0.0) -> Array:
        self.data.qpos[:], self.data.qvel[:], self.data.qfrc_applied[:] = q, v, tau
        self.data.xfrc_applied[:] = xfrc
        mujoco.mj_forward(self.model, self.data)
        self.data.xfrc_applied[:] = 0.0
        return np.array(self.data.qacc)

    def mass_matrix(self, q: Array) -> Array:
        self.data.qpos[:] = q
        mujoco.mj_forward(self.model, self.data)
        out = np.zeros((self.model.nv, self.model.nv))
        for column, unit in zip(out, np.eye(self.model.nv), strict=True):
            mujoco.mj_mulM(self.model, self.data, column, unit)
        return out  # symmetric

    def moved(self, q: Array, dq: Array) -> Array:
        out = q.copy()
        mujoco.mj_integratePos(self.model, out, dq, 1.0)
        return out

    def difference(self, q0: Array, q1: Array) -> Array:
        out = np.zeros(self.model.nv)
        mujoco.mj_differentiatePos(self.model, out, 1.0, q0, q1)
        return out


def differences(function: Callable[[Array], Array], nv: int) -> Array:
    """Central differences of fourth order of a function of a displacement."""
    columns = [
        8.0 * (function(STEP * e) - function(-STEP * e))
        - (function(2.0 * STEP * e) - function(-2.0 * STEP * e))
        for e in np.eye(nv)
    ]
    return np.stack(columns, axis=-1) / (12.0 * STEP)


def check_values(model: dtau.Model, mj_model: Any, seed: int) -> None:
    convention, peer = dtau.conventions.mujoco(model, mj_model), Peer(mj_model)
    s = random_state(model, seed)
    mass = dtau.mass_matrix(model, s["q"])
    floor = cancelled(mass)
    exact = TOLERANCE["mujoco"]
    q, v, a = convention.from_dtau(s["q"], s["v"], s["a"])
    for wrench, body in zip(s["f_ext"], model._bodies, strict=True):
        wrench *= body.inertia.mass > 0.0  # others are between the joints of one of MuJoCo's
    assert len(q) == mj_model.nq == convention.nq
    assert convention.nwrenches == mj_model.nbody

    tau = dtau.inverse_dynamics(model, s["q"], s["v"], s["a"])
    torque = peer.inverse(q, v, a)
    assert_close(
        convention.convert(tau, of="tau", at={"q": s["q"]}), torque, exact, "tau", floor=floor
    )
    assert_close(
        convention.convert(torque, of="tau", at={"q": q}, to_dtau=True),
        tau,
        exact,
        "tau back",
        floor=floor,
    )

    got = convention.convert(mass, of=dtau.mass_matrix, at={"q": s["q"]})
    assert_close(got, peer.mass_matrix(q), exact, "M")
    bias, at = dtau.bias_torque(model, s["q"], s["v"]), {"q": s["q"], "v": s["v"], "M": mass}
    got = convention.convert(bias, of=dtau.bias_torque, at=at)
    assert_close(got, peer.inverse(q, v, np.zeros_like(a)), exact, "bias", floor=floor)

    solving = solved(exact, mass)
    size = float(np.abs(s["tau"]).max() / np.linalg.eigvalsh(mass)[0])
    torque = convention.convert(s["tau"], of="tau", at={"q": s["q"]})
    xfrc = convention.convert(s["f_ext"], of="f_ext", at={"q": s["q"]})
    assert not xfrc[0].any()  # on the world
    rate = peer.forward(q, v, torque, xfrc)
    ours = dtau.forward_dynamics(model, s["q"], s["v"], s["tau"], s["f_ext"])
    got = convention.from_dtau(s["q"], s["v"], ours).a
    assert_close(got, rate, solving, "a", floor=size)
    back = convention.to_dtau(q, v, rate)
    assert_close(back.q, s["q"], TOLERANCE["identity"], "q back")
    assert_close(back.v, s["v"], TOLERANCE["identity"], "v back")
    assert_close(back.a, ours, solving, "a back", floor=size)
    assert_close(
        convention.convert(xfrc, of="f_ext", at={"q": q}, to_dtau=True),
        s["f_ext"],
        TOLERANCE["identity"],
        "f_ext back",
    )

    # Wrenches on every body of MuJoCo's, welded ones and the world included.
    xfrc = np.random.default_rng(seed).uniform(-5.0, 5.0, (mj_model.nbody, 6))
    f_ext = convention.convert(xfrc, of="f_ext", at={"q": q}, to_dtau=True)
    rate = peer.forward(q, v, torque, xfrc)
    ours = dtau.forward_dynamics(model, s["q"], s["v"], s["tau"], f_ext)
    got = convention.from_dtau(s["q"], s["v"], ours).a
    assert_close(got, rate, solving, "a under xfrc_applied", floor=size)

    # Displacements change as velocities do.
    small = 1e-6 * s["dq"]
    step = convention.from_dtau(s["q"], small).v
    reached = convention.from_dtau(dtau.integrate(model, s["q"], small)).q
    # Equal to first order in a step of 1e-6.
    assert_close(peer.difference(q, reached), step, 1e-5, "mj_differentiatePos", floor=1e-6)


def check_derivatives(model: dtau.Model, mj_model: Any, seed: int) -> None:
    convention, peer = dtau.conventions.mujoco(model, mj_model), Peer(mj_model)
    s, nv = random_state(model, seed), model.nv
    state = s["q"], s["v"], s["a"]
    q, v, a = convention.from_dtau(*state)
    close = TOLERANCE["mujoco differences"]

    tau = dtau.inverse_dynamics(model, *state)
    torque = peer.inverse(q, v, a)
    d = dtau.inverse_dynamics_derivatives(model, *state)
    mass = peer.mass_matrix(q)
    theirs = dtau.results.InverseDynamicsDerivatives(
        differences(lambda dq: peer.inverse(peer.moved(q, dq), v, a), nv),
        differences(lambda dv: peer.inverse(q, v + dv, a), nv),
        mass,
    )
    got = convention.convert(d, at=dtau.results.State(*state)._asdict() | {"tau": tau})
    back = convention.convert(theirs, at={"q": q, "v": v, "a": a, "tau": torque}, to_dtau=True)
    floor = float(np.abs(torque).max() + np.abs(mass).max())
    for name, x, y, z, w in zip(d._fields, got, theirs, back, d, strict=True):
        assert_close(x, y, close, name, floor=floor)
        assert_close(z, w, 3 * close, f"{name} back", floor=floor)

    torque = convention.convert(s["tau"], of="tau", at={"q": s["q"]})
    rate = peer.forward(q, v, torque)
    ours = dtau.forward_dynamics(model, s["q"], s["v"], s["tau"])
    peers = dtau.results.ForwardDynamicsDerivatives(
        differences(lambda dq: peer.forward(peer.moved(q, dq), v, torque), nv),
        differences(lambda dv: peer.forward(q, v + dv, torque), nv),
        differences(lambda dt: peer.forward(q, v, torque + dt), nv),
    )
    e = dtau.forward_dynamics_derivatives(model, s["q"], s["v"], s["tau"])
    moved = convention.convert(e, at={"q": s["q"], "v": s["v"], "a": ours, "tau": s["tau"]})
    undone = convention.convert(peers, at={"q": q, "v": v, "a": rate, "tau": torque}, to_dtau=True)
    # The roundings of a fast or light robot's accelerations are divided by the step.
    close *= max(1.0, float(np.linalg.cond(mass)) / 100.0)
    floor = float(np.abs(rate).max() + np.abs(e.da_dtau).max())
    for name, x, y, z, w in zip(e._fields, moved, peers, undone, e, strict=True):
        assert_close(x, y, close, name, floor=floor)
        assert_close(z, w, 3 * close, f"{name} back", floor=floor)
