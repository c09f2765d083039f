"""Terms of the equation of motion with their time derivatives, in other conventions."""

from __future__ import annotations

import complex_step
import numpy as np
import pytest
import taylor
from cases import ROBOTS, random_state, robot
from compare import TOLERANCE, assert_close, assert_same_bits
from complex_step import STEP
from core import complex_core
from files import ORACLES
from hypothesis import given, settings
from textbook import CONVENTIONS, Textbook, each_convention
from time_oracle import LINEAR_FIRST, NAMES, Oracle, oracle
from trees import SEEDS, Array, Tree, trees

import dtau
from dtau.conventions.convention import Convention

ORDER = 5
EXACT = 1e-11  # of the largest number of each order
on_oracles = pytest.mark.parametrize("name", NAMES)


def leibniz(matrices: Array, vectors: Array) -> Array:
    """Derivatives of the product of two stacks, as many as both have."""
    series = taylor.product(taylor.coefficients(matrices), taylor.coefficients(vectors))
    return taylor.derivatives(series)


def assert_orders(got: Array, want: Array, what: str, *terms: Array, within: float = EXACT) -> None:
    """Order by order; terms that may cancel say how large the result counts."""
    assert got.shape == want.shape
    for k in range(len(want)):
        size = max([0.0, *(float(np.abs(term[k]).max(initial=0.0)) for term in terms)])
        assert_close(got[k], want[k], within, f"{what} of order {k}", floor=size)


class Terms:
    """The terms of one model along a motion, in dtau's convention and in another."""

    def __init__(self, convention: Convention, q: Array, v: Array) -> None:
        model = convention.model
        self.q, self.v = q, v
        self.M = dtau.mass_matrix_time_derivatives(model, q, v[:ORDER])
        self.C = dtau.coriolis_matrix_time_derivatives(model, q, v[: ORDER + 1])
        self.bias = dtau.bias_torque_time_derivatives(model, q, v[: ORDER + 1])
        self.M_there = convention.convert(
            self.M, of=dtau.mass_matrix_time_derivatives, at={"q": q, "v_derivatives": v}
        )
        self.C_there = convention.convert(
            self.C,
            of=dtau.coriolis_matrix_time_derivatives,
            at={"q": q, "v_derivatives": v, "M_derivatives": self.M},
        )
        self.bias_there = convention.convert(
            self.bias,
            of=dtau.bias_torque_time_derivatives,
            at={"q": q, "v_derivatives": v, "M_derivatives": self.M},
        )

        def torque(tau: Array) -> Array:
            return convention.convert(tau, of="tau_derivatives", at={"q": q, "v_derivatives": v})

        self.tau = torque(dtau.inverse_dynamics_time_derivatives(model, q, v))
        self.weight = torque(dtau.gravity_torque_time_derivatives(model, q, v[:ORDER]))
        own = v[: ORDER + 1]
        self.damping = torque(model.damping * own + taylor.friction_torque(model, own))
        self.v_there = convention.convert(v, of="v_derivatives", at={"q": q})


def check(convention: Convention, q: Array, v: Array) -> None:
    """What makes them the terms of the equation of motion there, at every order."""
    t = Terms(convention, q, v)
    moving, turning = leibniz(t.M_there, t.v_there[1:]), leibniz(t.C_there, t.v_there[:-1])
    terms = (moving, turning, t.damping, t.weight)
    assert_orders(moving + turning + t.damping + t.weight, t.tau, "tau", *terms)
    assert_orders(moving + t.bias_there, t.tau, "tau of the bias", *terms)
    assert_orders(turning + t.damping + t.weight, t.bias_there, "bias", *terms)
    assert_same_bits(t.M_there, taylor.transposed(t.M_there), "symmetric")
    rates = t.C_there + taylor.transposed(t.C_there)
    assert_orders(rates[:-1], t.M_there[1:], "dM/dt", t.C_there[:-1])


