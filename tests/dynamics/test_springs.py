"""Springs of joints: what they add to torques, where they act, and where models keep them.

The trees of the tests have springs, so that the tests of all functions and of their derivatives
cover them.
"""

from __future__ import annotations

import numpy as np
import pytest
from cases import TREES, random_state, robot, spring_torque
from compare import TOLERANCE, assert_close
from hypothesis import given
from joint_forces import check_impulses, check_torques, finger, floating, torques_after_rerooting
from trees import SEEDS, Tree, trees

import dtau

IDENTITY = TOLERANCE["identity"]
ONE = {"stiffness": 3.0, "rest_position": 0.4}


def without_springs(model: dtau.Model) -> dtau.Model:
    return model.replace(stiffness=0.0, rest_position=0.0)


@given(trees(), SEEDS)
def test_torques(tree: Tree, seed: int) -> None:
    sprung = tree.model()
    plain = without_springs(sprung)
    s = random_state(sprung, seed)
    springs = spring_torque(sprung, s["q"])
    check_torques(sprung, plain, springs, s, at_rest=True)

    energy = 0.5 * (springs**2 / np.where(sprung.stiffness > 0.0, sprung.stiffness, 1.0)).sum()
    want = dtau.potential_energy(plain, s["q"]) + energy
    got = dtau.potential_energy(sprung, s["q"])
    assert_close(got, want, IDENTITY, "energy", floor=float(sprung.mass * 10.0))


@pytest.mark.parametrize("name", ["free root, branches", "joints that mimic others"])
def test_impulses_do_not_feel_springs(name: str) -> None:
    sprung = robot(name)
    assert sprung.stiffness.any()
    check_impulses(sprung, without_springs(sprung))


def test_springs_of_mimic_joints_add_to_the_mimicked_joint() -> None:
    model = finger(ONE, {"stiffness": 2.0, "rest_position": -0.3})
    plain = without_springs(model)
    q = np.array([0.7])
    own, other = 3.0 * (0.7 - 0.4), 2.0 * (-0.5 * 0.7 + 0.1 + 0.3)
    want = np.array([own - 0.5 * other])
    got = dtau.gravity_torque(model, q) - dtau.gravity_torque(plain, q)
    assert_close(got, want, IDENTITY, "torque")
    assert model.stiffness.tolist() == [3.5]
    assert_close(model.stiffness * (q - model.rest_position), want, IDENTITY, "sums")
    moved = plain.replace(
        stiffness={"one": model.stiffness}, rest_position={"one": model.rest_position}
    )
    assert_close(dtau.gravity_torque(moved, q) - dtau.gravity_torque(plain, q), want, IDENTITY, "")
    assert finger(ONE, {}).rest_position.tolist() == [0.4]


def test_a_model_s_own_numbers_keep_springs_of_mimic_joints() -> None:
    model = finger(ONE, {"stiffness": 2.0, "rest_position": -0.3})
    q, rest = np.array([0.7]), model.rest_position
    want, whole = dtau.gravity_torque(model, q), model.stiffness * (q - rest)
    for kind in ("stiffness", "rest_position"):
        same = model.replace(**{kind: getattr(model, kind)})
        assert_close(same.stiffness, model.stiffness, IDENTITY, f"{kind}: stiffness")
        assert_close(same.rest_position, rest, IDENTITY, f"{kind}: rest position")
        assert_close(dtau.gravity_torque(same, q), want, IDENTITY, f"{kind}: torque")
    own = np.r_[model.parameters.ravel(), model.joint_parameters.ravel()]
    got = dtau.gravity_torque(model, q, parameters=own)
    assert_close(got, want, IDENTITY, "parameters")
    Y = dtau.inverse_dynamics_regressor(model, q, 0 * q, 0 * q, joint_parameters=True)
    springs = Y[:, 10 * model.nbodies :] @ model.joint_parameters.ravel()
    assert_close(springs, whole, IDENTITY, "regressor")


def test_models_keep_springs() -> None:
    model = finger(ONE, {"stiffness": 2.0})
    assert model != without_springs(model)
    assert model.link("one").stiffness == (3.0,)
    assert model.link("one").rest_position == (0.4,)
    stiffer = model.replace(stiffness={"one": 5.0})
    assert (stiffer.stiffness.tolist(), stiffer.rest_position[0] > 0.0) == ([5.5], True)
    turned = TREES["one universal"].model()
    assert turned.link("universal0").stiffness[0] != turned.link("universal0").stiffness[1]


def test_rerooted_joints_keep_their_springs() -> None:
    joint = dtau.Universal((1, 0, 0), (0, 1, 0))
    builder = floating(joint, stiffness=(2, 3), rest_position=(0.1, 0.2))
    want, got = torques_after_rerooting(builder.build())
    assert_close(got, want[::-1], IDENTITY, "tau", floor=10.0)


@pytest.mark.parametrize("joint", [dtau.Free(), dtau.Planar((0, 0, 1))])
def test_other_joints_have_no_springs(joint: dtau.JointType) -> None:
    kind = type(joint).__name__
    with pytest.raises(
        ValueError, match=f"stiffness: expected 0, as {kind} joints have no springs"
    ):
        dtau.Link("a", None, joint, "b", stiffness=1.0)
    with pytest.raises(ValueError, match=f"rest_position: expected 0, as {kind}"):
        dtau.Link("a", None, joint, "b", rest_position=1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stiffness": -1.0}, "stiffness: expected numbers of at least 0"),
        ({"stiffness": np.inf}, "stiffness: expected finite numbers"),
        ({"stiffness": (1.0, 2.0)}, "stiffness: expected a number or 1 of them, got 2"),
        ({"rest_position": np.nan}, "rest_position: expected finite numbers"),
    ],
)
def test_wrong_numbers(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dtau.Link("a", None, dtau.Revolute((0, 0, 1)), "b", **options)


def test_other_formats_refuse_springs() -> None:
    model = finger(ONE, {})
    with pytest.raises(ValueError, match=r"springs of joints 'one' \(replace\(stiffness=0"):
        model.to_urdf(root_link="world")
    pytest.importorskip("pinocchio")
    with pytest.raises(ValueError, match="expected a model without springs"):
        model.to_pinocchio()
