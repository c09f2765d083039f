"""`dtau.casadi`: values and derivatives through CasADi against the package's own."""

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
from dtau.options import Axes, Integrator

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


@on_robots
@pytest.mark.parametrize("function", DYNAMICS)
@pytest.mark.parametrize("axes", ["body", "mixed", "world"])
def test_first_derivatives_are_those_of_the_package(name: str, function: str, axes: Axes) -> None:
    """By the numbers of q: times the tangent map. Adjoints and tangents are products with them."""
    model = robot(name)
    x = arguments(function, state(model), True)
    d = getattr(dtau, f"{function}_derivatives")(model, *x, f_ext_axes=axes)
    by_wrench = getattr(dtau, f"{function}_wrench_derivatives")(model, x[0], f_ext_axes=axes)
    columns = by_wrench.transpose(0, 2, 1).reshape(model.nv, -1)  # column by column of f_ext
    want = [d[0] @ dtau.tangent_map(model, x[0]).to_tangent, d[1], d[2], columns]
    s = symbols(x)
    y = getattr(dc, function)(model, *s, f_ext_axes=axes)
    lam = np.random.default_rng(2).standard_normal(model.nv)
    for k, matrix in enumerate(want):
        got = ca.Function("J", s, [ca.jacobian(y, s[k])])(*numbers(x))
        assert_close(dense(got), matrix, TOLERANCE["identity"], f"by input {k}")
        assert got.nnz() <= np.count_nonzero(matrix) + got.numel() // 2
        got = ca.Function("g", s, [ca.gradient(ca.dot(lam, y), s[k])])(*numbers(x))
        terms = float(np.max(np.abs(lam) @ np.abs(matrix)))  # what cancels in it
        assert_close(vector(got), lam @ matrix, TOLERANCE["identity"], "adjoint", floor=terms)
        along = np.linspace(-1.0, 1.0, x[k].size).reshape(x[k].shape, order="F")
        got = ca.Function("t", s, [ca.jtimes(y, s[k], ca.DM(along))])(*numbers(x))
        moved = matrix @ along.ravel(order="F")
        size = np.abs(matrix).max()
        assert_close(vector(got), moved, TOLERANCE["identity"], "tangent", floor=size)


@on_robots
@pytest.mark.parametrize("function", DYNAMICS)
def test_hessians_in_the_exponential_chart(name: str, function: str) -> None:
    """Displacements xi as variables, q (+) xi: the package's symmetric second derivatives."""
    model = robot(name)
    q, v, x, f_ext = state(model)
    lam = np.random.default_rng(2).standard_normal(model.nv)
    for axes in ("body", "world") if name == "forest" else ("mixed",):
        want = getattr(dtau, f"{function}_hessian")(
            model, q, v, x, lam, f_ext, f_ext_axes=axes, symmetric=True
        )
        s = symbols((np.zeros(model.nv), v, x))
        y = getattr(dc, function)(
            model, dc.integrate(model, q, s[0]), *s[1:], ca.DM(f_ext), f_ext_axes=axes
        )
        H, _ = ca.hessian(ca.dot(lam, y), ca.vertcat(*s))
        got = dense(ca.Function("H", s, [H])(*numbers((np.zeros(model.nv), v, x))))
        zero = np.zeros((model.nv, model.nv))
        whole = np.block(
            [
                [want[0], want[1], want[3].T],
                [want[1].T, want[2], zero],
                [want[3], zero, zero],
            ]
        )
        assert_close(got, whole, SECOND)


