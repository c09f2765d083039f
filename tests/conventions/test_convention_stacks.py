"""Stacks of time derivatives in other conventions: against numbers of an independent program."""

from __future__ import annotations

import numpy as np
import pytest
import taylor
from cases import robot
from compare import TOLERANCE, assert_close
from files import ORACLES
from textbook import CONVENTIONS
from time_oracle import LINEAR_FIRST, NAMES, oracle
from trees import Array

import dtau

ROWS = 9
ROBOTS = ("one free", "one revolute", "free root, branches", "forest", "joints that mimic others")

each_convention = pytest.mark.parametrize("kind", CONVENTIONS)
each_robot = pytest.mark.parametrize("name", ROBOTS)


def stacks(model: dtau.Model, seed: int, shape: tuple[int, ...] = ()) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    q, *_ = dtau.random_state(model, rng, shape=shape)
    v, tau = (rng.uniform(-1.0, 1.0, (*shape, rows, model.nv)) for rows in (ROWS, ROWS + 1))
    return q, v, tau


def assert_orders(got: Array, want: Array, tolerance: float, what: str) -> None:
    """Order by order: their sizes differ."""
    assert got.shape == want.shape
    for k in range(want.shape[-2]):
        assert_close(got[..., k, :], want[..., k, :], tolerance, f"{what} of order {k}")


# Against the oracles: spatial there


@pytest.mark.parametrize("name", NAMES)
def test_spatial_twist_in_spatial_wrench_out(name: str) -> None:
    o = oracle(name)
    with np.load(ORACLES / f"p002_{name}.npz") as file:
        theirs = file["V"].T[: len(o.v), LINEAR_FIRST]
    convention = dtau.conventions.spatial_twist(o.model)
    given = o.v.copy()
    given[:, :6] = theirs
    v = convention.convert(given, of="v_derivatives", at={"q": o.q}, to_dtau=True)
    # The oracle's trajectory is known by its body twist from a separate series.
    assert_orders(v, o.v, TOLERANCE["identity"], "body twist")
    back = convention.convert(v, of="v_derivatives", at={"q": o.q})
    for k in range(len(v)):
        size = float(np.abs(v[k]).max())  # of what cancels in the spatial twist
        assert_close(
            back[k], given[k], TOLERANCE["identity"], f"spatial twist of order {k}", floor=size
        )

    tau = dtau.inverse_dynamics_time_derivatives(o.model, o.q, v, o.f_ext)
    got = convention.convert(tau, of="tau_derivatives", at={"q": o.q, "v_derivatives": v})
    for k in range(len(o.tau)):
        size = float(max(np.abs(o.tau[k]).max(), np.abs(o.wrench[k]).max()))
        assert_close(
            got[k, LINEAR_FIRST],
            o.wrench[k],
            TOLERANCE["identity"],
            f"wrench of order {k}",
            floor=size,
        )
        assert_close(
            got[k, 6:], o.tau[k], TOLERANCE["identity"], f"torque of order {k}", floor=size
        )
    back = convention.convert(
        got, of="tau_derivatives", at={"q": o.q, "v_derivatives": given}, to_dtau=True
    )
    assert_orders(back, tau, TOLERANCE["identity"], "torque back")


# Against what they are


def test_mixed_is_the_rotation_alone() -> None:
    """The derivatives of R v, of R w and, for torques, of R f and R m."""
    model = robot("free root, branches")
    q, v, tau = stacks(model, 1)
    kinematics = dtau.kinematics_time_derivatives(model, q, v)
    base = model.joints[0]
    rotation = taylor.coefficients(kinematics.rotation[:, base.body])
    convention = dtau.conventions.mixed_twist(model)
    moved = convention.convert(v, of="v_derivatives", at={"q": q})
    turned = convention.convert(tau, of="tau_derivatives", at={"q": q, "v_derivatives": v})
    for got, given in ((moved, v), (turned, tau)):
        series = taylor.coefficients(given)
        for part in (base.v.start, base.v.start + 3):
            want = taylor.derivatives(taylor.product(rotation, series[:, part : part + 3]))
            assert_orders(got[:, part : part + 3], want, TOLERANCE["identity"], "base")
        assert_close(got[:, base.v.stop :], given[:, base.v.stop :], 0.0, "joints")
    # The first rows are the velocity of the body's origin, along world axes.
    rates = kinematics.translation[1:, base.body]
    assert_orders(moved[:, base.v][:, :3], rates, TOLERANCE["identity"], "velocity of the origin")


@each_convention
@each_robot
def test_low_orders_are_those_of_states_and_torques(name: str, kind: str) -> None:
    model = robot(name)
    convention = CONVENTIONS[kind](model)
    q, v, tau = stacks(model, 2)
    state = convention.from_dtau(q, v[0], v[1])
    got = convention.convert(v, of="v_derivatives", at={"q": q})
    assert_close(got[0], state.v, TOLERANCE["short sums"], "v")
    assert_close(got[1], state.a, TOLERANCE["long sums"], "a")
    torque = convention.convert(tau, of="tau_derivatives", at={"q": q, "v_derivatives": v})
    assert_close(
        torque[0], convention.convert(tau[0], of="tau", at={"q": q}), TOLERANCE["short sums"], "tau"
    )


@each_convention
def test_power_is_the_same_in_all(kind: str) -> None:
    """And so are its time derivatives: derivatives of tau . v."""
    model = robot("forest")
    convention = CONVENTIONS[kind](model)
    q, v, tau = stacks(model, 4)
    theirs = convention.convert(v, of="v_derivatives", at={"q": q})
    torque = convention.convert(tau, of="tau_derivatives", at={"q": q, "v_derivatives": v})
    power = [
        taylor.derivatives(taylor.product(taylor.coefficients(x), taylor.coefficients(y), np.dot))
        for x, y in ((tau, v), (torque, theirs))
    ]
    scale = [float(np.abs(x).max()) for x in torque[:ROWS]]
    for k in range(ROWS):
        assert_close(
            power[1][k], power[0][k], TOLERANCE["identity"], f"power of order {k}", floor=scale[k]
        )
