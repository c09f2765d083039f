"""Time derivatives of any order: Taylor series, and dynamics that undo each other."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import pytest
import taylor
from cases import ROBOTS, TREES, on_robots, random_q, random_state, robot
from compare import TOLERANCE, assert_close, cancelled
from function import FRAME_AXES
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import SEEDS, Array, Tree, trees

import dtau

on_axes = pytest.mark.parametrize("axes", FRAME_AXES)


class Trajectory:
    """A configuration, and derivatives of the velocity and of wrenches of orders 0 ... rows - 1."""

    def __init__(self, model: dtau.Model, seed: int, rows: int, wrenches: bool = True) -> None:
        rng = np.random.default_rng(seed)
        self.model, self.rows = model, rows
        self.q = random_q(model, rng)
        self.v = rng.uniform(-1.0, 1.0, (rows, model.nv))
        self.f_ext = rng.uniform(-5.0, 5.0, (rows, model.nbodies, 6)) if wrenches else None

    def f(self, rows: int) -> Array | None:
        return None if self.f_ext is None else self.f_ext[:rows]

    def inverse(self, axes: Any = "body") -> Array:
        got = dtau.inverse_dynamics_time_derivatives(
            self.model, self.q, self.v, self.f(self.rows - 1), f_ext_axes=axes
        )
        assert got.shape == (self.rows - 1, self.model.nv)
        return got


def rows_close(got: Array, want: Array, tolerance: float, what: str, floor: float = 0.0) -> None:
    """Order by order, each by its own size."""
    assert got.shape == want.shape
    for k in range(len(want)):
        assert_close(got[k], want[k], tolerance, f"order {k} of {what}", floor=floor)


@pytest.mark.parametrize("name", TREES)
def test_taylor_series(name: str) -> None:
    check_taylor_series(TREES[name], robot(name), Trajectory(robot(name), 4, 10))


@given(tree=trees(), seed=SEEDS, wrenches=st.booleans())
@settings(max_examples=40)
def test_torque_time_derivatives_match_taylor_arithmetic_on_trees(
    tree: Tree, seed: int, wrenches: bool
) -> None:
    model = tree.model()
    check_taylor_series(tree, model, Trajectory(model, seed, 10, wrenches))


def check_taylor_series(tree: Tree, model: dtau.Model, at: Trajectory) -> None:
    """Newton's and Euler's equations in world axes, orders 0 to 8."""
    want = taylor.inverse_dynamics(tree, model, at.q, at.v, at.f(9))
    tau, friction = at.inverse(), taylor.friction_torque(model, at.v)
    assert tau.shape == want.shape
    for k in range(len(want)):  # friction may cancel the rest
        floor = max(cancelled(want), float(np.abs(friction[k]).max()))
        assert_close(tau[k], want[k], TOLERANCE["independent"], f"order {k} of tau", floor=floor)
    got = dtau.kinematics_time_derivatives(model, at.q, at.v)
    for body, (R, p, _) in zip(tree.bodies, taylor.poses(tree, model, at.q, at.v), strict=True):
        if body.kind != "fixed":
            i = model.joint(body.name).body
            for x, y in ((got.rotation[:, i], R), (got.translation[:, i], p)):
                y = taylor.derivatives(y)
                rows_close(x, y, TOLERANCE["independent"], "pose", floor=max(1.0, cancelled(y)))


@given(tree=trees(), seed=SEEDS)
def test_the_differentiated_equation_holds_term_by_term(tree: Tree, seed: int) -> None:
    """[HO-FBS] Proposition 1 states orders 0 and 1; here all, with C of [Echeandia]."""
    model = tree.model()
    at = Trajectory(model, seed, 8)
    v, a, order = at.v[:7], at.v[1:], 6
    M = dtau.mass_matrix_time_derivatives(model, at.q, v)
    C = dtau.coriolis_matrix_time_derivatives(model, at.q, v)
    g = dtau.gravity_torque_time_derivatives(model, at.q, v)
    bias = dtau.bias_torque_time_derivatives(model, at.q, v, at.f(7))
    free = dtau.bias_torque_time_derivatives(model, at.q, v)
    tau = at.inverse()
    friction = taylor.friction_torque(model, v)
    for matrix in M:
        np.testing.assert_array_equal(matrix, matrix.T)
    for k in range(order + 1):
        scale = max(1.0, float(np.abs(M[k + 1]).max()))
        assert_close(M[k + 1], C[k] + C[k].T, TOLERANCE["identity"], f"M^({k + 1})", floor=scale)
        inertial = [comb(k, m) * M[m] @ a[k - m] for m in range(k + 1)]
        coriolis = [comb(k, m) * C[m] @ v[k - m] for m in range(k + 1)]
        floor = max(float(np.abs(x).max()) for x in (*inertial, *coriolis, bias[k], g[k], tau[k]))
        assert_close(
            tau[k], sum(inertial) + bias[k], TOLERANCE["identity"], f"tau^({k})", floor=floor
        )
        want = sum(coriolis) + model.damping * v[k] + friction[k] + g[k]
        assert_close(free[k], want, TOLERANCE["identity"], f"bias^({k})", floor=floor)


# Forward and hybrid dynamics


def check_residual(at: Trajectory, a: Array, tau: Array, axes: str) -> None:
    """Inverse dynamics of the accelerations gives the torques, order by order."""
    again = dtau.inverse_dynamics_time_derivatives(
        at.model, at.q, np.concatenate([at.v[:1], a]), at.f(len(a)), f_ext_axes=axes
    )
    size = float(np.abs(dtau.mass_matrix(at.model, at.q)).max())
    least = 0.0 if axes == "body" or at.f_ext is None else cancelled(at.f_ext)
    for k in range(len(a)):
        floor = max(size * float(np.abs(a[k]).max()), least)
        assert_close(again[k], tau[k], TOLERANCE["identity"], f"torque of order {k}", floor=floor)


@on_axes
@pytest.mark.parametrize("name", [*ROBOTS, "aerial manipulator"])
def test_forward_dynamics(name: str, axes: str) -> None:
    aerial = name == "aerial manipulator"
    model = dtau.robots.aerial_manipulator() if aerial else robot(name)
    check_forward(Trajectory(model, 7, 9), axes)


@given(tree=trees(), seed=SEEDS, wrenches=st.booleans(), axes=st.sampled_from(FRAME_AXES))
def test_forward_dynamics_on_trees(tree: Tree, seed: int, wrenches: bool, axes: str) -> None:
    check_forward(Trajectory(tree.model(), seed, 9, wrenches), axes)


def check_forward(at: Trajectory, axes: Any) -> None:
    tau = np.random.default_rng(8).uniform(-2.0, 2.0, (9, at.model.nv))
    a = dtau.forward_dynamics_time_derivatives(
        at.model, at.q, at.v[0], tau, at.f(9), f_ext_axes=axes
    )
    check_residual(at, a, tau, axes)


def subsets(model: dtau.Model, seed: int) -> list[list[str]]:
    names = [joint.name for joint in model.joints if joint.mimic is None]
    rng = np.random.default_rng(seed)
    return [[], names, *[[n for n in names if rng.random() < 0.5] for _ in range(3)]]


def check_hybrid(at: Trajectory, prescribed: list[str], axes: Any) -> None:
    """Given what inverse dynamics finds, the same trajectory comes back."""
    model, order = at.model, at.rows - 3
    a, tau = at.v[1 : order + 2], at.inverse(axes)[: order + 1]
    mask = np.zeros(model.nv, dtype=bool)
    for name in prescribed:
        mask[model.joint(name).v] = True
    known_a, known_tau = np.where(mask, a, 99.0), np.where(mask, -99.0, tau)
    given = (model, at.q, at.v[0], known_a, known_tau)
    f = at.f(order + 1)
    got = dtau.hybrid_dynamics_time_derivatives(*given, prescribed, f, f_ext_axes=axes)
    np.testing.assert_array_equal(got.a[:, mask], a[:, mask])
    np.testing.assert_array_equal(got.tau[:, ~mask], tau[:, ~mask])
    check_residual(at, got.a, got.tau, axes)
    again = dtau.hybrid_dynamics_time_derivatives(*given, mask, f, f_ext_axes=axes)
    for x, y in zip(got, again, strict=True):
        np.testing.assert_array_equal(x, y)
    M = dtau.mass_matrix(model, at.q)[~mask][:, ~mask]
    tolerance = (
        TOLERANCE["long sums"] * float(np.linalg.cond(M)) if M.size else TOLERANCE["long sums"]
    )
    for k in range(2):
        scale = float(np.abs(a).max())
        assert_close(got.a[k], a[k], 30.0**k * tolerance, f"a of order {k}", floor=scale)
        size = scale * float(np.abs(dtau.mass_matrix(model, at.q)).max())
        size = max(size, float(np.abs(tau).max()))
        assert_close(got.tau[k], tau[k], 30.0**k * tolerance, f"tau of order {k}", floor=size)


@on_axes
@on_robots
def test_hybrid_dynamics(name: str, axes: str) -> None:
    for prescribed in subsets(robot(name), 9):
        check_hybrid(Trajectory(robot(name), 9, 8), prescribed, axes)


@given(tree=trees(), seed=SEEDS, wrenches=st.booleans(), axes=st.sampled_from(FRAME_AXES))
def test_hybrid_dynamics_on_trees(tree: Tree, seed: int, wrenches: bool, axes: str) -> None:
    model = tree.model()
    for prescribed in subsets(model, seed)[2:4]:
        check_hybrid(Trajectory(model, seed, 8, wrenches), prescribed, axes)


@on_robots
def test_axes_of_no_wrenches(name: str) -> None:
    at = Trajectory(robot(name), 6, 6, wrenches=False)
    for axes in FRAME_AXES:
        np.testing.assert_array_equal(at.inverse(axes), at.inverse("body"))


@on_robots
def test_all_or_nothing_prescribed(name: str) -> None:
    """Inverse dynamics, or forward dynamics to the bit."""
    at = Trajectory(robot(name), 10, 5)
    a, tau, f = at.v[1:], at.inverse(), at.f(4)
    everything, nothing = np.ones(at.model.nv, dtype=bool), np.zeros(at.model.nv, dtype=bool)
    arguments = (at.model, at.q, at.v[0], a, tau)
    got = dtau.hybrid_dynamics_time_derivatives(*arguments, everything, f)
    rows_close(got.tau, tau, TOLERANCE["long sums"], "tau")
    got = dtau.hybrid_dynamics_time_derivatives(*arguments, nothing, f)
    want = dtau.forward_dynamics_time_derivatives(at.model, at.q, at.v[0], tau, f)
    np.testing.assert_array_equal(got.a, want)


def test_massless_joints_may_be_prescribed() -> None:
    """A massless joint whose motion is given needs no inertia."""
    builder = dtau.ModelBuilder("finger")
    inertia = dtau.Inertia(1.0, (0.1, 0.0, 0.2), np.diag([0.02, 0.03, 0.04]))
    builder.add(dtau.Revolute((0, 0, 1)), name="arm", inertia=inertia)
    builder.add(dtau.Revolute((0, 1, 0)), name="finger", parent="arm")
    with pytest.warns(dtau.ModelWarning, match="finger"):
        model = builder.build()
    x = np.array([0.1, 0.2])
    got = dtau.hybrid_dynamics(model, x, x, x, x, ["finger"])
    assert_close(dtau.inverse_dynamics(model, x, x, got.a), got.tau, TOLERANCE["short sums"], "tau")
    with pytest.raises(ValueError, match="none at joints 'finger';"):
        dtau.hybrid_dynamics(model, x, x, x, x, ["arm"])


# Wrong prescriptions


@pytest.mark.parametrize(
    ("prescribed", "error", "said"),
    [
        (["free1"], ValueError, "no joint named 'free1'; close names: 'free0'"),
        ("free0", TypeError, "prescribed: expected names of joints or a boolean array, got 'f"),
        (np.ones(3, dtype=bool), ValueError, r"prescribed: expected shape \(\d+,\), got \(3,\)"),
        (np.ones(3), TypeError, "prescribed: .* got dtype float64"),
    ],
)
def test_wrong_prescriptions(prescribed: Any, error: type[Exception], said: str) -> None:
    model = robot("free root, branches")
    s = random_state(model, 13)
    with pytest.raises(error, match=said):
        dtau.hybrid_dynamics(model, s["q"], s["v"], s["a"], s["tau"], prescribed)


def test_a_joint_is_prescribed_as_a_whole() -> None:
    model = robot("free root, branches")
    s = random_state(model, 14)
    mask = np.zeros(model.nv, dtype=bool)
    mask[model.joint("free0").v.start] = True
    with pytest.raises(ValueError, match="all degrees of freedom of joint 'free0', got "):
        dtau.hybrid_dynamics(model, s["q"], s["v"], s["a"], s["tau"], mask)