@on_robots
@pytest.mark.parametrize("function", ["mass_matrix", "mass_matrix_inverse"])
def test_derivatives_of_matrices(name: str, function: str) -> None:
    """The columns are results of the dynamics for unit x, less what there is for none."""
    model = robot(name)
    q, _, _, _ = state(model)
    problem = "inverse_dynamics" if function == "mass_matrix" else "forward_dynamics"
    S = np.random.default_rng(2).standard_normal((model.nv, model.nv))
    still, units = np.zeros(model.nv), np.eye(model.nv)
    derivatives = getattr(dtau, f"{problem}_derivatives")
    tensor = derivatives(model, q, still, units)[0] - derivatives(model, q, still, still)[0]
    jacobian = tensor.reshape(-1, model.nv) @ dtau.tangent_map(model, q).to_tangent
    s = ca.MX.sym("q", model.nq)
    M = getattr(dc, function)(model, s)
    got = dense(ca.Function("J", [s], [ca.jacobian(ca.densify(M), s)])(q))
    assert_close(got, jacobian, SECOND)
    got = vector(ca.Function("g", [s], [ca.gradient(ca.dot(ca.DM(S), M), s)])(q))
    assert_close(got, S.ravel(order="F") @ jacobian, SECOND, floor=float(np.abs(jacobian).max()))

    hessian = getattr(dtau, f"{problem}_hessian")
    want = hessian(model, q, still, units, S.T, symmetric=True)[0].sum(axis=0)
    want -= hessian(model, q, still, still, S.sum(axis=1), symmetric=True)[0]
    xi = ca.MX.sym("xi", model.nv)
    M = getattr(dc, function)(model, dc.integrate(model, q, xi))
    H, _ = ca.hessian(ca.dot(ca.DM(S), M), xi)
    assert_close(dense(ca.Function("H", [xi], [H])(still)), want, SECOND)


@pytest.mark.parametrize("name", ["hyq", "every joint in a chain", "forest"])
@pytest.mark.parametrize("function", [*DYNAMICS, "mass_matrix"])
def test_hessians_by_numbers_know_that_lengths_of_quaternions_do_not_matter(
    name: str, function: str
) -> None:
    """f(q) with a quaternion x scaled is f(q): its gradient g has H x = -g there, else 0."""
    model = robot(name)
    q, *others = arguments(function, state(model), False)
    s = ca.MX.sym("q", model.nq)
    y = getattr(dc, function)(model, s, *others)
    weighted = ca.dot(ca.DM(np.cos(np.arange(y.numel()))).reshape(y.shape), y)
    H, g = (dense(each) for each in ca.Function("H", [s], [*ca.hessian(weighted, s)])(q))
    assert_close(H, H.T, SECOND)
    for joint in model.joints:
        if isinstance(joint.type, dtau.Free | dtau.Spherical):
            along = np.zeros(model.nq)
            along[joint.q.stop - 4 : joint.q.stop] = q[joint.q][-4:]
            want = -np.where(along != 0.0, g[:, 0], 0.0)
            assert_close(H @ along, want, SECOND, joint.name, floor=float(np.abs(H).max()))
    scaled = dtau.normalize(model, q * 1.0)
    for joint in model.joints:
        if isinstance(joint.type, dtau.Free | dtau.Spherical):
            scaled[joint.q.stop - 4 : joint.q.stop] *= 1.3
    f = ca.Function("f", [s], [y])
    assert_close(dense(f(scaled)), dense(f(q)), TOLERANCE["long sums"])


@pytest.mark.parametrize("function", DYNAMICS)
def test_second_derivatives_by_wrenches(function: str) -> None:
    """Gradients are linear in wrenches: differences of them are exact."""
    model = robot("forest")
    q, v, x, f_ext = state(model)
    lam = np.random.default_rng(2).standard_normal(model.nv)
    s = symbols((q, v, x, f_ext))
    y = getattr(dc, function)(model, *s, f_ext_axes="mixed")
    gradient = ca.gradient(ca.dot(lam, y), s[0])
    mixed = dense(ca.Function("H", s, [ca.jacobian(gradient, s[3])])(q, v, x, f_ext))
    back = ca.jacobian(ca.gradient(ca.dot(lam, y), s[3]), s[0])
    assert_close(dense(ca.Function("H", s, [back])(q, v, x, f_ext)), mixed.T, SECOND)
    g = ca.Function("g", s, [gradient])
    for k in range(f_ext.size):
        more = f_ext.copy(order="F")
        more.T.flat[k] += 1.0
        want = vector(g(q, v, x, more)) - vector(g(q, v, x, f_ext))
        assert_close(mixed[:, k], want, SECOND, f"number {k}", floor=float(np.abs(mixed).max()))


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


