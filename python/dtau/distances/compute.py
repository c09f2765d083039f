"""Distances between shapes, with their gradients by configuration: `shape_distances`.

coal returns the distance d of two shapes, the nearest points p1 and p2 and the normal n from the
first shape to the second. The points slide on the shapes when these move, at right angles to n, so
that d changes with the velocities of the bodies at the points alone:

    d = n^T (p2 - p1),    dd/dq = n^T (J2 - J1)

J1 and J2 are the Jacobians of the bodies' points that are at p1 and p2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import coal
import numpy as np
from numpy.typing import ArrayLike

from dtau.distances.geometries import require_size
from dtau.distances.pairs import Pairs, Side, read_pairs
from dtau.distances.shapes import Shape
from dtau.functions.frames import forward_kinematics, frame_jacobians
from dtau.model.model import Model
from dtau.support.arrays import Array
from dtau.support.checks import batch_arrays, require, tuple_of

# Errors of the nearest points are about the root of this tolerance; coal's default, 1e-6, leaves
# gradients of round shapes with errors of 1e-3. Tolerances below 1e-13 are not reached.
_TOLERANCE, _ITERATIONS = 1e-12, 1000


class ShapeDistances(NamedTuple):
    """Distances of pairs of shapes, of `shape_distances`.

    Attributes
    ----------
    distance : ndarray (..., npairs)
        In meters. Negative where the shapes overlap: the depth.
    points : ndarray (..., npairs, 2, 3)
        The nearest points, of the first shape and of the second, in the world.
    normal : ndarray (..., npairs, 3)
        Unit vector from the first shape to the second, in the world.
    ddistance_dq : ndarray (..., npairs, nv)
        The gradient, in the tangent space of the configuration.
    pairs : tuple of (str, str)
        Names of the pairs.
    """

    distance: Array
    points: Array
    normal: Array
    ddistance_dq: Array
    pairs: tuple[tuple[str, str], ...]


def shape_distances(
    model: Model, q: ArrayLike, shapes: Iterable[Shape], pairs: Pairs | None = None
) -> ShapeDistances:
    """Distances between shapes of a robot and its world, with nearest points and gradients.

        dd/dq = n^T (J2 - J1)    n the normal, J1 and J2 the Jacobians of the nearest points

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration; leading axes are the batch.
    shapes : iterable of Shape
        Shapes of the robot, from `read_shapes`, and obstacles.
    pairs : iterable of (str, str), optional
        Two names each, of shapes or links. The distance of a link is the least of its shapes. By
        default all pairs of links that move against each other, without neighbors at a joint; and
        all moving links with all shapes of the world.

    Returns
    -------
    ShapeDistances

    Raises
    ------
    ValueError
        If a shape is not as described, names of shapes are not unique, a frame or a name in `pairs`
        is not known, both sides of a pair have a plane or the same shape, a geometry has no size or
        one above 1000 km, or numbers are not finite.
    TypeError
        If arguments are not of the kinds described.

    Notes
    -----
    The gradient does not exist where the nearest points are not unique, for example for parallel
    faces, and where two shapes begin to touch. The result there is the gradient for the points at
    hand. Two meshes of triangles that intersect have the distance 0 and the gradient 0; their hulls
    have a depth. docs/distances.md has the precision for each kind of shape.

    Examples
    --------
    >>> import coal, dtau, dtau.distances
    >>> model = dtau.robots.quadruped()
    >>> foot = dtau.distances.Shape("foot", "LF_FOOT", coal.Sphere(0.03))
    >>> box = dtau.distances.Shape("box", None, coal.Box(0.2, 0.2, 0.2))
    >>> near = dtau.distances.shape_distances(model, dtau.neutral(model), [foot, box])
    >>> near.pairs, near.ddistance_dq.shape
    ((('LF_FOOT', 'box'),), (1, 18))
    """
    require("model", model, Model)
    shapes = tuple_of("shapes", shapes, Shape, "shapes, of dtau.distances.Shape")
    for shape in shapes:  # geometries may have changed since their shapes were made
        require_size(shape.name, shape.geometry, shape.placement)
    names, sides = read_pairs(model, shapes, pairs)
    batch, (states,) = batch_arrays({"q": (q, (model.nq,))})
    if not np.isfinite(states).all():
        raise ValueError("q: expected finite numbers")
    poses = forward_kinematics(model, states)
    distance, points, normal = _nearest(model, shapes, sides, poses.rotation, poses.translation)
    gradient = _gradient(model, states, sides, points, normal, poses.translation)
    return ShapeDistances(
        distance.reshape(*batch, len(names)),
        points.reshape(*batch, len(names), 2, 3),
        normal.reshape(*batch, len(names), 3),
        gradient.reshape(*batch, len(names), model.nv),
        names,
    )


def _nearest(
    model: Model,
    shapes: Sequence[Shape],
    sides: Sequence[tuple[Side, Side]],
    rotation: Array,
    translation: Array,
) -> tuple[Array, Array, Array]:
    """Return distances, nearest points and normals for poses of the bodies (nstates, nbodies)."""
    placed = [_poses(model, shape, rotation, translation) for shape in shapes]
    candidates = [[(i, j) for i in a.shapes for j in b.shapes] for a, b in sides]
    solvers: dict[tuple[int, int], Any] = {
        (i, j): coal.ComputeDistance(shapes[i].geometry, shapes[j].geometry)
        for several in candidates
        for i, j in several
    }
    used = sorted({i for pair in solvers for i in pair})
    meshes = [isinstance(shape.geometry, coal.BVHModelBase) for shape in shapes]
    size = (len(rotation), len(sides))
    distance, points, normal = np.empty(size), np.empty((*size, 2, 3)), np.empty((*size, 3))
    request, results = _request(), [coal.DistanceResult(), coal.DistanceResult()]
    poses: dict[int, Any] = {}
    for state in range(len(rotation)):
        for i in used:
            poses[i] = coal.Transform3s(placed[i][0][state], placed[i][1][state])
        for pair, several in enumerate(candidates):
            least, best = np.inf, several[0]
            result, other = results
            for i, j in several:
                other.clear()
                found = solvers[i, j](poses[i], poses[j], request, other)
                if found < least or several[0] == (i, j):
                    least, best = found, (i, j)
                    result, other = other, result
            distance[state, pair] = least
            points[state, pair] = result.getNearestPoint1(), result.getNearestPoint2()
            if meshes[best[0]] and meshes[best[1]]:  # coal leaves the normal unset
                apart = points[state, pair, 1] - points[state, pair, 0]
                normal[state, pair] = apart / least if least > 0 else 0.0
            else:
                normal[state, pair] = result.normal
    return distance, points, normal


def _poses(model: Model, shape: Shape, rotation: Array, translation: Array) -> tuple[Array, Array]:
    """Return the poses of a shape in the world."""
    turn, shift, body = shape.placement.rotation, shape.placement.translation, -1
    if shape.frame is not None:
        frame = model.frame(shape.frame)
        place = frame.placement @ shape.placement
        turn, shift, body = place.rotation, place.translation, frame.body
    if body < 0:
        states = len(rotation)
        return np.broadcast_to(turn, (states, 3, 3)), np.broadcast_to(shift, (states, 3))
    return rotation[:, body] @ turn, rotation[:, body] @ shift + translation[:, body]


def _request() -> Any:
    request = coal.DistanceRequest()
    request.gjk_tolerance, request.gjk_max_iterations = _TOLERANCE, _ITERATIONS
    return request


def _gradient(
    model: Model,
    q: Array,
    sides: Sequence[tuple[Side, Side]],
    points: Array,
    normal: Array,
    origins: Array,
) -> Array:
    """Return n^T (J2 - J1), with the Jacobians of bodies in mixed axes at their origins.

    The velocity of the body's point p is v + omega x (p - o), hence its component along n is
    n . v + ((p - o) x n) . omega.
    """
    gradient = np.zeros((len(q), len(sides), model.nv))
    bodies = sorted({side.body for pair in sides for side in pair if side.body >= 0})
    if not bodies:
        return gradient
    jacobians = frame_jacobians(model, q, [model.bodies[body] for body in bodies], "mixed")
    for pair, both in enumerate(sides):
        for k, sign in ((0, -1.0), (1, 1.0)):
            body = both[k].body
            if body >= 0:
                n = sign * normal[:, pair]
                moment = np.cross(points[:, pair, k] - origins[:, body], n)
                wrench = np.concatenate([n, moment], axis=-1)
                rows = wrench[:, None, :] @ jacobians[:, bodies.index(body)]
                gradient[:, pair] += rows[:, 0]
    return gradient
