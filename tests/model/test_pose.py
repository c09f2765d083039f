"""Poses as matrices, angles, quaternions and twists; joints and configurations from poses."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from cases import GRIPPERS, MIMICS, robot
from compare import TOLERANCE, assert_close, assert_same_bits
from trees import Array, random_quaternion, rotation_of

import dtau

PI = math.pi
# Angles at which formulas cancel, series take over, and either sense is right.
ANGLES = [0.0, 1e-300, 1e-160, 1e-20, 1e-12, 1e-8, 1e-5, 1e-3, 0.0999, 0.1001, 0.999, 1.001]
ANGLES += [2.0, 3.0, PI - 1e-3, PI - 1e-6, PI - 1e-8, PI - 1e-11, PI - 1e-14]
AXES = [(1, 0, 0), (0, -1, 0), (0, 0, 1), (0.6, -0.64, 0.48), (-1, -1, -1), (1, 2, 1e-9)]
LONG_TURNS = [4.0, 2 * PI, 7.0, 100.0]


def random_pose(rng: np.random.Generator) -> dtau.Pose:
    return dtau.Pose(rotation_of(random_quaternion(rng)), rng.uniform(-2.0, 2.0, 3))


def twist_of(angle: float, axis: tuple[float, ...], linear: Any = (0.3, -0.7, 1.1)) -> Array:
    return np.r_[linear, angle * np.array(axis) / np.linalg.norm(axis)]


def assert_same_pose(got: dtau.Pose, want: dtau.Pose, tolerance: float) -> None:
    assert_close(got.rotation, want.rotation, tolerance, "rotation")
    assert_close(got.translation, want.translation, tolerance, "translation", floor=1.0)


def test_matrices() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        pose, other = random_pose(rng), random_pose(rng)
        assert dtau.Pose.from_matrix(pose.matrix()) == pose
        got = (pose @ other).matrix()
        assert_close(got, pose.matrix() @ other.matrix(), TOLERANCE["rounding"])
    for bad in (np.eye(3), np.zeros((4, 4)), np.diag([1, 1, 1, 2.0])):
        with pytest.raises(ValueError, match=r"^matrix: expected "):
            dtau.Pose.from_matrix(bad)


def test_roll_pitch_yaw_there_and_back() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        rpy = rng.uniform([-PI, -PI / 2, -PI], [PI, PI / 2, PI])
        got = dtau.Pose.from_rpy(rpy).rpy()
        assert_close(got, rpy, TOLERANCE["rounding"] / math.cos(rpy[1]) + 1e-15, "rpy", floor=1.0)


@pytest.mark.parametrize("pitch", [PI / 2, -PI / 2, PI / 2 - 1e-9, 1e-9 - PI / 2])
def test_where_roll_and_yaw_turn_about_the_same_axis(pitch: float) -> None:
    """Any pair will do that gives the rotation."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        pose = dtau.Pose.from_rpy((rng.uniform(-PI, PI), pitch, rng.uniform(-PI, PI)))
        pose = pose @ dtau.Pose() if rng.random() < 0.5 else dtau.Pose(rough(pose.rotation, rng))
        again = dtau.Pose.from_rpy(pose.rpy())
        assert_close(again.rotation, pose.rotation, TOLERANCE["rounding"] * 2, "rotation")
        assert abs(pose.rpy()[1] - pitch) < 1e-7  # the arc cosine of rounding


def rough(rotation: Array, rng: np.random.Generator) -> Array:
    return rotation + 1e-16 * rng.standard_normal((3, 3))


def test_quaternions_in_both_orders() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        x = rng.standard_normal(4)
        x /= np.linalg.norm(x)
        pose = dtau.Pose.from_quaternion(x, (1, 2, 3), order="xyzw")
        assert_same_bits(pose.rotation, dtau.Spherical().placement(x).rotation)
        assert pose == dtau.Pose.from_quaternion(np.roll(x, 1), (1, 2, 3), order="wxyz")
        got = pose.quaternion(order="xyzw")
        assert_close(got, x * np.sign(x[3]), TOLERANCE["rounding"], "quaternion")
        assert_same_bits(np.roll(got, 1), pose.quaternion(order="wxyz"))


@pytest.mark.parametrize("angle", [x for x in ANGLES if x > 0] + LONG_TURNS)
@pytest.mark.parametrize("axis", AXES)
def test_quaternions_lose_no_digit(angle: float, axis: tuple[float, ...]) -> None:
    n = np.array(axis) / np.linalg.norm(axis)
    want = np.r_[math.sin(angle / 2) * n, math.cos(angle / 2)]
    want *= math.copysign(1.0, want[3])
    got = dtau.Pose.from_quaternion(want, order="xyzw").quaternion(order="xyzw")
    assert_close(got, want, TOLERANCE["rounding"], "quaternion")
    small = np.abs(want[:3]).max()
    if small < 1e-7:  # relative to the vector part itself
        assert_close(got[:3], want[:3], TOLERANCE["rounding"], "vector part", floor=1e-307)


