"""External wrenches along the world's axes: their values, and derivatives of steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import State, contacts, on_robots, random_state, robot
from compare import TOLERANCE, assert_close, assert_same_results, cancelled, solved
from function import FRAME_AXES
from trees import Array

import dtau
from dtau.registry import arrays_of

IN_WORLD = ("mixed", "world")
on_axes = pytest.mark.parametrize("axes", IN_WORLD)
PROBLEMS = ("inverse_dynamics", "forward_dynamics")
THIRD = {"inverse_dynamics": "a", "forward_dynamics": "tau"}


def along_body_axes(model: dtau.Model, q: Array, f_ext: Array, axes: str) -> Array:
    """The same wrenches as the bodies see them, by the placements."""
    R, p = dtau.forward_kinematics(model, q)
    force, moment = f_ext[..., :3], f_ext[..., 3:]
    if axes == "world":
        moment = moment - np.cross(p, force)
    back = np.swapaxes(R, -1, -2)
    return np.concatenate(
        [(back @ force[..., None])[..., 0], (back @ moment[..., None])[..., 0]], axis=-1
    )


def arguments(s: State, problem: str) -> tuple[Array, Array, Array]:
    return s["q"], s["v"], s[THIRD[problem]]


# Values


@on_axes
@on_robots
def test_values(name: str, axes: Any) -> None:
    """What the wrenches that the bodies see do."""
    model = robot(name)
    s = random_state(model, 1, (3,))
    q, v, a, tau, f = s["q"], s["v"], s["a"], s["tau"], s["f_ext"]
    seen = along_body_axes(model, q, f, axes)
    legs = [joint.name for joint in model.joints if joint.mimic is None][1:]
    calls: dict[str, tuple[Any, ...]] = {
        "inverse_dynamics": (q, v, a),
        "bias_torque": (q, v),
        "forward_dynamics": (q, v, tau),
        "hybrid_dynamics": (q, v, a, tau, legs),
        "constrained_dynamics": (q, v, tau, contacts(model)),
    }
    for function, given_arguments in calls.items():
        call = getattr(dtau, function)
        options = {"regularization": 1e-6} if "constrained" in function else {}
        got = arrays_of(call(model, *given_arguments, f, f_ext_axes=axes, **options))
        want = arrays_of(call(model, *given_arguments, seen, **options))
        tolerance = solved(TOLERANCE["identity"], dtau.mass_matrix(model, q[0]))
        for x, y in zip(got, want, strict=True):
            assert_close(x, y, tolerance, function, floor=cancelled(f))


@on_robots
def test_without_wrenches(name: str) -> None:
    """Axes of none change no bit, and body axes are the default."""
    model = robot(name)
    s = random_state(model, 2)
    for problem in PROBLEMS:
        x = arguments(s, problem)
        for suffix in ("", "_derivatives", "_second_derivatives"):
            call = getattr(dtau, problem + suffix)
            want = call(model, *x)
            for axes in FRAME_AXES:
                got = call(model, *x, f_ext_axes=axes)
                assert_same_results(arrays_of(got), arrays_of(want), problem + suffix)
            got = call(model, *x, s["f_ext"], f_ext_axes="body")
            assert_same_results(
                arrays_of(got), arrays_of(call(model, *x, s["f_ext"])), problem + suffix
            )


# The force on a foot


@pytest.mark.parametrize("name", ["quadruped", "free root, branches"])
def test_the_force_on_a_foot(name: str) -> None:
    """Numeric differences of torques with the wrench at a frame evaluated anew."""
    model = robot(name)
    s = random_state(model, 5)
    q, v, a = s["q"], s["v"], s["a"]
    foot = model.bodies[-1]
    force = np.array([30.0, -20.0, 400.0, 0.0, 0.0, 0.0])

    def tau(x: Array) -> Array:
        f_ext = dtau.wrench_at_frame(model, x, foot, force, axes="mixed")
        return dtau.inverse_dynamics(model, x, v, a, f_ext)

    f_ext = np.zeros((model.nbodies, 6))
    f_ext[model.bodies.index(foot)] = force
    got = dtau.inverse_dynamics_derivatives(model, q, v, a, f_ext, f_ext_axes="mixed")
    h = 1e-6 * np.eye(model.nv)
    want = [
        (tau(dtau.integrate(model, q, x)) - tau(dtau.integrate(model, q, -x))) / 2e-6 for x in h
    ]
    assert_close(got.dtau_dq, np.transpose(want), 1e-8, "dtau_dq")  # the differences' error
    fixed = dtau.inverse_dynamics_derivatives(
        model, q, v, a, along_body_axes(model, q, f_ext, "mixed")
    )
    assert np.abs(got.dtau_dq - fixed.dtau_dq).max() > 10.0  # what it was about


def test_the_force_on_a_foot_that_is_not_a_bodys_origin() -> None:
    """As `wrench_at_frame` documents it: the torque by the wrenches, and these by q."""
    model = robot("quadruped")
    s = random_state(model, 11)
    q, v, a = s["q"], s["v"], s["a"]
    assert np.abs(model.frame("LF_FOOT").placement.translation).max() > 0.1
    force = np.array([30.0, -20.0, 400.0, 1.0, 2.0, 3.0])

    def f_ext(x: Array, wrench: Array = force) -> Array:
        return dtau.wrench_at_frame(model, x, "LF_FOOT", wrench, axes="mixed")

    turns = dtau.frame_jacobians(model, q, "LF_FOOT", axes="mixed")[3:].T
    back = -np.cross(turns[:, np.newaxis], force.reshape(2, 3)).reshape(-1, 6)
    fixed = dtau.inverse_dynamics_derivatives(model, q, v, a, f_ext(q)).dtau_dq
    by_wrenches = dtau.inverse_dynamics_wrench_derivatives(model, q)
    got = fixed + np.einsum("ibc,kbc->ik", by_wrenches, f_ext(q, back))
    moved = [dtau.integrate(model, q, sign * 1e-6 * np.eye(model.nv)) for sign in (1, -1)]
    after, before = (dtau.inverse_dynamics(model, x, v, a, f_ext(x)) for x in moved)
    assert_close(got, (after - before).T / 2e-6, 1e-8, "dtau_dq")  # the differences' error


@on_axes
@pytest.mark.parametrize("name", ["every joint in a chain", "joints that mimic others"])
def test_packed(name: str, axes: Any) -> None:
    model = robot(name)
    s = random_state(model, 7)
    x = (s["q"], s["v"], s["a"], s["f_ext"])
    dense = dtau.inverse_dynamics_second_derivatives(model, *x, f_ext_axes=axes)
    packed = dtau.inverse_dynamics_second_derivatives(model, *x, f_ext_axes=axes, layout="pattern")
    i, j, k = dtau.pattern(model, "inverse_dynamics_second_derivatives").coordinates
    assert_same_results(packed, [y[i, j, k] for y in dense])


# Linearizations


@on_axes
@on_robots
def test_linearize(name: str, axes: Any) -> None:
    model = robot(name)
    s = random_state(model, 9)
    x = (s["q"], s["v"], s["tau"], s["f_ext"])
    lin = dtau.linearize(model, *x, f_ext_axes=axes)
    d = dtau.forward_dynamics_derivatives(model, *x, f_ext_axes=axes)
    assert_same_results((lin.A[model.nv :],), (np.hstack([d.da_dq, d.da_dv]),))
