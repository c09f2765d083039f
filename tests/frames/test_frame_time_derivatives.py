"""Time derivatives of frames' poses, twists and Jacobians: of bodies, far away, in batches.

By complex step in time: `test_rate_laws`.
"""

from __future__ import annotations

import numpy as np
import pytest
from cases import on_robots, random_q, robot
from compare import TOLERANCE, assert_close, cancelled
from function import FRAME_AXES
from messages import message
from trees import Array

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
    for many in (v[:12], v[:20], v):  # beside one q, too, these are velocities, not orders
        rate = dtau.frame_jacobians_rate(model, q[0], many, "LF_FOOT", axes)
        assert rate.shape == (len(many), 6, model.nv)


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