@on_robots
def test_kinematics(name: str) -> None:
    model = robot(name)
    q, v, _, _ = state(model)
    to_tangent = dtau.tangent_map(model, q).to_tangent
    frame, frames = model.frames[-1], model.frames[::3]
    one, all_of_them = (
        dtau.frame_placements(model, q, frame),
        dtau.frame_placements(model, q, frames),
    )
    sums = TOLERANCE["long sums"]
    got = dc.frame_placements(model, q, frame)
    assert_close(dense(got.rotation), one.rotation, sums)
    assert_close(vector(got.translation), one.translation, sums)
    got = dc.frame_placements(model, q, frames)
    assert_close(dense(got.rotation).reshape(-1, 3, 3), all_of_them.rotation, sums)
    assert_close(dense(got.translation), all_of_them.translation, sums)
    s = ca.MX.sym("q", model.nq)
    p = dc.frame_placements(model, s, frame).translation
    along_world = dtau.frame_jacobians(model, q, frame, axes="mixed")[:3] @ to_tangent
    floor = {"floor": float(np.abs(along_world).max()) + 1e-3}
    got = dense(ca.Function("J", [s], [ca.jacobian(p, s)])(q))
    assert_close(got, along_world, TOLERANCE["identity"], **floor)
    for axes in ("body", "mixed", "world"):
        got = dense(dc.frame_velocities(model, q, v, frames, axes))
        assert_close(got, dtau.frame_velocities(model, q, v, frames, axes), TOLERANCE["identity"])
        d = dtau.frame_velocities_derivatives(model, q, v, frame, axes)
        twist = dc.frame_velocities(model, s, v, frame, axes)
        got = dense(ca.Function("J", [s], [ca.jacobian(twist, s)])(q))
        assert_close(got, d.dtwist_dq @ to_tangent, TOLERANCE["identity"], axes, floor=1.0)
    for function, derivatives in (
        ("center_of_mass_velocity", dtau.center_of_mass_velocity_derivatives(model, q, v)[0]),
        ("centroidal_momentum", dtau.centroidal_momentum_derivatives(model, q, v)[0]),
        ("momentum", None),
    ):
        want = getattr(dtau, function)(model, q, v)
        assert_close(vector(getattr(dc, function)(model, q, v)), want, TOLERANCE["identity"])
        if derivatives is not None:
            y = getattr(dc, function)(model, s, v)
            got = dense(ca.Function("J", [s], [ca.jacobian(y, s)])(q))
            assert_close(got, derivatives @ to_tangent, TOLERANCE["identity"], function, floor=1.0)
    assert_close(vector(dc.center_of_mass(model, q)), dtau.center_of_mass(model, q), sums)
    got = dense(ca.Function("J", [s], [ca.jacobian(dc.center_of_mass(model, s), s)])(q))
    assert_close(got, dtau.center_of_mass_jacobian(model, q) @ to_tangent, TOLERANCE["identity"])


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


