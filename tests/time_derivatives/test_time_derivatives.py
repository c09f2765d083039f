"""Time derivatives of any order: by complex step in time, Taylor series and identities."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import pytest
import taylor
from cases import TREES, on_robots, random_q, random_state, robot
from compare import EPS, TOLERANCE, assert_close, cancelled
from complex_step import STEP, moved
from core import complex_core
from functions import FUNCTIONS
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import SEEDS, Array, Tree, trees

import dtau


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

    def inverse(self) -> Array:
        got = dtau.inverse_dynamics_time_derivatives(
            self.model, self.q, self.v, self.f(self.rows - 1)
        )
        assert got.shape == (self.rows - 1, self.model.nv)
        return got

    def a_step_later(self) -> tuple[Any, Any, Any]:
        """The state at the time i STEP: one row less."""
        later = moved(self.model, self.q, self.v[:1])[0]
        f = None if self.f_ext is None else self.step(self.f_ext)
        return later, self.step(self.v), f

    @staticmethod
    def step(stack: Array) -> Any:
        return stack[:-1] + 1j * STEP * stack[1:]


def rows_close(got: Array, want: Array, tolerance: float, what: str, floor: float = 0.0) -> None:
    """Order by order, each by its own size."""
    assert got.shape == want.shape
    for k in range(len(want)):
        assert_close(got[k], want[k], tolerance, f"order {k} of {what}", floor=floor)


def check_complex_step(name: str, at: Trajectory, rows: int, wrenches: bool = False) -> None:
    """Each order is the derivative by time of the one before."""
    q, v, f = at.a_step_later()
    arguments: list[Any] = [at.q, at.v[:rows]]
    later: list[Any] = [q, v[: rows - 1]]
    if wrenches:
        orders = rows - 1 if name == "inverse_dynamics_time_derivatives" else rows
        arguments.append(at.f(orders))
        later.append(None if f is None else f[: orders - 1])
    got = getattr(dtau, name)(at.model, *arguments)
    by_step = complex_core(name, at.model, *later)
    if not isinstance(got, tuple):
        got, by_step = (got,), (by_step,)
    for x, y in zip(got, by_step, strict=True):
        rows_close(x[1:], y.imag / STEP, TOLERANCE["complex_step"], name, floor=cancelled(x))


TERMS = [f.name for f in FUNCTIONS if f.arguments == ("q", "v_derivatives") and not f.options]


@on_robots
def test_complex_step(name: str) -> None:
    at = Trajectory(robot(name), 1, 8)
    check_complex_step("inverse_dynamics_time_derivatives", at, 8, wrenches=True)
    check_complex_step("bias_torque_time_derivatives", at, 7, wrenches=True)
    for term in TERMS:
        check_complex_step(term, at, 6)


@given(tree=trees(), seed=SEEDS, wrenches=st.booleans())
def test_complex_step_on_trees(tree: Tree, seed: int, wrenches: bool) -> None:
    at = Trajectory(tree.model(), seed, 10, wrenches)
    check_complex_step("inverse_dynamics_time_derivatives", at, 10, wrenches=True)
    check_complex_step("bias_torque_time_derivatives", at, 9, wrenches=True)
    for term in TERMS:
        check_complex_step(term, at, 5)


# Order 0


@on_robots
def test_order_0(name: str) -> None:
    """The plain functions; also as the first row of longer stacks."""
    model = robot(name)
    at = Trajectory(model, 2, 4)
    q, v, a, f = at.q, at.v[0], at.v[1], at.f(3)
    size = float(np.abs(dtau.mass_matrix(model, q)).max())

    def same(got: Array, want: Array, what: str) -> None:
        assert_close(got, want, TOLERANCE["short sums"], what, floor=size)

    same(at.inverse()[0], dtau.inverse_dynamics(model, q, v, a, f[0]), "tau")
    same(
        dtau.inverse_dynamics_time_derivatives(model, q, [v, a])[0],
        dtau.inverse_dynamics(model, q, v, a),
        "tau",
    )
    bias = dtau.bias_torque_time_derivatives(model, q, at.v[:3], f)
    same(bias[0], dtau.bias_torque(model, q, v, f[0]), "bias")
    gravity = dtau.gravity_torque_time_derivatives(model, q, at.v)
    same(gravity[0], dtau.gravity_torque(model, q), "gravity")
    M = dtau.mass_matrix_time_derivatives(model, q, at.v)
    same(M[0], dtau.mass_matrix(model, q), "M")
    C = dtau.coriolis_matrix_time_derivatives(model, q, at.v)
    same(C[0], dtau.coriolis_matrix(model, q, v), "C")
    k = dtau.kinematics_time_derivatives(model, q, at.v)
    placements = dtau.forward_kinematics(model, q)
    assert_close(k.rotation[0], placements.rotation, TOLERANCE["rounding"], "rotation")
    assert_close(k.translation[0], placements.translation, TOLERANCE["rounding"], "translation")
    J = dtau.frame_jacobians(model, q, list(model.bodies))
    assert_close(k.twist[0], J @ v, TOLERANCE["short sums"], "twist", floor=1.0)


@on_robots
def test_order_0_of_forward_dynamics(name: str) -> None:
    model = robot(name)
    s = random_state(model, 3)
    q, v, tau, f = s["q"], s["v"], s["tau"], s["f_ext"]
    want = dtau.forward_dynamics(model, q, v, tau, f)
    tolerance = 10.0 * EPS * float(np.linalg.cond(dtau.mass_matrix(model, q)))
    got = dtau.forward_dynamics_time_derivatives(model, q, v, [tau], [f])
    assert_close(got[0], want, max(TOLERANCE["short sums"], tolerance), "a")


# Against other ways


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


@on_robots
def test_twists_turn_and_move_the_poses(name: str) -> None:
    """Eq. 20 with body twists: R' = R omega^, x' = R v."""
    at = Trajectory(robot(name), 5, 7)
    k = dtau.kinematics_time_derivatives(at.model, at.q, at.v)
    R, x, V = (taylor.coefficients(y) for y in k)
    hats = np.cross(V[..., np.newaxis, 3:], np.eye(3)).swapaxes(-1, -2)
    floor = float(np.abs(R).max())
    rows_close(taylor.rate(R), taylor.product(R, hats), TOLERANCE["long sums"], "R'", floor=floor)
    along = taylor.product(R, V[..., :3, np.newaxis])[..., 0]
    rows_close(taylor.rate(x), along, TOLERANCE["long sums"], "x'", floor=float(np.abs(x).max()))


@on_robots
def test_chain_rule(name: str) -> None:
    """The torque's rate through the first derivatives of inverse dynamics."""
    at = Trajectory(robot(name), 6, 3)
    v, a, jerk = at.v
    f, fdot = at.f_ext[:2]
    d = dtau.inverse_dynamics_derivatives(at.model, at.q, v, a, f)
    terms = (d.dtau_dq @ v, d.dtau_dv @ a, d.dtau_da @ jerk)
    still = dtau.inverse_dynamics(at.model, at.q, v, a)
    wrenches = dtau.inverse_dynamics(at.model, at.q, v, a, fdot) - still
    want = sum(terms) + wrenches
    floor = max(float(np.abs(x).max()) for x in (*terms, wrenches, still))
    assert_close(at.inverse()[1], want, TOLERANCE["long sums"], "rate of tau", floor=floor)


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


