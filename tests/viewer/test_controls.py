"""Sliders within the joints' limits."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dtau
from dtau.viewer.controls import has_gizmo, sliders, start


def arm(joint: dtau.JointType, **limits: float) -> dtau.Model:
    builder = dtau.ModelBuilder("arm")
    body = dtau.Inertia(1.0, tensor=np.eye(3))
    builder.add(joint, name="j", inertia=body, limits=dtau.Limits(**limits))
    return builder.build()


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"lower": -1.0, "upper": 2.0}, (-1.0, 2.0)),
        ({}, (-math.pi, math.pi)),
        ({"lower": 1.0}, (1.0, 1.0 + 2 * math.pi)),
        ({"upper": 1.0}, (1.0 - 2 * math.pi, 1.0)),
    ],
)
def test_ranges_of_revolute_joints(limits: dict[str, float], expected: tuple[float, float]) -> None:
    [slider] = sliders(arm(dtau.Revolute((0, 0, 1)), **limits))
    assert (slider.lower, slider.upper) == pytest.approx(expected)
    assert 0 < slider.step <= (slider.upper - slider.lower) / 1000


def test_lengths_without_limits_are_a_metre_either_side() -> None:
    [slider] = sliders(arm(dtau.Prismatic((0, 0, 1))))
    assert (slider.lower, slider.upper) == (-1.0, 1.0)


def test_a_motion_outside_the_limits_widens_the_range() -> None:
    model = arm(dtau.Revolute((0, 0, 1)), lower=-1.0, upper=1.0)
    [slider] = sliders(model, np.array([[0.5], [1.5]]))
    assert (slider.lower, slider.upper) == (-1.0, 1.5)


def test_joints_of_several_coordinates() -> None:
    kinds = ["planar", "cylindrical", "universal", "spherical", "free", "helical"]
    model = dtau.robots.chain(6, joints=kinds)
    found = sliders(model)
    names = [joint.name for joint in model.joints]
    ends = [" x", " y", " angle", " distance", " angle", " 1", " 2", ""]
    owners = [0, 0, 0, 1, 1, 2, 2, 5]
    assert [s.label for s in found] == [
        names[owner] + end for owner, end in zip(owners, ends, strict=True)
    ]
    covered = {s.at for s in found}
    for joint in model.joints:
        at = set(range(joint.q.start, joint.q.stop))
        assert at.isdisjoint(covered) if has_gizmo(joint) else at <= covered


def test_followers_have_no_slider() -> None:
    builder = dtau.ModelBuilder("gripper")
    finger = dtau.Inertia(0.1, tensor=0.001 * np.eye(3))
    builder.add(dtau.Prismatic((0, 1, 0)), name="left", inertia=finger)
    builder.add(dtau.Prismatic((0, -1, 0)), name="right", inertia=finger, mimic=dtau.Mimic("left"))
    assert len(sliders(builder.build())) == 1


def test_the_first_configuration_is_within_the_limits() -> None:
    assert start(arm(dtau.Revolute((0, 0, 1)), lower=0.5, upper=1.0)).tolist() == [0.5]
    model = dtau.robots.quadruped()
    assert (start(model) == dtau.neutral(model)).all()
