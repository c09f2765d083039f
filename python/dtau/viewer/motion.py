"""Compute all poses and arrows of a motion before it is shown: `motion`.

One call computes each quantity for the whole trajectory; showing a frame only reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dtau.functions.centroidal import center_of_mass
from dtau.functions.centroidal_momentum import centroidal_momentum
from dtau.functions.frames import forward_kinematics, frame_placements, frame_velocities
from dtau.functions.manifold_states import neutral
from dtau.model.model import Model
from dtau.support.arrays import Array
from dtau.support.checks import batch_arrays
from dtau.support.options import Axes, require_option
from dtau.viewer.meshfiles import Color
from dtau.viewer.parts import reach

ARROWS: dict[str, Color] = {
    "forces": (0.86, 0.2, 0.18),
    "moments": (0.95, 0.6, 0.1),
    "velocities": (0.13, 0.59, 0.35),
    "angular velocities": (0.45, 0.75, 0.2),
    "momentum": (0.5, 0.25, 0.75),
    "angular momentum": (0.85, 0.3, 0.7),
}
_SHORTEST = 0.02  # relative to the longest arrow: shorter ones are left out
_LONGEST = 0.45  # length of the longest arrow, relative to the robot's reach


class Arrows(NamedTuple):
    """Arrows of one kind, along the world's axes."""

    starts: Array  # (T, n, 3): points where the arrows begin
    vectors: Array  # (T, n, 3): shown quantities, as lengths in meters
    unit: float  # amount of the quantity that is one meter
    shortest: float  # arrows shorter than this, in meters, are left out

    def ends(self, frame: int) -> Array:
        """Return start and end of the arrows of a frame (n, 2, 3), without the tiny ones."""
        starts, vectors = self.starts[frame], self.vectors[frame]
        lengths = np.linalg.norm(vectors, axis=-1)
        seen = lengths >= self.shortest
        starts = np.broadcast_to(starts, vectors.shape)[seen]
        return np.stack([starts, starts + vectors[seen]], axis=-2)


class Motion(NamedTuple):
    """A trajectory of T configurations, or a single one."""

    model: Model
    q: Array  # (T, nq)
    v: Array | None  # (T, nv)
    f_ext: Array | None  # (T, nframes, 6)
    frames: tuple[str, ...]  # at which the wrenches act
    axes: Axes  # of the wrenches
    rotation: Array  # (T, nbodies, 3, 3): of the bodies, in the world
    translation: Array  # (T, nbodies, 3)
    center_of_mass: Array | None  # (T, 3); None for a robot without mass
    arrows: dict[str, Arrows]  # by quantity, a key of `ARROWS`

    @property
    def length(self) -> int:
        """The number of configurations T."""
        return len(self.q)

    def at(self, q: Array, frame: int) -> Motion:
        """Return the single configuration q, with the velocities and wrenches of a frame."""
        v = None if self.v is None else self.v[frame]
        f_ext = None if self.f_ext is None else self.f_ext[frame]
        wrenches = Wrenches(self.frames, f_ext, self.axes)
        units = {name: arrows.unit for name, arrows in self.arrows.items()}
        return _motion(self.model, q, v, wrenches, units)


