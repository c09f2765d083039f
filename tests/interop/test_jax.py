"""`dtau.jax`: values to the last bit, derivatives of JAX's own machinery against the package's."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from adapter_cases import ARGUMENTS, AXES, options, robot  # noqa: E402
from adapter_cases import function as function_of  # noqa: E402
from cases import FAR, random_state  # noqa: E402
from jax_cases import ROBOTS, derivatives, motion, near, taylor  # noqa: E402

import dtau  # noqa: E402
import dtau.jax  # noqa: E402
from dtau.autodiff.common_translation import common_translation  # noqa: E402

on_robots = pytest.mark.parametrize("name", ROBOTS)

FIRST, SECOND = 1e-12, 1e-10


def both(name: str, model: dtau.Model) -> tuple[Any, Any]:
    """The function of both modules, of its arrays alone."""
    return function_of(name, model, dtau), function_of(name, model, dtau.jax)


@pytest.mark.parametrize("function", ARGUMENTS)
@pytest.mark.parametrize("name", ["small", "joints that mimic others"])
def test_values_have_the_bits_of_the_package(name: str, function: str) -> None:
    """In a batch, whose axes broadcast, and alone; mapped by vmap too."""
    model = robot(name)
    plain, for_jax = both(function, model)
    state = random_state(model, 3, (3, 4))
    x = [state[key] for key in ARGUMENTS[function]]
    if len(x) > 1:
        x[0] = x[0][:, :1]
    compiled = jax.jit(for_jax)
    values = compiled(*x)
    for got, expected in zip(jax.tree.leaves(values), jax.tree.leaves(plain(*x)), strict=True):
        assert got.dtype == np.float64
        assert np.array_equal(got, expected)
    alone = compiled(*(y[2, min(1, y.shape[1] - 1)] for y in x))
    for got, expected in zip(jax.tree.leaves(alone), jax.tree.leaves(values), strict=True):
        assert np.array_equal(got, expected[2, 1])
    if len(x) > 1:
        mapped = jax.jit(jax.vmap(for_jax, in_axes=(None, *[0] * (len(x) - 1))))
        rows = mapped(x[0][0, 0], *(y[0] for y in x[1:]))
        for got, expected in zip(jax.tree.leaves(rows), jax.tree.leaves(values), strict=True):
            assert np.array_equal(got, expected[0])


# ------------------------------------------------------------------ first derivatives


def test_derivatives_by_every_input_are_those_of_the_package() -> None:
    """The blocks by name: what the tests below see along curves."""
    model = robot("quadruped")
    s = random_state(model, 5)
    T = dtau.tangent_map(model, s["q"]).to_tangent
    inverse = dtau.inverse_dynamics_derivatives(
        model, s["q"], s["v"], s["a"], s["f_ext"], f_ext_axes=AXES
    )
    by_wrenches = dtau.inverse_dynamics_wrench_derivatives(model, s["q"], f_ext_axes=AXES)
    _, function = both("inverse_dynamics", model)
    x = [s[key] for key in ARGUMENTS["inverse_dynamics"]]
    for mode in (jax.jacfwd, jax.jacrev):
        J = jax.jit(mode(function, argnums=(0, 1, 2, 3)))(*x)
        expected = (inverse.dtau_dq @ T, inverse.dtau_dv, inverse.dtau_da, by_wrenches)
        near(J, expected, FIRST)
    forward = dtau.forward_dynamics_derivatives(
        model, s["q"], s["v"], s["tau"], s["f_ext"], f_ext_axes=AXES
    )
    by_wrenches = dtau.forward_dynamics_wrench_derivatives(model, s["q"], f_ext_axes=AXES)
    _, function = both("forward_dynamics", model)
    x = [s[key] for key in ARGUMENTS["forward_dynamics"]]
    J = jax.jit(jax.jacrev(function, argnums=(0, 1, 2, 3)))(*x)
    near(J, (forward.da_dq @ T, forward.da_dv, forward.da_dtau, by_wrenches), FIRST)


@pytest.mark.jit
@pytest.mark.parametrize(
    ("name", "integrator"),
    [("panda", "euler"), ("panda", "rk4"), ("small", "semi_implicit"), ("every joint", "rk4")],
)
def test_a_step_is_linearized_as_by_the_package(name: str, integrator: str) -> None:
    model = robot(name)
    s = random_state(model, 7)
    q, v, tau, dt = s["q"], s["v"], s["tau"], 0.02
    expected = dtau.linearize_discrete(model, q, v, tau, dt, integrator, inputs=np.eye(model.nv))
    zero = jnp.zeros(model.nv)

    @jax.jit
    def matrices(q: Any, v: Any, tau: Any) -> Any:
        def next_state(dq: Any, v: Any, tau: Any) -> Any:
            moved = dtau.jax.integrate(model, q, dq)
            after = dtau.jax.step(model, moved, v, tau, dt, integrator)
            return jnp.concatenate([dtau.jax.difference(model, expected.q, after.q), after.v])

        return jax.jacfwd(next_state, argnums=(0, 1, 2))(zero, v, tau)

    by_q, by_v, by_tau = matrices(q, v, tau)
    near(np.concatenate([by_q, by_v], axis=1), expected.A, FIRST)
    near(by_tau, expected.B, FIRST)
    by_dt = jax.jvp(lambda h: dtau.jax.step(model, q, v, tau, h, integrator).v, (dt,), (1.0,))[1]
    if integrator != "rk4":
        near(by_dt, dtau.forward_dynamics(model, q, v, tau), FIRST)


@pytest.mark.jit
@pytest.mark.parametrize("function", ["inverse_dynamics", "forward_dynamics", "step"])
@pytest.mark.parametrize("name", ["small", "joints that mimic others"])
def test_products_are_the_gradients_without_them(name: str, function: str) -> None:
    model = robot(name)
    s = random_state(model, 9, (2, 3))
    s["q"] = s["q"][:, :1]  # cotangents are summed over the axes along which it was repeated
    s["f_ext"] = s["f_ext"][0, 0]
    arrays = {key: s[key] for key in ARGUMENTS[function] if key != "dt"}
    more = options(function, model)
    if function == "step":
        more.update(dt=s["dt"], integrator="semi_implicit")

    def weighed(x: Any, products: bool) -> Any:
        results = getattr(dtau.jax, function)(model, **x, **more, products=products)
        leaves = jax.tree.leaves(results)
        return sum(jnp.sum(jnp.sin(jnp.arange(r.size).reshape(r.shape)) * r) for r in leaves)

    gradient = jax.jit(jax.grad(weighed), static_argnums=1)
    near(gradient(arrays, True), gradient(arrays, False), FIRST)


# ------------------------------------------------------------------ along curves
#
# The time derivatives of a function along a motion hold its first and its second derivatives by all
# inputs, and the package has them by other algorithms.


@pytest.mark.jit
@pytest.mark.parametrize("name", ["panda", "every joint", "joints that mimic others"])
def test_dynamics_along_a_motion(name: str) -> None:
    model = robot(name)
    rng = np.random.default_rng(11)
    s = random_state(model, 11)
    v, w = rng.normal(size=(4, model.nv)), rng.normal(size=(3, model.nbodies, 6))
    q_of, v_of = motion(model, s["q"], v)
    f_of, a_of = taylor(*w), taylor(*v[1:])

    def along(t: Any) -> Any:
        q, v, a, f = q_of(t), v_of(t), a_of(t), f_of(t)
        return (
            dtau.jax.inverse_dynamics(model, q, v, a, f, f_ext_axes=AXES),
            dtau.jax.bias_torque(model, q, v, f, f_ext_axes=AXES),
            dtau.jax.gravity_torque(model, q),
            dtau.jax.mass_matrix(model, q),
            dtau.jax.mass_matrix_inverse(model, q),
        )

    inverse = dtau.inverse_dynamics_time_derivatives(model, s["q"], v, w, f_ext_axes=AXES)
    bias = dtau.bias_torque_time_derivatives(model, s["q"], v[:3], w, f_ext_axes=AXES)
    gravity = dtau.gravity_torque_time_derivatives(model, s["q"], v[:2], order=2)
    mass = dtau.mass_matrix_time_derivatives(model, s["q"], v[:2], order=2)
    Z = np.linalg.inv(mass[0])
    rate = -Z @ mass[1] @ Z
    inverse_of_mass = Z, rate, -Z @ mass[2] @ Z - 2.0 * rate @ mass[1] @ Z
    found = derivatives(along, 2)
    for order, tolerance in ((0, FIRST), (1, FIRST), (2, SECOND)):
        expected = [x[order] for x in (inverse, bias, gravity, mass)]
        near(found[order][:4], expected, tolerance)
        near(found[order][4], inverse_of_mass[order], SECOND)


@pytest.mark.jit
@on_robots
def test_forward_dynamics_along_a_motion(name: str) -> None:
    """Along the motion that the torques give."""
    model = robot(name)
    rng = np.random.default_rng(13)
    s = random_state(model, 13)
    w, torques = rng.normal(size=(3, model.nbodies, 6)), rng.normal(size=(3, model.nv))
    a = dtau.forward_dynamics_time_derivatives(model, s["q"], s["v"], torques, w, f_ext_axes=AXES)
    q_of, v_of = motion(model, s["q"], np.stack([s["v"], *a[:2]]))
    f_of, tau_of = taylor(*w), taylor(*torques)

    def along(t: Any) -> Any:
        return dtau.jax.forward_dynamics(
            model, q_of(t), v_of(t), tau_of(t), f_of(t), f_ext_axes=AXES
        )

    for found, expected in zip(derivatives(along, 2), a, strict=True):
        near(found, expected, SECOND)


@pytest.mark.jit
@pytest.mark.parametrize("name", ["every joint", "joints that mimic others"])
def test_kinematics_along_a_motion(name: str) -> None:
    model = robot(name)
    rng = np.random.default_rng(17)
    q, v = random_state(model, 17)["q"], rng.normal(size=(3, model.nv))
    q_of, v_of = motion(model, q, v)
    frames = (model.bodies[-1], model.bodies[0])

    def along(t: Any) -> Any:
        q, v = q_of(t), v_of(t)
        return (
            dtau.jax.frame_placements(model, q, frames),
            dtau.jax.frame_velocities(model, q, v, frames),
            dtau.jax.frame_jacobians(model, q, frames, "mixed") @ v,
            dtau.jax.momentum(model, q, v),
            dtau.jax.centroidal_momentum(model, q, v),
            model.mass * dtau.jax.center_of_mass_velocity(model, q, v),
            dtau.jax.center_of_mass(model, q),
        )

    found = derivatives(along, 2)
    body = dtau.frame_kinematics_time_derivatives(model, q, v, frames)
    mixed = dtau.frame_kinematics_time_derivatives(model, q, v, frames, "mixed")
    about_origin = dtau.momentum_time_derivatives(model, q, v)
    about_center = dtau.centroidal_momentum_time_derivatives(model, q, v)
    for order, tolerance in ((0, FIRST), (1, FIRST), (2, SECOND)):
        near(found[order][0], (body.rotation[order], body.translation[order]), tolerance)
        near(found[order][1], body.twist[order], tolerance)
        near(found[order][2], mixed.twist[order], tolerance)
        near(found[order][3], about_origin[order], tolerance)
        near(found[order][4], about_center[order], tolerance)
        near(found[order][5], about_origin[order][:3], tolerance)
        if order:
            near(model.mass * found[order][6], about_origin[order - 1][:3], tolerance)


@functools.cache
def manifold_jacobians() -> Any:
    """First and second derivatives of moving on, and of the way between two configurations."""
    model = robot("free, spherical, planar")
    zero = jnp.zeros(model.nv)

    def all_of(q: Any, dq: Any, target: Any) -> Any:
        def moved(x: Any, d: Any) -> Any:
            after = dtau.jax.integrate(model, dtau.jax.integrate(model, q, x), dq + d)
            return dtau.jax.difference(model, target, after)

        def apart(x: Any, y: Any) -> Any:
            start, end = (dtau.jax.integrate(model, p, z) for p, z in ((q, x), (target, y)))
            return dtau.jax.difference(model, start, end)

        first = [jax.jacfwd(f, argnums=(0, 1))(zero, zero) for f in (moved, apart)]
        second = [jax.jacfwd(jax.jacrev(f), argnums=1)(zero, zero) for f in (moved, apart)]
        return first, second

    return jax.jit(all_of)


@pytest.mark.jit
@pytest.mark.parametrize("size", [1e-9, 1e-3, 0.9, 2.5])
def test_the_manifold_at_small_and_large_displacements(size: float) -> None:
    """Second derivatives too are right where closed forms would divide zero by zero."""
    model = robot("free, spherical, planar")
    s = random_state(model, 19)
    dq = size * s["dq"] / np.abs(s["dq"]).max()
    target = dtau.integrate(model, s["q"], dq)
    (moved, apart), second = manifold_jacobians()(s["q"], dq, target)
    near(moved, tuple(dtau.integrate_jacobians(model, s["q"], dq)), FIRST)
    near(apart, tuple(dtau.difference_jacobians(model, s["q"], target)), 1e-11)
    h = 1e-5  # central differences along one direction of the second variable
    along = np.cos(np.arange(model.nv))
    sides = [dtau.integrate(model, target, h * sign * along) for sign in (1, -1)]
    by_q0 = [dtau.difference_jacobians(model, s["q"], q1).by_q0 for q1 in sides]
    near(second[1] @ along, (by_q0[0] - by_q0[1]) / (2 * h), 1e-7)
    sides = [dtau.integrate_jacobians(model, s["q"], dq + h * sign * along) for sign in (1, -1)]
    after = [dtau.integrate(model, s["q"], dq + h * sign * along) for sign in (1, -1)]
    back = [dtau.difference_jacobians(model, target, q1).by_q1 for q1 in after]
    by_q = [b @ x.by_q for b, x in zip(back, sides, strict=True)]
    near(second[0] @ along, (by_q[0] - by_q[1]) / (2 * h), 1e-7)


@pytest.mark.parametrize("name", FAR)
def test_no_digit_is_lost_far_from_the_origin(name: str) -> None:
    """Of the momentum about the center of mass, which does not feel where the robots stand."""
    model = robot(name)
    moved, _ = common_translation(model)
    s = random_state(model, 41)
    q = s["q"].copy()
    q[moved] += 2.0**23  # what is lost there, is lost before anybody computes: compare beside it
    beside = q.copy()
    beside[moved] -= 2.0**23

    @jax.jit
    def by_q_and_v(q: Any, v: Any) -> Any:
        return jax.jacfwd(dtau.jax.centroidal_momentum, argnums=(1, 2))(model, q, v)

    near(by_q_and_v(q, s["v"]), by_q_and_v(beside, s["v"]), 1e-14)
    expected = dtau.centroidal_momentum_derivatives(model, beside, s["v"])
    to_tangent = dtau.tangent_map(model, beside).to_tangent
    near(by_q_and_v(q, s["v"]), (expected[0] @ to_tangent, expected[1]), FIRST)
