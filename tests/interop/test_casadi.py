"""`dtau.casadi`: bits, zeros and saved functions; displacements and bases where digits are lost."""

from __future__ import annotations

import numpy as np
import pytest
from adapter_cases import robot
from cases import FAR
from compare import TOLERANCE, assert_close, assert_same_bits
from through_casadi import (
    DYNAMICS,
    SECOND,
    TERMS,
    arguments,
    dense,
    numbers,
    on_robots,
    state,
    symbols,
    vector,
)

import dtau

ca = pytest.importorskip("casadi")
import dtau.casadi as dc  # noqa: E402
from dtau.autodiff.common_translation import common_translation  # noqa: E402


@on_robots
@pytest.mark.parametrize("name_of_function", DYNAMICS + TERMS)
def test_values_have_the_bits_of_the_package(name: str, name_of_function: str) -> None:
    model = robot(name)
    given = state(model)
    for wrenches in (False, True)[: 2 if name_of_function in (*DYNAMICS, "bias_torque") else 1]:
        x = arguments(name_of_function, given, wrenches)
        want = getattr(dtau, name_of_function)(model, *x)
        got = dense(getattr(dc, name_of_function)(model, *x)).reshape(want.shape)
        assert_same_bits(got, want)


@pytest.mark.parametrize("name", ["hyq", "forest"])
@pytest.mark.parametrize("function", [*DYNAMICS, "mass_matrix", "mass_matrix_inverse"])
def test_the_jacobian_of_the_jacobian_has_all_hessians(name: str, function: str) -> None:
    model = robot(name)
    wrenches = function == "inverse_dynamics"
    x = arguments(function, state(model), wrenches)
    s = symbols(x)
    y = dc.function(model, function, f_ext=wrenches)(*s)
    z, lam = ca.veccat(*s), ca.MX.sym("lam", *y.shape)
    twice = ca.jacobian(ca.vec(ca.densify(ca.jacobian(ca.densify(y), z))), z)
    got = dense(ca.Function("J", s, [twice])(*numbers(x)))
    H = ca.jacobian(ca.gradient(ca.dot(lam, y), z), z)
    hessian = ca.Function("H", [*s, lam], [H])
    for i in range(0, y.numel(), y.numel() // 5):
        seed = np.zeros(y.numel())
        seed[i] = 1.0
        want = dense(hessian(*numbers(x), seed.reshape(y.shape, order="F")))
        if not y.sparsity().has_nz(i % y.size1(), i // y.size1()):
            assert not want.any()
        assert_same_bits(got[i :: y.numel()].copy(), want)


def test_a_third_derivative_is_refused() -> None:
    model = robot("forest")
    q = ca.MX.sym("q", model.nq)
    gradient = ca.gradient(ca.sumsqr(dc.gravity_torque(model, q)), q)
    second = ca.jacobian(gradient, q)
    with pytest.raises(RuntimeError, match="Derivatives cannot be calculated"):
        ca.Function("third", [q], [ca.jacobian(ca.vec(ca.densify(second)), q)])(0)


@pytest.mark.parametrize("function", [*DYNAMICS, "step"])
def test_trees_do_not_depend_on_each_other(function: str) -> None:
    """By the configuration of the whole forest; also of products with seeds."""
    model = robot("forest")
    f = dc.function(model, function)
    q, *others = (ca.MX.sym(f.name_in(k), *f.size_in(k)) for k in range(f.n_in()))
    result = ca.vertcat(*f.call([q, *others]))
    J = ca.Function("J", [q, *others], [ca.jacobian(result, q)])
    assert J.nnz_out(0) < 0.7 * J.numel_out(0)
    lam = ca.MX.sym("lam", result.numel())
    H, _ = ca.hessian(ca.dot(lam, result), q)
    assert H.nnz() < 0.7 * H.numel()


def test_parameters_in_rows_and_of_many_models() -> None:
    """A matrix with a row for each body is one set; columns are sets for states."""
    model = robot("hyq")
    q, v, a, _ = state(model)
    rows = np.asarray(model.parameters)
    want = [dtau.inverse_dynamics(model, q, v, a, parameters=s * rows) for s in (1.1, 0.9)]
    one = dc.inverse_dynamics(model, q, v, a, parameters=1.1 * rows)
    assert_same_bits(dense(one)[:, 0], want[0])
    two = dc.inverse_dynamics(
        model, q, v, a, parameters=np.array([1.1 * rows.ravel(), 0.9 * rows.ravel()]).T
    )
    assert_same_bits(dense(two).T, np.array(want))


def test_as_many_sets_as_a_set_with_joints_has_numbers() -> None:
    """14 columns of 10 numbers are sets of one revolute body; 14 rows have its joint's numbers."""
    model = robot("one revolute")
    count = 10 + 4 * model.nv
    sets = model.parameters.reshape(10, 1) * np.linspace(0.8, 1.2, count)
    still, a = np.zeros(model.nv), np.ones(model.nv)
    want = dtau.inverse_dynamics(model, still, still, a, parameters=sets.T.copy())
    assert_same_bits(dense(dc.inverse_dynamics(model, still, still, a, parameters=sets)).T, want)


def test_recordings_of_the_core_can_be_saved() -> None:
    model = robot("hyq")
    q, v, a, _ = state(model)
    s, w = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv)
    energy = dc.kinetic_energy(model, s, w)
    moving = dc.frame_accelerations(model, s, w, a, model.frames[-2:], "mixed", kind="classical")
    f = ca.Function("f", [s, w], [energy, moving, ca.jacobian(energy, s)])
    copy = ca.Function.deserialize(f.serialize())
    for got, want in zip(copy(q, v), f(q, v), strict=True):
        assert_same_bits(dense(got), dense(want))


@pytest.mark.parametrize("name", FAR)
def test_no_digit_is_lost_far_from_the_origin(name: str) -> None:
    """Of the momentum about the center of mass, which does not feel where the robots stand."""
    model = robot(name)
    q, v, *_ = state(model)
    moved, _ = common_translation(model)
    q[moved] += 2.0**23
    beside = q.copy()  # of the digits that are left
    beside[moved] -= 2.0**23
    s = ca.MX.sym("q", model.nq), ca.MX.sym("v", model.nv)
    h = dc.centroidal_momentum(model, *s)
    every = ca.Function("h", s, [h, ca.jacobian(h, s[0]), ca.jacobian(h, s[1])])
    want = [dense(x) for x in every(beside, v)]
    for k, got in enumerate(every(q, v)):
        assert_close(dense(got), want[k], 1e-14, floor=float(np.abs(want[k]).max()))
    assert_close(want[0][:, 0], dtau.centroidal_momentum(model, beside, v), TOLERANCE["identity"])


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_hessians_of_implicit_steps_have_no_more_entries_than_they_need(friction: float) -> None:
    """Friction alone mixes velocities with torques, and nothing mixes torques with torques."""
    model = dtau.robots.chain(3).replace(damping=0.1)
    if friction:
        model = model.replace(friction=friction, friction_speed=0.1)
    n = model.nv
    q, v, tau, _ = state(model)
    s = [ca.MX.sym(x, n) for x in ("q", "v", "tau")]
    q_next, v_next = dc.step(model, *s, 0.01, "implicit")
    found, _ = ca.hessian(ca.dot(tau, q_next) + ca.dot(v, v_next), ca.vertcat(*s))
    assert found[2 * n :, 2 * n :].nnz() == 0
    assert found[n : 2 * n, 2 * n :].nnz() == (n * n if friction else 0)
    got = dense(ca.Function("H", s, [found])(q, v, tau))
    want = dtau.step_hessian(model, q, v, tau, 0.01, tau, v, "implicit")
    assert_close(got, want, TOLERANCE["identity"])


@on_robots
@pytest.mark.parametrize("size", [0.0, 1e-9, 0.1, 0.49, 0.51, 1.0])
def test_displacements_of_every_size(name: str, size: float) -> None:
    model = robot(name)
    q, v, _, _ = state(model)
    dq, sums = size * v, TOLERANCE["long sums"]
    reached = dtau.integrate(model, q, dq)
    assert_close(vector(dc.integrate(model, q, dq)), reached, sums)
    assert_close(vector(dc.normalize(model, reached)), reached, sums)
    want = dtau.difference(model, q, reached)
    assert_close(vector(dc.difference(model, q, reached)), want, sums, floor=1.0)
    maps, there = dtau.tangent_map(model, q), dtau.tangent_map(model, reached)
    for got, expected in zip(dc.tangent_map(model, q), maps, strict=True):
        assert_close(dense(got), expected, sums)
    xi = ca.SX.sym("xi", model.nv)
    got = dense(ca.Function("J", [xi], [ca.jacobian(dc.integrate(model, q, xi), xi)])(dq))
    by_dq = dtau.integrate_jacobians(model, q, dq).by_dq
    assert_close(got, there.from_tangent @ by_dq, TOLERANCE["identity"])
    s = ca.SX.sym("q", model.nq)
    got = dense(ca.Function("J", [s], [ca.jacobian(dc.difference(model, q, s), s)])(reached))
    by_q1 = dtau.difference_jacobians(model, q, reached).by_q1
    assert_close(got, by_q1 @ there.to_tangent, TOLERANCE["identity"])
    H, _ = ca.hessian(ca.sumsqr(dc.difference(model, q, dc.integrate(model, q, xi))), xi)
    got = dense(ca.Function("H", [xi], [H])(dq))
    if size < 0.6:  # the displacement itself
        assert_close(got, 2.0 * np.eye(model.nv), SECOND)
