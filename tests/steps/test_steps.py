"""Time steps: their order, their derivatives against complex step, their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import ROBOTS, lone, on_robots, random_state, robot, without_friction
from compare import TOLERANCE, assert_close, assert_same_results, cancelled
from hypothesis import given
from hypothesis import strategies as st
from step_cases import CHECKS, Case, each_check, each_integrator
from trees import SEEDS, Array, Tree, trees

import dtau


@each_check
@pytest.mark.parametrize("wrenches", [False, True], ids=["alone", "f_ext"])
@each_integrator
@on_robots
def test_robots(name: str, integrator: str, wrenches: bool, check: str) -> None:
    CHECKS[check](Case(robot(name), 1, integrator, wrenches))


@each_check
@each_integrator
@given(tree=trees(max_bodies=5), seed=SEEDS, wrenches=st.booleans())
def test_step_derivatives_match_complex_step_on_trees(
    integrator: str, check: str, tree: Tree, seed: int, wrenches: bool
) -> None:
    CHECKS[check](Case(tree.model(), seed, integrator, wrenches))


@each_check
@each_integrator
@pytest.mark.parametrize("axes", ["mixed", "world"])
@pytest.mark.parametrize("name", [*ROBOTS[-6:], "every joint in a chain"])
def test_wrenches_along_the_world(name: str, axes: str, integrator: str, check: str) -> None:
    CHECKS[check](Case(robot(name), 8, integrator, True, f_ext_axes=axes))


@each_check
@each_integrator
@pytest.mark.parametrize("dt", [-0.1, 0.0, 1e-4, 0.5])
def test_lengths_of_steps(integrator: str, dt: float, check: str) -> None:
    """Also backwards, and so long that joints turn far."""
    CHECKS[check](Case(robot("every joint in a chain"), 2, integrator, False, dt))


@each_integrator
def test_no_time_no_change(integrator: str) -> None:
    model = robot("every joint in a chain")
    q, v, tau, _ = Case(model, 3, integrator, False).point
    lin = dtau.linearize_discrete(model, q, v, tau, 0.0, integrator)
    assert_close(lin.q, q, TOLERANCE["rounding"], "q")
    np.testing.assert_array_equal(lin.v, v)
    np.testing.assert_array_equal(lin.A, np.eye(2 * model.nv))
    np.testing.assert_array_equal(lin.B, np.zeros(lin.B.shape))


@each_integrator
@on_robots
def test_inputs(name: str, integrator: str) -> None:
    """A map of all torques, and masks, against each other."""
    model = robot(name)
    case = Case(model, 4, integrator, True)

    def B(inputs: Any) -> Array:
        lin = dtau.linearize_discrete(model, *case.point, integrator, case.f_ext, inputs)
        return lin.B

    floor = cancelled(case.B)
    assert_close(B(np.eye(model.nv)), case.B, case.tolerance, "B", floor=floor)
    rng = np.random.default_rng(5)
    for width in (1, 5, 40):
        some = rng.standard_normal((model.nv, width))
        assert_close(B(some), case.B @ some, case.tolerance, "B", floor=floor)
    mask = rng.random(model.nv) < 0.5
    assert_close(B(mask), case.B[:, mask], case.tolerance, "B", floor=floor)


# The methods themselves


@each_integrator
@pytest.mark.parametrize(
    "name", ["one spherical", "one free", "one planar", "free root, branches", "quadruped"]
)
def test_order_of_convergence_of_integrators(name: str, integrator: str) -> None:
    """Halving the steps divides the error by 2 or by 16; friction would need shorter steps."""
    model = without_friction(robot(name))
    s = random_state(model, 6)
    tau = np.zeros(model.nv)

    def end(steps: int, method: str) -> tuple[Array, Array]:
        q, v = s["q"], s["v"]
        for _ in range(steps):
            q, v = dtau.step(model, q, v, tau, 0.1 / steps, method)
        return q, v

    exact = end(512, "rk4")

    def error(steps: int) -> float:
        q, v = end(steps, integrator)
        return float(np.linalg.norm(np.r_[dtau.difference(model, exact[0], q), v - exact[1]]))

    order = 4 if integrator == "rk4" else 1
    coarse = 8 if integrator == "rk4" else 64
    got = np.log2(error(coarse) / error(2 * coarse))
    assert order - 0.2 <= got <= order + 0.5, got


def test_definitions() -> None:
    model = robot("every joint in a chain")
    q, v, tau, dt = Case(model, 7, "euler", False).point
    a = dtau.forward_dynamics(model, q, v, tau)
    euler = dtau.step(model, q, v, tau, dt)
    assert_close(euler.v, v + dt * a, TOLERANCE["rounding"], "v")
    assert_close(euler.q, dtau.integrate(model, q, dt * v), TOLERANCE["short sums"], "q")
    semi = dtau.step(model, q, v, tau, dt, "semi_implicit")
    assert_close(semi.v, v + dt * a, TOLERANCE["rounding"], "v")
    assert_close(semi.q, dtau.integrate(model, q, dt * semi.v), TOLERANCE["short sums"], "q")


def test_a_slider_by_hand() -> None:
    slide = dtau.Prismatic((0, 0, 1))
    model = lone(slide, gravity=(0.0, 0.0, -10.0), inertia=dtau.Inertia(2.0, tensor=np.eye(3)))
    point = ([1.0], [3.0], [4.0], 0.5)  # a = 4 / 2 - 10
    for integrator, q in (("euler", 2.5), ("semi_implicit", 0.5), ("rk4", 1.5)):
        after = dtau.step(model, *point, integrator)
        assert_close(np.r_[after.q, after.v], np.array([q, -1.0]), TOLERANCE["rounding"], "after")
        by_u = {"euler": 0.0, "semi_implicit": 0.125, "rk4": 0.0625}[integrator]
        lin = dtau.linearize_discrete(model, *point, integrator)
        assert_close(lin.A, np.array([[1.0, 0.5], [0.0, 1.0]]), TOLERANCE["rounding"], "A")
        assert_close(lin.B, np.array([[by_u], [0.25]]), TOLERANCE["rounding"], "B")


def test_a_trajectory_is_a_batch() -> None:
    """Backpropagation by matrices and by products gives the same gradient."""
    model = robot("free root, branches")
    s = random_state(model, 8, (6,))
    q, v = s["q"][0], s["v"][0]
    knots = []
    for tau in s["tau"]:
        knots.append((q, v))
        q, v = dtau.step(model, q, v, tau, 0.02, "rk4")
    qs, vs = (np.array(x) for x in zip(*knots, strict=True))
    everything = np.ones(model.nv, dtype=bool)
    lin = dtau.linearize_discrete(model, qs, vs, s["tau"], 0.02, "rk4", inputs=everything)
    assert_same_results((lin.q[-1], lin.v[-1]), (q, v))
    lam = np.r_[s["lam_q"][0], s["lam_v"][0]]
    lam_q, lam_v = s["lam_q"][0], s["lam_v"][0]
    for k in reversed(range(6)):
        lam_q, lam_v, by_tau = dtau.step_vjp(
            model, qs[k], vs[k], s["tau"][k], 0.02, lam_q, lam_v, "rk4"
        )
        assert_close(by_tau, lin.B[k].T @ lam, TOLERANCE["complex_step"], f"by_tau {k}")
        lam = lin.A[k].T @ lam
        assert_close(np.r_[lam_q, lam_v], lam, TOLERANCE["complex_step"], f"lam {k}")
