"""Pictures: what is where, and what calls refuse."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest
from messages import has_words, message

import dtau
import dtau.viewer
from dtau.viewer.rasterizer import rasterize
from dtau.viewer.solids import ellipsoid

SIZE = (80, 60)
MODEL = dtau.robots.quadruped()


def test_the_nearest_triangle_is_seen() -> None:
    """Against each pixel by itself, of random triangles, small ones and large."""
    rng = np.random.default_rng(0)
    middle = rng.uniform(0, 40, (60, 1, 2))
    places = (middle + rng.standard_normal((60, 3, 2)) * rng.uniform(0.5, 30, (60, 1, 1))).reshape(
        -1, 2
    )
    near = np.repeat(rng.uniform(0.1, 1.0, 60), 3)
    faces = np.arange(180).reshape(-1, 3)
    seen = rasterize(places, near, faces, 40, 30)
    for y in range(30):
        for x in range(40):
            best, nearest = -1, 0.0
            for i, (a, b, c) in enumerate(places[faces]):
                at = np.array([x + 0.5, y + 0.5])
                sides = [np.linalg.det([q - p, at - p]) for p, q in ((a, b), (b, c), (c, a))]
                if (min(sides) >= 0 or max(sides) <= 0) and near[3 * i] > nearest:
                    best, nearest = i, near[3 * i]
            assert seen.face[y * 40 + x] == best
            assert seen.nearness[y * 40 + x] == pytest.approx(nearest)


def test_triangles_that_meet_leave_no_gap() -> None:
    ball = ellipsoid([1, 1, 1])
    seen = rasterize(
        50 + 40.3 * ball.vertices[:, :2], 2 + ball.vertices[:, 2], ball.faces, 100, 100
    )
    y, x = np.divmod(np.arange(10_000), 100)
    inside = np.hypot(x - 49.5, y - 49.5) < 39.0
    assert (seen.face[inside] >= 0).all()
    assert (seen.nearness[inside] >= 2.0).all()


def test_the_robot_is_in_the_middle_and_the_corners_are_white() -> None:
    image = dtau.viewer.picture(MODEL, size=SIZE)
    assert image.shape == (60, 80, 3)
    assert image.dtype == np.uint8
    blue = image[..., 2].astype(int) - image[..., 0] > 40
    rows, columns = np.nonzero(blue)
    assert 0.05 < blue.mean() < 0.6
    assert rows.min() > 0
    assert columns.min() > 0
    assert abs(columns.mean() - 40) < 8
    assert (image[0, [0, -1]] == 255).all()


def test_picture_is_the_same_each_time() -> None:
    one, other = (dtau.viewer.picture(MODEL, size=(40, 30)) for _ in range(2))
    assert (one == other).all()


def test_arrows_and_the_centre_of_mass_are_drawn() -> None:
    f_ext = np.zeros((MODEL.nbodies, 6))
    f_ext[0, 2] = 100.0
    given = {"v": np.ones(MODEL.nv), "f_ext": f_ext, "size": SIZE}
    plain = dtau.viewer.picture(MODEL, arrows=(), **given)
    for name in ("forces", "velocities"):
        assert (dtau.viewer.picture(MODEL, arrows=[name], **given) != plain).any(), name
    none = dtau.viewer.picture(MODEL, arrows=["moments"], **given)
    assert (none == plain).all()


def test_several_configurations_are_in_one_picture() -> None:
    model = dtau.robots.chain(3)
    q = np.stack([dtau.neutral(model), np.full(model.nq, 0.5)])
    assert (dtau.viewer.picture(model, q, size=SIZE) != dtau.viewer.picture(model, size=SIZE)).any()


def test_files_are_png(tmp_path: Path) -> None:
    image = dtau.viewer.picture(MODEL, path=tmp_path / "a.png", size=SIZE)
    data = (tmp_path / "a.png").read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    at = data.index(b"IDAT")
    rows = zlib.decompress(data[at + 4 :][: int.from_bytes(data[at - 4 : at], "big")])
    read = np.frombuffer(rows, np.uint8).reshape(60, -1)
    assert (read[:, 0] == 0).all()
    assert (read[:, 1:].reshape(image.shape) == image).all()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"arrows": ["force"]}, ["arrows", "forces"]),
        ({"size": (0, 10)}, ["size"]),
        ({"size": (10,)}, ["size"]),
        ({"camera": (0.0, 90.0)}, ["camera", "80"]),
        ({"camera": (0.0,)}, ["camera"]),
        ({"q": [0.0]}, ["q", "(1,)"]),
        ({"f_ext_axes": "local"}, ["f_ext_axes", "body"]),
        ({"geometry": ""}, ["geometry"]),
        ({"path": ""}, ["path: expected a path, got ''"]),
        ({"path": "robot.gif"}, ["path", ".png", "robot.gif"]),
    ],
)
def test_picture_refuses_wrong_arguments(changes: dict[str, object], words: list[str]) -> None:
    has_words(message(ValueError, dtau.viewer.picture, MODEL, **changes), *words)


def test_picture_requires_a_model() -> None:
    has_words(message(TypeError, dtau.viewer.picture, "robot.urdf"), "model", "Model")


def test_missing_geometry_is_told() -> None:
    text = MODEL.to_urdf().replace(
        '<link name="LF_SHANK">',
        '<link name="LF_SHANK"><visual><geometry><mesh filename="a.stl"/></geometry></visual>',
    )
    with pytest.warns(dtau.ModelWarning, match="LF_SHANK.*not found") as caught:
        dtau.viewer.picture(MODEL, geometry=text, size=(40, 30))
    assert caught[0].filename == __file__