def motion(
    model: Model,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None,
    f_ext_axes: Axes = "body",
) -> Motion:
    """Compute all quantities that are shown of a motion.

    Parameters
    ----------
    model : Model
    q : array_like (nq,) or (T, nq), optional
        Configurations; by default the neutral one.
    v : array_like (nv,) or (T, nv), optional
        Velocities, for arrows of twists and momentum.
    f_ext : array_like (nbodies, 6) or (T, nbodies, 6), optional
        Wrenches on the bodies, in the axes `f_ext_axes`; or a mapping from names of frames to
        wrenches, each (6,) or (T, 6).
    f_ext_axes : {"body", "mixed", "world"}

    Raises
    ------
    ValueError, TypeError
        If a shape is wrong, a number is not finite, or an option is unknown.
    """
    require_option("f_ext_axes", f_ext_axes, Axes)
    if not isinstance(f_ext, Mapping):
        wrenches = Wrenches(model.bodies, f_ext, f_ext_axes)
    else:
        frames = {model.frame(name).name: value for name, value in f_ext.items()}
        _, each = batch_arrays({f"f_ext[{name!r}]": (w, (6,)) for name, w in frames.items()})
        shape = np.broadcast_shapes((), *(np.shape(value)[:-1] for value in frames.values()))
        stacked = np.stack(each, axis=1).reshape(*shape, len(each), 6) if each else None
        wrenches = Wrenches(tuple(frames), stacked, f_ext_axes)
    return _motion(model, neutral(model) if q is None else q, v, wrenches, {})


class Wrenches(NamedTuple):
    """Wrenches (..., nframes, 6) at frames, along axes."""

    frames: tuple[str, ...]
    values: ArrayLike | None
    axes: Axes


def _motion(
    model: Model, q: ArrayLike, v: ArrayLike | None, wrenches: Wrenches, units: dict[str, float]
) -> Motion:
    arrays: dict[str, tuple[ArrayLike, tuple[int, ...]]] = {"q": (q, (model.nq,))}
    if v is not None:
        arrays["v"] = (v, (model.nv,))
    if wrenches.values is not None:
        arrays["f_ext"] = (wrenches.values, (len(wrenches.frames), 6))
    batch, read = batch_arrays(arrays)
    if len(batch) > 1 or 0 in batch:
        expected = "one configuration (nq,) or at least one frame (T, nq)"
        raise ValueError(f"q: expected {expected}, got the batch {batch}")
    given = dict(zip(arrays, read, strict=True))
    for name, array in given.items():
        if not np.isfinite(array).all():
            raise ValueError(f"{name}: expected finite numbers")
        given[name] = array.copy()  # the caller may change the original
    q_read, v_read, f_read = given["q"], given.get("v"), given.get("f_ext")
    rotation, translation = forward_kinematics(model, q_read)
    com = center_of_mass(model, q_read) if model.mass > 0 else None
    kinds: dict[str, tuple[Array, Array]] = {}
    if f_read is not None:
        at = frame_placements(model, q_read, wrenches.frames)
        force, moment = _along_the_world(f_read, wrenches.axes, *at)
        kinds["forces"], kinds["moments"] = (at.translation, force), (at.translation, moment)
    if v_read is not None:
        twists = frame_velocities(model, q_read, v_read, model.bodies, "mixed")
        kinds["velocities"] = (translation, twists[..., :3])
        kinds["angular velocities"] = (translation, twists[..., 3:])
        if com is not None:
            momentum = centroidal_momentum(model, q_read, v_read)[:, None]
            kinds["momentum"] = (com[:, None], momentum[..., :3])
            kinds["angular momentum"] = (com[:, None], momentum[..., 3:])
    longest = _LONGEST * reach(model)
    arrows = {}
    for name, (starts, vectors) in kinds.items():
        unit = units.get(name) or float(np.linalg.norm(vectors, axis=-1).max()) / longest
        if unit > 0:
            arrows[name] = Arrows(starts, vectors / unit, unit, _SHORTEST * longest)
    return Motion(
        model,
        q_read,
        v_read,
        f_read,
        wrenches.frames,
        wrenches.axes,
        rotation,
        translation,
        com,
        arrows,
    )


def _along_the_world(
    f_ext: Array, axes: Axes, rotation: Array, place: Array
) -> tuple[Array, Array]:
    """Return forces and moments along the world's axes, at the frames' origins."""
    force, moment = f_ext[..., :3], f_ext[..., 3:]
    if axes == "body":
        return tuple((rotation @ part[..., None])[..., 0] for part in (force, moment))  # type: ignore[return-value]
    if axes == "world":
        moment = moment - np.cross(place, force)
    return force, moment
