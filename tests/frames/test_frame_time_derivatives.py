"""Time derivatives of frames' poses, twists and Jacobians: by Taylor series and complex step."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
import taylor
from cases import TREES, on_robots, random_q, robot
from compare import TOLERANCE, assert_close, cancelled
from complex_step import STEP, moved
from core import complex_core
from function import FRAME_AXES
from hypothesis import given, settings
from messages import message
from trees import KINDS, SEEDS, Array, Tree, trees

import dtau

ORDER = 5


def trajectory(model: dtau.Model, seed: int, rows: int = ORDER) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return random_q(model, rng), rng.uniform(-1.0, 1.0, (rows, model.nv))


def orders_close(got: Array, want: Array, tolerance: float, what: str) -> None:
    """Order by order, each by its own size."""
    assert got.shape == want.shape
    floor = max(1.0, cancelled(want))
    for k in range(len(want)):
        assert_close(got[k], want[k], tolerance, f"order {k} of {what}", floor=floor)


def mixed_to(axes: str, mixed: Array, R: Array, p: Array) -> Array:
    """A mixed twist, or columns of them, in other axes: series of [linear, angular] in rows."""
    linear, angular = mixed[:, :3], mixed[:, 3:]
    if axes == "body":
        back = taylor.transposed(R)
        linear, angular = taylor.product(back, linear), taylor.product(back, angular)
    if axes == "world":
        hats = np.cross(p[:, np.newaxis, :], np.eye(3)).swapaxes(-1, -2)
        linear = linear + taylor.product(hats, angular)
    return np.concatenate([linear, angular], axis=1)


def check_frames(tree: Tree, model: dtau.Model, seed: int) -> None:
    """Against poses as Taylor series in world axes."""
    q, v = trajectory(model, seed)
    poses = taylor.poses(tree, model, q, v)
    for axes in FRAME_AXES:
        names = [body.name for body in tree.bodies]
        got = dtau.frame_kinematics_time_derivatives(model, q, v, names, axes)
        J = dtau.frame_jacobians_time_derivatives(model, q, v, names, axes)
        assert J.shape == (ORDER + 1, len(names), 6, model.nv)
        for f, (R, p, _) in enumerate(poses):
            spin = taylor.product(taylor.rate(R), taylor.transposed(R))
            omega = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=-1)
            mixed = np.concatenate([taylor.rate(p), omega], axis=-1)[..., np.newaxis]
            twist = mixed_to(axes, mixed, R, p)[..., 0]
            for x, y in ((got.rotation, R), (got.translation, p), (got.twist, twist)):
                y = taylor.derivatives(y)
                orders_close(x[:, f], y, TOLERANCE["independent"], f"{names[f]}, {axes}")
            want = taylor.derivatives(mixed_to(axes, columns(tree, model, poses, f), R, p))
            orders_close(J[:, f], want, TOLERANCE["independent"], f"J of {names[f]}, {axes}")


def columns(tree: Tree, model: dtau.Model, poses: taylor.Poses, f: int) -> Array:
    """The mixed Jacobian of body f as a series."""
    J = np.zeros((ORDER + 1, 6, model.nv))
    i = f
    while i >= 0:
        body, (R, p, S) = tree.bodies[i], poses[i]
        if KINDS[body.kind].nv:
            angular = taylor.product(R, S[:, 3:])
            arm = poses[f][1] - p
            hats = np.cross(arm[:, np.newaxis, :], np.eye(3)).swapaxes(-1, -2)
            linear = taylor.product(R, S[:, :3]) - taylor.product(hats, angular)
            J[:, :, model.joint(body.name).v] = np.concatenate([linear, angular], axis=1)
        i = body.parent
    return J


@pytest.mark.parametrize("name", TREES)
def test_taylor_series(name: str) -> None:
    check_frames(TREES[name], robot(name), 1)


@given(tree=trees(), seed=SEEDS)
@settings(max_examples=40)
def test_taylor_series_on_trees(tree: Tree, seed: int) -> None:
    check_frames(tree, tree.model(), seed)


@on_robots
@pytest.mark.parametrize("axes", FRAME_AXES)
def test_complex_step(name: str, axes: str) -> None:
    """Each order is the derivative by time of the one before."""
    model = robot(name)
    q, v = trajectory(model, 2)
    later = moved(model, q, v[:1])[0], v[:-1] + 1j * STEP * v[1:]
    for function in ("frame_kinematics_time_derivatives", "frame_jacobians_time_derivatives"):
        options = {"frames": list(model.frames), "axes": axes}
        got = getattr(dtau, function)(model, q, v, **options)
        by_step = complex_core(function, model, *later, **options)
        if not isinstance(got, tuple):
            got, by_step = (got,), (by_step,)
        for x, y in zip(got, by_step, strict=True):
            for k in range(1, len(x)):
                floor = cancelled(x)
                assert_close(
                    x[k], y.imag[k - 1] / STEP, TOLERANCE["complex_step"], function, floor=floor
                )


@on_robots
@pytest.mark.parametrize("axes", FRAME_AXES)
def test_jacobians_give_the_twists(name: str, axes: str) -> None:
    """twist^(k) = sum of binomial(k, m) J^(m) v^(k-m); order 0 is `frame_jacobians`."""
    model = robot(name)
    q, v = trajectory(model, 3)
    names = list(model.frames)
    J = dtau.frame_jacobians_time_derivatives(model, q, v, names, axes)
    plain = dtau.frame_jacobians(model, q, names, axes)
    assert_close(J[0], plain, TOLERANCE["short sums"], "J", floor=1.0)
    twist = dtau.frame_kinematics_time_derivatives(model, q, v, names, axes).twist
    for k in range(ORDER):
        terms = [comb(k, m) * J[m] @ v[k - m] for m in range(k + 1)]
        floor = max(1.0, max(float(np.abs(x).max(initial=0.0)) for x in terms))
        assert_close(twist[k], sum(terms), TOLERANCE["long sums"], f"order {k}", floor=floor)


@on_robots
def test_frames_of_bodies(name: str) -> None:
    """They agree with `kinematics_time_derivatives`; one name drops an axis; the world is still."""
    model = robot(name)
    q, v = trajectory(model, 4)
    want = dtau.kinematics_time_derivatives(model, q, v)
    got = dtau.frame_kinematics_time_derivatives(model, q, v, list(model.bodies))
    for x, y in zip(got, want, strict=True):
        orders_close(x, y, TOLERANCE["long sums"], "bodies")
    last = str(model.bodies[-1])
    one = dtau.frame_kinematics_time_derivatives(model, q, v, last)
    for x, y in zip(one, got, strict=True):
        np.testing.assert_array_equal(x, y[:, -1])
    for fixed in [n for n in model.frames if model.frame(n).body < 0]:
        still = dtau.frame_kinematics_time_derivatives(model, q, v, fixed, "world")
        assert not still.rotation[1:].any()
        assert not still.translation[1:].any()
        assert not still.twist.any()
        assert not dtau.frame_jacobians_time_derivatives(model, q, v, fixed, "mixed").any()


def test_far_from_the_origin() -> None:
    """Where the base is changes no bit of what does not depend on it."""
    model = dtau.robots.quadruped()
    q, v = trajectory(model, 5)
    far = q.copy()
    far[:3] += (2.0**40, -(2.0**41), 2.0**39)
    for axes in ("body", "mixed"):
        near, there = (
            dtau.frame_kinematics_time_derivatives(model, x, v, "LF_FOOT", axes) for x in (q, far)
        )
        np.testing.assert_array_equal(near.twist, there.twist)
        np.testing.assert_array_equal(near.translation[1:], there.translation[1:])
        J, J_there = (
            dtau.frame_jacobians_time_derivatives(model, x, v, "LF_FOOT", axes) for x in (q, far)
        )
        np.testing.assert_array_equal(J, J_there)


def test_errors() -> None:
    model = dtau.robots.quadruped()
    q, v = trajectory(model, 6)
    for function in (dtau.frame_kinematics_time_derivatives, dtau.frame_jacobians_time_derivatives):
        with pytest.raises(ValueError, match="'LF_FOOD'"):
            function(model, q, v, "LF_FOOD")
        with pytest.raises(ValueError, match="axes: expected 'body', 'world' or 'mixed', got"):
            function(model, q, v, "LF_FOOT", "spatial")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="v_derivatives has shape"):
            function(model, q, v[0], "LF_FOOT")


@pytest.mark.parametrize("axes", FRAME_AXES)
def test_rates_of_jacobians_in_batches(axes: str) -> None:
    model = dtau.robots.quadruped()
    q, v, _ = dtau.random_state(model, np.random.default_rng(0), shape=(25,))
    feet = dtau.robots.QUADRUPED_FEET
    for frames in ("LF_FOOT", feet, feet[:1]):
        rate = dtau.frame_jacobians_rate(model, q, v, frames, axes)
        assert rate.flags.c_contiguous
        assert rate.shape == dtau.frame_jacobians(model, q, frames, axes).shape
        for i in range(len(q)):
            want = dtau.frame_jacobians_time_derivatives(model, q[i], [v[i]], frames, axes)[1]
            assert np.array_equal(rate[i], want)
            assert np.array_equal(dtau.frame_jacobians_rate(model, q[i], v[i], frames, axes), want)
    for many in (v[:12], v[:20], v):  # beside one q, too, these are velocities, not orders
        rate = dtau.frame_jacobians_rate(model, q[0], many, "LF_FOOT", axes)
        assert rate.shape == (len(many), 6, model.nv)
        assert np.array_equal(
            rate[3], dtau.frame_jacobians_rate(model, q[0], v[3], "LF_FOOT", axes)
        )
    grid = dtau.frame_jacobians_rate(model, q[:5], v[5:8, np.newaxis], "LF_FOOT", axes, threads=2)
    assert grid.shape == (3, 5, 6, model.nv)


def test_messages_of_rates_of_jacobians() -> None:
    model = dtau.robots.quadruped()
    q, v, _ = dtau.random_state(model, np.random.default_rng(0), shape=(3,))
    for said, arguments in (
        ("v has shape (3, 17), expected (..., 18)", (q, v[:, 1:], "LF_FOOT")),
        ("v has shape (), expected (..., 18)", (q, 1.0, "LF_FOOT")),
        ("do not broadcast against each other: q (3,), v (2,)", (q, v[:2], "LF_FOOT")),
        ("no frame named 'LF'", (q, v, "LF")),
    ):
        assert said in message(ValueError, dtau.frame_jacobians_rate, model, *arguments)


def test_a_batch_of_velocities_is_never_one_stack_of_orders() -> None:
    """Beside a batch of q it is refused at any length; beside one q above order 20."""
    model = dtau.robots.quadruped()
    q, v, _ = dtau.random_state(model, np.random.default_rng(0), shape=(25,))
    rates = (
        dtau.kinematics_time_derivatives,
        dtau.momentum_time_derivatives,
        dtau.centroidal_momentum_time_derivatives,
        dtau.mass_matrix_time_derivatives,
        dtau.coriolis_matrix_time_derivatives,
        dtau.bias_torque_time_derivatives,
        dtau.gravity_torque_time_derivatives,
        dtau.inverse_dynamics_time_derivatives,
        lambda *given: dtau.frame_jacobians_time_derivatives(*given, "LF_FOOT"),
        lambda *given: dtau.frame_kinematics_time_derivatives(*given, "LF_FOOT"),
    )
    for rate in rates:
        for count in (2, 12, 21):
            said = message(ValueError, rate, model, q[:count], v[:count])
            assert "a batch of v has this shape" in said or "unless order= is given" in said
        assert "unless order= is given" in message(ValueError, rate, model, q[0], v)
