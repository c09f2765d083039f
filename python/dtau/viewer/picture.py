"""Draw pictures of robots, without a screen or browser: `picture`."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau.model.model import Model
from dtau.model.pose import Pose
from dtau.support.checks import integer, real_array, require, tuple_of, unknown_name
from dtau.support.files import require_path, write_file
from dtau.support.options import Axes
from dtau.viewer import shading, solids
from dtau.viewer.controls import start
from dtau.viewer.folders import Paths
from dtau.viewer.meshfiles import Color
from dtau.viewer.motion import ARROWS, Motion, motion
from dtau.viewer.parts import looks, reach, warn_of_missing

_MASS = "center of mass"
_GOLD = (0.9, 0.7, 0.08)
_THICK = 0.035  # thickness of an arrow, relative to the reach


def picture(
    model: Model,
    q: ArrayLike | str | None = None,
    path: str | os.PathLike[str] | None = None,
    *,
    v: ArrayLike | None = None,
    f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None,
    f_ext_axes: Axes = "body",
    arrows: Iterable[str] = ("forces", "moments", "velocities"),
    geometry: str | os.PathLike[str] | None = None,
    meshes: Paths = (),
    size: tuple[int, int] = (800, 600),
    camera: tuple[float, float] = (-40.0, 18.0),
) -> NDArray[np.uint8]:
    """Draw a robot as an image, shaded and with its shadow on a floor, as `dtau.view` shows it.

    Parameters
    ----------
    model : Model
    q : array_like (nq,) or (T, nq), or str, optional
        Configuration, or several, which are drawn in one picture; or the name of one in
        ``model.postures``; by default the neutral one, within the joints' limits.
    path : str or path-like, optional
        PNG file to write, named ``*.png``.
    v, f_ext, f_ext_axes
        As `dtau.view`.
    arrows : iterable of str
        Quantities to show: ``"forces"`` and ``"moments"`` for `f_ext`; ``"velocities"`` and
        ``"angular velocities"`` of the bodies, ``"momentum"`` and ``"angular momentum"`` for `v`;
        and ``"center of mass"``, as a ball.
    geometry, meshes
        As `dtau.view`.
    size : tuple of int
        Width and height in pixels.
    camera : tuple of float
        Direction of the camera, in degrees: the angle about the vertical from the world's x, and
        the angle above the floor, between -80 and 80.

    Returns
    -------
    ndarray (height, width, 3)
        Red, green and blue, 0 to 255.

    Raises
    ------
    OSError
        If a file or folder cannot be read or written.
    ImportError
        If there are meshes to read and trimesh is missing.
    ModelError, ValueError, TypeError
        If the geometry is not a URDF or MJCF, or an argument is not as described.

    Notes
    -----
    The floor is at the lowest point of the picture. A body without geometry is drawn as the
    ellipsoid of uniform density with its mass and principal moments of inertia.

    Examples
    --------
    >>> import dtau
    >>> import dtau.viewer
    >>> image = dtau.viewer.picture(dtau.robots.quadruped(), size=(160, 120))
    >>> image.shape
    (120, 160, 3)
    """
    require("model", model, Model)
    wanted = tuple_of("arrows", arrows, str, "names")
    for name in wanted:
        if name not in (*ARROWS, _MASS):
            raise unknown_name("arrows", name, (*ARROWS, _MASS))
    if path is not None and not (path := require_path("path", path)).lower().endswith(".png"):
        raise ValueError(f"path: expected a name that ends in .png, got {path!r}")
    numbers = tuple_of("size", size, object, "width and height")
    if len(numbers) != 2:
        raise ValueError(f"size: expected width and height, got {size!r:.80}")
    width, height = (integer("size", number, 1, 10_000) for number in numbers)
    azimuth, elevation = real_array("camera", camera, (2,)).tolist()
    if abs(elevation) > 80:
        raise ValueError(f"camera: expected at most 80 degrees above the floor, got {elevation}")
    shown = motion(model, start(model, q), v, f_ext, f_ext_axes)
    parts, notes = looks(model, geometry, meshes)
    warn_of_missing(model, notes)
    pieces = [
        (part.mesh.transformed(_pose(shown, frame, part.body)), part.color)
        for frame in range(shown.length)
        for part in parts
    ]
    if not pieces:
        raise ValueError("model: expected something to draw, got no body with geometry or joint")
    floor = min(float(mesh.vertices[:, 2].min()) for mesh, _ in pieces)
    scene = shading.scene_of(pieces, _pointers(shown, wanted))
    view = shading.looking_at(scene.mesh.vertices, azimuth, elevation, width / height)
    image = shading.render(scene, view, floor, (width, height))
    if path is not None:
        write_file(path, png(image))
    return image


def _pose(shown: Motion, frame: int, body: int) -> Pose:
    if body < 0:
        return Pose()
    return Pose(shown.rotation[frame, body], shown.translation[frame, body])


def _pointers(shown: Motion, wanted: tuple[str, ...]) -> list[tuple[solids.Mesh, Color]]:
    """Make the arrows, and the ball at the center of mass."""
    size = reach(shown.model)
    pieces = []
    for name in dict.fromkeys(wanted):
        if name == _MASS and shown.center_of_mass is not None:
            ball = solids.ellipsoid([0.03 * size] * 3)
            pieces += [
                (ball.transformed(Pose(translation=place)), _GOLD) for place in shown.center_of_mass
            ]
        elif name in shown.arrows:
            for begin, end in (
                ends for i in range(shown.length) for ends in shown.arrows[name].ends(i)
            ):
                length = float(np.linalg.norm(end - begin))
                pose = Pose(translation=begin) @ solids.along(end - begin)
                pieces.append((solids.arrow(_THICK * size, length).transformed(pose), ARROWS[name]))
    return pieces


def png(image: NDArray[np.uint8]) -> bytes:
    """Encode an image (height, width, 3) as PNG."""
    height, width, _ = image.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), image.reshape(height, -1)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