@pytest.mark.parametrize("order", ["xyzw", "wxyz"])
def test_half_a_turn_has_a_quaternion_of_one_sign(order: Any) -> None:
    x = dtau.Pose(np.diag([1.0, -1.0, -1.0])).quaternion(order=order)
    assert sorted(x.tolist()) == [0, 0, 0, 1]
    assert not np.signbit(x).any()


def test_the_order_of_a_quaternion_must_be_said() -> None:
    for order in ("xyz", None, "wzyx"):
        message = re.escape(f"order: expected 'xyzw' or 'wxyz', got {order!r}")
        with pytest.raises(ValueError, match=message):
            dtau.Pose().quaternion(order=order)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=message):
            dtau.Pose.from_quaternion((0, 0, 0, 1), order=order)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="order"):
        dtau.Pose.from_quaternion((0, 0, 0, 1))  # type: ignore[call-arg]
    with pytest.raises(ValueError, match=r"^quaternion: expected norm 1"):
        dtau.Pose.from_quaternion((0, 0, 0, 2), order="wxyz")


@pytest.mark.parametrize("angle", ANGLES + LONG_TURNS)
@pytest.mark.parametrize("axis", AXES)
def test_exponential_and_logarithm(angle: float, axis: tuple[float, ...]) -> None:
    """The numbers of `dtau.poses`, which are compared with other programs."""
    twist = twist_of(angle, axis)
    pose, array = dtau.Pose.exp(twist), dtau.poses.exp(twist)
    assert_same_pose(pose, dtau.Pose(*dtau.poses.to_placements(array)), TOLERANCE["rounding"])
    assert_close(pose.log(), dtau.poses.log(pose), 0.0, "log")
    if angle <= PI:
        assert_close(pose.log(), twist, 2 * TOLERANCE["rounding"], "there and back")
    assert_same_pose(pose.inverse(), dtau.Pose.exp(-twist), 2 * TOLERANCE["rounding"])


def test_against_pinocchio() -> None:
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(5)
    for angle in [*np.linspace(0.0, 3.1, 40), 1e-8, 1e-4]:
        twist = twist_of(angle, tuple(rng.standard_normal(3)), rng.standard_normal(3))
        pose, theirs = dtau.Pose.exp(twist), pin.exp6(pin.Motion(twist))
        other = dtau.Pose.exp(rng.standard_normal(6))
        product = theirs * pin.SE3(other.rotation, other.translation)
        assert_close((pose @ other).matrix(), product.homogeneous, TOLERANCE["pinocchio"])
        quaternion = pin.Quaternion(theirs.rotation).coeffs()
        quaternion = quaternion * np.sign(quaternion[3])
        assert_close(pose.quaternion(order="xyzw"), quaternion, TOLERANCE["pinocchio"])
        rpy = pin.rpy.matrixToRpy(theirs.rotation)
        assert_close(pose.rpy(), rpy, TOLERANCE["pinocchio"], "rpy", floor=1.0)
        want = pin.rpy.rpyToMatrix(rpy)
        assert_close(dtau.Pose.from_rpy(rpy).rotation, want, TOLERANCE["pinocchio"])


JOINTS = [
    dtau.Fixed(),
    dtau.Revolute((1, 2, -2)),
    dtau.Prismatic((0, 3, 4)),
    dtau.Helical((2, -1, 2), 0.3),
    dtau.Helical((2, -1, 2), 0.0),
    dtau.Spherical(),
    dtau.Free(),
    dtau.Cylindrical((2, -1, 2)),
    dtau.Planar((0, 3, 4)),
    dtau.Universal((1, 2, -2), (0, 1, 0)),
    dtau.Universal((0, 0, 1), (1, 0, 0)),
]


def random_coordinates(joint: dtau.JointType, rng: np.random.Generator) -> Array:
    q = rng.uniform(-PI, PI, joint.nq)
    if joint.nq >= 4:
        x = rng.standard_normal(4)
        q[-4:] = x / math.copysign(float(np.linalg.norm(x)), x[3])
    return q


@pytest.mark.parametrize("joint", JOINTS, ids=repr)
def test_coordinates_of_a_placement(joint: dtau.JointType) -> None:
    rng = np.random.default_rng(6)
    for _ in range(20):
        q = random_coordinates(joint, rng)
        got = joint.coordinates(joint.placement(q))
        assert got.shape == (joint.nq,)
        assert_close(got, q, TOLERANCE["short sums"], "q", floor=1.0)
    neutral = np.zeros(joint.nq)
    if joint.nq >= 4:
        neutral[-1] = 1.0
    assert_same_bits(joint.coordinates(dtau.Pose()) + 0.0, neutral)


