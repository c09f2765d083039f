"""External wrenches along world axes, with time derivatives: by Taylor series, and solved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import taylor
from cases import TREES, on_robots, random_q, robot
from compare import TOLERANCE, assert_close, cancelled
from complex_step import STEP, moved
from core import complex_core
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import SEEDS, Array, Tree, trees

import dtau

ORDER = 5
IN_WORLD = ("mixed", "world")
on_axes = pytest.mark.parametrize("axes", IN_WORLD)


class Trajectory:
    """A motion, and wrenches along world axes, to order ORDER."""

    def __init__(self, model: dtau.Model, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.model, self.q = model, random_q(model, rng)
        self.v = rng.uniform(-1.0, 1.0, (ORDER + 2, model.nv))
        self.f = rng.uniform(-5.0, 5.0, (ORDER + 1, model.nbodies, 6))

    def inverse(self, axes: Any) -> Array:
        return dtau.inverse_dynamics_time_derivatives(
            self.model, self.q, self.v, self.f, f_ext_axes=axes
        )

    def along_body_axes(self, tree: Tree, axes: str) -> Array:
        """The same wrenches as the bodies see them, by the poses' Taylor series."""
        out = np.full_like(self.f, np.nan)
        for body, (R, p, _) in zip(
            tree.bodies, taylor.poses(tree, self.model, self.q, self.v), strict=True
        ):
            if body.kind == "fixed":
                continue
            at = self.model.joint(body.name).body
            series = taylor.coefficients(self.f[:, at])
            force, moment = series[:, :3], series[:, 3:]
            if axes == "world":
                moment = moment - taylor.product(p, force, np.cross)
            back = taylor.transposed(R)
            turned = [taylor.product(back, force), taylor.product(back, moment)]
            out[:, at] = taylor.derivatives(np.concatenate(turned, axis=-1))
        return out


def orders_close(got: Array, want: Array, tolerance: float, what: str, floor: float = 0.0) -> None:
    for k in range(len(want)):
        assert_close(got[k], want[k], tolerance, f"order {k} of {what}", floor=floor)


def check_conversion(tree: Tree, model: dtau.Model, seed: int, axes: Any) -> None:
    at = Trajectory(model, seed)
    f = at.along_body_axes(tree, axes)
    for name, rows in (("inverse_dynamics", ORDER + 2), ("bias_torque", ORDER + 1)):
        function = getattr(dtau, f"{name}_time_derivatives")
        got = function(model, at.q, at.v[:rows], at.f, f_ext_axes=axes)
        want = function(model, at.q, at.v[:rows], f)
        orders_close(got, want, TOLERANCE["independent"], name, floor=cancelled(f))


@on_axes
@pytest.mark.parametrize("name", TREES)
def test_inverse_dynamics(name: str, axes: str) -> None:
    check_conversion(TREES[name], robot(name), 1, axes)


@given(tree=trees(), seed=SEEDS, axes=st.sampled_from(IN_WORLD))
@settings(max_examples=40)
def test_inverse_dynamics_on_trees(tree: Tree, seed: int, axes: str) -> None:
    check_conversion(tree, tree.model(), seed, axes)


@on_axes
@on_robots
def test_complex_step(name: str, axes: Any) -> None:
    """Each order is the derivative by time of the one before."""
    at = Trajectory(robot(name), 2)
    later = moved(at.model, at.q, at.v[:1])[0]

    def step(stack: Array) -> Any:
        return stack[:-1] + 1j * STEP * stack[1:]

    for function, rows in (("inverse_dynamics", ORDER + 2), ("bias_torque", ORDER + 1)):
        function += "_time_derivatives"
        v = at.v[:rows]
        got = getattr(dtau, function)(at.model, at.q, v, at.f, f_ext_axes=axes)
        by_step = complex_core(function, at.model, later, step(v), step(at.f), f_ext_axes=axes)
        floor = cancelled(got)
        orders_close(got[1:], by_step.imag / STEP, TOLERANCE["complex_step"], function, floor)


def check_residual(model: dtau.Model, seed: int, axes: Any) -> None:
    """Inverse dynamics of the accelerations gives the torques, with wrenches along world axes."""
    at = Trajectory(model, seed)
    tau = np.random.default_rng(seed).uniform(-2.0, 2.0, (ORDER + 1, model.nv))
    a = dtau.forward_dynamics_time_derivatives(model, at.q, at.v[0], tau, at.f, f_ext_axes=axes)
    at.v = np.concatenate([at.v[:1], a])
    size = float(np.abs(dtau.mass_matrix(model, at.q)).max())
    again = at.inverse(axes)
    for k in range(ORDER + 1):
        floor = max(size * float(np.abs(a[k]).max()), cancelled(at.f))
        assert_close(again[k], tau[k], TOLERANCE["identity"], f"torque of order {k}", floor=floor)