def check_residual(at: Trajectory, q: Array, v: Array, a: Array, tau: Array) -> None:
    """Inverse dynamics of the accelerations gives the torques, order by order."""
    again = dtau.inverse_dynamics_time_derivatives(
        at.model, q, np.concatenate([[v], a]), at.f(len(a))
    )
    size = float(np.abs(dtau.mass_matrix(at.model, q)).max())
    for k in range(len(a)):
        floor = size * float(np.abs(a[k]).max())
        assert_close(again[k], tau[k], TOLERANCE["identity"], f"torque of order {k}", floor=floor)


@on_robots
def test_forward_dynamics(name: str) -> None:
    check_forward(Trajectory(robot(name), 7, 9))


@given(tree=trees(), seed=SEEDS, wrenches=st.booleans())
def test_forward_dynamics_on_trees(tree: Tree, seed: int, wrenches: bool) -> None:
    check_forward(Trajectory(tree.model(), seed, 9, wrenches))


def check_forward(at: Trajectory) -> None:
    tau = np.random.default_rng(8).uniform(-2.0, 2.0, (9, at.model.nv))
    a = dtau.forward_dynamics_time_derivatives(at.model, at.q, at.v[0], tau, at.f(9))
    check_residual(at, at.q, at.v[0], a, tau)


def subsets(model: dtau.Model, seed: int) -> list[list[str]]:
    names = [joint.name for joint in model.joints if joint.mimic is None]
    rng = np.random.default_rng(seed)
    return [[], names, *[[n for n in names if rng.random() < 0.5] for _ in range(3)]]


def check_hybrid(at: Trajectory, prescribed: list[str]) -> None:
    """Given what inverse dynamics finds, the same trajectory comes back."""
    model, order = at.model, 3
    a, tau = at.v[1 : order + 2], at.inverse()[: order + 1]
    mask = np.zeros(model.nv, dtype=bool)
    for name in prescribed:
        mask[model.joint(name).v] = True
    known_a, known_tau = np.where(mask, a, 99.0), np.where(mask, -99.0, tau)
    f = at.f(order + 1)
    got = dtau.hybrid_dynamics_time_derivatives(
        model, at.q, at.v[0], known_a, known_tau, prescribed, f
    )
    np.testing.assert_array_equal(got.a[:, mask], a[:, mask])
    np.testing.assert_array_equal(got.tau[:, ~mask], tau[:, ~mask])
    check_residual(at, at.q, at.v[0], got.a, got.tau)
    again = dtau.hybrid_dynamics_time_derivatives(model, at.q, at.v[0], known_a, known_tau, mask, f)
    for x, y in zip(got, again, strict=True):
        np.testing.assert_array_equal(x, y)
    f_ext = None if f is None else f[0]
    one = dtau.hybrid_dynamics(model, at.q, at.v[0], known_a[0], known_tau[0], prescribed, f_ext)
    for x, y in zip(got, one, strict=True):
        np.testing.assert_array_equal(x[0], y)
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


@on_robots
def test_hybrid_dynamics(name: str) -> None:
    for prescribed in subsets(robot(name), 9):
        check_hybrid(Trajectory(robot(name), 9, 6), prescribed)


@given(tree=trees(), seed=SEEDS, wrenches=st.booleans())
def test_hybrid_dynamics_on_trees(tree: Tree, seed: int, wrenches: bool) -> None:
    model = tree.model()
    for prescribed in subsets(model, seed)[2:4]:
        check_hybrid(Trajectory(model, seed, 6, wrenches), prescribed)


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
        ([True, False], TypeError, "prescribed: expected names of joints or a boolean array"),
        (3, TypeError, "prescribed: expected names"),
        (np.ones(3, dtype=bool), ValueError, r"prescribed: expected shape \(\d+,\), got \(3,\)"),
        (np.ones(3), TypeError, "prescribed: .* got dtype float64"),
        (None, TypeError, "prescribed: expected names"),
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
