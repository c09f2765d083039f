"""Motion of contacts of convex geoms by their curvature, against nearest points that move."""

from __future__ import annotations

import numpy as np
import pytest
from trees import Array

mujoco = pytest.importorskip("mujoco")
optimize = pytest.importorskip("scipy.optimize")
from dtau.mujoco.convex_contacts import Placed, convex_motion  # noqa: E402

SIZES = {
    "sphere": (0.1, 0.0, 0.0),
    "capsule": (0.07, 0.15, 0.0),
    "ellipsoid": (0.1, 0.12, 0.16),
    "cylinder": (0.1, 0.12, 0.0),
    "box": (0.1, 0.12, 0.14),
}


def kind(name: str) -> int:
    return int(getattr(mujoco.mjtGeom, f"mjGEOM_{name.upper()}"))


def rotation(rng: np.random.Generator) -> Array:
    out = np.empty(9)
    mujoco.mju_quat2Mat(out, rng.normal(size=4) / 2.0)
    return np.linalg.qr(out.reshape(3, 3))[0]


def support(name: str, n: Array) -> Array:
    """Return the point of a geom that is farthest along n."""
    size = np.array(SIZES[name])
    if name == "ellipsoid":
        return np.asarray(size**2 * n / np.linalg.norm(size * n))
    if name == "box":
        return np.asarray(size * np.sign(n))
    if name == "cylinder":
        across = np.hypot(n[0], n[1])
        return np.array([*(size[0] * n[:2] / across), size[1] * np.sign(n[2])])
    end = size[1] * np.sign(n[2]) if name == "capsule" else 0.0
    return np.asarray(size[0] * n / np.linalg.norm(n) + [0.0, 0.0, end])


def moved(names: tuple[str, str], one: Placed, other: Placed, start: Array) -> Array:
    """Return point, normal and distance of the nearest points, from [normal, distance]."""

    def points(n: Array) -> tuple[Array, Array]:
        first = one.position + one.rotation @ support(names[0], one.rotation.T @ n)
        second = other.position + other.rotation @ support(names[1], -(other.rotation.T @ n))
        return first, second

    def apart(x: Array) -> Array:
        first, second = points(x[:3])
        return np.array([*(second - first - x[3] * x[:3]), x[:3] @ x[:3] - 1.0])

    found = optimize.root(apart, start, tol=1e-14).x
    first, second = points(found[:3])
    return np.array([*(0.5 * (first + second)), *found])


def displaced(geom: Placed, change: Array) -> Placed:
    quaternion, turn = np.empty(4), np.empty(9)
    angle = float(np.linalg.norm(change[3:]))
    mujoco.mju_axisAngle2Quat(quaternion, change[3:] / max(angle, 1e-9), angle)
    mujoco.mju_quat2Mat(turn, quaternion)
    return geom._replace(
        position=geom.position + change[:3], rotation=turn.reshape(3, 3) @ geom.rotation
    )


@pytest.mark.parametrize("distance", [-0.01, 0.02])
@pytest.mark.parametrize(
    "names",
    [
        *(("ellipsoid", other) for other in SIZES),
        *(("cylinder", other) for other in ("sphere", "capsule", "ellipsoid")),
        ("sphere", "capsule"),
    ],
    ids="-".join,
)
def test_nearest_points(names: tuple[str, str], distance: float) -> None:
    rng = np.random.default_rng(len(names[0]) + len(names[1]))
    for _ in range(5):
        normal = rng.normal(size=3)
        normal /= np.linalg.norm(normal)
        turns = rotation(rng), rotation(rng)
        first = turns[0] @ support(names[0], turns[0].T @ normal)
        second = turns[1] @ support(names[1], -(turns[1].T @ normal))
        one, other = (
            Placed(kind(name), np.array(SIZES[name]), place, turn)
            for name, place, turn in zip(
                names, (np.zeros(3), first + distance * normal - second), turns, strict=True
            )
        )
        found = convex_motion((one, other), first + 0.5 * distance * normal, normal, distance)
        assert found is not None
        start, step = np.array([*normal, distance]), 1e-5
        changes = step * np.eye(6)
        expected = np.stack(
            [
                moved(names, one, displaced(other, x), start)
                - moved(names, one, displaced(other, -x), start)
                for x in changes
            ],
            axis=1,
        ) / (2.0 * step)
        np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


def placed(name: str, position: tuple[float, float, float], turn: Array | None = None) -> Placed:
    turn = np.eye(3) if turn is None else turn
    return Placed(kind(name), np.array(SIZES[name]), np.array(position), turn)


UP = np.array([0.0, 0.0, 1.0])


@pytest.mark.parametrize(
    ("below", "above", "point"),
    [
        ("box", "cylinder", (0.05, 0.0, 0.14)),  # a face on a face
        ("box", "box", (0.1, 0.05, 0.14)),  # at an edge of the face that touches
        ("box", "sphere", (0.1, 0.0, 0.14)),
    ],
)
def test_contacts_in_more_than_a_point_have_no_motion(
    below: str, above: str, point: tuple[float, float, float]
) -> None:
    top = SIZES[above][0 if above == "sphere" else 1 if above == "cylinder" else 2]
    place = point[0] if above == "sphere" else 0.0, 0.0, 0.14 + top
    geoms = placed(below, (0.0, 0.0, 0.0)), placed(above, place)
    assert convex_motion(geoms, np.array(point), UP, 0.0) is None


def test_a_lying_cylinder_on_a_sphere_rolls() -> None:
    """The normal turns with the sphere's point, and along the cylinder with the cylinder."""
    lying = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    geoms = placed("sphere", (0.0, 0.0, -0.1)), placed("cylinder", (0.0, 0.0, 0.1), lying)
    found = convex_motion(geoms, np.zeros(3), UP, 0.0)
    assert found is not None
    np.testing.assert_allclose(found[6], [0, 0, 1, 0, 0, 0], atol=1e-6)
    np.testing.assert_allclose(found[3], [0, 0, 0, 0, 1, 0], atol=1e-6)  # tilts with the axis
    np.testing.assert_allclose(found[4], [0, 5, 0, 0, 0, 0], atol=1e-5)  # 1 / (0.1 + 0.1)
