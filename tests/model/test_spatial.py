"""Poses, inertias and joint types."""

from __future__ import annotations

import copy
import math
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from compare import TOLERANCE
from numpy.typing import NDArray
from test_pose import JOINTS, random_pose

import dtau

Array = NDArray[np.float64]

ORTHOGONAL = 3e-15  # what R^T R may be off by: a Pose accepts 2.2e-15 as it is


def random_rotation(rng: np.random.Generator) -> Array:
    matrix = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    return np.asarray(matrix * np.sign(np.linalg.det(matrix)))


def random_inertia(rng: np.random.Generator) -> dtau.Inertia:
    """Return the inertia of a cloud of points, so that it is one of a body."""
    points, masses = rng.standard_normal((8, 3)), rng.uniform(0.1, 1, 8)
    com = masses @ points / masses.sum()
    spread = points - com
    second = (masses[:, None] * spread).T @ spread
    return dtau.Inertia(masses.sum(), com, np.trace(second) * np.eye(3) - second)


def matrix_of(inertia: dtau.Inertia) -> Array:
    """The 4x4 pseudo-inertia, which a change of frame turns like a pose: an independent check."""
    second = 0.5 * np.trace(inertia.tensor) * np.eye(3) - inertia.tensor
    first = inertia.mass * inertia.com
    matrix = np.empty((4, 4))
    matrix[:3, :3] = second + np.outer(first, inertia.com)
    matrix[:3, 3] = matrix[3, :3] = first
    matrix[3, 3] = inertia.mass
    return matrix


