"""Velocities and accelerations of frames, frames of the world, and Hessians of poses in charts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import ROBOTS, random_state, robot
from compare import TOLERANCE, assert_close, cancelled
from function import FRAME_AXES, KINDS_OF_ACCELERATION
from hypothesis import given, settings
from trees import SEEDS, Tree, trees

import dtau

on_axes = pytest.mark.parametrize("axes", FRAME_AXES)
on_kinds = pytest.mark.parametrize("kind", KINDS_OF_ACCELERATION)


def check_values(model: dtau.Model, seed: int) -> None:
    """Rows 0 and 1 of twists along a trajectory, and what lies between the kinds."""
    s = random_state(model, seed)
    q, v, a = s["q"], s["v"], s["a"]
    names = list(model.frames)
    rotation = dtau.frame_placements(model, q, names).rotation
    along = {
        axes: dtau.frame_kinematics_time_derivatives(model, q, [v, a], names, axes).twist
        for axes in FRAME_AXES
    }
    floor = max(cancelled(x) for x in along.values())
    for axes in FRAME_AXES:
        twist = dtau.frame_velocities(model, q, v, names, axes)
        assert_close(twist, along[axes][0], TOLERANCE["long sums"], axes, floor=floor)
        spatial, classical = (
            dtau.frame_accelerations(model, q, v, a, names, axes, kind=kind)
            for kind in KINDS_OF_ACCELERATION
        )
        own = classical if axes == "mixed" else spatial  # the rate of the twist's components
        assert_close(own, along[axes][1], TOLERANCE["identity"], axes, floor=floor)
        more = np.zeros_like(spatial)
        more[:, :3] = np.cross(twist[:, 3:], twist[:, :3])
        assert_close(classical - spatial, more, TOLERANCE["identity"], axes, floor=floor)
        if axes == "mixed":  # the halves of that in body axes
            body = dtau.frame_accelerations(model, q, v, a, names).reshape(-1, 2, 3)
            turned = np.einsum("fij,fhj->fhi", rotation, body).reshape(-1, 6)
            assert_close(spatial, turned, TOLERANCE["identity"], axes, floor=floor)


@pytest.mark.parametrize("name", ROBOTS)
def test_values(name: str) -> None:
    check_values(robot(name), 1)


@given(trees(), SEEDS)
@settings(max_examples=40)
def test_values_on_trees(tree: Tree, seed: int) -> None:
    check_values(tree.model(), seed)


@on_axes
@on_kinds
def test_frames_of_the_world_stand_still(axes: str, kind: str) -> None:
    model = robot("every joint in a chain")
    fixed = [name for name in model.frames if model.frame(name).body < 0]
    assert fixed
    s = random_state(model, 4, (9,))
    q, v, a = s["q"], s["v"], s["a"]
    options: Any = {"frames": fixed, "axes": axes}
    results = [
        dtau.frame_velocities(model, q, v, **options),
        dtau.frame_accelerations(model, q, v, a, **options, kind=kind),
        *dtau.frame_velocities_derivatives(model, q, v, **options),
        *dtau.frame_accelerations_derivatives(model, q, v, a, **options, kind=kind),
        dtau.frame_jacobians_derivatives(model, q, **options),
    ]
    assert not any(x.any() for x in results)


def test_one_name_has_no_axis() -> None:
    model = dtau.robots.quadruped()
    q, v, a = dtau.random_state(model, np.random.default_rng(5), shape=(3,))
    one = dtau.frame_accelerations_derivatives(model, q, v, a, "LF_FOOT", "mixed")
    listed = dtau.frame_accelerations_derivatives(model, q, v, a, ["LF_FOOT"], "mixed")
    for x, y in zip(one, listed, strict=True):
        assert x.shape == (3, 6, model.nv)
        assert_close(x, y[:, 0], 0.0)
    assert dtau.frame_velocities(model, q, v, "LF_FOOT").shape == (3, 6)
    assert dtau.frame_accelerations(model, q, v, a, ("LF_FOOT",)).shape == (3, 1, 6)


def test_the_pose_in_the_exponential_chart() -> None:
    """Symmetric: second differences of log(X(q)^-1 X(q (+) xi)), about a millionth off."""
    model = robot("quadruped")
    q = random_state(model, 4)["q"]
    mean = dtau.frame_jacobians_derivatives(model, q, "LF_FOOT", symmetric=True)
    rng = np.random.default_rng(5)
    here = dtau.frame_placements(model, q, "LF_FOOT")
    step = 1e-4

    def log(xi: Any) -> Any:
        there = dtau.frame_placements(model, dtau.integrate(model, q, xi), "LF_FOOT")
        pose = dtau.Pose(
            here.rotation.T @ there.rotation,
            here.rotation.T @ (there.translation - here.translation),
        )
        return pose.log()

    for _ in range(5):
        d = rng.standard_normal(model.nv)
        d /= np.linalg.norm(d)
        second = (log(step * d) + log(-step * d)) / step**2
        assert_close(mean @ d @ d, second, 1e-6, "second difference", floor=1.0)
