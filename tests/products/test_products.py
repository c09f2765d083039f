"""Products with first derivatives: against the matrices, complex step, and each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import complex_step
import numpy as np
import pytest
from cases import State, on_robots, random_state, robot
from compare import TOLERANCE, assert_close, cancelled, solved
from core import complex_core
from hypothesis import given
from hypothesis import strategies as st
from trees import SEEDS, Array, Tree, trees

import dtau
from dtau import results
from dtau.registry import arrays_of

PROBLEMS = ("inverse_dynamics", "forward_dynamics")
both = pytest.mark.parametrize("problem", PROBLEMS)
with_wrenches = pytest.mark.parametrize("wrenches", [False, True], ids=["alone", "f_ext"])


def x_of(problem: str) -> str:
    """The argument beside q and v."""
    return "a" if problem == "inverse_dynamics" else "tau"


class Case:
    """A state, variations and a covector, and the matrices that products are to agree with."""

    def __init__(self, problem: str, model: dtau.Model, seed: int, wrenches: bool) -> None:
        s = random_state(model, seed)
        self.problem, self.model, self.state = problem, model, s
        self.point = (s["q"], s["v"], s[x_of(problem)])
        self.variation = (s["dq"], s["dv"], s["d" + x_of(problem)])
        self.lam = s["lam"]
        self.f_ext = s["f_ext"] if wrenches else None
        self.df_ext = s["df_ext"] if wrenches else None
        self.matrices = getattr(dtau, f"{problem}_derivatives")(model, *self.point, self.f_ext)
        mass = dtau.mass_matrix(model, s["q"])
        solves = problem == "forward_dynamics"
        self.tolerance = solved(TOLERANCE["identity"], mass) if solves else TOLERANCE["identity"]
        # Sums may vanish, or come out as rounding errors of what cancels: the size of their terms.
        # The floor of the matrices themselves is as in test_derivatives.
        least = cancelled(mass)
        if solves:
            a = dtau.forward_dynamics(model, *self.point, self.f_ext)
            least = max(cancelled(self.matrices[2]), 0.1 * float(np.abs(a).max()))
        sizes = [np.abs(matrix) for matrix in self.matrices]
        terms = sum(m @ np.abs(dx) for m, dx in zip(sizes, self.variation, strict=True))
        self.jvp_floor = max(least, float(np.max(terms)))
        self.vjp_floors = [max(least, float((m.T @ np.abs(self.lam)).max())) for m in sizes]

    def value(self, q: Any, v: Any, x: Any, f_ext: Any) -> Any:
        """The plain function of complex arguments."""
        return complex_core(self.problem, self.model, q, v, x, f_ext)

    def jvp(self, **changed: Any) -> Array:
        """The product, with some of `df_ext` and the variations replaced."""
        df_ext = changed.get("df_ext", self.df_ext)
        variation = changed.get("variation", self.variation)
        function = getattr(dtau, f"{self.problem}_jvp")
        product: Array = function(self.model, *self.point, *variation, self.f_ext, df_ext)
        return product

    def vjp(self) -> Any:
        return getattr(dtau, f"{self.problem}_vjp")(self.model, *self.point, self.lam, self.f_ext)


def check_matrices(case: Case) -> None:
    """The matrices of the derivatives, times variations and transposed times the covector."""
    want = sum(m @ dx for m, dx in zip(case.matrices, case.variation, strict=True))
    assert_close(case.jvp(df_ext=None), want, case.tolerance, "jvp", floor=case.jvp_floor)
    got = case.vjp()
    for i, matrix in enumerate(case.matrices):
        what, floor = got._fields[i], case.vjp_floors[i]
        assert_close(got[i], matrix.T @ case.lam, case.tolerance, what, floor=floor)


def check_complex_step(case: Case) -> None:
    """One step along all variations at once; the gradient by one step along each direction."""
    model, (q, v, x), f_ext = case.model, case.point, case.f_ext
    dq, dv, dx = case.variation
    h = 1j * complex_step.STEP
    moved = complex_step.moved(model, q, dq[np.newaxis])[0]
    wrench = None if f_ext is None else f_ext + h * case.df_ext
    want = case.value(moved, v + h * dv, x + h * dx, wrench).imag / complex_step.STEP
    floor = case.jvp_floor
    if f_ext is not None:
        by_force = complex_step.by_vector(
            f_ext.ravel(), lambda y: case.value(q, v, x, y.reshape(-1, *f_ext.shape))
        )
        floor = max(floor, float((np.abs(by_force) @ np.abs(case.df_ext.ravel())).max()))
    assert_close(case.jvp(), want, case.tolerance, "jvp", floor=floor)

    got = case.vjp()
    want_matrices = complex_step.dynamics_derivatives(case.problem, model, q, v, x, f_ext)
    for i, matrix in enumerate(want_matrices):
        what, floor = got._fields[i], case.vjp_floors[i]
        assert_close(got[i], matrix.T @ case.lam, case.tolerance, what, floor=floor)
    if f_ext is not None:
        want = (by_force.T @ case.lam).reshape(f_ext.shape)
        floor = float((np.abs(by_force.T) @ np.abs(case.lam)).max())
        assert_close(got.by_f_ext, want, case.tolerance, "by_f_ext", floor=floor)


def check_adjoint(case: Case) -> None:
    """lam . (J x) = (J^T lam) . x"""
    product, gradient = case.jvp(), case.vjp()
    pairs = list(zip(gradient, case.variation, strict=False))
    if case.df_ext is not None:
        pairs.append((gradient.by_f_ext, case.df_ext))
    terms = np.concatenate([(g * dx).ravel() for g, dx in pairs])
    left, right = float(case.lam @ product), float(terms.sum())
    size = float(np.abs(case.lam * product).sum() + np.abs(terms).sum())
    # In forward dynamics both sides solve once, but not the same system.
    assert abs(left - right) <= case.tolerance * size, (left, right, size)


CHECKS: dict[str, Callable[[Case], None]] = {
    "matrices": check_matrices,
    "complex step": check_complex_step,
    "adjoint": check_adjoint,
}


@pytest.mark.parametrize("check", CHECKS)
@with_wrenches
@on_robots
@both
def test_robots(problem: str, name: str, wrenches: bool, check: str) -> None:
    CHECKS[check](Case(problem, robot(name), 1, wrenches))


@pytest.mark.parametrize("check", CHECKS)
@both
@given(tree=trees(), seed=SEEDS, wrenches=st.booleans())
def test_trees(problem: str, check: str, tree: Tree, seed: int, wrenches: bool) -> None:
    CHECKS[check](Case(problem, tree.model(), seed, wrenches))


@both
@on_robots
def test_one_direction_at_a_time_gives_the_columns(problem: str, name: str) -> None:
    """The variations of a batch broadcast against one state."""
    case = Case(problem, robot(name), 2, True)
    zeros = np.zeros(case.model.nv)
    for i, matrix in enumerate(case.matrices):
        variation: list[Array] = [zeros, zeros, zeros]
        variation[i] = np.eye(case.model.nv)
        got = case.jvp(variation=variation, df_ext=None)
        floor = case.jvp_floor
        assert_close(got.T, matrix, case.tolerance, f"by argument {i}", floor=floor)


@both
@on_robots
def test_no_variation_gives_zero(problem: str, name: str) -> None:
    case = Case(problem, robot(name), 3, True)
    zeros = np.zeros(case.model.nv)
    got = case.jvp(variation=[zeros] * 3, df_ext=np.zeros_like(case.df_ext))
    np.testing.assert_array_equal(got, zeros)
    case.lam = zeros
    for x in case.vjp():
        np.testing.assert_array_equal(x, np.zeros_like(x))


@both
@on_robots
def test_wrenches_alone(problem: str, name: str) -> None:
    """df_ext without f_ext, and wrenches in which the result is linear anyway."""
    model = robot(name)
    s = random_state(model, 4)
    point = (s["q"], s["v"], s[x_of(problem)])
    zeros, dzeros = np.zeros((model.nbodies, 6)), [np.zeros(model.nv)] * 3
    function = getattr(dtau, f"{problem}_jvp")
    plain = getattr(dtau, problem)
    want = plain(model, *point, s["df_ext"]) - plain(model, *point)
    scale = float(np.abs(plain(model, *point)).max())
    mass = dtau.mass_matrix(model, s["q"])
    tolerance = (
        solved(TOLERANCE["identity"], mass)
        if problem == "forward_dynamics"
        else TOLERANCE["identity"]
    )
    got = function(model, *point, *dzeros, df_ext=s["df_ext"])
    assert_close(got, want, tolerance, "df_ext alone", floor=scale)
    with_zeros = function(model, *point, *dzeros, zeros, s["df_ext"])
    assert_close(with_zeros, got, TOLERANCE["rounding"], "f_ext of zeros")


def test_damping_and_armature() -> None:
    """A wheel with nothing else: tau = (J + armature) a + damping v."""
    builder = dtau.ModelBuilder("wheel", gravity=(0.0, 0.0, 0.0))
    inertia = dtau.Inertia(1.0, (0.0, 0.0, 0.0), 0.5 * np.eye(3))
    axle = dtau.Revolute((0, 0, 1))
    builder.add(axle, name="wheel", inertia=inertia, armature=1.5, damping=3.0)
    model, x = builder.build(), np.array([0.25])
    assert dtau.inverse_dynamics_jvp(model, x, x, x, [5.0], [1.0], [10.0]).tolist() == [23.0]
    by_q, by_v, by_a = dtau.inverse_dynamics_vjp(model, x, x, x, [4.0])
    assert (by_q.tolist(), by_v.tolist(), by_a.tolist()) == ([0.0], [12.0], [8.0])
    assert dtau.forward_dynamics_jvp(model, x, x, x, [5.0], [1.0], [10.0]).tolist() == [3.5]
    by_q, by_v, by_tau = dtau.forward_dynamics_vjp(model, x, x, x, [4.0])
    assert (by_q.tolist(), by_v.tolist(), by_tau.tolist()) == ([0.0], [-6.0], [2.0])


# Results


@both
def test_the_gradient_by_wrenches_is_there_where_wrenches_are(problem: str) -> None:
    model = robot("forest")
    prefix = "InverseDynamics" if problem == "inverse_dynamics" else "ForwardDynamics"
    fields = ("by_q", "by_v", f"by_{x_of(problem)}")
    for wrenches in (False, True):
        case = Case(problem, model, 5, wrenches)
        got = case.vjp()
        assert type(got) is getattr(results, f"{prefix}VJP")
        assert got._fields == fields
        assert list(vars(got)) == ["by_f_ext"] * wrenches
        if not wrenches:
            said = f"by_f_ext: give f_ext= to dtau.{problem}_vjp"
            with pytest.raises(AttributeError, match=said):
                _ = got.by_f_ext
        bits = [np.array(x).view(np.uint64) for x in arrays_of(got)]
        function = getattr(dtau, f"{problem}_vjp")
        out = tuple(np.full(x.shape, np.nan) for x in arrays_of(got))
        for filled in (out, list(out), got):
            again = function(model, *case.point, case.lam, case.f_ext, out=filled)
            assert type(again) is type(got)
            arrays = arrays_of(got) if filled is got else out
            for x, y, z in zip(arrays_of(again), arrays, bits, strict=True):
                assert x is y
                np.testing.assert_array_equal(z, y.view(np.uint64))
                y[...] = np.nan


@both
def test_out_has_as_many_arrays_as_there_are_results(problem: str) -> None:
    model = robot("forest")
    s: State = random_state(model, 6)
    function = getattr(dtau, f"{problem}_vjp")
    point = (s["q"], s["v"], s[x_of(problem)], s["lam"])
    three = [np.full(model.nv, np.nan) for _ in range(3)]
    four = [*three, np.full((model.nbodies, 6), np.nan)]
    for f_ext, out, want in ((None, four, 3), (s["f_ext"], three, 4)):
        with pytest.raises(ValueError, match=rf"out: expected a tuple of {want} arrays, got"):
            function(model, *point, f_ext, out=out)
    assert all(np.isnan(x).all() for x in four)
    got = function(model, *point, out=three)
    assert all(x is y for x, y in zip(got, three, strict=True))
    with pytest.raises(ValueError, match=r"out: expected a tuple of 4 arrays, got 3"):
        function(model, *point, s["f_ext"], out=got)
    more = function(model, *point, s["f_ext"], out=four)
    assert all(np.isfinite(x).all() for x in four)
    again = function(model, *point, out=more)  # an earlier result may have more
    assert not vars(again)
    assert all(x is y for x, y in zip(again, three, strict=True))