class TestPose:
    def test_rpy_names_its_arguments(self) -> None:
        for rpy, xyz, name in (((0, 0), (0, 0, 0), "rpy"), ((0, 0, 0), (0, 0), "xyz")):
            with pytest.raises(ValueError, match=rf"^{name}: expected shape \(3,\)"):
                dtau.Pose.from_rpy(rpy, xyz)

    def test_rpy_turns_about_fixed_axes_in_order(self) -> None:
        roll, pitch, yaw = 0.3, -0.7, 2.1
        turns = [
            dtau.Revolute(axis).placement(angle)
            for axis, angle in zip(np.eye(3), (roll, pitch, yaw), strict=True)
        ]
        expected = turns[2] @ turns[1] @ turns[0]
        actual = dtau.Pose.from_rpy((roll, pitch, yaw), (1, 2, 3))
        np.testing.assert_allclose(actual.rotation, expected.rotation, atol=TOLERANCE["rounding"])
        assert actual.translation.tolist() == [1, 2, 3]

    def test_a_truncated_quarter_turn_stays_as_it_is(self) -> None:
        rotation = dtau.Pose.from_rpy((1.5708, 0, 0)).rotation
        assert rotation[1, 1] == math.cos(1.5708) != 0

    @pytest.mark.parametrize("error", [1e-7, 1e-10, 1e-14])
    def test_a_rotation_that_is_nearly_one_becomes_one(self, error: float) -> None:
        rng = np.random.default_rng(1)
        rough = random_rotation(rng) + error * rng.uniform(-1, 1, (3, 3))
        rotation = dtau.Pose(rough).rotation
        np.testing.assert_allclose(rotation.T @ rotation, np.eye(3), atol=ORTHOGONAL)
        np.testing.assert_allclose(rotation, rough, atol=2 * error)

    def test_making_a_pose_of_a_pose_changes_no_bit(self) -> None:
        rng = np.random.default_rng(2)
        for _ in range(200):
            pose = dtau.Pose(random_rotation(rng) + 1e-8 * rng.standard_normal((3, 3)))
            assert dtau.Pose(pose.rotation) == pose

    def test_many_compositions_stay_a_rotation(self) -> None:
        step = dtau.Pose.from_rpy((0.1, 0.2, 0.3))
        pose = dtau.Pose()
        for _ in range(2000):
            pose = pose @ step
        np.testing.assert_allclose(pose.rotation.T @ pose.rotation, np.eye(3), atol=ORTHOGONAL)

    @pytest.mark.parametrize(
        ("rotation", "translation", "message"),
        [
            (np.eye(2), (0, 0, 0), r"rotation: expected shape \(3, 3\), got \(2, 2\)"),
            (np.eye(3), (0, 0), r"translation: expected shape \(3,\), got \(2,\)"),
            (np.eye(3), ((0, 0, 0),), r"translation: expected shape \(3,\), got \(1, 3\)"),
            (1.001 * np.eye(3), (0, 0, 0), "rotation: expected R.T R = 1 within 1e-06"),
            (np.zeros((3, 3)), (0, 0, 0), "rotation: expected R.T R = 1"),
            (np.diag([1, 1, -1]), (0, 0, 0), "rotation: expected determinant 1, got a reflection"),
            (np.full((3, 3), np.nan), (0, 0, 0), "rotation: expected finite numbers"),
            (1e200 * np.eye(3), (0, 0, 0), "rotation: expected R.T R = 1"),
            (np.eye(3), (0, 0, np.inf), "translation: expected finite numbers"),
            (np.eye(3), ((0, 0), (0,), (0,)), r"translation: expected shape \(3,\)"),
        ],
    )
    def test_bad_numbers(self, rotation: Any, translation: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            dtau.Pose(rotation, translation)

    @pytest.mark.parametrize("bad", [(0, 0, 1j), "abc", (None, 0, 0), ("1", "2", "3"), 10**400])
    def test_bad_types(self, bad: Any) -> None:
        with pytest.raises(TypeError, match="translation: expected real numbers, got"):
            dtau.Pose(translation=bad)

    def test_equality_is_exact(self) -> None:
        assert dtau.Pose(translation=(0, 0, 1)) == dtau.Pose(translation=(0, 0, 1))
        assert dtau.Pose(translation=(0, 0, 1)) != dtau.Pose(translation=(0, 0, 1 + 1e-15))
        assert dtau.Pose() != "pose"

    def test_repr_can_be_evaluated(self) -> None:
        pose = random_pose(np.random.default_rng(3))
        assert eval(repr(pose), {"Pose": dtau.Pose}) == pose

    def test_only_poses_compose(self) -> None:
        with pytest.raises(TypeError):
            dtau.Pose() @ (1, 2, 3)  # type: ignore[operator]


class TestInertia:
    def test_transformed_and_sum_are_those_of_pseudo_inertias(self) -> None:
        rng = np.random.default_rng(4)
        for _ in range(20):
            a, b, pose = random_inertia(rng), random_inertia(rng), random_pose(rng)
            x = pose.matrix()
            np.testing.assert_allclose(
                matrix_of(a + b.transformed(pose)),
                matrix_of(a) + x @ matrix_of(b) @ x.T,
                rtol=TOLERANCE["long sums"],
                atol=TOLERANCE["long sums"],
            )

    def test_adding_an_empty_inertia_changes_no_bit(self) -> None:
        inertia = random_inertia(np.random.default_rng(5))
        assert dtau.Inertia() + inertia == inertia
        assert inertia + dtau.Inertia() == inertia
        assert dtau.Inertia() + dtau.Inertia() == dtau.Inertia()

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"mass": -1}, "mass: expected a number of at least 0, got -1.0"),
            ({"mass": math.nan}, "mass: expected finite numbers"),
            ({"mass": math.inf}, "mass: expected finite numbers"),
            ({"mass": (1, 2)}, r"mass: expected shape \(\), got \(2,\)"),
            ({"com": (1, 2)}, r"com: expected shape \(3,\), got \(2,\)"),
            ({"com": (1, math.nan, 3)}, "com: expected finite numbers"),
            ({"tensor": np.eye(4)}, r"tensor: expected shape \(3, 3\)"),
            ({"tensor": np.diag([1, 1, math.inf])}, "tensor: expected finite numbers"),
            ({"tensor": np.diag([1, 1, -0.5])}, "positive semidefinite.*eigenvalue -0.5"),
            ({"tensor": -np.eye(3)}, "positive semidefinite.*eigenvalue -1"),
            ({"tensor": np.diag([1, 1, -1e-8])}, "positive semidefinite"),
            ({"mass": 1e-3, "tensor": np.diag([1e-12, 0, -1e-13])}, "positive semidefinite"),
            ({"tensor": np.eye(3) + np.tri(3, k=-1)}, "tensor: expected a symmetric matrix"),
        ],
    )
    def test_bad_numbers(self, arguments: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            dtau.Inertia(**arguments)

    @pytest.mark.parametrize("argument", ["mass", "com", "tensor"])
    @pytest.mark.parametrize("bad", [1j, "1", None])
    def test_bad_types(self, argument: str, bad: Any) -> None:
        with pytest.raises(TypeError, match=f"{argument}: expected real numbers"):
            dtau.Inertia(**{argument: bad})

    @pytest.mark.parametrize(
        "tensor",
        [
            np.diag([1, 1, -1e-10]),
            np.diag([1, 1, 2 + 1e-7]),
            np.diag([0.0, 1, 1]),
            np.eye(3) + 1e-10 * np.tri(3, k=-1),
            1e-300 * np.eye(3),
            1e300 * np.eye(3),
        ],
    )
    def test_rounding_is_accepted_without_a_word(self, tensor: Array) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            dtau.Inertia(1.0, tensor=tensor)

    def test_negligible_moments_of_a_point_mass_are_rounding(self) -> None:
        tensor = np.zeros((3, 3))
        tensor[0, 2] = tensor[2, 0] = 2.4e-35
        assert dtau.Inertia(1.3, tensor=tensor).mass == 1.3

    def test_a_broken_triangle_inequality_is_a_warning(self) -> None:
        with pytest.warns(dtau.ModelWarning, match="principal moments 1, 1, 2.1 break the tri"):
            dtau.Inertia(1.0, tensor=np.diag([1, 2.1, 1]))

    def test_copies_do_not_warn_again(self) -> None:
        with pytest.warns(dtau.ModelWarning):
            inertia = dtau.Inertia(1.0, tensor=np.diag([1, 3, 1]))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert pickle.loads(pickle.dumps(inertia)) == inertia
            assert (inertia + dtau.Inertia()) == inertia
            inertia.transformed(dtau.Pose())

    def test_repr_can_be_evaluated(self) -> None:
        inertia = random_inertia(np.random.default_rng(6))
        assert eval(repr(inertia), {"Inertia": dtau.Inertia}) == inertia


@pytest.mark.parametrize("value", [dtau.Pose(translation=(1, 2, 3)), dtau.Inertia(2, (0, 0, 1))])
class TestImmutable:
    def test_attributes_cannot_be_set(self, value: dtau.Pose | dtau.Inertia) -> None:
        for name in [*vars(value), "other"]:
            with pytest.raises(AttributeError, match=f"cannot set '{name}': an? .* is immutable"):
                setattr(value, name, 0)
        with pytest.raises(AttributeError, match="cannot delete"):
            delattr(value, next(iter(vars(value))))

    def test_arrays_are_read_only_also_in_copies(self, value: dtau.Pose | dtau.Inertia) -> None:
        for one in (value, pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
            assert one == value
            arrays = [item for item in vars(one).values() if isinstance(item, np.ndarray)]
            assert len(arrays) == 2
            assert not any(array.flags.writeable for array in arrays)


def test_the_callers_array_stays_the_callers() -> None:
    translation = np.zeros(3)
    pose = dtau.Pose(translation=translation)
    translation[0] = 1
    assert pose.translation[0] == 0


class TestJoints:
    @pytest.mark.parametrize("joint", JOINTS, ids=repr)
    def test_placement_moves_along_the_subspace(self, joint: dtau.JointType) -> None:
        """The body's twist is the derivative of the placement, for each velocity alone."""
        neutral = np.zeros(joint.nq)
        if joint.nq >= 4:
            neutral[-1] = 1
        assert joint.placement(neutral) == dtau.Pose()
        subspace = joint.motion_subspace(neutral)
        assert subspace.shape == (6, joint.nv)
        step = 1e-6
        for k in range(joint.nv):
            # At the neutral configuration a velocity is the rate of q, a quaternion's twice.
            dq = np.zeros(joint.nq)
            turns = joint.nv - k <= 3 and joint.nq > joint.nv
            dq[k] = 0.5 * step if turns else step
            if joint.nq > joint.nv:
                dq[-1] = math.sqrt(1 - dq[-4:-1] @ dq[-4:-1]) - 1
            pose = joint.placement(neutral + dq)
            skew = (pose.rotation - pose.rotation.T) / (2 * step)
            twist = [*(pose.translation / step), skew[2, 1], skew[0, 2], skew[1, 0]]
            np.testing.assert_allclose(twist, subspace[:, k], atol=1e-9)  # the step's rounding

    @pytest.mark.parametrize("angle", [0.3, -2.0, math.pi, 40.0])
    def test_half_angles_of_a_quaternion_are_the_angle_of_a_revolute(self, angle: float) -> None:
        axis = np.array(dtau.Revolute((1, 2, -2)).axis)
        quaternion = [*(math.sin(angle / 2) * axis), math.cos(angle / 2)]
        turned = dtau.Revolute(axis).placement(angle).rotation
        np.testing.assert_allclose(
            dtau.Spherical().placement(quaternion).rotation, turned, atol=TOLERANCE["rounding"]
        )
        free = dtau.Free().placement([1, 2, 3, *quaternion])
        np.testing.assert_allclose(free.rotation, turned, atol=TOLERANCE["rounding"])
        assert free.translation.tolist() == [1, 2, 3]

    @pytest.mark.parametrize(
        "axis", [(3, 0, 4), (3e-200, 0, 4e-200), (3e200, 0, 4e200), (3e-320, 0, 4e-320)]
    )
    def test_axes_become_unit_vectors(self, axis: tuple[float, float, float]) -> None:
        assert dtau.Revolute(axis).axis == pytest.approx((0.6, 0, 0.8), rel=1e-3)  # subnormals
        assert math.hypot(*dtau.Prismatic(axis).axis) == pytest.approx(1, rel=TOLERANCE["rounding"])

    def test_a_unit_axis_keeps_its_bits(self) -> None:
        rng = np.random.default_rng(7)
        for _ in range(200):
            x, y, z = rng.standard_normal(3).tolist()
            axis = dtau.Revolute((x, y, z)).axis
            assert dtau.Revolute(axis).axis == axis

    @pytest.mark.parametrize(
        ("axis", "message"),
        [
            ((0, 0, 0), "axis: expected a nonzero vector"),
            ((0, 1), r"axis: expected shape \(3,\), got \(2,\)"),
            ((0, math.nan, 1), "axis: expected finite numbers"),
            ((0, 0, math.inf), "axis: expected finite numbers"),
        ],
    )
    @pytest.mark.parametrize("kind", [dtau.Revolute, dtau.Prismatic, dtau.Helical])
    def test_bad_axes(self, kind: Any, axis: Any, message: str) -> None:
        rest = (0.1,) if kind is dtau.Helical else ()
        with pytest.raises(ValueError, match=message):
            kind(axis, *rest)

    def test_bad_pitch(self) -> None:
        with pytest.raises(ValueError, match="pitch: expected finite numbers"):
            dtau.Helical((0, 0, 1), math.nan)

    @pytest.mark.parametrize(
        ("joint", "q", "message"),
        [
            (dtau.Revolute((0, 0, 1)), (1, 2), r"q: expected a number, got shape \(2,\)"),
            (dtau.Revolute((0, 0, 1)), math.nan, "q: expected finite numbers"),
            (dtau.Spherical(), (0, 0, 1), r"q: expected shape \(4,\), got \(3,\)"),
            (dtau.Spherical(), (0, 0, 0, 1.1), "quaternion: expected norm 1 within 1e-06, got"),
            (dtau.Spherical(), (0, 0, 0, 0), "quaternion: expected norm 1"),
            (dtau.Free(), (0, 0, 0, 0, 0, 0, 2), "quaternion: expected norm 1"),
            (dtau.Free(), 1.0, r"q: expected shape \(7,\), got \(\)"),
        ],
    )
    def test_bad_coordinates(self, joint: dtau.JointType, q: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            joint.placement(q)

    def test_joints_are_values(self) -> None:
        assert dtau.Revolute((0, 0, 2)) == dtau.Revolute((0, 0, 1))
        assert dtau.Revolute((0, 0, 1)) != dtau.Prismatic((0, 0, 1))  # type: ignore[comparison-overlap]
        assert len({dtau.Free(), dtau.Free(), dtau.Spherical()}) == 2
        for joint in JOINTS:
            assert pickle.loads(pickle.dumps(joint)) == joint
        with pytest.raises(AttributeError):
            dtau.Revolute((0, 0, 1)).axis = (1.0, 0.0, 0.0)  # type: ignore[misc]


def test_asymmetric_by_more_than_the_largest_number() -> None:
    """Without a warning of NumPy's: the difference of the two numbers overflows."""
    tensor = np.eye(3)
    tensor[1, 2], tensor[2, 1] = 1.7e308, -1.7e308
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="tensor: expected a symmetric matrix"):
            dtau.Inertia(1.0, tensor=tensor)