@on_axes
@on_robots
def test_forward_dynamics(name: str, axes: str) -> None:
    check_residual(robot(name), 3, axes)


@on_axes
def test_forward_dynamics_of_the_aerial_manipulator(axes: str) -> None:
    check_residual(dtau.robots.aerial_manipulator(), 4, axes)


@given(tree=trees(), seed=SEEDS, axes=st.sampled_from(IN_WORLD))
@settings(max_examples=40)
def test_forward_dynamics_on_trees(tree: Tree, seed: int, axes: str) -> None:
    check_residual(tree.model(), seed, axes)


def check_hybrid(model: dtau.Model, seed: int, axes: Any) -> None:
    """Some joints' motion and the others' torques give the same as all motion."""
    at = Trajectory(model, seed)
    rng = np.random.default_rng(seed)
    given_names = [j.name for j in model.joints if j.mimic is None and rng.random() < 0.5]
    mask = np.zeros(model.nv, dtype=bool)
    for name in given_names:
        mask[model.joint(name).v] = True
    tau = rng.uniform(-2.0, 2.0, (ORDER + 1, model.nv))
    got = dtau.hybrid_dynamics_time_derivatives(
        model, at.q, at.v[0], at.v[1:], tau, given_names, at.f, f_ext_axes=axes
    )
    np.testing.assert_array_equal(got.a[:, mask], at.v[1:, mask])
    np.testing.assert_array_equal(got.tau[:, ~mask], tau[:, ~mask])
    at.v = np.concatenate([at.v[:1], got.a])
    size = float(np.abs(dtau.mass_matrix(model, at.q)).max())
    again = at.inverse(axes)
    for k in range(ORDER + 1):
        floor = max(size * float(np.abs(got.a[k]).max()), cancelled(at.f))
        assert_close(got.tau[k], again[k], TOLERANCE["identity"], f"order {k}", floor=floor)


@on_axes
@on_robots
def test_hybrid_dynamics(name: str, axes: str) -> None:
    check_hybrid(robot(name), 5, axes)


@given(tree=trees(), seed=SEEDS, axes=st.sampled_from(IN_WORLD))
@settings(max_examples=30)
def test_hybrid_dynamics_on_trees(tree: Tree, seed: int, axes: str) -> None:
    check_hybrid(tree.model(), seed, axes)


@on_robots
def test_order_0_and_no_wrenches(name: str) -> None:
    """One row alone; and without wrenches the axes do not matter, to the bit."""
    at = Trajectory(robot(name), 6)
    model, q, v = at.model, at.q, at.v
    for axes in IN_WORLD:
        got = dtau.inverse_dynamics_time_derivatives(model, q, v[:2], at.f[:1], f_ext_axes=axes)
        assert_close(got[0], at.inverse(axes)[0], TOLERANCE["short sums"], "tau", floor=1.0)
        np.testing.assert_array_equal(
            dtau.inverse_dynamics_time_derivatives(model, q, v, f_ext_axes=axes),
            dtau.inverse_dynamics_time_derivatives(model, q, v),
        )


def test_far_from_the_origin() -> None:
    """Mixed wrenches: where the base is changes no bit."""
    at = Trajectory(dtau.robots.quadruped(), 7)
    near = at.inverse("mixed")
    tau = near.copy()
    arguments = (at.v[0], tau, at.f)
    a = dtau.forward_dynamics_time_derivatives(at.model, at.q, *arguments, f_ext_axes="mixed")
    at.q[:3] += (2.0**40, -(2.0**41), 2.0**39)
    np.testing.assert_array_equal(at.inverse("mixed"), near)
    far = dtau.forward_dynamics_time_derivatives(at.model, at.q, *arguments, f_ext_axes="mixed")
    np.testing.assert_array_equal(a, far)


def test_a_wrench_at_a_frame() -> None:
    """Order 0: what `wrench_at_frame` makes of the same wrench at a body's origin."""
    model = dtau.robots.quadruped()
    at = Trajectory(model, 8)
    body = model.bodies[3]
    for axes in IN_WORLD:
        f_ext = np.zeros((1, model.nbodies, 6))
        f_ext[0, 3] = wrench = at.f[0, 3]
        got = dtau.inverse_dynamics_time_derivatives(model, at.q, at.v[:2], f_ext, f_ext_axes=axes)
        f = dtau.wrench_at_frame(model, at.q, body, wrench, axes)
        want = dtau.inverse_dynamics(model, at.q, at.v[0], at.v[1], f)
        assert_close(got[0], want, TOLERANCE["long sums"], "tau")
