"""`ModelBuilder.add_model`: models put together."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from messages import message

import dtau

pin = pytest.importorskip("pinocchio")

FINGER = dtau.Inertia(0.2, (0.01, 0.02, 0.03), 0.001 * np.eye(3))
PLACE = dtau.Pose.exp((0.1, -0.2, 0.3, 0.4, 0.5, -0.6))


def gripper() -> dtau.Model:
    builder = dtau.ModelBuilder("gripper", gravity=(0, 0, 0))
    builder.add(dtau.Fixed(), name="palm", inertia=FINGER, placement=PLACE)
    builder.add(dtau.Prismatic((0, 1, 0)), name="left", parent="palm", inertia=FINGER, damping=0.3)
    builder.add(
        dtau.Prismatic((0, -1, 0)),
        name="right",
        parent="palm",
        inertia=FINGER,
        mimic=dtau.Mimic("left", 0.5, 0.1),
    )
    return builder.build()


def test_it_is_what_pinocchio_appends() -> None:
    arm = pin.buildSampleModelManipulator()
    hand = pin.Model()
    finger = hand.addJoint(
        0,
        pin.JointModelRevoluteUnaligned(np.array([0.6, 0, 0.8])),
        pin.SE3(PLACE.rotation, PLACE.translation),
        "finger",
    )
    hand.appendBodyToJoint(
        finger, pin.Inertia(0.2, np.ones(3), 0.1 * np.eye(3)), pin.SE3.Identity()
    )
    last = arm.frames[arm.nframes - 1]
    both = pin.appendModel(arm, hand, arm.nframes - 1, pin.SE3(PLACE.rotation, PLACE.translation))
    builder = dtau.ModelBuilder("both")
    builder.add_model(dtau.from_pinocchio(arm))
    builder.add_model(dtau.from_pinocchio(hand), parent=last.name, placement=PLACE, prefix="hand/")
    renamed = pin.Model(both)
    renamed.names[both.getJointId("finger")] = "hand/finger"
    model = builder.build()
    state = dtau.random_state(model, np.random.default_rng(0))
    convention = dtau.conventions.pinocchio(model, renamed)
    there = convention.from_dtau(*state)
    want = pin.rnea(both, both.createData(), *there)
    tau = dtau.inverse_dynamics(model, *state) - model.damping * state.v
    got = convention.convert(tau, of="tau", at={"q": state.q})
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-12 * np.abs(want).max())


def test_a_model_is_added_twice() -> None:
    builder = dtau.ModelBuilder("two hands")
    base = builder.add(dtau.Free(), name="base", inertia=dtau.Inertia(1.0, tensor=np.eye(3)))
    for side in ("l_", "r_"):
        assert builder.add_model(gripper(), parent=base, prefix=side) == f"{side}palm"
    model = builder.build()
    assert [joint.name for joint in model.joints][1:] == ["l_left", "l_right", "r_left", "r_right"]
    assert model.joint("r_right").mimic == dtau.Mimic("r_left", 0.5, 0.1)
    assert model.damping[model.joint("l_left").v] == 0.3
    assert model.frame("l_palm").placement == PLACE
    assert pickle.loads(pickle.dumps(builder)).build() == model


def test_a_model_in_an_empty_builder_is_the_model() -> None:
    model = dtau.robots.quadruped()
    builder = dtau.ModelBuilder(model.name, gravity=model.gravity)
    builder.add_model(model)
    assert builder.build() == model


def test_refused() -> None:
    builder = dtau.ModelBuilder("refused")
    builder.add_model(gripper())
    assert message(ValueError, builder.add_model, gripper()).endswith("a link named 'palm'")
    said = message(ValueError, builder.add_model, gripper(), parent="pal", prefix="x")
    assert said == "parent: no link named 'pal'; close names: 'palm'"
    assert message(TypeError, builder.add_model, "gripper") == "model: expected Model, got str"
    assert builder.build().frames == gripper().frames  # nothing was added
