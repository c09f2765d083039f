"""What springs and friction of joints share in tests: a model with them beside the same without."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from cases import State, contacts, random_state
from compare import TOLERANCE, assert_close, assert_same_bits, solved
from trees import Array

import dtau

IDENTITY = TOLERANCE["identity"]


def check_torques(
    model: dtau.Model, plain: dtau.Model, torque: Array, s: State, *, at_rest: bool
) -> None:
    """Torques differ by these, and forward dynamics has that much less to drive it.

    at_rest: whether they act without a velocity.
    """
    q, v, a, f_ext = s["q"], s["v"], s["a"], s["f_ext"]
    calls: list[tuple[Any, tuple[Array, ...]]] = [
        (dtau.inverse_dynamics, (q, v, a, f_ext)),
        (dtau.bias_torque, (q, v)),
        (dtau.gravity_torque, (q,)),
        (dtau.potential_energy_derivatives, (q,)),
    ]
    for function, state in calls:
        got, want = function(model, *state), function(plain, *state)
        if len(state) == 1 and not at_rest:
            assert_same_bits(got, want)
        else:
            floor = float(np.abs(want).max())
            assert_close(got - want, torque, IDENTITY, function.__name__, floor=floor)
    mass = dtau.mass_matrix(model, q)
    assert_same_bits(mass, dtau.mass_matrix(plain, q))
    for function in (dtau.coriolis_matrix, dtau.kinetic_energy):
        assert_same_bits(function(model, q, v), function(plain, q, v))
    got = dtau.forward_dynamics(model, q, v, s["tau"], f_ext)
    want = dtau.forward_dynamics(plain, q, v, s["tau"] - torque, f_ext)
    assert_close(got, want, solved(IDENTITY, mass), "forward_dynamics")


def check_impulses(model: dtau.Model, plain: dtau.Model) -> None:
    """Impulses do not feel them."""
    s = random_state(model, 3)
    lam, forces = s["lam"], np.linspace(-1.0, 1.0, contacts(model).nrows)
    options = {"regularization": 1e-6}
    one, other = (
        (
            *dtau.impulse_dynamics(m, s["q"], s["v"], contacts(m), **options),
            *dtau.impulse_dynamics_derivatives(m, s["q"], s["v"], contacts(m), **options),
            *dtau.impulse_dynamics_jvp(m, s["q"], s["v"], contacts(m), s["dq"], s["dv"], **options),
            *dtau.impulse_dynamics_vjp(m, s["q"], s["v"], contacts(m), lam, forces, **options),
            *dtau.impulse_dynamics_hessian(m, s["q"], s["v"], contacts(m), lam, forces, **options),
        )
        for m in (model, plain)
    )
    for got, want in zip(one, other, strict=True):
        assert_same_bits(got, want)


def finger(one: Mapping[str, float], two: Mapping[str, float]) -> dtau.Model:
    """Two joints with these numbers, of which the second mimics the first."""
    builder = dtau.ModelBuilder("finger")
    link = dtau.Inertia(0.2, (0.05, 0.0, 0.0), 1e-3 * np.eye(3))
    first = builder.add(dtau.Revolute((0, 0, 1)), name="one", inertia=link, **one)
    builder.add(
        dtau.Revolute((0, 0, 1)),
        name="two",
        parent=first,
        inertia=link,
        mimic=dtau.Mimic("one", -0.5, 0.1),
        **two,
    )
    return builder.build()


def floating(joint: dtau.JointType, **numbers: Any) -> dtau.ModelBuilder:
    """A free base that carries a body, the tip, by this joint."""
    builder = dtau.ModelBuilder("arm")
    body = dtau.Inertia(1.0, (0.1, 0.2, 0.3), 0.1 * np.eye(3))
    base = builder.add(dtau.Free(), name="base", inertia=body)
    builder.add(joint, name="tip", parent=base, inertia=body, **numbers)
    return builder


def torques_after_rerooting(model: dtau.Model) -> tuple[Array, Array]:
    """Of the joint of `floating`: torques given, and torques that its other direction needs."""
    other = model.with_root("tip")
    s = random_state(model, 1)
    tau = np.r_[np.zeros(6), s["tau"][6:]]
    a = dtau.forward_dynamics(model, s["q"], s["v"], tau)
    there = dtau.transfer_state(model, other, s["q"], s["v"], a)
    got = dtau.inverse_dynamics(other, there.q, there.v, there.a)
    floor = float(np.abs(dtau.bias_torque(model, s["q"], s["v"])).max())
    assert_close(got[:6], np.zeros(6), IDENTITY, "tau of the root", floor=floor)
    return tau[6:], got[6:]
