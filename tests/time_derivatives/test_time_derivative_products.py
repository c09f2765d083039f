"""Products with first derivatives of time derivatives: against complex step, by columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import complex_step
import numpy as np
import pytest
from cases import on_robots, random_q, robot
from compare import TOLERANCE, assert_close, cancelled, solved
from core import complex_core
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import SEEDS, Array, Tree, trees

import dtau
from dtau import results
from dtau.registry import arrays_of
from dtau.support.options import Axes

PROBLEMS = ("inverse_dynamics", "forward_dynamics")
both = pytest.mark.parametrize("problem", PROBLEMS)
ORDERS = st.integers(0, 5)


class Case:
    """A trajectory, variations of all arguments, and weights."""

    def __init__(
        self,
        problem: str,
        model: dtau.Model,
        seed: int,
        order: int,
        wrenches: bool = True,
        axes: Axes = "body",
    ) -> None:
        rng = np.random.default_rng(seed)
        rows, nv = order + 1, model.nv
        self.name = f"{problem}_time_derivatives"
        self.model, self.rows = model, rows
        self.q, self.dq = random_q(model, rng), rng.uniform(-1.0, 1.0, nv)
        shapes = [(rows + 1, nv)] if problem == "inverse_dynamics" else [(nv,), (rows, nv)]
        self.point = [rng.uniform(-1.0, 1.0, shape) for shape in shapes]
        self.variation = [rng.uniform(-1.0, 1.0, shape) for shape in shapes]
        self.lam = rng.uniform(-1.0, 1.0, (rows, nv))
        f_ext, df_ext = rng.uniform(-5.0, 5.0, (2, rows, model.nbodies, 6))
        self.wrenches = (f_ext, df_ext) if wrenches else (None, None)
        self.axes: dict[str, Any] = {"f_ext_axes": axes}
        mass = dtau.mass_matrix(model, self.q)
        solves = problem == "forward_dynamics"
        # Errors of low orders of what is solved for enter the higher ones.
        self.tolerance = [
            30.0**k * solved(TOLERANCE["identity"], mass) if solves else TOLERANCE["identity"]
            for k in range(rows)
        ]
        value = getattr(dtau, self.name)(model, self.q, *self.point, self.wrenches[0], **self.axes)
        self.sizes = [cancelled(row) for row in value]

    def jvp(self, dq: Any, *variation: Any, df_ext: Any = None) -> Array:
        """The product, along one variation or a batch of them: then `dq` has an axis for it."""
        function = getattr(dtau, f"{self.name}_jvp")
        batch = dq.shape[:-1]
        core = [*map(np.ndim, self.point), 3]
        stacks: list[Any] = [*self.point, *variation, self.wrenches[0], df_ext]
        for i, x in enumerate(stacks):
            ndim = core[i % len(self.point)] if i < 2 * len(self.point) else core[-1]
            if batch and x is not None and x.ndim == ndim:
                stacks[i] = x[np.newaxis]
        point, rest = stacks[: len(self.point)], stacks[len(self.point) :]
        out = np.full((*batch, self.rows, self.model.nv), np.nan)
        got: Array = function(self.model, self.q, *point, dq, *rest, **self.axes, out=out)
        assert got is out
        return got

    def vjp(self) -> tuple[Array, ...]:
        """The gradients by q, and by the other arguments in their order."""
        function = getattr(dtau, f"{self.name}_vjp")
        arguments = (self.model, self.q, *self.point, self.lam, self.wrenches[0])
        kept = arrays_of(function(*arguments, **self.axes))
        out = tuple(np.full(x.shape, np.nan) for x in kept)
        function(*arguments, **self.axes, out=out)
        for x, y in zip(kept, out, strict=True):
            np.testing.assert_array_equal(x, y)
        return kept


def check_complex_step(case: Case) -> None:
    """One step along all variations at once."""
    h = 1j * complex_step.STEP
    q = complex_step.moved(case.model, case.q, case.dq[np.newaxis])[0]
    point = [x + h * dx for x, dx in zip(case.point, case.variation, strict=True)]
    f_ext, df_ext = case.wrenches
    wrenches = () if f_ext is None else (f_ext + h * df_ext,)
    stepped = complex_core(case.name, case.model, q, *point, *wrenches, **case.axes)
    want = stepped.imag / complex_step.STEP
    got = case.jvp(case.dq, *case.variation, df_ext=df_ext)
    for k in range(case.rows):
        assert_close(got[k], want[k], case.tolerance[k], f"order {k}", floor=case.sizes[k])


def check_columns(case: Case) -> None:
    """The gradient, element by element, from the variations along every direction."""
    nothing = [np.zeros(case.model.nv), *(np.zeros_like(x) for x in case.point)]
    names = ["q", "v", "tau"] if len(case.point) == 2 else ["q", "v"]
    gradient = case.vjp()
    columns = []
    for i, zero in enumerate(nothing):
        arguments: list[Any] = list(nothing)
        arguments[i] = np.eye(zero.size).reshape(-1, *zero.shape)
        dq = np.zeros((zero.size, case.model.nv)) if i else arguments[0]
        columns.append(case.jvp(dq, *arguments[1:]))
    if case.wrenches[0] is not None:
        names.append("f_ext")
        directions = np.eye(case.wrenches[0].size).reshape(-1, *case.wrenches[0].shape)
        dq = np.zeros((len(directions), case.model.nv))
        columns.append(case.jvp(dq, *nothing[1:], df_ext=directions))
    # Gradients may vanish, or come out as rounding errors of what cancels in the results.
    least = float((np.abs(case.lam).max(-1) * case.sizes).sum())
    for got, jacobian, name in zip(gradient, columns, names, strict=True):
        terms = case.lam * jacobian
        floor = max(float(np.abs(terms).sum((-1, -2)).max()), least)
        want = terms.sum((-1, -2)).reshape(got.shape)
        assert_close(got, want, case.tolerance[-1], f"by {name}", floor=floor)


CHECKS: dict[str, Callable[[Case], None]] = {
    "complex step": check_complex_step,
    "columns": check_columns,
}


@pytest.mark.parametrize("check", CHECKS)
@on_robots
@both
def test_robots(problem: str, name: str, check: str) -> None:
    for order in (0, 1, 4):
        CHECKS[check](Case(problem, robot(name), 1, order))


@pytest.mark.parametrize("check", CHECKS)
@both
@given(tree=trees(), seed=SEEDS, order=ORDERS, wrenches=st.booleans())
@settings(max_examples=40)
def test_trees(problem: str, check: str, tree: Tree, seed: int, order: int, wrenches: bool) -> None:
    CHECKS[check](Case(problem, tree.model(), seed, order, wrenches))


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("axes", ["mixed", "world"])
@both
@given(tree=trees(), seed=SEEDS, order=ORDERS)
@settings(max_examples=40)
def test_wrenches_along_the_world(
    problem: str, axes: Axes, check: str, tree: Tree, seed: int, order: int
) -> None:
    CHECKS[check](Case(problem, tree.model(), seed, order, axes=axes))


@both
@pytest.mark.parametrize("axes", ["mixed", "world"])
@on_robots
def test_wrenches_along_the_world_on_robots(problem: str, axes: Axes, name: str) -> None:
    for check in CHECKS.values():
        check(Case(problem, robot(name), 4, 3, axes=axes))


@both
@on_robots
def test_order_0(problem: str, name: str) -> None:
    """The products of the plain functions."""
    case = Case(problem, robot(name), 2, 0)
    f_ext, df_ext = (x[0] for x in case.wrenches)
    inverse = problem == "inverse_dynamics"
    point = case.point[0] if inverse else [case.point[0], case.point[1][0]]
    variation = case.variation[0] if inverse else [case.variation[0], case.variation[1][0]]
    arguments = (case.model, case.q, *point)
    want = getattr(dtau, f"{problem}_jvp")(*arguments, case.dq, *variation, f_ext, df_ext)
    got = case.jvp(case.dq, *case.variation, df_ext=case.wrenches[1])
    assert_close(got[0], want, case.tolerance[0], "jvp", floor=case.sizes[0])
    gradient = getattr(dtau, f"{problem}_vjp")(*arguments, case.lam[0], f_ext)
    numbers = np.concatenate([x.ravel() for x in arrays_of(gradient)])
    size = 1e-2 * float(np.abs(numbers).max())
    got = np.concatenate([x.ravel() for x in case.vjp()])
    assert_close(got, numbers, case.tolerance[0], "vjp", floor=size)


@on_robots
def test_the_variation_along_the_motion_is_the_next_order(name: str) -> None:
    case = Case("inverse_dynamics", robot(name), 3, 5, wrenches=False)
    v = case.point[0]
    value = dtau.inverse_dynamics_time_derivatives(case.model, case.q, v)
    rates = dtau.inverse_dynamics_time_derivatives_jvp(case.model, case.q, v[:-1], v[0], v[1:])
    for k in range(case.rows - 1):
        assert_close(rates[k], value[k + 1], case.tolerance[k], f"order {k}", floor=case.sizes[k])


@both
def test_the_gradient_by_wrenches_is_there_where_wrenches_are(problem: str) -> None:
    prefix = "InverseDynamics" if problem == "inverse_dynamics" else "ForwardDynamics"
    for wrenches in (False, True):
        case = Case(problem, robot("forest"), 5, 2, wrenches)
        function = getattr(dtau, f"{case.name}_vjp")
        got = function(case.model, case.q, *case.point, case.lam, case.wrenches[0])
        assert type(got) is getattr(results, f"{prefix}TimeDerivativesVJP")
        assert hasattr(got, "by_f_ext_derivatives") is wrenches


@both
@pytest.mark.parametrize("axes", ["body", "mixed", "world"])
@on_robots
def test_wrenches_or_their_variations_alone(problem: str, axes: Axes, name: str) -> None:
    case = Case(problem, robot(name), 7, 2, axes=axes)
    f_ext, df_ext = case.wrenches
    arguments = (case.dq, *case.variation)
    case.wrenches = (np.zeros_like(f_ext), df_ext)
    want = case.jvp(*arguments, df_ext=df_ext)
    case.wrenches = (None, df_ext)
    got = case.jvp(*arguments, df_ext=df_ext)
    for k in range(case.rows):
        assert_close(got[k], want[k], case.tolerance[k], f"order {k}", floor=case.sizes[k])
    plain = Case(problem, robot(name), 7, 2, wrenches=False)
    for x, y in zip(case.vjp(), plain.vjp(), strict=True):
        np.testing.assert_array_equal(x, y)
    case.wrenches = (f_ext, None)
    nothing = case.jvp(*arguments, df_ext=np.zeros_like(f_ext))
    np.testing.assert_array_equal(case.jvp(*arguments), nothing)


@both
@on_robots
def test_no_variation_gives_zero(problem: str, name: str) -> None:
    for axes in ("body", "world"):
        case = Case(problem, robot(name), 8, 2, axes=axes)
        got = case.jvp(np.zeros(case.model.nv), *(np.zeros_like(x) for x in case.point))
        np.testing.assert_array_equal(got, np.zeros_like(got))
        case.lam = np.zeros_like(case.lam)
        for x in case.vjp():
            np.testing.assert_array_equal(x, np.zeros_like(x))


def test_damping_and_armature() -> None:
    """A wheel with nothing else: tau = (J + armature) a + damping v, and so all derivatives."""
    builder = dtau.ModelBuilder("wheel", gravity=(0.0, 0.0, 0.0))
    inertia = dtau.Inertia(1.0, (0.0, 0.0, 0.0), 0.5 * np.eye(3))
    axle = dtau.Revolute((0, 0, 1))
    builder.add(axle, name="wheel", inertia=inertia, armature=1.5, damping=3.0)
    model, x = builder.build(), [0.25]
    v, dv, lam = [[1.0], [2.0], [3.0]], [[1.0], [10.0], [100.0]], [[4.0], [5.0]]
    got = dtau.inverse_dynamics_time_derivatives_jvp(model, x, v, x, dv)
    assert got.tolist() == [[23.0], [230.0]]
    by = dtau.inverse_dynamics_time_derivatives_vjp(model, x, v, lam)
    assert (by.by_q.tolist(), by.by_v_derivatives.tolist()) == ([0.0], [[12.0], [23.0], [10.0]])
    da = dtau.forward_dynamics_time_derivatives_jvp(model, x, x, lam, x, [1.0], got)
    assert da.tolist() == dv[1:]
    back = dtau.forward_dynamics_time_derivatives_vjp(model, x, x, lam, lam)
    assert back.by_tau_derivatives.tolist() == [[-1.75], [2.5]]
    assert (back.by_q.tolist(), back.by_v.tolist()) == ([0.0], [5.25])
