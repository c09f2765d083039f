"""First derivatives of time derivatives, and products with them: by complex step."""

from __future__ import annotations

import numpy as np
import pytest
from cases import on_robots, random_q, robot
from compare import TOLERANCE, assert_close, cancelled, solved
from derivative_laws import DYNAMICS, Point
from function import FRAME_AXES
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import SEEDS, Array, Tree, trees

import dtau
from dtau.registry import FUNCTIONS

both = pytest.mark.parametrize("problem", DYNAMICS)
each_axes = pytest.mark.parametrize("axes", FRAME_AXES)


class Stacks(Point):
    """Time derivatives of orders 0 ... order at a random state, with directions and weights."""

    def __init__(
        self, problem: str, model: dtau.Model, seed: int, order: int, axes: str, wrenches: bool
    ) -> None:
        rng, row = np.random.default_rng(seed), FUNCTIONS[f"{problem}_time_derivatives"]
        state = {"q": random_q(model, rng)}
        for x in (y for f in (row.name, *row.links.values()) for y in FUNCTIONS[f].inputs):
            if x.name not in state:
                rows = () if x.rows is None else (order + x.rows,)
                sizes = (n if isinstance(n, int) else getattr(model, n) for n in x.axes)
                size = 5.0 if "f_ext" in x.name else 1.0
                state[x.name] = rng.uniform(-size, size, (*rows, *sizes))
        optional = ["f_ext_derivatives"] if wrenches else []
        super().__init__(row.name, model, state, optional, f_ext_axes=axes)
        value = getattr(dtau, row.name)(model, **self.inputs, **self.options)
        self.sizes = [cancelled(x) for x in value]
        # Errors of low orders of what is solved for enter the higher ones.
        growth, one = 1.0, TOLERANCE["complex_step"]
        if problem == "forward_dynamics":
            growth, one = 30.0, solved(one, dtau.mass_matrix(model, state["q"]))
        self.tolerances = [growth**k * one for k in range(order + 1)]

    def jacobian(self, x: str) -> Array:
        """The Jacobian of the stack by an input: its axes, then the input's."""
        (found,) = self.jacobians(x).values()
        shape = (self.model.nv,) if x == "q" else self.inputs[x].shape
        return found.reshape(len(self.sizes), self.model.nv, *shape)

    def directions(self) -> dict[str, Array]:
        return {x: self.state[x] for x in self.further("jvp") if x[1:] in self.inputs}

    def jvp(self, **directions: Array) -> Array:
        (got,) = self.call("jvp", **directions).values()
        return got

    def vjp(self, **lam: Array) -> dict[str, Array]:
        """The gradients by the names of inputs, which are there as the inputs are."""
        found = self.call("vjp", **lam)
        assert list(found) == [f"by_{x}" for x in self.inputs]
        return {name.removeprefix("by_"): x for name, x in found.items()}


def check(at: Stacks) -> None:
    for law in (_derivatives, _along, _weighed):
        law(at)


def _derivatives(at: Stacks) -> None:
    found = at.call("derivatives")
    (y,) = (result.name for result in at.row.results)
    by = {x: at.jacobian(x) for x in at.inputs if f"d{y}_d{x}" in found}
    assert [len(x) for x in found.values()] == [len(at.sizes)] * len(by)
    for k in range(len(at.sizes)):
        floor = max(cancelled(want[k]) for want in by.values())
        for x, want in by.items():
            got = found[f"d{y}_d{x}"][k]
            entries = [(got, want[k])]
            if at.inputs[x].ndim == 2:  # by each entry of the stack
                entries = list(zip(got, np.moveaxis(want[k], 1, 0), strict=True))
                later = k + 1 + len(at.inputs[x]) - len(at.sizes)
                assert not got[later:].any()
            for m, (z, block) in enumerate(entries):
                assert_close(z, block, at.tolerances[k], f"order {k} by {x} {m}", floor=floor)


def _along(at: Stacks) -> None:
    """One variation of all inputs at once."""
    pairs = [(at.jacobian(dx[1:]), d) for dx, d in at.directions().items()]
    want = sum(np.tensordot(J, d, d.ndim) for J, d in pairs)
    got = at.jvp(**at.directions())
    for k, floor in enumerate(at.sizes):
        assert_close(got[k], want[k], at.tolerances[k], f"order {k}", floor=floor)


def _weighed(at: Stacks) -> None:
    lam = at.state["lam_derivatives"]
    # Gradients may vanish, or come out as rounding errors of what cancels in the results.
    least = float((np.abs(lam).max(-1) * at.sizes).sum())
    for x, got in at.vjp(lam_derivatives=lam).items():
        terms = np.tensordot(np.abs(lam), np.abs(at.jacobian(x)), 2)
        floor = max(float(terms.max()), least)
        want = np.tensordot(lam, at.jacobian(x), 2)
        assert_close(got, want, at.tolerances[-1], f"by {x}", floor=floor)


@each_axes
@on_robots
@both
def test_robots(problem: str, name: str, axes: str) -> None:
    for order in (0, 1, 4):  # order 1 is compiled for itself
        check(Stacks(problem, robot(name), 1, order, axes, True))


@both
@given(
    tree=trees(),
    seed=SEEDS,
    order=st.integers(0, 5),
    axes=st.sampled_from(FRAME_AXES),
    wrenches=st.booleans(),
)
@settings(max_examples=120)
def test_trees(problem: str, tree: Tree, seed: int, order: int, axes: str, wrenches: bool) -> None:
    check(Stacks(problem, tree.model(), seed, order, axes, wrenches))


@both
@each_axes
@on_robots
def test_wrenches_or_their_variations_alone(problem: str, axes: str, name: str) -> None:
    at = Stacks(problem, robot(name), 7, 2, axes, True)
    directions, f_ext = at.directions(), at.inputs["f_ext_derivatives"]
    nothing = np.zeros_like(f_ext)
    got = at.jvp(**{**directions, "df_ext_derivatives": nothing})
    alone = {x: d for x, d in directions.items() if x != "df_ext_derivatives"}
    np.testing.assert_array_equal(at.jvp(**alone), got)
    at.inputs["f_ext_derivatives"] = nothing
    want = at.jvp(**directions)
    del at.inputs["f_ext_derivatives"]
    got = at.jvp(**directions)
    for k, floor in enumerate(at.sizes):
        assert_close(got[k], want[k], at.tolerances[k], f"order {k}", floor=floor)
