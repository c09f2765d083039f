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


def assert_orders(got: Array, want: Array, what: str, *terms: Array) -> None:
    """Order by order; terms that may cancel say how large the result counts."""
    assert got.shape == want.shape
    for k in range(len(want)):
        size = max([0.0, *(float(np.abs(term[k]).max(initial=0.0)) for term in terms)])
        assert_close(got[k], want[k], EXACT, f"{what} of order {k}", floor=size)


class Terms:
    """The terms of one model along a motion, in dtau's convention and in another."""

    def __init__(self, convention: Convention, q: Array, v: Array) -> None:
        model = convention.model
        self.q, self.v = q, v
        self.M = dtau.mass_matrix_time_derivatives(model, q, v[:ORDER])
        self.C = dtau.coriolis_matrix_time_derivatives(model, q, v[: ORDER + 1])
        self.bias = dtau.bias_torque_time_derivatives(model, q, v[: ORDER + 1])
        self.M_there = convention.mass_matrix_time_derivatives_from_dtau(q, v, self.M)
        self.C_there = convention.coriolis_matrix_time_derivatives_from_dtau(q, v, self.C, self.M)
        self.bias_there = convention.bias_torque_time_derivatives_from_dtau(q, v, self.bias, self.M)

        def torque(tau: Array) -> Array:
            return convention.torque_time_derivatives_from_dtau(q, v, tau)

        self.tau = torque(dtau.inverse_dynamics_time_derivatives(model, q, v))
        self.weight = torque(dtau.gravity_torque_time_derivatives(model, q, v[:ORDER]))
        own = v[: ORDER + 1]
        self.damping = torque(model.damping * own + taylor.friction_torque(model, own))
        self.v_there = convention.time_derivatives_from_dtau(q, v)


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
    got = convention.mass_matrix_time_derivatives_from_dtau(o.q, o.v, M)
    assert_orders(got, taylor.derivatives(want), "M")
    half = taylor.product(C_series, B) + taylor.product(M_series, rate)
    got = convention.coriolis_matrix_time_derivatives_from_dtau(o.q, o.v, C, M)
    assert_orders(got, taylor.derivatives(taylor.product(back, half)), "C")
    with np.load(ORACLES / f"p002_{name}.npz") as file:
        twist = file["V"].T[: len(o.v), LINEAR_FIRST]  # spatial, as printed
    there = taylor.coefficients(np.concatenate([twist, o.v[:, 6:]], axis=-1))
    lost = taylor.product(M_series, taylor.product(rate, there))
    want = taylor.product(back, taylor.coefficients(bias) + lost)
    got = convention.bias_torque_time_derivatives_from_dtau(o.q, o.v, bias, M)
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
    got = CONVENTIONS[kind](model).mass_matrix_time_derivatives_from_dtau(q, v[np.newaxis], M)
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
    got = convention.bias_torque_time_derivatives_from_dtau(
        q, v[np.newaxis], bias[np.newaxis], M[np.newaxis]
    )
    held = convention.to_dtau(*convention.from_dtau(q, v)[:2], np.zeros(model.nv))
    want = dtau.inverse_dynamics(model, held.q, held.v, held.a, f_ext)
    want = convention.torque_from_dtau(q, want)
    assert_close(got[0], want, TOLERANCE["identity"], "bias")


# What callers give


def arrays(model: dtau.Model, seed: int, shape: tuple[int, ...] = ()) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    square = (model.nv, model.nv)
    sizes = {"v": (4, model.nv), "M": (4, *square), "C": (4, *square), "bias": (4, model.nv)}
    drawn = {name: rng.standard_normal((*shape, *size)) for name, size in sizes.items()}
    return drawn | {"q": random_state(model, seed, shape)["q"]}


METHODS = {
    "mass_matrix_time_derivatives_from_dtau": ("M",),
    "coriolis_matrix_time_derivatives_from_dtau": ("C", "M"),
    "bias_torque_time_derivatives_from_dtau": ("bias", "M"),
}


@each_convention
@pytest.mark.parametrize("method", METHODS)
def test_batches_and_lengths(method: str, kind: str) -> None:
    model = robot("free root, branches")
    convert, stacks = getattr(CONVENTIONS[kind](model), method), METHODS[method]
    x = arrays(model, 4, (2, 3))
    given = [x[name] for name in stacks]
    got = convert(x["q"], x["v"], *given)
    assert got.shape == given[0].shape
    for at in np.ndindex(2, 3):
        alone = convert(x["q"][at], x["v"][at], *(y[at] for y in given))
        assert_close(got[at], alone, TOLERANCE["long sums"], f"{at}")
    # A longer motion, or mass matrices beyond the first stack, do not matter.
    for rows in (1, 3):
        first = given[0][:, :, :rows]
        short = convert(x["q"], x["v"], first, *given[1:])
        assert_close(short, got[:, :, :rows], TOLERANCE["rounding"], f"{rows} rows", floor=10.0)
        cut = x["v"][:, :, : rows if len(stacks) > 1 else max(1, rows - 1)]
        assert_same_bits(convert(x["q"], cut, first, *given[1:]), short)
    # Broadcast, and none
    spread = convert(x["q"][0, 0], x["v"][:, :1], *given)
    assert spread.shape == got.shape
    assert convert(x["q"][:, :0], x["v"][:, :0], *(y[:, :0] for y in given)).shape == (
        2,
        0,
        *got.shape[2:],
    )


@pytest.mark.parametrize("method", METHODS)
def test_too_few_rows_and_wrong_shapes(method: str) -> None:
    model = robot("free root, branches")
    nv = model.nv
    convert = getattr(dtau.conventions.spatial_twist(model), method)
    x, stacks = arrays(model, 5), METHODS[method]
    given = [x[name] for name in stacks]
    least = 4 if len(stacks) > 1 else 3
    pattern = rf"^v_derivatives has shape \(2, {nv}\), expected .* with rows at least {least}"
    with pytest.raises(ValueError, match=pattern):
        convert(x["q"], x["v"][:2], *given)
    with pytest.raises(ValueError, match=rf"^{stacks[0]}_derivatives has shape .*at least 1"):
        convert(x["q"], x["v"], given[0][:0], *given[1:])
    with pytest.raises(ValueError, match=r"^v_derivatives has shape .*at least 1"):
        convert(x["q"], x["v"][:0], *(y[:1] for y in given))
    for name, y in zip(stacks, given, strict=True):
        others = {f"{other}_derivatives": x[other] for other in stacks}
        with pytest.raises(ValueError, match=rf"^{name}_derivatives has shape"):
            convert(x["q"], x["v"], **others | {f"{name}_derivatives": y[..., 1:]})
        with pytest.raises(TypeError, match=rf"^{name}_derivatives: expected real numbers"):
            convert(x["q"], x["v"], **others | {f"{name}_derivatives": y * 1j})
    if len(stacks) > 1:
        pattern = rf"^M_derivatives has shape \(3, {nv}, {nv}\), expected .* rows at least 4"
        with pytest.raises(ValueError, match=pattern):
            convert(x["q"], x["v"], given[0], x["M"][:3])