@on_robots
@pytest.mark.parametrize("axes", ["body", "mixed", "world"])
def test_frame_jacobians(name: str, axes: Axes) -> None:
    """They agree with the package's; v times their derivatives gives the twist's derivatives."""
    model = robot(name)
    q, v, _, _ = state(model)
    frame, frames = model.frames[-1], model.frames[::3]
    want = dtau.frame_jacobians(model, q, frames, axes)
    got = dense(dc.frame_jacobians(model, q, frames, axes))
    assert_close(got, want.reshape(-1, model.nv), TOLERANCE["identity"])
    s = ca.SX.sym("q", model.nq)
    J = dc.frame_jacobians(model, s, frame, axes)
    assert J.shape == (6, model.nv)
    got = dense(ca.Function("J", [s], [ca.jacobian(J @ ca.DM(v), s)])(q))
    by_q = dtau.frame_velocities_derivatives(model, q, v, frame, axes).dtwist_dq
    assert_close(
        got, by_q @ dtau.tangent_map(model, q).to_tangent, TOLERANCE["identity"], floor=1.0
    )
    side_by_side = dense(dc.frame_jacobians(model, np.stack([q, q], axis=1), frame, axes))
    one = dtau.frame_jacobians(model, q, frame, axes)
    assert_close(side_by_side, np.hstack([one, one]), TOLERANCE["identity"])


@pytest.mark.parametrize("name", ["hyq", "forest"])
def test_energies_and_accelerations(name: str) -> None:
    """Recordings of the core, which can be saved; their derivatives are the package's."""
    model = robot(name)
    q, v, a, _ = state(model)
    T, identity = dtau.tangent_map(model, q).to_tangent, TOLERANCE["identity"]
    s, w = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv)
    kinetic, potential = dc.kinetic_energy(model, s, w), dc.potential_energy(model, s)
    frames = model.frames[-2:]
    moving = dc.frame_accelerations(model, s, w, a, frames, "mixed", kind="classical")
    results = [kinetic, potential, moving, *(ca.jacobian(y, s) for y in (kinetic, potential))]
    saved = ca.Function("f", [s, w], results).serialize()
    found = [dense(y) for y in ca.Function.deserialize(saved)(q, v)]
    want = dtau.frame_accelerations(model, q, v, a, frames, "mixed", kind="classical")
    assert_close(found[0][0], dtau.kinetic_energy(model, q, v)[None], identity)
    assert_close(found[1][0], dtau.potential_energy(model, q)[None], identity)
    assert_close(found[2], want, identity)
    assert_close(found[3][0], dtau.kinetic_energy_derivatives(model, q, v).dT_dq @ T, identity)
    assert_close(found[4][0], dtau.potential_energy_derivatives(model, q) @ T, identity)


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


@on_robots
@pytest.mark.parametrize("integrator", ["euler", "semi_implicit", "rk4"])
def test_steps(name: str, integrator: Integrator) -> None:
    model = robot(name)
    q, v, tau, f_ext = state(model)
    want = dtau.step(model, q, v, tau, 0.01, integrator, f_ext, f_ext_axes="mixed")
    x = (q, v, tau, np.array(0.01))
    got = dc.step(model, *x, integrator, f_ext, f_ext_axes="mixed")
    assert_close(vector(got.q), want.q, TOLERANCE["long sums"])
    assert_close(vector(got.v), want.v, TOLERANCE["identity"])
    linearized = dtau.linearize_discrete(model, *x, integrator, f_ext, f_ext_axes="mixed")
    s, w = ca.MX.sym("q", model.nq), ca.MX.sym("v", model.nv)
    after = dc.step(model, s, w, *x[2:], integrator, f_ext, f_ext_axes="mixed")
    J = dense(ca.Function("J", [s, w], [ca.jacobian(ca.vertcat(*after), ca.vertcat(s, w))])(q, v))
    left = np.block(
        [
            [dtau.tangent_map(model, want.q).to_tangent, np.zeros((model.nv, model.nv))],
            [np.zeros((model.nv, model.nq)), np.eye(model.nv)],
        ]
    )
    right = np.block(
        [
            [dtau.tangent_map(model, q).from_tangent, np.zeros((model.nq, model.nv))],
            [np.zeros((model.nv, model.nv)), np.eye(model.nv)],
        ]
    )
    assert_close(left @ J @ right, linearized.A, TOLERANCE["step"])
