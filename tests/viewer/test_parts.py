"""Bodies without geometry: ellipsoids of inertia, axes of joints."""

from __future__ import annotations

import numpy as np
import pytest
from compare import assert_close

import dtau
from dtau import _core
from dtau.viewer import solids
from dtau.viewer.parts import joint_axes, looks, reach, semiaxes
from dtau.viewer.rotations import relative


def test_the_ellipsoid_has_the_bodys_inertia() -> None:
    """By the second moments of the triangles' tetrahedra, of its mesh."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        points = rng.standard_normal((20, 3)) * [0.1, 0.3, 0.5]
        moments = points.T @ points / 20
        body = dtau.Inertia(
            3.0, rng.standard_normal(3), 3.0 * (np.trace(moments) * np.eye(3) - moments)
        )
        radii, frame = semiaxes(body)
        turn = frame.rotation
        about = 3.0 / 5.0 * (radii @ radii * np.eye(3) - np.diag(radii**2))
        assert_close(turn @ about @ turn.T, body.tensor, 1e-12)
        assert np.linalg.det(turn) == pytest.approx(1.0)
        mesh = solids.ellipsoid(radii).transformed(frame)
        mass, centre, tensor = solid_inertia(mesh, 3.0 / (4 / 3 * np.pi * radii.prod()))
        assert mass == pytest.approx(3.0, rel=0.02)
        assert_close(centre, body.com, 1e-9)
        assert_close(tensor, body.tensor, 0.04)


def solid_inertia(mesh: solids.Mesh, density: float) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, center and inertia about it of what a closed mesh holds."""
    corners = mesh.vertices[mesh.faces]
    volumes = np.linalg.det(corners) / 6
    centre = (volumes[:, None] * corners.sum(axis=1) / 4).sum(axis=0) / volumes.sum()
    corners = corners - centre
    volumes = np.linalg.det(corners) / 6
    sums = corners.sum(axis=1)
    second = np.einsum("n,nki,nkj->ij", volumes, corners, corners)
    second = (second + np.einsum("n,ni,nj->ij", volumes, sums, sums)) / 20
    return (density * volumes.sum(), centre, density * (np.trace(second) * np.eye(3) - second))


@pytest.mark.filterwarnings("ignore::dtau.ModelWarning")
def test_inertias_that_no_body_has_are_shown_flat() -> None:
    radii, _ = semiaxes(dtau.Inertia(1.0, tensor=np.diag([1.0, 1.0, 3.0])))
    assert radii.min() == 0.0
    assert np.isfinite(radii).all()


@pytest.mark.filterwarnings("ignore::dtau.ModelWarning")
def test_every_kind_of_joint_and_bodies_without_mass_can_be_shown() -> None:
    kinds = ["revolute", "prismatic", "helical", "spherical", "free", "cylindrical", "planar"]
    model = dtau.robots.chain(9, joints=[*kinds, "universal"])
    parts = looks(model).parts
    assert {part.body for part in parts} == set(range(model.nbodies))
    for joint in model.joints:
        axes = joint_axes(joint)
        assert all(np.linalg.norm(axis) == pytest.approx(1.0) for axis, _ in axes)
    builder = dtau.ModelBuilder("points")
    builder.add(dtau.Revolute((0, 0, 1)), name="none")
    builder.add(dtau.Revolute((0, 1, 0)), name="point", parent="none", inertia=dtau.Inertia(1.0))
    for part in looks(builder.build()).parts:
        assert np.isfinite(part.mesh.vertices).all()
        assert np.isfinite(part.mesh.normals).all()


@pytest.mark.filterwarnings("ignore::dtau.ModelWarning")
def test_the_reach_is_that_of_the_robot() -> None:
    builder = dtau.ModelBuilder("rod")
    rod = dtau.Inertia(1.0, (0, 0, 0.5), np.diag([1 / 12, 1 / 12, 0.0]))
    builder.add(dtau.Revolute((0, 1, 0)), name="a", inertia=rod)
    builder.add(
        dtau.Revolute((0, 1, 0)), name="b", parent="a", placement=dtau.Pose(translation=(0, 0, 1))
    )
    assert 1.0 <= reach(builder.build()) <= 1.2


def test_poses_in_the_parents_frames_lead_back_to_those_in_the_world() -> None:
    model = dtau.robots.chain(8, branching=2, root="free", joints=["revolute", "spherical"])
    q = dtau.random_state(model, np.random.default_rng(0), shape=(6,)).q
    rotation, translation = dtau.forward_kinematics(model, q)
    wxyz, place = relative([joint.parent for joint in model.joints], rotation, translation)
    for frame in range(6):
        poses: list[dtau.Pose] = []
        for body, joint in enumerate(model.joints):
            step = dtau.Pose.from_quaternion(wxyz[frame, body], place[frame, body], order="wxyz")
            poses.append(step if joint.parent < 0 else poses[joint.parent] @ step)
        assert_close(np.stack([p.rotation for p in poses]), rotation[frame], 1e-12)
        assert_close(np.stack([p.translation for p in poses]), translation[frame], 1e-12)


def test_quaternions_of_half_turns() -> None:
    for axis in np.eye(3):
        half = 2 * np.outer(axis, axis) - np.eye(3)
        assert_close(
            np.abs(_core.rotation_from_matrix(half)), np.array([*axis, 0.0]), 1e-15, floor=1.0
        )


@pytest.mark.parametrize(
    "mesh", [solids.cylinder(0.3, 2.0), solids.box([1, 2, 3]), solids.arrow(0.1, 1.0)]
)
def test_edges_stay_sharp_and_round_sides_smooth(mesh: solids.Mesh) -> None:
    a, b, c = mesh.vertices[mesh.faces].transpose(1, 0, 2)
    flat = np.cross(b - a, c - a)
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    aligned = np.einsum("nj,nkj->nk", flat, mesh.normals[mesh.faces])
    assert aligned.min() > 0.9
