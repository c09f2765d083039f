"""Poses and rotations in batches: against Pinocchio, SciPy and complex step, at every angle."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compare import TOLERANCE, assert_close, assert_same_bits
from complex_step import STEP
from trees import Array, cross, random_quaternion, rotation_of, skew

import dtau
from dtau import _core, poses, rotations

PI = math.pi
# Angles at which formulas cancel and series take over; the last ones are close to where a logarithm
# has two directions.
ANGLES = [0.0, 1e-300, 1e-160, 1e-20, 1e-9, 1e-5, 1e-3, 0.1, 0.999, 1.001, 2.0, 3.0]
ANGLES += [PI - 1e-3, PI - 1e-8, PI - 1e-14]
LONG_TURNS = [4.0, 6.0, 7.0, 100.0]
AXES = [(1, 0, 0), (0, -1, 0), (0, 0, 1), (0.6, -0.64, 0.48), (-1, -1, -1), (1, 2, 1e-9)]
SIDES: Any = ("right", "left")


def unit(axis: Any) -> Array:
    return np.array(axis, float) / np.linalg.norm(axis)


def twist_of(angle: float, axis: Any, linear: Any = (0.3, -0.7, 1.1)) -> Array:
    return np.r_[linear, angle * unit(axis)]


def random_poses(seed: int, *shape: int) -> Array:
    rng = np.random.default_rng(seed)
    turns = [random_quaternion(rng) for _ in range(math.prod(shape))]
    return np.concatenate(
        [rng.uniform(-2.0, 2.0, (*shape, 3)), np.reshape(turns, (*shape, 4))], axis=-1
    )


def same_rotation(got: Array, want: Array, tolerance: float) -> None:
    """Quaternions of either sign."""
    sign = np.where((got * want).sum(axis=-1, keepdims=True) < 0, -1.0, 1.0)
    assert_close(sign * got, want, tolerance, "quaternion")


# ---------------------------------------------------------------- against others


@pytest.mark.parametrize("angle", ANGLES + LONG_TURNS)
@pytest.mark.parametrize("axis", AXES)
def test_exponential_and_its_jacobians_are_pinocchios(angle: float, axis: Any) -> None:
    pin = pytest.importorskip("pinocchio")
    x = twist_of(angle, axis)
    theirs = pin.exp6(pin.Motion(x))
    got = poses.to_matrix(poses.exp(x))
    assert_close(got, theirs.homogeneous, TOLERANCE["independent"], "exp")
    jacobian = pin.Jexp6(pin.Motion(x))
    # Pinocchio's terms cancel at small angles; complex step holds ours there.
    tolerance = 1e-12 if angle > 0.05 or angle < 1e-12 else 1e-3
    assert_close(poses.exp_jacobian(x), jacobian, tolerance, "Jexp6")
    small = pin.Jexp3(x[3:])
    assert_close(rotations.exp_jacobian(x[3:]), small, TOLERANCE["independent"], "Jexp3")
    assert_close(rotations.to_matrix(rotations.exp(x[3:])), pin.exp3(x[3:]), 1e-12, "exp3")
    assert_close(poses.adjoint(poses.exp(x)), theirs.action, TOLERANCE["independent"], "adjoint")


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-5, 0.1, 0.999, 1.001, 2.0, 3.0, PI - 1e-3])
@pytest.mark.parametrize("axis", AXES)
def test_logarithm_and_its_jacobians_are_pinocchios(angle: float, axis: Any) -> None:
    pin = pytest.importorskip("pinocchio")
    x = twist_of(angle, axis)
    pose, theirs = poses.exp(x), pin.exp6(pin.Motion(x))
    tolerance = 1e-12 if angle < 3.1 else 1e-10  # Pinocchio's angle loses digits near pi
    assert_close(poses.log(pose), pin.log6(theirs).vector, tolerance, "log6")
    assert_close(poses.log_jacobian(pose), pin.Jlog6(theirs), tolerance, "Jlog6")
    turn = pose[3:]
    assert_close(rotations.log(turn), pin.log3(theirs.rotation), tolerance, "log3")
    assert_close(rotations.log_jacobian(turn), pin.Jlog3(theirs.rotation), tolerance, "Jlog3")


def test_the_group_is_pinocchios() -> None:
    pin = pytest.importorskip("pinocchio")
    first, second, t = random_poses(1, 20), random_poses(2, 20), np.linspace(-1, 2, 20)
    product, middle = poses.compose(first, second), poses.interpolate(first, second, t)
    inverses, apart = poses.inverse(first), poses.difference(first, second)
    for k in range(20):
        a, b = pin.XYZQUATToSE3(first[k]), pin.XYZQUATToSE3(second[k])
        assert_close(poses.to_matrix(product[k]), (a * b).homogeneous, 1e-13, "compose")
        assert_close(poses.to_matrix(inverses[k]), a.inverse().homogeneous, 1e-13, "inverse")
        assert_close(apart[k], pin.log6(a.actInv(b)).vector, 1e-12, "difference")
        want = pin.SE3.Interpolate(a, b, t[k]).homogeneous
        assert_close(poses.to_matrix(middle[k]), want, 1e-12, "interpolate")
        assert_close(poses.act(first[k], [1.0, 2, 3]), a.act(np.array([1.0, 2, 3])), 1e-14, "act")


def test_rotations_are_scipys() -> None:
    transform = pytest.importorskip("scipy.spatial.transform")
    quaternion = random_poses(3, 50)[:, 3:]
    other, vectors = random_poses(4, 50)[:, 3:], random_poses(5, 50)[:, :3]
    theirs, second = transform.Rotation.from_quat(quaternion), transform.Rotation.from_quat(other)
    tolerance = TOLERANCE["short sums"]
    assert_close(rotations.to_matrix(quaternion), theirs.as_matrix(), tolerance)
    assert_close(rotations.log(quaternion), theirs.as_rotvec(), tolerance)
    assert_close(rotations.act(quaternion, vectors), theirs.apply(vectors), tolerance)
    same_rotation(rotations.compose(quaternion, other), (theirs * second).as_quat(), tolerance)
    same_rotation(rotations.inverse(quaternion), theirs.inv().as_quat(), tolerance)
    same_rotation(rotations.from_matrix(theirs.as_matrix()), quaternion, tolerance)
    same_rotation(rotations.exp(theirs.as_rotvec()), quaternion, tolerance)
    apart = (theirs.inv() * second).as_rotvec()
    assert_close(rotations.difference(quaternion, other), apart, tolerance)
    angles = theirs.as_euler("xyz")
    assert_close(rotations.to_rpy(quaternion), angles, 1e-12)
    same_rotation(rotations.from_rpy(angles), quaternion, 1e-12)
    assert_close(
        rotations.to_quaternion(quaternion, order="wxyz"), np.roll(quaternion, 1, -1), tolerance
    )
    slerp = transform.Slerp([0.0, 1.0], transform.Rotation.from_quat([quaternion[0], other[0]]))
    t = np.linspace(0, 1, 7)
    want = slerp(t).as_quat()
    same_rotation(rotations.interpolate(quaternion[0], other[0], t), want, 1e-13)


# ---------------------------------------------------------------- complex step


def exponential(matrix: Any) -> Any:
    """exp of a matrix, as SciPy computes it."""
    return pytest.importorskip("scipy.linalg").expm(matrix)


def matrix_of(x: Any) -> Any:
    """exp(x) as a 4x4 matrix, by the definition."""
    twist = np.zeros((4, 4), x.dtype)
    twist[:3, :3], twist[:3, 3] = skew(x[3:]), x[:3]
    return exponential(twist)


def jacobian_of(x: Any) -> Any:
    """The sum of (-ad_x)^k / (k + 1)!, which is a block of a matrix exponential."""
    block = np.zeros((12, 12), x.dtype)
    block[:6, :6], block[:6, 6:] = -cross(x), np.eye(6)
    return exponential(block)[:6, 6:]


def by_complex_step(function: Callable[[Any], Any], x: Array, directions: Array) -> Array:
    return np.array([function(x + 1j * STEP * along).imag / STEP for along in directions])


ORDINARY = [x for x in ANGLES if x == 0.0 or x > 1e-10]


@pytest.mark.parametrize("angle", ORDINARY + LONG_TURNS)
@pytest.mark.parametrize("axis", AXES)
def test_jacobian_of_the_exponential_by_complex_step(angle: float, axis: Any) -> None:
    """exp(x)^-1 d exp(x), as matrices."""
    x = twist_of(angle, axis)
    rates = by_complex_step(matrix_of, x, np.eye(6))
    body = np.linalg.inv(poses.to_matrix(poses.exp(x))) @ rates
    spin = np.stack([body[:, 2, 1], body[:, 0, 2], body[:, 1, 0]], axis=-1)
    want = np.concatenate([body[:, :3, 3], spin], axis=-1).T
    assert_close(poses.exp_jacobian(x), want, TOLERANCE["complex_step"], "exp_jacobian")


@pytest.mark.parametrize("angle", ORDINARY)
@pytest.mark.parametrize("axis", AXES)
def test_jacobian_of_the_logarithm(angle: float, axis: Any) -> None:
    """The inverse of the Jacobian of the exponential."""
    pose = poses.exp(twist_of(angle, axis))
    x = poses.log(pose)
    for side, twist in zip(SIDES, (x, -x), strict=True):
        want = np.linalg.inv(jacobian_of(twist))
        got = poses.log_jacobian(pose, side)
        assert_close(got, want, TOLERANCE["complex_step"], f"log_jacobian, {side}")
        turned = rotations.log_jacobian(pose[3:], side)
        assert_close(turned, want[3:, 3:], TOLERANCE["complex_step"], f"of SO(3), {side}")


@pytest.mark.parametrize("angle", ORDINARY + LONG_TURNS)
@pytest.mark.parametrize("axis", AXES)
def test_derivatives_of_the_jacobians_by_complex_step(angle: float, axis: Any) -> None:
    x = twist_of(angle, axis)
    want = by_complex_step(jacobian_of, x, np.eye(6))
    got = poses.exp_jacobian_derivative(x, np.eye(6))
    assert_close(got, want, TOLERANCE["complex_step"], "exp_jacobian_derivative")
    left = -by_complex_step(jacobian_of, -x, np.eye(6))
    got = poses.exp_jacobian_derivative(x, np.eye(6), "left")
    assert_close(got, left, TOLERANCE["complex_step"], "left")
    for side in SIDES:
        turned = rotations.exp_jacobian_derivative(x[3:], np.eye(3), side)
        whole = poses.exp_jacobian_derivative(x, np.eye(6)[3:], side)[:, 3:, 3:]
        assert_close(turned, whole, TOLERANCE["rounding"], f"of SO(3), {side}")
    if angle > PI:
        return
    pose = poses.exp(x)
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        twist = sign * poses.log(pose)

        def log_jacobian(y: Any) -> Any:
            return np.linalg.inv(jacobian_of(y))

        moved = sign * log_jacobian(twist).T  # the twist's rates along the sides of the pose
        want = by_complex_step(log_jacobian, twist, moved)
        got = poses.log_jacobian_derivative(pose, np.eye(6), side)
        assert_close(got, want, TOLERANCE["complex_step"], f"log, {side}", floor=0.1)
        turned = rotations.log_jacobian_derivative(pose[3:], np.eye(3), side)
        whole = poses.log_jacobian_derivative(pose, np.eye(6)[3:], side)[:, 3:, 3:]
        assert_close(turned, whole, 1e-14, f"of SO(3), {side}", floor=0.1)


# ---------------------------------------------------------------- identities


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("axis", AXES)
def test_logarithm_undoes_exponential(angle: float, axis: Any) -> None:
    x = twist_of(angle, axis)
    pose = poses.exp(x)
    # near pi the position turns with the rounding of the quaternion
    assert_close(poses.log(pose), x, 4 * TOLERANCE["rounding"], "log")
    assert_close(rotations.log(rotations.exp(x[3:])), x[3:], TOLERANCE["rounding"], floor=1e-307)
    assert_close(poses.log(-np.r_[-pose[:3], pose[3:]]), poses.log(pose), 0.0, "other sign")
    matrix = poses.from_matrix(poses.to_matrix(pose))
    assert_close(poses.log(matrix), x, 4 * TOLERANCE["rounding"], "from a matrix")
    left = poses.exp_jacobian(x, "left")
    assert_close(left, poses.adjoint(pose) @ poses.exp_jacobian(x), 1e-14, "left Jacobian")
    back = poses.log_jacobian(pose, "left") @ left
    assert_close(back, np.eye(6), TOLERANCE["identity"], "inverse", floor=1.0)


@pytest.mark.parametrize("axis", AXES)
def test_logarithm_of_half_a_turn(axis: Any) -> None:
    """One of both directions; the Jacobians of both sides belong to it."""
    for sign in (0.0, -0.0):
        pose = np.r_[1.0, 2.0, 3.0, unit(axis), sign]
        x = poses.log(pose)
        assert_close(np.array(np.linalg.norm(x[3:])), np.array(PI), TOLERANCE["rounding"])
        same_rotation(poses.exp(x)[3:], pose[3:], 4 * TOLERANCE["rounding"])
        assert_close(poses.exp(x)[:3], pose[:3], 1e-14, "position")
        for side in SIDES:
            product = poses.log_jacobian(pose, side) @ poses.exp_jacobian(x, side)
            assert_close(product, np.eye(6), TOLERANCE["identity"], side, floor=1.0)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("angle", [1e-300, 1e-20, 1e-9, 1e-5, 0.5, 3.0, PI])
def test_matrices_and_quaternions_lose_no_digit(angle: float, axis: Any) -> None:
    quaternion = np.r_[math.sin(angle / 2) * unit(axis), math.cos(angle / 2)]
    got = rotations.from_matrix(rotations.to_matrix(quaternion))
    same_rotation(got, quaternion, TOLERANCE["rounding"])
    if angle < 1e-7:
        assert_close(got[:3], quaternion[:3], TOLERANCE["rounding"], "small part", floor=1e-307)


@pytest.mark.parametrize("pitch", [0.3, -1.2, PI / 2, -PI / 2, PI / 2 - 1e-9])
def test_roll_pitch_yaw_give_the_same_rotation(pitch: float) -> None:
    rng = np.random.default_rng(6)
    rpy = np.stack(
        [rng.uniform(-PI, PI, 50), np.full(50, pitch), rng.uniform(-PI, PI, 50)], axis=-1
    )
    rotation = rotations.to_matrix(rotations.from_rpy(rpy))
    want = np.array([dtau.Pose.from_rpy(angles).rotation for angles in rpy])
    assert_close(rotation, want, TOLERANCE["rounding"], "from_rpy")
    again = rotations.to_rpy(rotations.from_rpy(rpy))
    assert_close(rotations.to_matrix(rotations.from_rpy(again)), want, 4e-15, "to_rpy")
    if abs(pitch) < 1.5:
        assert_close(again, rpy, 1e-14, "angles", floor=1.0)
    moved = poses.from_rpy(rpy, [1.0, 2.0, 3.0])
    assert_close(poses.to_rpy(moved), again, TOLERANCE["rounding"], "of poses", floor=1.0)


def test_angles_of_quarter_turns() -> None:
    """Neither NaN nor the sign of a zero decides."""
    for rpy in ([0.0, 0, 0], [PI, 0, 0], [0, 0, PI], [PI / 2, 0, PI], [0, PI / 2, 0]):
        got = rotations.to_matrix(rotations.from_rpy(rotations.to_rpy(rotations.from_rpy(rpy))))
        assert_close(got, dtau.Pose.from_rpy(rpy).rotation, 1e-15, str(rpy))
    assert_same_bits(rotations.to_rpy([0.0, 0, 0, 1]), np.zeros(3))


def test_configurations_of_a_free_joint_are_poses() -> None:
    builder = dtau.ModelBuilder("free")
    builder.add(dtau.Free(), name="free", inertia=dtau.Inertia(1.0, tensor=np.eye(3)))
    model = builder.build()
    start, end = random_poses(7, 9), random_poses(8, 9)
    x = dtau.difference(model, start, end)
    assert_close(poses.difference(start, end), x, 1e-14, "difference")
    moved = dtau.integrate(model, start, x)
    assert_close(poses.compose(start, poses.exp(x)), moved, 1e-14, "integrate")
    by_dq = dtau.integrate_jacobians(model, start, x).by_dq
    assert_close(poses.exp_jacobian(x), by_dq, TOLERANCE["rounding"], "exp_jacobian")
    relative = poses.compose(poses.inverse(start), end)
    jacobians = dtau.difference_jacobians(model, start, end)
    assert_close(poses.log_jacobian(relative), jacobians.by_q1, 1e-13, "by q1")
    assert_close(-poses.log_jacobian(relative, "left"), jacobians.by_q0, 1e-13, "by q0")


def test_all_forms_of_a_pose() -> None:
    """Arrays, placements and a Pose."""
    model = dtau.robots.quadruped()
    q, _, _ = dtau.random_state(model, np.random.default_rng(0), (5,))
    placements = dtau.frame_placements(model, q, ["LF_FOOT", "RH_FOOT"])
    array = poses.from_placements(placements)
    assert array.shape == (5, 2, 7)
    assert_close(array, poses.from_placements(tuple(placements)), 0.0)
    for got, want in zip(poses.to_placements(array), placements, strict=True):
        assert_close(got, want, TOLERANCE["rounding"])
    assert_close(poses.log(placements), poses.log(array), 0.0)
    assert_close(poses.compose(placements, array), poses.compose(array, placements), 0.0)
    one = dtau.Pose(placements.rotation[0, 0], placements.translation[0, 0])
    assert_close(poses.inverse(one), poses.inverse(array[0, 0]), TOLERANCE["rounding"])
    assert_close(poses.from_placements(one), array[0, 0], TOLERANCE["rounding"])
    assert_close(poses.to_matrix(one), one.matrix(), TOLERANCE["rounding"])
    points = np.random.default_rng(1).standard_normal((4, 3))
    want = points @ one.rotation.T + one.translation
    assert_close(poses.act(one, points), want, 1e-14)
    wxyz = poses.to_quaternion(one, order="wxyz")
    assert_close(wxyz, one.quaternion(order="wxyz"), 1e-15)
    assert_close(poses.from_quaternion(wxyz, one.translation, order="wxyz"), array[0, 0], 1e-15)
    assert_close(poses.to_rpy(one), one.rpy(), 1e-15, floor=1.0)
    assert_close(rotations.from_quaternion(wxyz, order="wxyz"), array[0, 0, 3:], 1e-15)


# ---------------------------------------------------------------- batches


NAMES = sorted(dtau.registry.POSE_FUNCTIONS)


def test_float32_is_read_and_never_written() -> None:
    x = 0.5 * np.random.default_rng(2).standard_normal((5, 6)).astype(np.float32)
    assert_same_bits(poses.exp(x), poses.exp(x.astype(float)))
    pose = poses.exp(x).astype(np.float32)  # norm 1 within 1e-7
    assert_close(poses.log(pose), x.astype(float), 1e-5)
    with pytest.raises(TypeError, match=r"^out: expected dtype float64, got float32"):
        poses.exp(x, out=np.empty((5, 7), np.float32))  # type: ignore[arg-type]


def test_errors() -> None:
    good = random_poses(9, 3)
    bad = good.copy()
    bad[2, 3:] *= 1.1
    for call in (
        lambda: poses.log(bad),
        lambda: poses.log_jacobian(bad, "left"),
        lambda: poses.act(bad, [1.0, 2, 3]),
        lambda: poses.to_matrix(bad),
    ):
        with pytest.raises(
            ValueError, match=r"^pose: .* norm 1 within 1e-6, got norm 1.1 .* index \(2,\)"
        ):
            call()
    with pytest.raises(ValueError, match=r"^second: expected a quaternion of norm 1"):
        poses.compose(good, bad)
    with pytest.raises(ValueError, match=r"^quaternion: expected a quaternion of norm 1"):
        rotations.log(bad[:, 3:])
    for size, norm in ((1e200, r"norm 1e\+200"), (1.5e308, "norm inf")):  # their squares overflow
        with pytest.raises(ValueError, match=f"^quaternion: .*{norm}; divide it by its norm"):
            rotations.log([size, 0.0, 0.0, size if norm.endswith("inf") else 0.0])
        with pytest.raises(ValueError, match=r"^rotation: expected a rotation.* is off by inf"):
            rotations.from_matrix(size * np.eye(3))
    with pytest.raises(ValueError, match=r"^pose has shape \(3, 6\), expected \(\.\.\., 7\)"):
        poses.log(good[:, 1:])
    with pytest.raises(ValueError, match=r"^twist has shape \(7,\), expected \(\.\.\., 6\)"):
        poses.exp(np.ones(7))
    with pytest.raises(
        TypeError, match=r"^placements: expected a pair of .*, got numpy\.ndarray; "
    ):
        poses.from_placements(np.eye(4))
    with pytest.raises(ValueError, match="batch shapes do not broadcast"):
        poses.compose(good, good[:2])
    with pytest.raises(TypeError, match=r"^twist: expected real numbers"):
        poses.exp(1j * np.ones(6))
    with pytest.raises(TypeError, match=r"unexpected keyword argument"):
        poses.exp(np.ones(6), model=None)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^pose_log: missing the argument 'pose'"):
        _core.pose_log()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^pose_log: expected at most 3 arguments, got 4"):
        _core.pose_log(good, None, None, None)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^pose_log: got an unexpected argument 'model'"):
        _core.pose_log(good, model=None)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match=r"^side: expected 'right' or 'left', got 'body'"):
        poses.exp_jacobian(np.ones(6), "body")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^order: expected 'xyzw' or 'wxyz', got 'xyz'"):
        poses.from_quaternion([0.0, 0, 0, 1], order="xyz")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^quaternion has shape \(3,\), expected \(\.\.\., 4\)"):
        rotations.from_quaternion([0.0, 0, 1], order="wxyz")


def test_matrices_that_are_no_rotations() -> None:
    eye = np.stack([np.eye(4)] * 3)
    eye[1, 0, 0] = 1.1
    with pytest.raises(ValueError, match=r"^matrix: expected a rotation, .* index \(1,\)"):
        poses.from_matrix(eye)
    with pytest.raises(ValueError, match=r"^rotation: expected determinant 1, got a reflection"):
        rotations.from_matrix(np.diag([1.0, 1, -1]))
    with pytest.raises(
        ValueError, match=r"^matrix: .* last row \(0, 0, 0, 1\) .*, got 1.0 in column 0"
    ):
        poses.from_matrix(np.eye(4) + np.eye(4)[[3, 0, 0, 0]] * [[0], [0], [0], [1]])
    turned = rotation_of(random_quaternion(np.random.default_rng(3)))
    assert rotations.from_matrix(turned * (1 + 1e-9)).shape == (4,)