def random_motion(model: dtau.Model, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return random_state(model, seed)["q"], rng.uniform(-1.0, 1.0, (ORDER + 2, model.nv))


@each_convention
@pytest.mark.parametrize("name", ROBOTS)
def test_robots(name: str, kind: str) -> None:
    check(CONVENTIONS[kind](robot(name)), *random_motion(robot(name), 1))


@each_convention
@settings(max_examples=15)
@given(trees(max_bodies=5), SEEDS)
def test_trees(kind: str, tree: Tree, seed: int) -> None:
    model = tree.model()
    check(CONVENTIONS[kind](model), *random_motion(model, seed))


# Against matrices and maps that are computed otherwise


def test_mixed_is_the_rotation_alone() -> None:
    """The derivatives of R v, of R w and, for torques, of R f and R m."""
    model, rows = robot("free root, branches"), 9
    rng = np.random.default_rng(1)
    q = dtau.random_state(model, rng).q
    v, tau = (rng.uniform(-1.0, 1.0, (n, model.nv)) for n in (rows, rows + 1))
    kinematics = dtau.kinematics_time_derivatives(model, q, v)
    base = model.joints[0]
    convention = dtau.conventions.mixed_twist(model)
    moved = convention.convert(v, of="v_derivatives", at={"q": q})
    turned = convention.convert(tau, of="tau_derivatives", at={"q": q, "v_derivatives": v})
    for got, before in ((moved, v), (turned, tau)):
        for part in (slice(0, 3), slice(3, 6)):
            want = leibniz(kinematics.rotation[:, base.body], before[:, base.v][:, part])
            assert_orders(got[:, base.v][:, part], want, "base", within=TOLERANCE["identity"])
        assert_close(got[:, base.v.stop :], before[:, base.v.stop :], 0.0, "joints")
    # The first rows are the velocity of the body's origin, along world axes.
    rates = kinematics.translation[1:, base.body]
    assert_orders(moved[:, base.v][:, :3], rates, "origin", within=TOLERANCE["identity"])


def spatial_map(o: Oracle) -> Array:
    """The series of B, v = B v', with the oracle's adjoint of the base."""
    base = o.base_adjoint[:, LINEAR_FIRST][:, :, LINEAR_FIRST]
    out = taylor.constant(np.eye(o.model.nv), len(base))
    out[:, :6, :6] = base
    return out


@on_oracles
def test_the_paper_s_motions(name: str) -> None:
    """Spatial, by products of series with the adjoint of the base: B^T M B, B^T (C B + M dB/dt)."""
    o = oracle(name)
    order = min(ORDER, len(o.v) - 2)
    convention = dtau.conventions.spatial_twist(o.model)
    M = dtau.mass_matrix_time_derivatives(o.model, o.q, o.v[:order])
    C = dtau.coriolis_matrix_time_derivatives(o.model, o.q, o.v[: order + 1])
    bias = dtau.bias_torque_time_derivatives(o.model, o.q, o.v[: order + 1])
    B = spatial_map(o)
    back, rate = taylor.transposed(B), taylor.rate(B)
    M_series, C_series = taylor.coefficients(M), taylor.coefficients(C)
    want = taylor.product(taylor.product(back, M_series), B)
    got = convention.convert(
        M, of=dtau.mass_matrix_time_derivatives, at={"q": o.q, "v_derivatives": o.v}
    )
    assert_orders(got, taylor.derivatives(want), "M")
    half = taylor.product(C_series, B) + taylor.product(M_series, rate)
    got = convention.convert(
        C,
        of=dtau.coriolis_matrix_time_derivatives,
        at={"q": o.q, "v_derivatives": o.v, "M_derivatives": M},
    )
    assert_orders(got, taylor.derivatives(taylor.product(back, half)), "C")
    with np.load(ORACLES / f"p002_{name}.npz") as file:
        twist = file["V"].T[: len(o.v), LINEAR_FIRST]  # spatial, as printed
    there = taylor.coefficients(np.concatenate([twist, o.v[:, 6:]], axis=-1))
    lost = taylor.product(M_series, taylor.product(rate, there))
    want = taylor.product(back, taylor.coefficients(bias) + lost)
    got = convention.convert(
        bias,
        of=dtau.bias_torque_time_derivatives,
        at={"q": o.q, "v_derivatives": o.v, "M_derivatives": M},
    )
    assert_orders(got, taylor.derivatives(want), "bias", taylor.derivatives(lost))


@each_convention
@pytest.mark.parametrize("name", ROBOTS)
def test_the_rate_of_the_mass_matrix(name: str, kind: str) -> None:
    """By complex step along the motion, with the textbook's map."""
    model = robot(name)
    book, s = Textbook(kind, model), random_state(model, 2)
    q, v = s["q"], s["v"]
    later = complex_step.moved(model, q, v[np.newaxis])[0]
    inverse = np.linalg.inv(book.matrix(later))
    there = inverse.T @ complex_core("mass_matrix", model, later) @ inverse
    M = dtau.mass_matrix_time_derivatives(model, q, v[np.newaxis])
    got = CONVENTIONS[kind](model).convert(
        M, of=dtau.mass_matrix_time_derivatives, at={"q": q, "v_derivatives": v[np.newaxis]}
    )
    assert_close(got[0], there.real, TOLERANCE["identity"], "M")
    size = float(np.abs(there.real).max())
    assert_close(got[1], there.imag / STEP, TOLERANCE["complex_step"], "dM/dt", floor=size)


@each_convention
def test_bias_holds_the_other_acceleration_at_zero(kind: str) -> None:
    """With wrenches on the bodies, which count as a part of it."""
    model = robot("forest")
    convention, s = CONVENTIONS[kind](model), random_state(model, 3)
    q, v, f_ext = s["q"], s["v"], s["f_ext"]
    bias, M = dtau.bias_torque(model, q, v, f_ext), dtau.mass_matrix(model, q)
    got = convention.convert(bias, of=dtau.bias_torque, at={"q": q, "v": v, "M": M})
    held = convention.to_dtau(*convention.from_dtau(q, v)[:2], np.zeros(model.nv))
    want = dtau.inverse_dynamics(model, held.q, held.v, held.a, f_ext)
    want = convention.convert(want, of="tau", at={"q": q})
    assert_close(got, want, TOLERANCE["identity"], "bias")
