"""Products with first derivatives: their arguments and results, and what is known exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import State, on_robots, random_state, robot
from compare import TOLERANCE, assert_close, cancelled, solved
from trees import Array

import dtau
from dtau import results
from dtau.registry import arrays_of

PROBLEMS = ("inverse_dynamics", "forward_dynamics")
both = pytest.mark.parametrize("problem", PROBLEMS)


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
        least = cancelled(mass)
        if solves:
            a = dtau.forward_dynamics(model, *self.point, self.f_ext)
            least = max(cancelled(self.matrices[2]), 0.1 * float(np.abs(a).max()))
        sizes = [np.abs(matrix) for matrix in self.matrices]
        terms = sum(m @ np.abs(dx) for m, dx in zip(sizes, self.variation, strict=True))
        self.jvp_floor = max(least, float(np.max(terms)))

    def jvp(self, **changed: Any) -> Array:
        """The product, with some of `df_ext` and the variations replaced."""
        df_ext = changed.get("df_ext", self.df_ext)
        variation = changed.get("variation", self.variation)
        function = getattr(dtau, f"{self.problem}_jvp")
        product: Array = function(self.model, *self.point, *variation, self.f_ext, df_ext)
        return product

    def vjp(self) -> Any:
        return getattr(dtau, f"{self.problem}_vjp")(self.model, *self.point, self.lam, self.f_ext)


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