@pytest.mark.parametrize("turns", [-3, 0, 5])
def test_a_screw_counts_its_turns(turns: int) -> None:
    joint, angle = dtau.Helical((0, 0, 1), -0.01), 2.0 + 2 * PI * turns
    got = joint.coordinates(joint.placement(angle))
    assert_close(got, np.array([angle]), TOLERANCE["rounding"])


@pytest.mark.parametrize("joint", [j for j in JOINTS if j.nv < 6], ids=repr)
def test_poses_that_a_joint_cannot_take(joint: dtau.JointType) -> None:
    with pytest.raises(ValueError, match=r"^pose: expected one that .* can reach, got one"):
        joint.coordinates(dtau.Pose.exp((0.1, 0.2, 0.3, 0.4, 0.5, 0.6)))
    with pytest.raises(TypeError, match=r"^pose: expected Pose, got tuple"):
        joint.coordinates((0, 0, 0))  # type: ignore[arg-type]


def test_configuration() -> None:
    model = robot("every joint in a chain")
    assert_same_bits(dtau.configuration(model, {}), dtau.neutral(model))
    rng = np.random.default_rng(7)
    want = np.concatenate([random_coordinates(joint.type, rng) for joint in model.joints])
    numbers = {joint.name: want[joint.q] for joint in model.joints}
    assert_same_bits(dtau.configuration(model, numbers), want)
    lone = {name: float(q[0]) for name, q in numbers.items() if len(q) == 1}
    assert_same_bits(dtau.configuration(model, numbers | lone), want)
    poses = {joint.name: joint.type.placement(want[joint.q]) for joint in model.joints}
    got = dtau.configuration(model, poses)
    assert_close(got, want, TOLERANCE["short sums"], "q")
    some = dtau.configuration(model, {model.joints[3].name: want[model.joints[3].q]})
    rest = np.ones(model.nq, dtype=bool)
    rest[model.joints[3].q] = False
    assert_same_bits(some[rest], dtau.neutral(model)[rest])


def test_configuration_of_a_floating_base_is_where_it_stands() -> None:
    model = dtau.robots.quadruped()
    pose = dtau.Pose.from_rpy((0.1, 0.2, 2.0), (1, 2, 0.6))
    q = dtau.configuration(model, {model.joints[0].name: pose})
    got = dtau.frame_placements(model, q, model.bodies[0])
    assert_same_pose(dtau.Pose(*got), pose, 2 * TOLERANCE["rounding"])


@pytest.mark.parametrize(
    ("positions", "error", "message"),
    [
        ({"nowhere": 0.0}, ValueError, "no joint named 'nowhere'"),
        ({"revolute1": 0.0}, ValueError, "joint 'revolute1' mimics 'helical4': place that one"),
        ({"helical4": (0.0, 1.0)}, ValueError, "position of joint 'helical4': q: expected a num"),
        ({"helical4": math.nan}, ValueError, "position of joint 'helical4': q: expected finite"),
        ({"helical4": "far"}, TypeError, "position of joint 'helical4': q: expected real"),
        ({"free0": np.ones(6)}, ValueError, r"position of joint 'free0': q: expected shape \(7,\)"),
        ({"free0": np.ones(7)}, ValueError, "position of joint 'free0': quaternion: expected norm"),
        (
            {"helical4": dtau.Pose(translation=(3, 4, 5))},
            ValueError,
            "position of joint 'helical4': pose: expected one that",
        ),
        ([("helical4", 0.0)], TypeError, "positions: expected Mapping, got list"),
    ],
)
def test_configurations_that_are_none(positions: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{message}"):
        dtau.configuration(GRIPPERS.model(MIMICS), positions)


def test_products_with_arrays_are_refused() -> None:
    pose = dtau.Pose()
    with pytest.raises(
        TypeError, match=r"expected a Pose behind @, got ndarray; .* @ x \+ pose.tra"
    ):
        pose @ np.ones(3)  # type: ignore[operator]
    with pytest.raises(TypeError, match=r"unsupported operand .*ndarray' and 'Pose'"):
        np.ones(3) @ pose  # type: ignore[operator]
    with pytest.raises(ValueError, match=r"got \(4, 4\); Pose.from_matrix reads such"):
        dtau.Pose(np.eye(4))


@pytest.mark.parametrize(
    ("order", "here"), [("WXYZ", "wxyz"), ("scalar_first", "wxyz"), ("Scalar_Last", "xyzw")]
)
def test_orders_as_others_call_them(order: Any, here: str) -> None:
    with pytest.raises(
        ValueError, match=f"^order: expected .*, got '{order}': that is '{here}' here"
    ):
        dtau.Pose().quaternion(order=order)
