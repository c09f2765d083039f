"""Errors of frames from targets and their Jacobians: complex step, Pinocchio, half a turn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import ROBOTS, on_robots, random_state, robot
from compare import TOLERANCE, assert_close, assert_same_bits
from complex_step import by_q
from core import complex_core
from hypothesis import given, settings
from trees import SEEDS, Array, Tree, trees

import dtau
from dtau import poses


def near(model: dtau.Model, q: Array, frames: Any, size: float, seed: int = 0) -> Array:
    """Targets that the frames miss by about `size`."""
    placed = poses.from_placements(dtau.frame_placements(model, q, frames))
    x = np.random.default_rng(seed).uniform(-size, size, (*placed.shape[:-1], 6))
    return poses.compose(placed, poses.exp(x))


def check(model: dtau.Model, seed: int) -> None:
    """Against complex step, near and far from the targets, and against the parts."""
    q, frames = random_state(model, seed)["q"], list(model.frames)
    for size in (0.0, 1e-6, 0.3, 1.5):
        targets = near(model, q, frames, size, seed)
        got = dtau.frame_errors(model, q, frames, targets)

        def error(y: Any, targets: Array = targets) -> Any:
            return complex_core("frame_errors", model, y, targets, frames=frames)[0]

        want = by_q(model, q, error)
        scale = 1.0 + float(np.abs(dtau.frame_jacobians(model, q, frames)).max())
        assert_close(got.J, want, TOLERANCE["complex_step"], "J", floor=scale)
        placed = poses.from_placements(dtau.frame_placements(model, q, frames))
        apart = poses.difference(targets, placed)
        far = 1.0 + float(np.abs(placed[..., :3]).max())  # positions that cancel
        assert_close(got.error, apart, TOLERANCE["long sums"], "error", floor=far)
        relative = poses.compose(poses.inverse(targets), placed)
        J = poses.log_jacobian(relative) @ dtau.frame_jacobians(model, q, frames)
        assert_close(got.J, J, TOLERANCE["identity"], "product", floor=scale * far)


@pytest.mark.parametrize("name", ROBOTS)
def test_complex_step(name: str) -> None:
    check(robot(name), 2)


@given(trees(), SEEDS)
@settings(max_examples=20, deadline=None)
def test_complex_step_on_trees(tree: Tree, seed: int) -> None:
    check(tree.model(), seed)


@on_robots
def test_one_frame_has_the_row_of_many(name: str) -> None:
    """Alone, by its name and in a list, and in a batch with one target for all."""
    model = robot(name)
    q, frames = random_state(model, 3, (5,))["q"], list(model.frames)
    targets = near(model, q, frames, 0.7)
    whole = dtau.frame_errors(model, q, frames, targets)
    assert whole.error.shape == (5, len(frames), 6)
    assert whole.J.shape == (5, len(frames), 6, model.nv)
    last = dtau.frame_errors(model, q, frames[-1], targets[:, -1])
    listed = dtau.frame_errors(model, q, frames[-1:], targets[:, -1:])
    for alone, of_list, many in zip(last, listed, whole, strict=True):
        assert_same_bits(alone, many[:, -1])
        assert_same_bits(of_list, many[:, -1:])
    shared = dtau.frame_errors(model, q, frames, targets[2])
    for got, want in zip(shared, whole, strict=True):
        assert_same_bits(got[2], want[2])


def test_the_error_takes_the_target_to_the_frame() -> None:
    model = robot("quadruped")
    q = random_state(model, 5)["q"]
    feet = ["LF_FOOT", "RH_FOOT"]
    targets = near(model, q, feet, 1.0)
    error, J = dtau.frame_errors(model, q, feet, targets)
    placed = dtau.frame_placements(model, q, feet)
    back = poses.to_placements(poses.compose(targets, poses.exp(error)))
    for got, want in zip(back, placed, strict=True):
        assert_close(got, want, TOLERANCE["short sums"], "target exp(error)")
    zero = dtau.frame_errors(model, q, feet, placed)
    assert_close(zero.error, np.zeros((2, 6)), 1e-14, "at the target", floor=1.0)
    assert_close(zero.J, dtau.frame_jacobians(model, q, feet), 1e-13, "J at the target")
    one = dtau.frame_errors(model, q, feet[0], dtau.Pose(placed[0][0], placed[1][0]))
    assert_close(one.error, zero.error[0], 1e-14, "from a Pose", floor=1.0)
    assert J.shape == (2, 6, model.nv)


def test_half_a_turn_from_the_target() -> None:
    """One of both directions, finite, and J follows it."""
    model = robot("quadruped")
    q = random_state(model, 6)["q"]
    placed = poses.from_placements(dtau.frame_placements(model, q, "LF_FOOT"))
    for axis in np.eye(3):
        target = poses.compose(placed, np.r_[0.1, 0.2, 0.3, axis, 0.0])
        error, J = dtau.frame_errors(model, q, "LF_FOOT", target)
        assert abs(np.linalg.norm(error[3:]) - np.pi) < 1e-12
        want = poses.exp_jacobian(error) @ J
        assert_close(want, dtau.frame_jacobians(model, q, "LF_FOOT"), 1e-12, "J")
