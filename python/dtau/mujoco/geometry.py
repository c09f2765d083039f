"""Differentiate where geoms touch: `contact_motion`.

MuJoCo's contact has the normal n from geom 1 to geom 2, the point p halfway between the surfaces
and two tangents. With the half distance r_i = (radius of the sphere or capsule i) + dist / 2:

- a plane and a point c of body 2 (of a sphere, capsule, box or mesh):  p = c - r_2 n.  On an
  ellipsoid or cylinder, c slides: `_slides_on_planes`;
- two spheres or capsules, whose nearest points on the centers or axes are c_i:
  p = c_1 + r_1 n,  n = (c_2 - c_1) / (r_1 + r_2).  Inside an axis, c_i slides along it, so that the
  line between the c_i stays orthogonal to the axis;
- a sphere and a box or cylinder: likewise, where c_2 is the point of the surface next to the
  center c_1. It slides with c_1: `_slides_on_solids`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from dtau.mujoco.plan import Plan
from dtau.mujoco.scope import not_covered
from dtau.mujoco.solved import Contacts
from dtau.mujoco.vectors import skew

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_PLANE, _SPHERE, _CAPSULE, _BOX, _MESH, _ELLIPSOID, _CYLINDER = (
    int(getattr(mujoco.mjtGeom, f"mjGEOM_{name}"))
    for name in ("PLANE", "SPHERE", "CAPSULE", "BOX", "MESH", "ELLIPSOID", "CYLINDER")
)
# By the type of the geom, `mujoco.mjtGeom`.
_ROUND, _ON_PLANES = np.zeros((2, 64), dtype=bool)
_ROUND[[_SPHERE, _CAPSULE]] = True
_ON_PLANES[[_SPHERE, _CAPSULE, _BOX, _MESH, _ELLIPSOID, _CYLINDER]] = True
_END = 1e-9  # how close to its end, relative to its length, a capsule's nearest point counts as it


class ContactMotion(NamedTuple):
    """Derivatives by q.

    Attributes
    ----------
    point, turn : ndarray (n, 3, nv)
        Displacement of the contact point and rotation of the frame, along the world's axes.
    distance : ndarray (n, nv)
        Derivative of the distance. In general it is the motion of the bodies along the normal, but
        MuJoCo measures some distances elsewhere than between nearest points.
    """

    point: Array
    turn: Array
    distance: Array


Differences = Callable[[Contacts, Array], ContactMotion]


class Shapes:
    """Shapes of the geoms of contacts.

    Attributes
    ----------
    masks : ndarray (n, 2, nv)
        1 where a degree of freedom moves the geom.
    types : ndarray (n, 2)
        `mujoco.mjtGeom`.
    radius, half : ndarray (n, 2)
        Radius of spheres and capsules, else 0; half length of the axis of capsules, else 0.
    axes, centers : ndarray (n, 2, 3)
        Axes and positions of the geoms.
    frames : ndarray (n, 2, 3, 3)
        Orientations of the geoms.
    sizes : ndarray (n, 2, 3)
    """

    def __init__(self, plan: Plan, mj_model: Any, solved: Any, contacts: Contacts) -> None:
        geom = contacts.geom
        self.masks = plan.ancestors[mj_model.geom_bodyid[geom]]
        self.types = mj_model.geom_type[geom]
        size = mj_model.geom_size[geom]
        capsules = self.types == _CAPSULE
        self.radius = np.where(capsules | (self.types == _SPHERE), size[..., 0], 0.0)
        self.half = np.where(capsules, size[..., 1], 0.0)
        self.frames, self.centers, self.sizes = solved.geom_frames, solved.geom_centers, size
        self.axes = self.frames[..., 2]

    def chosen(self, some: Any) -> Shapes:
        """Return the shapes of some of the contacts."""
        out = object.__new__(Shapes)
        vars(out).update({name: value[some] for name, value in vars(self).items()})
        return out


def contact_motion(
    shapes: Shapes, contacts: Contacts, jacobian: Array, differences: Differences | None
) -> ContactMotion:
    """Return the motion of contact points and frames.

    `jacobian`: twists of the bodies at the contact points, (n, 2, 6, nv). `differences` computes
    the motion for pairs of geoms that have no formula; if None, they are refused.
    """
    first, second = shapes.types.T
    planes = (first == _PLANE) & _ON_PLANES[second]
    lines = _ROUND[shapes.types].all(axis=1)
    solids = (first == _SPHERE) & ((second == _BOX) | (second == _CYLINDER))
    if solids.any():
        solids[solids] = _slides_on_solids(shapes.chosen(solids), contacts.chosen(solids))[1]
    if planes.all():
        return _on_planes(shapes, contacts, jacobian)
    if lines.all():
        return _between_lines(shapes, contacts, jacobian)
    n, nv = len(first), jacobian.shape[-1]
    out = ContactMotion(np.empty((n, 3, nv)), np.empty((n, 3, nv)), np.empty((n, nv)))
    others = ~(planes | lines | solids)
    if others.any():
        if differences is None:
            kinds = shapes.types[others][0]
            names = " and ".join(mujoco.mjtGeom(kind).name[7:].lower() for kind in kinds)
            raise not_covered(f"contacts of {names}, unless geometry='differences'")
        found = differences(contacts.chosen(others), jacobian[others])
        _put(out, others, found)
    for some, function in (
        (planes, _on_planes),
        (lines, _between_lines),
        (solids, _between_spheres_and_solids),
    ):
        if some.any():
            found = function(shapes.chosen(some), contacts.chosen(some), jacobian[some])
            _put(out, some, found)
    return out


def _put(out: ContactMotion, some: Any, part: ContactMotion) -> None:
    for whole, values in zip(out, part, strict=True):
        whole[some] = values


def _on_planes(shapes: Shapes, contacts: Contacts, jacobian: Array) -> ContactMotion:
    apart = jacobian[:, 1] - jacobian[:, 0]
    normal = contacts.frame[:, 0]
    across = skew(normal)
    depth = (0.5 * contacts.dist + shapes.radius[:, 1])[:, np.newaxis, np.newaxis]
    nearer = _dot(normal, apart[:, :3])
    point = jacobian[:, 1, :3] - depth * (across @ apart[:, 3:])
    curved = (shapes.types[:, 1] == _ELLIPSOID) | (shapes.types[:, 1] == _CYLINDER)
    if curved.any():
        slides = _slides_on_planes(shapes, contacts, -across @ apart[:, 3:])
        point += slides
        nearer += _dot(normal, slides)
    point -= 0.5 * normal[:, :, np.newaxis] * nearer[:, np.newaxis]
    normals = -across @ jacobian[:, 0, 3:]
    # The first tangent is along the axis of a capsule.
    capsules = shapes.types[:, 1] == _CAPSULE
    if not capsules.any():
        return ContactMotion(point, turn_of_frames(contacts, normals), nearer)
    axis = np.where(capsules[:, np.newaxis], shapes.axes[:, 1], _default_seed(normal))
    seeds = -skew(axis) @ jacobian[:, 1, 3:] * capsules[:, np.newaxis, np.newaxis]
    return ContactMotion(point, turn_of_frames(contacts, normals, axis, seeds), nearer)


def _slides_on_planes(shapes: Shapes, contacts: Contacts, turn: Array) -> Array:
    """Return how the lowest points of ellipsoids and cylinders move on their geoms, (n, 3, nv).

    `turn`: motion of the direction d = -n to the plane, relative to geom 2, (n, 3, nv). With the
    half axes of an ellipsoid in the matrix S, its point is  S^2 d / |S d|.  The points of the caps
    of a cylinder turn about its axis with the direction to the lowest one.
    """
    down, types = -contacts.frame[:, 0], shapes.types[:, 1]
    out = np.zeros_like(turn)
    frames, sizes = shapes.frames[:, 1], shapes.sizes[:, 1]
    some = np.flatnonzero(types == _ELLIPSOID)
    if len(some):
        frame, square = frames[some], sizes[some] ** 2
        local = np.vecmat(down[some], frame)
        length = np.sqrt((square * local**2).sum(axis=1))[:, np.newaxis, np.newaxis]
        along = square * local / length[:, :, 0]
        bend = square[:, :, np.newaxis] * np.eye(3) - along[:, :, np.newaxis] * along[:, np.newaxis]
        out[some] = frame @ (bend / length) @ frame.swapaxes(-1, -2) @ turn[some]
    some = np.flatnonzero(types == _CYLINDER)
    if len(some):
        axis = shapes.axes[some, 1]
        upright = np.vecdot(axis, down[some])[:, np.newaxis]
        lowest = down[some] - upright * axis
        length = np.sqrt((lowest**2).sum(axis=1))
        tilted = length > mujoco.mjMINVAL
        across = np.where(tilted[:, np.newaxis], np.cross(axis, lowest), 0.0)
        across /= np.where(tilted, length, 1.0)[:, np.newaxis] ** 2
        arms = contacts.pos[some] - 0.5 * contacts.dist[some, np.newaxis] * down[some]
        arms -= shapes.centers[some, 1]
        moved = np.cross(axis, arms)
        out[some] = moved[..., np.newaxis] * _dot(across, turn[some])[:, np.newaxis]
    return out


def _slides_on_solids(shapes: Shapes, contacts: Contacts) -> tuple[Array, NDArray[np.bool_]]:
    """Return how nearest points follow centers of spheres: matrices in the frame of geom 2.

    The second result tells which centers are outside of the box or cylinder. The nearest point on a
    box follows along the axes that have the center between their faces. On the side or the rim of a
    cylinder it turns about the axis with the center, at the ratio of their distances from it.
    """
    reach = 0.5 * contacts.dist + shapes.radius[:, 0]
    centers = contacts.pos - reach[:, np.newaxis] * contacts.frame[:, 0]
    place = np.vecmat(centers - shapes.centers[:, 1], shapes.frames[:, 1])
    sizes = shapes.sizes[:, 1]
    within = np.abs(place) < sizes
    some = np.flatnonzero(shapes.types[:, 1] == _CYLINDER)
    distance = np.hypot(place[some, 0], place[some, 1])
    within[some, :2] = (distance < sizes[some, 0])[:, np.newaxis]
    within[some, 2] = np.abs(place[some, 2]) < sizes[some, 1]
    slides = within[:, np.newaxis] * np.eye(3)
    beside = some[~within[some, 0]]
    x, y = place[beside, 0], place[beside, 1]
    tangent = np.stack([-y, x], axis=1)
    ratio = sizes[beside, 0] / (x**2 + y**2) ** 1.5
    slides[beside, :2, :2] = (
        ratio[:, np.newaxis, np.newaxis] * tangent[:, :, np.newaxis] * tangent[:, np.newaxis]
    )
    return slides, ~within.all(axis=1)


def _between_spheres_and_solids(
    shapes: Shapes, contacts: Contacts, jacobian: Array
) -> ContactMotion:
    normal, frame = contacts.frame[:, 0], shapes.frames[:, 1]
    reach = 0.5 * contacts.dist[:, np.newaxis] + shapes.radius
    arms = (np.array([-1.0, 1.0]) * reach)[..., np.newaxis] * normal[:, np.newaxis]
    velocity = jacobian[:, :, :3] - skew(arms) @ jacobian[:, :, 3:]
    # The motion of the center relative to geom 2
    apart = velocity[:, 0] - jacobian[:, 1, :3] + skew(arms[:, 0]) @ jacobian[:, 1, 3:]
    slides = _slides_on_solids(shapes, contacts)[0]
    velocity[:, 1] += frame @ slides @ (frame.swapaxes(-1, -2) @ apart)
    return _between_points(contacts, reach, velocity)


def _between_lines(shapes: Shapes, contacts: Contacts, jacobian: Array) -> ContactMotion:
    normal = contacts.frame[:, 0]
    reach = 0.5 * contacts.dist[:, np.newaxis] + shapes.radius  # from the c_i to the point
    length = reach.sum(axis=1)
    signs = np.array([-1.0, 1.0])
    # c_i and their velocities as points of their bodies
    arms = (signs * reach)[..., np.newaxis] * normal[:, np.newaxis]
    centers = contacts.pos[:, np.newaxis] + arms
    velocity = jacobian[:, :, :3] - skew(arms) @ jacobian[:, :, 3:]
    along = ((centers - shapes.centers) * shapes.axes).sum(axis=-1)
    slides = np.abs(along) < shapes.half * (1.0 - _END)
    axes = shapes.axes * slides[..., np.newaxis]
    apart = velocity[:, 1] - velocity[:, 0]
    if slides.any():
        # Axis i stays orthogonal to the line: axis_i . d(line) + line . d(axis_i) = 0.
        moments = length[:, np.newaxis, np.newaxis] * np.cross(axes, normal[:, np.newaxis])
        right = axes @ apart + (moments[:, :, np.newaxis] @ jacobian[:, :, 3:])[:, :, 0]
        coupling = (axes[:, 0] * axes[:, 1]).sum(axis=-1)
        determinant = (1.0 - coupling**2)[:, np.newaxis]
        coupling = coupling[:, np.newaxis]
        sliding = np.stack(
            [
                (right[:, 0] - coupling * right[:, 1]) / determinant,
                (coupling * right[:, 0] - right[:, 1]) / determinant,
            ],
            axis=1,
        )
        velocity += axes[..., np.newaxis] * sliding[:, :, np.newaxis]
    return _between_points(contacts, reach, velocity)


def _between_points(contacts: Contacts, reach: Array, velocity: Array) -> ContactMotion:
    """Return the motion of contacts between points c_i, at distances `reach`, that move so."""
    normal, length = contacts.frame[:, 0], reach.sum(axis=1)
    apart = velocity[:, 1] - velocity[:, 0]
    nearer = _dot(normal, apart)
    normals = (apart - normal[:, :, np.newaxis] * nearer[:, np.newaxis]) / length[
        :, np.newaxis, np.newaxis
    ]
    point = velocity[:, 0] + reach[:, :1, np.newaxis] * normals
    point += 0.5 * normal[:, :, np.newaxis] * nearer[:, np.newaxis]
    return ContactMotion(point, turn_of_frames(contacts, normals), nearer)


def _default_seed(normal: Array) -> Array:
    """Return the axis of the world that MuJoCo makes the first tangent from."""
    upright = np.abs(normal[:, 1:2]) < 0.5
    return np.where(upright, (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def turn_of_frames(
    contacts: Contacts, normals: Array, seed: Array | None = None, seeds: Array | None = None
) -> Array:
    """Return the rotation of frames whose first tangent is along  seed - n (n . seed).

    `normals`, `seeds`: displacements of the normals and of the seeds, (n, 3, nv).
    """
    normal, second = contacts.frame[:, 0], contacts.frame[:, 2]
    if seed is None:
        seed = _default_seed(normal)
    component = (normal * seed).sum(axis=1)
    spin = -component[:, np.newaxis] * _dot(second, normals)
    if seeds is not None:
        spin += _dot(second, seeds)
    spin /= np.sqrt((seed**2).sum(axis=1) - component**2)[:, np.newaxis]
    return np.asarray(skew(normal) @ normals + normal[:, :, np.newaxis] * spin[:, np.newaxis])


def _dot(vectors: Array, columns: Array) -> Array:
    """Return the products of vectors (n, 3) and matrices (n, 3, nv)."""
    return np.asarray((vectors[:, np.newaxis] @ columns)[:, 0])
